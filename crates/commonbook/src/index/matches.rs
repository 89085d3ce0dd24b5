//! Which memories have words of a question, and what their own words tell.

use std::cmp::Ordering;

use super::admission::Admission;
use super::catalog::{Catalog, Number};
use super::state::State;
use crate::error::Result;
use crate::search::rank::{self, Statistics};

/// Memories that have words of the question: for each word how often it stands in which, and all
/// of them with what their own words tell.
#[derive(Default)]
pub(super) struct Matches {
    /// For each term, the memories that have it, with its weighted occurrences.
    pub(super) lists: Vec<Vec<(Number, f32)>>,
    /// How much each term tells.
    pub(super) rarities: Vec<f64>,
    /// Every memory that has any of them, once.
    pub(super) all: Vec<Number>,
    /// BM25 of the words of each memory of the catalog; 0 where it has none of them.
    scores: Vec<f32>,
}

impl Matches {
    /// BM25 of a memory's own words, 0 when it has none of the question's.
    pub(super) fn own(&self, number: Number) -> f32 {
        self.scores[number as usize]
    }

    /// The best by their own words; of equals the newer first, in every process alike.
    pub(super) fn best(&self, most: usize, catalog: &Catalog) -> Vec<Number> {
        let mut best: Vec<Best> = Vec::with_capacity(2 * most);
        let mut least = f32::NEG_INFINITY;
        for number in &self.all {
            let score = self.own(*number);
            if score < least {
                continue;
            }
            best.push(Best { score, from: catalog.brief[*number as usize].from, number: *number });
            if best.len() == 2 * most {
                best.select_nth_unstable_by(most - 1, |a, b| a.order(b, catalog));
                best.truncate(most);
                least = best[most - 1].score;
            }
        }
        best.sort_unstable_by(|a, b| a.order(b, catalog));
        best.truncate(most);
        best.into_iter().map(|best| best.number).collect()
    }
}

/// What the best are chosen by.
struct Best {
    score: f32,
    from: i64,
    number: Number,
}

impl Best {
    fn order(&self, other: &Self, catalog: &Catalog) -> Ordering {
        let id = |best: &Self| catalog.facts(best.number).id;
        (other.score.total_cmp(&self.score))
            .then_with(|| other.from.cmp(&self.from))
            .then_with(|| id(other).cmp(&id(self)))
    }
}

impl State {
    /// Every memory that has any of the terms, with BM25 of its own words.
    pub(super) fn matches(
        &self,
        admission: &Admission<'_>,
        terms: &[String],
        statistics: &Statistics,
    ) -> Result<Matches> {
        let mut matches = Matches { scores: vec![0.0; self.catalog.len()], ..Matches::default() };
        for term in terms {
            let mut list = Vec::new();
            if let Some(generation) = &self.generation {
                generation.having(term, |number, head, body| {
                    if !self.catalog.brief[number as usize].in_tail && admission.admits(number) {
                        list.push((number, rank::weight(head, body) as f32));
                    }
                })?;
            }
            for (number, tail) in &self.tail {
                let occurrences = tail.occurrences(term);
                if occurrences > 0.0 && admission.admits(*number) {
                    list.push((*number, occurrences as f32));
                }
            }
            let rarity = statistics.rarity(list.len() as f64);
            for (number, occurrences) in &list {
                let length = f64::from(self.catalog.brief[*number as usize].length);
                let strength = rarity * statistics.strength(f64::from(*occurrences), length);
                let score = &mut matches.scores[*number as usize];
                if *score == 0.0 {
                    matches.all.push(*number);
                }
                *score += strength as f32;
            }
            matches.lists.push(list);
            matches.rarities.push(rarity);
        }
        Ok(matches)
    }
}
