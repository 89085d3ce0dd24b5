//! The registry of verbs: each once by its name, with what it does and where each door has it.
//!
//! REST routes, MCP tools, prompts and resources, commands, hooks and the local socket take the verbs
//! from here. A door adds only how it carries an answer.

mod examples;
mod joined;
mod selection;
mod table;

use axum::http::Method;
use commonbook::Commonbook;
use commonbook::base::error::Result;
use commonbook::base::input::EmptyText;
use commonbook::model::caller::Caller;
use commonbook::model::session::SessionUse;
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::calls::call::JsonVerb;

pub(crate) use examples::{EXAMPLE_ID, EXAMPLE_TIME, example_memory};
pub(crate) use joined::{ACTION, JOINED_TOOLS, JoinedTool};
pub(crate) use selection::{TOOLS_HEADER, ToolSelection};

/// How a verb treats what is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum VerbEffect {
    /// Changes nothing that a caller sees.
    Reads,
    /// Adds something, and again at each call.
    Adds,
    /// Changes something; the same call once more changes nothing.
    Changes,
    /// Removes something.
    Destroys,
}

/// What is derived from the journals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Follower {
    /// The search index.
    Index,
    /// The entities that memories mention.
    Mentions,
    /// The contradictions between memories.
    Contradictions,
}

/// A follower that a verb needs caught up with the journals.
#[derive(Debug, Clone, Copy)]
struct FollowerNeed {
    follower: Follower,
    /// The field of the request that makes the need; each request has it if there is none.
    field: Option<&'static str>,
}

/// A set of MCP tools; each contains the smaller ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ToolTier {
    /// What one agent needs; its texts name no tool outside it.
    Core,
    /// What a team of agents needs: cases, sessions, entities, contradictions.
    Team,
    /// Every tool.
    Full,
}

impl ToolTier {
    /// Every set, the smallest first.
    pub(crate) const ALL: [Self; 3] = [Self::Core, Self::Team, Self::Full];

    /// The value as it is written.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Core => "core",
            Self::Team => "team",
            Self::Full => "full",
        }
    }

    /// The verbs that it offers, in the order of the registry.
    pub(crate) fn verbs(self) -> impl Iterator<Item = &'static Verb> {
        all().iter().filter(move |verb| verb.tool.is_some_and(|tier| tier <= self))
    }
}

/// A method and a path of REST.
#[derive(Debug, Clone)]
pub(crate) struct VerbRoute {
    pub(crate) method: Method,
    pub(crate) path: &'static str,
}

/// Where the command line has a verb.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum VerbCommandName {
    /// A command; of one in a group, the group and the command.
    Own(&'static str),
    /// The command of another verb, where this field of the request is given.
    Of { verb: &'static str, field: &'static str },
}

/// What an answer is to the model that reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AnswerKind {
    /// Data, of which a model gets what it needs.
    Data,
    /// Data about one thing, of which a model gets every field.
    Details,
    /// A text for an agent, in the field `text`.
    Text,
    /// What the caller has just written, of which a model does not get the text again.
    Written,
}

/// An example of a request and one of an answer.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct VerbExamples {
    pub(crate) request: Option<fn() -> Value>,
    pub(crate) answer: Option<fn() -> Value>,
}

/// A verb: what it does, and where each door has it.
pub(crate) struct Verb {
    /// The name by which every door, hook and socket calls it.
    pub(crate) name: &'static str,
    pub(crate) effect: VerbEffect,
    /// The call, with the schemas of its request and response.
    pub(crate) call: JsonVerb,
    /// Whether it reads or writes the standing memory files of the caller's project.
    pub(crate) uses_project: bool,
    /// Whether it is about standing memory files, which a person writes at a terminal.
    pub(crate) is_on_files: bool,
    pub(crate) route: Option<VerbRoute>,
    /// What the route calls instead if its body is a list.
    pub(crate) list_body: Option<ListBody>,
    /// The smallest set of MCP tools that has it.
    pub(crate) tool: Option<ToolTier>,
    /// The verb that its tool calls instead if it gets no arguments.
    pub(crate) tool_without_arguments: Option<&'static str>,
    pub(crate) command: Option<VerbCommandName>,
    /// What a person types for it, behind `commonbook`; where it has no command of its own, the command that does the same.
    pub(crate) command_line: Option<&'static str>,
    /// The verb that does for one thing what this one does for several.
    pub(crate) singular: Option<&'static str>,
    pub(crate) answer: AnswerKind,
    /// Whether an answer names something new.
    pub(crate) creates: bool,
    /// The JSON pointer to the memory in its answer.
    pub(crate) memory_pointer: Option<&'static str>,
    pub(crate) examples: VerbExamples,
    needs: Vec<FollowerNeed>,
}

/// A body that is a list instead of an object.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ListBody {
    /// The verb that is called.
    pub(crate) verb: &'static str,
    /// The field of its request that holds the list.
    pub(crate) field: &'static str,
}

impl Verb {
    /// Whether it changes something.
    pub(crate) fn writes(&self) -> bool {
        self.effect != VerbEffect::Reads
    }

    /// Whether it shows what is stored, even if it also notes how far its caller has read.
    pub(crate) fn only_reads(&self) -> bool {
        let is_get = |route: &VerbRoute| route.method == Method::GET;
        !self.writes() || self.route.as_ref().is_some_and(is_get)
    }

    /// The verb that a request is for: one with nothing but a list in the field of the verb for lists is for
    /// that verb.
    pub(crate) fn for_request(&'static self, request: &Value) -> &'static Self {
        let list = self.list_body.and_then(|list| Some((find(list.verb)?, list.field)));
        match list {
            Some((verb, field)) if verb.call.is_list(request, field) => verb,
            _ => self,
        }
    }

    /// Whether it is about the tokens and webhooks of a home, not about memories.
    pub(crate) fn is_about_home(&self) -> bool {
        matches!(self.command, Some(VerbCommandName::Own(name))
            if name.starts_with("token ") || name.starts_with("webhook "))
    }

    /// Whether this request needs the follower caught up.
    pub(crate) fn needs(&self, follower: Follower, request: &Map<String, Value>) -> bool {
        let applies = |need: &FollowerNeed| need.field.is_none_or(|it| request.contains_key(it));
        self.needs.iter().any(|need| need.follower == follower && applies(need))
    }

    /// Sets what it does with a session that its caller does not name.
    fn session(mut self, session_use: SessionUse) -> Self {
        self.call.session_use = session_use;
        self
    }

    fn rest(self, method: Method, path: &'static str) -> Self {
        Self { route: Some(VerbRoute { method, path }), ..self }
    }

    fn get(self, path: &'static str) -> Self {
        self.rest(Method::GET, path)
    }

    fn post(self, path: &'static str) -> Self {
        self.rest(Method::POST, path)
    }

    fn list_body(self, verb: &'static str, field: &'static str) -> Self {
        Self { list_body: Some(ListBody { verb, field }), ..self }
    }

    fn core_tool(self) -> Self {
        Self { tool: Some(ToolTier::Core), ..self }
    }

    /// The core tool, which without arguments calls another verb.
    fn core_tool_or(self, without_arguments: &'static str) -> Self {
        Self { tool_without_arguments: Some(without_arguments), ..self.core_tool() }
    }

    fn team_tool(self) -> Self {
        Self { tool: Some(ToolTier::Team), ..self }
    }

    fn tool(self) -> Self {
        Self { tool: Some(ToolTier::Full), ..self }
    }

    fn command(self, name: &'static str) -> Self {
        Self { command: Some(VerbCommandName::Own(name)), command_line: Some(name), ..self }
    }

    /// The command that does the same, for a verb without one of its own.
    fn command_line(self, line: &'static str) -> Self {
        Self { command_line: Some(line), ..self }
    }

    fn singular(self, verb: &'static str) -> Self {
        Self { singular: Some(verb), ..self }
    }

    fn answers(self, answer: AnswerKind) -> Self {
        Self { answer, ..self }
    }

    fn creates(self) -> Self {
        Self { creates: true, ..self }
    }

    fn memory_pointer(self, pointer: &'static str) -> Self {
        Self { memory_pointer: Some(pointer), ..self }
    }

    fn request_example(mut self, example: fn() -> Value) -> Self {
        self.examples.request = Some(example);
        self
    }

    fn answer_example(mut self, example: fn() -> Value) -> Self {
        self.examples.answer = Some(example);
        self
    }

    fn command_of(self, verb: &'static str, field: &'static str) -> Self {
        Self { command: Some(VerbCommandName::Of { verb, field }), ..self }
    }

    /// Sets that an empty text is no absent one: it selects what the verb changes.
    fn keeps_empty_texts(mut self) -> Self {
        self.call.empty = EmptyText::Kept;
        self
    }

    fn needs_follower(mut self, follower: Follower) -> Self {
        self.needs.push(FollowerNeed { follower, field: None });
        self
    }

    fn needs_follower_for(mut self, field: &'static str, follower: Follower) -> Self {
        self.needs.push(FollowerNeed { follower, field: Some(field) });
        self
    }

    fn in_project(self) -> Self {
        Self { uses_project: true, ..self }
    }

    fn on_files(self) -> Self {
        Self { is_on_files: true, ..self }
    }
}

fn verb<Q, A>(
    name: &'static str,
    effect: VerbEffect,
    call: impl Fn(&Commonbook, &Caller, &Q) -> Result<A> + Send + Sync + 'static,
) -> Verb
where
    Q: DeserializeOwned + JsonSchema,
    A: Serialize + JsonSchema,
{
    // What is written belongs to a session of its author.
    let session_use = match effect {
        VerbEffect::Adds | VerbEffect::Changes => SessionUse::Begins,
        VerbEffect::Reads | VerbEffect::Destroys => SessionUse::Unused,
    };
    let verb = Verb {
        name,
        effect,
        call: JsonVerb::of(name, call),
        uses_project: false,
        is_on_files: false,
        route: None,
        list_body: None,
        tool: None,
        tool_without_arguments: None,
        command: None,
        command_line: None,
        singular: None,
        answer: AnswerKind::Data,
        creates: false,
        memory_pointer: None,
        examples: VerbExamples::default(),
        needs: Vec::new(),
    };
    let verb = verb.session(session_use);
    if effect == VerbEffect::Destroys { verb.keeps_empty_texts() } else { verb }
}

/// Every verb, in the order in which doors list them.
pub(crate) fn all() -> &'static [Verb] {
    &table::VERBS
}

/// The verb of this name.
pub(crate) fn find(name: &str) -> Option<&'static Verb> {
    all().iter().find(|verb| verb.name == name)
}

#[cfg(test)]
mod tests;
