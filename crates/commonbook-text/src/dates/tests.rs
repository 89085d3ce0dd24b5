//! Which times are read from questions, and which words are left alone.

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

/// Each question names this one stretch and no other.
fn assert_stretches(table: &[(&str, &str, &str)]) {
    for (question, from, until) in table {
        assert_eq!(spans(question), [fixed(from, until)], "{question:?}");
        assert!(tells_time(question), "{question:?}");
    }
}

#[test]
fn dates_with_a_year_are_read() {
    assert_stretches(&[
        ("What happened on 2023-05-07?", "2023-05-07", "2023-05-08"),
        ("logs of 2023-05-07T10:00:00Z please", "2023-05-07", "2023-05-08"),
        ("on 2023/05/07", "2023-05-07", "2023-05-08"),
        ("in 2023-05", "2023-05-01", "2023-06-01"),
        ("What did Ann do on 7 May 2023?", "2023-05-07", "2023-05-08"),
        ("7th of May, 2023", "2023-05-07", "2023-05-08"),
        ("what did ann do on may 7th, 2023", "2023-05-07", "2023-05-08"),
        ("May 7 2023", "2023-05-07", "2023-05-08"),
        ("May the 7th, 2023", "2023-05-07", "2023-05-08"),
        ("Jan. 5, 2024", "2024-01-05", "2024-01-06"),
        ("5 sept 2024", "2024-09-05", "2024-09-06"),
        ("Friday, 14 July 2023", "2023-07-14", "2023-07-15"),
        ("on Friday July 14, 2023", "2023-07-14", "2023-07-15"),
        ("29 February 2024", "2024-02-29", "2024-03-01"),
        ("Ann's plan of May 7, 2023's meeting", "2023-05-07", "2023-05-08"),
    ]);
}

#[test]
fn months_seasons_and_years_are_read() {
    assert_stretches(&[
        ("What did we decide in May 2023?", "2023-05-01", "2023-06-01"),
        ("may 2023", "2023-05-01", "2023-06-01"),
        ("march of 2023", "2023-03-01", "2023-04-01"),
        ("Dec 2023", "2023-12-01", "2024-01-01"),
        ("in 2022", "2022-01-01", "2023-01-01"),
        ("what did we do in the year 2022?", "2022-01-01", "2023-01-01"),
        ("In 2022, who joined?", "2022-01-01", "2023-01-01"),
        ("mid-2022", "2022-01-01", "2023-01-01"),
        ("at the end of 2022", "2022-01-01", "2023-01-01"),
        ("Where did Ann go in summer 2022?", "2022-06-01", "2022-09-01"),
        ("in the summer of 2022", "2022-06-01", "2022-09-01"),
        ("winter 2022", "2022-12-01", "2023-03-01"),
        ("fall 2023", "2023-09-01", "2023-12-01"),
        ("last summer", "2026-06-01", "2026-09-01"),
        ("last winter", "2025-12-01", "2026-03-01"),
        ("next spring", "2027-03-01", "2027-06-01"),
        ("last May", "2026-05-01", "2026-06-01"),
        ("last december", "2025-12-01", "2026-01-01"),
        ("last November", "2025-11-01", "2025-12-01"),
        ("next May", "2027-05-01", "2027-06-01"),
        ("this March", "2026-03-01", "2026-04-01"),
        ("in September of last year", "2025-09-01", "2025-10-01"),
        ("in May last year", "2025-05-01", "2025-06-01"),
        ("on May 7 this year", "2026-05-07", "2026-05-08"),
        ("what did we ship in Q3 2023?", "2023-07-01", "2023-10-01"),
        ("the second week of May 2023", "2023-05-01", "2023-06-01"),
    ]);
}

#[test]
fn times_told_from_now_are_read() {
    assert_stretches(&[
        ("what did I do today?", "2026-11-21", "2026-11-22"),
        ("Yesterday's standup", "2026-11-20", "2026-11-21"),
        ("the day before yesterday", "2026-11-19", "2026-11-20"),
        ("the day after tomorrow", "2026-11-23", "2026-11-24"),
        ("last night", "2026-11-20T18:00:00Z", "2026-11-21T06:00:00Z"),
        ("this morning", "2026-11-21", "2026-11-22"),
        ("What broke last week?", "2026-11-09", "2026-11-16"),
        ("this week", "2026-11-16", "2026-11-23"),
        ("next week", "2026-11-23", "2026-11-30"),
        ("last weekend", "2026-11-14", "2026-11-16"),
        ("last month", "2026-10-01", "2026-11-01"),
        ("this year", "2026-01-01", "2027-01-01"),
        ("next year", "2027-01-01", "2028-01-01"),
        ("last Monday", "2026-11-16", "2026-11-17"),
        ("last saturday", "2026-11-14", "2026-11-15"),
        ("What did we say on Monday?", "2026-11-16", "2026-11-17"),
        ("on friday", "2026-11-20", "2026-11-21"),
        ("next Monday", "2026-11-23", "2026-11-24"),
        ("this Friday", "2026-11-20", "2026-11-21"),
        ("3 days ago", "2026-11-18", "2026-11-19"),
        ("a week ago", "2026-11-11", "2026-11-18"),
        ("two weeks ago", "2026-11-04", "2026-11-11"),
        ("a couple of days ago", "2026-11-19", "2026-11-20"),
        ("five months ago", "2026-06-06", "2026-07-07"),
        ("a year ago", "2025-05-23", "2026-05-23"),
        ("an hour ago", "2026-11-21T06:30:00Z", "2026-11-21T07:30:00Z"),
        ("in the last 3 days", "2026-11-18T08:00:00Z", "2026-11-22"),
        ("over the past two weeks", "2026-11-07T08:00:00Z", "2026-11-22"),
        ("past week", "2026-11-14T08:00:00Z", "2026-11-22"),
        ("in the last month", "2026-10-21T08:00:00Z", "2026-11-22"),
        ("within the last hour", "2026-11-21T07:00:00Z", "2026-11-22"),
    ]);
}

#[test]
fn times_made_of_others_are_read() {
    assert_stretches(&[
        ("between March and May 2023", "2023-03-01", "2023-06-01"),
        ("between november and january 2023", "2022-11-01", "2023-02-01"),
        ("between 7 May 2023 and 9 June 2023", "2023-05-07", "2023-06-10"),
        ("between 2021 and now", "2021-01-01", "2026-11-22"),
        ("from 2020 to 2022", "2020-01-01", "2023-01-01"),
        ("from last Monday until yesterday", "2026-11-16", "2026-11-21"),
        ("since May 2023", "2023-05-01", "max"),
        ("since May", "2026-05-01", "max"),
        ("since december", "2025-12-01", "max"),
        ("since yesterday", "2026-11-20", "max"),
        ("since Monday", "2026-11-16", "max"),
        ("since the summer of 2022", "2022-06-01", "max"),
        ("before June 2023", "min", "2023-06-01"),
        ("prior to 7 May 2023", "min", "2023-05-07"),
        ("until 7 May 2023", "min", "2023-05-08"),
        ("by May 2023", "min", "2023-06-01"),
        ("after 2021", "2022-01-01", "max"),
        ("the week of 10 May 2023", "2023-05-08", "2023-05-15"),
        ("the week before 7 May 2023", "2023-04-30", "2023-05-07"),
        ("the week after 7 May 2023", "2023-05-08", "2023-05-15"),
        ("the month before June 2023", "2023-05-01", "2023-06-01"),
        ("the Friday before 15 July 2023", "2023-07-14", "2023-07-15"),
        ("the sunday after 15 July 2023", "2023-07-16", "2023-07-17"),
        ("the weekend before 17 July 2023", "2023-07-15", "2023-07-17"),
        ("the day after 7 May 2023", "2023-05-08", "2023-05-09"),
        ("two days before 7 May 2023", "2023-05-05", "2023-05-06"),
        ("two weeks after May 7, 2023", "2023-05-18", "2023-05-25"),
    ]);
}

#[test]
fn months_and_days_without_a_year_come_back_every_year() {
    let month = |month| TimeSpan::EveryYear { month, day: None };
    let day = |month, day| TimeSpan::EveryYear { month, day: Some(day) };
    let table = [
        ("What did Ann do in May?", vec![month(5)]),
        ("what did ann do in may?", vec![month(5)]),
        ("what happened in may and in june", vec![month(5), month(6)]),
        ("In march we moved", vec![month(3)]),
        ("during August", vec![month(8)]),
        ("early June", vec![month(6)]),
        ("mid-May", vec![month(5)]),
        ("in Dec", vec![month(12)]),
        ("at the end of May", vec![month(5)]),
        ("between November and February", vec![month(11), month(12), month(1), month(2)]),
        ("on May 7th", vec![day(5, 7)]),
        ("on 7 May", vec![day(5, 7)]),
        ("on 7 may", vec![day(5, 7)]),
        ("may 7", vec![day(5, 7)]),
        ("the 7th of march", vec![day(3, 7)]),
        ("We met April 3 and on 5 Oct.", vec![day(4, 3), day(10, 5)]),
        ("February 29", vec![day(2, 29)]),
    ];
    for (question, wanted) in table {
        assert_eq!(spans(question), wanted, "{question:?}");
        assert!(tells_time(question), "{question:?}");
    }
}

#[test]
fn what_only_looks_like_a_time_is_left_alone() {
    let table = [
        "",
        "what may I do",
        "I may go, you may have it, they may not",
        "May I use tokio here?",
        "May 3 people join?",
        "users that log in may fail",
        "the 7 may fail",
        "they march on, march 5 miles a day",
        "March with me",
        "a second later the sun sat on the wall",
        "What did April say to June and August?",
        "gift from April, written by June",
        "in 2000 files",
        "after 2021 rows it stops",
        "in 1024 bytes, port 2049, error 2023",
        "PR #2023 and v2.2022 and foo_2023 and 2023",
        "src/lib.rs:42 at 10.0.2022.7",
        "2023-13-01 2023-02-30 1999999-01-01",
        "31 February",
        "February 30, May 32",
        "last time, last commit, last 5 commits, next step, this one",
        "the last week of school",
        "every Monday, Black Friday, mondays",
        "days, weeks and months",
        "for three days, ago",
        "three. days ago, half a year ago",
        "between you and me",
        "since when, before that, after it, until done, by hand",
        "summer is nice, spring boot, fall back",
        "decide, marching, maybe, augustus, juneau",
        "the week of the launch",
        "99999999 days ago, 99999 years ago",
        "in\nMay\n",
        "我们在五月",
        "🙂 may 🙂",
    ];
    for question in table {
        assert_eq!(spans(question), [], "{question:?}");
        assert!(!tells_time(question), "{question:?}");
    }
}

#[test]
fn questions_that_ask_for_a_time_are_known() {
    let table = [
        "When did Caroline go to the LGBTQ support group?",
        "when is the release",
        "When's the deadline?",
        "Since when do we use jiff?",
        "Do you remember when Ann joined?",
        "tell me when we moved to SQLite",
        "Ann left, but when?",
        "who broke it and when did it break",
        "remind me when it starts",
        "I want to find out when it broke",
        "What date was the launch?",
        "On what day did Ann start?",
        "which year did we choose Rust",
        "In which month was it?",
        "What was the exact date of the launch?",
        "What is the due date?",
        "what time does the job run",
        "how long ago was that",
        "How many weeks ago did it break?",
        "how recently did we change it",
    ];
    for question in table {
        assert!(parse_times(question, now()).asks, "{question:?}");
    }
    let others = [
        "",
        "What broke when I left?",
        "When I run the tests, what fails?",
        "What happens when the lock is held?",
        "It fails for me when I run it, why?",
        "and when I push, what runs?",
        "what time zone do we use",
        "what date format do logs have",
        "Which datetime library?",
        "how long is a token",
        "how many days",
        "whenever it is",
        "what is the day-to-day work",
        "What did we do yesterday?",
    ];
    for question in others {
        assert!(!parse_times(question, now()).asks, "{question:?}");
    }
}

#[test]
fn a_time_of_day_is_a_time_that_a_text_tells() {
    for text in ["at 3pm", "3 p.m. sharp", "at 10:30", "10:30am", "at noon", "12 AM"] {
        assert!(tells_time(text), "{text:?}");
    }
    for text in
        ["at 42", "I am", "13 pm", "spam", "lib.rs:10:30", "at 10:99", "10:3 am", "at 25:00"]
    {
        assert!(!tells_time(text), "{text:?}");
    }
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
