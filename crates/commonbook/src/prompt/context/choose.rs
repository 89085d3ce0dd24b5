//! Choosing the candidates that a context includes, within a budget, with a reason for each
//! omission.
//!
//! The sources get their room in the order of [`ContextSource`]: retractions, pending handoffs, the results of ended
//! ones, the standing memory, profiles, the state of the task and so on. Threshold, maximum and budget apply after the
//! sources are merged, so that no source gets more room than another by accident. A candidate that
//! is too large is left out, and smaller ones behind it may still fit. The text has another order:
//! what seldom changes stands first.
//!
//! Only what stands out comes in full. The reader judges the rest by its headlines, and opens what may
//! matter: no score separates tasks that need a note from those that need none, and a reader does.

mod headlines;
mod receipt;
#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, HashMap};

use jiff::Timestamp;

use crate::base::error::Result;
use crate::base::limits;
use crate::model::case::CaseKey;
use crate::prompt::block::{PromptBlock, PromptSection};
use crate::prompt::item::{PromptEntry, PromptItem};
use commonbook_text::fence::{Fence, RULES_NOTE};
use commonbook_text::sanitize;
use commonbook_text::sanitize::shown_name;
use commonbook_text::terms::composed;
use commonbook_text::tokens::{self, TokenBudget};

pub use crate::model::delivery::{
    CandidateReceipt, ContextDiagnostics, ContextOrigin, ContextReceipt, ContextSource,
    OmissionReason,
};
pub use headlines::HeadlineSettings;

/// The order of the sources in a text: what is the same from turn to turn stands first.
const TEXT_ORDER: [ContextSource; 12] = [
    ContextSource::Standing,
    ContextSource::Profile,
    ContextSource::Important,
    ContextSource::TaskContext,
    ContextSource::Retraction,
    ContextSource::Handoff,
    ContextSource::Result,
    ContextSource::Entry,
    ContextSource::Contradiction,
    ContextSource::Relevant,
    ContextSource::Session,
    ContextSource::News,
];

/// One item has at most this fraction of the budget, where the budget is small.
const ITEM_SHARE_DIVISOR: usize = 3;

/// Tokens of an important memory, which no task asked for.
const IMPORTANT_TOKENS_MAX: usize = 100;

/// Tokens of an ended handoff; `get_handoff` returns all of it.
const RESULT_TOKENS_MAX: usize = 120;

/// The heading above the memories of the session that a task goes on with.
const LAST_SESSION: &str = "Earlier work, the oldest first";

/// The place of a source in a text.
fn text_place(source: ContextSource) -> usize {
    TEXT_ORDER.iter().position(|other| *other == source).unwrap_or(TEXT_ORDER.len())
}

/// Something that a context can include.
#[derive(Debug, Clone, PartialEq)]
pub struct ContextCandidate {
    /// Its text, with author, day and handle.
    pub item: PromptItem,
    /// Whether a person set it as a rule for the agent; everything else is data.
    pub is_rule: bool,
    /// Where it comes from.
    pub source: ContextSource,
    /// Its revision, if it has revisions.
    pub revision: Option<u64>,
    /// Its relevance to the task, if a search found it.
    pub score: Option<f64>,
    /// Its place among what the search found, the best at 0.
    pub place: usize,
    /// Its headline; empty for what has none.
    pub headline: String,
    /// What its headline says besides author and day.
    pub headline_notes: Vec<String>,
    /// Whether an earlier text of the session has its headline at this revision.
    pub headline_repeated: bool,
    /// Whether the caller wrote it; of two that say the same, the caller's own is included.
    pub own: bool,
    /// Whether it is quarantined.
    pub quarantined: bool,
    /// Whether an earlier text of the session has it at this revision.
    pub repeated: bool,
    /// The id of its successor.
    pub superseded_by: Option<String>,
    /// The ids that it supersedes; an entry of a case names them itself, because the older entry
    /// never changes.
    pub supersedes: Vec<String>,
    /// The ids that it openly contradicts.
    pub contradicts: Vec<String>,
    /// The ids of the memories that a digest made it of: no text tells both.
    pub copy_of: Vec<String>,
    /// The case of which the task found an entry.
    pub case: Option<CaseKey>,
}

impl ContextCandidate {
    /// A candidate that is not a memory: not the caller's own, and without contradictions.
    #[must_use]
    pub fn of(item: PromptItem, source: ContextSource) -> Self {
        Self {
            item,
            is_rule: false,
            source,
            revision: None,
            score: None,
            place: 0,
            headline: String::new(),
            headline_notes: Vec::new(),
            headline_repeated: false,
            own: false,
            quarantined: false,
            repeated: false,
            superseded_by: None,
            supersedes: Vec::new(),
            contradicts: Vec::new(),
            copy_of: Vec::new(),
            case: None,
        }
    }
}

/// How much a context may include.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ContextSettings {
    /// Whether contexts are on.
    pub auto_inject: bool,
    /// The minimum relevance of a memory that comes in full.
    pub threshold: f64,
    /// The first of what the search found that come in full whatever their relevance: for a reader
    /// that can open nothing.
    pub full_first: usize,
    /// Whether the reader opens headlines with a command, since it has no tools.
    pub by_command: bool,
    /// What the text names by headlines.
    pub headlines: HeadlineSettings,
    /// At most this many memories and entries in full; a handoff and the standing memory do not count.
    pub maximum: usize,
    /// At most this many entries among them.
    pub unread: usize,
    /// At most this many tokens, the fence included.
    pub budget: usize,
    /// The tokens that the standing memory has beside the budget; `None` where somebody set the budget, of which
    /// it has its share then.
    pub standing: Option<usize>,
}

impl Default for ContextSettings {
    fn default() -> Self {
        Self {
            auto_inject: true,
            threshold: limits::RELEVANCE_FULL,
            full_first: 0,
            by_command: false,
            headlines: HeadlineSettings::TASK,
            maximum: limits::CONTEXT_MAXIMUM,
            unread: limits::CONTEXT_UNREAD,
            budget: limits::CONTEXT_TOKENS,
            standing: Some(limits::STANDING_TOKENS),
        }
    }
}

/// The query of a context.
#[derive(Debug, Clone, Copy)]
pub struct ContextQuery<'a> {
    /// The task or the prompt that the context goes with.
    pub query: &'a str,
    /// The user it is for.
    pub user_id: Option<&'a str>,
    /// The present time.
    pub now: Timestamp,
    /// The line below the items, in our own words; empty for none.
    pub note: &'a str,
    /// The memories that the reader can search; 0 if nobody counted them.
    pub memories: u64,
}

/// The chosen candidates as text, with the receipt.
#[derive(Debug, Clone, PartialEq)]
pub struct ContextSelection {
    /// The fenced block; empty if nothing was chosen.
    pub text: String,
    /// The items that the text has in full, in its order.
    pub items: Vec<PromptItem>,
    /// Every candidate with its outcome.
    pub receipt: ContextReceipt,
}

/// Chooses what the context contains, and renders it. `handles` returns the longer handles that some
/// of the items with these ids need, by id.
///
/// # Errors
/// The errors of `handles`.
pub fn choose_for_context(
    query: &ContextQuery<'_>,
    candidates: Vec<ContextCandidate>,
    settings: &ContextSettings,
    fence: &Fence,
    handles: impl FnOnce(&[String]) -> Result<HashMap<String, String>>,
) -> Result<ContextSelection> {
    let now = query.now;
    let mut merged = merge(candidates, settings);
    let frame = PromptBlock { next_step: query.note.to_owned(), ..PromptBlock::default() };
    let room = frame.budget(settings.budget, fence, now);
    let room = fill(&mut merged, now, settings, room);
    let section = headlines::choose(&mut merged, query, settings, room);
    let mut block = PromptBlock { next_step: frame.next_step, ..selected_block(&merged) };
    block.sections.push(section);
    block.set_handles(&handles(&block.item_ids())?);
    let rendered = block.render_within(settings.budget, fence, now);
    for entry in &rendered.dropped {
        let PromptEntry::Item(item) = entry else { continue };
        let named = |outcome: &&mut CandidateOutcome| outcome.candidate.item.id == item.id;
        let shown = |outcome: &&mut CandidateOutcome| {
            outcome.headline || (outcome.is_told() && !outcome.candidate.is_rule)
        };
        if let Some(outcome) = merged.iter_mut().filter(named).find(shown) {
            outcome.headline = false;
            outcome.mark_omitted(OmissionReason::Budget, None);
        }
    }
    let items = merged.iter().filter(|outcome| outcome.is_told()).map(CandidateOutcome::item);
    let items = items.collect();
    let receipt =
        receipt::of(query, settings, &merged, tokens::count(query.query), rendered.tokens);
    Ok(ContextSelection { text: rendered.text, items, receipt })
}

/// A candidate and its outcome.
#[derive(Debug)]
struct CandidateOutcome {
    candidate: ContextCandidate,
    /// The candidate that contradicts it and is shown with it.
    against: Option<Box<ContextCandidate>>,
    tokens: Option<usize>,
    left: Option<(OmissionReason, Option<String>)>,
    /// Whether the text names it by its headline.
    headline: bool,
    /// The key of its whole text.
    text_key: String,
    /// The index of the candidate that it is shown with.
    within: Option<usize>,
    /// Its index in the input.
    input_index: usize,
}

impl CandidateOutcome {
    /// Whether it has an item of its own in the text; a headline that says all of a note has none.
    fn is_told(&self) -> bool {
        self.left.is_none() && self.within.is_none() && !self.headline
    }

    /// Takes out the contradicting candidate of a memory that has its place whatever the task is.
    fn take_opposite(&mut self) -> Option<Box<ContextCandidate>> {
        let fixed =
            matches!(self.candidate.source, ContextSource::Profile | ContextSource::TaskContext);
        if fixed { self.against.take() } else { None }
    }

    fn mark_omitted(&mut self, why: OmissionReason, instead: Option<String>) {
        self.left = Some((why, instead));
    }

    fn item(&self) -> PromptItem {
        let against = self.against.as_ref().map(|other| Box::new(other.item.clone()));
        PromptItem { against, ..self.candidate.item.clone() }
    }

    /// The tokens of its text.
    fn count_tokens(&self, now: Timestamp) -> usize {
        match self.candidate.is_rule {
            false => self.item().tokens(now),
            true => {
                let text = sanitize::quote_lines(&self.candidate.item.text, usize::MAX);
                tokens::count(&format!("{RULES_NOTE}\n{text}\n"))
            }
        }
    }
}

/// All candidates in the order of the text, with the omissions that do not depend on room, and with
/// contradicting candidates joined.
fn merge(candidates: Vec<ContextCandidate>, settings: &ContextSettings) -> Vec<CandidateOutcome> {
    // Of two that say the same the first is included: of the earlier source, the caller's own.
    let mut ordered: Vec<(usize, ContextCandidate)> = candidates.into_iter().enumerate().collect();
    ordered.sort_by(|(_, a), (_, b)| {
        a.source.cmp(&b.source).then(b.own.cmp(&a.own)).then(a.place.cmp(&b.place))
    });
    let superseded = superseded_ids(ordered.iter().map(|(_, candidate)| candidate));
    let mut seen: HashMap<String, String> = HashMap::new();
    let mut merged: Vec<CandidateOutcome> = Vec::with_capacity(ordered.len());
    for (input_index, candidate) in ordered {
        let left = omission_of(&candidate, settings, &superseded, &seen);
        if left.is_none() {
            for key in identity_keys(&candidate) {
                seen.entry(key).or_insert_with(|| candidate.item.id.clone());
            }
        }
        let text_key = text_key(&candidate.item.text);
        let candidate = shorten_candidate(candidate, settings.budget);
        merged.push(CandidateOutcome {
            candidate,
            text_key,
            against: None,
            tokens: None,
            left,
            headline: false,
            within: None,
            input_index,
        });
    }
    merged.sort_by(|a, b| {
        let (x, y) = (&a.candidate, &b.candidate);
        let places = text_place(x.source).cmp(&text_place(y.source));
        places.then(x.place.cmp(&y.place)).then(a.input_index.cmp(&b.input_index))
    });
    name_cases(&mut merged);
    for place in 0..merged.len() {
        if let Some(first) = find_contradicted(&merged, place) {
            merged[first].against = Some(Box::new(merged[place].candidate.clone()));
            merged[place].within = Some(first);
        }
    }
    merged
}

/// Lets the first of the entries that the task found in a case name it: the whole case says more than they do.
fn name_cases(merged: &mut [CandidateOutcome]) {
    let mut named: BTreeSet<CaseKey> = BTreeSet::new();
    for outcome in merged {
        let has_headline = matches!(outcome.left, None | Some((OmissionReason::Threshold, _)));
        let candidate = &mut outcome.candidate;
        let Some(case) = candidate.case.as_ref().filter(|_| has_headline) else { continue };
        if named.insert(case.clone()) {
            let note = format!("in case {}", shown_name(case.as_str()));
            candidate.headline_notes.push(note.clone());
            candidate.item.notes.push(note);
        }
    }
}

/// A candidate with as much of its text as a context shows: `get_memory` returns a long memory whole.
/// A handoff and the standing memory were cut to their share before.
fn shorten_candidate(mut candidate: ContextCandidate, budget: usize) -> ContextCandidate {
    let max_tokens = match candidate.source {
        ContextSource::Handoff | ContextSource::Standing => return candidate,
        ContextSource::Important => IMPORTANT_TOKENS_MAX,
        ContextSource::Result => RESULT_TOKENS_MAX,
        _ => limits::CONTEXT_ITEM_TOKENS,
    };
    let max_tokens = max_tokens.min(budget / ITEM_SHARE_DIVISOR);
    candidate.item = candidate.item.shortened(max_tokens, None);
    candidate
}

/// Whether candidates of this source count towards the maximum: memories and entries do.
const fn counts_to_maximum(source: ContextSource) -> bool {
    !matches!(
        source,
        ContextSource::Retraction
            | ContextSource::Handoff
            | ContextSource::Result
            | ContextSource::Standing
    )
}

/// Why a candidate is left out whatever room there is, and its replacement.
fn omission_of(
    candidate: &ContextCandidate,
    settings: &ContextSettings,
    superseded: &HashMap<String, String>,
    seen: &HashMap<String, String>,
) -> Option<(OmissionReason, Option<String>)> {
    if !settings.auto_inject {
        return Some((OmissionReason::Disabled, None));
    }
    if candidate.quarantined {
        return Some((OmissionReason::Quarantine, None));
    }
    if candidate.repeated {
        return Some((OmissionReason::Repeated, None));
    }
    if let Some(newer) = superseded.get(&candidate.item.id) {
        return Some((OmissionReason::Superseded, Some(newer.clone())));
    }
    let own = [id_key(&candidate.item.id), text_key(&candidate.item.text)];
    let copied = candidate.copy_of.iter().map(|source| id_key(source));
    if let Some(same) = own.into_iter().chain(copied).find_map(|key| seen.get(&key)) {
        return Some((OmissionReason::Duplicate, Some(same.clone())));
    }
    (!stands_out(candidate, settings)).then_some((OmissionReason::Threshold, None))
}

/// Whether a candidate comes in full if it finds room: what a search found only if it is relevant
/// enough, and news never, which nobody asked for.
fn stands_out(candidate: &ContextCandidate, settings: &ContextSettings) -> bool {
    match candidate.source {
        ContextSource::News => false,
        ContextSource::Relevant => {
            candidate.place < settings.full_first
                || candidate.score.is_some_and(|score| score >= settings.threshold)
        }
        _ => true,
    }
}

/// The superseded ids, each with its successor. A quarantined candidate supersedes nothing.
fn superseded_ids<'a>(
    candidates: impl Iterator<Item = &'a ContextCandidate>,
) -> HashMap<String, String> {
    let mut newer = HashMap::new();
    for candidate in candidates {
        let id = &candidate.item.id;
        newer.extend(candidate.superseded_by.iter().map(|by| (id.clone(), by.clone())));
        if !candidate.quarantined {
            newer.extend(candidate.supersedes.iter().map(|older| (older.clone(), id.clone())));
        }
    }
    newer
}

/// The keys by which a repetition is recognised: the id, the text, and each line of a standing
/// memory.
fn identity_keys(candidate: &ContextCandidate) -> Vec<String> {
    let item = &candidate.item;
    let mut says = vec![id_key(&item.id), text_key(&item.text)];
    says.extend(candidate.copy_of.iter().map(|source| id_key(source)));
    if candidate.source == ContextSource::Standing {
        let lines =
            item.text.lines().map(|line| line.trim().trim_start_matches(['-', '*', '+']).trim());
        says.extend(lines.filter(|line| !line.is_empty()).map(text_key));
    }
    says
}

fn id_key(id: &str) -> String {
    format!("id {id}")
}

/// What a text says: neither letter case, blanks nor the mark at its end tell it from another.
fn text_key(text: &str) -> String {
    let text = composed(text).to_lowercase();
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("text {}", words.trim_end_matches(['.', '!', '…', '。', '！']))
}

/// An included candidate before this index that contradicts the one at it, unless it has a
/// contradicting candidate already.
fn find_contradicted(merged: &[CandidateOutcome], place: usize) -> Option<usize> {
    let this = &merged[place].candidate;
    let open = |outcome: &CandidateOutcome| outcome.is_told() && outcome.against.is_none();
    if !open(&merged[place]) {
        return None;
    }
    merged[..place].iter().position(|earlier| {
        let other = &earlier.candidate;
        let named = |a: &ContextCandidate, b: &ContextCandidate| a.contradicts.contains(&b.item.id);
        open(earlier) && (named(this, other) || named(other, this))
    })
}

/// Fills the room with the merged candidates, source by source, up to the maximum; returns what is left
/// of it.
fn fill(
    merged: &mut [CandidateOutcome],
    now: Timestamp,
    settings: &ContextSettings,
    mut room: TokenBudget,
) -> TokenBudget {
    let (mut memories, mut entries) = (0, 0);
    // A candidate with a fixed place keeps it, however long the one that contradicts it is.
    let apart: Vec<Option<Box<ContextCandidate>>> =
        merged.iter_mut().map(CandidateOutcome::take_opposite).collect();
    let mut by_source: Vec<usize> = (0..merged.len()).collect();
    by_source.sort_by_key(|index| merged[*index].candidate.source);
    for index in by_source {
        let outcome = &mut merged[index];
        if !outcome.is_told() {
            continue;
        }
        let counts = counts_to_maximum(outcome.candidate.source);
        let is_entry = outcome.candidate.source == ContextSource::Entry;
        let full =
            (counts && memories >= settings.maximum) || (is_entry && entries >= settings.unread);
        if full {
            outcome.mark_omitted(OmissionReason::Maximum, None);
            continue;
        }
        // Counting takes time: only candidates that may fit are counted.
        let tokens = outcome.count_tokens(now);
        outcome.tokens = Some(tokens);
        if !room.take(tokens) {
            outcome.mark_omitted(OmissionReason::Budget, None);
        } else {
            memories += usize::from(counts);
            entries += usize::from(is_entry);
        }
    }
    for (first, against) in apart.into_iter().enumerate() {
        let Some(against) = against else { continue };
        let alone = merged[first].tokens.unwrap_or(0);
        merged[first].against = Some(against);
        let both = merged[first].count_tokens(now);
        if merged[first].is_told() && room.take(both.saturating_sub(alone)) {
            merged[first].tokens = Some(both);
            continue;
        }
        merged[first].against = None;
        let why = merged[first].left.clone().unwrap_or((OmissionReason::Budget, None));
        for other in merged.iter_mut().filter(|other| other.within == Some(first)) {
            (other.within, other.left) = (None, Some(why.clone()));
        }
    }
    room
}

/// The chosen candidates as a block: a person's rules, then the items.
fn selected_block(merged: &[CandidateOutcome]) -> PromptBlock {
    let included = || merged.iter().filter(|outcome| outcome.is_told());
    let rules = included().filter(|outcome| outcome.candidate.is_rule);
    let rules: Vec<&str> = rules.map(|outcome| outcome.candidate.item.text.as_str()).collect();
    let items = included().filter(|outcome| !outcome.candidate.is_rule);
    let is_of_session =
        |outcome: &&CandidateOutcome| outcome.candidate.source == ContextSource::Session;
    let (session, items): (Vec<_>, Vec<_>) = items.partition(is_of_session);
    let entries = |outcomes: Vec<&CandidateOutcome>| {
        outcomes.into_iter().map(|outcome| outcome.item().into()).collect::<Vec<_>>()
    };
    // They are chosen from the newest backwards, and shown oldest first.
    let session = PromptSection {
        first_goes: true,
        ..PromptSection::new(LAST_SESSION, entries(session).into_iter().rev().collect())
    };
    PromptBlock {
        rules: rules.join("\n"),
        sections: vec![PromptSection::new("", entries(items)), session],
        ..PromptBlock::default()
    }
}
