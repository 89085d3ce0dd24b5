//! Pages of the lists of MCP, and its errors.

use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::base::limits;
use commonbook::base::page::PageCursor;
use rmcp::ErrorData;
use rmcp::model::PaginatedRequestParams;
use serde_json::{Value, json};

use crate::calls::hint::{HintDoor, for_door};
use crate::calls::verb::ToolSelection;

/// One page of a list in memory, and the cursor of the next page.
///
/// # Errors
/// `invalid` if the cursor does not come from this list.
pub(super) fn page<T: Clone>(
    items: &[T],
    request: Option<PaginatedRequestParams>,
) -> Result<(Vec<T>, Option<String>)> {
    let size = limits::PAGE_MAX as usize;
    let begin = match request.and_then(|request| request.cursor) {
        None => 0,
        Some(cursor) => {
            let [begin] = PageCursor::try_from(cursor)?.numbers()?;
            usize::try_from(begin)
                .ok()
                .filter(|begin| *begin > 0 && *begin < items.len())
                .ok_or_else(foreign_list_cursor)?
        }
    };
    let rest = &items[begin..];
    let next = (rest.len() > size).then(|| PageCursor::of(&[(begin + size) as u64]).into());
    Ok((rest.iter().take(size).cloned().collect(), next))
}

/// The error of a cursor from another list.
pub(super) fn foreign_list_cursor() -> Error {
    Error::invalid("cursor", "this cursor does not belong to this list")
        .hint("Send the `nextCursor` of the previous page unchanged, or leave it out.")
}

/// An error of the protocol: its data holds the error as every door returns it, and these fields.
pub(super) fn error_data(
    error: &Error,
    tools: &ToolSelection,
    fields: &[(&str, &str)],
) -> ErrorData {
    let cause = error.cause.as_ref().map(tracing::field::display);
    let body = for_door(error, HintDoor::Mcp(tools)).body(None);
    let mut data = serde_json::to_value(body).unwrap_or_default();
    for (name, value) in fields {
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

    fn request(cursor: &str) -> Option<PaginatedRequestParams> {
        Some(PaginatedRequestParams::default().with_cursor(Some(cursor.to_owned())))
    }

    #[test]
    fn pages_cover_a_long_list_once() {
        let all: Vec<usize> = (0..250).collect();
        let (mut listed, mut next) = (Vec::new(), None);
        loop {
            let (items, more) = page(&all, next.as_deref().and_then(request)).unwrap();
            assert!(items.len() <= 100);
            listed.extend(items);
            next = more;
            if next.is_none() {
                break;
            }
        }
        assert_eq!(listed, all);
    }

    #[test]
    fn a_foreign_cursor_is_refused() {
        for cursor in ["", "nonsense", "c0", "cfa", "cffffffffffffffff", "c1.2", "64"] {
            let refused = page(&(0..250).collect::<Vec<usize>>(), request(cursor));
            assert_eq!(refused.unwrap_err().kind, ErrorKind::Invalid, "{cursor:?}");
        }
        assert!(page(&[1, 2, 3], request("c1")).is_ok(), "any offset inside the list is valid");
    }
}
