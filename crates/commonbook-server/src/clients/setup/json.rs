//! Our entries in a JSON file of the user, with or without comments.

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

/// A parsed file with the positions of its parts.
pub(super) struct JsonFile<'a> {
    text: &'a str,
    /// The length of the byte order mark.
    start: usize,
    root: ast::Value<'a>,
    tokens: Vec<TokenAndRange<'a>>,
}

/// An object or a list: its range and the ranges of its items.
struct JsonContainer {
    range: Range<usize>,
    items: Vec<Range<usize>>,
}

impl<'a> JsonFile<'a> {
    /// Parses JSON with comments and trailing commas.
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
                .hint("Repair the file, then run the setup again. No file was changed.")
        })?;
        let root = parsed.value.filter(|value| value.as_object().is_some());
        let root = root.ok_or_else(|| json_shape_error("an object", &[]))?;
        let start = text.len() - body.len();
        Ok(Self { text, start, root, tokens: parsed.tokens.unwrap_or_default() })
    }

    /// Whether the file has this entry with its value.
    pub(super) fn has(&self, entry: &JsonEntry) -> bool {
        match entry {
            JsonEntry::Set { path, value } => {
                self.value_at_path(path).is_some_and(|found| plain_value(found) == *value)
            }
            JsonEntry::Need { path, .. } => self.value_at_path(path).is_some(),
            JsonEntry::Push { path, value, mark } => {
                let ours = self.own_values(path, mark);
                matches!(ours.as_slice(), [item] if plain_value(item) == *value)
            }
        }
    }

    /// The value at a path; the last one of repeated keys.
    fn value_at_path(&self, path: &[String]) -> Option<&ast::Value<'a>> {
        path.iter().try_fold(&self.root, |value, key| Some(&property(value, key)?.value))
    }

    /// Our items of a list.
    fn own_values(&self, path: &[String], mark: &[String]) -> Vec<&ast::Value<'a>> {
        let list = self.value_at_path(path).and_then(ast::Value::as_array);
        let is_ours = |value: &&ast::Value<'a>| {
            mark.iter().all(|mark| contains_text(&plain_value(value), mark))
        };
        list.map_or_else(Vec::new, |list| list.elements.iter().filter(is_ours).collect())
    }

    fn range(&self, node: &impl Ranged) -> Range<usize> {
        self.start + node.start()..self.start + node.end()
    }

    fn container(&self, value: &ast::Value<'a>) -> Option<JsonContainer> {
        let items = match value {
            ast::Value::Object(object) => {
                object.properties.iter().map(|property| self.range(property)).collect()
            }
            ast::Value::Array(list) => list.elements.iter().map(|item| self.range(item)).collect(),
            _ => return None,
        };
        Some(JsonContainer { range: self.range(value), items })
    }

    /// The indentation of one level.
    fn indent_unit(&self) -> &'a str {
        let first = self.container(&self.root).and_then(|root| root.items.first().cloned());
        let unit = first.map_or("", |first| own_indent(self.text, first.start).unwrap_or_default());
        if unit.is_empty() { "  " } else { unit }
    }

    /// The splice that appends a member to a container.
    fn insertion(&self, into: &JsonContainer, member: &JsonMember<'_>) -> TextSplice {
        let (text, end) = (self.text, line_ending(self.text));
        let outer = indent_of_line(text, into.range.start);
        let inner = format!("{outer}{}", self.indent_unit());
        let Some(last) = into.items.last() else {
            let inside = &text[into.range.start + 1..into.range.end - 1];
            let one_line = !text.contains('\n') && without_byte_order_mark(text).trim() != "{}";
            let after = match inside.contains('\n') {
                _ if one_line => member.format_one_line(),
                true => format!(
                    "{end}{inner}{}",
                    member.format_multiline(&inner, self.indent_unit(), end)
                ),
                false => {
                    format!(
                        "{end}{inner}{}{end}{outer}",
                        member.format_multiline(&inner, self.indent_unit(), end)
                    )
                }
            };
            return TextSplice { at: into.range.start + 1, before: String::new(), after };
        };
        let (behind, comma) = self.member_end(last.end, into.range.end);
        let before = text[last.end..behind].to_owned();
        let first = into.items.first().unwrap_or(last);
        // Nothing can follow a line comment on its line.
        let line = self.tokens.iter().any(|token| {
            let at = self.range(token).start;
            matches!(token.token, Token::CommentLine(_)) && (last.end..behind).contains(&at)
        });
        let inserted = match own_indent(text, first.start).or(line.then_some(inner.as_str())) {
            Some(indent) => {
                format!("{end}{indent}{}", member.format_multiline(indent, self.indent_unit(), end))
            }
            None => format!(" {}", member.format_one_line()),
        };
        let after =
            if comma { format!("{before}{inserted},") } else { format!(",{before}{inserted}") };
        TextSplice { at: last.end, before, after }
    }

    /// The end of the last member with its comma and the comments on its line; whether it has a comma.
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
                // The comma can be on a line of its own.
                _ => {}
            }
        }
        (end, comma)
    }

    /// Removes an item with its line and its comma.
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

/// A value, with its key if it belongs to an object.
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

/// Writes an entry into a text; returns the edit, or `None` if the entry is already there.
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
        JsonEntry::Set { path, value }
        | JsonEntry::Need { path, value }
        | JsonEntry::Push { path, value, .. } => (path, value),
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
    let member = JsonMember { key: path.get(depth).map(String::as_str), value: &nested };
    Ok(done(file.insertion(&object, &member), made, false))
}

/// Removes the entry at its path and the containers of `made` that become empty, or restores the value
/// that it replaced.
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
        JsonEntry::Need { path, .. } => match (file.property(path), file.siblings(path)) {
            (Some(found), 1) => file.text_without(&file.range(found)),
            _ => return Ok(text.to_owned()),
        },
        JsonEntry::Push { path, mark, .. } => match file.own_values(path, mark).first() {
            None => return Ok(text.to_owned()),
            Some(found) => file.text_without(&file.range(*found)),
        },
    };
    for path in made.iter().rev() {
        let file = JsonFile::parse(&text)?;
        let empty = |value: &ast::Value<'_>| {
            file.container(value).is_some_and(|inner| inner.items.is_empty())
        };
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
    /// The number of properties of the object in which the property at a path is.
    pub(super) fn siblings(&self, path: &[String]) -> usize {
        let above = path.split_last().and_then(|(_, above)| self.value_at_path(above));
        above.and_then(ast::Value::as_object).map_or(0, |object| object.properties.len())
    }

    /// The property at a path.
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

/// Whether any text in a value contains these words.
fn contains_text(value: &Value, words: &str) -> bool {
    match value {
        Value::String(text) => text.contains(words),
        Value::Array(items) => items.iter().any(|item| contains_text(item, words)),
        Value::Object(object) => object.values().any(|item| contains_text(item, words)),
        _ => false,
    }
}

fn json_shape_error(what: &str, path: &[String]) -> Error {
    let place = if path.is_empty() { "the file".to_owned() } else { path.join(".") };
    conflict(format!("{place} is not {what}"))
        .hint("Repair the file, then run the setup again. No file was changed.")
}

/// The indentation before an offset; `None` if other text precedes it on its line.
fn own_indent(text: &str, at: usize) -> Option<&str> {
    let line = text[..at].rfind('\n')? + 1;
    let before = &text[line..at];
    before.trim().is_empty().then_some(before)
}

/// The indentation of the line of an offset.
fn indent_of_line(text: &str, at: usize) -> &str {
    let line = &text[text[..at].rfind('\n').map_or(0, |end| end + 1)..];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// A value on several lines; `indent` precedes each line but the first.
fn pretty(value: &Value, indent: &str, unit: &str, end: &str) -> String {
    let mut bytes = Vec::new();
    let formatter = serde_json::ser::PrettyFormatter::with_indent(unit.as_bytes());
    let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, formatter);
    let written =
        value.serialize(&mut serializer).ok().and_then(|()| String::from_utf8(bytes).ok());
    // Serialising a value never fails, and JSON is UTF-8.
    written.unwrap_or_else(|| value.to_string()).replace('\n', &format!("{end}{indent}"))
}
