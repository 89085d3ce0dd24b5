//! Handoffs, a case and checkpoints as a state machine: after any steps in any order, they match a
//! small model.

use std::collections::BTreeMap;

use commonbook::base::error::{ErrorKind, Result};
use commonbook::base::id::HandoffId;
use commonbook::model::handoff::{Handoff, HandoffStatus};
use proptest::prelude::*;
use serde_json::json;

use crate::{World, at, caller, request};

const AGENTS: [&str; 3] = ["ann", "bob", "eve"];

/// Hours until a handoff of the model expires.
const LIFE: i64 = 24;

/// One step; indexes wrap around.
#[derive(Debug, Clone)]
enum Act {
    HandOver(usize, usize),
    Accept(usize, usize),
    Complete(usize, usize),
    Reject(usize, usize),
    Withdraw(usize, usize),
    /// By an agent, this many entries, at the present version or a stale one.
    Append(usize, usize, bool),
    Read(usize, u32),
    Close,
    Reopen,
    Checkpoint(usize),
    /// The clock advances by this many hours, and a sweep runs.
    Wait(i64),
    /// The clock jumps by a day for one reading, and comes back.
    Leap(i64),
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let who = 0..AGENTS.len();
    let act = |make: fn(usize, usize) -> Act| {
        (0..AGENTS.len(), 0..8_usize).prop_map(move |(who, which)| make(who, which))
    };
    let any_act = prop_oneof![
        3 => act(|who, which| Act::HandOver(who, which % AGENTS.len())),
        3 => act(Act::Accept),
        1 => act(Act::Complete),
        1 => act(Act::Reject),
        1 => act(Act::Withdraw),
        3 => (who.clone(), 1..4_usize, any::<bool>())
            .prop_map(|(who, count, stale)| Act::Append(who, count, stale)),
        2 => (who.clone(), 1..4_u32).prop_map(|(who, limit)| Act::Read(who, limit)),
        1 => Just(Act::Close),
        1 => Just(Act::Reopen),
        2 => who.prop_map(Act::Checkpoint),
        2 => (1..20_i64).prop_map(Act::Wait),
        1 => prop_oneof![Just(Act::Leap(24)), Just(Act::Leap(-24))],
    ];
    prop::collection::vec(any_act, 1..40)
}

/// The state of the model.
#[derive(Default)]
struct Model {
    hour: i64,
    handoffs: Vec<(HandoffId, usize, usize, HandoffStatus, i64)>,
    entries: Vec<String>,
    open: bool,
    read: BTreeMap<usize, usize>,
    checkpoints: BTreeMap<usize, usize>,
}

struct Machine {
    world: World,
    model: Model,
}

impl Machine {
    fn new() -> Self {
        let world = World::new();
        world.book.open_case(&caller("ann"), &request(json!({"key": "k"}))).unwrap();
        for agent in AGENTS {
            let start = json!({"client_session": "s", "case": "k"});
            world.book.start_session(&caller(agent), &request(start)).unwrap();
        }
        world.sweep_at(0);
        Self { world, model: Model { hour: 1, open: true, ..Model::default() } }
    }

    fn act(&mut self, act: &Act) {
        match *act {
            Act::HandOver(from, to) => self.hand_over(from, to),
            Act::Accept(who, which) => self.step(who, which, "accept"),
            Act::Complete(who, which) => self.step(who, which, "complete"),
            Act::Reject(who, which) => self.step(who, which, "reject"),
            Act::Withdraw(who, which) => self.step(who, which, "withdraw"),
            Act::Append(who, count, stale) => self.append(who, count, stale),
            Act::Read(who, limit) => self.read(who, limit),
            Act::Close | Act::Reopen => self.turn(matches!(act, Act::Reopen)),
            Act::Checkpoint(who) => {
                let fields = json!({"session": "s"});
                let made =
                    self.world.book.create_checkpoint(&caller(AGENTS[who]), &request(fields));
                made.unwrap();
                let count = self.model.checkpoints.entry(who).or_default();
                *count = (*count + 1).min(10);
            }
            Act::Wait(hours) => {
                self.model.hour += hours + 1;
                self.world.sweep_at(self.model.hour - 1);
                // The time before the last hour is confirmed.
                self.expire(self.model.hour - 1);
            }
            Act::Leap(hours) => {
                self.world.clock.set(at(self.model.hour + hours));
                self.world.book.sweep().unwrap();
                self.world.clock.set(at(self.model.hour));
                self.world.book.sweep().unwrap();
                // A later reading confirms the present, and nothing beyond it.
                if hours > 0 {
                    self.expire(self.model.hour);
                }
            }
        }
    }

    fn hand_over(&mut self, from: usize, to: usize) {
        let fields = json!({"to": AGENTS[to], "task": "Go on"});
        let made = self.world.book.create_handoff(&caller(AGENTS[from]), &request(fields));
        match made {
            Ok(made) => {
                assert_ne!(from, to);
                let id = made.handoff.id;
                let expires = self.model.hour + LIFE;
                self.model.handoffs.push((id, from, to, HandoffStatus::Pending, expires));
            }
            // To itself; else a repeated cycle, or too long a chain.
            Err(error) if from == to => assert_eq!(error.kind, ErrorKind::Invalid),
            Err(error) => assert_eq!(error.kind, ErrorKind::Conflict, "{error}"),
        }
    }

    fn step(&mut self, who: usize, which: usize, step: &str) {
        use HandoffStatus::{Accepted, Completed, Pending, Rejected, Withdrawn};
        let count = self.model.handoffs.len();
        let Some(known) = self.model.handoffs.get_mut(which % count.max(1)) else { return };
        let (id, from, to, status, _) = *known;
        let (doer, next) = match (step, status) {
            ("accept", Pending | Accepted) => (to, Some(Accepted)),
            ("accept", Completed) => (to, Some(Completed)),
            ("complete", Accepted | Completed) => (to, Some(Completed)),
            ("reject", Pending | Accepted | Rejected) => (to, Some(Rejected)),
            ("withdraw", Pending | Withdrawn) => (from, Some(Withdrawn)),
            ("withdraw", _) => (from, None),
            _ => (to, None),
        };
        let (book, agent) = (&self.world.book, caller(AGENTS[who]));
        let plain = json!({"handoff": id});
        let done: Result<Handoff> = match step {
            "accept" => {
                book.accept_handoff(&agent, &request(plain)).map(|response| response.handoff)
            }
            "complete" => {
                book.complete_handoff(&agent, &request(plain)).map(|response| response.handoff)
            }
            "withdraw" => {
                book.withdraw_handoff(&agent, &request(plain)).map(|response| response.handoff)
            }
            _ => {
                let fields = json!({"handoff": id, "reason": "No"});
                book.reject_handoff(&agent, &request(fields)).map(|response| response.handoff)
            }
        };
        match (who == doer, next) {
            (true, Some(next)) => {
                assert_eq!(done.unwrap().status, next);
                known.3 = next;
            }
            // Its target has been silent.
            (true, None) if step == "withdraw" && status == Accepted && done.is_ok() => {
                known.3 = Withdrawn;
            }
            (true, None) => assert_eq!(done.unwrap_err().kind, ErrorKind::Conflict),
            (false, _) => assert_eq!(done.unwrap_err().kind, ErrorKind::Forbidden),
        }
    }

    fn expire(&mut self, sure: i64) {
        let real = |id: HandoffId| {
            let fields = json!({"handoff": id});
            let receipt = self.world.book.get_handoff(&caller("eve"), &request(fields));
            receipt.unwrap().handoff.status
        };
        for (id, _, _, status, expires) in &mut self.model.handoffs {
            let is_over = *expires <= sure;
            match *status {
                HandoffStatus::Pending if is_over => *status = HandoffStatus::Expired,
                // It expires if its target has been silent, which the model does not follow.
                HandoffStatus::Accepted if is_over && real(*id) == HandoffStatus::Expired => {
                    *status = HandoffStatus::Expired;
                }
                _ => {}
            }
        }
    }

    fn append(&mut self, who: usize, count: usize, stale: bool) {
        let version = self.model.entries.len();
        let entries: Vec<String> = (0..count).map(|place| format!("{version}.{place}")).collect();
        let stale = stale && version > 0;
        let fields = json!({
            "key": "k",
            "expected_version": if stale { version - 1 } else { version },
            "entries": entries.iter().map(|summary| json!({"summary": summary})).collect::<Vec<_>>(),
        });
        let done = self.world.book.append_entries(&caller(AGENTS[who]), &request(fields));
        if !self.model.open {
            assert_eq!(done.unwrap_err().kind, ErrorKind::Conflict);
            return;
        }
        let done = done.unwrap();
        assert_eq!(done.moved.is_some(), stale);
        if !stale {
            let places: Vec<u64> = done.entries.iter().map(|entry| entry.position).collect();
            let first = version as u64 + 1;
            assert_eq!(places, (first..first + count as u64).collect::<Vec<_>>());
            self.model.entries.extend(entries);
        }
        assert_eq!(done.context_version, self.model.entries.len() as u64);
    }

    fn read(&mut self, who: usize, limit: u32) {
        let fields = json!({"key": "k", "limit": limit, "mark": true});
        let read = self.world.book.read_case(&caller(AGENTS[who]), &request(fields)).unwrap();
        let place = self.model.read.entry(who).or_default();
        let until = self.model.entries.len().min(*place + limit as usize);
        let summaries = read.entries.iter().map(|entry| entry.summary.clone().unwrap_or_default());
        assert_eq!(summaries.collect::<Vec<_>>(), self.model.entries[*place..until]);
        *place = until;
    }

    fn turn(&mut self, open: bool) {
        let (book, ann) = (&self.world.book, caller("ann"));
        let done = match open {
            true => book.reopen_case(&ann, &request(json!({"key": "k"}))).map(drop),
            false => book.close_case(&ann, &request(json!({"key": "k"}))).map(drop),
        };
        if done.is_ok() {
            self.model.open = open;
        } else {
            assert_eq!(self.model.open, open, "only a step into the present status is refused");
        }
    }

    /// Everything matches the model.
    fn check(&self) {
        let list = json!({"side": "all", "limit": 100});
        let page = self.world.book.list_handoffs(&caller("ann"), &request(list)).unwrap();
        let stands: Vec<_> =
            page.items.iter().rev().map(|handoff| (handoff.id, handoff.status)).collect();
        let model: Vec<_> =
            self.model.handoffs.iter().map(|handoff| (handoff.0, handoff.3)).collect();
        assert_eq!(stands, model);
        let case = json!({"key": "k"});
        let case = self.world.book.get_case(&caller("eve"), &request(case)).unwrap();
        assert_eq!(case.version, self.model.entries.len() as u64);
        for (place, agent) in AGENTS.iter().enumerate() {
            let made = json!({"session": "s"});
            let made = self.world.book.list_checkpoints(&caller(agent), &request(made)).unwrap();
            let expected = self.model.checkpoints.get(&place).copied().unwrap_or(0);
            let manual =
                made.items.iter().filter(|checkpoint| checkpoint.kind.name() == "manual").count();
            assert_eq!(manual, expected, "{agent}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]
    #[test]
    fn handoffs_cases_and_checkpoints_match_a_small_model(acts in acts()) {
        let mut machine = Machine::new();
        for act in &acts {
            machine.act(act);
            machine.check();
        }
    }
}
