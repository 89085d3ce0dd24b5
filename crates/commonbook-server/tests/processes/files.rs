//! The files of a home are private, and a failed write is an error, except for a log.

use std::fs::{self, File, Permissions};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use crate::world::{Door, Home, Server, WORKSPACE};

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// Everything beneath a folder.
fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if fs::symlink_metadata(&path).unwrap().is_dir() {
            walk(&path, found);
        }
        found.push(path);
    }
}

/// The program, started by a shell whose umask permits everything.
fn careless(home: &Home, arguments: &[&str]) -> Command {
    let program = home.program(&[]);
    let mut command = Command::new("sh");
    command
        .args(["-c", "umask 000; exec \"$0\" \"$@\""])
        .arg(program.get_program())
        .args(arguments);
    for (name, value) in program.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.env("COMMONBOOK_EMBEDDER", "word-hash").current_dir(home.path());
    command
}

fn run(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{command:?}: {stderr}");
    output
}

fn doctor(home: &Home) -> Value {
    let output = home.run(&["doctor", "--json"]);
    serde_json::from_slice(&output.stdout).unwrap()
}

fn check<'a>(report: &'a Value, what: &str) -> &'a Value {
    let checks = report["checks"].as_array().unwrap();
    checks.iter().find(|check| check["what"] == what).unwrap_or_else(|| panic!("{what}: {report}"))
}

/// Uses every feature that makes files in a home: store, index, vectors, socket, standing memory,
/// setup, hooks.
fn use_everything(home: &Home, user: &Path) {
    run(&mut careless(home, &["memory", "init", "engineer", "--everywhere"]));
    fs::write(user.join(".claude.json"), "{}").unwrap();
    set_mode(&user.join(".claude.json"), 0o640);
    run(careless(home, &["setup", "claude-code"])
        .env("HOME", user)
        .env_remove("CLAUDE_CONFIG_DIR"));
    let hook = r#"{"hook_event_name": "SessionStart", "session_id": "s1", "cwd": "/"}"#;
    let mut child = careless(home, &["hook", "claude-code"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), hook.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
    // A hook logs unusable input.
    run(careless(home, &["hook", "claude-code", "--nonsense"]).stdin(Stdio::null()));
    let server = Server::from(careless(home, &["serve", "--port", "0"]));
    let saved = server.call("ann", "save_memory", &json!({"text": "Cranes are green"})).unwrap();
    let change = json!({"id": saved["memory"]["id"], "text": "Cranes are red now"});
    server.call("ann", "update_memory", &change).unwrap();
    let message =
        json!({"MEMORIES": [{"type": "mistake", "content": "Mind the harbour"}]}).to_string();
    let learn = ["learn", &message, "--agent", "claude/engineer", "--workspace", WORKSPACE];
    run(&mut careless(home, &learn));
    // The server is killed, and leaves its files open.
    drop(server);
    run(&mut careless(home, &["reindex"]));
}

#[test]
fn files_of_a_home_are_private_under_any_folder_mode_and_umask() {
    let (home, user) = (Home::new(), tempfile::tempdir().unwrap());
    set_mode(home.path(), 0o777);
    use_everything(&home, user.path());
    let mut all = Vec::new();
    walk(home.path(), &mut all);
    let name = |path: &PathBuf| path.strip_prefix(home.path()).unwrap().display().to_string();
    let names: Vec<String> = all.iter().map(name).collect();
    let expected = ["commonbook.db", "commonbook.db.lock", "server.lock", "setup.json", "hook.log"];
    let expected = expected.iter().chain(&["backups", "index", "memories/engineer.md"]);
    for file in expected {
        assert!(names.iter().any(|name| name == file), "{file} is missing: {names:?}");
    }
    for path in &all {
        let wanted = if path.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(mode(path), wanted, "{}", path.display());
    }
    assert_eq!(mode(&user.path().join(".claude.json")), 0o640, "a client's file keeps its mode");

    // An older version left them open: `doctor` finds and closes each of them.
    for path in &all {
        set_mode(path, if path.is_dir() { 0o755 } else { 0o644 });
    }
    let report = doctor(&home);
    let found = check(&report, "modes")["found"].as_str().unwrap().to_owned();
    assert!(
        found.starts_with("repaired: other users could reach /")
            && found.contains("more paths (mode 0777, now "),
        "{found}"
    );
    for path in all.iter().filter(|path| path.exists()) {
        let wanted = if path.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(mode(path), wanted, "{}", path.display());
    }
    assert_eq!(mode(home.path()), 0o755, "the mode of a readable folder stays");
    let again = check(&doctor(&home), "modes")["found"].as_str().unwrap().to_owned();
    assert_eq!(again, "no other user can reach the files of the home");
}

#[test]
fn standing_memory_in_a_project_is_as_open_as_the_project() {
    let (home, project) = (Home::new(), tempfile::tempdir().unwrap());
    set_mode(project.path(), 0o755);
    fs::create_dir(project.path().join(".git")).unwrap();
    run(home.program(&["memory", "init", "qa"]).current_dir(project.path()));
    let folder = project.path().join(".commonbook/memories");
    assert_eq!((mode(&folder), mode(&folder.join("qa.md"))), (0o755, 0o644));
    set_mode(&folder.join("qa.md"), 0o664);
    run(home
        .program(&["memory", "add", "qa", "Run the slow tests too"])
        .current_dir(project.path()));
    assert_eq!(mode(&folder.join("qa.md")), 0o664, "an existing file keeps its mode");
}

#[test]
fn a_process_leaves_no_core_file_and_user_commands_keep_the_umask() {
    let home = Home::new();
    let report = doctor(&home);
    let process = check(&report, "process");
    if cfg!(target_os = "linux") {
        assert_eq!(process["found"], "commonbook processes leave no core files");
    }
    assert_eq!(process.get("mend"), None, "{process}");
    let settings =
        json!({"digest": {"command": "umask > umask.txt; echo One query runs for each row."}});
    fs::write(home.path().join("config.json"), settings.to_string()).unwrap();
    let server = Server::from({
        let program = home.program(&[]);
        let mut command = Command::new("sh");
        command.args(["-c", "umask 027; exec \"$0\" serve --port 0"]).arg(program.get_program());
        for (name, value) in program.get_envs() {
            value.map(|value| command.env(name, value));
        }
        command
    });
    let entry = json!({"key": "k", "title": "Slow page", "entries": [{"summary": "Look at it"}]});
    server.call("ann", "append_entries", &entry).unwrap();
    server.call("ann", "save_memory", &json!({"text": "The slow page runs 400 queries"})).unwrap();
    server.call("ann", "digest_case", &json!({"key": "k", "dry_run": true})).unwrap();
    let umask = fs::read_to_string(home.path().join("umask.txt")).unwrap();
    assert_eq!(umask.trim(), "0027");
}

/// A full device: writing to it fails with "no space left".
fn full() -> Stdio {
    Stdio::from(File::options().write(true).open("/dev/full").unwrap())
}

#[test]
#[cfg(target_os = "linux")]
fn a_failed_write_of_output_is_an_error_and_a_closed_pipe_is_not() {
    let home = Home::new();
    for number in 0..300 {
        let text = format!("note {number} about the harbour, {}", "which is long ".repeat(50));
        let lines = home.path().join("lines.jsonl");
        let mut file = File::options().append(true).create(true).open(lines).unwrap();
        std::io::Write::write_all(&mut file, (json!({"text": text}).to_string() + "\n").as_bytes())
            .unwrap();
    }
    run(&mut home.program(&["import", "lines.jsonl", "--workspace", WORKSPACE, "--agent", "ann"]));
    let commands: [&[&str]; 6] = [
        &["list"],
        &["list", "--json"],
        &["save", "Kept, though nobody hears of it"],
        &["export"],
        &["doctor"],
        &["--help"],
    ];
    for command in commands {
        let output = home.program(command).stdout(full()).stderr(Stdio::piped()).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(9), "{command:?}: {stderr}");
        assert!(stderr.contains("No space left on device"), "{command:?}: {stderr}");
    }
    for command in [&["list", "--limit", "100"][..], &["export"], &["events", "--limit", "100"]] {
        let mut command = home.program(&[command, &["--workspace", WORKSPACE]].concat());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut first = String::new();
        BufReader::with_capacity(16, child.stdout.take().unwrap()).read_line(&mut first).unwrap();
        assert!(!first.is_empty());
        let mut stderr = String::new();
        child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        assert!(child.wait().unwrap().success(), "{stderr}");
        assert!(!stderr.contains("panicked") && !stderr.contains("error"), "{stderr}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn an_unwritable_or_unread_log_fails_no_request() {
    for unread in [false, true] {
        let home = Home::new();
        let mut command = home.program(&["serve", "--port", "0"]);
        command.env("COMMONBOOK_LOG", "trace").stderr(if unread { Stdio::piped() } else { full() });
        // No process reads the pipe, and the log fills it.
        let server = Server::from(command);
        for number in 0..600 {
            let text = format!("Berth {number} is free");
            let saved = server.call("ann", "save_memory", &json!({"text": text}));
            assert!(saved.is_ok(), "{saved:?}");
        }
        let listed = server.call("ann", "list_memories", &json!({"limit": 100})).unwrap();
        assert_eq!(listed["items"].as_array().unwrap().len(), 100);
    }
    // A hook answers even without its log.
    let home = Home::new();
    fs::create_dir(home.path().join("hook.log")).unwrap();
    let output =
        home.program(&["hook", "claude-code", "--nonsense"]).stderr(full()).output().unwrap();
    assert!(output.status.success());
    assert_eq!(String::from_utf8_lossy(&output.stdout), "{}\n");
}

#[test]
fn an_export_is_complete_private_and_outside_of_the_home() {
    let (home, folder) = (Home::new(), tempfile::tempdir().unwrap());
    let out = folder.path().join("memories.jsonl");
    let arguments = |path: &Path| {
        let path = path.display().to_string();
        let all = ["export", &path, "--workspace", WORKSPACE, "--agent", "ann"];
        all.map(str::to_owned)
    };
    let export = |path: &Path| {
        let arguments = arguments(path);
        home.run(&arguments.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let save = ["save", "Cranes are green", "--workspace", WORKSPACE, "--agent", "ann"];
    run(&mut home.program(&save));
    fs::write(&out, "what was there\n").unwrap();
    set_mode(&out, 0o644);
    let output = export(&out);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(fs::read_to_string(&out).unwrap().contains("Cranes are green"));
    assert_eq!(mode(&out), 0o600);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside it");

    std::os::unix::fs::symlink(home.path(), folder.path().join("link")).unwrap();
    fs::create_dir(home.path().join("below")).unwrap();
    let before = fs::read(home.path().join("commonbook.db")).unwrap();
    let inside = [
        home.path().join("commonbook.db"),
        home.path().join("below/memories.jsonl"),
        folder.path().join("link/memories.jsonl"),
        PathBuf::from("memories.jsonl"),
    ];
    for path in inside {
        let refused = export(&path);
        let stderr = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(refused.status.code(), Some(2), "{}: {stderr}", path.display());
        assert!(stderr.contains("inside the home"), "{stderr}");
    }
    assert_eq!(fs::read(home.path().join("commonbook.db")).unwrap(), before);
    assert!(!home.path().join("memories.jsonl").exists());

    // If the new file cannot be put in place, the old one stays.
    let taken = folder.path().join("taken");
    fs::create_dir_all(taken.join("full")).unwrap();
    let failed = export(&taken);
    assert_eq!(failed.status.code(), Some(9), "{}", String::from_utf8_lossy(&failed.stderr));
    assert!(taken.join("full").is_dir());
    if cfg!(target_os = "linux") {
        let failed = export(Path::new("/dev/full"));
        assert_eq!(failed.status.code(), Some(9), "{}", String::from_utf8_lossy(&failed.stderr));
        let output = export(Path::new("/dev/stdout"));
        assert!(String::from_utf8_lossy(&output.stdout).contains("Cranes are green"));
    }
}

/// The output of a command that succeeds with this standard input.
#[cfg(target_os = "linux")]
fn piped(command: &mut Command, input: &str) -> String {
    use std::io::Write as _;
    use std::process::Stdio;
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The program as a user that may not write to the home. A superuser may, without this restriction.
#[cfg(target_os = "linux")]
fn reader(home: &Home, arguments: &[&str]) -> Command {
    let program = home.program(arguments);
    if !rustix::process::getuid().is_root() {
        return program;
    }
    let mut command = Command::new("setpriv");
    command.args(["--bounding-set=-dac_override,-dac_read_search", "--inh-caps=-all", "--"]);
    command.arg(program.get_program()).args(program.get_args()).current_dir(home.path());
    for (name, value) in program.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command
}

/// Agents receive their contexts, by each door, from a home that cannot be written.
#[cfg(target_os = "linux")]
fn assert_agents_receive(home: &Home) {
    let context = run(&mut reader(home, &["context", "Fix the gateway", "--agent", "ann"]));
    let said = [context.stdout, context.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    assert!(said.contains("port 9090") && said.contains("has no receipt"), "{said}");
    let resumed = run(&mut reader(home, &["resume", "--agent", "ann"]));
    assert!(String::from_utf8_lossy(&resumed.stdout).contains("port 9090"));
    for (event, words) in [
        ("SessionStart", &["Never push to main", "port 9090"][..]),
        ("UserPromptSubmit", &["port 9090"]),
        ("PreToolUse", &["port 9090"]),
    ] {
        let input = json!({
            "session_id": "one", "cwd": home.path(), "hook_event_name": event, "source": "startup",
            "prompt": "On which port does the gateway listen?", "tool_name": "Task", "tool_input":
                {"subagent_type": "qa", "prompt": "Find the port on which the gateway listens"},
        });
        let said = piped(&mut reader(home, &["hook", "claude-code", event]), &input.to_string());
        assert!(words.iter().all(|words| said.contains(words)), "{event}: {said}");
    }
    let tool = |id: u32, name: &str, arguments: Value| {
        let call = json!({"name": name, "arguments": arguments});
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": call}).to_string()
    };
    let lines = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "codex", "version": "1"}}})
        .to_string(),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string(),
        tool(2, "get_context", json!({"task": "Fix the gateway"})),
        tool(3, "search_memory", json!({"query": "gateway"})),
        String::new(),
    ];
    let said = piped(&mut reader(home, &["mcp"]), &lines.join("\n"));
    assert_eq!(said.matches("port 9090").count(), 2, "{said}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_home_that_cannot_be_written_is_read() {
    let home = Home::new();
    let save = |text: &str| {
        let output = run(&mut home.program(&["save", text, "--agent", "ann", "--json"]));
        let saved: Value = serde_json::from_slice(&output.stdout).unwrap();
        saved["memory"]["id"].as_str().unwrap().to_owned()
    };
    let id = save("The gateway listens on port 8080.");
    save("The gateway listens on port 9090.");
    run(&mut home.program(&["case", "open", "outage", "--title", "Outage", "--agent", "ann"]));
    run(&mut home.program(&["context", "Fix the gateway", "--agent", "ann"]));
    fs::create_dir(home.path().join("memories")).unwrap();
    fs::write(home.path().join("memories/claude-code.md"), "- Never push to main\n").unwrap();
    let mut files = vec![home.path().to_owned()];
    walk(home.path(), &mut files);
    let modes: Vec<(PathBuf, u32)> =
        files.into_iter().map(|file| (file.clone(), mode(&file))).collect();
    modes.iter().for_each(|(file, mode)| set_mode(file, mode & 0o555));
    let reading: [&[&str]; 25] = [
        &["list"],
        &["search", "gateway"],
        &["show", &id],
        &["history", &id],
        &["stats"],
        &["events"],
        &["agents"],
        &["export"],
        &["export", "--format", "archive", "--all-workspaces", "/dev/null"],
        &["case", "list"],
        &["case", "read", "outage"],
        &["contradictions", "list"],
        &["entity", "list"],
        &["workspace", "list"],
        &["audit"],
        &["audit", "--all-workspaces"],
        &["context", "Fix the gateway", "--agent", "ann"],
        &["context", "Fix the gateway"],
        &["resume", "--agent", "ann"],
        &["changes", "--agent", "bob"],
        &["contexts"],
        &["memory", "show", "claude-code"],
        &["memory", "status"],
        &["forget", &id, "--dry-run"],
        &["doctor"],
    ];
    for arguments in reading {
        let output = run(&mut reader(&home, arguments));
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(!stderr.contains("WARN"), "{arguments:?}: {stderr}");
    }
    let listed = run(&mut reader(&home, &["list"]));
    assert!(String::from_utf8_lossy(&listed.stdout).contains("port 9090"));
    assert_agents_receive(&home);
    let refused = reader(&home, &["save", "no"]).output().unwrap();
    let stderr = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(
        !refused.status.success() && stderr.contains("the store cannot be written"),
        "{stderr}"
    );
    modes.iter().for_each(|(file, mode)| set_mode(file, *mode));
    run(&mut home.program(&["save", "yes"]));
}

#[test]
#[cfg(target_os = "linux")]
fn a_log_without_its_index_is_read_in_a_home_that_cannot_be_written() {
    let (busy, left) = (Home::new(), Home::new());
    run(&mut busy.program(&["save", "The gateway listens on port 8080."]));
    // A store in PostgreSQL has no such files.
    if !busy.path().join("commonbook.db").exists() {
        return;
    }
    let server = Server::start(&busy);
    server.call("ann", "save_memory", &json!({"text": "The lantern is green."})).unwrap();
    for name in ["commonbook.db", "commonbook.db-wal"] {
        fs::copy(busy.path().join(name), left.path().join(name)).unwrap();
    }
    let holds = |name: &str| {
        let bytes = fs::read(left.path().join(name)).unwrap();
        bytes.windows(11).any(|part| part == b"The lantern")
    };
    assert_eq!([holds("commonbook.db"), holds("commonbook.db-wal")], [false, true]);
    let mut files = vec![left.path().to_owned()];
    walk(left.path(), &mut files);
    let modes: Vec<(PathBuf, u32)> =
        files.into_iter().map(|file| (file.clone(), mode(&file))).collect();
    modes.iter().for_each(|(file, mode)| set_mode(file, mode & 0o555));
    let in_story = ["--workspace", WORKSPACE];
    for arguments in [&["list"][..], &["search", "lantern"], &["export"], &["events"]] {
        let output = run(&mut reader(&left, &[arguments, &in_story].concat()));
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said).into_owned();
        assert!(said.contains("lantern") || arguments == ["events"], "{arguments:?}: {said}");
        assert!(!said.contains("WARN"), "{arguments:?}: {said}");
    }
    modes.iter().for_each(|(file, mode)| set_mode(file, *mode));
    run(&mut left.program(&["save", "yes"]));
    let listed = run(&mut left.program(&[&["list"][..], &in_story].concat()));
    assert!(String::from_utf8_lossy(&listed.stdout).contains("lantern"));
}
