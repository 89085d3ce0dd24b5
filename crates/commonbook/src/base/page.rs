//! Pages of long lists.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::base::error::{Error, Result};
use crate::base::id::{Id, IdKind};
use crate::base::{input, limits};

/// One page of a list, in its order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "{T}Page")]
pub struct Page<T> {
    /// The items.
    pub items: Vec<T>,
    /// The cursor of the next page; `null` on the last page.
    pub next: Option<PageCursor>,
}

impl<T> Page<T> {
    /// The page with every item converted.
    pub fn map<U>(self, convert: impl FnMut(T) -> U) -> Page<U> {
        Page { items: self.items.into_iter().map(convert).collect(), next: self.next }
    }
}

/// The size of a requested page, and how rows become that page.
#[derive(Debug, Clone, Copy)]
pub struct PageSize(u32);

impl PageSize {
    /// Reads the `limit` of a request: 1 to [`limits::PAGE_MAX`], [`limits::PAGE_DEFAULT`] by
    /// default.
    ///
    /// # Errors
    /// `invalid` if it is out of range.
    pub fn of(limit: Option<u32>) -> Result<Self> {
        page_size("limit", limit, limits::PAGE_DEFAULT, limits::PAGE_MAX).map(Self)
    }

    /// The number of items.
    #[must_use]
    pub const fn items(self) -> u32 {
        self.0
    }

    /// The number of rows to fetch: the extra row shows that another page follows.
    #[must_use]
    pub const fn rows(self) -> u32 {
        self.0 + 1
    }

    /// The page of fetched rows; `cursor` points after a row.
    pub fn page<R>(self, mut rows: Vec<R>, cursor: impl FnOnce(&R) -> PageCursor) -> Page<R> {
        let more = rows.len() > self.0 as usize;
        rows.truncate(self.0 as usize);
        let next = rows.last().filter(|_| more).map(cursor);
        Page { items: rows, next }
    }

    /// The page of fetched rows, each with its position in the list.
    #[must_use]
    pub fn page_by_position<T>(self, rows: Vec<(u64, T)>) -> Page<T> {
        self.page(rows, |(position, _)| PageCursor::of(&[*position])).map(|(_, item)| item)
    }
}

/// The position where a page begins; opaque to callers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(extend("pattern" = "^c[0-9a-fA-F]+([.][0-9a-fA-F]+)*$"))]
pub struct PageCursor(Vec<u64>);

impl PageCursor {
    /// A cursor with these numbers.
    #[must_use]
    pub fn of(numbers: &[u64]) -> Self {
        Self(numbers.to_vec())
    }

    /// The numbers of a cursor of this list.
    ///
    /// # Errors
    /// `invalid` if it has a different number of numbers, so comes from another list.
    pub fn numbers<const N: usize>(&self) -> Result<[u64; N]> {
        self.0.clone().try_into().map_err(|_| Self::foreign_cursor())
    }

    /// A cursor after the item with this id.
    #[must_use]
    pub fn after<K: IdKind>(id: Id<K>) -> Self {
        let (high, low) = id.uuid().as_u64_pair();
        Self::of(&[high, low])
    }

    /// The id of a cursor made by [`Self::after`].
    ///
    /// # Errors
    /// `invalid` if it comes from another list.
    pub fn id<K: IdKind>(&self) -> Result<Id<K>> {
        let [high, low] = self.numbers()?;
        Ok(Id::from_uuid(Uuid::from_u64_pair(high, low)))
    }

    /// The position of a cursor in a list.
    ///
    /// # Errors
    /// `invalid` if it comes from another list, or its position is impossible.
    pub fn position(&self) -> Result<u64> {
        let [place] = self.numbers()?;
        i64::try_from(place).map_or_else(|_| Err(Self::foreign_cursor()), |_| Ok(place))
    }

    pub(crate) fn as_slice(&self) -> &[u64] {
        &self.0
    }

    /// The error for a cursor of another list.
    pub(crate) fn foreign_cursor() -> Error {
        Error::invalid("cursor", "is not a cursor of this list")
            .hint("Send the `next` of the previous page unchanged, or leave the cursor out.")
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
        // `from_str_radix` accepts a sign.
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

/// The number of items on a page: `wanted`, from 1 to `max`, or else `default`.
///
/// # Errors
/// `invalid` if it is out of range.
pub fn page_size(field: &str, wanted: Option<u32>, default: u32, max: u32) -> Result<u32> {
    input::in_range(field, wanted.unwrap_or(default), 1..=max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::error::ErrorKind;

    #[test]
    fn an_impossible_cursor_is_refused_with_its_field() {
        let read =
            |text: &str| PageCursor::try_from(text.to_owned()).and_then(|cursor| cursor.position());
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
