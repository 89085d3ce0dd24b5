//! Entries of a tar file, read one after the other and nothing but those that are expected.

use std::io::{self, Read};

use jiff::Timestamp;
use tar::{EntryType, Header};

use crate::ArchiveError;
use crate::manifest::MANIFEST_NAME;

/// Bytes of a block: a header is one, and an entry ends with one.
pub(crate) const BLOCK_BYTES: u64 = 512;
/// Zero bytes at the end at most: a `tar` fills its last record of 10 KiB with them.
const END_BYTES_MAX: usize = 20 << 10;
/// Characters of a name that an error shows.
const NAME_CHARS_MAX: usize = 60;

/// The header of an entry.
pub(crate) fn header(name: &str, bytes: u64, written_at: Timestamp) -> io::Result<Header> {
    let mut header = Header::new_ustar();
    header.set_path(name)?;
    header.set_entry_type(EntryType::Regular);
    header.set_mode(0o600);
    header.set_uid(0);
    header.set_gid(0);
    header.set_mtime(u64::try_from(written_at.as_second()).unwrap_or(0));
    header.set_size(bytes);
    header.set_cksum();
    Ok(header)
}

/// Reads the header of an entry, which must be a plain file of this name; returns its length.
///
/// # Errors
/// `Damage` for any other entry; `Foreign` if the first one is another.
pub(crate) fn read_header(stream: &mut impl Read, name: &str) -> Result<u64, ArchiveError> {
    let refuse = |found: String| match name == MANIFEST_NAME {
        true => ArchiveError::Foreign(format!("it begins with {found}, not with {name}")),
        false => ArchiveError::Damage(format!("it has {found} in the place of {name}")),
    };
    let mut block = [0; BLOCK_BYTES as usize];
    let read = read_up_to(stream, &mut block)?;
    if read < block.len() || block == [0; BLOCK_BYTES as usize] {
        return Err(refuse("nothing".to_owned()));
    }
    let header = Header::from_byte_slice(&block);
    let mut correct = header.clone();
    correct.set_cksum();
    if header.cksum().ok() != correct.cksum().ok() {
        return Err(refuse("data that is no entry of a tar file".to_owned()));
    }
    let found = header.path_bytes();
    if *found != *name.as_bytes() || header.entry_type() != EntryType::Regular {
        let shown: String = String::from_utf8_lossy(&found).chars().take(NAME_CHARS_MAX).collect();
        return Err(refuse(format!("the entry {shown:?}")));
    }
    header.entry_size().map_err(|_| refuse("an entry without a length".to_owned()))
}

/// Reads the zero bytes after the data of an entry of this length.
pub(crate) fn read_padding(stream: &mut impl Read, bytes: u64) -> Result<(), ArchiveError> {
    let mut padding = [0; BLOCK_BYTES as usize];
    let length = bytes.next_multiple_of(BLOCK_BYTES) - bytes;
    let padding = &mut padding[..usize::try_from(length).unwrap_or(0)];
    stream.read_exact(padding)?;
    is_zero(padding).then_some(()).ok_or_else(after_the_end)
}

/// Reads the end of the tar file: zero bytes, at least a block of them, and nothing else.
///
/// # Errors
/// `Damage` for a further entry or anything else.
pub(crate) fn read_end(stream: &mut impl Read) -> Result<(), ArchiveError> {
    let mut end = vec![0; END_BYTES_MAX + 1];
    let read = read_up_to(stream, &mut end)?;
    if read < BLOCK_BYTES as usize {
        return Err(ArchiveError::Damage("the file ends early".to_owned()));
    }
    (read <= END_BYTES_MAX && is_zero(&end[..read])).then_some(()).ok_or_else(after_the_end)
}

/// The error of an archive with more than its manifest says.
pub(crate) fn after_the_end() -> ArchiveError {
    ArchiveError::Damage("it has more than its manifest says".to_owned())
}

fn is_zero(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| *byte == 0)
}

/// Fills a buffer as far as the stream goes.
fn read_up_to(stream: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut length = 0;
    while length < buffer.len() {
        match stream.read(&mut buffer[length..]) {
            Ok(0) => break,
            Ok(read) => length += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(length)
}
