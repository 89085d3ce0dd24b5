//! `vault watch`: a pass after each change of a file, and after each change of the store.

use std::path::Path;
use std::sync::mpsc;
use std::time::Duration;

use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook_vault::names::LOCAL;
use commonbook_vault::report::SyncOptions;
use notify_debouncer_full::notify::RecursiveMode;
use notify_debouncer_full::{DebounceEventResult, new_debouncer};

use super::{QUIET_DELAY, VaultPlace, report};
use crate::output::{print_line, print_note};

/// The delay between two looks at the journal.
const JOURNAL_DELAY: Duration = Duration::from_millis(250);

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
    let mut seen = place.source.last_event(0)?;
    report::print(root, &place.sync(root, SyncOptions::default())?, false, false);
    let mut last_problem = String::new();
    loop {
        let is_changed = receiver.recv_timeout(JOURNAL_DELAY).is_ok();
        while receiver.try_recv().is_ok() {}
        let problem = match place.source.last_event(seen) {
            Ok(end) if end == seen && !is_changed => continue,
            Ok(end) => {
                seen = end;
                run_pass(place, root).err()
            }
            Err(error) => Some(error),
        };
        let problem = problem.map_or_else(String::new, |error| error.to_string());
        if problem != last_problem && !problem.is_empty() {
            print_note(&problem);
        }
        last_problem = problem;
    }
}

fn run_pass(place: &VaultPlace<'_>, root: &Path) -> Result<()> {
    let done = place.sync(root, SyncOptions::default())?;
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
