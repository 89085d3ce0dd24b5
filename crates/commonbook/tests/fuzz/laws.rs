//! Laws that hold for each parser and any input.

use commonbook::base::clock::Timestamp;
use commonbook::base::error::{Error, ErrorKind};
use commonbook::base::id::{CountingIds, MemoryId};
use commonbook::base::page::PageCursor;
use commonbook::base::{input, limits};
use commonbook::model::agent::{Agent, AgentName};
use commonbook::model::caller::{Caller, EntryPoint};
use commonbook::model::event::ListEvents;
use commonbook::model::import::{self, ImportLine};
use commonbook::model::memory::Sharing;
use commonbook::model::memory::{
    DeleteMemory, GetMemory, ListMemories, Memory, SaveMemories, SaveMemory, UpdateMemory,
};
use commonbook::model::origin::TextOrigin;
use commonbook::model::search::{self, SearchMemory};
use commonbook::model::workspace::Workspace;

const NOW: Timestamp = Timestamp::constant(1_795_000_000, 0);

fn caller() -> Caller {
    Caller::new("ann".parse().ok(), Workspace::fallback(), EntryPoint::Rest)
}

/// Checks that an error is the sender's fault and has a message.
fn refused(error: &Error) {
    let kinds = [ErrorKind::Invalid, ErrorKind::TooLarge, ErrorKind::Forbidden];
    assert!(kinds.contains(&error.kind), "{error:?}");
    assert!(!error.message.trim().is_empty(), "{error:?}");
}

/// Checks that a memory is within the limits, and that JSON preserves it.
fn kept(memory: &Memory) {
    memory.check().expect("a stored memory is within the limits");
    let text = serde_json::to_string(memory).expect("a memory is JSON");
    let again: Memory = serde_json::from_str(&text).expect("a memory comes back");
    assert_eq!(&again, memory);
}

fn saves(request: &SaveMemory) {
    let id = MemoryId::new(&CountingIds::default(), NOW);
    match request.memory(&caller(), Sharing::Shared, id, NOW) {
        Ok(memory) => {
            kept(&memory);
            changes(&UpdateMemory::empty_update(id), memory);
        }
        Err(error) => refused(&error),
    }
}

fn changes(change: &UpdateMemory, mut memory: Memory) {
    match change.apply(&mut memory, Some("ann")) {
        Ok(_) => kept(&memory),
        Err(error) if error.kind == ErrorKind::Conflict => {}
        Err(error) => refused(&error),
    }
}

/// JSON is a valid request or an error with a reason; a memory from it is valid.
pub(crate) fn json(bytes: &[u8]) {
    let value = match input::json(bytes) {
        Ok(value) => value,
        Err(error) => return refused(&error),
    };
    match input::from_value::<SaveMemory>(value.clone()) {
        Ok(request) => saves(&request),
        Err(error) => refused(&error),
    }
    match input::from_value::<UpdateMemory>(value.clone()) {
        Ok(change) => {
            let first = SaveMemory { text: "tea".to_owned(), ..SaveMemory::default() };
            let id = MemoryId::new(&CountingIds::default(), NOW);
            changes(&change, first.memory(&caller(), Sharing::Shared, id, NOW).expect("a memory"));
        }
        Err(error) => refused(&error),
    }
    match input::from_value::<SearchMemory>(value.clone()) {
        Ok(request) => {
            let _ = request.to_index_query(NOW).map_err(|error| refused(&error));
        }
        Err(error) => refused(&error),
    }
    let others = [
        input::from_value::<ListMemories>(value.clone()).err(),
        input::from_value::<GetMemory>(value.clone()).err(),
        input::from_value::<DeleteMemory>(value.clone()).err(),
        input::from_value::<ListEvents>(value.clone()).err(),
    ];
    others.iter().flatten().for_each(refused);
    // The same fields as a query string or a command line would give them.
    let fields = value.as_object().into_iter().flatten();
    let pairs = fields.map(|(name, value)| {
        (name.clone(), value.as_str().map_or_else(|| value.to_string(), str::to_owned))
    });
    match input::from_pairs::<SaveMemory>(pairs) {
        Ok(request) => saves(&request),
        Err(error) => refused(&error),
    }
}

/// A batch is a list of requests.
pub(crate) fn batch(bytes: &[u8]) {
    match input::from_json::<SaveMemories>(bytes) {
        Ok(batch) => batch.memories.iter().take(limits::BATCH).for_each(saves),
        Err(error) => refused(&error),
    }
}

/// Any text is a query or an error with a reason; the words of a query are bounded.
pub(crate) fn query(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match search::parse(text, NOW) {
        Ok(query) => assert!(query.topics.len() <= limits::TOPICS && query.include.len() <= 4),
        Err(error) => refused(&error),
    }
    let request = SearchMemory { query: text.to_owned(), ..SearchMemory::default() };
    match request.to_index_query(NOW) {
        Ok(question) => {
            let looked_for = question.phrases.iter().chain(&question.excluded);
            let most = looked_for.map(Vec::len).sum::<usize>();
            assert!(most <= limits::QUERY_WORDS);
        }
        Err(error) => refused(&error),
    }
}

/// The memory of a line; `None` for another line of an export.
fn memory_of(line: ImportLine, workspace: &Workspace) -> Result<Option<Memory>, Error> {
    Ok(Some(match line {
        ImportLine::Record(_) => return Ok(None),
        ImportLine::Exported(memory) => import::restored_memory(*memory, workspace)?,
        ImportLine::Message(turn) => {
            let id = MemoryId::new(&CountingIds::default(), NOW);
            turn.memory(workspace, &caller(), Sharing::Shared, id, NOW)?
        }
    }))
}

/// A line becomes a memory that an export and another import preserve, or is refused.
pub(crate) fn import(bytes: &[u8]) {
    let memory = import::parse(bytes, TextOrigin::ThisHome).and_then(|line| {
        let workspace = line.workspace(None, &caller())?;
        memory_of(line, &workspace)
    });
    match memory {
        Ok(None) => {}
        Ok(Some(memory)) => {
            kept(&memory);
            let line = serde_json::to_vec(&memory).expect("a memory is JSON");
            let again = import::parse(&line, TextOrigin::ThisHome)
                .and_then(|line| memory_of(line, &memory.workspace));
            assert_eq!(again.expect("an export comes back"), Some(memory));
        }
        Err(error) => refused(&error),
    }
}

/// A name is normalised, stays a name, is within its limit and is not reserved.
pub(crate) fn agent(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let near = AgentName::nearest_agent_name(text, "import").ok();
    for name in [text.parse::<AgentName>().map_err(|error| refused(&error)).ok(), near] {
        let Some(AgentName { agent, device }) = name else { continue };
        let again = Agent::try_from(agent.to_string()).expect("a name stays a name");
        assert_eq!(again, agent);
        assert!(agent.as_str().chars().count() <= limits::AGENT_CHARS);
        assert!(!commonbook::model::naming::RESERVED_NAMES.contains(&agent.as_str()));
        assert!(!agent.as_str().chars().any(|c| c.is_control() || c.is_whitespace()));
        assert!(device.is_none_or(|device| device.chars().count() <= limits::AGENT_CHARS));
    }
}

/// The name of a workspace stays the same name, and so does the nearest name to any text.
pub(crate) fn workspace(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let named = text.parse::<Workspace>().map_err(|error| refused(&error)).ok();
    for workspace in [named, Workspace::nearest_workspace_name(text)].into_iter().flatten() {
        assert_eq!(workspace.as_str().parse::<Workspace>().expect("a name stays one"), workspace);
        assert!(workspace.as_str().chars().count() <= limits::WORKSPACE_CHARS);
    }
}

/// A valid cursor stays the same after writing and parsing; no list fails on a cursor.
pub(crate) fn cursor(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match PageCursor::try_from(text.to_owned()) {
        Ok(cursor) => {
            assert_eq!(
                PageCursor::try_from(cursor.to_string()).expect("a cursor stays one"),
                cursor
            );
            let _ = cursor.numbers::<1>().map_err(|error| refused(&error));
        }
        Err(error) => refused(&error),
    }
    let _ = text.parse::<MemoryId>().map_err(|error| refused(&error));
    let _ = MemoryId::prefix_range(text).map(|(least, most)| assert!(least <= most));
}
