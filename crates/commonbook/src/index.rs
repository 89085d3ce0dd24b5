//! The search index: derived from the journal, so that searches take milliseconds.
//!
//! It has three parts, and each can be rebuilt:
//! - **a generation**: the words on disk, in tantivy, as of some journal positions; its facts
//!   (owner, sharing, type, times …) are loaded into
//! - **the catalog**, which every process keeps in memory and brings up to the journal's end before
//!   each search; and
//! - **the delta**: the words of memories that changed after the generation. It overrides the
//!   generation.
//!
//! So a result depends only on the journal, not on the age of the generation: a committed change is
//! found by the next search in any process. One process at a time, the holder of the lease, writes
//! the delta out as the next generation ([`Index::follow`]).
//!
//! The index of a home has all journals. A node on a database has an index for each workspace that it
//! serves, made when a search first asks for it and dropped when others need the room; a search reads
//! those of its workspaces as if they were one.

mod boot;
mod budget;
mod check;
mod damage;
mod delta;
mod embed;
mod embedder;
mod facts;
mod files;
mod journal_index;
mod matches;
mod nearness;
mod parts;
mod pool;
mod rerank;
mod scratch;
mod search;
mod session_scores;
mod similarity;
mod state;
mod surroundings;
mod vectors;
mod visible;
mod word_nearness;
mod words;

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::{Arc, RwLockReadGuard};

use crate::base::clock::Clock;
use crate::base::error::Result;
use crate::base::thread;
use crate::model::access::Sight;
use crate::model::figures::IndexFigures;
use crate::model::search::{IndexQuery, IndexResponse};
use crate::model::workspace::Workspace;
use crate::store::Store;
use budget::SearchMeter;
pub use budget::{SearchBudget, SearchWork};
use commonbook_embed::Embedder;
use damage::catch_damage;
use embedder::{IndexEmbedder, QuestionEmbedding};
use journal_index::JournalIndex;
use pool::IndexPool;
use search::search_states;
use state::IndexState;

/// How often a search brings its indexes to the ends of the journals: once, unless files are replaced
/// or found damaged meanwhile.
const CATCH_UPS_MAX: usize = 3;

/// The search index of a home, or of a node.
pub struct Index {
    embedder: Arc<IndexEmbedder>,
    indexes: JournalIndexes,
}

/// The indexes that a search chooses from.
enum JournalIndexes {
    /// One of all journals.
    Home(Arc<JournalIndex>),
    /// One of each workspace that is served.
    Node(IndexPool),
}

/// The progress of [`Index::follow`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct IndexProgress {
    /// Number of memories in the index.
    pub memories: u64,
    /// Number of journal events still to be read.
    pub left: u64,
    /// Number of memories without a vector.
    pub waiting: u64,
}

impl IndexProgress {
    /// Both together.
    fn and(self, other: Self) -> Self {
        Self {
            memories: self.memories + other.memories,
            left: self.left + other.left,
            waiting: self.waiting + other.waiting,
        }
    }
}

impl Default for Index {
    fn default() -> Self {
        Self::in_memory()
    }
}

impl Index {
    /// An index in memory, built from the whole journal: for tests and small stores.
    #[must_use]
    pub fn in_memory() -> Self {
        Self::of_home(None)
    }

    /// The index in this folder. The folder is created with the first generation.
    #[must_use]
    pub fn in_folder(folder: PathBuf) -> Self {
        Self::of_home(Some(folder))
    }

    fn of_home(folder: Option<PathBuf>) -> Self {
        let embedder = Arc::<IndexEmbedder>::default();
        let home = JournalIndex::of_home(folder, Arc::clone(&embedder));
        Self { embedder, indexes: JournalIndexes::Home(Arc::new(home)) }
    }

    /// The index of a node: one for each workspace that it serves, up to a limit of memories in all of
    /// them together. Vectors, and the words of large workspaces, are in files of this
    /// folder; without one there are no vectors.
    #[must_use]
    pub fn of_node(folder: Option<PathBuf>, clock: Arc<dyn Clock>) -> Self {
        let embedder = Arc::<IndexEmbedder>::default();
        let pool = IndexPool::new(folder, clock, Arc::clone(&embedder));
        Self { embedder, indexes: JournalIndexes::Node(pool) }
    }

    /// The same index of a node, holding about this many memories at most; one of a home has all.
    #[must_use]
    pub fn with_memories_max(self, memories_max: u64) -> Self {
        let indexes = match self.indexes {
            JournalIndexes::Node(pool) => {
                JournalIndexes::Node(pool.with_memories_max(memories_max))
            }
            home @ JournalIndexes::Home(_) => home,
        };
        Self { indexes, ..self }
    }

    /// Whether it is the index of a node.
    #[must_use]
    pub const fn is_of_node(&self) -> bool {
        matches!(self.indexes, JournalIndexes::Node(_))
    }

    /// Number of workspaces that one search may read; `None` without a limit.
    #[must_use]
    pub fn search_workspaces_max(&self) -> Option<usize> {
        self.is_of_node().then_some(pool::SEARCH_WORKSPACES_MAX)
    }

    /// Has a node hold these workspaces, at the ends of their journals, as after a search. The index
    /// of a home has all.
    ///
    /// # Errors
    /// `unavailable` if the store cannot be read.
    pub fn hold(&self, store: &dyn Store, workspaces: &[Workspace]) -> Result<()> {
        if !self.is_of_node() {
            return Ok(());
        }
        current_states(store, &self.indexes_of(workspaces)).map(drop)
    }

    /// The visible memories that answer a question, best first, as of the journals' end, without a
    /// budget.
    ///
    /// # Errors
    /// `unavailable` if the store cannot be read.
    pub fn search(
        &self,
        store: &dyn Store,
        sight: &Sight,
        question: &IndexQuery,
    ) -> Result<IndexResponse> {
        self.search_within_budget(store, sight, question, &SearchBudget::default())
            .map(|(found, _)| found)
    }

    /// Searches within a budget, and returns the work done. The time starts when the index has
    /// reached the journals' end: catching up with other writers is not part of the search.
    ///
    /// # Errors
    /// `unavailable` if the store cannot be read, the budget is exceeded, or the caller has gone
    /// away.
    pub fn search_within_budget(
        &self,
        store: &dyn Store,
        sight: &Sight,
        question: &IndexQuery,
        budget: &SearchBudget,
    ) -> Result<(IndexResponse, SearchWork)> {
        let indexes = self.indexes_of(&sight.workspaces);
        let (embedding, notice) = self.embedding_of(question, &indexes);
        let states = current_states(store, &indexes)?;
        // Where nothing is, nothing waits for its vector.
        let notice =
            notice.filter(|_| states.iter().any(|state| state.catalog.live().next().is_some()));
        if let JournalIndexes::Node(pool) = &self.indexes {
            pool.note_memories(&indexes, &states);
        }
        let meter = SearchMeter::start(budget);
        let look = |states: &[RwLockReadGuard<'_, IndexState>], meter: &SearchMeter<'_>| {
            let states: Vec<&IndexState> = states.iter().map(|state| &**state).collect();
            catch_damage(|| search_states(&states, sight, question, embedding.as_deref(), meter))
        };
        let (mut found, work) = match look(&states, &meter) {
            Ok(found) => (found, meter.work()),
            Err(error) if meter.is_stopped() => return Err(error),
            Err(error) => {
                drop(states);
                // The files are damaged; the journal is not.
                indexes.iter().for_each(|index| index.discard(Some(&error)));
                let states = current_states(store, &indexes)?;
                let meter = SearchMeter::start(budget);
                (look(&states, &meter)?, meter.work())
            }
        };
        Ok((IndexResponse { notice: notice.or(found.notice.take()), ..found }, work))
    }

    /// Runs `act` while another thread opens the index of a home, if it is not open yet: a process
    /// that starts has other things to read before it searches.
    pub fn open_during<T>(&self, act: impl FnOnce() -> T) -> T {
        let JournalIndexes::Home(index) = &self.indexes else { return act() };
        std::thread::scope(|scope| {
            if !index.read().opened {
                // Without room for a thread, the first search opens it.
                drop(thread::start_within(scope, || index.open()));
            }
            act()
        })
    }

    /// Writes out what the journal holds beyond the generation, and reports its progress after each
    /// step; `report` may stop it. A node does so for the workspaces that it served since the last
    /// call, where that is worth it. Returns `None` if another process holds the lease and does this
    /// work.
    ///
    /// # Errors
    /// `unavailable` if the store cannot be read or the folder cannot be written.
    pub fn follow(
        &self,
        store: &dyn Store,
        mut report: impl FnMut(IndexProgress) -> ControlFlow<()>,
    ) -> Result<Option<IndexProgress>> {
        match &self.indexes {
            JournalIndexes::Home(index) => index.follow(store, report),
            JournalIndexes::Node(pool) => pool.follow(store, &mut report).map(Some),
        }
    }

    /// Removes from the files what was removed from these workspaces. Returns whether that is done;
    /// otherwise another process holds a lease and does this work.
    ///
    /// # Errors
    /// As [`Index::follow`].
    pub fn clean_files(&self, store: &dyn Store, workspaces: &[Workspace]) -> Result<bool> {
        let indexes = match &self.indexes {
            JournalIndexes::Home(index) if index.folder.is_none() => Vec::new(),
            JournalIndexes::Home(index) => vec![Arc::clone(index)],
            JournalIndexes::Node(pool) => pool.with_files(workspaces),
        };
        for index in indexes {
            if index.follow(store, |_| ControlFlow::Continue(()))?.is_none() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Deletes the files and rebuilds them from the journal. A node builds the index of a workspace
    /// when a search asks for it.
    ///
    /// # Errors
    /// As [`Index::follow`]; `conflict` if another process holds the lease.
    pub fn rebuild(
        &self,
        store: &dyn Store,
        report: impl FnMut(IndexProgress) -> ControlFlow<()>,
    ) -> Result<IndexProgress> {
        match &self.indexes {
            JournalIndexes::Home(index) => index.rebuild(store, report),
            JournalIndexes::Node(pool) => {
                pool.remove_words()?;
                Ok(IndexProgress::default())
            }
        }
    }

    /// Whether [`Index::follow`] or [`Index::embed`] has work: changed memories, or enough other
    /// events to slow down the next process that starts; on a node, workspaces that were served or
    /// have changed.
    ///
    /// # Errors
    /// `unavailable` if the store cannot be read.
    pub fn needs_follow(&self, store: &dyn Store) -> Result<bool> {
        match &self.indexes {
            JournalIndexes::Home(index) => {
                index.bring_to_end(store)?;
                Ok(index.needs_follow())
            }
            JournalIndexes::Node(pool) => pool.needs_follow(store),
        }
    }

    /// Whether what [`Index::follow`] would write should not wait for more, as of what was read: memories
    /// were removed, the files are useless or incomplete, or a process that starts would read many events.
    /// A node decides for each workspace, and its work never waits.
    #[must_use]
    pub fn follow_is_urgent(&self) -> bool {
        match &self.indexes {
            JournalIndexes::Home(index) => index.follow_is_urgent(),
            JournalIndexes::Node(_) => true,
        }
    }

    /// Its figures, as this process has it: nothing is read for them.
    #[must_use]
    pub fn figures(&self) -> IndexFigures {
        let mut figures = IndexFigures::default();
        for index in self.held() {
            let state = index.read();
            let IndexProgress { memories, waiting, .. } = state.progress(0);
            let read = state.positions.values().map(|position| position.sequence).sum::<u64>();
            figures.workspaces += state.positions.len() as u64;
            figures.memories += memories;
            figures.unembedded += waiting;
            figures.read += read;
            figures.written += read.saturating_sub(state.unwritten_events());
        }
        figures
    }

    /// Number of events that it has not read of the journals that it follows, which have these ends.
    #[must_use]
    pub fn events_behind(&self, journals: &BTreeMap<Workspace, u64>) -> u64 {
        let behind = |index: Arc<JournalIndex>| {
            let state = index.read();
            let left = |(workspace, end): (&Workspace, &u64)| {
                let read = state.positions.get(workspace).map_or(0, |position| position.sequence);
                end.saturating_sub(read)
            };
            match index.workspace() {
                Some(own) => journals.get_key_value(own).map_or(0, left),
                None => journals.iter().map(left).sum(),
            }
        };
        self.held().into_iter().map(behind).sum()
    }

    /// Number of events after the generation, once the catalog has reached the journal's end. A
    /// process that starts must read them. Those of the workspaces that a node holds, as it has read
    /// them.
    ///
    /// # Errors
    /// `unavailable` if the store cannot be read.
    pub fn unwritten_events(&self, store: &dyn Store) -> Result<u64> {
        if let JournalIndexes::Home(index) = &self.indexes {
            index.bring_to_end(store)?;
        }
        Ok(self.held().iter().map(|index| index.read().unwritten_events()).sum())
    }

    /// The damaged files, one line each.
    ///
    /// # Errors
    /// `unavailable` if they cannot be read.
    pub fn check(&self) -> Result<Vec<String>> {
        match &self.indexes {
            JournalIndexes::Home(index) => index.check(),
            JournalIndexes::Node(pool) => pool.check(),
        }
    }

    /// Sets the embedder: none if it is turned off or could not be opened.
    pub fn use_embedder(&self, embedder: Result<Option<Arc<dyn Embedder>>>) {
        self.embedder.set(embedder);
        self.held().iter().for_each(|index| index.unlink_vectors());
    }

    /// Whether an embedder is configured and could not be opened.
    pub fn lacks_embedder(&self) -> bool {
        self.embedder.is_lacking()
    }

    /// The name of the model that embeds memories; `None` if none is configured.
    ///
    /// # Errors
    /// `unavailable` if the configured embedder could not be opened.
    pub fn embedding_model(&self) -> Result<Option<String>> {
        self.embedder.model()
    }

    /// Deletes all vectors.
    ///
    /// # Errors
    /// `conflict` while another process writes the index, `unavailable` if they cannot be deleted.
    pub fn forget_vectors(&self) -> Result<()> {
        match &self.indexes {
            JournalIndexes::Home(index) => index.forget_vectors(),
            JournalIndexes::Node(pool) => pool.remove_vectors(),
        }
    }

    /// Embeds the memories without a vector, newest first, and reports its progress after each
    /// step; `report` may stop it, and finished work is kept. A node does so for the workspaces that
    /// it served, and always returns its progress. Returns `None` if there is no embedder, or another
    /// process holds the lease and does this work.
    ///
    /// # Errors
    /// Those of the embedder; what was embedded before is kept.
    pub fn embed(
        &self,
        store: &dyn Store,
        mut report: impl FnMut(IndexProgress) -> ControlFlow<()>,
    ) -> Result<Option<IndexProgress>> {
        match &self.indexes {
            JournalIndexes::Home(index) => index.embed(store, report),
            JournalIndexes::Node(pool) => pool.embed(store, &mut report).map(Some),
        }
    }

    /// Whether [`Index::embed`] has texts to embed in this process: there is an embedder, texts wait, and
    /// no other process holds the lease.
    ///
    /// # Errors
    /// `unavailable` if the store cannot be read or the lease cannot be taken.
    pub fn will_embed(&self, store: &dyn Store) -> Result<bool> {
        match &self.indexes {
            JournalIndexes::Home(index) => index.will_embed(store),
            JournalIndexes::Node(pool) => pool.will_embed(store),
        }
    }

    /// Loads the model of the embedder in this thread, if it has to be loaded.
    ///
    /// # Errors
    /// `unavailable` if it cannot be loaded.
    pub fn load_model(&self) -> Result<()> {
        Ok(self.embedder.get().map_or(Ok(()), |embedder| embedder.load())?)
    }

    /// The indexes of these workspaces, in the order in which their states are locked.
    fn indexes_of(&self, workspaces: &[Workspace]) -> Vec<Arc<JournalIndex>> {
        match &self.indexes {
            JournalIndexes::Home(index) => vec![Arc::clone(index)],
            JournalIndexes::Node(pool) => pool.use_indexes(workspaces),
        }
    }

    /// The indexes in memory.
    fn held(&self) -> Vec<Arc<JournalIndex>> {
        match &self.indexes {
            JournalIndexes::Home(index) => vec![Arc::clone(index)],
            JournalIndexes::Node(pool) => pool.held(),
        }
    }

    /// A question to these indexes as the model has read it, or why there is none.
    fn embedding_of(
        &self,
        question: &IndexQuery,
        indexes: &[Arc<JournalIndex>],
    ) -> (Option<Arc<QuestionEmbedding>>, Option<String>) {
        let by_words = |why: &str| (None, Some(format!("searched by words only: {why}")));
        let Some(embedder) = self.embedder.get() else { return by_words(&self.embedder.absence()) };
        if question.text.trim().is_empty() {
            return (None, None);
        }
        if question.of_memory && embedder.is_remote() {
            return by_words("a vector from another machine takes too long");
        }
        let mut has_vectors = false;
        for index in indexes {
            index.open();
            index.refresh_vectors();
            has_vectors |= index.read().vectors.as_ref().is_some_and(|vectors| !vectors.is_empty());
        }
        if !has_vectors {
            return by_words("nothing is embedded yet; a server or `commonbook reindex` does this");
        }
        match self.embedder.question_embedding(&*embedder, question) {
            Ok(embedding) => (Some(embedding), None),
            Err(error) => {
                tracing::warn!(%error, "the question could not be embedded");
                by_words(&error.message)
            }
        }
    }
}

/// The states of these indexes at the journals' ends as of this call. No state is locked while another
/// one is brought there; all are locked in the order of the indexes, so that no two searches wait for
/// each other.
fn current_states<'i>(
    store: &dyn Store,
    indexes: &'i [Arc<JournalIndex>],
) -> Result<Vec<RwLockReadGuard<'i, IndexState>>> {
    let names = indexes.iter().filter_map(|index| index.workspace().cloned());
    let names: Vec<Workspace> = names.collect();
    let (journals, history) = store.read(|tx| {
        // Without names it is the index of all.
        let journals = if names.is_empty() { tx.journals()? } else { tx.journals_of(&names)? };
        Ok((journals, tx.history()?))
    })?;
    for _ in 0..CATCH_UPS_MAX {
        let states = indexes.iter().map(|index| index.state_at(&journals, &history));
        let (states, are_current): (Vec<_>, Vec<bool>) = states.unzip();
        if are_current.iter().all(|is_current| *is_current) {
            return Ok(states);
        }
        drop(states);
        for (index, _) in indexes.iter().zip(are_current).filter(|(_, is_current)| !is_current) {
            index.catch_up(store, &journals, &history)?;
        }
    }
    Ok(indexes.iter().map(|index| index.read()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::clock::SystemClock;
    use crate::model::caller::{Caller, EntryPoint};
    use crate::model::event::JournalHistory;
    use crate::model::memory::SaveMemory;
    use crate::model::search::SearchFilter;
    use crate::store::sqlite::SqliteStore;
    use crate::verbs::Commonbook;

    const WORKSPACES: [&str; 2] = ["x", "y"];

    fn caller(workspace: &str) -> Caller {
        Caller::new(None, workspace.parse().unwrap(), EntryPoint::Cli)
    }

    /// A store with this text in each workspace.
    fn store_with(folder: &tempfile::TempDir, text: &str) -> Commonbook {
        let book = Commonbook::new(SqliteStore::open(&folder.path().join("store.db")).unwrap());
        for workspace in WORKSPACES {
            let request = SaveMemory { text: text.to_owned(), ..SaveMemory::default() };
            book.save_memory(&caller(workspace), &request).unwrap();
        }
        book
    }

    fn count(index: &Index, book: &Commonbook, workspace: &str, text: &str) -> u64 {
        let within = SearchFilter::default();
        let question = IndexQuery::from_plain_text(text.to_owned(), within, SystemClock.now());
        index.search(book.store(), &Sight::of(&caller(workspace)), &question).unwrap().total
    }

    #[test]
    fn each_held_index_notices_that_the_journals_have_another_history() {
        let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let (before, after) =
            (store_with(&folders[0], "the heron"), store_with(&folders[1], "the kettle"));
        let index = Index::of_node(None, Arc::new(SystemClock));
        for workspace in WORKSPACES {
            assert_eq!(count(&index, &before, workspace, "heron"), 1);
        }
        // As after a failover: what was read belongs to an earlier history.
        for held in index.held() {
            held.write().history = JournalHistory::named("00000001");
        }
        for workspace in WORKSPACES {
            let found = ["heron", "kettle"].map(|word| count(&index, &after, workspace, word));
            assert_eq!(found, [0, 1], "{workspace}");
        }
    }
}
