//! Files that no writer of archives wrote: of other programs, of a newer version, and made to harm.

use std::io::{Cursor, Write as _};

use commonbook_archive::{Archive, ArchiveError, ArchiveKeys, LINE_BYTES_MAX, Manifest};
use flate2::Compression;
use flate2::write::GzEncoder;
use sha2::{Digest, Sha256};
use tar::{Builder, EntryType, Header};

use crate::{LINES, lines_of, refusal, written};

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = GzEncoder::new(Vec::new(), Compression::default());
    out.write_all(bytes).unwrap();
    out.finish().unwrap()
}

/// The name of an entry, and its bytes.
type Entry<'e> = (&'e str, &'e [u8]);

/// A gzipped tar of these entries.
fn packed(entries: &[Entry]) -> Vec<u8> {
    let mut tar = Builder::new(Vec::new());
    for (name, data) in entries {
        let mut header = Header::new_gnu();
        header.set_size(data.len() as u64);
        header.set_mode(0o644);
        // A writer of archives would refuse some of these names.
        header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
        header.set_cksum();
        tar.append(&header, *data).unwrap();
    }
    gzip(&tar.into_inner().unwrap())
}

fn text() -> String {
    LINES.iter().map(|line| format!("{line}\n")).collect()
}

fn manifest() -> Manifest {
    written(LINES, None).1
}

/// An archive with another manifest, and other lines.
fn with(change: impl FnOnce(&mut Manifest), lines: &str) -> Vec<u8> {
    let mut manifest = manifest();
    change(&mut manifest);
    let manifest = serde_json::to_vec(&manifest).unwrap();
    packed(&[("manifest.json", &manifest), ("lines.jsonl", lines.as_bytes())])
}

/// The same, with length and checksum of these lines.
fn of_lines(lines: &str) -> Vec<u8> {
    let change = |manifest: &mut Manifest| {
        manifest.parts[0].bytes = lines.len() as u64;
        let sha256 = Sha256::digest(lines.as_bytes());
        manifest.parts[0].sha256 = sha256.iter().map(|byte| format!("{byte:02x}")).collect();
    };
    with(change, lines)
}

#[test]
fn another_packer_may_pack_it_again() {
    assert_eq!(lines_of(&with(|_| {}, &text())).unwrap(), text());
    // GNU tar fills its last record.
    let manifest = serde_json::to_vec(&manifest()).unwrap();
    let mut tar = Vec::new();
    let packed = packed(&[("manifest.json", &manifest), ("lines.jsonl", text().as_bytes())]);
    let mut packed = flate2::read::GzDecoder::new(packed.as_slice());
    std::io::copy(&mut packed, &mut tar).unwrap();
    tar.resize(20 * 512, 0);
    assert_eq!(lines_of(&gzip(&tar)).unwrap(), text());
}

#[test]
fn a_manifest_that_says_something_else_is_refused() {
    type Change = fn(&mut Manifest);
    let table: [(Change, &str); 12] = [
        (|m| m.format = "tar".into(), "is not that of an archive"),
        (|m| m.version = 0, "has no version"),
        (|m| m.version = 2, "has version 2, of commonbook 0.1.0; expected 1 or less"),
        (|m| m.written_by = "x\u{1b}[2J".into(), "does not name the program"),
        (|m| m.written_by = String::new(), "does not name the program"),
        (|m| m.parts[0].name = "../lines.jsonl".into(), "names other parts than the lines"),
        (|m| m.parts.clear(), "names other parts than the lines"),
        (|m| m.parts[0].bytes += 1, "its manifest says"),
        (|m| m.parts[0].lines += 1, "counts other lines by kind than in all"),
        (|m| m.parts[0].sha256 = "0".repeat(64), "has another checksum"),
        (
            |m| {
                m.lines.insert("memory".into(), 2);
                m.parts[0].lines += 1;
            },
            "it has other lines than its manifest says",
        ),
        (
            |m| {
                m.lines.insert("memory".into(), u64::MAX);
                m.lines.insert("case".into(), u64::MAX);
            },
            "counts other lines by kind than in all",
        ),
    ];
    for (change, expected) in table {
        let error = refusal(&with(change, &text()));
        assert!(error.contains(expected), "{error}; expected {expected}");
    }
    // A newer program may have fields that this one does not know, and a name that nobody should print.
    let newer = br#"{"format":"commonbook-archive","version":7,"written_by":"\u001b[2J","x":[]}"#;
    let error = refusal(&packed(&[("manifest.json", newer)]));
    assert_eq!(error, "the archive has version 7, of another program; expected 1 or less");
}

#[test]
fn other_entries_are_refused() {
    let manifest = serde_json::to_vec(&manifest()).unwrap();
    let (manifest, text) = (manifest.as_slice(), text());
    let lines = text.as_bytes();
    let table: [(&[Entry], &str); 9] = [
        (&[], "it begins with nothing"),
        (&[("lines.jsonl", lines), ("manifest.json", manifest)], "it begins with the entry"),
        (&[("manifest.json", manifest)], "it has nothing in the place of lines.jsonl"),
        (&[("manifest.json", manifest), ("x", b"")], "it has the entry \"x\""),
        (&[("manifest.json", manifest), ("./lines.jsonl", lines)], "it has the entry"),
        (&[("manifest.json", manifest), ("/etc/passwd", lines)], "it has the entry"),
        (&[("manifest.json", manifest), ("a\u{1b}[2J", lines)], "the entry \"a\\u{1b}[2J\""),
        (
            &[("manifest.json", manifest), ("lines.jsonl", lines), ("x", b"")],
            "it has more than its manifest says",
        ),
        (
            &[("manifest.json", manifest), ("lines.jsonl", lines), ("lines.jsonl", lines)],
            "it has more than its manifest says",
        ),
    ];
    for (entries, expected) in table {
        let error = refusal(&packed(entries));
        assert!(error.contains(expected), "{error}; expected {expected}");
    }
}

#[test]
fn an_entry_that_is_no_plain_file_is_refused() {
    let manifest = serde_json::to_vec(&manifest()).unwrap();
    let kinds = [
        EntryType::Symlink,
        EntryType::Link,
        EntryType::Directory,
        EntryType::GNUSparse,
        EntryType::GNULongName,
        EntryType::XHeader,
        EntryType::XGlobalHeader,
        EntryType::Char,
    ];
    for (kind, first) in kinds.into_iter().flat_map(|kind| [(kind, true), (kind, false)]) {
        let mut tar = Builder::new(Vec::new());
        for (name, data) in [("manifest.json", manifest.as_slice()), ("lines.jsonl", b"")] {
            let mut header = Header::new_gnu();
            header.set_path(name).unwrap();
            header.set_size(data.len() as u64);
            if first == (name == "manifest.json") {
                header.set_entry_type(kind);
            }
            header.set_cksum();
            tar.append(&header, data).unwrap();
        }
        let error = lines_of(&gzip(&tar.into_inner().unwrap())).unwrap_err();
        match first {
            true => assert!(matches!(error, ArchiveError::Foreign(_)), "{kind:?}: {error}"),
            false => assert!(matches!(error, ArchiveError::Damage(_)), "{kind:?}: {error}"),
        }
    }
}

#[test]
fn files_of_other_programs_are_no_archives() {
    let table: [(&[u8], &str); 6] = [
        (b"", "neither gzipped nor encrypted"),
        (b"{\"text\":\"x\"}\n", "neither gzipped nor encrypted"),
        (b"PK\x03\x04", "neither gzipped nor encrypted"),
        (&gzip(text().repeat(9).as_bytes()), "data that is no entry of a tar file"),
        (&gzip(b"{}"), "it begins with nothing"),
        (b"-----BEGIN AGE ENCRYPTED FILE-----\n", "ASCII armor"),
    ];
    for (file, expected) in table {
        let error = refusal(file);
        assert!(error.contains(expected), "{error}; expected {expected}");
    }
}

#[test]
fn lines_that_no_export_has_are_refused() {
    let table = [
        ("{\"text\":\"x\"}", "line 1 has no end"),
        ("\n", "line 1 is not a line of an export"),
        ("{}\n\n{}\n", "line 2 is not a line of an export"),
        ("{}\nnot JSON\n", "line 2 is not a line of an export"),
        ("{}\n[]\n", "line 2 is not a line of an export"),
        ("{\"record\":\"a case\",\"value\":1}\n", "line 1 is not a line of an export"),
        ("{}\n", "it has other lines than its manifest says"),
    ];
    for (lines, expected) in table {
        let error = refusal(&of_lines(lines));
        assert!(error.ends_with(expected), "{error}; expected {expected}");
    }
    // More kinds than there can be.
    let kinds = (0..200).map(|kind| "x".repeat(kind % 40 + 1) + &"y".repeat(kind / 40));
    let lines: String =
        kinds.map(|kind| format!("{{\"record\":\"{kind}\",\"value\":1}}\n")).collect();
    assert!(refusal(&of_lines(&lines)).contains("is not a line of an export"));
}

/// Zeros without an end, compressed to a thousandth.
fn bomb(entry: &str, size: u64, zeros: usize) -> Vec<u8> {
    let mut out = GzEncoder::new(Vec::new(), Compression::best());
    if entry != "manifest.json" {
        let mut manifest = manifest();
        manifest.parts[0].bytes = size;
        let manifest = serde_json::to_vec(&manifest).unwrap();
        let mut tar = Builder::new(Vec::new());
        let mut header = Header::new_gnu();
        header.set_size(manifest.len() as u64);
        tar.append_data(&mut header, "manifest.json", manifest.as_slice()).unwrap();
        let tar = tar.into_inner().unwrap();
        out.write_all(&tar[..tar.len() - 1024]).unwrap();
    }
    let mut header = Header::new_gnu();
    header.set_path(entry).unwrap();
    header.set_size(size);
    header.set_cksum();
    out.write_all(header.as_bytes()).unwrap();
    let block = vec![b'x'; 1 << 20];
    for _ in 0..zeros >> 20 {
        out.write_all(&block).unwrap();
    }
    out.finish().unwrap()
}

#[test]
fn a_bomb_is_refused_at_its_first_long_piece() {
    let zeros = usize::try_from(LINE_BYTES_MAX).unwrap() + (4 << 20);
    let file = bomb("manifest.json", 1 << 40, zeros);
    assert!(refusal(&file).contains("its manifest.json has 1099511627776 bytes"));
    let file = bomb("lines.jsonl", 1 << 40, zeros);
    assert!(file.len() < 200_000);
    assert_eq!(refusal(&file), "the archive is damaged: line 1 has more than 64 MiB");
    // What stands after the end is not read on.
    let mut tar = Vec::new();
    let packed = with(|_| {}, &text());
    std::io::copy(&mut flate2::read::GzDecoder::new(packed.as_slice()), &mut tar).unwrap();
    tar.resize(tar.len() + (64 << 20), 0);
    assert!(refusal(&gzip(&tar)).ends_with("it has more than its manifest says"));
}

#[test]
fn an_error_of_the_disk_is_not_called_damage() {
    struct Broken(Cursor<Vec<u8>>);
    impl std::io::Read for Broken {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            match self.0.position() > 100 {
                true => Err(std::io::Error::from_raw_os_error(5)),
                false => self.0.read(&mut buffer[..1]),
            }
        }
    }
    impl std::io::Seek for Broken {
        fn seek(&mut self, position: std::io::SeekFrom) -> std::io::Result<u64> {
            self.0.seek(position)
        }
    }
    let file = Broken(Cursor::new(written(LINES, None).0));
    let error = Archive::open(file, &ArchiveKeys::None).err().unwrap();
    assert!(matches!(error, ArchiveError::Io(_)), "{error}");
}
