//! Handles: the ends of ids in requests, looked up among what the caller sees.

use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::base::id::{DELETION_HANDLE_CHARS_MIN, HANDLE_CHARS_MIN, handle};
use commonbook::base::input;
use commonbook::model::caller::Caller;
use commonbook::model::case::AppendEntries;
use commonbook::model::handoff::{AcceptHandoff, CreateHandoff};
use commonbook::model::import;
use commonbook::model::memory::{DeleteMemory, GetMemory, ListMemories, Memory};
use commonbook::model::origin::TextOrigin;
use commonbook::prompt::context::GetContext;
use commonbook::prompt::near::{near_line, near_notes};
use serde_json::{Value, json};

use crate::{World, caller, request};

/// The `id` of a request to read a memory, as the verb receives it.
pub(crate) fn resolve(world: &World, caller: &Caller, id: &str) -> Result<String> {
    let mut request = json!({"id": id});
    world.book.resolve_handles(caller, &input::schema::<GetMemory>(), &mut request)?;
    Ok(request["id"].as_str().unwrap_or_default().to_owned())
}

/// A memory with another's last letters, all but the first `differing` of the 26.
fn save_alike(world: &World, agent: &str, memory: &Memory, differing: usize) -> String {
    let id = memory.id.to_string();
    let other = format!("mem_{}{}", "0".repeat(differing), &id[4 + differing..]);
    let mut line = serde_json::to_value(memory).unwrap();
    line["id"] = other.clone().into();
    line["text"] = format!("Another text of {agent}, {differing}").into();
    let line = import::parse(line.to_string().as_bytes(), TextOrigin::ThisHome).unwrap();
    world.book.import_lines(&caller(agent), None, vec![line]).unwrap().pop().unwrap().unwrap();
    other
}

fn outcome(result: Result<String>) -> (ErrorKind, Option<String>) {
    let Error { kind, field, .. } = result.unwrap_err();
    (kind, field)
}

#[test]
fn a_handle_names_what_the_caller_sees() {
    let world = World::new();
    let shared = world.save("ann", "one").id.to_string();
    let private = world.save_private("ann", "two").id.to_string();
    let (ann, bob) = (caller("ann"), caller("bob"));
    let short = handle(&shared);
    let texts =
        [short.to_owned(), format!("#{short}"), short.to_uppercase(), shared[10..].to_owned()];
    for text in texts {
        assert_eq!(resolve(&world, &bob, &text).unwrap(), shared, "{text}");
    }
    // What is no handle is left to the verb, which refuses it by its field.
    for text in ["", "mem_", "short", "not an id", &shared, "lllllll"] {
        assert_eq!(resolve(&world, &bob, text).unwrap(), text);
    }
    let unknown = (ErrorKind::NotFound, Some("id".to_owned()));
    assert_eq!(outcome(resolve(&world, &bob, "zzzzzz")), unknown);
    assert_eq!(outcome(resolve(&world, &bob, handle(&private))), unknown);
    assert_eq!(resolve(&world, &ann, handle(&private)).unwrap(), private);
}

#[test]
fn a_handle_of_several_is_a_conflict_that_names_them() {
    let world = World::new();
    let first = world.save("ann", "one");
    let other = save_alike(&world, "ann", &first, 12);
    let first = first.id.to_string();
    let error = resolve(&world, &caller("bob"), handle(&first)).unwrap_err();
    assert_eq!((error.kind, error.field.as_deref()), (ErrorKind::Conflict, Some("id")));
    let hint = error.hint.unwrap();
    assert!(hint.contains(&first) && hint.contains(&other), "{hint}");
}

#[test]
fn every_field_of_a_request_takes_handles_and_a_deletion_a_longer_one() {
    let world = World::new();
    let memory = world.save("ann", "one").id.to_string();
    let (ann, short) = (caller("ann"), &memory[memory.len() - HANDLE_CHARS_MIN..]);
    let mut entries =
        json!({"key": "k", "entries": [{"summary": "x", "supersedes": ["zz", short]}]});
    world.book.resolve_handles(&ann, &input::schema::<AppendEntries>(), &mut entries).unwrap();
    assert_eq!(entries["entries"][0]["supersedes"], json!(["zz", memory]));
    let mut handoff =
        json!({"to": "bob", "task": short, "memories": [format!("#{short}"), "zzzzzz"]});
    let schema = input::schema::<CreateHandoff>();
    let error = world.book.resolve_handles(&ann, &schema, &mut handoff).unwrap_err();
    assert_eq!(error.field.as_deref(), Some("memories[1]"));
    handoff["memories"] = json!([short]);
    world.book.resolve_handles(&ann, &schema, &mut handoff).unwrap();
    assert_eq!((&handoff["task"], &handoff["memories"][0]), (&json!(short), &json!(memory)));

    let schema = input::schema::<DeleteMemory>();
    let mut delete = json!({"id": short});
    let error = world.book.resolve_handles(&ann, &schema, &mut delete).unwrap_err();
    assert_eq!((error.kind, error.field.as_deref()), (ErrorKind::Invalid, Some("id")));
    delete["id"] = memory[memory.len() - DELETION_HANDLE_CHARS_MIN..].into();
    world.book.resolve_handles(&ann, &schema, &mut delete).unwrap();
    assert_eq!(delete["id"], memory.as_str());
}

#[test]
fn texts_show_handles_that_resolve_to_one_thing_for_their_reader() {
    let world = World::new();
    let first = world.save("ann", "The gate opens at noon on Fridays.");
    let other = save_alike(&world, "ann", &first, 12);
    let ask: GetContext =
        request(json!({"task": "When does the gate open on Fridays?", "threshold": 0.1}));
    let text = world.book.get_context(&caller("bob"), &ask).unwrap().text;
    let shown: Vec<&str> =
        text.lines().filter_map(|line| line.strip_prefix('#')?.split(' ').next()).collect();
    assert!(!shown.is_empty(), "{text}");
    for handle in shown {
        assert!(handle.len() > DELETION_HANDLE_CHARS_MIN, "{text}");
        let id = resolve(&world, &caller("bob"), handle).unwrap();
        assert!([first.id.to_string(), other.clone()].contains(&id), "{id}");
    }

    let create: CreateHandoff = request(json!({"to": "bob", "task": "Open the gate"}));
    let id = world.book.create_handoff(&caller("ann"), &create).unwrap().handoff.id.to_string();
    let mut accept: Value = json!({"handoff": handle(&id)});
    let schema = input::schema::<AcceptHandoff>();
    world.book.resolve_handles(&caller("bob"), &schema, &mut accept).unwrap();
    assert_eq!(accept["handoff"], id.as_str());
    // Under the other names of the field, too.
    for name in ["id", "handoff_id"] {
        let mut accept = json!({name: format!("#{}", handle(&id))});
        world.book.resolve_handles(&caller("bob"), &schema, &mut accept).unwrap();
        assert_eq!(accept[name], id.as_str());
        assert!(input::from_value::<AcceptHandoff>(accept).is_ok());
    }
    let unknown = &mut json!({"handoff": "zzzzzzzz"});
    let error = world.book.resolve_handles(&caller("bob"), &schema, unknown).unwrap_err();
    assert!(error.hint.unwrap().contains("list_handoffs"));
}

#[test]
fn a_handle_names_a_session_and_an_unknown_session_of_ours_is_refused() {
    let world = World::new();
    let (ann, start) = (caller("ann"), request(json!({})));
    let id = world.book.start_session(&ann, &start).unwrap().session.id.to_string();
    let known = |name: &str| {
        let caller = ann.clone().in_session(Some(name)).unwrap();
        world.book.in_known_session(&caller).map(|caller| caller.session.clone())
    };
    for name in [handle(&id), &id, &id[10..]] {
        assert_eq!(known(name).unwrap().as_deref(), Some(&*id), "{name}");
    }
    // Under which no session was begun, a client's own id stays as it is.
    for own in ["d8d0fc6f-e641", "abcdef", "tab"] {
        assert_eq!(known(own).unwrap().as_deref(), Some(own));
    }
    // A text of the form of our ids is meant as one, whole or not.
    let opencode = "ses_e04372ae5ffeUkCHu1g42LYXzd";
    for unknown in
        ["ses_01m7y9c4dpeqkspxh7a865d434", "ses_zzzz", "ses_", &id[..20], &id[..29], opencode]
    {
        let error = known(unknown).unwrap_err();
        assert_eq!((error.kind, error.field.as_deref()), (ErrorKind::NotFound, Some("session")));
        assert!(error.message.contains(unknown), "{}", error.message);
    }
    // The client's own id stands for the session that was begun under it, whatever its form.
    for own in ["d8d0fc6f-e641", "abcdef", "tab", opencode] {
        let start = request(json!({"client_session": own}));
        let begun = world.book.start_session(&ann, &start).unwrap().session.id.to_string();
        assert_eq!(known(own).unwrap(), Some(begun), "{own}");
    }
    let bob = caller("bob").in_session(Some("tab")).unwrap();
    let bob = world.book.in_known_session(&bob).unwrap();
    assert_eq!(bob.session.as_deref(), Some("tab"), "the session of ann is not bob's");
    let mut list = json!({"session": handle(&id)});
    world.book.resolve_handles(&ann, &input::schema::<ListMemories>(), &mut list).unwrap();
    assert_eq!(list["session"], id.as_str());
    let mut list = json!({"session": "ses_01m7y9c4dpeqkspxh7a865d434"});
    let schema = input::schema::<ListMemories>();
    let error = world.book.resolve_handles(&ann, &schema, &mut list).unwrap_err();
    assert_eq!((error.kind, error.field.as_deref()), (ErrorKind::NotFound, Some("session")));
    // Imported memories keep the session of their first home.
    let mut imported = serde_json::to_value(world.save("ann", "x")).unwrap();
    imported["id"] = json!("mem_01m7y9c4dpeqkspxh7a865d434");
    imported["session"] = list["session"].clone();
    let line = import::parse(imported.to_string().as_bytes(), TextOrigin::ThisHome).unwrap();
    assert!(world.book.import_lines(&ann, None, vec![line]).unwrap()[0].is_ok());
    world.book.resolve_handles(&ann, &schema, &mut list).unwrap();
}

#[test]
fn a_memory_has_one_handle_in_every_text() {
    let world = World::new();
    let gate = world.save("ann", "The gate opens at noon on Fridays.");
    let short = format!("#{}", handle(&gate.id.to_string()));
    assert_eq!(short.len(), 1 + DELETION_HANDLE_CHARS_MIN);
    let bob = caller("bob");
    let ask: GetContext =
        request(json!({"task": "When does the gate open on Fridays?", "threshold": 0.1}));
    let context = world.book.get_context(&bob, &ask).unwrap().text;
    let hits = world.book.search_text(&bob, world.search("bob", "gate Fridays")).unwrap();
    for text in [context, hits] {
        assert!(text.contains(&format!("{short} ")), "{short}: {text}");
    }
    let save = request(json!({"text": "The gate opens at ten on Fridays."}));
    let saved = world.book.save_memory(&bob, &save).unwrap().memory;
    let near = near_notes(&saved, std::slice::from_ref(&gate));
    assert!(near_line(&near[0]).starts_with(&format!("{short} ann: ")), "{near:?}");
}
