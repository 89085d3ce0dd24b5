//! Reading an archive: all of it is compared with its manifest before its first line is handed out.

use std::io::{self, BufRead, BufReader, Read, Seek};

use flate2::bufread::GzDecoder;

use crate::blocks::{ArchiveLines, BlockDigests, DigestReader};
use crate::encryption::{AGE_START, ARMOR_START, ArchiveKeys, Payload};
use crate::manifest::{LINES_NAME, MANIFEST_BYTES_MAX, MANIFEST_NAME, Manifest, ManifestPart};
use crate::tally::LineTally;
use crate::tar_entry::{after_the_end, read_end, read_header, read_padding};
use crate::{ArchiveError, LINE_BYTES_MAX};

/// The first bytes of a gzip file.
const GZIP_START: &[u8] = &[0x1f, 0x8b];

/// An archive that was read to its end, and is what its manifest says.
pub struct Archive<R: Read + Seek> {
    payload: Payload<R>,
    manifest: Manifest,
    digests: BlockDigests,
}

/// Whether the first bytes of a file (40 are enough) are those of an archive, or of a file that [`Archive::open`]
/// refuses with a reason: gzipped, or encrypted by age.
#[must_use]
pub fn begins_like_archive(start: &[u8]) -> bool {
    [GZIP_START, AGE_START, ARMOR_START].iter().any(|known| start.starts_with(known))
}

impl<R: Read + Seek> Archive<R> {
    /// Reads an archive to its end and compares it with its manifest.
    ///
    /// # Errors
    /// If the file is no archive, a damaged one or one of a newer version; if it is encrypted and no key fits, or
    /// is not encrypted and a key was given; if it cannot be read.
    pub fn open(mut source: R, keys: &ArchiveKeys) -> Result<Self, ArchiveError> {
        let mut start = Vec::new();
        source.by_ref().take(ARMOR_START.len() as u64).read_to_end(&mut start)?;
        source.rewind()?;
        if !begins_like_archive(&start) {
            let what = "it is neither gzipped nor encrypted by age";
            return Err(ArchiveError::Foreign(what.to_owned()));
        }
        let payload = Payload::open(source, &start, keys)?;
        let mut payload = BufReader::new(payload);
        if payload.fill_buf()?.first() != GZIP_START.first() {
            return Err(ArchiveError::Foreign("what is encrypted is not gzipped".to_owned()));
        }
        let mut stream = GzDecoder::new(payload);
        let manifest = read_manifest(&mut stream)?;
        let digests = compare_lines(&mut stream, &manifest)?;
        read_end(&mut stream)?;
        let mut rest = stream.into_inner();
        if !rest.fill_buf()?.is_empty() {
            return Err(after_the_end());
        }
        Ok(Self { payload: rest.into_inner(), manifest, digests })
    }

    /// What the archive says about itself.
    #[must_use]
    pub const fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The lines, in order, each with its line end.
    ///
    /// # Errors
    /// If the file cannot be read again, or has changed.
    pub fn into_lines(self) -> io::Result<ArchiveLines<R>> {
        let Self { mut payload, manifest, digests } = self;
        payload.rewind()?;
        let mut stream = GzDecoder::new(BufReader::new(payload));
        let again = read_manifest(&mut stream).and_then(|again| {
            let bytes = read_header(&mut stream, LINES_NAME)?;
            Ok((again == manifest).then_some(bytes))
        });
        match again {
            Ok(Some(bytes)) => Ok(ArchiveLines(DigestReader::again(stream, bytes, digests))),
            Err(ArchiveError::Io(error)) => Err(error),
            _ => Err(io::Error::other("the archive changed while it was read")),
        }
    }
}

fn read_manifest(stream: &mut impl Read) -> Result<Manifest, ArchiveError> {
    let bytes = read_header(stream, MANIFEST_NAME)?;
    if bytes > MANIFEST_BYTES_MAX {
        return Err(ArchiveError::Foreign(format!("its {MANIFEST_NAME} has {bytes} bytes")));
    }
    let mut text = vec![0; usize::try_from(bytes).unwrap_or(0)];
    stream.read_exact(&mut text)?;
    let manifest = Manifest::parse(&text)?;
    read_padding(stream, bytes)?;
    Ok(manifest)
}

/// Reads the entry of the lines; returns the digests of its blocks.
fn compare_lines(
    stream: &mut impl Read,
    manifest: &Manifest,
) -> Result<BlockDigests, ArchiveError> {
    let damage = |what: String| ArchiveError::Damage(what);
    let Some(ManifestPart { bytes, sha256, .. }) = manifest.part() else {
        return Err(damage(format!("it has no {LINES_NAME}")));
    };
    let found = read_header(stream, LINES_NAME)?;
    if found != *bytes {
        let name = LINES_NAME;
        return Err(damage(format!("{name} has {found} bytes; its manifest says {bytes}")));
    }
    let mut blocks = DigestReader::new(&mut *stream, *bytes);
    let mut tally = LineTally::default();
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = blocks.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line)?;
        if read == 0 {
            break;
        }
        let number = tally.lines + 1;
        match line.strip_suffix(b"\n") {
            None if read as u64 == LINE_BYTES_MAX => {
                let most = LINE_BYTES_MAX >> 20;
                return Err(damage(format!("line {number} has more than {most} MiB")));
            }
            None => return Err(damage(format!("line {number} has no end"))),
            Some(line) if !tally.add(line) => {
                return Err(damage(format!("line {number} is not a line of an export")));
            }
            Some(_) => {}
        }
    }
    if tally.kinds != manifest.lines {
        return Err(damage("it has other lines than its manifest says".to_owned()));
    }
    let (digests, whole) = blocks.into_digests();
    if hex(&whole) != *sha256 {
        return Err(damage(format!("{LINES_NAME} has another checksum than its manifest says")));
    }
    read_padding(stream, *bytes)?;
    Ok(digests)
}

/// Bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
