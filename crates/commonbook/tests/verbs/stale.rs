//! Stale decisions: what a write rests on and has changed, and what was derived from a changed memory.

use commonbook::base::error::ErrorKind;
use commonbook::base::id::handle;
use commonbook::model::caller::Caller;
use commonbook::model::case::{AppendEntries, AppendResult};
use commonbook::model::contradiction::{
    DetectContradictions, ResolveContradiction, ResolveContradictionResult,
};
use commonbook::model::event::{EventKind, ListEvents};
use commonbook::model::handoff::{AcceptHandoff, CompleteHandoff, CreateHandoff};
use commonbook::model::lineage::{AcknowledgeOutdated, ListOutdated, OutdatedItem, StaleMemory};
use commonbook::model::memory::{
    DeleteMemory, Memory, MemoryChangeKind, RestoreMemory, RetractMemory, SaveMemory, SaveResult,
    UpdateMemory,
};
use commonbook::prompt::briefing::GetBriefing;
use commonbook::prompt::context::{AgentContext, GetContext};
use serde_json::{Value, json};

use crate::{World, at, caller, request};

const RETRIES: &str = "The checkout service retries a payment three times";
const REGION: &str = "The reporting database runs in Frankfurt";
const DECISION: &str = "The load test plans for three retries of each checkout payment";

/// This agent in this session of its own.
fn in_session(agent: &str, session: &str) -> Caller {
    Caller { session: Some(session.to_owned()), ..caller(agent) }
}

impl World {
    fn tell(&self, caller: &Caller, task: &str) -> AgentContext {
        self.book.get_context(caller, &request::<GetContext>(json!({"task": task}))).unwrap()
    }

    fn decide(&self, caller: &Caller, fields: Value) -> SaveResult {
        self.book.save_memory(caller, &request::<SaveMemory>(fields)).unwrap()
    }

    fn correct(&self, memory: &Memory, text: &str) {
        let change = request::<UpdateMemory>(json!({"id": memory.id, "text": text}));
        self.book.update_memory(&caller(memory.owner.as_str()), &change).unwrap();
    }

    fn succeed(&self, memory: &Memory, text: &str) -> Memory {
        let fields = json!({"text": text, "supersedes": memory.id});
        self.decide(&caller(memory.owner.as_str()), fields).memory
    }

    fn take_back(&self, memory: &Memory) {
        let wanted = json!({"id": memory.id, "reason": "It was a test."});
        let wanted = request::<RetractMemory>(wanted);
        self.book.retract_memory(&caller(memory.owner.as_str()), &wanted).unwrap();
    }

    fn delete(&self, memory: &Memory) {
        let wanted = request::<DeleteMemory>(json!({"id": memory.id}));
        self.book.delete_memory(&caller(memory.owner.as_str()), &wanted).unwrap();
    }

    fn outdated(&self, agent: &str) -> Vec<OutdatedItem> {
        self.book.list_outdated(&caller(agent), &ListOutdated::default()).unwrap().items
    }

    /// Two facts of bob, and ann in a session that received both.
    fn two_facts(&self) -> (Memory, Memory, Caller) {
        let (retries, region) = (self.save("bob", RETRIES), self.save("bob", REGION));
        let ann = in_session("ann", "s1");
        let told = self.tell(&ann, "How often does checkout retry, and where does reporting run?");
        assert_eq!(told.items.len(), 2, "{}", told.text);
        (retries, region, ann)
    }
}

fn changes(stale: &[StaleMemory]) -> Vec<MemoryChangeKind> {
    stale.iter().map(|change| change.change).collect()
}

#[test]
fn a_decision_on_what_was_superseded_since_is_told_by_whom_and_by_what() {
    let world = World::new();
    let (retries, _, ann) = world.two_facts();
    let heir = world.succeed(&retries, "The checkout service retries a payment five times");
    let saved = world.decide(&ann, json!({"text": DECISION}));
    let [stale] = &saved.stale[..] else { panic!("{:?}", saved.stale) };
    assert_eq!((stale.memory, stale.change), (retries.id, MemoryChangeKind::Superseded));
    assert_eq!((stale.known_revision, stale.current_revision), (1, 2));
    assert_eq!(stale.by.as_ref().map(ToString::to_string).as_deref(), Some("bob"));
    assert_eq!((stale.successor, stale.text.as_deref()), (Some(heir.id), Some(heir.text.as_str())));
    // The session knows it now.
    let next = json!({"text": "The checkout load test retries a payment for an hour"});
    assert_eq!(world.decide(&ann, next).stale, []);
    // Of the successor it has been told too.
    world.correct(&heir, "The checkout service retries a payment seven times");
    let third = world.decide(&ann, json!({"text": "We alert if a checkout payment retries again"}));
    assert_eq!(changes(&third.stale), [MemoryChangeKind::Corrected]);
}

#[test]
fn what_an_agent_read_before_a_refused_write_it_still_knows() {
    let world = World::new();
    let retries = world.save("bob", RETRIES);
    let ann = in_session("ann", "s1");
    world.book.get_memories(&ann, &request(json!({"id": retries.id}))).unwrap();
    let refused = request::<DeleteMemory>(json!({"id": retries.id}));
    world.book.delete_memory(&ann, &refused).unwrap_err();
    world.correct(&retries, "The checkout service retries a payment twice");
    let saved = world.decide(&ann, json!({"text": DECISION}));
    assert_eq!(changes(&saved.stale), [MemoryChangeKind::Corrected]);
}

#[test]
fn a_chain_of_successors_is_told_by_what_holds_at_its_end() {
    let world = World::new();
    let (retries, _, ann) = world.two_facts();
    let middle = world.succeed(&retries, "The checkout service retries a payment five times");
    let last = world.succeed(&middle, "The checkout service retries a payment six times");
    let saved = world.decide(&ann, json!({"text": DECISION}));
    let [stale] = &saved.stale[..] else { panic!("{:?}", saved.stale) };
    assert_eq!((stale.memory, stale.successor), (retries.id, Some(last.id)));
    assert_eq!(stale.text.as_deref(), Some(last.text.as_str()));
    // The session knows the end of the chain now, and hears when that changes.
    world.correct(&last, "The checkout service retries a payment seven times");
    let next = json!({"text": "We alert if a checkout payment retries again"});
    let saved = world.decide(&ann, next);
    assert_eq!(
        (saved.stale[0].memory, changes(&saved.stale)),
        (last.id, vec![MemoryChangeKind::Corrected])
    );
}

#[test]
fn each_kind_of_change_is_told_and_a_change_of_nothing_said_is_not() {
    type Act = fn(&World, &Memory);
    let table: [(Act, &[MemoryChangeKind]); 6] = [
        (
            |world, memory| world.correct(memory, "The checkout service retries a payment twice"),
            &[MemoryChangeKind::Corrected],
        ),
        (|world, memory| world.delete(memory), &[MemoryChangeKind::Deleted]),
        (
            |world, memory| {
                let wanted = json!({"id": memory.id, "reason": "It was never measured"});
                let wanted = request::<RetractMemory>(wanted);
                world.book.retract_memory(&caller("bob"), &wanted).unwrap();
            },
            &[MemoryChangeKind::Retracted],
        ),
        (
            |world, _| {
                world.save("cleo", "The checkout service retries a payment nine times");
                let all = request::<DetectContradictions>(json!({}));
                world.book.detect_contradictions(&caller("cleo"), &all).unwrap();
            },
            &[MemoryChangeKind::Contradicted],
        ),
        (
            |world, memory| {
                let change = json!({"id": memory.id, "topics": ["checkout"]});
                let change = request::<UpdateMemory>(change);
                world.book.update_memory(&caller("bob"), &change).unwrap();
            },
            &[],
        ),
        (|world, _| drop(world.save("cleo", "The night watch sleeps at noon")), &[]),
    ];
    for (place, (act, expected)) in table.into_iter().enumerate() {
        let world = World::new();
        let (retries, _, ann) = world.two_facts();
        act(&world, &retries);
        let saved = world.decide(&ann, json!({"text": DECISION}));
        assert_eq!(changes(&saved.stale), expected, "{place}");
    }
}

#[test]
fn a_change_counts_whatever_the_decision_says_and_what_it_speaks_of_comes_first() {
    let paraphrases = [
        "We give up on a customer's card after a quarter of an hour",
        "The shop asks the bank again until it answers",
        "lgtm, merged",
        "Rolled the thing out to everybody",
        "Entscheidung: der Lasttest rechnet mit mehr Versuchen",
    ];
    for text in paraphrases {
        let world = World::new();
        let (retries, region, ann) = world.two_facts();
        world.correct(&region, "The reporting database runs in Dublin");
        world.correct(&retries, "The checkout service retries a payment six times");
        let saved = world.decide(&ann, json!({"text": text}));
        assert_eq!(changes(&saved.stale), [MemoryChangeKind::Corrected; 2], "{text}");
        assert_eq!(world.decide(&ann, json!({"text": DECISION})).stale, [], "{text}");
        // It leaves no mark: the text does not say what it rests on.
        world.correct(&retries, "The checkout service retries a payment twice");
        assert_eq!(world.outdated("ann").len(), 1, "{text}");
    }
    let world = World::new();
    let (retries, region, ann) = world.two_facts();
    world.correct(&region, "The reporting database runs in Dublin");
    world.correct(&retries, "The checkout service retries a payment six times");
    let saved = world.decide(&ann, json!({"text": DECISION}));
    let order: Vec<_> = saved.stale.iter().map(|stale| stale.memory).collect();
    assert_eq!(order, [retries.id, region.id]);
    let saved = world.decide(&in_session("ann", "s1"), json!({"text": "Reporting moves too"}));
    assert_eq!(saved.stale, []);
}

#[test]
fn a_change_is_no_alarm_for_who_made_it_or_was_not_told() {
    let world = World::new();
    let (retries, _, _) = world.two_facts();
    world.correct(&retries, "The checkout service retries a payment six times");
    for other in [in_session("ann", "s2"), caller("dan"), caller("anonymous")] {
        assert_eq!(world.decide(&other, json!({"text": DECISION})).stale, [], "{}", other.agent);
    }
    let world = World::new();
    let own = world.decide(&in_session("ann", "s1"), json!({"text": RETRIES})).memory;
    let ann = in_session("ann", "s1");
    world.tell(&in_session("bob", "s2"), "How often does checkout retry a payment?");
    world.tell(&ann, "How often does checkout retry a payment?");
    let change = request::<UpdateMemory>(
        json!({"id": own.id, "text": "The checkout service retries a payment twice"}),
    );
    world.book.update_memory(&ann, &change).unwrap();
    assert_eq!(world.decide(&ann, json!({"text": DECISION})).stale, []);
    let bob = world.decide(&in_session("bob", "s2"), json!({"text": DECISION}));
    assert_eq!(changes(&bob.stale), [MemoryChangeKind::Corrected]);
}

#[test]
fn a_write_that_requires_a_current_basis_is_refused_until_it_names_what_holds() {
    let world = World::new();
    let (retries, _, ann) = world.two_facts();
    let heir = world.succeed(&retries, "The checkout service retries a payment five times");
    let strict = |based_on: Value| {
        let fields = json!({"text": DECISION, "require_current": true, "based_on": based_on});
        world.book.save_memory(&ann, &request::<SaveMemory>(fields))
    };
    let before = world.events("ann").len();
    for _ in 0..2 {
        let refused = strict(json!([])).unwrap_err();
        assert_eq!(
            (refused.kind, refused.field.as_deref()),
            (ErrorKind::Conflict, Some("require_current"))
        );
        assert!(refused.message.contains("superseded by bob"), "{refused}");
        assert!(refused.hint.unwrap().contains(&heir.id.to_string()));
    }
    assert_eq!(world.events("ann").len(), before);
    assert_eq!(strict(json!([retries.id])).unwrap_err().kind, ErrorKind::Conflict);
    assert_eq!(strict(json!([heir.id])).unwrap().stale, []);
}

#[test]
fn what_a_write_names_counts_whatever_its_words_and_is_named_in_several_ways() {
    let world = World::new();
    let (retries, region, ann) = world.two_facts();
    let told = world.tell(&ann, "How often does checkout retry a payment?").id.to_string();
    world.correct(&region, "The reporting database runs in Dublin");
    let handle = region.id.to_string()[18..].to_owned();
    for named in [region.id.to_string(), handle, format!("{}@1", region.id)] {
        let eve = in_session("eve", &named);
        let fields = json!({"text": format!("Lunch is at noon, {named}"), "based_on": [named]});
        let expected: &[MemoryChangeKind] =
            if named.ends_with("@1") { &[MemoryChangeKind::Corrected] } else { &[] };
        assert_eq!(changes(&world.decide(&eve, fields).stale), expected, "{named}");
    }
    world.correct(&retries, "The checkout service retries a payment six times");
    let of_receipt = world.decide(&ann, json!({"text": "Lunch is late", "based_on": [told]}));
    assert!(of_receipt.stale.iter().any(|change| change.memory == retries.id), "{of_receipt:?}");
    let table = [
        (json!(["nothing"]), ErrorKind::Invalid, "based_on[0]"),
        (json!([region.id, "mem_01arz3ndektsv4rrffq69g5fav"]), ErrorKind::NotFound, "based_on[1]"),
        (json!([format!("{}@9", region.id)]), ErrorKind::Invalid, "based_on[0]"),
        (json!(["ctx_01arz3ndektsv4rrffq69g5fav"]), ErrorKind::NotFound, "based_on[0]"),
        (json!(vec![region.id; 33]), ErrorKind::TooLarge, "based_on"),
    ];
    for (based_on, kind, field) in table {
        let wanted = request::<SaveMemory>(json!({"text": "Lunch is early", "based_on": based_on}));
        let error = world.book.save_memory(&ann, &wanted).unwrap_err();
        assert_eq!((error.kind, error.field.as_deref()), (kind, Some(field)), "{error}");
    }
    let hidden = world.save_private("bob", "The vault opens with a song");
    let wanted = request::<SaveMemory>(json!({"text": "We sing", "based_on": [hidden.id]}));
    assert_eq!(world.book.save_memory(&ann, &wanted).unwrap_err().kind, ErrorKind::NotFound);
}

#[test]
fn an_entry_a_handoff_and_a_resolution_are_told_as_a_memory_is() {
    let change = |world: &World, memory: &Memory| {
        world.correct(memory, "The checkout service retries a payment six times");
    };
    let expected = [MemoryChangeKind::Corrected];
    let world = World::new();
    let (retries, _, ann) = world.two_facts();
    change(&world, &retries);
    let fields = json!({"key": "load", "title": "Load", "entries": [{"summary": DECISION}]});
    let append = request::<AppendEntries>(fields.clone());
    let appended: AppendResult = world.book.append_entries(&ann, &append).unwrap();
    assert_eq!(changes(&appended.stale), expected);

    let world = World::new();
    let (retries, _, ann) = world.two_facts();
    change(&world, &retries);
    let create = request::<CreateHandoff>(json!({"to": "cleo", "task": DECISION}));
    let created = world.book.create_handoff(&ann, &create).unwrap();
    assert_eq!(changes(&created.stale), expected);
    // The packet tells cleo, and then it changes again.
    let cleo = in_session("cleo", "s9");
    let accept = request::<AcceptHandoff>(json!({"handoff": created.handoff.id}));
    let accepted = world.book.accept_handoff(&cleo, &accept).unwrap();
    assert!(accepted.text.contains("six times"), "{}", accepted.text);
    world.correct(&retries, "The checkout service retries a payment eight times");
    let mut complete =
        json!({"handoff": created.handoff.id, "result": "Planned", "require_current": true});
    let refused = world.book.complete_handoff(&cleo, &request::<CompleteHandoff>(complete.clone()));
    assert_eq!(refused.unwrap_err().kind, ErrorKind::Conflict);
    complete["require_current"] = json!(false);
    let done = world.book.complete_handoff(&cleo, &request::<CompleteHandoff>(complete)).unwrap();
    assert_eq!(changes(&done.stale), expected);

    let world = World::new();
    let (retries, _, ann) = world.two_facts();
    world.save("cleo", "The gate is blue");
    world.save("dan", "The gate is red");
    let all = request::<DetectContradictions>(json!({}));
    let found = world.book.detect_contradictions(&ann, &all).unwrap().items.remove(0);
    change(&world, &retries);
    let fields = json!({"contradiction": found.id, "resolution": "keep_both", "context": DECISION});
    let resolve = request::<ResolveContradiction>(fields);
    let resolved: ResolveContradictionResult =
        world.book.resolve_contradiction(&ann, &resolve).unwrap();
    assert_eq!(changes(&resolved.stale), expected);
}

#[test]
fn what_was_derived_from_a_changed_memory_waits_for_its_owner_with_the_path() {
    let world = World::new();
    let (retries, _, ann) = world.two_facts();
    let plan = world.decide(&ann, json!({"text": DECISION})).memory;
    let dan = caller("dan");
    let fields = json!({"text": "The test cluster has forty nodes", "based_on": [plan.id]});
    let nodes = world.decide(&dan, fields).memory;
    assert_eq!((world.outdated("ann"), world.outdated("dan")), (vec![], vec![]));
    world.correct(&retries, "The checkout service retries a payment six times");
    let of_ann = world.outdated("ann");
    assert_eq!(of_ann[0].path, [retries.id.to_string(), plan.id.to_string()]);
    assert_eq!((of_ann[0].change, of_ann[0].by.as_str()), (MemoryChangeKind::Corrected, "bob"));
    let of_dan = world.outdated("dan");
    let path = [retries.id, plan.id, nodes.id].map(|id| id.to_string());
    assert_eq!((of_ann.len(), of_dan.len(), &of_dan[0].path[..]), (1, 1, &path[..]));
    assert_eq!(world.outdated("bob"), []);
    let events = world.book.list_events(&caller("eve"), &ListEvents::default()).unwrap().items;
    let marked = events.iter().filter(|event| event.kind.name() == "memory.outdated");
    assert_eq!(marked.map(|event| event.subject.clone()).collect::<Vec<_>>(), path[1..]);
    // An update answers the mark, and so does an acknowledgement; a stranger's answers nothing.
    let acknowledge = request::<AcknowledgeOutdated>(json!({"id": nodes.id.to_string()}));
    let strange = world.book.acknowledge_outdated(&caller("eve"), &acknowledge).unwrap_err();
    assert_eq!(strange.kind, ErrorKind::NotFound);
    assert_eq!(world.book.acknowledge_outdated(&dan, &acknowledge).unwrap().removed, 1);
    world.correct(&plan, "The load test plans for six retries of each checkout payment");
    assert_eq!(world.outdated("ann"), []);
    // The correction of the plan is news for what rests on it.
    assert_eq!(world.outdated("dan")[0].memory, Some(plan.id));
}

#[test]
fn what_a_search_found_is_known_to_its_session() {
    let world = World::new();
    let zefiro = world.save("bob", "The Zefiro gateway drops requests above 4 MB");
    let ann = in_session("ann", "s1");
    let found = request(json!({"query": "Zefiro gateway limits"}));
    assert_eq!(world.book.search_memory(&ann, &found).unwrap().hits.len(), 1);
    let rests =
        world.decide(&ann, json!({"text": "Uploads over the Zefiro gateway go in 3 MB parts"}));
    assert_eq!(rests.stale, []);
    world.take_back(&zefiro);
    let next = world.decide(&ann, json!({"text": "Zefiro parts are retried once"}));
    assert_eq!(changes(&next.stale), [MemoryChangeKind::Retracted]);
    let [outdated] = &world.outdated("ann")[..] else { panic!("no mark") };
    assert_eq!(outdated.id, rests.memory.id.to_string());
}

#[test]
fn every_reader_hears_that_a_note_rests_on_a_retracted_one_until_its_owner_reviewed_it() {
    let world = World::new();
    let limit = world.save("bob", "The Zefiro gateway drops requests above 4 MB");
    let text = "Uploads to Zefiro go in parts of 3 MB";
    let derived =
        world.decide(&caller("ann"), json!({"text": text, "based_on": [limit.id]})).memory;
    let mark = format!("rests on #{}: retracted", handle(&limit.id.to_string()));
    let cy = caller("cy");
    let heard = |world: &World| {
        let read = request(json!({"id": derived.id}));
        let read = world.book.get_memory(&cy, &read).unwrap().rests_on.len();
        let listed = world.book.list_memories(&cy, &request(json!({}))).unwrap().items;
        let listed: usize = listed.iter().map(|memory| memory.rests_on.len()).sum();
        let search = request(json!({"query": "Zefiro uploads"}));
        let found = world.book.search_memory(&cy, &search).unwrap();
        let found = world.book.search_text(&cy, found).unwrap();
        let told = world.tell(&cy, "Upload the pictures to Zefiro").text;
        let texts = [found, told].map(|text| usize::from(text.contains(&mark)));
        [read, listed, texts[0], texts[1]]
    };
    assert_eq!(heard(&world), [0; 4]);
    world.take_back(&limit);
    assert_eq!(heard(&world), [1; 4]);
    let review = request::<AcknowledgeOutdated>(json!({"id": derived.id}));
    world.book.acknowledge_outdated(&caller("ann"), &review).unwrap();
    assert_eq!(heard(&world), [0; 4]);
    // A private basis does not exist for others.
    let private = json!({"text": "The Zefiro contract ends in May", "sharing": "private"});
    let private = world.decide(&caller("ann"), private).memory;
    let derived = json!({"text": "Plan the Zefiro move for April", "based_on": [private.id]});
    let derived = world.decide(&caller("ann"), derived).memory;
    world.take_back(&private);
    let rests_on = |agent: &str| {
        let read = request(json!({"id": derived.id}));
        world.book.get_memory(&caller(agent), &read).unwrap().rests_on.len()
    };
    assert_eq!((rests_on("cy"), rests_on("ann")), (0, 1));
}

#[test]
fn a_contradiction_shows_at_a_note_that_is_read_alone_listed_or_named_by_its_headline() {
    let world = World::new();
    let port = world.save("bob", "The gateway of the depot listens on port 8080");
    let text = "The depot's gateway was moved behind the proxy, port 9090";
    let against = json!({"text": text, "contradicts": [port.id]});
    let against = world.decide(&caller("ann"), against).memory;
    let cy = caller("cy");
    let read = world.book.get_memory(&cy, &request(json!({"id": port.id}))).unwrap();
    let [open] = &read.contradictions[..] else { panic!("{read:?}") };
    assert_eq!((open.memory, open.owner.as_str()), (against.id, "ann"));
    assert_eq!(open.stated_by.as_ref().map(ToString::to_string).as_deref(), Some("ann"));
    let listed = world.book.list_memories(&cy, &request(json!({}))).unwrap().items;
    assert!(listed.iter().all(|memory| memory.contradictions.len() == 1), "{listed:?}");
    let long = "and the ticket has the details of each machine; ".repeat(20);
    let far = world.save("bob", &format!("Port forwarding of the office router, {long}"));
    let against = format!("Port forwarding ended with the new router, {long}");
    let against = json!({"text": against, "contradicts": [far.id]});
    world.decide(&caller("ann"), against);
    let told = world.tell(&cy, "Which port does the office printer use?").text;
    let line = told.lines().find(|line| line.contains("> Port forwarding of")).expect(&told);
    assert!(line.contains("contradicts #"), "{told}");
}

#[test]
fn a_change_that_is_taken_back_takes_its_marks_back() {
    let world = World::new();
    let (retries, _, ann) = world.two_facts();
    world.decide(&ann, json!({"text": DECISION}));
    world.delete(&retries);
    assert_eq!(world.outdated("ann")[0].change, MemoryChangeKind::Deleted);
    let restore = request::<RestoreMemory>(json!({"id": retries.id}));
    world.book.restore_memory(&caller("bob"), &restore).unwrap();
    assert_eq!(world.outdated("ann"), []);
    // A successor that rests on what it supersedes is no reason for a review.
    let heir = json!({"text": "The checkout service retries a payment five times", "supersedes": retries.id, "based_on": [retries.id]});
    world.decide(&caller("bob"), heir);
    assert_eq!((world.outdated("bob"), world.outdated("ann").len()), (vec![], 1));
}

#[test]
fn a_session_hears_once_of_what_has_changed_under_it() {
    let world = World::new();
    let (retries, _, ann) = world.two_facts();
    let plan = world.decide(&ann, json!({"text": DECISION})).memory;
    world.clock.set(at(1));
    world.correct(&retries, "The checkout service retries a payment six times");
    let brief = |session: &str| {
        let fields = json!({"client_session": session, "prompt": "What is for lunch?"});
        world.book.get_briefing(&caller("ann"), &request::<GetBriefing>(fields)).unwrap().text
    };
    let first = brief("s1");
    let told = format!("What you were given has changed: {} was corrected by bob.", retries.id);
    let review = format!("Review {}: it rests on {}", plan.id, retries.id);
    assert!(first.contains(&told) && first.contains(&review), "{first}");
    let second = brief("s1");
    assert!(!second.contains(&told) && !second.contains(&review), "{second}");
    assert!(!brief("s2").contains(&told));
    let warnings = world.tell(&in_session("ann", "s3"), "Plan the lunch").warnings;
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].contains(&review));
}

#[test]
fn what_became_private_is_gone_and_nothing_of_it_is_told() {
    let world = World::new();
    let (retries, _, ann) = world.two_facts();
    world.decide(&ann, json!({"text": DECISION}));
    let change =
        json!({"id": retries.id, "text": "The vault retries a song", "sharing": "private"});
    world.book.update_memory(&caller("bob"), &request::<UpdateMemory>(change)).unwrap();
    let saved = world.decide(&ann, json!({"text": "A checkout payment retries at night"}));
    assert_eq!(changes(&saved.stale), [MemoryChangeKind::Deleted]);
    assert_eq!((saved.stale[0].by.clone(), saved.stale[0].text.clone()), (None, None));
    assert_eq!(world.outdated("ann"), []);
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table, and all that two agents hear in one world")]
fn nothing_that_is_done_to_what_became_private_is_told_to_those_who_knew_it() {
    type Act = fn(&World, &Memory);
    let table: [(&str, Act); 5] = [
        ("a new text", |world, memory| world.correct(memory, "The vault opens with a song")),
        ("a successor", |world, memory| {
            let fields = json!({"text": "The vault opens with a dance", "supersedes": memory.id, "sharing": "private"});
            world.decide(&caller("bob"), fields);
        }),
        ("a deletion", World::delete),
        ("a retraction", |world, memory| {
            let fields = json!({"id": memory.id, "reason": "It was never so"});
            world.book.retract_memory(&caller("bob"), &request::<RetractMemory>(fields)).unwrap();
        }),
        ("a deletion that is taken back", |world, memory| {
            world.delete(memory);
            let restore = request::<RestoreMemory>(json!({"id": memory.id}));
            world.book.restore_memory(&caller("bob"), &restore).unwrap();
        }),
    ];
    let share = |world: &World, memory: &Memory, sharing: &str| {
        let fields = request::<UpdateMemory>(json!({"id": memory.id, "sharing": sharing}));
        world.book.update_memory(&caller("bob"), &fields).unwrap();
    };
    // All that ann and dan hear of in a world where bob makes a memory private, and acts on it or not.
    let heard = |act: Option<Act>| {
        let world = World::new();
        let (retries, _, ann) = world.two_facts();
        let plan = world.decide(&ann, json!({"text": DECISION})).memory;
        let hand = request::<CreateHandoff>(
            json!({"to": "dan", "task": "Run the load test", "memories": [retries.id]}),
        );
        world.book.create_handoff(&ann, &hand).unwrap();
        let own = json!({"text": "The vault has one door", "based_on": [retries.id]});
        let own = world.decide(&caller("bob"), own).memory;
        world.clock.set(at(1));
        // A mark that ann has of before, of a change that she could see.
        world.correct(&retries, "The checkout service retries a payment six times");
        share(&world, &retries, "private");
        let gone = |session: &str, text: &str| {
            let ann = in_session("ann", session);
            let stale = world.decide(&ann, json!({"text": text})).stale;
            stale.iter().filter(|stale| stale.memory == retries.id).cloned().collect::<Vec<_>>()
        };
        assert_eq!(
            changes(&gone("s1", "A checkout payment retries at night")),
            [MemoryChangeKind::Deleted]
        );
        world.clock.set(at(2));
        act.into_iter().for_each(|act| act(&world, &retries));
        world.clock.set(at(3));
        let events = |agent: &str| {
            let all = request::<ListEvents>(json!({"limit": 100}));
            let events = world.book.list_events(&caller(agent), &all).unwrap().items;
            // The id of a context follows the number of all ids.
            let told = events.into_iter().filter(|event| event.kind != EventKind::ContextBuilt);
            told.map(|event| (event.kind, event.actor, event.subject)).collect::<Vec<_>>()
        };
        // The owner hears of each change.
        let of_own = (EventKind::MemoryOutdated, retries.owner.clone(), own.id.to_string());
        let marks = events("bob").into_iter().filter(|event| *event == of_own).count();
        assert_eq!(marks, 1 + act.iter().count());
        let brief = |agent: &str| {
            let fields = json!({"client_session": "s1", "prompt": "What is for lunch?"});
            let text = world.book.get_briefing(&caller(agent), &request::<GetBriefing>(fields));
            text.unwrap()
                .text
                .lines()
                .filter(|line| line.contains("was "))
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        let said = json!([
            brief("ann"),
            brief("dan"),
            events("ann"),
            events("dan"),
            world.outdated("ann"),
            gone("s1", "A checkout payment retries at noon")
        ]);
        let ids = [(plan.id.to_string(), "PLAN"), (retries.id.to_string(), "RETRIES")];
        ids.iter().fold(said.to_string(), |said, (id, name)| said.replace(id, name))
    };
    let silence = heard(None);
    for (name, act) in table {
        assert_eq!(heard(Some(act)), silence, "{name}");
    }
}
