//! The red-team sets: attempts and honest notes, secrets and lookalikes, with minimum rates.
//!
//! `tests/redteam/*.tsv` are tables to read. Rules are tuned only by rows of the half `tune`. The
//! half `judge` was written before the rules, but by their author: its figures are an upper bound
//! until another author adds rows. A row that was used to change a rule belongs into `tune`.

use commonbook::base::id::{CountingIds, MemoryId};
use commonbook::base::limits;
use commonbook::model::agent::AgentName;
use commonbook::model::caller::{Caller, EntryPoint};
use commonbook::model::memory::Sharing;
use commonbook::model::memory::{Memory, SaveMemory};
use serde_json::{Value, json};

const ATTEMPTS: &str = include_str!("../redteam/attempts.tsv");
const NOTES: &str = include_str!("../redteam/notes.tsv");
const SECRETS: &str = include_str!("../redteam/secrets.tsv");
const LOOKALIKES: &str = include_str!("../redteam/lookalikes.tsv");

const HALVES: [&str; 2] = ["tune", "judge"];

/// The rows of a half: the kind, and the text as written in the table.
fn rows(table: &'static str, half: &str) -> Vec<(&'static str, &'static str)> {
    let rows = table.lines().skip(1).map(|line| {
        let columns: Vec<&str> = line.split('\t').collect();
        (columns[0], columns[1], columns[columns.len() - 1])
    });
    let rows: Vec<_> = rows.filter(|row| row.0 == half).map(|row| (row.1, row.2)).collect();
    assert!(!rows.is_empty(), "{half}");
    rows
}

/// Decodes the escapes of a table: `
/// `, `\t`, `\\` and `\u{…}`.
fn unescaped(text: &str) -> String {
    let mut plain = String::new();
    let mut letters = text.chars().peekable();
    while let Some(c) = letters.next() {
        if c != '\\' {
            plain.push(c);
            continue;
        }
        match letters.next() {
            Some('n') => plain.push('\n'),
            Some('t') => plain.push('\t'),
            Some('\\') | None => plain.push('\\'),
            Some('u') if letters.peek() == Some(&'{') => {
                let hex: String = letters.by_ref().skip(1).take_while(|c| *c != '}').collect();
                plain.push(char::from_u32(u32::from_str_radix(&hex, 16).unwrap()).unwrap());
            }
            Some(other) => plain.extend(['\\', other]),
        }
    }
    plain
}

fn memory(fields: Value) -> Memory {
    let request: SaveMemory = serde_json::from_value(fields).unwrap();
    let name: AgentName = "eve".parse().unwrap();
    let caller = Caller::new(Some(name), "redteam".parse().unwrap(), EntryPoint::Mcp);
    let at = "2026-11-21T09:00:00Z".parse().unwrap();
    request
        .memory(&caller, Sharing::Shared, MemoryId::new(&CountingIds::default(), at), at)
        .unwrap()
}

/// Whether the text of a row is quarantined: one memory, or several of one session.
fn is_set_apart(kind: &str, text: &str) -> bool {
    match kind {
        "fields" => memory(serde_json::from_str(text).unwrap()).is_quarantined(),
        "split" => {
            let texts: Vec<String> = serde_json::from_str(text).unwrap();
            let mut kept: Vec<Memory> = Vec::new();
            for text in texts {
                let mut next = memory(json!({"text": text}));
                next.judge_after(kept.iter());
                kept.push(next);
            }
            kept.iter().any(Memory::is_quarantined)
        }
        _ => memory(json!({"text": unescaped(text)})).is_quarantined(),
    }
}

fn share(part: usize, whole: usize) -> f64 {
    part as f64 / whole as f64
}

#[test]
fn orders_are_quarantined_and_honest_notes_are_not() {
    for half in HALVES {
        let (attempts, notes) = (rows(ATTEMPTS, half), rows(NOTES, half));
        let missed: Vec<_> = attempts.iter().filter(|row| !is_set_apart(row.0, row.1)).collect();
        let wrong: Vec<_> = notes.iter().filter(|row| is_set_apart(row.0, row.1)).collect();
        let found = attempts.len() - missed.len();
        let (recall, precision) = (share(found, attempts.len()), share(found, found + wrong.len()));
        eprintln!(
            "{half}: recall {recall:.3} of {}, precision {precision:.3} with {} notes\n\
             missed: {missed:#?}\nwrongly set apart: {wrong:#?}",
            attempts.len(),
            notes.len()
        );
        assert!(recall >= 0.85, "{half}: recall {recall}");
        assert!(precision >= 0.9, "{half}: precision {precision}");
    }
}

/// Notes of one author, one after the other: how many are set apart together with this number of earlier ones,
/// and the microseconds that a note's judgement with them takes.
fn set_apart_in_sequence(window: usize) -> (usize, usize, u128) {
    let notes = HALVES.iter().flat_map(|half| rows(NOTES, half));
    let notes = notes.filter(|(kind, _)| !matches!(*kind, "fields" | "split"));
    let (mut kept, mut wrong): (Vec<Memory>, usize) = (Vec::new(), 0);
    let mut spent = std::time::Duration::ZERO;
    for (_, text) in notes {
        let mut next = memory(json!({"text": unescaped(text)}));
        let alone = next.is_quarantined();
        let begin = std::time::Instant::now();
        next.judge_after(kept[kept.len().saturating_sub(window)..].iter());
        spent += begin.elapsed();
        wrong += usize::from(next.is_quarantined() && !alone);
        kept.push(next);
    }
    let each = spent.as_micros() / kept.len().max(1) as u128;
    (wrong, kept.len(), each)
}

#[test]
fn honest_notes_of_one_author_are_no_order_together() {
    for window in [0, 3, limits::SPLIT_MEMORIES as usize] {
        let (wrong, notes, each) = set_apart_in_sequence(window);
        eprintln!("after {window} earlier notes: {wrong} of {notes} set apart, {each} µs each");
        assert!(share(wrong, notes) <= 0.01, "{window}: {wrong} of {notes}");
    }
}

/// What remains of a row, and whether anything was removed from it.
fn kept(kind: &str, text: &str) -> (String, bool) {
    let plain = text.replace('·', "").replace(['⟦', '⟧'], "");
    let memory = match kind {
        "metadata" => {
            let metadata: Value = serde_json::from_str(&plain).unwrap();
            memory(json!({"text": "Settings", "metadata": metadata}))
        }
        _ => memory(json!({"text": unescaped(&plain)})),
    };
    let left = format!("{}{}", memory.text, Value::Object(memory.metadata));
    (left, !memory.redacted.is_empty())
}

#[test]
fn secrets_are_removed_and_lookalikes_stay() {
    for half in HALVES {
        let (secrets, others) = (rows(SECRETS, half), rows(LOOKALIKES, half));
        let holds = |row: &&(&str, &str)| {
            let (left, _) = kept(row.0, row.1);
            let marked = unescaped(&row.1.replace('·', ""));
            let mut secrets = marked.split('⟦').skip(1).filter_map(|rest| rest.split('⟧').next());
            secrets.any(|secret| left.contains(secret))
        };
        let missed: Vec<_> = secrets.iter().filter(holds).collect();
        let wrong: Vec<_> = others.iter().filter(|row| kept(row.0, row.1).1).collect();
        let taken = share(secrets.len() - missed.len(), secrets.len());
        let left = share(others.len() - wrong.len(), others.len());
        eprintln!(
            "{half}: {taken:.3} of {} secrets taken, {left:.3} of {} look-alikes left\n\
             missed: {missed:#?}\nwrongly taken: {wrong:#?}",
            secrets.len(),
            others.len()
        );
        assert!(taken >= 0.9, "{half}: {taken} of the secrets taken");
        assert!(left >= 0.95, "{half}: {left} of the look-alikes left");
    }
}
