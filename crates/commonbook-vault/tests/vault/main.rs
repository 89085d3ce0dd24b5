//! A vault and its store: out, in, and back.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "../../../commonbook/tests/verbs/callers.rs"]
mod callers;
mod edits;
mod plans;
mod rebuild;
mod simulation;
mod strangers;
#[path = "../../../commonbook/tests/verbs/team.rs"]
mod team;
mod warm;

pub(crate) use callers::{at, caller, elsewhere, person, request};

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use commonbook::Commonbook;
use commonbook::base::clock::{Clock, FixedClock};
use commonbook::base::error::Result;
use commonbook::base::home_key::HomeKey;
use commonbook::base::id::CountingIds;
use commonbook::model::caller::Caller;
use commonbook::model::export::{ExportPage, ExportWorkspace};
use commonbook::model::import::{ImportLine, ImportRecord};
use commonbook::model::memory::{Memory, SaveMemory, Sharing};
use commonbook::model::origin::TextOrigin;
use commonbook::store::sqlite::SqliteStore;
use commonbook_vault::cache::PassCache;
use commonbook_vault::export::RecordLine;
use commonbook_vault::files::is_note;
use commonbook_vault::folder::{DiskSteps, FileSteps, VaultFolder};
use commonbook_vault::report::{SyncOptions, SyncReport};
use commonbook_vault::settings::VaultSettings;
use commonbook_vault::source::{StoreChanges, VaultSource};
use commonbook_vault::state::VaultState;
use commonbook_vault::sync::Vault;
use commonbook_vault::writer::{VaultWriter, WriterKey};
use serde_json::Value;

/// A Commonbook with a home and a vault of its own, and its clock.
pub(crate) struct World {
    pub(crate) book: Commonbook,
    pub(crate) clock: Arc<FixedClock>,
    ids: Arc<CountingIds>,
    pub(crate) workspace: String,
    home: tempfile::TempDir,
    /// What the passes know: they are of one process until one of them fails.
    cache: RefCell<PassCache>,
    /// The homes whose keys this one accepted.
    writers: RefCell<BTreeSet<WriterKey>>,
    pub(crate) folder: Arc<tempfile::TempDir>,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::with_folder(Arc::new(tempfile::tempdir().unwrap()))
    }

    /// A new home with the vault in this folder.
    pub(crate) fn with_folder(folder: Arc<tempfile::TempDir>) -> Self {
        Self::with_ids(folder, Arc::new(CountingIds::default()), "a")
    }

    /// Two homes whose ids are never the same, each with a vault.
    pub(crate) fn pair() -> [Self; 2] {
        let ids = Arc::new(CountingIds::default());
        let folder = || Arc::new(tempfile::tempdir().unwrap());
        ["a", "b"].map(|digit| Self::with_ids(folder(), Arc::clone(&ids), digit))
    }

    /// A home whose key has this digit alone.
    fn with_ids(folder: Arc<tempfile::TempDir>, ids: Arc<CountingIds>, digit: &str) -> Self {
        let home = tempfile::tempdir().unwrap();
        HomeKey::replace(home.path(), &digit.repeat(64)).unwrap();
        let store = SqliteStore::open(&home.path().join("commonbook.db")).unwrap();
        let clock = Arc::new(FixedClock::at(at(0)));
        let book = Commonbook::with_clock_and_ids(
            store,
            Arc::clone(&clock) as Arc<dyn Clock>,
            Arc::clone(&ids) as _,
        );
        let (workspace, cache) = ("x".to_owned(), RefCell::default());
        let writers = RefCell::default();
        Self { book, clock, ids, workspace, home, cache, writers, folder }
    }

    pub(crate) fn save(&self, agent: &str, text: &str) -> Memory {
        let request = SaveMemory { text: text.into(), ..SaveMemory::default() };
        let caller = elsewhere(agent, &self.workspace);
        self.book.save_memory(&caller, &request).unwrap().memory
    }

    /// Begins anew in another workspace, with an empty vault.
    pub(crate) fn begin(&mut self, workspace: &str) {
        self.workspace = workspace.to_owned();
        self.folder = Arc::new(tempfile::tempdir().unwrap());
        self.clock.set(at(0));
        self.restart();
    }

    /// Lets the next pass be the first one of a process.
    pub(crate) fn restart(&self) {
        self.cache.take();
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The memories that hold.
    pub(crate) fn list(&self) -> Vec<Memory> {
        let list = request(serde_json::json!({"limit": 100}));
        self.book.list_memories(&elsewhere("dev", &self.workspace), &list).unwrap().items
    }

    /// The texts of the memories that hold.
    pub(crate) fn texts(&self) -> Vec<String> {
        self.list().into_iter().map(|memory| memory.text).collect()
    }

    /// The files that git would exchange with another machine.
    pub(crate) fn shared_files(&self) -> BTreeMap<String, String> {
        let areas = ["memories/", "archive/"];
        let files = self.files("").into_iter();
        files.filter(|(path, _)| areas.iter().any(|area| path.starts_with(area))).collect()
    }

    /// Keeps a content that git overwrites.
    pub(crate) fn commit(&self, content: &str) {
        let folder = VaultFolder::new(self.folder(), Box::new(DiskSteps));
        folder.keep_copy("commit.md", content).unwrap();
    }

    /// Every text: of the store with its history, of the files, and of the copies that were kept.
    pub(crate) fn everything(&self) -> String {
        let mut text = self.export();
        text.extend(self.files("").into_iter().map(|(_, content)| content));
        let copies = std::fs::read_dir(self.folder().join(".commonbook/replaced"));
        for copy in copies.into_iter().flatten().flatten() {
            text.push_str(&std::fs::read_to_string(copy.path()).unwrap());
        }
        text
    }

    pub(crate) fn save_private(&self, agent: &str, text: &str) -> Memory {
        let sharing = Some(Sharing::Private);
        let request = SaveMemory { text: text.into(), sharing, ..SaveMemory::default() };
        self.book.save_memory(&caller(agent), &request).unwrap().memory
    }

    pub(crate) fn sweep_at(&self, hours: i64) -> usize {
        let sweep = |hours| {
            self.clock.set(at(hours));
            self.book.sweep().unwrap().purged
        };
        sweep(hours) + sweep(hours + 1)
    }

    /// This home as a writer of vaults.
    pub(crate) fn writer(&self) -> VaultWriter {
        VaultWriter::of_home(&HomeKey::open(self.home.path()).unwrap())
    }

    pub(crate) fn state(&self) -> VaultState {
        VaultState::of(self.home.path(), self.folder())
    }

    /// Accepts the key of another home.
    pub(crate) fn accept(&self, other: &Self) {
        self.writers.borrow_mut().insert(other.writer().key());
    }

    fn person(&self) -> Caller {
        elsewhere("human", &self.workspace)
    }

    /// One pass of the vault.
    pub(crate) fn sync(&self) -> SyncReport {
        self.try_sync(SyncOptions::default(), Box::new(DiskSteps)).unwrap()
    }

    pub(crate) fn try_sync(
        &self,
        options: SyncOptions,
        steps: Box<dyn FileSteps>,
    ) -> Result<SyncReport> {
        let folder = VaultFolder::new(self.folder.path(), steps);
        if !commonbook_vault::settings::is_vault(self.folder.path()) {
            VaultSettings::new(self.workspace.parse().unwrap()).write(&folder)?;
        }
        let settings = VaultSettings::read(&folder)?;
        let vault = Vault {
            folder,
            settings,
            state: self.state(),
            writer: self.writer(),
            writers: self.writers.borrow().clone(),
            source: self,
            person: self.person(),
            clock: &*self.clock,
            ids: &*self.ids,
        };
        let done = vault.sync_again(&mut self.cache.borrow_mut(), options);
        if done.is_err() {
            self.restart();
        }
        done
    }

    /// The export of the workspace as text, without what the person may not read.
    pub(crate) fn export(&self) -> String {
        let mut request =
            ExportWorkspace { limit: Some(100), deleted: true, ..ExportWorkspace::default() };
        let mut text = String::new();
        loop {
            let page = self.export_page(&request).unwrap();
            for line in page.lines {
                text.push_str(&format!("{}\n", Value::Object(line)));
            }
            request.cursor = page.next;
            if request.cursor.is_none() {
                return text;
            }
        }
    }

    /// The files below a folder of the vault, with their contents.
    pub(crate) fn files(&self, below: &str) -> Vec<(String, String)> {
        let folder = VaultFolder::new(self.folder.path(), Box::new(DiskSteps));
        let paths = folder.list().unwrap().into_iter().filter(|path| path.starts_with(below));
        paths.map(|path| (path.clone(), folder.read(&path).unwrap().unwrap())).collect()
    }

    /// The path and content of the memory's file that holds this text.
    pub(crate) fn file_with(&self, text: &str) -> (String, String) {
        let found = self.files("").into_iter();
        let found = found.filter(|(path, content)| is_note(path) && content.contains(text));
        let mut found: Vec<_> = found.collect();
        assert_eq!(found.len(), 1, "{text}: {found:?}");
        found.remove(0)
    }

    pub(crate) fn write(&self, path: &str, content: &str) {
        let full = self.folder.path().join(path);
        std::fs::create_dir_all(full.parent().unwrap()).unwrap();
        std::fs::write(full, content).unwrap();
    }

    pub(crate) fn edit(&self, text: &str, change: impl Fn(&str) -> String) -> String {
        let (path, content) = self.file_with(text);
        self.write(&path, &change(&content));
        path
    }
}

impl VaultSource for World {
    fn export_page(&self, request: &ExportWorkspace) -> Result<ExportPage> {
        self.book.export_workspace(&self.person(), request)
    }

    fn import_lines(&self, lines: Vec<RecordLine>) -> Result<Vec<ImportRecord>> {
        let lines: Result<Vec<ImportLine>> = lines
            .into_iter()
            .map(|line| ImportLine::from_json(Value::Object(line), TextOrigin::ThisHome))
            .collect();
        let results = self.book.import_lines(
            &self.person(),
            Some(&self.workspace.parse().unwrap()),
            lines?,
        )?;
        Ok(results.into_iter().map(ImportRecord::from).collect())
    }

    fn changes_after(&self, event: u64) -> Result<StoreChanges> {
        StoreChanges::of_home(&self.book, &self.person().workspace, event)
    }
}
