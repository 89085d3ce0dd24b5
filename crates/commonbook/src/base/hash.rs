//! Hashes of texts, requests and imported lines.

use sha2::{Digest, Sha256};

/// The first 64 bits of the SHA-256 of a text: a key of rows, never a proof.
#[must_use]
pub fn short_hash(text: &str) -> i64 {
    let digest = Sha256::digest(text.as_bytes());
    digest.iter().take(8).fold(0, |key, byte| key << 8 | i64::from(*byte))
}

/// The SHA-256 of a text, in hexadecimal.
#[must_use]
pub fn sha256(text: &str) -> String {
    format!("{:x}", Sha256::digest(text.as_bytes()))
}
