//! Digest: proposes the key facts of agents' memories as entries that their case does not have yet.
//!
//! It is extractive: a proposal is a sentence or summary that an agent wrote, with the memories
//! that state it as sources. No model decides what is proposed, and the same memories give the same
//! proposals in any order; a writer may reword them ([`writing`]). Sentences that say the same, by the
//! comparison of [`commonbook_text::claims::compare`], become one entry with several sources; all others
//! stay apart: a quotation names its author alone. Nothing is proposed again after it was
//! appended.

mod binding;
mod guesses;
mod origin;
mod sentence;
mod worth;
pub mod writing;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::id::MemoryId;
use crate::base::limits;
use crate::model::access::StoredMemory;
use crate::model::agent::Agent;
use crate::model::case::digest::writing::{SAYS, WriterKind, entry_texts};
use crate::model::case::{AppendResult, CaseKey, EntryKind, NewEntry};
use crate::model::memory::{Importance, Memory, MemorySubject, MemoryType};
use commonbook_text::claims::clause::{Statements, statements};
use commonbook_text::claims::compare::{
    ClaimContext, TextRelation, carrying_words, compare_statements,
};
use commonbook_text::personal::without_personal_data;
use commonbook_text::sentences::sentences as split_sentences;
use commonbook_text::terms;
use guesses::Verdicts;
use sentence::{DigestSentence, sentences};

pub(in crate::model) use sentence::shorten_to;

pub use origin::{DigestOrigin, is_copy_of, without_copies};

/// Days within which "on Friday" means the same Friday.
const SAME_WEEK_DAYS: i64 = 6;

/// How the last line of an entry of an earlier release begins, which names its authors and sources.
const SOURCES_LEAD: &str = "Said by ";

/// Score of a further sentence of a memory, as a share of its best sentence's score.
const FURTHER_SENTENCE_SCORE_MIN: f64 = 0.8;

/// Sentences of a memory that its entry has.
const SENTENCES_PER_MEMORY_MAX: usize = 2;

/// Added to the score for each further author of the same statement.
const AGREEMENT_BONUS: f64 = 0.15;

/// Appends the key facts that the agents on a case have shared about it and that the case does not
/// have yet; if the case has a lead, proposes them to the lead. Each entry is an agent's own sentence with its sources, unless the settings name a
/// writer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DigestCase {
    /// The case's key.
    pub key: CaseKey,
    /// Returns the proposed entries and appends nothing.
    #[serde(default)]
    pub dry_run: bool,
    /// Maximum number of entries, 1 to 20; 20 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = limits::DIGEST_ENTRIES))]
    pub limit: Option<u32>,
    /// Idempotency key, any text. Repeating the same request with the same key within 24 hours
    /// changes nothing and returns the first response; another request with it fails with
    /// `conflict`.
    #[serde(default, skip_serializing)]
    #[schemars(length(min = 1, max = limits::IDEMPOTENCY_KEY_CHARS))]
    pub idempotency_key: Option<String>,
}

/// When the digest of a case runs by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MergeBotSettings {
    /// Whether it does.
    pub automatic: bool,
    /// The memories of agents on a case after which it runs; it also does after a session's end.
    pub every: u32,
}

impl Default for MergeBotSettings {
    fn default() -> Self {
        Self { automatic: true, every: 20 }
    }
}

/// The entries that a case did not have yet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DigestResult {
    /// The entries, oldest fact first.
    pub proposed: Vec<EntryProposal>,
    /// The result of the append; `null` with `dry_run` or if there was nothing to append.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub appended: Option<AppendResult>,
    /// The number of the proposal to the lead, if the case has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proposal: Option<u64>,
    /// What failed in the configured writer, if it did not write every entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
}

/// A memory that facts are taken from. It is shared and not quarantined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DigestSource {
    /// The memory's id.
    pub id: MemoryId,
    /// The agent that wrote it first.
    pub author: Agent,
    /// Its heading.
    pub title: Option<String>,
    /// Its text.
    pub text: String,
    /// Its summary.
    pub summary: Option<String>,
    /// Its topics.
    pub topics: Vec<String>,
    /// Its type.
    pub memory_type: MemoryType,
    /// How much it matters.
    pub importance: Importance,
    /// The start of the time in which it holds.
    pub since: Timestamp,
    /// When it was saved.
    pub saved_at: Timestamp,
    /// When it last changed.
    pub revised_at: Timestamp,
    /// The earlier memories whose place it took.
    pub replaces: Vec<MemoryId>,
}

/// An entry that the case has, or that its lead rejected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownEntry {
    /// Its memory; `None` if it was rejected.
    pub id: Option<MemoryId>,
    /// The memories that it was made of, if a digest made it.
    pub sources: Vec<MemoryId>,
    /// Who said it, and where.
    pub said_by: String,
    /// What it says, in each wording.
    pub texts: Vec<String>,
    /// When it was appended; `None` if it was rejected.
    pub at: Option<Timestamp>,
    /// Whether a newer entry may supersede it.
    pub is_current: bool,
}

/// The memories that a digest made an entry of; none if no digest made it.
#[must_use]
pub fn digest_sources(entry: &Memory) -> Vec<MemoryId> {
    let origin = DigestOrigin::of(entry).or_else(|| DigestOrigin::in_text(entry));
    origin.map(|origin| origin.sources).unwrap_or_default()
}

impl KnownEntry {
    /// An entry that the case has.
    #[must_use]
    pub fn of(entry: &Memory) -> Self {
        let position = entry.position.unwrap_or_default();
        let origin = DigestOrigin::of(entry);
        // A digest of an earlier release signed what it quoted.
        let signature = origin.as_ref().map(|origin| format!(" ({})", origin.said_by()));
        let summary = entry.summary.as_deref().map(|summary| {
            let unsigned = signature.as_ref().and_then(|mark| summary.strip_suffix(mark.as_str()));
            unsigned.unwrap_or(summary)
        });
        let texts = entry_texts(summary, &entry.text).map(str::to_owned);
        let said_by = match entry.owner == Agent::system() {
            true => format!("entry {position}"),
            false => format!("{} in entry {position}", entry.owner),
        };
        Self {
            id: Some(entry.id),
            sources: origin.map(|origin| origin.sources).unwrap_or_default(),
            said_by,
            texts: texts.collect(),
            at: Some(entry.recorded_at),
            is_current: entry.is_current(),
        }
    }

    /// Whether this entry of a digest does not say what its sources say now: one of these memories
    /// changed since, or took the place of one.
    fn is_outdated(&self, memories: &[&DigestSource]) -> bool {
        let has_changed = |memory: &&DigestSource| {
            (self.sources.contains(&memory.id) && !self.covers(memory))
                || memory.replaces.iter().any(|old| self.sources.contains(old))
        };
        self.is_current && memories.iter().any(has_changed)
    }

    /// Whether it was made of this memory as it is now: a memory has one entry.
    fn covers(&self, memory: &DigestSource) -> bool {
        self.sources.contains(&memory.id) && self.at.is_some_and(|at| memory.revised_at <= at)
    }
}

/// What a digest is made of.
#[derive(Debug, Clone, Copy)]
pub struct DigestMaterial<'a> {
    /// The shared memories.
    pub memories: &'a [DigestSource],
    /// The entries that are not proposed again.
    pub known: &'a [KnownEntry],
    /// The pairs of these memories and entries that contradict each other.
    pub contradictions: &'a [(MemoryId, MemoryId)],
}

/// What one side of a contradiction says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContrarySentence {
    /// Who says it, and in which entry if it is one.
    pub said_by: String,
    /// What it says.
    pub text: String,
}

/// An entry that a case does not have yet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EntryProposal {
    /// What it says, up to 512 characters. Of a contradiction it tells both sides.
    pub summary: String,
    /// Its kind, that of its first source.
    #[serde(default)]
    pub kind: EntryKind,
    /// The two sides of a contradiction.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sides: Vec<ContrarySentence>,
    /// The writer of the summary: `extract` for an agent's own sentence, `command` or `endpoint`
    /// for the configured writer.
    #[serde(default)]
    pub written_by: WriterKind,
    /// The agent's own sentence, if the configured writer reworded it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extract: Option<String>,
    /// The memories that state it; the one that the sentence comes from is first.
    pub sources: Vec<MemoryId>,
    /// The agents that state it, in the same order, without duplicates.
    pub authors: Vec<Agent>,
    /// The entries of a digest that it supersedes, because their sources say something else now.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub supersedes: Vec<MemoryId>,
    /// The topics of its sources.
    pub topics: Vec<String>,
    /// The highest importance of its sources.
    pub importance: Importance,
    /// How important the fact is, relative to others of the same digest.
    pub score: f64,
}

impl From<StoredMemory> for DigestSource {
    fn from(memory: StoredMemory) -> Self {
        let memory = &*memory;
        Self {
            id: memory.id,
            author: memory.source.agent.clone(),
            title: memory.title.clone(),
            text: memory.text.clone(),
            summary: memory.summary.clone(),
            topics: memory.topics.clone(),
            memory_type: memory.memory_type.clone(),
            importance: memory.importance,
            since: memory.valid_from.unwrap_or(memory.recorded_at),
            saved_at: memory.recorded_at,
            revised_at: memory.revised_at,
            replaces: Vec::new(),
        }
    }
}

impl EntryProposal {
    /// What it says, as a side of a contradiction.
    fn as_side(&self) -> ContrarySentence {
        let authors: Vec<&str> = self.authors.iter().map(Agent::as_str).collect();
        ContrarySentence { said_by: authors.join(", "), text: self.summary.clone() }
    }

    /// Makes it tell both sides of a contradiction, each as far as it has room.
    fn tell_sides(&mut self, sides: Vec<ContrarySentence>) {
        let room = limits::SUMMARY_CHARS / sides.len().max(1) - 1;
        let side = |side: &ContrarySentence| {
            shorten_to(&format!("{}{SAYS}{}", side.said_by, side.text), room)
        };
        self.summary = sides.iter().map(side).collect::<Vec<_>>().join(" ");
        self.sides = sides;
    }

    /// The proposal as an entry that names its sources. It has a text only if that says more than the
    /// summary.
    #[must_use]
    pub fn entry(&self) -> NewEntry {
        let text = format!("{}{}", self.own_words(), self.side_lines());
        NewEntry {
            summary: self.summary.clone(),
            kind: Some(self.kind),
            text: Some(text.trim_end().to_owned()).filter(|text| !text.is_empty()),
            topics: self.topics.clone(),
            importance: Some(self.importance),
            // Its sources are about no user.
            about: Some(MemorySubject::Project),
            supersedes: self.supersedes.clone(),
            origin: Some(DigestOrigin {
                sources: self.sources.clone(),
                authors: self.authors.clone(),
            }),
        }
    }
}

/// A sentence with its words, its statements and its origin.
struct CandidateFact<'a> {
    from: &'a DigestSource,
    text: String,
    /// Its index among the sentences of its memory.
    place: usize,
    words: FactWords,
    statement: FactStatement,
    score: f64,
}

/// The content words of a sentence, for its score.
struct FactWords {
    all: BTreeSet<usize>,
    has_number: bool,
}

/// Numbers words, the same for all texts of a digest.
#[derive(Default)]
struct DigestVocabulary(FxHashMap<String, usize>);

impl DigestVocabulary {
    fn fact_words(&mut self, text: &str) -> FactWords {
        let mut words = FactWords { all: BTreeSet::new(), has_number: false };
        for term in terms::query_terms(text) {
            words.has_number |= term.chars().any(|c| c.is_ascii_digit());
            let next = self.0.len();
            words.all.insert(*self.0.entry(term).or_insert(next));
        }
        words
    }
}

/// What a sentence says, parsed once for many comparisons.
struct FactStatement {
    /// The words that carry what it says, in their order.
    wording: Vec<String>,
    statements: Statements,
}

/// Words that negate a sentence; `t` is what remains of "didn't".
const DENIAL_WORDS: [&str; 9] =
    ["not", "no", "never", "none", "nobody", "nothing", "without", "cannot", "t"];

impl FactStatement {
    fn of(text: &str) -> Self {
        Self { wording: carrying_words(text).collect(), statements: statements(text) }
    }

    /// Whether both say the same.
    fn says_same(&self, other: &Self, context: ClaimContext) -> bool {
        let same_claims = || {
            let relation = compare_statements(&self.statements, &other.statements, context);
            relation == TextRelation::Same
        };
        self.wording == other.wording || same_claims()
    }

    /// Whether an entry of the case that says this needs no further entry that says `other`: both
    /// say the same, or this has all words of the other in their order, and denies if the other does.
    fn contains(&self, other: &Self) -> bool {
        let context = ClaimContext { one_author: true, one_week: true };
        let mut words = self.wording.iter();
        self.says_same(other, context)
            || (self.denies() == other.denies()
                && other.wording.iter().all(|word| words.any(|own| own == word)))
    }

    fn denies(&self) -> bool {
        let mut words = self.wording.iter().flat_map(|word| terms::plain_words(word));
        words.any(|word| DENIAL_WORDS.contains(&word.as_str()))
    }
}

/// Whether two memories may state one thing: not if both have topics, and none in common.
fn share_a_topic(a: &DigestSource, b: &DigestSource) -> bool {
    let has =
        |topic: &String| b.topics.iter().any(|own| own.to_lowercase() == topic.to_lowercase());
    a.topics.is_empty() || b.topics.is_empty() || a.topics.iter().any(has)
}

/// Proposes at most `most` entries for a case, oldest fact first.
#[must_use]
pub fn propose_entries(material: DigestMaterial<'_>, most: usize) -> Vec<EntryProposal> {
    let DigestMaterial { memories, known, contradictions } = material;
    let mut lexicon = DigestVocabulary::default();
    let mut once: BTreeMap<MemoryId, &DigestSource> = BTreeMap::new();
    for memory in memories {
        once.entry(memory.id).or_insert(memory);
    }
    let once: Vec<&DigestSource> = once.into_values().collect();
    let (outdated, valid): (Vec<&KnownEntry>, Vec<&KnownEntry>) =
        known.iter().partition(|entry| entry.is_outdated(&once));
    let known_texts = valid.iter().flat_map(|entry| &entry.texts);
    let entries: Vec<FactStatement> = known_texts.flat_map(|text| known_statements(text)).collect();
    let facts = extract_facts(&once, known, &mut lexicon);
    let new = facts
        .into_iter()
        .filter(|fact| !known.iter().any(|entry| entry.covers(fact.from)))
        .filter(|fact| !entries.iter().any(|entry| entry.contains(&fact.statement)));
    let mut groups = supersede_outdated(group_facts(new.collect()), &outdated, &once);
    groups = join_contradictions(groups, known, contradictions);
    groups.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.sources.cmp(&b.sources)));
    groups.truncate(most.min(limits::DIGEST_ENTRIES));
    let saved: FxHashMap<MemoryId, Timestamp> =
        memories.iter().map(|memory| (memory.id, memory.saved_at)).collect();
    groups.sort_by_key(|entry| {
        (entry.sources.first().and_then(|id| saved.get(id)), entry.sources.clone())
    });
    groups
}

/// What an entry says: all of it, and each of its sentences.
fn known_statements(text: &str) -> Vec<FactStatement> {
    let sentences: Vec<&str> = split_sentences(text).collect();
    let parts = sentences.iter().filter(|_| sentences.len() > 1);
    [text].iter().chain(parts).map(|text| FactStatement::of(text)).collect()
}

/// Lets each entry supersede the outdated ones that were made of its sources; leaves out what these say
/// already.
fn supersede_outdated(
    entries: Vec<EntryProposal>,
    outdated: &[&KnownEntry],
    memories: &[&DigestSource],
) -> Vec<EntryProposal> {
    let mut taken: BTreeSet<MemoryId> = BTreeSet::new();
    let with_earlier = entries.into_iter().filter_map(|mut entry| {
        let own: Vec<&DigestSource> = (memories.iter().copied())
            .filter(|memory| entry.sources.contains(&memory.id))
            .collect();
        let statement = FactStatement::of(&entry.summary);
        for earlier in outdated.iter().filter(|earlier| earlier.is_outdated(&own)) {
            if earlier.texts.iter().any(|text| FactStatement::of(text).contains(&statement)) {
                return None;
            }
            // An entry has one successor.
            entry.supersedes.extend(earlier.id.filter(|id| taken.insert(*id)));
        }
        entry.supersedes.truncate(limits::ENTRIES);
        Some(entry)
    });
    with_earlier.collect()
}

/// Makes one entry of two that contradict each other, and of one that contradicts an entry of the
/// case, each with what both sides say.
fn join_contradictions(
    mut entries: Vec<EntryProposal>,
    known: &[KnownEntry],
    contradictions: &[(MemoryId, MemoryId)],
) -> Vec<EntryProposal> {
    entries.sort_by(|a, b| a.sources.cmp(&b.sources).then(a.summary.cmp(&b.summary)));
    for (first, second) in contradictions {
        let of = |id: &MemoryId| {
            entries.iter().position(|entry| entry.sides.is_empty() && entry.sources.contains(id))
        };
        let is_known = |id: &MemoryId| {
            known.iter().find(|entry| entry.id == Some(*id) || entry.sources.contains(id))
        };
        match (of(first), of(second)) {
            (Some(first), Some(second)) if first != second => {
                let (kept, gone) = (first.min(second), first.max(second));
                let other = entries.remove(gone);
                let sides = vec![entries[kept].as_side(), other.as_side()];
                let joined = &mut entries[kept];
                joined.sources.extend(other.sources);
                joined.authors.extend(other.authors);
                joined.supersedes.extend(other.supersedes);
                joined.importance = joined.importance.max(other.importance);
                joined.score = joined.score.max(other.score);
                joined.tell_sides(sides);
            }
            (Some(new), None) | (None, Some(new)) => {
                let earlier = is_known(first).or_else(|| is_known(second));
                let Some((earlier, text)) = earlier.and_then(|e| Some((e, e.texts.first()?)))
                else {
                    continue;
                };
                let earlier =
                    ContrarySentence { said_by: earlier.said_by.clone(), text: text.clone() };
                let sides = vec![earlier, entries[new].as_side()];
                entries[new].tell_sides(sides);
            }
            _ => {}
        }
    }
    for entry in &mut entries {
        let mut authors: Vec<Agent> = Vec::new();
        entry.authors.retain(|author| {
            let is_new = !authors.contains(author);
            authors.push(author.clone());
            is_new
        });
    }
    entries
}

/// The facts of each memory: its summary, else its best sentences. A guess that a later memory or entry
/// settled is none.
fn extract_facts<'a>(
    memories: &[&'a DigestSource],
    known: &[KnownEntry],
    lexicon: &mut DigestVocabulary,
) -> Vec<CandidateFact<'a>> {
    let split: Vec<(&DigestSource, Vec<DigestSentence>)> =
        memories.iter().map(|memory| (*memory, sentences(memory))).collect();
    let mut verdicts = Verdicts::default();
    // What a digest wrote stands among the memories, with its own time.
    for entry in known.iter().filter(|entry| entry.sources.is_empty()) {
        for (text, at) in entry.texts.iter().zip(entry.at) {
            split_sentences(text).for_each(|sentence| verdicts.read(sentence, at));
        }
    }
    for (memory, sentences) in &split {
        for sentence in sentences {
            verdicts.read(&sentence.own_words, memory.saved_at);
        }
    }
    let mut words_of = Vec::with_capacity(split.len());
    let mut in_memories: FxHashMap<usize, u32> = FxHashMap::default();
    for (_, sentences) in &split {
        let own: Vec<FactWords> =
            sentences.iter().map(|sentence| lexicon.fact_words(&sentence.text)).collect();
        let all: BTreeSet<usize> = own.iter().flat_map(|words| words.all.iter().copied()).collect();
        for word in all {
            *in_memories.entry(word).or_default() += 1;
        }
        words_of.push(own);
    }
    let mut facts = Vec::new();
    for ((memory, sentences), words_of) in split.into_iter().zip(words_of) {
        let mut candidates: Vec<CandidateFact<'_>> = sentences
            .into_iter()
            .zip(words_of)
            .enumerate()
            .filter(|(_, (sentence, words))| sentence.whole || words.all.len() >= 3)
            .filter(|(_, (sentence, _))| worth::is_worth_entry(memory, sentence))
            .filter(|(_, (sentence, _))| {
                !verdicts.has_settled(&sentence.own_words, memory.saved_at)
            })
            .filter_map(|(place, (sentence, words))| {
                let score = score(&sentence, &words, memory, &in_memories);
                let text = without_personal_data(&sentence.text);
                // What names a person and no outcome is not for a log that nobody can edit.
                if text != sentence.text.as_str() && !sentence.tells_outcome {
                    return None;
                }
                let text = text.into_owned();
                let statement = FactStatement::of(&text);
                Some(CandidateFact { from: memory, text, place, words, statement, score })
            })
            .collect();
        candidates.sort_by(|a, b| b.score.total_cmp(&a.score));
        let best = candidates.first().map_or(0.0, |fact| fact.score);
        candidates.retain(|fact| fact.score >= FURTHER_SENTENCE_SCORE_MIN * best);
        candidates.truncate(SENTENCES_PER_MEMORY_MAX);
        facts.extend(candidates);
    }
    facts
}

/// How important a sentence is as a fact.
fn score(
    sentence: &DigestSentence,
    words: &FactWords,
    memory: &DigestSource,
    in_memories: &FxHashMap<usize, u32>,
) -> f64 {
    // Words that several memories use belong to the subject of the case.
    let weight = |word: &usize| f64::from(in_memories.get(word).copied().unwrap_or(1)).ln_1p();
    let central = words.all.iter().map(weight).sum::<f64>() / (words.all.len().max(1) as f64);
    let mut score = central;
    for (holds, worth) in [
        (sentence.tells_outcome, 0.5),
        (words.has_number, 0.25),
        (sentence.first, 0.25),
        (sentence.whole, 0.5),
        (sentence.leans, -0.5),
        (sentence.asks, -0.5),
    ] {
        score += if holds { worth } else { 0.0 };
    }
    let matters = match memory.importance {
        Importance::Low => 0.7,
        Importance::Normal => 1.0,
        Importance::High => 1.3,
        Importance::Critical => 1.6,
    };
    matters * score.max(0.0)
}

/// Groups facts that say the same into one proposal. Starts with the longest, so that its wording
/// stands.
fn group_facts(mut facts: Vec<CandidateFact<'_>>) -> Vec<EntryProposal> {
    facts.sort_by(|a, b| {
        let key = |fact: &CandidateFact<'_>| (Reverse(fact.words.all.len()), fact.from.id);
        key(a).cmp(&key(b)).then(b.score.total_cmp(&a.score)).then(a.text.cmp(&b.text))
    });
    let mut groups: Vec<(CandidateFact<'_>, EntryProposal)> = Vec::new();
    for fact in facts {
        let says_same = |first: &CandidateFact<'_>| {
            let apart = first.from.since.duration_since(fact.from.since).as_hours().abs();
            let context = ClaimContext {
                one_author: first.from.author == fact.from.author,
                one_week: apart <= 24 * SAME_WEEK_DAYS,
            };
            share_a_topic(first.from, fact.from)
                && first.statement.says_same(&fact.statement, context)
        };
        match groups.iter_mut().find(|(first, _)| says_same(first)) {
            Some((_, entry)) => join_fact(entry, fact.from, fact.score),
            None => {
                let entry = propose_entry(fact.from, fact.text.clone(), fact.score);
                groups.push((fact, entry));
            }
        }
    }
    join_sentences(groups)
        .into_iter()
        .map(|entry| {
            let others = entry.authors.len().saturating_sub(1) as f64;
            EntryProposal { score: entry.score * (1.0 + AGREEMENT_BONUS * others), ..entry }
        })
        .collect()
}

/// A sentence without the heading of its memory, which an earlier sentence has.
fn without_heading<'a>(fact: &CandidateFact<'_>, text: &'a str) -> &'a str {
    let title = fact.from.title.as_deref().unwrap_or_default().trim().trim_end_matches([':', '.']);
    let bare = text.strip_prefix(title).and_then(|rest| rest.strip_prefix(": "));
    bare.filter(|_| !title.is_empty()).unwrap_or(text)
}

/// One entry for the sentences that a memory alone states, in its order, as far as one has room for
/// them.
fn join_sentences(mut groups: Vec<(CandidateFact<'_>, EntryProposal)>) -> Vec<EntryProposal> {
    groups.sort_by_key(|(fact, _)| (fact.from.id, fact.place));
    let mut entries: Vec<EntryProposal> = Vec::with_capacity(groups.len());
    for (fact, entry) in groups {
        let same = entries.last_mut().filter(|last| {
            last.sources == entry.sources && last.sources.len() == 1 && entry.sides.is_empty()
        });
        let chars = |entry: &EntryProposal| entry.summary.chars().count();
        match same {
            Some(last) if chars(last) + 2 + chars(&entry) <= limits::SUMMARY_CHARS => {
                let end = if last.summary.ends_with(char::is_alphanumeric) { "." } else { "" };
                last.summary =
                    format!("{}{end} {}", last.summary, without_heading(&fact, &entry.summary));
                last.score = last.score.max(entry.score);
            }
            // One entry a memory: the better sentence stays.
            Some(last) if entry.score > last.score => *last = entry,
            Some(_) => {}
            None => entries.push(entry),
        }
    }
    entries
}

fn propose_entry(from: &DigestSource, text: String, score: f64) -> EntryProposal {
    EntryProposal {
        kind: EntryKind::of(&from.memory_type),
        sides: Vec::new(),
        summary: text,
        written_by: WriterKind::Extract,
        extract: None,
        sources: vec![from.id],
        authors: vec![from.author.clone()],
        supersedes: Vec::new(),
        topics: from.topics.iter().take(limits::TOPICS).cloned().collect(),
        importance: from.importance,
        score,
    }
}

fn join_fact(entry: &mut EntryProposal, from: &DigestSource, score: f64) {
    if entry.kind == EntryKind::Note {
        entry.kind = EntryKind::of(&from.memory_type);
    }
    if !entry.sources.contains(&from.id) {
        entry.sources.push(from.id);
    }
    if !entry.authors.contains(&from.author) {
        entry.authors.push(from.author.clone());
    }
    for topic in &from.topics {
        if entry.topics.len() < limits::TOPICS && !entry.topics.contains(topic) {
            entry.topics.push(topic.clone());
        }
    }
    entry.importance = entry.importance.max(from.importance);
    entry.score = entry.score.max(score);
}

#[cfg(test)]
mod tests;
