//! What stands around a memory: the turns beside a turn, and what was saved around a note.

use rustc_hash::FxHashMap;

use super::budget::SearchMeter;
use super::facts::{MemoryCatalog, MemoryNumber};
use super::session_scores::VisibleStrands;
use super::state::IndexState;
use super::visible::VisibilityFilter;
use crate::base::error::Result;
use crate::model::access::Sight;
use crate::model::search::{MemoryRef, SearchFilter};

/// A note without a session stands among what its author saved so long before and after it.
const AROUND_MILLISECONDS: u64 = 3_600_000;

/// The memories around one, with their ranks: 0 for the nearest one.
#[derive(Debug, Default)]
pub(super) struct Surroundings(FxHashMap<MemoryNumber, usize>);

impl Surroundings {
    /// The memories in sight around this one; none if the state does not have it.
    pub(super) fn of(
        state: &IndexState,
        sight: &Sight,
        (workspace, id): &MemoryRef,
        meter: &SearchMeter<'_>,
    ) -> Result<Self> {
        let catalog = &state.catalog;
        let Some(centre) = catalog.number(workspace.as_str(), *id) else {
            return Ok(Self::default());
        };
        // Other filters of the question do not change what a conversation is.
        let within = SearchFilter { superseded: true, archived: true, ..SearchFilter::default() };
        let visible = VisibilityFilter::of(catalog, &state.scratch.classes, sight, &within);
        let turns = VisibleStrands::default().turns_around(centre, catalog, &visible, meter)?;
        let mut around = visible.admitted();
        let class = |number: MemoryNumber| &catalog.class(number).visibility;
        let time = |number: MemoryNumber| catalog.hot[number as usize].from;
        let distance = |number: MemoryNumber| time(number).abs_diff(time(centre));
        let stream = |number: MemoryNumber| catalog.hot[number as usize].session;
        match (turns, catalog.session_of(centre)) {
            (Some(_), _) => around.retain(|number| stream(*number) == stream(centre)),
            (None, 0) => around.retain(|number| {
                distance(*number) <= AROUND_MILLISECONDS
                    && class(*number).owner == class(centre).owner
                    && class(*number).workspace == class(centre).workspace
            }),
            (None, session) => around.retain(|number| catalog.session_of(*number) == session),
        }
        around.retain(|number| *number != centre);
        Ok(Self::nearest_first(catalog, centre, around))
    }

    /// These memories in the order of their distance in time; of equally distant ones, as the turns of an
    /// import that has no times, those with fewer others between come first.
    fn nearest_first(
        catalog: &MemoryCatalog,
        centre: MemoryNumber,
        mut around: Vec<MemoryNumber>,
    ) -> Self {
        around.sort_unstable_by(|a, b| catalog.compare_times(*a, *b));
        let begin = around.partition_point(|number| catalog.compare_times(*number, centre).is_lt());
        let from = |number: MemoryNumber| catalog.hot[number as usize].from;
        let key = |(place, number): (usize, MemoryNumber)| {
            let steps = if place < begin { begin - place } else { place - begin + 1 };
            (from(number).abs_diff(from(centre)), steps, place, number)
        };
        let mut keys: Vec<_> = around.into_iter().enumerate().map(key).collect();
        keys.sort_unstable();
        let numbers = keys.into_iter().map(|(_, _, _, number)| number);
        Self(numbers.zip(0..).collect())
    }

    /// The memories.
    pub(super) fn memories(&self) -> impl Iterator<Item = MemoryNumber> + '_ {
        self.0.keys().copied()
    }

    /// The rank of a memory among them.
    pub(super) fn distance(&self, number: MemoryNumber) -> usize {
        self.0.get(&number).copied().unwrap_or(usize::MAX)
    }
}
