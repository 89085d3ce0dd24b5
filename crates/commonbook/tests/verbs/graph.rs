//! The graph: relations, walks, and visibility.

use std::collections::BTreeSet;

use commonbook::base::error::{ErrorKind, Result};
use commonbook::base::id::handle;
use commonbook::model::event::EventKind;
use commonbook::model::graph::export::KnowledgeSubgraph;
use commonbook::model::graph::{GraphSource, Relation};
use commonbook::model::import;
use commonbook::model::origin::TextOrigin;
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

#[test]
fn every_node_and_link_names_its_author_and_what_a_file_brought() {
    let world = World::new();
    chain(&world);
    let fields =
        json!({"text": "Redis serves project:Amber", "entities": ["tool:Redis", "project:Amber"]});
    let saved = world.book.save_memory(&caller("bob"), &request(fields)).unwrap().memory;
    let better = json!({"text": "Valkey serves project:Amber", "supersedes": saved.id});
    world.book.save_memory(&caller("bob"), &request(better)).unwrap();
    relate(&world, "cy", json!({"from": "Amber", "to": "Dolomite", "type": "blocks"})).unwrap();
    let line = json!({"text": "Amber shuts in May", "owner": "eve", "entities": ["project:Amber", "place:Ghent"]});
    let line = import::parse(line.to_string().as_bytes(), TextOrigin::File).unwrap();
    world.book.import_lines(&caller("human"), None, vec![line]).unwrap();
    let graph = walk(&world, "dan", json!({"from": "Amber", "depth": 2})).unwrap();
    let sources = GraphSource::line;
    let of_node = |label: &str| {
        let node = graph.nodes.iter().find(|node| node.label == label);
        sources(&node.unwrap_or_else(|| panic!("{label}: {graph:?}")).source)
    };
    let file_line = of_node("Amber shuts in May");
    assert_eq!(file_line, "eve, untrusted");
    let table = [
        ("Amber", "ann"),
        ("Redis", "bob"),
        ("Redis serves project:Amber", "bob"),
        ("Ghent", file_line.as_str()),
    ];
    for (label, author) in table {
        assert_eq!(of_node(label), author, "{label}");
    }
    let of_amber = request(json!({"entity": "project:Amber"}));
    let mentions = world.book.entity_mentions(&caller("dan"), &of_amber).unwrap().items;
    let notes = mentions.iter().map(|found| (found.owner.as_str(), found.origin_note.as_deref()));
    assert_eq!(notes.collect::<Vec<_>>(), [("bob", None), ("eve", Some("untrusted"))]);
    let authors_of = |kind: &str| {
        let links = graph.links.iter().filter(|link| link.relation_type.as_str() == kind);
        links.map(|link| sources(&link.source)).collect::<BTreeSet<_>>()
    };
    let table = [
        ("uses", vec!["ann"]),
        ("blocks", vec!["cy"]),
        ("supersedes", vec!["bob"]),
        ("mentions", vec!["bob", file_line.as_str()]),
    ];
    for (kind, authors) in table {
        let authors: BTreeSet<String> = authors.into_iter().map(str::to_owned).collect();
        assert_eq!(authors_of(kind), authors, "{kind}");
    }
    let written = serde_json::to_value(&graph.links).unwrap();
    assert!(written.as_array().unwrap().iter().all(|link| link["author"].is_string()), "{written}");
    let drawn =
        walk(&world, "dan", json!({"from": "Amber", "format": "dot"})).unwrap().dot.unwrap();
    assert!(drawn.contains("tooltip=\"cy\"") && drawn.contains(&file_line), "{drawn}");
}
