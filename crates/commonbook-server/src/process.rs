//! What the kernel holds this process to: files for its user alone, and no image of its memory on disk.

use std::sync::OnceLock;

/// The umask that the program was started with, as a shell takes it.
static USER_UMASK: OnceLock<String> = OnceLock::new();

/// Makes every file and folder that this process creates its user's alone, whatever the folder around
/// it allows, and keeps the memory of the process out of core files and away from other processes of
/// the same user. Runs before any thread starts: a umask belongs to the whole process.
#[cfg(unix)]
pub(crate) fn harden() {
    use rustix::fs::Mode;
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit, umask};

    let before = umask(Mode::RWXG | Mode::RWXO);
    // Nobody else has set it: this runs once.
    drop(USER_UMASK.set(format!("{:04o}", before.bits())));
    let maximum = getrlimit(Resource::Core).maximum;
    // `doctor` says so where it did not work.
    let _refused = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum });
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        let _refused = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    }
}

#[cfg(not(unix))]
pub(crate) fn harden() {}

/// The umask that the program was started with: a command of the user's own gets it back.
pub(crate) fn user_umask() -> Option<&'static str> {
    USER_UMASK.get().map(String::as_str)
}

/// Whether the memory of this process can end up in a core file; nothing where the system does not say.
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
