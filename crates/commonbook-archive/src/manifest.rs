//! The manifest: the first entry of an archive, which says what the rest is.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::ArchiveError;

/// The name of the format.
pub const ARCHIVE_FORMAT: &str = "commonbook-archive";
/// The version of the format that this crate writes.
pub const ARCHIVE_VERSION: u32 = 1;
/// The entry with the manifest.
pub(crate) const MANIFEST_NAME: &str = "manifest.json";
/// The entry with the lines.
pub(crate) const LINES_NAME: &str = "lines.jsonl";
/// Bytes of a manifest.
pub(crate) const MANIFEST_BYTES_MAX: u64 = 64 << 10;
/// Characters of the name of a program.
const PROGRAM_CHARS_MAX: usize = 100;

/// What an archive says about itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// [`ARCHIVE_FORMAT`].
    pub format: String,
    /// The version of the format.
    pub version: u32,
    /// When the archive was written.
    pub written_at: Timestamp,
    /// The program that wrote it, with its version.
    pub written_by: String,
    /// How many lines of each kind it has.
    pub lines: BTreeMap<String, u64>,
    /// The other entries, in their order.
    pub parts: Vec<ManifestPart>,
}

/// An entry of an archive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ManifestPart {
    /// Its name.
    pub name: String,
    /// Its length.
    pub bytes: u64,
    /// Its lines.
    pub lines: u64,
    /// The SHA-256 of its bytes, in hexadecimal digits.
    pub sha256: String,
}

/// What every version of a manifest has.
#[derive(Deserialize)]
struct ManifestHead {
    format: String,
    version: u64,
    #[serde(default)]
    written_by: String,
}

impl Manifest {
    /// The bytes of the entry.
    pub(crate) fn to_bytes(&self) -> serde_json::Result<Vec<u8>> {
        let mut bytes = serde_json::to_vec_pretty(self)?;
        bytes.push(b'\n');
        Ok(bytes)
    }

    /// Reads the bytes of the entry.
    ///
    /// # Errors
    /// `Foreign` if they are no manifest, `NewerVersion` if a newer program wrote them, `Damage` if no program
    /// writes such a manifest.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, ArchiveError> {
        let foreign =
            || ArchiveError::Foreign(format!("its {MANIFEST_NAME} is not that of an archive"));
        let head: ManifestHead = serde_json::from_slice(bytes).map_err(|_| foreign())?;
        if head.format != ARCHIVE_FORMAT {
            return Err(foreign());
        }
        if head.version > u64::from(ARCHIVE_VERSION) {
            let is_plain = is_plain(&head.written_by);
            let written_by = if is_plain { head.written_by } else { "another program".to_owned() };
            return Err(ArchiveError::NewerVersion { version: head.version, written_by });
        }
        let damage = |what: &str| ArchiveError::Damage(format!("its {MANIFEST_NAME} {what}"));
        let manifest: Self = serde_json::from_slice(bytes).map_err(|_| damage("is not valid"))?;
        if manifest.version != ARCHIVE_VERSION {
            return Err(damage("has no version"));
        }
        if !is_plain(&manifest.written_by) {
            return Err(damage("does not name the program that wrote it"));
        }
        let part = manifest.part().ok_or_else(|| damage("names other parts than the lines"))?;
        let total = manifest.lines.values().try_fold(0_u64, |sum, count| sum.checked_add(*count));
        if total != Some(part.lines) {
            return Err(damage("counts other lines by kind than in all"));
        }
        Ok(manifest)
    }

    /// The one part of this version.
    pub(crate) fn part(&self) -> Option<&ManifestPart> {
        match self.parts.as_slice() {
            [part] if part.name == LINES_NAME => Some(part),
            _ => None,
        }
    }
}

/// Whether a text may be shown on a terminal as the name of a program.
fn is_plain(text: &str) -> bool {
    let is_plain = |byte: u8| byte == b' ' || byte.is_ascii_graphic();
    (1..=PROGRAM_CHARS_MAX).contains(&text.len()) && text.bytes().all(is_plain)
}
