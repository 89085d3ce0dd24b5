//! Archives: what comes back, which bytes are written, and that no other bytes are read as an archive.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod damage;
mod encryption;
mod foreign;
mod round_trip;

use std::io::{Cursor, Read};

use commonbook_archive::{
    Archive, ArchiveError, ArchiveKeys, ArchiveOrigin, ArchiveWriter, Encryption, Manifest,
};

/// The lines of most tests.
const LINES: [&str; 3] = [
    r#"{"record":"export","value":{"format":2,"version":"0.1.0","workspaces":["harbour"]}}"#,
    r#"{"id":"mem_1","text":"The ferry leaves at 7 ⛴","metadata":{"record":"x","value":1}}"#,
    r#"{"record":"case","value":{"key":"slow-orders"}}"#,
];

fn origin() -> ArchiveOrigin {
    let written_at = "2026-11-25T19:00:00.5Z".parse().unwrap();
    ArchiveOrigin { written_at, written_by: "commonbook 0.1.0".to_owned() }
}

/// The archive of these lines, with its manifest.
fn written<'l>(
    lines: impl IntoIterator<Item = &'l str>,
    encryption: Option<&Encryption>,
) -> (Vec<u8>, Manifest) {
    let mut writer = ArchiveWriter::new(Cursor::new(Vec::new())).unwrap();
    for line in lines {
        writer.add_line(line.as_bytes()).unwrap();
    }
    let mut file = Vec::new();
    let manifest = writer.finish(origin(), encryption, &mut file).unwrap();
    (file, manifest)
}

/// The lines of a file, if it is an archive.
fn lines_with(file: &[u8], keys: &ArchiveKeys) -> Result<String, ArchiveError> {
    let mut text = String::new();
    Archive::open(Cursor::new(file), keys)?.into_lines()?.read_to_string(&mut text)?;
    Ok(text)
}

fn lines_of(file: &[u8]) -> Result<String, ArchiveError> {
    lines_with(file, &ArchiveKeys::None)
}

/// Why a file is refused.
fn refusal(file: &[u8]) -> String {
    lines_of(file).unwrap_err().to_string()
}
