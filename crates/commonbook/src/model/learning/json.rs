//! Learnings in JSON: `{"remember": […]}` adds, `{"MEMORIES": […]}` replaces.

use std::ops::Range;

use pulldown_cmark::{Event, Options, Parser, Tag};
use serde_json::{Map, Value};

use super::{Learning, LearningType};

/// The value of one key of one object.
pub(super) struct JsonLearnings {
    pub(super) replaces: bool,
    pub(super) learnings: Vec<Learning>,
}

/// Lines of a message that are tried as the beginning of an object.
const OBJECT_LINES_MAX: usize = 200;

/// Tags that have no end.
const VOID_TAGS: [&str; 5] = ["br", "hr", "img", "input", "link"];

/// What opens a comment or another section without tags, and what closes it.
const SECTION_MARKS: [(&str, &str); 3] = [("!--", "-->"), ("![CDATA[", "]]>"), ("?", "?>")];

/// What the lines that were read have opened and not closed: all in it may be another's words.
#[derive(Default)]
struct OpenTags<'t> {
    /// The name of a tag: `<blockquote>`, `<tool_result>`, `<details>`.
    tag: Option<&'t str>,
    /// What closes a comment or another section of HTML.
    section_end: Option<&'static str>,
}

impl<'t> OpenTags<'t> {
    /// Reads a line that is no code. A tag within a line opens something if the line ends with it.
    fn read(&mut self, line: &'t str) {
        let mut at = 0;
        loop {
            if let Some(end) = self.section_end {
                let Some(closed) = line[at..].find(end) else { return };
                self.section_end = None;
                at += closed + end.len();
            }
            let Some(next) = line[at..].find('<') else { return };
            let is_in_word = line[..at + next].ends_with(char::is_alphanumeric);
            at += next + 1;
            let rest = &line[at..];
            self.section_end =
                SECTION_MARKS.iter().find_map(|(open, end)| rest.starts_with(open).then_some(*end));
            if let Some(name) = rest.strip_prefix('/').and_then(tag_name) {
                self.tag = self.tag.filter(|tag| *tag != name);
            } else if self.tag.is_none()
                && !is_in_word
                && (at == 1 || rest.trim_end().ends_with('>'))
            {
                self.tag = opened_tag(rest);
            }
        }
    }

    fn is_open(&self) -> bool {
        self.tag.is_some() || self.section_end.is_some()
    }
}

/// The name of the tag that a text opens which follows `<`; of none that closes itself, and of no address.
fn opened_tag(text: &str) -> Option<&str> {
    let name = tag_name(text).filter(|name| !VOID_TAGS.contains(name))?;
    let rest = &text[name.len()..];
    let is_tag = rest.is_empty() || rest.starts_with(|c: char| c.is_whitespace() || c == '>');
    let closes_itself = rest.split('>').next().is_some_and(|tag| tag.ends_with('/'));
    (is_tag && !name.ends_with(':') && !closes_itself).then_some(name)
}

/// The name with which a text begins that follows `<` or `</`.
fn tag_name(text: &str) -> Option<&str> {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '_' | '-' | ':'));
    Some(&text[..end.unwrap_or(text.len())]).filter(|name| !name.is_empty())
}

/// The learnings of the JSON objects that begin a line of the message, bare or in a code block. What a code
/// block or a quotation shows may be another's: it adds, but replaces nothing.
pub(super) fn learnings_in_json(text: &str) -> Vec<JsonLearnings> {
    let (mut found, mut at, mut read, mut tried) = (Vec::new(), 0, 0, 0);
    let (mut tags, mut before) = (OpenTags::default(), "");
    let shown = shown_ranges(text);
    for line in text.split_inclusive('\n') {
        let bare = line.trim_start();
        let start = at + line.len() - bare.len();
        at += line.len();
        if start < read || bare.is_empty() {
            continue;
        }
        let next = shown.partition_point(|part| part.range.end <= start);
        let container = shown.get(next).filter(|part| part.range.contains(&start));
        if container.is_none_or(|shown| !shown.is_code) {
            tags.read(bare);
        }
        if bare.starts_with('{') && tried < OBJECT_LINES_MAX {
            tried += 1;
            let mut values =
                serde_json::Deserializer::from_str(&text[start..]).into_iter::<Value>();
            if let Some(Ok(Value::Object(object))) = values.next() {
                read = start + values.byte_offset();
                let mut rest = text[read..].lines().map(str::trim);
                let mut is_wrapped = || rest.find(|line| !line.is_empty()).is_some_and(is_mark);
                let is_quoted = container.is_some()
                    || tags.is_open()
                    || ["    ", "\t"].iter().any(|indent| line.starts_with(indent))
                    || is_introduced(before)
                    || (is_mark(before) && is_wrapped());
                let learnings = of_object(&object).into_iter();
                found.extend(learnings.filter(|all| !(is_quoted && all.replaces)));
            }
        }
        before = bare.trim_end();
    }
    found
}

/// A part of a message that shows something: a code block, a quotation, a list or a table.
struct ShownPart {
    range: Range<usize>,
    is_code: bool,
}

/// The outermost parts of a message that show something, in order.
fn shown_ranges(text: &str) -> Vec<ShownPart> {
    let mut parts: Vec<ShownPart> = Vec::new();
    for (event, range) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
        let is_code = match event {
            Event::Start(Tag::CodeBlock(_)) => true,
            Event::Start(Tag::BlockQuote(_) | Tag::List(_) | Tag::Table(_)) => false,
            _ => continue,
        };
        if parts.last().is_none_or(|last| last.range.end <= range.start) {
            parts.push(ShownPart { range, is_code });
        }
    }
    parts
}

/// Whether a line says that what follows is what something else says.
fn is_introduced(line: &str) -> bool {
    line.trim_end_matches(['*', '_']).ends_with([':', '：'])
}

/// Whether a line is a mark and no sentence: `"""`, `----`, `[quote]`.
fn is_mark(line: &str) -> bool {
    line.starts_with(|first: char| !first.is_alphanumeric()) && !line.contains(char::is_whitespace)
}

fn of_object(object: &Map<String, Value>) -> Vec<JsonLearnings> {
    let keys = [("remember", false), ("Remember", false), ("MEMORIES", true)];
    let found = keys.into_iter().filter_map(|(key, replaces)| {
        let value = object.get(key)?;
        // `"remember": true` is a setting, and `"MEMORIES": []` is not an order to delete
        // everything.
        let learnings = of_value(value, None);
        (!learnings.is_empty()).then_some(JsonLearnings { replaces, learnings })
    });
    found.collect()
}

/// The learnings of a value: a string, an object with a content, a list, or lists by type or
/// section.
fn of_value(value: &Value, kind: Option<LearningType>) -> Vec<Learning> {
    match value {
        Value::String(text) => vec![of_text(text, kind)],
        Value::Array(items) => items.iter().flat_map(|item| of_value(item, kind)).collect(),
        Value::Object(object) => of_fields(object, kind).map_or_else(
            || {
                let lists = object.iter().filter(|(_, value)| value.is_array());
                lists
                    .flat_map(|(key, value)| of_value(value, LearningType::of_word(key).or(kind)))
                    .collect()
            },
            |learning| vec![learning],
        ),
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

fn of_fields(object: &Map<String, Value>, kind: Option<LearningType>) -> Option<Learning> {
    let text = |keys: &[&str]| keys.iter().find_map(|key| object.get(*key)).and_then(Value::as_str);
    let content = text(&["content", "Content", "text", "learning", "memory"])?;
    let named = text(&["type", "Type", "category", "kind"]).map(LearningType::from_type_word);
    Some(Learning {
        kind: named.or(kind).unwrap_or(LearningType::Context),
        content: content.trim().to_owned(),
    })
}

/// The learning of a string, which may begin with its type.
fn of_text(text: &str, kind: Option<LearningType>) -> Learning {
    let (named, content) = super::block::split_type(text);
    Learning { kind: named.or(kind).unwrap_or(LearningType::Context), content }
}
