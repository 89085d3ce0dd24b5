//! Resources: what a caller may read under a URI of its own, one entry for each kind.

use std::sync::LazyLock;

use commonbook::Commonbook;
use commonbook::base::error::{Error, Result};
use commonbook::base::limits;
use commonbook::base::page::PageCursor;
use commonbook::model::agent::{Agent, AgentRecord, ListAgents};
use commonbook::model::caller::Caller;
use commonbook::model::event::Event;
use commonbook::model::memory::{ListMemories, Memory};
use rmcp::model::{Annotations, Resource, ResourceContents, ResourceTemplate};
use serde_json::{Map, Value};

use super::page::foreign_list_cursor;
use crate::call::{CompletionVerb, JsonVerb};

const MEMORY_URI: &str = "commonbook://memory/{id}";
const AGENT_URI: &str = "commonbook://agent/{id}";
const CASE_URI: &str = "commonbook://case/{id}";
const STATS_URI: &str = "commonbook://stats";
const JSON_MIME_TYPE: &str = "application/json";

/// The variable of a template.
const ID_VARIABLE: &str = "{id}";

/// A kind of resource: a verb that reads one thing, and the URIs of such things.
pub(super) struct ResourceKind {
    /// The URI; with a variable, where there are many of the kind.
    uri: &'static str,
    name: &'static str,
    title: &'static str,
    call: JsonVerb,
    /// The field of the verb's request that the variable stands for.
    field: &'static str,
    complete: Option<CompletionVerb>,
}

/// Every kind, in the order in which they are listed.
static RESOURCE_KINDS: LazyLock<Vec<ResourceKind>> = LazyLock::new(|| {
    let kind = |uri, name, title, call, field, complete| ResourceKind {
        uri,
        name,
        title,
        call,
        field,
        complete,
    };
    let (memory, agent) =
        (JsonVerb::of(Commonbook::get_memory), JsonVerb::of(Commonbook::get_agent));
    let stats = JsonVerb::of(Commonbook::get_memory_stats);
    let case = JsonVerb::of(Commonbook::get_case_context);
    vec![
        kind(STATS_URI, "stats", "What this workspace holds", stats, "", None),
        kind(AGENT_URI, "agent", "An agent", agent, "name", Some(Commonbook::complete_agent)),
        kind(CASE_URI, "case", "A case", case, "key", Some(Commonbook::complete_case)),
        kind(MEMORY_URI, "memory", "A memory", memory, "id", Some(Commonbook::complete_memory)),
    ]
});

impl ResourceKind {
    fn is_one_of_many(&self) -> bool {
        self.uri.ends_with(ID_VARIABLE)
    }

    /// What the variable is in this URI: nothing for a URI that is not of this kind.
    fn variable(&self, uri: &str) -> Option<String> {
        let Some(before) = self.uri.strip_suffix(ID_VARIABLE) else {
            return (uri == self.uri).then(String::new);
        };
        let encoded = uri.strip_prefix(before).filter(|rest| !rest.is_empty())?;
        // In a path a plus is a plus.
        let pair = format!("={}", encoded.replace('+', "%2B").replace('&', "%26"));
        form_urlencoded::parse(pair.as_bytes()).next().map(|(_, value)| value.into_owned())
    }
}

/// The URI of one of a kind; a name's `/` is encoded, as a template asks for.
fn uri(template: &str, id: &str) -> String {
    let encoded: String = form_urlencoded::byte_serialize(id.as_bytes()).collect();
    template.replace(ID_VARIABLE, &encoded)
}

/// The URI of a memory.
fn uri_of_memory(id: &str) -> String {
    uri(MEMORY_URI, id)
}

/// The URI of what an event is about, where that is a resource.
pub(super) fn uri_of_subject(event: &Event) -> Option<String> {
    match event.kind.name().split_once('.')?.0 {
        "memory" => Some(uri_of_memory(&event.subject)),
        "case" => Some(uri(CASE_URI, &event.subject)),
        _ => None,
    }
}

/// The URI of an agent.
fn uri_of_agent(agent: &Agent) -> String {
    uri(AGENT_URI, agent.as_str())
}

/// The URIs of an agent, however a client encodes its name.
pub(super) fn uris_of_agent(agent: &Agent) -> [String; 2] {
    [uri_of_agent(agent), AGENT_URI.replace(ID_VARIABLE, agent.as_str())]
}

/// The URI of what a workspace holds.
pub(super) fn uri_of_stats() -> String {
    STATS_URI.to_owned()
}

/// Whether there can be a resource of this URI.
pub(super) fn is_ours(uri: &str) -> bool {
    RESOURCE_KINDS.iter().any(|kind| kind.variable(uri).is_some())
}

/// The templates of the kinds that there are many of.
pub(super) fn templates() -> Vec<ResourceTemplate> {
    let many = RESOURCE_KINDS.iter().filter(|kind| kind.is_one_of_many());
    many.map(|kind| {
        ResourceTemplate::new(kind.uri, kind.name)
            .with_title(kind.title)
            .with_description(kind.call.verb_description().replace('\n', " "))
            .with_mime_type(JSON_MIME_TYPE)
    })
    .collect()
}

/// The verb that completes the variable of a template; nothing for what is no template of ours.
pub(super) fn variable_completion(
    template: &str,
    variable: &str,
) -> Option<Option<CompletionVerb>> {
    let kind = RESOURCE_KINDS.iter().find(|kind| kind.uri == template && kind.is_one_of_many())?;
    (variable == "id").then_some(kind.complete)
}

/// Reads a resource: exactly what the verb answers.
///
/// # Errors
/// `not_found` for a URI that is none of ours; else what the verb answers.
pub(super) fn read(book: &Commonbook, caller: &Caller, uri: &str) -> Result<ResourceContents> {
    let found = RESOURCE_KINDS.iter().find_map(|kind| Some((kind.variable(uri)?, kind)));
    let Some((variable, kind)) = found else {
        return Err(Error::not_found("there is no such resource")
            .hint("resources/list and resources/templates/list tell what there is."));
    };
    let mut request = Map::new();
    if kind.is_one_of_many() {
        request.insert(kind.field.to_owned(), variable.into());
    }
    let answer = kind.call.run(book, caller, Value::Object(request))?;
    Ok(ResourceContents::text(answer.to_string(), uri).with_mime_type(JSON_MIME_TYPE))
}

/// Where a page of the list begins.
enum ListPosition {
    /// After this agent.
    Agents(Agent),
    /// After so many memories, at this place of the list of memories.
    Memories(u64, PageCursor),
}

impl ListPosition {
    fn from_cursor(cursor: &str) -> Result<Self> {
        if let Some(name) = cursor.strip_prefix("agent/") {
            return Agent::try_from(name.to_owned())
                .map(Self::Agents)
                .map_err(|_| foreign_list_cursor());
        }
        let [given, sequence] = PageCursor::try_from(cursor.to_owned())?.numbers()?;
        Ok(Self::Memories(given, PageCursor::of(&[sequence])))
    }
}

/// A page of what the caller may read: what the workspace holds, its agents by name, and its
/// newest memories; and where the next page begins.
///
/// # Errors
/// `invalid` for a cursor that this list has not given; else what the verbs answer.
pub(super) fn list(
    book: &Commonbook,
    caller: &Caller,
    cursor: Option<&str>,
) -> Result<(Vec<Resource>, Option<String>)> {
    let size = limits::PAGE_MAX as usize;
    let place = cursor.map(ListPosition::from_cursor).transpose()?;
    let mut page = Vec::new();
    let (given, from) = match place {
        Some(ListPosition::Memories(given, from)) => (given, Some(from)),
        place => {
            let after = match place {
                Some(ListPosition::Agents(agent)) => Some(agent),
                _ => {
                    page.extend(single_resources());
                    None
                }
            };
            let agents = book.list_agents(caller, &ListAgents {})?.items.into_iter();
            let mut agents =
                agents.filter(|it| after.as_ref().is_none_or(|after| it.agent > *after)).peekable();
            let listed: Vec<AgentRecord> = agents.by_ref().take(size).collect();
            page.extend(listed.iter().map(agent_resource));
            if let (Some(_), Some(last)) = (agents.peek(), listed.last()) {
                return Ok((page, Some(format!("agent/{}", last.agent))));
            }
            (0, None)
        }
    };
    let request =
        ListMemories { limit: Some(limits::PAGE_MAX), cursor: from, ..Default::default() };
    let memories = book.list_memories(caller, &request)?;
    page.extend(memories.items.iter().map(memory_resource));
    let given = given.saturating_add(u64::from(limits::PAGE_MAX));
    let next = memories.next.filter(|_| given < limits::LISTED_MEMORIES);
    let next =
        next.map(|next| next.numbers().map(|[sequence]| PageCursor::of(&[given, sequence]).into()));
    Ok((page, next.transpose()?))
}

/// The resources that there is one of.
fn single_resources() -> impl Iterator<Item = Resource> {
    RESOURCE_KINDS.iter().filter(|kind| !kind.is_one_of_many()).map(|kind| {
        Resource::new(kind.uri, kind.name)
            .with_title(kind.title)
            .with_description(kind.call.verb_description().replace('\n', " "))
            .with_mime_type(JSON_MIME_TYPE)
    })
}

fn agent_resource(record: &AgentRecord) -> Resource {
    let name = record.agent.as_str();
    Resource::new(uri_of_agent(&record.agent), name)
        .with_description(format!("An agent; {} of its memories are in sight", record.memory_count))
        .with_mime_type(JSON_MIME_TYPE)
        .with_annotations(modified_annotation(&record.last_seen.to_string()))
}

fn memory_resource(memory: &Memory) -> Resource {
    let id = memory.id.to_string();
    let line = memory.title.as_deref().or(memory.text.lines().next()).unwrap_or_default();
    let title: String = line.chars().take(limits::TITLE_CHARS / 2).collect();
    let (kind, owner) = (&memory.memory_type, &memory.owner);
    let topics = memory.topics.join(", ");
    let about = format!("{kind} of {owner}{}{topics}", if topics.is_empty() { "" } else { ": " });
    Resource::new(uri_of_memory(&id), id)
        .with_title(title)
        .with_description(about)
        .with_mime_type(JSON_MIME_TYPE)
        .with_annotations(modified_annotation(&memory.revised_at.to_string()))
}

fn modified_annotation(at: &str) -> Annotations {
    let mut annotations = Annotations::default();
    annotations.last_modified = Some(at.to_owned());
    annotations
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uri_names_one_thing_however_it_is_encoded() {
        let of = |uri: &str| {
            RESOURCE_KINDS.iter().find_map(|kind| Some((kind.name, kind.variable(uri)?)))
        };
        let agent: Agent = "claude-code/engineer".parse().unwrap();
        assert_eq!(uri_of_agent(&agent), "commonbook://agent/claude-code%2Fengineer");
        let table = [
            ("commonbook://stats", Some(("stats", ""))),
            ("commonbook://memory/mem_1", Some(("memory", "mem_1"))),
            ("commonbook://agent/claude-code%2Fengineer", Some(("agent", "claude-code/engineer"))),
            ("commonbook://agent/claude-code/engineer", Some(("agent", "claude-code/engineer"))),
            ("commonbook://agent/%E6%9D%8E", Some(("agent", "李"))),
            ("commonbook://agent/a+b&c=d", Some(("agent", "a+b&c=d"))),
            ("commonbook://agent/", None),
            ("commonbook://stats/", None),
            ("commonbook://case/x", Some(("case", "x"))),
            ("commonbook://entry/x", None),
            ("COMMONBOOK://stats", None),
            ("test://stats", None),
        ];
        for (uri, expected) in table {
            let expected = expected.map(|(kind, value)| (kind, value.to_owned()));
            assert_eq!(of(uri), expected, "{uri}");
        }
    }
}
