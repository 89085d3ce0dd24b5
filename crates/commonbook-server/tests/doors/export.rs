//! Exporting and importing a whole team: at home, at a URL and over REST.

use std::fs;
use std::process::Output;

use serde_json::{Value, json};

use super::dashboard::signed_in;
use super::tokens::token;
use crate::world::{Home, Server};

/// Lines of an export without what another home changes of a file's lines: they have no signature and no agent
/// of the registry, memories are `untrusted`, and agents that speak by a record are below `import`.
pub(crate) fn unsigned(lines: &str) -> String {
    let lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let lines = lines.filter(|line| line["record"] != "agent").map(|mut line| {
        line.as_object_mut().unwrap().remove("signature");
        as_written(&mut line);
        format!("{line}\n")
    });
    lines.collect()
}

/// A value as the home wrote it that is not the one of the import.
fn as_written(value: &mut Value) {
    match value {
        Value::String(text) => match text.strip_prefix("import/") {
            Some(name) => *text = name.to_owned(),
            None if text == "untrusted" => "normal".clone_into(text),
            None => {}
        },
        Value::Array(values) => values.iter_mut().for_each(as_written),
        Value::Object(fields) => {
            fields.retain(|name, value| name != "nonce" && (name != "notes" || !value.is_array()));
            fields.values_mut().for_each(as_written);
        }
        _ => {}
    }
}

/// Lines of an export without signatures, and without the marks of authors in standing memory: those of
/// another home name the import.
pub(crate) fn as_moved(lines: &str) -> String {
    let mut lines = unsigned(lines);
    while let Some(start) = lines.find(" <!-- ") {
        let mark = lines[start..].find("-->").unwrap() + "-->".len();
        lines.replace_range(start..start + mark, "");
    }
    lines
}

pub(crate) fn printed(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The home of a team, by commands.
pub(crate) fn team() -> Home {
    let home = Home::new();
    let run = |agent: &str, arguments: &[&str]| {
        let caller = ["--agent", agent, "--workspace", "harbour"];
        printed(&home.run(&[arguments, &caller].concat()))
    };
    run("ann", &["save", "The orders page runs one query for each row", "--topic", "orders"]);
    run("ann", &["save", "Ann looks for another job", "--private"]);
    run(
        "ann",
        &[
            "case",
            "append",
            "slow-orders",
            "The cause is the missing index",
            "--title",
            "Slow orders",
        ],
    );
    run("ann", &["case", "close", "slow-orders"]);
    run("ann", &["handoff", "create", "dev", "Fix the slow orders page"]);
    let handoff = run("dev", &["handoff", "list", "--json"]);
    let handoff: Value = serde_json::from_str(&handoff).unwrap();
    run("dev", &["handoff", "accept", handoff["items"][0]["id"].as_str().unwrap()]);
    run("dev", &["entity", "resolve", "tool", "PostgreSQL"]);
    printed(&home.run(&[
        "memory",
        "add",
        "qa",
        "Test the berth list with an empty harbour",
        "--everywhere",
    ]));
    printed(&home.run(&[
        "save",
        "Die Fähre legt um 7 Uhr ab ⛴",
        "--workspace",
        "ferries",
        "--agent",
        "zoë",
    ]));
    home
}

const WHOLE: [&str; 4] = ["export", "--all-workspaces", "--receipts", "--standing"];

#[test]
fn a_home_moves_to_another_machine_by_export_and_import() {
    let (old, new) = (team(), Home::new());
    let file = old.path().with_extension("jsonl");
    let file = file.to_str().unwrap();
    let told = old.run(&[&WHOLE[..], &[file]].concat());
    let told = String::from_utf8_lossy(&told.stderr).into_owned();
    assert!(told.contains("exported 3 memories from 2 workspaces, and "), "{told}");
    let exported = fs::read_to_string(file).unwrap();
    assert!(!exported.contains("another job"), "private to ann");
    assert!(exported.contains("empty harbour"));
    let imported = printed(&new.run(&["import", file]));
    assert!(imported.starts_with("3 imported, 0 already present, 0 not imported"), "{imported}");
    assert!(imported.contains("other records restored, 0 already present"), "{imported}");
    let moved = printed(&new.run(&WHOLE));
    assert!(moved.contains("empty harbour <!-- import "), "the rule of another home is data");
    assert_eq!(as_moved(&moved), as_moved(&exported));
    let again: Value =
        serde_json::from_str(&printed(&new.run(&["import", file, "--json"]))).unwrap();
    assert_eq!((&again["created"], &again["records"]["created"]), (&json!(0), &json!(0)));
    // Who opened the case and who handed over are names of the file, on every surface.
    let agents = printed(&new.run(&["agents", "--workspace", "harbour"]));
    assert!(agents.contains("import/ann"), "{agents}");
    let read = printed(&new.run(&["case", "read", "slow-orders", "--workspace", "harbour"]));
    assert!(read.contains(" by ann, ") && read.contains(", untrusted\n"), "{read}");
    let context = printed(&new.run(&["case", "context", "slow-orders", "--workspace", "harbour"]));
    assert!(
        context.contains("Case slow-orders, from a file, closed, 1 entries")
            && context.contains(", untrusted, entry 1\n"),
        "{context}"
    );
    let server = Server::start(&new);
    let browser = signed_in(&new, &server);
    let page = browser.request("GET", "/dashboard/w/harbour/cases/slow-orders", &[], "").body;
    assert!(page.contains("<span class=\"chip warn\">untrusted</span>"), "{page}");
    drop(server);
    let listed = printed(&new.run(&["list", "--workspace", "harbour"]));
    assert!(listed.contains("untrusted"), "{listed}");
    let listed = printed(&old.run(&["list", "--workspace", "harbour"]));
    assert!(!listed.contains("untrusted"), "{listed}");
    // The journal and the rows are whole, and the work goes on.
    let doctor: Value =
        serde_json::from_str(&printed(&new.run(&["doctor", "--deep", "--json"]))).unwrap();
    assert_eq!(doctor["findings"], json!([]));
    let list = new.run(&["handoff", "list", "--agent", "dev", "--workspace", "harbour", "--json"]);
    let list: Value = serde_json::from_str(&printed(&list)).unwrap();
    assert_eq!(list["items"][0]["status"], "accepted");
    let case = new.run(&["case", "show", "slow-orders", "--workspace", "harbour", "--json"]);
    let case: Value = serde_json::from_str(&printed(&case)).unwrap();
    assert_eq!(
        (&case["title"], &case["status"], &case["version"]),
        (&json!("Slow orders"), &json!("closed"), &json!(1))
    );
    assert!(printed(&new.run(&["memory", "show", "qa"])).contains("empty harbour"));
    fs::remove_file(file).unwrap();
}

#[test]
fn a_server_at_a_url_exports_to_an_administrator_and_restores_for_one() {
    let (old, new) = (team(), Home::new());
    let (from, to) = (Server::start(&old), Server::start(&new));
    let ((admin, _), (writer, _)) = (
        token(&old, &["ann", "--scope", "read,write,admin"]),
        token(&new, &["ann", "--scope", "read,write"]),
    );
    let (restorer, _) = token(&new, &["ann", "--scope", "read,write,admin"]);
    let person = Home::new();
    let at = |server: &Server, secret: &str, arguments: &[&str]| {
        let mut command = person.program(arguments);
        command.env("COMMONBOOK_URL", &server.url).env("COMMONBOOK_TOKEN", secret);
        command.output().unwrap()
    };
    let whole = ["export", "--all-workspaces", "--workspace", "harbour"];
    let exported = printed(&at(&from, &admin, &whole));
    assert!(exported.contains("another job"), "the token is ann's");
    let file = person.path().join("team.jsonl");
    fs::write(&file, &exported).unwrap();
    let file = file.to_str().unwrap();
    printed(&at(&to, &restorer, &["import", file]));
    let second = printed(&at(&to, &restorer, &whole));
    assert_eq!(unsigned(&second), unsigned(&exported));
    let refused = at(&to, &writer, &["import", file]);
    let words = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(2));
    assert!(words.contains("only an administrator may import what others decided"), "{words}");
}

#[test]
fn an_export_over_rest_is_read_page_by_page() {
    let home = team();
    let server = Server::start(&home);
    let get = |path: &str| {
        let headers = [("X-Commonbook-Agent", "ann"), ("X-Commonbook-Workspace", "harbour")];
        server.send("GET", path, &headers, b"").unwrap()
    };
    let (mut lines, mut path) = (Vec::new(), "/v1/export?limit=2".to_owned());
    loop {
        let (status, page) = get(&path);
        assert_eq!(status, 200, "{page}");
        lines.extend(page["lines"].as_array().unwrap().clone());
        let Some(next) = page["next"].as_str() else { break };
        path = format!("/v1/export?limit=2&cursor={next}");
    }
    assert_eq!(lines[0]["value"]["workspaces"], json!(["harbour"]));
    let once = get("/v1/export?limit=100").1;
    assert_eq!(once["lines"], json!(lines));
    let kinds: Vec<&str> = lines.iter().filter_map(|line| line["record"].as_str()).collect();
    let expected = ["export", "agent", "agent", "case", "session", "session", "entity", "handoff"];
    assert_eq!(kinds, expected);
    for (query, field) in
        [("limit=101", "limit"), ("cursor=c1f", "cursor"), ("everything=1", "everything")]
    {
        let (status, body) = get(&format!("/v1/export?{query}"));
        assert_eq!((status, &body["error"]["field"]), (400, &json!(field)), "{body}");
    }
}

#[test]
fn lines_of_other_programs_get_the_owner_that_the_command_names() {
    let home = Home::new();
    let lines = "{\"content\": \"Use WAL mode\", \"tags\": [\"sqlite\"], \"importance\": 9}\n\
                 {\"memory\": \"Ann drinks tea\", \"agent_id\": \"planner\"}\n";
    printed(&home.feed(&["import", "-", "--legacy", "legacy"], lines.as_bytes()));
    let list: Value = serde_json::from_str(&printed(&home.run(&["list", "--json"]))).unwrap();
    let shown = |place: usize| {
        let memory = &list["items"][place];
        (
            memory["text"].as_str().unwrap().to_owned(),
            memory["owner"].as_str().unwrap().to_owned(),
            memory["importance"].as_str().unwrap().to_owned(),
        )
    };
    assert_eq!(shown(0), ("Ann drinks tea".into(), "planner".into(), "normal".into()));
    assert_eq!(shown(1), ("Use WAL mode".into(), "legacy".into(), "critical".into()));
    let refused = home.feed(&["import", "-", "--legacy", "!!"], lines.as_bytes());
    assert_eq!(refused.status.code(), Some(2));
    let newer = br#"{"record":"export","value":{"format":3,"version":"9.0.0","workspaces":[]}}"#;
    let refused = home.feed(&["import", "-"], newer);
    let words = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(words.contains("format 3, of commonbook 9.0.0; expected 2 or less"), "{words}");
}
