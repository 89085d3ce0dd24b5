//! The query language: plain words, with filters among them.
//!
//! The parser reads the parts of a query between blanks. A part is a filter only if it begins with
//! the exact name of an operator; everything else is text, so that code, logs and plain language can
//! be searched for without escapes.
//!
//! | Filter | Finds |
//! |---|---|
//! | `owner:ann` `type:decision` `user:u1` `session:s1` | memories of this agent, type, user, session |
//! | `case:retries` | the caller's own memories, and the entries of this case |
//! | `entity:tool:Redis` `entity:"Ann Miller"` | memories that mention this entity |
//! | `path:/notes/*` `path:ann:/plan.md` | documents below this path, or at it |
//! | `topic:rust` `topic:"rust build"` | memories about this topic; may be repeated |
//! | `importance>=high` `importance:high` | memories of at least this importance |
//! | `since:2026-11-01` `until:2026-11` `at:yesterday` | memories of this time |
//! | `between:2026-11-01..2026-11-15` | memories from the first time to the second one |
//! | `near:9hm2x4qd` | what stands around this memory |
//! | `session:same` | memories of the session that the caller works in |
//! | `unseen:` | memories that the caller's session has not been given yet |
//! | `include:private,superseded` | memories that a search otherwise leaves out, too |
//! | `"exact phrase"` | memories with these words in this order |
//! | `-word` `-"some phrase"` | memories without it |
//!
//! `:` or `=` follows the name of an operator. All times are in UTC. `unseen:` has no value.

use std::fmt;

use crate::base::error::{Error, Result};
use crate::base::id::{MemoryId, parse_handle};
use crate::base::key::CaseKey;
use crate::base::limits;
use crate::model::memory::{Importance, PathPattern};
use commonbook_text::terms;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use rustc_hash::FxHashSet;

use super::period::{self, PeriodBound};
use super::{IndexQuery, SearchFilter, SearchInclusion};

/// A parsed query.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SearchQuery {
    /// The query without filters: the plain words and the words of the phrases, in order, with one
    /// blank between them. Empty if the query has only filters.
    pub text: String,
    /// Phrases whose words must be adjacent and in this order, without their quotes.
    pub phrases: Vec<String>,
    /// Words and phrases that must not occur.
    pub excluded: Vec<String>,
    /// The agent that owns the memory, as written.
    pub owner: Option<String>,
    /// The type of memory, as written.
    pub memory_type: Option<String>,
    /// The user of the memory, as written.
    pub user: Option<String>,
    /// The session of the memory, as written.
    pub session: Option<String>,
    /// The entity that the memory mentions, as written.
    pub entity: Option<String>,
    /// The case whose entries the search covers beside the caller's own memories.
    pub case: Option<CaseKey>,
    /// The topics that the memory must have, each once; at most [`limits::TOPICS`].
    pub topics: Vec<String>,
    /// From this moment on.
    pub since: Option<Timestamp>,
    /// Up to this moment and with it.
    pub until: Option<Timestamp>,
    /// From the first of these times to the second one, as written; `since` and `until` hold both.
    pub between: Option<String>,
    /// The memories that were valid at this moment.
    pub at: Option<Timestamp>,
    /// The path of the memories, or its beginning.
    pub path: Option<PathPattern>,
    /// The id or handle of the memory around which others stand, as written.
    pub near: Option<String>,
    /// Only what the session of the caller has not been given yet.
    pub unseen: bool,
    /// The least importance.
    pub importance: Option<Importance>,
    /// Memories that the search otherwise leaves out, each kind once.
    pub include: Vec<SearchInclusion>,
}

/// The name of every operator, in its exact spelling.
const OPERATORS: [&str; 16] = [
    "owner",
    "type",
    "user",
    "session",
    "case",
    "topic",
    "importance",
    "since",
    "until",
    "at",
    "include",
    "entity",
    "between",
    "near",
    PATH,
    UNSEEN,
];

/// The operator whose value may begin with `/`; only `:` follows it.
const PATH: &str = "path";

/// The operator without a value.
const UNSEEN: &str = "unseen";

/// Characters of code that no name or time has: an unquoted value with one of them is text
/// (`type:Vec<u8>`, `user=find()`).
const CODE_CHARS: [char; 12] = ['(', ')', '{', '}', '[', ']', '<', '>', ';', '|', '`', '"'];

/// Parses a query; the module describes the language. Work grows with the length alone. The parser
/// checks no limit but that of topics, so check the length of the query before.
///
/// These are text and no filters:
/// - an operator without a value or with a blank before it (`owner:`, `type: foo`), with a value
///   that begins with `:`, `=` or, save of `path`, `/` (`user::new`, `type==x`), or with an unquoted value that
///   contains brackets or other signs of code;
/// - a quote that is not closed in its line, or whose end is not followed by a blank, the end, or
///   one of `.`, `!` and `?`;
/// - a `-` before anything but a quote or one whole word of letters, digits, `_`, `-` and `.`
///   that begins with a letter. Words of one or two ASCII letters are options of commands
///   (`-p`, `-rf`) and are text: write `-"js"`. A `-word` that begins a further line of a query of
///   several lines (a list, a patch) is text, and so is every `-word` of a query with nothing else.
///
/// A time is RFC 3339, a date, a month, a year, `today`, `yesterday`, or an age (`10m`, `12h`, `7d`, `3w`,
/// `2mo`, `1y`). Of a date, month or year, `since` means the first moment, `until` and `at`
/// the last nanosecond. A time without an offset is UTC.
///
/// # Errors
/// `invalid` on `query` for an operator with a malformed value, for an operator with two different
/// values, and for a beginning after the end; `too_large` for too many topics.
pub fn parse(query: &str, now: Timestamp) -> Result<SearchQuery> {
    let mut found = SearchQuery::default();
    let mut text: Vec<&str> = Vec::new();
    let mut minus: Vec<&str> = Vec::new();
    let mut filters = 0_usize;
    let mut rest = query.trim();
    let mut begins_line = false;
    while !rest.is_empty() {
        let (part, after) = first_part(rest, begins_line);
        match part {
            QueryPart::Text(word) => text.push(word),
            QueryPart::Phrase(words) => {
                text.push(words);
                found.phrases.push(words.to_owned());
            }
            QueryPart::Excluded { words, written } => {
                minus.push(written);
                found.excluded.push(words.to_owned());
            }
            QueryPart::Operator { name, value } => {
                found.set(name, value, now)?;
                filters += 1;
            }
        }
        let next = after.trim_start();
        begins_line = after[..after.len() - next.len()].contains('\n');
        rest = next;
    }
    if text.is_empty() && filters == 0 {
        found.excluded.clear();
        text = minus;
    }
    found.text = text.join(" ");
    found.narrow_to_span(now)?;
    match (found.since, found.until) {
        (Some(since), Some(until)) if since > until => Err(Error::invalid(
            "query",
            format!(
                "the time begins at {since}, after its end at {until}, so nothing can be found"
            ),
        )
        .hint("Write the earlier time first: since before until, between:EARLIER..LATER.")),
        _ => Ok(found),
    }
}

/// A query whose days are those of a zone, as a query that is the same in every zone.
#[must_use]
pub fn query_in_zone(query: &str, now: Timestamp, zone: &TimeZone) -> String {
    let (mut written, mut rest) = (String::new(), query);
    while !rest.is_empty() {
        let bare = rest.trim_start();
        let blanks = &rest[..rest.len() - bare.len()];
        written.push_str(blanks);
        let begins_line = !written.trim().is_empty() && blanks.contains('\n');
        let (part, after) = if bare.is_empty() { break } else { first_part(bare, begins_line) };
        let time = match part {
            QueryPart::Operator { name, value } => {
                let time = period::time_in_zone(name, value, now, zone);
                time.map(|time| format!("{name}:{time}"))
            }
            _ => None,
        };
        written.push_str(time.as_deref().unwrap_or(&bare[..bare.len() - after.len()]));
        rest = after;
    }
    written
}

/// One part of a query.
#[derive(Debug)]
enum QueryPart<'a> {
    Text(&'a str),
    Phrase(&'a str),
    Excluded { words: &'a str, written: &'a str },
    Operator { name: &'static str, value: &'a str },
}

/// Returns the first part of a text that begins with no blank, and the text after it.
fn first_part(rest: &str, begins_line: bool) -> (QueryPart<'_>, &str) {
    if let Some((words, after)) = quoted_words(rest, &['.', '!', '?']) {
        return (QueryPart::Phrase(words), after);
    }
    let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
    let (word, after) = rest.split_at(end);
    if let Some(minus) = rest.strip_prefix('-').filter(|_| !begins_line) {
        if let Some((words, after)) = quoted_words(minus, &[]) {
            let written = &rest[..rest.len() - after.len()];
            return (QueryPart::Excluded { words, written }, after);
        }
        if is_excludable(&word[1..]) {
            return (QueryPart::Excluded { words: &word[1..], written: word }, after);
        }
    }
    match operator(rest, end) {
        Some((name, value, after)) => (QueryPart::Operator { name, value }, after),
        None => (QueryPart::Text(word), after),
    }
}

/// Returns the words between the quote at the beginning and the next quote, and the text after it, if
/// both quotes are in one line, words are between them, and the second quote ends a part.
fn quoted_words<'a>(text: &'a str, closing: &[char]) -> Option<(&'a str, &'a str)> {
    let (words, after) = text.strip_prefix('"')?.split_once('"')?;
    let after = after.trim_start_matches(closing);
    let ends = after.is_empty() || after.starts_with(char::is_whitespace);
    let says = words.contains(char::is_alphanumeric) && !words.contains(['\n', '\r']);
    (ends && says).then(|| (words.trim(), after))
}

/// Whether a word after `-` is one that a person would exclude.
fn is_excludable(word: &str) -> bool {
    let inside = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    word.starts_with(char::is_alphabetic)
        && word.ends_with(char::is_alphanumeric)
        && word.chars().all(inside)
        && (word.len() >= 3 || !word.is_ascii())
}

/// Returns the operator at the beginning, its value, and the text after it; the first blank is at
/// `end`.
fn operator(rest: &str, end: usize) -> Option<(&'static str, &str, &str)> {
    let word = &rest[..end];
    let name = OPERATORS.into_iter().find(|name| {
        word.strip_prefix(name).is_some_and(|tail| tail.starts_with([':', '=', '>']))
    })?;
    let tail = &rest[name.len()..];
    let sign = match tail.strip_prefix(">=") {
        Some(_) if name == "importance" => 2,
        _ if tail.starts_with('>') => return None,
        _ => 1,
    };
    if let Some((value, after)) = quoted_words(&tail[sign..], &[]) {
        return Some((name, value, after));
    }
    let value = &rest[name.len() + sign..end];
    // A comma can separate two operators; in a list it promises one more item.
    let value = if name == "include" { value } else { value.trim_end_matches(',') };
    let is_text = (value.is_empty() && name != UNSEEN)
        || (name == PATH && !tail.starts_with(':'))
        || (name != PATH && value.starts_with('/'))
        || value.starts_with([':', '='])
        || value.contains(CODE_CHARS);
    (!is_text).then(|| (name, value, &rest[end..]))
}

/// The terms of the phrases and exclusions of a query, each once.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct QueryTerms {
    /// Terms that must be adjacent and in this order.
    pub(super) phrases: Vec<Vec<String>>,
    /// Terms that must not be adjacent in this order.
    pub(super) excluded: Vec<Vec<String>>,
}

impl SearchQuery {
    /// Returns the terms of the phrases and exclusions.
    ///
    /// # Errors
    /// `invalid` for more than [`limits::QUERY_WORDS`] words in all phrases and exclusions together:
    /// each word counts, as a phrase has its position.
    pub(super) fn terms(&self) -> Result<QueryTerms> {
        let distinct = |texts: &[String]| -> Vec<Vec<String>> {
            let mut seen = FxHashSet::default();
            let terms = texts.iter().map(|text| terms::terms(text));
            terms.filter(|terms| !terms.is_empty() && seen.insert(terms.clone())).collect()
        };
        let (phrases, excluded) = (distinct(&self.phrases), distinct(&self.excluded));
        let count = phrases.iter().chain(&excluded).map(Vec::len).sum::<usize>();
        if count > limits::QUERY_WORDS {
            let max = limits::QUERY_WORDS;
            let message = format!(
                "the phrases and exclusions of the query have {count} words; expected at most {max}"
            );
            return Err(Error::invalid("query", message)
                .hint("Search without quotation marks, or for the few words that matter."));
        }
        Ok(QueryTerms { phrases, excluded })
    }

    /// Sets the value of an operator.
    fn set(&mut self, name: &'static str, value: &str, now: Timestamp) -> Result<()> {
        let written = || value.to_owned();
        match name {
            "owner" => set_once(name, &mut self.owner, written()),
            "type" => set_once(name, &mut self.memory_type, written()),
            "user" => set_once(name, &mut self.user, written()),
            "session" => set_once(name, &mut self.session, written()),
            "entity" => set_once(name, &mut self.entity, written()),
            "case" => {
                let case =
                    value.parse().map_err(|_| value_error(name, value, "the key of a case"))?;
                set_once(name, &mut self.case, case)
            }
            "since" => set_once(
                name,
                &mut self.since,
                parse_time_value(name, value, PeriodBound::First, now)?,
            ),
            "until" => set_once(
                name,
                &mut self.until,
                parse_time_value(name, value, PeriodBound::Last, now)?,
            ),
            "at" => {
                set_once(name, &mut self.at, parse_time_value(name, value, PeriodBound::Last, now)?)
            }
            "importance" => {
                let level = Importance::ALL.iter().copied().find(|level| level.name() == value);
                let level = level.ok_or_else(|| {
                    value_error(
                        name,
                        value,
                        &joined_names(Importance::ALL.iter().map(|i| i.name())),
                    )
                })?;
                set_once(name, &mut self.importance, level)
            }
            "between" => set_once(name, &mut self.between, written()),
            "near" => {
                let is_id = MemoryId::parse(value).is_some() || parse_handle(value).is_some();
                let id = is_id.then(written);
                let expected = "the id of a memory, or its last eight letters";
                set_once(
                    name,
                    &mut self.near,
                    id.ok_or_else(|| value_error(name, value, expected))?,
                )
            }
            PATH => {
                let pattern = value
                    .parse::<PathPattern>()
                    .map_err(|error| Error { field: Some("query".to_owned()), ..error })?;
                set_once(name, &mut self.path, pattern)
            }
            UNSEEN if value.is_empty() => {
                self.unseen = true;
                Ok(())
            }
            UNSEEN => {
                Err(value_error(name, value, "nothing after the colon, as in `unseen: words`"))
            }
            "topic" => self.add_topic(value),
            _ => self.add_included(value),
        }
    }

    /// Narrows `since` and `until` to the span of `between`.
    fn narrow_to_span(&mut self, now: Timestamp) -> Result<()> {
        let Some(value) = &self.between else { return Ok(()) };
        let expected = format!(
            "two times with two dots between them (2026-11-01..2026-11-15), each {}",
            period::ACCEPTED_TIMES
        );
        let bounds = period::split_span(value).and_then(|(first, last)| {
            let since = period::parse_query_time(first, PeriodBound::First, now)?;
            Some((since, period::parse_query_time(last, PeriodBound::Last, now)?))
        });
        let (since, until) = bounds.ok_or_else(|| value_error("between", value, &expected))?;
        self.since = self.since.max(Some(since));
        self.until = [self.until, Some(until)].into_iter().flatten().min();
        Ok(())
    }

    fn add_topic(&mut self, topic: &str) -> Result<()> {
        if self.topics.iter().any(|earlier| earlier == topic) {
            return Ok(());
        }
        if self.topics.len() == limits::TOPICS {
            let found = self.topics.len() + 1;
            return Err(Error::too_large("query", found, limits::TOPICS, "topics")
                .hint("No memory has more topics than that; write fewer."));
        }
        self.topics.push(topic.to_owned());
        Ok(())
    }

    fn add_included(&mut self, list: &str) -> Result<()> {
        for item in list.split(',').map(str::trim) {
            let found = SearchInclusion::ALL.into_iter().find(|include| include.name() == item);
            let include = found.ok_or_else(|| {
                let all = joined_names(SearchInclusion::ALL.into_iter().map(SearchInclusion::name));
                value_error("include", list, &format!("{all}, separated by commas without blanks"))
            })?;
            if !self.include.contains(&include) {
                self.include.push(include);
            }
        }
        Ok(())
    }
}

/// Sets a value; a repetition must be equal.
fn set_once<T: PartialEq + fmt::Display>(name: &str, slot: &mut Option<T>, value: T) -> Result<()> {
    match slot {
        Some(first) if *first != value => Err(Error::invalid(
            "query",
            format!(
                "{name} appears twice, as '{}' and as '{}'",
                value_excerpt(&first.to_string()),
                value_excerpt(&value.to_string())
            ),
        )
        .hint(format!("Write {name} once."))),
        _ => {
            *slot = Some(value);
            Ok(())
        }
    }
}

fn parse_time_value(
    name: &str,
    value: &str,
    edge: PeriodBound,
    now: Timestamp,
) -> Result<Timestamp> {
    period::parse_query_time(value, edge, now)
        .ok_or_else(|| value_error(name, value, period::ACCEPTED_TIMES))
}

/// Creates the error of a malformed value.
fn value_error(name: &str, value: &str, accepted: &str) -> Error {
    Error::invalid(
        "query",
        format!("{name}: '{}' is not valid; expected {accepted}", value_excerpt(value)),
    )
    .hint("To search for these words themselves, put them in quotes.")
}

/// Returns the beginning of a value, short enough for a message.
fn value_excerpt(value: &str) -> String {
    const SHOWN_CHARS_MAX: usize = 60;
    match value.char_indices().nth(SHOWN_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &value[..end]),
        None => value.to_owned(),
    }
}

fn joined_names<'a>(all: impl Iterator<Item = &'a str>) -> String {
    all.collect::<Vec<_>>().join(", ")
}

impl IndexQuery {
    /// Creates a query from plain text, in which filters are text too.
    #[must_use]
    pub fn from_plain_text(text: String, within: SearchFilter, now: Timestamp) -> Self {
        let (phrases, excluded, about) = Default::default();
        let (user, entity, path, near) = (None, None, None, None);
        let most = limits::SEARCH_DEPTH;
        let (unseen, of_memory) = (false, false);
        Self {
            text,
            phrases,
            excluded,
            user,
            entity,
            path,
            near,
            unseen,
            about,
            within,
            now,
            most,
            of_memory,
        }
    }
}

#[cfg(test)]
mod tests;
