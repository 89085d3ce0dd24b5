//! Keys, tokens and addresses with passwords, which no log shows.

use serde::Deserialize;

/// A text that debug output hides.
#[derive(Clone, Deserialize)]
#[serde(transparent)]
pub struct SecretString(pub(crate) String);

impl std::fmt::Debug for SecretString {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SecretString")
    }
}
