//! Zip files, in which other programs send their exports: what a format may read is unpacked into a temporary
//! folder, within limits.

use std::fs::{self, File};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

use commonbook::base::error::{Error, Result};
use commonbook_formats::{SOURCE_FILES_MAX, is_readable_file, recognise};
use tempfile::TempDir;
use zip::ZipArchive;

use super::archive::is_open_pipe;
use super::format::read_error;

/// Bytes that are unpacked of a zip file and those inside it.
pub(super) const ZIP_BYTES_MAX: u64 = 8 << 30;
/// Zip files within each other.
const ZIP_DEPTH_MAX: usize = 2;
/// What is said of a zip file that is deeper.
pub(super) const DEEP_NOTE: &str = " (in two other zip files: unpack it yourself)";
/// How many times its size a file may be in the zip file, beyond [`FREE_BYTES`].
const RATIO_MAX: u64 = 200;
/// Bytes that a file may have however well it is compressed.
const FREE_BYTES: u64 = 64 << 20;
/// The beginning of a zip file.
const START: &[u8] = b"PK\x03\x04";

/// Zip files that are unpacked; the folder goes with them.
pub(super) struct ZipFolder {
    folder: TempDir,
    /// The files that were not unpacked: no format reads them.
    pub unread: Vec<String>,
    files: usize,
    bytes: u64,
}

/// Whether a path is a file that begins like a zip file.
pub(super) fn is_like_zip(path: &Path) -> bool {
    let begins = |mut file: File| {
        let mut start = [0; START.len()];
        file.read_exact(&mut start).is_ok() && start == START
    };
    path.is_file() && File::open(path).is_ok_and(begins)
}

impl ZipFolder {
    /// Unpacks a zip file.
    ///
    /// # Errors
    /// `invalid` if it is no zip file, is encrypted, leads out of its folder, or is larger than allowed.
    pub(super) fn unpack(path: &Path) -> Result<Self> {
        let mut found = Self::create().map_err(|error| read_error(path, error))?;
        let into = found.folder.path().to_owned();
        let unpacked = File::open(path).and_then(|file| found.unpack_into(file, &into, "", 1));
        unpacked.map_err(|error| read_error(path, error))?;
        found.unread.sort_unstable();
        Ok(found)
    }

    /// Unpacks the zip files of a folder, each into a folder of its name.
    ///
    /// # Errors
    /// As [`ZipFolder::unpack`].
    fn unpack_all(paths: &[PathBuf]) -> Result<Self> {
        let [first, ..] = paths else { return Err(Error::invalid("PATH", "no zip file")) };
        let mut found = Self::create().map_err(|error| read_error(first, error))?;
        for path in paths {
            let name = path.file_name().unwrap_or_default();
            let (into, prefix) = (found.path().join(name), format!("{}/", name.to_string_lossy()));
            let unpacked =
                File::open(path).and_then(|file| found.unpack_into(file, &into, &prefix, 1));
            unpacked.map_err(|error| read_error(path, error))?;
        }
        Ok(found)
    }

    fn create() -> io::Result<Self> {
        Ok(Self { folder: tempfile::tempdir()?, unread: Vec::new(), files: 0, bytes: 0 })
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    fn unpack_into(
        &mut self,
        file: impl Read + Seek,
        into: &Path,
        prefix: &str,
        depth: usize,
    ) -> io::Result<()> {
        let mut archive = ZipArchive::new(file).map_err(io::Error::other)?;
        for index in 0..archive.len() {
            let mut entry = archive.by_index(index).map_err(io::Error::other)?;
            if entry.is_dir() {
                continue;
            }
            let mut name = format!("{prefix}{}", entry.name().map_err(io::Error::other)?);
            let Some(relative) = entry.enclosed_name() else {
                return Err(io::Error::other(format!("{name:?} leads out of the zip file")));
            };
            self.files += 1;
            if self.files > SOURCE_FILES_MAX {
                let message = format!("the zip file has more than {SOURCE_FILES_MAX} files");
                return Err(io::Error::other(message));
            }
            let is_zip = name.to_lowercase().ends_with(".zip") && depth < ZIP_DEPTH_MAX;
            if name.to_lowercase().ends_with(".zip") && !is_zip {
                // A zip file has no other reason.
                name.push_str(DEEP_NOTE);
            }
            if entry.is_symlink() || !(is_zip || is_readable_file(&name)) {
                self.unread.push(name);
                continue;
            }
            let allowed = entry.compressed_size().saturating_mul(RATIO_MAX).max(FREE_BYTES);
            let target = into.join(&relative);
            self.write_file(&mut entry, &target, allowed)?;
            if is_zip {
                let inner = File::open(&target)?;
                fs::remove_file(&target)?;
                self.unpack_into(inner, &target, &format!("{name}/"), depth + 1)?;
            }
        }
        Ok(())
    }

    /// Writes a file that is not there yet.
    fn write_file(
        &mut self,
        source: &mut impl Read,
        target: &Path,
        allowed: u64,
    ) -> io::Result<()> {
        let allowed = allowed.min(ZIP_BYTES_MAX - self.bytes);
        fs::create_dir_all(target.parent().unwrap_or(target))?;
        let mut file = File::create_new(target)?;
        let written = io::copy(&mut source.take(allowed + 1), &mut file)?;
        file.flush()?;
        self.bytes += written;
        if written > allowed {
            let name = target.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let message = format!(
                "{name} is larger than a zip file of an export has it; expected at most {ZIP_BYTES_MAX} \
                 bytes in all, and {RATIO_MAX} times the compressed size of a file"
            );
            return Err(io::Error::other(message));
        }
        Ok(())
    }
}

/// The path from which an import reads, and the zip files that it is unpacked of.
pub(super) struct SourcePath {
    pub path: PathBuf,
    pub zip: Option<ZipFolder>,
}

impl SourcePath {
    /// Opens a path. A zip file is unpacked, and so are the zip files of a folder that has nothing else to read:
    /// such is the folder into which people save the export of a chat.
    ///
    /// # Errors
    /// `invalid` if the path is neither a file nor a folder, and as [`ZipFolder::unpack`].
    pub(super) fn of(path: &Path) -> Result<Self> {
        if is_standard_input(path) {
            return Ok(Self { path: PathBuf::from("-"), zip: None });
        }
        if is_open_pipe(path) {
            return Ok(Self { path: path.to_owned(), zip: None });
        }
        check_kind(path)?;
        let unpacked = match path.is_dir() {
            true => zip_files(path).map_err(|error| read_error(path, error))?,
            false if is_like_zip(path) => Some(ZipFolder::unpack(path)),
            false => None,
        };
        let Some(unpacked) = unpacked else {
            return Ok(Self { path: path.to_owned(), zip: None });
        };
        let zip = unpacked.map_err(|error: Error| {
            error.hint("Unpack the file yourself, and import the folder.")
        })?;
        Ok(Self { path: zip.path().to_owned(), zip: Some(zip) })
    }
}

/// Whether a path names standard input.
fn is_standard_input(path: &Path) -> bool {
    ["-", "/dev/stdin", "/dev/fd/0"].iter().any(|name| path == Path::new(name))
}

/// Refuses what is neither a file nor a folder: a device has no end, and a pipe may never begin.
fn check_kind(path: &Path) -> Result<()> {
    let kind = fs::metadata(path).map_err(|error| read_error(path, error))?;
    if kind.is_file() || kind.is_dir() {
        return Ok(());
    }
    let path = path.display();
    let message =
        format!("{path} is neither a file nor a folder; expected one, or - for standard input");
    Err(Error::invalid("PATH", message)
        .hint("Pipe what a program writes: `… | commonbook import -`."))
}

/// The zip files of a folder, unpacked, if it has no other files that a format reads.
fn zip_files(folder: &Path) -> io::Result<Option<Result<ZipFolder>>> {
    let mut entries = fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    let mut others = Vec::new();
    let mut zips = Vec::new();
    for entry in entries {
        let is_file = entry.file_type()?.is_file();
        match is_file && is_like_zip(&entry.path()) {
            true => zips.push(entry.path()),
            false => {
                let name = entry.file_name().to_string_lossy().into_owned();
                others.push(if is_file { name } else { format!("{name}/") });
            }
        }
    }
    if zips.is_empty() || recognise(folder)?.is_some() {
        return Ok(None);
    }
    Ok(Some(ZipFolder::unpack_all(&zips).map(|mut zip| {
        zip.unread.extend(others);
        zip
    })))
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use zip::write::SimpleFileOptions;
    use zip::{CompressionMethod, ZipWriter};

    use super::*;

    fn zipped(files: &[(&str, &[u8])]) -> Vec<u8> {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
        for (name, bytes) in files {
            writer.start_file(*name, options).expect("a file");
            writer.write_all(bytes).expect("its bytes");
        }
        writer.finish().expect("a zip file").into_inner()
    }

    fn unpacked(bytes: &[u8]) -> Result<ZipFolder> {
        let file = tempfile::NamedTempFile::new().expect("a file");
        fs::write(file.path(), bytes).expect("bytes");
        assert!(is_like_zip(file.path()));
        ZipFolder::unpack(file.path())
    }

    #[test]
    fn what_a_format_may_read_is_unpacked_and_the_rest_is_named() {
        let inner =
            zipped(&[("conversations.json", b"[]"), ("deep.zip", &zipped(&[("a.json", b"1")]))]);
        let files: &[(&str, &[u8])] =
            &[("x/conversations-000.json", b"[]"), ("x/cat.png", b"x"), ("more.zip", &inner)];
        let found = unpacked(&zipped(files)).expect("a folder");
        for name in ["x/conversations-000.json", "more.zip/conversations.json"] {
            assert_eq!(fs::read(found.path().join(name)).expect(name), b"[]");
        }
        assert_eq!(
            found.unread,
            ["more.zip/deep.zip (in two other zip files: unpack it yourself)", "x/cat.png"]
        );
    }

    #[test]
    fn what_is_too_large_or_leads_out_is_refused() {
        let bomb = vec![0; usize::try_from(FREE_BYTES).expect("bytes") + (1 << 20)];
        let error = unpacked(&zipped(&[("a.json", &bomb)])).err().expect("a bomb");
        assert!(error.message.contains("a.json is larger"), "{error:?}");
        let error = unpacked(&zipped(&[("../a.json", b"1")])).err().expect("a way out");
        assert!(error.message.contains("leads out"), "{error:?}");
        assert!(unpacked(b"PK\x03\x04 and no more").is_err());
    }
}
