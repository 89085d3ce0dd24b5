//! The indexes of a node: one for each workspace that it serves, built on demand and dropped again.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Barrier, Mutex, mpsc};

use commonbook::base::clock::{FixedClock, Timestamp};
use commonbook::base::error::Result;
use commonbook::base::id::RandomIds;
use commonbook::index::Index;
use commonbook::model::access::Sight;
use commonbook::model::event::{EventKind, NewEvent};
use commonbook::model::memory::Memory;
use commonbook::model::search::IndexResponse;
use commonbook::model::workspace::Workspace;
use commonbook::store::{Store, StoreRead, StoreWrapper};
use commonbook_embed::word_hash::WordHashEmbedder;
use jiff::{SignedDuration, ToSpan as _};

use crate::rebuilding::files;
use crate::search::{GO, ids, purge, question};
use crate::{Fresh, caller, keep, memory, now};

/// The time at which a node of these tests starts, later than any file that a test writes.
const START: &str = "2040-01-01T00:00:00Z";

/// A node's index, and its clock.
struct Node {
    index: Index,
    clock: Arc<FixedClock>,
}

impl Node {
    fn new(folder: Option<&Path>) -> Self {
        Self::of(folder, u64::MAX)
    }

    /// One that holds about this many memories at most.
    fn of(folder: Option<&Path>, memories_max: u64) -> Self {
        let clock = Arc::new(FixedClock::at(START.parse().unwrap()));
        let index = Index::of_node(folder.map(Path::to_owned), Arc::clone(&clock) as _);
        let index = index.with_memories_max(memories_max);
        index.use_embedder(Ok(folder.map(|_| Arc::new(WordHashEmbedder::new()) as _)));
        Self { index, clock }
    }

    /// Searches as an agent of this workspace.
    fn search(&self, store: &dyn Store, workspace: &str, words: &str) -> IndexResponse {
        self.index.search(store, &sight(workspace), &question(words)).unwrap()
    }

    /// One pass of the follower, this many hours after the start.
    fn follow_at(&self, store: &dyn Store, hours: i64) -> bool {
        let start: Timestamp = START.parse().unwrap();
        self.clock.set(start + hours.hours());
        let needed = self.index.needs_follow(store).unwrap();
        self.index.follow(store, |_| GO).unwrap();
        self.index.embed(store, |_| GO).unwrap();
        needed
    }

    /// The workspaces and the memories that it holds.
    fn held(&self) -> (u64, u64) {
        let figures = self.index.figures();
        (figures.workspaces, figures.memories)
    }
}

fn sight(workspace: &str) -> Sight {
    Sight::of(&caller("ann", workspace))
}

fn place(name: &str) -> Workspace {
    name.parse().unwrap()
}

/// Saves these texts in a workspace.
fn save(store: &dyn Store, workspace: &str, texts: &[&str]) -> Vec<Memory> {
    let ids = RandomIds::default();
    let kept: Vec<Memory> = texts.iter().map(|text| memory(&ids, "ann", workspace, text)).collect();
    let given = kept.clone();
    store.write(move |tx| given.iter().try_for_each(|memory| keep(tx, memory))).unwrap();
    kept
}

/// Ten memories in each of these workspaces.
fn fill(store: &dyn Store, workspaces: &[&str]) {
    for workspace in workspaces {
        let texts: Vec<String> = (0..10).map(|n| format!("heron {n} of {workspace}")).collect();
        save(store, workspace, &texts.iter().map(String::as_str).collect::<Vec<_>>());
    }
}

/// A store that calls back before each read.
struct HookedStore {
    store: Arc<dyn Store>,
    before: Box<dyn Fn(usize) + Send + Sync>,
    reads: AtomicUsize,
}

impl HookedStore {
    /// `before` receives the number of reads so far.
    fn of(store: Arc<dyn Store>, before: impl Fn(usize) + Send + Sync + 'static) -> Self {
        Self { store, before: Box::new(before), reads: AtomicUsize::new(0) }
    }
}

impl StoreWrapper for HookedStore {
    fn call<T>(&self, act: impl FnOnce(&dyn Store) -> T) -> T {
        act(&*self.store)
    }

    fn wrap_read(&self, read: StoreRead<'_>) -> Result<()> {
        (self.before)(self.reads.fetch_add(1, Ordering::Relaxed));
        self.store.run_read(read)
    }
}

pub(crate) fn a_node_reads_the_journals_of_the_searched_workspaces_alone(fresh: &dyn Fresh) {
    let store = fresh.open();
    fill(&*store, &["x", "y", "z", "global"]);
    let node = Node::new(None);
    assert_eq!(node.held(), (0, 0));
    assert_eq!(node.search(&*store, "x", "heron").total, 20);
    assert_eq!(node.held(), (2, 20), "x and global");
    assert_eq!(node.index.figures().read, 20);
    node.follow_at(&*store, 0);
    assert_eq!(node.held(), (2, 20), "a follower adds none");
    let journals = store.read(|tx| tx.journals()).unwrap().into_iter().collect();
    assert_eq!(node.index.events_behind(&journals), 0, "what nobody asks for is not late");
    node.search(&*store, "y", "heron");
    assert_eq!(node.held(), (3, 30));
}

/// Texts whose words are common in one workspace and rare in another, repeated and updated.
fn tell(store: &dyn Store) {
    let texts = [
        ("x", "The heron nests by the river"),
        ("x", "The gateway retries payments three times"),
        ("x", "We now retry payments five times instead"),
        ("global", "Payments are in euros, and the heron is the mascot"),
        ("global", "The gateway retries payments three times"),
        ("global", "River and heron, heron and river, a heron at the river"),
        ("y", "heron heron heron"),
        ("y", "A kettle of tea for the heron"),
    ];
    for (number, (workspace, text)) in texts.into_iter().enumerate() {
        let kept = memory(&RandomIds::default(), ["ann", "bob"][number % 2], workspace, text);
        let session = Some(format!("session-{}", number % 3));
        let valid_from = Some(now() + SignedDuration::from_hours(number as i64));
        let kept = Memory { session, valid_from, ..kept };
        store.write(move |tx| keep(tx, &kept)).unwrap();
    }
}

pub(crate) fn a_node_finds_what_a_home_finds_with_the_same_scores(fresh: &dyn Fresh) {
    let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let store = fresh.open();
    tell(&*store);
    for with_vectors in [false, true] {
        let node = Node::new(with_vectors.then_some(one.path()));
        let home = match with_vectors {
            true => Index::in_folder(other.path().to_owned()),
            false => Index::in_memory(),
        };
        home.use_embedder(Ok(with_vectors.then(|| Arc::new(WordHashEmbedder::new()) as _)));
        let all = ["global", "x", "y"].map(place).to_vec();
        let wide = Sight { workspaces: all, ..sight("x") };
        let sights = [sight("x"), sight("y"), sight("global"), wide];
        for sight in &sights {
            node.index.search(&*store, sight, &question("heron")).unwrap();
        }
        for index in [&node.index, &home] {
            index.follow(&*store, |_| GO).unwrap();
            index.embed(&*store, |_| GO).unwrap();
        }
        for sight in &sights {
            for words in ["heron", "heron river payments", "how often do we retry payments now", ""]
            {
                let expected = home.search(&*store, sight, &question(words)).unwrap();
                let found = node.index.search(&*store, sight, &question(words)).unwrap();
                assert_eq!(found, expected, "`{words}` in {:?}, {with_vectors}", sight.workspaces);
                assert!(found.total > 1 || sight.workspaces == [place("global")]);
            }
        }
    }
}

pub(crate) fn the_least_recently_used_index_is_dropped_for_others(fresh: &dyn Fresh) {
    let store = fresh.open();
    fill(&*store, &["x", "y", "z"]);
    // Room for three of ten memories, each with its own weight, and for the empty `global`.
    let node = Node::of(None, 70);
    let reads = |workspace: &str| {
        let hooked = HookedStore::of(fresh.open(), |_| {});
        assert_eq!(node.search(&hooked, workspace, "heron").total, 10);
        hooked.reads.load(Ordering::Relaxed)
    };
    let cold = reads("x");
    let warm = reads("x");
    assert!(warm < cold, "{warm} reads, {cold} of a cold one");
    reads("y");
    assert_eq!(reads("x"), warm);
    reads("z");
    assert_eq!(node.held(), (3, 30));
    fill(&*store, &["w"]);
    reads("w");
    assert_eq!(node.held(), (3, 30));
    assert_eq!([reads("x"), reads("z")], [warm, warm], "y was the least recently used");
    assert!(reads("y") > warm);
    assert!(reads("w") > warm);
}

pub(crate) fn an_index_that_is_not_used_for_long_is_dropped(fresh: &dyn Fresh) {
    let store = fresh.open();
    fill(&*store, &["x", "y"]);
    let node = Node::new(None);
    node.search(&*store, "x", "heron");
    let later: Timestamp = START.parse().unwrap();
    node.clock.set(later + 50.minutes());
    node.search(&*store, "y", "heron");
    node.follow_at(&*store, 1);
    assert_eq!(node.held(), (2, 20));
    node.clock.set(later + 70.minutes());
    node.index.needs_follow(&*store).unwrap();
    assert_eq!(node.held(), (1, 10), "x was not used for more than an hour");
    node.follow_at(&*store, 2);
    assert_eq!(node.held(), (0, 0));
    assert_eq!(node.search(&*store, "x", "heron").total, 10);
}

pub(crate) fn a_dropped_index_answers_as_before_when_it_is_asked_again(fresh: &dyn Fresh) {
    let home = tempfile::tempdir().unwrap();
    let store = fresh.open();
    fill(&*store, &["x", "y"]);
    let node = Node::of(Some(home.path()), 1);
    node.search(&*store, "x", "heron 3");
    node.follow_at(&*store, 0);
    let before = node.search(&*store, "x", "heron 3");
    assert_eq!((before.total, &before.notice), (10, &None), "by words and vectors");
    node.search(&*store, "y", "heron");
    assert_eq!(node.held(), (1, 10), "x was dropped");
    assert_eq!(node.search(&*store, "x", "heron 3"), before);
}

pub(crate) fn a_search_goes_on_while_its_index_is_dropped(fresh: &dyn Fresh) {
    let store = fresh.open();
    fill(&*store, &["x", "y"]);
    let node = Arc::new(Node::of(None, 1));
    let before = node.search(&*store, "x", "heron 3");
    node.search(&*store, "y", "heron");
    // While x is built again, another search drops it at every step.
    let (other, beside) = (Arc::clone(&node), fresh.open());
    let hooked = HookedStore::of(fresh.open(), move |_| {
        other.search(&*beside, "y", "heron");
    });
    assert_eq!(node.search(&hooked, "x", "heron 3"), before);
    assert!(hooked.reads.load(Ordering::Relaxed) > 2);
}

pub(crate) fn threads_that_want_one_cold_workspace_build_it_once(fresh: &dyn Fresh) {
    const THREADS: usize = 8;
    let store = fresh.open();
    fill(&*store, &["x"]);
    let reads = |threads: usize| {
        let (node, begin) = (Node::new(None), Barrier::new(threads));
        let hooked = HookedStore::of(fresh.open(), |_| {});
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    begin.wait();
                    assert_eq!(node.search(&hooked, "x", "heron").total, 10);
                });
            }
        });
        hooked.reads.load(Ordering::Relaxed)
    };
    let alone = reads(1);
    assert!(alone > 1);
    // Each looks where the journal ends, and one reads it.
    assert_eq!(reads(THREADS), alone + THREADS - 1);
}

pub(crate) fn a_workspace_that_is_built_lets_others_search(fresh: &dyn Fresh) {
    let store = fresh.open();
    fill(&*store, &["x", "y"]);
    let node = Node::new(None);
    node.search(&*store, "y", "heron");
    let (at_read, reached) = mpsc::channel();
    let (go_on, wait) = mpsc::channel::<()>();
    let wait = Mutex::new(wait);
    // The build stops at its last read, which applies the journal.
    let hooked = HookedStore::of(fresh.open(), move |read| {
        at_read.send(read).unwrap();
        wait.lock().unwrap().recv().unwrap();
    });
    std::thread::scope(|scope| {
        let node = &node;
        let building = scope.spawn(move || node.search(&hooked, "x", "heron").total);
        let mut steps = 0;
        while reached.recv().is_ok() {
            assert_eq!(node.search(&*store, "y", "heron").total, 10);
            steps += 1;
            go_on.send(()).unwrap();
        }
        assert!(steps > 1);
        assert_eq!(building.join().unwrap(), 10);
    });
}

pub(crate) fn the_words_of_a_large_workspace_are_opened_again(fresh: &dyn Fresh) {
    let home = tempfile::tempdir().unwrap();
    let store = fresh.open();
    fill(&*store, &["x", "small"]);
    let kept = save(&*store, "x", &["a kettle"]).remove(0);
    let built = NewEvent::of(EventKind::ContextBuilt, &kept, &kept.owner, kept.recorded_at);
    let built = NewEvent { subject: "ctx_of_nothing".to_owned(), ..built };
    store.write(move |tx| (0..2_000).try_for_each(|_| tx.append_event(&built).map(drop))).unwrap();
    let node = Node::new(Some(home.path()));
    for workspace in ["x", "small"] {
        node.search(&*store, workspace, "heron");
    }
    node.follow_at(&*store, 0);
    let before = node.search(&*store, "x", "heron kettle");
    assert_eq!(before.total, 11);
    let words = files(home.path()).iter().filter(|path| path.ends_with("words/meta.json")).count();
    assert_eq!(words, 1, "a small workspace has no words on the disk");
    let again = Node::new(Some(home.path()));
    assert_eq!(again.search(&*store, "x", "heron kettle"), before);
    assert_eq!(again.index.figures().written, 2_011, "read from the files");
    assert_eq!(again.search(&*store, "small", "heron").total, 10);
    save(&*store, "x", &["another kettle"]);
    assert_eq!(again.search(&*store, "x", "kettle").total, 2);
}

pub(crate) fn a_node_looks_for_changes_of_what_it_holds(fresh: &dyn Fresh) {
    let home = tempfile::tempdir().unwrap();
    let store = fresh.open();
    fill(&*store, &["x", "y"]);
    let node = Node::new(Some(home.path()));
    node.search(&*store, "x", "heron");
    assert!(node.follow_at(&*store, 0));
    assert!(!node.follow_at(&*store, 0), "nothing was used since");
    save(&*store, "x", &["a new heron"]);
    save(&*store, "y", &["a new heron"]);
    node.clock.set(START.parse::<Timestamp>().unwrap() + 9.seconds());
    assert!(!node.index.needs_follow(&*store).unwrap(), "it looks every ten seconds");
    node.clock.set(START.parse::<Timestamp>().unwrap() + 10.seconds());
    assert!(node.index.needs_follow(&*store).unwrap());
    node.index.follow(&*store, |_| GO).unwrap();
    node.index.embed(&*store, |_| GO).unwrap();
    let figures = node.index.figures();
    assert_eq!((figures.memories, figures.unembedded), (11, 0));
    assert!(!node.index.needs_follow(&*store).unwrap());
}

pub(crate) fn files_that_no_process_used_for_a_day_are_deleted(fresh: &dyn Fresh) {
    let home = tempfile::tempdir().unwrap();
    let store = fresh.open();
    fill(&*store, &["x", "y"]);
    let node = Node::new(Some(home.path()));
    node.search(&*store, "x", "heron");
    node.search(&*store, "y", "heron");
    node.follow_at(&*store, 0);
    let folders = || std::fs::read_dir(home.path()).unwrap().count();
    assert_eq!(folders(), 2);
    node.follow_at(&*store, 1);
    node.search(&*store, "x", "heron");
    node.follow_at(&*store, 20);
    assert_eq!((folders(), node.held()), (2, (0, 0)), "dropped from memory alone");
    node.search(&*store, "x", "heron");
    node.follow_at(&*store, 30);
    assert_eq!(folders(), 1, "nobody used y for a day");
    assert_eq!(node.search(&*store, "y", "heron").total, 10);
}

pub(crate) fn the_files_of_a_node_contain_nothing_purged(fresh: &dyn Fresh) {
    let home = tempfile::tempdir().unwrap();
    let store = fresh.open();
    let kept = save(&*store, "x", &["the heron", "the kettle", "the gate", "the lock"]);
    let node = Node::new(Some(home.path()));
    node.search(&*store, "x", "heron");
    node.follow_at(&*store, 0);
    let size = || {
        let files = files(home.path());
        files.iter().map(|path| std::fs::metadata(path).unwrap().len()).sum::<u64>()
    };
    let purge = |memory: &Memory| {
        let memory = memory.clone();
        store.write(move |tx| purge(tx, &memory)).unwrap();
    };
    let before = size();
    purge(&kept[0]);
    assert!(node.index.clean_files(&*store, &[place("x"), place("unknown")]).unwrap());
    let once = size();
    assert!(once < before);
    // A node that starts has not had the memory, and its files have.
    purge(&kept[1]);
    let again = Node::new(Some(home.path()));
    assert!(again.index.clean_files(&*store, &[place("x")]).unwrap());
    let twice = size();
    assert!(twice < once);
    purge(&kept[2]);
    let last = Node::new(Some(home.path()));
    last.search(&*store, "x", "lock");
    last.follow_at(&*store, 0);
    assert!(size() < twice, "a follower does so, too");
    assert_eq!(ids(&last.search(&*store, "x", "lock")), [kept[3].id]);
}

pub(crate) fn a_node_checks_and_removes_the_files_of_all_workspaces(fresh: &dyn Fresh) {
    let home = tempfile::tempdir().unwrap();
    let store = fresh.open();
    fill(&*store, &["x", "y"]);
    let node = Node::new(Some(home.path()));
    for workspace in ["x", "y"] {
        node.search(&*store, workspace, "heron");
    }
    node.follow_at(&*store, 0);
    let before = node.search(&*store, "y", "heron 3");
    assert_eq!(node.index.check().unwrap(), [] as [String; 0]);
    let vectors = || {
        let files = files(home.path()).into_iter();
        files
            .filter(|path| path.extension().is_some_and(|end| end == "vectors"))
            .collect::<Vec<_>>()
    };
    assert_eq!(vectors().len(), 2);
    let mut bytes = std::fs::read(&vectors()[0]).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::write(&vectors()[0], bytes).unwrap();
    let restarted = Node::new(Some(home.path()));
    assert_eq!(restarted.index.check().unwrap().len(), 1);
    restarted.index.forget_vectors().unwrap();
    restarted.index.rebuild(&*store, |_| GO).unwrap();
    assert_eq!(vectors(), [] as [std::path::PathBuf; 0]);
    restarted.search(&*store, "y", "heron");
    restarted.follow_at(&*store, 0);
    assert_eq!(restarted.search(&*store, "y", "heron 3"), before);
}
