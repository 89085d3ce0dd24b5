//! Learnings in JSON: `{"remember": […]}` adds, `{"MEMORIES": […]}` replaces.

use serde_json::{Map, Value};

use super::{Learning, LearningType};

/// The value of one key of one object.
pub(super) struct JsonLearnings {
    pub(super) replaces: bool,
    pub(super) learnings: Vec<Learning>,
}

/// Lines of a message that are tried as the beginning of an object.
const OBJECT_LINES_MAX: usize = 200;

/// The least marks of a line that begins a code block.
const FENCE_MARKS_MIN: usize = 3;

/// What the lines that were read have opened and not closed: all in it may be another's words.
#[derive(Default)]
struct OpenQuotation<'t> {
    /// The mark of a code block, and how many begin it; fewer do not end it.
    fence: Option<(char, usize)>,
    /// The name of a tag: `<blockquote>`, `<tool_result>`, `<details>`.
    tag: Option<&'t str>,
    /// A quotation by `>`, which goes on to an empty line.
    paragraph: bool,
}

impl<'t> OpenQuotation<'t> {
    /// Reads a line without its indentation; returns whether it begins or ends a code block.
    fn read(&mut self, line: &'t str) -> bool {
        let mark = line.chars().next().filter(|mark| ['`', '~'].contains(mark));
        let count = mark.map_or(0, |mark| line.chars().take_while(|c| *c == mark).count());
        let fence = mark.map(|mark| (mark, count)).filter(|_| count >= FENCE_MARKS_MIN);
        match (self.fence, fence) {
            (None, Some(_)) => self.fence = fence,
            (Some((open, least)), Some((mark, count))) if open == mark && count >= least => {
                self.fence = None;
            }
            (Some(_), _) => {}
            (None, None) => self.read_prose(line),
        }
        fence.is_some()
    }

    fn read_prose(&mut self, line: &'t str) {
        self.paragraph = !line.trim().is_empty() && (self.paragraph || line.starts_with('>'));
        if self.tag.is_none() {
            let opened = line.strip_prefix('<').filter(|rest| !rest.contains("/>"));
            self.tag = opened.and_then(tag_name);
        }
        let ends = |tag: &str| line.split("</").skip(1).any(|rest| tag_name(rest) == Some(tag));
        self.tag = self.tag.filter(|tag| !ends(tag));
    }

    fn is_open(&self) -> bool {
        self.fence.is_some() || self.tag.is_some() || self.paragraph
    }
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
    let mut quotation = OpenQuotation::default();
    for line in text.split_inclusive('\n') {
        let bare = line.trim_start();
        let start = at + line.len() - bare.len();
        at += line.len();
        if start >= read && quotation.read(bare) {
            continue;
        }
        if start < read || !bare.starts_with('{') || tried == OBJECT_LINES_MAX {
            continue;
        }
        tried += 1;
        let mut values = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Value>();
        if let Some(Ok(Value::Object(object))) = values.next() {
            read = start + values.byte_offset();
            let is_quoted =
                quotation.is_open() || line.starts_with("    ") || line.starts_with('\t');
            found.extend(of_object(&object).into_iter().filter(|all| !(is_quoted && all.replaces)));
        }
    }
    found
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
