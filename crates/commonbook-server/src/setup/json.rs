//! Entries of ours in a JSON file, with comments or without, that is somebody else's.

use std::ops::Range;

use jsonc_parser::ast::{self, ObjectProp};
use jsonc_parser::common::Ranged;
use jsonc_parser::tokens::{Token, TokenAndRange};
use jsonc_parser::{CollectOptions, CommentCollectionStrategy, ParseOptions, parse_to_ast};
use serde::Serialize;
use serde_json::Value;

use super::splice::{TextSplice, replace_range};
use super::{EditTarget, FileEdit, JsonEntry, conflict, line_ending, without_byte_order_mark};
use commonbook::base::error::{Error, Result};

/// A file taken apart: where everything stands in its text.
pub(super) struct JsonFile<'a> {
    text: &'a str,
    /// The bytes before the JSON itself: the mark that some editors put there.
    start: usize,
    root: ast::Value<'a>,
    tokens: Vec<TokenAndRange<'a>>,
}

/// An object or a list, by where it stands and what is in it.
struct JsonContainer {
    range: Range<usize>,
    items: Vec<Range<usize>>,
}

impl<'a> JsonFile<'a> {
    /// The file that a text is: JSON, comments and commas behind the last thing allowed.
    pub(super) fn parse(text: &'a str) -> Result<Self> {
        let body = without_byte_order_mark(text);
        let collect =
            CollectOptions { comments: CommentCollectionStrategy::AsTokens, tokens: true };
        let options = ParseOptions {
            allow_comments: true,
            allow_loose_object_property_names: false,
            allow_trailing_commas: true,
            allow_missing_commas: false,
            allow_single_quoted_strings: false,
            allow_hexadecimal_numbers: false,
            allow_unary_plus_numbers: false,
            allow_bare_decimal_point_numbers: false,
            allow_non_finite_numbers: false,
            allow_extended_string_escapes: false,
        };
        let parsed = parse_to_ast(body, &collect, &options).map_err(|error| {
            conflict(format!("the file is not JSON: {error}"))
                .hint("Mend it, and run the setup again; nothing was changed.")
        })?;
        let root = parsed.value.filter(|value| value.as_object().is_some());
        let root = root.ok_or_else(|| json_shape_error("an object", &[]))?;
        let start = text.len() - body.len();
        Ok(Self { text, start, root, tokens: parsed.tokens.unwrap_or_default() })
    }

    /// Whether an entry stands in the file, as it is to be.
    pub(super) fn has(&self, entry: &JsonEntry) -> bool {
        match entry {
            JsonEntry::Set { path, value } => {
                self.value_at_path(path).is_some_and(|found| plain_value(found) == *value)
            }
            JsonEntry::Push { path, value, mark } => {
                let ours = self.own_values(path, mark);
                matches!(ours.as_slice(), [one] if plain_value(one) == *value)
            }
        }
    }

    /// The value that a path leads to; of keys that stand there twice the last counts.
    fn value_at_path(&self, path: &[String]) -> Option<&ast::Value<'a>> {
        path.iter().try_fold(&self.root, |value, key| Some(&property(value, key)?.value))
    }

    /// Those of a list that are ours.
    fn own_values(&self, path: &[String], mark: &[String]) -> Vec<&ast::Value<'a>> {
        let list = self.value_at_path(path).and_then(ast::Value::as_array);
        let is_ours = |value: &&ast::Value<'a>| {
            mark.iter().all(|mark| contains_text(&plain_value(value), mark))
        };
        list.map_or_else(Vec::new, |list| list.elements.iter().filter(is_ours).collect())
    }

    fn range(&self, of: &impl Ranged) -> Range<usize> {
        self.start + of.start()..self.start + of.end()
    }

    fn container(&self, value: &ast::Value<'a>) -> Option<JsonContainer> {
        let items = match value {
            ast::Value::Object(object) => {
                object.properties.iter().map(|it| self.range(it)).collect()
            }
            ast::Value::Array(list) => list.elements.iter().map(|it| self.range(it)).collect(),
            _ => return None,
        };
        Some(JsonContainer { range: self.range(value), items })
    }

    /// The blanks by which a level is set in.
    fn indent_unit(&self) -> &'a str {
        let first = self.container(&self.root).and_then(|root| root.items.first().cloned());
        let unit = first.map_or("", |first| own_indent(self.text, first.start).unwrap_or_default());
        if unit.is_empty() { "  " } else { unit }
    }

    /// The splice that puts one more thing into a container, behind the others.
    fn insertion(&self, into: &JsonContainer, thing: &JsonMember<'_>) -> TextSplice {
        let (text, end) = (self.text, line_ending(self.text));
        let outer = indent_of_line(text, into.range.start);
        let inner = format!("{outer}{}", self.indent_unit());
        let Some(last) = into.items.last() else {
            let inside = &text[into.range.start + 1..into.range.end - 1];
            let one_line = !text.contains('\n') && without_byte_order_mark(text).trim() != "{}";
            let after = match inside.contains('\n') {
                _ if one_line => thing.format_one_line(),
                true => format!(
                    "{end}{inner}{}",
                    thing.format_multiline(&inner, self.indent_unit(), end)
                ),
                false => {
                    format!(
                        "{end}{inner}{}{end}{outer}",
                        thing.format_multiline(&inner, self.indent_unit(), end)
                    )
                }
            };
            return TextSplice { at: into.range.start + 1, before: String::new(), after };
        };
        let (behind, comma) = self.member_end(last.end, into.range.end);
        let before = text[last.end..behind].to_owned();
        let first = into.items.first().unwrap_or(last);
        // Behind a comment that goes to the end of its line nothing can stand on the same.
        let line = self.tokens.iter().any(|token| {
            let at = self.range(token).start;
            matches!(token.token, Token::CommentLine(_)) && (last.end..behind).contains(&at)
        });
        let told = match own_indent(text, first.start).or(line.then_some(inner.as_str())) {
            Some(indent) => {
                format!("{end}{indent}{}", thing.format_multiline(indent, self.indent_unit(), end))
            }
            None => format!(" {}", thing.format_one_line()),
        };
        let after = if comma { format!("{before}{told},") } else { format!(",{before}{told}") };
        TextSplice { at: last.end, before, after }
    }

    /// How far what belongs to the last thing goes: a comma behind it, and comments on its line.
    fn member_end(&self, from: usize, until: usize) -> (usize, bool) {
        let (mut end, mut comma) = (from, false);
        let tokens = self.tokens.iter().filter(|token| {
            let range = self.range(*token);
            range.start >= from && range.end < until
        });
        for token in tokens {
            let range = self.range(token);
            match token.token {
                Token::Comma => {
                    comma = true;
                    end = range.end;
                }
                _ if !self.text[end..range.start].contains('\n') => end = range.end,
                // A comma may still stand on a line of its own.
                _ => {}
            }
        }
        (end, comma)
    }

    /// The text without one of its things: its own line, and the comma that set it apart.
    fn text_without(&self, item: &Range<usize>) -> String {
        let is_comment =
            |token: &Token<'_>| matches!(token, Token::CommentLine(_) | Token::CommentBlock(_));
        let tokens = || self.tokens.iter().filter(|token| !is_comment(&token.token));
        let next = tokens().find(|token| self.range(*token).start >= item.end);
        let prev = tokens().rfind(|token| self.range(*token).end <= item.start);
        let comma = |token: &&TokenAndRange<'a>| token.token == Token::Comma;
        let blanks = self.text[..item.start].trim_end_matches([' ', '\t']);
        let start = blanks
            .strip_suffix("\r\n")
            .or_else(|| blanks.strip_suffix('\n'))
            .unwrap_or(&self.text[..item.start])
            .len();
        if let Some(next) = next.filter(comma) {
            let end = self.range(next).end;
            let between = &self.text[item.end..self.range(next).start];
            return replace_range(self.text, start, end - start, between);
        }
        let text = replace_range(self.text, start, item.end - start, "");
        match prev.filter(comma) {
            Some(comma) => replace_range(&text, self.range(comma).start, 1, ""),
            None => text,
        }
    }
}

/// A value, with its key where it goes into an object.
struct JsonMember<'a> {
    key: Option<&'a str>,
    value: &'a Value,
}

impl JsonMember<'_> {
    fn format_one_line(&self) -> String {
        let key = self.key.map_or_else(String::new, |key| format!("{}: ", Value::from(key)));
        format!("{key}{}", self.value)
    }

    fn format_multiline(&self, indent: &str, unit: &str, end: &str) -> String {
        let key = self.key.map_or_else(String::new, |key| format!("{}: ", Value::from(key)));
        format!("{key}{}", pretty(self.value, indent, unit, end))
    }
}

/// A text with an entry in it, and the change that puts it there; none where it is there already.
pub(super) fn write(text: &str, entry: &JsonEntry) -> Result<(String, Option<FileEdit>)> {
    let file = JsonFile::parse(text)?;
    if file.has(entry) {
        return Ok((text.to_owned(), None));
    }
    if let JsonEntry::Push { path, mark, .. } = entry
        && let Some(old) = file.own_values(path, mark).first()
    {
        return write(&file.text_without(&file.range(*old)), entry);
    }
    let (path, value) = match entry {
        JsonEntry::Set { path, value } | JsonEntry::Push { path, value, .. } => (path, value),
    };
    let is_push = matches!(entry, JsonEntry::Push { .. });
    let done = |splice: TextSplice, made, replaced| {
        (
            splice.splice_into(text),
            Some(FileEdit { what: EditTarget::Entry(entry.clone(), made), splice, replaced }),
        )
    };
    if let Some(found) = file.value_at_path(path) {
        let list = file.container(found).filter(|_| found.as_array().is_some());
        return match (is_push, list) {
            (true, Some(list)) => {
                Ok(done(file.insertion(&list, &JsonMember { key: None, value }), Vec::new(), false))
            }
            (true, None) => Err(json_shape_error("a list", path)),
            (false, _) => {
                let range = file.range(found);
                let indent = indent_of_line(text, range.start);
                let after = pretty(value, indent, file.indent_unit(), line_ending(text));
                Ok(done(
                    TextSplice { at: range.start, before: text[range].to_owned(), after },
                    Vec::new(),
                    true,
                ))
            }
        };
    }
    let depth = (0..path.len())
        .rev()
        .find(|depth| file.value_at_path(&path[..*depth]).is_some())
        .unwrap_or(0);
    let object = file.value_at_path(&path[..depth]).filter(|value| value.as_object().is_some());
    let object = object
        .and_then(|value| file.container(value))
        .ok_or_else(|| json_shape_error("an object", &path[..depth]))?;
    let innermost = if is_push { Value::from(vec![value.clone()]) } else { value.clone() };
    let nested = path[depth + 1..]
        .iter()
        .rev()
        .fold(innermost, |inner, key| serde_json::json!({ key: inner }));
    let made =
        (depth + 1..path.len() + usize::from(is_push)).map(|end| path[..end].to_vec()).collect();
    let thing = JsonMember { key: path.get(depth).map(String::as_str), value: &nested };
    Ok(done(file.insertion(&object, &thing), made, false))
}

/// A text without an entry, found by its path, and without what of `made` is empty then; with what
/// stood in its place before.
pub(super) fn remove(
    text: &str,
    entry: &JsonEntry,
    made: &[Vec<String>],
    before: Option<&String>,
) -> Result<String> {
    let file = JsonFile::parse(text)?;
    let mut text = match entry {
        JsonEntry::Set { path, .. } => match (file.property(path), before) {
            (None, _) => return Ok(text.to_owned()),
            (Some(found), Some(before)) => {
                let range = file.range(&found.value);
                return Ok(replace_range(text, range.start, range.len(), before));
            }
            (Some(found), None) => file.text_without(&file.range(found)),
        },
        JsonEntry::Push { path, mark, .. } => match file.own_values(path, mark).first() {
            None => return Ok(text.to_owned()),
            Some(found) => file.text_without(&file.range(*found)),
        },
    };
    for path in made.iter().rev() {
        let file = JsonFile::parse(&text)?;
        let empty =
            |value: &ast::Value<'_>| file.container(value).is_some_and(|it| it.items.is_empty());
        let next = file
            .property(path)
            .filter(|found| empty(&found.value))
            .map(|found| file.text_without(&file.range(found)));
        if let Some(next) = next {
            text = next;
        }
    }
    Ok(text)
}

impl<'a> JsonFile<'a> {
    /// The property that a path leads to.
    fn property(&self, path: &[String]) -> Option<&ObjectProp<'a>> {
        let (last, above) = path.split_last()?;
        property(self.value_at_path(above)?, last)
    }
}

fn property<'v, 'a>(value: &'v ast::Value<'a>, key: &str) -> Option<&'v ObjectProp<'a>> {
    value.as_object()?.properties.iter().rfind(|property| property.name.as_str() == key)
}

fn plain_value(value: &ast::Value<'_>) -> Value {
    Value::from(value.clone())
}

/// Whether some text within a value holds these words.
fn contains_text(value: &Value, words: &str) -> bool {
    match value {
        Value::String(text) => text.contains(words),
        Value::Array(items) => items.iter().any(|item| contains_text(item, words)),
        Value::Object(object) => object.values().any(|item| contains_text(item, words)),
        _ => false,
    }
}

fn json_shape_error(what: &str, path: &[String]) -> Error {
    let place = if path.is_empty() { "the beginning".to_owned() } else { path.join(".") };
    conflict(format!("there is something else than {what} at {place}"))
        .hint("Mend the file, and run the setup again; nothing was changed.")
}

/// The blanks before a place, where nothing else stands before it on its line.
fn own_indent(text: &str, at: usize) -> Option<&str> {
    let line = text[..at].rfind('\n')? + 1;
    let before = &text[line..at];
    before.trim().is_empty().then_some(before)
}

/// The blanks at the beginning of the line that a place is on.
fn indent_of_line(text: &str, at: usize) -> &str {
    let line = &text[text[..at].rfind('\n').map_or(0, |end| end + 1)..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// A value on several lines, each but the first set in by `indent`.
fn pretty(value: &Value, indent: &str, unit: &str, end: &str) -> String {
    let mut bytes = Vec::new();
    let formatter = serde_json::ser::PrettyFormatter::with_indent(unit.as_bytes());
    let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, formatter);
    let written =
        value.serialize(&mut serializer).ok().and_then(|()| String::from_utf8(bytes).ok());
    // A value always is JSON, and JSON always is UTF-8.
    written.unwrap_or_else(|| value.to_string()).replace('\n', &format!("{end}{indent}"))
}
