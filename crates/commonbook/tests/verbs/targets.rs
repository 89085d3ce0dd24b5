//! Targets of handoffs: agents and roles, their queue, rounds of the same work, and dry runs.

use std::sync::{Arc, Barrier};

use commonbook::Commonbook;
use commonbook::base::error::{Error, ErrorKind};
use commonbook::base::id::{CountingIds, HandoffId, handle};
use commonbook::model::caller::Caller;
use commonbook::model::collaboration::{CollaborationSettings, CreateHandoffResult};
use commonbook::model::event::{Event, EventKind, ListEvents};
use commonbook::model::handoff::{Handoff, HandoffStatus};
use commonbook::prompt::context::choose::ContextSource;
use serde_json::{Value, json};

use crate::handoffs::Answer;
use crate::{World, at, caller, request};

impl World {
    /// The handoffs that this agent's default list shows.
    fn queue(&self, caller: &Caller) -> Vec<Handoff> {
        self.book.list_handoffs(caller, &request(json!({}))).unwrap().items
    }

    /// Hands over in a case, so that all handoffs are about one thing.
    fn pass(&self, from: &str, to: &str) -> Answer<CreateHandoffResult> {
        let fields = json!({"to": to, "task": "Go on with the login", "case": "login"});
        self.hand(&caller(from), fields)
    }

    fn open_login(&self) {
        self.book.open_case(&caller("ann"), &request(json!({"key": "login"}))).unwrap();
    }

    fn journal(&self, kind: EventKind) -> Vec<Event> {
        let list = ListEvents { limit: Some(100), ..ListEvents::default() };
        let all = self.book.list_events(&caller("eve"), &list).unwrap().items;
        all.into_iter().filter(|event| event.kind == kind).collect()
    }
}

fn kind_of<T>(answer: Answer<T>) -> ErrorKind {
    answer.err().expect("it is refused").kind
}

#[test]
fn a_role_means_every_agent_that_has_it_and_the_first_to_accept() {
    let world = World::new();
    for agent in ["claude-code/developer", "codex/developer", "claude-code/qa"] {
        world.save(agent, &format!("{agent} is here"));
    }
    let fields = json!({"to": "developer", "task": "Implement the analysis findings"});
    let made = world.hand(&caller("analyst"), fields).unwrap();
    assert_eq!((made.warning, made.handoff.to.as_str()), (None, "developer"));
    let id = made.handoff.id;
    assert_eq!(made.handoff.role.map(|role| role.to_string()).as_deref(), Some("developer"));
    // Also an agent that came later, and one of that very name.
    let holders = ["claude-code/developer", "codex/developer", "gemini-cli/developer", "developer"];
    for agent in holders {
        assert_eq!(world.listed(&caller(agent), json!({})), [id], "{agent}");
        let task = json!({"task": "What is next?"});
        let context = world.book.get_context(&caller(agent), &request(task)).unwrap();
        assert!(context.text.contains("Implement the analysis findings"), "{agent}");
        let prompt = json!({"prompt": "What is next?"});
        let briefing = world.book.get_briefing(&caller(agent), &request(prompt)).unwrap();
        assert!(briefing.text.contains("Implement the analysis findings"), "{agent}");
    }
    for agent in ["claude-code/qa", "claude-code", "analyst"] {
        assert_eq!(world.listed(&caller(agent), json!({})), [], "{agent}");
        assert_eq!(kind_of(world.accept(agent, id)), ErrorKind::Forbidden, "{agent}");
    }
    let taken = world.accept("codex/developer", id).unwrap();
    assert_eq!(taken.handoff.to.as_str(), "codex/developer");
    assert_eq!(world.accept("codex/developer", id).unwrap(), taken, "again, the same");
    let late = world.accept("claude-code/developer", id).unwrap_err();
    assert_eq!(late.kind, ErrorKind::Conflict);
    assert_eq!(late.message, "'codex/developer' has accepted this handoff");
    assert_eq!(world.listed(&caller("claude-code/developer"), json!({})), []);
    assert_eq!(world.listed(&caller("codex/developer"), json!({})), [id]);
    world.complete("codex/developer", id).unwrap();
    let done = world.receipt(&caller("analyst"), id).unwrap().handoff;
    assert_eq!((done.to.as_str(), done.status), ("codex/developer", HandoffStatus::Completed));
    assert!(done.role.is_some(), "what it was created for stays");
}

#[test]
fn a_known_agent_comes_before_its_role_and_an_unknown_target_is_warned_of() {
    let world = World::new();
    world.save("engineer", "The engineer is here");
    world.save("claude-code/engineer", "So is another");
    world.save("gemini", "Gemini is here, by its hooks");
    let to = |name: &str| {
        let made = world.hand(&caller("ann"), json!({"to": name, "task": "Go on"})).unwrap();
        (made.handoff.to.to_string(), made.handoff.role.is_some(), made.warning)
    };
    assert_eq!(to("engineer"), ("engineer".to_owned(), false, None));
    assert_eq!(to("gemini-cli"), ("gemini".to_owned(), false, None), "its alias");
    let near = "no agent `enginer` is known here; did you mean `engineer`?";
    assert_eq!(to("enginer"), ("enginer".to_owned(), true, Some(near.to_owned())));
    let (name, is_role, warning) = to("claude");
    assert_eq!((name.as_str(), is_role), ("claude-code", true));
    assert!(warning.unwrap().contains("no agent `claude` is known here"));
    // It waits, and the one that it was meant for finds it.
    assert_eq!(world.queue(&caller("claude-code")).len(), 1);
    assert_eq!(world.queue(&caller("engineer")).len(), 1);
    world.save("claude-code", "Claude Code is here");
    let own = world.hand(&caller("claude-code"), json!({"to": "claude", "task": "Go on"}));
    assert_eq!(own.unwrap_err().field.as_deref(), Some("to"), "another name of itself");
}

#[test]
fn a_role_for_a_user_is_for_agents_that_work_for_that_user() {
    let world = World::new();
    let with = |agent: &str, user: &str| caller(agent).for_user(Some(user)).unwrap();
    let fields = json!({"to": "developer", "task": "Mend what u1 reported"});
    let id = world.hand(&with("ann", "u1"), fields).unwrap().handoff.id;
    assert_eq!(world.listed(&with("codex/developer", "u1"), json!({})), [id]);
    for other in [caller("codex/developer"), with("codex/developer", "u2")] {
        assert_eq!(world.listed(&other, json!({})), []);
        assert_eq!(kind_of(world.receipt(&other, id)), ErrorKind::NotFound);
        let accept = world.book.accept_handoff(&other, &request(json!({"handoff": id})));
        assert_eq!(kind_of(accept), ErrorKind::NotFound);
    }
    // Who sees the handoff sees its event, and nobody else.
    let readers = [
        (caller("ann"), true),
        (with("ann", "u1"), true),
        (with("ann", "u2"), false),
        (caller("codex/developer"), false),
        (with("codex/developer", "u1"), true),
        (with("claude-code/developer", "u1"), true),
        (with("claude-code/developer", "u2"), false),
        (with("eve", "u1"), true),
        (caller("eve"), false),
    ];
    for (reader, sees) in readers {
        assert_eq!(world.receipt(&reader, id).is_ok(), sees, "{reader:?}");
        let events = world.book.list_events(&reader, &request(json!({}))).unwrap().items;
        let events = events.iter().filter(|event| event.subject == id.to_string());
        assert_eq!(events.count(), usize::from(sees), "{reader:?}");
    }
}

#[test]
fn a_private_memory_goes_to_the_one_that_accepts() {
    let world = World::new();
    let secret = world.save_private("ann", "The gate code is in the blue book");
    let fields = json!({"to": "developer", "task": "Open the gate", "memories": [secret.id]});
    let id = world.hand(&caller("ann"), fields).unwrap().handoff.id;
    for agent in ["codex/developer", "claude-code/developer", "eve"] {
        let seen = world.receipt(&caller(agent), id).unwrap().handoff;
        assert_eq!((seen.memories.len(), seen.tokens), (0, 0), "{agent}");
    }
    assert!(world.accept("codex/developer", id).unwrap().text.contains("blue book"));
    let seen = world.receipt(&caller("claude-code/developer"), id).unwrap().handoff;
    assert_eq!(seen.memories, []);
}

#[test]
fn a_private_memory_that_was_deleted_since_is_named_without_its_text() {
    let world = World::new();
    for (to, holder) in [("bob", "bob"), ("developer", "codex/developer")] {
        let secret = world.save_private("ann", "The gate code is in the blue book");
        let fields = json!({"to": to, "task": "Open the gate", "memories": [secret.id]});
        let id = world.hand(&caller("ann"), fields).unwrap().handoff.id;
        let delete = request(json!({"id": secret.id}));
        world.book.delete_memory(&caller("ann"), &delete).unwrap();
        let line = format!("#{} of ann was deleted since", handle(&secret.id.to_string()));
        let text = world.accept(holder, id).unwrap().text;
        assert!(text.contains(&line) && !text.contains("blue book"), "{text}");
        for (reader, count) in [(holder, 1), ("ann", 1), ("eve", 0)] {
            let receipt = world.receipt(&caller(reader), id).unwrap();
            let changed = receipt.changed.iter().filter(|change| change.id == secret.id);
            assert_eq!(changed.count(), count, "{reader}");
        }
    }
}

#[test]
fn of_two_that_accept_at_once_in_two_stores_exactly_one_has_it() {
    let world = World::new();
    for round in 0..8 {
        let task = format!("Implement part {round}");
        let id = world.hands("analyst", "developer", &task).id;
        let start = Barrier::new(2);
        let accept = |agent: &'static str| {
            let store = crate::open_store(world.home());
            let (clock, ids) = (Arc::clone(&world.clock), Arc::new(CountingIds::default()));
            let book = Commonbook::with_clock_and_ids(store, clock as _, ids);
            start.wait();
            book.accept_handoff(&caller(agent), &request(json!({"handoff": id})))
        };
        let outcomes = std::thread::scope(|scope| {
            let agents = ["claude-code/developer", "codex/developer"];
            let running = agents.map(|agent| scope.spawn(move || accept(agent)));
            running.map(|thread| thread.join().unwrap())
        });
        let refused: Vec<&Error> = outcomes.iter().filter_map(|got| got.as_ref().err()).collect();
        assert_eq!(refused.len(), 1, "round {round}");
        assert_eq!(refused[0].kind, ErrorKind::Conflict);
        let holder = world.receipt(&caller("eve"), id).unwrap().handoff.to;
        assert_eq!(refused[0].message, format!("'{holder}' has accepted this handoff"));
    }
}

#[test]
fn a_queue_is_told_oldest_first_and_none_starves() {
    let world = World::new();
    let mut ids: Vec<HandoffId> = Vec::new();
    for number in 0..15 {
        let to = if number % 2 == 0 { "developer" } else { "codex/developer" };
        ids.push(world.hands("ann", to, &format!("Task number {number}.")).id);
    }
    let me = caller("codex/developer");
    let queue = world.queue(&me);
    assert_eq!(queue.iter().map(|handoff| handoff.id).collect::<Vec<_>>(), ids);
    let positions: Vec<u64> = queue.iter().filter_map(|handoff| handoff.position).collect();
    assert_eq!(positions, (1..=15).collect::<Vec<u64>>());
    // A page goes on where the last one ended; a filter changes no number.
    let page = |fields: Value| world.book.list_handoffs(&me, &request(fields)).unwrap();
    let first = page(json!({"limit": 4}));
    let next = page(json!({"limit": 4, "cursor": first.next}));
    assert_eq!((next.items[0].id, next.items[0].position), (ids[4], Some(5)));
    assert_eq!(page(json!({"chain": ids[6]})).items[0].position, None, "a list, not the queue");
    let sent = world.listed(&caller("ann"), json!({"side": "sent", "limit": 2}));
    assert_eq!(sent, [ids[14], ids[13]], "other lists begin with the newest");

    let numbers = |text: &str| -> Vec<usize> {
        (0..15).filter(|number| text.contains(&format!("Task number {number}."))).collect()
    };
    // A session hears all of them, three at a time.
    let mut heard = Vec::new();
    for _ in 0..5 {
        let fields = json!({"client_session": "s1", "prompt": "What is next?"});
        let briefing = world.book.get_briefing(&me, &request(fields)).unwrap();
        assert!(briefing.text.contains("3 of 15 told"), "{}", briefing.text);
        heard.extend(numbers(&briefing.text));
    }
    assert_eq!(heard, (0..15).collect::<Vec<_>>());
    // A context in a session goes on, one without begins at the head; what was accepted has gone.
    let start = json!({"client_session": "s2"});
    let session = world.book.start_session(&me, &request(start)).unwrap().session.id.to_string();
    let in_session = me.clone().in_session(Some(&session)).unwrap();
    let task = json!({"task": "What is next?"});
    let context = |me: &Caller| {
        let context = world.book.get_context(me, &request(task.clone())).unwrap();
        let count = context.items.iter().filter(|item| item.source == ContextSource::Handoff);
        assert_eq!(count.count(), 3);
        numbers(&context.text)
    };
    assert_eq!(context(&in_session), [0, 1, 2]);
    assert_eq!(context(&in_session), [3, 4, 5]);
    assert_eq!(context(&me), [0, 1, 2]);
    world.accept("codex/developer", ids[1]).unwrap();
    assert_eq!(context(&me), [0, 2, 3]);
    let positions = world.queue(&me).into_iter().map(|handoff| (handoff.status, handoff.position));
    let positions: Vec<_> = positions.take(3).collect();
    use HandoffStatus::{Accepted, Pending};
    assert_eq!(positions, [(Pending, Some(1)), (Accepted, None), (Pending, Some(2))]);
}

#[test]
fn a_list_says_to_whom_a_memory_was_handed() {
    let world = World::new();
    // By another agent: what ann saved just now would go along with all her handoffs.
    let shared = world.save("rook", "The orders query is slow");
    let secret = world.save_private("ann", "The gate code is in the blue book");
    let hand = |to: &str, memory| {
        let fields = json!({"to": to, "task": "Go on", "memories": [memory]});
        world.hand(&caller("ann"), fields).unwrap().handoff.id
    };
    let (first, second) = (hand("bob", shared.id), hand("cleo", shared.id));
    let private = hand("bob", secret.id);
    world.hands("ann", "bob", "Paint the fence");
    let of = |agent: &str, memory| world.listed(&caller(agent), json!({"memory": memory}));
    world.accept("bob", first).unwrap();
    for agent in ["ann", "bob", "eve"] {
        assert_eq!(of(agent, shared.id), [second, first], "{agent}");
    }
    assert_eq!((of("ann", secret.id), of("eve", secret.id)), (vec![private], vec![]));
    assert_eq!(of("bob", secret.id), [private], "its target");
    assert_eq!(of("cleo", secret.id), []);
    let own = json!({"memory": shared.id, "side": "received"});
    assert_eq!(world.listed(&caller("bob"), own), [first]);
    world.book.delete_memory(&caller("rook"), &request(json!({"id": shared.id}))).unwrap();
    assert_eq!(of("eve", shared.id), []);
}

#[test]
fn a_second_result_is_a_conflict_and_the_same_one_is_not() {
    let world = World::new();
    let id = world.hands("ann", "bob", "Mend the fence").id;
    world.accept("bob", id).unwrap();
    let first = world.complete("bob", id).unwrap();
    assert_eq!(world.complete("bob", id).unwrap(), first);
    let fields = json!({"handoff": id, "result": "Half of it is done"});
    let other = world.book.complete_handoff(&caller("bob"), &request(fields)).unwrap_err();
    assert_eq!((other.kind, other.field.as_deref()), (ErrorKind::Conflict, Some("result")));
    assert_eq!(world.journal(EventKind::HandoffCompleted).len(), 1);
}

#[test]
fn handing_over_can_be_switched_off() {
    let world = World::new();
    let open = world.hands("ann", "bob", "Mend the fence").id;
    let settings = CollaborationSettings { handoffs: false, ..CollaborationSettings::default() };
    let world = World { book: world.book.clone().with_collaboration(settings), ..world };
    for fields in [
        json!({"to": "bob", "task": "Go on"}),
        json!({"to": "bob", "task": "Go on", "dry_run": true}),
    ] {
        let refused = world.hand(&caller("ann"), fields).unwrap_err();
        assert_eq!(refused.kind, ErrorKind::Forbidden);
        assert!(refused.message.contains("collaboration.handoffs"), "{}", refused.message);
    }
    world.accept("bob", open).unwrap();
    world.complete("bob", open).unwrap();
}

#[test]
fn the_target_reads_that_its_work_comes_round_again() {
    let world = World::new();
    world.open_login();
    let there = world.pass("dev", "qa").unwrap().handoff.id;
    let text = |agent: &str, id| world.accept(agent, id).unwrap().text;
    assert!(!text("qa", there).contains("cycle"));
    world.save("qa", "The login fails without a password");
    let back = world.pass("qa", "dev").unwrap().handoff.id;
    let read = text("dev", back);
    assert!(read.contains("this handoff closes a cycle of 2: qa → dev → qa"), "{read}");
}

#[test]
fn a_round_with_work_is_warned_of_and_an_idle_one_is_refused() {
    let world = World::new();
    world.open_login();
    world.save("dev", "The login is built");
    assert_eq!(world.pass("dev", "qa").unwrap().cycle, None);
    world.save("qa", "The login fails without a password");
    let back = world.pass("qa", "dev").unwrap();
    assert_eq!(back.cycle.map(|cycle| cycle.again), Some(false), "{:?}", back.warning);
    // What a sub-agent or a private memory of another says counts for those that see it.
    world.save("dev/helper", "The password is checked now");
    let third = world.pass("dev", "qa").unwrap();
    let warning = third.warning.unwrap();
    assert!(warning.contains("closes a cycle of 2 again: dev → qa → dev"), "{warning}");
    world.save("qa", "The login works");
    assert!(world.pass("qa", "dev").unwrap().cycle.unwrap().again);
    world.save("eve", "Someone else wrote something");
    assert!(world.pass("dev", "qa").is_ok(), "qa wrote since dev handed over last");
    let refused = world.pass("qa", "dev").unwrap_err();
    assert_eq!((refused.kind, refused.field.as_deref()), (ErrorKind::Conflict, Some("to")));
    assert!(refused.message.ends_with("wrote anything since: qa → dev → qa"), "{refused}");
    assert!(refused.hint.as_deref().unwrap().contains("collaboration.rules.same_cycle"));

    // The path stands in the events, in the handoff and in the statistics.
    let found = world.journal(EventKind::HandoffCycleFound);
    assert_eq!(found.len(), 4);
    assert_eq!(found[0].details["cycle"]["path"], json!(["qa", "dev", "qa"]));
    let seen = world.receipt(&caller("eve"), third.handoff.id).unwrap().handoff.cycle.unwrap();
    assert_eq!(seen.path.iter().map(ToString::to_string).collect::<Vec<_>>(), ["dev", "qa", "dev"]);
    let refusals = world.journal(EventKind::HandoffRefused);
    assert_eq!(refusals.len(), 1);
    assert_eq!(refusals[0].actor.as_str(), "qa");
    let cycle = &refusals[0].details["cycle"];
    assert_eq!((&cycle["path"], &cycle["idle"]), (&json!(["qa", "dev", "qa"]), &json!(true)));
    let overview = |fields: Value| {
        world.book.get_collaborations(&caller("eve"), &request(fields)).unwrap().statistics
    };
    let all = overview(json!({"case": "login"}));
    assert_eq!((all.count, all.cycles, all.rounds, all.refusals), (5, 4, 3, 1));
    let since = overview(json!({"agent_name": "eve"}));
    assert_eq!((since.count, since.refusals), (0, 0));
    // What was asked for happens: write, and hand over again.
    world.save("qa", "The login is slow with two factors");
    assert!(world.pass("qa", "dev").is_ok());
}

#[test]
fn a_handoff_that_says_something_new_is_no_idle_round() {
    let world = World::new();
    let pass = |from: &str, fields: Value| {
        let to = fields["to"].as_str().unwrap().to_owned();
        let made = world.hand(&caller(from), fields)?;
        world.accept(&to, made.handoff.id).map(|_| made)
    };
    let fixed = json!({"to": "qa", "task": "Fixed the umlauts, please test again",
        "decisions_made": ["Normalise names with NFC"], "active_files": ["src/utf8.rs"]});
    pass("dev", json!({"to": "qa", "task": "Test the login page"})).unwrap();
    let back = json!({"to": "dev", "task": "Login fails for names with umlauts: utf8.rs line 40",
        "context": "Found by test 17. Expected 200, got 500."});
    pass("qa", back.clone()).unwrap();
    let again = pass("dev", fixed.clone()).unwrap();
    let warning = again.warning.unwrap();
    assert!(warning.contains("closes a cycle of 2 again: dev → qa → dev"), "{warning}");
    assert_eq!(again.cycle.map(|cycle| cycle.idle), Some(false));
    // One new line is enough; the same words are none.
    let same = pass("qa", back.clone()).unwrap_err();
    assert!(same.message.contains("wrote anything since: qa → dev → qa"), "{same}");
    let repeated = json!({"to": "dev", "task": "Test the login page."});
    assert_eq!(kind_of(pass("qa", repeated)), ErrorKind::Conflict);
    for field in ["context", "decisions_made", "active_files", "next_steps"] {
        let mut fields = back.clone();
        let text = format!("New in {field}");
        fields[field] = if field == "context" { json!(text) } else { json!([text]) };
        fields["dry_run"] = json!(true);
        let preview = world.hand(&caller("qa"), fields).unwrap();
        assert_eq!(preview.cycle.map(|cycle| (cycle.again, cycle.idle)), Some((true, false)));
    }
}

#[test]
fn a_target_that_cannot_be_one_is_refused_by_its_field() {
    let world = World::new();
    for (to, reason) in [
        ("", "to: must not be empty"),
        ("human", "to: 'human' cannot take handoffs"),
        ("!!", "to: "),
    ] {
        let refused = world.hand(&caller("ann"), json!({"to": to, "task": "Go on"})).unwrap_err();
        assert_eq!((refused.kind, refused.field.as_deref()), (ErrorKind::Invalid, Some("to")));
        assert!(refused.message.starts_with(reason), "{refused}");
    }
}

#[test]
fn a_result_counts_as_work_of_a_round() {
    let world = World::new();
    world.open_login();
    world.pass("dev", "qa").unwrap();
    let step = |verb: &str, agent: &str, id: HandoffId, result: Option<&str>| {
        let fields = match (verb, result) {
            (_, Some(result)) => json!({"handoff": id, "result": result}),
            _ => json!({"handoff": id}),
        };
        match verb {
            "accept" => drop(world.accept(agent, id).unwrap()),
            _ => drop(world.book.complete_handoff(&caller(agent), &request(fields)).unwrap()),
        }
    };
    let back = world.pass("qa", "dev").unwrap().handoff.id;
    step("accept", "dev", back, None);
    step("complete", "dev", back, None);
    assert_eq!(kind_of(world.pass("dev", "qa")), ErrorKind::Conflict, "it said nothing");
    let other = world.hands("qa", "dev", "Say why the login fails without a password").id;
    step("accept", "dev", other, None);
    step("complete", "dev", other, Some("The form sent an empty password; it refuses that now"));
    let again = world.pass("dev", "qa").unwrap();
    assert_eq!(again.cycle.map(|cycle| (cycle.again, cycle.idle)), Some((true, false)));
}

#[test]
fn a_chain_that_gets_too_long_leaves_an_event() {
    let world = World::new();
    world.open_login();
    let pass = |number: usize| {
        let (from, to) = (format!("agent-{number}"), format!("agent-{}", number + 1));
        world.save(&from, &format!("Part {number} of the login is built"));
        let made = world.pass(&from, &to);
        if let Ok(made) = &made {
            world.accept(&to, made.handoff.id).unwrap();
        }
        made.map(|made| made.handoff.id)
    };
    let ids: Vec<HandoffId> = (1..=10).map(|number| pass(number).unwrap()).collect();
    let refused = pass(11).unwrap_err();
    assert_eq!(refused.kind, ErrorKind::Conflict);
    let events = world.journal(EventKind::HandoffRefused);
    assert_eq!(events.len(), 1);
    let found = (&events[0].actor, &events[0].subject, &events[0].details["reason"]);
    let last = ids[9].to_string();
    assert_eq!((found.0.as_str(), found.1, found.2), ("agent-11", &last, &json!(refused.message)));
    assert_eq!(events[0].details.get("cycle"), None);
    let overview = world.book.get_collaborations(&caller("eve"), &request(json!({})));
    assert_eq!(overview.unwrap().statistics.refusals, 1);
}

#[test]
fn a_private_note_of_another_agent_does_not_show_in_a_refusal() {
    let world = World::new();
    world.open_login();
    world.pass("dev", "qa").unwrap();
    world.pass("qa", "dev").unwrap();
    world.save_private("qa", "I do not understand the login");
    assert_eq!(kind_of(world.pass("dev", "qa")), ErrorKind::Conflict);
    world.save_private("dev", "I have mended the login");
    assert!(world.pass("dev", "qa").is_ok(), "its own note");
}

#[test]
fn a_role_closes_a_cycle_by_the_agent_that_has_it() {
    let world = World::new();
    world.open_login();
    world.save("claude-code/developer", "The login is built");
    world.save("codex/qa", "I test");
    let first = world.pass("claude-code/developer", "qa").unwrap().handoff.id;
    world.accept("codex/qa", first).unwrap();
    let back = world.pass("codex/qa", "developer").unwrap();
    let path = "codex/qa → claude-code/developer → codex/qa";
    assert!(back.warning.unwrap().contains(path));
    // Another developer takes it, and so does not close the cycle further.
    world.accept("gemini-cli/developer", back.handoff.id).unwrap();
    let third = world.pass("gemini-cli/developer", "qa").unwrap();
    assert!(third.cycle.unwrap().path.len() == 3);

    // A cycle that only the acceptance closes is found then.
    let world = World::new();
    world.open_login();
    let first = world.pass("a/dev", "tester").unwrap().handoff.id;
    let second = world.pass("b/tester", "dev").unwrap().handoff.id;
    assert!(world.journal(EventKind::HandoffCycleFound).is_empty());
    world.accept("b/tester", first).unwrap();
    let taken = world.accept("a/dev", second).unwrap().handoff;
    assert_eq!(taken.cycle.unwrap().path.len(), 3);
    assert_eq!(world.journal(EventKind::HandoffCycleFound).len(), 1);
}

#[test]
fn a_dry_run_says_everything_and_writes_nothing() {
    let world = World::new();
    let finding = world.save("ann", "The orders query runs once for each row");
    let other = world.save("ann", "The slow orders query needs an index");
    let fields = json!({
        "to": "bobb", "task": "Mend the slow orders query", "memories": [finding.id],
        "max_memories": 1,
    });
    world.save("bob", "Bob is here");
    world.hand(&caller("eve"), json!({"to": "bob", "task": "Go on"})).unwrap();
    let before = world.events("eve").len();
    let usage = world.book.get_memory(&caller("ann"), &request(json!({"id": other.id}))).unwrap();
    let mut dry = fields.clone();
    dry["dry_run"] = json!(true);
    let preview = world.hand(&caller("ann"), dry).unwrap();
    assert!(preview.dry_run && preview.handoff.tokens > 0);
    assert_eq!(preview.handoff.memories[0].id, finding.id);
    let headlines = preview.handoff.memories.iter().filter(|memory| memory.headline);
    assert!(headlines.map(|memory| memory.id).eq([other.id]), "{:?}", preview.handoff);
    assert_eq!(
        preview.warning.as_deref(),
        Some("no agent `bobb` is known here; did you mean `bob`?")
    );
    assert_eq!(world.events("eve").len(), before);
    assert_eq!(kind_of(world.receipt(&caller("ann"), preview.handoff.id)), ErrorKind::NotFound);
    assert_eq!(world.queue(&caller("bobb")).len(), 0);
    let after = world.book.get_memory(&caller("ann"), &request(json!({"id": other.id}))).unwrap();
    assert_eq!(after.revision, usage.revision);
    let made = world.hand(&caller("ann"), fields).unwrap();
    assert_eq!(made.handoff.memories, preview.handoff.memories);
    assert_eq!(made.handoff.tokens, preview.handoff.tokens);
    assert!(!made.dry_run && made.left_out.is_empty());
}

#[test]
fn a_dry_run_of_an_idle_round_says_that_it_would_be_refused() {
    let world = World::new();
    world.open_login();
    world.pass("dev", "qa").unwrap();
    world.pass("qa", "dev").unwrap();
    let fields = json!({"to": "qa", "task": "Go on", "case": "login", "dry_run": true});
    let preview = world.hand(&caller("dev"), fields).unwrap();
    let warning = preview.warning.unwrap();
    assert!(warning.starts_with("this would be refused: this handoff closes a cycle"), "{warning}");
    assert!(preview.cycle.unwrap().idle);
    assert!(world.journal(EventKind::HandoffRefused).is_empty());
}

#[test]
fn entities_can_stay() {
    let world = World::new();
    world.save("ann", "We build the orders page with TypeScript and PostgreSQL");
    let stated = json!({"type": "tool", "value": "TypeScript", "context": "Compile target ES2020"});
    world.book.resolve_entity(&caller("ann"), &request(stated)).unwrap();
    let hand = |fields: Value| world.hand(&caller("ann"), fields).unwrap().handoff;
    let task = "Go on with the orders page in TypeScript with PostgreSQL";
    let with = hand(json!({"to": "bob", "task": task}));
    let without = hand(json!({"to": "bob", "task": task, "include_entities": false}));
    assert!(!with.entities.is_empty() && without.entities.is_empty());
    assert_eq!(with.memories.len(), without.memories.len());
}

#[test]
fn an_expired_handoff_for_a_role_is_an_ordinary_memory() {
    let world = World::new();
    world.sweep_at(0);
    world.hands("ann", "developer", "Mend the fence before winter");
    world.clock.set(at(1));
    world.sweep_at(26);
    world.sweep_at(28);
    assert_eq!(world.queue(&caller("codex/developer")), []);
    let found = world.search("eve", "fence before winter");
    assert!(found.hits[0].memory.text.starts_with("Handoff from ann to developer"));
}
