//! Search slots: how many searches run at once, which runs next, and when waiting ends.

use std::collections::VecDeque;
use std::num::NonZeroU32;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::available_parallelism;
use std::time::Duration;

use crate::base::error::{Error, ErrorKind, Result};
use crate::base::limits;
use crate::model::caller::{Caller, CallerProof};

/// How often a waiting search checks whether it was cancelled.
const CANCELLATION_CHECK_MILLISECONDS: u64 = 20;

/// The slots for searches. A slot is held only while the index searches, and its holder takes no
/// second one.
#[derive(Debug)]
pub(in crate::verbs) struct SearchSlots {
    /// Searches that run at once.
    slots: usize,
    queue: Mutex<SearchQueue>,
    /// Notified when a slot becomes free and when a waiter leaves the queue.
    changed: Condvar,
}

/// The running searches, and the waiting ones in the order of their arrival.
#[derive(Debug, Default)]
struct SearchQueue {
    running: Vec<String>,
    waiting: VecDeque<SlotWaiter>,
    /// The number of the next waiter.
    next: u64,
}

/// A search that waits.
#[derive(Debug)]
struct SlotWaiter {
    number: u64,
    caller: String,
}

/// A slot for one search. Dropping it frees the slot.
#[derive(Debug)]
pub(in crate::verbs) struct SearchSlot<'s> {
    slots: &'s SearchSlots,
    caller: String,
}

impl Default for SearchSlots {
    /// As many slots as the machine has cores to serve.
    fn default() -> Self {
        let cores = available_parallelism().map_or(1, usize::from);
        Self::new(cores * limits::SEARCHES_PER_CORE)
    }
}

impl SearchSlots {
    /// A queue with this number of slots.
    pub(in crate::verbs) fn new(slots: usize) -> Self {
        Self { slots, queue: Mutex::default(), changed: Condvar::new() }
    }

    /// Waits for a slot: first come, first served, but no caller has more than half of the slots.
    ///
    /// # Errors
    /// `unavailable` if no slot is free within [`limits::SEARCH_WAIT_MILLISECONDS`], if too many
    /// searches wait already, or if the client cancelled the search.
    pub(in crate::verbs) fn take(&self, caller: &Caller) -> Result<SearchSlot<'_>> {
        let name = name_of(caller);
        let mut queue = self.queue();
        if queue.is_full(&name) {
            return Err(self.overload_error("too many others are waiting"));
        }
        let number = queue.next;
        queue.next += 1;
        queue.waiting.push_back(SlotWaiter { number, caller: name.clone() });
        let mut looks = limits::SEARCH_WAIT_MILLISECONDS / CANCELLATION_CHECK_MILLISECONDS;
        loop {
            let outcome = if let Err(gone) = caller.cancellation.check() {
                Err(gone)
            } else if queue.first_ready(self.slots) == Some(number) {
                queue.running.push(name.clone());
                Ok(SearchSlot { slots: self, caller: name })
            } else if looks == 0 {
                Err(self.overload_error("none ended within a second"))
            } else {
                let time = Duration::from_millis(CANCELLATION_CHECK_MILLISECONDS);
                let not_first =
                    |queue: &mut SearchQueue| queue.first_ready(self.slots) != Some(number);
                let waited = self.changed.wait_timeout_while(queue, time, not_first);
                queue = waited.unwrap_or_else(PoisonError::into_inner).0;
                looks -= 1;
                continue;
            };
            queue.waiting.retain(|waiter| waiter.number != number);
            drop(queue);
            // Another waiter may be first now.
            self.changed.notify_all();
            return outcome;
        }
    }

    /// A slot, if one is free for this caller and nobody waits; `None` otherwise, at once.
    pub(in crate::verbs) fn take_free(&self, caller: &Caller) -> Option<SearchSlot<'_>> {
        let name = name_of(caller);
        let mut queue = self.queue();
        let has_room = queue.waiting.is_empty() && queue.has_room(self.slots, &name);
        has_room.then(|| {
            queue.running.push(name.clone());
            SearchSlot { slots: self, caller: name }
        })
    }

    /// The numbers of running and of waiting searches.
    pub(in crate::verbs) fn counts(&self) -> (usize, usize) {
        let queue = self.queue();
        (queue.running.len(), queue.waiting.len())
    }

    fn queue(&self) -> MutexGuard<'_, SearchQueue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn overload_error(&self, reason: &str) -> Error {
        let message = format!("{} searches are running, and {reason}", self.slots);
        let error = Error::new(ErrorKind::Unavailable, message)
            .hint("Send the same search again in a second, and fewer at once.");
        Error { retry_after: Some(NonZeroU32::MIN), ..error }
    }
}

impl SearchQueue {
    /// The first waiter that may run now, if a slot is free.
    fn first_ready(&self, slots: usize) -> Option<u64> {
        let mut waiting = self.waiting.iter();
        waiting.find(|waiter| self.has_room(slots, &waiter.caller)).map(|waiter| waiter.number)
    }

    /// Whether a slot is free for this caller, who has at most half of them.
    fn has_room(&self, slots: usize, caller: &str) -> bool {
        let own = self.running.iter().filter(|running| *running == caller).count();
        self.running.len() < slots && own < (slots / 2).max(1)
    }

    /// Whether this caller must not wait.
    fn is_full(&self, caller: &str) -> bool {
        let own = self.waiting.iter().filter(|waiter| waiter.caller == caller).count();
        self.waiting.len() >= limits::SEARCHES_WAITING_MAX
            || own >= limits::SEARCHES_WAITING_MAX / 4
    }
}

impl Drop for SearchSlot<'_> {
    fn drop(&mut self) {
        let mut queue = self.slots.queue();
        if let Some(place) = queue.running.iter().position(|caller| *caller == self.caller) {
            queue.running.swap_remove(place);
        }
        drop(queue);
        self.slots.changed.notify_all();
    }
}

/// The name that a search counts for: the token, which its children share, else the name that the
/// caller gives itself.
fn name_of(caller: &Caller) -> String {
    match &caller.proof {
        CallerProof::Token { id, .. } => id.to_string(),
        CallerProof::Word => caller.agent.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;

    use super::*;
    use crate::model::caller::EntryPoint;
    use crate::model::workspace::Workspace;

    fn caller(name: &str) -> Caller {
        Caller::new(name.parse().ok(), Workspace::fallback(), EntryPoint::Rest)
    }

    /// Waits until this number of searches wait; entering the queue notifies.
    fn until_waiting(slots: &SearchSlots, count: usize) {
        while slots.queue().waiting.len() < count {
            thread::yield_now();
        }
    }

    #[test]
    fn a_search_over_the_cap_runs_when_another_ends() {
        let slots = SearchSlots::new(2);
        let (rook, crow) = (slots.take(&caller("rook")), slots.take(&caller("crow")));
        assert!(rook.is_ok() && crow.is_ok());
        thread::scope(|scope| {
            let third = scope.spawn(|| slots.take(&caller("jay")).map(drop));
            until_waiting(&slots, 1);
            assert_eq!(slots.counts(), (2, 1));
            drop(rook);
            assert!(third.join().expect("no panic").is_ok());
        });
        drop(crow);
        assert!(slots.queue().running.is_empty() && slots.queue().waiting.is_empty());
    }

    #[test]
    fn a_search_that_finds_no_slot_is_told_when_to_come_again() {
        let slots = SearchSlots::new(1);
        let _running = slots.take(&caller("rook")).expect("a slot");
        let error = slots.take(&caller("crow")).expect_err("the one slot is taken");
        assert_eq!(
            (error.kind, error.retry_after),
            (ErrorKind::Unavailable, Some(NonZeroU32::MIN))
        );
        assert!(error.hint.is_some_and(|hint| hint.contains("again in a second")));
        assert!(slots.queue().waiting.is_empty(), "who gave up does not wait");
    }

    #[test]
    fn a_waiting_search_ends_when_its_client_is_gone() {
        let slots = SearchSlots::new(1);
        let running = slots.take(&caller("rook")).expect("a slot");
        let crow = caller("crow");
        thread::scope(|scope| {
            let waiting = scope.spawn(|| slots.take(&crow).map(drop));
            until_waiting(&slots, 1);
            crow.cancellation.cancel();
            let error = waiting.join().expect("no panic").expect_err("nobody waits for it");
            assert!(error.message.contains("its client is gone"), "{error}");
        });
        drop(running);
        assert!(slots.take(&crow).is_err(), "it does not begin either");
    }

    #[test]
    fn one_caller_leaves_half_of_the_slots_to_others() {
        let slots = SearchSlots::new(4);
        let _first = slots.take(&caller("flood")).expect("a slot");
        let second = slots.take(&caller("flood")).expect("a slot");
        thread::scope(|scope| {
            let third = scope.spawn(|| slots.take(&caller("flood")).map(drop));
            until_waiting(&slots, 1);
            // Who comes later goes first, for half of the slots are not the flood's to take.
            let _rook = slots.take(&caller("rook")).expect("a slot");
            assert_eq!(slots.queue().waiting.len(), 1);
            drop(second);
            assert!(third.join().expect("no panic").is_ok());
        });
    }

    #[test]
    fn what_does_not_wait_gets_a_slot_that_nobody_else_needs_or_none() {
        let slots = SearchSlots::new(2);
        let first = slots.take_free(&caller("rook"));
        assert!(first.is_some() && slots.take_free(&caller("rook")).is_none(), "half are its own");
        let second = slots.take_free(&caller("crow")).expect("a slot");
        assert!(slots.take_free(&caller("jay")).is_none());
        drop(second);
        drop(first);
        assert_eq!(slots.counts(), (0, 0));
        slots.queue().waiting.push_back(SlotWaiter { number: 7, caller: "daw".to_owned() });
        assert!(slots.take_free(&caller("rook")).is_none(), "another one waits");
    }

    #[test]
    fn those_of_one_name_go_in_the_order_in_which_they_came() {
        let slots = SearchSlots::new(1);
        let running = slots.take(&caller("rook")).expect("a slot");
        let (tell, told) = mpsc::channel();
        thread::scope(|scope| {
            for (place, name) in ["crow", "jay", "daw"].into_iter().enumerate() {
                let (slots, tell) = (&slots, tell.clone());
                scope.spawn(move || {
                    let slot = slots.take(&caller(name));
                    tell.send((name, slot.is_ok())).expect("heard");
                });
                until_waiting(slots, place + 1);
            }
            drop(running);
        });
        let order: Vec<_> = told.try_iter().collect();
        assert_eq!(order, [("crow", true), ("jay", true), ("daw", true)]);
    }

    #[test]
    fn too_many_that_wait_are_refused_at_once() {
        let mut queue = SearchQueue::default();
        for number in 0..limits::SEARCHES_WAITING_MAX as u64 / 4 {
            queue.waiting.push_back(SlotWaiter { number, caller: "flood".to_owned() });
        }
        assert!(queue.is_full("flood") && !queue.is_full("rook"));
        for number in 1_000..2_000 {
            queue.waiting.push_back(SlotWaiter { number, caller: number.to_string() });
        }
        assert!(queue.is_full("rook"));
    }
}
