//! `export --format mem`: memories as a `.mem` bundle, a folder that is complete or absent.

use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::base::limits;
use commonbook::model::caller::Caller;
use commonbook::model::export::{EXPORT_FORMAT, ExportPage, ExportWorkspace};
use commonbook::model::origin::remove_signature;
use commonbook_formats::{FillFile, MemBundleWriter, is_replaceable_bundle};
use indicatif::ProgressBar;
use tempfile::TempDir;

use super::{ExportCommand, export_write_error};
use crate::output::{count_text, print_note};

/// What a bundle took of an export.
#[derive(Debug, Default)]
struct BundleTally {
    memories: u64,
    /// Records that a bundle has no place for, without the first.
    left_out: u64,
}

/// The folder of a bundle while it is written: beside the one that it becomes.
struct BundleDestination {
    target: PathBuf,
    parent: PathBuf,
    folder: TempDir,
}

impl ExportCommand {
    /// Writes the memories of the pages that `page_of` returns as a bundle.
    ///
    /// # Errors
    /// `invalid` if an option has no place in a bundle, or the folder is inside the home; `unavailable` if it
    /// cannot be written; the error of `page_of`.
    pub(super) fn run_bundle(
        &self,
        page_of: impl Fn(&ExportWorkspace) -> Result<ExportPage>,
        caller: &Caller,
        home: &Path,
    ) -> Result<()> {
        for (option, is_set) in [("receipts", self.receipts), ("standing", self.standing)] {
            if is_set {
                let message =
                    format!("--{option} has no place in a .mem bundle: it has memories only");
                return Err(Error::invalid(option, message)
                    .hint("Leave it out, or export lines with --format jsonl."));
            }
        }
        let destination = BundleDestination::open(self.file.as_deref(), home)?;
        let request = ExportWorkspace {
            all_workspaces: self.all_workspaces,
            deleted: self.deleted,
            limit: Some(limits::PAGE_MAX),
            ..ExportWorkspace::default()
        };
        let progress = ProgressBar::new_spinner().with_message("lines");
        let tally = write_bundle(page_of, request, destination.folder.path(), &progress);
        progress.finish_and_clear();
        let BundleTally { memories, left_out } = tally?;
        destination.finish()?;
        let memories = count_text(memories, "memory", "memories");
        let from = match self.all_workspaces {
            true => "all workspaces".to_owned(),
            false => caller.workspace.to_string(),
        };
        print_note(&format!("exported {memories} from {from}"));
        if left_out > 0 {
            let records = count_text(left_out, "other record has", "other records have");
            print_note(&format!(
                "{records} no place in a .mem bundle (cases, sessions, entities, handoffs …); --format jsonl has \
                 them"
            ));
        }
        Ok(())
    }
}

/// Writes the memories of every page into an empty folder.
fn write_bundle(
    page_of: impl Fn(&ExportWorkspace) -> Result<ExportPage>,
    mut request: ExportWorkspace,
    folder: &Path,
    progress: &ProgressBar,
) -> Result<BundleTally> {
    let scratch = || tempfile::tempfile_in(folder).map_err(export_write_error);
    let mut writer = MemBundleWriter::new(scratch()?, scratch()?);
    let mut tally = BundleTally::default();
    loop {
        let mut page = page_of(&request)?;
        // Other programs read a bundle, and no home takes it for its own.
        page.lines.iter_mut().for_each(remove_signature);
        for line in &page.lines {
            let record = line.get("record").and_then(|record| record.as_str());
            match (writer.add(line).map_err(bundle_write_error)?, record) {
                (true, None) => tally.memories += 1,
                (false, Some(record)) if record != "export" => tally.left_out += 1,
                _ => {}
            }
            progress.inc(1);
        }
        request.cursor = page.next;
        if request.cursor.is_none() {
            break;
        }
    }
    let generator = format!("commonbook/{}", env!("CARGO_PKG_VERSION"));
    let items = folder.join("items");
    fs::create_dir(&items).map_err(export_write_error)?;
    let create = |name: &str, fill: FillFile<'_>| write_file(&folder.join(name), fill);
    writer.finish(&generator, EXPORT_FORMAT, create).map_err(export_write_error)?;
    for folder in [&*items, folder] {
        // A system that cannot sync a folder still has its files.
        drop(File::open(folder).and_then(|folder| folder.sync_all()));
    }
    Ok(tally)
}

/// Writes a file of a bundle, synced to disk.
fn write_file(path: &Path, fill: FillFile<'_>) -> io::Result<()> {
    let mut out = BufWriter::new(File::create_new(path)?);
    fill(&mut out)?;
    out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
}

impl BundleDestination {
    /// # Errors
    /// `invalid` without a folder's name, or with one inside the home; `unavailable` if the folder cannot be
    /// written, or has other files than those of a bundle.
    fn open(path: Option<&Path>, home: &Path) -> Result<Self> {
        let Some(path) = path.filter(|path| *path != Path::new("-")) else {
            return Err(Error::invalid("file", "a .mem bundle is a folder; expected its name")
                .hint("Name it: commonbook export --format mem my-memory.mem"));
        };
        let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let shown = target.display();
        if target.exists() && !target.is_dir() {
            let message = format!("{shown} is a file; a .mem bundle is a folder");
            return Err(Error::new(ErrorKind::Unavailable, message).hint("Name another folder."));
        }
        if target.is_dir() && !is_replaceable_bundle(&target) {
            let message = format!("the folder {shown} has other files than those of a .mem bundle");
            return Err(Error::new(ErrorKind::Unavailable, message).hint(format!(
                "Name a new folder, such as {}.",
                target.join("memory.mem").display()
            )));
        }
        let parent = target.parent().filter(|folder| !folder.as_os_str().is_empty());
        let parent = parent.unwrap_or(Path::new("."));
        if !parent.exists() {
            let message = format!("the folder {} does not exist", parent.display());
            return Err(Error::new(ErrorKind::Unavailable, message)
                .hint("Create the folder, or name another."));
        }
        let parent = fs::canonicalize(parent).map_err(export_write_error)?;
        if fs::canonicalize(home).is_ok_and(|home| parent.starts_with(home)) {
            return Err(Error::invalid("file", format!("{shown} is inside the home folder"))
                .hint("Name a folder outside the home folder."));
        }
        let folder = temporary_folder(&parent)?;
        Ok(Self { target, parent, folder })
    }

    /// Moves the bundle, which is synced to disk, to its place. A bundle that is there moves away first, and
    /// comes back if the new one cannot take its place.
    fn finish(self) -> Result<()> {
        let Self { target, parent, folder } = self;
        let old = match target.is_dir() {
            true => {
                let old = temporary_folder(&parent)?;
                fs::rename(&target, old.path().join("old")).map_err(export_write_error)?;
                Some(old)
            }
            false => None,
        };
        if let Err(error) = fs::rename(folder.path(), &target) {
            if let Some(old) = old {
                fs::rename(old.path().join("old"), &target).map_err(export_write_error)?;
            }
            return Err(export_write_error(error));
        }
        // Syncing the folder makes the new name durable; a system without it still has the bundle.
        drop(File::open(&parent).and_then(|folder| folder.sync_all()));
        Ok(())
    }
}

fn temporary_folder(parent: &Path) -> Result<TempDir> {
    tempfile::Builder::new().prefix(".commonbook-").tempdir_in(parent).map_err(export_write_error)
}

/// The error of a bundle that could not be written, or is larger than its readers accept.
fn bundle_write_error(error: io::Error) -> Error {
    if error.kind() != io::ErrorKind::FileTooLarge {
        return export_write_error(error);
    }
    Error::new(ErrorKind::TooLarge, error.to_string())
        .hint("Export one workspace at a time, or lines with --format jsonl.")
        .with_cause(error)
}
