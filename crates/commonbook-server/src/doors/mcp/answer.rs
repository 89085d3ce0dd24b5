//! The answer of a tool: what a model reads.
//!
//! A search is a block of items, as in a context; a verb that writes a text for an agent answers that
//! text. Every other answer is JSON without what a model does not need. `get_…` returns all fields,
//! but of a memory those that a list shows; every tool returns all with `verbose`, for programs also as structured
//! content.
//!
//! Nothing else in this door makes a content: what is stored leaves it as a block of `prompt/` or as
//! [`RecordedJson`], which says that its texts are data.

use commonbook::Commonbook;
use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::base::id;
use commonbook::model::caller::Caller;
use commonbook::model::cursor::ChangesResponse;
use commonbook::model::stats::GetStats;
use commonbook::prompt::recorded::RecordedJson;
use commonbook::verbs::names;
use commonbook_text::sanitize;
use jiff::Timestamp;
use rmcp::model::{
    CallToolResult, ContentBlock, JsonObject, MetaObject, PromptMessage, ResourceContents, Role,
};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::budget::{AnswerBudget, FitAnswer, PagedRequest};
use crate::calls::ended_handoffs::ended_handoffs_text;
use crate::calls::hint::{HintDoor, for_door, translate};
use crate::calls::verb::{AnswerKind, ToolSelection, Verb};

/// The key of `_meta` under which a program finds the error that the text says in words.
const ERROR_META: &str = "commonbook/error";

/// The field with the block of an answer that is a text.
const BLOCK_FIELD: &str = "text";

/// The form of a resource.
pub(super) const JSON_MIME_TYPE: &str = "application/json";

/// Fields that only programs need.
const UNSENT_FIELDS: [&str; 23] = [
    "accepted_in",
    "chain",
    "client",
    "client_session",
    "depth",
    "device",
    "door",
    "first_seen",
    "follows",
    "handle",
    "merge_count",
    "metadata",
    "normalised",
    "parts",
    "relevance",
    "revised_at",
    "revised_by",
    "score",
    "source",
    "tokens",
    "touched_at",
    "workspace",
    "workspaces",
];

/// What a list shows of a memory; the rest says only what is unusual.
const MEMORY_FIELDS: [&str; 16] = [
    "id",
    "path",
    "owner",
    "title",
    "text",
    "case",
    "position",
    "trust",
    "redacted",
    "valid_until",
    "superseded_by",
    "retraction",
    "deleted_at",
    "archived_at",
    "memory_type",
    "recorded_at",
];

/// What an answer to a write shows of a memory.
const WRITTEN_MEMORY_FIELDS: [&str; 9] = [
    "id",
    "path",
    "about",
    "revision",
    "trust",
    "redacted",
    "superseded_by",
    "retraction",
    "deleted_at",
];

/// What an answer to a write shows of a handoff.
const WRITTEN_HANDOFF_FIELDS: [&str; 7] =
    ["id", "from", "to", "role", "status", "expires_at", "case"];

/// What the answer to a dry run shows of a handoff.
const DRY_RUN_HANDOFF_FIELDS: [&str; 6] = ["from", "to", "role", "case", "entities", "tokens"];

/// What an answer shows of something that a retracted memory reached: its place in the tree, what it is,
/// how it was reached and the beginning of what it says.
const REACHED_FIELDS: [&str; 5] = ["depth", "kind", "id", "how", "says"];

/// Characters of what a node of that tree says.
const REACHED_CHARS: usize = 80;

/// Values that need no mention: most things have them.
const USUAL_VALUES: [(&str, &str); 5] = [
    ("about", "project"),
    ("importance", "normal"),
    ("memory_type", "semantic"),
    ("sharing", "shared"),
    ("trust", "normal"),
];

/// How a caller wants an answer.
pub(super) struct AnswerForm<'t> {
    /// Every field, for programs also as structured content.
    pub(super) verbose: bool,
    /// Characters that it has read of each long text.
    pub(super) offset: usize,
    /// The tools that it has.
    pub(super) tools: &'t ToolSelection,
}

/// What an answer says, before it is cut to its budget.
enum AnswerContent {
    /// A text that is ready to be read.
    Block(String),
    /// Everything else.
    Json(Value),
}

/// Calls a verb: its response, and the result of the call, which went well, within its budget. The response
/// of a list that does not fit is that of a shorter page.
///
/// # Errors
/// As the verb, and as [`Commonbook::search_text`].
pub(super) fn call(
    book: &Commonbook,
    caller: &Caller,
    verb: &Verb,
    arguments: Value,
    form: &AnswerForm<'_>,
) -> Result<(Value, CallToolResult)> {
    let budget = AnswerBudget::of(verb, form.offset);
    let mut page = PagedRequest::of(verb, arguments);
    loop {
        let response = verb.call.run(book, caller, page.request())?;
        let content = match form.verbose {
            true => AnswerContent::Json(recorded(verb, &response).into_value()),
            false => content(book, caller, verb, &response, form.tools)?,
        };
        let fit = match content {
            AnswerContent::Block(text) => AnswerContent::Block(budget.fit_block(text)),
            AnswerContent::Json(answer) => {
                budget.check_offset(&answer)?;
                match budget.fit(&answer) {
                    FitAnswer::Whole(answer) | FitAnswer::Cut(answer) => {
                        AnswerContent::Json(page.with_left_out(answer))
                    }
                    FitAnswer::Items(items) if page.shrink(items) => continue,
                    FitAnswer::Items(_) => AnswerContent::Json(budget.cut(&answer)),
                }
            }
        };
        if page.take_mark() {
            continue;
        }
        let result = match fit {
            AnswerContent::Json(answer) if form.verbose => CallToolResult::structured(answer),
            AnswerContent::Json(answer) => success(book, caller, verb, answer.to_string()),
            AnswerContent::Block(text) => success(book, caller, verb, text),
        };
        return Ok((response, result));
    }
}

/// The result of a call that went well, with the ends of the caller's handoffs that it has not heard of.
fn success(book: &Commonbook, caller: &Caller, verb: &Verb, text: String) -> CallToolResult {
    let mut content = vec![ContentBlock::text(text)];
    let ended = ended_handoffs_text(book, caller, verb);
    if !ended.is_empty() {
        content.push(ContentBlock::text(ended));
    }
    CallToolResult::success(content)
}

/// What the answer to a call that went well says.
fn content(
    book: &Commonbook,
    caller: &Caller,
    verb: &Verb,
    response: &Value,
    tools: &ToolSelection,
) -> Result<AnswerContent> {
    let json = |answer: &Value| AnswerContent::Json(RecordedJson::of(answer).into_value());
    Ok(match verb.name {
        names::SEARCH_MEMORY => {
            AnswerContent::Block(book.search_text(caller, read_back(response)?)?)
        }
        names::LIST_CASES if has_items(response) => {
            AnswerContent::Block(book.case_list_text(caller, &read_back(response)?)?)
        }
        names::LIST_HANDOFFS if has_items(response) => {
            AnswerContent::Block(book.handoff_list_text(caller, &read_back(response)?)?)
        }
        names::CHANGES_SINCE => AnswerContent::Block(changes_text(book, caller, response, tools)?),
        names::GET_CONTEXT if text_is_empty(response) => {
            let stats = book.get_memory_stats(caller, &GetStats::default())?;
            AnswerContent::Block(text_of(response, &nothing_fits(stats.memories, tools), tools))
        }
        // What a list shows of each: several come as a list.
        names::GET_MEMORY if response.get("further").or(response.get("left")).is_some() => {
            json(&lean(&opened_list(response), AnswerView::Read, tools))
        }
        _ => match verb.answer {
            AnswerKind::Text => AnswerContent::Block(text_of(response, NOTHING_KNOWN, tools)),
            AnswerKind::Details => json(response),
            // A dry run has written nothing: its answer says what would go along.
            AnswerKind::Written if response["dry_run"] == true => {
                json(&lean(response, AnswerView::DryRun, tools))
            }
            AnswerKind::Written => json(&lean(response, AnswerView::Written, tools)),
            AnswerKind::Data => json(&lean(response, AnswerView::Read, tools)),
        },
    })
}

/// Changes as headlines; below them, which memories of the caller are quarantined.
fn changes_text(
    book: &Commonbook,
    caller: &Caller,
    response: &Value,
    tools: &ToolSelection,
) -> Result<String> {
    let changes: ChangesResponse = read_back(response)?;
    let nothing = format!("Nothing has changed since position {}.", changes.after);
    // One says how to appeal; the reasons of the others are much the same.
    let mut quarantined = changes.quarantined.iter();
    let first = quarantined.next().map(|notice| notice.hint.clone());
    let others = quarantined.map(|notice| format!("#{}", id::handle(&notice.id.to_string())));
    let others: Vec<String> = others.collect();
    let others = (!others.is_empty())
        .then(|| format!("Quarantined too, `verbose` has why: {}.", others.join(", ")));
    let hints: Vec<String> = first.into_iter().chain(others).collect();
    let parts = json!({BLOCK_FIELD: book.changes_text(caller, &changes)?, "warnings": hints});
    Ok(text_of(&parts, &nothing, tools))
}

/// The response of a verb as its type.
fn read_back<T: DeserializeOwned>(response: &Value) -> Result<T> {
    T::deserialize(response).map_err(|error| {
        Error::new(ErrorKind::Internal, "cannot read the response").with_cause(error)
    })
}

/// Whether a list has any item.
fn has_items(response: &Value) -> bool {
    response["items"].as_array().is_some_and(|items| !items.is_empty())
}

/// The memories that one call opened, as a list.
fn opened_list(response: &Value) -> Value {
    let mut first = response.clone();
    let mut part = |name| first.as_object_mut().and_then(|fields| fields.remove(name));
    let (further, left) = (part("further"), part("left"));
    let further = further.as_ref().and_then(Value::as_array).cloned().unwrap_or_default();
    let items: Vec<Value> = [first].into_iter().chain(further).collect();
    json!({"items": items, "left": left})
}

/// The content of a resource: the response of a verb, within the budget of an answer.
pub(super) fn resource_contents(verb: &Verb, response: &Value, uri: &str) -> ResourceContents {
    let (answer, budget) = (recorded(verb, response).into_value(), AnswerBudget::of(verb, 0));
    let answer = match budget.fit(&answer) {
        FitAnswer::Whole(answer) | FitAnswer::Cut(answer) => answer,
        FitAnswer::Items(_) => budget.cut(&answer),
    };
    ResourceContents::text(answer.to_string(), uri).with_mime_type(JSON_MIME_TYPE)
}

/// The message of a prompt: the block in the response of a verb, and a line of ours below it.
pub(super) fn prompt_message(response: &Value, instruction: &str) -> PromptMessage {
    let block = response[BLOCK_FIELD].as_str().unwrap_or_default();
    PromptMessage::new_text(Role::User, format!("{block}{instruction}"))
}

/// The response of a verb with every field, as a model reads it.
fn recorded(verb: &Verb, response: &Value) -> RecordedJson {
    let has_block = verb.answer == AnswerKind::Text;
    RecordedJson::with_block(response, has_block.then_some(BLOCK_FIELD))
}

/// What an answer says of the things in it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AnswerView {
    /// What the caller reads.
    Read,
    /// What the caller has just written.
    Written,
    /// What a handoff would carry. It has no id: none is stored.
    DryRun,
}

/// The answer of a verb that has no text for an agent.
const NOTHING_KNOWN: &str = "Nothing is known yet.";

/// The answer of `get_context` without a text, for a caller that may read this number of memories.
fn nothing_fits(memories: u64, tools: &ToolSelection) -> String {
    let known = match memories {
        0 => return NOTHING_KNOWN.to_owned(),
        1 => "1 memory is known".to_owned(),
        count => format!("{count} memories are known"),
    };
    let text = format!(
        "No memory shares a word with this task; {known}. Search in your own words, names and \
         identifiers: `search_memory`."
    );
    translate(&text, HintDoor::Mcp(tools))
}

fn text_is_empty(response: &Value) -> bool {
    response[BLOCK_FIELD].as_str().is_none_or(str::is_empty)
}

/// The text of an answer, or what stands for it, and what the answer warns of.
fn text_of(response: &Value, otherwise: &str, tools: &ToolSelection) -> String {
    let text = response[BLOCK_FIELD].as_str().filter(|text| !text.is_empty());
    let warnings = response["warnings"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let warnings = warnings.map(|warning| {
        let warning = sanitize::one_line(&sanitize::readable(warning));
        translate(&warning, HintDoor::Mcp(tools))
    });
    let parts = [text.unwrap_or(otherwise).to_owned()].into_iter().chain(warnings);
    parts.collect::<Vec<_>>().join("\n")
}

/// A value without what a model does not need; ids become handles, and times lose their seconds.
fn lean(value: &Value, view: AnswerView, tools: &ToolSelection) -> Value {
    let lean_item = |item| lean(item, view, tools);
    match value {
        Value::Object(fields) if is_passed_note(fields) => json!(passed_line(fields)),
        Value::Object(fields) => {
            let shown = fields.iter().filter(|(name, value)| {
                // An empty list says that there is nothing.
                (!is_empty(value) || *name == "items")
                    && shows(fields, name, view)
                    && !is_usual(name, value)
            });
            let shown = shown.map(|(name, value)| match (name.as_str(), value) {
                // Hints name tools.
                ("hint", Value::String(hint)) => {
                    (name.clone(), json!(translate(hint, HintDoor::Mcp(tools))))
                }
                ("says", Value::String(text)) if is_reached(fields) => {
                    (name.clone(), json!(beginning(text, REACHED_CHARS)))
                }
                (_, Value::String(text)) => (name.clone(), json!(short_text(name, text))),
                _ => (name.clone(), lean_item(value)),
            });
            Value::Object(shown.collect())
        }
        Value::Array(items) => items.iter().map(lean_item).collect(),
        Value::String(text) => json!(short_text("", text)),
        _ => value.clone(),
    }
}

/// Whether an object is a memory that goes along with a handoff or stays behind.
fn is_passed_note(object: &Map<String, Value>) -> bool {
    let has_fields = ["id", "author", "says"].iter().all(|field| object.contains_key(*field));
    has_fields && object.len() == 3 + usize::from(object.contains_key("headline"))
}

/// `#9dfqb3sx codex: The depot shuts at six (headline)`
fn passed_line(note: &Map<String, Value>) -> String {
    let text = |field: &str| note.get(field).and_then(Value::as_str).unwrap_or_default();
    let headline = if note.contains_key("headline") { " (headline)" } else { "" };
    let author = sanitize::shown_name(text("author"));
    format!("#{} {author}: {}{headline}", id::handle(text("id")), text("says"))
}

/// The first characters of a text.
fn beginning(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Whether a model sees this field of an object.
fn shows(object: &Map<String, Value>, name: &str, view: AnswerView) -> bool {
    let id = object.get("id").and_then(Value::as_str).unwrap_or_default();
    if is_reached(object) {
        return REACHED_FIELDS.contains(&name);
    }
    let is_memory = id.starts_with("mem_") && object.contains_key("revision");
    let is_handoff = id.starts_with("hnd_") && object.contains_key("expires_at");
    match view {
        AnswerView::Written if is_memory => WRITTEN_MEMORY_FIELDS.contains(&name),
        AnswerView::Written if is_handoff => WRITTEN_HANDOFF_FIELDS.contains(&name),
        AnswerView::DryRun if is_handoff => DRY_RUN_HANDOFF_FIELDS.contains(&name),
        // What stays behind says it in words.
        AnswerView::DryRun if name == "left_out" => false,
        AnswerView::Read | AnswerView::DryRun if is_memory => MEMORY_FIELDS.contains(&name),
        _ => !UNSENT_FIELDS.contains(&name),
    }
}

/// Whether an object is a node of what a retracted memory reached.
fn is_reached(object: &Map<String, Value>) -> bool {
    ["depth", "kind", "how"].iter().all(|field| object.contains_key(*field))
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    }
}

fn is_usual(name: &str, value: &Value) -> bool {
    USUAL_VALUES.iter().any(|(field, usual)| *field == name && value == usual)
        || (name == "revision" && *value == 1)
}

/// A text as a model needs it: the handle of an id that requests accept as a handle, a time to the
/// minute.
fn short_text(name: &str, text: &str) -> String {
    let is_id = ["mem_", "hnd_", "ent_", "ctx_"].iter().any(|kind| text.starts_with(kind));
    let handle = id::handle(text);
    if is_id && handle != text && !text.contains(char::is_whitespace) {
        return format!("#{handle}");
    }
    let is_time =
        name == "at" || ["_at", "_from", "_until", "_seen"].iter().any(|end| name.ends_with(end));
    match text.parse::<Timestamp>().ok().filter(|_| is_time) {
        Some(time) => time.strftime("%FT%H:%MZ").to_string(),
        None => text.to_owned(),
    }
}

/// The result of a failed call: an error in words. Clients check structured content against the schema
/// of a result even then, so it has none; a program reads `_meta`.
pub(super) fn error_result(error: &Error, tools: &ToolSelection) -> CallToolResult {
    let error = for_door(error, HintDoor::Mcp(tools));
    let mut result = CallToolResult::error(vec![ContentBlock::text(error_text(&error))]);
    let detail = (ERROR_META.to_owned(), json!(error.body(None).error));
    result.meta = Some(MetaObject(JsonObject::from_iter([detail])));
    result
}

/// `forbidden (ownership_mismatch): this memory belongs to 'ann', and you are 'bob'. To keep …`
fn error_text(error: &Error) -> String {
    let code = error.code.map(|code| format!(" ({})", code.name())).unwrap_or_default();
    let field = error.field.as_deref().filter(|field| !error.message.contains(*field));
    let field = field.map(|field| format!(" (argument {field})")).unwrap_or_default();
    let hint = error.hint.as_deref().map(|hint| format!(". {hint}")).unwrap_or_default();
    // A message may name what others wrote.
    sanitize::readable(&format!("{}{code}: {}{field}{hint}", error.kind.name(), error.message))
}
