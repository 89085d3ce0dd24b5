//! The index is derived: whatever happens to its files, it is rebuilt with the same results.

use std::fs;
use std::path::{Path, PathBuf};

use commonbook::index::Index;
use commonbook::model::event::{EventKind, NewEvent};
use commonbook::store::Store;

use crate::search::{GO, ids, purge, question, sight, started};
use crate::{Fresh, keep, memory, with_texts};

pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { all.append(&mut files(&path)) } else { all.push(path) }
    }
    all.sort();
    all
}

pub(crate) fn a_damaged_index_is_rebuilt_with_the_same_results(fresh: &dyn Fresh) {
    let (home, spare) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let store = fresh.open();
    let texts: Vec<String> =
        (0..300).map(|n| format!("heron {n} {}", "tea ".repeat(n % 5))).collect();
    with_texts(&*store, &texts.iter().map(String::as_str).collect::<Vec<_>>());
    let whole = spare.path().join("whole");
    started(&whole).follow(&*store, |_| GO).unwrap();
    let look = |index: &Index| index.search(&*store, &sight(), &question("heron tea")).unwrap();
    let expected = look(&started(&whole));
    assert_eq!(expected.total, 300);
    let spoil: [fn(&Path); 3] = [
        |path| fs::write(path, "").unwrap(),
        |path| {
            let bytes = fs::read(path).unwrap();
            fs::write(path, &bytes[..bytes.len() / 2]).unwrap();
        },
        |path| fs::remove_file(path).unwrap(),
    ];
    let names: Vec<PathBuf> =
        files(&whole).iter().map(|path| path.strip_prefix(&whole).unwrap().to_owned()).collect();
    assert!(names.len() > 5, "{names:?}");
    for (case, name) in names.iter().enumerate() {
        for (way, spoil) in spoil.iter().enumerate() {
            let folder = home.path().join(format!("{case}-{way}"));
            for file in &names {
                fs::create_dir_all(folder.join(file).parent().unwrap()).unwrap();
                fs::copy(whole.join(file), folder.join(file)).unwrap();
            }
            spoil(&folder.join(name));
            let index = started(&folder);
            assert_eq!(look(&index), expected, "{} way {way}", name.display());
            assert!(index.follow(&*store, |_| GO).unwrap().is_some());
            assert_eq!(look(&index), expected, "{} way {way}, followed", name.display());
            drop(index);
            assert_eq!(look(&started(&folder)), expected, "{} way {way}, mended", name.display());
        }
    }
}

pub(crate) fn many_events_without_a_memory_are_not_read_by_every_starting_process(
    fresh: &dyn Fresh,
) {
    let home = tempfile::tempdir().unwrap();
    let store = fresh.open();
    let kept = with_texts(&*store, &["heron"]).remove(0);
    let index = started(home.path());
    index.follow(&*store, |_| GO).unwrap();
    for (count, lags) in [(999, false), (1, true)] {
        let built = NewEvent::of(EventKind::ContextBuilt, &kept, &kept.owner, kept.recorded_at);
        let built = NewEvent { subject: "ctx_of_nothing".to_owned(), ..built };
        store
            .write(move |tx| (0..count).try_for_each(|_| tx.append_event(&built).map(drop)))
            .unwrap();
        assert_eq!(index.needs_follow(&*store).unwrap(), lags);
    }
    assert_eq!(started(home.path()).unwritten_events(&*store).unwrap(), 1_000);
    index.follow(&*store, |_| GO).unwrap();
    assert!(!index.needs_follow(&*store).unwrap());
    assert_eq!(started(home.path()).unwritten_events(&*store).unwrap(), 0);
    assert_eq!(ids(&index.search(&*store, &sight(), &question("heron")).unwrap()), [kept.id]);
}

pub(crate) fn an_index_of_another_history_is_rebuilt(fresh: &dyn Fresh) {
    let store = fresh.open();
    let history = |store: &dyn Store| store.read(|tx| tx.history()).unwrap();
    with_texts(&*store, &["the kettle", "tea"]);
    // A restored backup comes with another process, the failover of a server to one that lives.
    for restarts in [true, false] {
        let home = tempfile::tempdir().unwrap();
        let mut index = started(home.path());
        let other = tempfile::tempdir().unwrap();
        let path = other.path().join("commonbook.db");
        let before = commonbook::store::sqlite::SqliteStore::open(&path).unwrap();
        let ids = commonbook::base::id::RandomIds::default();
        let kept = memory(&ids, "ann", "x", "a heron of another time");
        (&*before as &dyn Store).write(move |tx| keep(tx, &kept)).unwrap();
        index.follow(&*before, |_| GO).unwrap();
        if restarts {
            drop(index);
            index = started(home.path());
        } else if history(&*before) == history(&*store) {
            continue;
        } else {
            // The process learns it while it writes, before the first search.
            index.follow(&*store, |_| GO).unwrap();
        }
        for stage in ["found out", "built anew"] {
            let total = |word| index.search(&*store, &sight(), &question(word)).unwrap().total;
            let totals = (total("heron"), total("kettle"), total("tea"));
            assert_eq!(totals, (0, 1, 1), "{stage}, restarts: {restarts}");
            index.follow(&*store, |_| GO).unwrap();
        }
    }
}

/// The files of a folder with this extension.
fn ending(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let of = |path: &PathBuf| path.extension().is_some_and(|extension| extension == ending);
    files(folder).into_iter().filter(of).collect()
}

pub(crate) fn facts_are_read_from_segment_files_or_else_from_columns(fresh: &dyn Fresh) {
    let home = tempfile::tempdir().unwrap();
    let store = fresh.open();
    for half in 0..2 {
        for number in 0..40 {
            let text = format!("heron {half} {}", number % 7);
            let mut kept = memory(&commonbook::base::id::RandomIds::default(), "ann", "x", &text);
            kept.session = Some(format!("session {}", number % 3));
            store.write(move |tx| keep(tx, &kept)).unwrap();
        }
        started(home.path()).follow(&*store, |_| GO).unwrap();
    }
    let look = |index: &Index| index.search(&*store, &sight(), &question("heron 3")).unwrap();
    let expected = look(&Index::in_memory());
    let (sheets, words) = (ending(home.path(), "sheet"), ending(home.path(), "idx"));
    assert_eq!((sheets.len(), words.len(), expected.total), (2, 2, 80));
    let whole: Vec<Vec<u8>> = sheets.iter().map(|sheet| fs::read(sheet).unwrap()).collect();
    let mut spoilt: Vec<Vec<u8>> = (0..40)
        .map(|place| {
            let mut bytes = whole[0].clone();
            let place = place * bytes.len() / 40;
            bytes[place] ^= 0x10;
            bytes
        })
        .collect();
    spoilt.extend([whole[1].clone(), whole[0][..whole[0].len() / 2].to_vec(), Vec::new()]);
    for (case, bytes) in spoilt.iter().enumerate() {
        fs::write(&sheets[0], bytes).unwrap();
        let index = started(home.path());
        assert_eq!(
            (look(&index), index.unwritten_events(&*store).unwrap()),
            (expected.clone(), 0),
            "{case}"
        );
        assert!(index.needs_follow(&*store).unwrap(), "{case}");
        index.follow(&*store, |_| GO).unwrap();
        assert!(!index.needs_follow(&*store).unwrap(), "{case}");
        assert_eq!(fs::read(&sheets[0]).unwrap(), whole[0], "{case}, made anew");
    }
    for columns in ending(home.path(), "fast") {
        let mut bytes = fs::read(&columns).unwrap();
        let most = bytes.len() / 2;
        bytes[..most].fill(0);
        fs::write(&columns, bytes).unwrap();
    }
    let index = started(home.path());
    assert_eq!((look(&index), index.unwritten_events(&*store).unwrap()), (expected.clone(), 0));
    fs::remove_file(&sheets[0]).unwrap();
    assert_eq!(
        look(&started(home.path())),
        expected,
        "without columns and sheet, from the journal"
    );
}

/// Files are not synced where the machine's starts have names: a loss of power may leave them in pieces.
#[cfg(target_os = "linux")]
#[test]
fn the_first_process_after_a_start_of_the_machine_finds_files_in_pieces() {
    let (home, fresh) = (tempfile::tempdir().unwrap(), crate::Sqlite::new());
    let store = fresh.open();
    let texts: Vec<String> = (0..50).map(|number| format!("heron {number} tea")).collect();
    with_texts(&*store, &texts.iter().map(String::as_str).collect::<Vec<_>>());
    started(home.path()).follow(&*store, |_| GO).unwrap();
    let look = |index: &Index| index.search(&*store, &sight(), &question("heron 7")).unwrap();
    let (expected, boot) = (look(&started(home.path())), home.path().join("boot"));
    let this_start = fs::read_to_string(&boot).unwrap();
    let unwritten = || {
        let index = started(home.path());
        assert_eq!(look(&index), expected);
        index.unwritten_events(&*store).unwrap()
    };
    fs::write(&boot, "an earlier start").unwrap();
    assert_eq!((unwritten(), fs::read_to_string(&boot).unwrap()), (0, this_start.clone()));
    for kind in ["idx", "pos", "term", "fast", "store"] {
        let file = ending(home.path(), kind).remove(0);
        let mut bytes = fs::read(&file).unwrap();
        // The last bytes are read whenever the file is opened.
        bytes[0] ^= 1;
        fs::write(&file, bytes).unwrap();
        fs::write(&boot, "an earlier start").unwrap();
        assert_eq!(unwritten(), 50, "{kind}: all is read from the journal");
        let index = started(home.path());
        assert_eq!(index.unwritten_events(&*store).unwrap(), 50, "{kind}: and again");
        index.follow(&*store, |_| GO).unwrap();
        assert_eq!(fs::read_to_string(&boot).unwrap(), this_start, "{kind}");
        assert_eq!(unwritten(), 0, "{kind}: it was written anew");
    }
}

pub(crate) fn segment_files_of_deleted_segments_are_removed(fresh: &dyn Fresh) {
    let home = tempfile::tempdir().unwrap();
    let (store, index) = (fresh.open(), started(home.path()));
    let kept = with_texts(&*store, &["the kettle", "tea"]).remove(0);
    index.follow(&*store, |_| GO).unwrap();
    let before = ending(home.path(), "sheet");
    let unfinished = home.path().join("words/of-a-process-that-was-killed.unfinished-sheet");
    fs::write(&unfinished, "half").unwrap();
    store.write(move |tx| purge(tx, &kept)).unwrap();
    index.follow(&*store, |_| GO).unwrap();
    let after = ending(home.path(), "sheet");
    assert!(before.len() == 1 && after.len() == 1 && before != after, "{before:?} {after:?}");
    assert!(!unfinished.exists());
}

pub(crate) fn an_index_of_another_format_is_rebuilt(fresh: &dyn Fresh) {
    let home = tempfile::tempdir().unwrap();
    let store = fresh.open();
    with_texts(&*store, &["the kettle", "tea"]);
    started(home.path()).follow(&*store, |_| GO).unwrap();
    let words = home.path().join("words");
    let segments = || -> Vec<_> {
        let files = std::fs::read_dir(&words).unwrap().map(|file| file.unwrap().path());
        files.filter(|path| path.extension().is_some_and(|ending| ending == "idx")).collect()
    };
    let (before, path) = (segments(), words.join("meta.json"));
    let (own, other) = (r#"\"format\":"#, r#"\"format\":9"#);
    let commit = std::fs::read_to_string(&path).unwrap();
    assert!(commit.contains(own), "{commit}");
    std::fs::write(&path, commit.replacen(own, other, 1)).unwrap();
    let index = started(home.path());
    for stage in ["found out", "built anew", "written again"] {
        let found = index.search(&*store, &sight(), &question("kettle")).unwrap();
        assert_eq!((ids(&found).len(), found.total), (1, 1), "{stage}");
        index.follow(&*store, |_| GO).unwrap();
        assert_eq!(index.unwritten_events(&*store).unwrap(), 0, "{stage}");
    }
    assert_eq!(index.check().unwrap(), Vec::<String>::new());
    assert!(!before.is_empty() && segments().iter().all(|file| !before.contains(file)));
}

pub(crate) fn the_files_of_the_index_contain_nothing_purged(fresh: &dyn Fresh) {
    let home = tempfile::tempdir().unwrap();
    let (store, index) = (fresh.open(), started(home.path()));
    let filler: Vec<String> = (0..300).map(|n| format!("memory {n} about the weather")).collect();
    with_texts(&*store, &filler.iter().map(String::as_str).collect::<Vec<_>>());
    let ids = commonbook::base::id::RandomIds::default();
    let mut kept = memory(&ids, "ann", "x", "zanzibarian whisper");
    // Words are stored letter by letter in a tree; the name of a session is stored as plain text.
    kept.session = Some("zanzibar".into());
    let given = kept.clone();
    store.write(move |tx| keep(tx, &given)).unwrap();
    index.follow(&*store, |_| GO).unwrap();
    let in_a_file = || {
        files(home.path()).iter().any(|path| {
            let bytes = fs::read(path).unwrap();
            bytes.windows(8).any(|window| window == b"zanzibar")
        })
    };
    assert!(in_a_file());
    store.write(move |tx| purge(tx, &kept)).unwrap();
    index.follow(&*store, |_| GO).unwrap();
    assert!(!in_a_file());
    assert_eq!(index.search(&*store, &sight(), &question("whisper")).unwrap().total, 0);
}
