//! Updates the search index from the journal: in the background of a server, and with a progress bar in
//! a single command.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, mpsc};
use std::time::{Duration, Instant};

use commonbook::Commonbook;
use commonbook::base::error::Result;
use commonbook::index::IndexProgress;
use commonbook::model::workspace::Workspace;
use commonbook::store::JournalScope;
use commonbook::verbs::MentionProgress;
use commonbook_embed;
use commonbook_embed::SharedEmbedder;
use indicatif::{HumanCount, ProgressBar, ProgressStyle};
use tokio_util::sync::CancellationToken;

use crate::calls::call::run_blocking;
use crate::calls::output;
use crate::settings::config::Config;
use crate::system::process::{self, lower_priority};

/// The delay between two rounds of the follower.
const FOLLOW_DELAY: Duration = Duration::from_millis(250);

/// The delay after which a few changes are written to the index; many are written at once. Searches find
/// them before that, and a process that starts meanwhile reads them from the journal.
const INDEX_DELAY_MAX: Duration = Duration::from_secs(10);

/// The delay between two looks at what can be derived from the journals: mentions, contradictions and
/// digests. Looks that lie apart share their pages among more memories; a verb that reads mentions or
/// contradictions brings them to the end of its journal first.
const DERIVE_DELAY: Duration = Duration::from_secs(2);

/// The delay before a failed follower tries again.
const FOLLOW_RETRY_DELAY: Duration = Duration::from_secs(30);

/// The time for embedding before words are indexed again.
const EMBED_SLICE: Duration = Duration::from_secs(1);

/// The time for finding contradictions before other work continues: after a large import it takes
/// minutes, and no caller waits for it.
const COMPARE_SLICE: Duration = Duration::from_millis(100);

/// The time for digests of cases before other work continues.
const DIGEST_SLICE: Duration = Duration::from_secs(1);

/// The time that a command spends on embedding after its response, or before a search.
/// An unoptimised build takes that long to load the model.
const EMBED_BRIEFLY: Duration =
    Duration::from_millis(if cfg!(debug_assertions) { 5_000 } else { 200 });

/// The time that a search waits for the vectors of few memories: a model is loaded and reads them.
const SEARCH_WAIT: Duration = Duration::from_secs(5);

/// The number of memories without a vector that are few.
const AWAITED_MEMORIES_MAX: u64 = 100;

/// Number of events beyond the index at which a command updates it before it searches.
const CATCH_UP_EVENTS_MIN: u64 = 2_000;

/// The embedder that the settings name.
///
/// # Errors
/// `invalid` for an unknown setting, `unavailable` if the embedder cannot be reached.
pub fn embedder(config: &Config) -> Result<Option<SharedEmbedder>> {
    Ok(commonbook_embed::open(&config.embedder()?)?)
}

/// Follows the journal until the program stops, unless another process does.
pub(crate) async fn follow_in_background(
    book: Commonbook,
    config: Arc<Config>,
    stopping: CancellationToken,
) {
    let (mut failed, is_loaded) = (false, Arc::new(AtomicBool::new(false)));
    let (quiet, rounds) = (Arc::new(QuietThread::start("follower")), Arc::default());
    let writer = book.clone();
    // A thread inherits the priority of the one that starts it: the writer of the store starts here, not
    // with the first write of the follower.
    let started = run_blocking(move || writer.store().write(|_| Ok(()))).await;
    if let Err(error) = started {
        tracing::debug!(%error, "cannot start the writer of the store");
    }
    while !stopping.is_cancelled() {
        let (book, config, stop) = (book.clone(), Arc::clone(&config), stopping.clone());
        let (is_loaded, quiet) = (Arc::clone(&is_loaded), Arc::clone(&quiet));
        let rounds: Arc<Mutex<FollowerRounds>> = Arc::clone(&rounds);
        let follow = move || {
            let (index, store) = (book.index(), book.store());
            if index.lacks_embedder() {
                index.use_embedder(embedder(&config));
            }
            record_calls(&book);
            // A search waits for the index to open and for the model to load, so both have its priority.
            let is_behind = index.needs_follow(store)?;
            let mut rounds = rounds.lock().unwrap_or_else(PoisonError::into_inner);
            let is_urgent = index.follow_is_urgent();
            let work = rounds.work_at(Instant::now(), is_behind, is_urgent);
            // Embedding reports what is wrong, after the words are followed.
            if !is_loaded.load(Relaxed) && index.will_embed(store)? {
                is_loaded.store(index.load_model().is_ok(), Relaxed);
            }
            let derived = quiet.run(move || follow_once(&book, &stop, work))?;
            rounds.note_derived(derived);
            Ok(())
        };
        let result = run_blocking(follow).await;
        if let Err(error) = &result
            && !failed
        {
            tracing::warn!(%error, "cannot update the search index; trying again");
        }
        failed = result.is_err();
        let pause = if failed { FOLLOW_RETRY_DELAY } else { FOLLOW_DELAY };
        tokio::select! { () = tokio::time::sleep(pause) => {}, () = stopping.cancelled() => {} }
    }
}

/// What the follower of a process knows from one round to the next.
#[derive(Default)]
struct FollowerRounds {
    /// Since when the index lacks what the journals hold.
    behind_since: Option<Instant>,
    /// When all was derived that could be; `None` if something is left.
    derived_at: Option<Instant>,
}

/// The work of one round besides vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct RoundWork {
    writes_index: bool,
    derives: bool,
}

impl FollowerRounds {
    /// The work of the round at this time. `is_behind` says whether the index lacks something, `is_urgent`
    /// whether that cannot wait.
    fn work_at(&mut self, now: Instant, is_behind: bool, is_urgent: bool) -> RoundWork {
        let since = *self.behind_since.get_or_insert(now);
        let is_due = is_urgent || now.duration_since(since) >= INDEX_DELAY_MAX;
        if is_due || !is_behind {
            self.behind_since = None;
        }
        let derives =
            self.derived_at.is_none_or(|derived| now.duration_since(derived) >= DERIVE_DELAY);
        RoundWork { writes_index: is_behind && is_due, derives }
    }

    /// Notes that a round has derived all, or a part, or did not look.
    fn note_derived(&mut self, derived: Option<bool>) {
        if let Some(is_complete) = derived {
            self.derived_at = is_complete.then(Instant::now);
        }
    }
}

/// The delay between two looks at which workspaces are due for a consolidation.
const CONSOLIDATION_DELAY: Duration = Duration::from_secs(60);

/// Consolidates the workspaces that are due by the settings, until the program stops.
pub(crate) async fn consolidate_in_background(book: Commonbook, stopping: CancellationToken) {
    let quiet = Arc::new(QuietThread::start("consolidator"));
    while !stopping.is_cancelled() {
        let (book, quiet) = (book.clone(), Arc::clone(&quiet));
        let consolidate = move || quiet.run(move || book.consolidate_due_workspaces());
        if let Err(error) = run_blocking(consolidate).await {
            tracing::warn!(%error, "cannot consolidate; trying again");
        }
        tokio::select! {
            () = tokio::time::sleep(CONSOLIDATION_DELAY) => {},
            () = stopping.cancelled() => {},
        }
    }
}

/// A thread of low priority, as those that it starts: no caller waits for what it runs. It sleeps between two
/// jobs.
struct QuietThread {
    /// `None` if the machine had no thread left.
    jobs: Option<mpsc::Sender<QuietJob>>,
}

type QuietJob = Box<dyn FnOnce() + Send>;

impl QuietThread {
    /// Starts it; it ends with this value.
    fn start(name: &str) -> Self {
        let (jobs, waiting) = mpsc::channel::<QuietJob>();
        let run = move || {
            lower_priority();
            waiting.into_iter().for_each(|job| job());
        };
        let thread = std::thread::Builder::new().name(name.to_owned()).spawn(run);
        Self { jobs: thread.is_ok().then_some(jobs) }
    }

    /// Runs this on it, and waits for the result; on the thread of the caller if there is no other.
    fn run<T: Send + 'static>(&self, act: impl FnOnce() -> T + Send + 'static) -> T {
        let (answer, answered) = mpsc::sync_channel(1);
        let job: QuietJob = Box::new(move || {
            // The caller waits for the answer.
            let _gone = answer.send(catch_unwind(AssertUnwindSafe(act)));
        });
        if let Err(job) = self.hand_over(job) {
            job();
        }
        match answered.recv() {
            Ok(Ok(result)) => result,
            Ok(Err(panic)) => resume_unwind(panic),
            Err(mpsc::RecvError) => resume_unwind(Box::new("a quiet thread dropped its job")),
        }
    }

    /// Hands a job to the thread; returns it if there is none.
    fn hand_over(&self, job: QuietJob) -> Result<(), QuietJob> {
        let Some(jobs) = &self.jobs else { return Err(job) };
        jobs.send(job).map_err(|mpsc::SendError(job)| job)
    }
}

/// Embeds what no process has embedded yet, as a follower and for a short time: the next search of
/// someone who uses the command line alone finds it by meaning. Work that is not done in time goes on
/// when the command has ended.
pub(crate) fn embed_briefly(book: &Commonbook, config: &Config) {
    if embed_within(book, EMBED_BRIEFLY, None) == EmbedEnd::Late {
        embed_after_exit(config);
    }
}

/// The same before a search. It waits longer, with a bar, where the end is near. Returns the number of
/// memories that wait still.
pub(crate) fn embed_for_search(book: &Commonbook, config: &Config) -> u64 {
    let index = book.index();
    if !matches!(index.embedding_model(), Ok(Some(_))) {
        return 0;
    }
    let waiting = index.figures().unembedded;
    let limit = search_wait(waiting);
    let bar = (limit > EMBED_BRIEFLY).then(|| progress_bar(waiting, "reading new memories"));
    let end = embed_within(book, limit, bar.as_ref());
    bar.iter().for_each(ProgressBar::finish_and_clear);
    let left = index.figures().unembedded;
    if left > 0 && end != EmbedEnd::Failed {
        embed_after_exit(config);
    }
    left
}

/// How long a search waits for the vectors of this many memories.
fn search_wait(waiting: u64) -> Duration {
    match waiting {
        1..=AWAITED_MEMORIES_MAX => SEARCH_WAIT.max(EMBED_BRIEFLY),
        _ => EMBED_BRIEFLY,
    }
}

/// How embedding for a limited time ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum EmbedEnd {
    /// No text waits, or another process embeds them.
    Done,
    /// The embedder failed.
    Failed,
    /// The time was over.
    Late,
}

/// Embeds for this time at most, and shows the progress.
fn embed_within(book: &Commonbook, limit: Duration, bar: Option<&ProgressBar>) -> EmbedEnd {
    let (sender, receiver) = mpsc::channel();
    let (book, begun) = (book.clone(), Instant::now());
    let reports = sender.clone();
    let embed = move || {
        let mut is_late = false;
        let done = book.index().embed(book.store(), |progress| {
            // After the time limit the receiver is gone.
            let _sent = reports.send(Err(progress.waiting));
            is_late = progress.waiting > 0 && begun.elapsed() >= limit / 2;
            if is_late { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        let end = match done {
            Ok(_) if is_late => EmbedEnd::Late,
            Ok(_) => EmbedEnd::Done,
            Err(error) => {
                tracing::debug!(%error, "cannot embed what waits");
                EmbedEnd::Failed
            }
        };
        let _sent = sender.send(Ok(end));
    };
    // The program does not wait for a server of embeddings that does not answer.
    if std::thread::Builder::new().name("embed".to_owned()).spawn(embed).is_err() {
        return EmbedEnd::Late;
    }
    loop {
        match receiver.recv_timeout(limit.saturating_sub(begun.elapsed())) {
            Ok(Ok(end)) => return end,
            Ok(Err(waiting)) => {
                let length = |bar: &&ProgressBar| bar.length().unwrap_or_default();
                bar.iter().for_each(|bar| bar.set_position(length(bar).saturating_sub(waiting)));
            }
            Err(_) => return EmbedEnd::Late,
        }
    }
}

/// Starts a process that embeds what waits when this one has ended: its input ends with this process.
fn embed_after_exit(config: &Config) {
    static STARTED: OnceLock<Child> = OnceLock::new();
    let (Ok(home), Ok(program)) = (config.home(), std::env::current_exe()) else { return };
    if STARTED.get().is_some() {
        return;
    }
    let mut command = Command::new(program);
    command.arg("--home").arg(home).arg("embed");
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    process::outlive_terminal(&mut command);
    match command.spawn() {
        Ok(child) => drop(STARTED.set(child)),
        Err(error) => tracing::debug!(%error, "cannot start a process that embeds"),
    }
}

/// Embeds all that waits, when the process that started this one has ended and holds the index no more.
///
/// # Errors
/// Those of `open` and of the embedder.
pub(crate) fn embed_when_alone(open: impl FnOnce() -> Result<Commonbook>) -> Result<()> {
    // Nothing is sent: the input ends.
    drop(std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink()));
    let book = open()?;
    lower_priority();
    book.index().embed(book.store(), |_| ControlFlow::Continue(()))?;
    Ok(())
}

/// The time that a command spends on counting usage after its response.
const COUNT_BRIEFLY: Duration = Duration::from_millis(100);

/// Records in the registry which agents have called, and how often memories reached readers. A
/// failure is only logged.
pub(crate) fn record_calls(book: &Commonbook) {
    if let Err(error) = book.register() {
        tracing::debug!(%error, "cannot update the registry of agents");
    }
    let begun = Instant::now();
    if let Err(error) = book.record_usage(|| begun.elapsed() < COUNT_BRIEFLY) {
        tracing::debug!(%error, "cannot count the usage of memories");
    }
}

/// What a process that ran long does last: it records its calls, and leaves the next one no long log of
/// changes to read. A failure is only logged.
pub(crate) fn leave_store(book: &Commonbook) {
    record_calls(book);
    if let Err(error) = book.store().shrink_log() {
        tracing::debug!(%error, "the log of changes stays long");
    }
}

/// Does the work of one round. Returns whether all was derived that could be; `None` if it did not look.
fn follow_once(
    book: &Commonbook,
    stopping: &CancellationToken,
    work: RoundWork,
) -> Result<Option<bool>> {
    let continue_while = |on: bool| match on && !stopping.is_cancelled() {
        true => ControlFlow::Continue(()),
        false => ControlFlow::Break(()),
    };
    let (index, store) = (book.index(), book.store());
    if work.writes_index {
        index.follow(store, |_| continue_while(true))?;
    }
    let embed = || {
        let begun = Instant::now();
        index.embed(store, |_| continue_while(begun.elapsed() < EMBED_SLICE))
    };
    if !work.derives {
        embed()?;
        return Ok(None);
    }
    let agenda = book.next_agenda(Instant::now())?;
    let is_complete = Cell::new(true);
    let time_left = |begun: Instant, slice: Duration| {
        let go_on = continue_while(begun.elapsed() < slice);
        is_complete.set(is_complete.get() && go_on.is_continue());
        go_on
    };
    let begun = Instant::now();
    book.find_mentions(agenda.scope(), |_| time_left(begun, EMBED_SLICE))?;
    let begun = Instant::now();
    book.find_contradictions(agenda.scope(), |_| time_left(begun, COMPARE_SLICE))?;
    embed()?;
    let begun = Instant::now();
    book.digest_active_cases(agenda.scope(), |_| time_left(begun, DIGEST_SLICE))?;
    if is_complete.get() {
        agenda.complete();
    }
    Ok(Some(is_complete.get()))
}

/// Runs the digests that a command made due, after its response. A failure is only logged: a later
/// command or server tries again.
pub(crate) fn digest_briefly(book: &Commonbook) {
    let begun = Instant::now();
    let time_left = |_| match begun.elapsed() < DIGEST_SLICE {
        true => ControlFlow::Continue(()),
        false => ControlFlow::Break(()),
    };
    if let Err(error) = book.digest_active_cases(&JournalScope::All, time_left) {
        tracing::debug!(%error, "cannot run the digest of a case");
    }
}

/// Updates the index before a command that searches in this workspace, if it is far behind.
///
/// # Errors
/// `unavailable` if the store cannot be read or the index cannot be written.
pub(crate) fn catch_up(book: &Commonbook, workspace: &Workspace) -> Result<()> {
    let (index, store) = (book.index(), book.store());
    index.hold(store, &workspace.with_global())?;
    if index.unwritten_events(store)? < CATCH_UP_EVENTS_MIN {
        return Ok(());
    }
    with_word_progress(|progress| index.follow(store, progress))?;
    Ok(())
}

/// Extracts entities from new events, with a progress bar.
///
/// # Errors
/// `unavailable` if the store cannot be read or written.
pub fn find_mentions_with_progress(book: &Commonbook) -> Result<MentionProgress> {
    let begun = Instant::now();
    let bar = progress_bar(0, "finding entities");
    let done = book.find_mentions(&JournalScope::All, |progress| {
        bar.set_length(progress.read + progress.left);
        bar.set_position(progress.read);
        ControlFlow::Continue(())
    });
    bar.finish_and_clear();
    if let Ok(MentionProgress { read, .. }) = &done {
        print_rate("searched for entities", *read, begun);
    }
    done
}

/// Prints the number of events and the rate, for many events.
fn print_rate(action: &str, events: u64, begun: Instant) {
    if events >= CATCH_UP_EVENTS_MIN {
        let rate = events as f64 / begun.elapsed().as_secs_f64().max(1e-9);
        output::print_note(&format!("{} events {action}, {rate:.0} a second", HumanCount(events)));
    }
}

/// Finds contradictions in new events, with a progress bar.
///
/// # Errors
/// As [`find_mentions_with_progress`].
pub fn find_contradictions_with_progress(book: &Commonbook) -> Result<()> {
    find_mentions_with_progress(book)?;
    let style = ProgressStyle::with_template("{msg} {pos} events, {elapsed}")
        .unwrap_or_else(|_| ProgressStyle::default_spinner());
    let bar = ProgressBar::new_spinner().with_style(style).with_message("comparing memories");
    let (begun, mut events) = (Instant::now(), 0);
    let done = book.find_contradictions(&JournalScope::All, |read| {
        events = read;
        bar.set_position(read);
        ControlFlow::Continue(())
    });
    bar.finish_and_clear();
    if done.is_ok() {
        print_rate("compared for contradictions", events, begun);
    }
    done
}

/// Updates words, entities and vectors after many memories came at once, with progress bars. An interrupted
/// update loses nothing.
///
/// # Errors
/// As [`catch_up`]; the error of the embedder.
pub(crate) fn update_index(book: &Commonbook) -> Result<Option<IndexProgress>> {
    let (index, store) = (book.index(), book.store());
    store.refresh_statistics()?;
    let words = with_word_progress(|progress| index.follow(store, progress))?;
    find_mentions_with_progress(book)?;
    let Some(words) = words else { return Ok(None) };
    if words.waiting == 0 || index.lacks_embedder() {
        return Ok(Some(words));
    }
    let bar = progress_bar(words.waiting, "embedding (can be interrupted)");
    let done = index.embed(store, |progress| {
        bar.set_position(words.waiting.saturating_sub(progress.waiting));
        ControlFlow::Continue(())
    });
    bar.finish_and_clear();
    done.map(|done| done.or(Some(words)))
}

/// Shows a progress bar while `act` writes words.
///
/// # Errors
/// The error of `act`.
pub(crate) fn with_word_progress<T>(
    act: impl FnOnce(&mut dyn FnMut(IndexProgress) -> ControlFlow<()>) -> Result<T>,
) -> Result<T> {
    let bar = progress_bar(0, "writing the search index");
    let done = act(&mut |progress: IndexProgress| {
        bar.set_length(progress.memories + progress.left);
        bar.set_position(progress.memories);
        ControlFlow::Continue(())
    });
    bar.finish_and_clear();
    done
}

pub(crate) fn progress_bar(length: u64, message: &'static str) -> ProgressBar {
    let style = ProgressStyle::with_template("{msg} {bar:30} {pos}/{len}, {eta} left")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(length).with_style(style).with_message(message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_waits_longer_for_few_memories() {
        assert_eq!(search_wait(0), EMBED_BRIEFLY);
        assert_eq!(search_wait(1), SEARCH_WAIT.max(EMBED_BRIEFLY));
        assert_eq!(search_wait(AWAITED_MEMORIES_MAX + 1), EMBED_BRIEFLY);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn only_background_threads_and_those_that_they_start_have_low_priority() {
        let nice = || rustix::process::getpriority_process(None).unwrap();
        let before = nice();
        let low = (before + process::BACKGROUND_NICENESS).min(19);
        let quiet = QuietThread::start("quiet");
        assert_eq!(quiet.run(nice), low);
        assert_eq!(quiet.run(move || std::thread::spawn(nice).join().unwrap()), low);
        assert_eq!(nice(), before);
    }

    #[test]
    fn a_quiet_thread_outlives_a_panic_and_none_is_needed() {
        let quiet = QuietThread::start("quiet");
        let panicked =
            catch_unwind(AssertUnwindSafe(|| quiet.run::<u8>(|| panic!("a wrong turn"))));
        assert!(panicked.is_err());
        assert_eq!(quiet.run(|| 7), 7);
        assert_eq!(QuietThread { jobs: None }.run(|| 8), 8);
    }

    #[test]
    fn a_few_changes_wait_for_the_index_and_what_is_urgent_does_not() {
        let (mut rounds, begun) = (FollowerRounds::default(), Instant::now());
        let mut writes = |seconds, is_behind, is_urgent| {
            let now = begun + Duration::from_secs(seconds);
            rounds.work_at(now, is_behind, is_urgent).writes_index
        };
        assert!(!writes(0, true, false), "they have just come");
        assert!(writes(1, true, true));
        assert!(!writes(2, true, false), "others have come");
        assert!(!writes(11, true, false));
        assert!(writes(12, true, false), "they have waited long enough");
        assert!(!writes(13, false, false) && !writes(30, true, false), "nothing waited");
    }

    #[test]
    fn what_can_be_derived_is_looked_for_now_and_then_and_at_once_while_some_is_left() {
        let mut rounds = FollowerRounds::default();
        let mut derives = |derived, later| {
            rounds.note_derived(derived);
            rounds.work_at(Instant::now() + later, false, false).derives
        };
        assert!(derives(None, Duration::ZERO), "the first look");
        assert!(derives(Some(false), Duration::ZERO), "some is left");
        assert!(!derives(Some(true), Duration::ZERO));
        assert!(!derives(None, Duration::ZERO), "a round that did not look");
        assert!(derives(None, DERIVE_DELAY));
    }
}
