//! Frontmatter: the block of YAML between two lines `---` at the beginning of a Markdown file.

use serde_json::{Map, Value};

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
