//! `bench peers`: saves and searches over MCP, as clients send them, by Commonbook and by other memory servers.
//!
//! The peers are those of a file (`tasks/peers/peers.json`), each with the command that installs it. All are started alike, in
//! an empty home of their own, and get the same notes and the same questions.

mod client;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::verbs::names;
use commonbook_server::child::{program_command, step_error};
use commonbook_server::output::print_line;
use fastrand::Rng;
use serde::Deserialize;
use serde_json::Value;

use client::McpClient;

use super::machine::MachineProfile;
use super::metrics::percentile;
use super::save::made_up_memory;

/// How long a note may take until a search returns it.
const READABLE_SECONDS: u64 = 5;

/// Notes that are waited for until a search returns them.
const READABLE_NOTES: usize = 20;

/// Arguments of the peers bench.
#[derive(Debug, clap::Args)]
pub(super) struct PeersBench {
    /// The file of the peers
    #[arg(long, default_value = "crates/commonbook-bench/tasks/peers/peers.json")]
    peers: PathBuf,
    /// The folder in which their packages were installed: the place of `{installed}` in the file
    #[arg(long)]
    installed: PathBuf,
    /// Only those whose names have this in them
    #[arg(long)]
    only: Option<String>,
    /// Notes that one process saves, and questions
    #[arg(long, default_value_t = 300)]
    each: usize,
    /// Processes that save in one home at once
    #[arg(long, default_value_t = 16)]
    writers: usize,
    /// Notes of each of these processes
    #[arg(long, default_value_t = 20)]
    writer_notes: usize,
    /// The folder for the homes; the system's temporary folder by default
    #[arg(long)]
    folder: Option<PathBuf>,
}

/// A memory server.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Peer {
    name: String,
    /// The command that installs it.
    #[serde(default)]
    install: String,
    command: Vec<String>,
    #[serde(default)]
    environment: BTreeMap<String, String>,
    /// Calls before the first note.
    #[serde(default)]
    setup: Vec<PeerCall>,
    save: PeerCall,
    search: PeerCall,
}

/// A call of a tool; `{text}`, `{number}` and `{query}` stand for what a call is about.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct PeerCall {
    tool: String,
    #[serde(default)]
    arguments: Value,
}

/// A note, with a word that no other note has.
struct PeerNote {
    number: usize,
    word: String,
    text: String,
}

impl PeerNote {
    fn made_up(rng: &mut Rng, number: usize) -> Self {
        let word = format!("ticket{number}x{}", rng.u32(100_000..999_999));
        // Short answers name a note by its first words.
        let text = format!("{word} {}", made_up_memory(rng).text);
        Self { number, word, text }
    }

    /// Three words of it, the first its own.
    fn question(&self) -> String {
        let words: Vec<&str> = self.text.split(' ').collect();
        [words[0], words[3], words[words.len() / 2]].join(" ")
    }
}

/// What was measured of a peer, in ms.
struct PeerFigures {
    start: f64,
    saves: Vec<f64>,
    searches: Vec<f64>,
    /// How many answers had the note whose three words were asked.
    found: usize,
    /// From the answer of a save until a search returns the note.
    readable: Vec<f64>,
    bytes_per_note: u64,
    /// By many processes in one home.
    together: Option<TogetherFigures>,
}

/// What many processes saved in one home.
struct TogetherFigures {
    saves: Vec<f64>,
    per_second: f64,
    /// Notes whose saves were answered.
    answered: usize,
    /// Those of them that a process which is started afterwards finds by their own word.
    kept: usize,
}

impl PeersBench {
    /// Measures each peer, after Commonbook with the bundled model and without one.
    ///
    /// # Errors
    /// `invalid` if the file of the peers cannot be read. The line of a peer that does not work has its error.
    pub(super) fn run(&self) -> Result<()> {
        MachineProfile::detect_machine().print();
        let text = fs::read_to_string(&self.peers)
            .map_err(|error| step_error("the file of the peers cannot be read", error))?;
        let peers: Vec<Peer> = serde_json::from_str(&text)
            .map_err(|error| step_error("the file of the peers is not as expected", error))?;
        print_line(&format!(
            "{:<28} {:>7} {:>15} {:>15} {:>9} {:>9} {:>7} {:>22}",
            "ms",
            "start",
            "save p50, p95",
            "search",
            "found",
            "readable",
            "B/note",
            "together: /s, p95, kept"
        ));
        let own = [own_peer("commonbook", "bundled")?, own_peer("commonbook, words alone", "off")?];
        for peer in own.iter().chain(&peers) {
            if self.only.as_ref().is_some_and(|only| !peer.name.contains(only.as_str())) {
                continue;
            }
            match self.measure(peer) {
                Ok(figures) => figures.print(&peer.name),
                Err(error) => {
                    print_line(&format!("{:<28} {error}", peer.name));
                    print_line(&format!("    it is installed by: {}", peer.install));
                }
            }
        }
        Ok(())
    }

    fn measure(&self, peer: &Peer) -> Result<PeerFigures> {
        let folder = super::bench_folder(self.folder.as_ref())?;
        let mut rng = Rng::with_seed(7);
        let begun = Instant::now();
        let mut client = self.start(peer, folder.path())?;
        let start = super::millis(begun.elapsed());
        for call in &peer.setup {
            client.call(&call.tool, &call.arguments)?;
        }
        // The first notes fill caches and files.
        for number in 0..10 {
            save(&mut client, peer, &PeerNote::made_up(&mut rng, number))?;
        }
        let notes: Vec<_> = (10..10 + self.each).map(|n| PeerNote::made_up(&mut rng, n)).collect();
        let mut saves = Vec::new();
        for note in &notes {
            saves.push(save(&mut client, peer, note)?);
        }
        let (mut searches, mut found) = (Vec::new(), 0);
        for note in &notes {
            let begun = Instant::now();
            let answer = search(&mut client, peer, &note.question())?;
            searches.push(super::millis(begun.elapsed()));
            found += usize::from(answer.contains(&note.word));
        }
        let mut readable = Vec::new();
        for number in 0..READABLE_NOTES {
            let note = PeerNote::made_up(&mut rng, 1_000_000 + number);
            save(&mut client, peer, &note)?;
            readable.push(time_until_found(&mut client, peer, &note)?);
        }
        client.stop()?;
        let saved = 10 + notes.len() + READABLE_NOTES;
        let bytes_per_note = bytes_below(folder.path()) / saved as u64;
        let together = self.together(peer).ok();
        Ok(PeerFigures { start, saves, searches, found, readable, bytes_per_note, together })
    }

    /// Many processes that save in one home at once.
    fn together(&self, peer: &Peer) -> Result<TogetherFigures> {
        let folder = super::bench_folder(self.folder.as_ref())?;
        let mut first = self.start(peer, folder.path())?;
        for call in &peer.setup {
            first.call(&call.tool, &call.arguments)?;
        }
        first.stop()?;
        let clients = (0..self.writers).map(|_| self.start(peer, folder.path()));
        let clients = clients.collect::<Result<Vec<_>>>()?;
        let begun = Instant::now();
        let work = |(writer, mut client): (usize, McpClient)| {
            let mut rng = Rng::with_seed(100 + writer as u64);
            let mut done = Vec::new();
            for number in 0..self.writer_notes {
                let note = PeerNote::made_up(&mut rng, writer * self.writer_notes + number);
                if let Ok(time) = save(&mut client, peer, &note) {
                    done.push((note, time));
                }
            }
            // It ends with the others: what one writes at its end is part of what it does to them.
            (client, done)
        };
        let ends: Vec<_> = thread::scope(|scope| {
            let threads: Vec<_> =
                clients.into_iter().enumerate().map(|one| scope.spawn(move || work(one))).collect();
            threads.into_iter().filter_map(|thread| thread.join().ok()).collect()
        });
        let seconds = begun.elapsed().as_secs_f64();
        let mut done = Vec::new();
        for (client, notes) in ends {
            client.stop()?;
            done.extend(notes);
        }
        let mut reader = self.start(peer, folder.path())?;
        let mut kept = 0;
        for (note, _) in &done {
            kept += usize::from(search(&mut reader, peer, &note.word)?.contains(&note.word));
        }
        reader.stop()?;
        let saves: Vec<f64> = done.iter().map(|(_, time)| *time).collect();
        Ok(TogetherFigures {
            per_second: saves.len() as f64 / seconds,
            answered: saves.len(),
            saves,
            kept,
        })
    }

    fn start(&self, peer: &Peer, home: &Path) -> Result<McpClient> {
        let fill = |text: &String| {
            text.replace("{installed}", &self.installed.display().to_string())
                .replace("{home}", &home.display().to_string())
        };
        let command: Vec<String> = peer.command.iter().map(fill).collect();
        let environment = peer.environment.iter().map(|(name, value)| (name.clone(), fill(value)));
        McpClient::start(&command, environment, home)
    }
}

impl PeerFigures {
    fn print(mut self, name: &str) {
        let together = self.together.take().map_or_else(
            || "does not work".to_owned(),
            |figures| {
                let p95 = pair(figures.saves).1;
                format!(
                    "{:.0}, {p95:.1}, {} of {}",
                    figures.per_second, figures.kept, figures.answered
                )
            },
        );
        let count = self.searches.len();
        let [(save, save_p95), (search, search_p95), (readable, _)] =
            [self.saves, self.searches, self.readable].map(pair);
        print_line(&format!(
            "{name:<28} {:>7.0} {save:>7.2} {save_p95:>7.2} {search:>7.2} {search_p95:>7.2} {:>9} {readable:>9.2} {:>7} {together:>22}",
            self.start,
            format!("{} of {count}", self.found),
            self.bytes_per_note,
        ));
    }
}

/// The median and the 95th percentile.
fn pair(mut times: Vec<f64>) -> (f64, f64) {
    times.sort_by(f64::total_cmp);
    (percentile(&times, 50.0), percentile(&times, 95.0))
}

/// Commonbook as a client starts it, with this embedder.
fn own_peer(name: &str, embedder: &str) -> Result<Peer> {
    let command = program_command(Path::new("{home}"), &["mcp"])?;
    let parts = std::iter::once(command.get_program()).chain(command.get_args());
    let call = |tool: &str, arguments| PeerCall { tool: tool.to_owned(), arguments };
    let environment = [
        ("COMMONBOOK_HOME", "{home}"),
        ("COMMONBOOK_EMBEDDER", embedder),
        ("COMMONBOOK_WORKSPACE", "bench"),
    ];
    Ok(Peer {
        name: name.to_owned(),
        install: "cargo build --release".to_owned(),
        command: parts.map(|part| part.to_string_lossy().into_owned()).collect(),
        environment: environment.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
        setup: Vec::new(),
        save: call(names::SAVE_MEMORY, serde_json::json!({"text": "{text}"})),
        search: call(names::SEARCH_MEMORY, serde_json::json!({"query": "{query}"})),
    })
}

/// Saves a note; returns the time.
fn save(client: &mut McpClient, peer: &Peer, note: &PeerNote) -> Result<f64> {
    let words = [("{text}", note.text.clone()), ("{number}", note.number.to_string())];
    let arguments = filled(&peer.save.arguments, &words);
    let begun = Instant::now();
    client.call(&peer.save.tool, &arguments)?;
    Ok(super::millis(begun.elapsed()))
}

fn search(client: &mut McpClient, peer: &Peer, query: &str) -> Result<String> {
    client
        .call(&peer.search.tool, &filled(&peer.search.arguments, &[("{query}", query.to_owned())]))
}

/// The time until a search returns a note that was saved.
fn time_until_found(client: &mut McpClient, peer: &Peer, note: &PeerNote) -> Result<f64> {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(READABLE_SECONDS) {
        if search(client, peer, &note.word)?.contains(&note.word) {
            break;
        }
    }
    Ok(super::millis(begun.elapsed()))
}

/// Arguments with the words in the place of what stands for them.
fn filled(arguments: &Value, words: &[(&str, String)]) -> Value {
    match arguments {
        Value::String(text) => {
            let fill = |text: String, (sign, word): &(&str, String)| text.replace(sign, word);
            words.iter().fold(text.clone(), fill).into()
        }
        Value::Array(all) => all.iter().map(|one| filled(one, words)).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| (name.clone(), filled(value, words))).collect()
        }
        other => other.clone(),
    }
}

/// The bytes of all files below a folder.
fn bytes_below(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let size = |entry: fs::DirEntry| match entry.metadata() {
        Ok(found) if found.is_dir() => bytes_below(&entry.path()),
        found => found.map_or(0, |found| found.len()),
    };
    entries.map(size).sum()
}

/// The error of a peer that does not do what MCP says.
fn peer_error(text: impl Into<String>) -> Error {
    Error::new(ErrorKind::Unavailable, text)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_call_has_the_words_wherever_its_arguments_name_them() {
        let arguments =
            json!({"entities": [{"name": "n{number}", "texts": ["{text}", 3]}], "k": 5});
        let words = [("{text}", "the door".to_owned()), ("{number}", "7".to_owned())];
        let expected = json!({"entities": [{"name": "n7", "texts": ["the door", 3]}], "k": 5});
        assert_eq!(filled(&arguments, &words), expected);
    }

    #[test]
    fn the_peers_of_the_file_can_be_read() {
        let peers: Vec<Peer> =
            serde_json::from_str(include_str!("../tasks/peers/peers.json")).unwrap();
        for peer in &peers {
            assert!(!peer.install.is_empty() && !peer.command.is_empty(), "{peer:?}");
        }
    }
}
