//! Backups on a schedule, which a server writes and a lost home is restored from.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::json;

use crate::world::{Door as _, Home, Server};

/// The backups of the folder, without what a killed server was writing.
fn backups(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path());
    entries.filter(|path| path.extension().is_some_and(|ending| ending == "backup")).collect()
}

/// Waits until the folder has a backup that the server has given its name.
fn wait_for_backup(folder: &Path) -> PathBuf {
    let begun = Instant::now();
    loop {
        if let Some(backup) = backups(folder).pop() {
            return backup;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "no backup in {}", folder.display());
        std::thread::yield_now();
    }
}

#[test]
fn a_server_writes_the_backup_that_is_due_and_a_lost_home_comes_back_from_it() {
    let (home, folder) = (Home::new(), tempfile::tempdir().unwrap());
    let saved = home.run(&["save", "The gate opens at seven", "--agent", "ann"]);
    assert!(saved.status.success());
    let settings = json!({"backup": {"folder": folder.path(), "keep": 2}});
    fs::write(home.path().join("config.json"), settings.to_string()).unwrap();
    let doctor = || {
        let output = home.run(&["doctor", "--json"]);
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    assert!(doctor().contains("the schedule has written none yet"), "{}", doctor());

    let server = Server::start(&home);
    let backup = wait_for_backup(folder.path());
    // One that is due is written once, also by a server that starts again.
    drop(server);
    let server = Server::start(&home);
    server.call("ann", "save_memory", &json!({"text": "The gate has a new lock"})).unwrap();
    drop(server);
    assert_eq!(backups(folder.path()), std::slice::from_ref(&backup));
    assert!(doctor().contains("the newest of the schedule is of"), "{}", doctor());

    let other = Home::new();
    // Another home's settings would have this one write into a folder of theirs.
    let restore = ["restore-backup", backup.to_str().unwrap()];
    let refused = other.run(&restore);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(said.contains("backup.folder") && said.contains("--settings take"), "{said}");
    assert!(!other.path().join("config.json").exists() && !other.path().join("hook.key").exists());
    let left = other.run(&[&restore[..], &["--settings", "leave"]].concat());
    assert!(left.status.success(), "{}", String::from_utf8_lossy(&left.stderr));
    assert!(!other.path().join("config.json").exists());
    let restored = other.run(&[&restore[..], &["--yes", "--settings", "take"]].concat());
    assert!(restored.status.success(), "{}", String::from_utf8_lossy(&restored.stderr));
    assert!(other.path().join("config.json").exists());
    let list = String::from_utf8_lossy(&other.run(&["list"]).stdout).into_owned();
    assert!(list.contains("The gate opens at seven") && !list.contains("new lock"), "{list}");
}

#[test]
fn a_home_that_had_no_key_yet_knows_its_backup_as_its_own() {
    let (home, folder) = (Home::new(), tempfile::tempdir().unwrap());
    assert!(home.run(&["save", "The gate opens at seven", "--agent", "ann"]).status.success());
    assert!(!home.path().join("hook.key").exists());
    // Settings by which a backup of another home would be refused.
    let settings = json!({"backup": {"folder": folder.path()}});
    fs::write(home.path().join("config.json"), settings.to_string()).unwrap();
    let file = folder.path().join("home.backup");
    let file = file.to_str().unwrap();
    for arguments in [&["backup", file][..], &["restore-backup", file, "--yes"]] {
        let output = home.run(arguments);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn tokens_and_webhooks_of_another_home_wait_for_a_word_of_the_person() {
    let (home, folder) = (Home::new(), tempfile::tempdir().unwrap());
    assert!(home.run(&["save", "The gate opens at seven", "--agent", "ann"]).status.success());
    for arguments in [
        &["token", "create", "mallory", "--scope", "read,write,admin"][..],
        &["webhook", "add", "https://mallory.example/events"],
    ] {
        let output = home.run(arguments);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let file = folder.path().join("home.backup");
    let file = file.to_str().unwrap();
    assert!(home.run(&["backup", file]).status.success());
    let listed = |home: &Home| {
        ["token", "webhook"].map(|noun| {
            String::from_utf8_lossy(&home.run(&[noun, "list", "--json"]).stdout).into_owned()
        })
    };
    // A backup of this home brings them back unasked.
    let restored = home.run(&["restore-backup", file, "--yes"]);
    assert!(restored.status.success(), "{}", String::from_utf8_lossy(&restored.stderr));
    assert!(listed(&home)[1].contains("mallory.example"));
    let other = Home::new();
    let refused = other.run(&["restore-backup", file]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(said.contains("1 token, 1 webhook") && said.contains("--settings take"), "{said}");
    assert!(!other.path().join("commonbook.db").exists());
    for (choice, has_access) in [("leave", false), ("take", true)] {
        let other = Home::new();
        let restored = other.run(&["restore-backup", file, "--settings", choice]);
        assert!(restored.status.success(), "{}", String::from_utf8_lossy(&restored.stderr));
        let [tokens, webhooks] = listed(&other);
        assert_eq!(tokens.contains("revoked_at"), !has_access, "{tokens}");
        assert_eq!(webhooks.contains("mallory.example"), has_access, "{webhooks}");
    }
}

#[test]
fn a_backup_whose_store_would_act_by_itself_is_refused() {
    let (home, folder) = (Home::new(), tempfile::tempdir().unwrap());
    assert!(home.run(&["save", "The gate opens at seven", "--agent", "ann"]).status.success());
    for code in [
        "CREATE TRIGGER t AFTER INSERT ON memory BEGIN UPDATE memory SET sharing = 'shared'; END",
        "CREATE VIEW v AS SELECT * FROM memory",
    ] {
        let file = folder.path().join("home.backup");
        let path = file.to_str().unwrap();
        assert!(home.run(&["backup", path, "--force"]).status.success());
        rusqlite::Connection::open(&file).unwrap().execute_batch(code).unwrap();
        let refused = home.run(&["restore-backup", path, "--yes"]);
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(
            !refused.status.success() && said.contains("which Commonbook never makes"),
            "{said}"
        );
    }
}

#[test]
#[cfg(unix)]
fn a_pipe_is_no_backup() {
    let (home, folder) = (Home::new(), tempfile::tempdir().unwrap());
    let pipe = folder.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let refused = home.run(&["restore-backup", pipe.to_str().unwrap()]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(said.contains("is no backup of Commonbook"), "{said}");
}
