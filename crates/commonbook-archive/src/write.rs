//! Writing an archive: its lines wait until the manifest is known.

use std::io::{self, BufWriter, Read, Seek, Write};

use flate2::{Compression, GzBuilder};
use jiff::Timestamp;
use sha2::{Digest, Sha256};

use crate::encryption::Encryption;
use crate::manifest::{
    ARCHIVE_FORMAT, ARCHIVE_VERSION, LINES_NAME, MANIFEST_NAME, Manifest, ManifestPart,
};
use crate::spool::{Spool, SpoolWriter};
use crate::tally::LineTally;
use crate::{LINE_BYTES_MAX, tar_entry};

/// Who writes an archive, and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArchiveOrigin {
    /// The time.
    pub written_at: Timestamp,
    /// The program with its version, in at most 100 ASCII characters.
    pub written_by: String,
}

/// Takes the lines of an archive, and writes it when all are there.
///
/// The manifest comes first in the file and is known last, so the lines wait in a temporary file. Equal lines of
/// equal origin give equal bytes, unless they are encrypted.
pub struct ArchiveWriter<F: Write> {
    staging: SpoolWriter<F>,
    tally: LineTally,
    bytes: u64,
    hash: Sha256,
}

impl<F: Read + Write + Seek> ArchiveWriter<F> {
    /// A writer whose lines wait in this file, which must be empty and should have no name.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn new(staging: F) -> io::Result<Self> {
        let staging = SpoolWriter::new(staging)?;
        Ok(Self { staging, tally: LineTally::default(), bytes: 0, hash: Sha256::new() })
    }

    /// Adds a line: a JSON object, without the line end.
    ///
    /// # Errors
    /// `InvalidInput` for a line that no archive can have; the error of the temporary file.
    pub fn add_line(&mut self, line: &[u8]) -> io::Result<()> {
        let invalid = |what: String| io::Error::new(io::ErrorKind::InvalidInput, what);
        let bytes = line.len() as u64 + 1;
        if bytes > LINE_BYTES_MAX {
            let most = LINE_BYTES_MAX >> 20;
            return Err(invalid(format!("a line has more than the {most} MiB of an archive")));
        }
        if line.contains(&b'\n') || !self.tally.add(line) {
            return Err(invalid("a line is not a JSON object of a known kind".to_owned()));
        }
        for part in [line, b"\n"] {
            self.staging.write_all(part)?;
            self.hash.update(part);
        }
        self.bytes += bytes;
        Ok(())
    }

    /// Writes the archive; returns its manifest.
    ///
    /// # Errors
    /// If the temporary file cannot be read or the output cannot be written.
    pub fn finish(
        self,
        origin: ArchiveOrigin,
        encryption: Option<&Encryption>,
        out: impl Write,
    ) -> io::Result<Manifest> {
        let Self { staging, tally, bytes, hash } = self;
        let sha256 = crate::read::hex(&hash.finalize());
        let part = ManifestPart { name: LINES_NAME.to_owned(), bytes, lines: tally.lines, sha256 };
        let manifest = Manifest {
            format: ARCHIVE_FORMAT.to_owned(),
            version: ARCHIVE_VERSION,
            written_at: origin.written_at,
            written_by: origin.written_by,
            lines: tally.kinds,
            parts: vec![part],
        };
        let (lines, out) = (staging.finish()?, BufWriter::new(out));
        let mut out = match encryption {
            None => write_entries(&manifest, lines, out)?,
            Some(encryption) => {
                let out = encryption.encryptor()?.wrap_output(out)?;
                write_entries(&manifest, lines, out)?.finish()?
            }
        };
        out.flush()?;
        Ok(manifest)
    }
}

fn write_entries<W: Write, F: Read>(manifest: &Manifest, lines: Spool<F>, out: W) -> io::Result<W> {
    let mut tar = tar::Builder::new(GzBuilder::new().write(out, Compression::default()));
    let text = manifest.to_bytes()?;
    let header = tar_entry::header(MANIFEST_NAME, text.len() as u64, manifest.written_at)?;
    tar.append(&header, text.as_slice())?;
    let bytes = manifest.part().map_or(0, |part| part.bytes);
    let header = tar_entry::header(LINES_NAME, bytes, manifest.written_at)?;
    tar.append(&header, lines)?;
    tar.into_inner()?.finish()
}
