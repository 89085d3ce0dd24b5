//! Webhooks against a real receiver: signatures, retries, dead letters, and where a delivery may go.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, Mac};
use serde_json::Value;
use sha2::Sha256;

use crate::doors::tokens::token;
use crate::world::{Home, Server};

/// How long a test waits for a delivery before it has failed.
const DELIVERY_TIMEOUT: Duration = Duration::from_secs(60);

/// A request that arrived at a receiver, which is not answered yet.
pub(crate) struct Arrival {
    path: String,
    headers: Vec<(String, String)>,
    body: String,
    stream: TcpStream,
}

impl Arrival {
    fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str()).unwrap_or_default()
    }

    fn id(&self) -> &str {
        self.header("webhook-id")
    }

    /// The event in the body.
    pub(crate) fn event(&self) -> Value {
        serde_json::from_str::<Value>(&self.body).unwrap()["data"].clone()
    }

    /// Verifies the signature as the specification says a receiver does.
    fn verify(&self, secret: &str) {
        let key = STANDARD.decode(secret.strip_prefix("whsec_").unwrap()).unwrap();
        let signed = format!("{}.{}.{}", self.id(), self.header("webhook-timestamp"), self.body);
        let (version, signature) = self.header("webhook-signature").split_once(',').unwrap();
        assert_eq!(version, "v1");
        let tag = Hmac::<Sha256>::new_from_slice(&key).unwrap().chain_update(signed);
        tag.verify_slice(&STANDARD.decode(signature).unwrap()).unwrap();
        let seconds: i64 = self.header("webhook-timestamp").parse().unwrap();
        assert!(seconds > 1_600_000_000, "{seconds}");
    }

    pub(crate) fn answer(self, status: &str) {
        self.answer_with(status, "");
    }

    fn answer_with(mut self, status: &str, headers: &str) {
        let answer = format!("HTTP/1.1 {status}\r\n{headers}Content-Length: 0\r\n\r\n");
        // The sender of a killed server is gone.
        drop(self.stream.write_all(answer.as_bytes()));
    }
}

/// A receiver of webhooks on this machine.
pub(crate) struct HttpReceiver {
    pub(crate) url: String,
    arrivals: Receiver<Arrival>,
}

impl HttpReceiver {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/events?key=1", listener.local_addr().unwrap());
        let (sender, arrivals) = channel();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let sender = sender.clone();
                std::thread::spawn(move || read_request(stream.unwrap(), &sender));
            }
        });
        Self { url, arrivals }
    }

    /// Waits for the next request.
    pub(crate) fn next(&self) -> Arrival {
        self.arrivals.recv_timeout(DELIVERY_TIMEOUT).unwrap()
    }

    /// Whether nothing has arrived beyond what was taken.
    fn is_quiet(&self) -> bool {
        self.arrivals.try_recv().is_err()
    }
}

fn read_request(stream: TcpStream, sender: &Sender<Arrival>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let line = |reader: &mut BufReader<TcpStream>| {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    };
    let first = line(&mut reader);
    let mut headers = Vec::new();
    loop {
        let header = line(&mut reader);
        let Some((name, value)) = header.split_once(": ") else { break };
        headers.push((name.to_lowercase(), value.to_owned()));
    }
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let mut body = vec![0; length.map_or(0, |(_, length)| length.parse().unwrap())];
    reader.read_exact(&mut body).unwrap();
    assert!(first.starts_with("POST "), "{first}");
    let path = first.split(' ').nth(1).unwrap().to_owned();
    let body = String::from_utf8(body).unwrap();
    // The test may be over.
    drop(sender.send(Arrival { path, headers, body, stream }));
}

/// A server whose webhooks try again at once.
pub(crate) fn hasty_server(home: &Home) -> Server {
    Server::of(home, &["--webhook-delay", "1"])
}

/// The JSON that a command prints.
fn json_of(home: &Home, arguments: &[&str]) -> Value {
    let output = home.run(&[arguments, &["--json"]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// What the command prints of a test message; it fails if the receiver did not accept it.
fn tested(home: &Home, id: &str) -> Value {
    let output = home.run(&["webhook", "test", id, "--json"]);
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["accepted"], output.status.success(), "{found}");
    found
}

/// Adds a webhook; returns its id and its secret.
pub(crate) fn add(home: &Home, url: &str, further: &[&str]) -> (String, String) {
    let added = json_of(home, &[&["webhook", "add", url, "--allow-private"], further].concat());
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    (text(&added["webhook"]["id"]), text(&added["secret"]))
}

/// Saves a memory; returns its id.
fn save(home: &Home, agent: &str, text: &str, further: &[&str]) -> Value {
    let saved = json_of(home, &[&["save", text, "--agent", agent], further].concat());
    saved["memory"]["id"].clone()
}

/// What a command says on standard error when it fails.
fn refusal(home: &Home, arguments: &[&str]) -> String {
    let output = home.run(arguments);
    assert!(!output.status.success(), "{arguments:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn a_delivery_is_signed_tried_again_and_shows_nothing_hidden() {
    let home = Home::new();
    let _server = hasty_server(&home);
    let receiver = HttpReceiver::start();
    let filter = ["--events", "memory.*"];
    let (id, secret) = add(&home, &receiver.url, &filter);
    save(&home, "crow", "The private plan of crow", &["--private"]);
    let shared = save(&home, "ann", "The gate is blue", &[]);
    let mut ids = Vec::new();
    for status in ["500 Internal Server Error", "503 Service Unavailable", "200 OK"] {
        let arrival = receiver.next();
        arrival.verify(&secret);
        assert_eq!(
            (arrival.path.as_str(), &arrival.event()["subject"]),
            ("/events?key=1", &shared)
        );
        assert_eq!(arrival.header("content-type"), "application/json");
        assert!(arrival.header("user-agent").starts_with("commonbook/"));
        assert!(!arrival.body.contains("crow") && !arrival.body.contains("blue"));
        ids.push(arrival.id().to_owned());
        arrival.answer(status);
    }
    assert!(ids.iter().all(|each| *each == ids[0]), "{ids:?}");
    save(&home, "crow", "Another private plan", &["--private"]);
    let next = save(&home, "ann", "The lamp is on", &[]);
    let arrival = receiver.next();
    arrival.verify(&secret);
    assert_eq!(arrival.event()["subject"], next);
    assert_ne!(arrival.id(), ids[0]);
    arrival.answer("204 No Content");
    let listed = home.run(&["webhook", "list"]);
    let listed = String::from_utf8(listed.stdout).unwrap();
    assert!(listed.contains(&receiver.url) && listed.contains("human in "), "{listed}");
    assert!(listed.contains("memory.*") && !listed.contains(&secret), "{listed}");
    let removed = home.run(&["webhook", "remove", &id]);
    assert!(String::from_utf8(removed.stdout).unwrap().contains("Removed"));
    assert!(receiver.is_quiet());
}

#[test]
fn a_private_address_is_refused_unless_a_person_allows_it() {
    let home = Home::new();
    let receiver = HttpReceiver::start();
    let port = receiver.url.split([':', '/']).nth(4).unwrap().to_owned();
    for host in
        ["127.0.0.1", "localhost", "[::1]", "10.0.0.8", "169.254.169.254", "[fd00:ec2::254]"]
    {
        for scheme in ["http", "https"] {
            let error = refusal(&home, &["webhook", "add", &format!("{scheme}://{host}:{port}/")]);
            assert!(error.contains("private address"), "{host}: {error}");
            assert!(error.contains("--allow-private"), "{host}: {error}");
        }
    }
    let error = refusal(&home, &["webhook", "add", "http://example.com/"]);
    assert!(error.contains("expected https"), "{error}");
    // What the URL does not show is found when a delivery connects.
    let odd = format!("https://127.1:{port}/");
    let added = json_of(&home, &["webhook", "add", &odd]);
    let id = added["webhook"]["id"].as_str().unwrap();
    let tested = tested(&home, id);
    assert_eq!(tested["accepted"], false);
    let failure = tested["failure"].as_str().unwrap();
    assert!(failure.contains("address"), "{failure}");
    assert!(receiver.is_quiet(), "nothing was connected to");
    assert_eq!(json_of(&home, &["webhook", "list"])["items"].as_array().unwrap().len(), 1);
}

#[test]
fn a_test_message_is_signed_and_a_redirect_is_not_followed() {
    let home = Home::new();
    let receiver = HttpReceiver::start();
    let (id, secret) = add(&home, &receiver.url, &[]);
    let (first, second) = std::thread::scope(|scope| {
        let first = scope.spawn(|| tested(&home, &id));
        let arrival = receiver.next();
        arrival.verify(&secret);
        assert!(arrival.body.contains("\"type\":\"webhook.test\""), "{}", arrival.body);
        arrival.answer("202 Accepted");
        let first = first.join().unwrap();
        let second = scope.spawn(|| tested(&home, &id));
        let elsewhere = format!("Location: {}\r\n", receiver.url.replace("events", "moved"));
        receiver.next().answer_with("307 Temporary Redirect", &elsewhere);
        (first, second.join().unwrap())
    });
    assert_eq!((&first["accepted"], &first["status"]), (&Value::Bool(true), &Value::from(202)));
    assert_eq!(second["failure"], "answered 307; redirects are not followed");
    assert!(receiver.is_quiet());
}

#[test]
fn a_dead_letter_is_listed_and_sent_again_by_hand() {
    let home = Home::new();
    let _server = hasty_server(&home);
    let receiver = HttpReceiver::start();
    let (id, secret) = add(&home, &receiver.url, &["--events", "memory.saved"]);
    let lost = save(&home, "ann", "The gate is blue", &[]);
    let next = save(&home, "ann", "The gate is red", &[]);
    let mut first = None;
    for _ in 0..8 {
        let arrival = receiver.next();
        assert_eq!(arrival.event()["subject"], lost, "the later event waits");
        first.get_or_insert_with(|| arrival.id().to_owned());
        arrival.answer("500 Internal Server Error");
    }
    // The next event arrives after the dead letter is stored.
    let arrival = receiver.next();
    assert_eq!(arrival.event()["subject"], next);
    arrival.answer("200 OK");
    let shown = json_of(&home, &["webhook", "show", &id]);
    let letters = shown["dead_letters"].as_array().unwrap();
    assert_eq!((letters.len(), &letters[0]["attempts"]), (1, &Value::from(8)));
    assert_eq!(letters[0]["failure"], "answered 500");
    let text = String::from_utf8(home.run(&["webhook", "show", &id]).stdout).unwrap();
    assert!(text.contains("dead letter") && text.contains("answered 500"), "{text}");
    let retried = std::thread::scope(|scope| {
        let retry = scope.spawn(|| json_of(&home, &["webhook", "retry", &id]));
        let arrival = receiver.next();
        arrival.verify(&secret);
        assert_eq!(Some(arrival.id()), first.as_deref(), "its receiver knows it again");
        assert_eq!(arrival.event()["subject"], lost);
        arrival.answer("200 OK");
        retry.join().unwrap()
    });
    assert_eq!(retried["items"][0]["outcome"], "delivered");
    assert_eq!(retried["webhook"]["dead_letters"], 0);
    assert_eq!(json_of(&home, &["webhook", "show", &id])["dead_letters"], serde_json::json!([]));
}

#[test]
fn a_slow_receiver_delays_no_other() {
    let home = Home::new();
    let _server = hasty_server(&home);
    let (slow, quick) = (HttpReceiver::start(), HttpReceiver::start());
    add(&home, &slow.url, &["--events", "memory.saved"]);
    add(&home, &quick.url, &["--events", "memory.saved"]);
    let first = save(&home, "ann", "The gate is blue", &[]);
    let held = slow.next();
    for text in ["The gate is red", "The gate is green"] {
        save(&home, "ann", text, &[]);
    }
    assert_eq!(held.event()["subject"], first);
    for _ in 0..3 {
        quick.next().answer("200 OK");
    }
    assert!(slow.is_quiet(), "its later events wait for the first");
    held.answer("200 OK");
    assert_ne!(slow.next().event()["subject"], first);
}

#[test]
fn an_event_that_a_killed_server_did_not_settle_arrives_again_under_its_id() {
    let home = Home::new();
    let receiver = HttpReceiver::start();
    let server = hasty_server(&home);
    let (_, secret) = add(&home, &receiver.url, &["--events", "memory.saved"]);
    let saved = save(&home, "ann", "The gate is blue", &[]);
    let first = receiver.next();
    // The receiver has the event, and the server has no answer: it dies with SIGKILL.
    drop(server);
    first.verify(&secret);
    let id = first.id().to_owned();
    first.answer("200 OK");
    let _next = hasty_server(&home);
    let again = receiver.next();
    again.verify(&secret);
    assert_eq!((again.id(), &again.event()["subject"]), (id.as_str(), &saved));
    again.answer("200 OK");
    let later = save(&home, "ann", "The gate is red", &[]);
    assert_eq!(receiver.next().event()["subject"], later, "and only once more");
}

#[test]
fn one_of_two_servers_delivers_and_the_other_takes_over() {
    let home = Home::new();
    let receiver = HttpReceiver::start();
    add(&home, &receiver.url, &["--events", "memory.saved"]);
    let servers = [hasty_server(&home), hasty_server(&home)];
    for text in ["one", "two", "three"] {
        save(&home, "ann", text, &[]);
    }
    let (mut sequences, mut last) = (Vec::new(), String::new());
    for _ in 0..3 {
        let arrival = receiver.next();
        arrival.id().clone_into(&mut last);
        sequences.push(arrival.event()["sequence"].as_u64().unwrap());
        arrival.answer("200 OK");
    }
    assert!(sequences.is_sorted_by(|a, b| a < b), "each once, in order: {sequences:?}");
    let [first, second] = servers;
    drop(first);
    let left = save(&home, "ann", "four", &[]);
    let mut arrival = receiver.next();
    // The killed server may have had no time to note the last answer.
    if arrival.id() == last {
        arrival.answer("200 OK");
        arrival = receiver.next();
    }
    assert_eq!(arrival.event()["subject"], left);
    arrival.answer("200 OK");
    drop(second);
    assert!(receiver.is_quiet());
}

#[test]
fn a_webhook_of_a_token_sees_what_its_agent_sees_and_ends_with_it() {
    let home = Home::new();
    let receiver = HttpReceiver::start();
    let (_, token_id) = token(&home, &["rook"]);
    let _server = hasty_server(&home);
    let filter = ["--token-id", &token_id, "--events", "memory.saved"];
    let (id, _) = add(&home, &receiver.url, &filter);
    let shown = json_of(&home, &["webhook", "show", &id]);
    assert_eq!(shown["webhook"]["agent"], "rook");
    save(&home, "ann", "The private plan of ann", &["--private"]);
    let own = save(&home, "rook", "The private plan of rook", &["--private"]);
    let arrival = receiver.next();
    assert_eq!(arrival.event()["subject"], own);
    arrival.answer("200 OK");
    assert!(home.run(&["token", "revoke", &token_id]).status.success());
    save(&home, "rook", "Another private plan of rook", &["--private"]);
    let error = refusal(&home, &["webhook", "retry", &id]);
    assert!(error.contains("the token was revoked"), "{error}");
    // A webhook that hears the next event proves that the first one had its turn.
    let witness = HttpReceiver::start();
    let (_, witness_id) = token(&home, &["rook"]);
    add(&home, &witness.url, &["--token-id", &witness_id, "--events", "memory.saved"]);
    save(&home, "rook", "A third private plan of rook", &["--private"]);
    witness.next().answer("200 OK");
    assert!(receiver.is_quiet());
}
