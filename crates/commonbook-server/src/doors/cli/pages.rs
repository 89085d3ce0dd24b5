//! Pages of a list by their number. A cursor can be longer than a line of a terminal.

use clap::{Arg, ArgMatches, value_parser};
use commonbook::base::error::{Error, Result};
use serde_json::{Map, Value};

/// The field of a request that holds the cursor of a page.
pub(super) const CURSOR_FIELD: &str = "cursor";

/// The field of a response that holds the cursor of the next page.
const NEXT_FIELD: &str = "next";

/// The page of a list that a command shows; none where it names a cursor, or shows no list.
#[derive(Clone, Copy)]
pub(super) struct PageNumber(Option<u16>);

/// The argument that names a page.
pub(super) fn argument() -> Arg {
    Arg::new("page")
        .long("page")
        .value_name("NUMBER")
        .value_parser(value_parser!(u16).range(1..))
        .conflicts_with(CURSOR_FIELD)
        .help("Page to show, from 1")
}

impl PageNumber {
    /// The page that the flags name.
    pub(super) fn of(matches: &ArgMatches, is_list: bool) -> Self {
        let has_cursor = is_list && matches.contains_id(CURSOR_FIELD);
        let number = || matches.get_one::<u16>("page").copied().unwrap_or(1);
        Self((is_list && !has_cursor).then(number))
    }

    /// The response of this page, from that of the first one. `read` reads the page of a cursor.
    ///
    /// # Errors
    /// `invalid` if there are fewer pages; the error of `read`.
    pub(super) fn find(
        self,
        first: Value,
        read: impl Fn(Map<String, Value>) -> Result<Value>,
    ) -> Result<Value> {
        let mut response = first;
        for page in 1..self.0.unwrap_or(1) {
            let next = response[NEXT_FIELD].take();
            if next.is_null() {
                return Err(Error::invalid("page", format!("the last page is {page}")));
            }
            response = read(Map::from_iter([(CURSOR_FIELD.to_owned(), next)]))?;
        }
        Ok(response)
    }

    /// Removes the cursor of the next page; returns whether there was one to remove.
    pub(super) fn hide_cursor(self, response: &mut Value) -> bool {
        let next = response.get_mut(NEXT_FIELD).filter(|_| self.0.is_some());
        next.is_some_and(|next| !next.take().is_null())
    }

    /// The number of the next page.
    pub(super) fn next(self) -> u16 {
        self.0.map_or(1, |page| page.saturating_add(1))
    }
}
