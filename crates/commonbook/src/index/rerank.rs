//! Reranking: scores the best candidates by all features, including their surroundings.

use std::rc::Rc;

use jiff::Timestamp;
use rustc_hash::{FxHashMap, FxHashSet};

use super::budget::SearchMeter;
use super::matches::{TermPosting, TermWeights, WordMatches};
use super::nearness::NearnessScan;
use super::parts::{PartMemory, SearchPart, SearchParts};
use super::scratch::ScratchGuard;
use super::session_scores::{SessionLengths, SessionScores, VisibleStrands};
use super::vectors::VectorIndex;
use super::word_nearness::QuestionWords;
use crate::base::error::Result;
use crate::index::facts::{MemoryNumber, SessionNeighbour};
use crate::model::memory::Trust;
use crate::model::search::rank::{
    self, BestWords, CorpusStatistics, NEIGHBOUR_WEIGHTS, NEIGHBOUR_WORD_WEIGHT, RankFeatures,
    RankScale, ScoreParts, TalkFeatures, WordNearnessRange,
};
use crate::model::search::relevance::{RelevanceFeatures, comparable_cosine, steady_rarity};
use crate::model::search::update::{self, UpdateCandidate};
use crate::model::search::{IndexQuery, MatchReason, MemoryRef, TimeSpan, parse_times};
use commonbook_embed::QuantisedVector;
use commonbook_text::terms;

/// Hits among which repetitions are searched.
const REPEAT_HITS_MAX: usize = 40;

/// Minimum cosine of two texts with the same content.
const REPEAT_COSINE_MIN: f32 = 0.97;

const DAY_MILLISECONDS: f64 = 86_400_000.0;

/// The features of a question besides its words.
pub(super) struct QueryFeatures {
    words: Vec<String>,
    first_person: bool,
    /// For each entity that the question names, the memories that mention it.
    about: Vec<FxHashSet<PartMemory>>,
    when: bool,
    spans: Vec<TimeSpan>,
    past: bool,
    now: i64,
}

impl QueryFeatures {
    pub(super) fn of(question: &IndexQuery, parts: &SearchParts<'_>) -> Self {
        let words = terms::plain_words(&question.text);
        let times = parse_times(&question.text, question.now);
        let find = |(workspace, id): &MemoryRef| {
            parts.iter().enumerate().find_map(|(part, own)| {
                let number = own.state.catalog.number(workspace.as_str(), *id)?;
                Some(PartMemory { part, number })
            })
        };
        let about =
            question.about.iter().map(|memories| memories.iter().filter_map(find).collect());
        Self {
            first_person: words.iter().any(|word| terms::is_first_person(word)),
            words,
            about: about.collect(),
            when: times.asks,
            spans: times.spans,
            past: update::asks_how_things_were(&question.text),
            now: question.now.as_millisecond(),
        }
    }

    /// The memories that mention an entity of the question.
    pub(super) fn mentioning_memories(&self) -> impl Iterator<Item = PartMemory> {
        self.about.iter().flatten().copied()
    }

    /// The share of the question's entities that a memory mentions, 0 to 1.
    fn mentioned_share(&self, memory: PartMemory) -> f64 {
        let mentioned = self.about.iter().filter(|memories| memories.contains(&memory)).count();
        mentioned as f64 / self.about.len().max(1) as f64
    }

    /// How well the time of a memory fits.
    fn time_fit(&self, from: i64, tells_time: bool) -> f64 {
        let Ok(from) = Timestamp::from_millisecond(from) else { return 0.0 };
        let closest = self.spans.iter().map(|span| span.closeness(from)).fold(0.0, f64::max);
        closest.max(f64::from(u8::from(self.when && tells_time)))
    }
}

/// Why a memory has its score.
#[derive(Debug, Clone)]
pub(super) struct ScoreExplanation {
    pub(super) memory: PartMemory,
    pub(super) parts: ScoreParts,
    pub(super) matched: Vec<MatchReason>,
    pub(super) relevance: f64,
}

/// A score with its explanation.
pub(super) type ScoredMemory = (f64, ScoreExplanation);

/// The candidates to be reranked, of all parts.
pub(super) struct RerankCandidates<'s> {
    parts: &'s SearchParts<'s>,
    weights: &'s TermWeights,
    /// Those of each part.
    own: Vec<PartCandidates<'s>>,
}

/// The candidates of one part.
struct PartCandidates<'s> {
    /// The index of the part.
    place: usize,
    part: &'s SearchPart<'s>,
    matches: &'s WordMatches<'s>,
    numbers: Vec<MemoryNumber>,
    /// The index of each memory in `numbers`, plus one; neighbours follow.
    indexes: ScratchGuard<'s, u32>,
    /// The memories of each candidate's session that the caller sees.
    strands: VisibleStrands,
    /// The weighted occurrences of each term, per index.
    occurrences: Vec<f32>,
    around: NeighbourLists,
}

/// The neighbours of the candidates that are turns of a conversation.
#[derive(Default)]
struct NeighbourLists {
    /// The neighbours of all candidates, in order of the candidates.
    near: Vec<SessionNeighbour>,
    /// The end of each candidate's neighbours in `near`, and whether it is a turn.
    ends: Vec<(usize, bool)>,
}

impl NeighbourLists {
    /// Adds those of a turn; none of a note.
    fn push(&mut self, turn: Option<Vec<SessionNeighbour>>) {
        let is_turn = turn.is_some();
        self.near.extend(turn.into_iter().flatten());
        self.ends.push((self.near.len(), is_turn));
    }

    /// The neighbours of the candidate at this index; `None` for a note.
    fn of(&self, place: usize) -> Option<&[SessionNeighbour]> {
        let begin = place.checked_sub(1).map_or(0, |before| self.ends[before].0);
        let (end, is_turn) = self.ends[place];
        is_turn.then(|| &self.near[begin..end])
    }
}

impl<'s> RerankCandidates<'s> {
    /// These candidates with their neighbours and surroundings.
    pub(super) fn of(
        parts: &'s SearchParts<'s>,
        matches: &'s [WordMatches<'s>],
        weights: &'s TermWeights,
        first: &[PartMemory],
        meter: &SearchMeter<'_>,
    ) -> Result<Self> {
        let own = parts.iter().zip(matches).enumerate().map(|(place, (part, matches))| {
            let first = first.iter().filter(|memory| memory.part == place);
            let first: Vec<MemoryNumber> = first.map(|memory| memory.number).collect();
            PartCandidates::of(place, part, matches, &first, meter)
        });
        Ok(Self { parts, weights, own: own.collect::<Result<_>>()? })
    }

    /// Whether a memory is a candidate.
    pub(super) fn contains(&self, memory: PartMemory) -> bool {
        self.own[memory.part].contains(memory.number)
    }

    /// Whether a candidate is a turn of a conversation.
    fn is_turn(&self, memory: PartMemory) -> bool {
        let candidates = &self.own[memory.part];
        let place = (candidates.indexes.get(memory.number) as usize).checked_sub(1);
        place.is_some_and(|place| candidates.around.of(place).is_some())
    }

    /// Number of candidates without a word of the question.
    pub(super) fn wordless_count(&self) -> u64 {
        self.own.iter().map(PartCandidates::wordless_count).sum()
    }

    /// All candidates with their scores, best first; the first `most` with their relevance.
    pub(super) fn rank(
        &self,
        query: &QueryFeatures,
        statistics: &CorpusStatistics,
        scan: Option<&NearnessScan<'_>>,
        most: usize,
        meter: &SearchMeter<'_>,
    ) -> Result<Vec<ScoredMemory>> {
        let question = scan.map(|scan| &scan.question.vector);
        let words = scan.and_then(|scan| QuestionWords::of(&scan.question.words, self.weights));
        let mut features = self.features(query, statistics, question, meter)?;
        if let Some(words) = &words {
            for (candidates, features) in self.own.iter().zip(&mut features) {
                candidates.compare_words(words, features, meter)?;
            }
        }
        let scale = RankScale {
            best: self.best_words(&features),
            nearness: scan.map(|scan| scan.range),
            word_nearness: WordNearnessRange::of(features.iter().flatten()),
        };
        let mut scored: Vec<ScoredMemory> = Vec::new();
        for (candidates, features) in self.own.iter().zip(&features) {
            scored.extend(features.iter().zip(&candidates.numbers).map(|(features, number)| {
                let parts = features.parts(statistics, &scale);
                let explanation = ScoreExplanation {
                    memory: PartMemory { part: candidates.place, number: *number },
                    parts,
                    matched: match_reasons(features, &parts, &scale),
                    relevance: 0.0,
                };
                (parts.score(), explanation)
            }));
        }
        let newer = |a: &ScoreExplanation, b: &ScoreExplanation| {
            self.parts.compare_times(b.memory, a.memory)
        };
        scored.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| newer(&a.1, &b.1)));
        let first = scored.len().min(REPEAT_HITS_MAX);
        let same = |a: &ScoreExplanation, b: &ScoreExplanation| {
            self.text_similarity(a.memory, b.memory) >= REPEAT_COSINE_MIN
        };
        rank::lower_repeats(&mut scored[..first], same);
        if !query.past {
            self.promote_updates(&mut scored, question);
        }
        let returned = most.min(scored.len());
        self.judge(&mut scored[..returned], &features, statistics, scan);
        Ok(scored)
    }

    /// The best match of words.
    fn best_words(&self, features: &[Vec<RankFeatures>]) -> BestWords {
        let mut best = (BestWords::default(), 0, 0);
        for (part, features) in features.iter().enumerate() {
            for (place, features) in features.iter().enumerate() {
                let words = features.words();
                if words > best.0.words {
                    best = (BestWords { words, coverage: 0.0 }, part, place);
                }
            }
        }
        let (words, part, place) = best;
        let all: f64 = self.weights.rarities.iter().sum();
        let Some(candidates) = self.own.get(part).filter(|_| words.words > 0.0 && all > 0.0) else {
            return words;
        };
        let coverage = candidates.coverage(place, &self.weights.rarities) / all;
        BestWords { coverage, ..words }
    }

    /// The features of the candidates of each part.
    fn features(
        &self,
        query: &QueryFeatures,
        statistics: &CorpusStatistics,
        question: Option<&QuantisedVector>,
        meter: &SearchMeter<'_>,
    ) -> Result<Vec<Vec<RankFeatures>>> {
        let lengths = self.own.iter().map(|candidates| candidates.session_lengths(meter));
        let lengths: Vec<SessionLengths<'_>> = lengths.collect::<Result<_>>()?;
        let mean = SessionLengths::mean(&lengths);
        let features = self.own.iter().zip(lengths).map(|(candidates, lengths)| {
            let sessions = candidates.session_scores(lengths, mean, self.weights);
            let around = candidates.neighbour_scores(statistics, self.weights);
            let features = candidates.numbers.iter().zip(around).map(|(number, around)| {
                let catalog = &candidates.part.state.catalog;
                let session = sessions.score(catalog.hot[*number as usize].session);
                let talk = around.map(|around| TalkFeatures { session, ..around });
                let own = match talk {
                    Some(_) => candidates.own_of_turn(*number, statistics, self.weights),
                    None => f64::from(candidates.matches.own_score(*number)),
                };
                RankFeatures { own, talk, ..candidates.features(*number, query, question) }
            });
            features.collect()
        });
        Ok(features.collect())
    }

    /// Sets the relevance of these memories.
    fn judge(
        &self,
        scored: &mut [ScoredMemory],
        features: &[Vec<RankFeatures>],
        statistics: &CorpusStatistics,
        scan: Option<&NearnessScan<'_>>,
    ) {
        let rarity = |memories: &f64| steady_rarity(statistics, *memories);
        let rarities: Vec<f64> = self.weights.memories.iter().map(rarity).collect();
        let sum = |rarities: &[f64]| rarities.iter().sum::<f64>().max(f64::EPSILON);
        let all = sum(&rarities);
        let mut vectors = self.parts.iter().filter_map(|part| part.state.vectors.as_ref());
        let calibrated = vectors.any(VectorIndex::is_calibrated);
        for (_, explanation) in scored {
            let PartMemory { part, number } = explanation.memory;
            let candidates = &self.own[part];
            let index = candidates.indexes.get(number) as usize;
            let place = index.checked_sub(1);
            let Some((place, features)) =
                place.and_then(|place| Some((place, features[part].get(place)?)))
            else {
                continue;
            };
            let counts = candidates.occurrences_of(number).unwrap_or_default();
            let strength = |count: f32| statistics.strength(f64::from(count), features.length);
            let words = rarities.iter().zip(counts);
            let evidence: f64 =
                words.map(|(rarity, count)| rarity * strength(*count).min(1.0)).sum();
            let beside = features.talk.map(|_| candidates.coverage(place, &rarities));
            let comparable = |cosine: f64| match scan {
                Some(scan) if !calibrated => comparable_cosine(cosine, scan.range.mean),
                _ => cosine,
            };
            let shared = RelevanceFeatures {
                coverage: evidence.max(beside.unwrap_or(0.0)) / all,
                evidence,
                nearness: features.nearness.map(comparable),
                is_turn: features.talk.is_some(),
                memories: statistics.memories,
            };
            explanation.relevance = shared.relevance();
        }
    }

    /// Moves a memory that updates an older hit before that hit, among the first hits.
    fn promote_updates(&self, scored: &mut [ScoredMemory], question: Option<&QuantisedVector>) {
        let hits: Vec<_> = (scored.iter().take(update::UPDATE_HITS_MAX))
            .map(|(score, explanation)| {
                let facts = self.parts.facts(explanation.memory);
                let visibility = &self.parts.class(explanation.memory).visibility;
                UpdateCandidate {
                    score: *score,
                    length: facts.length(),
                    from: (facts.from, facts.id),
                    states_change: facts.signals.updates,
                    is_trusted: visibility.trust == Trust::Normal,
                    speaker: self.is_turn(explanation.memory).then_some(&visibility.owner),
                }
            })
            .collect();
        let memory = |place: usize| scored[place].1.memory;
        let order = update::order_updates(&hits, |old, new| {
            self.answer_similarity(memory(old), memory(new), question)
        });
        // Each keeps the score of its new rank, so that scores stay descending.
        let moved: Vec<ScoreExplanation> =
            order.iter().map(|place| scored[*place].1.clone()).collect();
        for (hit, moved) in scored.iter_mut().zip(moved) {
            hit.1 = moved;
        }
    }

    /// The similarity of two memories as answers to the question: the cosine of their chunks
    /// nearest to it, else the weighted share of the question's words that both contain.
    fn answer_similarity(
        &self,
        a: PartMemory,
        b: PartMemory,
        question: Option<&QuantisedVector>,
    ) -> f64 {
        let vectors = (self.parts.vectors(a), self.parts.vectors(b));
        if let (Some(question), (Some(a), Some(b))) = (question, vectors) {
            return f64::from(a.answer_similarity(b, question));
        }
        let (mut both, mut any) = (0.0, 0.0);
        for (term, rarity) in self.weights.rarities.iter().enumerate() {
            let has = |memory: PartMemory| {
                let counts = self.own[memory.part].occurrences_of(memory.number);
                counts.is_some_and(|counts| counts[term] > 0.0)
            };
            match (has(a), has(b)) {
                (true, true) => (both, any) = (both + rarity, any + rarity),
                (false, false) => {}
                _ => any += rarity,
            }
        }
        if any > 0.0 { both / any } else { 0.0 }
    }

    /// The similarity of two texts: 1 if equal, else by their vectors.
    fn text_similarity(&self, a: PartMemory, b: PartMemory) -> f32 {
        if self.parts.facts(a).fingerprint == self.parts.facts(b).fingerprint {
            return 1.0;
        }
        match (self.parts.vectors(a), self.parts.vectors(b)) {
            (Some(a), Some(b)) => a.text_similarity(b),
            _ => 0.0,
        }
    }
}

impl<'s> PartCandidates<'s> {
    /// These candidates with their neighbours and surroundings.
    fn of(
        place: usize,
        part: &'s SearchPart<'s>,
        matches: &'s WordMatches<'s>,
        first: &[MemoryNumber],
        meter: &SearchMeter<'_>,
    ) -> Result<Self> {
        let SearchPart { state, visible, .. } = part;
        let catalog = &state.catalog;
        let mut indexes = state.scratch.indexes.take(catalog.len());
        let mut numbers: Vec<MemoryNumber> = Vec::new();
        let mut add = |number: MemoryNumber, numbers: &mut Vec<MemoryNumber>| {
            if indexes.get(number) == 0 {
                numbers.push(number);
                let place = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
                indexes.change(number, |index| *index = place);
            }
        };
        let mut strands = VisibleStrands::default();
        let mut near = |number: &MemoryNumber| -> Result<Option<Vec<SessionNeighbour>>> {
            let mut near = strands.turns_around(*number, catalog, visible, meter)?;
            if let Some(near) = &mut near {
                near.retain(|other| other.distance <= NEIGHBOUR_WEIGHTS.len());
            }
            Ok(near)
        };
        first.iter().for_each(|number| add(*number, &mut numbers));
        let mut around = NeighbourLists::default();
        for number in &numbers {
            around.push(near(number)?);
        }
        let (firsts, seconds) = (numbers.len(), around.near.len());
        around.near.iter().for_each(|other| add(other.number, &mut numbers));
        for number in &numbers[firsts..] {
            around.push(near(number)?);
        }
        let mut all = numbers.clone();
        around.near[seconds..].iter().for_each(|other| add(other.number, &mut all));
        let terms = matches.lists.len();
        let mut occurrences = vec![0.0; all.len() * terms];
        for (term, list) in matches.lists.iter().enumerate() {
            for TermPosting { number, count, .. } in list {
                let place = indexes.get(*number) as usize;
                if place > 0 {
                    occurrences[(place - 1) * terms + term] = *count;
                }
            }
        }
        Ok(Self { place, part, matches, numbers, indexes, strands, occurrences, around })
    }

    /// Whether a memory is a candidate.
    fn contains(&self, number: MemoryNumber) -> bool {
        let place = self.indexes.get(number) as usize;
        place > 0 && place <= self.numbers.len()
    }

    /// Number of candidates without a word of the question.
    fn wordless_count(&self) -> u64 {
        self.numbers.iter().filter(|number| self.matches.own_score(**number) <= 0.0).count() as u64
    }

    fn occurrences_of(&self, number: MemoryNumber) -> Option<&[f32]> {
        let terms = self.matches.lists.len();
        let place = (self.indexes.get(number) as usize).checked_sub(1)?;
        self.occurrences.get(place * terms..(place + 1) * terms)
    }

    /// The rarity of the words that the candidate at this index or its neighbours hold.
    fn coverage(&self, place: usize, rarities: &[f64]) -> f64 {
        let near = self.around.of(place).unwrap_or_default().iter().map(|other| other.number);
        let mut held = vec![false; rarities.len()];
        for number in near.chain([self.numbers[place]]) {
            let counts = self.occurrences_of(number).unwrap_or_default();
            held.iter_mut().zip(counts).for_each(|(held, count)| *held |= *count > 0.0);
        }
        held.iter().zip(rarities).filter(|(held, _)| **held).map(|(_, rarity)| rarity).sum()
    }

    /// The features of a candidate, but for those of its words.
    fn features(
        &self,
        number: MemoryNumber,
        query: &QueryFeatures,
        question: Option<&QuantisedVector>,
    ) -> RankFeatures {
        let catalog = &self.part.state.catalog;
        let (hot, class) = (&catalog.hot[number as usize], catalog.classed[number as usize]);
        // Most questions need neither, so these facts are read only on demand.
        let signals = (query.first_person || query.when).then(|| catalog.facts(number).signals);
        let signals = signals.unwrap_or_default();
        let vectors = &self.part.state.vectors;
        let nearness = match (vectors, question, catalog.vector_refs.of(number)) {
            (Some(vectors), Some(question), Some(rows)) => {
                Some(f64::from(vectors.nearness(rows, question)))
            }
            _ => None,
        };
        RankFeatures {
            length: f64::from(hot.length),
            nearness,
            entity: query.mentioned_share(PartMemory { part: self.place, number }),
            named: catalog.classes.is_author_named(class, &query.words),
            speaks: if query.first_person { f64::from(signals.first_person) } else { 0.0 },
            time: query.time_fit(hot.from, signals.tells_time),
            importance: catalog.class(number).importance,
            age_days: ((query.now - hot.from) as f64 / DAY_MILLISECONDS).floor(),
            ..RankFeatures::default()
        }
    }

    /// Sets how near the words of the candidates are to those of the question; of a turn, also those of the turns beside it.
    fn compare_words(
        &self,
        words: &QuestionWords,
        features: &mut [RankFeatures],
        meter: &SearchMeter<'_>,
    ) -> Result<()> {
        let SearchPart { state, .. } = self.part;
        let Some(vectors) = &state.vectors else { return Ok(()) };
        let mut read: FxHashMap<MemoryNumber, Option<Rc<[f32]>>> = FxHashMap::default();
        let mut similarities = |number: MemoryNumber| -> Result<Option<Rc<[f32]>>> {
            if let Some(similarities) = read.get(&number) {
                return Ok(similarities.clone());
            }
            meter.vectors(1)?;
            let rows = state.catalog.vector_refs.of(number);
            let similarities = rows.map(|rows| words.similarities(vectors.words(rows)).into());
            Ok(read.entry(number).or_insert(similarities).clone())
        };
        for (place, (number, features)) in self.numbers.iter().zip(features).enumerate() {
            let Some(own) = similarities(*number)? else { continue };
            let mut nearest = own.to_vec();
            let near = self.around.of(place).unwrap_or_default().iter();
            for other in near.filter(|other| other.distance == 1) {
                let beside = similarities(other.number)?;
                let both = nearest.iter_mut().zip(beside.iter().flat_map(|beside| beside.iter()));
                both.for_each(|(own, beside)| *own = own.max(NEIGHBOUR_WORD_WEIGHT * beside));
            }
            features.word_nearness = Some(features.by_length(words.sum(&nearest)));
        }
        Ok(())
    }

    /// The BM25 score of a turn's own words.
    fn own_of_turn(
        &self,
        number: MemoryNumber,
        statistics: &CorpusStatistics,
        weights: &TermWeights,
    ) -> f64 {
        let length = f64::from(self.part.state.catalog.hot[number as usize].length);
        let counts = self.occurrences_of(number).unwrap_or_default();
        let counted = weights.rarities.iter().zip(counts);
        counted
            .map(|(rarity, count)| rarity * statistics.strength_of_turn(f64::from(*count), length))
            .sum()
    }

    /// What stands around each candidate that is a turn, but for the words of its session.
    fn neighbour_scores(
        &self,
        statistics: &CorpusStatistics,
        weights: &TermWeights,
    ) -> Vec<Option<TalkFeatures>> {
        let rarities = &weights.rarities;
        let catalog = &self.part.state.catalog;
        let mut counts = vec![0.0; rarities.len()];
        let scores = |(place, number): (usize, &MemoryNumber)| {
            let near = self.around.of(place)?;
            counts.fill(0.0);
            let weighted = near.iter().map(|other| {
                let weight = NEIGHBOUR_WEIGHTS.get(other.distance - 1).copied().unwrap_or(0.0);
                (other.number, weight)
            });
            let mut length = 0.0;
            for (number, weight) in weighted.chain([(*number, 1.0)]) {
                length += weight * f64::from(catalog.hot[number as usize].length);
                let occurrences = self.occurrences_of(number).unwrap_or_default();
                let counted = counts.iter_mut().zip(occurrences);
                counted.for_each(|(sum, count)| *sum += weight * f64::from(*count));
            }
            let counted = rarities.iter().zip(&counts);
            let around = counted
                .map(|(rarity, count)| rarity * statistics.strength_around(*count, length))
                .sum();
            let before = near.iter().find(|other| other.is_before && other.distance == 1);
            let asked = before.filter(|before| self.asks_next(before.number, *number));
            let asked = asked.and_then(|before| self.occurrences_of(before.number));
            let asked = rarities.iter().zip(asked.unwrap_or_default());
            let strength = CorpusStatistics::strength_asked;
            let asked = asked.map(|(rarity, count)| rarity * strength(f64::from(*count))).sum();
            Some(TalkFeatures { around, session: 0.0, asked })
        };
        self.numbers.iter().enumerate().map(scores).collect()
    }

    /// Whether a memory is a short question of somebody else than the author of the next one.
    fn asks_next(&self, number: MemoryNumber, next: MemoryNumber) -> bool {
        let catalog = &self.part.state.catalog;
        let owner = |number: MemoryNumber| &catalog.class(number).visibility.owner;
        f64::from(catalog.hot[number as usize].length) <= rank::ASKED_WORDS_MAX
            && owner(number) != owner(next)
            && catalog.facts(number).signals.asks
    }

    /// The length of each turn's session; a stream is none.
    fn session_lengths(&self, meter: &SearchMeter<'_>) -> Result<SessionLengths<'s>> {
        let SearchPart { state, visible, .. } = self.part;
        let catalog = &state.catalog;
        let mut indexes = state.scratch.indexes.take(catalog.name_count());
        let mut lengths = Vec::new();
        let turns = self.numbers.iter().enumerate();
        let turns = turns.filter(|(place, _)| self.around.of(*place).is_some());
        for (_, number) in turns {
            let session = catalog.hot[*number as usize].session;
            if !catalog.is_stream(session) && indexes.get(session) == 0 {
                let admits = |class| visible.admits_class(class);
                let strands = self.strands.strands_of(session);
                let (length, looked_at) = catalog.session_length(strands, admits);
                meter.neighbours(looked_at)?;
                lengths.push(rank::session_length(length));
                let place = u32::try_from(lengths.len()).unwrap_or(u32::MAX);
                indexes.change(session, |index| *index = place);
            }
        }
        Ok(SessionLengths { indexes, lengths })
    }

    /// The score of each candidate's session; `mean` is the mean length of those of all parts.
    fn session_scores(
        &self,
        sessions: SessionLengths<'s>,
        mean: f64,
        weights: &TermWeights,
    ) -> SessionScores<'s> {
        let SessionLengths { indexes, lengths } = sessions;
        let mut scores = vec![0.0; lengths.len()];
        for (list, rarity) in self.matches.lists.iter().zip(&weights.rarities) {
            let mut counts = vec![0.0; lengths.len()];
            for TermPosting { count, session, .. } in list {
                let place = indexes.get(*session) as usize;
                if place > 0 {
                    counts[place - 1] += f64::from(*count);
                }
            }
            for ((score, count), length) in scores.iter_mut().zip(counts).zip(&lengths) {
                *score += rarity * CorpusStatistics::strength_of_session(count, *length, mean);
            }
        }
        SessionScores::of(indexes, scores)
    }
}

/// The features of a candidate that matched.
fn match_reasons(
    features: &RankFeatures,
    parts: &ScoreParts,
    scale: &RankScale,
) -> Vec<MatchReason> {
    let reasons = [
        (features.own > 0.0, MatchReason::Words),
        // A low similarity adds little to the score.
        (scale.is_near(parts), MatchReason::Vector),
        (parts.context > 0.0 && features.own <= 0.0, MatchReason::Context),
        (features.entity > 0.0, MatchReason::Entity),
        (features.time > 0.0, MatchReason::Time),
    ];
    let mut reasons: Vec<MatchReason> =
        reasons.into_iter().filter(|(matched, _)| *matched).map(|(_, reason)| reason).collect();
    // Nothing else finds a memory without a reason of its own.
    if reasons.is_empty() {
        reasons.push(MatchReason::Vector);
    }
    reasons
}
