//! What the program prints: responses on standard output, errors with a hint on standard error.

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use comfy_table::Table;
use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook_text::sanitize::{for_terminal, visible_json};
use indicatif::ProgressBar;
use serde::Serialize;
use serde_json::Value;
use textwrap::core::display_width;

pub use crate::calls::hint::TypedCommand;
use crate::calls::hint::{HintDoor, for_door, hint_in_flags, message_in_flags};

/// The first failure to write standard output.
static OUTPUT_ERROR: OnceLock<io::Error> = OnceLock::new();

/// Whether the reader of standard output has closed its pipe.
static PIPE_CLOSED: AtomicBool = AtomicBool::new(false);

/// Columns of the smallest terminal for which lines are divided.
const COLUMNS_MIN: usize = 20;

/// Moves to the top of a terminal and clears all below.
const CLEAR_SCREEN: &[u8] = b"\x1b[H\x1b[2J";

/// Prints a line, as it can be seen: see [`for_terminal`]; on a terminal its words are not broken.
/// [`finish`] reports a failure, unless the reader closed its pipe early.
pub fn print_line(text: &str) {
    print_unbroken(&fitted(text, columns()));
}

/// Prints a line as it is, however wide: what another program reads, or a person copies.
pub fn print_unbroken(text: &str) {
    if let Err(error) = writeln!(anstream::stdout().lock(), "{}", for_terminal(text)) {
        note_failure(error);
    }
}

/// Columns of the terminal; `None` where standard output is none.
pub(crate) fn columns() -> Option<usize> {
    Table::new().width().map(usize::from).filter(|columns| *columns >= COLUMNS_MIN)
}

/// Columns of the terminal that shows notes.
fn note_columns() -> Option<usize> {
    Table::new().use_stderr().width().map(usize::from).filter(|columns| *columns >= COLUMNS_MIN)
}

/// A text with each line that is too wide as several, which begin with the blanks of the first.
fn fitted(text: &str, columns: Option<usize>) -> Cow<'_, str> {
    let Some(columns) =
        columns.filter(|columns| text.lines().any(|line| display_width(line) > *columns))
    else {
        return Cow::Borrowed(text);
    };
    let fit = |line: &str| -> String {
        let indent = " ".repeat(line.len() - line.trim_start_matches(' ').len());
        let options = textwrap::Options::new(columns).subsequent_indent(&indent).break_words(false);
        textwrap::wrap(line, options).join("\n")
    };
    Cow::Owned(text.split('\n').map(fit).collect::<Vec<_>>().join("\n"))
}

/// Prints a line of a server, which goes on if it cannot print.
pub fn announce(text: &str) {
    // One write: a program that reads only the first line may close the pipe after it.
    if let Err(error) = anstream::stdout().lock().write_all(format!("{text}\n").as_bytes()) {
        tracing::warn!(%error, "cannot write standard output");
    }
}

/// Flushes standard output.
///
/// # Errors
/// `unavailable` if a line could not be written, for example on a full disk.
pub fn finish() -> Result<()> {
    if let Err(error) = anstream::stdout().lock().flush() {
        note_failure(error);
    }
    OUTPUT_ERROR.get().map_or(Ok(()), |error| Err(output_write_error(error)))
}

fn note_failure(error: io::Error) {
    if error.kind() == io::ErrorKind::BrokenPipe {
        return PIPE_CLOSED.store(true, Ordering::Relaxed);
    }
    // The first failure is the cause of the later ones.
    drop(OUTPUT_ERROR.set(error));
}

/// Whether the reader has closed its pipe, or standard output cannot be written.
pub(crate) fn is_closed() -> bool {
    PIPE_CLOSED.load(Ordering::Relaxed) || OUTPUT_ERROR.get().is_some()
}

/// Clears the screen, if standard output is a terminal; returns whether it is.
pub(crate) fn clear_screen() -> bool {
    let mut out = io::stdout().lock();
    let is_terminal = out.is_terminal();
    // Not through `anstream`, which leaves this out where there is no colour.
    if is_terminal && let Err(error) = out.write_all(CLEAR_SCREEN) {
        note_failure(error);
    }
    is_terminal
}

/// The error of a response that could not be written.
pub(crate) fn output_write_error(error: &io::Error) -> Error {
    Error::new(ErrorKind::Unavailable, format!("cannot write the output: {error}"))
        .hint("Free disk space, or write elsewhere. The command has run; only its output is lost.")
}

/// Prints these lines; returns `false` if the reader has closed its pipe.
///
/// # Errors
/// `unavailable` if they cannot be written, for example on a full disk.
pub fn print_lines(lines: &[String]) -> Result<bool> {
    let mut out = anstream::stdout().lock();
    let written = lines.iter().try_for_each(|line| writeln!(out, "{}", for_terminal(line)));
    match written.and_then(|()| out.flush()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(output_write_error(&error).with_cause(error)),
    }
}

/// Prints a line for people on standard error; on a terminal its words are not broken.
pub fn print_note(text: &str) {
    print_unbroken_note(&fitted(text, note_columns()));
}

/// Prints a line on standard error as it is.
fn print_unbroken_note(text: &str) {
    let _closed = writeln!(anstream::stderr().lock(), "{}", for_terminal(text));
}

/// A number with its noun: `1 memory`, `2 memories`.
pub(crate) fn count_text(count: u64, singular: &str, plural: &str) -> String {
    format!("{count} {}", if count == 1 { singular } else { plural })
}

/// Prints a response as JSON: indented on a terminal, else on one line.
pub fn print_json(response: &Value) {
    print_unbroken(&match io::stdout().is_terminal() {
        true => visible_json(&format!("{response:#}")).into_owned(),
        false => json_line(response),
    });
}

/// A value as JSON on one line, in which what a reader cannot see is escaped.
pub(crate) fn json_line(value: &impl Serialize) -> String {
    visible_json(&serde_json::to_string(value).unwrap_or_default()).into_owned()
}

/// A text in bold; [`print_line`] and [`print_note`] drop styles where colour is not wanted.
pub(crate) fn bold(text: &str) -> String {
    format!("\u{1b}[1m{text}\u{1b}[0m")
}

/// A text of less weight.
pub(crate) fn dim(text: &str) -> String {
    format!("\u{1b}[2m{text}\u{1b}[0m")
}

/// Shows what is being done. It does not turn: that needs a thread, and where the system gives none the command
/// would end.
pub(crate) fn spinner(message: &'static str) -> ProgressBar {
    let progress = ProgressBar::new_spinner().with_message(message);
    progress.tick();
    progress
}

/// A text that is gone.
pub(crate) fn removed(text: &str) -> String {
    format!("\u{1b}[31m{text}\u{1b}[0m")
}

/// A text that is new.
pub(crate) fn added(text: &str) -> String {
    format!("\u{1b}[32m{text}\u{1b}[0m")
}

/// A name that the reader may type.
pub(crate) fn accent(text: &str) -> String {
    format!("\u{1b}[36m{text}\u{1b}[0m")
}

/// Prints the error of a command (`commonbook save`) on standard error; returns the exit code of
/// its kind.
pub fn print_error(error: &Error, command: &TypedCommand, as_json: bool) -> ExitCode {
    let cause = error.cause.as_ref().map(tracing::field::display);
    match error.kind {
        ErrorKind::Internal => tracing::error!(%error, cause, "failed"),
        _ => tracing::debug!(%error, cause, "failed"),
    }
    let error = for_door(error, HintDoor::CommandLine(&command.words));
    if as_json {
        print_unbroken_note(&serde_json::to_string(&error.body(None)).unwrap_or_default());
    } else {
        let message = message_in_flags(&error, command);
        print_note(&format!("\u{1b}[1;31merror:\u{1b}[0m {message}"));
        if let Some(hint) = &error.hint {
            print_note(&format!("{} {}", bold("hint:"), hint_in_flags(hint, command)));
        }
    }
    ExitCode::from(exit_code(error.kind))
}

/// The exit code of a kind of error; 0 is success, and 2 a wrong command line, as usual.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_as_wide_as_the_terminal_and_keeps_its_words_and_blanks() {
        let text = "  two words of a line that is long\nshort";
        assert_eq!(fitted(text, None), text);
        assert_eq!(fitted(text, Some(40)), text);
        assert_eq!(fitted(text, Some(20)), "  two words of a\n  line that is long\nshort");
        let address = "see https://book.example/a/long/address";
        assert_eq!(fitted(address, Some(20)), "see\nhttps://book.example/a/long/address");
        let coloured = accent("9hm2x4qd");
        assert_eq!(fitted(&coloured, Some(20)), coloured);
    }
}
