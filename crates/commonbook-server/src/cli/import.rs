//! `import`: lines of JSON from elsewhere, each kept once, bad ones told by their number.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use commonbook::Commonbook;
use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::model::caller::{Caller, EntryPoint};
use commonbook::model::import;
use commonbook::model::import::ImportLineResult;
use commonbook::model::memory::{QuarantineNotice, SaveOutcome};
use commonbook::model::workspace::Workspace;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Value, json};

use crate::{follow, output};

/// Lines that share one transaction.
const IMPORT_CHUNK_LINES: usize = 500;

/// Bad lines that are told one by one to people.
const BAD_LINES_SHOWN_MAX: usize = 20;

/// What the lines of a file look like.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ImportFormat {
    /// One JSON object a line.
    #[default]
    Jsonl,
}

/// Takes in memories or conversations from a file: what `export` wrote, or lines of
/// {"text", "conv", "speaker", "session", "ts", …}. A second run adds nothing twice.
#[derive(Debug, clap::Args)]
pub(crate) struct ImportCommand {
    /// What the lines look like
    #[arg(long, value_enum, default_value_t)]
    format: ImportFormat,
    /// Leave embedding to a server, or to `reindex`
    #[arg(long)]
    later: bool,
    /// The file; - for standard input
    file: PathBuf,
}

/// What became of the lines.
#[derive(Default)]
struct ImportTally {
    created: u64,
    repeated: u64,
    set_apart: Vec<(usize, QuarantineNotice)>,
    bad: Vec<(usize, Error)>,
}

impl ImportCommand {
    /// Takes in the file, into the given workspace or those that its lines name.
    ///
    /// # Errors
    /// `invalid` when the file cannot be read or had bad lines; the others are kept then.
    pub(crate) fn run(
        &self,
        book: &Commonbook,
        caller: &Caller,
        into: Option<&Workspace>,
        as_json: bool,
    ) -> Result<()> {
        let ImportFormat::Jsonl = self.format;
        let (mut lines, progress) = open(&self.file)?;
        let caller = Caller { door: EntryPoint::Import, ..caller.clone() };
        let mut tally = ImportTally::default();
        let mut number = 0;
        loop {
            let mut chunk = Vec::with_capacity(IMPORT_CHUNK_LINES);
            while chunk.len() < IMPORT_CHUNK_LINES {
                let mut line = Vec::new();
                let read = lines
                    .read_until(b'\n', &mut line)
                    .map_err(|error| import_read_error(&self.file, error))?;
                if read == 0 {
                    break;
                }
                number += 1;
                progress.inc(read as u64);
                if !line.trim_ascii().is_empty() {
                    chunk.push((number, line));
                }
            }
            if chunk.is_empty() {
                break;
            }
            tally.import_chunk(book, &caller, into, &chunk)?;
        }
        progress.finish_and_clear();
        if !self.later && tally.created > 0 {
            // What is imported is kept, and is found by its words, whatever becomes of this.
            if let Err(error) = follow::update_index(book) {
                output::print_note(&format!("the search index: {error}"));
            }
        }
        tally.tell(as_json)
    }
}

impl ImportTally {
    fn import_chunk(
        &mut self,
        book: &Commonbook,
        caller: &Caller,
        into: Option<&Workspace>,
        chunk: &[(usize, Vec<u8>)],
    ) -> Result<()> {
        let mut numbers = Vec::with_capacity(chunk.len());
        let mut lines = Vec::with_capacity(chunk.len());
        for (number, line) in chunk {
            match import::parse(line) {
                Ok(line) => {
                    numbers.push(*number);
                    lines.push(line);
                }
                Err(error) => self.bad.push((*number, error)),
            }
        }
        for (number, outcome) in numbers.into_iter().zip(book.import_lines(caller, into, lines)?) {
            match outcome {
                Ok(ImportLineResult { outcome, set_apart }) => {
                    match outcome {
                        SaveOutcome::Created => self.created += 1,
                        SaveOutcome::Repeated => self.repeated += 1,
                    }
                    self.set_apart.extend(set_apart.map(|memory| (number, memory)));
                }
                Err(error) => self.bad.push((number, error)),
            }
        }
        Ok(())
    }

    fn tell(mut self, as_json: bool) -> Result<()> {
        self.bad.sort_by_key(|(number, _)| *number);
        if as_json {
            let bad: Vec<Value> = self
                .bad
                .iter()
                .map(|(number, error)| json!({"line": number, "error": error.body(None).error}))
                .collect();
            let mut answer =
                json!({"created": self.created, "repeated": self.repeated, "bad": bad});
            if !self.set_apart.is_empty() {
                let told = self.set_apart.iter().map(|(number, QuarantineNotice { id, owner, hint })| {
                    json!({"line": number, "id": id, "owner": owner, "hint": hint})
                });
                answer["set_apart"] = told.collect();
            }
            output::print_json(&answer);
        } else {
            for (number, QuarantineNotice { owner, hint, .. }) in
                self.set_apart.iter().take(BAD_LINES_SHOWN_MAX)
            {
                output::print_note(&format!("line {number}, by {owner}: {hint}"));
            }
            if !self.set_apart.is_empty() {
                let count = self.set_apart.len();
                output::print_note(&format!(
                    "{count} are set apart; `commonbook review` lists them"
                ));
            }
            for (number, error) in self.bad.iter().take(BAD_LINES_SHOWN_MAX) {
                output::print_note(&format!("line {number}: {error}"));
            }
            if self.bad.len() > BAD_LINES_SHOWN_MAX {
                output::print_note(&format!(
                    "… and {} more; --json tells them all",
                    self.bad.len() - BAD_LINES_SHOWN_MAX
                ));
            }
            output::print_line(&format!(
                "{} imported, {} were there already, {} could not be read",
                self.created,
                self.repeated,
                self.bad.len()
            ));
        }
        if self.bad.is_empty() {
            return Ok(());
        }
        let message = format!("{} lines could not be imported; the others were", self.bad.len());
        Err(Error::new(ErrorKind::Invalid, message)
            .hint("Mend those lines and run it again: what is there already is not added twice."))
    }
}

fn open(path: &Path) -> Result<(Box<dyn BufRead>, ProgressBar)> {
    if path == Path::new("-") {
        return Ok((Box::new(BufReader::new(std::io::stdin())), ProgressBar::new_spinner()));
    }
    let file = File::open(path).map_err(|error| import_read_error(path, error))?;
    let length = file.metadata().map_or(0, |file| file.len());
    let style = ProgressStyle::with_template("{bar:40} {bytes}/{total_bytes}, {eta} left")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    Ok((Box::new(BufReader::new(file)), ProgressBar::new(length).with_style(style)))
}

fn import_read_error(path: &Path, error: std::io::Error) -> Error {
    Error::invalid("FILE", format!("{} cannot be read: {error}", path.display())).with_cause(error)
}
