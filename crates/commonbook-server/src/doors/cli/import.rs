//! `import`: lines of JSON, or the files of another program, each saved once; reports bad lines by their place.

mod archive;
mod count;
mod format;
mod own_files;
mod preview;
mod source;
mod unread;
mod zipped;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use commonbook::Commonbook;
use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::base::home_key::HomeKey;
use commonbook::model::agent::Agent;
use commonbook::model::caller::{Caller, EntryPoint};
use commonbook::model::export::{EXPORT_FORMAT, ExportRecord};
use commonbook::model::import::{ImportLine, ImportLineResult, legacy_owner};
use commonbook::model::memory::{QuarantineNotice, SaveOutcome, Sharing};
use commonbook::model::workspace::Workspace;
use commonbook_formats::{Omission, SourceFormat};
use jiff::Timestamp;
use serde_json::{Map, Value, json};

use super::archive::ArchiveKeyOptions;
use super::person::as_person;
use crate::background::follow;
use crate::calls::hint::{HintDoor, for_door};
use crate::calls::output;
use crate::calls::output::count_text;
use crate::clients::remote::RestClient;
use count::LineCount;
use format::ImportFormat;
use preview::{LinePreview, PreviewTally};
use source::{ImportSource, LinePlace, SourceLine};

/// Lines that share one transaction.
const IMPORT_CHUNK_LINES: usize = 500;

/// Different hints about bad lines that people get.
const HINTS_MAX: usize = 3;

/// Lines that are reported one by one to people.
const REPORTED_LINES_MAX: usize = 20;

/// Imports a file or a folder: lines or an archive of `commonbook export`, lines of conversations ({"text", "conv", "speaker",
/// "session", "ts", …}) or of other programs ({"content", "tags", "agent_id", "created_at", …}), or the files
/// that another program wrote. A second run adds nothing twice.
#[derive(Debug, clap::Args)]
pub(crate) struct ImportCommand {
    /// Format of the path
    #[arg(long, value_enum, default_value_t)]
    format: ImportFormat,
    /// Show what would be imported, and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Leave embedding to a server or to `commonbook reindex`
    #[arg(long)]
    later: bool,
    /// Owner of lines without one [default: you; for an Engram vault legacy]
    #[arg(long, value_name = "OWNER")]
    legacy: Option<String>,
    /// Make every memory private to its owner
    #[arg(long)]
    private: bool,
    #[command(flatten)]
    keys: ArchiveKeyOptions,
    /// File or folder to read; - reads standard input
    path: PathBuf,
}

/// The result for the lines so far.
#[derive(Default)]
struct ImportTally {
    created: u64,
    repeated: u64,
    /// Lines of an export that are no memories.
    restored: u64,
    present: u64,
    quarantined: Vec<(LinePlace, QuarantineNotice)>,
    /// Lines that are left out, with the time at which their text was forgotten.
    forgotten: Vec<(LinePlace, Timestamp)>,
    /// What a reader leaves out on purpose.
    left_out: Vec<Omission>,
    /// Lines that do not stand in their source any more, each with the reason.
    gone: Vec<(LinePlace, String)>,
    /// Statuses of sources of which it is not known whether they hold, with how many lines have them.
    unknown_statuses: BTreeMap<String, u64>,
    /// First lines of exports, which are no lines of their own.
    headers: u64,
    /// Private memories that are the person's, since nobody names their owner.
    of_person: u64,
    bad: Vec<(LinePlace, Error)>,
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
    /// Whether every memory is private.
    is_private: bool,
}

impl ImportCommand {
    /// Imports the path into the given workspace, or into the workspaces that its lines name. The files of
    /// instructions in the `user_home` are the person's, if a person imports.
    ///
    /// # Errors
    /// `invalid` if the path cannot be read or has bad lines; the good lines are saved.
    pub(crate) fn run(
        &self,
        target: ImportTarget<'_>,
        caller: &Caller,
        into: Option<&Workspace>,
        user_home: Option<&Path>,
        as_json: bool,
    ) -> Result<()> {
        let mut source = ImportSource::open(&self.path, self.format, &self.keys, as_json)?;
        // A server judges by the token of the caller, and sees no file.
        if let ImportTarget::Home(_) = target {
            source.admit_own_files(&self.path, home_of_person(caller, user_home));
        }
        let caller = Caller { door: EntryPoint::Import, ..caller.clone() };
        let import =
            Import { target, caller, into, legacy: self.owner(&source)?, is_private: self.private };
        let mut tally = ImportTally::default();
        let key = import.home_key();
        loop {
            let chunk = source.next_chunk(IMPORT_CHUNK_LINES)?;
            tally.left_out.extend(source.take_left_out());
            if chunk.is_empty() {
                break;
            }
            tally.import_chunk(&import, key.as_ref(), chunk)?;
        }
        source.finish();
        if let ImportTarget::Home(book) = import.target
            && !self.later
            && tally.created > 0
        {
            // The memories are saved and found by their words, even if this fails.
            if let Err(error) = follow::update_index(book) {
                output::print_note(&format!("the search index is not up to date: {error}"));
            }
        }
        tally.report(&source, as_json)
    }

    /// Prints what would be imported. Opens no store.
    ///
    /// # Errors
    /// `invalid` if the path cannot be read or has bad lines.
    pub(crate) fn preview(
        &self,
        caller: &Caller,
        into: Option<&Workspace>,
        key: Option<&HomeKey>,
        default_sharing: Sharing,
        user_home: Option<&Path>,
        as_json: bool,
    ) -> Result<()> {
        let mut source = ImportSource::open(&self.path, self.format, &self.keys, as_json)?;
        source.admit_own_files(&self.path, home_of_person(caller, user_home));
        let caller = Caller { door: EntryPoint::Import, ..caller.clone() };
        let owner = self.owner(&source)?;
        let (owner, is_private) = (owner.as_ref(), self.private);
        let preview =
            LinePreview { caller: &caller, into, owner, key, default_sharing, is_private };
        let mut tally = PreviewTally::default();
        tally.read(&mut source, &preview)?;
        source.finish();
        match as_json {
            true => tally.print_as_json(&source),
            false => tally.print_in_words(&source),
        }
        let others = match tally.lines() {
            0 => "nothing can be imported",
            _ => "all other lines can be imported",
        };
        bad_lines_error(tally.bad(), others)
    }

    /// The owner of lines without one.
    fn owner(&self, source: &ImportSource) -> Result<Option<Agent>> {
        let default = source.format.and_then(SourceFormat::default_owner);
        self.legacy.as_deref().or(default).map(legacy_owner).transpose()
    }
}

impl ImportTally {
    fn import_chunk(
        &mut self,
        import: &Import,
        key: Option<&HomeKey>,
        chunk: impl IntoIterator<Item = SourceLine>,
    ) -> Result<()> {
        let (mut places, mut lines) = (Vec::new(), Vec::new());
        for SourceLine { place, value, origin } in chunk {
            let parsed =
                value.and_then(|value| Ok((SourceLine::parse(value.clone(), origin, key)?, value)));
            match parsed {
                Ok((ImportLine::Record(record), _)) if is_header(&record)? => self.headers += 1,
                Ok((line, value)) => {
                    let line = line.or_owner(import.legacy.as_ref());
                    let line = if import.is_private { line.into_private() } else { line };
                    places.push((place, line.falls_to_person(&import.caller)));
                    lines.push((line, value));
                }
                Err(error) => self.bad.push((place, error)),
            }
        }
        for ((place, falls_to_person), outcome) in places.into_iter().zip(import.save(lines)?) {
            match outcome {
                Ok(ImportLineResult { forgotten_at: Some(at), .. }) => {
                    self.forgotten.push((place, at));
                }
                Ok(ImportLineResult { left_out: Some(reason), .. }) => {
                    self.gone.push((place, reason));
                }
                Ok(result) => {
                    let ImportLineResult { outcome, is_record, quarantined: notice, .. } = result;
                    if let Some(status) = result.unknown_status {
                        *self.unknown_statuses.entry(status).or_default() += 1;
                    }
                    self.of_person += u64::from(falls_to_person);
                    match (outcome, is_record) {
                        (SaveOutcome::Created | SaveOutcome::Replaced, false) => self.created += 1,
                        (SaveOutcome::Repeated, false) => self.repeated += 1,
                        (SaveOutcome::Created | SaveOutcome::Replaced, true) => self.restored += 1,
                        (SaveOutcome::Repeated, true) => self.present += 1,
                    }
                    self.quarantined.extend(notice.map(|notice| (place, notice)));
                }
                Err(error) => self.bad.push((place, error)),
            }
        }
        Ok(())
    }

    /// How many lines the source has found, and how many of them are imported, left out and refused.
    fn count(&self, source: &ImportSource) -> LineCount {
        let by_reader: u64 = self.left_out.iter().map(|omission| omission.rows).sum();
        LineCount {
            found: source.found() - self.headers,
            imported: self.created + self.repeated + self.restored + self.present,
            left_out: by_reader + (self.gone.len() + self.forgotten.len()) as u64,
            refused: self.bad.len() as u64,
        }
    }

    fn report(mut self, source: &ImportSource, as_json: bool) -> Result<()> {
        if source.format.is_none() {
            self.bad.sort_by(|(one, _), (other, _)| one.cmp(other));
        }
        match as_json {
            true => self.print_as_json(source),
            false => self.print_in_words(source),
        }
        let is_nothing = self.count(source).imported == 0;
        let others =
            if is_nothing { "nothing was imported" } else { "all other lines were imported" };
        bad_lines_error(self.bad.len(), others)
    }

    fn print_as_json(&self, source: &ImportSource) {
        let bad = bad_json(&self.bad);
        let mut answer = json!({"created": self.created, "repeated": self.repeated, "bad": bad});
        answer["counts"] = self.count(source).report();
        if let Some(format) = source.format_name() {
            answer["format"] = json!(format);
        }
        if self.restored + self.present > 0 {
            answer["records"] = json!({"created": self.restored, "repeated": self.present});
        }
        if !self.forgotten.is_empty() {
            let lines = self.forgotten.iter();
            let lines = lines.map(|(place, at)| place.report(json!({"forgotten_at": at})));
            answer["forgotten"] = lines.collect();
        }
        let left_out = left_out_json(&self.left_out, &self.gone);
        if !left_out.is_empty() {
            answer["left_out"] = json!(left_out);
        }
        answer["not_read"] = source.unread().report();
        let replaced = source.replaced();
        if !replaced.is_empty() {
            answer["not_utf8"] = json!(replaced);
        }
        if let Some(count) = source.messages_read() {
            answer["messages_read"] = json!(count);
        }
        if source.own_lines() > 0 {
            answer["own"] = json!(source.own_lines());
        }
        if !self.unknown_statuses.is_empty() {
            answer["unknown_statuses"] = json!(self.unknown_statuses);
        }
        if !self.quarantined.is_empty() {
            let notices = self.quarantined.iter();
            let notices = notices.map(|(place, QuarantineNotice { id, owner, hint })| {
                place.report(json!({"id": id, "owner": owner, "hint": hint}))
            });
            answer["quarantined"] = notices.collect();
        }
        output::print_json(&answer);
    }

    fn print_in_words(&self, source: &ImportSource) {
        for (place, QuarantineNotice { owner, hint, .. }) in
            self.quarantined.iter().take(REPORTED_LINES_MAX)
        {
            output::print_note(&format!("{place}, by {owner}: {hint}"));
        }
        if !self.quarantined.is_empty() {
            let memories = count_text(self.quarantined.len() as u64, "memory is", "memories are");
            output::print_note(&format!("{memories} quarantined; `commonbook review` lists them"));
        }
        for (place, at) in self.forgotten.iter().take(REPORTED_LINES_MAX) {
            let day = at.strftime("%Y-%m-%d");
            output::print_note(&format!("{place}: left out: forgotten on {day}"));
        }
        print_left_out(&self.left_out, &self.gone);
        print_unknown_statuses(&self.unknown_statuses);
        source.print_reading();
        print_bad(&self.bad);
        output::print_line(&format!(
            "{} imported, {} already present, {} not imported",
            self.created,
            self.repeated,
            self.bad.len()
        ));
        if self.of_person > 0 {
            let memories = count_text(self.of_person, "private memory", "private memories");
            output::print_note(&format!(
                "{memories} for `{}`, the person of this home: a terminal and the pages show them; an agent \
                 that imports gives its name (--agent NAME)",
                Agent::human()
            ));
        }
        if self.restored + self.present > 0 {
            let records = count_text(self.restored, "other record", "other records");
            output::print_line(&format!("{records} restored, {} already present", self.present));
        }
        self.count(source).print("imported or already present");
    }
}

impl Import<'_> {
    /// The key of the home; a server reads the signatures itself.
    fn home_key(&self) -> Option<HomeKey> {
        match &self.target {
            ImportTarget::Home(book) => book.home_key(),
            ImportTarget::Server(_) => None,
        }
    }

    /// Saves lines, each with its JSON; returns the result of each.
    fn save(&self, lines: Vec<(ImportLine, Value)>) -> Result<Vec<Result<ImportLineResult>>> {
        let server = match &self.target {
            ImportTarget::Home(book) => {
                let lines = lines.into_iter().map(|(line, _)| line).collect();
                return book.import_lines(&self.caller, self.into, lines);
            }
            ImportTarget::Server(server) => server,
        };
        let mut fields = Map::new();
        fields.insert("by_line".to_owned(), json!(self.into.is_none()));
        if let Some(legacy) = &self.legacy {
            fields.insert("legacy".to_owned(), json!(legacy));
        }
        if self.is_private {
            fields.insert("private".to_owned(), json!(true));
        }
        let lines = lines.into_iter().map(|(_, value)| value);
        let records = server.import_lines(&self.caller, &fields, lines)?;
        Ok(records.into_iter().map(Into::into).collect())
    }
}

/// The home of the user, if a person at a terminal imports: an agent's command speaks for no person.
fn home_of_person<'h>(caller: &Caller, user_home: Option<&'h Path>) -> Option<&'h Path> {
    user_home.filter(|_| as_person(caller.clone()).agent == Agent::human())
}

/// The error of an import with bad lines; `others` is the clause about all other lines.
fn bad_lines_error(count: usize, others: &str) -> Result<()> {
    if count == 0 {
        return Ok(());
    }
    let lines = count_text(count as u64, "line is", "lines are");
    Err(Error::new(ErrorKind::Invalid, format!("{lines} not valid; {others}"))
        .hint("Correct these lines and run the command again: it adds nothing twice."))
}

fn bad_json(bad: &[(LinePlace, Error)]) -> Vec<Value> {
    let bad = bad.iter().map(|(place, error)| {
        let error = for_door(error, HintDoor::CommandLine("commonbook import"));
        place.report(json!({"error": error.body(None).error}))
    });
    bad.collect()
}

fn print_bad(bad: &[(LinePlace, Error)]) {
    for (place, error) in bad.iter().take(REPORTED_LINES_MAX) {
        output::print_note(&format!("{place}: {error}"));
    }
    if bad.len() > REPORTED_LINES_MAX {
        output::print_note(&format!(
            "… and {} more; --json lists all",
            bad.len() - REPORTED_LINES_MAX
        ));
    }
    let mut hints: Vec<String> = Vec::new();
    for (_, error) in bad {
        let hint = for_door(error, HintDoor::CommandLine("commonbook import")).hint.clone();
        hints.extend(hint.filter(|hint| !hints.contains(hint)));
        if hints.len() == HINTS_MAX {
            break;
        }
    }
    hints.iter().for_each(|hint| output::print_note(&format!("hint: {hint}")));
}

/// What is left out by its reader, and what does not stand in its source any more.
fn left_out_json(left_out: &[Omission], gone: &[(LinePlace, String)]) -> Vec<Value> {
    let by_reader = left_out.iter().map(|Omission { file, reason, rows }| {
        let mut report = json!({"file": file, "reason": reason});
        if *rows != 1 {
            report["rows"] = json!(rows);
        }
        report
    });
    by_reader
        .chain(gone.iter().map(|(place, reason)| place.report(json!({"reason": reason}))))
        .collect()
}

fn print_left_out(left_out: &[Omission], gone: &[(LinePlace, String)]) {
    let by_reader = left_out.iter().map(|Omission { file, reason, .. }| (file.clone(), reason));
    let all = by_reader.chain(gone.iter().map(|(place, reason)| (place.to_string(), reason)));
    for (place, reason) in all.take(REPORTED_LINES_MAX) {
        output::print_note(&format!("{place}: left out: {reason}"));
    }
    let more = (left_out.len() + gone.len()).saturating_sub(REPORTED_LINES_MAX);
    if more > 0 {
        output::print_note(&format!("… and {more} more left out; --json lists all"));
    }
}

fn print_unknown_statuses(statuses: &BTreeMap<String, u64>) {
    for (status, count) in statuses.iter().take(REPORTED_LINES_MAX) {
        let lines = count_text(*count, "line", "lines");
        output::print_note(&format!(
            "{lines} with the status {status:?}, which is not known: as any other line, with the status as metadata"
        ));
    }
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
    Err(Error::invalid("PATH", message).hint("Import it with that version of commonbook."))
}
