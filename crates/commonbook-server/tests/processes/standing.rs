//! Standing memory between processes: nothing is lost, no file is half written, and a project keeps
//! its own file when memories are on a server.

use std::fs;
use std::process::Stdio;
use std::time::Duration;

use serde_json::json;

use super::projects::{Person, errors};
use crate::doors::dashboard::{between, signed_in, signed_in_with};
use crate::doors::tokens::token;
use crate::world::{Home, Server};

/// How often several processes add at once.
const ROUNDS: usize = 50;

/// Processes of a round.
const PROCESSES: usize = 3;

fn without_limits(home: &Home) {
    let settings = json!({"context": {"standing": {"*": {"items": 1000, "bytes": 1_000_000}}}});
    fs::write(home.path().join("config.json"), settings.to_string()).unwrap();
}

/// Words that make items differ.
fn words(number: usize) -> String {
    let words = ["crane", "gate", "berth", "tide", "lock", "quay", "mast", "buoy", "rope", "hull"];
    let digits = [number / 100, number / 10 % 10, number % 10];
    digits.map(|digit| words[digit]).join(" ")
}

#[test]
fn fifty_rounds_of_several_processes_lose_no_item() {
    let home = Home::new();
    without_limits(&home);
    for round in 0..ROUNDS {
        let children = (0..PROCESSES).map(|process| {
            let text = format!("Fact {round}.{process}: {}", words(round * PROCESSES + process));
            let mut command = home.program(&["memory", "add", "qa", &text, "--everywhere"]);
            command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
        });
        for child in children.collect::<Vec<_>>() {
            let output = child.wait_with_output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
    }
    let text = fs::read_to_string(home.path().join("memories/qa.md")).unwrap();
    let facts = text.lines().filter(|line| line.starts_with("- Fact ")).count();
    assert_eq!(facts, ROUNDS * PROCESSES, "{text}");
    let history = home.run(&["memory", "history", "qa", "--limit", "100", "--json"]);
    let history: serde_json::Value = serde_json::from_slice(&history.stdout).unwrap();
    let versions = history["items"].as_array().unwrap();
    assert_eq!((versions.len(), &versions[0]["version"]), (100, &json!(ROUNDS * PROCESSES)));
    let added = |version: &serde_json::Value| version["added"].as_array().map_or(0, Vec::len);
    assert!(versions[..99].iter().all(|version| added(version) == 1), "each is one addition");
}

#[test]
#[expect(clippy::disallowed_methods, reason = "each process is killed at another moment")]
fn a_killed_process_leaves_a_whole_file() {
    let home = Home::new();
    without_limits(&home);
    let add = |number: usize| {
        let text = format!("Fact {number}: {}", words(number));
        let mut command = home.program(&["memory", "add", "qa", &text, "--everywhere"]);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command
    };
    assert!(add(0).status().unwrap().success());
    let mut killed = 0;
    for number in 1..40 {
        let mut child = add(number).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(8 * (number as u64 % 20)));
        drop(child.kill());
        killed += usize::from(!child.wait().unwrap().success());
        let text = fs::read_to_string(home.path().join("memories/qa.md")).unwrap();
        let facts = text.lines().filter(|line| line.starts_with("- Fact "));
        for fact in facts {
            assert!(fact.starts_with("- Fact ") && fact.ends_with("-->"), "{fact}");
        }
        assert!(text.starts_with("# Agent Memory: qa\n") && text.ends_with('\n'), "{text}");
    }
    assert!(killed > 0, "no process was killed");
    assert!(add(50).status().unwrap().success(), "a killed process leaves no lock");
}

#[test]
fn at_a_url_commands_and_hooks_use_the_server_and_the_file_of_the_project() {
    let (shared, person) = (Home::new(), Person::new());
    let memories = shared.path().join("memories");
    fs::create_dir_all(&memories).unwrap();
    fs::write(memories.join("claude-code.md"), "- Never push to main\n").unwrap();
    let server = Server::start(&shared);
    let root = person.repository("api", "git@github.com:acme/api.git");
    let at_url = |arguments: &[&str]| {
        let set = [("COMMONBOOK_URL", server.url.as_str())];
        let all = [arguments, &["--agent", "claude-code"]].concat();
        let output = person.run_with(&root, &all, &set);
        assert!(output.status.success(), "{arguments:?}: {}", errors(&output));
        String::from_utf8(output.stdout).unwrap()
    };
    at_url(&["memory", "add", "qa", "Run the slow tests too"]);
    assert!(fs::read_to_string(memories.join("qa.md")).unwrap().contains("slow tests"));
    assert!(at_url(&["memory", "status"]).contains("qa"));
    assert!(at_url(&["memory", "show", "claude-code"]).contains("Never push"));
    assert!(!root.join(".commonbook").exists() && !person.home.path().join("memories").exists());
    // The project's own file comes before that of the server, as in contexts.
    let own = root.join(".commonbook/memories");
    fs::create_dir_all(&own).unwrap();
    fs::write(own.join("claude-code.md"), "- This project uses tabs\n").unwrap();
    assert!(at_url(&["memory", "show", "claude-code"]).contains("tabs"));
    let everywhere = at_url(&["memory", "show", "claude-code", "--everywhere"]);
    assert!(everywhere.contains("Never push"), "{everywhere}");
    let context = person.hook(&root, "SessionStart", &[("COMMONBOOK_URL", &server.url)]);
    assert!(context.contains("Never push to main"), "{context}");
    assert!(!context.contains("This project uses tabs"), "{context}");
    assert!(context.contains("commonbook memory agree"), "{context}");
    person.home.agree(&own.join("claude-code.md"), "- This project uses tabs\n");
    let context = person.hook(&root, "SessionStart", &[("COMMONBOOK_URL", &server.url)]);
    assert!(context.contains("This project uses tabs"), "{context}");
    let left: Vec<_> =
        fs::read_dir(&own).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["claude-code.md"], "no lock and no other file is left in the project");
}

#[test]
fn a_person_agrees_on_a_page_to_the_text_that_it_shows() {
    let person = Person::new();
    let root = person.repository("api", "git@github.com:acme/api.git");
    let own = root.join(".commonbook/memories");
    fs::create_dir_all(&own).unwrap();
    let file = own.join("claude-code.md");
    fs::write(&file, "- This project uses <b>tabs</b>\n").unwrap();
    // The server may read no project: it shows what the hook has found.
    let server = Server::start(&person.home);
    let browser = signed_in(&person.home, &server);
    let told = || person.hook(&root, "SessionStart", &[]);
    assert!(!told().contains("This project uses"));
    let list = person.answer(&root, &["workspace", "list"]);
    let workspace = list["here"]["workspace"].as_str().unwrap().to_owned();
    let path = format!("/dashboard/w/{workspace}/agreements");
    let page = || browser.request("GET", &path, &[], "").body;
    let shown = page();
    assert!(shown.contains("&gt; - This project uses &lt;b&gt;tabs&lt;/b&gt;"), "{shown}");
    assert!(shown.contains("claude-code.md"), "{shown}");
    let sum = |page: &str| between(page, "name=\"sha256\" value=\"", "\"");
    let agree = |sum: &str| {
        browser.send_form_in(&workspace, "agree_standing", &[("sha256", sum), ("back", &path)])
    };
    // The file changes before the person agrees: no agent receives its new text.
    fs::write(&file, "- This project uses spaces\n").unwrap();
    assert!(!told().contains("This project uses"));
    let late = agree(&sum(&shown));
    assert_eq!((late.status, late.location), (303, format!("{path}?changed=1")));
    let again = browser.request("GET", &format!("{path}?changed=1"), &[], "").body;
    assert!(again.contains("the file has changed since") && again.contains("uses spaces"));
    assert!(!told().contains("This project uses"));
    assert_eq!(agree(&sum(&again)).location, format!("{path}?done=agree_standing"));
    assert!(page().contains("Nothing waits"));
    assert!(told().contains("This project uses spaces"));
    fs::write(&file, "- This project uses spaces\n- Tests need a port\n").unwrap();
    assert!(!told().contains("uses spaces"));
    let changed = page();
    assert!(changed.contains("<ins>&gt; - Tests need a port</ins>"), "{changed}");
    // Where tokens are in use, the person is who has one with the scope admin.
    let chief = token(&person.home, &["chief", "--scope", "admin", "--scope", "read"]).0;
    let eve = token(&person.home, &["eve", "--scope", "read", "--scope", "write"]).0;
    let fields = [("sha256", &*sum(&changed)), ("back", &*path)];
    let (eve, chief) = (signed_in_with(&server, &eve), signed_in_with(&server, &chief));
    assert_eq!(eve.send_form_in(&workspace, "agree_standing", &fields).status, 403);
    assert!(!eve.request("GET", &path, &[], "").body.contains("Tests need"));
    assert!(!told().contains("uses spaces"));
    assert_eq!(chief.send_form_in(&workspace, "agree_standing", &fields).status, 303);
    assert!(told().contains("Tests need a port"));
}
