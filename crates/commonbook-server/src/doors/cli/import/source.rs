//! Where an import reads its lines: a file of lines, an archive, or the files of another program.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::base::home_key::HomeKey;
use commonbook::base::input;
use commonbook::model::import::ImportLine;
use commonbook::model::origin::TextOrigin;
use commonbook_formats::{
    JsonTextError, JsonTexts, LINE_BYTES_MAX, Omission, ReplacementCount, RowOutcome, SourceFormat,
    SourceRows, recognise, rows_of_value,
};
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::{Map, Value, json};

use super::REPORTED_LINES_MAX;
use super::archive::{
    LineInput, description, is_like_archive, is_open_pipe, open_lines, refuse_keys,
};
use super::format::{ARCHIVE_NAME, ImportFormat, read_error};
use super::own_files::OwnFiles;
use super::unread::UnreadFiles;
use super::zipped::{SourcePath, ZipFolder};
use crate::calls::output;
use crate::doors::cli::archive::ArchiveKeyOptions;
use crate::settings::project::place_outside;

/// Where a line stands.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LinePlace {
    /// The file, where the path is of another program.
    pub file: Option<String>,
    pub line: Option<usize>,
    /// Its number among the rows, where its line has other rows too, or is the first of several.
    pub row: Option<usize>,
}

impl LinePlace {
    /// The place as fields of a JSON report, with those of `fields`.
    pub(super) fn report(&self, fields: Value) -> Value {
        let mut report = Map::new();
        report.extend(self.file.as_ref().map(|file| ("file".to_owned(), json!(file))));
        report.extend(self.line.map(|line| ("line".to_owned(), json!(line))));
        report.extend(self.row.map(|row| ("row".to_owned(), json!(row))));
        if let Value::Object(fields) = fields {
            report.extend(fields);
        }
        Value::Object(report)
    }
}

impl fmt::Display for LinePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let (Some(row), Some(line)) = (self.row, self.line) {
            return write!(f, "row {row} (line {line})");
        }
        match (&self.file, self.line) {
            (Some(file), Some(line)) => write!(f, "{file}, line {line}"),
            (Some(file), None) => f.write_str(file),
            (None, Some(line)) => write!(f, "line {line}"),
            (None, None) => f.write_str("the file"),
        }
    }
}

/// A line with its place; an error says what is wrong with it.
pub(super) struct SourceLine {
    pub place: LinePlace,
    pub value: Result<Value>,
    /// Where it comes from, before its signature is read.
    pub origin: TextOrigin,
}

impl SourceLine {
    const fn of(place: LinePlace, value: Result<Value>) -> Self {
        Self { place, value, origin: TextOrigin::File }
    }

    /// What is imported.
    ///
    /// # Errors
    /// `invalid` for a line without a text.
    pub(super) fn parse(
        value: Value,
        origin: TextOrigin,
        key: Option<&HomeKey>,
    ) -> Result<ImportLine> {
        match origin {
            TextOrigin::OwnFile => ImportLine::of_own_file(value),
            TextOrigin::Program => ImportLine::of_program(value, key),
            _ => ImportLine::of_file(value, key),
        }
    }
}

/// The lines of a path, in order.
pub(super) struct ImportSource {
    /// The format, where the path is of another program.
    pub format: Option<SourceFormat>,
    is_archive: bool,
    reader: SourceReader,
    progress: ProgressBar,
    /// What is left out on purpose, since it was last asked for.
    left_out: Vec<Omission>,
    /// Lines that were found so far, those that are left out or refused included.
    found: u64,
    /// The files that are not read.
    unread: UnreadFiles,
    /// The files that are the person's own, if a person imports files of instructions.
    own: Option<OwnFiles>,
    /// Lines of these so far.
    own_lines: u64,
    /// Where a zip file is unpacked; the folder goes with the source.
    zip: Option<ZipFolder>,
}

enum SourceReader {
    Lines(LineReader),
    Rows(Box<SourceRows>),
}

/// Reads rows of plain JSON: a value a line, or as people save them.
struct LineReader {
    path: PathBuf,
    texts: JsonTexts<Box<dyn BufRead>>,
    /// What was replaced so far, where the lines are those of a file.
    replaced: Option<ReplacementCount>,
    /// Further rows of a value.
    pending: VecDeque<SourceLine>,
    rows: usize,
}

impl LineReader {
    fn next_line(&mut self) -> Result<Option<SourceLine>> {
        loop {
            if let Some(line) = self.pending.pop_front() {
                return Ok(Some(line));
            }
            let text = self.texts.next_text().map_err(|error| read_error(&self.path, error))?;
            let Some(text) = text else { return Ok(None) };
            let values = match text.bytes {
                Ok(bytes) => input::json(&bytes).map(rows_of_value),
                Err(JsonTextError::NotJson) => input::json(b"").map(rows_of_value),
                Err(JsonTextError::TooLong) => return Err(long_line(&self.path, text.line)),
            };
            let values = match values {
                Ok(values) => values.into_iter().map(Ok).collect(),
                Err(error) => vec![Err(about_line(error))],
            };
            let is_line = text.is_line && values.len() == 1;
            for value in values {
                self.rows += 1;
                let row = (!is_line).then_some(self.rows);
                let place = LinePlace { file: None, line: Some(text.line), row };
                self.pending.push_back(SourceLine::of(place, value));
            }
        }
    }
}

impl ImportSource {
    /// Opens a path in this format. With `auto` it says what the path looks like.
    ///
    /// # Errors
    /// `invalid` if the path cannot be read, or is a folder of no known format.
    pub(super) fn open(
        path: &Path,
        format: ImportFormat,
        keys: &ArchiveKeyOptions,
        is_quiet: bool,
    ) -> Result<Self> {
        if let Some(place) = place_outside(path) {
            let (path, place) = (path.display(), place.display());
            let message = format!("{path} is a link that leads out of its project, to {place}");
            return Err(Error::invalid("PATH", message)
                .hint("If you know that file and want it, name it itself."));
        }
        let SourcePath { path: opened, mut zip } = SourcePath::of(path)?;
        let (shown, path) = (path, opened.as_path());
        let is_stream = path == Path::new("-") || is_open_pipe(path);
        let program = match format {
            ImportFormat::Jsonl | ImportFormat::Archive => None,
            ImportFormat::Program(_) if is_stream => {
                let message = "a stream has lines of JSON or an archive only";
                return Err(Error::invalid("--format", message)
                    .hint("Name a file or a folder, or leave --format out."));
            }
            ImportFormat::Program(format) => Some(format),
            ImportFormat::Auto if is_stream || is_like_archive(path) => None,
            ImportFormat::Auto if commonbook_vault::settings::is_vault(path) => {
                let path = path.display();
                return Err(Error::invalid("PATH", format!("{path} is a vault of Commonbook"))
                    .hint(format!("Run `commonbook rebuild --from-vault {path}`.")));
            }
            ImportFormat::Auto => recognised(path, shown, is_quiet)?,
        };
        let mut unread =
            zip.as_mut().map(|zip| std::mem::take(&mut zip.unread)).unwrap_or_default();
        let (reader, progress, is_archive) = match program {
            Some(program) => {
                refuse_keys(path, keys)?;
                let rows = commonbook_formats::open(program, path)
                    .map_err(|error| read_error(path, error))?;
                unread.extend(rows.unread().iter().cloned());
                let progress = bar(rows.bytes_total());
                (SourceReader::Rows(Box::new(rows)), progress, false)
            }
            None => {
                let LineInput { lines, bytes, manifest, replaced } =
                    open_lines(path, format, keys)?;
                if let Some(manifest) = manifest.as_ref().filter(|_| !is_quiet) {
                    output::print_note(&description(path, manifest));
                }
                let progress = bytes.map_or_else(ProgressBar::new_spinner, bar);
                let counted: Box<dyn BufRead> = Box::new(BufReader::new(progress.wrap_read(lines)));
                let (texts, pending) = (JsonTexts::new(counted), VecDeque::new());
                let path = path.to_owned();
                let lines = LineReader { path, texts, replaced, pending, rows: 0 };
                (SourceReader::Lines(lines), progress, manifest.is_some())
            }
        };
        let left_out = Vec::new();
        let unread = UnreadFiles::new(unread);
        Ok(Self {
            format: program,
            is_archive,
            reader,
            progress,
            left_out,
            found: 0,
            unread,
            own: None,
            own_lines: 0,
            zip,
        })
    }

    /// Lets lines of the person's own files count as the person's, if these are files of instructions.
    pub(super) fn admit_own_files(&mut self, path: &Path, user_home: Option<&Path>) {
        let of_person = self.format == Some(SourceFormat::Instructions) && self.zip.is_none();
        self.own = user_home.filter(|_| of_person).and_then(|home| OwnFiles::of(path, home));
    }

    /// The lines of the person's own files so far.
    pub(super) const fn own_lines(&self) -> u64 {
        self.own_lines
    }

    /// The name of the format, if it is not that of lines.
    pub(super) fn format_name(&self) -> Option<&'static str> {
        let archive = self.is_archive.then_some(ARCHIVE_NAME);
        self.format.map(SourceFormat::name).or(archive)
    }

    /// The next lines, at most this many; none at the end.
    ///
    /// # Errors
    /// `invalid` if a file of lines cannot be read any further.
    pub(super) fn next_chunk(&mut self, lines_max: usize) -> Result<VecDeque<SourceLine>> {
        let mut chunk = VecDeque::new();
        while chunk.len() < lines_max {
            let Some(line) = self.next_line()? else { break };
            self.found += 1;
            chunk.push_back(line);
        }
        Ok(chunk)
    }

    /// What was left out on purpose since the last call.
    pub(super) fn take_left_out(&mut self) -> Vec<Omission> {
        std::mem::take(&mut self.left_out)
    }

    /// The lines that were found so far: each is imported, left out or refused.
    pub(super) const fn found(&self) -> u64 {
        self.found
    }

    /// The files that are not read.
    pub(super) const fn unread(&self) -> &UnreadFiles {
        &self.unread
    }

    /// The messages of conversations that were read; `None` if the source has none.
    pub(super) fn messages_read(&self) -> Option<u64> {
        match &self.reader {
            SourceReader::Rows(rows) => Some(rows.messages_read()).filter(|count| *count > 0),
            SourceReader::Lines(_) => None,
        }
    }

    /// The files in which bytes that are not UTF-8 became U+FFFD, each with how many times.
    pub(super) fn replaced(&self) -> BTreeMap<String, u64> {
        match &self.reader {
            SourceReader::Rows(rows) => rows.replaced(),
            SourceReader::Lines(lines) => {
                let file = lines.path.file_name().unwrap_or_default().to_string_lossy();
                let count = lines.replaced.as_ref().map_or(0, ReplacementCount::get);
                (count > 0).then(|| (file.into_owned(), count)).into_iter().collect()
            }
        }
    }

    /// Says what was read, and what was not.
    pub(super) fn print_reading(&self) {
        let replaced = self.replaced();
        for (file, count) in replaced.iter().take(REPORTED_LINES_MAX) {
            let letters = output::count_text(*count, "letter is", "letters are");
            output::print_note(&format!(
                "{file}: not UTF-8: {letters} U+FFFD now; save the file as UTF-8 to have what was there"
            ));
        }
        if replaced.len() > REPORTED_LINES_MAX {
            let more = replaced.len() - REPORTED_LINES_MAX;
            output::print_note(&format!("… and {more} more that are not UTF-8; --json lists all"));
        }
        if self.own_lines > 0 {
            let lines = output::count_text(self.own_lines, "line is", "lines are");
            output::print_note(&format!("{lines} of your own files: yours, and not for review"));
        }
        self.unread.print();
        if let Some(count) = self.messages_read() {
            let messages = output::count_text(count, "message", "messages");
            output::print_note(&format!(
                "{messages} read; of a conversation what is to be remembered, decisions and corrections are lines"
            ));
        }
    }

    pub(super) fn finish(&self) {
        self.progress.finish_and_clear();
    }

    fn next_line(&mut self) -> Result<Option<SourceLine>> {
        match &mut self.reader {
            SourceReader::Lines(lines) => lines.next_line(),
            SourceReader::Rows(rows) => loop {
                let Some(row) = rows.next() else { return Ok(None) };
                self.progress.set_position(rows.bytes_read());
                match row {
                    RowOutcome::Row(row) => {
                        let is_own = self.own.as_mut().is_some_and(|own| own.holds(&row.file));
                        self.own_lines += u64::from(is_own);
                        let place =
                            LinePlace { file: Some(row.file), line: Some(row.line), row: None };
                        let value = Ok(Value::Object(row.value));
                        let origin = match is_own {
                            true => TextOrigin::OwnFile,
                            false => TextOrigin::Program,
                        };
                        return Ok(Some(SourceLine { place, value, origin }));
                    }
                    RowOutcome::Refused(row) => {
                        let place = LinePlace { file: Some(row.file), line: row.line, row: None };
                        let value = Err(Error::new(ErrorKind::Invalid, row.reason));
                        return Ok(Some(SourceLine::of(place, value)));
                    }
                    RowOutcome::LeftOut(left_out) => {
                        self.found += left_out.rows;
                        self.left_out.push(left_out);
                    }
                }
            },
        }
    }
}

/// The error of a line that nothing writes: what comes after it may have no end.
fn long_line(path: &Path, number: usize) -> Error {
    let path = path.display();
    let message = format!("line {number} of {path} has more than {LINE_BYTES_MAX} bytes");
    Error::invalid("PATH", message)
        .hint("Expected an export, or one memory a line. The lines before it are imported.")
}

/// The format that a path looks like; `None` for lines.
fn recognised(path: &Path, shown: &Path, is_quiet: bool) -> Result<Option<SourceFormat>> {
    let found = recognise(path).map_err(|error| read_error(path, error))?;
    let Some(found) = found else {
        if !path.is_dir() {
            return Ok(None);
        }
        let message = format!("{} has no files of a known format", shown.display());
        return Err(
            Error::invalid("PATH", message).hint("Name a file, or name the format with --format.")
        );
    };
    if !is_quiet {
        let description = found.format.description();
        let files = output::count_text(found.files as u64, "file", "files");
        output::print_note(&format!("{} looks like {description}: {files}", shown.display()));
        for other in found.others {
            let (description, name) = (other.description(), other.name());
            output::print_note(&format!(
                "it also looks like {description}; import that with --format {name}"
            ));
        }
    }
    Ok(Some(found.format))
}

fn bar(bytes: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:40} {bytes}/{total_bytes}, {eta} left")
        .unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(bytes).with_style(style)
}

/// The error of a line that is no JSON.
fn about_line(error: Error) -> Error {
    let message = match error.message.starts_with("the request is not JSON") {
        true => "the line is not JSON; expected an export, or one memory a line".to_owned(),
        false => error.message.replacen("the request", "the line", 1),
    };
    Error { message, ..error }
}
