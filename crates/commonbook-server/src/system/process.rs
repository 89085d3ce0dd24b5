//! Kernel settings of this process: private files, and no image of its memory on disk.

use std::fs::Metadata;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

/// The umask at the start of the program, in the form of a shell.
static USER_UMASK: OnceLock<String> = OnceLock::new();

/// Makes every file and folder that this process creates private, and keeps its memory out of core files
/// and away from other processes of the same user. Runs before any thread starts: a umask belongs to the
/// whole process.
#[cfg(unix)]
pub(crate) fn harden() {
    use rustix::fs::Mode;
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit, umask};

    let before = umask(Mode::RWXG | Mode::RWXO);
    // This runs once.
    drop(USER_UMASK.set(format!("{:04o}", before.bits())));
    let maximum = getrlimit(Resource::Core).maximum;
    // `doctor` reports a failure.
    let _refused = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum });
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        let _refused = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    }
}

#[cfg(not(unix))]
pub(crate) fn harden() {}

/// The umask at the start of the program, which user commands get back.
pub(crate) fn user_umask() -> Option<&'static str> {
    USER_UMASK.get().map(String::as_str)
}

/// Whether a core file can contain the memory of this process; `None` if the system does not say.
pub(crate) fn leaves_core_files() -> Option<bool> {
    #[cfg(unix)]
    let limited = {
        use rustix::process::{Resource, getrlimit};
        Some(getrlimit(Resource::Core).current == Some(0))
    };
    #[cfg(not(unix))]
    let limited: Option<bool> = None;
    #[cfg(target_os = "linux")]
    let limited = {
        use rustix::process::{DumpableBehavior, dumpable_behavior};
        let closed = matches!(dumpable_behavior(), Ok(DumpableBehavior::NotDumpable));
        limited.map(|limited| limited && closed)
    };
    limited.map(|limited| !limited)
}

/// The niceness of a background thread, from 0 to 19: when all cores are busy, it gets about a ninth of
/// the share of another thread (1.25 to the power of ten), so that it still advances.
pub(crate) const BACKGROUND_NICENESS: i32 = 10;

/// Lowers the priority of this thread; only Linux supports it for a single thread.
pub(crate) fn lower_priority() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::nice(BACKGROUND_NICENESS) {
        tracing::debug!(%error, "cannot lower the priority of the background threads");
    }
}

/// Turns transparent huge pages off for this process. The kernel clears each huge page whole, which
/// delays a process that ends in milliseconds and each new thread of a server; a server is not faster
/// with them (`docs/decisions/0005-dependencies.md`).
pub fn use_ordinary_pages() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::thread::disable_transparent_huge_pages(true) {
        tracing::debug!(%error, "cannot turn transparent huge pages off");
    }
}

/// Lets a process go on when the terminal ends in which this one runs.
pub(crate) fn outlive_terminal(command: &mut Command) {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    #[cfg(not(unix))]
    let _alone = command;
}

/// Bytes that the user of this process can still write on the disk of a folder; `None` if the system does not say.
pub(crate) fn free_bytes(folder: &Path) -> Option<u64> {
    #[cfg(unix)]
    {
        let disk = rustix::fs::statvfs(folder).ok()?;
        Some(disk.f_bavail.saturating_mul(disk.f_frsize))
    }
    #[cfg(not(unix))]
    (|_: &Path| None)(folder)
}

/// Whether the user of this process owns a file. Elsewhere the folder of the user is closed to others.
pub(crate) fn owns(file: &Metadata) -> bool {
    #[cfg(unix)]
    return std::os::unix::fs::MetadataExt::uid(file) == rustix::process::geteuid().as_raw();
    #[cfg(not(unix))]
    return (|_: &Metadata| true)(file);
}

/// Waits for Ctrl-C or SIGTERM; on Unix it catches them from the call on, not from the first poll.
pub(crate) fn stop_signal() -> impl Future<Output = ()> + Send + 'static {
    #[cfg(unix)]
    let signals = {
        use tokio::signal::unix::{SignalKind, signal};
        [SignalKind::interrupt(), SignalKind::terminate()].map(signal)
    };
    #[cfg(not(unix))]
    let signals = [tokio::signal::windows::ctrl_c()];
    async move {
        let mut received = tokio::task::JoinSet::new();
        for mut signal in signals.into_iter().flatten() {
            received.spawn(async move { signal.recv().await });
        }
        if received.join_next().await.is_none() {
            std::future::pending::<()>().await;
        }
    }
}
