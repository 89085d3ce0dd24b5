//! Questions about synthetic memories, made of their words, so that every question has hits.

use commonbook::model::memory::MemoryType;
use commonbook::model::search::SearchMemory;
use fastrand::Rng;

/// The memory that a question is about.
#[derive(Debug, Clone)]
pub(super) struct QuestionSource {
    /// Its words, most common first.
    pub(super) words: Vec<String>,
    /// Its owner.
    pub(super) owner: String,
    /// Its type.
    pub(super) memory_type: Option<MemoryType>,
}

/// A uniform random sample of fixed size.
pub(super) struct ReservoirSample {
    rng: Rng,
    seen: usize,
    size: usize,
    /// The sample.
    pub(super) drawn: Vec<QuestionSource>,
}

impl ReservoirSample {
    pub(super) fn new(seed: u64, size: usize) -> Self {
        Self { rng: Rng::with_seed(seed), seen: 0, size, drawn: Vec::with_capacity(size) }
    }

    /// Offers one element to the sample.
    pub(super) fn offer_source(&mut self, known: impl FnOnce() -> QuestionSource) {
        self.seen += 1;
        if self.drawn.len() < self.size {
            self.drawn.push(known());
            return;
        }
        let place = self.rng.usize(0..self.seen);
        if let Some(drawn) = self.drawn.get_mut(place) {
            *drawn = known();
        }
    }
}

/// The words of a memory that a question uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum QueryWords {
    /// The most common ones.
    Common,
    /// The rarest ones.
    Rare,
    /// This many random ones.
    Some(usize),
}

/// A further condition of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum QuestionFilter {
    /// None.
    Nothing,
    /// The memory's owner.
    Owner,
    /// The memory's type.
    Type,
    /// The last ninety days.
    Since,
}

/// A kind of question.
#[derive(Debug, Clone, Copy)]
pub(super) struct QuestionKind {
    /// Its name.
    pub(super) name: &'static str,
    words: QueryWords,
    filter: QuestionFilter,
}

impl QuestionKind {
    /// Every kind, in the order of the table.
    pub(super) const ALL: [Self; 7] = [
        Self { name: "1 common word", words: QueryWords::Common, filter: QuestionFilter::Nothing },
        Self { name: "1 rare word", words: QueryWords::Rare, filter: QuestionFilter::Nothing },
        Self { name: "3 words", words: QueryWords::Some(3), filter: QuestionFilter::Nothing },
        Self { name: "9 words", words: QueryWords::Some(9), filter: QuestionFilter::Nothing },
        Self { name: "3 words, owner:", words: QueryWords::Some(3), filter: QuestionFilter::Owner },
        Self { name: "3 words, type:", words: QueryWords::Some(3), filter: QuestionFilter::Type },
        Self {
            name: "3 words, since: 90d",
            words: QueryWords::Some(3),
            filter: QuestionFilter::Since,
        },
    ];

    /// The question of this kind about a memory; determined by `rng`.
    pub(super) fn question_about(&self, known: &QuestionSource, rng: &mut Rng) -> SearchMemory {
        let words: Vec<&String> = match self.words {
            QueryWords::Common => known.words.iter().take(1).collect(),
            QueryWords::Rare => known.words.iter().rev().take(1).collect(),
            QueryWords::Some(count) => rng.choose_multiple(&known.words, count),
        };
        let query = words.iter().map(|word| word.as_str()).collect::<Vec<_>>().join(" ");
        let request = SearchMemory { query, ..SearchMemory::default() };
        match self.filter {
            QuestionFilter::Nothing => request,
            QuestionFilter::Owner => SearchMemory { owner: Some(known.owner.clone()), ..request },
            QuestionFilter::Type => {
                SearchMemory { memory_type: known.memory_type.clone(), ..request }
            }
            QuestionFilter::Since => SearchMemory { since: Some("90d".to_owned()), ..request },
        }
    }
}

/// The path and query string of the same question over REST.
pub(super) fn path(request: &SearchMemory) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.append_pair("q", &request.query);
    let memory_type = request.memory_type.as_ref().map(ToString::to_string);
    let fields =
        [("owner", &request.owner), ("memory_type", &memory_type), ("since", &request.since)];
    for (name, value) in fields {
        if let Some(value) = value {
            query.append_pair(name, value);
        }
    }
    format!("/v1/memories/search?{}", query.finish())
}
