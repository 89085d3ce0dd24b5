//! `vault watch`: a pass after each change of a file, and after each change of the store.

use std::path::Path;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook_vault::cache::PassCache;
use commonbook_vault::names::LOCAL;
use commonbook_vault::report::SyncOptions;
use commonbook_vault::source::VaultSource as _;
use notify_debouncer_full::notify::RecursiveMode;
use notify_debouncer_full::{DebounceEventResult, new_debouncer};

use super::{QUIET_DELAY, VaultPlace, report};
use crate::calls::output::{print_line, print_note};

/// The delay between two looks at the journal.
const JOURNAL_DELAY: Duration = Duration::from_millis(250);

/// How many times longer than a full pass the watcher waits before the next one: it costs 0.2 % of a core.
const FULL_PASS_PAUSE: u32 = 500;

/// The delay before a pass that failed is tried again, unless a file changes first.
const RETRY_DELAY: Duration = Duration::from_secs(5);

/// Follows a vault until the process is stopped.
///
/// # Errors
/// `unavailable` if the folder cannot be watched; the error of the first pass. Later errors are printed, and
/// the next change is tried again.
pub(super) fn watch(place: &VaultPlace<'_>, root: &Path) -> Result<()> {
    let (sender, receiver) = mpsc::channel();
    let watched = root.to_owned();
    let send = move |events: DebounceEventResult| {
        let is_ours = |path: &Path| {
            let rest = path.strip_prefix(&watched).unwrap_or(path);
            let parts = rest.components().map(|part| part.as_os_str().to_string_lossy());
            parts.into_iter().any(|part| part == LOCAL || part.starts_with('.'))
        };
        let events = events.unwrap_or_default();
        if events.iter().flat_map(|event| &event.paths).any(|path| !is_ours(path)) {
            // The receiver is gone only at the end.
            let _sent = sender.send(());
        }
    };
    let unwatchable = |error: notify_debouncer_full::notify::Error| {
        Error::new(ErrorKind::Unavailable, format!("cannot watch {}: {error}", root.display()))
            .hint("Run `commonbook vault sync` after each change instead.")
    };
    let mut debouncer = new_debouncer(QUIET_DELAY, None, send).map_err(unwatchable)?;
    debouncer.watch(root, RecursiveMode::Recursive).map_err(unwatchable)?;
    print_note(&format!("watching {}; Ctrl-C stops", root.display()));
    let mut cache = PassCache::default();
    let mut full = FullPass::begin();
    let first = place.sync_again(root, &mut cache, SyncOptions::default())?;
    full.end();
    report::print(root, &first, false, false);
    let mut last_problem = String::new();
    loop {
        let delay = if last_problem.is_empty() { JOURNAL_DELAY } else { RETRY_DELAY };
        let is_changed = receiver.recv_timeout(delay).is_ok();
        while receiver.try_recv().is_ok() {}
        let has_events =
            |cache: &PassCache| Ok(cache.is_behind(&place.source.changes_after(cache.through())?));
        let problem = match has_events(&cache) {
            Ok(false) if !is_changed && !full.is_due() => continue,
            Ok(_) if full.is_due() => {
                full = FullPass::begin();
                cache = PassCache::default();
                let problem = run_pass(place, root, &mut cache).err();
                full.end();
                problem
            }
            Ok(_) => run_pass(place, root, &mut cache).err(),
            Err(error) => Some(error),
        };
        let problem = problem.map_or_else(String::new, |error| error.to_string());
        if problem != last_problem && !problem.is_empty() {
            print_note(&problem);
        }
        last_problem = problem;
    }
}

/// A pass that reads everything: what no event and no time of a file says is found by it.
struct FullPass {
    begun: Instant,
    ended: Instant,
}

impl FullPass {
    fn begin() -> Self {
        let now = Instant::now();
        Self { begun: now, ended: now }
    }

    fn end(&mut self) {
        self.ended = Instant::now();
    }

    fn is_due(&self) -> bool {
        self.ended.elapsed() > (self.ended - self.begun) * FULL_PASS_PAUSE
    }
}

fn run_pass(place: &VaultPlace<'_>, root: &Path, cache: &mut PassCache) -> Result<()> {
    let done = place.sync_again(root, cache, SyncOptions::default())?;
    report::print_changes(&done);
    for note in &done.notes {
        print_note(&format!("{}: {}", note.path, note.reason));
    }
    if done.written + done.moved + done.removed > 0 {
        let (written, moved, removed) = (done.written, done.moved, done.removed);
        print_line(&format!("wrote {written}, moved {moved}, removed {removed}"));
    }
    Ok(())
}
