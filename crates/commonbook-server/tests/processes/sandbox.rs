//! The sandbox of `serve`: the file access that the kernel permits a server and its commands.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::world::{Door, Home, Server, WORKSPACE};

/// Whether the kernel has a sandbox for servers, according to `doctor`.
fn doctor(home: &Home) -> String {
    let output = home.run(&["doctor", "--json"]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let checks = report["checks"].as_array().unwrap();
    let found = checks.iter().find(|check| check["what"] == "sandbox").unwrap();
    found["found"].as_str().unwrap().to_owned()
}

/// Starts a server whose digests a command writes, and makes it write one: the command writes
/// into the home and outside of it, and reads a file outside. Returns the notice of the digest.
fn digest(home: &Home, outside: &Path, settings: &Value, sandbox: &str) -> String {
    let command = format!(
        "echo in > inside.txt; cat {0}/secret.txt > read.txt; echo out > {0}/written.txt && echo A query \
         runs for each row.",
        outside.display()
    );
    let mut all = settings.clone();
    all["digest"] = json!({"command": command});
    fs::write(home.path().join("config.json"), all.to_string()).unwrap();
    let mut serve = home.program(&["serve", "--port", "0"]);
    serve.env("COMMONBOOK_SANDBOX", sandbox);
    let server = Server::from(serve);
    let entry = json!({"key": "k", "title": "Slow page", "entries": [{"summary": "Look at it"}]});
    server.call("ann", "append_entries", &entry).unwrap();
    server.call("ann", "save_memory", &json!({"text": "The page runs 400 queries"})).unwrap();
    let response =
        server.call("ann", "digest_case", &json!({"key": "k", "dry_run": true})).unwrap();
    response["notice"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn a_server_writes_only_beneath_its_home_and_the_folders_that_the_settings_name() {
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("secret.txt"), "a key of somebody").unwrap();
    let written = outside.path().join("written.txt");
    let home = Home::new();
    let finding = doctor(&home);
    let held = finding.starts_with("`commonbook serve` can write only below ");
    assert!(held || finding.starts_with("not available"), "{finding}");

    digest(&home, outside.path(), &json!({}), "on");
    assert_eq!(fs::read_to_string(home.path().join("inside.txt")).unwrap(), "in\n");
    assert_eq!(written.exists(), !held, "the kernel does as doctor reports: {finding}");
    let read = fs::read_to_string(home.path().join("read.txt")).unwrap();
    assert_eq!(read.is_empty(), held);

    let home = Home::new();
    let named = json!({"folders": [outside.path()]});
    assert_eq!(digest(&home, outside.path(), &named, "on"), "");
    assert!(written.exists());
    if held {
        assert!(doctor(&home).contains(&outside.path().display().to_string()), "{}", doctor(&home));
    }

    fs::remove_file(&written).unwrap();
    let home = Home::new();
    assert_eq!(digest(&home, outside.path(), &json!({}), "off"), "");
    assert!(written.exists());
}

#[test]
fn invalid_sandbox_settings_start_no_server() {
    let home = Home::new();
    let mut serve = home.program(&["serve", "--port", "0"]);
    let output = serve.env("COMMONBOOK_SANDBOX", "perhaps").output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("COMMONBOOK_SANDBOX is not valid; expected on or off"), "{stderr}");
    fs::write(home.path().join("config.json"), r#"{"folders": ["here"]}"#).unwrap();
    let output = home.run(&["serve", "--port", "0"]);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("folders[0]: expected the absolute path of a folder"), "{stderr}");
}

#[test]
fn doctor_names_missing_folders_and_links_that_lead_out() {
    let (home, outside) = (Home::new(), tempfile::tempdir().unwrap());
    let held = doctor(&home).starts_with("`commonbook serve`");
    fs::write(home.path().join("config.json"), r#"{"folders": ["/no/such/folder"]}"#).unwrap();
    std::os::unix::fs::symlink(outside.path(), home.path().join("memories")).unwrap();
    let output = home.run(&["doctor"]);
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(if held { 9 } else { 0 }), "{stdout}");
    assert_eq!(stdout.contains("/no/such/folder in `folders`"), held, "{stdout}");
    assert_eq!(stdout.contains("memories leads to"), held, "{stdout}");
}

#[test]
fn standing_memory_of_a_project_outside_of_the_sandbox_is_read_and_extended() {
    let (home, project) = (Home::new(), tempfile::tempdir().unwrap());
    let folder = project.path().join(".commonbook/memories");
    fs::create_dir_all(&folder).unwrap();
    fs::create_dir(project.path().join(".git")).unwrap();
    let file = folder.join("engineer.md");
    fs::write(&file, "# Engineer\n\n## Known Issues\n- Cranes are green\n").unwrap();
    home.agree(&file, "## Known Issues\n- Cranes are green\n");
    let run = |command: &[&str]| {
        let who = ["--agent", "claude/engineer", "--workspace", WORKSPACE];
        let mut program = home.program(&[command, &who].concat());
        let output = program.current_dir(project.path()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let read_and_learn = |rule: &str| {
        let context = run(&["context", "paint the cranes"]);
        assert!(context.contains("Cranes are green"), "{context}");
        run(&["learn", &format!("Add To Memory:\nType: mistake\nContent: {rule}\n#\n")]);
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.contains(rule), "{text}");
    };
    let server = Server::start(&home);
    read_and_learn("Never paint in the rain");
    drop(server);
    let named = json!({"folders": [project.path()]});
    fs::write(home.path().join("config.json"), named.to_string()).unwrap();
    let _server = Server::start(&home);
    read_and_learn("Dry the paint for two days");
}
