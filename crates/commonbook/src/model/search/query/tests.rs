//! Cases of the query language: filters, phrases, exclusions, and plain text.

use super::*;
use crate::base::error::ErrorKind;

fn now() -> Timestamp {
    "2026-11-21T08:00:00Z".parse().expect("it is a time")
}

fn read(query: &str) -> SearchQuery {
    parse(query, now()).unwrap_or_else(|error| panic!("{query:?}: {error}"))
}

/// A query with this text and nothing else.
fn text(text: &str) -> SearchQuery {
    SearchQuery { text: text.to_owned(), ..SearchQuery::default() }
}

fn list(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

#[test]
fn the_text_has_no_operators() {
    let some = |word: &str| Some(word.to_owned());
    let time = |text: &str| Some(text.parse().expect("it is a time"));
    let table = [
        ("owner:ann build", SearchQuery { owner: some("ann"), ..text("build") }),
        ("build owner=ann", SearchQuery { owner: some("ann"), ..text("build") }),
        (
            "type:decision, user:u1",
            SearchQuery { memory_type: some("decision"), user: some("u1"), ..text("") },
        ),
        ("session=\"s 1\"", SearchQuery { session: some("s 1"), ..text("") }),
        (
            "topic:\"rust build\" x topic:ci topic:ci",
            SearchQuery { topics: list(&["rust build", "ci"]), ..text("x") },
        ),
        ("importance>=high", SearchQuery { importance: Some(Importance::High), ..text("") }),
        ("importance:low a", SearchQuery { importance: Some(Importance::Low), ..text("a") }),
        ("importance=critical", SearchQuery { importance: Some(Importance::Critical), ..text("") }),
        (
            "since:2026-11-01 until:2026-11",
            SearchQuery {
                since: time("2026-11-01T00:00:00Z"),
                until: time("2026-11-30T23:59:59.999999999Z"),
                ..text("")
            },
        ),
        ("at:yesterday x", SearchQuery { at: time("2026-11-20T23:59:59.999999999Z"), ..text("x") }),
        (
            "include:private,superseded include=global include:private",
            SearchQuery {
                include: vec![
                    SearchInclusion::Private,
                    SearchInclusion::Superseded,
                    SearchInclusion::Global,
                ],
                ..text("")
            },
        ),
        (
            "owner:ann owner:ann since:today since:today",
            SearchQuery { owner: some("ann"), since: time("2026-11-21T00:00:00Z"), ..text("") },
        ),
        (
            "between:2026-11-01..2026-11-15 until:2026-11-10",
            SearchQuery {
                between: some("2026-11-01..2026-11-15"),
                since: time("2026-11-01T00:00:00Z"),
                until: time("2026-11-10T23:59:59.999999999Z"),
                ..text("")
            },
        ),
        ("near:#9hm2x4qd x", SearchQuery { near: some("#9hm2x4qd"), ..text("x") }),
        ("unseen: gates", SearchQuery { unseen: true, ..text("gates") }),
        ("session:same unseen=", SearchQuery { session: some("same"), unseen: true, ..text("") }),
        ("owner:ann@home/lap*", SearchQuery { owner: some("ann@home/lap*"), ..text("") }),
        ("user:王", SearchQuery { user: some("王"), ..text("") }),
    ];
    for (query, wanted) in table {
        assert_eq!(read(query), wanted, "{query:?}");
    }
}

#[test]
fn phrases_and_exclusions_differ_from_words() {
    let table: [(&str, &str, &[&str], &[&str]); 12] = [
        ("a \"exact phrase\" b", "a exact phrase b", &["exact phrase"], &[]),
        ("who said \"foo bar\"?", "who said foo bar", &["foo bar"], &[]),
        ("\"one\" \"two three\"", "one two three", &["one", "two three"], &[]),
        ("rust -async", "rust", &[], &["async"]),
        ("rust -\"some phrase\" build", "rust build", &[], &["some phrase"]),
        ("rust -x-ray -v1.2", "rust", &[], &["x-ray", "v1.2"]),
        ("rust -\"js\"", "rust", &[], &["js"]),
        ("rust -é -好", "rust", &[], &["é", "好"]),
        ("\"type:decision\"", "type:decision", &["type:decision"], &[]),
        ("5\" disk \"foo\"", "5\" disk foo", &["foo"], &[]),
        ("-draft", "-draft", &[], &[]),
        ("-draft  -\"old one\"", "-draft -\"old one\"", &[], &[]),
    ];
    for (query, text, phrases, excluded) in table {
        let found = read(query);
        assert_eq!(found.text, text, "{query:?}");
        assert_eq!(found.phrases, phrases, "{query:?}");
        assert_eq!(found.excluded, excluded, "{query:?}");
    }
    let only_filters = read("owner:ann -draft");
    assert_eq!((only_filters.text.as_str(), only_filters.excluded.len()), ("", 1));
}

#[test]
fn code_logs_and_plain_language_stay_as_they_are() {
    let table = [
        "foo::bar<T>",
        "src/lib.rs:42",
        "type: foo",
        "type : foo",
        "https://example.org/a?since=1&owner=x",
        "a -- b",
        "a - b",
        "-5",
        "x -5 -3.2",
        "x-ray",
        "run --flag --owner=ann",
        "ls -la",
        "rm -rf /tmp/x -p",
        "gcc -I/usr/include -DX=1 -o,x",
        "an \"unclosed quote",
        "it's Caroline's",
        "\"",
        "\"\"",
        "\" \"",
        "a \" b",
        "owner:",
        "owner: since: -",
        "owner=",
        "owner:\"\"",
        "topic:\"rust build",
        "AND OR NOT NEAR(*)",
        "🙂 owner🙂:x",
        "我们为什么选择 Postgres？",
        "user::new session::Id type==x session:=y",
        "type:Vec<u8> user=find() at:[3]",
        "Owner:ann SINCE:today",
        "{type:\"a\"} (owner:ann)",
        "importance>high importance>=",
        "since>=2026",
        "myowner:ann ownership:x atlas:y",
        "near: the river, between: us, unseen unseen::x nearby:x",
        "{\"a\": \"b\", \"c\": \"d\"}",
        "\"a\"b c\"",
        "x \"one two\n three\"",
        "user://x",
        "-foo- -really, -",
        "\\ ' ` % _ * ^ ( ) : =",
    ];
    for query in table {
        let joined = query.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(read(query), text(&joined), "{query:?}");
    }
    assert_eq!(read(""), text(""));
    assert_eq!(read(" \n\t "), text(""));
}

#[test]
fn a_list_or_a_patch_of_several_lines_excludes_nothing() {
    assert_eq!(read("fix\n-old line\n  -older\n+new").excluded, Vec::<String>::new());
    assert_eq!(read("fix\nthe build -old").excluded, ["old"]);
}

#[test]
fn a_malformed_value_is_refused_with_the_expected_one() {
    let table: [(&str, &[&str]); 16] = [
        ("between:2026-11-01", &["between", "two dots", "2026-11-01..2026-11-15"]),
        ("between:2026-11-01..", &["between", "two dots"]),
        ("between:2026-11-01..soonish", &["between", "soonish", "7d"]),
        ("between:2026-11-15..2026-11-01", &["begins", "after its end"]),
        ("between:7d..2d between:9d..2d", &["between", "twice"]),
        ("near:river", &["near", "'river'", "last eight letters"]),
        ("unseen:yes", &["unseen", "'yes'", "nothing after the colon"]),
        ("since:soonish", &["since", "'soonish'", "2026-11", "7d"]),
        ("x until=later y", &["until", "'later'", "yesterday"]),
        ("at:\"next week\"", &["at", "'next week'", "today"]),
        ("importance>=huge", &["importance", "'huge'", "low, normal, high, critical"]),
        ("importance:HIGH", &["importance", "'HIGH'"]),
        ("include:everything", &["include", "'everything'", "private, superseded, archived"]),
        ("include:private, global", &["include", "'private,'", "without blanks"]),
        ("owner:ann owner:bob", &["owner", "twice", "'ann'", "'bob'"]),
        ("since:2026 until:2025", &["begins", "after its end"]),
    ];
    for (query, says) in table {
        let error = parse(query, now()).expect_err("it cannot be read");
        assert_eq!(error.kind, ErrorKind::Invalid, "{query:?}");
        assert_eq!(error.field.as_deref(), Some("query"), "{query:?}");
        assert!(error.hint.is_some(), "{query:?}");
        for word in says {
            assert!(error.message.contains(word), "{query:?}: {}", error.message);
        }
    }
    let long = parse(&format!("since:{}", "é".repeat(10_000)), now()).expect_err("it is no time");
    assert!(long.message.chars().count() < 400, "{}", long.message);
}

#[test]
fn since_and_until_may_be_the_same_day() {
    let day = read("since:2026-11-01 until:2026-11-01");
    assert!(day.since < day.until);
}

#[test]
fn more_topics_than_a_memory_can_have_are_refused() {
    let query: String = (0..=limits::TOPICS).map(|n| format!("topic:t{n} ")).collect();
    let error = parse(&query, now()).expect_err("they are too many");
    assert_eq!((error.kind, error.field.as_deref()), (ErrorKind::TooLarge, Some("query")));
}

#[test]
fn long_queries_are_read_to_their_end() {
    let words: String = (0..10_000).map(|n| format!("word{n} ")).collect();
    assert_eq!(read(&words).text, words.trim());
    for part in ["\"a ", "-\"b ", "\"", "- ", "-word ", "topic:\"x ", "owner:a ", "王 ", "a\n"] {
        let query = part.repeat(65_536 / part.len());
        assert!(parse(&query, now()).is_ok(), "{part:?}");
    }
}

#[test]
fn the_days_of_a_query_are_those_of_a_zone() {
    let zone = jiff::tz::TimeZone::fixed(jiff::tz::offset(-5));
    let here = |query: &str| query_in_zone(query, now(), &zone);
    let table = [
        ("gates  since:2026-11-27", "gates  since:2026-11-27T05:00:00Z"),
        ("until:2026-11-27 gates", "until:2026-11-28T04:59:59.999999999Z gates"),
        ("at=2026-11\nowner:ann ", "at:2026-12-01T04:59:59.999999999Z\nowner:ann "),
        ("\"since:2026-11-27\" -\"until:2026\"", "\"since:2026-11-27\" -\"until:2026\""),
        (
            "between:2026-11-27..2026-11-27 x",
            "between:2026-11-27T05:00:00Z..2026-11-28T04:59:59.999999999Z x",
        ),
        ("between:7d..2026-11-27", "between:7d..2026-11-28T04:59:59.999999999Z"),
        ("between:7d..2d unseen: near:9hm2x4qd", "between:7d..2d unseen: near:9hm2x4qd"),
        ("since:7d since: 2026 x since:soonish", "since:7d since: 2026 x since:soonish"),
        ("", ""),
    ];
    for (query, there) in table {
        assert_eq!(here(query), there, "{query}");
    }
    assert_eq!(read(&here("since:2026-11-27 a")).text, "a");
}
