//! Whom a memory is about: the user that its author works for, or the project.

use commonbook::base::error::ErrorKind;
use commonbook::model::caller::Caller;
use commonbook::model::event::ListEvents;
use commonbook::model::learning::LearnRequest;
use commonbook::model::memory::{
    GetMemory, ListMemories, Memory, MemoryHistory, MemorySubject, SaveMemory, UpdateMemory,
};
use serde_json::{Value, json};

use crate::{World, caller, request};

const PROJECT: &str = "The staging database listens on port 5433";
const USER: &str = "The user prefers dark themes";

fn of_user(agent: &str, user: &str) -> Caller {
    caller(agent).for_user(Some(user)).unwrap()
}

fn save(world: &World, caller: &Caller, fields: Value) -> Memory {
    world.book.save_memory(caller, &request::<SaveMemory>(fields)).unwrap().memory
}

fn update(world: &World, caller: &Caller, id: &Memory, mut fields: Value) -> Memory {
    fields["id"] = json!(id.id);
    world.book.update_memory(caller, &request::<UpdateMemory>(fields)).unwrap().memory
}

/// The texts of the current memories that a caller sees.
fn texts(world: &World, caller: &Caller) -> Vec<String> {
    let page = world.book.list_memories(caller, &ListMemories::default()).unwrap();
    let current = page.items.into_iter().filter(Memory::is_current);
    let mut texts: Vec<String> = current.map(|memory| memory.text).collect();
    texts.sort();
    texts
}

#[test]
fn what_an_agent_learns_about_the_project_is_for_the_agents_of_every_user() {
    let world = World::new();
    let (alice, bob) = (of_user("claude", "alice"), of_user("codex", "bob"));
    let project = save(&world, &alice, json!({"text": PROJECT}));
    let user = save(&world, &alice, json!({"text": USER}));
    assert_eq!((project.subject(), project.user_id), (MemorySubject::Project, None));
    assert_eq!((user.subject(), user.user_id.as_deref()), (MemorySubject::User, Some("alice")));
    assert_eq!(texts(&world, &alice), [PROJECT, USER]);
    assert_eq!(texts(&world, &bob), [PROJECT]);
    assert_eq!(texts(&world, &caller("codex")), [PROJECT]);
    assert_eq!(texts(&world, &of_user("codex", "alice")), [PROJECT, USER]);
    // For an agent without a user nothing is judged: all is as it was.
    save(&world, &caller("rook"), json!({"text": "I live in Berlin"}));
    assert!(texts(&world, &bob).contains(&"I live in Berlin".to_owned()));
}

#[test]
fn the_author_can_say_whom_a_memory_is_about() {
    let world = World::new();
    let (alice, bob) = (of_user("claude", "alice"), of_user("codex", "bob"));
    let text = "Berlin, since May";
    save(&world, &alice, json!({"text": text, "about": "project"}));
    let hidden = save(&world, &alice, json!({"text": PROJECT, "about": "user"}));
    assert_eq!(hidden.user_id.as_deref(), Some("alice"));
    assert_eq!(texts(&world, &bob), [text]);
    let refused = |caller: &Caller, fields: Value| {
        let error = world.book.save_memory(caller, &request(fields)).unwrap_err();
        assert!(error.hint.is_some(), "{error:?}");
        (error.kind, error.field.unwrap())
    };
    let table = [
        (caller("claude"), json!({"text": USER, "about": "user"})),
        (alice, json!({"text": USER, "about": "project", "user_id": "alice"})),
    ];
    for (caller, fields) in table {
        assert_eq!(refused(&caller, fields), (ErrorKind::Invalid, "about".to_owned()));
    }
    // The user that a request names is the one that the memory is about.
    let named = save(&world, &caller("claude"), json!({"text": PROJECT, "user_id": "carol"}));
    assert_eq!(named.user_id.as_deref(), Some("carol"));
}

#[test]
fn a_wrong_judgement_is_corrected_by_the_owner_alone() {
    let world = World::new();
    let (alice, bob) = (of_user("claude", "alice"), of_user("codex", "bob"));
    let memory = save(&world, &alice, json!({"text": "Berlin, since May", "topics": ["secret"]}));
    assert!(texts(&world, &bob).is_empty());
    let shown = update(&world, &alice, &memory, json!({"about": "project"}));
    assert_eq!((shown.subject(), shown.revision), (MemorySubject::Project, 2));
    assert_eq!(texts(&world, &bob), ["Berlin, since May"]);
    // Who comes to see a memory now learns nothing of what it was before.
    let history = |caller: &Caller| {
        let request = MemoryHistory { id: memory.id.into() };
        world.book.memory_history(caller, &request).unwrap().items.len()
    };
    assert_eq!((history(&alice), history(&bob)), (2, 1));
    let events = |caller: &Caller| {
        let events = world.book.list_events(caller, &ListEvents::default()).unwrap();
        events.items.into_iter().map(|event| event.changed).collect::<Vec<_>>()
    };
    assert_eq!(events(&alice), [vec![], vec!["about".to_owned()]]);
    assert_eq!(events(&bob), [vec!["about".to_owned()]]);
    let change = request::<UpdateMemory>(json!({"id": memory.id, "about": "user"}));
    let foreign = world.book.update_memory(&bob, &change).unwrap_err();
    assert_eq!(foreign.kind, ErrorKind::Forbidden);
    let nobody = world.book.update_memory(&caller("claude"), &change).unwrap_err();
    assert_eq!((nobody.kind, nobody.field.as_deref()), (ErrorKind::Invalid, Some("about")));
    // And back: it is hidden again, as are its history and events.
    let hidden = update(&world, &alice, &memory, json!({"about": "user"}));
    assert_eq!(hidden.user_id.as_deref(), Some("alice"));
    assert!(texts(&world, &bob).is_empty() && events(&bob).is_empty());
    let unknown =
        world.book.memory_history(&bob, &MemoryHistory { id: memory.id.into() }).unwrap_err();
    assert_eq!(unknown.kind, ErrorKind::NotFound);
    assert_eq!(history(&alice), 3);
}

#[test]
fn a_text_that_comes_to_speak_of_the_user_is_the_users() {
    let world = World::new();
    let alice = of_user("claude", "alice");
    let memory = save(&world, &alice, json!({"text": PROJECT}));
    let text = "The staging database of my laptop listens on port 5433";
    let changed = update(&world, &alice, &memory, json!({"text": text}));
    assert_eq!(changed.user_id.as_deref(), Some("alice"));
    // The reverse needs the author's word.
    let back = update(&world, &alice, &memory, json!({"text": PROJECT}));
    assert_eq!(back.subject(), MemorySubject::User);
    // What the author said stays.
    let stated = save(&world, &alice, json!({"text": "Berlin, since May", "about": "project"}));
    let longer = update(&world, &alice, &stated, json!({"text": "Berlin, since April"}));
    assert_eq!(longer.subject(), MemorySubject::Project);
}

#[test]
fn a_memory_about_a_user_never_hides_one_about_the_project() {
    let world = World::new();
    let (alice, bob) = (of_user("claude", "alice"), of_user("codex", "bob"));
    let old = save(&world, &alice, json!({"text": PROJECT}));
    let heir = json!({"text": "Port 5434, since May", "supersedes": old.id});
    let refused = world.book.save_memory(&alice, &request::<SaveMemory>(heir.clone())).unwrap_err();
    assert_eq!((refused.kind, refused.field.as_deref()), (ErrorKind::Invalid, Some("supersedes")));
    let mut stated = heir;
    stated["about"] = json!("project");
    let new = save(&world, &alice, stated);
    assert_eq!(texts(&world, &bob), ["Port 5434, since May"]);
    // If the successor turns out to be the user's, what it superseded holds again for the others.
    update(&world, &alice, &new, json!({"about": "user"}));
    assert_eq!(texts(&world, &bob), [PROJECT]);
    let seen = world.book.get_memory(&bob, &GetMemory { id: old.id.into(), at: None }).unwrap();
    assert_eq!(seen.superseded_by, None);
    let search = request(json!({"query": "staging database"}));
    assert_eq!(world.book.search_memory(&bob, &search).unwrap().hits.len(), 1);
}

#[test]
fn a_correction_stays_with_its_subject() {
    let world = World::new();
    let (alice, bob) = (of_user("claude", "alice"), of_user("codex", "bob"));
    save(&world, &alice, json!({"text": PROJECT}));
    let fixed = "The staging database listens on port 5434";
    save(&world, &alice, json!({"text": fixed}));
    assert_eq!(texts(&world, &bob), [fixed]);
    // The same about the user corrects nothing that others read.
    let own = "The staging database listens on port 5435";
    save(&world, &alice, json!({"text": own, "about": "user"}));
    assert_eq!(texts(&world, &bob), [fixed]);
    assert_eq!(texts(&world, &alice), [fixed, own]);
}

#[test]
fn an_entry_of_a_case_is_judged_like_every_memory() {
    let world = World::new();
    let (alice, bob) = (of_user("claude", "alice"), of_user("codex", "bob"));
    let append = |entries: Value| {
        let append = json!({"key": "launch", "title": "Launch", "entries": entries});
        world.book.append_entries(&alice, &request(append))
    };
    let first = append(json!([{"summary": PROJECT}, {"summary": USER}])).unwrap();
    assert_eq!(texts(&world, &bob), [PROJECT]);
    let first = first.entries[0].entry_id;
    let hides = append(json!([{"summary": "Port 5434", "supersedes": [first]}])).unwrap_err();
    assert_eq!(hides.kind, ErrorKind::Invalid);
    append(json!([{"summary": "Port 5434", "supersedes": [first], "about": "project"}])).unwrap();
    assert_eq!(texts(&world, &bob), ["Port 5434"]);
}

#[test]
fn learnings_are_judged_one_by_one_and_only_those_about_the_project_reach_the_file() {
    let world = World::new();
    let book = world.book.clone().with_home(world.home().to_owned());
    let world = World { book, ..world };
    let project = tempfile::tempdir().unwrap();
    let folder = world.home().join("memories");
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("engineer.md");
    std::fs::write(&file, "# Engineer\n\n## Known Issues\n- Old item here\n").unwrap();
    let alice = of_user("claude/engineer", "alice").in_project(Some(project.path().to_owned()));
    let message = format!("Done.\n\nRemember: {PROJECT}\nRemember: {USER}\n");
    let learned =
        world.book.learn(&alice, &request::<LearnRequest>(json!({"message": message}))).unwrap();
    let about: Vec<MemorySubject> = learned.learnings.iter().map(Memory::subject).collect();
    assert_eq!(about, [MemorySubject::Project, MemorySubject::User]);
    assert_eq!(texts(&world, &of_user("codex", "bob")), [PROJECT]);
    let kept = std::fs::read_to_string(&file).unwrap();
    assert!(kept.contains(PROJECT) && !kept.contains(USER), "{kept}");
}

#[test]
fn an_import_for_a_user_is_judged_line_by_line() {
    let world = World::new();
    let (alice, bob) = (of_user("claude", "alice"), of_user("codex", "bob"));
    let lines = json!({"lines": [{"text": PROJECT}, {"text": USER}]});
    world.book.import_memories(&alice, &request(lines)).unwrap();
    assert_eq!(texts(&world, &bob), [PROJECT]);
    assert_eq!(texts(&world, &alice), [PROJECT, USER]);
}

#[test]
fn a_response_says_what_a_memory_is_about_and_reads_it_back() {
    let world = World::new();
    let alice = of_user("claude", "alice");
    for (text, about, user) in [(PROJECT, "project", Value::Null), (USER, "user", json!("alice"))] {
        let memory = save(&world, &alice, json!({"text": text}));
        let shown = serde_json::to_value(&memory).unwrap();
        assert_eq!((&shown["about"], &shown["user_id"]), (&json!(about), &user));
        assert_eq!(serde_json::from_value::<Memory>(shown).unwrap(), memory);
    }
}
