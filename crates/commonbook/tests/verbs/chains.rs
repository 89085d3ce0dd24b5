//! Handoffs that name nothing: their memories, their chains, and later changes and results.

use commonbook::base::id::HandoffId;
use commonbook::model::caller::Caller;
use commonbook::model::collaboration::CreateHandoffResult;
use commonbook::model::handoff::{Handoff, HandoffReceipt, InclusionReason};
use commonbook::model::memory::{Memory, MemoryChangeKind, SaveMemory};
use commonbook::prompt::context::AgentContext;
use serde_json::{Value, json};

use crate::{World, at, caller, request};

impl World {
    fn created(&self, caller: &Caller, fields: Value) -> CreateHandoffResult {
        self.book.create_handoff(caller, &request(fields)).unwrap()
    }

    fn taken(&self, agent: &str, id: HandoffId) -> String {
        self.book.accept_handoff(&caller(agent), &request(json!({"handoff": id}))).unwrap().text
    }

    fn done(&self, agent: &str, id: HandoffId, result: &str) {
        let fields = json!({"handoff": id, "result": result});
        self.book.complete_handoff(&caller(agent), &request(fields)).unwrap();
    }

    fn receipt_of(&self, agent: &str, id: HandoffId) -> HandoffReceipt {
        self.book.get_handoff(&caller(agent), &request(json!({"handoff": id}))).unwrap()
    }

    fn saved(&self, caller: &Caller, text: &str) -> Memory {
        let save: SaveMemory = request(json!({"text": text}));
        self.book.save_memory(caller, &save).unwrap().memory
    }

    fn context_of(&self, caller: &Caller, task: &str) -> AgentContext {
        self.book.get_context(caller, &request(json!({"task": task}))).unwrap()
    }
}

fn in_session(world: &World, agent: &str, name: &str) -> Caller {
    let start = request(json!({"client_session": name}));
    let session = world.book.start_session(&caller(agent), &start).unwrap().session;
    caller(agent).in_session(Some(&session.id.to_string())).unwrap()
}

/// How many of these memories go along.
fn passed(handoff: &Handoff, memories: &[Memory]) -> usize {
    memories.iter().filter(|memory| handoff.memories.iter().any(|of| of.id == memory.id)).count()
}

const FINDINGS: [&str; 3] = [
    "getUserOrders runs one database query for each order row; a page of 400 orders takes 9 seconds",
    "The session cache is never invalidated when a user changes the password",
    "Uploading an image blocks the event loop for two seconds because resizing is synchronous",
];

/// Tasks as agents write them when they hand over what they have just found.
const VAGUE_TASKS: [&str; 13] = [
    "Implement the analysis findings",
    "Continue with this",
    "Take over from here",
    "Implement the plan",
    "Fix what I found",
    "Please pick up where I left off.",
    "Fix the performance issues identified",
    "Work through the list of problems and fix them one by one",
    "Address the review comments and report back",
    "Finish the remaining work",
    "Mach hier bitte weiter",
    "Resolve all bugs from today's investigation, then run the tests",
    "Implement the recommendations of the analysis and hand over to QA",
];

#[test]
fn a_vague_task_takes_along_what_its_source_has_just_saved() {
    for task in VAGUE_TASKS {
        // Saved an hour ago, a day ago, by others an hour ago.
        for (hours, author, count) in [(1, "analyst", 3), (24, "analyst", 0), (1, "bob", 0)] {
            let world = World::new();
            let findings = FINDINGS.map(|text| world.save(author, text));
            world.clock.set(at(hours));
            let created =
                world.created(&caller("analyst"), json!({"to": "developer", "task": task}));
            let found = passed(&created.handoff, &findings);
            assert!(found >= count, "{task}: {found} of {count}, {hours} hours, by {author}");
            assert!(count > 0 || found <= 1, "{task}: {found}, {hours} hours, by {author}");
            assert_eq!(created.hint.is_some(), created.handoff.memories.is_empty(), "{task}");
        }
    }
}

#[test]
fn what_was_saved_today_does_not_crowd_out_what_fits() {
    let world = World::new();
    let fitting = [
        "Refunds are booked in the ledger as negative invoices, never deleted",
        "The ledger closes at midnight UTC; refunds after that count for the next day",
        "Refunds over 500 euros need the approval of accounting before the ledger takes them",
    ];
    let fitting = fitting.map(|text| world.save("bob", text));
    world.clock.set(at(24 * 60));
    for number in 0..30 {
        let text =
            format!("Ticket {number} of the day: the mobile menu of page {number} was moved");
        world.save("analyst", &text);
    }
    for task in ["Book the refunds in the ledger", "Continue with refunds in the ledger"] {
        let created = world.created(&caller("analyst"), json!({"to": "developer", "task": task}));
        assert_eq!(passed(&created.handoff, &fitting), 3, "{task}: {created:?}");
        let in_full = created.handoff.memories.iter().filter(|memory| !memory.headline);
        assert_eq!(in_full.count(), 3, "{task}");
    }
}

#[test]
fn only_the_sources_own_open_work_is_at_hand_in_a_session() {
    let world = World::new();
    let [first, second] = ["s1", "s2"].map(|name| in_session(&world, "analyst", name));
    let other = world.saved(&second, "The invoice template has the wrong VAT number");
    let own = world.saved(&first, "The login form ignores the second factor");
    let fields = json!({"to": "developer", "task": "Fix what I found"});
    let created = world.created(&first, fields.clone());
    assert_eq!(passed(&created.handoff, std::slice::from_ref(&own)), 1);
    assert_eq!(passed(&created.handoff, std::slice::from_ref(&other)), 0, "another open session");
    let end = json!({"session": second.session});
    world.book.end_session(&second, &request(end)).unwrap();
    let created = world.created(&first, fields.clone());
    assert_eq!(passed(&created.handoff, &[own.clone(), other.clone()]), 1, "it has ended");
    let behind: Vec<_> = created.behind.iter().map(|note| note.id).collect();
    assert_eq!(behind, [other.id], "it is offered");
    let created = world.created(&caller("analyst"), fields);
    assert_eq!(passed(&created.handoff, &[own, other]), 2, "without a session");
}

#[test]
fn a_handoff_without_memories_says_why_and_what_to_name() {
    let hint =
        |world: &World, fields: Value| world.created(&caller("ann"), fields).hint.expect("a hint");
    let task = json!({"to": "bob", "task": "Paint the garden fence green"});
    let world = World::new();
    let nothing = hint(&world, task.clone());
    assert!(nothing.contains("you saved none") && nothing.contains("`memories`"), "{nothing}");

    let world = World::new();
    let secret = world.save_private("ann", "The garden fence is painted with the green paint");
    let private = hint(&world, task.clone());
    assert!(private.contains("private"), "{private}");
    let handle = &secret.id.to_string()[secret.id.to_string().len() - 8..];
    assert!(private.contains(handle), "{private}");

    let world = World::new();
    let of_user = caller("ann").for_user(Some("u1")).unwrap();
    let about = json!({"text": "u1 likes the garden fence green", "about": "user"});
    world.book.save_memory(&of_user, &request(about)).unwrap();
    let about_user = hint(&world, task);
    assert!(about_user.contains("about a user"), "{about_user}");

    let world = World::new();
    world.save("ann", &"The garden fence is painted green on its front side. ".repeat(30));
    let context = "The fence stands in the garden. ".repeat(120);
    let fields =
        json!({"to": "bob", "task": "Paint the garden fence", "context": context, "budget": 500});
    let created = world.created(&caller("ann"), fields);
    let hint = created.hint.expect("a hint");
    assert!(hint.contains("tokens of `context`"), "{hint}");
    let text = world.taken("bob", created.handoff.id);
    assert!(
        text.contains("-- Context (") && text.contains("are left out; the stored handoff"),
        "{text}"
    );
}

#[test]
fn a_long_decision_does_not_hide_what_the_task_is_about() {
    let decision = "Keep the billing provider: invoices, VAT rates, dunning letters, payment \
        terms and credit notes stay with Stripe, the export of invoices to the accountant stays a \
        CSV file, and the customers' VAT numbers are checked against VIES once a night";
    let table = [
        ("Fix the login with two factors", json!([decision])),
        ("Fix the login with two factors", json!([decision, decision, "Stripe stays"])),
        ("Fix the login with two factors", json!([])),
    ];
    for (task, decisions) in table {
        let world = World::new();
        let login = world.save("bob", "The login accepts an old code of the second factor");
        for number in 0..12 {
            let text = format!("Invoice rule {number}: VAT rates of invoices are those of Stripe");
            world.save("bob", &text);
        }
        world.clock.set(at(48));
        let fields = json!({"to": "developer", "task": task, "decisions_made": decisions});
        let created = world.created(&caller("ann"), fields);
        assert_eq!(passed(&created.handoff, &[login]), 1, "{decisions}: {created:?}");
    }
}

#[test]
fn a_chain_holds_when_work_is_completed_first() {
    let world = World::new();
    let to_y = |task: &str| json!({"to": "y", "task": task});
    let first = world.created(&caller("x"), to_y("Build the export")).handoff;
    world.taken("y", first.id);
    world.done("y", first.id, "The export is built");
    world.clock.set(at(1));
    let back = world.created(&caller("y"), json!({"to": "x", "task": "Review the export"}));
    assert_eq!((back.handoff.follows.as_slice(), back.handoff.depth), (&[first.id][..], 2));
    assert!(back.warning.is_some_and(|warning| warning.contains("cycle")), "it is warned of");
    // The work has gone on: another task does not hang on it.
    let other = world.created(&caller("y"), json!({"to": "z", "task": "Buy coffee"}));
    assert_eq!(other.handoff.depth, 1);
    // Hours later neither.
    let second = world.created(&caller("x"), to_y("Paint the fence")).handoff;
    world.taken("y", second.id);
    world.done("y", second.id, "It is green");
    world.clock.set(at(14));
    let late = world.created(&caller("y"), json!({"to": "x", "task": "Look at the garden"}));
    assert_eq!(late.handoff.depth, 1);
}

#[test]
fn unrelated_work_of_the_same_session_does_not_continue_what_was_completed() {
    let world = World::new();
    let (alpha, beta) = (in_session(&world, "alpha", "a"), in_session(&world, "beta", "b"));
    let layout = world.saved(&alpha, "The importer docs follow the Diataxis layout");
    let created =
        |from: &Caller, to: &str, task: &str| world.created(from, json!({"to": to, "task": task}));
    let docs = created(&alpha, "beta", "Write the docs of the importer").handoff;
    let accept = request(json!({"handoff": docs.id}));
    world.book.accept_handoff(&beta, &accept).unwrap();
    let complete = request(json!({"handoff": docs.id, "result": "See docs/importer.md"}));
    world.book.complete_handoff(&beta, &complete).unwrap();
    let again = world.book.accept_handoff(&beta, &accept).unwrap().text;
    assert!(again.contains("You have completed it."), "{again}");
    let logo = created(&beta, "alpha", "Choose the colour of the new logo");
    assert_eq!((logo.handoff.depth, logo.warning), (1, None));
    assert_eq!(passed(&logo.handoff, std::slice::from_ref(&layout)), 0);
    for task in ["Proofread what we wrote for the importer", "Review what was done", "Open the PR"]
    {
        let decided = json!(["Tea is served at four"]);
        let fields = json!({"to": "gamma", "task": task, "decisions_made": decided});
        let next = world.created(&beta, fields).handoff;
        assert_eq!((next.depth, passed(&next, std::slice::from_ref(&layout))), (2, 1), "{task}");
    }
}

#[test]
fn what_a_target_had_others_do_comes_back_with_its_own_result() {
    let world = World::new();
    let (lead, analyst) = (in_session(&world, "lead", "l"), in_session(&world, "analyst", "a"));
    let created = |from: &Caller, to: &str, task: &str| {
        world.created(from, json!({"to": to, "task": task})).handoff
    };
    let whole = created(&lead, "analyst", "Find out why checkout is slow");
    let accept = request(json!({"handoff": whole.id}));
    world.book.accept_handoff(&analyst, &accept).unwrap();
    let part = created(&analyst, "scout", "Measure the queries of checkout");
    world.taken("scout", part.id);
    world.saved(&caller("scout"), "Checkout runs one query for each row of the basket");
    world.done("scout", part.id, "400 queries a page, 9 seconds");
    let complete = request(json!({"handoff": whole.id, "result": "The queries are to blame"}));
    world.book.complete_handoff(&analyst, &complete).unwrap();
    let next = created(&lead, "developer", "Make checkout fast with what was found");
    let text = world.taken("developer", next.id);
    for told in ["The queries are to blame", "400 queries a page", "one query for each row"] {
        assert!(text.contains(told), "{told}: {text}");
    }
}

#[test]
fn every_link_of_a_chain_of_five_is_told_with_its_author() {
    let world = World::new();
    let mut last = None;
    for place in 1..=5 {
        let (from, to) = (format!("a{place}"), format!("a{}", place + 1));
        let created = world.created(
            &caller(&from),
            json!({
                "to": to,
                "task": format!("Do part {place} of the migration"),
                "decisions_made": [format!("Decision {place}: keep the table t{place}")],
                "active_files": [format!("src/part{place}.rs")],
                "next_steps": [format!("Step {place}: drop the column c{place}")],
            }),
        );
        let handoff = created.handoff;
        assert_eq!(handoff.depth, place);
        let text = world.taken(&to, handoff.id);
        let again = world.taken(&to, handoff.id);
        assert_eq!(text, again);
        for earlier in 1..place {
            for part in [
                format!("Do part {earlier} of the migration"),
                format!("Decision {earlier}: keep"),
                format!("src/part{earlier}.rs"),
                format!("Step {earlier}: drop"),
                format!("Result {earlier} of a{}", earlier + 1),
                format!(" a{earlier}, "),
                format!("number {earlier} of the chain"),
            ] {
                assert!(text.contains(&part), "{place}, {part}: {text}");
            }
        }
        let receipt = world.receipt_of(&to, handoff.id);
        assert_eq!(receipt.earlier.len() as u32, place - 1);
        if place > 1 {
            let heading = text.find("-- Earlier work, nearest first").unwrap();
            let nearest = text.find(&format!("number {} of the chain", place - 1)).unwrap();
            assert!(heading < nearest, "{text}");
        }
        // Every other one completes its work before it hands it on.
        if place % 2 == 0 {
            world.done(&to, handoff.id, &format!("Result {place} of {to}"));
        } else {
            last = Some((to, handoff.id, place));
            let (to, id, place) = last.clone().unwrap();
            world.done(&to, id, &format!("Result {place} of {to}"));
        }
    }
    assert!(last.is_some());
}

#[test]
fn earlier_links_that_have_no_room_are_counted() {
    let world = World::new();
    let decisions: Vec<String> = (0..50)
        .map(|n| format!("Decision {n} is long: {}", "keep it as it is. ".repeat(10)))
        .collect();
    for place in 1..=4 {
        let (from, to) = (format!("a{place}"), format!("a{}", place + 1));
        let task = format!("Do part {place}");
        let fields = json!({"to": to, "task": task, "decisions_made": decisions, "budget": 700});
        let created = world.created(&caller(&from), fields);
        assert!(created.hint.unwrap().contains("tokens of `decisions_made`"));
        let text = world.taken(&to, created.handoff.id);
        assert!(text.contains("of 50") || text.contains("are left out"), "{text}");
        let told = commonbook_text::tokens::count(&text);
        assert!(told <= 700, "{told}: {text}");
        let links = text.matches("of the chain").count();
        assert!(place == 1 || links > 0 || text.contains("left out; the chain has"), "{text}");
    }
}

#[test]
fn what_has_changed_since_is_told_at_acceptance() {
    let world = World::new();
    let (ann, texts) = (
        caller("ann"),
        ["The gate is red", "The door has code 1234", "The fence is low", "The wall is new"],
    );
    let [gate, door, fence, wall] = texts.map(|text| world.save("ann", text));
    let ids = [gate.id, door.id, fence.id, wall.id];
    let fields = json!({"to": "bob", "task": "Mend the garden", "memories": ids});
    let handoff = world.created(&ann, fields).handoff;
    world.clock.set(at(1));
    let successor = json!({"text": "The gate is painted blue", "supersedes": gate.id});
    let successor = world.book.save_memory(&ann, &request(successor)).unwrap().memory;
    let corrected = json!({"id": door.id, "text": "The door has code 9876"});
    world.book.update_memory(&ann, &request(corrected)).unwrap();
    world.book.delete_memory(&ann, &request(json!({"id": fence.id}))).unwrap();
    let topics = json!({"id": wall.id, "topics": ["garden"]});
    world.book.update_memory(&ann, &request(topics)).unwrap();
    let text = world.taken("bob", handoff.id);
    let has = |part: &str| assert!(text.contains(part), "{part}: {text}");
    let lacks = |part: &str| assert!(!text.contains(part), "{part}: {text}");
    let end = |memory: &Memory| memory.id.to_string()[memory.id.to_string().len() - 8..].to_owned();
    has(&format!("#{} of ann is superseded since by #{}", end(&gate), end(&successor)));
    has("The gate is painted blue");
    lacks("The gate is red");
    has("corrected since");
    has("code 9876");
    lacks("code 1234");
    has(&format!("#{} of ann was deleted since", end(&fence)));
    lacks("The fence is low");
    has("The wall is new");
    assert_eq!(text.matches("since").count(), 3, "{text}");
    for agent in ["ann", "bob"] {
        let changed = world.receipt_of(agent, handoff.id).changed;
        let of = |memory: &Memory| {
            changed
                .iter()
                .find(|change| change.id == memory.id)
                .map(|change| (change.change, change.by))
        };
        assert_eq!(of(&gate), Some((MemoryChangeKind::Superseded, Some(successor.id))));
        assert_eq!(of(&door), Some((MemoryChangeKind::Corrected, None)));
        assert_eq!(of(&fence), Some((MemoryChangeKind::Deleted, None)));
        assert_eq!(of(&wall), None);
    }
    assert!(world.receipt_of("eve", handoff.id).changed.is_empty());
}

#[test]
fn the_successor_of_an_inherited_memory_is_inherited() {
    let world = World::new();
    let old = world.save("ann", "Decision: the export writes CSV");
    let ids = json!([old.id]);
    let fields = json!({"to": "bob", "task": "Build the export", "memories": ids});
    let first = world.created(&caller("ann"), fields).handoff;
    world.taken("bob", first.id);
    let second = world.created(&caller("bob"), json!({"to": "cora", "task": "Paint the gate"}));
    assert_eq!(passed(&second.handoff, std::slice::from_ref(&old)), 1);
    let successor = json!({"text": "Decision: the export writes JSON", "supersedes": old.id});
    let new = world.book.save_memory(&caller("ann"), &request(successor)).unwrap().memory;
    assert!(world.taken("cora", second.handoff.id).contains("writes JSON"));
    let third = world.created(&caller("cora"), json!({"to": "dan", "task": "Count the herons"}));
    let carried = third.handoff.memories.iter().find(|memory| memory.id == new.id).unwrap();
    assert_eq!((carried.why, carried.author.as_str()), (InclusionReason::Inherited, "ann"));
    assert_eq!(passed(&third.handoff, &[old]), 0);
    assert!(world.taken("dan", third.handoff.id).contains("writes JSON"));
}

#[test]
fn a_successor_out_of_sight_is_not_told() {
    let world = World::new();
    let gate = world.save("ann", "The gate is red");
    let fields = json!({"to": "bob", "task": "Mend the gate", "memories": [gate.id]});
    let handoff = world.created(&caller("ann"), fields).handoff;
    let successor = json!({"text": "The gate is blue", "supersedes": gate.id});
    let successor = world.book.save_memory(&caller("ann"), &request(successor)).unwrap().memory;
    let hidden = json!({"id": successor.id, "sharing": "private"});
    world.book.update_memory(&caller("ann"), &request(hidden)).unwrap();
    let text = world.taken("bob", handoff.id);
    assert!(!text.contains("blue") && !text.contains("superseded"), "{text}");
}

#[test]
fn the_result_is_told_to_the_source_once_in_each_session_that_waited_for_it() {
    let world = World::new();
    let ann = in_session(&world, "ann", "s1");
    in_session(&world, "ann", "s2");
    world.clock.set(at(1));
    let made = |task: &str| world.created(&ann, json!({"to": "bob", "task": task})).handoff;
    let (painted, refused) = (made("Paint the fence"), made("Cut the tree"));
    world.taken("bob", painted.id);
    world.done("bob", painted.id, "The fence is green; two boards were replaced");
    let reason = json!({"handoff": refused.id, "reason": "The tree is protected"});
    world.book.reject_handoff(&caller("bob"), &request(reason)).unwrap();
    let told = |text: &str| {
        text.contains("two boards were replaced")
            && text.contains("completed your handoff")
            && text.contains("The tree is protected")
            && text.contains("rejected your handoff")
            && text.contains(" bob, ")
    };
    let first = world.context_of(&ann, "What is next in the garden?");
    assert!(told(&first.text), "{}", first.text);
    let replay = json!({"context": first.id, "replay": true});
    let explained = world.book.explain_context(&ann, &request(replay)).unwrap();
    assert!(explained.replay.unwrap().same);
    assert!(!told(&world.context_of(&ann, "What is next in the garden?").text), "once");
    // A briefing of the same session neither; another session that was open hears it.
    let brief = |fields: Value| world.book.get_briefing(&caller("ann"), &request(fields)).unwrap();
    assert!(!told(&brief(json!({"client_session": "s1"})).text));
    assert!(told(&brief(json!({"client_session": "s2"})).text));
    let third = made("Water the flowers");
    world.taken("bob", third.id);
    world.done("bob", third.id, "All flowers are watered");
    let prompt = json!({"client_session": "s2", "prompt": "What now?"});
    let news = brief(prompt.clone()).text;
    assert!(news.contains("All flowers are watered") && !told(&news), "{news}");
    assert!(!brief(prompt).text.contains("watered"));
    // Others are not told, and no later session, whether somebody started it or not.
    assert!(!world.context_of(&caller("eve"), "What is next?").text.contains("watered"));
    world.clock.set(at(2));
    let later = in_session(&world, "ann", "s3");
    let prompt = json!({"client_session": "s4", "prompt": "What now?"});
    let texts = [
        brief(json!({"client_session": "s3"})).text,
        world.context_of(&later, "What is next in the garden?").text,
        brief(prompt).text,
        world.context_of(&caller("ann"), "What is next in the garden?").text,
    ];
    for text in texts {
        assert!(!told(&text) && !text.contains("watered"), "{text}");
    }
    // A session whose context was compacted hears again what it heard.
    let again = brief(json!({"client_session": "s2", "restart": true})).text;
    assert!(told(&again) && again.contains("watered"), "{again}");
}

#[test]
fn a_result_that_no_session_heard_waits_for_the_next_one() {
    let world = World::new();
    let fields = json!({"to": "bob", "task": "Paint the fence"});
    let painted = world.created(&caller("ann"), fields).handoff;
    world.taken("bob", painted.id);
    world.done("bob", painted.id, "The fence is green");
    let texts = [50, 51, 80].map(|hours| {
        world.clock.set(at(hours));
        let ann = in_session(&world, "ann", &format!("s{hours}"));
        world.context_of(&ann, "What is next?").text
    });
    assert_eq!(texts.map(|text| text.contains("The fence is green")), [true, false, false]);
}

#[test]
fn entities_go_along_with_their_attributes_and_without_empty_lines() {
    let world = World::new();
    let state = |agent: &str, version: u64| {
        let fields = json!({"type": "tool", "value": "PostgreSQL", "context": "The orders' database",
            "metadata": {"version": version}});
        world.book.resolve_entity(&caller(agent), &request(fields)).unwrap();
    };
    state("ann", 16);
    state("bob", 15);
    world.save("ann", "PostgreSQL holds the orders, and Redis the sessions");
    let created = world.created(&caller("ann"), json!({"to": "eve", "task": "Move PostgreSQL"}));
    let names: Vec<&str> =
        created.handoff.entities.iter().map(|entity| entity.value.as_str()).collect();
    assert_eq!(names, ["PostgreSQL"], "of Redis only the name is known");
    let text = world.taken("eve", created.handoff.id);
    for part in ["The orders' database", "version: 15 (bob); ann says 16"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}
