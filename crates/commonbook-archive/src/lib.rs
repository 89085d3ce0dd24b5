//! Archives: the lines of an export in one file, with a manifest and checksums, optionally encrypted.
//!
//! An archive is a gzipped tar of two entries: `manifest.json`, which says what the other one is, and
//! `lines.jsonl`, the lines. Any `tar` unpacks it. An encrypted archive is that file inside an age file
//! (age-encryption.org/v1); any `age` decrypts it.
//!
//! [`ArchiveWriter`] takes lines and writes an archive. [`Archive::open`] reads all of it and compares it with
//! its manifest; only then does [`Archive::into_lines`] yield the first line, and only lines that are the same as
//! those that were compared. Both hold one block and one line in memory, however long the archive is.
//!
//! ```
//! use std::io::{BufRead, Cursor};
//!
//! use commonbook_archive::{Archive, ArchiveKeys, ArchiveOrigin, ArchiveWriter};
//!
//! let mut writer = ArchiveWriter::new(Cursor::new(Vec::new()))?;
//! writer.add_line(br#"{"text":"We deploy on Fridays"}"#)?;
//! let origin = ArchiveOrigin { written_at: jiff::Timestamp::UNIX_EPOCH, written_by: "commonbook 0.1.0".into() };
//! let mut file = Vec::new();
//! writer.finish(origin, None, &mut file)?;
//!
//! let archive = Archive::open(Cursor::new(file), &ArchiveKeys::None)?;
//! assert_eq!(archive.manifest().lines["memory"], 1);
//! assert_eq!(archive.into_lines()?.lines().count(), 1);
//! # Ok::<(), commonbook_archive::ArchiveError>(())
//! ```

mod blocks;
mod encryption;
mod error;
mod manifest;
mod read;
mod spool;
mod tally;
mod tar_entry;
mod write;

pub use blocks::ArchiveLines;
pub use encryption::{ArchiveKeys, Encryption, KeyKind, RecipientError};
pub use error::ArchiveError;
pub use manifest::{ARCHIVE_FORMAT, ARCHIVE_VERSION, Manifest, ManifestPart};
pub use read::{Archive, begins_like_archive};
pub use spool::{Spool, spool};
pub use tally::MEMORY_KIND;
pub use write::{ArchiveOrigin, ArchiveWriter};

/// Bytes of a line, with its line end.
pub const LINE_BYTES_MAX: u64 = 64 << 20;
