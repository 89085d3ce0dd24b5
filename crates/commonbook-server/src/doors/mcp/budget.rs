//! The tokens of an answer: long texts are shortened, then a list has fewer items and its `next` is earlier.
//!
//! A model pays for every token of an answer, and clients cut or refuse a long one. Nothing is lost unsaid:
//! a shortened text ends with its length and the way to the rest.

use commonbook::base::error::{Error, Result};
use commonbook::base::limits;
use commonbook::model::caller::EntryPoint;
use commonbook::verbs::names;
use commonbook_text::fence::{self, Fence};
use commonbook_text::tokens;
use serde_json::{Map, Value, json};

use super::contract;
use crate::calls::verb::{AnswerKind, Verb, VerbEffect};

/// Lengths to which the texts of an answer are shortened, in characters: the first with which it fits.
const TEXT_LENGTHS: [usize; 7] = [28_000, 14_000, 7_000, 3_500, 1_800, 900, 450];

/// Lengths of last resort: a list has one item, or its verb has no pages.
const SHORT_LENGTHS: [usize; 2] = [200, 80];

/// Bytes of a token at most, in a usual text: an answer of more bytes is not even counted.
const TOKEN_BYTES_MAX: usize = 8;

/// Tokens that an answer has beside the text that its `budget` is for.
const REMAINDER_TOKENS: usize = 500;

/// Calls of one verb until its page fits.
const PAGE_CALLS_MAX: usize = 4;

/// The fields of requests for the number of items, where a verb has several the one that wins first.
const PAGE_FIELDS: [&str; 3] = ["last", "limit", "k"];

/// The fields by which an object names the memory that it shows.
const MEMORY_ID_FIELDS: [&str; 2] = ["id", "entry_id"];

/// How much of an answer its reader has room for, and where its texts begin.
#[derive(Debug, Clone, Copy)]
pub(super) struct AnswerBudget {
    tokens: usize,
    /// Characters that its reader has read of each long text.
    offset: usize,
    /// Whether the answer is of one thing, so that the same call with an offset reads on.
    is_record: bool,
    /// Whether its texts are those of the memories as they are now.
    is_present: bool,
}

/// An answer within its budget.
#[derive(Debug, PartialEq)]
pub(super) enum FitAnswer {
    /// It has all items.
    Whole(Value),
    /// It has this many items of its list, as the verb must return them.
    Items(usize),
    /// The verb has no pages: the answer has what fits, and says how much is left out.
    Cut(Value),
}

impl AnswerBudget {
    /// The budget of an answer of this verb.
    pub(super) fn of(verb: &Verb, offset: usize) -> Self {
        let is_record = !contract::has_pages(verb);
        let is_present = verb.name != names::MEMORY_HISTORY;
        Self { tokens: limits::ANSWER_TOKENS, offset, is_record, is_present }
    }

    /// Refuses an offset that no text of an answer reaches: the reader has read all of it.
    ///
    /// # Errors
    /// `invalid` on `offset`.
    pub(super) fn check_offset(self, answer: &Value) -> Result<()> {
        if self.offset == 0 || has_longer_text(answer, self.offset) {
            return Ok(());
        }
        let message = format!("no text here has more than {} characters", self.offset);
        Err(Error::invalid("offset", message)
            .hint("Send the offset that a shortened text names, or none."))
    }

    /// An answer in JSON that fits.
    pub(super) fn fit(self, answer: &Value) -> FitAnswer {
        for length in TEXT_LENGTHS {
            let shortened = self.shortened(answer, length);
            if self.holds(&shortened) {
                return FitAnswer::Whole(shortened);
            }
        }
        let least = self.shortened(answer, TEXT_LENGTHS[TEXT_LENGTHS.len() - 1]);
        match long_list(&least).map(|list| self.items_that_fit(&least, list)) {
            Some(items) if items > 0 => FitAnswer::Items(items),
            _ => FitAnswer::Cut(self.cut(answer)),
        }
    }

    /// A fenced text that fits.
    pub(super) fn fit_block(self, block: String) -> String {
        if self.holds_text(&block) {
            return block;
        }
        let lengths = TEXT_LENGTHS.into_iter().chain(SHORT_LENGTHS);
        let mut shorter = lengths.map(|length| fence::shorten_block(&block, length));
        shorter.find(|text| self.holds_text(text)).unwrap_or_default()
    }

    /// The answer with what fits of its lists.
    pub(super) fn cut(self, answer: &Value) -> Value {
        let mut cut = answer.clone();
        for length in SHORT_LENGTHS {
            cut = self.shortened(answer, length);
            while !self.holds(&cut) {
                let Some(list) = long_list(&cut).map(str::to_owned) else { break };
                let fit = self.items_that_fit(&cut, &list).max(1);
                drop_items(&mut cut, &list, fit);
            }
            if self.holds(&cut) {
                return cut;
            }
        }
        let size = cut.to_string().len();
        json!({"left_out": format!("an answer of {size} bytes, which is too long: ask for less")})
    }

    fn holds(self, answer: &Value) -> bool {
        self.holds_text(&answer.to_string())
    }

    fn holds_text(self, text: &str) -> bool {
        text.len() <= self.tokens
            || text.len() <= self.tokens * TOKEN_BYTES_MAX && tokens::count(text) <= self.tokens
    }

    /// How many items of this list fit beside the rest of the answer.
    fn items_that_fit(self, answer: &Value, list: &str) -> usize {
        let mut rest = answer.clone();
        let items = rest.as_object_mut().and_then(|fields| fields.remove(list));
        let items = items.as_ref().and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let mut left = self.tokens.saturating_sub(tokens::count(&rest.to_string()));
        let mut fit = 0;
        for item in items {
            // Its comma too.
            let tokens = tokens::count(&item.to_string()) + 1;
            if tokens > left {
                break;
            }
            left -= tokens;
            fit += 1;
        }
        // The next page needs a token or two beside what was counted.
        fit.min(items.len().saturating_sub(1))
    }

    /// The answer with each text from the offset on, of at most this many characters.
    fn shortened(self, value: &Value, length: usize) -> Value {
        self.shortened_within(value, length, None)
    }

    fn shortened_within(self, value: &Value, length: usize, memory: Option<&str>) -> Value {
        match value {
            Value::String(text) => self.part_of(text, length, memory).into(),
            Value::Array(items) => {
                items.iter().map(|item| self.shortened_within(item, length, memory)).collect()
            }
            Value::Object(fields) => {
                let memory = memory_of(fields).or(memory);
                let shorten = |(name, value): (&String, &Value)| {
                    (name.clone(), self.shortened_within(value, length, memory))
                };
                Value::Object(fields.iter().map(shorten).collect())
            }
            other => other.clone(),
        }
    }

    fn part_of(self, text: &str, length: usize, memory: Option<&str>) -> String {
        if text.len() <= length && self.offset == 0 {
            return text.to_owned();
        }
        if Fence::nonce_of_block(text).is_some() {
            return fence::shorten_block(text, length);
        }
        let chars = text.chars().count();
        // An id, a day or a title was never shortened: it has no rest to read.
        if chars <= SHORT_LENGTHS[SHORT_LENGTHS.len() - 1] {
            return text.to_owned();
        }
        let begin = if chars > self.offset { self.offset } else { 0 };
        let end = chars.min(begin + length);
        if begin == 0 && end == chars {
            return text.to_owned();
        }
        let part: String = text.chars().skip(begin).take(end - begin).collect();
        let before = if begin > 0 { "…" } else { "" };
        if end == chars {
            return format!("{before}{part}");
        }
        let rest = match memory.filter(|_| self.is_present) {
            Some(handle) => format!("; the rest: get_memory {handle} with offset {end}"),
            None if self.is_record => format!("; the rest: the same call with offset {end}"),
            None => String::new(),
        };
        format!("{before}{part}… (characters {begin} to {end} of {chars}{rest})")
    }
}

/// Whether a text in a value has more than this many characters.
fn has_longer_text(value: &Value, chars: usize) -> bool {
    match value {
        Value::String(text) => text.chars().nth(chars).is_some(),
        Value::Array(items) => items.iter().any(|item| has_longer_text(item, chars)),
        Value::Object(fields) => fields.values().any(|field| has_longer_text(field, chars)),
        _ => false,
    }
}

/// The handle of the memory that an object shows.
fn memory_of(fields: &Map<String, Value>) -> Option<&str> {
    let named = MEMORY_ID_FIELDS.iter().find_map(|field| fields.get(*field)?.as_str());
    let id = named.filter(|id| id.starts_with("mem_") || id.starts_with('#'))?;
    let shows_text = fields.contains_key("text") || fields.contains_key("entry_id");
    shows_text.then_some(id)
}

/// The longest list of an answer, if it has several items.
fn long_list(answer: &Value) -> Option<&str> {
    let lists = answer.as_object()?.iter().filter_map(|(name, value)| {
        let items = value.as_array().filter(|items| items.len() > 1)?;
        Some((name.as_str(), Value::from(items.clone()).to_string().len()))
    });
    lists.max_by_key(|(_, bytes)| *bytes).map(|(name, _)| name)
}

/// Leaves this many items of a list, and says how many are left out.
fn drop_items(answer: &mut Value, list: &str, kept: usize) {
    let Some(items) = answer[list].as_array_mut() else { return };
    let dropped = items.len().saturating_sub(kept);
    items.truncate(kept);
    let before = answer["left_out"].as_u64().unwrap_or_default();
    answer["left_out"] = json!(before + dropped as u64);
}

/// The request of a reading verb, within what its reader has room for.
pub(super) struct PagedRequest {
    request: Value,
    /// The field for the number of items.
    field: Option<&'static str>,
    /// Whether the items that it returns are to be marked as read.
    marks: bool,
    calls: usize,
    /// The items of `last` that have no room: no page after this one has them.
    left_out: u64,
}

impl PagedRequest {
    /// The request of a call.
    pub(super) fn of(verb: &Verb, arguments: Value) -> Self {
        let mut request = verb.call.read(arguments, EntryPoint::Mcp);
        let has_field = |name: &str| verb.call.fields().any(|(field, _)| field == name);
        let marks = has_field("mark") && request["mark"] == true;
        let reads = verb.effect == VerbEffect::Reads || has_field("mark");
        let field = PAGE_FIELDS
            .into_iter()
            .filter(|_| reads)
            .find(|field| has_field(field) && (*field != "last" || request["last"].is_u64()));
        let room = (limits::ANSWER_TOKENS - REMAINDER_TOKENS) as u64;
        let is_large = request["budget"].as_u64().is_some_and(|budget| budget > room);
        if is_large && verb.answer == AnswerKind::Text {
            request["budget"] = room.into();
        }
        // What does not fit is not read.
        if marks {
            request["mark"] = false.into();
        }
        Self { request, field, marks, calls: 0, left_out: 0 }
    }

    /// The request of the next call.
    pub(super) fn request(&mut self) -> Value {
        self.calls += 1;
        self.request.clone()
    }

    /// Asks for this many items instead; returns whether the verb can be called so.
    pub(super) fn shrink(&mut self, items: usize) -> bool {
        let Some(field) = self.field.filter(|_| self.calls < PAGE_CALLS_MAX) else { return false };
        if field == "last" {
            let before = self.request[field].as_u64().unwrap_or_default();
            self.left_out += before.saturating_sub(items as u64);
        }
        self.request[field] = items.into();
        true
    }

    /// The answer, which says what no page has.
    pub(super) fn with_left_out(&self, mut answer: Value) -> Value {
        if self.left_out > 0 {
            answer["left_out"] = self.left_out.into();
        }
        answer
    }

    /// Lets the next call mark what it returns as read, if that is asked for and has not been done.
    pub(super) fn take_mark(&mut self) -> bool {
        let marks = std::mem::take(&mut self.marks);
        if marks {
            self.request["mark"] = true.into();
            self.calls = PAGE_CALLS_MAX;
        }
        marks
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calls::verb;

    fn budget(name: &str, offset: usize) -> AnswerBudget {
        AnswerBudget::of(verb::find(name).unwrap(), offset)
    }

    fn words(count: usize) -> String {
        (0..count).map(|number| format!("word{number} ")).collect()
    }

    fn tokens_of(value: &Value) -> usize {
        tokens::count(&value.to_string())
    }

    #[test]
    fn a_long_text_is_read_in_parts_by_its_offset() {
        let text = format!("{}Ü{}", words(9_000), "語".repeat(20_000));
        let whole = json!({"id": "mem_1", "title": "a title", "text": text});
        let (mut read, mut offset) = (String::new(), 0);
        loop {
            let FitAnswer::Whole(part) = budget("get_memory", offset).fit(&whole) else {
                panic!("one memory");
            };
            assert!(tokens_of(&part) <= limits::ANSWER_TOKENS);
            assert_eq!(part["title"], "a title");
            let part = part["text"].as_str().unwrap();
            let part = if offset > 0 { part.strip_prefix('…').unwrap() } else { part };
            let Some((part, note)) = part.rsplit_once("… (characters ") else {
                read.push_str(part);
                break;
            };
            read.push_str(part);
            let (_, next) = note.rsplit_once(" offset ").unwrap();
            assert!(note.contains("the rest: get_memory mem_1"), "{note}");
            offset = next.trim_end_matches(')').parse().unwrap();
            assert_eq!(read.chars().count(), offset);
        }
        assert_eq!(read, text);
        assert!(budget("get_memory", 1_000_000).check_offset(&whole).is_err());
        assert!(budget("get_memory", 100).check_offset(&whole).is_ok());
        let FitAnswer::Whole(part) = budget("get_memory", 2).fit(&whole) else { panic!() };
        assert_eq!((&part["id"], &part["title"]), (&json!("mem_1"), &json!("a title")));
    }

    #[test]
    fn a_list_has_what_fits_and_a_record_says_what_is_left_out() {
        let item =
            |number: usize| json!({"id": format!("#{number}"), "owner": "ann", "text": words(300)});
        let list =
            |count: usize| json!({"items": (0..count).map(item).collect::<Vec<_>>(), "next": "c9"});
        let FitAnswer::Whole(few) = budget("list_memories", 0).fit(&list(20)) else {
            panic!("few")
        };
        let first = few["items"][0]["text"].as_str().unwrap();
        assert!(first.contains("get_memory #0 with offset"), "{first}");
        assert!(tokens_of(&few) <= limits::ANSWER_TOKENS);
        let FitAnswer::Items(items) = budget("list_memories", 0).fit(&list(100)) else { panic!() };
        assert!((20..100).contains(&items), "{items}");
        let FitAnswer::Whole(page) = budget("list_memories", 0).fit(&list(items)) else { panic!() };
        assert!(tokens_of(&page) > limits::ANSWER_TOKENS / 2);
        let FitAnswer::Items(_) = budget("get_entity", 0).fit(&list(100)) else { panic!() };
        let cut = budget("get_entity", 0).cut(&list(900));
        assert!(tokens_of(&cut) <= limits::ANSWER_TOKENS);
        let shown = cut["items"].as_array().unwrap().len();
        assert_eq!(cut["left_out"], 900 - shown);
        let odd = json!({"metadata": (0..9_000).map(|n| (format!("k{n}"), json!(n))).collect::<Map<_, _>>()});
        let FitAnswer::Cut(odd) = budget("get_memory", 0).fit(&odd) else { panic!() };
        assert!(odd["left_out"].as_str().unwrap().contains("ask for less"), "{odd}");
    }

    #[test]
    fn what_does_not_fit_is_not_marked_as_read() {
        let read = verb::find("read_case").unwrap();
        let mut page = PagedRequest::of(read, json!({"key": "k", "mark": "true", "limit": 90}));
        assert_eq!(page.request(), json!({"key": "k", "mark": false, "limit": 90}));
        assert!(page.shrink(7));
        assert!(page.take_mark());
        assert_eq!(page.request(), json!({"key": "k", "mark": true, "limit": 7}));
        assert!(!page.take_mark() && !page.shrink(3));
        let mut newest = PagedRequest::of(read, json!({"key": "k", "last": 40}));
        newest.request();
        assert!(newest.shrink(30) && newest.shrink(28));
        assert_eq!(newest.with_left_out(json!({}))["left_out"], 12);
        let context = verb::find("get_context").unwrap();
        let mut large = PagedRequest::of(context, json!({"task": "t", "budget": 40_000}));
        assert_eq!(large.request()["budget"], 9_500);
        assert!(!large.shrink(1));
    }
}
