//! Pages of the protocol's lists, and the errors of the protocol.

use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::base::limits;
use commonbook::base::page::PageCursor;
use rmcp::ErrorData;
use rmcp::model::PaginatedRequestParams;
use serde_json::{Value, json};

/// A page of a list that is kept whole, and where the next one begins.
///
/// # Errors
/// `invalid` for a cursor that this list has not given.
pub(super) fn page<T: Clone>(
    all: &[T],
    asked: Option<PaginatedRequestParams>,
) -> Result<(Vec<T>, Option<String>)> {
    let size = limits::PAGE_MAX as usize;
    let begin = match asked.and_then(|asked| asked.cursor) {
        None => 0,
        Some(cursor) => {
            let [begin] = PageCursor::try_from(cursor)?.numbers()?;
            usize::try_from(begin)
                .ok()
                .filter(|it| *it > 0 && *it < all.len())
                .ok_or_else(foreign_list_cursor)?
        }
    };
    let rest = &all[begin..];
    let next = (rest.len() > size).then(|| PageCursor::of(&[(begin + size) as u64]).into());
    Ok((rest.iter().take(size).cloned().collect(), next))
}

/// The answer to a cursor that a list has not given.
pub(super) fn foreign_list_cursor() -> Error {
    Error::invalid("cursor", "this is not a cursor of this list")
        .hint("Send back the `nextCursor` of the page before, unchanged, or leave it out.")
}

/// An error as the protocol has it, with what every door answers in its data, and what it is about.
pub(super) fn error_data(error: &Error, about: &[(&str, &str)]) -> ErrorData {
    let cause = error.cause.as_ref().map(tracing::field::display);
    let mut data = serde_json::to_value(error.body(None)).unwrap_or_default();
    for (name, value) in about {
        data[*name] = json!(value);
    }
    let (message, data): (_, Option<Value>) = (error.message.clone(), Some(data));
    match error.kind {
        ErrorKind::NotFound => ErrorData::resource_not_found(message, data),
        ErrorKind::Internal | ErrorKind::Unavailable | ErrorKind::RateLimited => {
            tracing::warn!(%error, cause, "failed");
            ErrorData::internal_error(message, data)
        }
        ErrorKind::Unauthenticated | ErrorKind::Forbidden => {
            ErrorData::invalid_request(message, data)
        }
        ErrorKind::Invalid | ErrorKind::TooLarge | ErrorKind::Conflict => {
            ErrorData::invalid_params(message, data)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(cursor: &str) -> Option<PaginatedRequestParams> {
        Some(PaginatedRequestParams::default().with_cursor(Some(cursor.to_owned())))
    }

    #[test]
    fn a_long_list_is_given_page_by_page() {
        let all: Vec<usize> = (0..250).collect();
        let (mut given, mut next) = (Vec::new(), None);
        loop {
            let (items, more) = page(&all, next.as_deref().and_then(asked)).unwrap();
            assert!(items.len() <= 100);
            given.extend(items);
            next = more;
            if next.is_none() {
                break;
            }
        }
        assert_eq!(given, all);
    }

    #[test]
    fn a_cursor_that_was_not_given_is_refused() {
        for cursor in ["", "nonsense", "c0", "cfa", "cffffffffffffffff", "c1.2", "64"] {
            let refused = page(&(0..250).collect::<Vec<usize>>(), asked(cursor));
            assert_eq!(refused.unwrap_err().kind, ErrorKind::Invalid, "{cursor:?}");
        }
        assert!(page(&[1, 2, 3], asked("c1")).is_ok(), "any place within is one");
    }
}
