//! What agents received, as others see it, and how often memories reach readers.

use commonbook::base::error::ErrorKind;
use commonbook::model::caller::{Caller, EntryPoint};
use commonbook::model::event::{Event, EventKind, ListEvents};
use commonbook::model::memory::{GetMemory, ListMemories, Memory, MemoryUsage, UsageKind};
use commonbook::prompt::context::{
    ContextOrigin, ContextSummary, ExplainContext, GetContext, ListContexts,
};
use serde_json::{Value, json};

use crate::{World, at, caller, elsewhere, request};

const TASK: &str = "Mend the parser of tabs";

/// The person at the command line.
fn person() -> Caller {
    caller("anonymous")
}

impl World {
    fn contexts(&self, reader: &Caller) -> Vec<ContextSummary> {
        self.book.list_contexts(reader, &ListContexts::default()).unwrap().items
    }

    /// The events that say what agents received.
    fn work_events(&self, reader: &Caller) -> Vec<Event> {
        let all = ListEvents { limit: Some(100), ..ListEvents::default() };
        let events = self.book.list_events(reader, &all).unwrap().items.into_iter();
        events.filter(|event| event.kind.is_of_work()).collect()
    }

    fn counted(&self, reader: &str, id: &Memory) -> MemoryUsage {
        self.book.record_usage(|| true).unwrap();
        let all = ListMemories::default();
        let page = self.book.list_memories(&caller(reader), &all).unwrap();
        let memory = page.items.into_iter().find(|memory| memory.id == id.id).unwrap();
        memory.usage.unwrap_or_default()
    }
}

fn work_for(agent: &str, user: &str) -> Caller {
    caller(agent).for_user(Some(user)).unwrap()
}

#[test]
fn a_parent_and_the_person_see_what_a_child_was_told_without_its_private_memories() {
    let world = World::new();
    let shared = world.save("qa", "The parser of tabs fails on blanks");
    let private = world.save_private("claude/engineer", "The parser of tabs is my own secret");
    let context = world.context_for("claude/engineer", TASK);
    assert_eq!(context.items.len(), 2, "{}", context.text);
    let explain = ExplainContext { context: context.id, replay: false };
    for reader in [caller("claude"), person()] {
        let explained = world.book.explain_context(&reader, &explain).unwrap();
        let figures = &explained.receipt.diagnostics;
        assert_eq!(explained.receipt.candidates.len(), 1);
        assert_eq!(explained.receipt.candidates[0].id, shared.id.to_string());
        assert_eq!((figures.candidate_count, figures.injected_count), (1, 1));
        assert_eq!(figures.source_agents, ["qa"]);
        let tokens = explained.receipt.candidates[0].tokens.unwrap();
        assert_eq!((explained.receipt.tokens, explained.sha256.as_str()), (tokens, ""));
        let listed = world.contexts(&reader);
        assert_eq!((listed.len(), listed[0].items), (1, 1));
        assert_eq!(listed[0].tokens, tokens as u64);
        assert_eq!(listed[0].bytes, shared.text.len() as u64);
        let events = world.work_events(&reader);
        let details = Value::Object(events[0].details.clone());
        assert_eq!((events.len(), events[0].kind), (1, EventKind::ContextBuilt));
        assert_eq!(details["ids"], json!([shared.id]));
        assert_eq!(details["tokens"], tokens);
        let all = format!("{events:?} {listed:?} {explained:?}");
        assert!(!all.contains(&private.id.to_string()) && !all.contains("secret"), "{all}");
        let replay = ExplainContext { replay: true, ..explain.clone() };
        let refused = world.book.explain_context(&reader, &replay).unwrap_err();
        assert_eq!(
            (refused.kind, refused.field.as_deref()),
            (ErrorKind::Forbidden, Some("replay"))
        );
    }
    let own = world.contexts(&caller("claude/engineer"));
    assert_eq!((own[0].items, own[0].origin), (2, ContextOrigin::Context));
    let unnamed = Caller { door: EntryPoint::Rest, ..person() };
    let elsewhere = elsewhere("claude", "y");
    for stranger in [caller("qa"), caller("claude/other"), caller("claudette"), unnamed, elsewhere]
    {
        assert_eq!(world.contexts(&stranger), []);
        assert_eq!(world.work_events(&stranger), []);
        let unknown = world.book.explain_context(&stranger, &explain).unwrap_err();
        assert_eq!(unknown.kind, ErrorKind::NotFound);
    }
}

#[test]
fn who_sees_all_of_a_text_sees_its_size_and_its_headlines() {
    let world = World::new();
    let texts = ["The parser of tabs fails on blanks", "Tabs are four columns wide in the editor"];
    let saved = texts.map(|text| world.save("qa", text));
    let context = world.context_for("claude/engineer", TASK);
    let explain = ExplainContext { context: context.id, replay: false };
    let own = world.book.explain_context(&caller("claude/engineer"), &explain).unwrap().receipt;
    assert!(own.diagnostics.headline_count > 0, "{}", context.text);
    for reader in [caller("claude/engineer"), caller("claude"), person()] {
        let explained = world.book.explain_context(&reader, &explain).unwrap().receipt;
        assert_eq!(explained, own);
        let listed = world.contexts(&reader).remove(0);
        assert_eq!((listed.items, listed.tokens), (2, own.tokens as u64));
        assert_eq!(listed.bytes, saved.iter().map(|memory| memory.text.len() as u64).sum::<u64>());
    }
}

#[test]
fn a_memory_that_is_hidden_later_leaves_what_others_see() {
    let world = World::new();
    let memory = world.save("claude/engineer", "The parser of tabs fails on blanks");
    let context = world.context_for("claude/engineer", TASK);
    let named = |reader: &Caller| {
        let events = world.work_events(reader);
        (events[0].details["ids"].clone(), world.contexts(reader)[0].items)
    };
    assert_eq!(named(&caller("claude")), (json!([memory.id]), 1));
    let hide = json!({"id": memory.id, "sharing": "private"});
    world.book.update_memory(&caller("claude/engineer"), &request(hide)).unwrap();
    assert_eq!(named(&caller("claude")), (json!([]), 0));
    assert_eq!(named(&caller("claude/engineer")), (json!([memory.id]), 1));
    let explain = ExplainContext { context: context.id, replay: false };
    let seen = world.book.explain_context(&caller("claude"), &explain).unwrap();
    assert_eq!((seen.receipt.candidates.len(), seen.receipt.tokens), (0, 0));
}

#[test]
fn what_was_told_for_a_user_is_seen_for_that_user_alone() {
    let world = World::new();
    world.save("qa", "The parser of tabs fails on blanks");
    let who = work_for("claude/engineer", "alice");
    let task = GetContext { task: TASK.to_owned(), ..GetContext::default() };
    let context = world.book.get_context(&who, &task).unwrap();
    let explain = ExplainContext { context: context.id, replay: false };
    for (reader, sees) in [
        (who.clone(), true),
        (work_for("claude", "alice"), true),
        (work_for("claude", "bob"), false),
        (work_for("claude/engineer", "bob"), false),
        (caller("claude"), false),
        (caller("claude/engineer"), true),
        (person(), false),
    ] {
        assert_eq!(world.contexts(&reader).len(), usize::from(sees), "{reader:?}");
        assert_eq!(world.work_events(&reader).len(), usize::from(sees), "{reader:?}");
        assert_eq!(world.book.explain_context(&reader, &explain).is_ok(), sees, "{reader:?}");
    }
}

#[test]
fn every_text_that_tells_memories_leaves_a_receipt() {
    let world = World::new();
    let memory = world.save("ann", "The parser of tabs fails on blanks");
    let fields = json!({"to": "bob", "task": "Mend the parser", "memories": [memory.id]});
    let handoff = world.book.create_handoff(&caller("ann"), &request(fields)).unwrap().handoff;
    for _ in 0..2 {
        world
            .book
            .accept_handoff(&caller("bob"), &request(json!({"handoff": handoff.id})))
            .unwrap();
    }
    let session = world.book.start_session(&caller("ann"), &request(json!({}))).unwrap().session;
    let ann = caller("ann").in_session(Some(&session.id.to_string())).unwrap();
    let text = json!({"text": "The lexer counts columns"});
    let lexer = world.book.save_memory(&ann, &request(text)).unwrap().memory;
    let resume = json!({"session": session.id});
    world.book.resume_session(&caller("ann"), &request(resume)).unwrap();
    let briefing = json!({"client_session": "s1"});
    world.book.get_briefing(&caller("eve"), &request(briefing)).unwrap();
    let hook = Caller { door: EntryPoint::Hook, ..caller("eve/qa") };
    world.book.get_context(&hook, &request(json!({"task": TASK}))).unwrap();
    let listed = world.contexts(&person());
    let told: Vec<(&str, ContextOrigin)> =
        listed.iter().map(|context| (context.agent.as_str(), context.origin)).collect();
    let expected = [
        ("eve/qa", ContextOrigin::Delegation),
        ("eve", ContextOrigin::Briefing),
        ("ann", ContextOrigin::Resume),
        ("bob", ContextOrigin::Handoff),
    ];
    assert_eq!(told, expected, "to accept again tells nothing new");
    let ids = |agent: &str| world.work_events(&caller(agent))[0].details["ids"].clone();
    assert_eq!(ids("bob"), json!([handoff.id, memory.id]));
    let resumed = ids("ann");
    assert!(resumed.as_array().unwrap().contains(&json!(lexer.id)), "{resumed}");
    assert_eq!(listed[1].session.as_deref(), Some("s1"));
    assert_eq!(listed[2].session, Some(session.id.to_string()));
    let filtered = |fields: Value| {
        let page = world.book.list_contexts(&person(), &request(fields)).unwrap();
        page.items.into_iter().map(|context| context.origin).collect::<Vec<_>>()
    };
    assert_eq!(filtered(json!({"session": "s1"})), [ContextOrigin::Briefing]);
    assert_eq!(filtered(json!({"agent": "bob"})), [ContextOrigin::Handoff]);
    assert_eq!(filtered(json!({"since": at(1)})), []);
    let replay = json!({"context": listed[3].id, "replay": true});
    let refused = world.book.explain_context(&caller("bob"), &request(replay)).unwrap_err();
    assert_eq!((refused.kind, refused.field.as_deref()), (ErrorKind::Invalid, Some("replay")));
}

#[test]
fn contexts_page_without_repeating_or_skipping() {
    let world = World::new();
    world.save("qa", "The parser of tabs fails on blanks");
    let made: Vec<_> = (0..5).map(|_| world.context_for("claude/engineer", TASK).id).collect();
    let mut request = ListContexts { limit: Some(2), ..ListContexts::default() };
    let mut listed = Vec::new();
    loop {
        let page = world.book.list_contexts(&caller("claude"), &request).unwrap();
        listed.extend(page.items.into_iter().map(|context| context.id));
        request.cursor = page.next;
        if request.cursor.is_none() {
            break;
        }
    }
    listed.reverse();
    assert_eq!(listed, made);
}

#[test]
fn what_others_were_told_is_no_change() {
    let world = World::new();
    world.context_for("claude/engineer", TASK);
    let changes = world.book.changes_since(&caller("claude"), &request(json!({}))).unwrap();
    assert_eq!(changes.changes, []);
}

#[test]
fn a_memory_counts_how_often_it_was_found_told_and_used() {
    let world = World::new();
    let memory = world.save("qa", "The parser of tabs fails on blanks");
    assert_eq!(world.counted("qa", &memory), MemoryUsage::default());
    world.search("ann", "parser tabs");
    world.search("bob", "parser tabs");
    world.clock.set(at(1) + jiff::SignedDuration::from_secs(61));
    world.context_for("ann", TASK);
    world.book.get_memory(&caller("bob"), &GetMemory { id: memory.id.into(), at: None }).unwrap();
    world
        .book
        .get_memory(&caller("bob"), &GetMemory { id: memory.id.into(), at: Some(at(1)) })
        .unwrap();
    let fields = json!({"to": "eve", "task": "Mend it", "memories": [memory.id]});
    world.book.create_handoff(&caller("qa"), &request(fields)).unwrap();
    let told_at = Some(at(1) + jiff::SignedDuration::from_secs(60));
    let expected = MemoryUsage { last_told_at: told_at, ..MemoryUsage::of(2, 1, 2) };
    for _ in 0..2 {
        assert_eq!(world.counted("eve", &memory), expected, "to the minute, and once");
    }
    assert_eq!(expected.access_count, 5);
    let shown =
        world.book.get_memory(&caller("eve"), &GetMemory { id: memory.id.into(), at: None });
    assert_eq!(shown.unwrap().usage, Some(expected));
    // A process that ends before it counts leaves the receipt, which another counts.
    world.context_for("ann", TASK);
    commonbook::Commonbook::new(crate::open_store(world.home())).record_usage(|| true).unwrap();
    assert_eq!(world.counted("qa", &memory).told, 2);
}

#[test]
fn a_list_is_sorted_by_usage_and_names_nothing_out_of_sight() {
    let world = World::new();
    for number in 0..4 {
        world.save("qa", &format!("Heron number {number} wades"));
    }
    let private = world.save_private("ann", "Heron of ann wades alone");
    let found = |agent: &str, query: &str| drop(world.search(agent, query));
    (0..3).for_each(|_| found("ann", "alone"));
    found("bob", "heron 2");
    world.book.record_usage(|| true).unwrap();
    let pages = |agent: &str, limit| {
        let mut request =
            ListMemories { sort: Some(UsageKind::Found), limit: Some(limit), ..Default::default() };
        let mut all: Vec<Memory> = Vec::new();
        loop {
            let page = world.book.list_memories(&caller(agent), &request).unwrap();
            all.extend(page.items);
            request.cursor = page.next;
            if request.cursor.is_none() {
                return all;
            }
        }
    };
    let whole = pages("bob", 100);
    assert_eq!(whole.len(), 4);
    assert!(whole.iter().all(|memory| memory.id != private.id));
    let counts = whole.iter().map(|memory| memory.usage.map_or(0, |usage| usage.found));
    assert!(counts.collect::<Vec<_>>().is_sorted_by(|a, b| a >= b));
    for limit in [1, 3] {
        assert_eq!(pages("bob", limit), whole);
    }
    assert_eq!(pages("ann", 100)[0].id, private.id);
    let wrong = json!({"sort": "told", "order": "oldest"});
    let refused = world.book.list_memories(&caller("ann"), &request(wrong)).unwrap_err();
    assert_eq!(refused.field.as_deref(), Some("sort"));
    let foreign = json!({"sort": "told", "cursor": "c1"});
    let refused = world.book.list_memories(&caller("ann"), &request(foreign)).unwrap_err();
    assert_eq!(refused.field.as_deref(), Some("cursor"));
}
