//! The words of one memory that is not in the generation, or not as it is now.

use std::collections::HashSet;
use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use super::catalog::{Described, Marks};
use super::text::Bag;
use crate::memory::Memory;
use crate::search::{rank, update};
use crate::words;

/// Words by which a text tells a time: days, months, and what counts them.
const TIMES: &str = "yesterday today tomorrow tonight week weekend month year ago last next \
    monday tuesday wednesday thursday friday saturday sunday january february march april may \
    june july august september october november december";

static TIME_TERMS: LazyLock<HashSet<String>> =
    LazyLock::new(|| words::terms(TIMES).into_iter().collect());

/// A memory with its words.
pub(super) struct Tail {
    pub(super) described: Described,
    pub(super) bag: Bag,
    /// How often each term stands in head and body.
    pub(super) counts: FxHashMap<String, (u32, u32)>,
}

impl Tail {
    /// A memory as of an event.
    pub(super) fn of(memory: &Memory, sequence: u64) -> Self {
        let mut head = Vec::new();
        for part in memory.title.iter().chain(&memory.topics).chain(&memory.summary) {
            head.append(&mut words::terms(part));
        }
        let bag = Bag { head, body: words::terms(&memory.text) };
        let mut counts: FxHashMap<String, (u32, u32)> = FxHashMap::default();
        for word in &bag.head {
            counts.entry(word.clone()).or_default().0 += 1;
        }
        for word in &bag.body {
            counts.entry(word.clone()).or_default().1 += 1;
        }
        let all = || bag.head.iter().chain(&bag.body);
        let first_person = all().filter(|term| words::is_first_person(term)).count();
        let marks = Marks {
            first_person: u32::try_from(first_person).unwrap_or(u32::MAX),
            tells_time: all().any(|term| TIME_TERMS.contains(term)),
            updates: update::says_so(all()),
        };
        let described = Described::of(memory, sequence, (bag.lengths(), marks));
        Self { described, bag, counts }
    }

    /// How often a term stands in it, in its head counting for more.
    pub(super) fn occurrences(&self, term: &str) -> f64 {
        self.counts.get(term).map_or(0.0, |(head, body)| rank::weight(*head, *body))
    }

    /// Whether these terms stand in it one after the other.
    pub(super) fn has_phrase(&self, phrase: &[String]) -> bool {
        [&self.bag.head, &self.bag.body]
            .into_iter()
            .any(|words| words.windows(phrase.len()).any(|window| window == phrase))
    }
}
