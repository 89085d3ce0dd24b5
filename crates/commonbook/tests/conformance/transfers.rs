//! A copy of a store: the same rows in every table, whatever engine holds them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use commonbook::Commonbook;
use commonbook::base::clock::FixedClock;
use commonbook::base::error::ErrorKind;
use commonbook::base::id::RandomIds;
use commonbook::store::{Store, TRANSFER_TABLES, transfer};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::{Fresh, Sqlite, caller, now};

fn book(store: Arc<dyn Store>) -> Commonbook {
    let ids = Arc::new(RandomIds::default());
    Commonbook::with_clock_and_ids(store, Arc::new(FixedClock::at(now())), ids)
}

fn request<T: DeserializeOwned>(value: Value) -> T {
    commonbook::base::input::from_value(value).unwrap()
}

/// A store with something in many tables: memories of each kind, a case, an entity, a handoff, a context.
fn furnished(store: Arc<dyn Store>) -> Arc<dyn Store> {
    let (book, ann) = (book(Arc::clone(&store)), caller("ann", "x"));
    for hundred in 0..12 {
        let service = |number: u32| {
            let text = format!("the port of service {number} is {}", 8000 + number);
            json!({"text": text, "topics": ["ports"], "importance": "high"})
        };
        let batch: Vec<Value> = (0..100).map(|number| service(hundred * 100 + number)).collect();
        book.save_memories(&ann, &request(json!({"memories": batch}))).unwrap();
    }
    let save = |text: &str, sharing: &str| {
        let fields = json!({"text": text, "sharing": sharing});
        book.save_memory(&ann, &request(fields)).unwrap().memory.id.to_string()
    };
    let (kept, gone) = (save("the gate opens at nine", "private"), save("a mistake", "shared"));
    let change = json!({"id": kept, "text": "the gate opens at ten", "expected_revision": 1});
    book.update_memory(&ann, &request(change)).unwrap();
    book.delete_memory(&ann, &request(json!({"id": gone}))).unwrap();
    book.open_case(&ann, &request(json!({"key": "outage", "title": "An outage"}))).unwrap();
    let entity = json!({"type": "project", "value": "Amber", "context": "the port of Amber"});
    book.resolve_entity(&ann, &request(entity)).unwrap();
    let handoff = json!({"target_agent": "qa", "task": "Test the ports"});
    book.create_handoff(&ann, &request(handoff)).unwrap();
    book.get_context(&ann, &request(json!({"task": "which port has service 7"}))).unwrap();
    store
}

/// All lines of an export of every workspace, by the person.
fn exported(store: &Arc<dyn Store>) -> Vec<String> {
    let (book, mut lines, mut cursor) = (book(Arc::clone(store)), Vec::new(), None::<String>);
    loop {
        let fields =
            json!({"all_workspaces": true, "receipts": true, "deleted": true, "cursor": cursor});
        let page = book.export_workspace(&caller("human", "x"), &request(fields)).unwrap();
        lines.extend(page.lines.iter().map(|line| serde_json::to_string(line).unwrap()));
        match page.next {
            Some(next) => cursor = Some(next.to_string()),
            None => return lines,
        }
    }
}

/// Copies, and returns the rows that were copied and those that were compared.
fn copied(from: &Arc<dyn Store>, to: &Arc<dyn Store>) -> (u64, u64) {
    let summary = transfer(&**from, &**to, &mut |_| {}).unwrap();
    (summary.copied, summary.compared)
}

/// Succeeds if a copy in `to` has what `from` has.
pub(crate) fn check_copy(from: &Arc<dyn Store>, to: &Arc<dyn Store>) {
    let (rows, compared) = copied(from, to);
    assert!(rows > 2400, "{rows} rows: memories and events at least");
    assert_eq!(rows, compared);
    assert_eq!(exported(from), exported(to));
    assert_eq!(to.check_rows().unwrap(), Vec::<String>::new());
    assert_eq!(copied(from, to), (0, compared), "a second run only compares");
}

pub(crate) fn a_copy_has_every_row_and_a_second_run_only_compares(fresh: &dyn Fresh) {
    let home = Sqlite::new();
    check_copy(&furnished(fresh.open()), &home.open());
}

pub(crate) fn a_copy_that_was_cut_goes_on(fresh: &dyn Fresh) {
    let home = Sqlite::new();
    let (from, to) = (furnished(home.open()), fresh.open());
    for cut in [1, 3, 6] {
        let mut steps = 0;
        let run = catch_unwind(AssertUnwindSafe(|| {
            transfer(&*from, &*to, &mut |_| {
                steps += 1;
                assert!(steps < cut, "the process is killed");
            })
        }));
        assert!(run.is_err());
    }
    assert!(copied(&from, &to).0 > 0);
    assert_eq!(exported(&from), exported(&to));
}

pub(crate) fn a_store_with_other_memories_is_not_copied_to(fresh: &dyn Fresh) {
    let home = Sqlite::new();
    let (from, to) = (furnished(home.open()), fresh.open());
    let other = json!({"text": "somebody lives here already"});
    book(Arc::clone(&to)).save_memory(&caller("eve", "y"), &request(other)).unwrap();
    let before = exported(&to);
    let error = transfer(&*from, &*to, &mut |_| {}).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Conflict);
    assert_eq!(exported(&to), before);
}

#[test]
fn every_table_is_copied() {
    let home = Sqlite::new();
    drop(home.open());
    let file = home.folder().join("home/commonbook.db");
    let connection = rusqlite::Connection::open(file).unwrap();
    let sql = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'";
    let mut statement = connection.prepare(sql).unwrap();
    let names = statement.query_map([], |row| row.get::<_, String>(0)).unwrap();
    let mut names: Vec<String> = names.map(Result::unwrap).collect();
    // The engine's own: the history of migrations, and what marks the file. Leases end by themselves.
    let own = ["refinery_schema_history", "home", "webhook_lease"];
    names.retain(|name| !own.contains(&name.as_str()));
    names.sort_unstable();
    let mut copied = TRANSFER_TABLES.map(str::to_owned).to_vec();
    copied.sort_unstable();
    assert_eq!(copied, names);
}
