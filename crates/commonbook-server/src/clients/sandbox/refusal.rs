//! Errors of paths that the sandbox refuses: their hint names the setting that allows the path.

use std::path::PathBuf;
use std::sync::OnceLock;

use commonbook::base::error::Error;

/// The folders below which this process may write, once it is in the sandbox.
pub(super) static SANDBOX_FOLDERS: OnceLock<Vec<PathBuf>> = OnceLock::new();

/// The same error; if the sandbox may have refused the path, with a hint that names the setting.
pub(crate) fn explain_refusal(error: Error) -> Error {
    if SANDBOX_FOLDERS.get().is_none() || !is_refusal(&error) {
        return error;
    }
    error.hint(ALLOW_HINT)
}

/// The error of a user command, which runs in the sandbox of its server.
pub(crate) fn explain_command_refusal(error: Error) -> Error {
    if SANDBOX_FOLDERS.get().is_none() {
        return error;
    }
    let message = format!(
        "{}; it runs in the sandbox of the server, so add the folders that it uses to `folders` in \
         config.json",
        error.message
    );
    Error { message, ..error }
}

/// The hint for a path that the sandbox may have refused.
const ALLOW_HINT: &str = "The sandbox of the server may refuse this path: add its folder to `folders` \
     in config.json and restart the server, or check the permissions of the path.";

/// Whether the cause of an error is a refused permission.
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
