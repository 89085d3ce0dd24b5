//! Entities that are renamed, deleted and restored, and relations that are removed.

use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::model::entity::{
    DeleteEntityResult, Entity, GetEntity, ListEntities, RenameEntityResult,
};
use commonbook::model::event::EventKind;
use commonbook::model::graph::EntityDetails;
use serde_json::{Value, json};

use crate::{World, at, caller, request};

/// Calls a verb of the world.
macro_rules! call {
    ($world:expr, $verb:ident, $agent:expr, $fields:expr) => {
        $world.book.$verb(&caller($agent), &request($fields))
    };
}

fn page(world: &World, agent: &str, entity: &str) -> Result<EntityDetails> {
    let request = GetEntity { entity: entity.parse().unwrap() };
    world.book.get_entity(&caller(agent), &request)
}

fn names(world: &World, agent: &str) -> Vec<String> {
    let page = world.book.list_entities(&caller(agent), &ListEntities::default()).unwrap();
    let name = |entity: Entity| format!("{}:{}", entity.entity_type, entity.value);
    page.items.into_iter().map(name).collect()
}

fn rename(world: &World, fields: Value) -> Result<RenameEntityResult> {
    call!(world, rename_entity, "bob", fields)
}

fn delete(world: &World, agent: &str, entity: &str) -> Result<DeleteEntityResult> {
    call!(world, delete_entity, agent, json!({"entity": entity}))
}

fn mention_count(world: &World, agent: &str, entity: &str) -> Option<u64> {
    page(world, agent, entity).ok().map(|page| page.memories)
}

fn refused<T: std::fmt::Debug>(answer: Result<T>) -> (ErrorKind, Option<String>) {
    let Error { kind, field, .. } = answer.unwrap_err();
    (kind, field)
}

#[test]
fn a_renamed_entity_is_found_by_both_names_and_the_rename_can_be_undone() {
    let world = World::new();
    world.save("ann", "Deployed with Kubernetes");
    let fields = json!({"type": "tool", "value": "Kubernetes", "context": "Runs it all"});
    call!(world, resolve_entity, "ann", fields).unwrap();
    call!(world, resolve_entity, "ann", json!({"type": "project", "value": "Atlas"})).unwrap();
    let uses = json!({"from": "project:Atlas", "type": "uses", "to": "tool:Kubernetes"});
    call!(world, add_relation, "ann", uses.clone()).unwrap();
    let before = page(&world, "cy", "tool:Kubernetes").unwrap();

    let renamed = rename(&world, json!({"entity": "tool:Kubernetes", "value": "Harbour"})).unwrap();
    assert_eq!((&*renamed.entity.value, renamed.source), ("Harbour", before.entity.id));
    assert_eq!(renamed.entity.aliases, ["Kubernetes"]);
    world.clock.set(at(1));
    world.save("dee", "Kubernetes is down, and kubernets too");
    for name in ["tool:Harbour", "tool:Kubernetes", "tool:k8s"] {
        let found = page(&world, "cy", name).unwrap();
        assert_eq!((found.entity.id, found.memories), (renamed.entity.id, 2), "{name}");
        assert_eq!(found.entity.context.as_deref(), Some("Runs it all"), "{name}");
        assert_eq!((found.statements.len(), found.related.links.len()), (1, 1), "{name}");
    }
    assert_eq!(names(&world, "cy"), ["project:Atlas", "tool:Harbour"]);
    // Reading all memories again does not bring the old name back.
    world.book.forget_mentions().unwrap();
    assert_eq!(mention_count(&world, "cy", "tool:Kubernetes"), Some(2));
    assert_eq!(names(&world, "cy"), ["project:Atlas", "tool:Harbour"]);

    // The type changes likewise; the name of another entity is refused.
    let taken = json!({"entity": "tool:Harbour", "value": "Atlas", "type": "project"});
    let conflict = (ErrorKind::Conflict, Some("value".to_owned()));
    assert_eq!(refused(rename(&world, taken)), conflict);
    let old = json!({"entity": "tool:Harbour", "value": "Port", "version": 1});
    assert_eq!(refused(rename(&world, old)).0, ErrorKind::Conflict);
    rename(&world, json!({"entity": "tool:Harbour", "type": "project"})).unwrap();
    assert_eq!(names(&world, "cy"), ["project:Atlas", "project:Harbour"]);
    assert_eq!(mention_count(&world, "cy", "tool:k8s"), Some(2));

    // Renaming back, and undoing a merge, restore exactly what was.
    rename(&world, json!({"entity": "project:Harbour", "type": "tool"})).unwrap();
    call!(world, unmerge_entities, "cy", json!({"source": "tool:Kubernetes"})).unwrap();
    let after = page(&world, "cy", "tool:Kubernetes").unwrap();
    assert_eq!((after.entity, after.memories), (before.entity, 2));
    assert!(page(&world, "cy", "tool:Harbour").is_err());
    let kinds: Vec<_> = world.events("qa").into_iter().map(|(_, kind, _)| kind).collect();
    assert!(kinds.contains(&EventKind::EntityRenamed), "{kinds:?}");

    // Another spelling of the same name keeps the id.
    let respelt = rename(&world, json!({"entity": "project:Atlas", "value": "ATLAS"})).unwrap();
    assert_eq!((respelt.entity.id, &*respelt.entity.value), (respelt.source, "ATLAS"));
}

#[test]
fn a_deleted_entity_stays_away_until_it_is_restored() {
    let world = World::new();
    let first = world.save("ann", "Deployed with Kubernetes");
    let stated = json!({"type": "tool", "value": "Kubernetes", "context": "Runs it all"});
    call!(world, resolve_entity, "ann", stated.clone()).unwrap();
    call!(world, resolve_entity, "ann", json!({"type": "project", "value": "Atlas"})).unwrap();
    let uses = json!({"from": "project:Atlas", "type": "uses", "to": "tool:Kubernetes"});
    call!(world, add_relation, "ann", uses.clone()).unwrap();
    let before = page(&world, "cy", "tool:Kubernetes").unwrap();

    let deleted = delete(&world, "bob", "tool:Kubernetes").unwrap();
    assert_eq!((deleted.entity.id, deleted.memories), (before.entity.id, 1));
    world.clock.set(at(1));
    // Neither its name nor a similar one, nor reading all memories again brings it back.
    world.save("dee", "Kubernetes is down");
    world.save("dee", "Kubernets is up, k8s as well");
    world.book.forget_mentions().unwrap();
    assert_eq!(names(&world, "cy"), ["project:Atlas"]);
    assert!(page(&world, "cy", "project:Atlas").unwrap().related.links.is_empty());
    let kept = call!(world, get_memory, "ann", json!({"id": first.id})).unwrap();
    assert_eq!(kept.text, first.text);
    let conflict = (ErrorKind::Conflict, Some("value".to_owned()));
    assert_eq!(refused(call!(world, resolve_entity, "eve", stated)), conflict);
    let onto = json!({"entity": "project:Atlas", "value": "k8s", "type": "tool"});
    assert_eq!(refused(rename(&world, onto)).0, ErrorKind::Conflict);
    assert_eq!(refused(page(&world, "cy", "tool:Kubernetes")).0, ErrorKind::NotFound);
    assert_eq!(refused(delete(&world, "cy", "tool:Kubernetes")).0, ErrorKind::NotFound);
    let listed = call!(world, list_entities, "eve", json!({"deleted": true})).unwrap().items;
    let by = listed[0].deleted.as_ref().map(|deletion| deletion.agent.as_str());
    assert_eq!((listed.len(), listed[0].id, by), (1, before.entity.id, Some("bob")));

    let restored = call!(world, restore_entity, "cy", json!({"entity": "tool:k8s"})).unwrap();
    assert_eq!(restored, before.entity);
    let after = page(&world, "cy", "tool:Kubernetes").unwrap();
    assert_eq!((after.memories, after.related.links.len()), (3, 1));
    assert_eq!(after.statements, before.statements);
    let again = call!(world, restore_entity, "cy", json!({"entity": "tool:k8s"}));
    assert_eq!(refused(again).0, ErrorKind::NotFound);
    let kinds: Vec<_> = world.events("qa").into_iter().map(|(_, kind, _)| kind).collect();
    assert!(
        kinds.contains(&EventKind::EntityDeleted) && kinds.contains(&EventKind::EntityRestored)
    );
}

#[test]
fn a_deletion_hides_nothing_from_those_who_know_what_the_deleter_does_not() {
    let world = World::new();
    let private = json!({"text": "I try Kubernetes", "sharing": "private"});
    call!(world, save_memory, "ann", private.clone()).unwrap();
    call!(world, save_memory, "bob", private.clone()).unwrap();
    delete(&world, "ann", "tool:Kubernetes").unwrap();
    assert_eq!(names(&world, "ann"), [""; 0]);
    assert_eq!(names(&world, "bob"), ["tool:Kubernetes"], "bob never shared it");
    assert!(call!(world, list_entities, "bob", json!({"deleted": true})).unwrap().items.is_empty());
    let nobody = call!(world, restore_entity, "bob", json!({"entity": "tool:Kubernetes"}));
    assert_eq!(refused(nobody).0, ErrorKind::NotFound);
    // What everybody reads later exists for everybody, and so does what somebody states.
    world.save("bob", "We use Kubernetes");
    assert_eq!(mention_count(&world, "cy", "tool:Kubernetes"), Some(1));
    assert_eq!(mention_count(&world, "ann", "tool:Kubernetes"), Some(1));
    let events = world.events("cy");
    assert!(events.iter().all(|(_, kind, _)| *kind != EventKind::EntityDeleted), "{events:?}");
    call!(world, restore_entity, "ann", json!({"entity": "tool:Kubernetes"})).unwrap();
    assert_eq!(mention_count(&world, "ann", "tool:Kubernetes"), Some(2));
}

#[test]
fn a_purge_of_who_deleted_an_entity_brings_it_back() {
    let world = World::new();
    world.save("ann", "Deployed with Kubernetes");
    let before = page(&world, "cy", "tool:Kubernetes").unwrap();
    world.clock.set(at(2));
    delete(&world, "mallory", "tool:Kubernetes").unwrap();
    world.clock.set(at(3));
    let since = json!({"since": at(1)});
    let purged = call!(world, purge_since, "mallory", since).unwrap();
    let traces: Vec<&str> = purged.traces.iter().map(|trace| trace.id.as_str()).collect();
    assert_eq!(traces, [before.entity.id.to_string()]);
    assert_eq!(page(&world, "cy", "tool:Kubernetes").unwrap(), before);
}

#[test]
fn a_removed_relation_is_gone_under_every_name_and_can_be_stated_again() {
    let world = World::new();
    for value in ["Redis", "Valkey", "Atlas"] {
        call!(world, resolve_entity, "ann", json!({"type": "tool", "value": value})).unwrap();
    }
    let uses = json!({"from": "tool:Atlas", "type": "uses", "to": "tool:Redis"});
    call!(world, add_relation, "ann", uses.clone()).unwrap();
    rename(&world, json!({"entity": "tool:Redis", "value": "Keystore"})).unwrap();
    let other = json!({"from": "tool:Keystore", "type": "uses", "to": "tool:Atlas"});
    let missing = (ErrorKind::NotFound, Some("type".to_owned()));
    assert_eq!(refused(call!(world, remove_relation, "bob", other)), missing);
    let removed = call!(world, remove_relation, "bob", uses.clone()).unwrap();
    assert_eq!(removed.author.as_str(), "ann");
    assert!(page(&world, "cy", "tool:Atlas").unwrap().related.links.is_empty());
    assert_eq!(refused(call!(world, remove_relation, "bob", uses.clone())), missing);
    call!(world, add_relation, "bob", uses).unwrap();
    assert_eq!(page(&world, "cy", "tool:Atlas").unwrap().related.links.len(), 1);
    let kinds: Vec<_> = world.events("qa").into_iter().map(|(_, kind, _)| kind).collect();
    assert!(kinds.contains(&EventKind::RelationRemoved), "{kinds:?}");
}

#[test]
fn a_list_of_entities_counts_their_open_conflicts_and_can_show_those_alone() {
    let world = World::new();
    for (agent, text) in [
        ("ann", "The Redis timeout is 30 seconds"),
        ("bob", "The Redis timeout is 60 seconds"),
        ("cy", "PostgreSQL runs beside it"),
    ] {
        call!(world, save_memory, agent, json!({"text": text, "topics": ["cache"]})).unwrap();
    }
    let found = call!(world, detect_contradictions, "cy", json!({})).unwrap().items;
    assert_eq!(found.len(), 1, "{found:?}");
    for (agent, version) in [("ann", 15), ("bob", 16)] {
        let metadata = json!({"version": version});
        let fields = json!({"type": "tool", "value": "Vite", "metadata": metadata});
        call!(world, resolve_entity, agent, fields).unwrap();
    }
    let list = |agent: &str, fields: Value| -> Vec<(String, u64)> {
        let page = call!(world, list_entities, agent, fields).unwrap();
        page.items.into_iter().map(|entity| (entity.value, entity.open_conflicts)).collect()
    };
    let disputed = [("Redis".to_owned(), 1), ("Vite".to_owned(), 1)];
    assert_eq!(list("dee", json!({"conflicts": true, "type": "tool"})), disputed);
    assert!(list("dee", json!({})).contains(&("PostgreSQL".to_owned(), 0)));
    assert_eq!(page(&world, "dee", "tool:Redis").unwrap().entity.open_conflicts, 1);
    let settled =
        json!({"contradiction": found[0].id, "resolution": "keep_both", "context": "old"});
    call!(world, resolve_contradiction, "dee", settled).unwrap();
    assert_eq!(list("dee", json!({"conflicts": true, "type": "tool"})), disputed[1..]);
}
