//! Archives for the holders of a key, and with a passphrase.

use std::io::Cursor;

use age::secrecy::ExposeSecret;
use age::x25519::Identity;
use commonbook_archive::{
    Archive, ArchiveError, ArchiveKeys, Encryption, KeyKind, RecipientError, spool,
};

use crate::{LINES, lines_with, written};

/// Encryption for a new key, and that key.
pub(crate) fn pair() -> (Encryption, ArchiveKeys) {
    let identity = Identity::generate();
    (encryption(&[&identity]), keys(&[&identity]))
}

fn encryption(identities: &[&Identity]) -> Encryption {
    let recipients: Vec<String> =
        identities.iter().map(|identity| identity.to_public().to_string()).collect();
    Encryption::to_recipients(recipients.iter().map(String::as_str)).unwrap()
}

/// The keys, each from a file as `age-keygen` writes it.
fn keys(identities: &[&Identity]) -> ArchiveKeys {
    let files = identities.iter().map(|identity| {
        let secret = identity.to_string();
        Cursor::new(format!("# created: today\n\n{}\n", secret.expose_secret()))
    });
    ArchiveKeys::of_identities(files).unwrap()
}

fn expected() -> String {
    LINES.iter().map(|line| format!("{line}\n")).collect()
}

#[test]
fn each_recipient_reads_and_nobody_else_does() {
    let (ann, ben, eve) = (Identity::generate(), Identity::generate(), Identity::generate());
    let (file, _) = written(LINES, Some(&encryption(&[&ann, &ben])));
    assert!(file.starts_with(b"age-encryption.org/v1\n"));
    for readers in [&[&ann][..], &[&ben], &[&eve, &ben]] {
        assert_eq!(lines_with(&file, &keys(readers)).unwrap(), expected());
    }
    let refused = |keys: &ArchiveKeys| lines_with(&file, keys).unwrap_err();
    assert!(matches!(refused(&keys(&[&eve])), ArchiveError::WrongKey(KeyKind::Identity)));
    let missing = [ArchiveKeys::None, ArchiveKeys::of_passphrase("harbour".to_owned())];
    for other in missing {
        assert!(matches!(refused(&other), ArchiveError::MissingKey(KeyKind::Identity)));
    }
}

#[test]
fn a_passphrase_reads_what_it_encrypted() {
    let phrase = |text: &str| ArchiveKeys::of_passphrase(text.to_owned());
    let encryption = Encryption::with_passphrase("Möwe am Kai".to_owned());
    let (file, _) = written(LINES, Some(&encryption));
    assert_eq!(lines_with(&file, &phrase("Möwe am Kai")).unwrap(), expected());
    let refused = |keys: &ArchiveKeys| lines_with(&file, keys).unwrap_err();
    let wrong = refused(&phrase("Möwe am Kai "));
    assert!(matches!(wrong, ArchiveError::WrongKey(KeyKind::Passphrase)), "{wrong}");
    let other_kind = refused(&keys(&[&Identity::generate()]));
    assert!(matches!(other_kind, ArchiveError::MissingKey(KeyKind::Passphrase)), "{other_kind}");
}

#[test]
fn a_passphrase_with_too_much_work_is_not_tried() {
    let mut recipient = age::scrypt::Recipient::new("x".to_owned().into());
    recipient.set_work_factor(4);
    let file = age::encrypt(&recipient, b"x").unwrap();
    let text = String::from_utf8_lossy(&file).into_owned();
    // The header is refused before its checksum is compared.
    let line = text.lines().find(|line| line.starts_with("-> scrypt ")).unwrap();
    let harder = format!("{}40", &line[..line.len() - 1]);
    let place = line.as_ptr() as usize - text.as_ptr() as usize;
    let file = [&file[..place], harder.as_bytes(), &file[place + line.len()..]].concat();
    let error = lines_with(&file, &ArchiveKeys::of_passphrase("x".to_owned())).unwrap_err();
    assert!(matches!(error, ArchiveError::ExcessiveWork { required: 40, most: 20 }), "{error}");
}

#[test]
fn a_key_for_an_archive_that_is_not_encrypted_is_refused() {
    // Else who exchanges an encrypted file for another one would not be noticed.
    let (file, _) = written(LINES, None);
    let error = lines_with(&file, &pair().1).unwrap_err();
    assert!(matches!(error, ArchiveError::Unencrypted), "{error}");
}

#[test]
fn what_is_encrypted_must_be_an_archive() {
    let identity = Identity::generate();
    let file = age::encrypt(&identity.to_public(), b"{\"text\":\"x\"}\n").unwrap();
    let error = lines_with(&file, &keys(&[&identity])).unwrap_err();
    assert!(matches!(error, ArchiveError::Foreign(_)), "{error}");
}

#[test]
fn a_text_that_is_no_recipient_is_named_by_its_number() {
    let ann = Identity::generate().to_public().to_string();
    for other in ["", "age1", "ssh-ed25519 AAAA", "AGE-SECRET-KEY-1", &ann.to_uppercase()[..40]] {
        let error = Encryption::to_recipients([ann.as_str(), other]).err();
        assert_eq!(error, Some(RecipientError { number: 2 }), "{other}");
    }
    for file in ["", "# nothing\n", "age1xyz\n", &ann] {
        assert!(ArchiveKeys::of_identities([Cursor::new(file)]).is_err(), "{file}");
    }
}

#[test]
fn a_long_encrypted_archive_is_read_from_a_spool() {
    let mut random = fastrand::Rng::with_seed(3);
    let mut noise = || (0..80).map(|_| random.alphanumeric()).collect::<String>();
    let lines: Vec<String> = (0..9_000).map(|_| format!("{{\"text\":\"{}\"}}", noise())).collect();
    let (encryption, keys) = pair();
    let (file, _) = written(lines.iter().map(String::as_str), Some(&encryption));
    assert!(file.len() > 4 * 65_536);
    let spool = spool(&mut file.as_slice(), Cursor::new(Vec::new())).unwrap();
    let archive = Archive::open(spool, &keys).unwrap();
    let found = std::io::read_to_string(archive.into_lines().unwrap()).unwrap();
    assert!(found.lines().eq(lines.iter().map(String::as_str)));
}
