//! What an archive has comes back, and equal lines are equal bytes.

use std::cell::RefCell;
use std::io::{self, Cursor, Read, Seek, SeekFrom, Write as _};
use std::rc::Rc;

use commonbook_archive::{Archive, ArchiveKeys, ArchiveWriter, LINE_BYTES_MAX, spool};
use flate2::read::GzDecoder;

use crate::{LINES, lines_of, origin, written};

/// A text that compression makes no shorter.
fn noise(chars: usize) -> String {
    let mut random = fastrand::Rng::with_seed(7);
    (0..chars).map(|_| random.alphanumeric()).collect()
}

#[test]
fn lines_come_back_as_they_were() {
    let long = format!("{{\"text\":\"{}\"}}", noise(3 << 20));
    let boundary = format!("{{\"text\":\"{}\"}}", "x".repeat((1 << 20) - 12));
    let many: Vec<String> =
        (0..20_000).map(|number| format!("{{\"text\":\"{number}\"}}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let table: [&[&str]; 5] = [&LINES, &[], &[&long, LINES[0]], &[&boundary, LINES[1]], &many];
    for lines in table {
        let (file, manifest) = written(lines.iter().copied(), None);
        let expected: String = lines.iter().map(|line| format!("{line}\n")).collect();
        assert_eq!(manifest.parts[0].bytes, expected.len() as u64);
        assert!(lines_of(&file).unwrap() == expected);
    }
}

#[test]
fn equal_lines_of_equal_origin_are_equal_bytes() {
    assert_eq!(written(LINES, None).0, written(LINES, None).0);
}

#[test]
fn the_bytes_are_a_gzipped_tar_with_the_manifest_first() {
    let (file, _) = written(LINES, None);
    let mut tar = tar::Archive::new(GzDecoder::new(file.as_slice()));
    let mut found = Vec::new();
    for entry in tar.entries().unwrap() {
        let mut entry = entry.unwrap();
        let (mut text, header) = (String::new(), entry.header().clone());
        entry.read_to_string(&mut text).unwrap();
        let (mode, time) = (header.mode().unwrap(), header.mtime().unwrap());
        found.push((entry.path().unwrap().display().to_string(), mode, time, text));
    }
    let lines: String = LINES.iter().map(|line| format!("{line}\n")).collect();
    let manifest = include_str!("manifest.json").to_owned();
    let expected = [("manifest.json", manifest), ("lines.jsonl", lines)];
    let expected = expected.map(|(name, text)| (name.to_owned(), 0o600, 1_795_633_200, text));
    assert_eq!(found, expected);
}

#[test]
fn a_line_that_no_archive_can_have_is_not_written() {
    let long = format!("{{\"text\":\"{}\"}}", "x".repeat(usize::try_from(LINE_BYTES_MAX).unwrap()));
    let table = ["", "7", "[]", "{} {}", "{}\n{}", "{\"record\":\"Case 1\",\"value\":1}", &long];
    for line in table {
        let mut writer = ArchiveWriter::new(Cursor::new(Vec::new())).unwrap();
        let error = writer.add_line(line.as_bytes()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{}", &line[..line.len().min(40)]);
    }
}

/// A file that others can see, and change.
#[derive(Clone, Default)]
struct SharedFile(Rc<RefCell<Cursor<Vec<u8>>>>);

impl Read for SharedFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.borrow_mut().read(buffer)
    }
}

impl io::Write for SharedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for SharedFile {
    fn seek(&mut self, position: SeekFrom) -> io::Result<u64> {
        self.0.borrow_mut().seek(position)
    }
}

#[test]
fn the_temporary_file_has_no_word_of_the_lines() {
    let staging = SharedFile::default();
    let mut writer = ArchiveWriter::new(staging.clone()).unwrap();
    for _ in 0..10_000 {
        writer.add_line(LINES[1].as_bytes()).unwrap();
    }
    writer.finish(origin(), None, io::sink()).unwrap();
    let bytes = staging.0.borrow().get_ref().clone();
    assert!(bytes.len() > 10_000 * LINES[1].len());
    assert!(!bytes.windows(5).any(|window| window == b"ferry"));
}

#[test]
fn an_archive_that_changes_after_it_was_compared_yields_no_other_line() {
    let line = |text: &str| format!("{{\"text\":\"{text}\"}}");
    let (first, other) = (noise(3 << 20), noise(3 << 20).replace('a', "b"));
    let (file, _) = written([line(&first).as_str()], None);
    let (changed, _) = written([line(&other).as_str()], None);
    let mut shared = SharedFile::default();
    shared.write_all(&file).unwrap();
    shared.rewind().unwrap();
    let archive = Archive::open(shared.clone(), &ArchiveKeys::None).unwrap();
    *shared.0.borrow_mut().get_mut() = changed;
    let error = archive.into_lines().err().unwrap();
    assert_eq!(error.to_string(), "the archive changed while it was read");
    // The same manifest, and then other bytes.
    *shared.0.borrow_mut().get_mut() = file.clone();
    shared.rewind().unwrap();
    let archive = Archive::open(shared.clone(), &ArchiveKeys::None).unwrap();
    let mut lines = archive.into_lines().unwrap();
    let middle = file.len() / 2;
    shared.0.borrow_mut().get_mut()[middle..].fill(0);
    let mut bytes = Vec::new();
    lines.read_to_end(&mut bytes).unwrap_err();
    assert!(line(&first).as_bytes().starts_with(&bytes), "{} bytes", bytes.len());
}

#[test]
fn a_spool_gives_back_what_it_got_from_any_place() {
    for length in [0, 1, 65_535, 65_536, 65_537, 131_072, 200_000] {
        let text = noise(length);
        let mut spool = spool(&mut text.as_bytes(), Cursor::new(Vec::new())).unwrap();
        for place in [0, length / 3, 0, length, 0] {
            spool.seek(SeekFrom::Start(place as u64)).unwrap();
            let mut found = String::new();
            spool.read_to_string(&mut found).unwrap();
            assert!(found == text[place..], "{length} from {place}");
        }
    }
}
