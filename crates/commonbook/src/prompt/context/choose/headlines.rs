//! Headlines in a context: what the reader may open.

use std::collections::HashSet;

use crate::base::limits;
use crate::model::headline::shared_places;
use crate::prompt::block::PromptSection;
use crate::prompt::headlines::{HeadlineItem, headline_section};
use crate::prompt::item::{PromptEntry, PromptItem};
use commonbook_text::sanitize;
use commonbook_text::tokens::TokenBudget;

use super::{
    CandidateOutcome, ContextCandidate, ContextQuery, ContextSettings, OmissionReason, id_key,
};

/// What a text names by headlines.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HeadlineSettings {
    /// At most this many.
    pub most: usize,
    /// The minimum relevance of what a search found.
    pub least: f64,
    /// Tokens of all of them, with the line above.
    pub tokens: usize,
}

impl HeadlineSettings {
    /// For a task that an agent begins.
    pub const TASK: Self =
        Self { most: limits::TASK_HEADLINES, least: 0.0, tokens: limits::TASK_HEADLINE_TOKENS };
    /// For one prompt of a conversation, and the beginning of a session.
    pub const PROMPT: Self = Self {
        most: limits::PROMPT_HEADLINES,
        least: limits::RELEVANCE_MIN,
        tokens: limits::PROMPT_HEADLINE_TOKENS,
    };
    /// None.
    pub const NONE: Self = Self { most: 0, least: 1.0, tokens: 0 };
}

/// Chooses and marks the candidates that the text names by headlines, and returns them as the last section,
/// best first.
pub(super) fn choose(
    merged: &mut [CandidateOutcome],
    query: &ContextQuery<'_>,
    settings: &ContextSettings,
    room: TokenBudget,
) -> PromptSection {
    let HeadlineSettings { most, least, tokens } = settings.headlines;
    let mut told: HashSet<String> =
        merged.iter().filter(|outcome| outcome.left.is_none()).flat_map(keys).collect();
    let fitting = merged
        .iter()
        .enumerate()
        .filter(|(_, outcome)| may_be_headline(outcome, least) && is_new(&mut told, keys(outcome)));
    let fitting: Vec<usize> = fitting.map(|(index, _)| index).collect();
    let author = |index: &usize| merged[*index].candidate.item.author.as_str();
    let places = shared_places(&fitting.iter().map(author).collect::<Vec<_>>(), most);
    let chosen: Vec<usize> = places.into_iter().map(|place| fitting[place]).collect();
    let items: Vec<HeadlineItem> =
        chosen.iter().map(|index| headline_of(&merged[*index].candidate)).collect();
    let heading = heading(query.memories, settings);
    let section = headline_section(&heading, &items, tokens.min(room.left()), query.now);
    for (index, entry) in chosen.iter().zip(&section.entries) {
        let outcome = &mut merged[*index];
        outcome.headline = true;
        // A headline that says all of a short note tells it in full.
        let PromptEntry::Item(shown) = entry else { continue };
        if shown.text == sanitize::one_line(&outcome.candidate.item.text) {
            outcome.left = None;
        }
    }
    section
}

/// A candidate with its headline: its handle, author, day and notes stand before the words.
fn headline_of(candidate: &ContextCandidate) -> HeadlineItem {
    let item = PromptItem { notes: candidate.headline_notes.clone(), ..candidate.item.clone() };
    HeadlineItem { item, words: candidate.headline.clone() }
}

/// Whether a candidate that is not told in full may be named.
fn may_be_headline(outcome: &CandidateOutcome, least: f64) -> bool {
    use OmissionReason::{Budget, Maximum, Threshold};
    let candidate = &outcome.candidate;
    let has_no_room =
        matches!(outcome.left, Some((Budget | Maximum | Threshold, _))) && outcome.within.is_none();
    has_no_room
        && !candidate.headline.is_empty()
        && !candidate.headline_repeated
        && candidate.score.is_none_or(|score| score >= least)
}

/// Whether no text has any of these keys yet; notes them then.
fn is_new(told: &mut HashSet<String>, keys: Vec<String>) -> bool {
    let new = keys.iter().all(|key| !told.contains(key));
    if new {
        told.extend(keys);
    }
    new
}

/// The keys by which a headline is recognised as a repetition.
fn keys(outcome: &CandidateOutcome) -> Vec<String> {
    let candidate = &outcome.candidate;
    let ids = candidate.copy_of.iter().chain([&candidate.item.id]).map(|id| id_key(id));
    ids.chain([outcome.text_key.clone()]).collect()
}

/// The line above the headlines, which says how this reader opens them.
fn heading(memories: u64, settings: &ContextSettings) -> String {
    let count =
        if memories == 0 { String::new() } else { format!("; {memories} memories are here") };
    if settings.full_first > 0 {
        return format!("Headlines{count}; `commonbook show A B C` opens them:");
    }
    let (open, search) = match settings.by_command {
        true => {
            ("`commonbook show A B C`", "search in your own words for more (`commonbook search`)")
        }
        false => ("get_memory, several handles", "search in your own words for more"),
    };
    format!("Headlines: open what may matter before you begin ({open}); {search}{count}.")
}
