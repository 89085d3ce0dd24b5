//! Columns: nouns out of rows and into them.

use jiff::Timestamp;
use rusqlite::types::Type;
use rusqlite::{Row, RowIndex};
use serde::Serialize;
use serde::de::value::Error as Unreadable;
use serde::de::{DeserializeOwned, IntoDeserializer};

use crate::base::error::{Error, ErrorKind, Result};
use crate::model::memory::Importance;

/// An importance from its number in rows.
pub(super) fn importance(number: usize) -> Importance {
    Importance::ALL.get(number).copied().unwrap_or(Importance::Normal)
}

/// A noun from a column that holds it as plain text.
pub(super) fn text<T: DeserializeOwned>(
    row: &Row<'_>,
    column: impl RowIndex,
) -> rusqlite::Result<T> {
    let text = row.get_ref(column)?.as_str()?;
    let read = IntoDeserializer::<Unreadable>::into_deserializer(text);
    T::deserialize(read).map_err(|error| unreadable(row, column, error))
}

/// A noun from a column that holds it as plain text or NULL.
pub(super) fn optional_text<T: DeserializeOwned>(
    row: &Row<'_>,
    column: impl RowIndex,
) -> rusqlite::Result<Option<T>> {
    match row.get_ref(column)?.data_type() {
        Type::Null => Ok(None),
        _ => text(row, column).map(Some),
    }
}

/// A noun from a column that holds it as JSON.
pub(super) fn json<T: DeserializeOwned>(
    row: &Row<'_>,
    column: impl RowIndex,
) -> rusqlite::Result<T> {
    let text = row.get_ref(column)?.as_str()?;
    serde_json::from_str(text).map_err(|error| unreadable(row, column, error))
}

fn unreadable(
    row: &Row<'_>,
    column: impl RowIndex,
    error: impl std::error::Error + Send + Sync + 'static,
) -> rusqlite::Error {
    let place = column.idx(row.as_ref()).unwrap_or(0);
    rusqlite::Error::FromSqlConversionFailure(place, Type::Text, Box::new(error))
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
