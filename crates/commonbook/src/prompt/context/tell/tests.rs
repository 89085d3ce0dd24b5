//! The wording of texts as agents write them.

use super::*;

fn tell(memory_type: &str, text: &str) -> String {
    TemplateSet::default().tell(memory_type, text)
}

#[test]
fn profiles_are_worded_by_the_meaning_of_their_keys() {
    let table = [
        (
            r#"{"name": "Alice", "language": "Python"}"#,
            "Their name is Alice. They prefer to code in Python.",
        ),
        (
            r#"{"user_name": "Alice", "preferred_languages": ["Python", "Rust", "Go"], "tools": ["neovim", "tmux"], "communication_style": "concise and direct"}"#,
            "Their name is Alice. They prefer to code in Python, Rust and Go. They use neovim and tmux. They prefer this style of communication: concise and direct.",
        ),
        // The order is that of the fields, not of the keys.
        (r#"{"tools": "vim", "userName": "Bo"}"#, "Their name is Bo. They use vim."),
        (r#"{"User-Name": "Bo"}"#, "Their name is Bo."),
        (
            r#"{"style": "terse", "experience_level": "senior"}"#,
            "Their level of experience is senior. They prefer this style of communication: terse.",
        ),
        (r#"{"language": "English"}"#, "They prefer to speak English."),
        (r#"{"preferred_language": "English, German"}"#, "They prefer to speak English, German."),
        (r#"{"language": "en-GB"}"#, "They prefer to speak en-GB."),
        (
            r#"{"user": "alice", "language": "Rust"}"#,
            "Their name is alice. They prefer to code in Rust.",
        ),
        (r#"{"languages": ["English", "Rust"]}"#, "They prefer to code in English and Rust."),
        (r#"{"preferred_name": "Al"}"#, "They like to be called Al."),
        (r#"{"emojis": false}"#, "They do not want emojis."),
        (r#"{"use_emojis": true}"#, "They like emojis."),
        (r#"{"years_of_experience": 12}"#, "They have 12 years of experience."),
        // A value that ends its own sentence ends ours.
        (r#"{"notes": "Hates mornings."}"#, "Notes: Hates mornings."),
        // Objects around others are transparent.
        (
            r#"{"user": {"name": "Alice", "preferences": {"language": "Python", "indent": 4}}}"#,
            "Their name is Alice. They prefer to code in Python. Preferences, indent: 4.",
        ),
        (r#"{"user_profile": {"info": {"name": "Cy"}}}"#, "Their name is Cy."),
        // An unknown field is shown by its key.
        (
            r#"{"name": "Di", "shoeSize": 38, "has_cat": true}"#,
            "Their name is Di. Shoe size: 38. Has cat: yes.",
        ),
        // An empty value is left out.
        (
            r#"{"name": "Ed", "tools": [], "role": null, "team": "", "likes": [null, " "]}"#,
            "Their name is Ed.",
        ),
        // Two keys with the same value are shown once.
        (r#"{"name": "Flo", "user_name": "Flo"}"#, "Their name is Flo."),
        (r#"{"name": "Flo", "username": "flo77"}"#, "Their name is Flo. Their name is flo77."),
    ];
    for (text, expected) in table {
        assert_eq!(tell("profile", text), format!("User profile: {expected}"), "{text}");
    }
}

#[test]
fn task_contexts_are_worded_by_the_meaning_of_their_keys() {
    let table = [
        (
            r#"{"current_project": "AIOS", "goals": ["fix the scheduler", "write tests"], "blockers": "CI is red", "next_steps": ["bisect", "ask Bob"]}"#,
            "The project is AIOS. Goals: fix the scheduler and write tests. Blocked by: CI is red. Next steps: bisect and ask Bob.",
        ),
        (r#"{"project": "AIOS", "goal": "fix bug"}"#, "The project is AIOS. Goals: fix bug."),
        (
            r#"{"experiment": "LoRA rank 8", "metrics": {"f1": 0.81, "loss": 1.2}}"#,
            "The experiment is: LoRA rank 8. Measured: f1: 0.81, loss: 1.2.",
        ),
        (
            r#"{"currentTask": "port the parser", "nextSteps": "read RFC 8259"}"#,
            "The task is: port the parser. Next steps: read RFC 8259.",
        ),
        (
            r#"{"task_context": {"project": "x"}, "blocked": true}"#,
            "The project is x. It is blocked.",
        ),
        (
            r#"{"project": {"name": "atlas", "stack": ["Rust", "SQLite"]}}"#,
            "The project is atlas (stack: (Rust and SQLite)).",
        ),
        (
            r#"{"todo": [{"what": "bisect", "who": "Bo"}, {"what": "merge"}]}"#,
            "Next steps: what: bisect, who: Bo; what: merge.",
        ),
        (
            r#"{"next_steps": ["Bisect, then report.", "Ask Bob."]}"#,
            "Next steps: Bisect, then report; Ask Bob.",
        ),
    ];
    for (text, expected) in table {
        assert_eq!(
            tell("task_context", text),
            format!("Current task context: {expected}"),
            "{text}"
        );
    }
}

#[test]
fn json_of_any_shape_becomes_sentences() {
    let table = [
        (
            "research_notes",
            r#"{"topic": "transformers", "summary": "attention is all you need"}"#,
            "Research notes. Topic: transformers. Summary: attention is all you need.",
        ),
        (
            "semantic",
            r#"["tea", {"kind": "Assam", "minutes": 3}]"#,
            "Semantic. Tea. Kind: Assam, minutes: 3.",
        ),
        ("x", r#"{"a": {"b": {"c": [1, [2, 3], {"d": null}]}}}"#, "X. A: b: (c: (1; 2 and 3))."),
        (
            "x",
            r#"{"HTTPPort": 80, "API_KEY": "none", "dry-run": false}"#,
            "X. HTTP port: 80. API KEY: none. Dry run: no.",
        ),
        ("x", "```json\n{\"a\": 1}\n```", "X. A: 1."),
        ("x", r#""{\"a\": 1}""#, "X. A: 1."),
        ("profile", r#"["likes tea"]"#, "Profile. Likes tea."),
        ("x", "{\"a\": \"two\\n  lines\"}", "X. A: two lines."),
        ("x", r#"{"ünit": "µs", "名": "李"}"#, "X. Ünit: µs. 名: 李."),
        ("x", r#"{"n": 1.50, "big": 123456789012345678}"#, "X. N: 1.5. Big: 123456789012345678."),
    ];
    for (memory_type, text, expected) in table {
        assert_eq!(tell(memory_type, text), expected, "{text}");
    }
}

#[test]
fn text_that_is_not_json_stays_unchanged() {
    let texts = [
        "Deploys go out on Tuesday.",
        "  kept \n with its blanks ",
        "{not json}",
        "[draft] ship it",
        "{\"a\": 1} and more",
        "\"quoted\"",
        "42",
        "",
        "{}",
        "[]",
        "{\"a\": null}",
        "```rust\nfn x() {}\n```",
        "```",
    ];
    for text in texts {
        for memory_type in ["profile", "task_context", "semantic"] {
            assert_eq!(tell(memory_type, text), text);
        }
    }
    let text = r#"{"role": "user"}"#;
    assert_eq!(tell("conversation", text), text);
}

#[test]
fn a_configured_type_is_worded_by_its_template() {
    let templates = TemplateSet::of([
        ("research", "Research on {topic}. Result: {summary}. Found by {source.author}! {{kept}}"),
        ("profile", "{user_name} it is."),
    ])
    .expect("these are templates");
    let table = [
        (
            "research",
            r#"{"topic": "tea", "summary": "Good.", "source": {"author": ["Al", "Bo"]}}"#,
            "Research on tea. Result: Good. Found by Al and Bo! {kept}",
        ),
        ("research", r#"{"topic": "tea"}"#, "Research on tea. {kept}"),
        ("research", r#"{"topic": "", "summary": "hot", "x": 1}"#, "Result: hot. {kept}"),
        // A template that none of the keys fits does not hide them.
        ("research", r#"{"other": 1}"#, "Research. Other: 1."),
        ("research", r#"["a"]"#, "Research. A."),
        ("research", "plain", "plain"),
        ("profile", r#"{"user_name": "Al", "tools": ["vi"]}"#, "Al it is."),
    ];
    for (memory_type, text, expected) in table {
        assert_eq!(templates.tell(memory_type, text), expected, "{text}");
    }
}

#[test]
fn invalid_templates_are_refused_with_the_reason() {
    let table = [
        ("no place", "no place"),
        ("{", "partner"),
        ("a } b {x}", "partner"),
        ("{}", "without a key"),
        ("{a..b}", "without a key"),
        ("{a{b}", "without a key"),
    ];
    for (text, reason) in table {
        let error = SentenceTemplate::parse(text).expect_err(text);
        assert!(error.message.contains(reason), "{text}: {}", error.message);
        assert!(error.hint.is_some());
    }
}

#[test]
fn handoffs_entries_and_learnings_have_their_own_form() {
    let list = |items: &[&str]| items.iter().map(|item| (*item).to_owned()).collect::<Vec<_>>();
    let (decided, next, files) =
        (list(&["Use Rust."]), list(&["write it", "", "test it."]), list(&["src/a.rs"]));
    let given = HandoffSummary {
        from: "research",
        task: "Port the parser",
        context: Some("It is slow."),
        decisions_made: &decided,
        next_steps: &next,
        active_files: &files,
        text: Some("Memories follow."),
    };
    assert_eq!(
        handoff(&given),
        "research hands you this task: Port the parser. It is slow. Decided so far: Use Rust. \
         Next steps: write it; test it. Files: src/a.rs.\nMemories follow."
    );
    let bare = HandoffSummary { from: "a", task: "b", ..HandoffSummary::default() };
    assert_eq!(handoff(&bare), "a hands you this task: b.");
    let entry_summary = EntrySummary {
        case: "PAY-7",
        title: Some("Double charge"),
        position: 4,
        summary: "Found it",
        has_text: true,
    };
    assert_eq!(
        entry(&entry_summary),
        "New in the case PAY-7 (Double charge), entry 4: Found it. There is more in its text."
    );
    assert_eq!(
        entry(&EntrySummary { title: None, has_text: false, ..entry_summary }),
        "New in the case PAY-7, entry 4: Found it."
    );
    assert_eq!(
        learning("mistake", "never mock the clock"),
        "A mistake to avoid: never mock the clock."
    );
    assert_eq!(learning("other", "x."), "Learned: x.");
    assert_eq!(learning("other", "ßx"), "Learned: ßx.");
}

fn any_json() -> impl proptest::strategy::Strategy<Value = Value> {
    use proptest::prelude::*;
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "\\PC{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map(
                "name|title|user_name|tools|nextSteps|language|[a-zA-Z_é ]{0,10}",
                inner,
                0..4
            )
            .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

#[test]
fn a_sentence_begins_with_a_capital_that_is_the_letters_own() {
    let table = [
        ("tests run", "Tests run"),
        ("écoute", "Écoute"),
        ("µs", "µs"),
        ("ſo", "ſo"),
        ("ßo", "ßo"),
    ];
    for (text, expected) in table {
        assert_eq!(super::value::capitalise(text), expected);
    }
}

/// The words of the texts and numbers that a value holds.
fn words_of(value: &Value, words: &mut Vec<String>) {
    match value {
        Value::String(text) => {
            words.extend(text.split_whitespace().map(|w| w.trim_end_matches('.').to_lowercase()));
        }
        Value::Number(number) => words.push(number.to_string()),
        Value::Array(items) => items.iter().for_each(|item| words_of(item, words)),
        Value::Object(object) => object.values().for_each(|item| words_of(item, words)),
        Value::Null | Value::Bool(_) => {}
    }
}

proptest::proptest! {
    #[test]
    fn no_value_gets_lost(value in any_json(), kind in "(profile|task_context|note)") {
        // A bare value is no JSON object.
        let whole = value.is_object() || value.is_array();
        let value = if whole { value } else { serde_json::json!({ "x": value }) };
        let text = tell(&kind, &value.to_string()).to_lowercase();
        let mut words = Vec::new();
        words_of(&value, &mut words);
        for word in words {
            assert!(text.contains(&word), "{word:?} of {value} is not in {text:?}");
        }
    }

    #[test]
    fn any_text_can_be_worded(text in "\\PC{0,40}", template in "[a-z{}. ]{0,20}") {
        let _ = tell("profile", &text);
        if let Ok(templates) = TemplateSet::of([("x", template.as_str())]) {
            let _ = templates.tell("x", r#"{"a": {"b": "c"}}"#);
        }
    }
}
