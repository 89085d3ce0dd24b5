//! Keys: the names of cases, as people and agents write them.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::error::{Error, Result};
use crate::base::{input, limits};

/// The name of a case in its workspace: lower-case letters, digits, `-` and `.`. Spaces and `_`
/// become `-`, so that no key looks like an id.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(try_from = "String", into = "String")]
#[schemars(extend("minLength" = 1, "maxLength" = limits::CASE_KEY_CHARS))]
pub struct CaseKey(String);

impl CaseKey {
    /// The key as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// A key derived from a title: characters that a key cannot hold become `-`.
    #[must_use]
    pub fn from_title(title: &str) -> Option<Self> {
        let mut key = String::new();
        for c in title.to_lowercase().chars() {
            match c.is_alphanumeric() || c == '.' {
                true => key.push(c),
                false if key.ends_with('-') => {}
                false => key.push('-'),
            }
        }
        let begun = key.trim_start_matches(['-', '.']);
        let short: String = begun.chars().take(limits::CASE_KEY_CHARS).collect();
        short.trim_end_matches(['-', '.']).parse().ok()
    }
}

impl FromStr for CaseKey {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        // A list shows a key behind the mark of an item.
        let text = text.trim().trim_start_matches('#').replace(['_', ' '], "-");
        input::slug("key", &text, limits::CASE_KEY_CHARS).map(Self)
    }
}

impl TryFrom<String> for CaseKey {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

impl From<CaseKey> for String {
    fn from(key: CaseKey) -> Self {
        key.0
    }
}

impl fmt::Display for CaseKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
