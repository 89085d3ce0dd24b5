//! The homes that write a vault: each signs the files that it writes, and is known by its public key.
//!
//! A signature is the public key and the Ed25519 signature (RFC 8032) of the text, with a point between them.

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use commonbook::base::error::{Error, Result};
use commonbook::base::home_key::HomeKey;
use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use serde::{Deserialize, Serialize};

/// The purpose of the secret key, which follows from the key of the home.
const PURPOSE: &str = "files of vaults";

/// How the text of a public key begins: without it a key could begin with `-`, as an option does.
const KEY_PREFIX: &str = "key_";

/// This home as a writer of vaults.
#[derive(Clone)]
pub struct VaultWriter(SigningKey);

impl VaultWriter {
    /// The writer of the home with this key.
    #[must_use]
    pub fn of_home(key: &HomeKey) -> Self {
        Self(SigningKey::from_bytes(&key.derived_bytes(PURPOSE)))
    }

    /// Its public key.
    #[must_use]
    pub fn key(&self) -> WriterKey {
        WriterKey(self.0.verifying_key().to_bytes())
    }

    /// The signature of a text.
    #[must_use]
    pub fn sign(&self, text: &str) -> String {
        let signature = URL_SAFE_NO_PAD.encode(self.0.sign(text.as_bytes()).to_bytes());
        format!("{}.{signature}", self.key())
    }
}

/// The public key of a home that writes vaults, as text `key_` and 43 letters of base64url.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct WriterKey([u8; 32]);

impl WriterKey {
    /// The key that made this signature of a text; `None` if none did.
    #[must_use]
    pub fn of_signature(signature: &str, text: &str) -> Option<Self> {
        let (key, signature) = signature.split_once('.')?;
        let key: Self = key.parse().ok()?;
        let signature = Signature::from_slice(&URL_SAFE_NO_PAD.decode(signature).ok()?).ok()?;
        let public = VerifyingKey::from_bytes(&key.0).ok()?;
        public.verify_strict(text.as_bytes(), &signature).ok().map(|()| key)
    }
}

impl fmt::Display for WriterKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{KEY_PREFIX}{}", URL_SAFE_NO_PAD.encode(self.0))
    }
}

impl fmt::Debug for WriterKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "WriterKey({self})")
    }
}

impl FromStr for WriterKey {
    type Err = Error;

    /// # Errors
    /// `invalid` for any other text.
    fn from_str(text: &str) -> Result<Self> {
        let bytes =
            text.strip_prefix(KEY_PREFIX).and_then(|text| URL_SAFE_NO_PAD.decode(text).ok());
        let bytes = bytes.and_then(|bytes| bytes.try_into().ok());
        bytes.map(Self).ok_or_else(|| {
            Error::invalid("key", "this is not the key of a home; expected `key_` and 43 letters")
                .hint("`commonbook vault accept` prints the keys of those who wrote in a vault.")
        })
    }
}

impl TryFrom<String> for WriterKey {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

impl From<WriterKey> for String {
    fn from(key: WriterKey) -> Self {
        key.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn writer(digit: &str) -> VaultWriter {
        VaultWriter::of_home(&HomeKey::from_hex(&digit.repeat(64)).unwrap())
    }

    #[test]
    fn a_signature_names_its_writer_and_holds_for_one_text_alone() {
        let (ann, bob) = (writer("a"), writer("b"));
        let signature = ann.sign("the gate is green");
        assert_eq!(signature, ann.sign("the gate is green"));
        assert_eq!(WriterKey::of_signature(&signature, "the gate is green"), Some(ann.key()));
        assert_eq!(WriterKey::of_signature(&signature, "the gate is red"), None);
        let (_, rest) = signature.split_once('.').unwrap();
        let stolen = format!("{}.{rest}", bob.key());
        for wrong in [&*stolen, "", ".", "a.b", rest] {
            assert_eq!(WriterKey::of_signature(wrong, "the gate is green"), None, "{wrong}");
        }
    }

    #[test]
    fn a_key_is_read_as_it_is_written() {
        let key = writer("a").key();
        assert_eq!(key.to_string().parse::<WriterKey>().unwrap(), key);
        assert!(key.to_string().starts_with("key_") && key.to_string().len() == 47);
        assert_ne!(key, writer("b").key());
        for wrong in ["", "abc", &"a".repeat(43), &key.to_string()[..46]] {
            wrong.parse::<WriterKey>().unwrap_err();
        }
    }
}
