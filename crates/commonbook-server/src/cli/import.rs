//! `import`: lines of JSON from a file, each saved once; reports bad lines by number.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use commonbook::Commonbook;
use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::base::{input, limits};
use commonbook::model::agent::Agent;
use commonbook::model::caller::{Caller, EntryPoint};
use commonbook::model::export::{EXPORT_FORMAT, ExportRecord};
use commonbook::model::import::{ImportLine, ImportLineResult, ImportMemoriesResult, legacy_owner};
use commonbook::model::memory::{QuarantineNotice, SaveOutcome};
use commonbook::model::workspace::Workspace;
use indicatif::{ProgressBar, ProgressStyle};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::hint::{HintDoor, for_door};
use crate::output::count_text;
use crate::remote::RestClient;
use crate::{follow, output};

/// Lines that share one transaction.
const IMPORT_CHUNK_LINES: usize = 500;

/// Bytes of the lines that one request to a server contains, unless a single line is longer.
const REQUEST_BYTES_MAX: usize = 1 << 20;

/// Lines that are reported one by one to people.
const REPORTED_LINES_MAX: usize = 20;

/// The format of a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ImportFormat {
    /// One JSON object a line.
    #[default]
    Jsonl,
}

/// Imports a file: lines of `commonbook export`, of conversations ({"text", "conv", "speaker", "session",
/// "ts", …}) or of other programs ({"content", "tags", "agent_id", "created_at", …}). A second run adds
/// nothing twice.
#[derive(Debug, clap::Args)]
pub(crate) struct ImportCommand {
    /// Format of the lines
    #[arg(long, value_enum, default_value_t)]
    format: ImportFormat,
    /// Leave embedding to a server or to `commonbook reindex`
    #[arg(long)]
    later: bool,
    /// Owner of lines without one [default: you]
    #[arg(long, value_name = "OWNER")]
    legacy: Option<String>,
    /// File to read; - reads standard input
    file: PathBuf,
}

/// The result for the lines so far.
#[derive(Default)]
struct ImportTally {
    created: u64,
    repeated: u64,
    /// Lines of an export that are no memories.
    restored: u64,
    present: u64,
    quarantined: Vec<(usize, QuarantineNotice)>,
    /// Lines that are left out, with the time at which their text was forgotten.
    forgotten: Vec<(usize, Timestamp)>,
    bad: Vec<(usize, Error)>,
}

/// Where an import saves.
pub(crate) enum ImportTarget<'t> {
    /// In the store of this home.
    Home(&'t Commonbook),
    /// On a server.
    Server(&'t RestClient),
}

/// An import: where it saves, for whom, and in which workspace, unless each line names its own.
struct Import<'i> {
    target: ImportTarget<'i>,
    caller: Caller,
    into: Option<&'i Workspace>,
    /// The owner of lines without one.
    legacy: Option<Agent>,
}

impl ImportCommand {
    /// Imports the file into the given workspace, or into the workspaces that its lines name.
    ///
    /// # Errors
    /// `invalid` if the file cannot be read or has bad lines; the good lines are saved.
    pub(crate) fn run(
        &self,
        target: ImportTarget<'_>,
        caller: &Caller,
        into: Option<&Workspace>,
        as_json: bool,
    ) -> Result<()> {
        let ImportFormat::Jsonl = self.format;
        let (mut lines, progress) = open(&self.file)?;
        let caller = Caller { door: EntryPoint::Import, ..caller.clone() };
        let legacy = self.legacy.as_deref().map(legacy_owner).transpose()?;
        let import = Import { target, caller, into, legacy };
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
            tally.import_chunk(&import, &chunk)?;
        }
        progress.finish_and_clear();
        if let ImportTarget::Home(book) = import.target
            && !self.later
            && tally.created > 0
        {
            // The memories are saved and found by their words, even if this fails.
            if let Err(error) = follow::update_index(book) {
                output::print_note(&format!("the search index is not up to date: {error}"));
            }
        }
        tally.report(as_json)
    }
}

impl ImportTally {
    fn import_chunk(&mut self, import: &Import<'_>, chunk: &[(usize, Vec<u8>)]) -> Result<()> {
        let mut numbers = Vec::with_capacity(chunk.len());
        let mut lines = Vec::with_capacity(chunk.len());
        for (number, line) in chunk {
            let parsed = input::json(line)
                .map_err(about_line)
                .and_then(|value| Ok((ImportLine::from_json(value.clone())?, value)));
            match parsed {
                Ok((ImportLine::Record(record), _)) if is_header(&record)? => {}
                Ok((line, value)) => {
                    numbers.push(*number);
                    lines.push((line.or_owner(import.legacy.as_ref()), value));
                }
                Err(error) => self.bad.push((*number, error)),
            }
        }
        for (number, outcome) in numbers.into_iter().zip(import.save(lines)?) {
            match outcome {
                Ok(ImportLineResult { forgotten_at: Some(at), .. }) => {
                    self.forgotten.push((number, at));
                }
                Ok(ImportLineResult { outcome, is_record, quarantined: notice, .. }) => {
                    match (outcome, is_record) {
                        (SaveOutcome::Created, false) => self.created += 1,
                        (SaveOutcome::Repeated, false) => self.repeated += 1,
                        (SaveOutcome::Created, true) => self.restored += 1,
                        (SaveOutcome::Repeated, true) => self.present += 1,
                    }
                    self.quarantined.extend(notice.map(|notice| (number, notice)));
                }
                Err(error) => self.bad.push((number, error)),
            }
        }
        Ok(())
    }

    fn report(mut self, as_json: bool) -> Result<()> {
        self.bad.sort_by_key(|(number, _)| *number);
        match as_json {
            true => self.print_as_json(),
            false => self.print_in_words(),
        }
        if self.bad.is_empty() {
            return Ok(());
        }
        let lines = count_text(self.bad.len() as u64, "line is", "lines are");
        let message = format!("{lines} not valid; all other lines were imported");
        Err(Error::new(ErrorKind::Invalid, message)
            .hint("Correct these lines and run the command again: it adds nothing twice."))
    }

    fn print_as_json(&self) {
        let bad: Vec<Value> = self
            .bad
            .iter()
            .map(|(number, error)| {
                let error = for_door(error, HintDoor::CommandLine("commonbook import"));
                json!({"line": number, "error": error.body(None).error})
            })
            .collect();
        let mut answer = json!({"created": self.created, "repeated": self.repeated, "bad": bad});
        if self.restored + self.present > 0 {
            answer["records"] = json!({"created": self.restored, "repeated": self.present});
        }
        if !self.forgotten.is_empty() {
            let lines = self.forgotten.iter();
            let lines = lines.map(|(number, at)| json!({"line": number, "forgotten_at": at}));
            answer["forgotten"] = lines.collect();
        }
        if !self.quarantined.is_empty() {
            let notices = self.quarantined.iter().map(|(number, QuarantineNotice { id, owner, hint })| {
                json!({"line": number, "id": id, "owner": owner, "hint": hint})
            });
            answer["quarantined"] = notices.collect();
        }
        output::print_json(&answer);
    }

    fn print_in_words(&self) {
        for (number, QuarantineNotice { owner, hint, .. }) in
            self.quarantined.iter().take(REPORTED_LINES_MAX)
        {
            output::print_note(&format!("line {number}, by {owner}: {hint}"));
        }
        if !self.quarantined.is_empty() {
            let memories = count_text(self.quarantined.len() as u64, "memory is", "memories are");
            output::print_note(&format!("{memories} quarantined; `commonbook review` lists them"));
        }
        for (number, at) in self.forgotten.iter().take(REPORTED_LINES_MAX) {
            let day = at.strftime("%Y-%m-%d");
            output::print_note(&format!("line {number}: left out: forgotten on {day}"));
        }
        for (number, error) in self.bad.iter().take(REPORTED_LINES_MAX) {
            output::print_note(&format!("line {number}: {error}"));
        }
        if self.bad.len() > REPORTED_LINES_MAX {
            output::print_note(&format!(
                "… and {} more; --json lists all",
                self.bad.len() - REPORTED_LINES_MAX
            ));
        }
        let left_out = match self.forgotten.len() {
            0 => String::new(),
            count => format!(", {count} left out"),
        };
        output::print_line(&format!(
            "{} imported, {} already present, {} not imported{left_out}",
            self.created,
            self.repeated,
            self.bad.len()
        ));
        if self.restored + self.present > 0 {
            let records = count_text(self.restored, "other record", "other records");
            output::print_line(&format!("{records} restored, {} already present", self.present));
        }
    }
}

impl Import<'_> {
    /// Saves lines, each with its JSON; returns the result of each.
    fn save(&self, lines: Vec<(ImportLine, Value)>) -> Result<Vec<Result<ImportLineResult>>> {
        let server = match &self.target {
            ImportTarget::Home(book) => {
                let lines = lines.into_iter().map(|(line, _)| line).collect();
                return book.import_lines(&self.caller, self.into, lines);
            }
            ImportTarget::Server(server) => server,
        };
        let mut results = Vec::with_capacity(lines.len());
        let mut lines = lines.into_iter().map(|(_, value)| value).peekable();
        while lines.peek().is_some() {
            let (mut batch, mut bytes) = (Vec::new(), 0);
            while let Some(line) = lines.peek() {
                bytes += line.to_string().len();
                if !batch.is_empty() && (batch.len() == limits::BATCH || bytes > REQUEST_BYTES_MAX)
                {
                    break;
                }
                batch.extend(lines.next());
            }
            let mut request = json!({"lines": batch, "by_line": self.into.is_none()});
            if let Some(legacy) = &self.legacy {
                request["legacy"] = json!(legacy);
            }
            let response = server.call_named("import_memories", &self.caller, request)?;
            let response: ImportMemoriesResult = input::from_value(response)?;
            results.extend(response.results.into_iter().map(Into::into));
        }
        Ok(results)
    }
}

/// The error of a line that is no JSON.
fn about_line(error: Error) -> Error {
    let message = match error.message.starts_with("the request is not JSON") {
        true => "the line is not JSON; expected an export, or one memory a line".to_owned(),
        false => error.message.replacen("the request", "the line", 1),
    };
    Error { message, ..error }
}

/// Whether this is the first line of an export.
///
/// # Errors
/// `invalid` for a format that a newer version wrote.
fn is_header(record: &ExportRecord) -> Result<bool> {
    let ExportRecord::Export(header) = record else { return Ok(false) };
    if header.format <= EXPORT_FORMAT {
        return Ok(true);
    }
    let message = format!(
        "the export has format {}, of commonbook {}; expected {EXPORT_FORMAT} or less",
        header.format, header.version
    );
    Err(Error::invalid("FILE", message).hint("Import it with that version of commonbook."))
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
    Error::invalid("FILE", format!("cannot read {}: {error}", path.display())).with_cause(error)
}
