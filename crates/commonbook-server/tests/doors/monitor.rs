//! `commonbook monitor`: the journal as it happens, with a server and without.

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::world::{Cli, Door, Home, Server, WORKSPACE};

struct Monitor {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Monitor {
    /// A monitor that has started to follow.
    fn start(home: &Home, arguments: &[&str]) -> Self {
        let all = [&["monitor", "--workspace", WORKSPACE], arguments].concat();
        let mut command = home.program(&all);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        if !arguments.contains(&"--after") {
            let mut says = String::new();
            BufReader::new(child.stderr.take().unwrap()).read_line(&mut says).unwrap();
            assert!(says.contains("following story"), "{says}");
        }
        let lines = BufReader::new(child.stdout.take().unwrap());
        Self { child, lines }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// Presses Ctrl-C; returns whether it ends with success.
    fn ends(mut self) -> bool {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
        self.child.wait().unwrap().success()
    }
}

impl Drop for Monitor {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn save(door: &dyn Door, agent: &str, fields: &Value) -> Value {
    door.call(agent, "save_memory", fields).unwrap()["memory"]["id"].clone()
}

#[test]
fn each_event_is_printed_as_in_the_journal_with_a_server_and_without() {
    let home = Home::new();
    let cli = Cli(&home);
    save(&cli, "ann", &json!({"text": "before"}));
    let mut all = Monitor::start(&home, &["--json", "--after", "0", "--agent", "bob"]);
    let next_event =
        |monitor: &mut Monitor| serde_json::from_str::<Value>(&monitor.line()).unwrap();
    // The first write of an agent begins its session.
    let mut found = vec![next_event(&mut all), next_event(&mut all)];
    // It follows: from now on only the watch reports events.
    save(&cli, "ann", &json!({"text": "hidden", "sharing": "private"}));
    save(&cli, "ann", &json!({"text": "without a server", "topics": ["herbs"]}));
    found.push(next_event(&mut all));
    let server = Server::start(&home);
    save(&server, "bob", &json!({"text": "by a server"}));
    found.extend([next_event(&mut all), next_event(&mut all)]);
    let page = cli.call("bob", "list_events", &json!({})).unwrap();
    assert_eq!(page["items"], Value::Array(found));
    assert_eq!(page["items"][2]["sequence"], 4, "no event of a private memory");
    assert!(all.ends());
}

#[test]
fn a_line_names_the_event_its_actor_and_its_subject() {
    let home = Home::new();
    let cli = Cli(&home);
    save(&cli, "ann", &json!({"text": "long ago"}));
    let filters = ["--agent", "bob", "--events", "memory.s*", "--topic", "herbs", "--exclude-self"];
    let mut monitor = Monitor::start(&home, &filters);
    save(&cli, "bob", &json!({"text": "by the reader itself", "topics": ["herbs"]}));
    save(&cli, "ann", &json!({"text": "about something else"}));
    let id = save(&cli, "ann", &json!({"text": "Chamomile\nfor sleep", "topics": ["Herbs"]}));
    let line = monitor.line();
    let id = id.as_str().unwrap();
    let handle = &id[id.len() - 8..];
    for part in ["  6  ", "  ann saved: Chamomile for sleep", "memory.saved", handle] {
        assert!(line.contains(part), "{line}");
    }
    assert!(line.starts_with("20"), "{line}");
    assert!(monitor.ends());
}

#[test]
fn a_closed_output_ends_the_monitor_without_an_error() {
    let home = Home::new();
    let mut monitor = Monitor::start(&home, &[]);
    let (ours, theirs) = (&mut monitor.lines, BufReader::new(empty(&home)));
    drop(std::mem::replace(ours, theirs));
    save(&Cli(&home), "ann", &json!({"text": "unheard"}));
    assert!(monitor.child.wait().unwrap().success());
}

/// The output of a command without output.
fn empty(home: &Home) -> ChildStdout {
    let mut child = home.program(&["events"]).stdout(Stdio::piped()).spawn().unwrap();
    child.wait().unwrap();
    child.stdout.take().unwrap()
}

#[test]
fn an_invalid_filter_is_refused_with_a_hint() {
    let home = Home::new();
    let table = [
        (["--events", "memory.eaten"], "event kind \"memory.eaten\" does not exist"),
        (["--importance", "urgent"], "importance"),
        (["--after", "soon"], "after"),
    ];
    for (flags, message) in table {
        let output = home.run(&[&["monitor"], &flags[..]].concat());
        let says = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{says}");
        assert!(says.contains(message) && says.contains("hint: "), "{says}");
    }
}
