//! Zip files, in which other programs send their exports: what a format may read is unpacked into a temporary
//! folder, within limits.

use std::fs::{self, File};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

use commonbook::base::error::{Error, Result};
use commonbook_formats::{SOURCE_FILES_MAX, is_readable_file};
use tempfile::TempDir;
use zip::ZipArchive;

use super::format::read_error;

/// Bytes that are unpacked of a zip file and those inside it.
pub(super) const ZIP_BYTES_MAX: u64 = 8 << 30;
/// Zip files within each other.
const ZIP_DEPTH_MAX: usize = 2;
/// How many times its size a file may be in the zip file, beyond [`FREE_BYTES`].
const RATIO_MAX: u64 = 200;
/// Bytes that a file may have however well it is compressed.
const FREE_BYTES: u64 = 64 << 20;
/// The beginning of a zip file.
const START: &[u8] = b"PK\x03\x04";

/// A zip file that is unpacked; the folder goes with it.
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
        let unreadable = |error| read_error(path, error);
        let folder = tempfile::tempdir().map_err(unreadable)?;
        let into = folder.path().to_owned();
        let mut found = Self { folder, unread: Vec::new(), files: 0, bytes: 0 };
        let file = File::open(path).map_err(unreadable)?;
        found.unpack_into(file, &into, "", 1).map_err(unreadable)?;
        found.unread.sort_unstable();
        Ok(found)
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
            let name = format!("{prefix}{}", entry.name().map_err(io::Error::other)?);
            let Some(relative) = entry.enclosed_name() else {
                return Err(io::Error::other(format!("{name:?} leads out of the zip file")));
            };
            self.files += 1;
            if self.files > SOURCE_FILES_MAX {
                let message = format!("the zip file has more than {SOURCE_FILES_MAX} files");
                return Err(io::Error::other(message));
            }
            let is_zip = name.to_lowercase().ends_with(".zip") && depth < ZIP_DEPTH_MAX;
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

/// The path from which an import reads, and the zip file that it is unpacked of.
pub(super) struct SourcePath {
    pub path: PathBuf,
    pub zip: Option<ZipFolder>,
}

impl SourcePath {
    /// Opens a path; a zip file is unpacked.
    ///
    /// # Errors
    /// As [`ZipFolder::unpack`].
    pub(super) fn of(path: &Path) -> Result<Self> {
        if !is_like_zip(path) {
            return Ok(Self { path: path.to_owned(), zip: None });
        }
        let zip = ZipFolder::unpack(path).map_err(|error: Error| {
            error.hint("Unpack the file yourself, and import the folder.")
        })?;
        Ok(Self { path: zip.path().to_owned(), zip: Some(zip) })
    }
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
        assert_eq!(found.unread, ["more.zip/deep.zip", "x/cat.png"]);
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
