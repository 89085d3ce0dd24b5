//! How people read the history of a memory: its revisions, with the words that differ.

use commonbook::base::page::Page;
use commonbook::model::memory::{
    Memory, MemoryDifference, MemoryRevision, RevisionHistory, RevisionPurge, field_differences,
    state_differences,
};
use commonbook_text::word_diff::{StretchKind, marked_by};
use serde_json::Value;

use super::layout::{memory_glance, print_indented, print_next_page, second, short, show};
use crate::calls::output::{added, bold, dim, print_line, print_note, removed};

pub(super) fn show_history(response: &Value) {
    show(response, |history: &RevisionHistory| {
        let mut before: Option<&Memory> = None;
        for revision in &history.items {
            let MemoryRevision { revision: number, at, agent, memory, purged } = revision;
            let heading = format!("revision {number}");
            print_line(&format!(
                "{} {}",
                bold(&heading),
                dim(&format!("· {} · {agent}", second(*at)))
            ));
            match (purged, before) {
                (Some(RevisionPurge { at, by }), _) => {
                    print_indented(&format!("{by} purged its content at {}", second(*at)));
                }
                (None, None) => print_indented(&memory_glance(memory)),
                (None, Some(before)) => difference_lines(before, memory).iter().for_each(|line| {
                    print_indented(line);
                }),
            }
            before = Some(memory).filter(|_| purged.is_none());
        }
        let Some((last, earlier)) = history.items.split_last() else { return };
        let says_other = |revision: &&MemoryRevision| {
            revision.purged.is_none() && revision.memory.text != last.memory.text
        };
        if let Some(earlier) = earlier.iter().rfind(says_other) {
            let (id, number) = (short(&last.memory.id), earlier.revision);
            print_note(&format!(
                "`commonbook restore {id} --revision {number}` makes that text current"
            ));
        }
    });
}

/// Shows each memory that is not what it was: a new one by its beginning, another by what differs.
pub(super) fn show_differences(response: &Value) {
    show(response, |page: &Page<MemoryDifference>| {
        if page.items.is_empty() && page.next.is_none() {
            print_note("Nothing changed since then");
        }
        for MemoryDifference { before, after } in &page.items {
            let heading = format!("{} {}", short(&after.id), after.owner);
            let state = match before {
                None => "was not there then",
                Some(_) => "has changed",
            };
            let when = format!("· {} · {state}", second(after.revised_at));
            print_line(&format!("{} {}", bold(&heading), dim(&when)));
            match before {
                None => print_indented(&memory_glance(after)),
                Some(before) => difference_lines(before, after).iter().for_each(|line| {
                    print_indented(line);
                }),
            }
        }
        print_next_page("--cursor", page.next.as_ref());
    });
}

/// What differs between two revisions: the words of the text, then a line for each other field and
/// each state.
pub(super) fn difference_lines(before: &Memory, after: &Memory) -> Vec<String> {
    let mark = |kind: StretchKind, words: &str| match kind {
        StretchKind::Same => words.to_owned(),
        StretchKind::Removed => removed(&format!("[-{words}-]")),
        StretchKind::Added => added(&format!("{{+{words}+}}")),
    };
    let fields = field_differences(before, after).into_iter().map(|difference| {
        let words = marked_by(&difference.older, &difference.newer, mark);
        match (difference.field, words.is_empty()) {
            ("text", false) => words,
            (field, true) => format!("{field}: only spaces and line breaks differ"),
            (field, false) => format!("{field}: {words}"),
        }
    });
    let mut lines: Vec<String> = state_differences(before, after);
    lines.extend(fields);
    if lines.is_empty() {
        lines.push("nothing that an author writes".to_owned());
    }
    lines
}

#[cfg(test)]
mod tests {
    use anstream::adapter::strip_str;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_revision_is_told_by_what_differs() {
        let memory = |change: Value| -> Memory {
            let mut memory = json!({
                "id": "mem_01m7y9c4dpeqkspxh7a865d434", "workspace": "payments", "owner": "ann",
                "about": "project", "memory_type": "decision", "text": "The gate is blue", "topics": [],
                "importance": "normal", "sharing": "shared", "trust": "normal", "metadata": {},
                "source": {"agent": "ann", "how": "rest", "sha256": ""}, "revision": 1,
                "recorded_at": "2026-11-21T09:30:00Z", "revised_at": "2026-11-21T09:30:00Z",
                "revised_by": "ann",
            });
            for (name, value) in change.as_object().into_iter().flatten() {
                memory[name] = value.clone();
            }
            serde_json::from_value(memory).expect("a memory")
        };
        let table = [
            (json!({"text": "The gate is green"}), "The gate is [-blue-] {+green+}"),
            (json!({"title": "Gate"}), "title: {+Gate+}"),
            (json!({"sharing": "private"}), "sharing: [-shared-] {+private+}"),
            (json!({"text": "The gate\nis blue"}), "text: only spaces and line breaks differ"),
            (json!({"deleted_at": "2026-11-22T09:30:00Z"}), "deleted"),
            (json!({}), "nothing that an author writes"),
        ];
        for (change, line) in table {
            let lines = difference_lines(&memory(json!({})), &memory(change.clone()));
            let lines: Vec<String> = lines.iter().map(|line| strip_str(line).to_string()).collect();
            assert_eq!(lines, [line], "{change}");
        }
    }
}
