//! Which memories have words of a question, and what their own words tell.

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
    /// The place in `own` of each memory, plus one; 0 is none.
    places: Vec<u32>,
    /// BM25 of the words of each memory.
    pub(super) own: Vec<(Number, f32)>,
}

impl Matches {
    /// BM25 of a memory's own words.
    pub(super) fn own(&self, number: Number) -> Option<f32> {
        let place = self.places.get(number as usize).copied().unwrap_or(0);
        place.checked_sub(1).map(|place| self.own[place as usize].1)
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
        let mut matches =
            Matches { places: vec![0; self.catalog.entries.len()], ..Matches::default() };
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
                let place = &mut matches.places[*number as usize];
                if *place == 0 {
                    matches.own.push((*number, 0.0));
                    *place = u32::try_from(matches.own.len()).unwrap_or(u32::MAX);
                }
                matches.own[*place as usize - 1].1 += strength as f32;
            }
            matches.lists.push(list);
            matches.rarities.push(rarity);
        }
        Ok(matches)
    }
}

/// The best of the matches by their own words; of equals the newer first, in every process alike.
pub(super) fn best(own: &[(Number, f32)], most: usize, catalog: &Catalog) -> Vec<Number> {
    let mut all = own.to_vec();
    let better = |a: &(Number, f32), b: &(Number, f32)| {
        b.1.total_cmp(&a.1).then_with(|| catalog.place(b.0).cmp(&catalog.place(a.0)))
    };
    if all.len() > most {
        all.select_nth_unstable_by(most, better);
        all.truncate(most);
    }
    all.sort_by(better);
    all.into_iter().map(|(number, _)| number).collect()
}
