//! Matters: which of what is at hand is about the task.
//!
//! A session often has two matters, and its notes have few words of the task: "the rest of it", "clients that
//! lag get garbage". But notes of one matter share rare words, numbers and meaning. So what is at hand is grouped,
//! by average linkage, until no two groups are nearer to each other than two notes on average; the task
//! means the groups of which the three best notes answer it about as well as those of the best. What the
//! figures are on sessions of strangers' hands, beside those of "all of the session", says
//! `docs/decisions/0064-handing-over.md`.

use std::collections::{BTreeMap, BTreeSet};

use kodama::Method;

use super::HandoffCandidate;
use crate::base::id::MemoryId;
use crate::base::limits;
use crate::model::handoff::BroughtWork;
use commonbook_text::referring::refers_back;
use commonbook_text::terms::query_terms;

/// Least answer of the best group in words and relevance for a task that refers to earlier work: below it the task
/// names no matter, only the work.
const REFERRING_ANSWER_MIN: f64 = 0.08;

/// The same for other tasks: below it the task is about something else.
const ANSWER_MIN: f64 = 0.03;

/// Weight of the meaning of a note beside its words and its relevance: it says which group is meant, not whether
/// one is.
const MEANING_WEIGHT: f64 = 0.5;

/// Least nearness of two groups of one matter: that of one ordinary word in common.
const NEARNESS_MIN: f64 = 0.03;

/// A group is meant if it answers at least this share of the best.
const ANSWER_SHARE: f64 = 0.65;

/// Notes of a group that say how well it answers.
const ANSWERING_NOTES: usize = 3;

/// How near memories are to the task and to each other by their meaning: cosines.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MeaningNearness {
    /// Of a memory and the task.
    pub task: BTreeMap<MemoryId, f64>,
    /// Of two memories, the smaller id first.
    pub pairs: BTreeMap<(MemoryId, MemoryId), f64>,
}

/// Settles which memories are at hand, and which of them are of another matter than the task; returns what was
/// brought back for its matter. If nothing is at hand, the source's memories of the last hours are.
#[must_use]
pub fn settle_matter<'b>(
    candidates: &mut [HandoffCandidate],
    brought: &'b [BroughtWork],
    nearness: &MeaningNearness,
    task: &str,
) -> Vec<&'b BroughtWork> {
    if !candidates.iter().any(|candidate| candidate.at_hand) {
        for candidate in candidates.iter_mut() {
            candidate.at_hand = candidate.recent;
        }
    }
    let at_hand: Vec<usize> =
        (0..candidates.len()).filter(|index| candidates[*index].at_hand).collect();
    let own = at_hand.iter().map(|index| MatterNote::of(&candidates[*index]));
    let notes: Vec<MatterNote<'_>> = own.chain(brought.iter().map(MatterNote::from)).collect();
    let stands_out = |candidate: &HandoffCandidate| candidate.found >= limits::RELEVANCE_FULL;
    // "Continue with the refunds" means the present work only if nothing else is about refunds.
    let is_elsewhere =
        candidates.iter().any(|candidate| !candidate.at_hand && stands_out(candidate));
    let meant = meant_notes(&notes, nearness, task, is_elsewhere);
    // No search finds a result: a task that has words of it means it, too, or one that means a note beside it.
    let is_told = |(place, work): &(usize, &BroughtWork)| {
        let id = Some(work.link.handoff);
        let notes = at_hand.iter().zip(&meant).filter(|(_, meant)| **meant);
        let mut by = notes.map(|(index, _)| candidates[*index].brought_by);
        meant[at_hand.len() + place] || work.is_meant_by(task) || by.any(|by| by == id)
    };
    let work = brought.iter().enumerate().filter(is_told).map(|(_, work)| work).collect();
    for (index, meant) in at_hand.iter().zip(&meant) {
        candidates[*index].other_matter = !meant;
    }
    work
}

/// A note at hand, or what came back of a handoff.
struct MatterNote<'n> {
    id: Option<MemoryId>,
    words: &'n BTreeSet<String>,
    /// How likely it is relevant to the task.
    found: f64,
}

impl<'n> MatterNote<'n> {
    fn of(candidate: &'n HandoffCandidate) -> Self {
        Self { id: Some(candidate.id), words: &candidate.words, found: candidate.found }
    }
}

impl<'n> From<&'n BroughtWork> for MatterNote<'n> {
    fn from(work: &'n BroughtWork) -> Self {
        Self { id: None, words: &work.words, found: 0.0 }
    }
}

/// Whether the task means each of these notes. If other memories are about it (`is_elsewhere`), a task that refers to
/// earlier work means them.
fn meant_notes(
    notes: &[MatterNote<'_>],
    nearness: &MeaningNearness,
    task: &str,
    is_elsewhere: bool,
) -> Vec<bool> {
    let rarity = WordRarity::of(notes);
    let texts: Vec<WeightedWords<'_>> = notes.iter().map(|note| rarity.weigh(note.words)).collect();
    let groups = matter_groups(notes.len(), |a, b| {
        let pair = notes[a].id.zip(notes[b].id).map(|(a, b)| (a.min(b), a.max(b)));
        let meaning = pair.and_then(|pair| nearness.pairs.get(&pair)).copied().unwrap_or(0.0);
        texts[a].overlap(&texts[b]) + meaning.max(0.0).powi(2)
    });
    let task_words: BTreeSet<String> = query_terms(task).into_iter().collect();
    let of_task = rarity.weigh(&task_words);
    let named = notes.iter().zip(&texts).map(|(note, text)| note.found + of_task.overlap(text));
    let named: Vec<f64> = named.collect();
    let meanings = task_meanings(notes, nearness);
    let answers: Vec<f64> = named
        .iter()
        .zip(meanings)
        .map(|(named, meaning)| named + MEANING_WEIGHT * meaning)
        .collect();
    let best =
        |each: &[f64]| groups.iter().map(|group| group_answer(group, each)).fold(0.0, f64::max);
    let best_named = best(&named);
    if refers_back(task) && !is_elsewhere && best_named < REFERRING_ANSWER_MIN {
        return vec![true; notes.len()];
    }
    if best_named < ANSWER_MIN {
        return vec![false; notes.len()];
    }
    let least = ANSWER_SHARE * best(&answers);
    let mut meant = vec![false; notes.len()];
    for group in &groups {
        let is_meant = group_answer(group, &answers) >= least;
        group.iter().for_each(|index| meant[*index] = is_meant);
    }
    meant
}

/// How well a group answers: the mean of its best notes.
fn group_answer(group: &[usize], each: &[f64]) -> f64 {
    let mut answers: Vec<f64> = group.iter().map(|index| each[*index]).collect();
    answers.sort_by(|a, b| b.total_cmp(a));
    answers.truncate(ANSWERING_NOTES);
    answers.iter().sum::<f64>() / answers.len() as f64
}

/// The meaning of each note for the task, from 0 for the farthest to 1 for the nearest of them.
fn task_meanings(notes: &[MatterNote<'_>], nearness: &MeaningNearness) -> Vec<f64> {
    let near = |note: &MatterNote<'_>| nearness.task.get(&note.id?).copied();
    let all = || notes.iter().filter_map(near);
    let (lowest, highest) = (all().fold(f64::MAX, f64::min), all().fold(f64::MIN, f64::max));
    let width = highest - lowest;
    let meaning = |note| match near(note) {
        Some(near) if width > 0.0 => (near - lowest) / width,
        _ => 0.0,
    };
    notes.iter().map(meaning).collect()
}

/// Groups of these things by average linkage: two are joined as long as they are nearer to each other than all pairs on
/// average, and than [`NEARNESS_MIN`].
fn matter_groups(count: usize, nearness: impl Fn(usize, usize) -> f64) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = (0..count).map(|index| vec![index]).collect();
    if count < 2 {
        return groups;
    }
    let pairs = (0..count).flat_map(|a| (a + 1..count).map(move |b| (a, b)));
    let near: Vec<f64> = pairs.map(|(a, b)| nearness(a, b)).collect();
    let mean = near.iter().sum::<f64>() / near.len() as f64;
    let greatest = near.iter().copied().fold(0.0, f64::max);
    let mut distances: Vec<f64> = near.iter().map(|near| greatest - near).collect();
    let joined = kodama::linkage(&mut distances, count, Method::Average);
    for step in joined.steps() {
        let near = greatest - step.dissimilarity;
        if near < mean.max(NEARNESS_MIN) {
            break;
        }
        let mut both = std::mem::take(&mut groups[step.cluster1]);
        both.append(&mut groups[step.cluster2]);
        groups.push(both);
    }
    groups.retain(|group| !group.is_empty());
    groups
}

/// How rare each word is among the notes at hand.
struct WordRarity<'n> {
    counts: BTreeMap<&'n str, usize>,
    notes: f64,
}

impl<'n> WordRarity<'n> {
    fn of(notes: &[MatterNote<'n>]) -> Self {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for word in notes.iter().flat_map(|note| note.words) {
            *counts.entry(word.as_str()).or_default() += 1;
        }
        Self { counts, notes: notes.len() as f64 }
    }

    /// The weight of a word: the square of its rarity as BM25 has it.
    fn weight(&self, word: &str) -> f64 {
        let count = self.counts.get(word).copied().unwrap_or(0) as f64;
        (1.0 + (self.notes - count + 0.5) / (count + 0.5)).ln().powi(2)
    }

    /// The words of a text with their weights.
    fn weigh<'w>(&self, words: &'w BTreeSet<String>) -> WeightedWords<'w> {
        let weights: BTreeMap<&str, f64> =
            words.iter().map(|word| (word.as_str(), self.weight(word))).collect();
        WeightedWords { length: weights.values().sum(), weights }
    }
}

/// The words of a text, each with the square of its rarity.
struct WeightedWords<'w> {
    weights: BTreeMap<&'w str, f64>,
    /// The sum of the weights.
    length: f64,
}

impl WeightedWords<'_> {
    /// The cosine of two texts by their words, each weighted by its rarity.
    fn overlap(&self, other: &WeightedWords<'_>) -> f64 {
        let (few, many) = match self.weights.len() <= other.weights.len() {
            true => (&self.weights, &other.weights),
            false => (&other.weights, &self.weights),
        };
        let shared = few.iter().filter(|(word, _)| many.contains_key(*word));
        let common: f64 = shared.map(|(_, weight)| weight).sum();
        let lengths = (self.length * other.length).sqrt();
        if lengths > 0.0 { common / lengths } else { 0.0 }
    }
}
