//! Pages of long lists: how many at once, and where the next page begins.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::error::{Error, Result};

/// One page of a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Page<T> {
    /// The things on this page, in order.
    pub items: Vec<T>,
    /// Where the next page begins; `null` on the last one.
    pub next: Option<PageCursor>,
}

/// The place where a page begins: opaque to callers, numbers within.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(extend("pattern" = "^c[0-9a-fA-F]+([.][0-9a-fA-F]+)*$"))]
pub struct PageCursor(Vec<u64>);

impl PageCursor {
    /// A cursor that holds these numbers.
    #[must_use]
    pub fn of(numbers: &[u64]) -> Self {
        Self(numbers.to_vec())
    }

    /// The numbers of a cursor that this verb has made.
    ///
    /// # Errors
    /// `invalid` when it holds another number of numbers, so comes from another list.
    pub fn numbers<const N: usize>(&self) -> Result<[u64; N]> {
        self.0.clone().try_into().map_err(|_| Self::foreign_cursor())
    }

    /// The place in a list that a cursor holds.
    ///
    /// # Errors
    /// `invalid` when it comes from another list, or holds what can be no place in any.
    pub fn position(&self) -> Result<u64> {
        let [place] = self.numbers()?;
        i64::try_from(place).map_or_else(|_| Err(Self::foreign_cursor()), |_| Ok(place))
    }

    /// The numbers of a cursor, as many as there are.
    pub(crate) fn as_slice(&self) -> &[u64] {
        &self.0
    }

    /// The answer to a cursor that this list has not given.
    pub(crate) fn foreign_cursor() -> Error {
        Error::invalid("cursor", "this is not a cursor of this list")
            .hint("Send back the `next` of the page before, unchanged, or leave it out.")
    }
}

impl fmt::Display for PageCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, number) in self.0.iter().enumerate() {
            write!(f, "{}{number:x}", if place == 0 { "c" } else { "." })?;
        }
        Ok(())
    }
}

impl From<PageCursor> for String {
    fn from(cursor: PageCursor) -> Self {
        cursor.to_string()
    }
}

impl TryFrom<String> for PageCursor {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        let digits = text.strip_prefix('c').ok_or_else(Self::foreign_cursor)?;
        // A sign is read as part of a number, and is none of ours.
        let number = |part: &str| match part.starts_with('+') {
            true => None,
            false => u64::from_str_radix(part, 16).ok(),
        };
        digits
            .split('.')
            .map(number)
            .collect::<Option<_>>()
            .map(Self)
            .ok_or_else(Self::foreign_cursor)
    }
}

/// How many things are wanted, between 1 and `max`, or `default` when none was asked for.
///
/// # Errors
/// `invalid` when the number is outside.
pub fn page_size(field: &str, wanted: Option<u32>, default: u32, max: u32) -> Result<u32> {
    match wanted {
        None => Ok(default),
        Some(n) if (1..=max).contains(&n) => Ok(n),
        Some(n) => Err(Error::invalid(field, format!("{n} is not between 1 and {max}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::error::ErrorKind;

    #[test]
    fn a_place_that_no_list_has_is_refused_with_its_field() {
        let read = |text: &str| PageCursor::try_from(text.to_owned()).and_then(|it| it.position());
        assert_eq!(
            (read("c1f").ok(), read("c7fffffffffffffff").ok()),
            (Some(31), Some(u64::MAX / 2))
        );
        for text in ["cffffffffffffffff", "c8000000000000000", "c1.2", "c", "c10000000000000000"] {
            let error = read(text).expect_err(text);
            assert_eq!((error.kind, error.field.as_deref()), (ErrorKind::Invalid, Some("cursor")));
        }
    }
}
