//! A vault as people use it: an editor, a watcher, git between two machines, a lost store, a server.

use std::fs;
use std::io::{BufRead, BufReader, Lines};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Output, Stdio};

use serde_json::{Value, json};

use crate::doors::dashboard::{Browser, between, signed_in, signed_in_with};
use crate::doors::export::unsigned;
use crate::doors::tokens::token;
use crate::processes::projects::{Person, errors};
use crate::world::{Door as _, Home, Server, WORKSPACE};

fn printed(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn shell(folder: &Path, script: &str) -> Output {
    Command::new("sh").args(["-ec", script]).current_dir(folder).output().unwrap()
}

/// The only file of a memory that holds this text.
fn file_with(vault: &Path, text: &str) -> PathBuf {
    let mut waiting = vec![vault.join("memories"), vault.join("archive")];
    let mut found = Vec::new();
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.path() {
                path if path.is_dir() => waiting.push(path),
                path if fs::read_to_string(&path).unwrap().contains(text) => found.push(path),
                _ => {}
            }
        }
    }
    assert_eq!(found.len(), 1, "{text}: {found:?}");
    found.remove(0)
}

fn texts(home: &Home) -> Vec<String> {
    let list: Value = serde_json::from_str(&printed(&home.run(&["list", "--json"]))).unwrap();
    let texts = list["items"].as_array().unwrap().iter();
    let mut texts: Vec<String> = texts.map(|it| it["text"].as_str().unwrap().to_owned()).collect();
    texts.sort();
    texts
}

/// The files below a folder, of which any holds this text; those of git are not read.
fn quoting_files(folder: &Path, text: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.path() {
            path if path.is_dir() => found.extend(quoting_files(&path, text)),
            path if String::from_utf8_lossy(&fs::read(&path).unwrap()).contains(text) => {
                found.push(path);
            }
            _ => {}
        }
    }
    found
}

#[test]
fn what_is_forgotten_at_the_command_line_leaves_the_vaults_at_once() {
    let home = Home::new();
    let folder = tempfile::tempdir().unwrap();
    let (vault, other) = (folder.path().join("notes"), folder.path().join("elsewhere"));
    for text in ["Mrs Abernathy keeps the key under the third flowerpot.", "We deploy on Fridays."]
    {
        printed(&home.run(&["save", text]));
    }
    let quote = "Asked around: Mrs Abernathy keeps the key under the third flowerpot. So it goes.";
    printed(&home.run(&["save", quote, "--agent", "bob"]));
    printed(&home.run(&["vault", "init", vault.to_str().unwrap()]));
    printed(&home.run(&["vault", "init", other.to_str().unwrap(), "--workspace", "elsewhere"]));
    let list: Value = serde_json::from_str(&printed(&home.run(&["list", "--json"]))).unwrap();
    let items = list["items"].as_array().unwrap();
    let item = items.iter().find(|item| item["text"].as_str().unwrap().starts_with("Mrs")).unwrap();
    assert!(!quoting_files(&vault, "flowerpot").is_empty());
    let forgotten = home.run(&["forget", item["id"].as_str().unwrap(), "--yes", "--also-quotes"]);
    let notes = String::from_utf8_lossy(&forgotten.stderr).into_owned();
    printed(&forgotten);
    assert!(notes.contains("notes: 1 file is gone"), "{notes}");
    assert!(!notes.contains("elsewhere"), "a vault of another workspace: {notes}");
    assert_eq!(quoting_files(&vault, "flowerpot"), Vec::<PathBuf>::new());
    assert!(!quoting_files(&vault, "Fridays").is_empty());
}

/// `vault watch`, with the lines that it prints.
struct Watcher {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Watcher {
    fn start(home: &Home, vault: &str) -> Self {
        let mut command = home.program(&["vault", "watch", vault]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut watcher = Self { child, lines };
        watcher.wait_for("wrote 0 memories");
        watcher
    }

    /// Waits for a line with this.
    fn wait_for(&mut self, text: &str) -> String {
        let found = self.lines.by_ref().map_while(Result::ok).find(|line| line.contains(text));
        found.unwrap_or_else(|| panic!("the watcher ended without {text:?}"))
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

#[test]
fn the_edits_of_every_tool_arrive_while_a_watcher_runs() {
    let home = Home::new();
    for text in ["Deploys run on Friday", "The wiki is at the old address", "Backups run at night"]
    {
        printed(&home.run(&["save", text, "--agent", "ann"]));
    }
    let folder = tempfile::tempdir().unwrap();
    let vault = folder.path().to_str().unwrap();
    printed(&home.run(&["vault", "init", vault]));
    printed(&shell(
        folder.path(),
        "git init -q . && git add -A && git -c user.name=a -c user.email=a@x commit -qm one",
    ));
    let mut watcher = Watcher::start(&home, vault);
    let edits = [
        ("Deploys", "echo 'and never on holidays' >> FILE", "and never on holidays"),
        ("wiki", "sed -i 's/old address/new address/' FILE", "new address"),
        // As vim does: the old file is moved away, and another one written in its place.
        (
            "Backups",
            "mv FILE FILE~ && sed 's/at night/at noon/' FILE~ > FILE && rm FILE~",
            "at noon",
        ),
    ];
    for (text, script, expected) in edits {
        let file = file_with(folder.path(), text);
        printed(&shell(folder.path(), &script.replace("FILE", &format!("'{}'", file.display()))));
        let line = watcher.wait_for("changed: ");
        assert!(line.contains(file.file_name().unwrap().to_str().unwrap()), "{line}");
        watcher.wait_for("wrote 1");
        assert!(texts(&home).iter().any(|text| text.contains(expected)), "{expected}");
    }
    // A checkout of the old state is no edit: the files are written again, and the store stays.
    let before = texts(&home);
    // The watcher sees it whole: half of it would be written again while git writes the rest, which git refuses.
    let script = "kill -STOP PID && git checkout -q -- . && kill -CONT PID";
    printed(&shell(folder.path(), &script.replace("PID", &watcher.child.id().to_string())));
    watcher.wait_for("wrote 3");
    assert_eq!(texts(&home), before);
    // What an agent saves arrives in the folder.
    printed(&home.run(&["save", "The cache lives an hour", "--agent", "bob"]));
    watcher.wait_for("wrote 1");
    assert!(
        file_with(folder.path(), "lives an hour").starts_with(folder.path().join("memories/bob"))
    );
}

/// A machine: a home, and a clone of the repository with the vault.
struct Machine {
    home: Home,
    clone: PathBuf,
    _folder: tempfile::TempDir,
}

impl Machine {
    fn clone_of(origin: &Path, email: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clone = folder.path().join("vault");
        let script = format!(
            "git clone -q '{}' vault && cd vault && git config user.name x && git config user.email {email} \
             && git config push.default current && git config push.autoSetupRemote true",
            origin.display()
        );
        printed(&shell(folder.path(), &script));
        Self { home: Home::new(), clone, _folder: folder }
    }

    fn dir(&self) -> &str {
        self.clone.to_str().unwrap()
    }

    /// The key of its home.
    fn key(&self) -> String {
        let accepted =
            printed(&self.home.run_at_terminal(&["vault", "accept", self.dir(), "--json"]));
        let accepted: Value = serde_json::from_str(&accepted).unwrap();
        accepted["key"].as_str().unwrap().to_owned()
    }

    fn sync(&self) -> String {
        printed(&self.home.run(&["vault", "sync", self.dir(), "--git", "--many"]))
    }
}

#[test]
fn two_machines_share_a_vault_by_git_and_come_to_rest() {
    let origin = tempfile::tempdir().unwrap();
    printed(&shell(origin.path(), "git init -q --bare -b main ."));
    let one = Machine::clone_of(origin.path(), "one@x");
    for text in ["Deploys run on Friday", "The wiki is at the old address"] {
        printed(&one.home.run(&["save", text, "--agent", "ann"]));
    }
    printed(&one.home.run(&["vault", "init", one.dir()]));
    printed(&shell(
        &one.clone,
        "git checkout -q -b main; git add -A; git commit -qm one; git push -q",
    ));
    one.sync();
    // The second machine begins with a rebuild, so that the memories keep their owners.
    let two = Machine::clone_of(origin.path(), "two@x");
    let unknown = two.home.run(&["vault", "sync", two.dir()]);
    let unknown = String::from_utf8_lossy(&unknown.stderr);
    assert!(unknown.contains("neither made nor accepted"), "{unknown}");
    printed(&two.home.run(&["rebuild", "--from-vault", two.dir()]));
    // Only a person says whose word a home takes.
    for arguments in [
        &["vault", "accept", two.dir()][..],
        &["vault", "accept", two.dir(), "--writer", &one.key()],
    ] {
        let refused = two.home.run(arguments);
        let said = String::from_utf8_lossy(&refused.stderr);
        assert!(!refused.status.success() && said.contains("only a person accepts"), "{said}");
        let as_agent = [arguments, &["--agent", "claude-code"]].concat();
        assert!(!two.home.run_at_terminal(&as_agent).status.success());
    }
    printed(&two.home.run_at_terminal(&["vault", "accept", two.dir(), "--writer", &one.key()]));
    two.sync();
    printed(&one.home.run_at_terminal(&["vault", "accept", one.dir(), "--writer", &two.key()]));
    assert_eq!(texts(&one.home), texts(&two.home));
    // Each edits, one of them the same line.
    let edit = |machine: &Machine, text: &str, from: &str, to: &str| {
        let file = file_with(&machine.clone, text);
        let content = fs::read_to_string(&file).unwrap();
        fs::write(file, content.replace(from, to)).unwrap();
    };
    edit(&one, "Deploys", "Friday", "Monday");
    edit(&two, "Deploys", "Friday", "Tuesday");
    edit(&two, "wiki", "old address", "new address");
    printed(&two.home.run(&["save", "The cache lives an hour", "--agent", "bob"]));
    for machine in [&one, &two, &one, &two, &one] {
        machine.sync();
    }
    let said = texts(&one.home);
    assert_eq!(said, texts(&two.home));
    for expected in ["on Monday", "on Tuesday", "new address", "lives an hour"] {
        assert!(said.iter().any(|text| text.contains(expected)), "{expected}: {said:?}");
    }
    // Whose it was there is a claim here.
    let listed = printed(&one.home.run(&["list", "--json", "--owner", "legacy"]));
    assert!(listed.contains("lives an hour"), "{listed}");
    let heads =
        [&one, &two].map(|machine| printed(&shell(&machine.clone, "git rev-parse HEAD:memories")));
    assert_eq!(heads[0], heads[1], "both have the same files");
    let still = one.sync();
    assert!(still.contains("wrote 0 memories, 0 pages"), "{still}");
}

#[test]
fn a_vault_that_was_moved_is_known_and_a_copy_is_not() {
    let (home, place) = (Home::new(), tempfile::tempdir().unwrap());
    let path = |name: &str| place.path().join(name).to_str().unwrap().to_owned();
    printed(&home.run(&["save", "The gate is blue", "--agent", "ann"]));
    printed(&home.run(&["vault", "init", &path("v")]));
    printed(&shell(place.path(), "cp -r v copy; mv v v2"));
    let refused = |arguments: &[&str]| {
        let output = home.run(&[&["vault", "sync"], arguments].concat());
        assert!(!output.status.success());
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let copy = refused(&[&path("copy")]);
    assert!(copy.contains("neither made nor accepted"), "{copy}");
    let gone = refused(&[]);
    let v = fs::canonicalize(place.path()).unwrap().join("v");
    assert!(gone.contains(&format!("not in {} any more", v.display())), "{gone}");
    assert!(gone.contains("vault sync DIR"), "{gone}");
    // Another vault that is written down meanwhile takes nothing from it.
    printed(&home.run(&["vault", "init", &path("other")]));
    printed(&shell(place.path(), "rm -r other"));
    // What was removed there is missed, so its state came along.
    fs::remove_file(file_with(Path::new(&path("v2")), "The gate is blue")).unwrap();
    printed(&home.run(&["vault", "sync", &path("v2"), "--prune"]));
    assert_eq!(texts(&home), [""; 0]);
    printed(&home.run(&["vault", "sync"]));
    printed(&shell(place.path(), "mv v2 v"));
    printed(&home.run(&["vault", "sync", &path("v")]));
    let copy = refused(&[&path("copy")]);
    assert!(copy.contains("neither made nor accepted"), "{copy}");
}

#[test]
fn a_person_accepts_a_vault_and_its_writers_on_a_page() {
    let origin = tempfile::tempdir().unwrap();
    printed(&shell(origin.path(), "git init -q --bare -b main ."));
    let one = Machine::clone_of(origin.path(), "one@x");
    let save = ["save", "Deploys run on Friday", "--agent", "ann", "--workspace", WORKSPACE];
    printed(&one.home.run(&save));
    printed(&one.home.run(&["vault", "init", one.dir(), "--workspace", WORKSPACE]));
    let push = "git checkout -q -b main; git add -A; git commit -qm one; git push -q";
    printed(&shell(&one.clone, push));
    let two = Machine::clone_of(origin.path(), "two@x");
    let server = Server::start(&two.home);
    let browser = signed_in(&two.home, &server);
    let sync = |_: &str| two.home.run(&["vault", "sync", two.dir(), "--workspace", WORKSPACE]);
    assert!(!browser.get("vaults").body.contains("brought by a project"));
    assert!(!sync("refused, and noted for the page").status.success());
    assert!(browser.get("vaults").body.contains("brought by a project"));
    let path = format!("/dashboard/w/{WORKSPACE}/accept-vault");
    let accept = |by: &Browser<'_>, folder: &str, key: &str| {
        let key = Some(("writer", key)).filter(|(_, key)| !key.is_empty());
        let fields: Vec<_> = [("folder", folder)].into_iter().chain(key).collect();
        by.send_to(&path, &fields).status
    };
    assert_eq!(accept(&browser, one.dir(), ""), 404, "a folder that this home does not know");
    assert_eq!(accept(&browser, two.dir(), "key_x"), 400, "no key");
    assert_eq!(accept(&browser, two.dir(), ""), 303);
    let owned = || printed(&two.home.run(&["list", "--json", "--workspace", WORKSPACE]));
    printed(&sync("its memories are those of others"));
    assert!(!owned().contains("\"owner\":\"ann\""), "{}", owned());
    let key = between(&browser.get("vaults").body, "name=\"writer\" value=\"", "\"");
    let accept_own = ["vault", "accept", one.dir(), "--json", "--workspace", WORKSPACE];
    let said = printed(&one.home.run_at_terminal(&accept_own));
    assert!(said.contains(&key), "{said}");
    assert_eq!(accept(&browser, two.dir(), &key), 303);
    let page = browser.get("vaults").body;
    assert!(page.contains("accepted") && !page.contains("not accepted"), "{page}");
    let registry = fs::read_to_string(two.home.path().join("vaults.json")).unwrap();
    let registry: Value = serde_json::from_str(&registry).unwrap();
    assert_eq!(registry["vaults"][two.dir()]["writers"], json!([key]));
    // A token that may only read and write accepts nothing, and sees none.
    let secret = token(&two.home, &["eve", "--scope", "read", "--scope", "write"]).0;
    let eve = signed_in_with(&server, &secret);
    assert_eq!(accept(&eve, two.dir(), &key), 403);
    assert!(!eve.get("vaults").body.contains(&key));
}

#[test]
fn no_program_runs_that_a_repositorys_own_settings_name() {
    let origin = tempfile::tempdir().unwrap();
    printed(&shell(origin.path(), "git init -q --bare -b main ."));
    let one = Machine::clone_of(origin.path(), "one@x");
    printed(&one.home.run(&["save", "Deploys run on Friday", "--agent", "ann"]));
    printed(&one.home.run(&["vault", "init", one.dir()]));
    printed(&shell(
        &one.clone,
        "git checkout -q -b main; echo '* filter=evil merge=evil diff=evil' > .gitattributes; \
         git add -A; git commit -qm one; git push -q",
    ));
    let ran = tempfile::tempdir().unwrap();
    let evil = ran.path().join("evil");
    fs::write(&evil, format!("#!/bin/sh\ntouch '{}'\nexit 1\n", ran.path().join("ran").display()))
        .unwrap();
    let set = |name: &str| format!("git config '{name}' 'sh {}'; ", evil.display());
    let names = [
        "filter.evil.clean",
        "filter.evil.smudge",
        "filter.evil.process",
        "filter.a=b.clean",
        "merge.evil.driver",
        "diff.evil.command",
        "diff.evil.textconv",
        "diff.external",
        "core.fsmonitor",
        "core.sshCommand",
        "core.askPass",
        "core.gitProxy",
        "core.editor",
        "core.pager",
        "core.alternateRefsCommand",
        "credential.helper",
        "credential.https://x.helper",
        "gpg.program",
        "gpg.ssh.program",
        "remote.origin.uploadpack",
        "remote.origin.receivepack",
        "hook.evil.command",
    ];
    let script: String = names.iter().map(|name| set(name)).collect();
    let hooks = "cp EVIL .git/hooks/pre-commit; cp EVIL .git/hooks/post-merge; cp EVIL .git/hooks/pre-push; \
                 chmod +x .git/hooks/*; git config filter.evil.required true; git config commit.gpgSign true; \
                 git config merge.default evil; git config protocol.allow always; \
                 echo '* filter=a=b' > .git/info/attributes; \
                 echo '*.md filter=evil merge=evil' >> .git/info/attributes";
    let script = script + &hooks.replace("EVIL", evil.to_str().unwrap());
    printed(&shell(&one.clone, &script));
    // The other end is on this machine, with hooks and settings of its own; a merge would tell it a file.
    let secret = ran.path().join("secret");
    fs::write(&secret, "the-key-of-the-person").unwrap();
    let options = format!("git config branch.main.mergeOptions '-F {}'", secret.display());
    printed(&shell(&one.clone, &options));
    let other_end = "cp EVIL hooks/pre-receive; cp EVIL hooks/post-update; chmod +x hooks/*; \
                     git init -q --bare ALTERNATE; echo ALTERNATE/objects > objects/info/alternates; \
                     git config core.alternateRefsCommand 'sh EVIL'";
    let alternate = ran.path().join("alternate.git");
    let other_end = other_end
        .replace("EVIL", evil.to_str().unwrap())
        .replace("ALTERNATE", alternate.to_str().unwrap());
    // Both sides change the same file, so that git adds, fetches, merges and pushes.
    let theirs = tempfile::tempdir().unwrap();
    let change = "git clone -q ORIGIN there && cd there && git config user.name y && git config user.email y@y \
                  && for file in memories/*/*.md; do echo 'There.' >> \"$file\"; done \
                  && git commit -qam two && git push -q";
    let change = change.replace("ORIGIN", origin.path().to_str().unwrap());
    printed(&shell(theirs.path(), &change));
    let file = file_with(&one.clone, "Friday");
    let content = fs::read_to_string(&file).unwrap();
    fs::write(&file, content.replace("Friday", "Monday")).unwrap();
    printed(&shell(origin.path(), &other_end));
    drop(fs::remove_file(ran.path().join("ran")));
    one.sync();
    assert!(!ran.path().join("ran").exists(), "a program ran");
    let said = printed(&shell(&origin.path().join("."), "git log --format=%B main"));
    assert!(said.lines().count() >= 3 && !said.contains("the-key-of-the-person"), "{said}");
    // A remote that is a program is not asked.
    let remote = format!("git remote set-url origin \"ext::sh {}\"", evil.display());
    printed(&shell(&one.clone, &remote));
    drop(fs::remove_file(ran.path().join("ran")));
    let refused = one.home.run(&["vault", "sync", one.dir(), "--git", "--many"]);
    assert!(!refused.status.success());
    assert!(!ran.path().join("ran").exists(), "a remote ran");
}

#[test]
fn a_link_out_of_the_project_is_not_its_vault() {
    let home = Home::new();
    let (project, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    printed(&shell(project.path(), "git init -q .; mkdir notes"));
    let run = |arguments: &[&str]| {
        let output = home.program(arguments).current_dir(project.path()).output().unwrap();
        (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let links = ["mkdir .commonbook; ln -s OUTSIDE .commonbook/vault", "ln -s OUTSIDE .commonbook"];
    for link in links {
        let link = link.replace("OUTSIDE", outside.path().to_str().unwrap());
        printed(&shell(project.path(), &format!("rm -rf .commonbook; {link}")));
        for command in ["init", "sync"] {
            let (done, said) = run(&["vault", command]);
            assert!(!done && said.contains("leads out of its project"), "{command}: {said}");
        }
        assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
    }
    printed(&shell(
        project.path(),
        "rm .commonbook; mkdir .commonbook; ln -s ../notes .commonbook/vault",
    ));
    let (done, said) = run(&["vault", "init"]);
    assert!(done, "{said}");
}

#[test]
fn a_vault_is_a_persons_and_a_lost_store_comes_back() {
    let (home, again) = (Home::new(), Home::new());
    let folder = tempfile::tempdir().unwrap();
    let vault = folder.path().to_str().unwrap();
    printed(&home.run(&["save", "Deploys run on Friday", "--agent", "ann"]));
    printed(&home.run(&["case", "open", "slow", "--title", "Slow orders", "--agent", "ann"]));
    printed(&home.run(&["case", "append", "slow", "It takes nine seconds", "--agent", "ann"]));
    let refused = home.run(&["vault", "init", vault, "--agent", "ann"]);
    assert_eq!(refused.status.code(), Some(4), "{}", String::from_utf8_lossy(&refused.stderr));
    assert!(!folder.path().join("vault.json").exists());
    let missing = home.run(&["vault", "sync", vault]);
    assert!(String::from_utf8_lossy(&missing.stderr).contains("commonbook vault init"));
    let full = tempfile::tempdir().unwrap();
    fs::write(full.path().join("notes.md"), "Not for agents").unwrap();
    let refused = home.run(&["vault", "init", full.path().to_str().unwrap()]);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("has other files"));
    assert!(!full.path().join("vault.json").exists());
    printed(&home.run(&["vault", "init", vault, "--with-history"]));
    // A note is the person's, who needs no name.
    fs::write(folder.path().join("lunch.md"), "Lunch is at noon\n").unwrap();
    printed(&home.run(&["vault", "sync", vault]));
    assert!(
        printed(&home.run(&["list", "--json", "--owner", "human"])).contains("Lunch is at noon")
    );
    let imported = again.run(&["import", vault]);
    assert!(String::from_utf8_lossy(&imported.stderr).contains("rebuild --from-vault"));
    let other = home.run(&["vault", "init", vault, "--workspace", "other"]);
    assert!(String::from_utf8_lossy(&other.stderr).contains("is the vault of workspace default"));
    let export = |home: &Home| printed(&home.run(&["export", "-"]));
    let before = export(&home);
    let rebuild = ["rebuild", "--from-vault", vault, "--with-history"];
    for entry in fs::read_dir(home.path()).unwrap() {
        let path = entry.unwrap().path();
        if path.file_name().unwrap().to_string_lossy().starts_with("commonbook.db") {
            fs::remove_file(path).unwrap();
        }
    }
    printed(&home.run(&rebuild));
    assert_eq!(unsigned(&export(&home)), unsigned(&before));
    // A home with another key does not know who wrote it.
    printed(&again.run(&rebuild));
    let there = export(&again);
    assert!(there.contains("import/human") && !there.contains("\"human\""), "{there}");
}

#[test]
fn a_vault_is_kept_at_a_server_too() {
    let shared = Home::new();
    let server = Server::start(&shared);
    let save = json!({"text": "Deploys run on Friday"});
    server.call("ann", "save_memory", &save).unwrap();
    let scopes = ["--scope", "read", "--scope", "write", "--scope", "admin"];
    let created =
        shared.run(&[&["token", "create", "me", "--json", "--yes"], &scopes[..]].concat());
    let created: Value = serde_json::from_str(&printed(&created)).unwrap();
    let token = created["secret"].as_str().unwrap();
    let (mine, folder) = (Home::new(), tempfile::tempdir().unwrap());
    let vault = folder.path().to_str().unwrap();
    let run = |arguments: &[&str]| {
        let mut command = mine.program(arguments);
        command.env("COMMONBOOK_URL", &server.url).env("COMMONBOOK_TOKEN", token).output().unwrap()
    };
    printed(&run(&["vault", "init", vault, "--workspace", WORKSPACE]));
    let file = file_with(folder.path(), "Friday");
    let content = fs::read_to_string(&file).unwrap();
    fs::write(&file, content.replace("Friday", "Monday")).unwrap();
    let said = printed(&run(&["vault", "sync", vault]));
    assert!(said.contains("changed: "), "{said}");
    assert!(printed(&run(&["list", "--workspace", WORKSPACE])).contains("Deploys run on Monday"));
}

#[test]
fn a_pass_without_a_folder_takes_the_one_vault_of_the_workspace() {
    let person = Person::new();
    let (api, web) =
        (person.repository("api", "h.example:a/api"), person.repository("web", "h.example:a/web"));
    let pass = |folder: &Path, more: &[&str]| {
        let own = ["vault", "sync", "--json"];
        person.run(folder, &[&own[..], more].concat())
    };
    let folder_of = |output: &Output| {
        let answer: Value = serde_json::from_str(&printed(output)).unwrap();
        PathBuf::from(answer["folder"].as_str().unwrap())
    };
    let vaults = ["x/notes", "y/notes", "z/notes"].map(|path| person.folder.path().join(path));
    let [first, of_web, second] = vaults.each_ref().map(|path| path.to_str().unwrap());
    person.answer(&api, &["save", "The crane is green"]);
    assert!(errors(&pass(&api, &[])).contains("vault init"));
    printed(&person.run(&api, &["vault", "init", first]));
    printed(&person.run(&web, &["vault", "init", of_web]));
    let real = |path: &str| fs::canonicalize(path).unwrap();
    for (folder, vault) in [(&api, first), (&web, of_web)] {
        assert_eq!(folder_of(&pass(folder, &[])), real(vault));
    }
    let workspace = person.answer(&web, &["workspace", "list"])["here"]["workspace"].clone();
    let named = pass(&api, &["--workspace", workspace.as_str().unwrap()]);
    assert_eq!(folder_of(&named), real(of_web));
    printed(&person.run(&api, &["vault", "init", second]));
    let several = pass(&api, &[]);
    assert_eq!(several.status.code(), Some(6), "{}", errors(&several));
    assert!(errors(&several).contains("several vaults"), "{}", errors(&several));
    fs::remove_dir_all(second).unwrap();
    assert_eq!(folder_of(&pass(&api, &[])), real(first));
    // The project's own comes first; one that a stranger brings is used by nothing.
    fs::create_dir_all(web.join(".commonbook")).unwrap();
    assert!(shell(&web, &format!("cp -r {first} .commonbook/vault")).status.success());
    assert_eq!(folder_of(&pass(&web, &[])), real(of_web));
    printed(&person.run(&api, &["vault", "init"]));
    assert_eq!(folder_of(&pass(&api, &[])), real(api.join(".commonbook/vault").to_str().unwrap()));
}
