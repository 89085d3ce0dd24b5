//! Updates the search index from the journal: in the background of a server, and with a progress bar in
//! a single command.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, LazyLock, OnceLock, mpsc};
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
use rayon::{ThreadPool, ThreadPoolBuilder};
use tokio_util::sync::CancellationToken;

use crate::call::run_blocking;
use crate::config::Config;
use crate::output;

/// Maximum delay before a change is written to the index; searches find it before that.
const INDEX_DELAY_MAX: Duration = Duration::from_millis(250);

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

/// The embedder that the environment names.
///
/// # Errors
/// `invalid` for an unknown setting, `unavailable` if the embedder cannot be reached.
pub fn embedder(config: &Config) -> Result<Option<SharedEmbedder>> {
    let setting = config.embedder.as_deref().unwrap_or("bundled");
    let settings = setting.parse::<commonbook_embed::EmbedderSettings>()?;
    Ok(commonbook_embed::open(
        &settings.with_key(config.embedder_key.as_ref().map(|key| key.0.as_str()))?,
    )?)
}

/// Follows the journal until the program stops, unless another process does.
pub(crate) async fn follow_in_background(
    book: Commonbook,
    config: Arc<Config>,
    stopping: CancellationToken,
) {
    let (mut failed, is_loaded) = (false, Arc::new(AtomicBool::new(false)));
    let writer = book.clone();
    // A thread inherits the priority of the one that starts it: the writer of the store starts here, not
    // with the first write of the follower.
    let started = run_blocking(move || writer.store().write(|_| Ok(()))).await;
    if let Err(error) = started {
        tracing::debug!(%error, "cannot start the writer of the store");
    }
    while !stopping.is_cancelled() {
        let (book, config, stop) = (book.clone(), Arc::clone(&config), stopping.clone());
        let is_loaded = Arc::clone(&is_loaded);
        let follow = move || {
            let (index, store) = (book.index(), book.store());
            if index.lacks_embedder() {
                index.use_embedder(embedder(&config));
            }
            record_calls(&book);
            // A search waits for the index to open and for the model to load, so both have its priority.
            let is_behind = index.needs_follow(store)?;
            if !is_loaded.load(Relaxed) && run_at_low_priority(|| index.will_embed(store))? {
                // Embedding reports what is wrong, after the words are followed.
                is_loaded.store(index.load_model().is_ok(), Relaxed);
            }
            run_at_low_priority(|| follow_once(&book, &stop, is_behind))
        };
        let result = run_blocking(follow).await;
        if let Err(error) = &result
            && !failed
        {
            tracing::warn!(%error, "cannot update the search index; trying again");
        }
        failed = result.is_err();
        let pause = if failed { FOLLOW_RETRY_DELAY } else { INDEX_DELAY_MAX };
        tokio::select! { () = tokio::time::sleep(pause) => {}, () = stopping.cancelled() => {} }
    }
}

/// The delay between two looks at which workspaces are due for a consolidation.
const CONSOLIDATION_DELAY: Duration = Duration::from_secs(60);

/// Consolidates the workspaces that are due by the settings, until the program stops.
pub(crate) async fn consolidate_in_background(book: Commonbook, stopping: CancellationToken) {
    while !stopping.is_cancelled() {
        let book = book.clone();
        let consolidate = move || book.consolidate_due_workspaces();
        if let Err(error) = run_blocking(|| run_at_low_priority(consolidate)).await {
            tracing::warn!(%error, "cannot consolidate; trying again");
        }
        tokio::select! {
            () = tokio::time::sleep(CONSOLIDATION_DELAY) => {},
            () = stopping.cancelled() => {},
        }
    }
}

/// The niceness of a background thread, from 0 to 19: when all cores are busy, it gets about a ninth of
/// the share of another thread (1.25 to the power of ten), so that it still advances.
#[cfg(target_os = "linux")]
const BACKGROUND_NICENESS: i32 = 10;

/// Runs this, and the arithmetic of the embedder, in threads of low priority: no caller waits for it.
fn run_at_low_priority<T: Send>(act: impl FnOnce() -> T + Send) -> T {
    static THREADS: LazyLock<Option<ThreadPool>> = LazyLock::new(|| {
        let threads = ThreadPoolBuilder::new().thread_name(|n| format!("follower-{n}"));
        threads.start_handler(|_| lower_priority()).build().ok()
    });
    match &*THREADS {
        Some(threads) => threads.install(act),
        None => act(),
    }
}

/// Lowers the priority of this thread; only Linux supports it for a single thread.
fn lower_priority() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::nice(BACKGROUND_NICENESS) {
        tracing::debug!(%error, "cannot lower the priority of the background threads");
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
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
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
    run_at_low_priority(|| book.index().embed(book.store(), |_| ControlFlow::Continue(())))?;
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

fn follow_once(book: &Commonbook, stopping: &CancellationToken, is_behind: bool) -> Result<()> {
    let continue_while = |on: bool| match on && !stopping.is_cancelled() {
        true => ControlFlow::Continue(()),
        false => ControlFlow::Break(()),
    };
    let (index, store) = (book.index(), book.store());
    if is_behind {
        index.follow(store, |_| continue_while(true))?;
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
    let begun = Instant::now();
    index.embed(store, |_| continue_while(begun.elapsed() < EMBED_SLICE))?;
    let begun = Instant::now();
    book.digest_active_cases(agenda.scope(), |_| time_left(begun, DIGEST_SLICE))?;
    if is_complete.get() {
        agenda.complete();
    }
    Ok(())
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
    #[test]
    fn a_search_waits_longer_for_few_memories() {
        use super::{AWAITED_MEMORIES_MAX, EMBED_BRIEFLY, SEARCH_WAIT, search_wait};
        assert_eq!(search_wait(0), EMBED_BRIEFLY);
        assert_eq!(search_wait(1), SEARCH_WAIT.max(EMBED_BRIEFLY));
        assert_eq!(search_wait(AWAITED_MEMORIES_MAX + 1), EMBED_BRIEFLY);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn only_background_threads_have_low_priority() {
        use super::{BACKGROUND_NICENESS, run_at_low_priority};
        let nice = || rustix::process::getpriority_process(None).unwrap();
        let before = nice();
        assert_eq!(run_at_low_priority(nice), (before + BACKGROUND_NICENESS).min(19));
        let arithmetic = || rayon::join(nice, nice);
        let (left, right) = run_at_low_priority(arithmetic);
        assert_eq!([left, right], [(before + BACKGROUND_NICENESS).min(19); 2]);
        assert_eq!(nice(), before);
    }
}
