//! Setting clients up: the changes of their files, and an undo that restores them byte for byte.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::Value;

use crate::world::Home;

const CLIENTS: [&str; 6] = ["claude-code", "codex", "gemini", "copilot", "opencode", "cursor"];

/// A user with files of clients, and a project.
struct User {
    home: Home,
    folder: tempfile::TempDir,
}

impl User {
    fn new() -> Self {
        let user = Self { home: Home::new(), folder: tempfile::tempdir().unwrap() };
        fs::create_dir_all(user.path("project/.git")).unwrap();
        user
    }

    /// A user whose clients have files of their own, in every style.
    fn with_files() -> Self {
        let user = Self::new();
        for (path, text) in [
            (
                ".claude.json",
                "{\"numStartups\": 3, \"mcpServers\": {\"other\": {\"command\": \"x\"}}}",
            ),
            (
                ".claude/settings.json",
                "{\n\t\"model\": \"opus\",\n\t\"hooks\": {\n\t\t\"Stop\": []\n\t}\n}\n",
            ),
            (
                ".codex/config.toml",
                "# mine\nmodel = \"m\"\n\n[mcp_servers.other] # theirs\nurl = \"http://x\"",
            ),
            (".codex/AGENTS.md", "# Rules\r\n\r\nBe kind.\r\n"),
            (
                ".gemini/settings.json",
                "{\n  // a comment\n  \"hooks\": {\"BeforeAgent\": [{\"hooks\": []}],},\n}",
            ),
            (".config/opencode/opencode.jsonc", "\u{feff}{ /* empty */ }\n\n"),
            (".cursor/mcp.json", ""),
            (".cursor/hooks.json", "{\"version\": 1, \"hooks\": {\"stop\": []}}"),
            ("project/.mcp.json", "{}"),
            ("project/AGENTS.md", "No line end"),
        ] {
            let path = user.path(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        user
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn setup(&self, arguments: &[&str]) -> Output {
        let mut command = self.home.program(&[&["setup"], arguments].concat());
        for name in [
            "CLAUDE_CONFIG_DIR",
            "CODEX_HOME",
            "GEMINI_CLI_HOME",
            "COPILOT_HOME",
            "XDG_CONFIG_HOME",
        ] {
            command.env_remove(name);
        }
        command.env("HOME", self.folder.path()).current_dir(self.path("project"));
        command.output().unwrap()
    }

    fn well(&self, arguments: &[&str]) -> String {
        let output = self.setup(arguments);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {stderr}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Every file with its text, and every folder.
    fn files(&self) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
        let mut found = BTreeMap::new();
        walk(self.folder.path(), &mut found);
        found
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap()
    }
}

fn walk(folder: &Path, found: &mut BTreeMap<PathBuf, Option<Vec<u8>>>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            walk(&path, found);
            found.insert(path, None);
        } else {
            let text = fs::read(&path).unwrap();
            found.insert(path, Some(text));
        }
    }
}

#[test]
fn undoing_restores_every_file_and_folder() {
    for user in [User::new(), User::with_files()] {
        let before = user.files();
        for scope in ["user", "project"] {
            for client in CLIENTS {
                if (client, scope) == ("copilot", "project") {
                    continue;
                }
                user.well(&[client, "--scope", scope]);
                let set_up = user.files();
                assert_ne!(set_up, before, "{client} {scope}");
                user.well(&[client, "--scope", scope]);
                assert_eq!(
                    user.files(),
                    set_up,
                    "{client} {scope}: a second setup changes nothing"
                );
                user.well(&[client, "--scope", scope, "--undo"]);
                assert_eq!(user.files(), before, "{client} {scope}");
                user.well(&[client, "--scope", scope, "--undo"]);
                assert_eq!(user.files(), before, "{client} {scope}: nothing is left to undo");
            }
        }
        // All of them at once, and undone in another order.
        CLIENTS.iter().for_each(|client| drop(user.well(&[client])));
        CLIENTS.iter().for_each(|client| drop(user.well(&[client, "--undo"])));
        assert_eq!(user.files(), before);
    }
}

#[test]
fn edits_by_clients_and_users_since_the_setup_stay() {
    let user = User::with_files();
    user.well(&["claude-code"]);
    let path = user.path(".claude.json");
    let mut written: Value = serde_json::from_str(&user.read(".claude.json")).unwrap();
    written["numStartups"] = 4.into();
    fs::write(&path, serde_json::to_string_pretty(&written).unwrap()).unwrap();
    user.well(&["claude-code", "--undo"]);
    written["mcpServers"].as_object_mut().unwrap().remove("commonbook").unwrap();
    assert_eq!(serde_json::from_str::<Value>(&user.read(".claude.json")).unwrap(), written);
}

#[test]
fn a_dry_run_shows_the_changes_and_writes_nothing() {
    let user = User::with_files();
    let before = user.files();
    let text = user.well(&["gemini", "--dry-run"]);
    assert!(
        text.contains("changed") && text.contains("+ ") && text.contains("BeforeTool"),
        "{text}"
    );
    let text = user.well(&["gemini", "--dry-run", "--json"]);
    let report: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&report["client"], &report["dry_run"]), (&"gemini".into(), &true.into()));
    assert_eq!(user.files(), before);
    assert!(!user.home.path().join("setup.json").exists());
}

#[test]
fn a_failing_setup_changes_nothing_and_gives_the_reason() {
    let user = User::with_files();
    fs::write(user.path(".claude/settings.json"), "{ not json").unwrap();
    fs::write(user.path(".codex/config.toml"), b"\xff").unwrap();
    fs::remove_file(user.path(".gemini/settings.json")).unwrap();
    fs::create_dir(user.path(".gemini/settings.json")).unwrap();
    fs::write(user.path(".copilot"), "a file where a folder belongs").unwrap();
    fs::create_dir_all(user.path(".config/opencode/plugins")).unwrap();
    fs::write(user.path(".config/opencode/plugins/commonbook.js"), "// theirs").unwrap();
    let before = user.files();
    for (client, code, words) in [
        ("claude-code", 6, "settings.json: the file is not JSON"),
        ("codex", 6, "config.toml is not UTF-8"),
        ("gemini", 6, "is not a file"),
        ("copilot", 9, "cannot "),
        ("opencode", 6, "commonbook.js: the file already exists"),
        ("codxe", 2, "codxe"),
    ] {
        let refused = user.setup(&[client]);
        let stderr = String::from_utf8(refused.stderr).unwrap();
        assert_eq!(refused.status.code(), Some(code), "{client}: {stderr}");
        assert!(stderr.contains(words), "{stderr}");
        assert!(stderr.contains("hint: "), "{stderr}");
        assert_eq!(user.files(), before, "{client}");
    }
    assert_eq!(user.setup(&["copilot", "--scope", "project"]).status.code(), Some(2));
}

#[test]
fn links_are_followed_and_modes_kept() {
    use std::os::unix::fs::PermissionsExt;
    let user = User::new();
    let kept = user.path("dotfiles.json");
    fs::write(&kept, "{}").unwrap();
    fs::set_permissions(&kept, fs::Permissions::from_mode(0o640)).unwrap();
    std::os::unix::fs::symlink(&kept, user.path(".claude.json")).unwrap();
    user.well(&["claude-code"]);
    assert!(fs::symlink_metadata(user.path(".claude.json")).unwrap().is_symlink());
    assert!(user.read("dotfiles.json").contains("commonbook"));
    assert_eq!(fs::metadata(&kept).unwrap().permissions().mode() & 0o777, 0o640);
    user.well(&["claude-code", "--undo"]);
    assert_eq!(user.read("dotfiles.json"), "{}");
}

#[test]
fn doctor_names_the_missing_entries_of_a_client() {
    let user = User::new();
    let doctor = || {
        let mut command = user.home.program(&["doctor"]);
        let output = command.env("HOME", user.folder.path()).output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    user.well(&["claude-code"]);
    let (code, report) = doctor();
    assert_eq!(code, Some(0), "{report}");
    assert!(report.contains("claude-code is set up for the user"), "{report}");
    fs::write(user.path(".claude/settings.json"), "{}").unwrap();
    fs::write(user.home.path().join("hooks.json"), "[{}]").unwrap();
    let (code, report) = doctor();
    assert_eq!(code, Some(9), "{report}");
    assert!(
        report.contains("settings.json lacks") && report.contains("commonbook setup claude-code")
    );
    assert!(report.contains("moment"), "{report}");
    fs::write(user.home.path().join("hooks.json"), "[]").unwrap();
    user.well(&["claude-code", "--program", "/nowhere/commonbook"]);
    assert!(doctor().1.contains("which does not exist"));
}

#[test]
fn the_doctor_says_that_codex_does_not_trust_the_hooks() {
    let user = User::new();
    user.well(&["codex"]);
    let doctor = || {
        let mut command = user.home.program(&["doctor"]);
        let output =
            command.env_remove("CODEX_HOME").env("HOME", user.folder.path()).output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let (code, told) = doctor();
    assert_eq!(code, Some(9), "{told}");
    assert!(told.contains("codex skips 7 hooks") && told.contains("/hooks"), "{told}");
    user.well(&["codex", "--undo"]);
    assert_eq!(doctor().0, Some(0));
}

#[test]
fn setup_without_a_client_offers_those_that_the_machine_has() {
    let user = User::new();
    let path = user.path("bin");
    let setup = |arguments: &[&str]| {
        let mut command = user.home.program(&[&["setup"], arguments].concat());
        for name in ["CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME"] {
            command.env_remove(name);
        }
        command.env("HOME", user.folder.path()).env("PATH", &path);
        command.current_dir(user.path("project")).output().unwrap()
    };
    let none = setup(&[]);
    assert_eq!(none.status.code(), Some(5), "nothing is installed");
    fs::create_dir_all(user.path("bin")).unwrap();
    fs::write(user.path("bin/codex"), "").unwrap();
    fs::create_dir_all(user.path(".gemini")).unwrap();
    let offered = setup(&[]);
    let text = String::from_utf8(offered.stdout).unwrap();
    assert!(text.contains("Found: codex, gemini"), "{text}");
    assert!(
        !user.path(".codex").exists(),
        "without a terminal it asks nothing and changes nothing"
    );
    let done = String::from_utf8(setup(&["--yes"]).stdout).unwrap();
    assert!(user.path(".codex/config.toml").exists() && done.contains("Next: "), "{done}");
    assert!(user.path(".gemini/settings.json").exists());
    assert!(setup(&["--undo", "--yes"]).status.success());
    assert!(!user.path(".codex/config.toml").exists());
    assert!(!user.path(".gemini/settings.json").exists());
}

/// What a stranger puts in the place of a file, or of a folder on its way.
#[cfg(unix)]
type Trap = fn(&User, &Path);

#[cfg(unix)]
#[test]
fn a_setup_of_a_project_neither_reads_nor_writes_through_what_a_stranger_put_there() {
    use std::os::unix::fs::symlink;

    let files = [
        ("claude-code", ".mcp.json"),
        ("claude-code", ".claude/settings.json"),
        ("codex", ".codex/config.toml"),
        ("codex", ".codex/hooks.json"),
        ("codex", "AGENTS.md"),
        ("gemini", ".gemini/settings.json"),
        ("gemini", "GEMINI.md"),
        ("opencode", "opencode.json"),
        ("opencode", ".opencode/plugins/commonbook.js"),
        ("cursor", ".cursor/mcp.json"),
        ("cursor", ".cursor/hooks.json"),
        ("cursor", ".cursor/rules/commonbook.mdc"),
    ];
    let traps: [(&str, Trap); 5] = [
        ("a link to a file outside", |user, path| {
            symlink(user.path("outside/file"), path).unwrap();
        }),
        ("a link that leads nowhere", |user, path| {
            symlink(user.path("outside/new"), path).unwrap();
        }),
        ("a pipe", |_, path| {
            let made = std::process::Command::new("mkfifo").arg(path).status().unwrap();
            assert!(made.success());
        }),
        ("a folder", |_, path| fs::create_dir(path).unwrap()),
        ("a link to a folder outside in the place of its folder", |user, path| {
            let folder = path.parent().unwrap();
            if folder != user.path("project") {
                fs::remove_dir(folder).unwrap();
                symlink(user.path("outside"), folder).unwrap();
            } else {
                symlink(user.path("outside"), path).unwrap();
            }
        }),
    ];
    for (client, file) in files {
        for (name, trap) in traps {
            let user = User::new();
            fs::create_dir_all(user.path("outside")).unwrap();
            fs::write(user.path("outside/file"), "{}").unwrap();
            let path = user.path("project").join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            trap(&user, &path);
            for arguments in
                [&[client, "--scope", "project"][..], &[client, "--scope", "project", "--undo"]]
            {
                let output = user.setup(arguments);
                let said = String::from_utf8_lossy(&output.stderr);
                assert!(!output.status.success(), "{client} {file}: {name}: {said}");
                assert!(
                    said.contains("link that leaves") || said.contains("is not a file"),
                    "{said}"
                );
            }
            let outside: Vec<PathBuf> = fs::read_dir(user.path("outside"))
                .unwrap()
                .map(|entry| entry.unwrap().path())
                .collect();
            assert_eq!(outside, [user.path("outside/file")], "{client} {file}: {name}");
            assert_eq!(user.read("outside/file"), "{}", "{client} {file}: {name}");
        }
    }
}

#[cfg(unix)]
#[test]
fn a_link_within_a_project_is_its_own_and_doctor_reads_through_none_that_leaves_it() {
    use std::os::unix::fs::symlink;

    let user = User::new();
    fs::write(user.path("project/CLAUDE.md"), "Be kind.").unwrap();
    symlink("CLAUDE.md", user.path("project/AGENTS.md")).unwrap();
    user.well(&["codex", "--scope", "project"]);
    assert!(user.read("project/CLAUDE.md").contains("Be kind."));
    // What was put there after a setup is reported, and not read.
    let hooks = user.path("project/.codex/hooks.json");
    fs::write(user.path("secret"), fs::read(&hooks).unwrap()).unwrap();
    fs::remove_file(&hooks).unwrap();
    symlink(user.path("secret"), &hooks).unwrap();
    let mut doctor = user.home.program(&["doctor"]);
    let doctor = doctor.env("HOME", user.folder.path()).current_dir(user.path("project"));
    let said = doctor.output().unwrap();
    let said = [said.stdout, said.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    assert!(said.matches("link that leaves the project").count() >= 2, "{said}");
}
