//! The key of a home: what this home signed is known again, and no model is shown the key.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use hmac::{Hmac, Mac};
use sha2::Sha256;
use subtle::ConstantTimeEq;

use crate::base::error::{Error, ErrorKind, Result};
use crate::base::file_system::{private_folder, private_options};

/// Length of a key, in bytes.
const HOME_KEY_BYTES: usize = 32;

/// The key of a home: the state of HMAC after the key, so that a signature only adds its message.
#[derive(Clone)]
pub struct HomeKey(Hmac<Sha256>);

impl HomeKey {
    /// Reads the key of this home; creates it if the home has none. The folder must exist.
    ///
    /// # Errors
    /// `unavailable` if the key cannot be read or created, or is damaged.
    pub fn open(home: &Path) -> Result<Self> {
        if let Some(key) = Self::read(home)? {
            return Ok(key);
        }
        create_key_file(&key_path(home), &hex(&random_bytes()?))
            .map_err(|error| unwritable_key_error(home, error))?;
        // If another process created a key first, that one counts.
        Self::read(home)?.ok_or_else(|| damaged_key_error(home))
    }

    /// Makes this the key of the home, whatever key it has; creates the folder if it is missing. The
    /// first key that is replaced stays beside it, in `hook.key.before`.
    ///
    /// # Errors
    /// `unavailable` if the key cannot be written.
    pub fn replace(home: &Path, digits: &str) -> Result<()> {
        let path = key_path(home);
        if fs::read_to_string(&path).is_ok_and(|text| text.trim() == digits) {
            return Ok(());
        }
        let replaced = private_folder(home).and_then(|()| {
            let staged = stage_key_file(&path, digits)?;
            // Without an earlier key there is nothing to keep; one that is kept already is the home's own.
            let kept = match fs::hard_link(&path, path.with_file_name("hook.key.before")) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
                kept => kept,
            };
            let renamed = kept.and_then(|()| fs::rename(&staged, &path));
            renamed.inspect_err(|_| drop(fs::remove_file(&staged)))
        });
        replaced.map_err(|error| unwritable_key_error(home, error))
    }

    /// The hexadecimal digits of another key that follows from this one and a purpose, and does not
    /// tell it.
    #[must_use]
    pub fn derived_hex(&self, purpose: &str) -> String {
        hex(&self.derived_bytes(purpose))
    }

    /// The bytes of that key.
    #[must_use]
    pub fn derived_bytes(&self, purpose: &str) -> [u8; 32] {
        self.sign(&format!("key\n{purpose}"))
    }

    /// A key of no home, for this process alone.
    ///
    /// # Errors
    /// `unavailable` if the machine has no random bits.
    pub fn random() -> Result<Self> {
        random_bytes().map(Self::of)
    }

    /// The hexadecimal digits of a new key, for a store that keeps one.
    ///
    /// # Errors
    /// `unavailable` if the machine has no random bits.
    pub fn random_hex() -> Result<String> {
        Ok(hex(&random_bytes()?))
    }

    fn of(bytes: [u8; HOME_KEY_BYTES]) -> Self {
        Self(Hmac::<Sha256>::new_from_slice(&bytes).expect("HMAC takes a key of any length"))
    }

    /// The key with these hexadecimal digits; `None` for any other text.
    #[must_use]
    pub fn from_hex(text: &str) -> Option<Self> {
        parse_hex(text).and_then(|bytes| bytes.try_into().ok()).map(Self::of)
    }

    /// Reads the key of this home, if it has one.
    ///
    /// # Errors
    /// `unavailable` if the key cannot be read or is damaged.
    pub fn read(home: &Path) -> Result<Option<Self>> {
        let path = key_path(home);
        // A pipe would keep its reader waiting.
        if fs::metadata(&path).is_ok_and(|found| !found.is_file()) {
            return Err(damaged_key_error(home));
        }
        match fs::read_to_string(&path) {
            Ok(text) => {
                Self::from_hex(text.trim()).map(Some).ok_or_else(|| damaged_key_error(home))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                Err(damaged_key_error(home))
            }
            Err(error) => {
                let message = format!("cannot read {}: {error}", path.display());
                Err(Error::new(ErrorKind::Unavailable, message)
                    .hint("Check its permissions.")
                    .with_cause(error))
            }
        }
    }

    /// HMAC-SHA-256 of a message (RFC 2104).
    #[must_use]
    pub fn sign(&self, message: &str) -> [u8; 32] {
        self.0.clone().chain_update(message).finalize().into_bytes().into()
    }
}

impl HomeKey {
    /// The signature of a message, as hexadecimal digits.
    #[must_use]
    pub fn signature(&self, message: &str) -> String {
        hex(&self.sign(message))
    }

    /// Whether this is the signature of a message by this key; compares in constant time.
    #[must_use]
    pub fn proves(&self, message: &str, signature: &str) -> bool {
        parse_hex(signature)
            .is_some_and(|signature| self.sign(message).as_slice().ct_eq(&signature).into())
    }

    /// A content with its signature, as text. Only [`Self::unseal`] with the same purpose reads it.
    #[must_use]
    pub fn seal(&self, purpose: &str, content: &str) -> String {
        let signature = self.sign(&sealed_message(purpose, content));
        format!("{}.{}", hex(content.as_bytes()), hex(&signature))
    }

    /// The content of a sealed text; `None` if this key has not sealed it for this purpose.
    #[must_use]
    pub fn unseal(&self, purpose: &str, text: &str) -> Option<String> {
        let (content, signature) = text.split_once('.')?;
        let content = String::from_utf8(parse_hex(content)?).ok()?;
        let expected = self.sign(&sealed_message(purpose, &content));
        let is_right = expected.as_slice().ct_eq(&parse_hex(signature)?);
        bool::from(is_right).then_some(content)
    }
}

/// The purpose is part of what is signed, so that a text for one purpose is worthless for another.
fn sealed_message(purpose: &str, content: &str) -> String {
    format!("{purpose}\n{content}")
}

fn random_bytes() -> Result<[u8; HOME_KEY_BYTES]> {
    let mut bytes = [0; HOME_KEY_BYTES];
    getrandom::fill(&mut bytes).map_err(|error| {
        Error::new(ErrorKind::Unavailable, "the machine has no random bits").with_cause(error)
    })?;
    Ok(bytes)
}

/// Writes the whole key to a file of its own, and then gives it its name unless that is taken.
fn create_key_file(path: &Path, text: &str) -> io::Result<()> {
    let staged = stage_key_file(path, text)?;
    let linked = fs::hard_link(&staged, path);
    let removed = fs::remove_file(&staged);
    match linked {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => removed,
        linked => linked.and(removed),
    }
}

/// Writes the whole key to a new file beside its own; returns the path of that file.
fn stage_key_file(path: &Path, text: &str) -> io::Result<PathBuf> {
    let mut name = [0; 8];
    getrandom::fill(&mut name).map_err(io::Error::other)?;
    let staged = path.with_file_name(format!(".commonbook-{}", hex(&name)));
    let created = private_options().write(true).create_new(true).open(&staged);
    let written = created.and_then(|mut file| {
        file.write_all(text.as_bytes())?;
        file.sync_all()
    });
    match written {
        Ok(()) => Ok(staged),
        Err(error) => {
            drop(fs::remove_file(&staged));
            Err(error)
        }
    }
}

fn key_path(home: &Path) -> PathBuf {
    home.join("hook.key")
}

fn unwritable_key_error(home: &Path, error: io::Error) -> Error {
    let message = format!("cannot write {}: {error}", key_path(home).display());
    Error::new(ErrorKind::Unavailable, message)
        .hint("Check the permissions of the folder and the free disk space.")
        .with_cause(error)
}

fn damaged_key_error(home: &Path) -> Error {
    let message = format!("the key of the home is damaged: {}", key_path(home).display());
    Error::new(ErrorKind::Unavailable, message).hint(
        "Restore `hook.key` from a backup of the home. Without one, move it away: the next command makes a new key, \
         and what the old one signed (rules in projects, exports, files of vaults) counts as others' until you agree \
         to it again.",
    )
}

/// Bytes as hexadecimal digits.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The bytes of a text of hexadecimal digits; `None` for any other text.
#[must_use]
pub fn parse_hex(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let pairs = (0..text.len()).step_by(2);
    pairs.map(|at| u8::from_str_radix(&text[at..at + 2], 16).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::file_system::mode_of;

    #[test]
    fn a_signature_is_that_of_rfc_4231() {
        // Test case 2. HMAC fills a short key with zeros to a block.
        let mut key = [0; HOME_KEY_BYTES];
        key[..4].copy_from_slice(b"Jefe");
        let signature = hex(&HomeKey::of(key).sign("what do ya want for nothing?"));
        assert_eq!(signature, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    }

    #[test]
    fn a_sealed_text_is_read_by_its_key_for_its_purpose_alone() {
        let key =
            |digit: &str| HomeKey::from_hex(&digit.repeat(2 * HOME_KEY_BYTES)).expect("a key");
        let (key, other) = (key("7"), key("8"));
        let text = key.seal("cookie", "until 2026");
        assert_eq!(key.unseal("cookie", &text).as_deref(), Some("until 2026"));
        assert_eq!(key.unseal("link", &text), None, "another purpose");
        assert_eq!(other.unseal("cookie", &text), None, "another key");
        let (content, signature) = text.split_once('.').expect("two parts");
        let longer = format!("{content}30.{signature}");
        for wrong in ["", ".", "zz.zz", content, signature, &longer] {
            assert_eq!(key.unseal("cookie", wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_replaced_key_of_a_home_is_kept_beside_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = folder.path().join("home");
        let (first, second) = ("1".repeat(64), "2".repeat(64));
        let text = |name: &str| fs::read_to_string(home.join(name)).unwrap_or_default();
        HomeKey::replace(&home, &first).expect("a folder is created");
        assert_eq!((text("hook.key"), text("hook.key.before")), (first.clone(), String::new()));
        for _ in 0..2 {
            HomeKey::replace(&home, &second).expect("another key");
            assert_eq!(
                (text("hook.key"), text("hook.key.before")),
                (second.clone(), first.clone())
            );
        }
        let opened = HomeKey::open(&home).expect("the key");
        assert_eq!(opened.sign("x"), HomeKey::from_hex(&second).expect("a key").sign("x"));
        let names = fs::read_dir(&home).expect("entries").count();
        assert_eq!(names, 2, "nothing else is left in the folder");
    }

    #[test]
    fn a_damaged_key_is_named_and_never_replaced() {
        let home = tempfile::tempdir().expect("a folder");
        let path = key_path(home.path());
        for content in [&b""[..], b"{", b"abcdef", b"\xff\xfe"] {
            fs::write(&path, content).expect("written");
            let error = HomeKey::open(home.path()).map(drop).expect_err("damaged");
            assert!(error.message.contains("is damaged"), "{error}");
            assert!(error.hint.is_some_and(|hint| hint.contains("from a backup")));
            assert_eq!(fs::read(&path).expect("read"), content);
        }
        fs::remove_file(&path).expect("removed");
        fs::create_dir(&path).expect("created");
        let error = HomeKey::open(home.path()).map(drop).expect_err("a folder");
        assert!(error.message.contains("is damaged"), "{error}");
    }

    #[test]
    fn a_home_has_one_key() {
        let home = tempfile::tempdir().expect("a folder");
        assert!(HomeKey::read(home.path()).expect("no key").is_none());
        let first = HomeKey::open(home.path()).expect("a key");
        let again = HomeKey::open(home.path()).expect("the same key");
        assert_eq!(first.sign("x"), again.sign("x"));
        let file = fs::metadata(key_path(home.path())).expect("a file");
        assert!(mode_of(&file).is_none_or(|mode| mode == 0o600), "the key is its user's alone");
        assert_eq!(fs::read_dir(home.path()).expect("a folder").count(), 1, "nothing else is left");
        fs::write(key_path(home.path()), "not a key").expect("a file");
        assert!(HomeKey::open(home.path()).is_err());
    }
}
