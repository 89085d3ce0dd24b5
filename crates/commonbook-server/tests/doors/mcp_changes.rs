//! Subscriptions, progress and cancellation.

use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;
use std::sync::mpsc::channel;
use std::time::Duration;

use commonbook::store::Store;
use commonbook::store::sqlite::SqliteStore;
use rmcp::model::{
    CallToolRequestParams, ServerNotification, SubscribeRequestParams, SubscriptionFilter,
    UnsubscribeRequestParams,
};
use rmcp::service::{ServiceError, Subscription};
use serde_json::{Value, json};

use crate::doors::tokens::token;
use crate::world::{Client, Door, Home, Mcp, Server, new_text};

/// How a client receives changes: in its session, or on a stream that it requested.
enum Hearing {
    Session,
    Stream(Box<Subscription>),
}

impl Hearing {
    /// Subscribes to these resources in the way of the era.
    #[expect(deprecated, reason = "the era of sessions subscribes so")]
    async fn to(mcp: &Mcp<'_>, client: &Client, uris: &[String]) -> Self {
        if mcp.is_stateless() {
            let filter =
                SubscriptionFilter::builder().resource_subscriptions(uris.to_vec()).build();
            return Self::Stream(Box::new(client.listen(filter).await.unwrap()));
        }
        for uri in uris {
            client.subscribe(SubscribeRequestParams::new(uri.clone())).await.unwrap();
        }
        Self::Session
    }

    /// The URI of the next notification.
    async fn next(&mut self, client: &mut Client) -> String {
        let uri = async {
            match self {
                Self::Session => client.updates.recv().await.unwrap(),
                Self::Stream(stream) => match stream.next().await.unwrap().unwrap() {
                    ServerNotification::ResourceUpdatedNotification(notification) => {
                        notification.params.uri
                    }
                    other => panic!("{other:?}"),
                },
            }
        };
        tokio::time::timeout(Duration::from_secs(60), uri).await.expect("no notification arrived")
    }
}

fn saved(door: &dyn Door, text: &str, sharing: &str) -> (Value, String) {
    let fields = json!({"text": text, "sharing": sharing});
    let id = door.call("ann", "save_memory", &fields).unwrap()["memory"]["id"].clone();
    let uri = format!("commonbook://memory/{}", id.as_str().unwrap());
    (id, uri)
}

fn change(door: &dyn Door, id: &Value, mut fields: Value) {
    fields["id"] = id.clone();
    door.call("ann", "update_memory", &fields).unwrap();
}

#[test]
fn a_subscriber_receives_changes_by_any_process_while_it_may_read() {
    let home = Home::new();
    let server = Server::start(&home);
    // For the first server, its writes come from another process.
    let other = Server::start(&home);
    for mcp in Mcp::every_way(&home, &server) {
        let way = mcp.way();
        let (hidden, hidden_uri) = saved(&server, "soon private", "shared");
        let (open, open_uri) = saved(&server, "open", "shared");
        mcp.with("bob", async |client| {
            let uris = [hidden_uri.clone(), open_uri.clone()];
            let mut hearing = Hearing::to(&mcp, client, &uris).await;
            change(&server, &open, json!({"text": "open one"}));
            assert_eq!(hearing.next(client).await, open_uri, "{way}: by the server");
            change(&other, &hidden, json!({"text": "still shared"}));
            assert_eq!(hearing.next(client).await, hidden_uri, "{way}: by another process");
            change(&other, &hidden, json!({"sharing": "private"}));
            change(&other, &hidden, json!({"text": "bob must not know"}));
            change(&other, &open, json!({"text": "open two"}));
            assert_eq!(hearing.next(client).await, open_uri, "{way}: nothing of the private one");
        });
    }
}

#[test]
fn a_subscriber_receives_no_change_of_an_invisible_memory() {
    let home = Home::new();
    let server = Server::start(&home);
    for mcp in Mcp::every_way(&home, &server) {
        let way = mcp.way();
        let (private, private_uri) = saved(&server, "mine alone", "private");
        let (open, open_uri) = saved(&server, "open", "shared");
        mcp.with("bob", async |client| {
            let mut uris = vec![open_uri.clone()];
            if mcp.is_stateless() {
                // A stream does not say whether such a resource exists.
                uris.push(private_uri.clone());
            } else {
                #[expect(deprecated, reason = "the era of sessions subscribes so")]
                let refused =
                    client.subscribe(SubscribeRequestParams::new(private_uri.clone())).await;
                let Err(ServiceError::McpError(error)) = refused else { panic!("{way}") };
                assert_eq!(error.code.0, -32002, "{way}");
            }
            let mut hearing = Hearing::to(&mcp, client, &uris).await;
            change(&server, &private, json!({"text": "bob must not know"}));
            change(&server, &open, json!({"text": "open one"}));
            assert_eq!(hearing.next(client).await, open_uri, "{way}");
        });
    }
}

#[test]
fn agents_and_statistics_notify_until_the_subscription_ends() {
    let home = Home::new();
    let server = Server::start(&home);
    for mcp in [Mcp::over_stdio(&home), Mcp::over_http(&home, &server)] {
        let way = mcp.way();
        server.call("ann", "save_memory", &json!({"text": new_text()})).unwrap();
        mcp.with("bob", async |client| {
            let (agent, stats) = ("commonbook://agent/ann", "commonbook://stats");
            let mut hearing =
                Hearing::to(&mcp, client, &[agent.to_owned(), stats.to_owned()]).await;
            server.call("ann", "save_memory", &json!({"text": new_text()})).unwrap();
            let mut uris = [hearing.next(client).await, hearing.next(client).await];
            uris.sort();
            assert_eq!(uris, [agent, stats], "{way}");
            #[expect(deprecated, reason = "the era of sessions subscribes so")]
            client.unsubscribe(UnsubscribeRequestParams::new(agent)).await.unwrap();
            for _ in 0..2 {
                server.call("ann", "save_memory", &json!({"text": new_text()})).unwrap();
                assert_eq!(hearing.next(client).await, stats, "{way}");
            }
        });
    }
}

#[test]
fn a_stream_of_changes_ends_with_its_token() {
    let home = Home::new();
    let server = Server::start(&home);
    let ((rook, rook_id), (ann, _)) = (token(&home, &["rook"]), token(&home, &["ann"]));
    let who = format!("Bearer {ann}");
    let save = || {
        let headers = [("Authorization", who.as_str()), ("X-Commonbook-Workspace", "story")];
        let body = json!({"text": new_text()}).to_string();
        let saved = server.send("POST", "/v1/memories", &headers, body.as_bytes()).unwrap();
        assert_eq!(saved.0, 201, "{}", saved.1);
    };
    save();
    let mcp = Mcp::over_http(&home, &server).stateless().showing(&rook);
    mcp.with("client", async |client| {
        let stats = "commonbook://stats".to_owned();
        let mut hearing = Hearing::to(&mcp, client, std::slice::from_ref(&stats)).await;
        save();
        assert_eq!(hearing.next(client).await, stats);
        assert!(home.run(&["token", "revoke", &rook_id]).status.success());
        save();
        let Hearing::Stream(mut stream) = hearing else { panic!("it requested a stream") };
        let ended = tokio::time::timeout(Duration::from_secs(60), stream.next()).await;
        let ended = ended.expect("the stream does not end");
        assert!(!matches!(ended, Ok(Some(_))), "{ended:?}");
    });
}

#[test]
fn a_connection_has_a_hundred_subscriptions_at_the_most() {
    let home = Home::new();
    let server = Server::start(&home);
    let texts: Vec<Value> = (0..100).map(|place| json!({"text": format!("tea {place}")})).collect();
    let who = [("X-Commonbook-Agent", "ann"), ("X-Commonbook-Workspace", "story")];
    let body = json!(texts).to_string();
    let (_, kept) = server.send("POST", "/v1/memories", &who, body.as_bytes()).unwrap();
    let mut uris: Vec<String> = kept["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| format!("commonbook://memory/{}", item["memory"]["id"].as_str().unwrap()))
        .collect();
    Mcp::over_stdio(&home).with("bob", async |client| {
        #[expect(deprecated, reason = "the era of sessions subscribes so")]
        let subscribe = async |uri: &str| client.subscribe(SubscribeRequestParams::new(uri)).await;
        for uri in &uris {
            subscribe(uri).await.unwrap();
        }
        subscribe(&uris[0]).await.unwrap();
        let Err(ServiceError::McpError(error)) = subscribe("commonbook://stats").await else {
            panic!("a connection exceeds its limit")
        };
        assert_eq!(error.data.unwrap()["error"]["kind"], "too_large");
    });
    uris.push("commonbook://stats".to_owned());
    uris.insert(0, "file:///etc/passwd".to_owned());
    Mcp::over_stdio(&home).stateless().with("bob", async |client| {
        let filter = SubscriptionFilter::builder().resource_subscriptions(uris.clone()).build();
        let stream = client.listen(filter).await.unwrap();
        let accepted = stream.acknowledged().resource_subscriptions.clone().unwrap();
        assert_eq!(accepted, uris[1..=100]);
    });
}

#[test]
fn a_call_with_a_progress_token_gets_a_progress_notification() {
    let home = Home::new();
    let server = Server::start(&home);
    for mcp in Mcp::every_way(&home, &server) {
        mcp.with("bob", async |client| {
            let mut request = CallToolRequestParams::new("search_memory");
            request.arguments = json!({"query": "tea"}).as_object().cloned();
            client.call_tool(request).await.unwrap();
            let notification =
                tokio::time::timeout(Duration::from_secs(60), client.progress.recv());
            let notification =
                notification.await.unwrap_or_else(|_| panic!("{} tells none", mcp.way())).unwrap();
            let notification = (notification.progress, notification.message.as_deref());
            assert_eq!(notification, (0.0, Some("running")), "{}", mcp.way());
        });
    }
}

#[test]
fn a_client_that_closed_its_input_still_gets_its_responses() {
    let home = Home::new();
    let client = json!({"name": "client", "version": "1"});
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    let search = json!({"name": "search_memory", "arguments": {"query": "tea"},
        "_meta": {"progressToken": "p"}});
    let lines = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": search}),
    ];
    let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let output = home.feed(&["mcp"], lines.as_bytes());
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert!(stdout.lines().any(|line| line.contains(r#""id":2,"result""#)), "{stdout}");
}

/// Lines of JSON-RPC, to and from a client.
struct Lines<R, W> {
    from: R,
    to: W,
    /// Every line received.
    all: Vec<Value>,
}

impl<R: BufRead, W: Write> Lines<R, W> {
    fn say(&mut self, message: &Value) {
        writeln!(self.to, "{message}").unwrap();
    }

    /// Reads up to the first line that satisfies `is_it`.
    fn until(&mut self, is_it: impl Fn(&Value) -> bool) {
        loop {
            let mut line = String::new();
            assert!(self.from.read_line(&mut line).unwrap() > 0, "it ended: {:?}", self.all);
            let line: Value = serde_json::from_str(&line).unwrap();
            let found = is_it(&line);
            self.all.push(line);
            if found {
                return;
            }
        }
    }
}

#[test]
fn a_waiting_call_reports_progress_and_a_cancelled_one_gets_no_response() {
    let home = Home::new();
    // A store of this process, whose write makes those of others wait.
    let store = SqliteStore::open(&home.path().join("commonbook.db")).unwrap();
    let ((began, begun), (let_go, go)) = (channel(), channel::<()>());
    let writing = std::thread::spawn(move || {
        let store: &dyn Store = &*store;
        store
            .write(move |_| {
                began.send(()).unwrap();
                go.recv().unwrap();
                Ok(())
            })
            .unwrap();
    });
    begun.recv().unwrap();
    let mut command = home.program(&["mcp"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (to, from) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
    let mut lines = Lines { from, to, all: Vec::new() };
    let client = json!({"name": "client", "version": "1"});
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    lines.say(&json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}));
    lines.until(|line| line["id"] == 1);
    lines.say(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    let waiting = json!({"name": "save_memory", "arguments": {"text": "tea"},
        "_meta": {"progressToken": "p7"}});
    lines.say(&json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": waiting}));
    lines.until(|line| {
        let params = &line["params"];
        params["progressToken"] == "p7" && params["progress"].as_f64() >= Some(1.0)
    });
    let cancelled = json!({"requestId": 7, "reason": "enough"});
    lines.say(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled}));
    lines.say(&json!({"jsonrpc": "2.0", "id": 8, "method": "tools/list"}));
    lines.until(|line| line["id"] == 8);
    let_go.send(()).unwrap();
    writing.join().unwrap();
    let save = json!({"name": "save_memory", "arguments": {"text": "coffee"}});
    lines.say(&json!({"jsonrpc": "2.0", "id": 10, "method": "tools/call", "params": save}));
    lines.until(|line| line["id"] == 10);
    assert!(lines.all.iter().all(|line| line["id"] != 7), "{:?}", lines.all);
    drop(lines.to);
    assert!(child.wait().unwrap().success());
}
