//! The small driver below all statements: a connection of an engine that runs a statement by its
//! text, the parameters bound to it, and the columns of its rows.
//!
//! Nothing here copies a column: [`ColumnValue`] borrows from the row, and the row from the engine.

use std::fmt;

use crate::base::error::{Error, ErrorKind, Result};
use crate::model::event::JournalHistory;
use crate::store::EngineWork;

/// The access by which a statement reads protected tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReadAccess {
    /// None: it reads no protected table.
    Open,
    /// A sight: the statement carries the permission condition.
    Seen,
    /// A stated reason.
    Unseen,
}

/// A connection in a transaction, to which statements are sent as text.
///
/// An engine prepares each text once, and refuses a statement that reads more than its access
/// permits if it can tell.
pub(crate) trait SqlConnection {
    /// Runs a statement that changes rows; returns their number.
    fn execute(
        &self,
        access: ReadAccess,
        sql: &str,
        parameters: Parameters<'_, '_>,
    ) -> Result<usize>;

    /// Runs a statement, and passes on its rows until `each` returns false.
    fn query(
        &self,
        access: ReadAccess,
        sql: &str,
        parameters: Parameters<'_, '_>,
        each: &mut dyn FnMut(&SqlRow<'_>) -> Result<bool>,
    ) -> Result<()>;

    /// The columns of a table's primary key, in their order.
    fn key_columns(&self, table: &str) -> Result<Vec<String>>;

    /// The columns of a table, without those that the engine fills by itself.
    fn columns(&self, table: &str) -> Result<Vec<TableColumn>>;

    /// The history that the journals belong to.
    fn history(&self) -> Result<JournalHistory>;

    /// The cost of the transaction so far, if the engine counts it.
    fn work(&self) -> Option<EngineWork>;
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TableColumn {
    pub(crate) name: String,
    pub(crate) kind: ValueKind,
}

/// The parameters of a statement: those of `?1`, `?2` … in order, or those of `:name` with their
/// names. A name that the statement does not have is left out.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Parameters<'p, 'v> {
    Positional(&'p [ParameterValue<'v>]),
    Named(&'p [(&'p str, ParameterValue<'v>)]),
}

/// The kind of a parameter or column; the kind of a NULL is that of its type in Rust.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum ValueKind {
    Boolean,
    Integer,
    Real,
    Text,
    Blob,
}

/// The value of a parameter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum ParameterValue<'v> {
    Null(ValueKind),
    Boolean(bool),
    Integer(i64),
    Real(f64),
    Text(&'v str),
    Blob(&'v [u8]),
}

/// A type with values that a statement can be given.
pub(crate) trait ToSql {
    /// The value as a parameter.
    ///
    /// # Errors
    /// `internal` if no engine can hold it, such as a number above `i64::MAX`.
    fn parameter(&self) -> Result<ParameterValue<'_>>;
}

/// The kind of a type's values, which NULL has too.
pub(crate) trait SqlKind {
    const KIND: ValueKind;
}

impl<T: ToSql + ?Sized> ToSql for &T {
    fn parameter(&self) -> Result<ParameterValue<'_>> {
        (**self).parameter()
    }
}

impl<T: SqlKind + ?Sized> SqlKind for &T {
    const KIND: ValueKind = T::KIND;
}

impl<T: ToSql + SqlKind> ToSql for Option<T> {
    fn parameter(&self) -> Result<ParameterValue<'_>> {
        self.as_ref().map_or(Ok(ParameterValue::Null(T::KIND)), ToSql::parameter)
    }
}

/// Parameters of types that an engine holds as they are.
macro_rules! parameter_types {
    ($($type:ty, $kind:ident, |$value:ident| $parameter:expr;)+) => {$(
        impl SqlKind for $type {
            const KIND: ValueKind = ValueKind::$kind;
        }

        impl ToSql for $type {
            fn parameter(&self) -> Result<ParameterValue<'_>> {
                let $value = self;
                Ok(ParameterValue::$kind($parameter))
            }
        }
    )+};
}

parameter_types! {
    str, Text, |text| text;
    String, Text, |text| text;
    [u8], Blob, |bytes| bytes;
    Vec<u8>, Blob, |bytes| bytes;
    bool, Boolean, |flag| *flag;
    f64, Real, |number| *number;
    i64, Integer, |number| *number;
    u32, Integer, |number| i64::from(*number);
    u64, Integer, |number| i64::try_from(*number).map_err(store_failed)?;
    usize, Integer, |number| i64::try_from(*number).map_err(store_failed)?;
}

/// A value that is owned: a parameter that is computed, or a column of any type.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum SqlValue {
    Null(ValueKind),
    Boolean(bool),
    Integer(i64),
    Real(f64),
    Text(String),
    Blob(Vec<u8>),
}

impl ToSql for SqlValue {
    fn parameter(&self) -> Result<ParameterValue<'_>> {
        Ok(match self {
            Self::Null(kind) => ParameterValue::Null(*kind),
            Self::Boolean(flag) => ParameterValue::Boolean(*flag),
            Self::Integer(number) => ParameterValue::Integer(*number),
            Self::Real(number) => ParameterValue::Real(*number),
            Self::Text(text) => ParameterValue::Text(text),
            Self::Blob(bytes) => ParameterValue::Blob(bytes),
        })
    }
}

/// Values of these types.
macro_rules! owned_types {
    ($($type:ty, $kind:ident;)+) => {$(
        impl From<$type> for SqlValue {
            fn from(value: $type) -> Self {
                Self::$kind(value.into())
            }
        }

        impl From<Option<$type>> for SqlValue {
            fn from(value: Option<$type>) -> Self {
                value.map_or(Self::Null(ValueKind::$kind), Self::from)
            }
        }
    )+};
}

owned_types! {
    bool, Boolean;
    i64, Integer;
    String, Text;
}

/// What a statement is given in Rust: a tuple or an array of values, in order, or names with values.
pub(crate) trait ParameterSource {
    /// Calls `act` with the parameters.
    fn bind<T>(self, act: impl FnOnce(Parameters<'_, '_>) -> Result<T>) -> Result<T>;
}

impl ParameterSource for () {
    fn bind<T>(self, act: impl FnOnce(Parameters<'_, '_>) -> Result<T>) -> Result<T> {
        act(Parameters::Positional(&[]))
    }
}

impl<V: ToSql, const COUNT: usize> ParameterSource for [V; COUNT] {
    fn bind<T>(self, act: impl FnOnce(Parameters<'_, '_>) -> Result<T>) -> Result<T> {
        let mut values = [ParameterValue::Boolean(false); COUNT];
        for (value, given) in values.iter_mut().zip(&self) {
            *value = given.parameter()?;
        }
        act(Parameters::Positional(&values))
    }
}

impl<V: ToSql> ParameterSource for &[V] {
    fn bind<T>(self, act: impl FnOnce(Parameters<'_, '_>) -> Result<T>) -> Result<T> {
        let values = self.iter().map(ToSql::parameter).collect::<Result<Vec<_>>>()?;
        act(Parameters::Positional(&values))
    }
}

impl ParameterSource for &[(&str, &dyn ToSql)] {
    fn bind<T>(self, act: impl FnOnce(Parameters<'_, '_>) -> Result<T>) -> Result<T> {
        let named = self.iter().map(|(name, value)| Ok((*name, value.parameter()?)));
        act(Parameters::Named(&named.collect::<Result<Vec<_>>>()?))
    }
}

/// Parameters out of tuples.
macro_rules! parameter_tuples {
    ($(($($type:ident . $place:tt),+);)+) => {$(
        impl<$($type: ToSql),+> ParameterSource for ($($type,)+) {
            fn bind<T>(self, act: impl FnOnce(Parameters<'_, '_>) -> Result<T>) -> Result<T> {
                act(Parameters::Positional(&[$(self.$place.parameter()?),+]))
            }
        }
    )+};
}

parameter_tuples! {
    (A.0, B.1);
    (A.0, B.1, C.2);
    (A.0, B.1, C.2, D.3);
    (A.0, B.1, C.2, D.3, E.4);
    (A.0, B.1, C.2, D.3, E.4, F.5);
    (A.0, B.1, C.2, D.3, E.4, F.5, G.6);
    (A.0, B.1, C.2, D.3, E.4, F.5, G.6, H.7);
    (A.0, B.1, C.2, D.3, E.4, F.5, G.6, H.7, I.8);
    (A.0, B.1, C.2, D.3, E.4, F.5, G.6, H.7, I.8, J.9);
    (A.0, B.1, C.2, D.3, E.4, F.5, G.6, H.7, I.8, J.9, K.10);
    (A.0, B.1, C.2, D.3, E.4, F.5, G.6, H.7, I.8, J.9, K.10, L.11);
    (A.0, B.1, C.2, D.3, E.4, F.5, G.6, H.7, I.8, J.9, K.10, L.11, M.12);
    (A.0, B.1, C.2, D.3, E.4, F.5, G.6, H.7, I.8, J.9, K.10, L.11, M.12, N.13);
    (A.0, B.1, C.2, D.3, E.4, F.5, G.6, H.7, I.8, J.9, K.10, L.11, M.12, N.13, O.14);
    (A.0, B.1, C.2, D.3, E.4, F.5, G.6, H.7, I.8, J.9, K.10, L.11, M.12, N.13, O.14, P.15);
    (A.0, B.1, C.2, D.3, E.4, F.5, G.6, H.7, I.8, J.9, K.10, L.11, M.12, N.13, O.14, P.15, Q.16);
}

/// The columns of the present row of an engine.
pub(crate) trait RowColumns {
    /// The value of the column at this index.
    fn value(&self, index: usize) -> Result<ColumnValue<'_>>;

    /// The index of the column with this name.
    fn index_of(&self, name: &str) -> Option<usize>;
}

/// A row of a statement.
pub(crate) struct SqlRow<'r>(&'r dyn RowColumns);

impl<'r> SqlRow<'r> {
    pub(crate) fn new(columns: &'r dyn RowColumns) -> Self {
        Self(columns)
    }

    /// The value of a column, as a type of Rust.
    pub(crate) fn get<C: ColumnIndex, T: FromSql>(&self, column: C) -> Result<T> {
        let value = self.0.value(column.index(self)?)?;
        T::from_sql(value).map_err(|error| error.of(column))
    }

    /// The value of a column, as the engine has it.
    pub(crate) fn get_ref(&self, column: impl ColumnIndex) -> Result<ColumnValue<'_>> {
        self.0.value(column.index(self)?)
    }

    /// Whether a column is NULL.
    pub(crate) fn is_null(&self, column: impl ColumnIndex) -> Result<bool> {
        Ok(self.get_ref(column)? == ColumnValue::Null)
    }
}

/// What names a column: its index, or its name.
pub(crate) trait ColumnIndex: Copy + fmt::Display {
    /// The index of the column in this row.
    fn index(self, row: &SqlRow<'_>) -> Result<usize>;
}

impl ColumnIndex for usize {
    fn index(self, _: &SqlRow<'_>) -> Result<usize> {
        Ok(self)
    }
}

impl ColumnIndex for &str {
    fn index(self, row: &SqlRow<'_>) -> Result<usize> {
        row.0.index_of(self).ok_or_else(|| UnreadableValue::Missing.of(self))
    }
}

/// The value of a column, borrowed from the row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum ColumnValue<'r> {
    Null,
    Boolean(bool),
    Integer(i64),
    Real(f64),
    Text(&'r str),
    Blob(&'r [u8]),
}

impl<'r> ColumnValue<'r> {
    /// The text of a column that holds text.
    pub(crate) fn as_str(self) -> Result<&'r str> {
        match self {
            Self::Text(text) => Ok(text),
            _ => Err(store_failed(UnreadableValue::OtherType)),
        }
    }

    /// The value, owned; `kind` is that of the column if it is NULL.
    pub(crate) fn to_value(self, kind: ValueKind) -> SqlValue {
        match self {
            Self::Null => SqlValue::Null(kind),
            Self::Boolean(flag) => SqlValue::Boolean(flag),
            Self::Integer(number) => SqlValue::Integer(number),
            Self::Real(number) => SqlValue::Real(number),
            Self::Text(text) => SqlValue::Text(text.to_owned()),
            Self::Blob(bytes) => SqlValue::Blob(bytes.to_owned()),
        }
    }
}

/// Why a column cannot be read as a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum UnreadableValue {
    #[error("a column of the statement is missing")]
    Missing,
    #[error("a column holds a value of another type")]
    OtherType,
    #[error("a column holds a number that is out of range")]
    OutOfRange,
}

impl UnreadableValue {
    /// The error about this column.
    fn of(self, column: impl fmt::Display) -> Error {
        tracing::debug!(%column, error = %self, "a column cannot be read");
        store_failed(self)
    }
}

/// A type that is read from a column.
pub(crate) trait FromSql: Sized {
    /// The value of a column as this type.
    ///
    /// # Errors
    /// [`UnreadableValue`] if the column holds another type or a number out of range.
    fn from_sql(value: ColumnValue<'_>) -> Result<Self, UnreadableValue>;
}

impl<T: FromSql> FromSql for Option<T> {
    fn from_sql(value: ColumnValue<'_>) -> Result<Self, UnreadableValue> {
        match value {
            ColumnValue::Null => Ok(None),
            value => T::from_sql(value).map(Some),
        }
    }
}

impl FromSql for bool {
    fn from_sql(value: ColumnValue<'_>) -> Result<Self, UnreadableValue> {
        match value {
            ColumnValue::Boolean(flag) => Ok(flag),
            ColumnValue::Integer(number) => Ok(number != 0),
            _ => Err(UnreadableValue::OtherType),
        }
    }
}

impl FromSql for i64 {
    fn from_sql(value: ColumnValue<'_>) -> Result<Self, UnreadableValue> {
        match value {
            ColumnValue::Integer(number) => Ok(number),
            _ => Err(UnreadableValue::OtherType),
        }
    }
}

impl FromSql for f64 {
    fn from_sql(value: ColumnValue<'_>) -> Result<Self, UnreadableValue> {
        match value {
            ColumnValue::Real(number) => Ok(number),
            #[expect(clippy::cast_precision_loss, reason = "SQLite stores whole numbers so")]
            ColumnValue::Integer(number) => Ok(number as Self),
            _ => Err(UnreadableValue::OtherType),
        }
    }
}

impl FromSql for String {
    fn from_sql(value: ColumnValue<'_>) -> Result<Self, UnreadableValue> {
        match value {
            ColumnValue::Text(text) => Ok(text.to_owned()),
            _ => Err(UnreadableValue::OtherType),
        }
    }
}

impl FromSql for Vec<u8> {
    fn from_sql(value: ColumnValue<'_>) -> Result<Self, UnreadableValue> {
        match value {
            ColumnValue::Blob(bytes) => Ok(bytes.to_owned()),
            _ => Err(UnreadableValue::OtherType),
        }
    }
}

/// Smaller numbers.
macro_rules! narrow_numbers {
    ($($type:ty),+) => {$(
        impl FromSql for $type {
            fn from_sql(value: ColumnValue<'_>) -> Result<Self, UnreadableValue> {
                Self::try_from(i64::from_sql(value)?).map_err(|_| UnreadableValue::OutOfRange)
            }
        }
    )+};
}

narrow_numbers!(u8, u32, u64, usize);

/// The error of an engine that did something unexpected. Nothing was written when it occurs.
pub(crate) fn store_failed(cause: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::new(ErrorKind::Internal, "the store failed")
        .hint("Nothing was written. Run `commonbook doctor`; the log names the cause.")
        .with_cause(cause)
}
