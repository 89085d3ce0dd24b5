//! What the program says: answers on standard output, errors with their next step on standard error.

use std::io::Write;
use std::process::ExitCode;

use commonbook::error::{Error, ErrorKind, Result};
use serde_json::Value;

/// Prints a line. Who closes the pipe early has seen enough.
pub(crate) fn line(text: &str) {
    let _closed = writeln!(std::io::stdout().lock(), "{text}");
}

/// Prints these lines; answers whether somebody still reads them.
///
/// # Errors
/// `unavailable` when they cannot be written, on a full disk say.
pub(crate) fn lines(lines: &[String]) -> Result<bool> {
    let mut out = std::io::stdout().lock();
    let all = lines.iter().try_for_each(|line| writeln!(out, "{line}"));
    match all.and_then(|()| out.flush()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => {
            let broken = format!("the output cannot be written: {error}");
            Err(Error::new(ErrorKind::Unavailable, broken).because(error))
        }
    }
}

/// Prints a line beside the answer, for people.
pub(crate) fn note(text: &str) {
    let _closed = writeln!(std::io::stderr().lock(), "{text}");
}

/// So many of something, in words.
pub(crate) fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// Prints an answer as the REST body that it is.
pub(crate) fn json(answer: &Value) {
    line(&answer.to_string());
}

/// Tells an error on standard error, and its kind as the exit code.
pub(crate) fn failure(error: &Error, as_json: bool) -> ExitCode {
    let cause = error.cause.as_ref().map(tracing::field::display);
    match error.kind {
        ErrorKind::Internal => tracing::error!(%error, cause, "failed"),
        _ => tracing::debug!(%error, cause, "failed"),
    }
    if as_json {
        note(&serde_json::to_string(&error.body(None)).unwrap_or_default());
    } else {
        note(&format!("error: {}", error.message));
        if let Some(hint) = &error.hint {
            note(&format!("hint: {hint}"));
        }
    }
    ExitCode::from(exit_code(error.kind))
}

/// The exit code of a kind of error; 0 is success, 2 what every command line answers to misuse.
pub(crate) fn exit_code(kind: ErrorKind) -> u8 {
    match kind {
        ErrorKind::Internal => 1,
        ErrorKind::Invalid => 2,
        ErrorKind::Unauthenticated => 3,
        ErrorKind::Forbidden => 4,
        ErrorKind::NotFound => 5,
        ErrorKind::Conflict => 6,
        ErrorKind::TooLarge => 7,
        ErrorKind::RateLimited => 8,
        ErrorKind::Unavailable => 9,
    }
}
