//! What an agent has not read of cases: the entries of others behind its read mark.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::CaseKey;
use crate::base::error::{Error, Result};
use crate::base::limits;

/// Counts the entries of cases that you have not read: those that other agents appended behind your
/// read mark, without retracted ones.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CountUnread {
    /// The keys of the cases, at most 100.
    pub cases: Vec<CaseKey>,
}

/// What the caller has not read of cases.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnreadList {
    /// The cases, in the order of the request.
    pub items: Vec<UnreadCount>,
}

/// What the caller has not read of a case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnreadCount {
    /// The case.
    pub case: CaseKey,
    /// The read mark: the position up to which the caller has read.
    pub mark: u64,
    /// Number of entries of others behind the mark.
    pub unread: u64,
}

impl CountUnread {
    /// Checks the number of cases.
    ///
    /// # Errors
    /// `too_large` for more than a page of them.
    pub fn check(&self) -> Result<()> {
        let (found, limit) = (self.cases.len(), limits::PAGE_MAX as usize);
        match found <= limit {
            true => Ok(()),
            false => Err(Error::too_large("cases", found, limit, "cases")
                .hint("Count those of the others in a further call.")),
        }
    }
}
