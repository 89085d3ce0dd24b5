//! Retractions: what a wrong memory reached, who hears of it, and how it is taken back.

use std::collections::BTreeSet;

use commonbook::base::error::{Error, ErrorKind};
use commonbook::base::id::MemoryId;
use commonbook::model::caller::{Caller, EntryPoint};
use commonbook::model::event::{EventKind, ListEvents};
use commonbook::model::lineage::{Basis, DerivedId};
use commonbook::model::memory::{GetMemory, Memory, RadiusKind, RetractionResult, UpdateMemory};
use commonbook::prompt::context::choose::ContextSource;
use serde_json::{Value, json};

use crate::{World, at, caller, elsewhere, request};

const FRIDAY: &str = "The shop is deployed on Fridays at 16:00";
const QUESTION: &str = "On which day is the shop deployed?";
const REASON: &str = "the release calendar moved to Tuesdays";

impl World {
    fn retract(&self, caller: &Caller, id: MemoryId) -> Result<RetractionResult, Error> {
        let fields = json!({"id": id, "reason": REASON});
        self.book.retract_memory(caller, &request(fields))
    }

    fn radius(&self, caller: &Caller, id: MemoryId) -> RetractionResult {
        let fields = json!({"id": id, "reason": REASON, "dry_run": true});
        self.book.retract_memory(caller, &request(fields)).unwrap()
    }

    fn undo(&self, agent: &str, retracted: &RetractionResult) -> Result<u64, ErrorKind> {
        let fields = json!({"operation_id": retracted.operation});
        let undone = self.book.undo_operation(&caller(agent), &request(fields));
        undone.map(|undone| undone.memories).map_err(|error| error.kind)
    }

    fn shown(&self, agent: &str, id: MemoryId) -> Memory {
        self.book.get_memory(&caller(agent), &GetMemory { id: id.into(), at: None }).unwrap()
    }

    /// What an agent hears of retractions in its next context.
    fn hears(&self, agent: &str) -> Vec<String> {
        let context = self.context_for(agent, "Prepare the release notes");
        let told = context.items.iter().filter(|item| item.source == ContextSource::Retraction);
        told.map(|_| context.text.clone()).collect()
    }
}

/// The person at the command line.
fn person() -> Caller {
    caller("anonymous")
}

fn agents(result: &RetractionResult) -> Vec<&str> {
    let nodes = result.blast_radius.nodes.iter();
    nodes.filter(|node| node.kind == RadiusKind::Agent).map(|node| node.id.as_str()).collect()
}

#[test]
fn a_retracted_memory_is_not_found_or_told_and_shows_its_mark() {
    let world = World::new();
    let wrong = world.save("ann", FRIDAY);
    assert!(world.context_for("bob", QUESTION).text.contains("Fridays"));
    let retracted = world.retract(&caller("ann"), wrong.id).unwrap();
    let mark = retracted.memory.retraction.clone().unwrap();
    assert_eq!((mark.reason.as_str(), mark.by.as_str(), mark.at), (REASON, "ann", at(0)));

    assert!(world.search("cleo", "shop deployed").hits.is_empty());
    let context = world.context_for("cleo", QUESTION);
    assert!(!context.text.contains("Fridays"), "{}", context.text);
    assert_eq!(world.shown("cleo", wrong.id).retraction, Some(mark));
    let events = world.events("cleo");
    assert!(events.iter().any(|(_, kind, _)| *kind == EventKind::MemoryRetracted));

    let error = world.retract(&caller("ann"), wrong.id).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Conflict);
}

#[test]
fn each_agent_that_was_told_hears_of_it_once() {
    let world = World::new();
    let wrong = world.save("ann", FRIDAY);
    world.context_for("bob", QUESTION);
    world.clock.set(at(30));
    world.retract(&caller("ann"), wrong.id).unwrap();
    let heard = world.hears("bob");
    assert_eq!(heard.len(), 1);
    let told = "What ann told you on 2026-11-21 was wrong: “The shop is deployed on Fridays at \
                16:00”, because the release calendar moved to Tuesdays.";
    let text = heard[0].replace("\n> ", " ");
    assert!(text.contains(told), "{text}");
    assert!(world.hears("bob").is_empty());
    assert!(world.hears("cleo").is_empty());
    assert!(world.hears("ann").is_empty());
}

#[test]
fn a_briefing_tells_it_as_a_context_does() {
    let world = World::new();
    let wrong = world.save("ann", FRIDAY);
    world.context_for("bob", QUESTION);
    world.retract(&caller("ann"), wrong.id).unwrap();
    let brief = |session: &str, prompt: Option<&str>| {
        let fields = json!({"client_session": session, "prompt": prompt});
        world.book.get_briefing(&caller("bob"), &request(fields)).unwrap().text
    };
    let first = brief("one", None);
    assert_eq!(first.matches("told you on").count(), 1, "{first}");
    assert!(!brief("one", Some("Prepare the release")).contains("told you on"));
    assert!(!brief("two", None).contains("told you on"));

    let wrong = world.save("ann", "The shop is deployed from the branch main");
    world.context_for("bob", "From which branch is the shop deployed?");
    world.retract(&caller("ann"), wrong.id).unwrap();
    let prompted = brief("three", Some("Prepare the release"));
    assert_eq!(prompted.matches("told you on").count(), 1, "{prompted}");
}

#[test]
fn an_undo_brings_all_back_and_tells_those_who_heard() {
    let world = World::new();
    let wrong = world.save("ann", &format!("{FRIDAY}."));
    world.context_for("bob", QUESTION);
    world.context_for("cleo", QUESTION);
    let retracted = world.retract(&caller("ann"), wrong.id).unwrap();
    assert_eq!(world.hears("bob").len(), 1);
    assert_eq!(world.undo("bob", &retracted), Err(ErrorKind::NotFound));
    assert_eq!(world.undo("ann", &retracted), Ok(1));
    assert_eq!(world.undo("ann", &retracted), Err(ErrorKind::Conflict));

    assert_eq!(world.shown("bob", wrong.id).retraction, None);
    assert_eq!(world.search("cleo", "shop deployed").hits.len(), 1);
    let heard = world.hears("bob");
    assert!(heard[0].contains("holds after all"), "{heard:?}");
    assert!(heard[0].contains("16:00”.\n"), "one full stop: {heard:?}");
    assert!(world.hears("bob").is_empty());
    assert!(world.hears("cleo").is_empty(), "cleo never heard of the retraction");
}

#[test]
fn only_the_author_those_above_and_a_person_retract() {
    let world = World::new();
    let wrong = world.save("ann/engineer", FRIDAY);
    let error = world.retract(&caller("bob"), wrong.id).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Forbidden);
    let secret = world.save_private("ann", "The key is under the mat");
    let unknown = world.retract(&caller("bob"), secret.id).unwrap_err();
    assert_eq!(unknown.kind, ErrorKind::NotFound);
    assert_eq!(world.retract(&person(), secret.id).unwrap_err().kind, ErrorKind::NotFound);

    let retracted = world.retract(&person(), wrong.id).unwrap();
    assert_eq!(retracted.blast_radius.agents, 1);
    let heard = world.hears("ann/engineer");
    assert!(heard[0].contains("Your memory was retracted"), "the author hears of it: {heard:?}");
}

#[test]
fn a_dry_run_shows_the_tree_and_changes_nothing() {
    let world = World::new();
    let wrong = world.save("ann", FRIDAY);
    world.context_for("bob", QUESTION);
    world.context_for("ann/scout", QUESTION);
    let fields = json!({"to": "cleo", "task": "Deploy the shop", "memories": [wrong.id]});
    let handoff = world.hand(&caller("ann"), fields).unwrap().handoff;
    let before = world.events("ann").len();

    let seen = world.radius(&person(), wrong.id);
    assert_eq!((seen.operation, seen.blast_radius.agents), (None, 3));
    assert_eq!(agents(&seen), ["ann/scout", "bob"]);
    let nodes = &seen.blast_radius.nodes;
    assert_eq!((nodes[0].kind, nodes[0].depth), (RadiusKind::Memory, 0));
    assert!(nodes.iter().any(|node| node.id == handoff.id.to_string() && node.depth == 1));
    // An agent sees what it and those below it received, and how many others there are.
    let own = world.radius(&caller("ann"), wrong.id);
    assert_eq!((own.blast_radius.agents, agents(&own)), (2, vec!["ann/scout"]));
    assert_eq!(world.events("ann").len(), before);
    assert_eq!(world.shown("bob", wrong.id).retraction, None);
    assert!(world.hears("bob").is_empty());
    let unexplained = |dry_run: bool| {
        let fields = json!({"id": wrong.id, "dry_run": dry_run});
        world.book.retract_memory(&caller("ann"), &request(fields)).map(drop)
    };
    unexplained(true).unwrap();
    let refused = unexplained(false).unwrap_err();
    assert_eq!((refused.kind, refused.field.as_deref()), (ErrorKind::Invalid, Some("reason")));
}

#[test]
fn a_handoff_that_carries_it_tells_at_accept_that_it_was_retracted() {
    let world = World::new();
    let wrong = world.save("ann", FRIDAY);
    let fields = json!({"to": "bob", "task": "Deploy the shop", "memories": [wrong.id]});
    let handoff = world.hand(&caller("ann"), fields).unwrap().handoff;
    world.retract(&caller("ann"), wrong.id).unwrap();
    let accepted = world.accept("bob", handoff.id).unwrap();
    assert!(!accepted.text.contains("16:00"), "{}", accepted.text);
    assert!(accepted.text.contains("was retracted since"), "{}", accepted.text);
    let receipt = world.receipt(&caller("bob"), handoff.id).unwrap();
    assert_eq!(json!(receipt)["changed"][0]["change"], "retracted");
    assert!(world.hears("bob").is_empty(), "it never received it");
}

#[test]
fn saving_the_same_again_says_who_retracted_it() {
    let world = World::new();
    let wrong = world.save("ann", FRIDAY);
    world.retract(&caller("ann"), wrong.id).unwrap();
    for agent in ["bob", "ann"] {
        let fields = json!({"text": FRIDAY});
        let saved = world.book.save_memory(&caller(agent), &request(fields)).unwrap();
        assert_ne!(saved.memory.id, wrong.id);
        let twin = saved.retracted.unwrap();
        assert_eq!((twin.id, twin.by.as_str()), (wrong.id, "ann"));
        assert!(saved.hint.unwrap().contains("ann retracted the same on 2026-11-21"));
    }
    let other = json!({"text": "The canteen opens at noon"});
    let saved = world.book.save_memory(&caller("bob"), &request(other)).unwrap();
    assert_eq!((saved.retracted, saved.hint), (None, None));
    let secret = world.save_private("ann", "The vault opens at nine");
    world.retract(&caller("ann"), secret.id).unwrap();
    let same = json!({"text": "The vault opens at nine"});
    let saved = world.book.save_memory(&caller("bob"), &request(same)).unwrap();
    assert_eq!(saved.retracted, None, "a private memory does not exist for others");
}

#[test]
fn a_memory_of_global_reaches_agents_of_other_workspaces() {
    let world = World::new();
    let save = request(json!({"text": FRIDAY}));
    let wrong = world.book.save_memory(&elsewhere("ann", "global"), &save).unwrap().memory;
    let context = world.context(&elsewhere("bob", "y"), json!({"task": QUESTION}));
    assert!(context.text.contains("Fridays"));
    let retracted = world.retract(&caller("ann"), wrong.id).unwrap();
    assert_eq!(retracted.blast_radius.agents, 1);
    let next = world.context(&elsewhere("bob", "y"), json!({"task": "Go on"}));
    assert!(next.text.contains("told you on"), "{}", next.text);
    assert_eq!(world.undo("ann", &retracted), Ok(1));
    assert_eq!(world.shown("bob", wrong.id).retraction, None);
}

#[test]
fn what_is_hidden_from_an_agent_since_is_not_told_again() {
    let world = World::new();
    let wrong = world.save("ann", FRIDAY);
    world.context_for("bob", QUESTION);
    let hide: UpdateMemory = request(json!({"id": wrong.id, "sharing": "private"}));
    world.book.update_memory(&caller("ann"), &hide).unwrap();
    world.retract(&caller("ann"), wrong.id).unwrap();
    assert!(world.hears("bob").is_empty());
    let events = world.book.list_events(&caller("bob"), &ListEvents::default()).unwrap();
    let retracted = |kind| kind == EventKind::MemoryRetracted;
    assert!(!events.items.iter().any(|event| retracted(event.kind)));
    let named = |value: &Value| value.to_string().contains(FRIDAY);
    assert!(!events.items.iter().any(|event| named(&json!(event.details))));
}

#[test]
fn a_retraction_is_replayed_in_the_context_that_told_it() {
    let world = World::new();
    let wrong = world.save("ann", FRIDAY);
    world.context_for("bob", QUESTION);
    world.clock.set(at(1));
    world.retract(&caller("ann"), wrong.id).unwrap();
    world.clock.set(at(2));
    let context = world.context_for("bob", "Prepare the release notes");
    assert_eq!(context.items[0].source, ContextSource::Retraction);
    let replay = world.explained("bob", &context, true).replay.unwrap();
    assert!(replay.same, "{replay:?}");
}

/// A team of fifty, each member of which learns of the deployment in its own way, or not at all.
#[test]
fn in_a_team_of_fifty_a_retraction_reaches_exactly_those_who_were_told() {
    let world = World::new();
    let wrong = world.save("agent-0", FRIDAY);
    world.save("agent-0", "The canteen opens at noon");
    let open = json!({"key": "ship", "title": "Ship"});
    world.book.open_case(&caller("agent-0"), &request(open)).unwrap();
    let mut expected = BTreeSet::new();
    for number in 1..50 {
        let agent = format!("agent-{number}");
        match number % 5 {
            0 => drop(world.context_for(&agent, QUESTION)),
            1 => {
                let fields = json!({"client_session": "s", "prompt": QUESTION});
                world.book.get_briefing(&caller(&agent), &request(fields)).unwrap();
            }
            2 => {
                let fields = json!({"to": agent, "task": "Deploy", "memories": [wrong.id]});
                let handoff = world.hand(&caller("agent-0"), fields).unwrap().handoff;
                world.accept(&agent, handoff.id).unwrap();
            }
            // These received something else, and those nothing.
            3 => {
                world.context_for(&agent, "When does the canteen open?");
                continue;
            }
            _ => {
                world.save(&agent, &format!("Note {number} of the build server"));
                continue;
            }
        }
        expected.insert(agent);
    }
    // An agent can receive it in another way too.
    let told =
        world.book.who_knows(&person(), &request(json!({"memory": wrong.id, "state": "current"})));
    let told: BTreeSet<String> = (told.unwrap().items.remove(0).agents.into_iter())
        .filter(|known| known.origin != "author")
        .map(|known| known.agent.to_string())
        .collect();
    assert!(told.is_superset(&expected), "{told:?}");
    assert!(told.len() < 45, "some were not told: {}", told.len());

    let retracted = world.retract(&caller("agent-0"), wrong.id).unwrap();
    assert_eq!(retracted.blast_radius.agents, told.len() as u64);
    for number in 0..50 {
        let agent = format!("agent-{number}");
        let heard = world.hears(&agent).len() + world.hears(&agent).len();
        assert_eq!(heard, usize::from(told.contains(&agent)), "{agent}");
        let kinds = json!({"events": ["agent.memory.retracted"], "limit": 100});
        let events = world.book.list_events(&caller(&agent), &request(kinds)).unwrap().items;
        assert_eq!(events.len(), usize::from(told.contains(&agent)), "{agent}");
    }
}

#[test]
fn readers_of_a_case_hear_of_an_entry_that_is_retracted() {
    let world = World::new();
    let append = json!({"key": "ship", "title": "Ship", "entries": [{"summary": FRIDAY}]});
    let appended = world.book.append_entries(&caller("ann"), &request(append)).unwrap();
    let entry = json!(appended)["entries"][0]["entry_id"].as_str().map(str::to_owned);
    let read = |agent: &str, mark: bool| {
        let fields = json!({"key": "ship", "mark": mark});
        world.book.read_case(&caller(agent), &request(fields)).unwrap()
    };
    let first = read("bob", true);
    read("cleo", false);
    let id = first.entries[0].entry_id.unwrap();
    assert!(entry.is_none_or(|entry| entry == id.to_string()));
    world.retract(&caller("ann"), id).unwrap();
    assert_eq!(world.hears("bob").len(), 1);
    assert!(world.hears("cleo").is_empty(), "cleo has not marked the case as read");
    let again = json!({"key": "ship", "after": 0});
    let again = world.book.read_case(&caller("dora"), &request(again)).unwrap();
    assert!(again.entries[0].retraction.is_some());
    let text = world.book.get_case_context(&caller("dora"), &request(json!({"key": "ship"})));
    assert!(!text.unwrap().text.contains("16:00"));
}

#[test]
fn what_a_digest_made_of_it_is_retracted_with_it() {
    let world = World::new();
    let open = json!({"key": "ship", "title": "Deployment of the shop"});
    world.book.open_case(&caller("ann"), &request(open)).unwrap();
    let start = json!({"case": "ship"});
    let session = world.book.start_session(&caller("ann"), &request(start)).unwrap();
    let session = json!(session)["session"]["id"].as_str().unwrap().to_owned();
    let ann = caller("ann").in_session(Some(&session)).unwrap();
    let wrong = world.keeps(&ann, json!({"text": FRIDAY, "memory_type": "decision"}));
    let digest = world.book.digest_case(&caller("ann"), &request(json!({"key": "ship"}))).unwrap();
    assert_eq!(digest.proposed.len(), 1, "{digest:?}");
    let read = json!({"key": "ship", "mark": true});
    let entries = world.book.read_case(&caller("bob"), &request(read)).unwrap().entries;
    let copy = entries.last().and_then(|entry| entry.entry_id).unwrap();

    let retracted = world.retract(&caller("ann"), wrong.id).unwrap();
    assert_eq!(retracted.blast_radius.retracted, 1);
    assert!(world.shown("bob", copy).retraction.is_some());
    assert_eq!(world.hears("bob").len(), 1);
    assert_eq!(world.undo("ann", &retracted), Ok(2));
    assert_eq!(world.shown("bob", copy).retraction, None);
}

#[test]
fn a_door_that_proves_no_name_is_no_person() {
    let world = World::new();
    let wrong = world.save("ann", FRIDAY);
    let anonymous = Caller::new(None, "x".parse().unwrap(), EntryPoint::Rest);
    assert_eq!(world.retract(&anonymous, wrong.id).unwrap_err().kind, ErrorKind::Forbidden);
}

#[test]
fn a_purge_takes_what_was_recorded_of_the_memory() {
    let world = World::new();
    let wrong = world.save("ann", FRIDAY);
    world.context_for("bob", QUESTION);
    world.retract(&caller("ann"), wrong.id).unwrap();
    world.book.purge_memory(&caller("ann"), &request(json!({"id": wrong.id}))).unwrap();
    let left = world.book.store().read(|tx| {
        let told = tx.knowledge(None, &[wrong.id], &[])?.len();
        let bob = caller("bob");
        let waiting = tx.retraction_notices(&bob.workspace, &bob.agent, None, None, 10)?;
        Ok(told + waiting.len())
    });
    assert_eq!(left.unwrap(), 0);
    assert!(world.hears("bob").is_empty());
}

#[test]
fn what_was_derived_from_it_stays_and_its_author_hears_of_it() {
    let world = World::new();
    let wrong = world.save("ann", FRIDAY);
    let plan = world.save("bob", "The freeze of the shop begins on Thursday evening");
    let basis = Basis {
        workspace: plan.workspace.clone(),
        derived: DerivedId::Memory(plan.id),
        origin: wrong.workspace.clone(),
        memory: wrong.id,
        revision: 1,
        context: None,
        recorded_at: at(0),
    };
    world.book.store().write(move |tx| tx.add_basis(std::slice::from_ref(&basis))).unwrap();
    let retracted = world.retract(&caller("ann"), wrong.id).unwrap();
    let radius = &retracted.blast_radius;
    assert_eq!((radius.agents, radius.retracted), (1, 0));
    let node = radius.nodes.iter().find(|node| node.id == plan.id.to_string()).unwrap();
    assert_eq!((node.kind, node.depth), (RadiusKind::Memory, 1));
    assert!(node.how.contains("to review"), "{node:?}");
    assert_eq!(world.shown("bob", plan.id).retraction, None);
    assert_eq!(world.hears("bob"), Vec::<String>::new(), "nothing that he wrote was retracted");
    let task = json!({"task": "Plan the freeze of the shop"});
    let warnings = world.book.get_context(&caller("bob"), &request(task)).unwrap().warnings;
    let expected =
        format!("Review {}: it rests on {}, which was retracted by ann.", plan.id, wrong.id);
    assert_eq!(warnings, [expected]);
}

#[test]
fn a_standing_memory_file_with_its_text_is_named() {
    let world = World::new();
    let book = world.book.clone().with_home(world.home().to_owned());
    let folder = world.home().join("memories");
    std::fs::create_dir_all(&folder).unwrap();
    let text = format!("## Known Issues\n- {FRIDAY}\n");
    std::fs::write(folder.join("engineer.md"), &text).unwrap();
    std::fs::write(folder.join("writer.md"), "## Known Issues\n- Never shout\n").unwrap();
    let wrong = world.save("ann", FRIDAY);
    let fields = json!({"id": wrong.id, "reason": REASON});
    let retracted = book.retract_memory(&caller("ann"), &request(fields)).unwrap();
    let nodes = retracted.blast_radius.nodes.iter();
    let files: Vec<_> = nodes.filter(|node| node.kind == RadiusKind::Standing).collect();
    assert_eq!(files.len(), 1);
    assert!(files[0].id.ends_with("engineer.md"), "{files:?}");
    assert_eq!(std::fs::read_to_string(folder.join("engineer.md")).unwrap(), text);
}
