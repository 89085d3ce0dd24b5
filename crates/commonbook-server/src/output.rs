//! What the program says: answers on standard output, errors with their next step on standard error.

use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::OnceLock;

use commonbook::base::error::{Error, ErrorKind, Result};
use serde_json::Value;

/// Why standard output could not be written, the first time.
static OUTPUT_ERROR: OnceLock<io::Error> = OnceLock::new();

/// Prints a line. Who closes the pipe early has seen enough; another failure is what [`finish`] tells.
pub fn print_line(text: &str) {
    if let Err(error) = writeln!(io::stdout().lock(), "{text}") {
        note_failure(error);
    }
}

/// Prints a line that the program can do without: of a server, whose requests do not depend on it.
pub fn announce(text: &str) {
    if let Err(error) = writeln!(io::stdout().lock(), "{text}") {
        tracing::warn!(%error, "standard output cannot be written");
    }
}

/// Ends what is printed.
///
/// # Errors
/// `unavailable` if a line of the answer could not be written, on a full disk say.
pub fn finish() -> Result<()> {
    if let Err(error) = io::stdout().lock().flush() {
        note_failure(error);
    }
    OUTPUT_ERROR.get().map_or(Ok(()), |error| Err(output_write_error(error)))
}

fn note_failure(error: io::Error) {
    if error.kind() != io::ErrorKind::BrokenPipe {
        // The first failure is what went wrong; the rest follow from it.
        drop(OUTPUT_ERROR.set(error));
    }
}

/// The error of an answer that could not be written.
pub(crate) fn output_write_error(error: &io::Error) -> Error {
    Error::new(ErrorKind::Unavailable, format!("the output cannot be written: {error}")).hint(
        "Make room, or write elsewhere. What the command did stays done; only its answer is lost.",
    )
}

/// Prints these lines; answers whether somebody still reads them.
///
/// # Errors
/// `unavailable` when they cannot be written, on a full disk say.
pub fn print_lines(lines: &[String]) -> Result<bool> {
    let mut out = io::stdout().lock();
    let all = lines.iter().try_for_each(|line| writeln!(out, "{line}"));
    match all.and_then(|()| out.flush()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(output_write_error(&error).with_cause(error)),
    }
}

/// Prints a line beside the answer, for people.
pub fn print_note(text: &str) {
    let _closed = writeln!(io::stderr().lock(), "{text}");
}

/// So many of something, in words.
pub(crate) fn count_text(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// Prints an answer as the REST body that it is.
pub fn print_json(answer: &Value) {
    print_line(&answer.to_string());
}

/// Tells an error on standard error, and its kind as the exit code.
pub fn print_error(error: &Error, as_json: bool) -> ExitCode {
    let cause = error.cause.as_ref().map(tracing::field::display);
    match error.kind {
        ErrorKind::Internal => tracing::error!(%error, cause, "failed"),
        _ => tracing::debug!(%error, cause, "failed"),
    }
    if as_json {
        print_note(&serde_json::to_string(&error.body(None)).unwrap_or_default());
    } else {
        print_note(&format!("error: {}", error.message));
        if let Some(hint) = &error.hint {
            print_note(&format!("hint: {hint}"));
        }
    }
    ExitCode::from(exit_code(error.kind))
}

/// The exit code of a kind of error; 0 is success, 2 what every command line answers to misuse.
pub fn exit_code(kind: ErrorKind) -> u8 {
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
