//! Questions about made-up memories: words of real ones, so that every question finds something.

use commonbook::model::memory::MemoryType;
use commonbook::model::search::SearchMemory;
use fastrand::Rng;

/// What a question knows of the memory that it is about.
#[derive(Debug, Clone)]
pub(super) struct QuestionSource {
    /// Its words, the commonest first.
    pub(super) words: Vec<String>,
    /// Whose it is.
    pub(super) owner: String,
    /// Of which type it is.
    pub(super) memory_type: Option<MemoryType>,
}

/// A fair sample of what goes by, of a fixed size.
pub(super) struct ReservoirSample {
    rng: Rng,
    seen: usize,
    size: usize,
    /// What was drawn.
    pub(super) drawn: Vec<QuestionSource>,
}

impl ReservoirSample {
    /// An empty one.
    pub(super) fn new(seed: u64, size: usize) -> Self {
        Self { rng: Rng::with_seed(seed), seen: 0, size, drawn: Vec::with_capacity(size) }
    }

    /// Looks at one thing, and keeps it if it is drawn.
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

/// Which words of a memory are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum QueryWords {
    /// Its commonest.
    Common,
    /// Its rarest.
    Rare,
    /// So many of them, whichever.
    Some(usize),
}

/// What else must hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum QuestionFilter {
    /// Nothing.
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
    /// What it is called.
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

    /// The question of this kind about a memory; the same `rng` draws the same words.
    pub(super) fn question_about(&self, known: &QuestionSource, rng: &mut Rng) -> SearchMemory {
        let words: Vec<&String> = match self.words {
            QueryWords::Common => known.words.iter().take(1).collect(),
            QueryWords::Rare => known.words.iter().rev().take(1).collect(),
            QueryWords::Some(count) => rng.choose_multiple(&known.words, count),
        };
        let query = words.iter().map(|word| word.as_str()).collect::<Vec<_>>().join(" ");
        let asked = SearchMemory { query, ..SearchMemory::default() };
        match self.filter {
            QuestionFilter::Nothing => asked,
            QuestionFilter::Owner => SearchMemory { owner: Some(known.owner.clone()), ..asked },
            QuestionFilter::Type => {
                SearchMemory { memory_type: known.memory_type.clone(), ..asked }
            }
            QuestionFilter::Since => SearchMemory { since: Some("90d".to_owned()), ..asked },
        }
    }
}

/// The path and query string by which REST is asked the same.
pub(super) fn path(asked: &SearchMemory) -> String {
    let mut query = form_urlencoded::Serializer::new(String::new());
    query.append_pair("q", &asked.query);
    let memory_type = asked.memory_type.as_ref().map(ToString::to_string);
    let fields = [("owner", &asked.owner), ("memory_type", &memory_type), ("since", &asked.since)];
    for (name, value) in fields {
        if let Some(value) = value {
            query.append_pair(name, value);
        }
    }
    format!("/v1/memories/search?{}", query.finish())
}
