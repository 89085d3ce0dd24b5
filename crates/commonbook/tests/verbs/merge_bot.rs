//! Digests that run by themselves: which memories they choose, when they run, and proposals.

use commonbook::model::origin::TextOrigin;
use std::ops::ControlFlow;

use commonbook::base::error::{ErrorKind, Result};
use commonbook::model::case::digest::{DigestOrigin, MergeBotSettings};
use commonbook::model::case::{CaseEntry, EntryKind};
use commonbook::model::event::EventKind;
use commonbook::model::import;
use commonbook::store::{JournalScope, Store, Tx};
use serde_json::{Value, json};

use crate::{World, caller, request};

/// A memory of a table, and what is to become of it.
struct Row {
    author: String,
    fields: Value,
    text: String,
    wanted: String,
}

fn rows(table: &str) -> Vec<Row> {
    let rows = table.lines().filter(|line| line.starts_with("| ")).skip(1);
    rows.map(|line| {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let [author, kind, importance, text, wanted] = cells[..] else { panic!("{line}") };
        Row {
            author: author.to_owned(),
            fields: json!({"text": text, "memory_type": kind, "importance": importance}),
            text: text.to_owned(),
            wanted: wanted.to_owned(),
        }
    })
    .collect()
}

impl World {
    /// A case with a title.
    fn case(&self, key: &str, title: &str) {
        let fields = json!({"key": key, "title": title});
        self.book.open_case(&caller("ann"), &request(fields)).unwrap();
    }

    /// Saves these memories in a session of each author on the case, and ends the sessions.
    fn work(&self, key: &str, memories: &[(&str, Value)]) {
        let mut authors: Vec<&str> = memories.iter().map(|(author, _)| *author).collect();
        authors.dedup();
        for author in authors {
            let session = self.start_on(author, key);
            let at_work = caller(author).in_session(Some(&session)).unwrap();
            for (_, fields) in memories.iter().filter(|(of, _)| *of == author) {
                self.book.save_memory(&at_work, &request(fields.clone())).unwrap();
            }
            self.book.end_session(&at_work, &request(json!({}))).unwrap();
        }
    }

    fn start_on(&self, author: &str, key: &str) -> String {
        let session = self.book.start_session(&caller(author), &request(json!({"case": key})));
        session.unwrap().session.id.to_string()
    }

    /// Everything in the background, as a server does it.
    fn follow(&self) -> u64 {
        let go_on = |_| ControlFlow::Continue(());
        self.book.find_mentions(&JournalScope::All, |_| ControlFlow::Continue(())).unwrap();
        self.book.find_contradictions(&JournalScope::All, go_on).unwrap();
        let mut done = 0;
        self.book
            .digest_active_cases(&JournalScope::All, |count| {
                done = count;
                ControlFlow::Continue(())
            })
            .unwrap();
        done
    }

    fn all_entries(&self, key: &str) -> Vec<CaseEntry> {
        let fields = json!({"key": key, "after": 0, "limit": 100});
        self.book.read_case(&caller("eve"), &request(fields)).unwrap().entries
    }
}

/// One transaction on the rows of the store.
fn write_rows<T: Send + 'static>(
    world: &World,
    mut act: impl FnMut(&mut Tx<'_>) -> Result<T> + Send + 'static,
) -> T {
    let store = crate::open_store(world.home());
    let store: &dyn Store = &*store;
    store.write(move |tx| act(tx)).unwrap()
}

/// Precision and recall of a table, and the memories that became entries although they must not.
fn judge(name: &str, title: &str, table: &str) -> (f64, f64, Vec<String>) {
    let world = World::new();
    world.case(name, title);
    let rows = rows(table);
    assert_eq!(rows.len(), 30, "{name}");
    let mut authors: Vec<&str> = rows.iter().map(|row| row.author.as_str()).collect();
    authors.dedup();
    let mut entries = Vec::new();
    // One digest has 20 entries at most; each author's session has its own.
    for author in authors {
        let own = rows.iter().filter(|row| row.author == author);
        let memories: Vec<(&str, Value)> = own.map(|row| (author, row.fields.clone())).collect();
        world.work(name, &memories);
        assert_eq!(world.follow(), 1, "{author}");
        entries = world.all_entries(name);
    }
    let text = |entry: &CaseEntry| entry.summary.clone().unwrap_or_default();
    let chosen = |row: &&Row| {
        let begin: String = row.text.chars().take(20).collect();
        entries.iter().any(|entry| text(entry).starts_with(&begin))
    };
    let is_wanted = |row: &Row| row.wanted == "yes";
    let found: Vec<&Row> = rows.iter().filter(chosen).collect();
    let right = found.iter().filter(|row| is_wanted(row)).count() as f64;
    let wanted = rows.iter().filter(|row| is_wanted(row)).count() as f64;
    let missed: Vec<&str> =
        rows.iter().filter(|row| is_wanted(row) && !chosen(row)).map(|r| r.text.as_str()).collect();
    assert!(missed.len() <= 1, "{name}: {missed:?}");
    let wrong = found.iter().filter(|row| !is_wanted(row));
    let wrong = wrong.map(|row| format!("{}: {}", row.wanted, row.text)).collect();
    for row in found.iter().filter(|row| row.fields["memory_type"] == "decision") {
        let begin: String = row.text.chars().take(20).collect();
        let entry = entries.iter().find(|entry| text(entry).contains(&begin)).unwrap();
        assert_eq!(entry.kind, Some(EntryKind::Decision), "{entry:?}");
        let said_by = entry.origin.as_ref().map(DigestOrigin::said_by);
        assert_eq!(said_by.as_ref(), Some(&row.author), "{entry:?}");
    }
    (right / found.len() as f64, right / wanted, wrong)
}

#[test]
fn the_bot_chooses_what_people_would_choose() {
    for (name, title, table) in [
        ("orders", "Slow orders page", include_str!("merge_bot/choosing.md")),
        ("webhooks", "Webhooks arrive twice", include_str!("merge_bot/judging.md")),
    ] {
        let (precision, recall, wrong) = judge(name, title, table);
        assert!(wrong.is_empty() && precision >= 1.0, "{name}: {wrong:?}");
        assert!(recall >= 0.9, "{name}: {recall}");
    }
}

const FACT: &str = "The payment service retries three times with backoff.";

#[test]
fn it_runs_after_a_session_once_and_adds_nothing_twice() {
    let world = World::new();
    world.case("retries", "Retries of the payment service");
    let memory = |text: &str| ("ann", json!({"text": text}));
    world.work("retries", &[memory(FACT), memory("ok"), memory("Lunch was good")]);
    assert_eq!(world.follow(), 1);
    let entries = world.all_entries("retries");
    assert_eq!(entries.len(), 1, "{entries:?}");
    assert_eq!(entries[0].summary.as_deref(), Some(FACT));
    assert_eq!(entries[0].agent.as_ref().map(ToString::to_string).as_deref(), Some("system"));
    assert_eq!(world.follow(), 0, "nothing has happened since");
    world.work("retries", &[("bob", json!({"text": "The payment service retries 3 times."}))]);
    world.work("retries", &[("eve", json!({"text": FACT}))]);
    assert_eq!(world.follow(), 1);
    let said: Vec<_> =
        world.all_entries("retries").into_iter().map(|entry| entry.summary).collect();
    assert!(said.len() <= 2, "{said:?}");
    let agents = world.book.list_agents(&caller("ann"), &request(json!({}))).unwrap();
    assert!(agents.items.iter().all(|item| item.agent.as_str() != "system"), "{agents:?}");
}

#[test]
fn many_memories_of_two_agents_make_a_digest_due_and_one_agent_alone_does_not() {
    let world = World::new();
    world.case("retries", "Retries of the payment service");
    let settings = MergeBotSettings { every: 2, ..MergeBotSettings::default() };
    let world = World { book: world.book.clone().with_merge_bot(settings), ..world };
    let save = |agent: &str, session: &str, text: &str| {
        let at_work = caller(agent).in_session(Some(session)).unwrap();
        world.book.save_memory(&at_work, &request(json!({"text": text}))).unwrap();
    };
    let (ann, bob) = (world.start_on("ann", "retries"), world.start_on("bob", "retries"));
    save("ann", &ann, FACT);
    world.follow();
    assert_eq!(world.all_entries("retries").len(), 0, "one memory is not many");
    save("bob", &bob, "The refund service needs an idempotency key.");
    world.follow();
    assert_eq!(world.all_entries("retries").len(), 2);
    // Only one agent is on this case.
    world.case("alone", "Alone");
    let own = world.start_on("ann", "alone");
    save("ann", &own, "The cache holds 400 rows.");
    save("ann", &own, "The queue holds 10,000 jobs.");
    world.follow();
    assert_eq!(world.all_entries("alone").len(), 0);
}

#[test]
fn a_setting_switches_it_off_and_a_closed_case_stays_as_it_is() {
    let world = World::new();
    world.case("retries", "Retries of the payment service");
    let off = MergeBotSettings { automatic: false, ..MergeBotSettings::default() };
    world.work("retries", &[("ann", json!({"text": FACT}))]);
    let other = World { book: world.book.clone().with_merge_bot(off), ..World::new() };
    assert_eq!(other.follow(), 0);
    world.book.archive_case(&caller("ann"), &request(json!({"key": "retries"}))).unwrap();
    assert_eq!(world.follow(), 0);
    assert_eq!(world.all_entries("retries").len(), 0);
}

#[test]
fn of_several_processes_one_runs_it_and_a_crash_frees_the_lease() {
    let world = World::new();
    world.case("retries", "Retries of the payment service");
    world.work("retries", &[("ann", json!({"text": FACT}))]);
    let books: Vec<_> = (0..4)
        .map(|_| {
            let store = crate::open_store(world.home());
            let ids = std::sync::Arc::new(commonbook::base::id::RandomIds::default());
            commonbook::Commonbook::with_clock_and_ids(store, world.clock.clone(), ids)
        })
        .collect();
    std::thread::scope(|scope| {
        for book in &books {
            scope.spawn(|| {
                book.digest_active_cases(&JournalScope::All, |_| ControlFlow::Continue(()))
                    .unwrap();
            });
        }
    });
    assert_eq!(world.all_entries("retries").len(), 1);
    // A process takes the lease and dies.
    world.work("retries", &[("bob", json!({"text": "The queue holds 10,000 jobs."}))]);
    let (now, until) = (crate::at(0), crate::at(1));
    let activity = commonbook::store::CaseActivity {
        workspace: caller("bob").workspace,
        case: "retries".parse().unwrap(),
        memories: 0,
        ended: 0,
    };
    let leased = write_rows(&world, move |tx| {
        tx.add_case_activity(&activity)?;
        tx.lease_case(&activity, now, until)
    });
    assert!(leased);
    assert_eq!(world.follow(), 0, "another process holds the lease");
    world.clock.set(crate::at(2));
    assert_eq!(world.follow(), 1);
    assert_eq!(world.all_entries("retries").len(), 2);
}

#[test]
fn a_contradiction_is_told_with_both_sides() {
    let world = World::new();
    world.case("retries", "Retries of the payment service");
    world.work(
        "retries",
        &[
            ("claude-code", json!({"text": "The payment service retries 3 times."})),
            ("gemini-cli", json!({"text": "The payment service retries 5 times."})),
        ],
    );
    world.follow();
    let entries = world.all_entries("retries");
    assert_eq!(entries.len(), 1, "{entries:?}");
    let summary = entries[0].summary.as_deref().unwrap();
    assert_eq!(
        summary,
        "claude-code says: The payment service retries 3 times. \
         gemini-cli says: The payment service retries 5 times."
    );
    // A side that comes later stands beside the entry.
    world.work("retries", &[("codex", json!({"text": "The payment service retries 7 times."}))]);
    world.follow();
    let entries = world.all_entries("retries");
    let last = entries.last().unwrap().summary.clone().unwrap();
    assert!(
        entries.len() == 2 && last.contains("codex says: ") && last.contains("7 times"),
        "{last}"
    );
    assert!(last.contains("entry 1 says: "), "{last}");
    assert_eq!(world.follow(), 0);
}

#[test]
fn proposals_go_along_in_an_export_and_wait_for_the_lead_there() {
    let world = World::new();
    world.case("retries", "Retries of the payment service");
    let update = json!({"key": "retries", "lead": "ann"});
    world.book.update_case(&caller("bob"), &request(update)).unwrap();
    let decision = json!({"text": FACT, "memory_type": "decision"});
    world.work("retries", &[("bob", decision)]);
    assert_eq!(world.follow(), 1);
    let export = |of: &World| {
        let all = request(json!({"limit": 100}));
        of.book.export_workspace(&caller("human"), &all).unwrap().lines
    };
    let lines = export(&world);
    let there = World::new();
    let restore = || {
        let parse = |line| {
            import::parse(Value::Object(line).to_string().as_bytes(), TextOrigin::ThisHome).unwrap()
        };
        let parsed = lines.iter().cloned().map(parse).collect();
        let results = there.book.import_lines(&caller("human"), None, parsed).unwrap();
        assert!(results.iter().all(std::result::Result::is_ok), "{results:?}");
    };
    restore();
    restore();
    assert_eq!(export(&there), lines);
    let list = |of: &World| {
        of.book.list_proposals(&caller("ann"), &request(json!({"key": "retries"}))).unwrap()
    };
    assert_eq!((list(&there), list(&there).items.len()), (list(&world), 1));
    let fields = json!({"key": "retries", "number": 1, "decision": "accept"});
    assert!(there.book.decide_proposal(&caller("ann"), &request(fields)).is_ok());
}

#[test]
fn the_lead_decides_on_a_proposal() {
    let world = World::new();
    world.case("retries", "Retries of the payment service");
    let update = json!({"key": "retries", "lead": "ann"});
    world.book.update_case(&caller("bob"), &request(update)).unwrap();
    world.work("retries", &[("bob", json!({"text": FACT, "memory_type": "decision"}))]);
    assert_eq!(world.follow(), 1);
    assert_eq!(world.all_entries("retries").len(), 0);
    let list = |agent: &str| {
        world.book.list_proposals(&caller(agent), &request(json!({"key": "retries"}))).unwrap()
    };
    let proposal = list("eve").items[0].clone();
    assert_eq!((proposal.number, proposal.entries.len()), (1, 1));
    let context = |agent: &str| {
        let task = json!({"task": "Go on with the work"});
        world.book.get_context(&caller(agent), &request(task)).unwrap().text
    };
    assert!(context("ann").contains("waits for your decision in case retries"));
    assert!(!context("eve").contains("your decision"));
    let briefing = world.book.get_briefing(&caller("ann"), &request(json!({}))).unwrap().text;
    assert!(briefing.contains("your decision") && briefing.contains(FACT), "{briefing}");
    let decide = |agent: &str, number: u64, decision: &str| {
        let fields = json!({"key": "retries", "number": number, "decision": decision});
        world.book.decide_proposal(&caller(agent), &request(fields))
    };
    assert_eq!(decide("bob", 1, "accept").unwrap_err().kind, ErrorKind::Forbidden);
    assert_eq!(decide("ann", 9, "accept").unwrap_err().kind, ErrorKind::NotFound);
    let appended = decide("ann", 1, "accept").unwrap().appended.unwrap();
    assert_eq!(appended.context_version, 1);
    let entry = world.all_entries("retries").remove(0);
    assert_eq!(entry.kind, Some(EntryKind::Decision));
    assert_eq!(decide("ann", 1, "accept").unwrap_err().kind, ErrorKind::NotFound);
    // No digest proposes again what was rejected, or shows what a third party deleted.
    let gone = json!({"text": "The refund service needs an idempotency key."});
    world.work("retries", &[("bob", gone.clone())]);
    world.follow();
    decide("ann", 1, "reject").unwrap();
    world.work("retries", &[("eve", gone)]);
    world.follow();
    assert!(list("ann").items.is_empty());
    world.work("retries", &[("bob", json!({"text": "The queue holds 10,000 jobs."}))]);
    world.follow();
    let source = list("ann").items[0].entries[0].sources[0];
    world.book.delete_memory(&caller("bob"), &request(json!({"id": source}))).unwrap();
    assert!(list("ann").items[0].entries.is_empty());
    world.book.purge_memory(&caller("bob"), &request(json!({"id": source}))).unwrap();
    assert!(list("ann").items.is_empty(), "a purge leaves nothing of the text");
    let kinds: Vec<_> = world.events("ann").into_iter().map(|(_, kind, _)| kind).collect();
    assert!(kinds.contains(&EventKind::CaseProposed) && kinds.contains(&EventKind::CaseDecided));
}
