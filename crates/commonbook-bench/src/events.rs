//! `bench events`: the time from a commit until every follower has the event.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use commonbook::base::error::{Error, ErrorKind, Result};
use serde::Serialize;
use serde_json::json;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::database_server::{BenchServer, PROGRAMS};
use super::machine::{MachineProfile, process_bytes};
use super::metrics::percentile;
use commonbook_server::child::{ChildServer, program_command, step_error};
use commonbook_server::output::{self, print_line};

/// The workspace that is followed.
const WORKSPACE: &str = "default";

/// Time without an event after which the bench fails.
const EVENT_TIMEOUT: Duration = Duration::from_secs(60);

/// Arguments of the event bench.
#[derive(Debug, clap::Args)]
pub(super) struct EventBench {
    /// Connections that follow the journal at once, each by an agent of its own
    #[arg(long, default_value_t = 1_000)]
    followers: usize,
    /// Memories that are saved one after the other, each an event
    #[arg(long, default_value_t = 1_000)]
    events: usize,
    /// Saves a second; 0 for each as soon as the one before was answered
    #[arg(long, default_value_t = 20)]
    rate: u32,
    /// Servers over one database in a PostgreSQL server of the bench's own, which share followers and
    /// saves; 0 for one server over a home
    #[arg(long, default_value_t = 0)]
    nodes: usize,
    /// The folder of PostgreSQL's programs
    #[arg(long, default_value = PROGRAMS)]
    programs: PathBuf,
    /// The folder for homes and the database; the system's temporary folder by default
    #[arg(long)]
    folder: Option<PathBuf>,
}

/// The servers that a bench follows, and the database below them.
struct FollowedServers {
    // Fields are dropped in their order: the servers end before the database does.
    servers: Vec<ChildServer>,
    _database: Option<BenchServer>,
    _folder: TempDir,
}

/// The results. Times are in milliseconds.
#[derive(Serialize)]
struct EventReport {
    followers: usize,
    events: usize,
    delivered: usize,
    lagged: usize,
    seconds: f64,
    /// From the request of a save to its response.
    save: LatencyRow,
    /// From the request of a save until a follower has read its event, which may be before the response.
    each: LatencyRow,
    /// Until the last follower has it.
    last: LatencyRow,
    server_resident_bytes: Option<u64>,
    server_anonymous_bytes: Option<u64>,
    machine: MachineProfile,
}

#[derive(Serialize)]
struct LatencyRow {
    p50_ms: f64,
    p95_ms: f64,
    p99_ms: f64,
    max_ms: f64,
}

impl LatencyRow {
    fn of(times: &[f64]) -> Self {
        let at = |percent| (percentile(times, percent) * 1e3).round() / 1e3;
        Self { p50_ms: at(50.0), p95_ms: at(95.0), p99_ms: at(99.0), max_ms: at(100.0) }
    }

    fn print(&self, what: &str) {
        let Self { p50_ms, p95_ms, p99_ms, max_ms } = self;
        print_line(&format!("{what:<32} {p50_ms:>9.3} {p95_ms:>9.3} {p99_ms:>9.3} {max_ms:>9.3}"));
    }
}

/// When a save was requested and answered.
struct TimedSave {
    requested: Instant,
    answered: Instant,
}

/// When one follower received the event of each save, in the order of the journal.
pub(super) struct FollowerLog {
    pub(super) times: Vec<Instant>,
    lagged: usize,
    /// Kept open, so that the server's memory is measured with all streams.
    _connection: TcpStream,
}

impl EventBench {
    /// Starts a server and its followers, saves, and checks the events of each follower.
    ///
    /// # Errors
    /// The error of the failing step, also if a follower did not get each event once and in order.
    pub(super) fn run(&self, as_json: bool) -> Result<()> {
        let FollowedServers { servers, .. } = &self.start()?;
        let begun = Instant::now();
        let (saves, logs) = self.measure(servers)?;
        let seconds = begun.elapsed().as_secs_f64();
        let pairs = |log: &FollowerLog| -> Vec<f64> {
            let pairs = saves.iter().zip(&log.times);
            pairs.map(|(save, read)| super::millis(read.duration_since(save.requested))).collect()
        };
        let answered = |save: &TimedSave| super::millis(save.answered - save.requested);
        let each: Vec<Vec<f64>> = logs.iter().map(pairs).collect();
        let last: Vec<f64> = (0..self.events)
            .map(|event| each.iter().map(|times| times[event]).fold(0.0, f64::max))
            .collect();
        let report = EventReport {
            followers: self.followers,
            events: self.events,
            delivered: logs.iter().map(|log| log.times.len()).sum(),
            lagged: logs.iter().map(|log| log.lagged).sum(),
            seconds,
            save: LatencyRow::of(&saves.iter().map(answered).collect::<Vec<_>>()),
            each: LatencyRow::of(&each.concat()),
            last: LatencyRow::of(&last),
            server_resident_bytes: bytes_of(servers, "VmRSS:"),
            server_anonymous_bytes: bytes_of(servers, "RssAnon:"),
            machine: MachineProfile::detect_machine(),
        };
        match as_json {
            true => output::print_json(&json!(report)),
            false => report.print(self),
        }
        Ok(())
    }

    /// Starts the servers.
    fn start(&self) -> Result<FollowedServers> {
        let folder = super::bench_folder(self.folder.as_ref())?;
        let streams = self.followers.to_string();
        let database = match self.nodes {
            0 => None,
            _ => Some(BenchServer::start(&self.programs, folder.path())?),
        };
        let address = database.as_ref().map(|server| server.create("events")).transpose()?;
        let start = |number: usize| {
            let home = folder.path().join(format!("home-{number}"));
            let arguments = ["serve", "--port", "0", "--streams", &*streams];
            let mut serve = program_command(&home, &arguments)?;
            // Background embedding would take a core from the measurement.
            serve.env("COMMONBOOK_EMBEDDER", "off");
            serve.envs(address.iter().map(|address| ("COMMONBOOK_DATABASE", address)));
            ChildServer::run(serve)
        };
        let servers = (0..self.nodes.max(1)).map(start).collect::<Result<_>>()?;
        Ok(FollowedServers { servers, _database: database, _folder: folder })
    }

    /// The times of each save, and the events of each follower.
    fn measure(&self, servers: &[ChildServer]) -> Result<(Vec<TimedSave>, Vec<FollowerLog>)> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| step_error("the followers cannot be run", error))?;
        let mut connections = Vec::with_capacity(self.followers);
        for (number, server) in servers.iter().enumerate() {
            let address: SocketAddr = server
                .url()
                .trim_start_matches("http://")
                .parse()
                .map_err(|error| step_error("the server's address is none", error))?;
            let request = |follower| {
                format!(
                    "GET /events/stream HTTP/1.1\r\nHost: {address}\r\n\
                     X-Commonbook-Agent: follower-{number}-{follower}\r\n\
                     X-Commonbook-Workspace: {WORKSPACE}\r\n\r\n"
                )
            };
            let left = self.followers - connections.len();
            let share = left.div_ceil(servers.len() - number);
            connections.extend(runtime.block_on(open_streams(address, share, request))?);
        }
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| self.save(servers));
            let told = runtime.block_on(self.follow(connections));
            let saves =
                writer.join().unwrap_or_else(|_| Err(follower_error("the writer panicked")));
            Ok((saves?, told?))
        })
    }

    async fn follow(&self, connections: Vec<TcpStream>) -> Result<Vec<FollowerLog>> {
        let (mut followers, mut all) = (JoinSet::new(), Vec::new());
        for connection in connections {
            followers.spawn(read_stream(connection, 0, self.events));
        }
        while let Some(told) = followers.join_next().await {
            all.push(told.map_err(|error| step_error("a follower panicked", error))??);
        }
        Ok(all)
    }

    /// Saves one memory after the other, at each server in turn.
    fn save(&self, servers: &[ChildServer]) -> Result<Vec<TimedSave>> {
        let pause = Duration::from_secs(1).checked_div(self.rate).unwrap_or_default();
        let begun = Instant::now();
        let bar = super::bench_progress_bar("saving", self.events);
        let mut saves = Vec::with_capacity(self.events);
        for number in 0..self.events {
            let due = begun + pause * u32::try_from(number).unwrap_or(u32::MAX);
            std::thread::park_timeout(due.saturating_duration_since(Instant::now()));
            let body =
                json!({"text": format!("What happened as number {number}"), "topics": ["bench"]});
            let server = &servers[number % servers.len()];
            let requested = Instant::now();
            let (status, answer) =
                server.call("POST", "/v1/memories", "writer", WORKSPACE, &body)?;
            saves.push(TimedSave { requested, answered: Instant::now() });
            if status != 201 {
                return Err(follower_error(&format!("{status}: {answer}")));
            }
            bar.inc(1);
        }
        bar.finish_and_clear();
        Ok(saves)
    }
}

/// Opens this number of streams, each with its request, and waits for the head of each response.
///
/// # Errors
/// `unavailable` if a stream does not open; `internal` with the head of another response than 200.
pub(super) async fn open_streams(
    address: SocketAddr,
    count: usize,
    request: impl Fn(usize) -> String,
) -> Result<Vec<TcpStream>> {
    let bar = super::bench_progress_bar("connecting followers", count);
    let mut connections = Vec::with_capacity(count);
    for follower in 0..count {
        let failed = |error| step_error("a follower cannot connect", error);
        let mut connection = TcpStream::connect(address).await.map_err(failed)?;
        connection.write_all(request(follower).as_bytes()).await.map_err(failed)?;
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(connection.read_u8().await.map_err(failed)?);
        }
        if !head.starts_with(b"HTTP/1.1 200") {
            return Err(follower_error(&String::from_utf8_lossy(&head)));
        }
        connections.push(connection);
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(connections)
}

/// Reads one stream until it has told of this number of saved memories after the sequence `after`, with every
/// event once and in order.
///
/// # Errors
/// `unavailable` if an event does not come; `internal` if one is missing.
pub(super) async fn read_stream(
    mut connection: TcpStream,
    after: usize,
    saves: usize,
) -> Result<FollowerLog> {
    let (mut times, mut lagged, mut last) = (Vec::with_capacity(saves), 0, after);
    let (mut buffer, mut begun) = (vec![0; 16 * 1024], Vec::new());
    while times.len() < saves {
        let read = timeout(EVENT_TIMEOUT, connection.read(&mut buffer)).await;
        let read = read.map_err(|error| step_error("an event did not come", error))?;
        let read = read.map_err(|error| step_error("a stream broke off", error))?;
        if read == 0 {
            return Err(follower_error("a stream ended before its last event"));
        }
        let now = Instant::now();
        begun.extend_from_slice(&buffer[..read]);
        let whole = begun.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        for line in begun[..whole].split(|byte| *byte == b'\n') {
            if let Some(id) = line.strip_prefix(b"id: ") {
                last += 1;
                // Over a database the history of the journal follows.
                if id.split(|byte| *byte == b'.').next() != Some(last.to_string().as_bytes()) {
                    let id = String::from_utf8_lossy(id);
                    return Err(follower_error(&format!("event {id} came where {last} was due")));
                }
            }
            // The first save of an agent begins its session, which is an event too.
            if line == b"event: memory.saved" {
                times.push(now);
            }
            lagged += usize::from(line == b"event: lagged");
        }
        begun.drain(..whole);
    }
    Ok(FollowerLog { times, lagged, _connection: connection })
}

/// A line of the status of these servers' processes, in bytes, all together.
fn bytes_of(servers: &[ChildServer], what: &str) -> Option<u64> {
    servers.iter().map(|server| process_bytes(server.process_id(), what)).sum()
}

fn follower_error(what: &str) -> Error {
    Error::new(ErrorKind::Internal, what)
}

impl EventReport {
    fn print(&self, bench: &EventBench) {
        let pace = match bench.rate {
            0 => "each as soon as the one before was answered".to_owned(),
            rate => format!("{rate} a second"),
        };
        let servers = match bench.nodes {
            0 => "one server over a home".to_owned(),
            nodes => format!("{nodes} servers over PostgreSQL, with an equal share of both"),
        };
        print_line(&format!(
            "data      {} followers over HTTP, {} saves over REST by one writer, {pace}; {servers}; \
             all on the same machine",
            self.followers, self.events
        ));
        self.machine.print();
        print_line(&format!(
            "told      {} times of a save in {:.1} s, every event once and in order; {} times a reader lagged",
            self.delivered, self.seconds, self.lagged
        ));
        if let (Some(resident), Some(anonymous)) =
            (self.server_resident_bytes, self.server_anonymous_bytes)
        {
            let megabytes = |bytes: u64| bytes as f64 / 1e6;
            print_line(&format!(
                "memory    the servers have {:.0} MB with all streams open, {:.0} MB of it not of files",
                megabytes(resident),
                megabytes(anonymous)
            ));
        }
        print_line(&format!(
            "\n{:<32} {:>9} {:>9} {:>9} {:>9}",
            "ms from the request of a save", "p50", "p95", "p99", "max"
        ));
        self.save.print("to its response");
        self.each.print("to each follower");
        self.last.print("to the last of all followers");
    }
}
