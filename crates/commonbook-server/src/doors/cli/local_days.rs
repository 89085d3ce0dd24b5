//! Days on the command line: those of the zone in which its times are printed.

use commonbook::base::clock::{Clock, SystemClock};
use commonbook::model::search::{moment_in_zone, query_in_zone, time_in_zone};
use commonbook::model::token::expiry_in_zone;
use jiff::tz::TimeZone;

/// The field of a search with operators for times.
const QUERY_FIELD: &str = "query";

/// The field that says when something ends, as an age or a time.
const EXPIRY_FIELD: &str = "expires";

/// The text of a field in which a day of this machine's zone is the moment at which it begins or ends:
/// other doors, and a server elsewhere, read days in UTC.
pub(super) fn in_local_days(field: &str, text: String) -> String {
    let (now, zone) = (SystemClock.now(), TimeZone::system());
    match field {
        EXPIRY_FIELD => expiry_in_zone(&text, &zone).unwrap_or(text),
        QUERY_FIELD => query_in_zone(&text, now, &zone),
        _ => time_in_zone(field, &text, now, &zone).unwrap_or(text),
    }
}

/// The text of a field that takes moments alone, where a person writes a day or an age.
pub(super) fn local_moment(field: &str, text: String) -> String {
    moment_in_zone(field, &text, SystemClock.now(), &TimeZone::system()).unwrap_or(text)
}
