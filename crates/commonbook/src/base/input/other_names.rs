//! The names that models, and the tools of other memories, use for the fields of requests.

use serde_json::Value;

/// A field, and other names for it. A name may stand for several fields: a request has the first of them that
/// it declares and lacks.
type FieldNames = (&'static str, &'static [&'static str]);

/// Names for how many a list has at most.
const COUNT_NAMES: &[&str] = &[
    "k",
    "limit",
    "top_k",
    "topk",
    "n",
    "n_results",
    "num_results",
    "max_results",
    "max_memories",
    "count",
    "size",
    "page_size",
    "per_page",
];

/// The fields with their other names. Names are compared in small letters with underscores: `memoryId` is
/// `memory_id`. A name that a request declares itself is no other name there.
const FIELD_NAMES: &[FieldNames] = &[
    (
        "id",
        &["memory_id", "mem_id", "memory", "memory_handle", "handle", "uuid", "note_id", "path"],
    ),
    ("ids", &["memory_ids", "memories", "id_list", "handles"]),
    ("review_id", &["review", "id"]),
    ("session", &["session_id"]),
    ("key", &["case", "case_key", "case_id", "id"]),
    ("case", &["case_key", "case_id", "key"]),
    ("entity", &["entity_id", "entity_name"]),
    (
        "query",
        &[
            "q",
            "search_query",
            "question",
            "search",
            "search_term",
            "search_text",
            "keywords",
            "text",
            "prompt",
            "input",
            "term",
        ],
    ),
    (
        "task",
        &[
            "query",
            "task_description",
            "description",
            "goal",
            "objective",
            "instruction",
            "instructions",
            "request",
            "work",
            "prompt",
            "summary",
            "title",
            "message",
            "question",
            "topic",
        ],
    ),
    (
        "text",
        &[
            "memory",
            "content",
            "contents",
            "memory_text",
            "memory_content",
            "new_text",
            "new_content",
            "updated_text",
            "body",
        ],
    ),
    (
        "context",
        &[
            "handoff_context",
            "details",
            "background",
            "description",
            "summary",
            "notes",
            "content",
            "text",
            "message",
            "instructions",
            "note",
            "comment",
        ],
    ),
    (
        "to",
        &[
            "target_agent",
            "to_agent",
            "recipient",
            "receiver",
            "assignee",
            "target",
            "agent",
            "agent_name",
            "agent_id",
            "to_entity",
            "object",
        ],
    ),
    ("from", &["from_entity", "source", "subject"]),
    ("agent_name", &["agent", "name"]),
    ("owner", &["agent", "agent_name", "agent_id", "author", "by", "created_by"]),
    ("prompt", &["task", "query", "message", "input"]),
    ("value", &["name", "entity", "entity_name", "text"]),
    ("k", COUNT_NAMES),
    ("limit", COUNT_NAMES),
    ("max_memories", &["limit", "k", "top_k", "topk", "n_results", "num_results", "max_results"]),
    ("budget", &["max_tokens", "token_budget", "token_limit", "tokens", "budget_tokens"]),
    ("topics", &["topic", "tags", "tag", "labels", "label", "keywords", "categories"]),
    ("topic", &["topics", "tags", "tag"]),
    ("memory_type", &["type", "kind", "mem_type", "memory_kind", "category"]),
    ("kind", &["type", "entry_type", "handoff_type"]),
    ("type", &["kind", "entity_type", "relation", "relation_type", "predicate"]),
    ("importance", &["priority"]),
    ("sharing", &["visibility"]),
    ("title", &["name", "heading", "subject"]),
    ("summary", &["description", "abstract"]),
    ("metadata", &["meta", "extra", "attributes", "custom_metadata"]),
    (
        "since",
        &["start", "start_date", "start_time", "from_date", "date_from", "created_after", "after"],
    ),
    ("until", &["end", "end_date", "end_time", "to_date", "date_to", "created_before", "before"]),
    ("at", &["as_of", "at_time", "point_in_time"]),
    ("cursor", &["page_token", "next_page_token", "next_cursor", "next"]),
    ("valid_until", &["expires_at", "valid_to", "expires", "expiration_date"]),
    ("supersedes", &["replaces", "supersede"]),
    ("contradicts", &["corrects", "conflicts_with", "disagrees_with"]),
    ("based_on", &["sources", "basis"]),
    ("dry_run", &["preview", "simulate"]),
    (
        "active_files",
        &[
            "files",
            "file_paths",
            "paths",
            "file_list",
            "modified_files",
            "files_modified",
            "changed_files",
            "files_changed",
            "relevant_files",
        ],
    ),
    ("decisions_made", &["decisions", "decision"]),
    (
        "next_steps",
        &[
            "steps",
            "todo",
            "todos",
            "next_actions",
            "remaining_work",
            "remaining_steps",
            "action_items",
        ],
    ),
    ("memories", &["memory_ids", "include_memories", "memory_id", "memory", "items"]),
    ("entries", &["entry", "items"]),
    ("reason", &["why", "rationale", "note", "comment", "message"]),
    ("result", &["summary", "outcome", "output", "results", "message", "note", "notes"]),
];

/// Names by which callers of other memories say who they are or where; no request of an agent has them.
const CALLER_NAMES: [&str; 17] = [
    "agent",
    "agent_id",
    "agent_name",
    "app_id",
    "author",
    "client",
    "from_agent",
    "group_id",
    "namespace",
    "project",
    "project_id",
    "run_id",
    "sender",
    "source_agent",
    "user",
    "user_id",
    "workspace",
];

/// Names that stand for these fields only where a request requires them: elsewhere they may mean something else,
/// and a note on a memory would replace its text.
const LOOSE_NAMES: &[FieldNames] = &[
    (
        "text",
        &[
            "note",
            "fact",
            "message",
            "data",
            "observation",
            "observations",
            "information",
            "value",
            "input",
        ],
    ),
    ("name", &["agent", "agent_name", "agent_id"]),
];

/// Names whose values have another form than the field that they mean: an error names it.
const HINTED_NAMES: [(&str, &str); 4] = [
    ("messages", "text"),
    ("private", "sharing"),
    ("is_private", "sharing"),
    ("public", "sharing"),
];

/// The field that a name means, whose value has another form.
pub(super) fn hinted_field(name: &str) -> Option<&'static str> {
    HINTED_NAMES.iter().find(|(other, _)| *other == name).map(|(_, field)| *field)
}

/// Whether a name stands for this field only where the field is required.
pub(super) fn is_loose_name(name: &str, field: &str) -> bool {
    LOOSE_NAMES.iter().any(|(loose, names)| *loose == field && names.contains(&name))
}

/// The fields for which a name may stand, the likeliest first.
pub(super) fn fields_of_name(name: &str) -> impl Iterator<Item = &'static str> + '_ {
    let of_name = move |(_, names): &&FieldNames| names.contains(&name);
    FIELD_NAMES.iter().chain(LOOSE_NAMES).filter(of_name).map(|(field, _)| *field)
}

/// Whether a name says who calls, or where.
pub(super) fn names_caller(name: &str) -> bool {
    CALLER_NAMES.contains(&name)
}

/// Other words for a choice, each with the choice.
const CHOICE_WORDS: [(&str, &str); 3] =
    [("medium", "normal"), ("moderate", "normal"), ("default", "normal")];

/// The choice for which a word stands.
pub(super) fn choice_of_word(word: &str) -> Option<&'static str> {
    CHOICE_WORDS.iter().find(|(other, _)| *other == word).map(|(_, choice)| *choice)
}

/// A name in small letters with underscores: `memoryId` and `memory-id` are `memory_id`.
#[must_use]
pub fn plain_name(name: &str) -> String {
    let mut plain = String::with_capacity(name.len() + 2);
    let mut was_small = false;
    for letter in name.trim().chars() {
        if letter.is_uppercase() && was_small {
            plain.push('_');
        }
        was_small = letter.is_lowercase() || letter.is_ascii_digit();
        match letter {
            '-' | ' ' => plain.push('_'),
            _ => plain.extend(letter.to_lowercase()),
        }
    }
    plain
}

/// Whether a value names nothing: `null`, or a text without a letter.
pub(super) fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        _ => false,
    }
}
