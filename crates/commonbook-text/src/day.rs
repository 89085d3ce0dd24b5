//! Days, as short as a reader who knows today's date needs them.

use jiff::Timestamp;

/// The day of a time in UTC: `18 Nov`, and `18 Nov 2025` where the year is not the one of `now`.
///
/// The day is absolute: the same memory has the same date in every turn of a conversation.
#[must_use]
pub fn day(at: Timestamp, now: Timestamp) -> String {
    let same_year = at.strftime("%Y").to_string() == now.strftime("%Y").to_string();
    at.strftime(if same_year { "%-d %b" } else { "%-d %b %Y" }).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_year_stands_only_where_it_is_another() {
        let now: Timestamp = "2026-01-02T09:00:00Z".parse().expect("a time");
        let table = [
            ("2026-01-01T00:00:00Z", "1 Jan"),
            ("2025-12-31T23:59:59Z", "31 Dec 2025"),
            ("2027-11-18T00:00:00Z", "18 Nov 2027"),
        ];
        for (at, text) in table {
            assert_eq!(day(at.parse().expect("a time"), now), text);
        }
    }
}
