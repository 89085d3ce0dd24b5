//! Threads of a machine that may have none left: `std::thread::spawn` panics there.

use std::io;
use std::sync::{Mutex, PoisonError};
use std::thread::{Builder, JoinHandle, Scope, ScopedJoinHandle};

use super::error::{Error, ErrorKind, Result};

/// Starts work on a thread of its own.
///
/// # Errors
/// `unavailable` if the machine has no thread left.
pub fn start<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<T>> {
    Builder::new().spawn(work).map_err(none_left)
}

/// Starts work on a thread that ends with its scope.
///
/// # Errors
/// `unavailable` if the machine has no thread left.
pub fn start_within<'s, T: Send + 's>(
    scope: &'s Scope<'s, '_>,
    work: impl FnOnce() -> T + Send + 's,
) -> Result<ScopedJoinHandle<'s, T>> {
    Builder::new().spawn_scoped(scope, work).map_err(none_left)
}

fn none_left(error: io::Error) -> Error {
    Error::new(ErrorKind::Unavailable, format!("the machine has no thread left: {error}"))
        .hint("Close other programs, or raise the limit of processes, and try again.")
        .with_cause(error)
}

/// Runs `act` on each part at once: the first on this thread, each other on its own. What has no room for a
/// thread comes on this one, too. Returns the results in the order of the parts.
pub fn for_each_part<P: Send, T: Send>(parts: Vec<P>, act: impl Fn(P) -> T + Sync) -> Vec<T> {
    // A thread that cannot start leaves its part here.
    let parts: Vec<Mutex<Option<P>>> =
        parts.into_iter().map(|part| Mutex::new(Some(part))).collect();
    let act = |part: &Mutex<Option<P>>| {
        part.lock().unwrap_or_else(PoisonError::into_inner).take().map(&act)
    };
    let Some((first, others)) = parts.split_first() else { return Vec::new() };
    std::thread::scope(|scope| {
        let start = |part| (part, start_within(scope, move || act(part)));
        let others: Vec<_> = others.iter().map(start).collect();
        let first = act(first);
        let others = others.into_iter().map(|(part, thread)| match thread {
            Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            Err(_) => act(part),
        });
        std::iter::once(first).chain(others).flatten().collect()
    })
}
