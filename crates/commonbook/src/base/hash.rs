//! Hashes of texts, requests and imported lines.

use sha2::{Digest, Sha256};

/// The SHA-256 of a text, in hexadecimal.
#[must_use]
pub fn sha256(text: &str) -> String {
    format!("{:x}", Sha256::digest(text.as_bytes()))
}
