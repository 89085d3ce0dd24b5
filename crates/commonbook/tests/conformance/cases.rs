//! Cases: their rows, their entries in order, and searches for them.

use commonbook::base::id::{CountingIds, MemoryId};
use commonbook::index::Index;
use commonbook::model::access::Sight;
use commonbook::model::agent::Agent;
use commonbook::model::case::{Case, CaseBranch, CaseKey, CaseStatus};
use commonbook::model::event::{EventKind, NewEvent};
use commonbook::model::memory::{Memory, Sharing, Trust};
use commonbook::model::search::SearchFilter;
use commonbook::model::workspace::Workspace;
use commonbook::store::{EntryStretch, Store};

use crate::search::{GO, question, started};
use crate::{Fresh, caller, keep, memory, now};

fn key(text: &str) -> CaseKey {
    text.parse().unwrap()
}

fn place(text: &str) -> Workspace {
    text.parse().unwrap()
}

fn case(name: &str, workspace: &str) -> Case {
    let agent = Agent::with_any_name("ann").unwrap();
    Case::new(&place(workspace), key(name), format!("About {name}"), &agent, now())
}

fn tell(kind: EventKind, case: &Case) -> NewEvent {
    let (workspace, key) = (&case.workspace, case.key.to_string());
    let (agent, at) = (&case.opened_by, case.changed_at);
    NewEvent::for_subject(kind, workspace, key, agent, at, Sharing::Shared)
}

/// Opens a case like the verbs do, with its event.
fn open(store: &dyn Store, case: &Case) {
    let case = case.clone();
    store
        .write(move |tx| {
            let sequence = tx.append_event(&tell(EventKind::CaseOpened, &case))?;
            tx.insert_case(&case, sequence)
        })
        .unwrap();
}

fn turn(store: &dyn Store, case: &Case, status: CaseStatus) {
    let (case, kind) = case.with_case_status(status, now()).unwrap().unwrap();
    store
        .write(move |tx| {
            tx.replace_case(&case)?;
            tx.append_event(&tell(kind, &case)).map(drop)
        })
        .unwrap();
}

/// An entry of a case at this position.
fn entry(ids: &CountingIds, agent: &str, of: &Case, position: u64, text: &str) -> Memory {
    let memory = memory(ids, agent, of.workspace.as_str(), text);
    Memory { case: Some(of.key.clone()), position: Some(position), ..memory }
}

pub(crate) fn a_case_is_stored_completely_and_listed_in_order_of_opening(fresh: &dyn Fresh) {
    let store = fresh.open();
    let all = [case("a", "x"), case("b", "x"), case("a", "y"), case("c", "x")];
    all.iter().for_each(|case| open(&*store, case));
    let found = store.read(|tx| tx.case(&place("x"), &key("b"))).unwrap();
    assert_eq!(found.as_ref(), Some(&all[1]));
    assert_eq!(store.read(|tx| tx.case(&place("y"), &key("b"))).unwrap(), None);
    let closed = Case { status: CaseStatus::Closed, version: 7, ..all[1].clone() };
    let given = closed.clone();
    store.write(move |tx| tx.replace_case(&given)).unwrap();
    assert_eq!(store.read(|tx| tx.case(&place("x"), &key("b"))).unwrap(), Some(closed));
    let list = |status, before, limit| -> Vec<(u64, String)> {
        let listed = store.read(|tx| tx.cases(&place("x"), status, None, before, limit)).unwrap();
        listed.into_iter().map(|(sequence, case)| (sequence, case.key.to_string())).collect()
    };
    let expected = |cases: &[(u64, &str)]| -> Vec<(u64, String)> {
        cases.iter().map(|(sequence, key)| (*sequence, (*key).to_owned())).collect()
    };
    assert_eq!(list(None, None, 10), expected(&[(3, "c"), (2, "b"), (1, "a")]));
    assert_eq!(list(None, Some(3), 1), expected(&[(2, "b")]));
    assert_eq!(list(Some(CaseStatus::Open), None, 10), expected(&[(3, "c"), (1, "a")]));
    let shut =
        |of: Option<&str>| store.read(|tx| tx.inactive_cases(of.map(place).as_ref())).unwrap();
    assert_eq!(shut(None), [(place("x"), key("b"))]);
    assert_eq!(shut(Some("x")), shut(None));
    assert_eq!(shut(Some("y")), []);
    let keys = store.read(|tx| tx.case_keys(&place("x"), "b", 10)).unwrap();
    assert_eq!(keys, [key("b")]);
}

pub(crate) fn the_entries_of_a_case_are_the_visible_ones_in_order(fresh: &dyn Fresh) {
    let store = fresh.open();
    let (of, other) = (case("a", "x"), case("b", "x"));
    let ids = CountingIds::default();
    let agents = ["ann", "bob", "ann", "bob", "ann"];
    let mut all: Vec<Memory> =
        (1..).zip(agents).map(|(place, agent)| entry(&ids, agent, &of, place, "tea")).collect();
    all[1].trust = Trust::Quarantined;
    all[2].user_id = Some("u1".to_owned());
    all[0].superseded_by = Some(all[4].id);
    let mut given = all.clone();
    given.push(entry(&ids, "ann", &other, 1, "tea"));
    given.reverse();
    open(&*store, &of);
    store.write(move |tx| given.iter().try_for_each(|memory| keep(tx, memory))).unwrap();
    let positions = |agent: &str, after: u64, until: u64| -> Vec<u64> {
        let sight = Sight::at_home(&caller(agent, "x"));
        let read = |tx: &commonbook::store::Tx<'_>| {
            tx.entries(&sight, &of.workspace, &of.key, after, until)
        };
        let entries = store.read(read).unwrap();
        let expected = all.iter().filter(|memory| sight.sees(memory));
        let inside = |memory: &&Memory| memory.position.is_some_and(|p| p > after && p <= until);
        assert_eq!(entries, expected.filter(inside).cloned().collect::<Vec<_>>());
        entries.iter().filter_map(|memory| memory.position).collect()
    };
    assert_eq!(positions("ann", 0, 9), [1, 3, 4, 5]);
    assert_eq!(positions("bob", 0, 9), [1, 2, 4, 5]);
    assert_eq!(positions("eve", 1, 4), [4]);
    let sight = Sight::at_home(&caller("eve", "x"));
    let by = [all[4].id, all[3].id];
    let older: Vec<(MemoryId, MemoryId)> =
        store.read(|tx| tx.superseded_entries(&sight, &of.workspace, &of.key, &by)).unwrap();
    assert_eq!(older, [(all[4].id, all[0].id)]);
}

pub(crate) fn the_branches_of_a_case_are_listed_in_order_of_opening(fresh: &dyn Fresh) {
    let store = fresh.open();
    let branch = |of: &str, name: &str, workspace: &str| {
        let branch = Some(CaseBranch { of: key(of), at: 0, merged_at: None });
        Case { branch, ..case(name, workspace) }
    };
    let all = [
        case("a", "x"),
        branch("a", "a.one", "x"),
        branch("b", "b.one", "x"),
        branch("a", "a.two", "x"),
        branch("a", "a.three", "y"),
    ];
    all.iter().for_each(|case| open(&*store, case));
    let list = |before, limit| {
        store.read(|tx| tx.branches(&place("x"), &key("a"), before, limit)).unwrap()
    };
    assert_eq!(list(None, 10), [(4, all[3].clone()), (2, all[1].clone())]);
    assert_eq!(list(None, 1), [(4, all[3].clone())]);
    assert_eq!(list(Some(4), 10), [(2, all[1].clone())]);
}

pub(crate) fn the_entries_of_others_are_counted_within_sight(fresh: &dyn Fresh) {
    let store = fresh.open();
    let (of, other) = (case("a", "x"), case("b", "x"));
    let ids = CountingIds::default();
    let agents = ["ann", "bob", "ann", "bob", "ann"];
    let mut all: Vec<Memory> =
        (1..).zip(agents).map(|(place, agent)| entry(&ids, agent, &of, place, "tea")).collect();
    all[0].trust = Trust::Quarantined;
    all.push(entry(&ids, "ann", &other, 1, "tea"));
    open(&*store, &of);
    store.write(move |tx| all.iter().try_for_each(|memory| keep(tx, memory))).unwrap();
    let count = |agent: &str, after: u64, until: u64| {
        let (workspace, case) = (of.workspace.clone(), of.key.clone());
        let stretch = EntryStretch { workspace, case, after, until };
        let caller = caller(agent, "x");
        let sight = Sight::at_home(&caller);
        store.read(|tx| tx.entries_of_others(&sight, &stretch, &caller.agent)).unwrap()
    };
    assert_eq!([count("ann", 0, 9), count("bob", 0, 9), count("eve", 0, 9)], [2, 2, 4]);
    assert_eq!([count("bob", 3, 9), count("bob", 0, 4), count("bob", 5, 9)], [1, 1, 0]);
}

pub(crate) fn two_entries_of_a_case_never_have_the_same_position(fresh: &dyn Fresh) {
    let store = fresh.open();
    let (of, other) = (case("a", "x"), case("a", "y"));
    let ids = CountingIds::default();
    let first = entry(&ids, "ann", &of, 1, "tea");
    let second = entry(&ids, "bob", &of, 1, "coffee");
    let elsewhere = entry(&ids, "bob", &other, 1, "coffee");
    store.write(move |tx| keep(tx, &first)).unwrap();
    assert!(store.write(move |tx| keep(tx, &second)).is_err());
    store.write(move |tx| keep(tx, &elsewhere)).unwrap();
}

pub(crate) fn entries_of_a_closed_case_leave_searches_at_any_stage_of_the_index(fresh: &dyn Fresh) {
    let home = tempfile::tempdir().unwrap();
    let (store, writer) = (fresh.open(), started(home.path()));
    let ids = CountingIds::default();
    let (of, other) = (case("a", "x"), case("b", "x"));
    [&of, &other].iter().for_each(|case| open(&*store, case));
    let kept = [
        entry(&ids, "bob", &of, 1, "heron"),
        entry(&ids, "bob", &other, 1, "heron"),
        memory(&ids, "bob", "x", "heron"),
        memory(&ids, "ann", "x", "heron"),
    ];
    let given = kept.clone();
    store.write(move |tx| given.iter().try_for_each(|memory| keep(tx, memory))).unwrap();
    let sight = Sight::at_home(&caller("ann", "x"));
    let found = |index: &Index, within: SearchFilter| -> Vec<usize> {
        let mut asked = question("heron");
        asked.within = within;
        let found = index.search(&*store, &sight, &asked).unwrap();
        let place = |id: MemoryId| kept.iter().position(|memory| memory.id == id).unwrap();
        let mut places: Vec<usize> = found.ranked.iter().map(|hit| place(hit.id)).collect();
        places.sort_unstable();
        assert_eq!(found.total, places.len() as u64);
        places
    };
    let of_case = || SearchFilter { case: Some(of.key.clone()), ..SearchFilter::default() };
    let look = |index: &Index, open: bool, stage: &str| {
        let all = if open { vec![0, 1, 2, 3] } else { vec![1, 2, 3] };
        assert_eq!(found(index, SearchFilter::default()), all, "{stage}");
        let closed = SearchFilter { closed: true, ..SearchFilter::default() };
        assert_eq!(found(index, closed), [0, 1, 2, 3], "{stage}");
        assert_eq!(found(index, of_case()), [0, 3], "{stage}");
        let others = SearchFilter { others: true, ..of_case() };
        assert_eq!(found(index, others), [0, 1, 2, 3], "{stage}");
        let unknown = SearchFilter { case: Some(key("c")), ..SearchFilter::default() };
        assert_eq!(found(index, unknown), [3], "{stage}");
    };
    let mut open_now = true;
    for round in 0..3 {
        for (stage, follows) in [("in the tail", false), ("written out", true)] {
            if follows {
                writer.follow(&*store, |_| GO).unwrap();
            }
            let stage = format!("{stage}, round {round}");
            look(&writer, open_now, &stage);
            look(&started(home.path()), open_now, &stage);
            look(&Index::in_memory(), open_now, &stage);
        }
        let status = if open_now { CaseStatus::Closed } else { CaseStatus::Open };
        let present = store.read(|tx| tx.case(&of.workspace, &of.key)).unwrap().unwrap();
        turn(&*store, &present, status);
        open_now = !open_now;
    }
}

pub(crate) fn each_agent_has_its_own_cursor_which_never_moves_back(fresh: &dyn Fresh) {
    let store = fresh.open();
    let agents = ["ann", "bob"].map(|name| Agent::with_any_name(name).unwrap());
    let read = |workspace: &str, agent: usize, of: Option<&str>| {
        let (workspace, of) = (place(workspace), of.map(key));
        store.read(|tx| tx.cursor(&workspace, &agents[agent], of.as_ref())).unwrap()
    };
    let put = |agent: usize, of: Option<&str>, at: u64| {
        let (agent, of) = (agents[agent].clone(), of.map(key));
        store.write(move |tx| tx.put_cursor(&place("x"), &agent, of.as_ref(), at, now())).unwrap();
    };
    assert_eq!(read("x", 0, None), 0);
    put(0, None, 5);
    put(0, Some("a"), 7);
    put(0, Some("a"), 3);
    put(1, Some("a"), 1);
    assert_eq!((read("x", 0, None), read("x", 0, Some("a")), read("x", 1, Some("a"))), (5, 7, 1));
    assert_eq!((read("x", 0, Some("b")), read("y", 0, None), read("x", 1, None)), (0, 0, 0));
}
