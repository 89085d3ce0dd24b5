//! Archives on the command line: for whom they are encrypted, what decrypts them, and why one is refused.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use crate::system::modes::OTHERS_MODE_BITS;
use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::base::file_system::mode_of;
use commonbook_archive::{ArchiveError, ArchiveKeys, Encryption, KeyKind, RecipientError};

/// Characters of a passphrase that encrypts: fewer are guessed.
const PASSPHRASE_CHARS_MIN: usize = 12;

/// Different characters of such a passphrase.
const DIFFERENT_CHARS_MIN: usize = 5;

/// Bytes of a file with a passphrase or with recipients.
const KEY_FILE_BYTES_MAX: u64 = 1 << 20;

/// For whom an archive is encrypted.
#[derive(Debug, clap::Args)]
pub(super) struct ArchiveEncryptionOptions {
    /// Encrypt the archive for this age recipient (age1…); repeatable
    #[arg(long, value_name = "RECIPIENT")]
    recipient: Vec<String>,
    /// Encrypt the archive for the age recipients of this file, one a line; repeatable
    #[arg(long, value_name = "FILE")]
    recipients_file: Vec<PathBuf>,
    /// Encrypt the archive with the passphrase in this file
    #[arg(long, value_name = "FILE", conflicts_with_all = ["recipient", "recipients_file"])]
    passphrase_file: Option<PathBuf>,
}

/// What decrypts an archive.
#[derive(Debug, clap::Args)]
pub(super) struct ArchiveKeyOptions {
    /// Secret keys for an encrypted archive, a file as age-keygen writes it; repeatable
    #[arg(long, value_name = "FILE")]
    identity: Vec<PathBuf>,
    /// File with the passphrase of an encrypted archive
    #[arg(long, value_name = "FILE", conflicts_with = "identity")]
    passphrase_file: Option<PathBuf>,
}

impl ArchiveEncryptionOptions {
    /// The encryption; `None` without an option.
    ///
    /// # Errors
    /// `invalid` if a file cannot be read, a recipient is none, or there is none at all.
    pub(super) fn read(&self) -> Result<Option<Encryption>> {
        if let Some(path) = &self.passphrase_file {
            let passphrase = read_passphrase(path)?;
            let chars = passphrase.chars().count();
            if chars < PASSPHRASE_CHARS_MIN {
                let message = format!("{} has a passphrase of {chars} characters", path.display());
                let hint =
                    format!("Expected {PASSPHRASE_CHARS_MIN} or more, such as five random words.");
                return Err(Error::invalid("--passphrase-file", message).hint(hint));
            }
            if let Some(reason) = weakness_of(&passphrase) {
                let message = format!("{} has a passphrase that {reason}", path.display());
                return Err(Error::invalid("--passphrase-file", message)
                    .hint("Choose five random words, or letters that a program made."));
            }
            return Ok(Some(Encryption::with_passphrase(passphrase)));
        }
        if self.recipient.is_empty() && self.recipients_file.is_empty() {
            return Ok(None);
        }
        // Where each stands: a secret key that was given by mistake must not be shown.
        let own = self.recipient.iter().enumerate();
        let mut found: Vec<(String, String)> = own
            .map(|(index, text)| (format!("--recipient number {}", index + 1), text.trim().into()))
            .collect();
        for path in &self.recipients_file {
            let text = read_key_file("--recipients-file", path)?;
            for (index, line) in text.lines().map(str::trim).enumerate() {
                if !line.is_empty() && !line.starts_with('#') {
                    found.push((format!("{}, line {}", path.display(), index + 1), line.into()));
                }
            }
        }
        if found.is_empty() {
            return Err(Error::invalid("--recipients-file", "no recipient is in the files")
                .hint("Write a recipient (age1…) on a line of its own."));
        }
        let recipients = found.iter().map(|(_, text)| text.as_str());
        Encryption::to_recipients(recipients).map(Some).map_err(|RecipientError { number }| {
            let place = &found[number - 1].0;
            let message = format!("{place} is not a recipient; expected age1…");
            Error::invalid("--recipient", message)
                .hint("`age-keygen -y KEYFILE` prints the recipient of a secret key.")
        })
    }

    /// Whether an option is given.
    pub(super) fn is_given(&self) -> bool {
        !self.recipient.is_empty()
            || !self.recipients_file.is_empty()
            || self.passphrase_file.is_some()
    }
}

impl ArchiveKeyOptions {
    /// The keys.
    ///
    /// # Errors
    /// `invalid` if a file cannot be read or has no key.
    pub(super) fn read(&self) -> Result<ArchiveKeys> {
        if let Some(path) = &self.passphrase_file {
            return read_passphrase(path).map(ArchiveKeys::of_passphrase);
        }
        if self.identity.is_empty() {
            return Ok(ArchiveKeys::None);
        }
        let mut files = Vec::new();
        for path in &self.identity {
            let file =
                File::open(path).map_err(|error| key_file_error("--identity", path, error))?;
            files.push((path, BufReader::new(file)));
        }
        let mut last = &self.identity[0];
        let files = files.into_iter().map(|(path, file)| {
            last = path;
            file
        });
        ArchiveKeys::of_identities(files).map_err(|error| {
            key_file_error("--identity", last, error).hint(
                "Name a file as `age-keygen` writes it; `age -d` decrypts one with a passphrase.",
            )
        })
    }

    /// Whether an option is given.
    pub(super) fn is_given(&self) -> bool {
        !self.identity.is_empty() || self.passphrase_file.is_some()
    }
}

/// Why a passphrase of enough characters is among the first that are guessed; `None` if it is not.
fn weakness_of(passphrase: &str) -> Option<&'static str> {
    let letters: Vec<char> = passphrase
        .chars()
        .filter(|c| !c.is_whitespace() && !matches!(c, '-' | '_' | '.' | ','))
        .flat_map(char::to_lowercase)
        .collect();
    let different: HashSet<char> = letters.iter().copied().collect();
    if different.len() < DIFFERENT_CHARS_MIN {
        return Some("has fewer than five different characters");
    }
    let repeats =
        |length: usize| letters.iter().zip(letters.iter().skip(length)).all(|(a, b)| a == b);
    if (1..=letters.len() / 2).any(repeats) {
        return Some("repeats one word");
    }
    let (steps, run_steps) =
        (letters.len() - 1, letters.windows(2).filter(|pair| is_run(pair)).count());
    (run_steps * 4 >= steps * 3)
        .then_some("follows the rows of a keyboard, the alphabet or the digits")
}

/// Whether two characters stand side by side on a keyboard, in the alphabet or among the digits.
fn is_run(pair: &[char]) -> bool {
    const ROWS: [&str; 9] = [
        "abcdefghijklmnopqrstuvwxyz",
        "01234567890",
        "qwertyuiop",
        "asdfghjkl;",
        "zxcvbnm,./",
        "qwertzuiopü",
        "asdfghjklöä",
        "yxcvbnm",
        "azertyuiop",
    ];
    let (one, other): (String, String) = (pair.iter().collect(), pair.iter().rev().collect());
    pair.first() == pair.last() || ROWS.iter().any(|row| row.contains(&one) || row.contains(&other))
}

/// The passphrase in a file: its only line.
fn read_passphrase(path: &Path) -> Result<String> {
    const OPTION: &str = "--passphrase-file";
    let text = read_key_file(OPTION, path)?;
    if is_open_to_others(path) {
        let path = path.display();
        return Err(Error::invalid(OPTION, format!("other users can read {path}"))
            .hint(format!("Run `chmod 600 {path}`.")));
    }
    let line = text.strip_suffix('\n').unwrap_or(&text);
    let line = line.strip_suffix('\r').unwrap_or(line);
    let refuse = |what: &str| {
        Error::invalid(OPTION, format!("{} {what}; expected a passphrase", path.display()))
            .hint("Write the passphrase on the first line of the file, and nothing else.")
    };
    if line.is_empty() {
        return Err(refuse("is empty"));
    }
    if line.contains('\n') {
        return Err(refuse("has more than one line"));
    }
    Ok(line.to_owned())
}

/// Whether other users can read a file.
fn is_open_to_others(path: &Path) -> bool {
    let mode = std::fs::metadata(path).ok().and_then(|found| mode_of(&found));
    mode.is_some_and(|mode| mode & OTHERS_MODE_BITS != 0)
}

fn read_key_file(option: &str, path: &Path) -> Result<String> {
    let mut text = String::new();
    File::open(path)
        .and_then(|file| file.take(KEY_FILE_BYTES_MAX).read_to_string(&mut text))
        .map_err(|error| key_file_error(option, path, error))?;
    Ok(text)
}

fn key_file_error(option: &str, path: &Path, error: io::Error) -> Error {
    Error::invalid(option, format!("cannot read {}: {error}", path.display())).with_cause(error)
}

/// The error of an archive that is refused.
pub(super) fn archive_error(path: &Path, error: ArchiveError) -> Error {
    let message = format!("cannot read {}: {error}", path.display());
    let hint = match &error {
        ArchiveError::Foreign(_) => {
            "Name a file of `commonbook export --format archive`; unpack other files first."
        }
        ArchiveError::Damage(_) => {
            "Copy the file again, or export again. Nothing was imported from it."
        }
        ArchiveError::NewerVersion { .. } => "Import it with that version of commonbook.",
        ArchiveError::MissingKey(KeyKind::Identity) => {
            "Name the file of your secret key: --identity FILE."
        }
        ArchiveError::MissingKey(KeyKind::Passphrase) => {
            "Name a file with the passphrase: --passphrase-file FILE."
        }
        ArchiveError::WrongKey(KeyKind::Identity) => {
            "Name another key with --identity, or export again for a recipient of yours."
        }
        ArchiveError::WrongKey(KeyKind::Passphrase) => {
            "Correct the file of --passphrase-file; spaces and capital letters count."
        }
        ArchiveError::Unencrypted => {
            "Leave --identity and --passphrase-file out if you trust who gave you the file."
        }
        ArchiveError::Armor | ArchiveError::ExcessiveWork { .. } => {
            "Decrypt it yourself: `age -d FILE | commonbook import -`."
        }
        ArchiveError::Io(_) => "Check its permissions and the disk. Nothing was imported from it.",
    };
    let refused = Error::invalid("PATH", message).hint(hint);
    match error {
        ArchiveError::Io(error) => {
            Error { kind: ErrorKind::Unavailable, ..refused }.with_cause(error)
        }
        _ => refused,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_passphrase_that_is_guessed_first_is_weak() {
        for weak in [
            "aaaaaaaaaaaa",
            "abababababab",
            "000000000000",
            "1234567890123",
            "abcdefghijklm",
            "qwertyuiopasdf",
            "qwertzuiopasd",
            "asdfghjklqwert",
            "password password",
            "PasswordPassword",
            "secret-secret-secret",
            "zyxwvutsrqpon",
        ] {
            assert!(weakness_of(weak).is_some(), "{weak}");
        }
        for fine in [
            "correct horse battery staple",
            "ramp otter violin cedar mist",
            "kX9!vT2#qLm4",
            "Die Katze schläft auf dem Ofen",
            "d41d8cd98f00b204",
            "合鍵は青い箱の底に置いてあります",
        ] {
            assert_eq!(weakness_of(fine), None, "{fine}");
        }
    }
}
