//! Laws of times that no row can show; the cases are in `tests/tables/dates.md`.

use super::*;

/// The present of the tests: a Saturday.
fn now() -> Timestamp {
    time("2026-11-21T08:00:00Z")
}

/// A time, or the first moment of a date.
fn time(text: &str) -> Timestamp {
    match text {
        "min" => Timestamp::MIN,
        "max" => Timestamp::MAX,
        _ if text.len() == 10 => format!("{text}T00:00:00Z").parse().expect("it is a date"),
        _ => text.parse().expect("it is a time"),
    }
}

fn fixed(from: &str, until: &str) -> TimeSpan {
    TimeSpan::Fixed { from: time(from), until: time(until) }
}

fn spans(question: &str) -> Vec<TimeSpan> {
    parse_times(question, now()).spans
}

#[test]
fn a_span_holds_its_beginning_and_not_its_end() {
    let day = fixed("2023-05-07", "2023-05-08");
    assert!(day.contains(time("2023-05-07")));
    assert!(!day.contains(time("2023-05-08")));
    let may = TimeSpan::EveryYear { month: 5, day: None };
    assert!(may.contains(time("1999-05-31T23:59:59Z")));
    assert!(!may.contains(time("1999-06-01")));
    let leap = TimeSpan::EveryYear { month: 2, day: Some(29) };
    assert!(leap.contains(time("2024-02-29")));
    assert!(!leap.contains(time("2023-03-01")));
}

#[test]
fn closeness_falls_off_with_the_length_of_the_span() {
    let close = |span: TimeSpan, at: &str| (span.closeness(time(at)) * 100.0).round() / 100.0;
    let day = fixed("2023-05-07", "2023-05-08");
    let month = fixed("2023-05-01", "2023-06-01");
    let since = fixed("2023-05-01", "max");
    let before = fixed("min", "2023-05-01");
    let may = TimeSpan::EveryYear { month: 5, day: None };
    let new_year = TimeSpan::EveryYear { month: 1, day: Some(1) };
    let table = [
        (day, "2023-05-07T12:00:00Z", 1.0),
        (day, "2023-05-08T12:00:00Z", 0.69),
        (day, "2023-05-06", 0.44),
        (day, "2023-05-11", 0.0),
        (day, "2020-01-01", 0.0),
        (month, "2023-07-02", 0.44),
        (month, "2023-09-10", 0.0),
        (since, "2030-01-01", 1.0),
        (since, "2023-03-31", 0.44),
        (before, "1970-01-01", 1.0),
        (before, "2024-05-01", 0.0),
        (may, "2001-05-15", 1.0),
        (may, "2001-04-29T12:00:00Z", 0.97),
        (may, "2001-11-15", 0.0),
        (new_year, "2022-12-31T12:00:00Z", 0.69),
        (fixed("2023-05-07", "2023-05-07"), "2023-05-07", 1.0),
    ];
    for (span, at, wanted) in table {
        assert_eq!(close(span, at), wanted, "{span:?} {at}");
    }
    for at in [Timestamp::MIN, Timestamp::MAX] {
        for span in [day, month, since, before, may, fixed("min", "max")] {
            assert!((0.0..=1.0).contains(&span.closeness(at)), "{span:?} {at}");
        }
    }
}

#[test]
fn long_texts_and_the_ends_of_the_calendar_are_read_without_harm() {
    let parts = [
        "the week before ",
        "since ",
        "between may and ",
        "last ",
        "this may ",
        "Monday last ",
        "Monday ",
        "2 ",
        "the ",
        "x",
        "may ",
        "a\u{301} ",
        "7 may 2023 ",
    ];
    for part in parts {
        let text = part.repeat(65_536 / part.len());
        let spans = spans(&text);
        assert!(spans.len() <= SPANS_MAX, "{part:?}");
        assert_eq!(tells_time(&text), !spans.is_empty(), "{part:?}");
    }
    assert_eq!(spans(&"1 day ago, 2 days ago, in 2001, in 2002, ".repeat(9)).len(), 4);
    let years: String = (1900..2000).map(|year| format!("in {year}, ")).collect();
    assert_eq!(spans(&years).len(), SPANS_MAX);
    let all = "today yesterday tomorrow last week next year last Monday next May in May since \
               May last summer 9 years ago in the last 9 years the week after tomorrow last night";
    for end in [Timestamp::MIN, Timestamp::MAX] {
        assert!(!parse_times(all, end).asks);
    }
}
