//! The memories that are looked at closely: what is known of each, with what is around it.

use jiff::Timestamp;
use rustc_hash::FxHashSet;

use super::budget::SearchMeter;
use super::matches::{TermPosting, WordMatches};
use super::slate::ScratchGuard;
use super::state::IndexState;
use super::strands::{SessionScores, VisibleStrands};
use super::vectors::ScanResult;
use crate::base::error::Result;
use crate::index::facts::{MemoryCatalog, MemoryNumber};
use crate::index::visible::VisibilityFilter;
use crate::model::search::rank::{
    self, CorpusStatistics, NEIGHBOUR_WEIGHTS, NearnessRange, RankFeatures, ScoreParts,
};
use crate::model::search::update::{self, UpdateCandidate};
use crate::model::search::{IndexQuery, MatchReason, MemoryRef, TimeSpan, parse_times};
use commonbook_embed::QuantisedVector;
use commonbook_text::terms;

/// Hits among which repetitions are looked for.
const REPEAT_HITS_MAX: usize = 40;

/// From which cosine on two texts say the same.
const REPEAT_COSINE_MIN: f32 = 0.97;

/// Milliseconds of a day.
const DAY_MILLISECONDS: f64 = 86_400_000.0;

/// What a question asks besides its words.
pub(super) struct QueryFeatures {
    words: Vec<String>,
    first_person: bool,
    /// For each entity that the question names, the memories that mention it.
    about: Vec<FxHashSet<MemoryNumber>>,
    when: bool,
    spans: Vec<TimeSpan>,
    present: bool,
    now: i64,
}

impl QueryFeatures {
    pub(super) fn of(question: &IndexQuery, catalog: &MemoryCatalog) -> Self {
        let words = terms::plain_words(&question.text);
        let spoken = parse_times(&question.text, question.now);
        let number = |(workspace, id): &MemoryRef| catalog.number(workspace.as_str(), *id);
        let about = question.about.iter().map(|them| them.iter().filter_map(number).collect());
        Self {
            first_person: words.iter().any(|word| terms::is_first_person(word)),
            words,
            about: about.collect(),
            when: spoken.asks,
            spans: spoken.spans,
            present: update::asks_how_things_are(&question.text),
            now: question.now.as_millisecond(),
        }
    }

    /// The memories that mention what the question names.
    pub(super) fn mentioning_memories(&self) -> impl Iterator<Item = MemoryNumber> {
        self.about.iter().flatten().copied()
    }

    /// How many of the entities that the question names a memory mentions, 0 to 1.
    fn mentioned_share(&self, number: MemoryNumber) -> f64 {
        let mentioned = self.about.iter().filter(|them| them.contains(&number)).count();
        mentioned as f64 / self.about.len().max(1) as f64
    }

    /// How well the time of a memory fits.
    fn time_fit(&self, from: i64, tells_time: bool) -> f64 {
        let Ok(from) = Timestamp::from_millisecond(from) else { return 0.0 };
        let closest = self.spans.iter().map(|span| span.closeness(from)).fold(0.0, f64::max);
        closest.max(f64::from(u8::from(self.when && tells_time)))
    }
}

/// What is said of a memory beside its score.
#[derive(Debug, Clone)]
pub(super) struct ScoreExplanation {
    pub(super) number: MemoryNumber,
    pub(super) parts: ScoreParts,
    pub(super) matched: Vec<MatchReason>,
}

/// A score, and of what.
pub(super) type ScoredMemory = (f64, ScoreExplanation);

/// The memories that are looked at closely.
pub(super) struct RerankCandidates<'s> {
    state: &'s IndexState,
    admission: &'s VisibilityFilter<'s>,
    matches: &'s WordMatches<'s>,
    numbers: Vec<MemoryNumber>,
    /// The place of each memory in `numbers`, plus one; of a neighbour beyond them, in what follows.
    places: ScratchGuard<'s, u32>,
    /// Of each session of theirs, the memories that the caller sees.
    strands: VisibleStrands,
    /// For each place, the weighted occurrences of each term.
    occurrences: Vec<f32>,
    around: NeighbourLists,
}

/// The neighbours of the candidates, with their distance.
#[derive(Default)]
struct NeighbourLists {
    /// Those of one candidate after those of the other.
    near: Vec<(MemoryNumber, usize)>,
    /// Where in `near` those of each end.
    ends: Vec<usize>,
}

impl NeighbourLists {
    fn push(&mut self, near: Vec<(MemoryNumber, usize)>) {
        self.near.extend(near);
        self.ends.push(self.near.len());
    }

    /// Those of the candidate at this place.
    fn of(&self, place: usize) -> &[(MemoryNumber, usize)] {
        let begin = place.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.near[begin..self.ends[place]]
    }
}

impl<'s> RerankCandidates<'s> {
    /// These memories and their neighbours, with what stands around all of them.
    pub(super) fn of(
        state: &'s IndexState,
        admission: &'s VisibilityFilter<'s>,
        matches: &'s WordMatches<'s>,
        first: &[MemoryNumber],
        meter: &SearchMeter<'_>,
    ) -> Result<Self> {
        let catalog = &state.catalog;
        let mut places = state.slates.places.take(catalog.len());
        let mut numbers: Vec<MemoryNumber> = Vec::new();
        let mut add = |number: MemoryNumber, numbers: &mut Vec<MemoryNumber>| {
            if places.get(number) == 0 {
                numbers.push(number);
                let place = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
                places.change(number, |there| *there = place);
            }
        };
        let mut strands = VisibleStrands::default();
        let mut near = |number: &MemoryNumber| {
            let strands = strands.strands_around(*number, catalog, admission);
            let admits = |other| admission.admits(other);
            let near = catalog.neighbours(*number, strands, NEIGHBOUR_WEIGHTS.len(), admits);
            meter.neighbours(near.looked_at).map(|()| near.memories)
        };
        first.iter().for_each(|number| add(*number, &mut numbers));
        let mut around = NeighbourLists::default();
        for number in &numbers {
            around.push(near(number)?);
        }
        let (firsts, seconds) = (numbers.len(), around.near.len());
        around.near.iter().for_each(|(other, _)| add(*other, &mut numbers));
        for number in &numbers[firsts..] {
            around.push(near(number)?);
        }
        let mut all = numbers.clone();
        around.near[seconds..].iter().for_each(|(other, _)| add(*other, &mut all));
        let terms = matches.lists.len();
        let mut occurrences = vec![0.0; all.len() * terms];
        for (term, list) in matches.lists.iter().enumerate() {
            for TermPosting { number, count, .. } in list {
                let place = places.get(*number) as usize;
                if place > 0 {
                    occurrences[(place - 1) * terms + term] = *count;
                }
            }
        }
        Ok(Self { state, admission, matches, numbers, places, strands, occurrences, around })
    }

    /// Whether a memory is one of them.
    pub(super) fn contains(&self, number: MemoryNumber) -> bool {
        let place = self.places.get(number) as usize;
        place > 0 && place <= self.numbers.len()
    }

    /// How many of them have no word of the question.
    pub(super) fn wordless_count(&self) -> u64 {
        self.numbers.iter().filter(|number| self.matches.own_score(**number) <= 0.0).count() as u64
    }

    /// All of them with their scores, best first.
    pub(super) fn rank(
        &self,
        asked: &QueryFeatures,
        statistics: &CorpusStatistics,
        scan: Option<&(ScanResult, &QuantisedVector)>,
        meter: &SearchMeter<'_>,
    ) -> Result<Vec<ScoredMemory>> {
        let (around, sessions) = (self.neighbour_scores(statistics), self.session_scores(meter)?);
        let features = self.numbers.iter().zip(around).map(|(number, around)| {
            let session = sessions.score(self.state.catalog.brief[*number as usize].session);
            self.features(*number, asked, around, session, scan)
        });
        let features: Vec<RankFeatures> = features.collect();
        let most = features.iter().map(RankFeatures::words).fold(0.0, f64::max);
        let range = scan.map(|(scan, _)| NearnessRange {
            lowest: f64::from(scan.lowest),
            highest: f64::from(scan.highest),
            mean: scan.sum / scan.count.max(1) as f64,
        });
        let scored = features.iter().zip(&self.numbers).map(|(features, number)| {
            let parts = features.parts(statistics, most, range);
            let judged = ScoreExplanation {
                number: *number,
                parts,
                matched: match_reasons(features, &parts),
            };
            (parts.score(), judged)
        });
        let mut scored: Vec<ScoredMemory> = scored.collect();
        let newer = |a: &ScoreExplanation, b: &ScoreExplanation| {
            self.state.catalog.compare_times(b.number, a.number)
        };
        scored.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| newer(&a.1, &b.1)));
        let first = scored.len().min(REPEAT_HITS_MAX);
        let same = |a: &ScoreExplanation, b: &ScoreExplanation| {
            self.text_similarity(a.number, b.number) >= REPEAT_COSINE_MIN
        };
        rank::lower_repeats(&mut scored[..first], same);
        if asked.present {
            self.promote_updates(&mut scored, scan.map(|(_, question)| *question));
        }
        Ok(scored)
    }

    /// Puts what updates an older hit before it, among the first.
    fn promote_updates(&self, scored: &mut [ScoredMemory], question: Option<&QuantisedVector>) {
        let catalog = &self.state.catalog;
        let hits: Vec<_> = (scored.iter().take(update::STATED_UPDATE_HITS_MAX))
            .map(|(score, judged)| {
                let facts = catalog.facts(judged.number);
                UpdateCandidate {
                    score: *score,
                    length: facts.length(),
                    from: (facts.from, facts.id),
                    says_so: facts.marks.updates,
                    author: &catalog.class(judged.number).reach.owner,
                }
            })
            .collect();
        let number = |place: usize| scored[place].1.number;
        let order = update::order_updates(&hits, |old, new| {
            self.answer_similarity(number(old), number(new), question)
        });
        // Each keeps the score of the place it comes to, so that the list stays best first.
        let moved: Vec<ScoreExplanation> =
            order.iter().map(|place| scored[*place].1.clone()).collect();
        for (hit, moved) in scored.iter_mut().zip(moved) {
            hit.1 = moved;
        }
    }

    /// How alike two memories are in what answers the question: the cosine of the pieces that are
    /// nearest to it, else the share of the question's words that both have, by what they tell.
    fn answer_similarity(
        &self,
        a: MemoryNumber,
        b: MemoryNumber,
        question: Option<&QuantisedVector>,
    ) -> f64 {
        let catalog = &self.state.catalog;
        let rows = (catalog.links.of(a), catalog.links.of(b));
        if let (Some(vectors), Some(question), (Some(a), Some(b))) =
            (&self.state.vectors, question, rows)
        {
            return f64::from(vectors.answer_similarity(a, b, question));
        }
        let (mut both, mut any) = (0.0, 0.0);
        for (term, rarity) in self.matches.rarities.iter().enumerate() {
            let has = |number| self.occurrences_of(number).is_some_and(|row| row[term] > 0.0);
            match (has(a), has(b)) {
                (true, true) => (both, any) = (both + rarity, any + rarity),
                (false, false) => {}
                _ => any += rarity,
            }
        }
        if any > 0.0 { both / any } else { 0.0 }
    }

    /// How far two memories say the same: 1 when their texts are, else by their vectors.
    fn text_similarity(&self, a: MemoryNumber, b: MemoryNumber) -> f32 {
        let catalog = &self.state.catalog;
        if catalog.facts(a).print == catalog.facts(b).print {
            return 1.0;
        }
        match (&self.state.vectors, catalog.links.of(a), catalog.links.of(b)) {
            (Some(vectors), Some(a), Some(b)) => vectors.text_similarity(a, b),
            _ => 0.0,
        }
    }

    fn occurrences_of(&self, number: MemoryNumber) -> Option<&[f32]> {
        let terms = self.matches.lists.len();
        let place = (self.places.get(number) as usize).checked_sub(1)?;
        self.occurrences.get(place * terms..(place + 1) * terms)
    }

    fn features(
        &self,
        number: MemoryNumber,
        asked: &QueryFeatures,
        around: f64,
        session: f64,
        scan: Option<&(ScanResult, &QuantisedVector)>,
    ) -> RankFeatures {
        let catalog = &self.state.catalog;
        let (brief, class) = (&catalog.brief[number as usize], catalog.classed[number as usize]);
        // Most questions ask neither: what lies farther away is not fetched for them.
        let marks = (asked.first_person || asked.when).then(|| catalog.facts(number).marks);
        let marks = marks.unwrap_or_default();
        let nearness = match (&self.state.vectors, scan, catalog.links.of(number)) {
            (Some(vectors), Some((_, question)), Some(rows)) => {
                Some(f64::from(vectors.nearness(rows, question)))
            }
            _ => None,
        };
        RankFeatures {
            own: f64::from(self.matches.own_score(number)),
            around,
            session,
            length: f64::from(brief.length),
            nearness,
            entity: asked.mentioned_share(number),
            named: catalog.classes.is_author_named(class, &asked.words),
            speaks: if asked.first_person { f64::from(marks.first_person) } else { 0.0 },
            time: asked.time_fit(brief.from, marks.tells_time),
            importance: catalog.class(number).importance,
            age_days: ((asked.now - brief.from) as f64 / DAY_MILLISECONDS).floor(),
        }
    }

    /// For each candidate, BM25 of its words together with its neighbours'.
    fn neighbour_scores(&self, statistics: &CorpusStatistics) -> Vec<f64> {
        let rarities = &self.matches.rarities;
        let mut counts = vec![0.0; rarities.len()];
        let strength = |(place, number): (usize, &MemoryNumber)| {
            counts.fill(0.0);
            let near = self.around.of(place).iter().map(|(other, distance)| {
                (*other, NEIGHBOUR_WEIGHTS.get(distance - 1).copied().unwrap_or(0.0))
            });
            let mut length = 0.0;
            for (number, weight) in near.chain([(*number, 1.0)]) {
                length += weight * f64::from(self.state.catalog.brief[number as usize].length);
                let occurrences = self.occurrences_of(number).unwrap_or_default();
                let counted = counts.iter_mut().zip(occurrences);
                counted.for_each(|(sum, count)| *sum += weight * f64::from(*count));
            }
            let counted = rarities.iter().zip(&counts);
            counted.map(|(rarity, count)| rarity * statistics.strength_around(*count, length)).sum()
        };
        self.numbers.iter().enumerate().map(strength).collect()
    }

    /// What the words of each candidate's session tell.
    fn session_scores(&self, meter: &SearchMeter<'_>) -> Result<SessionScores<'s>> {
        let catalog = &self.state.catalog;
        let mut places = self.state.slates.places.take(catalog.name_count());
        let mut lengths = Vec::new();
        for number in &self.numbers {
            let session = catalog.brief[*number as usize].session;
            if session != 0 && places.get(session) == 0 {
                let admits = |class| self.admission.admits_class(class);
                let strands = self.strands.strands_of(session);
                let (length, looked_at) = catalog.session_length(strands, admits);
                meter.neighbours(looked_at)?;
                lengths.push(rank::session_length(length));
                let place = u32::try_from(lengths.len()).unwrap_or(u32::MAX);
                places.change(session, |there| *there = place);
            }
        }
        let mean = lengths.iter().sum::<f64>() / (lengths.len().max(1) as f64);
        let mut told = vec![0.0; lengths.len()];
        for (list, rarity) in self.matches.lists.iter().zip(&self.matches.rarities) {
            let mut counts = vec![0.0; lengths.len()];
            for TermPosting { count, session, .. } in list {
                let place = places.get(*session) as usize;
                if place > 0 {
                    counts[place - 1] += f64::from(*count);
                }
            }
            for ((told, count), length) in told.iter_mut().zip(counts).zip(&lengths) {
                *told += rarity * CorpusStatistics::strength_of_session(count, *length, mean);
            }
        }
        Ok(SessionScores::of(places, told))
    }
}

/// What about a candidate matched.
fn match_reasons(features: &RankFeatures, parts: &ScoreParts) -> Vec<MatchReason> {
    let told = [
        (features.own > 0.0, MatchReason::Words),
        // Nearer than most: what is far adds little to the score.
        (parts.vector >= rank::VECTOR_REASON_MIN, MatchReason::Vector),
        (parts.context > 0.0 && features.own <= 0.0, MatchReason::Context),
        (features.entity > 0.0, MatchReason::Entity),
        (features.time > 0.0, MatchReason::Time),
    ];
    told.into_iter().filter(|(matched, _)| *matched).map(|(_, matched)| matched).collect()
}
