//! Bulk operations: their selection, their preview, and their undo.

use commonbook::base::error::ErrorKind;
use commonbook::base::id::MemoryId;
use commonbook::model::agent::Agent;
use commonbook::model::bulk::{AdoptMemories, BulkResult, PurgeSince, UndoOperation};
use commonbook::model::caller::{Caller, EntryPoint};
use commonbook::model::event::EventKind;
use commonbook::model::memory::{DeleteMemory, GetMemory, ListMemories, Memory, UpdateMemory};
use commonbook::model::origin::TextOrigin;
use serde_json::{Value, json};

use crate::{World, at, caller, elsewhere, person, request};

fn adopt(world: &World, fields: Value) -> commonbook::base::error::Result<BulkResult> {
    world.book.adopt_memories(&person(), &request::<AdoptMemories>(fields))
}

fn purge(world: &World, agent: &str, fields: Value) -> BulkResult {
    world.book.purge_since(&caller(agent), &request::<PurgeSince>(fields)).unwrap()
}

fn undo(world: &World, agent: &str, acted: &BulkResult) -> Result<u64, ErrorKind> {
    let undo = UndoOperation { operation_id: acted.operation, ..UndoOperation::default() };
    let undone = world.book.undo_operation(&caller(agent), &undo);
    undone.map(|undone| undone.memories).map_err(|error| error.kind)
}

fn get(world: &World, id: MemoryId) -> Option<Memory> {
    world.book.get_memory(&caller("ann"), &GetMemory { id: id.into(), at: None }).ok()
}

/// A memory of `legacy`, as in an export from before ownership.
fn legacy(world: &World, text: &str) -> MemoryId {
    let memory = elsewhere_saved(world, text);
    let line = json!(Memory { owner: Agent::legacy(), ..memory.clone() }).to_string();
    let line = commonbook::model::import::parse(line.as_bytes(), TextOrigin::ThisHome).unwrap();
    let into = "x".parse().unwrap();
    let kept = world.book.import_lines(&caller("ann"), Some(&into), vec![line]).unwrap();
    assert!(kept[0].is_ok());
    memory.id
}

fn elsewhere_saved(world: &World, text: &str) -> Memory {
    let save = request(json!({"text": text}));
    world.book.save_memory(&elsewhere("ann", "y"), &save).unwrap().memory
}

#[test]
fn legacy_memories_are_adopted_and_given_back() {
    let world = World::new();
    let (herons, crows) = (legacy(&world, "Herons nest in March"), legacy(&world, "Crows do not"));
    let bobs = world.save("bob", "Bob's own");
    let preview = adopt(&world, json!({"agent_name": "rook", "dry_run": true})).unwrap();
    assert_eq!((preview.operation, preview.memories, preview.items.len()), (None, 2, 2));
    assert_eq!(get(&world, herons).unwrap().owner.as_str(), "legacy");

    let acted = adopt(&world, json!({"agent_name": "rook"})).unwrap();
    assert_eq!((acted.memories, acted.operation.is_some()), (2, true));
    let adopted = get(&world, herons).unwrap();
    assert_eq!((adopted.owner.as_str(), adopted.revised_by.as_str()), ("rook", "anonymous"));
    assert_eq!(get(&world, bobs.id).unwrap().owner.as_str(), "bob");
    assert_eq!(world.events("ann").last().unwrap().1, EventKind::MemoryUpdated);
    let again = adopt(&world, json!({"agent_name": "rook"})).unwrap();
    assert_eq!((again.operation, again.memories), (None, 0), "nothing is left to do");

    // A memory changed since stays with its new owner.
    let change: UpdateMemory = request(json!({"id": crows, "text": "Crows do so in April"}));
    world.book.update_memory(&caller("rook"), &change).unwrap();
    assert_eq!(undo(&world, "bob", &acted), Err(ErrorKind::NotFound), "who did it undoes it");
    assert_eq!(undo(&world, "anonymous", &acted), Ok(1));
    assert_eq!(get(&world, herons).unwrap().owner.as_str(), "legacy");
    assert_eq!(get(&world, crows).unwrap().owner.as_str(), "rook");
    assert_eq!(undo(&world, "anonymous", &acted), Err(ErrorKind::Conflict));
}

#[test]
fn owners_are_selected_by_name_or_prefix() {
    let world = World::new();
    for agent in ["import/bob", "import/ann", "importer", "bob"] {
        world.save(agent, &format!("{agent} was here"));
    }
    let count = |fields: Value| {
        let mut all = json!({"agent_name": "rook", "dry_run": true});
        all.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        adopt(&world, all).map(|acted| acted.memories).map_err(|error| error.field.unwrap())
    };
    assert_eq!(count(json!({})), Ok(0));
    assert_eq!(count(json!({"owner": "import/*"})), Ok(2));
    assert_eq!(count(json!({"owner": "Import/Bob"})), Ok(1));
    assert_eq!(count(json!({"owner": "bob", "memory_type": "decision"})), Ok(0));
    assert_eq!(count(json!({"owner": "bob", "since": "2026-11-22"})), Ok(0));
    assert_eq!(count(json!({"owner": "bob", "until": "2026-11-21"})), Ok(1));
    for (field, value) in [("owner", "*"), ("owner", "a//b"), ("since", "soon"), ("until", "2020")]
    {
        let mut fields = json!({"owner": "bob", "since": "2026-11-21"});
        fields[field] = json!(value);
        assert_eq!(count(fields), Err(field.to_owned()), "{field} {value}");
    }
    let nobody = adopt(&world, json!({"agent_name": "system"})).unwrap_err();
    assert_eq!(nobody.field.as_deref(), Some("agent_name"));
    // Only a person or a holder of an administrator's token adopts; no agent by its word.
    let agent = Caller { door: EntryPoint::Mcp, ..caller("rook") };
    let refused = world.book.adopt_memories(&agent, &request(json!({"agent_name": "rook"})));
    assert_eq!(refused.unwrap_err().kind, ErrorKind::Forbidden);
}

#[test]
fn memories_move_into_another_workspace_with_their_links_and_back() {
    let world = World::new();
    let save = |agent: &str, fields: Value| {
        world.book.save_memory(&elsewhere(agent, "y"), &request(fields)).unwrap().memory.id
    };
    let read = |workspace: &str, id: MemoryId| {
        let ann = elsewhere("ann", workspace);
        world.book.get_memory(&ann, &GetMemory { id: id.into(), at: None }).ok()
    };
    let old = save("ann", json!({"text": "Herons nest in March", "topics": ["birds"]}));
    let new = json!({"text": "Herons nest in April", "topics": ["birds"], "supersedes": old});
    let new = save("ann", new);
    let bobs = save("bob", json!({"text": "Crows nest late"}));
    save("bob", json!({"text": "Bob's secret", "sharing": "private"}));
    let entry = request(json!({"key": "nests", "summary": "We count them", "title": "Nests"}));
    world.book.append_entry(&elsewhere("ann", "y"), &entry).unwrap();
    let shift = |caller: &Caller, fields: Value| {
        let moved = world.book.move_memories(caller, &request(fields));
        moved.map_err(|error| (error.kind, error.field.unwrap_or_default()))
    };
    let count = |caller: &Caller, mut fields: Value| {
        fields["dry_run"] = json!(true);
        shift(caller, fields).map(|moved| (moved.memories, moved.entries))
    };
    let (ann, ann_over_mcp) = (caller("ann"), Caller { door: EntryPoint::Mcp, ..caller("ann") });
    assert_eq!(count(&person(), json!({"from": "y"})), Ok((3, 1)));
    assert_eq!(count(&person(), json!({"from": "y", "topic": "birds"})), Ok((2, 0)));
    assert_eq!(count(&person(), json!({"from": "y", "owner": "bob"})), Ok((1, 0)));
    assert_eq!(count(&ann, json!({"from": "y"})), Ok((2, 1)), "an agent moves its own");
    let field = |field: &str| (ErrorKind::Invalid, field.to_owned());
    assert_eq!(count(&person(), json!({"from": "x"})), Err(field("from")));
    assert_eq!(count(&person(), json!({"from": "!"})), Err(field("from")));
    assert_eq!(count(&person(), json!({"from": "y", "owner": "*"})), Err(field("owner")));
    let others = shift(&ann_over_mcp, json!({"from": "y", "owner": "bob"}));
    assert_eq!(others.unwrap_err().0, ErrorKind::Forbidden);

    let moved = shift(&person(), json!({"from": "y"})).unwrap();
    assert_eq!((moved.memories, moved.operation.is_some(), moved.present), (3, true, 0));
    let there = read("x", old).unwrap();
    assert_eq!((there.owner.as_str(), there.superseded_by), ("ann", Some(new)));
    assert!(there.deleted_at.is_none() && read("y", old).is_none());
    assert_eq!(count(&person(), json!({"from": "y"})), Ok((0, 1)));
    // What has changed since stays.
    let change: UpdateMemory = request(json!({"id": bobs, "text": "Crows nest in May"}));
    world.book.update_memory(&caller("bob"), &change).unwrap();
    assert_eq!(undo(&world, "bob", &moved), Err(ErrorKind::NotFound));
    assert_eq!(undo(&world, "anonymous", &moved), Ok(2));
    assert_eq!(undo(&world, "anonymous", &moved), Err(ErrorKind::Conflict));
    assert_eq!(read("y", old).unwrap().superseded_by, Some(new));
    assert!(read("x", old).is_none() && read("y", bobs).is_none());
    let again = shift(&person(), json!({"from": "y"})).unwrap();
    assert_eq!((again.memories, again.present), (2, 0));
    assert_eq!(read("x", new).unwrap().text, "Herons nest in April");
}

#[test]
fn everything_an_agent_saved_since_a_time_is_purged_and_restored() {
    let world = World::new();
    let early = world.save("rook", "Before it went wrong");
    world.clock.set(at(5));
    let late = world.save("rook", "After it went wrong");
    let own = world.save_private("rook", "Its own, after");
    let child = world.save("rook/tester", "Its child's, after");
    let hidden = world.save_private("rook/tester", "Its child's own, after");
    let other = world.save("crow", "Another's, after");
    world.clock.set(at(6));
    let since = json!({"since": "2026-11-21T12:00:00Z"});
    let mut dry = since.clone();
    dry["dry_run"] = json!(true);
    let preview = purge(&world, "rook", dry);
    assert_eq!((preview.operation, preview.memories), (None, 3));
    assert!(get(&world, late.id).is_some());

    let acted = purge(&world, "rook", since.clone());
    assert_eq!(acted.memories, 3);
    let rook = |id: MemoryId| {
        world.book.get_memory(&caller("rook"), &GetMemory { id: id.into(), at: None }).is_ok()
    };
    assert_eq!(
        [early.id, late.id, own.id, child.id, other.id].map(rook),
        [true, false, false, false, true]
    );
    let tester = world
        .book
        .get_memory(&caller("rook/tester"), &GetMemory { id: hidden.id.into(), at: None });
    assert!(tester.is_ok(), "a parent does not see its child's private memories");
    assert_eq!(purge(&world, "rook", since).memories, 0);
    assert_eq!(undo(&world, "crow", &acted), Err(ErrorKind::NotFound));
    assert_eq!(undo(&world, "rook", &acted), Ok(3));
    assert_eq!([late.id, own.id, child.id].map(rook), [true; 3]);
    let kinds: Vec<EventKind> = world.events("rook").iter().map(|event| event.1).collect();
    assert_eq!(kinds.iter().filter(|kind| **kind == EventKind::MemoryDeleted).count(), 3);
    assert_eq!(kinds.iter().filter(|kind| **kind == EventKind::MemoryRestored).count(), 3);
}

#[test]
fn a_bulk_operation_exceeds_one_transaction_and_one_preview() {
    let world = World::new();
    for n in 0..450 {
        world.save("rook", &format!("Memory {n}"));
    }
    let acted = purge(&world, "rook", json!({"since": "2020"}));
    assert_eq!((acted.memories, acted.items.len()), (450, 20));
    assert_eq!(world.texts("rook", &ListMemories::default()).len(), 0);
    assert_eq!(undo(&world, "rook", &acted), Ok(450));
}

#[test]
fn purged_memories_are_removed_permanently_after_thirty_days() {
    let world = World::new();
    let memory = world.save("rook", "Gone soon");
    let acted = purge(&world, "rook", json!({"since": "2026-11-20"}));
    assert_eq!(world.sweep_at(24 * 30 + 1), 1);
    assert_eq!(undo(&world, "rook", &acted), Err(ErrorKind::NotFound));
    let delete: DeleteMemory = request(json!({"id": memory.id}));
    assert!(world.book.delete_memory(&caller("rook"), &delete).is_err());
}

#[test]
fn users_are_listed_by_the_memories_that_the_caller_sees() {
    let world = World::new();
    let about = |agent: &str, user: &str| {
        let save = request(json!({"text": format!("{user} likes herons"), "user_id": user}));
        world.book.save_memory(&caller(agent), &save).unwrap();
    };
    about("rook", "Ada");
    about("rook", "Bo");
    about("crow", "Bo");
    let users = |caller: &Caller| {
        let users = world.book.list_users(caller, &request(json!({}))).unwrap();
        users.items.into_iter().map(|user| (user.user_id, user.memory_count)).collect::<Vec<_>>()
    };
    let of =
        |list: &[(&str, u64)]| list.iter().map(|(u, n)| ((*u).to_owned(), *n)).collect::<Vec<_>>();
    assert_eq!(users(&caller("rook")), of(&[("Ada", 1), ("Bo", 1)]));
    assert_eq!(users(&caller("crow").for_user(Some("Bo")).unwrap()), of(&[("Bo", 2)]));
    assert_eq!(
        users(&caller("crow").for_user(Some("bo")).unwrap()),
        of(&[]),
        "exact, case and all"
    );
    assert_eq!(users(&elsewhere("rook", "y")), of(&[]));
}
