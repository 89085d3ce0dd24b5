//! Resources: memories, agents, cases and statistics under URIs, one entry for each kind.

use std::sync::LazyLock;

use commonbook::Commonbook;
use commonbook::base::error::{Error, Result};
use commonbook::base::limits;
use commonbook::base::page::PageCursor;
use commonbook::model::agent::{Agent, AgentRecord, ListAgents};
use commonbook::model::caller::Caller;
use commonbook::model::event::Event;
use commonbook::model::memory::{ListMemories, Memory};
use commonbook::verbs::names;
use commonbook_text::fence::DATA_NOTE;
use commonbook_text::sanitize::{self, shown_name};
use rmcp::model::{Annotations, Resource, ResourceContents, ResourceTemplate};
use serde_json::{Map, Value};

use super::answer::{self, JSON_MIME_TYPE};
use super::page::foreign_list_cursor;
use crate::calls::call::CompletionVerb;
use crate::calls::verb::{self, Verb};

const MEMORY_URI: &str = "commonbook://memory/{id}";
const AGENT_URI: &str = "commonbook://agent/{id}";
const CASE_URI: &str = "commonbook://case/{id}";
const STATS_URI: &str = "commonbook://stats";

/// The variable of a template.
const ID_VARIABLE: &str = "{id}";

/// A kind of resource: the form of its URIs, and the verb that reads one.
pub(super) struct ResourceKind {
    /// The URI; with a variable if the kind has many resources.
    uri: &'static str,
    name: &'static str,
    title: &'static str,
    verb: &'static Verb,
    /// The field of the verb's request that the variable stands for.
    field: &'static str,
    complete: Option<CompletionVerb>,
}

/// Every kind, in the order of the list.
static RESOURCE_KINDS: LazyLock<Vec<ResourceKind>> = LazyLock::new(|| {
    let kind = |uri, name, title, verb: &str, field, complete| {
        Some(ResourceKind { uri, name, title, verb: verb::find(verb)?, field, complete })
    };
    let of_memory: CompletionVerb = Commonbook::complete_memory;
    let (of_agent, of_case) = (Commonbook::complete_agent, Commonbook::complete_case);
    let kinds: [Option<ResourceKind>; 4] = [
        kind(STATS_URI, "stats", "Statistics of the workspace", names::GET_MEMORY_STATS, "", None),
        kind(AGENT_URI, "agent", "An agent", names::GET_AGENT, "name", Some(of_agent)),
        kind(CASE_URI, "case", "A case", names::GET_CASE_CONTEXT, "key", Some(of_case)),
        kind(MEMORY_URI, "memory", "A memory", names::GET_MEMORY, "id", Some(of_memory)),
    ];
    kinds.into_iter().flatten().collect()
});

/// The number of kinds.
#[cfg(test)]
pub(super) fn kind_count() -> usize {
    RESOURCE_KINDS.len()
}

impl ResourceKind {
    fn is_one_of_many(&self) -> bool {
        self.uri.ends_with(ID_VARIABLE)
    }

    /// The value of the variable in this URI; `None` if the URI is not of this kind.
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

/// The URI of a resource. Encodes a `/` of the id, as URI templates require.
fn uri(template: &str, id: &str) -> String {
    let encoded: String = form_urlencoded::byte_serialize(id.as_bytes()).collect();
    template.replace(ID_VARIABLE, &encoded)
}

/// The URI of a memory.
fn uri_of_memory(id: &str) -> String {
    uri(MEMORY_URI, id)
}

/// The URI of the subject of an event, if the subject is a resource.
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

/// The URIs of an agent: with its name encoded, and as it is.
pub(super) fn uris_of_agent(agent: &Agent) -> [String; 2] {
    [uri_of_agent(agent), AGENT_URI.replace(ID_VARIABLE, agent.as_str())]
}

/// The URI of the statistics.
pub(super) fn uri_of_stats() -> String {
    STATS_URI.to_owned()
}

/// Whether this URI has the form of a resource.
pub(super) fn is_ours(uri: &str) -> bool {
    RESOURCE_KINDS.iter().any(|kind| kind.variable(uri).is_some())
}

/// The templates of the kinds with many resources.
pub(super) fn templates() -> Vec<ResourceTemplate> {
    let many = RESOURCE_KINDS.iter().filter(|kind| kind.is_one_of_many());
    many.map(|kind| {
        ResourceTemplate::new(kind.uri, kind.name)
            .with_title(kind.title)
            .with_description(kind.verb.call.verb_description().replace('\n', " "))
            .with_mime_type(JSON_MIME_TYPE)
    })
    .collect()
}

/// The verb that completes the variable of a template, or `Some(None)` if no verb does. Returns `None`
/// if the template or the variable does not exist.
pub(super) fn variable_completion(
    template: &str,
    variable: &str,
) -> Option<Option<CompletionVerb>> {
    let kind = RESOURCE_KINDS.iter().find(|kind| kind.uri == template && kind.is_one_of_many())?;
    (variable == "id").then_some(kind.complete)
}

/// Reads a resource: its content is the response of the verb.
///
/// # Errors
/// `not_found` if no resource has this URI; else the error of the verb.
pub(super) fn read(book: &Commonbook, caller: &Caller, uri: &str) -> Result<ResourceContents> {
    let found = RESOURCE_KINDS.iter().find_map(|kind| Some((kind.variable(uri)?, kind)));
    let Some((variable, kind)) = found else {
        return Err(Error::not_found(format!("no resource has the URI {uri}"))
            .hint("Choose a URI from resources/list or resources/templates/list."));
    };
    let mut request = Map::new();
    if kind.is_one_of_many() {
        request.insert(kind.field.to_owned(), variable.into());
    }
    let answer = kind.verb.call.run(book, caller, Value::Object(request))?;
    Ok(answer::resource_contents(kind.verb, &answer, uri))
}

/// The position at which a page of the list starts.
enum ListPosition {
    /// After this agent.
    Agents(Agent),
    /// After this number of memories, at this cursor of the list of memories.
    Memories(u64, PageCursor),
}

impl ListPosition {
    fn from_cursor(cursor: &str) -> Result<Self> {
        if let Some(name) = cursor.strip_prefix("agent/") {
            return Agent::try_from(name.to_owned())
                .map(Self::Agents)
                .map_err(|_| foreign_list_cursor());
        }
        let [listed, sequence] = PageCursor::try_from(cursor.to_owned())?.numbers()?;
        Ok(Self::Memories(listed, PageCursor::of(&[sequence])))
    }
}

/// One page of the resources that the caller may read: statistics, agents by name, then the newest
/// memories; and the cursor of the next page.
///
/// # Errors
/// `invalid` if the cursor does not come from this list; else the error of a verb.
pub(super) fn list(
    book: &Commonbook,
    caller: &Caller,
    cursor: Option<&str>,
) -> Result<(Vec<Resource>, Option<String>)> {
    let size = limits::PAGE_MAX as usize;
    let position = cursor.map(ListPosition::from_cursor).transpose()?;
    let mut page = Vec::new();
    let (listed, from) = match position {
        Some(ListPosition::Memories(listed, from)) => (listed, Some(from)),
        position => {
            let after = match position {
                Some(ListPosition::Agents(agent)) => Some(agent),
                _ => {
                    page.extend(single_resources());
                    None
                }
            };
            let agents = book.list_agents(caller, &ListAgents {})?.items.into_iter();
            let agents =
                agents.filter(|record| after.as_ref().is_none_or(|after| record.agent > *after));
            let mut agents = agents.peekable();
            let on_page: Vec<AgentRecord> = agents.by_ref().take(size).collect();
            page.extend(on_page.iter().map(agent_resource));
            if let (Some(_), Some(last)) = (agents.peek(), on_page.last()) {
                return Ok((page, Some(format!("agent/{}", last.agent))));
            }
            (0, None)
        }
    };
    let request =
        ListMemories { limit: Some(limits::PAGE_MAX), cursor: from, ..Default::default() };
    let memories = book.list_memories(caller, &request)?;
    page.extend(memories.items.iter().map(memory_resource));
    let listed = listed.saturating_add(u64::from(limits::PAGE_MAX));
    let next = memories.next.filter(|_| listed < limits::LISTED_MEMORIES);
    let next = next
        .map(|next| next.numbers().map(|[sequence]| PageCursor::of(&[listed, sequence]).into()));
    Ok((page, next.transpose()?))
}

/// The kinds with a single resource.
fn single_resources() -> impl Iterator<Item = Resource> {
    RESOURCE_KINDS.iter().filter(|kind| !kind.is_one_of_many()).map(|kind| {
        Resource::new(kind.uri, kind.name)
            .with_title(kind.title)
            .with_description(kind.verb.call.verb_description().replace('\n', " "))
            .with_mime_type(JSON_MIME_TYPE)
    })
}

fn agent_resource(record: &AgentRecord) -> Resource {
    let name = record.agent.as_str();
    Resource::new(uri_of_agent(&record.agent), name)
        .with_description(format!("An agent; you may read {} of its memories", record.memory_count))
        .with_mime_type(JSON_MIME_TYPE)
        .with_annotations(modified_annotation(&record.last_seen.to_string()))
}

fn memory_resource(memory: &Memory) -> Resource {
    let id = memory.id.to_string();
    let line = memory.title.as_deref().or(memory.text.lines().next()).unwrap_or_default();
    let title = sanitize::head_word(line, limits::TITLE_CHARS / 2);
    let kind = shown_name(memory.memory_type.as_str());
    let topics: Vec<String> = memory.topics.iter().map(|topic| shown_name(topic)).collect();
    let about = match topics.is_empty() {
        true => String::new(),
        false => format!(": {}", topics.join(", ")),
    };
    let owner = shown_name(memory.owner.as_str());
    let about = format!("{kind} of {owner}{about}; {DATA_NOTE}");
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
    fn a_uri_names_one_resource_in_each_encoding() {
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
