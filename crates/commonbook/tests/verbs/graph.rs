//! The graph: relations, walks, and visibility.

use commonbook::base::error::{ErrorKind, Result};
use commonbook::base::id::handle;
use commonbook::model::event::EventKind;
use commonbook::model::graph::Relation;
use commonbook::model::graph::export::KnowledgeSubgraph;
use serde_json::{Value, json};

use crate::{World, at, caller, request};

fn relate(world: &World, agent: &str, fields: Value) -> Result<Relation> {
    world.book.add_relation(&caller(agent), &request(fields))
}

fn walk(world: &World, agent: &str, fields: Value) -> Result<KnowledgeSubgraph> {
    world.book.graph_query(&caller(agent), &request(fields))
}

fn labels(graph: &KnowledgeSubgraph) -> Vec<&str> {
    graph.nodes.iter().map(|node| node.label.as_str()).collect()
}

fn stated(world: &World, value: &str) {
    let fields = json!({"type": "project", "value": value});
    world.book.resolve_entity(&caller("ann"), &request(fields)).unwrap();
}

/// Projects a, b, c, d, each used by the next.
fn chain(world: &World) {
    for value in ["Amber", "Basalt", "Cobalt", "Dolomite"] {
        stated(world, value);
    }
    for (from, to) in [("Amber", "Basalt"), ("Basalt", "Cobalt"), ("Cobalt", "Dolomite")] {
        relate(world, "ann", json!({"from": from, "to": to, "type": "uses"})).unwrap();
    }
}

#[test]
fn a_walk_returns_near_nodes_and_a_path_reaches_far_ones() {
    let world = World::new();
    chain(&world);
    let near = |depth: u32| walk(&world, "bob", json!({"from": "Amber", "depth": depth})).unwrap();
    assert_eq!(labels(&near(1)), ["Amber", "Basalt"]);
    assert_eq!(labels(&near(3)), ["Amber", "Basalt", "Cobalt", "Dolomite"]);
    let path = walk(&world, "bob", json!({"from": "Dolomite", "to": "Amber"})).unwrap();
    assert_eq!(labels(&path), ["Dolomite", "Cobalt", "Basalt", "Amber"]);
    assert_eq!(path.connected, Some(true));
    stated(&world, "Elsewhere");
    let none = walk(&world, "bob", json!({"from": "Elsewhere", "to": "Amber"})).unwrap();
    assert_eq!((none.connected, none.links.len()), (Some(false), 0));
    let out = walk(&world, "bob", json!({"from": "Basalt", "direction": "out"})).unwrap();
    assert_eq!(labels(&out), ["Basalt", "Cobalt"]);
    let other = walk(&world, "bob", json!({"from": "Basalt", "relations": ["part_of"]})).unwrap();
    assert_eq!(labels(&other), ["Basalt"]);
    let dot = walk(&world, "bob", json!({"from": "Basalt", "format": "dot"})).unwrap().dot.unwrap();
    assert!(dot.starts_with("digraph") && dot.contains("\"Cobalt\""), "{dot}");
}

#[test]
fn the_handle_of_a_memory_shows_its_entities() {
    let world = World::new();
    let saved = json!({"text": "Redis holds the sessions of project:Amber", "entities": [{"type": "tool", "value": "Redis"}]});
    let saved = world.book.save_memory(&caller("ann"), &request(saved)).unwrap();
    let id = saved.memory.id.to_string();
    for name in [handle(&id).to_owned(), format!("#{}", handle(&id))] {
        let graph = walk(&world, "bob", json!({"from": name})).unwrap();
        assert!(labels(&graph).contains(&"Redis"), "{graph:?}");
    }
    let error = walk(&world, "bob", json!({"from": "zzzzzzzz"})).unwrap_err();
    assert_eq!((error.kind, error.field.as_deref()), (ErrorKind::NotFound, Some("from")));
}

#[test]
fn repetition_makes_a_relation_stronger_and_its_validity_bounds_it() {
    let world = World::new();
    chain(&world);
    let again = json!({"from": "Amber", "to": "Basalt", "type": "uses", "valid_until": at(5)});
    let relation = relate(&world, "bob", again).unwrap();
    assert!((relation.strength - 0.6).abs() < 1e-9, "{relation:?}");
    assert_eq!((relation.count, relation.author.as_str()), (2, "ann"));
    let when = |hours| walk(&world, "bob", json!({"from": "Amber", "at": at(hours)})).unwrap();
    assert_eq!(labels(&when(4)), ["Amber", "Basalt"]);
    assert_eq!(labels(&when(5)), ["Amber"]);
    assert_eq!(labels(&when(-1)), ["Amber"], "no agent had stated it then");
    let kinds: Vec<_> = world.events("cy").into_iter().map(|(_, kind, _)| kind).collect();
    assert_eq!(kinds.iter().filter(|kind| **kind == EventKind::RelationAdded).count(), 4);
}

#[test]
fn memories_are_linked_by_mentions_and_supersedes() {
    let world = World::new();
    let old = world.save("ann", "We use Redis");
    let fields = json!({"text": "We use Valkey instead", "supersedes": old.id});
    let new = world.book.save_memory(&caller("ann"), &request(fields)).unwrap().memory;
    let graph = walk(&world, "bob", json!({"from": new.id, "depth": 2})).unwrap();
    assert_eq!(labels(&graph), ["We use Valkey instead", "We use Redis", "Valkey", "Redis"]);
    let kinds: Vec<_> = graph.links.iter().map(|link| link.relation_type.to_string()).collect();
    assert_eq!(kinds.iter().filter(|kind| *kind == "supersedes").count(), 1);
    let tools = walk(&world, "bob", json!({"from": old.id, "types": ["person"]})).unwrap();
    assert_eq!(labels(&tools), ["We use Redis", "We use Valkey instead"]);
    relate(&world, "bob", json!({"from": old.id, "to": new.id, "type": "context"})).unwrap();
    let mixed = relate(&world, "bob", json!({"from": old.id, "to": "tool:Redis", "type": "uses"}));
    assert_eq!(mixed.unwrap_err().kind, ErrorKind::Invalid);
}

#[test]
fn invisible_memories_are_not_nodes_links_or_counts() {
    let (world, without) = (World::new(), World::new());
    for world in [&world, &without] {
        chain(world);
    }
    // A path past Basalt and Cobalt over an entity that only Ann sees.
    let fields = json!({"text": "A plan", "sharing": "private", "entities": ["project:Falcon"]});
    let plan = world.book.save_memory(&caller("ann"), &request(fields)).unwrap().memory;
    for (from, to) in [("Amber", "Falcon"), ("Falcon", "Dolomite")] {
        relate(&world, "ann", json!({"from": from, "to": to, "type": "uses"})).unwrap();
    }
    let path = json!({"from": "Amber", "to": "Dolomite"});
    assert_eq!(
        labels(&walk(&world, "ann", path.clone()).unwrap()),
        ["Amber", "Falcon", "Dolomite"]
    );
    for query in [path, json!({"from": "Amber", "depth": 3}), json!({"from": "Dolomite"})] {
        let (shown, expected) = (walk(&world, "bob", query.clone()), walk(&without, "bob", query));
        let (shown, expected) = (shown.unwrap(), expected.unwrap());
        assert_eq!(labels(&shown), labels(&expected));
        assert_eq!((shown.links.len(), shown.cut), (expected.links.len(), expected.cut));
    }
    for hidden in ["Falcon".to_owned(), plan.id.to_string()] {
        let error = walk(&world, "bob", json!({"from": hidden})).unwrap_err();
        assert_eq!((error.kind, error.field.as_deref()), (ErrorKind::NotFound, Some("from")));
        let fields = json!({"from": "Amber", "to": hidden, "type": "uses"});
        assert_eq!(relate(&world, "bob", fields).unwrap_err().kind, ErrorKind::NotFound);
    }
    let kinds = |world: &World| world.events("bob").into_iter().map(|e| e.1).collect::<Vec<_>>();
    assert_eq!(kinds(&world), kinds(&without));
    let own = world.events("ann").len() - world.events("bob").len();
    assert_eq!(own, 3, "a memory and two relations");
}
