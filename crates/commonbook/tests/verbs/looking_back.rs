//! Looking back: lists, searches and contexts of a past time, and what changed since.

use commonbook::base::error::ErrorKind;
use commonbook::model::memory::{DeleteMemory, Memory, MemoryDifference, Sharing, UpdateMemory};
use commonbook::prompt::context::GetContext;
use serde_json::{Value, json};

use crate::{World, at, caller, request};

/// The third hour, at which the tests look.
const THIRD_HOUR: i64 = 3;

/// A team that saves in the first hour, and changes, supersedes, deletes and restores in the fifth.
struct Team {
    world: World,
}

impl Team {
    fn new() -> Self {
        let world = World::new();
        let save = |hour: i64, agent: &str, fields: Value| {
            world.clock.set(at(hour));
            world.book.save_memory(&caller(agent), &request(fields)).unwrap().memory
        };
        let gate = save(1, "ann", json!({"text": "the gate opens at nine", "topics": ["gate"]}));
        let port = save(1, "bob", json!({"text": "the gate service listens on port 8080"}));
        let rota = save(1, "ann", json!({"text": "Kim keeps the gate on Mondays"}));
        let badge = save(1, "ann", json!({"text": "the gate wants a badge"}));
        save(1, "ann", json!({"text": "the gate has two doors"}));
        let delete = |hour: i64, memory: &Memory| {
            world.clock.set(at(hour));
            let request: DeleteMemory = request(json!({"id": memory.id}));
            world.book.delete_memory(&caller("ann"), &request).unwrap();
        };
        delete(2, &badge);
        save(
            5,
            "bob",
            json!({"text": "the gate service listens on port 9090", "supersedes": port.id}),
        );
        save(5, "bob", json!({"text": "the gate gets a camera"}));
        let fields = json!({"id": gate.id, "text": "the gate opens at ten", "topics": ["hours"]});
        let update: UpdateMemory = request(fields);
        world.book.update_memory(&caller("ann"), &update).unwrap();
        delete(5, &rota);
        let restore = request(json!({"id": badge.id}));
        world.book.restore_memory(&caller("ann"), &restore).unwrap();
        world.clock.set(at(6));
        Self { world }
    }

    fn then() -> String {
        at(THIRD_HOUR).to_string()
    }
}

/// What held in the third hour: the text that changed since in its words of then, the superseded text;
/// not what was saved since, and nothing that is deleted now.
const HELD_THEN: [&str; 3] =
    ["the gate has two doors", "the gate opens at nine", "the gate service listens on port 8080"];

fn sorted(mut texts: Vec<String>) -> Vec<String> {
    texts.sort();
    texts
}

#[test]
fn a_list_shows_what_held_at_a_time_in_the_words_of_then() {
    let team = Team::new();
    let list = |fields: Value| {
        let mut texts = team.world.texts("cid", &request(fields));
        texts.sort();
        texts
    };
    assert_eq!(list(json!({"at": Team::then()})), HELD_THEN);
    assert_eq!(list(json!({"at": at(0).to_string()})), Vec::<String>::new());
    let table = [
        (json!({"owner": "bob"}), vec!["the gate service listens on port 8080"]),
        (json!({"limit": 1, "order": "oldest"}), vec!["the gate opens at nine"]),
        // Filters look at what a memory is today.
        (json!({"topic": "hours"}), vec!["the gate opens at nine"]),
    ];
    for (mut fields, texts) in table {
        fields["at"] = json!(Team::then());
        assert_eq!(list(fields.clone()), texts, "{fields}");
    }
}

#[test]
fn a_search_shows_the_words_of_the_time_that_it_asks_for() {
    let team = Team::new();
    let found = team.world.search("cid", &format!("gate at:{}", Team::then()));
    let texts = found.hits.into_iter().map(|hit| hit.memory.text).collect();
    assert_eq!(sorted(texts), HELD_THEN);
}

#[test]
fn a_context_of_a_past_time_holds_what_held_then() {
    let team = Team::new();
    let book = &team.world.book;
    let ask: GetContext = request(json!({"task": "repair the gate", "at": Team::then()}));
    let context = book.get_context(&caller("cid"), &ask).unwrap();
    for text in HELD_THEN {
        assert!(context.text.contains(text), "{text}: {}", context.text);
    }
    for text in ["at ten", "9090", "camera", "Kim", "badge"] {
        assert!(!context.text.contains(text), "{text}: {}", context.text);
    }
    let explain = request(json!({"context": context.id, "replay": true}));
    let explained = book.explain_context(&caller("cid"), &explain).unwrap();
    assert_eq!(explained.replay.map(|replay| replay.same), Some(true));
}

#[test]
fn entries_and_profiles_of_a_past_context_are_those_of_then() {
    let world = World::new();
    let cid = caller("cid").for_user(Some("u1")).unwrap();
    let book = &world.book;
    let profile = |hour: i64, text: &str| {
        world.clock.set(at(hour));
        let fields =
            json!({"text": text, "memory_type": "profile", "user_id": "u1", "sharing": "shared"});
        book.save_memory(&cid, &request(fields)).unwrap();
        let entries = json!({"key": "outage", "title": "Outage", "entries": [{"summary": format!("entry: {text}")}]});
        book.append_entries(&caller("ann"), &request(entries)).unwrap();
    };
    profile(1, "likes short answers");
    profile(5, "likes long answers with sources");
    let ask = json!({"task": "answer", "case": "outage", "at": at(THIRD_HOUR).to_string(), "user_id": "u1"});
    let context = book.get_context(&caller("cid"), &request(ask)).unwrap();
    assert!(context.text.contains("entry: likes short"), "{}", context.text);
    assert!(!context.text.contains("long answers"), "{}", context.text);
    let sources: Vec<_> = context.items.iter().map(|item| item.source.name()).collect();
    assert!(sources.contains(&"profile"), "{sources:?}");
}

#[test]
fn what_was_private_then_is_not_shown() {
    let world = World::new();
    world.clock.set(at(1));
    let saved = world.save_private("ann", "the customer of the gate is Abernathy");
    world.clock.set(at(5));
    let share = json!({"id": saved.id, "text": "the customer of the gate is known", "sharing": Sharing::Shared});
    let update: UpdateMemory = request(share);
    world.book.update_memory(&caller("ann"), &update).unwrap();
    let ask = request(json!({"at": Team::then()}));
    assert_eq!(world.texts("bob", &ask), Vec::<String>::new());
    assert_eq!(world.texts("ann", &ask), ["the customer of the gate is Abernathy"]);
    assert_eq!(world.search("bob", &format!("customer at:{}", Team::then())).hits.len(), 0);
    let differences = differences(&world, "bob", json!({"since": Team::then()}));
    assert_eq!(differences, ["+ the customer of the gate is known"]);
}

#[test]
fn a_time_that_is_none_and_one_beside_deleted_are_refused() {
    let world = World::new();
    let table = [
        (json!({"at": "some day"}), "at"),
        (json!({"at": "2026-11-21", "deleted": true}), "deleted"),
    ];
    for (fields, field) in table {
        let error = world.book.list_memories(&caller("ann"), &request(fields)).unwrap_err();
        assert_eq!((error.kind, error.field.as_deref()), (ErrorKind::Invalid, Some(field)));
    }
    let ask: GetContext = request(json!({"task": "repair", "at": "some day"}));
    let error = world.book.get_context(&caller("ann"), &ask).unwrap_err();
    assert_eq!((error.kind, error.field.as_deref()), (ErrorKind::Invalid, Some("at")));
    let since = request(json!({"since": "some day"}));
    let error = world.book.diff_memories(&caller("ann"), &since).unwrap_err();
    assert_eq!((error.kind, error.field.as_deref()), (ErrorKind::Invalid, Some("since")));
}

#[test]
fn without_a_time_the_last_day_is_compared() {
    let world = World::new();
    world.save("ann", "the gate is blue");
    world.clock.set(at(30));
    world.save("ann", "the moat is deep");
    assert_eq!(differences(&world, "bob", json!({})), ["+ the moat is deep"]);
}

/// The differences, each in a line.
fn differences(world: &World, agent: &str, fields: Value) -> Vec<String> {
    let page = world.book.diff_memories(&caller(agent), &request(fields)).unwrap();
    let line = |MemoryDifference { before, after }: MemoryDifference| match before {
        None => format!("+ {}", after.text),
        Some(before) if after.deleted_at.is_some() => format!("- {}", before.text),
        Some(before) if after.superseded_by.is_some() => format!("superseded: {}", before.text),
        Some(before) => format!("{} -> {}", before.text, after.text),
    };
    page.items.into_iter().map(line).collect()
}

#[test]
fn the_difference_since_a_time_has_each_memory_once() {
    let team = Team::new();
    let since = |fields: Value| {
        let mut fields = fields;
        fields["since"] = json!(Team::then());
        differences(&team.world, "cid", fields)
    };
    assert_eq!(
        since(json!({})),
        [
            "+ the gate gets a camera",
            "+ the gate service listens on port 9090",
            "+ the gate wants a badge",
            "- Kim keeps the gate on Mondays",
            "superseded: the gate service listens on port 8080",
            "the gate opens at nine -> the gate opens at ten",
        ]
    );
    assert_eq!(
        since(json!({"topic": "hours"})),
        ["the gate opens at nine -> the gate opens at ten"]
    );
    assert_eq!(since(json!({"owner": "bob"})).len(), 3);
    // Page by page the same.
    let (mut cursor, mut lines) = (Value::Null, Vec::new());
    loop {
        let mut fields = json!({"since": Team::then(), "limit": 2});
        if !cursor.is_null() {
            fields["cursor"] = cursor.take();
        }
        lines.extend(differences(&team.world, "cid", fields.clone()));
        let page = team.world.book.diff_memories(&caller("cid"), &request(fields)).unwrap();
        match page.next {
            Some(next) => cursor = json!(next),
            None => break,
        }
    }
    assert_eq!(lines, since(json!({})));
}

#[test]
fn changed_and_changed_back_is_no_difference() {
    let world = World::new();
    world.clock.set(at(1));
    let saved = world.save("ann", "the gate is blue");
    world.clock.set(at(5));
    for text in ["the gate is green", "the gate is blue"] {
        let update: UpdateMemory = request(json!({"id": saved.id, "text": text}));
        world.book.update_memory(&caller("ann"), &update).unwrap();
    }
    assert_eq!(differences(&world, "bob", json!({"since": Team::then()})), Vec::<String>::new());
}

#[test]
fn what_was_retracted_since_is_told_in_no_context_and_marked_in_lists() {
    let world = World::new();
    let book = &world.book;
    world.clock.set(at(1));
    let saved = world.save("ann", "the gate code is 4711");
    let entry =
        json!({"key": "outage", "title": "Outage", "entries": [{"summary": "the gate fuse blew"}]});
    let appended = book.append_entries(&caller("ann"), &request(entry)).unwrap();
    world.clock.set(at(5));
    for id in [json!(saved.id), json!(appended.entries[0].entry_id)] {
        let retract = request(json!({"id": id, "reason": "It was a guess."}));
        book.retract_memory(&caller("ann"), &retract).unwrap();
    }
    let ask = json!({"task": "open the gate", "case": "outage", "at": Team::then()});
    let context = book.get_context(&caller("bob"), &request(ask)).unwrap();
    assert!(!context.text.contains("4711") && !context.text.contains("fuse"), "{}", context.text);
    let list = book.list_memories(&caller("bob"), &request(json!({"at": Team::then()}))).unwrap();
    assert!(list.items.iter().all(|memory| memory.retraction.is_some()), "{:?}", list.items);
    assert_eq!(list.items.len(), 2);
}
