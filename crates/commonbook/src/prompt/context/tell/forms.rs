//! Forms: the sentences of a handoff, an entry of a case and a learning.

use super::value::sentence;
use crate::model::cursor::visible_beginning;
use crate::model::handoff::HandoffStatus;
use crate::model::memory::{Memory, RetractionNotice, RetractionNoticeKind};

/// The parts of a handoff that its target reads.
#[derive(Debug, Clone, Copy, Default)]
pub struct HandoffSummary<'a> {
    /// The agent that hands the work over.
    pub from: &'a str,
    /// The task.
    pub task: &'a str,
    /// The background of the task.
    pub context: Option<&'a str>,
    /// The decisions so far.
    pub decisions_made: &'a [String],
    /// The next steps.
    pub next_steps: &'a [String],
    /// The files in progress.
    pub active_files: &'a [String],
    /// The memories and entities for the task.
    pub text: Option<&'a str>,
}

/// A handoff in sentences: the task first, then the help for it.
#[must_use]
pub fn handoff(summary: &HandoffSummary<'_>) -> String {
    let mut sentences =
        vec![sentence(&format!("{} hands you this task: {}", summary.from, summary.task.trim()))];
    sentences
        .extend(summary.context.map(str::trim).filter(|context| !context.is_empty()).map(sentence));
    let lists = [
        ("Decided so far", summary.decisions_made),
        ("Next steps", summary.next_steps),
        ("Files", summary.active_files),
    ];
    for (lead, items) in lists {
        let items: Vec<&str> = items
            .iter()
            .map(|item| item.trim().trim_end_matches('.'))
            .filter(|item| !item.is_empty())
            .collect();
        if !items.is_empty() {
            sentences.push(sentence(&format!("{lead}: {}", items.join("; "))));
        }
    }
    let mut whole = sentences.join(" ");
    if let Some(text) = summary.text.map(str::trim).filter(|text| !text.is_empty()) {
        whole = format!("{whole}\n{text}");
    }
    whole
}

/// Characters of a task that say which handoff ended.
const TASK_CHARS_MAX: usize = 160;

/// An ended handoff in sentences: the answer first, then the task.
#[must_use]
pub fn handoff_result(task: &str, status: HandoffStatus, note: Option<&str>) -> String {
    let task = task.trim();
    let end = task.char_indices().nth(TASK_CHARS_MAX).map(|(end, _)| end);
    let task = end.map_or_else(|| task.to_owned(), |end| format!("{} …", &task[..end]));
    let (lead, without_note) = match status {
        HandoffStatus::Rejected => ("Rejected", "No reason was given"),
        _ => ("Result", "Done, without a result"),
    };
    let answer = match note.map(str::trim).filter(|note| !note.is_empty()) {
        Some(note) => sentence(&format!("{lead}: {note}")),
        None => sentence(without_note),
    };
    // A list keeps its last line to itself.
    let gap = if answer.contains('\n') { "\n" } else { " " };
    format!("{answer}{gap}{}", sentence(&format!("The task was: {task}")))
}

/// An entry of a case, by its position.
#[derive(Debug, Clone, Copy, Default)]
pub struct EntrySummary<'a> {
    /// The key of the case.
    pub case: &'a str,
    /// The title of the case.
    pub title: Option<&'a str>,
    /// Its position in the case.
    pub position: u64,
    /// Its summary.
    pub summary: &'a str,
    /// Whether its text says more than the summary.
    pub has_text: bool,
}

/// An entry of a case in sentences: its position and its summary. `get_memory` returns its text.
#[must_use]
pub fn entry(entry: &EntrySummary<'_>) -> String {
    let title = entry.title.map(str::trim).filter(|title| !title.is_empty());
    let title = title.map_or_else(String::new, |title| format!(" ({title})"));
    let more = if entry.has_text { " There is more in its text." } else { "" };
    let summary = sentence(entry.summary.trim());
    format!("New in the case {}{title}, entry {}: {summary}{more}", entry.case, entry.position)
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
    sentence(&format!("{lead}: {}", content.trim()))
}

/// What an agent hears of the retraction of a memory; `None` if the memory is not what the notice
/// says any more, or is quarantined.
#[must_use]
pub fn retraction(notice: &RetractionNotice, memory: &Memory) -> Option<String> {
    let says = visible_beginning(memory)?;
    let because = |lead: String| {
        let reason = memory.retraction.as_ref()?.reason.trim();
        Some(sentence(&format!("{lead}: “{}”, because {reason}", says.trim())))
    };
    let told_at = notice.told_at.map(|at| at.strftime("%Y-%m-%d").to_string());
    let told = match told_at {
        Some(day) => format!("What {} told you on {day}", memory.owner),
        None => "What you wrote".to_owned(),
    };
    match notice.kind {
        RetractionNoticeKind::Told => because(format!("{told} was wrong")),
        RetractionNoticeKind::Own => because("Your memory was retracted".to_owned()),
        RetractionNoticeKind::Restored => {
            let lead = format!("{told} holds after all, and its retraction was taken back");
            // The sentence ends with one full stop, behind the quote.
            let says = says.trim().trim_end_matches('.');
            (memory.retraction.is_none()).then(|| sentence(&format!("{lead}: “{says}”")))
        }
    }
}
