//! `export`: every memory in sight, one JSON object a line, as `import` takes it.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use commonbook::Commonbook;
use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::base::limits;
use commonbook::model::caller::Caller;
use commonbook::model::memory::{ListMemories, ListOrder};
use indicatif::ProgressBar;
use tempfile::NamedTempFile;

use super::import::ImportFormat;
use crate::output;

/// Writes every memory of the workspace that you may see, oldest first, as lines that `import`
/// takes.
#[derive(Debug, clap::Args)]
pub(crate) struct ExportCommand {
    /// What the lines look like
    #[arg(long, value_enum, default_value_t)]
    format: ImportFormat,
    /// The file, for you alone and whole or not at all; standard output when there is none
    file: Option<PathBuf>,
}

/// Where an export goes.
enum ExportDestination {
    /// Standard output.
    Stdout,
    /// A terminal, a pipe or another device, which is written as it is.
    Device(File),
    /// A file beside the one whose place it takes at the end.
    Beside { file: NamedTempFile, path: PathBuf },
}

impl ExportCommand {
    /// Writes the memories.
    ///
    /// # Errors
    /// `invalid` for a file inside the home; `unavailable` when the file cannot be written.
    pub(crate) fn run(&self, book: &Commonbook, caller: &Caller, home: &Path) -> Result<()> {
        let ImportFormat::Jsonl = self.format;
        let mut destination = match &self.file {
            None => ExportDestination::Stdout,
            Some(path) => ExportDestination::open(path, home)?,
        };
        let progress = match &destination {
            ExportDestination::Beside { .. } => ProgressBar::new_spinner().with_message("memories"),
            _ => ProgressBar::hidden(),
        };
        let written = destination.write(|out| write_all(book, caller, out, &progress));
        progress.finish_and_clear();
        match written {
            Ok(count) => {
                destination.finish()?;
                output::print_note(&format!("{count} exported from {}", caller.workspace));
                Ok(())
            }
            // Who closes the pipe early has seen enough.
            Err(ExportError::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            Err(ExportError::Output(error)) => Err(export_write_error(error)),
            Err(ExportError::Memories(error)) => Err(error),
        }
    }
}

/// Why an export ended early.
enum ExportError {
    /// The memories could not be read.
    Memories(Error),
    /// The output could not be written.
    Output(io::Error),
}

impl From<io::Error> for ExportError {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

/// Writes each memory as a line; answers how many there were.
fn write_all(
    book: &Commonbook,
    caller: &Caller,
    out: &mut dyn Write,
    progress: &ProgressBar,
) -> std::result::Result<u64, ExportError> {
    let mut out = BufWriter::new(out);
    let mut request = ListMemories {
        order: ListOrder::Oldest,
        limit: Some(limits::PAGE_MAX),
        ..ListMemories::default()
    };
    let mut count = 0;
    loop {
        let page = book.list_memories(caller, &request).map_err(ExportError::Memories)?;
        for memory in &page.items {
            serde_json::to_writer(&mut out, memory).map_err(io::Error::from)?;
            out.write_all(b"\n")?;
            count += 1;
            progress.inc(1);
        }
        request.cursor = page.next;
        if request.cursor.is_none() {
            out.flush()?;
            return Ok(count);
        }
    }
}

impl ExportDestination {
    /// Opens what the memories are written to first.
    ///
    /// # Errors
    /// `invalid` for a file inside the home; `unavailable` for one that cannot be written.
    fn open(path: &Path, home: &Path) -> Result<Self> {
        // A link stays one: what it leads to is written.
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let special = fs::metadata(&path).is_ok_and(|found| !found.is_file() && !found.is_dir());
        if special {
            return File::options()
                .write(true)
                .open(&path)
                .map(Self::Device)
                .map_err(export_write_error);
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder =
            fs::canonicalize(folder.unwrap_or(Path::new("."))).map_err(export_write_error)?;
        if fs::canonicalize(home).is_ok_and(|home| folder.starts_with(home)) {
            let message = format!("{} is inside the home, beside the store", path.display());
            return Err(Error::invalid("file", message)
                .hint("Name a file outside of the home folder, or leave it out and redirect."));
        }
        let mut builder = tempfile::Builder::new();
        let file =
            builder.prefix(".commonbook-").tempfile_in(folder).map_err(export_write_error)?;
        Ok(Self::Beside { file, path })
    }

    fn write<T>(&mut self, write: impl FnOnce(&mut dyn Write) -> T) -> T {
        match self {
            Self::Stdout => write(&mut io::stdout().lock()),
            Self::Device(file) => write(file),
            Self::Beside { file, .. } => write(file.as_file_mut()),
        }
    }

    /// Puts the file in its place, once it is on disk. It is its user's alone.
    fn finish(self) -> Result<()> {
        let Self::Beside { file, path } = self else { return Ok(()) };
        file.as_file().sync_all().map_err(export_write_error)?;
        file.persist(&path).map_err(|error| export_write_error(error.error))?;
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        // The name is on disk when its folder is; where a system cannot do that, the file still is.
        drop(File::open(folder.unwrap_or(Path::new("."))).and_then(|folder| folder.sync_all()));
        Ok(())
    }
}

fn export_write_error(error: io::Error) -> Error {
    Error::new(ErrorKind::Unavailable, format!("the export broke off: {error}"))
        .hint("Make room, or write to another file; the file that was there is as it was.")
        .with_cause(error)
}
