//! A file that was cut or altered is refused, or is the same.

use crate::{LINES, lines_of, lines_with, refusal, written};
use commonbook_archive::{ArchiveError, ArchiveKeys};

#[test]
fn an_archive_that_is_cut_anywhere_is_refused() {
    let (file, _) = written(LINES, None);
    for length in 0..file.len() {
        let error = lines_of(&file[..length]).unwrap_err();
        assert!(
            matches!(error, ArchiveError::Damage(_)) || length < 2,
            "cut at {length} of {}: {error}",
            file.len()
        );
    }
    assert_eq!(refusal(&file[..file.len() - 1]), "the archive is damaged: the file ends early");
}

#[test]
fn an_archive_with_a_flipped_bit_is_refused_or_has_the_same_lines() {
    let (file, _) = written(LINES, None);
    let expected = lines_of(&file).unwrap();
    let mut same = 0;
    for place in 0..file.len() {
        for bit in 0..8 {
            let mut other = file.clone();
            other[place] ^= 1 << bit;
            if let Ok(lines) = lines_of(&other) {
                assert_eq!(lines, expected, "bit {bit} of byte {place}");
                // The marks, time and system in the head of a gzip file, and the bits that fill its last byte of data.
                let is_ignored = (3..10).contains(&place) || place == file.len() - 9;
                assert!(is_ignored, "bit {bit} of byte {place} is not noticed");
                same += 1;
            }
        }
    }
    assert!(same > 0);
}

#[test]
fn an_archive_with_anything_after_its_end_is_refused() {
    let (file, _) = written(LINES, None);
    let rests: [&[u8]; 4] = [b"\0", b"x", &file, &[0; 2_000]];
    for rest in rests {
        let error = refusal(&[file.as_slice(), rest].concat());
        assert_eq!(error, "the archive is damaged: it has more than its manifest says");
    }
}

#[test]
fn an_encrypted_archive_that_is_cut_or_altered_is_refused() {
    let (encryption, keys) = crate::encryption::pair();
    let (file, _) = written(LINES, Some(&encryption));
    let refused = |file: &[u8], what: &str| match lines_with(file, &keys) {
        Err(ArchiveError::Io(error)) => panic!("{what}: {error}"),
        Err(_) => {}
        Ok(_) => panic!("{what} is not noticed"),
    };
    for length in 0..file.len() {
        refused(&file[..length], &format!("a cut at {length}"));
    }
    for place in 0..file.len() {
        let mut other = file.clone();
        other[place] ^= 1 << (place % 8);
        refused(&other, &format!("a flip at {place}"));
    }
    refused(&[file.as_slice(), b"x"].concat(), "a byte more");
    assert!(matches!(lines_with(&file, &ArchiveKeys::None), Err(ArchiveError::MissingKey(_))));
}
