//! Archives: an export in one verified file, encrypted or not, and the way back.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Output, Stdio};

use age::secrecy::ExposeSecret;
use age::x25519::Identity;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::export::{as_moved, printed, team};
use super::tokens::token;
use crate::world::{Home, Server};

const WHOLE: [&str; 4] = ["export", "--all-workspaces", "--receipts", "--standing"];

/// A folder for files that no home has.
struct Files(TempDir);

impl Files {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }

    /// A file that others cannot read.
    fn with(&self, name: &str, text: &str) -> String {
        fs::write(self.path(name), text).unwrap();
        self.set_mode(name, 0o600);
        self.path(name)
    }

    fn set_mode(&self, name: &str, mode: u32) {
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            fs::set_permissions(self.path(name), fs::Permissions::from_mode(mode)).unwrap();
        }
    }

    /// A new key in a file as `age-keygen` writes it, and its recipient.
    fn key(&self, name: &str) -> (String, String) {
        let key = Identity::generate();
        let recipient = key.to_public().to_string();
        let secret = key.to_string();
        let text = format!("# public key: {recipient}\n{}\n", secret.expose_secret());
        (self.with(name, &text), recipient)
    }

    fn names(&self) -> Vec<String> {
        let names = fs::read_dir(self.0.path()).unwrap().map(|file| file.unwrap().file_name());
        let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        names
    }
}

/// Exports a whole home as an archive.
fn export(home: &Home, file: &str, arguments: &[&str]) -> String {
    let own = ["--format", "archive", file];
    let output = home.run(&[&WHOLE[..], &own, arguments].concat());
    assert!(output.status.success(), "{}", words(&output));
    words(&output)
}

fn words(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Why a command is refused.
fn refusal(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(2), "{}", words(output));
    words(output)
}

fn json_of(output: &Output) -> Value {
    serde_json::from_str(&printed(output)).unwrap()
}

/// Whether a home has a store.
fn has_store(home: &Home) -> bool {
    home.path().join("commonbook.db").exists()
}

#[test]
fn an_archive_moves_a_home_and_a_second_import_adds_nothing() {
    let (old, new, files) = (team(), Home::new(), Files::new());
    let file = files.path("team.commonbook.tar.gz");
    let told = export(&old, &file, &[]);
    assert!(told.contains("exported 3 memories from 2 workspaces, and "), "{told}");
    assert_eq!(files.names(), ["team.commonbook.tar.gz"], "and no temporary file");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    }
    let lines = printed(&old.run(&WHOLE));

    let preview = new.run(&["import", &file, "--dry-run", "--json"]);
    let preview = json_of(&preview);
    let (count, bad) = (&preview["lines"], &preview["bad"]);
    assert_eq!(
        (&preview["format"], count, bad),
        (&json!("archive"), &json!(lines.lines().count() - 1), &json!([]))
    );
    assert!(!has_store(&new), "a preview opens no store");

    let imported = new.run(&["import", &file]);
    let note = format!("{file} is an archive of commonbook {}", env!("CARGO_PKG_VERSION"));
    assert!(words(&imported).contains(&note), "{}", words(&imported));
    assert!(words(&imported).contains(&format!(": {} lines, verified", lines.lines().count())));
    assert!(printed(&imported).starts_with("3 imported, 0 already present, 0 not imported"));
    assert_eq!(as_moved(&printed(&new.run(&WHOLE))), as_moved(&lines));

    let again = json_of(&new.run(&["import", &file, "--json"]));
    assert_eq!(again["format"], "archive");
    assert_eq!((&again["created"], &again["repeated"]), (&json!(0), &json!(3)));
    assert_eq!(again["records"]["created"], json!(0));
    assert_eq!(as_moved(&printed(&new.run(&WHOLE))), as_moved(&lines));
}

#[test]
fn an_archive_has_the_same_lines_as_an_export_of_the_same_caller() {
    let (home, files) = (team(), Files::new());
    for caller in [&[][..], &["--agent", "ann", "--workspace", "harbour"]] {
        let file = files.path("archive");
        printed(&home.run(&[&["export", "--format", "archive", &file], caller].concat()));
        let mut tar = flate2::read::GzDecoder::new(fs::File::open(&file).unwrap());
        let mut text = Vec::new();
        std::io::copy(&mut tar, &mut text).unwrap();
        let text = String::from_utf8_lossy(&text).into_owned();
        let lines = printed(&home.run(&[&["export"], caller].concat()));
        assert!(text.contains(&lines));
        assert_eq!(text.contains("another job"), !caller.is_empty(), "it is private to ann");
    }
}

#[test]
fn an_archive_passes_through_pipes() {
    let (old, new) = (team(), Home::new());
    let archive = old.run(&[&WHOLE[..], &["--format", "archive"]].concat());
    assert!(archive.stdout.starts_with(&[0x1f, 0x8b]), "{}", words(&archive));
    let imported = new.feed(&["import", "-"], &archive.stdout);
    assert!(words(&imported).contains("standard input is an archive of "), "{}", words(&imported));
    assert!(printed(&imported).starts_with("3 imported"));
    assert_eq!(as_moved(&printed(&new.run(&WHOLE))), as_moved(&printed(&old.run(&WHOLE))));
    // What only begins like one is read as lines.
    for (input, expected) in
        [("a\n{\"text\":\"x\"}\n", "line 1: the line is not JSON"), ("-\n", "line 1: ")]
    {
        let output = new.feed(&["import", "-"], input.as_bytes());
        assert!(refusal(&output).contains(expected), "{}", words(&output));
    }
    let cut = new.feed(&["import", "-"], &archive.stdout[..archive.stdout.len() / 2]);
    assert!(refusal(&cut).contains("the archive is damaged: the file ends early"));
}

#[test]
fn a_damaged_archive_changes_nothing() {
    let (old, new, files) = (team(), Home::new(), Files::new());
    let file = files.path("whole");
    export(&old, &file, &[]);
    let whole = fs::read(&file).unwrap();
    let mut flipped = whole.clone();
    flipped[whole.len() - 20] ^= 1;
    let table: [(&str, &[u8], &str); 4] = [
        ("cut", &whole[..whole.len() - 1], "the archive is damaged: the file ends early"),
        ("flipped", &flipped, "the archive is damaged: "),
        ("twice", &[&whole[..], &whole].concat(), "it has more than its manifest says"),
        ("gzip", &[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0], "no archive"),
    ];
    for (name, bytes, expected) in table {
        fs::write(files.path(name), bytes).unwrap();
        for dry_run in [&["--dry-run"][..], &[]] {
            let output = new.run(&[&["import", &files.path(name)], dry_run].concat());
            let error = refusal(&output);
            assert!(error.contains(expected), "{name}: {error}");
            assert!(output.stdout.is_empty());
        }
    }
    assert!(!printed(&new.run(&["export", "--all-workspaces"])).contains("\"text\""));
    let output =
        new.run(&["import", &files.with("lines", "{\"text\":\"x\"}\n"), "--format", "archive"]);
    assert!(
        refusal(&output).contains("neither gzipped nor encrypted by age"),
        "{}",
        words(&output)
    );
}

#[test]
fn an_encrypted_archive_opens_for_its_recipients_alone() {
    let (old, new, files) = (team(), Home::new(), Files::new());
    let ((ann, to_ann), (ben, to_ben), (eve, _)) =
        (files.key("ann.key"), files.key("ben.key"), files.key("eve.key"));
    let list = files.with("recipients", &format!("# the harbour\n\n{to_ben}\n"));
    let file = files.path("team.age");
    export(&old, &file, &["--recipient", &to_ann, "--recipients-file", &list]);
    let bytes = fs::read(&file).unwrap();
    assert!(bytes.starts_with(b"age-encryption.org/v1\n"));

    let import = |arguments: &[&str]| new.run(&[&["import", &file], arguments].concat());
    let table: [(&[&str], &str); 4] = [
        (&[], "Name the file of your secret key: --identity FILE."),
        (&["--identity", &eve], "the given key is not the right one"),
        (&["--passphrase-file", &list], "--passphrase-file"),
        (&["--identity", &list], "--identity: cannot read"),
    ];
    for (arguments, expected) in table {
        let error = refusal(&import(arguments));
        assert!(error.contains(expected), "{error}; expected {expected}");
        assert!(!error.contains("AGE-SECRET"), "{error}");
    }
    assert!(!has_store(&new) || !printed(&new.run(&WHOLE)).contains("orders"));
    let preview = import(&["--identity", &ben, "--dry-run", "--json"]);
    assert_eq!(json_of(&preview)["format"], "archive");
    let imported = import(&["--identity", &eve, "--identity", &ann]);
    assert!(printed(&imported).starts_with("3 imported"));
    assert_eq!(as_moved(&printed(&new.run(&WHOLE))), as_moved(&printed(&old.run(&WHOLE))));
    let again = new.feed(&["import", "-", "--identity", &ben], &bytes);
    assert!(printed(&again).starts_with("0 imported, 3 already present"));
}

#[test]
fn an_archive_with_a_passphrase_opens_with_it_alone() {
    let (old, new, files) = (team(), Home::new(), Files::new());
    let (right, wrong) = (files.with("right", "Möwe am Kai 7\r\n"), files.with("wrong", "Möwe"));
    let (key, _) = files.key("key");
    let file = files.path("team.age");
    export(&old, &file, &["--passphrase-file", &right]);
    let import = |arguments: &[&str]| new.run(&[&["import", &file], arguments].concat());
    let error = refusal(&import(&[]));
    assert!(error.contains("Name a file with the passphrase: --passphrase-file FILE."), "{error}");
    let error = refusal(&import(&["--identity", &key]));
    assert!(error.contains("the archive is encrypted with a passphrase"), "{error}");
    let error = refusal(&import(&["--passphrase-file", &wrong]));
    assert!(error.contains("the given key is not the right one"), "{error}");
    let imported = import(&["--passphrase-file", &files.with("right2", "Möwe am Kai 7")]);
    assert!(printed(&imported).starts_with("3 imported"));
}

#[test]
fn options_that_would_not_encrypt_are_refused() {
    let (home, files) = (team(), Files::new());
    let (key, recipient) = files.key("key");
    let secret = fs::read_to_string(&key).unwrap().lines().last().unwrap().to_owned();
    let (empty, two) = (files.with("empty", "\n"), files.with("two", "one\ntwo\n"));
    let (none, absent) = (files.with("none", "# nobody\n"), files.path("absent"));
    let (short, open) = (files.with("short", "Möwe"), files.with("open", "Möwe am Kai 7"));
    files.set_mode("open", 0o644);
    let ssh = files.with("ssh", "ssh-ed25519 AAAA ann@harbour\n");
    let archive = ["export", "--format", "archive"];
    let table: [(&[&str], &str); 11] = [
        (&["export", "--recipient", &recipient], "--format: only an archive can be encrypted"),
        (&["export", "--passphrase-file", &two], "Add --format archive."),
        (&[&archive[..], &["--recipient", &secret]].concat(), "--recipient number 1 is not"),
        (&[&archive[..], &["--recipient", &recipient, "--recipient", "x"]].concat(), "number 2"),
        (&[&archive[..], &["--recipients-file", &ssh]].concat(), "ssh, line 1 is not a recipient"),
        (&[&archive[..], &["--recipients-file", &none]].concat(), "no recipient is in the files"),
        (&[&archive[..], &["--passphrase-file", &empty]].concat(), "is empty"),
        (&[&archive[..], &["--passphrase-file", &two]].concat(), "has more than one line"),
        (&[&archive[..], &["--passphrase-file", &absent]].concat(), "cannot read"),
        (&[&archive[..], &["--passphrase-file", &short]].concat(), "a passphrase of 4 characters"),
        (&[&archive[..], &["--passphrase-file", &open]].concat(), "other users can read"),
    ];
    for (arguments, expected) in table {
        let file = files.path("out");
        let output = home.run(&[arguments, &[&file]].concat());
        let error = refusal(&output);
        assert!(error.contains(expected), "{error}; expected {expected}");
        assert!(!error.contains(&secret), "{error}");
        assert!(!files.names().contains(&"out".to_owned()));
    }
    // A key for a file that is not encrypted: who exchanged the file would not be noticed.
    let plain = files.path("plain");
    export(&home, &plain, &[]);
    let lines = files.with("lines", "{\"text\":\"x\"}\n");
    let folder = files.path("notes");
    fs::create_dir(&folder).unwrap();
    files.with("notes/harbour.md", "# Harbour\n\nThe berth list is empty on Mondays.\n");
    for path in [&plain, &lines, &folder, &"-".to_owned()] {
        let error = refusal(&Home::new().feed(&["import", path, "--identity", &key], b"{}\n"));
        assert!(error.contains("Leave --identity and --passphrase-file out"), "{path}: {error}");
    }
}

#[test]
fn a_server_at_a_url_exports_and_imports_archives() {
    let (old, new, files) = (team(), Home::new(), Files::new());
    let (from, to) = (Server::start(&old), Server::start(&new));
    let scopes = ["ann", "--scope", "read,write,admin"];
    let ((reader, _), (writer, _)) = (token(&old, &scopes), token(&new, &scopes));
    let person = Home::new();
    let at = |server: &Server, secret: &str, arguments: &[&str]| {
        let mut command = person.program(arguments);
        command.env("COMMONBOOK_URL", &server.url).env("COMMONBOOK_TOKEN", secret);
        command.output().unwrap()
    };
    let whole = ["export", "--all-workspaces", "--workspace", "harbour"];
    let (key, recipient) = files.key("key");
    let file = files.path("team.age");
    let archive = ["--format", "archive", "--recipient", &recipient, &file];
    printed(&at(&from, &reader, &[&whole[..], &archive].concat()));
    let import = ["import", &file, "--identity", &key];
    assert!(printed(&at(&to, &writer, &import)).contains(" imported, 0 already present, 0 not"));
    assert!(printed(&at(&to, &writer, &import)).starts_with("0 imported"));
    assert_eq!(
        as_moved(&printed(&at(&to, &writer, &whole))),
        as_moved(&printed(&at(&from, &reader, &whole)))
    );
    assert!(!has_store(&person), "the home is not used");
}

#[test]
fn half_an_archive_is_an_error_and_half_the_lines_are_not() {
    let home = team();
    for (format, code) in [("jsonl", 0), ("archive", 9)] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut export = home.program(&["export", "--format", format]);
        let output = export.stdout(writer).stderr(Stdio::piped()).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{}", words(&output));
    }
}

/// Reads the head of a request of an export; returns its first line.
fn request(stream: &TcpStream) -> String {
    let lines = BufReader::new(stream).lines().map(Result::unwrap);
    let head: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
    head[0].clone()
}

#[test]
fn an_export_that_is_killed_leaves_the_file_as_it_was() {
    // A server that answers the first page, and never the second.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (home, files) = (Home::new(), Files::new());
    for before in [None, Some("before")] {
        let file = files.path("team.commonbook.tar.gz");
        if let Some(text) = before {
            fs::write(&file, text).unwrap();
        }
        let mut command = home.program(&["export", "--format", "archive", &file]);
        command.env("COMMONBOOK_URL", format!("http://{}", listener.local_addr().unwrap()));
        let mut export = command.stderr(Stdio::null()).spawn().unwrap();
        let (stream, _) = listener.accept().unwrap();
        assert!(request(&stream).starts_with("GET /v1/export?"));
        let header = json!({"format": 2, "version": "0.1.0", "workspaces": ["harbour"]});
        let lines = [json!({"record": "export", "value": header}), json!({"text": "x"})];
        let page = json!({"lines": lines, "next": "c1.2"}).to_string();
        let length = page.len();
        write!(
            &stream,
            "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{page}"
        )
        .unwrap();
        let (second, _) = listener.accept().unwrap();
        assert!(request(&second).contains("cursor=c1.2"));
        export.kill().unwrap();
        export.wait().unwrap();
        let found = fs::read_to_string(PathBuf::from(&file)).ok();
        assert_eq!(found.as_deref(), before);
        // One that could not finish may be left, under no name that anybody would import.
        let others = files.names().into_iter().filter(|name| !name.starts_with(".commonbook-"));
        assert_eq!(others.count(), usize::from(before.is_some()));
    }
}
