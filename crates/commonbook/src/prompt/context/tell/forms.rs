//! Forms: how a handoff, an entry of a case and a learning are told.

use super::value::{capitalise, sentence};

/// The parts of a handoff that its target reads.
#[derive(Debug, Clone, Copy, Default)]
pub struct HandoffSummary<'a> {
    /// The agent that hands the work over.
    pub from: &'a str,
    /// What is to be done.
    pub task: &'a str,
    /// What is to be known about it.
    pub context: Option<&'a str>,
    /// What was decided so far.
    pub decisions_made: &'a [String],
    /// What comes next.
    pub next_steps: &'a [String],
    /// The files that were being worked on.
    pub active_files: &'a [String],
    /// What was put together for it: memories, entities.
    pub text: Option<&'a str>,
}

/// A handoff in sentences: the task first, then what helps to do it.
#[must_use]
pub fn handoff(given: &HandoffSummary<'_>) -> String {
    let mut told =
        vec![sentence(&format!("{} hands you this task: {}", given.from, given.task.trim()))];
    told.extend(given.context.map(str::trim).filter(|it| !it.is_empty()).map(sentence));
    let lists = [
        ("Decided so far", given.decisions_made),
        ("Next steps", given.next_steps),
        ("Files", given.active_files),
    ];
    for (lead, items) in lists {
        let items: Vec<&str> = items
            .iter()
            .map(|it| it.trim().trim_end_matches('.'))
            .filter(|it| !it.is_empty())
            .collect();
        if !items.is_empty() {
            told.push(sentence(&format!("{lead}: {}", items.join("; "))));
        }
    }
    let mut told = told.join(" ");
    if let Some(text) = given.text.map(str::trim).filter(|text| !text.is_empty()) {
        told = format!("{told}\n{text}");
    }
    told
}

/// An entry of a case, by its place there.
#[derive(Debug, Clone, Copy, Default)]
pub struct EntrySummary<'a> {
    /// The key of the case.
    pub case: &'a str,
    /// The title of the case.
    pub title: Option<&'a str>,
    /// Its place in the case.
    pub position: u64,
    /// What it says in short.
    pub summary: &'a str,
    /// Whether there is more of it than the summary.
    pub has_text: bool,
}

/// An entry of a case in sentences: where it stands and what it says in short. Its text is read by
/// its id.
#[must_use]
pub fn entry(given: &EntrySummary<'_>) -> String {
    let title = given.title.map(str::trim).filter(|title| !title.is_empty());
    let title = title.map_or_else(String::new, |title| format!(" ({title})"));
    let more = if given.has_text { " There is more in its text." } else { "" };
    let summary = sentence(given.summary.trim());
    format!("New in the case {}{title}, entry {}: {summary}{more}", given.case, given.position)
}

/// A learning in a sentence, by its type: `pattern`, `mistake` …
#[must_use]
pub fn learning(kind: &str, content: &str) -> String {
    let lead = match kind {
        "pattern" => "A pattern that works here",
        "architecture" => "How this is built",
        "guideline" => "A guideline here",
        "mistake" => "A mistake to avoid",
        "strategy" => "A strategy that works here",
        "integration" => "How this connects to others",
        "performance" => "On performance",
        "context" => "Good to know",
        _ => "Learned",
    };
    sentence(&format!("{lead}: {}", capitalise(content.trim())))
}
