//! `export`: every memory that the caller may read, one JSON object a line, as `import` reads it.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::base::limits;
use commonbook::base::page::Page;
use commonbook::model::caller::Caller;
use commonbook::model::memory::{ListMemories, ListOrder};
use indicatif::ProgressBar;
use serde::Serialize;
use tempfile::NamedTempFile;

use super::import::ImportFormat;
use crate::output::{count_text, print_note};

/// Exports all memories of the workspace that you may read, oldest first, as lines that
/// `commonbook import` reads.
#[derive(Debug, clap::Args)]
pub(crate) struct ExportCommand {
    /// Format of the lines
    #[arg(long, value_enum, default_value_t)]
    format: ImportFormat,
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
    /// Writes the memories that `list` returns, page by page.
    ///
    /// # Errors
    /// `invalid` if the file is inside the home; `unavailable` if it cannot be written; the error of
    /// `list`.
    pub(crate) fn run<M: Serialize>(
        &self,
        list: impl Fn(&ListMemories) -> Result<Page<M>>,
        caller: &Caller,
        home: &Path,
    ) -> Result<()> {
        let ImportFormat::Jsonl = self.format;
        let mut destination = match &self.file {
            None => ExportDestination::Stdout,
            Some(path) if path == Path::new("-") => ExportDestination::Stdout,
            Some(path) => ExportDestination::open(path, home)?,
        };
        let progress = match &destination {
            ExportDestination::Replacement { .. } => {
                ProgressBar::new_spinner().with_message("memories")
            }
            _ => ProgressBar::hidden(),
        };
        let written = destination.write(|out| write_all(&list, out, &progress));
        progress.finish_and_clear();
        match written {
            Ok(count) => {
                destination.finish()?;
                let memories = count_text(count, "memory", "memories");
                print_note(&format!("exported {memories} from {}", caller.workspace));
                Ok(())
            }
            // A reader that closes its pipe early has enough lines.
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

/// Writes each memory as a line; returns their number.
fn write_all<M: Serialize>(
    list: impl Fn(&ListMemories) -> Result<Page<M>>,
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
        let page = list(&request).map_err(ExportError::Memories)?;
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
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder =
            fs::canonicalize(folder.unwrap_or(Path::new("."))).map_err(export_write_error)?;
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
    Error::new(ErrorKind::Unavailable, format!("cannot write the export: {error}"))
        .hint("Free disk space, or write to another file. An existing file was not changed.")
        .with_cause(error)
}
