//! `export`: all that the caller may read, one JSON object a line, as `import` reads it, or such lines in an archive.

use std::fs::{self, File};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use commonbook::base::clock::{Clock, SystemClock};
use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::base::limits;
use commonbook::model::caller::Caller;
use commonbook::model::export::{ExportPage, ExportWorkspace};
use commonbook_archive::{ArchiveOrigin, ArchiveWriter, Encryption};
use indicatif::ProgressBar;
use tempfile::NamedTempFile;

use super::archive::ArchiveEncryptionOptions;
use crate::calls::output::{count_text, print_note};

/// The format of an export.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    /// One JSON object a line.
    #[default]
    Jsonl,
    /// One file with these lines, counted and with checksums; encrypted, if you say for whom.
    Archive,
}

/// Exports all that you may read of the workspace, as lines that `commonbook import` reads: memories with
/// their earlier revisions, cases, sessions, entities, relations, decisions, handoffs and checkpoints.
#[derive(Debug, clap::Args)]
pub(crate) struct ExportCommand {
    /// Format of the export
    #[arg(long, value_enum, default_value_t)]
    format: ExportFormat,
    #[command(flatten)]
    encryption: ArchiveEncryptionOptions,
    /// Export every workspace
    #[arg(long)]
    all_workspaces: bool,
    /// Export the receipts of contexts too
    #[arg(long)]
    receipts: bool,
    /// Export deleted memories that can still be restored too
    #[arg(long)]
    deleted: bool,
    /// Export the standing memory files of the home too
    #[arg(long)]
    standing: bool,
    /// File to write, with mode 0600 and only if the export completes; - or none writes standard output
    file: Option<PathBuf>,
}

/// The destination of an export.
enum ExportDestination {
    /// Standard output.
    Stdout,
    /// A terminal, a pipe or another device, written directly.
    Device(File),
    /// A temporary file beside the target, which it replaces at the end.
    Replacement { file: NamedTempFile, path: PathBuf },
}

impl ExportCommand {
    /// Writes what `page_of` returns, page by page.
    ///
    /// # Errors
    /// `invalid` if the file is inside the home, an archive would go to a terminal, or an option does not fit the
    /// format; `unavailable` if it cannot be written; the error of `page_of`.
    pub(crate) fn run(
        &self,
        page_of: impl Fn(&ExportWorkspace) -> Result<ExportPage>,
        caller: &Caller,
        home: &Path,
    ) -> Result<()> {
        let encryption = self.read_encryption()?;
        let mut destination = match &self.file {
            None => ExportDestination::Stdout,
            Some(path) if path == Path::new("-") => ExportDestination::Stdout,
            Some(path) => ExportDestination::open(path, home)?,
        };
        if self.format == ExportFormat::Archive && destination.is_terminal() {
            return Err(Error::invalid("file", "an archive is not a text for a terminal")
                .hint("Name a file, or redirect standard output."));
        }
        let progress = match &destination {
            ExportDestination::Replacement { .. } => {
                ProgressBar::new_spinner().with_message("lines")
            }
            _ => ProgressBar::hidden(),
        };
        let request = ExportWorkspace {
            all_workspaces: self.all_workspaces,
            receipts: self.receipts,
            deleted: self.deleted,
            standing: self.standing,
            limit: Some(limits::PAGE_MAX),
            ..ExportWorkspace::default()
        };
        let written = match self.format == ExportFormat::Archive {
            false => write_lines(&page_of, request, &mut destination, &progress),
            true => {
                write_archive(&page_of, request, &mut destination, encryption.as_ref(), &progress)
            }
        };
        progress.finish_and_clear();
        match written {
            Ok(tally) => {
                destination.finish()?;
                let memories = count_text(tally.memories, "memory", "memories");
                let records = count_text(tally.records, "other record", "other records");
                let from = match self.all_workspaces {
                    true => count_text(tally.workspaces, "workspace", "workspaces"),
                    false => caller.workspace.to_string(),
                };
                print_note(&format!("exported {memories} from {from}, and {records}"));
                Ok(())
            }
            // A reader that closes its pipe early has enough lines; half an archive is of no use.
            Err(ExportError::Output(error))
                if error.kind() == io::ErrorKind::BrokenPipe
                    && self.format == ExportFormat::Jsonl =>
            {
                Ok(())
            }
            Err(ExportError::Output(error)) => Err(export_write_error(error)),
            Err(ExportError::Page(error)) => Err(error),
        }
    }

    fn read_encryption(&self) -> Result<Option<Encryption>> {
        if self.format != ExportFormat::Archive && self.encryption.is_given() {
            return Err(Error::invalid("--format", "only an archive can be encrypted")
                .hint("Add --format archive."));
        }
        self.encryption.read()
    }
}

/// Why an export ended early.
enum ExportError {
    /// A page could not be read.
    Page(Error),
    /// The output could not be written.
    Output(io::Error),
}

impl From<io::Error> for ExportError {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

/// What an export has written.
#[derive(Debug, Default)]
struct ExportTally {
    memories: u64,
    /// Other lines, without the first.
    records: u64,
    workspaces: u64,
}

/// Writes an export as lines.
fn write_lines(
    page_of: impl Fn(&ExportWorkspace) -> Result<ExportPage>,
    request: ExportWorkspace,
    destination: &mut ExportDestination,
    progress: &ProgressBar,
) -> std::result::Result<ExportTally, ExportError> {
    destination.write(|out| {
        let mut out = BufWriter::new(out);
        let tally = write_all(page_of, request, progress, |line| {
            out.write_all(line)?;
            out.write_all(b"\n")
        })?;
        out.flush()?;
        Ok(tally)
    })
}

/// Writes an export as an archive, when all its lines are there.
fn write_archive(
    page_of: impl Fn(&ExportWorkspace) -> Result<ExportPage>,
    request: ExportWorkspace,
    destination: &mut ExportDestination,
    encryption: Option<&Encryption>,
    progress: &ProgressBar,
) -> std::result::Result<ExportTally, ExportError> {
    let mut archive = ArchiveWriter::new(destination.staging()?)?;
    let tally = write_all(page_of, request, progress, |line| archive.add_line(line))?;
    let written_by = format!("commonbook {}", env!("CARGO_PKG_VERSION"));
    let origin = ArchiveOrigin { written_at: SystemClock.now(), written_by };
    destination.write(|out| archive.finish(origin, encryption, out))?;
    Ok(tally)
}

/// Writes every line of every page.
fn write_all(
    page_of: impl Fn(&ExportWorkspace) -> Result<ExportPage>,
    mut request: ExportWorkspace,
    progress: &ProgressBar,
    mut write_line: impl FnMut(&[u8]) -> io::Result<()>,
) -> std::result::Result<ExportTally, ExportError> {
    let mut tally = ExportTally::default();
    let mut text = Vec::new();
    loop {
        let page = page_of(&request).map_err(ExportError::Page)?;
        for line in &page.lines {
            text.clear();
            serde_json::to_writer(&mut text, line).map_err(io::Error::from)?;
            write_line(&text)?;
            match line.get("record").and_then(|record| record.as_str()) {
                None => tally.memories += 1,
                Some("export") => {
                    let workspaces = line["value"]["workspaces"].as_array();
                    tally.workspaces = workspaces.map_or(0, |workspaces| workspaces.len() as u64);
                }
                Some(_) => tally.records += 1,
            }
            progress.inc(1);
        }
        request.cursor = page.next;
        if request.cursor.is_none() {
            return Ok(tally);
        }
    }
}

impl ExportDestination {
    /// Opens the destination; for a file, the temporary file beside it.
    ///
    /// # Errors
    /// `invalid` if the file is inside the home; `unavailable` if it cannot be written.
    fn open(path: &Path, home: &Path) -> Result<Self> {
        // A link stays: its target is replaced.
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let special = fs::metadata(&path).is_ok_and(|found| !found.is_file() && !found.is_dir());
        if special {
            return File::options()
                .write(true)
                .open(&path)
                .map(Self::Device)
                .map_err(export_write_error);
        }
        if path.is_dir() {
            let message = format!("{} is a folder; expected the name of a file", path.display());
            return Err(Error::new(ErrorKind::Unavailable, message).hint(format!(
                "Name a file in it, such as {}.",
                path.join("export.jsonl").display()
            )));
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        if !folder.exists() {
            let message = format!("the folder {} does not exist", folder.display());
            return Err(Error::new(ErrorKind::Unavailable, message)
                .hint("Create the folder, or name another."));
        }
        let folder = fs::canonicalize(folder).map_err(export_write_error)?;
        if fs::canonicalize(home).is_ok_and(|home| folder.starts_with(home)) {
            let message = format!("{} is inside the home folder", path.display());
            return Err(Error::invalid("file", message)
                .hint("Name a file outside the home folder, or redirect standard output."));
        }
        let mut builder = tempfile::Builder::new();
        let file =
            builder.prefix(".commonbook-").tempfile_in(folder).map_err(export_write_error)?;
        Ok(Self::Replacement { file, path })
    }

    fn write<T>(&mut self, write: impl FnOnce(&mut dyn Write) -> T) -> T {
        match self {
            Self::Stdout => write(&mut io::stdout().lock()),
            Self::Device(file) => write(file),
            Self::Replacement { file, .. } => write(file.as_file_mut()),
        }
    }

    /// A file without a name, in which lines wait: beside the target, where there is room for them.
    fn staging(&self) -> io::Result<File> {
        match self {
            Self::Replacement { file, .. } => {
                tempfile::tempfile_in(file.path().parent().unwrap_or(Path::new(".")))
            }
            Self::Stdout | Self::Device(_) => tempfile::tempfile(),
        }
    }

    fn is_terminal(&self) -> bool {
        match self {
            Self::Stdout => io::stdout().is_terminal(),
            Self::Device(file) => file.is_terminal(),
            Self::Replacement { .. } => false,
        }
    }

    /// Moves the temporary file, synced to disk, to the target path. Its mode is 0600.
    fn finish(self) -> Result<()> {
        let Self::Replacement { file, path } = self else { return Ok(()) };
        file.as_file().sync_all().map_err(export_write_error)?;
        file.persist(&path).map_err(|error| export_write_error(error.error))?;
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        // Syncing the folder makes the new name durable; a system without it still has the file.
        drop(File::open(folder.unwrap_or(Path::new("."))).and_then(|folder| folder.sync_all()));
        Ok(())
    }
}

fn export_write_error(error: io::Error) -> Error {
    let hint = match error.kind() {
        io::ErrorKind::InvalidInput => "Export lines: leave --format archive out.",
        _ => "Free disk space, or write to another file. An existing file was not changed.",
    };
    Error::new(ErrorKind::Unavailable, format!("cannot write the export: {error}"))
        .hint(hint)
        .with_cause(error)
}
