//! Frontmatter: the block of YAML between two lines `---` at the beginning of a Markdown file.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Map, Value};

use crate::markdown::plain_lines;

/// Fields that the text of a note may have, and the words and bytes of the value of one.
const TEXT_FIELDS_MAX: usize = 50;
const TEXT_FIELD_WORDS_MAX: usize = 4;
const TEXT_FIELD_BYTES_MAX: usize = 200;
/// Levels of nested lists and maps that a block may have.
const YAML_DEPTH_MAX: usize = 32;
/// Values that a block may have, those of aliases included.
const YAML_NODES_MAX: usize = 20_000;
/// Aliases that a block may use.
const YAML_ALIASES_MAX: usize = 100;

const LINE: &str = "---";

/// A text that begins with a block of frontmatter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frontmatter<'t> {
    /// The lines between the marks, with their line ends.
    pub yaml: &'t str,
    /// The text after the closing mark.
    pub body: &'t str,
    /// The line of the file at which the body begins; the first line is 1.
    pub body_line: usize,
}

/// Why a block could not be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct YamlError {
    /// The line in the file at which the error stands, if it stands at one.
    pub line: Option<usize>,
    /// What is wrong.
    pub message: String,
}

impl std::fmt::Display for YamlError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for YamlError {}

/// Splits a text into its frontmatter and its body; `None` if the text begins with no block.
///
/// The first line is `---`, also behind a byte order mark, and a later line `---` closes the block.
/// Blanks after a mark and line ends of Windows are accepted. A block without its closing mark is none.
#[must_use]
pub fn split(text: &str) -> Option<Frontmatter<'_>> {
    let text = without_byte_order_mark(text);
    let mut lines = text.split_inclusive('\n');
    let first = lines.next().filter(|line| is_mark(line))?;
    let mut end = first.len();
    for (index, line) in lines.enumerate() {
        if is_mark(line) {
            let (yaml, body) = (&text[first.len()..end], &text[end + line.len()..]);
            return Some(Frontmatter { yaml, body, body_line: index + 3 });
        }
        end += line.len();
    }
    None
}

/// The text without a byte order mark.
#[must_use]
pub fn without_byte_order_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// Reads the YAML of a block as a map, in the order of its keys. An empty block is an empty map.
///
/// # Errors
/// If the block is not YAML, no map, has a key twice, or is too deep or too large.
pub fn parse(yaml: &str) -> Result<Map<String, Value>, YamlError> {
    if yaml.trim().is_empty() {
        return Ok(Map::new());
    }
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: YAML_DEPTH_MAX,
            max_nodes: YAML_NODES_MAX,
            max_aliases: YAML_ALIASES_MAX,
        },
        // `yes` and `on` are words, as in YAML 1.2.
        strict_booleans: true,
    };
    let parsed = serde_saphyr::from_str_with_options::<Option<Map<String, Value>>>(yaml, options);
    parsed.map(Option::unwrap_or_default).map_err(|error| {
        let error = error.without_snippet();
        // The first line of the block is the second one of the file.
        let line = error.location().map(|location| location.line() as usize + 1);
        let reason = error.to_string();
        // The parser's own place counts from the mark on.
        let reason = match (line, reason.rsplit_once(" at line ")) {
            (Some(_), Some((reason, _))) => reason.to_owned(),
            _ => reason,
        };
        YamlError { line, message: format!("the frontmatter is not valid YAML: {reason}") }
    })
}

/// The fields of a block that need not be strict YAML.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LenientFields {
    pub fields: Map<String, Value>,
    /// The lines that say nothing as YAML, nor as `key: text`.
    pub unread: Vec<String>,
}

/// Reads a block as YAML, or else field by field: a value that is no YAML is a text, a key that stands twice has
/// both values, and a line that is no field is kept. `None` if the block is prose between two rules.
pub(crate) fn parse_leniently(yaml: &str) -> Option<LenientFields> {
    if let Ok(mut fields) = parse(yaml) {
        read_commented_tags(yaml, &mut fields);
        return Some(LenientFields { fields, unread: Vec::new() });
    }
    if let Some(fields) = list_fields(yaml) {
        return Some(LenientFields { fields, unread: Vec::new() });
    }
    let mut found = LenientFields { fields: Map::new(), unread: Vec::new() };
    let mut count = 0;
    for field in field_texts(yaml) {
        let first = field.lines().next().unwrap_or_default();
        let Some((key, text)) = key_of(first) else {
            if count == 0 && !first.trim_start().starts_with('#') {
                return None;
            }
            found.unread.extend(field.lines().map(str::to_owned));
            continue;
        };
        count += 1;
        match parse(field).ok().and_then(|parsed| parsed.into_iter().next()) {
            Some((key, value)) => add_value(&mut found.fields, &key, value),
            None => {
                let rest: Vec<&str> = field.lines().skip(1).map(str::trim).collect();
                let text = std::iter::once(text).chain(rest).collect::<Vec<_>>().join(" ");
                let text = text.trim().trim_matches(['"', '\'']).trim();
                if !text.is_empty() {
                    add_value(&mut found.fields, key, Value::String(text.to_owned()));
                }
            }
        }
    }
    read_commented_tags(yaml, &mut found.fields);
    (found.unread.len() <= count).then_some(found)
}

/// The fields of a block that has them as items of a list: `- private: true`.
fn list_fields(yaml: &str) -> Option<Map<String, Value>> {
    let mut bare = String::new();
    for line in yaml.lines().filter(|line| !line.trim().is_empty()) {
        let item = line.strip_prefix("- ").filter(|item| key_of(item).is_some());
        // A further line of an item has its indentation.
        let is_further = line.starts_with("  ") && !bare.is_empty();
        bare.push_str(item.or_else(|| is_further.then_some(line))?);
        bare.push('\n');
    }
    let found = parse_leniently(&bare)?;
    found.unread.is_empty().then_some(found.fields)
}

/// The fields of a block as texts: a line at its edge with the indented lines and the list items below it.
fn field_texts(yaml: &str) -> Vec<&str> {
    let mut starts = Vec::new();
    let mut offset = 0;
    for line in yaml.split_inclusive('\n') {
        let is_continued = line.starts_with([' ', '\t', '-', ']', '}']) && key_of(line).is_none();
        if !line.trim().is_empty() && (starts.is_empty() || !is_continued) {
            starts.push(offset);
        }
        offset += line.len();
    }
    starts.push(yaml.len());
    starts.windows(2).map(|ends| &yaml[ends[0]..ends[1]]).collect()
}

/// The key of a line `key: text`, also without the blank, and the text.
fn key_of(line: &str) -> Option<(&str, &str)> {
    const KEY_CHARS_MAX: usize = 64;
    let (key, text) = line.split_once(':')?;
    let key = key.trim_end().trim_matches(['"', '\'']);
    let is_key = !key.is_empty()
        && key.chars().count() <= KEY_CHARS_MAX
        && !key.starts_with([' ', '\t', '-', '#'])
        && key.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | ' '))
        && key.split_whitespace().count() <= 3;
    (is_key && !text.starts_with("//")).then_some((key, text.trim()))
}

/// Adds a value; a second one of the same key makes a list of both.
fn add_value(fields: &mut Map<String, Value>, key: &str, value: Value) {
    match fields.get_mut(key) {
        None | Some(Value::Null) => {
            fields.insert(key.to_owned(), value);
        }
        Some(Value::Array(values)) => match value {
            Value::Array(more) => values.extend(more),
            value => values.push(value),
        },
        Some(known) => *known = Value::Array(vec![known.take(), value]),
    }
}

/// Reads `tags: #a #b`, of which YAML takes all but the key for a comment.
fn read_commented_tags(yaml: &str, fields: &mut Map<String, Value>) {
    for key in ["tags", "tag", "topics"] {
        if !fields.get(key).is_some_and(Value::is_null) {
            continue;
        }
        let line = yaml.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
        if let Some(tags) = line.map(str::trim).filter(|tags| tags.starts_with('#')) {
            fields.insert(key.to_owned(), Value::String(tags.to_owned()));
        }
    }
}

/// The head of a note: its fields, the text after it, and the line at which that begins.
pub(crate) type NoteHead<'t> = (LenientFields, &'t str, usize);

/// Splits a note from its head as people and their editors write it: YAML that `---` or `...` closes, or that nothing
/// closes before its first blank line or sentence; TOML between lines `+++`; JSON between marks or by itself; each
/// also behind blank lines and with its language behind the first mark. `None` if the note begins with its text.
pub(crate) fn split_leniently(text: &str) -> Option<NoteHead<'_>> {
    let text = without_byte_order_mark(text);
    let blanks: usize =
        text.split_inclusive('\n').take_while(|line| line.trim().is_empty()).map(str::len).sum();
    let blank_lines = text[..blanks].matches('\n').count();
    let (fields, body, line) = split_head(&text[blanks..])?;
    Some((fields, body, line + blank_lines))
}

fn split_head(text: &str) -> Option<NoteHead<'_>> {
    let first = text.lines().next()?.trim_end();
    let (mark, language) = first.split_at_checked(3).unwrap_or_default();
    match (mark, language.trim().to_lowercase().as_str()) {
        ("---", "" | "yaml" | "yml") => split_closed(text, &["---", "..."])
            .and_then(|(block, body, line)| Some((parse_leniently(block)?, body, line)))
            .or_else(|| split_unclosed(text)),
        ("+++", "") | ("---" | "+++", "toml") => {
            split_closed(text, &[mark]).map(|(block, body, line)| (toml_fields(block), body, line))
        }
        ("---", "json") | (";;;", "" | "json") => {
            let (block, body, line) = split_closed(text, &[mark])?;
            Some((LenientFields { fields: object_of(block)?, unread: Vec::new() }, body, line))
        }
        _ if first.starts_with('{') => {
            let mut values = serde_json::Deserializer::from_str(text).into_iter();
            let fields = values.next()?.ok()?;
            let (block, body) = text.split_at(values.byte_offset());
            // Text on the line of the bracket is the text of a note that begins with an object.
            let body = body.trim_start_matches([' ', '\t', '\r']).strip_prefix('\n')?;
            let line = block.matches('\n').count() + 2;
            Some((LenientFields { fields, unread: Vec::new() }, body, line))
        }
        _ => None,
    }
}

fn object_of(block: &str) -> Option<Map<String, Value>> {
    let block = block.trim();
    serde_json::from_str(block).or_else(|_| serde_json::from_str(&format!("{{{block}}}"))).ok()
}

/// The block between the first line and the next one that is such a mark.
fn split_closed<'t>(text: &'t str, marks: &[&str]) -> Option<(&'t str, &'t str, usize)> {
    let mut lines = text.split_inclusive('\n');
    let begin = lines.next()?.len();
    let mut end = begin;
    for (index, line) in lines.enumerate() {
        if marks.contains(&line.trim_end()) {
            return Some((&text[begin..end], &text[end + line.len()..], index + 3));
        }
        end += line.len();
    }
    None
}

/// The fields of one word below a first mark, up to the first other line.
fn split_unclosed(text: &str) -> Option<NoteHead<'_>> {
    let begin = text.split_inclusive('\n').next()?.len();
    let is_field = |line: &str| {
        let line = line.strip_prefix("- ").unwrap_or(line);
        key_of(line).is_some_and(|(key, _)| !key.contains(' '))
            || (line.starts_with([' ', '\t', '-', ']', '}']) && !line.trim().is_empty())
    };
    let head = text[begin..].split_inclusive('\n').take_while(|line| is_field(line));
    let (lines, bytes) = head.fold((0, 0), |(lines, bytes), line| (lines + 1, bytes + line.len()));
    let found = parse_leniently(&text[begin..begin + bytes])?;
    let is_head = !found.fields.is_empty() && found.unread.is_empty();
    is_head.then(|| (found, &text[begin + bytes..], lines + 2))
}

/// The fields of a block of TOML as texts, lists and truths.
fn toml_fields(block: &str) -> LenientFields {
    let mut found = LenientFields { fields: Map::new(), unread: Vec::new() };
    for line in block.lines() {
        match line.split_once('=') {
            Some((key, value)) => {
                let value = value.trim();
                let value = serde_json::from_str(value)
                    .unwrap_or_else(|_| Value::String(value.trim_matches(['"', '\'']).to_owned()));
                add_value(&mut found.fields, key.trim(), value);
            }
            None if line.trim().is_empty() => {}
            None => found.unread.push(line.trim_end().to_owned()),
        }
    }
    found
}

/// Fields that a note has in its text, which stay there: `key:: value` of Dataview and Logseq, short lines
/// `key: value` above the first blank line, and a comment of them at the beginning.
pub(crate) fn text_fields(body: &str) -> Map<String, Value> {
    static PROPERTY: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(
            r"(?:^[\s>*+-]*|[\[(])(?:\*\*|__)?([\p{L}_-]+)(?:\*\*|__)?::[ \t]+([^\s\])][^\])]*)",
        )
        .expect("the tests compile it")
    });
    let mut found = Map::new();
    let mut add = |key: &str, value: &str| {
        let value = value.trim().trim_matches(['"', '\'']);
        if !value.is_empty()
            && value.split_whitespace().count() <= TEXT_FIELD_WORDS_MAX
            && value.len() <= TEXT_FIELD_BYTES_MAX
            && found.len() < TEXT_FIELDS_MAX
        {
            add_value(&mut found, key, Value::String(value.to_owned()));
        }
    };
    for (_, line) in plain_lines(body) {
        for property in PROPERTY.captures_iter(line) {
            add(&property[1], &property[2]);
        }
    }
    let head = body.trim_start();
    let comment = head.strip_prefix("<!--").and_then(|rest| rest.split_once("-->"));
    let lines = comment.map_or(head, |(comment, _)| comment);
    for line in lines.lines().map(str::trim) {
        match key_of(line).filter(|(key, text)| !key.contains(' ') && !text.starts_with(':')) {
            Some((key, text)) => add(key, text),
            None if comment.is_some() => add("label", line),
            None => break,
        }
    }
    found
}

fn is_mark(line: &str) -> bool {
    line.trim_end() == LINE
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_block_stands_between_two_marks_at_the_beginning() {
        let expected = |yaml, body, body_line| Some(Frontmatter { yaml, body, body_line });
        let table = [
            ("---\na: 1\n---\nText\n", expected("a: 1\n", "Text\n", 4)),
            ("\u{feff}---\r\na: 1\r\n---\r\nText\r\n", expected("a: 1\r\n", "Text\r\n", 4)),
            ("---\n---\n", expected("", "", 3)),
            ("--- \na: 1\n---\t\n", expected("a: 1\n", "", 4)),
            ("---\na: 1\n---", expected("a: 1\n", "", 4)),
            ("---\na: 1\n----\n", None),
            ("Text\n---\na: 1\n---\n", None),
            ("\n---\na: 1\n---\n", None),
            ("", None),
        ];
        for (text, expected) in table {
            assert_eq!(split(text), expected, "{text:?}");
        }
    }

    #[test]
    fn yaml_is_read_as_json_in_its_order() {
        let yaml = "topics: [b, 'a']\nimportance: high\ncreated_at: 2026-04-06T14:30:00+00:00\n\
            day: 2026-04-06\naccess_count: 0\nempty:\nyes_no: yes\nnested:\n  - x: 1.5\n";
        let expected = json!({"topics": ["b", "a"], "importance": "high",
            "created_at": "2026-04-06T14:30:00+00:00", "day": "2026-04-06", "access_count": 0,
            "empty": null, "yes_no": "yes", "nested": [{"x": 1.5}]});
        let found = parse(yaml).expect("a block");
        assert_eq!(Value::Object(found.clone()).to_string(), expected.to_string());
        for empty in ["", "\n", "# nothing\n", "~\n"] {
            assert_eq!(parse(empty), Ok(Map::new()), "{empty:?}");
        }
    }

    #[test]
    fn what_editors_let_pass_is_read_field_by_field() {
        let table = [
            ("title: Foo: bar baz\n", json!({"title": "Foo: bar baz"}), 0),
            (
                "title: \"Half\nprivate:true\ntags:\n- a\n- b\n",
                json!({"title": "Half", "private": "true", "tags": ["a", "b"]}),
                0,
            ),
            ("a: 1\na: 2\n", json!({"a": [1, 2]}), 0),
            ("name: @ann\nlist:\n\t- x\n", json!({"name": "@ann", "list": "- x"}), 0),
            (
                "title: [x\ndate: 2026-01-01\nloose words\n",
                json!({"title": "[x", "date": "2026-01-01"}),
                1,
            ),
            ("tags: #private #x\n", json!({"tags": "#private #x"}), 0),
            (
                "cover: {{file}}\nlink: http://a.b: c\n",
                json!({"cover": "{{file}}", "link": "http://a.b: c"}),
                0,
            ),
        ];
        for (yaml, fields, unread) in table {
            let found = parse_leniently(yaml).expect(yaml);
            assert_eq!(
                (Value::Object(found.fields), found.unread.len()),
                (fields, unread),
                "{yaml}"
            );
        }
        for prose in ["\nA rule, then text\n\n", "Prose.\nNote: more\n", "- a\n- b\n"] {
            assert_eq!(parse_leniently(prose), None, "{prose}");
        }
        let toml = "+++\ntitle = \"A = b\"\ndraft = true\ntags = [\"x\"]\n[extra]\n+++\nBody\n";
        let (found, body, line) = split_leniently(toml).expect("a block");
        assert_eq!(
            Value::Object(found.fields),
            json!({"title": "A = b", "draft": true, "tags": ["x"]})
        );
        assert_eq!((found.unread, body, line), (vec!["[extra]".to_owned()], "Body\n", 7));
    }

    #[test]
    fn a_head_is_one_however_it_begins_and_ends() {
        let private = json!({"private": true});
        let table = [
            ("---\nprivate: true\n...\nBody\n", 4),
            ("\n \n---\nprivate: true\n---\nBody\n", 6),
            ("---\r\nprivate: true\r\n\r\nBody\n", 3),
            ("---\nprivate: true\nBody\n", 3),
            (
                "---\nprivate: true\n\nBody\n\nA rule\n\n---\n\nMore: text. And so on\nto the end.\n",
                3,
            ),
            ("---\n- private: true\n---\nBody\n", 4),
            ("--- yaml\nprivate: true\n---\nBody\n", 4),
            ("---json\n{\"private\": true}\n---\nBody\n", 4),
            (";;;\n\"private\": true\n;;;\nBody\n", 4),
            ("---toml\nprivate = true\n---\nBody\n", 4),
            ("{\n  \"private\": true\n}\n\nBody\n", 4),
            ("\n+++\nprivate = true\n+++\nBody\n", 5),
        ];
        for (note, line) in table {
            let (found, body, body_line) = split_leniently(note).expect(note);
            assert_eq!((Value::Object(found.fields), body_line), (private.clone(), line), "{note}");
            assert!(body.trim_start().starts_with("Body\n"), "{note}: {body}");
        }
        let several = "---\n- title: T\n- tags:\n  - a\n  - b\n---\nBody\n";
        let (found, ..) = split_leniently(several).expect("a head");
        assert_eq!(Value::Object(found.fields), json!({"title": "T", "tags": ["a", "b"]}));
        for text in [
            "---\n\nA rule, then text.\nAnd more.\n\n---\nmore",
            "---\nWords and more words\nprivate: true\n",
            "{{title}}\n\ntext",
            "{\"a\": 1} is an object",
            "...\nprivate: true\n...\n",
            "-- \ntext",
        ] {
            assert_eq!(split_leniently(text), None, "{text}");
        }
        let fields = |text: &str| Value::Object(text_fields(text));
        assert_eq!(
            fields("private:: true\n\nText [scope:: x] and (a:: b)\n- **k**:: v\n"),
            json!({"private": "true", "scope": "x", "a": "b", "k": "v"})
        );
        assert_eq!(
            fields("Title: T\nPrivate: yes\n\nLater: no\n"),
            json!({"Title": "T", "Private": "yes"})
        );
        assert_eq!(fields("<!-- private -->\nText: a\n"), json!({"label": "private"}));
        assert_eq!(fields("<!--\nprivate: true\n-->\n"), json!({"private": "true"}));
        for text in
            ["Note: this is what I wanted to say.\n", "std::fmt is a module\n", "```\na:: b\n```\n"]
        {
            assert_eq!(fields(text), json!({}), "{text}");
        }
    }

    #[test]
    fn hostile_yaml_is_refused_with_its_line() {
        let bomb: String = (1..12)
            .map(|n| {
                let aliases = vec![format!("*a{}", n - 1); 9].join(", ");
                format!("k{n}: &a{n} [{aliases}]\n")
            })
            .collect();
        let table = [
            ("a: 1\nb: [1, 2\nc: 3\n".to_owned(), true),
            ("a: 1\na: 2\n".to_owned(), true),
            ("- a\n- b\n".to_owned(), true),
            ("just words\n".to_owned(), true),
            ("a: \"unclosed\nb: 2\n".to_owned(), true),
            ("a: *nothing\n".to_owned(), true),
            (format!("a: {}{}\n", "[".repeat(5_000), "]".repeat(5_000)), true),
            (format!("k0: &a0 [x, x]\n{bomb}"), true),
        ];
        for (yaml, has_line) in table {
            let error = parse(&yaml).expect_err(&yaml[..yaml.len().min(60)]);
            assert_eq!(error.line.is_some(), has_line, "{error:?}");
        }
        assert_eq!(parse("a: 1\na: 2\n").expect_err("a key twice").line, Some(3));
    }
}
