//! The monthly files of the audit: each event once, for its user alone, after kills and restores.

use std::os::unix::fs::PermissionsExt as _;

use commonbook::base::clock::FixedClock;
use commonbook::base::id::RandomIds;
use commonbook::model::caller::{Caller, EntryPoint};
use commonbook::model::forgetting::ForgetMemory;
use commonbook::model::memory::SaveMemory;
use commonbook::store::sqlite::SqliteStore;
use serde_json::Value;

use super::settings::AuditSettings;
use super::*;

struct AuditHome {
    folder: tempfile::TempDir,
    book: Commonbook,
}

impl AuditHome {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(&folder.path().join("commonbook.db")).unwrap();
        Self { folder, book: Commonbook::new(store) }
    }

    fn files(&self) -> PathBuf {
        self.folder.path().join("audit")
    }

    fn save(&self, workspace: &str, text: &str) -> String {
        let memory = SaveMemory {
            text: text.to_owned(),
            topics: vec!["secret-topic".to_owned()],
            ..SaveMemory::default()
        };
        self.book.save_memory(&caller(workspace), &memory).unwrap().memory.id.to_string()
    }

    fn write(&self) -> u64 {
        let mut writer = AuditWriter::open(&self.files()).unwrap().unwrap();
        writer.follow(&self.book, || false).unwrap()
    }

    /// The lines of all files: their workspaces and sequences.
    fn lines(&self) -> Vec<(String, u64)> {
        let line = |line: &str| {
            let event: Value = serde_json::from_str(line).unwrap();
            (event["workspace"].as_str().unwrap().to_owned(), event["sequence"].as_u64().unwrap())
        };
        let lines: Vec<_> = self.text().lines().map(line).collect();
        lines
    }

    fn text(&self) -> String {
        let entries = fs::read_dir(self.files()).unwrap();
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        paths.retain(|path| path.extension().is_some_and(|ending| ending == "jsonl"));
        paths.sort();
        paths.iter().map(|path| fs::read_to_string(path).unwrap()).collect()
    }

    /// The one file.
    fn file(&self) -> PathBuf {
        let entries = fs::read_dir(self.files()).unwrap();
        let mut paths = entries.map(|entry| entry.unwrap().path());
        paths.find(|path| path.extension().is_some_and(|ending| ending == "jsonl")).unwrap()
    }
}

fn caller(workspace: &str) -> Caller {
    let name = "ann@jarvis".parse().unwrap();
    Caller::new(Some(name), workspace.parse().unwrap(), EntryPoint::Cli)
}

fn sequences(workspace: &str, through: u64) -> Vec<(String, u64)> {
    (1..=through).map(|sequence| (workspace.to_owned(), sequence)).collect()
}

#[test]
fn each_event_of_each_journal_is_written_once_and_for_its_user_alone() {
    let home = AuditHome::new();
    home.save("x", "tea");
    assert_eq!(home.write(), 1);
    home.save("y", "milk");
    home.save("x", "herbs");
    assert_eq!((home.write(), home.write()), (2, 0));
    let mut lines = home.lines();
    lines.sort();
    assert_eq!(lines, [sequences("x", 2), sequences("y", 1)].concat());
    let modes = [home.files(), home.file(), home.files().join(NOTE_FILE)];
    let modes = modes.map(|path| fs::metadata(path).unwrap().permissions().mode() & 0o777);
    assert_eq!(modes, [0o700, 0o600, 0o600]);
    let first: Value = serde_json::from_str(home.text().lines().next().unwrap()).unwrap();
    assert_eq!((&first["actor"], &first["device"]), (&"ann".into(), &"jarvis".into()));
}

#[test]
fn the_file_is_that_of_the_month() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(&folder.path().join("commonbook.db")).unwrap();
    let clock = Arc::new(FixedClock::at("2026-10-31T23:59:59Z".parse().unwrap()));
    let ids = Arc::new(RandomIds::default());
    let book = Commonbook::with_clock_and_ids(store, Arc::<FixedClock>::clone(&clock), ids);
    let home = AuditHome { folder, book };
    home.save("x", "tea");
    clock.set("2026-11-01T00:00:01Z".parse().unwrap());
    home.save("x", "milk");
    assert_eq!(home.write(), 2);
    for name in ["audit-2026-10.jsonl", "audit-2026-11.jsonl"] {
        assert_eq!(fs::read_to_string(home.files().join(name)).unwrap().lines().count(), 1);
    }
}

/// What a process that was killed leaves: any number of bytes of a write, and a note from before or none.
#[test]
fn after_a_kill_no_event_is_missing_and_none_is_there_twice() {
    let home = AuditHome::new();
    home.save("x", "tea");
    home.write();
    let (path, note_path) = (home.file(), home.files().join(NOTE_FILE));
    let (before, note) = (fs::read(&path).unwrap(), fs::read(&note_path).unwrap());
    home.save("x", "milk");
    home.save("x", "herbs");
    home.write();
    let after = fs::read(&path).unwrap();
    let cuts = [before.len(), before.len() + 1, after.len() - before.len() / 2, after.len() - 1];
    for cut in cuts.into_iter().chain([after.len()]) {
        for note in [Some(&note), None] {
            fs::write(&path, &after[..cut]).unwrap();
            match note {
                Some(note) => fs::write(&note_path, note).unwrap(),
                None => fs::remove_file(&note_path).unwrap(),
            }
            home.write();
            assert_eq!(fs::read(&path).unwrap(), after, "{cut} {note:?}");
        }
    }
}

#[test]
fn one_process_writes_at_a_time() {
    let home = AuditHome::new();
    let first = AuditWriter::open(&home.files()).unwrap();
    assert!(first.is_some() && AuditWriter::open(&home.files()).unwrap().is_none());
    drop(first);
    assert!(AuditWriter::open(&home.files()).unwrap().is_some());
}

#[test]
fn a_journal_that_became_shorter_goes_on_from_its_end() {
    let (home, other) = (AuditHome::new(), AuditHome::new());
    home.save("x", "tea");
    home.save("x", "milk");
    home.write();
    other.save("x", "tea");
    let mut writer = AuditWriter::open(&home.files()).unwrap().unwrap();
    assert_eq!(writer.follow(&other.book, || false).unwrap(), 0);
    other.save("x", "restored");
    assert_eq!(writer.follow(&other.book, || false).unwrap(), 1);
    assert_eq!(home.lines().iter().map(|(_, sequence)| *sequence).collect::<Vec<_>>(), [1, 2, 2]);
}

#[test]
fn nothing_that_is_forgotten_stands_in_a_file() {
    let home = AuditHome::new();
    let id = home.save("x", "the vault code is chamomile");
    home.write();
    let by = Caller::new(None, "x".parse().unwrap(), EntryPoint::Cli);
    let forget =
        ForgetMemory { id: Some(id.parse().unwrap()), confirm: true, ..ForgetMemory::default() };
    assert!(home.book.forget_memory(&by, &forget).unwrap().forgotten);
    home.write();
    let text = home.text();
    assert!(text.contains("memory.forgotten") && text.contains(&id));
    assert!(!text.contains("chamomile") && !text.contains("secret-topic"), "{text}");
}

#[test]
fn the_folder_is_below_the_home_or_absolute() {
    let read = |text: &str| {
        let settings: AuditSettings = serde_json::from_str(text).unwrap();
        settings.check().map(|()| settings.folder(Path::new("/home")))
    };
    assert_eq!(read("{}").unwrap(), None);
    assert_eq!(read(r#"{"folder": "audit"}"#).unwrap(), Some("/home/audit".into()));
    assert_eq!(read(r#"{"folder": "/var/audit"}"#).unwrap(), Some("/var/audit".into()));
    for wrong in [r#"{"folder": ""}"#, r#"{"folder": "../audit"}"#, r#"{"folder": "/a/../b"}"#] {
        assert_eq!(read(wrong).unwrap_err().field.as_deref(), Some("folder"), "{wrong}");
    }
}
