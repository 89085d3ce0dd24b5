//! `commonbook stats --watch`: the statistics as they change, with a server and without.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::world::{Cli, Door, Home, Server, WORKSPACE, new_text};

struct StatsWatch {
    child: Child,
    lines: BufReader<ChildStdout>,
    last: String,
}

impl StatsWatch {
    fn start(home: &Home, arguments: &[&str]) -> Self {
        let all = [&["stats", "--watch", "--workspace", WORKSPACE], arguments].concat();
        let mut child = home.program(&all).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Self { child, lines, last: String::new() }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        line.trim_end_matches('\n').to_owned()
    }

    /// The number of memories in the next line of JSON, which differs from the last.
    fn memories(&mut self) -> u64 {
        let line = self.line();
        assert_ne!(line, self.last);
        self.last.clone_from(&line);
        let stats: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(stats["workspace"], WORKSPACE, "{line}");
        stats["memories"].as_u64().unwrap()
    }

    /// Presses Ctrl-C; returns whether it ends with success.
    fn ends(mut self) -> bool {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
        self.child.wait().unwrap().success()
    }
}

impl Drop for StatsWatch {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn save(door: &dyn Door) {
    door.call("ann", "save_memory", &json!({"text": new_text()})).unwrap();
}

#[test]
fn each_change_is_one_line_of_json_with_a_server_and_without() {
    let home = Home::new();
    let cli = Cli(&home);
    save(&cli);
    let mut watch = StatsWatch::start(&home, &["--json"]);
    assert_eq!(watch.memories(), 1);
    save(&cli);
    // The size of the store may change before the number of memories does.
    while watch.memories() < 2 {}
    // A server that starts meanwhile answers from then on; it adds its event streams.
    let server = Server::start(&home);
    save(&server);
    while watch.memories() < 3 {}
    drop(server);
    save(&cli);
    while watch.memories() < 4 {}
    assert!(watch.ends());
}

#[test]
fn in_a_pipe_the_blocks_are_plain_with_a_blank_line_between() {
    let home = Home::new();
    let cli = Cli(&home);
    save(&cli);
    let mut watch = StatsWatch::start(&home, &[]);
    let facts = |watch: &mut StatsWatch, memories: &str| loop {
        let line = watch.line();
        assert!(!line.contains('\u{1b}'), "{line:?}");
        if line.starts_with("memories") && line.ends_with(memories) {
            return;
        }
    };
    assert!(watch.line().starts_with("workspace"));
    facts(&mut watch, " 1");
    save(&cli);
    facts(&mut watch, " 2");
    assert!(watch.ends());
}

#[test]
fn a_reader_that_leaves_ends_it() {
    let home = Home::new();
    let cli = Cli(&home);
    let mut watch = StatsWatch::start(&home, &["--json"]);
    assert_eq!(watch.memories(), 0);
    let mut child = home.program(&["events"]).stdout(Stdio::piped()).spawn().unwrap();
    child.wait().unwrap();
    drop(std::mem::replace(&mut watch.lines, BufReader::new(child.stdout.take().unwrap())));
    save(&cli);
    assert!(watch.child.wait().unwrap().success());
}
