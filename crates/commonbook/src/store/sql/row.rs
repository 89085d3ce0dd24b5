//! Columns: nouns out of rows and into them.

use jiff::Timestamp;
use serde::Serialize;
use serde::de::value::Error as Unreadable;
use serde::de::{DeserializeOwned, IntoDeserializer};

use super::driver::{ColumnIndex, SqlRow, store_failed};
use crate::base::error::{Error, ErrorKind, Result};
use crate::model::memory::Importance;

/// An importance from its number in rows.
pub(super) fn importance(number: usize) -> Importance {
    Importance::ALL.get(number).copied().unwrap_or(Importance::Normal)
}

/// A noun from a column that holds it as plain text.
pub(super) fn text<T: DeserializeOwned>(row: &SqlRow<'_>, column: impl ColumnIndex) -> Result<T> {
    let text = row.get_ref(column)?.as_str()?;
    let read = IntoDeserializer::<Unreadable>::into_deserializer(text);
    T::deserialize(read).map_err(store_failed)
}

/// A noun from a column that holds it as plain text or NULL.
pub(super) fn optional_text<T: DeserializeOwned>(
    row: &SqlRow<'_>,
    column: impl ColumnIndex,
) -> Result<Option<T>> {
    if row.is_null(column)? { Ok(None) } else { text(row, column).map(Some) }
}

/// A noun from a column that holds it as JSON.
pub(super) fn json<T: DeserializeOwned>(row: &SqlRow<'_>, column: impl ColumnIndex) -> Result<T> {
    serde_json::from_str(row.get_ref(column)?.as_str()?).map_err(store_failed)
}

/// A time from its milliseconds.
pub(super) fn time(milliseconds: i64) -> Timestamp {
    Timestamp::from_millisecond(milliseconds).unwrap_or(Timestamp::UNIX_EPOCH)
}

/// A noun as JSON for a column.
pub(super) fn encode_json(noun: &impl Serialize) -> Result<String> {
    serde_json::to_string(noun).map_err(|error| {
        Error::new(ErrorKind::Internal, "a row could not be encoded").with_cause(error)
    })
}
