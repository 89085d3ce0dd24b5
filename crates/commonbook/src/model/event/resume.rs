//! Where a reader of a journal goes on, and how it notices that the journal is not the one that it read.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::base::error::{Error, Result};

/// Characters of the name of a history at most.
const HISTORY_CHARS_MAX: usize = 64;

/// The name of the event that tells a reader that its position is of another history.
pub const RESYNC_EVENT: &str = "resync";

/// The history that the journals of a store belong to. It is another one after a failover of the
/// database, which may have lost the last commits; a store in a file has one without a name.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct JournalHistory(String);

impl JournalHistory {
    /// The history with this name.
    #[must_use]
    pub fn named(name: impl Into<String>) -> Self {
        Self(name.into())
    }

    /// Whether it is the only history of its store.
    #[must_use]
    pub fn is_only(&self) -> bool {
        self.0.is_empty()
    }
}

/// A position in a journal, and the history in which it was one: `105`, or `105.00000002`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ResumeToken {
    /// The position.
    pub sequence: u64,
    /// The history; `None` if the reader does not say which.
    pub history: Option<JournalHistory>,
}

impl ResumeToken {
    /// The position in this history.
    #[must_use]
    pub fn new(sequence: u64, history: &JournalHistory) -> Self {
        Self { sequence, history: Some(history.clone()) }
    }

    /// Whether the journal that now has this history and this end may have lost what the reader has
    /// read: it has another history, or ends before the position.
    #[must_use]
    pub fn is_lost(&self, history: &JournalHistory, end: u64) -> bool {
        self.sequence > end || self.history.as_ref().is_some_and(|known| known != history)
    }
}

impl fmt::Display for ResumeToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.history {
            Some(history) if !history.is_only() => write!(f, "{}.{}", self.sequence, history.0),
            _ => self.sequence.fmt(f),
        }
    }
}

impl FromStr for ResumeToken {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let (sequence, history) = match text.split_once('.') {
            Some((sequence, history)) => (sequence, Some(JournalHistory::named(history))),
            None => (text, None),
        };
        let is_short = history.as_ref().is_none_or(|history| history.0.len() <= HISTORY_CHARS_MAX);
        match sequence.parse() {
            Ok(sequence) if is_short => Ok(Self { sequence, history }),
            _ => Err(Error::invalid("after", format!("{text:?} is not the id of an event"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_lost_in_another_history_and_beyond_the_end() {
        let (one, two) = (JournalHistory::named("00000001"), JournalHistory::named("00000002"));
        for (token, history, end, is_lost) in [
            ("5.00000001", &one, 5, false),
            ("5.00000001", &one, 9, false),
            ("5.00000001", &one, 4, true),
            ("5.00000001", &two, 9, true),
            ("5", &two, 9, false),
            ("5", &two, 4, true),
            ("0", &two, 0, false),
        ] {
            let token: ResumeToken = token.parse().expect("a token");
            assert_eq!(token.is_lost(history, end), is_lost, "{token} in {history:?} until {end}");
        }
    }

    #[test]
    fn a_token_is_its_text() {
        for text in ["0", "105", "105.00000002"] {
            let token: ResumeToken = text.parse().expect("a token");
            assert_eq!(token.to_string(), text);
        }
        assert_eq!(ResumeToken::new(7, &JournalHistory::default()).to_string(), "7");
        let long = format!("1.{}", "h".repeat(65));
        for wrong in ["", "x", "-1", ".1", "1e3", "99999999999999999999", &long] {
            assert!(wrong.parse::<ResumeToken>().is_err(), "{wrong}");
        }
    }
}
