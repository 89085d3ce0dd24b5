//! The bus: figures of the event streams and subscriptions that one process serves.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::Commonbook;
use crate::base::error::Result;
use crate::model::access::Sight;
use crate::model::caller::Caller;
use crate::model::event::Event;
use crate::model::figures::StreamFigures;
use crate::model::stats::BusStats;
use crate::model::workspace::Workspace;

/// The figures of all streams of a process. A process that serves none has none.
#[derive(Default)]
pub struct EventBus(Mutex<BusState>);

#[derive(Default)]
struct BusState {
    /// The end of each journal when the process began to serve; `None` before.
    begun: Option<BTreeMap<Workspace, u64>>,
    figures: BTreeMap<FollowerKey, FollowerFigures>,
    /// The journal and the position of each open stream that has one, by the number of its follower.
    positions: BTreeMap<u64, (Workspace, u64)>,
    /// The number of the next follower.
    next: u64,
}

/// The workspace, the agent and the user of a follower.
type FollowerKey = (Workspace, String, Option<String>);

/// The figures of all followers of one agent.
#[derive(Debug, Clone, Copy, Default)]
struct FollowerFigures {
    delivered: u64,
    filtered: u64,
    failed: u64,
    followers: u64,
}

/// A stream or a subscription of a caller, counted until it is dropped.
pub struct BusFollower {
    bus: Arc<EventBus>,
    key: FollowerKey,
    number: u64,
}

impl EventBus {
    fn lock(&self) -> MutexGuard<'_, BusState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a new follower with this caller.
    #[must_use]
    pub fn follow(self: &Arc<Self>, caller: &Caller) -> BusFollower {
        let key = (caller.workspace.clone(), caller.agent.to_string(), caller.user.clone());
        let mut state = self.lock();
        state.figures.entry(key.clone()).or_default().followers += 1;
        let number = state.next;
        state.next += 1;
        BusFollower { bus: Arc::clone(self), key, number }
    }

    /// The figures of all followers together; `journals` has the end of each journal.
    pub(in crate::verbs) fn figures(&self, journals: &BTreeMap<Workspace, u64>) -> StreamFigures {
        let state = self.lock();
        let lag = |(workspace, position): &(Workspace, u64)| {
            journals.get(workspace).map_or(0, |end| end.saturating_sub(*position))
        };
        let lag_max = state.positions.values().map(lag).max().unwrap_or(0);
        let mut sum = StreamFigures { lag_max, ..StreamFigures::default() };
        for figures in state.figures.values() {
            sum.open += figures.followers;
            sum.delivered += figures.delivered;
            sum.filtered += figures.filtered;
            sum.failed += figures.failed;
        }
        sum
    }
}

impl BusFollower {
    fn count(&self, change: impl FnOnce(&mut FollowerFigures)) {
        change(self.bus.lock().figures.entry(self.key.clone()).or_default());
    }

    /// Counts events that were sent.
    pub fn note_delivered(&self, events: u64) {
        self.count(|figures| figures.delivered += events);
    }

    /// Counts events that the caller may see and its own filter left out.
    pub fn note_filtered(&self, events: u64) {
        self.count(|figures| figures.filtered += events);
    }

    /// Notes the position in its journal up to which it has received everything.
    pub fn note_position(&self, position: u64) {
        let mut state = self.bus.lock();
        let known = state.positions.entry(self.number);
        known.or_insert_with(|| (self.key.0.clone(), position)).1 = position;
    }

    /// Counts a delivery that failed: the stream ended, or fell behind.
    pub fn note_failed(&self) {
        self.count(|figures| figures.failed += 1);
    }
}

impl Drop for BusFollower {
    fn drop(&mut self) {
        self.count(|figures| figures.followers = figures.followers.saturating_sub(1));
        self.bus.lock().positions.remove(&self.number);
    }
}

impl Commonbook {
    /// Begins to count what this process delivers to followers.
    ///
    /// # Errors
    /// `unavailable` if the store cannot be read.
    pub fn begin_bus(&self) -> Result<()> {
        let ends = self.store.read(|tx| tx.journals())?;
        self.bus.lock().begun.get_or_insert_with(|| ends.into_iter().collect());
        Ok(())
    }

    /// The figures of the bus for this sight, whose last event this is: of its own followers, and to the
    /// person those of all. Only events in sight count as delivered. `None` if this process serves no
    /// followers.
    pub(in crate::verbs) fn bus_stats(
        &self,
        sight: &Sight,
        workspace: &Workspace,
        last_event: Option<Event>,
    ) -> Option<BusStats> {
        let state = self.bus.lock();
        let begun = state.begun.as_ref()?;
        let own = |(place, agent, user): &FollowerKey| {
            let of_user = sight.user.is_none() || sight.user == *user;
            place == workspace && (sight.is_person || agent == sight.agent.as_str()) && of_user
        };
        let mut sum = FollowerFigures::default();
        for (_, figures) in state.figures.iter().filter(|(key, _)| own(key)) {
            sum.delivered += figures.delivered;
            sum.filtered += figures.filtered;
            sum.failed += figures.failed;
            sum.followers += figures.followers;
        }
        let after = begun.get(workspace).copied().unwrap_or(0);
        Some(BusStats {
            published: last_event.as_ref().map_or(0, |event| event.sequence.saturating_sub(after)),
            delivered: sum.delivered,
            filtered: sum.filtered,
            failed: sum.failed,
            followers: sum.followers,
            last_event,
        })
    }
}
