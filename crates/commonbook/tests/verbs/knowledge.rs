//! Who knows what: told and current, told and stale, never told; as of a time; between two agents.

use commonbook::base::error::ErrorKind;
use commonbook::base::page::Page;
use commonbook::model::caller::Caller;
use commonbook::model::knowledge::KnownMemory;
use commonbook::model::memory::UpdateMemory;
use serde_json::{Value, json};

use crate::{World, at, caller, request};

const FRIDAY: &str = "The shop is deployed on Fridays at 16:00";
const QUESTION: &str = "On which day is the shop deployed?";

impl World {
    fn knows(&self, caller: &Caller, fields: Value) -> Page<KnownMemory> {
        self.book.who_knows(caller, &request(fields)).unwrap()
    }

    /// What the person reads: each agent with its state, of the first memory.
    fn states(&self, fields: Value) -> Vec<String> {
        let items = self.knows(&caller("anonymous"), fields).items;
        let agents = items.first().map(|known| known.agents.clone()).unwrap_or_default();
        agents.iter().map(|known| format!("{} {}", known.agent, known.state)).collect()
    }
}

#[test]
fn a_memory_is_known_as_it_is_or_was_or_not_at_all() {
    let world = World::new();
    let fact = world.save("ann", FRIDAY);
    world.context_for("bob", QUESTION);
    world.save("dora", "The canteen opens at noon");
    world.clock.set(at(1));
    let change: UpdateMemory =
        request(json!({"id": fact.id, "text": "The shop is deployed on Tuesdays"}));
    world.book.update_memory(&caller("ann"), &change).unwrap();
    world.clock.set(at(2));
    world.context_for("cleo", QUESTION);

    let of = json!({"memory": fact.id});
    assert_eq!(world.states(of), ["ann current", "bob stale", "cleo current", "dora never"]);
    let stale = json!({"memory": fact.id, "state": "stale"});
    let known = world.knows(&caller("anonymous"), stale).items.remove(0);
    let bob = &known.agents[0];
    assert_eq!((bob.revision, bob.at, bob.origin.as_str()), (Some(1), Some(at(0)), "context"));
    assert!(bob.context.is_some());
    assert_eq!((known.revision, known.says.as_str()), (2, "The shop is deployed on Tuesdays"));
    // As it was before the change.
    let then = json!({"memory": fact.id, "at": at(0).to_string()});
    assert_eq!(world.states(then), ["ann current", "bob current", "cleo never", "dora never"]);
}

#[test]
fn two_agents_are_compared() {
    let world = World::new();
    let friday = world.save("ann", FRIDAY);
    let noon = world.save("ann", "The canteen opens at noon");
    world.context_for("bob", QUESTION);
    for agent in ["bob", "cleo"] {
        world.context_for(agent, "When does the canteen open?");
    }
    let differ = json!({"agent": "bob", "with": "cleo"});
    let found = world.knows(&caller("anonymous"), differ).items;
    assert_eq!(found.iter().map(|known| known.memory).collect::<Vec<_>>(), [friday.id]);
    let states: Vec<String> = found[0].agents.iter().map(|known| known.state.to_string()).collect();
    assert_eq!(states, ["current", "never"]);
    let all = world.knows(&caller("anonymous"), json!({"agent": "bob"})).items;
    assert_eq!(all.iter().map(|known| known.memory).collect::<Vec<_>>(), [noon.id, friday.id]);
}

#[test]
fn an_agent_sees_what_it_and_those_below_it_were_told() {
    let world = World::new();
    let fact = world.save("ann", FRIDAY);
    world.save_private("ann", "The key is under the mat");
    for agent in ["bob", "cleo", "cleo/scout"] {
        world.context_for(agent, QUESTION);
    }
    let seen = world.knows(&caller("cleo"), json!({"memory": fact.id})).items.remove(0);
    let names: Vec<&str> = seen.agents.iter().map(|known| known.agent.as_str()).collect();
    assert_eq!(names, ["cleo", "cleo/scout"]);
    let ask = request(json!({"agent": "bob"}));
    let refused = world.book.who_knows(&caller("cleo"), &ask).unwrap_err();
    assert_eq!((refused.kind, refused.field.as_deref()), (ErrorKind::Forbidden, Some("owner")));
    let all = world.knows(&caller("cleo"), json!({"state": "never"}));
    assert!(!json!(all).to_string().contains("under the mat"));
    let secret = world.save_private("ann", "The safe is behind the mirror");
    let ask = request(json!({"memory": secret.id}));
    assert_eq!(world.book.who_knows(&caller("bob"), &ask).unwrap_err().kind, ErrorKind::NotFound);
}

#[test]
fn facts_of_a_case_and_of_an_entity() {
    let world = World::new();
    let entries = json!([{"summary": FRIDAY}, {"summary": "The gate is locked"}]);
    let append = json!({"key": "ship", "title": "Ship", "entries": entries});
    world.book.append_entries(&caller("ann"), &request(append)).unwrap();
    let read = json!({"key": "ship", "limit": 1, "mark": true});
    world.book.read_case(&caller("bob"), &request(read)).unwrap();
    let of_case = world.knows(&caller("bob"), json!({"case": "ship"})).items;
    let state =
        |known: &KnownMemory| (known.agents[0].state.to_string(), known.agents[0].origin.clone());
    let states: Vec<_> = of_case.iter().map(state).collect();
    let expected = [("never", ""), ("current", "case")];
    assert_eq!(states, expected.map(|(state, origin)| (state.to_owned(), origin.to_owned())));

    let entities = json!([{"type": "tool", "value": "Forge"}]);
    let forge =
        world.kept("ann", json!({"text": "Forge signs the packages", "entities": entities}));
    world.context_for("bob", "Which tool signs the packages?");
    let of_entity = world.knows(&caller("bob"), json!({"entity": "tool:Forge"})).items;
    assert_eq!(of_entity.iter().map(|known| known.memory).collect::<Vec<_>>(), [forge.id]);
    assert_eq!(of_entity[0].agents[0].state.to_string(), "current");
}

#[test]
fn pages_hold_each_memory_once() {
    let world = World::new();
    for number in 0..7 {
        world.save("ann", &format!("Rule {number} of the harbour: {number} boats"));
    }
    let (mut found, mut cursor) = (Vec::new(), None);
    loop {
        let page = world.knows(&caller("ann"), json!({"limit": 3, "cursor": cursor}));
        found.extend(page.items.iter().map(|known| known.memory));
        cursor = page.next;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(found.len(), 7);
    found.dedup();
    assert_eq!(found.len(), 7);
}

#[test]
fn what_does_not_hold_is_stale_and_nobody_needs_it() {
    let world = World::new();
    let fact = world.save("ann", FRIDAY);
    world.context_for("bob", QUESTION);
    world.save("cleo", "The canteen opens at noon");
    let newer = json!({"text": "The shop is deployed on Tuesdays", "supersedes": fact.id});
    let newer = world.kept("ann", newer);
    let known = world.knows(&caller("anonymous"), json!({"memory": fact.id})).items.remove(0);
    assert_eq!(known.superseded_by, Some(newer.id));
    let states: Vec<String> =
        known.agents.iter().map(|known| format!("{} {}", known.agent, known.state)).collect();
    assert_eq!(states, ["ann current", "bob stale"]);
}
