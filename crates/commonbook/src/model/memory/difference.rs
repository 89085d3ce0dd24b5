//! What differs between two revisions of a memory, in words.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Memory, MemoryType};
use crate::base::id::handle;
use crate::base::key::CaseKey;
use crate::base::limits;
use crate::base::page::PageCursor;
use crate::model::search::period;

/// Lists the memories that are not what they were at a time, the last saved first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DiffMemories {
    /// The time, of a day its beginning; 1d by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("pattern" = period::TIME_PATTERN))]
    pub since: Option<String>,
    /// Only memories of this agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::AGENT_CHARS))]
    pub owner: Option<String>,
    /// Only memories of this type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_type: Option<MemoryType>,
    /// Only memories with this topic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topic: Option<String>,
    /// Only the entries of this case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub case: Option<CaseKey>,
    /// Only memories about this user or about no user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = limits::USER_CHARS))]
    pub user_id: Option<String>,
    /// Items per page; 20 by default. From 1 to 100.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = limits::PAGE_MAX))]
    pub limit: Option<u32>,
    /// The last page's `next`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<PageCursor>,
}

/// A memory that is not what it was at a time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryDifference {
    /// As it was then; missing if you could not see it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Memory>,
    /// As it is now; with `deleted_at` if it was deleted since.
    pub after: Memory,
}

impl MemoryDifference {
    /// The difference between what a memory was and what it is; `None` if a reader finds none.
    #[must_use]
    pub fn between(before: Option<Memory>, after: Memory) -> Option<Self> {
        let differs = match &before {
            None => after.deleted_at.is_none(),
            Some(before) => {
                !field_differences(before, &after).is_empty()
                    || !state_differences(before, &after).is_empty()
            }
        };
        differs.then_some(Self { before, after })
    }
}

/// A field that differs between two revisions, as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldDifference {
    /// The name of the field.
    pub field: &'static str,
    /// Its earlier value; empty if it had none.
    pub older: String,
    /// Its later value; empty if it has none.
    pub newer: String,
}

/// The fields that an author can change and that differ: the text first.
#[must_use]
pub fn field_differences(before: &Memory, after: &Memory) -> Vec<FieldDifference> {
    let pairs = field_texts(before).into_iter().zip(field_texts(after));
    let differing = pairs.filter(|((_, older), (_, newer))| older != newer);
    let difference = |((field, older), (_, newer))| FieldDifference { field, older, newer };
    differing.map(difference).collect()
}

/// How the state of a memory differs, besides its fields: `deleted`, `restored`, `superseded by 9hm2x4qd`.
#[must_use]
pub fn state_differences(before: &Memory, after: &Memory) -> Vec<String> {
    let mut states = Vec::new();
    let mut note = |was: bool, is: bool, begun: String, ended: &str| match (was, is) {
        (false, true) => states.push(begun),
        (true, false) => states.push(ended.to_owned()),
        _ => {}
    };
    let is_deleted = |memory: &Memory| memory.deleted_at.is_some();
    note(is_deleted(before), is_deleted(after), "deleted".to_owned(), "restored");
    let heir = after.superseded_by.map(|heir| {
        let heir = heir.to_string();
        format!(" by {}", handle(&heir))
    });
    let superseded = format!("superseded{}", heir.unwrap_or_default());
    let is_superseded = |memory: &Memory| memory.superseded_by.is_some();
    note(is_superseded(before), is_superseded(after), superseded, "superseded no longer");
    let reason = after.retraction.as_ref().map(|retraction| format!(": {}", retraction.reason));
    let retracted = format!("retracted{}", reason.unwrap_or_default());
    let is_retracted = |memory: &Memory| memory.retraction.is_some();
    note(is_retracted(before), is_retracted(after), retracted, "retracted no longer");
    let is_archived = |memory: &Memory| memory.archived_at.is_some();
    note(is_archived(before), is_archived(after), "archived".to_owned(), "archived no longer");
    states
}

/// The fields of a memory as texts, always the same ones in the same order.
fn field_texts(memory: &Memory) -> [(&'static str, String); 15] {
    let time = |time: Option<Timestamp>| time.map(|time| time.to_string()).unwrap_or_default();
    let entities = memory.entities.iter();
    let entities: Vec<String> =
        entities.map(|entity| format!("{}:{}", entity.entity_type, entity.value)).collect();
    let metadata = match memory.metadata.is_empty() {
        true => String::new(),
        false => Value::Object(memory.metadata.clone()).to_string(),
    };
    let user = memory.user_id.as_ref().map(|user| format!("user {user}"));
    [
        ("text", memory.text.clone()),
        ("title", memory.title.clone().unwrap_or_default()),
        ("path", memory.path.as_ref().map(ToString::to_string).unwrap_or_default()),
        ("summary", memory.summary.clone().unwrap_or_default()),
        ("type", memory.memory_type.to_string()),
        ("topics", memory.topics.join(", ")),
        ("entities", entities.join(", ")),
        ("importance", memory.importance.to_string()),
        ("trust", memory.trust.to_string()),
        ("sharing", memory.sharing.to_string()),
        ("about", user.unwrap_or_else(|| "project".to_owned())),
        ("owner", memory.owner.to_string()),
        ("metadata", metadata),
        ("valid from", time(memory.valid_from)),
        ("valid until", time(memory.valid_until)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::id::{CountingIds, MemoryId};
    use crate::model::agent::Agent;
    use crate::model::caller::{Caller, EntryPoint};
    use crate::model::memory::{Importance, Retraction, SaveMemory, Sharing};
    use crate::model::workspace::Workspace;

    fn memory() -> Memory {
        let caller = Caller::new(None, Workspace::fallback(), EntryPoint::Rest);
        let request = SaveMemory { text: "The gate is blue".to_owned(), ..SaveMemory::default() };
        let id = MemoryId::new(&CountingIds::default(), Timestamp::UNIX_EPOCH);
        request.memory(&caller, Sharing::Shared, id, Timestamp::UNIX_EPOCH).expect("a memory")
    }

    #[test]
    fn each_difference_has_its_words() {
        let heir = MemoryId::new(&CountingIds::default(), Timestamp::UNIX_EPOCH);
        let retraction =
            Retraction { reason: "wrong".into(), by: Agent::human(), at: Timestamp::UNIX_EPOCH };
        type Change<'c> = &'c dyn Fn(&mut Memory);
        let table: [(Change<'_>, &str); 6] = [
            (&|memory| memory.text = "The gate is green".into(), "text: The gate is green"),
            (&|memory| memory.topics = vec!["gate".into(), "paint".into()], "topics: gate, paint"),
            (&|memory| memory.importance = Importance::High, "importance: high"),
            (&|memory| memory.deleted_at = Some(Timestamp::UNIX_EPOCH), "deleted"),
            (&|memory| memory.superseded_by = Some(heir), "superseded by "),
            (&|memory| memory.retraction = Some(retraction.clone()), "retracted: wrong"),
        ];
        for (change, words) in table {
            let (before, mut after) = (memory(), memory());
            change(&mut after);
            let fields = field_differences(&before, &after);
            let fields = fields.iter().map(|one| format!("{}: {}", one.field, one.newer));
            let said: Vec<String> = fields.chain(state_differences(&before, &after)).collect();
            assert!(said.len() == 1 && said[0].starts_with(words), "{said:?}");
        }
        assert_eq!(field_differences(&memory(), &memory()), Vec::new());
        let deleted = Memory { deleted_at: Some(Timestamp::UNIX_EPOCH), ..memory() };
        assert_eq!(state_differences(&deleted, &memory()), ["restored"]);
    }
}
