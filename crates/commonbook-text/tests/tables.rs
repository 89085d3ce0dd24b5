//! Rules on text as tables: each file in `tables/` has a table of cases for each rule.
//!
//! A heading `## …` names the rule. Of each row the last cell is the expected result, the cells
//! before it are the input. Escapes in a cell: `\n`, `\t`, `\|`, `\\`, `\u{200b}`. In `secrets.md`
//! a `·` breaks up a token, so that scanners of repositories do not take the file for a leak, and
//! `{noise:36}`, `{lower:36}`, `{NOISE:36}` and `{hex:32}` stand for that many random characters.

use std::fmt::Write as _;
use std::path::Path;

use commonbook_text::about::{SubjectInput, is_about_project};
use commonbook_text::claims::clause::{Clause, clauses};
use commonbook_text::claims::compare::{
    ClaimContext, TextRelation, compare_texts, differences, says_same,
};
use commonbook_text::claims::value::{ClaimValue, NumberBound};
use commonbook_text::dates::{TimeSpan, parse_times, tells_time};
use commonbook_text::entities::likeness::is_same;
use commonbook_text::entities::value::normalise;
use commonbook_text::entities::{EntityType, ExtractionInput, extract};
use commonbook_text::{injection, secrets, sentences};
use jiff::Timestamp;

/// One case of a table.
struct Row {
    line: usize,
    rule: String,
    cells: Vec<String>,
}

/// Checks each row of a table: `rule` returns the result for the cells of the input.
fn check(name: &str, rule: impl Fn(&str, &[String]) -> String) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tables").join(name);
    let text = std::fs::read_to_string(&path).expect("the table is readable");
    let (rows, mut failures, mut wrong) = (rows(&text), String::new(), 0);
    assert!(!rows.is_empty(), "{name} has no rows");
    for Row { line, rule: rule_name, cells } in &rows {
        let (expected, input) = cells.split_last().expect("a row has cells");
        let found = rule(rule_name, input);
        if found != *expected {
            wrong += 1;
            let _ = writeln!(
                failures,
                "crates/commonbook-text/tests/tables/{name}:{line}: {input:?}\n  expected {}\n  found    {}",
                escaped(expected),
                escaped(&found)
            );
        }
    }
    assert!(wrong == 0, "{wrong} of {} rows fail\n{failures}", rows.len());
}

/// The rows below the heading and the rule of each table.
fn rows(text: &str) -> Vec<Row> {
    let (mut rows, mut rule, mut in_body) = (Vec::new(), String::new(), false);
    for (index, line) in text.lines().enumerate() {
        if let Some(heading) = line.strip_prefix("## ") {
            heading.clone_into(&mut rule);
        }
        if !line.starts_with('|') {
            in_body = false;
        } else if line.starts_with("|--") || line.starts_with("| --") {
            in_body = true;
        } else if in_body {
            rows.push(Row { line: index + 1, rule: rule.clone(), cells: cells(line) });
        }
    }
    rows
}

/// The cells of a row, without blanks around them and with their escapes replaced.
fn cells(line: &str) -> Vec<String> {
    let (mut cells, mut cell) = (Vec::new(), String::new());
    let mut chars = line.trim().trim_start_matches('|').chars();
    while let Some(c) = chars.next() {
        match c {
            '|' => cells.push(std::mem::take(&mut cell)),
            '\\' => {
                cell.push(c);
                cell.extend(chars.next());
            }
            _ => cell.push(c),
        }
    }
    cells.iter().map(|cell| unescaped(cell.trim())).collect()
}

fn unescaped(cell: &str) -> String {
    let mut text = String::new();
    let mut rest = cell;
    while let Some(index) = rest.find('\\') {
        text.push_str(&rest[..index]);
        let mut after = rest[index + 1..].chars();
        let escape = after.next().expect("a character follows the backslash");
        rest = after.as_str();
        match escape {
            'n' => text.push('\n'),
            't' => text.push('\t'),
            'u' => {
                let (code, after) =
                    rest.strip_prefix('{').and_then(|rest| rest.split_once('}')).expect("\\u{…}");
                let code = u32::from_str_radix(code, 16).expect("a hexadecimal number");
                text.push(char::from_u32(code).expect("a character"));
                rest = after;
            }
            _ => text.push(escape),
        }
    }
    text.push_str(rest);
    text
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('|', "\\|").replace('\n', "\\n").replace('\t', "\\t")
}

fn yes_no(is: bool) -> String {
    if is { "yes" } else { "no" }.to_owned()
}

/// The results in one cell; `none` for an empty list.
fn joined(results: &[String]) -> String {
    if results.is_empty() { "none".to_owned() } else { results.join("; ") }
}

/// The present of the tables: a Saturday.
fn now() -> Timestamp {
    "2026-11-21T08:00:00Z".parse().expect("it is a time")
}

fn shown_time(time: Timestamp) -> String {
    if time == Timestamp::MIN || time == Timestamp::MAX {
        return "…".to_owned();
    }
    time.to_string().replace("T00:00:00Z", "")
}

fn shown_span(span: TimeSpan) -> String {
    match span {
        TimeSpan::Fixed { from, until } => format!("{} to {}", shown_time(from), shown_time(until)),
        TimeSpan::EveryYear { month, day: None } => format!("every {month:02}"),
        TimeSpan::EveryYear { month, day: Some(day) } => format!("every {month:02}-{day:02}"),
    }
}

#[test]
fn dates() {
    check("dates.md", |rule, input| match rule {
        "Times in a question" => {
            let spans = parse_times(&input[0], now()).spans;
            assert!(spans.is_empty() || tells_time(&input[0]), "{}", input[0]);
            joined(&spans.into_iter().map(shown_span).collect::<Vec<_>>())
        }
        "Questions that ask for a time" => yes_no(parse_times(&input[0], now()).asks),
        "Texts that name a time" => yes_no(tells_time(&input[0])),
        "Sentences" => {
            joined(&sentences::sentences(&input[0]).map(str::to_owned).collect::<Vec<_>>())
        }
        _ => panic!("no rule {rule:?}"),
    });
}

fn entity_type(name: &str) -> EntityType {
    name.parse().expect("the name of a type")
}

/// The entities of a text in its order: of one type, or of all types with their names.
fn shown_entities(text: &str, kind: &str) -> String {
    let mut found = extract(&ExtractionInput { text, ..ExtractionInput::default() });
    found.retain(|entity| kind == "all" || entity.entity_type == entity_type(kind));
    found.sort_by_key(|entity| (entity.places[0].from, entity.entity_type));
    let shown = found.into_iter().map(|entity| match kind {
        "all" => format!("{} {}", entity.entity_type, entity.value),
        _ => entity.value,
    });
    joined(&shown.collect::<Vec<_>>())
}

#[test]
fn entities() {
    check("entities.md", |rule, input| match rule {
        "Entities in a text" => shown_entities(&input[1], &input[0]),
        "Normal form" => {
            let normal = normalise(entity_type(&input[0]), &input[1]);
            assert_eq!(normalise(entity_type(&input[0]), &normal), normal, "of the normal form");
            if normal.is_empty() { "none".to_owned() } else { normal }
        }
        "Same thing" => {
            let kind = entity_type(&input[0]);
            let same = is_same(kind, &input[1], &input[2]);
            assert_eq!(is_same(kind, &input[2], &input[1]), same, "the other way round");
            if same { "same" } else { "different" }.to_owned()
        }
        _ => panic!("no rule {rule:?}"),
    });
}

fn shown_value(value: &ClaimValue) -> String {
    let year = |year: &Option<i16>| year.map_or("any".to_owned(), |year| year.to_string());
    match value {
        ClaimValue::Number { unit, value, bound } => {
            let bound = match bound {
                NumberBound::Exact => "",
                NumberBound::Least => "at least ",
                NumberBound::Most => "at most ",
                NumberBound::About => "about ",
            };
            format!("{bound}{value} {unit}").trim_end().to_owned()
        }
        ClaimValue::Dotted(digits) => format!("version {digits}"),
        ClaimValue::Day { year: y, month, day } => format!("{}-{month:02}-{day:02}", year(y)),
        ClaimValue::Month { year: y, month } => format!("{}-{month:02}", year(y)),
        ClaimValue::Weekday { weekday, is_each: true } => format!("every {weekday:?}"),
        ClaimValue::Weekday { weekday, is_each: false } => format!("{weekday:?}"),
        ClaimValue::Year(year) => format!("year {year}"),
        ClaimValue::Quarter(quarter) => format!("Q{quarter}"),
        ClaimValue::Name { name, .. } => name.clone(),
        ClaimValue::Period(seconds) => format!("every {seconds} s"),
        ClaimValue::Clock(minute) => format!("{:02}:{:02}", minute / 60, minute % 60),
    }
}

/// A clause as its subject, what it states of it, and the word that denies it.
fn shown_clause(clause: &Clause) -> String {
    let subject: Vec<&str> = clause.subject.values().map(String::as_str).collect();
    let mut shown = subject.join(" ");
    shown.push(':');
    for phrase in &clause.values {
        let _ = write!(shown, " {}", phrase.words);
    }
    for (_, word) in clause.sides.values() {
        let _ = write!(shown, " {word}");
    }
    if let Some(word) = &clause.denied {
        let _ = write!(shown, " ({word})");
    }
    shown
}

#[test]
fn claims() {
    let values = |text: &str| -> Vec<ClaimValue> {
        clauses(text)
            .into_iter()
            .flat_map(|clause| clause.values)
            .map(|phrase| phrase.value)
            .collect()
    };
    check("claims.md", |rule, input| match rule {
        "Clauses" => joined(&clauses(&input[0]).iter().map(shown_clause).collect::<Vec<_>>()),
        "Values" => joined(&values(&input[0]).iter().map(shown_value).collect::<Vec<_>>()),
        "Relation of two values" => {
            let value = |text: &str| values(&format!("The limit is {text}")).swap_remove(0);
            let (first, second) = (value(&input[0]), value(&input[1]));
            assert_eq!(first.relation_to(&second), second.relation_to(&first));
            format!("{:?}", first.relation_to(&second)).to_lowercase()
        }
        _ => panic!("no rule {rule:?}"),
    });
}

/// What the rules find in a file of pairs: of each kind the found, the false and the missed pairs.
fn judged_pairs(name: &str) -> Vec<(Row, bool, bool)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tables").join(name);
    let rows = rows(&std::fs::read_to_string(&path).expect("the table is readable"));
    let context = ClaimContext { one_author: false, one_week: true };
    let judged = rows.into_iter().map(|row| {
        let [older, newer] = [&row.cells[0], &row.cells[1]].map(|text| clauses(text));
        let found = !differences(&older, &newer, context).is_empty();
        let expected = row.cells[2] == "yes";
        (row, found, expected)
    });
    judged.collect()
}

#[test]
fn contradictions() {
    let mut shown = String::new();
    for (name, precision_min, recall_min) in
        [("contradictions/tuning.md", 0.98, 0.9), ("contradictions/judging.md", 0.95, 0.8)]
    {
        let judged = judged_pairs(name);
        let count = |of: &dyn Fn(bool, bool) -> bool| {
            judged.iter().filter(|(_, found, expected)| of(*found, *expected)).count() as f64
        };
        let (right, found) = (count(&|found, is| found && is), count(&|found, _| found));
        let (precision, recall) = (right / found, right / count(&|_, is| is));
        let _ = writeln!(shown, "{name}: precision {precision:.3}, recall {recall:.3}");
        if name.contains("tuning") {
            for (row, found, expected) in
                judged.iter().filter(|(_, found, expected)| found != expected)
            {
                let _ = writeln!(
                    shown,
                    "  {}:{} {:?} found {found}, expected {expected}",
                    row.rule,
                    row.line,
                    &row.cells[..2]
                );
            }
        }
        assert!(precision >= precision_min && recall >= recall_min, "{shown}");
    }
}

#[test]
fn corrections() {
    let pairs = |name: &str| {
        let path =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tables/contradictions").join(name);
        rows(&std::fs::read_to_string(path).expect("the table is readable"))
    };
    let context = ClaimContext { one_author: true, one_week: true };
    let relation = |row: &Row| compare_texts(&row.cells[0], &row.cells[1], context);
    let is_corrected = |row: &&Row| matches!(relation(row), TextRelation::Corrects(_));
    let parallel = pairs("parallel.md");
    let wrong: Vec<_> = parallel.iter().filter(is_corrected).map(|row| &row.cells).collect();
    assert!(parallel.len() >= 100 && wrong.len() <= 2, "{wrong:#?}");
    let mut judged = pairs("tuning.md");
    judged.extend(pairs("judging.md"));
    let same: Vec<_> = judged
        .iter()
        .filter(|row| row.cells[2] == "yes" && relation(row) == TextRelation::Same)
        .map(|row| &row.cells)
        .collect();
    assert!(same.is_empty(), "taken for the same: {same:#?}");
    let (right, wrong): (Vec<&Row>, Vec<&Row>) =
        judged.iter().filter(is_corrected).partition(|row| row.cells[2] == "yes");
    let all = judged.iter().filter(|row| row.cells[2] == "yes").count();
    assert!(right.len() * 5 >= all * 4 && wrong.is_empty(), "{} of {all}", right.len());
}

#[test]
fn texts_that_say_the_same() {
    check("same.md", |_, input| {
        assert_eq!(says_same(&input[0], &input[1]), says_same(&input[1], &input[0]), "{input:?}");
        yes_no(says_same(&input[0], &input[1]))
    });
}

/// A text of `secrets.md` with its tokens whole and its placeholders replaced.
fn whole_secret(cell: &str) -> String {
    const NOISE: &str = "q7Rk2ZpV9xT4mWc8Lh3NbY6sJd1FgQ5uEw0aXvKtHiCoPzMrB2";
    const HEX: &str = "3f786850e387550fdab836ed7e6dc881de23001b9d5c2f47a8e60b13c4f9d27e";
    let mut text = cell.replace('·', "");
    for (name, source) in [
        ("noise", NOISE.to_owned()),
        ("lower", NOISE.to_lowercase()),
        ("NOISE", NOISE.to_uppercase()),
        ("hex", HEX.to_owned()),
    ] {
        let mark = format!("{{{name}:");
        while let Some((before, rest)) = text.split_once(&mark) {
            let (length, after) = rest.split_once('}').expect("a placeholder is closed");
            let length = length.parse().expect("a length");
            let letters: String = source.chars().cycle().take(length).collect();
            text = format!("{before}{letters}{after}");
        }
    }
    text
}

fn rules_in(text: &str) -> String {
    let found = secrets::redact(text).found;
    joined(&found.iter().map(|finding| finding.rule.to_owned()).collect::<Vec<_>>())
}

#[test]
fn secrets_in_texts() {
    check("secrets.md", |rule, input| {
        let text = whole_secret(&input[0]);
        match rule {
            "Tokens" => {
                let in_prose = format!("The deploy uses {text}, kept by ops.");
                assert_eq!(rules_in(&in_prose), rules_in(&text), "in prose: {text}");
                let in_json = format!("{{\"value\":\"{text}\"}}");
                assert_eq!(rules_in(&in_json), rules_in(&text), "in JSON: {text}");
                rules_in(&text)
            }
            "Redacted texts" => {
                let redacted = secrets::redact(&text).text.into_owned();
                assert_eq!(secrets::redact(&redacted).text, redacted, "again");
                redacted
            }
            "Texts without secrets" => rules_in(&text),
            _ => panic!("no rule {rule:?}"),
        }
    });
}

#[test]
fn injections() {
    check("injection.md", |rule, input| {
        let reasons = |text: &str| -> Vec<String> {
            injection::reasons(text).into_iter().map(|reason| reason.name().to_owned()).collect()
        };
        let found = reasons(&input[0]);
        let among = format!("We moved the index.\n\n{}\n\nIt is faster.", input[0]);
        match rule {
            "Injections" => {
                let around = reasons(&among);
                assert!(found.iter().all(|reason| around.contains(reason)), "{among}");
                joined(&found)
            }
            "Ordinary texts" => joined(&found),
            _ => panic!("no rule {rule:?}"),
        }
    });
}

/// The rows of a part of `about.md` that the rule judges wrongly, and the share of the sentences about
/// the project that it finds.
fn judged_subjects(part: &str) -> (Vec<String>, f64) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tables/about.md");
    let all = rows(&std::fs::read_to_string(path).expect("the table is readable"));
    let (mut missed, mut found, mut project) = (Vec::new(), 0, 0);
    for row in all.iter().filter(|row| row.rule == part) {
        let [text, memory_type, about] = [0, 1, 2].map(|cell| row.cells[cell].as_str());
        let is_project =
            is_about_project(&SubjectInput { text, memory_type, ..SubjectInput::default() });
        project += usize::from(about == "project");
        found += usize::from(about == "project" && is_project);
        if is_project != (about == "project") {
            missed.push(format!("about.md:{}: {text:?} is about the {about}", row.line));
        }
    }
    assert!(project > 30, "{part} has {project} sentences about the project");
    (missed, found as f64 / project as f64)
}

#[test]
fn about_whom() {
    for (part, share_min) in [("Tuning", 0.9), ("Judging", 0.85)] {
        let (missed, share) = judged_subjects(part);
        eprintln!("{part}: {share:.3} of the sentences about the project are found\n{missed:#?}");
        let leaked: Vec<_> = missed.iter().filter(|row| row.ends_with("about the user")).collect();
        assert!(leaked.is_empty(), "taken for sentences about the project: {leaked:#?}");
        assert!(share >= share_min, "{part}: {share:.3}: {missed:#?}");
    }
}
