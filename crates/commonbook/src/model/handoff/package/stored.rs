//! Packages as a store keeps them, including those of earlier versions.
//!
//! Version 0.1 wrote items as rendered text (`mem_…: decision of analyst, 2 days ago` above quoted
//! lines). Such a text is parsed back into an item, so that old handoffs have the present form.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Deserializer};

use super::BriefSection;
use crate::base::id::{EntityId, MemoryId, handle};
use crate::model::delivery::PromptItem;

/// A value in the present format, or rendered text.
#[derive(Deserialize)]
#[serde(untagged)]
enum Stored<T> {
    Text(String),
    Value(T),
}

pub(super) fn read_brief<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<BriefSection>, D::Error> {
    Ok(match Stored::deserialize(deserializer)? {
        Stored::Value(sections) => sections,
        Stored::Text(text) => sections_of(&text),
    })
}

pub(super) fn read_entities<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<EntityId, PromptItem>, D::Error> {
    let stored: BTreeMap<EntityId, Stored<PromptItem>> = BTreeMap::deserialize(deserializer)?;
    let items = stored.into_iter().map(|(id, stored)| match stored {
        Stored::Value(item) => (id, item),
        Stored::Text(text) => (id, item_of(id.to_string(), &text, Timestamp::UNIX_EPOCH)),
    });
    Ok(items.collect())
}

/// The item of a memory in a package, from its stored text; `None` if a purge has emptied it.
#[must_use]
pub(crate) fn read_memory(id: MemoryId, stored: &str, made_at: Timestamp) -> Option<PromptItem> {
    if stored.is_empty() {
        return None;
    }
    let item = serde_json::from_str(stored).ok();
    Some(item.unwrap_or_else(|| item_of(id.to_string(), stored, made_at)))
}

/// The item of a rendered text: kind and author from its first line.
fn item_of(id: String, text: &str, at: Timestamp) -> PromptItem {
    let (head, body) = text.split_once('\n').unwrap_or(("", text));
    let head_text = head.split_once(": ").map_or(head, |(_, head_text)| head_text);
    let (kind, rest) = head_text
        .split_once(" of ")
        .or_else(|| head_text.split_once(", last spoken of by "))
        .unwrap_or(("semantic", head_text));
    let author = rest.split(',').next().unwrap_or_default();
    PromptItem {
        handle: handle(&id).to_owned(),
        id,
        kind: kind.to_owned(),
        author: author.to_owned(),
        at,
        notes: Vec::new(),
        text: unquoted(body),
        is_headline: false,
        against: None,
        contradictions: Vec::new(),
    }
}

/// The sections of a rendered text: a heading, and the quoted lines below it.
fn sections_of(text: &str) -> Vec<BriefSection> {
    let mut sections: Vec<BriefSection> = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty()) {
        match (line.strip_prefix('>'), sections.last_mut()) {
            (Some(quoted), Some(section)) => {
                section.text += quoted.trim_start();
                section.text.push('\n');
            }
            _ => sections.push(BriefSection { heading: line.to_owned(), text: String::new() }),
        }
    }
    sections
}

fn unquoted(text: &str) -> String {
    let lines = text.lines().map(|line| line.strip_prefix("> ").unwrap_or(line));
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finished_text_is_read_back_into_an_item() {
        let text = "mem_1: decision of claude/qa, 2 days ago, importance high\n> Use an index.\n> On name.\n";
        let item =
            item_of("mem_01kagy6cfxfaqtbpcv7ppqa7xw".to_owned(), text, Timestamp::UNIX_EPOCH);
        assert_eq!((item.kind.as_str(), item.author.as_str()), ("decision", "claude/qa"));
        assert_eq!(
            (item.text.as_str(), item.handle.as_str()),
            ("Use an index.\nOn name.", "7ppqa7xw")
        );
        let brief = sections_of("\nTask\n> Validate\n\nNext steps\n> - Measure\n> - Report\n");
        let expected = [("Task", "Validate\n"), ("Next steps", "- Measure\n- Report\n")];
        let read = brief.iter().map(|section| (section.heading.as_str(), section.text.as_str()));
        assert!(read.eq(expected));
    }
}
