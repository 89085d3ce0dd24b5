//! How long ago something was, in words.

use jiff::{SignedDuration, Timestamp};

/// How long ago something was, in words. What lies ahead by a clock that went back is of now.
#[must_use]
pub fn age(at: Timestamp, now: Timestamp) -> String {
    let passed: SignedDuration = now.duration_since(at);
    let minutes = passed.as_secs().max(0) / 60;
    let (number, unit) = match minutes {
        0 => return "just now".to_owned(),
        1..60 => (minutes, "minute"),
        60..1_440 => (minutes / 60, "hour"),
        1_440..86_400 => (minutes / 1_440, "day"),
        86_400..1_051_200 => (minutes / 43_200, "month"),
        _ => (minutes / 525_600, "year"),
    };
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {unit}{plural} ago")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn now() -> Timestamp {
        "2026-11-22T09:00:00Z".parse().expect("a time")
    }

    #[test]
    fn ages_are_told_in_the_greatest_unit() {
        let table = [
            (-86_400, "just now"),
            (59, "just now"),
            (60, "1 minute ago"),
            (3_599, "59 minutes ago"),
            (7_200, "2 hours ago"),
            (86_400, "1 day ago"),
            (59 * 86_400, "59 days ago"),
            (61 * 86_400, "2 months ago"),
            (800 * 86_400, "2 years ago"),
        ];
        for (seconds, words) in table {
            let at = now() - SignedDuration::from_secs(seconds);
            assert_eq!(age(at, now()), words, "{seconds}");
        }
    }
}
