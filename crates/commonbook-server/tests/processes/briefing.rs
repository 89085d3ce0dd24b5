//! Briefings through the hooks of every client: told once, to the main agent, in bytes that stay.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::time::Instant;

use commonbook_text::tokens;
use serde_json::{Value, json};

use crate::processes::hook::{hook, log};
use crate::world::{Home, Server};

/// A client: the names of its events and fields, and where its output has the text.
struct Client {
    name: &'static str,
    start: &'static str,
    prompt: &'static str,
    session: &'static str,
    text: fn(&Value) -> &Value,
    /// Fields of a prompt that comes from a sub-agent.
    within: Value,
}

fn clients() -> [Client; 5] {
    let own: fn(&Value) -> &Value = |output| &output["hookSpecificOutput"]["additionalContext"];
    [
        Client {
            name: "claude-code",
            start: "SessionStart",
            prompt: "UserPromptSubmit",
            session: "session_id",
            text: own,
            within: json!({"agent_id": "a6bb7e5de31d9b02b", "agent_type": "engineer"}),
        },
        Client {
            name: "codex",
            start: "SessionStart",
            prompt: "UserPromptSubmit",
            session: "session_id",
            text: own,
            within: json!({"agent_id": "01a1fbcb-4fc6-78d1", "agent_type": "default"}),
        },
        Client {
            name: "gemini",
            start: "SessionStart",
            prompt: "BeforeAgent",
            session: "session_id",
            text: own,
            within: Value::Null,
        },
        Client {
            name: "copilot",
            start: "sessionStart",
            prompt: "userPromptSubmitted",
            session: "sessionId",
            text: |output| &output["additionalContext"],
            within: json!({"agentId": "11d824d1", "agentType": "engineer", "parentAgentId": "main"}),
        },
        Client {
            name: "opencode",
            start: "event:session.created",
            prompt: "chat.message",
            session: "sessionID",
            text: |output| &output["context"],
            within: json!({"parentID": "ses_e04372ae5ffe", "agent": "engineer"}),
        },
    ]
}

impl Client {
    /// The text that the client shows its agent at this event.
    fn shows(&self, home: &Home, event: &str, session: &str, fields: &Value) -> String {
        let mut input = json!({"cwd": home.path()});
        input[self.session] = session.into();
        input.as_object_mut().unwrap().extend(fields.as_object().cloned().unwrap_or_default());
        let output = hook(home, &[self.name, event], &input);
        (self.text)(&output).as_str().unwrap_or_default().to_owned()
    }

    fn prompt(&self, home: &Home, session: &str, prompt: &str) -> String {
        self.shows(home, self.prompt, session, &json!({"prompt": prompt}))
    }
}

const QUESTION: &str = "Why does the payment service retry a failed request so often?";

/// Saves one memory that answers the question, and five important ones that do not.
fn save_facts(home: &Home) {
    let save = |text: &str, importance: &str| {
        home.run(&["save", text, "--agent", "rook", "--importance", importance]);
    };
    save("The payment service retries a failed request three times", "normal");
    for number in 0..5 {
        save(&format!("Pier {number} is open"), "high");
    }
}

#[test]
fn the_main_agent_of_every_client_hears_what_fits_its_prompt_once() {
    let home = Home::new();
    let _server = Server::start(&home);
    save_facts(&home);
    for client in clients() {
        let name = client.name;
        let session = format!("{name}:d8d0fc6f-e641-4a44");
        let begun = client.shows(&home, client.start, &session, &json!({"source": "startup"}));
        let first = client.prompt(&home, &session, "Rename the variable please");
        // opencode shows nothing at the start of a session: the first prompt begins there.
        let beginning = if name == "opencode" { &first } else { &begun };
        assert!(beginning.contains("> Pier 4 is open"), "{name}: {beginning}");
        assert!(beginning.contains("has 6 memories of 1 agent"), "{name}: {beginning}");
        assert_eq!(begun.is_empty(), name == "opencode", "{begun}");
        assert_eq!(first.is_empty(), name != "opencode", "{name}: {first}");
        if client.within != Value::Null {
            let mut fields = client.within.clone();
            fields["prompt"] = QUESTION.into();
            let within = client.shows(&home, client.prompt, &session, &fields);
            assert_eq!(within, "", "{name}: a sub-agent has its context with its task");
        }
        let told = client.prompt(&home, &session, QUESTION);
        assert!(
            told.contains("> The payment service retries a failed request three"),
            "{name}: {told}"
        );
        assert!(!told.contains("Pier") && tokens::count(&told) < 100, "{name}: {told}");
        assert_eq!(client.prompt(&home, &session, QUESTION), "", "{name}");
        // A resumed conversation still has what it heard; a compacted one has not.
        let again = |source: &str| {
            client.shows(&home, client.start, &session, &json!({"source": source}));
            client.prompt(&home, &session, QUESTION)
        };
        assert_eq!(again("resume"), "", "{name}");
        if name != "opencode" {
            assert!(again("compact").contains("three times"), "{name}");
        }
    }
    assert_eq!(log(&home), "");
}

#[test]
fn what_a_sub_agent_hears_is_not_told_to_the_main_agent() {
    let home = Home::new();
    let _server = Server::start(&home);
    save_facts(&home);
    let [claude, ..] = clients();
    claude.shows(&home, "SessionStart", "s1", &json!({"source": "startup"}));
    let given = json!({"prompt": QUESTION, "subagent_type": "engineer"});
    let delegation =
        json!({"session_id": "s1", "cwd": home.path(), "tool_name": "Agent", "tool_input": given});
    for _ in 0..2 {
        let output = hook(&home, &["claude-code", "PreToolUse"], &delegation);
        let task = output["hookSpecificOutput"]["updatedInput"]["prompt"].as_str().unwrap();
        assert!(task.contains("three times"), "each sub-agent begins anew: {task}");
    }
    assert!(claude.prompt(&home, "s1", QUESTION).contains("three times"));
}

/// What is known before the session: texts with their importance.
const KNOWN: [(&str, &str); 14] = [
    ("All services log as JSON lines with a request id", "critical"),
    ("Deploys go out on Tuesday, never on Friday", "critical"),
    ("The main branch is protected: every change needs a review", "high"),
    ("Tests run with cargo nextest in CI", "high"),
    ("Customer names never appear in logs", "high"),
    ("The payment service retries a failed request three times with backoff", "normal"),
    ("The orders table is partitioned by month since the migration of May", "normal"),
    ("The checkout form validates the postal code with the geo service", "normal"),
    ("The session cookie is named sid and lives for 30 minutes", "normal"),
    ("The invoice PDF is rendered by a worker that reads the queue invoices", "normal"),
    ("The staging database is a copy of production without card numbers", "normal"),
    ("The rate limiter counts requests in Redis with a sliding window", "normal"),
    ("The search index is rebuilt each night at two", "normal"),
    ("The feature flag new_checkout is on for ten percent of the users", "normal"),
];

/// The prompts of a coding session.
const PROMPTS: [&str; 40] = [
    "hi, let's get going. what's on the checkout branch?",
    "the payment service retries a failed request too often. find where the backoff is",
    "ok, make the number of attempts configurable",
    "run the tests",
    "two of them fail, fix them please",
    "why does the checkout form reject the postal code 1010?",
    "write a test for that",
    "looks good, commit",
    "now the invoice PDF: the worker that reads the queue crashes on umlauts",
    "show me the stack trace again",
    "use the other font then",
    "does the session cookie survive a restart of the browser?",
    "make it last an hour",
    "revert that, 30 minutes was right",
    "go on",
    "what is the rate limiter doing with requests from the same IP?",
    "can we count them per user instead?",
    "write the migration for the orders table, it needs a column currency",
    "the migration takes too long on the partitioned orders table, why?",
    "do it in batches",
    "ok run it against the staging database",
    "how many rows were changed?",
    "fine. add the column to the API too",
    "rename the field to currency_code everywhere",
    "the search index does not know the new column yet, when is it rebuilt?",
    "trigger it by hand",
    "update the README",
    "shorter please",
    "who turned on the feature flag new_checkout?",
    "set it to twenty percent in the config",
    "hmm wait, back to ten",
    "lint complains about an unused import",
    "go on",
    "what did we change today? summarise",
    "write the release note",
    "mention the payment service and its retries",
    "open a pull request",
    "the review asks for a test of the rate limiter with two users",
    "push it",
    "thanks, that's all for today",
];

/// What other agents do before a prompt: the number of the prompt, and a command of theirs.
fn change(home: &Home, turn: usize) {
    let save = |text: &str| drop(home.run(&["save", text, "--agent", "rook"]));
    match turn {
        4 => save("The CI runner has been moved to the new cluster"),
        9 => drop(home.run(&[
            "handoff",
            "create",
            "claude-code",
            "Review the font license",
            "--agent",
            "rook",
        ])),
        13 => save("The design team wants the cookie banner at the bottom"),
        18 => save("The migration of the orders table must run in batches of 10,000 rows"),
        22 => drop(home.run(&[
            "save",
            "The API is frozen from Thursday on",
            "--agent",
            "rook",
            "--importance",
            "critical",
        ])),
        26 => save("The README is generated from docs/readme.tpl"),
        31 => save("The lint job uses the nightly toolchain"),
        36 => save("Pull requests need the label release"),
        _ => {}
    }
}

/// The blocks of a text: what stands inside fences, with the marks.
fn blocks(text: &str) -> String {
    match text.rfind("</commonbook-") {
        Some(end) => text[..end].to_owned(),
        None => String::new(),
    }
}

#[test]
fn a_session_of_forty_turns_keeps_its_prefix_and_repeats_nothing() {
    let home = Home::new();
    let _server = Server::start(&home);
    for (text, importance) in KNOWN {
        home.run(&["save", text, "--agent", "codex", "--importance", importance]);
    }
    let [claude, ..] = clients();
    // A client that writes the beginning of the session into its system prompt again at each turn.
    let system = || {
        let arguments = ["briefing", "--client-session", "system", "--restart", "--json"];
        let output = home.run(&[&arguments[..], &["--agent", "claude-code"]].concat());
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        blocks(answer["text"].as_str().unwrap())
    };
    let mut conversation =
        claude.shows(&home, "SessionStart", "s40", &json!({"source": "startup"}));
    let mut heard: HashSet<(String, String)> = HashSet::new();
    let items = |text: &str| {
        let lines: Vec<&str> = text.lines().collect();
        let pairs = lines.windows(2).filter(|pair| pair[0].starts_with('#'));
        pairs.map(|pair| (pair[0][..9].to_owned(), pair[1].to_owned())).collect::<Vec<_>>()
    };
    heard.extend(items(&conversation));
    let mut prefix = system();
    assert!(!prefix.is_empty());
    let (mut stable, mut spoken, mut quiet, mut most) = (0, 0, 0, 0);
    let begun = Instant::now();
    for (turn, prompt) in PROMPTS.into_iter().enumerate() {
        change(&home, turn);
        let told = claude.prompt(&home, "s40", prompt);
        for item in items(&told) {
            assert!(heard.insert(item.clone()), "turn {turn} repeats {item:?}");
        }
        match told.is_empty() {
            true => quiet += 1,
            false => spoken += 1,
        }
        most = most.max(tokens::count(&told));
        let before = conversation.clone();
        write!(conversation, "\nuser: {prompt}\n{told}").unwrap();
        assert!(conversation.starts_with(&before), "a turn adds to the conversation");
        let again = system();
        stable += usize::from(again == prefix);
        prefix = again;
    }
    eprintln!(
        "of 40 turns {stable} leave the beginning byte-identical; {spoken} prompts heard something, at most {most} \
         tokens, {quiet} nothing; {:.1} s",
        begun.elapsed().as_secs_f64()
    );
    assert!(stable * 100 >= 40 * 95, "{stable} of 40");
    assert!(most <= 400 && spoken >= 8 && quiet >= 8, "{spoken} {quiet} {most}");
    for part in
        ["Review the font license", "batches of 10,000 rows", "The API is frozen from Thursday on"]
    {
        assert_eq!(conversation.matches(part).count(), 1, "{part}: {conversation}");
    }
    assert_eq!(log(&home), "");
}
