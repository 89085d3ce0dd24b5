//! Folders of basic-memory: each observation of a note is a memory, each relation one, and its prose one.
//!
//! The syntax is that of basic-memory's own parser (`markdown/plugins.py` of that project): list items
//! `[category] content #tag (context)`, list items `relation_type [[Target]] (context)` with the type in
//! quotation marks if it has blanks, frontmatter with `title`, `type`, `permalink`, `tags`.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Value, json};

use crate::files::SourceFile;
use crate::markdown::{hashtags, plain_lines, wiki_links};
use crate::note::{MarkdownNote, note_rows};
use crate::row::RowDraft;
use crate::{Progress, RowIterator, RowOutcome, SourceFormat};

static ITEM: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^\s*[-*+]\s+(.+)$").expect("the tests compile it"));
static CATEGORY: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^\[([^\[\]()]+)\]\s+(.+)$").expect("the tests compile it"));
static CLOCK: LazyLock<Regex> = LazyLock::new(|| {
    let time = r"\d{1,3}:\d{2}(?::\d{2})?(?:[.,]\d{1,3})?";
    Regex::new(&format!(r"^{time}(?:\s+-\s+{time})?$")).expect("the tests compile it")
});
static RELATION: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"^(?:"([^"]+)"|'([^']+)'|([^\s"'\[]+))\s*\[\[([^\[\]]+)\]\]\s*(?:\(([^()]*)\))?$"#)
        .expect("the tests compile it")
});

/// What a line of a note states.
#[derive(Debug, PartialEq, Eq)]
enum NoteStatement<'l> {
    Observation { category: Option<&'l str>, text: &'l str },
    Relation { kind: &'l str, target: &'l str, context: Option<&'l str> },
}

impl<'l> NoteStatement<'l> {
    fn of(line: &'l str) -> Option<Self> {
        let item = ITEM.captures(line)?.get(1)?.as_str().trim();
        if let Some(found) = RELATION.captures(item) {
            let kind = found.get(1).or_else(|| found.get(2)).or_else(|| found.get(3))?.as_str();
            let target = found.get(4)?.as_str().trim();
            let context = found.get(5).map(|context| context.as_str().trim());
            return Some(Self::Relation { kind, target, context });
        }
        if let Some(found) = CATEGORY.captures(item) {
            let category = found.get(1)?.as_str().trim();
            let is_task = category.chars().count() == 1
                && (category.eq_ignore_ascii_case("x")
                    || !category.chars().all(char::is_alphanumeric));
            if !is_task && !category.is_empty() && !CLOCK.is_match(category) {
                return Some(Self::Observation {
                    category: Some(category),
                    text: found.get(2)?.as_str(),
                });
            }
            return None;
        }
        let has_tag = item.split_whitespace().any(|word| word.len() > 1 && word.starts_with('#'));
        has_tag.then_some(Self::Observation { category: None, text: item })
    }
}

pub(crate) fn rows(file: &SourceFile, progress: &Progress) -> RowIterator {
    note_rows(file, progress, |note| rows_of(file, note))
}

fn rows_of(file: &SourceFile, note: &MarkdownNote) -> Vec<RowOutcome> {
    let title = note.text("title").unwrap_or_else(|| file.stem()).to_owned();
    let created = note.created();
    let mut read = vec!["title", "tags", "tag", "topics", "permalink", "type"];
    read.extend(created.as_ref().map(|(key, _)| *key));
    let at = created.map_or(Value::Null, |(_, at)| at);
    let base = |draft: RowDraft| {
        draft
            .with("created_at", at.clone())
            .known_as(note.text("permalink"))
            .noting("note_type", note.text("type"))
            .about(note.tags())
            .keeping(&note.fields, &read)
    };
    let mut found = Vec::new();
    let mut stated = Vec::new();
    for (line, text) in plain_lines(&note.body) {
        let Some(statement) = NoteStatement::of(text) else { continue };
        stated.push(line);
        let draft = match &statement {
            NoteStatement::Observation { category, text } => {
                RowDraft::new(&about_entity(&title, text))
                    .with("memory_type", memory_type_of(category.unwrap_or_default()))
                    .noting("category", *category)
                    .about(hashtags(text))
            }
            NoteStatement::Relation { kind, target, context } => {
                let context = context.map(|context| format!(" ({context})")).unwrap_or_default();
                let words = kind.replace('_', " ");
                RowDraft::new(&format!("{title} {words} {target}{context}"))
                    .with("memory_type", "semantic")
                    .with("entities", json!([concept(&title), concept(target)]))
                    .noting("relation", json!({"from": title, "type": kind, "to": target}))
            }
        };
        let draft = match statement {
            NoteStatement::Observation { .. } => draft.with("entities", json!([concept(&title)])),
            NoteStatement::Relation { .. } => draft,
        };
        found.push(base(draft.titled(&title)).finish(
            SourceFormat::BasicMemory,
            file,
            note.lines_before + line,
        ));
    }
    let prose = prose_of(&note.body, &stated, &title);
    if !prose.trim().is_empty() {
        let links = wiki_links(&note.body);
        let rows = note.rows(SourceFormat::BasicMemory, file, &prose, &title, |draft, part| {
            base(draft.with("memory_type", "semantic"))
                .about(hashtags(part))
                .noting("links", links.clone())
        });
        found.splice(0..0, rows);
    }
    if found.is_empty() {
        found.push(RowOutcome::left_out(file, "the note has no text"));
    }
    found
}

/// An entity of no further known type.
pub(crate) fn concept(name: &str) -> Value {
    json!({"type": "concept", "value": name})
}

/// The observation as a sentence that names its entity.
pub(crate) fn about_entity(entity: &str, observation: &str) -> String {
    let observation = observation.trim();
    match observation.to_lowercase().contains(&entity.to_lowercase()) {
        true => observation.to_owned(),
        false => format!("{entity}: {observation}"),
    }
}

/// The type of memory that a category names.
fn memory_type_of(category: &str) -> &'static str {
    match category.to_lowercase().as_str() {
        "decision" => "decision",
        "learning" | "lesson" | "insight" => "learning",
        "procedure" | "howto" | "how-to" | "step" | "technique" => "procedural",
        "event" => "episodic",
        _ => "semantic",
    }
}

/// The body without these lines, without the title and without headings that nothing follows.
fn prose_of(body: &str, stated: &[usize], title: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    for (index, line) in body.lines().enumerate() {
        if stated.binary_search(&(index + 1)).is_err() {
            kept.push(line);
        }
    }
    let mut prose: Vec<&str> = Vec::new();
    let mut has_text = false;
    let level = |line: &str| line.bytes().take_while(|byte| *byte == b'#').count();
    for line in kept.into_iter().rev() {
        let depth = level(line);
        let is_heading = depth > 0 && line[depth..].starts_with(' ');
        if is_heading && line[depth..].trim().eq_ignore_ascii_case(title) && depth == 1 {
            continue;
        }
        if is_heading && !has_text {
            continue;
        }
        has_text = !is_heading && (has_text || !line.trim().is_empty());
        prose.push(line);
    }
    prose.reverse();
    let text = prose.join("\n");
    match text.lines().all(|line| line.trim().is_empty() || line.starts_with('#')) {
        true => String::new(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_those_of_the_programs_own_parser() {
        let observation = |category, text| Some(NoteStatement::Observation { category, text });
        let relation =
            |kind, target, context| Some(NoteStatement::Relation { kind, target, context });
        let table = [
            (
                "- [tech] Uses WAL #sqlite (since 3.7)",
                observation(Some("tech"), "Uses WAL #sqlite (since 3.7)"),
            ),
            ("  * [design note] Two words", observation(Some("design note"), "Two words")),
            ("- No category #tag", observation(None, "No category #tag")),
            ("- [ ] open task", None),
            ("- [x] done", None),
            ("- [/] half", None),
            ("- [00:00:11] spoken", None),
            ("- [text](url)", None),
            ("- plain item", None),
            ("paragraph #tag", None),
            ("- implements [[Search]]", relation("implements", "Search", None)),
            (
                "- \"depends on\" [[A B]] (strongly)",
                relation("depends on", "A B", Some("strongly")),
            ),
            ("- some other words [[A]]", None),
            ("- uses [[A]] and [[B]]", None),
        ];
        for (line, expected) in table {
            assert_eq!(NoteStatement::of(line), expected, "{line}");
        }
    }
}
