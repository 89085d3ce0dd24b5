//! Keeping the search index up with the journal: in the background of a process that stays, and
//! with a progress bar in one that does not.

use std::ops::ControlFlow;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use commonbook::Commonbook;
use commonbook::base::error::Result;
use commonbook::index::IndexProgress;
use commonbook::verbs::MentionProgress;
use commonbook_embed;
use commonbook_embed::SharedEmbedder;
use indicatif::{HumanCount, ProgressBar, ProgressStyle};
use rayon::{ThreadPool, ThreadPoolBuilder};
use tokio_util::sync::CancellationToken;

use crate::call::run_blocking;
use crate::config::Config;
use crate::output;

/// How long a change waits at the most before it is written to the index; it is found before.
const INDEX_DELAY_MAX: Duration = Duration::from_millis(250);

/// How long a follower that failed waits before it tries again.
const FOLLOW_RETRY_DELAY: Duration = Duration::from_secs(30);

/// How long embedding goes on before the words have their turn again.
const EMBED_SLICE: Duration = Duration::from_secs(1);

/// How long memories are compared before everything else has its turn again: after a large import
/// that goes on for minutes, and nobody waits for it.
const COMPARE_SLICE: Duration = Duration::from_millis(100);

/// Events beyond the index from which on a command brings it up before it searches.
const CATCH_UP_EVENTS_MIN: u64 = 2_000;

/// The embedder that the environment asks for.
///
/// # Errors
/// `invalid` for a setting that is none, `unavailable` when it cannot be reached.
pub fn embedder(config: &Config) -> Result<Option<SharedEmbedder>> {
    let wanted = config.embedder.as_deref().unwrap_or("bundled");
    let settings = wanted.parse::<commonbook_embed::EmbedderSettings>()?;
    Ok(commonbook_embed::open(
        &settings.with_key(config.embedder_key.as_ref().map(|key| key.0.as_str()))?,
    )?)
}

/// Follows the journal until the program stops, where no other process does.
pub(crate) async fn follow_in_background(
    book: Commonbook,
    config: Arc<Config>,
    stopping: CancellationToken,
) {
    let mut failed = false;
    while !stopping.is_cancelled() {
        let (book, config, stop) = (book.clone(), Arc::clone(&config), stopping.clone());
        let follow = move || {
            if book.index().lacks_embedder() {
                book.index().use_embedder(embedder(&config));
            }
            register_presence(&book);
            follow_once(&book, &stop)
        };
        let result = run_blocking(|| run_at_low_priority(follow)).await;
        if let Err(error) = &result
            && !failed
        {
            tracing::warn!(%error, "the search index could not be kept up; trying again");
        }
        failed = result.is_err();
        let pause = if failed { FOLLOW_RETRY_DELAY } else { INDEX_DELAY_MAX };
        tokio::select! { () = tokio::time::sleep(pause) => {}, () = stopping.cancelled() => {} }
    }
}

/// How nice a thread is that gives way, from 0 to 19: where all want a core it gets about a ninth of
/// what each other gets (1.25 to the tenth), so that it still gets on.
#[cfg(target_os = "linux")]
const BACKGROUND_NICENESS: i32 = 10;

/// Does this in threads that give way to all others where there are not enough cores for all, and
/// so does the arithmetic of the embedder: nobody waits for it.
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

/// Lets others go before this thread; only Linux does it by the thread.
fn lower_priority() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::nice(BACKGROUND_NICENESS) {
        tracing::debug!(%error, "following the journal is as urgent as all else");
    }
}

/// Tells the registry who was here; nobody has to know where that fails.
pub(crate) fn register_presence(book: &Commonbook) {
    if let Err(error) = book.register() {
        tracing::debug!(%error, "the registry was not told who is here");
    }
}

fn follow_once(book: &Commonbook, stopping: &CancellationToken) -> Result<()> {
    let go_on = |on: bool| match on && !stopping.is_cancelled() {
        true => ControlFlow::Continue(()),
        false => ControlFlow::Break(()),
    };
    let (index, store) = (book.index(), book.store());
    if index.needs_follow(store)? {
        index.follow(store, |_| go_on(true))?;
    }
    let begun = Instant::now();
    book.find_mentions(|_| go_on(begun.elapsed() < EMBED_SLICE))?;
    let begun = Instant::now();
    book.find_contradictions(|_| go_on(begun.elapsed() < COMPARE_SLICE))?;
    let begun = Instant::now();
    index.embed(store, |_| go_on(begun.elapsed() < EMBED_SLICE))?;
    Ok(())
}

/// Brings the index up where it lies far behind, before a command that searches.
///
/// # Errors
/// `unavailable` when the store cannot be read or the index not be written.
pub(crate) fn catch_up(book: &Commonbook) -> Result<()> {
    let (index, store) = (book.index(), book.store());
    if index.unwritten_events(store)? < CATCH_UP_EVENTS_MIN {
        return Ok(());
    }
    with_word_progress(|told| index.follow(store, told))?;
    Ok(())
}

/// Reads what the journals hold for the entities it mentions, and shows how far it is and how fast.
///
/// # Errors
/// `unavailable` when the store cannot be read or written.
pub fn find_mentions_with_progress(book: &Commonbook) -> Result<MentionProgress> {
    let begun = Instant::now();
    let bar = progress_bar(0, "finding entities");
    let done = book.find_mentions(|come| {
        bar.set_length(come.read + come.left);
        bar.set_position(come.read);
        ControlFlow::Continue(())
    });
    bar.finish_and_clear();
    if let Ok(MentionProgress { read, .. }) = &done {
        print_rate("read for entities", *read, begun);
    }
    done
}

/// Tells how fast many events went by.
fn print_rate(what: &str, events: u64, begun: Instant) {
    if events >= CATCH_UP_EVENTS_MIN {
        let rate = events as f64 / begun.elapsed().as_secs_f64().max(1e-9);
        output::print_note(&format!("{} events {what}, {rate:.0} a second", HumanCount(events)));
    }
}

/// Compares what the journals hold for what contradicts what, and shows how far it is.
///
/// # Errors
/// As [`find_mentions_with_progress`].
pub fn find_contradictions_with_progress(book: &Commonbook) -> Result<()> {
    find_mentions_with_progress(book)?;
    let style = ProgressStyle::with_template("{msg} {pos} events, {elapsed}")
        .unwrap_or_else(|_| ProgressStyle::default_spinner());
    let bar = ProgressBar::new_spinner().with_style(style).with_message("comparing memories");
    let (begun, mut events) = (Instant::now(), 0);
    let done = book.find_contradictions(|read| {
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

/// Brings words, entities and vectors up, and shows how far it is. Breaking it off loses nothing.
///
/// # Errors
/// As [`catch_up`], and what the embedder answers.
pub(crate) fn update_index(book: &Commonbook) -> Result<Option<IndexProgress>> {
    let (index, store) = (book.index(), book.store());
    let words = with_word_progress(|told| index.follow(store, told))?;
    find_mentions_with_progress(book)?;
    let Some(words) = words else { return Ok(None) };
    if words.waiting == 0 || index.lacks_embedder() {
        return Ok(Some(words));
    }
    let bar = progress_bar(words.waiting, "embedding (may be broken off)");
    let done = index.embed(store, |progress| {
        bar.set_position(words.waiting.saturating_sub(progress.waiting));
        ControlFlow::Continue(())
    });
    bar.finish_and_clear();
    done.map(|done| done.or(Some(words)))
}

/// Shows how far the words are while `act` writes them.
///
/// # Errors
/// What `act` answers.
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

fn progress_bar(length: u64, message: &'static str) -> ProgressBar {
    let style = ProgressStyle::with_template("{msg} {bar:30} {pos}/{len}, {eta} left")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(length).with_style(style).with_message(message)
}

#[cfg(test)]
mod tests {
    #[cfg(target_os = "linux")]
    #[test]
    fn who_follows_gives_way_and_nobody_else_does() {
        use super::{BACKGROUND_NICENESS, run_at_low_priority};
        let nice = || rustix::process::getpriority_process(None).unwrap();
        let before = nice();
        assert_eq!(run_at_low_priority(nice), (before + BACKGROUND_NICENESS).min(19));
        let arithmetic = || rayon::join(nice, nice);
        let (one, other) = run_at_low_priority(arithmetic);
        assert_eq!([one, other], [(before + BACKGROUND_NICENESS).min(19); 2]);
        assert_eq!(nice(), before);
    }
}
