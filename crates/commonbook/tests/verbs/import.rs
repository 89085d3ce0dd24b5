//! Importing: an export is imported completely elsewhere; a bad line does not stop the others.

use std::sync::Arc;

use commonbook::base::error::ErrorKind;
use commonbook::base::id::MemoryId;
use commonbook::base::limits;
use commonbook::model::caller::{Caller, CallerProof, EntryPoint};
use commonbook::model::import;
use commonbook::model::import::{ImportLine, ImportMemories};
use commonbook::model::memory::{
    AdmittedMemory, DeleteMemory, GetMemory, ListMemories, Memory, MemoryHistory, SaveOutcome,
};
use commonbook::model::origin::TextOrigin;
use commonbook::model::search::{SearchMemory, SearchScope};
use commonbook::model::token::TokenScope;
use commonbook::store::Store;
use serde_json::{Value, json};

use crate::{World, at, caller, elsewhere, request};

fn exported(memory: &Memory) -> Value {
    serde_json::to_value(memory).unwrap()
}

fn line(value: &Value) -> ImportLine {
    import::parse(value.to_string().as_bytes(), TextOrigin::ThisHome).unwrap()
}

fn take_in(
    world: &World,
    into: Option<&str>,
    lines: &[Value],
) -> Vec<Result<SaveOutcome, ErrorKind>> {
    let into = into.map(|name| name.parse().unwrap());
    let lines = lines.iter().map(line).collect();
    let results = world.book.import_lines(&caller("carrier"), into.as_ref(), lines).unwrap();
    results
        .into_iter()
        .map(|result| result.map(|line| line.outcome).map_err(|error| error.kind))
        .collect()
}

/// A memory with every field set.
fn rich(world: &World) -> Memory {
    let saved = world.book.save_memory(
        &caller("ann").in_session(Some("s1")).unwrap(),
        &request(json!({
            "text": "the zephyr blows", "title": "Wind", "summary": "it blows", "topics": ["air"],
            "importance": "high", "sharing": "private", "user_id": "U1", "metadata": {"a": [1]},
            "valid_from": "2026-01-01T00:00:00Z", "valid_until": "2026-02-01T00:00:00Z"
        })),
    );
    saved.unwrap().memory
}

#[test]
fn an_exported_memory_is_imported_unchanged_into_another_home() {
    let (old, new) = (World::new(), World::new());
    let private = rich(&old);
    let shared = old.save("bob", "the zephyr rests");
    let delete =
        DeleteMemory { id: shared.id.into(), expected_revision: None, idempotency_key: None };
    let deleted = old.book.delete_memory(&caller("bob"), &delete).unwrap();
    new.clock.set(at(100));
    let lines = [exported(&private), exported(&deleted)];
    assert_eq!(take_in(&new, None, &lines), [Ok(SaveOutcome::Created), Ok(SaveOutcome::Created)]);
    assert_eq!(take_in(&new, None, &lines), [Ok(SaveOutcome::Repeated), Ok(SaveOutcome::Repeated)]);

    let get = GetMemory { id: private.id.into(), at: None };
    assert_eq!(new.book.get_memory(&caller("ann"), &get).unwrap(), private);
    assert!(new.book.get_memory(&caller("carrier"), &get).is_err(), "still private to ann");
    assert_eq!(new.search("ann", "zephyr").total, 1, "the deleted one stays deleted");
    let trash = ListMemories { deleted: true, ..Default::default() };
    assert_eq!(new.texts("ann", &trash), ["the zephyr rests"]);
    assert_eq!(new.events("ann").len(), 2);
}

#[test]
fn an_exported_memory_must_keep_the_limits_too() {
    let world = World::new();
    let good = exported(&rich(&World::new()));
    let many: Vec<String> = (0..=limits::TOPICS).map(|n| format!("t{n}")).collect();
    let table = [
        ("text", json!(""), ErrorKind::Invalid),
        ("text", json!("a".repeat(limits::TEXT_BYTES + 1)), ErrorKind::TooLarge),
        ("title", json!("a".repeat(limits::TITLE_CHARS + 1)), ErrorKind::TooLarge),
        ("topics", json!(many), ErrorKind::TooLarge),
        ("topics", json!(["a".repeat(limits::TOPIC_CHARS + 1)]), ErrorKind::TooLarge),
        ("session", json!("s".repeat(limits::SESSION_CHARS + 1)), ErrorKind::TooLarge),
        ("user_id", json!("a\nb"), ErrorKind::Invalid),
    ];
    for (field, value, kind) in table {
        let mut bad = good.clone();
        bad[field] = value;
        assert_eq!(take_in(&world, None, &[bad]), [Err(kind)], "{field}");
    }
    assert_eq!(take_in(&world, None, &[good]), [Ok(SaveOutcome::Created)]);
}

#[test]
fn a_copy_in_global_is_a_separate_memory() {
    let world = World::new();
    let own = world.save("ann", "the zephyr blows");
    let copy = json!({"text": "the zephyr blows everywhere"});
    let mut given = exported(&own);
    given["text"] = copy["text"].clone();
    assert_eq!(take_in(&world, Some("global"), &[given]), [Ok(SaveOutcome::Created)]);
    let id = own.id.to_string();
    let resolved = crate::handles::resolve(&world, &caller("bob"), &id[20..]);
    assert_eq!(resolved.unwrap(), id, "one id, not two");
    let get = GetMemory { id: own.id.into(), at: None };
    assert_eq!(world.book.get_memory(&caller("bob"), &get).unwrap().text, own.text);
    let delete = DeleteMemory { id: own.id.into(), expected_revision: None, idempotency_key: None };
    world.book.delete_memory(&caller("ann"), &delete).unwrap();
    let of = |workspace: &str| {
        let found = world
            .book
            .memory_history(&elsewhere("ann", workspace), &MemoryHistory { id: own.id.into() });
        found.unwrap().items.into_iter().map(|hit| hit.memory.text).collect::<Vec<_>>()
    };
    assert_eq!(of("x"), ["the zephyr blows", "the zephyr blows"]);
    assert_eq!(of("global"), ["the zephyr blows everywhere"]);
}

#[test]
fn a_line_goes_to_the_requested_workspace_or_to_the_one_it_names() {
    let world = World::new();
    let line = |text: &str| json!({"conv": "Trip to Rome", "text": text});
    let lines =
        [line("one"), line("two"), json!({"text": "three"}), json!({"text": "x", "conv": "!"})];
    let results = take_in(&world, None, &lines);
    assert_eq!(results[..3], [Ok(SaveOutcome::Created); 3]);
    assert_eq!(results[3], Err(ErrorKind::Invalid));
    assert_eq!(take_in(&world, Some("y"), &lines[..1]), [Ok(SaveOutcome::Created)]);
    let count = |workspace: &str| {
        let who = elsewhere("bob", workspace);
        world.book.list_memories(&who, &Default::default()).unwrap().items.len()
    };
    assert_eq!(["trip-to-rome", "x", "y"].map(count), [2, 1, 1]);
    let everywhere =
        SearchMemory { query: "one".into(), scope: SearchScope::Home, ..Default::default() };
    assert_eq!(world.book.search_memory(&caller("bob"), &everywhere).unwrap().total, 2);
}

#[test]
fn a_purged_memory_can_be_imported_again() {
    let world = World::new();
    let memory = world.save("ann", "tea");
    let purge = commonbook::model::memory::PurgeMemory {
        id: memory.id,
        revision: None,
        expected_revision: None,
        idempotency_key: None,
    };
    world.book.purge_memory(&caller("ann"), &purge).unwrap();
    assert_eq!(take_in(&world, None, &[exported(&memory)]), [Ok(SaveOutcome::Created)]);
    assert_eq!(world.search("bob", "tea").total, 1);
}

/// A memory from a home in which every slug was a type.
fn kept_before(world: &World, memory_type: &str) -> Memory {
    let memory = world.save("ann", "Ann prefers tea");
    let memory_type = memory_type.to_owned().try_into().unwrap();
    let id: MemoryId = "mem_01m7y9c4dpeqkspxh7a865d434".parse().unwrap();
    let before = Memory { memory_type, id, ..memory };
    let kept = AdmittedMemory::unjudged(before.clone(), "it was kept before");
    let store: Arc<dyn Store> = crate::open_store(world.home());
    store.write(move |tx| tx.insert_memory(&kept, 1_000)).unwrap();
    before
}

#[test]
fn a_type_reserved_later_stays_readable_and_is_imported_below_import() {
    let (old, new) = (World::new(), World::new());
    let before = kept_before(&old, "user");
    let get = GetMemory { id: before.id.into(), at: None };
    assert_eq!(old.book.get_memory(&caller("bob"), &get).unwrap(), before);
    // Other changes may keep its type.
    let title = request(json!({"id": before.id, "title": "Tea", "memory_type": "user"}));
    let renamed = old.book.update_memory(&caller("ann"), &title).unwrap();
    assert_eq!(renamed.memory_type.as_str(), "user");
    let lines = [exported(&before)];
    assert_eq!(take_in(&new, None, &lines), [Ok(SaveOutcome::Created)]);
    assert_eq!(take_in(&new, None, &lines), [Ok(SaveOutcome::Repeated)]);
    let memory = new.book.get_memory(&caller("bob"), &get).unwrap();
    assert_eq!(memory, Memory { memory_type: memory.memory_type.clone(), ..before });
    assert_eq!(memory.memory_type.as_str(), "import.user");
}

#[test]
fn a_program_imports_only_for_authors_for_whom_it_may_speak() {
    let world = World::new();
    let memory = exported(&world.save("ann", "the zephyr waits"));
    let line = |id: u8, owner: &str| {
        let mut line = memory.clone();
        line["owner"] = json!(owner);
        line["id"] = json!(format!("mem_01m7y9c4dpeqkspxh7a865d4{id}"));
        line
    };
    let turn = json!({"text": "a turn", "speaker": "ann"});
    let lines = json!([
        turn, line(11, "ann/qa"), line(12, "bob"), line(13, "legacy"), line(14, "human"),
        {"no": "text"}
    ]);
    let import = |caller: &Caller| -> Vec<Result<SaveOutcome, ErrorKind>> {
        let request: ImportMemories = request(json!({"lines": lines}));
        let results = world.book.import_memories(caller, &request).unwrap().results;
        let kinds = results.into_iter().map(|line| match (line.outcome, line.error) {
            (Some(outcome), None) => Ok(outcome),
            (_, error) => Err(error.unwrap().kind),
        });
        kinds.collect()
    };
    let with = |scopes: &[TokenScope]| Caller {
        door: EntryPoint::Rest,
        proof: CallerProof::Token {
            id: "tok_01m7y9c4dpeqkspxh7a865d434".parse().unwrap(),
            scopes: scopes.to_vec(),
            bound: false,
            asserted: false,
        },
        ..caller("ann")
    };
    let (created, repeated) = (Ok(SaveOutcome::Created), Ok(SaveOutcome::Repeated));
    let (forbidden, invalid) = (Err(ErrorKind::Forbidden), Err(ErrorKind::Invalid));
    let of_token = import(&with(&[TokenScope::Write]));
    assert_eq!(of_token, [created, created, forbidden, forbidden, forbidden, invalid]);
    // Without a token every name can be claimed, and the names of no caller still cannot.
    let by_word = import(&Caller { door: EntryPoint::Rest, ..caller("ann") });
    // A file's person is not the person of this home.
    assert_eq!(by_word, [repeated, repeated, created, created, created, invalid]);
    let of_admin = import(&with(&[TokenScope::Write, TokenScope::Admin]));
    assert_eq!(of_admin, [repeated, repeated, repeated, repeated, repeated, invalid]);
    let many: ImportMemories = request(json!({"lines": vec![turn; 101]}));
    let error = world.book.import_memories(&caller("ann"), &many).unwrap_err();
    assert_eq!((error.kind, error.field.as_deref()), (ErrorKind::TooLarge, Some("lines")));
}

#[test]
fn a_plain_line_is_as_private_as_it_says() {
    let world = World::new();
    let lines = [
        json!({"text": "my private diary entry about pay", "sharing": "private", "owner": "ann"}),
        json!({"text": "u77 is allergic to nuts", "user_id": "u77", "owner": "mem0"}),
        json!({"text": "The office is closed", "valid_from": "2026-01-01", "valid_until": "2099-01-01",
            "owner": "ann"}),
        json!({"text": "pay", "sharing": "secret", "owner": "ann"}),
        json!({"text": "pay", "valid_until": "1999-01-01", "valid_from": "2026-01-01", "owner": "ann"}),
    ];
    let parsed =
        lines.iter().map(|line| import::parse(line.to_string().as_bytes(), TextOrigin::ThisHome));
    let refused: Vec<usize> =
        parsed.enumerate().filter(|(_, line)| line.is_err()).map(|(place, _)| place).collect();
    assert_eq!(refused, [3]);
    let taken = take_in(&world, None, &[&lines[..3], &lines[4..]].concat());
    assert_eq!(taken[..3], [Ok(SaveOutcome::Created); 3]);
    assert_eq!(taken[3], Err(ErrorKind::Invalid), "it ends before it begins, as in a save");
    let all = ListMemories { limit: Some(100), ..ListMemories::default() };
    let texts = |who: &Caller| world.book.list_memories(who, &all).unwrap().items;
    let read = |who: &Caller, part: &str| texts(who).into_iter().find(|m| m.text.contains(part));
    assert!(read(&caller("bob"), "diary").is_none() && read(&caller("ann"), "diary").is_some());
    assert!(read(&caller("bob"), "nuts").is_none(), "it is about a user");
    let with_user = caller("bob").for_user(Some("u77")).unwrap();
    let nuts = read(&with_user, "nuts").unwrap();
    assert_eq!((nuts.user_id.as_deref(), nuts.metadata.len()), (Some("u77"), 0));
    let closed = read(&caller("bob"), "office").unwrap();
    assert!(closed.valid_from.is_some() && closed.valid_until.is_some());
}

#[test]
fn rows_come_in_as_they_stand_in_their_source() {
    let world = World::new();
    let row = |text: &str, more: Value| {
        let mut row = json!({"memory": format!("zephyr {text}"), "agent_id": "ann"});
        row.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        line(&row)
    };
    let lines = vec![
        row("one holds", json!({"id": "a", "state": "active"})),
        row("two is deleted", json!({"deleted_at": "2025-01-01"})),
        row("three is archived", json!({"metadata": {"status": "archived"}})),
        row("four is replaced", json!({"id": "d", "superseded_by": "a"})),
        row("five ended", json!({"expiration_date": "2024-01-01", "created_at": "2024-06-01"})),
        row("six is private", json!({"visibility": "private", "sharing": "shared"})),
        row("seven is unknown", json!({"status": "wombat"})),
        line(&json!({"id": "x", "is_deleted": true, "memory": null})),
    ];
    let results = world.book.import_lines(&caller("carrier"), None, lines).unwrap();
    let results: Vec<_> = results.into_iter().map(Result::unwrap).collect();
    let left_out = |index: usize| results[index].left_out.as_deref().unwrap_or_default();
    assert!(
        left_out(1).contains("deleted_at: 2025-01-01") && left_out(7).contains("is_deleted: true")
    );
    assert_eq!(results.iter().filter(|line| line.left_out.is_some()).count(), 2);
    assert_eq!(results[6].unknown_status.as_deref(), Some("wombat"));
    let texts = |agent: &str, query: &str| {
        let hits = world.search(agent, query).hits;
        let mut texts: Vec<String> = hits.into_iter().map(|hit| hit.memory.text).collect();
        texts.sort_unstable();
        texts
    };
    let current = ["zephyr five ended", "zephyr one holds", "zephyr seven is unknown"];
    assert_eq!(texts("bob", "zephyr"), current);
    assert!(texts("ann", "zephyr").contains(&"zephyr six is private".to_owned()));
    let all = world.search("bob", "zephyr include:archived,superseded").hits;
    let found = |word: &str| all.iter().find(|hit| hit.memory.text.contains(word)).unwrap();
    let (heir, old) = (&found("one").memory, &found("four").memory);
    assert_eq!((old.superseded_by, old.archived_at), (Some(heir.id), None));
    assert!(found("three").memory.archived_at.is_some());
    let ended = &found("five").memory;
    let ends_at = ended.valid_until.map(|at| at.to_string());
    assert_eq!(
        (ends_at.as_deref(), ended.valid_from),
        (Some("2024-01-01T00:00:00Z"), ended.valid_until)
    );
    assert_eq!(all.len(), 5, "nothing deleted came in");
}

#[test]
fn an_import_can_make_all_of_it_private() {
    let world = World::new();
    // Both worlds count their ids: the exported memory has one that this world does not reach.
    let old = World::new();
    old.save("ann", "the gate is shut");
    old.save("ann", "the gate is open");
    let exported = exported(&old.save("ann", "the zephyr blows"));
    let lines = [json!({"text": "the zephyr rests", "owner": "ann"}), exported];
    let lines = lines.map(|line| line.as_object().unwrap().clone()).to_vec();
    let request = ImportMemories { lines, private: true, ..ImportMemories::default() };
    let results = world.book.import_memories(&caller("ann"), &request).unwrap().results;
    assert!(results.iter().all(|line| line.error.is_none()), "{results:?}");
    assert_eq!((world.search("ann", "zephyr").total, world.search("bob", "zephyr").total), (2, 0));
}
