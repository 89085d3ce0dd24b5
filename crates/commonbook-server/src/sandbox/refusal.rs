//! What is said where the sandbox of a server refuses a path: the setting that allows it.

use std::path::PathBuf;
use std::sync::OnceLock;

use commonbook::base::error::Error;

/// The folders that this process is held to, once it is.
pub(super) static SANDBOX_FOLDERS: OnceLock<Vec<PathBuf>> = OnceLock::new();

/// The same error; if it comes from a path that the sandbox refuses, its hint names the setting that
/// allows the path.
pub(crate) fn explain_refusal(error: Error) -> Error {
    if SANDBOX_FOLDERS.get().is_none() || !is_refusal(&error) {
        return error;
    }
    error.hint(ALLOW_HINT)
}

/// The error of a command of the user's own, which has the sandbox of the server that starts it.
pub(crate) fn explain_command_refusal(error: Error) -> Error {
    if SANDBOX_FOLDERS.get().is_none() {
        return error;
    }
    let message = format!(
        "{}; it has the sandbox of `serve`, so name what it uses outside of the home under `folders` in \
         config.json",
        error.message
    );
    Error { message, ..error }
}

/// What a user does about a path that the sandbox refuses.
const ALLOW_HINT: &str = "The sandbox of `serve` may refuse this path: name its folder under `folders` \
     in config.json and start the server again, or look at the permissions of the path.";

/// Whether an error is the system's word that something is not permitted.
fn is_refusal(error: &Error) -> bool {
    let mut source: Option<&(dyn std::error::Error + 'static)> =
        error.cause.as_ref().map(|cause| &**cause as _);
    while let Some(cause) = source {
        let io = cause.downcast_ref::<std::io::Error>();
        if io.is_some_and(|io| io.kind() == std::io::ErrorKind::PermissionDenied) {
            return true;
        }
        source = cause.source();
    }
    false
}
