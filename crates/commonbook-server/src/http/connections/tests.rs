//! Connections of slow clients, and of crowds of clients.

use std::net::{IpAddr, Ipv4Addr};

use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep};

use super::*;

const PEER: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
const OTHER: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 7));
const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n";

fn router() -> Router {
    Router::new().route("/", axum::routing::get(|| async { "tea" }))
}

/// A client; the server handles its connection while the second value lives.
async fn client() -> (DuplexStream, GracefulShutdown) {
    let (client, ours) = tokio::io::duplex(1024);
    let place =
        ConnectionLimiter::acquire_slot(&Arc::new(ConnectionLimiter::new(1)), PEER).await.unwrap();
    let open = GracefulShutdown::new();
    tokio::spawn(serve_connection(ours, router(), place, open.watcher()));
    (client, open)
}

/// Reads one response.
async fn answer(client: &mut (impl AsyncRead + Unpin)) -> String {
    let mut bytes = Vec::new();
    while !bytes.ends_with(b"tea") {
        match client.read_u8().await {
            Ok(byte) => bytes.push(byte),
            Err(_) => break,
        }
    }
    String::from_utf8(bytes).unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_connection_without_a_complete_head_in_time_is_closed() {
    for sent in [&b""[..], b"GET / HTTP/1.1\r\nHost: x\r\nX-Sl"] {
        let ((mut client, _open), begun) = (client().await, Instant::now());
        client.write_all(sent).await.unwrap();
        assert_eq!(answer(&mut client).await, "");
        assert_eq!(begun.elapsed().as_secs(), limits::HEAD_SECONDS);
    }
}

#[tokio::test(start_paused = true)]
async fn a_head_that_arrives_byte_by_byte_has_the_same_time_limit() {
    let ((mut client, _open), begun) = (client().await, Instant::now());
    while client.write_all(b"X").await.is_ok() {
        sleep(Duration::from_millis(500)).await;
        assert!(begun.elapsed().as_secs() <= limits::HEAD_SECONDS + 1, "it is still open");
    }
}

#[tokio::test(start_paused = true)]
async fn an_idle_connection_after_a_response_outlives_the_head_timeout() {
    let (mut client, _open) = client().await;
    for _ in 0..3 {
        client.write_all(REQUEST).await.unwrap();
        assert!(answer(&mut client).await.starts_with("HTTP/1.1 200"));
        sleep(Duration::from_secs(limits::HEAD_SECONDS * 6)).await;
    }
    // The time limit of the next head begins with its own first byte.
    let begun = Instant::now();
    client.write_all(b"GET").await.unwrap();
    assert_eq!(answer(&mut client).await, "");
    assert_eq!(begun.elapsed().as_secs(), limits::HEAD_SECONDS);
}

#[tokio::test]
async fn if_all_slots_are_taken_the_oldest_idle_connection_is_closed() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let stopping = CancellationToken::new();
    let serving = tokio::spawn(serve(listener, router(), 2, stopping.clone()));
    let mut idle = Vec::new();
    for _ in 0..2 {
        let mut client = TcpStream::connect(address).await.unwrap();
        client.write_all(REQUEST).await.unwrap();
        assert!(answer(&mut client).await.ends_with("tea"));
        idle.push(client);
    }
    let mut third = TcpStream::connect(address).await.unwrap();
    third.write_all(REQUEST).await.unwrap();
    assert!(answer(&mut third).await.ends_with("tea"));
    let mut rest = Vec::new();
    drop(idle[0].read_to_end(&mut rest).await);
    assert!(rest.is_empty(), "the oldest is closed");
    idle[1].write_all(REQUEST).await.unwrap();
    assert!(answer(&mut idle[1]).await.ends_with("tea"), "the other goes on");
    drop((idle, third));
    stopping.cancel();
    serving.await.unwrap();
}

#[tokio::test]
async fn unfinished_heads_make_room_for_complete_requests() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(serve(listener, router(), 8, CancellationToken::new()));
    let mut half_open = Vec::new();
    for _ in 0..20 {
        let mut client = TcpStream::connect(address).await.unwrap();
        client.write_all(b"GET / HT").await.unwrap();
        half_open.push(client);
    }
    let mut client = TcpStream::connect(address).await.unwrap();
    client.write_all(REQUEST).await.unwrap();
    assert!(answer(&mut client).await.ends_with("tea"));
}

#[tokio::test]
async fn another_machine_gets_half_of_the_slots_and_busy_connections_stay() {
    let limiter = Arc::new(ConnectionLimiter::new(4));
    let first = ConnectionLimiter::acquire_slot(&limiter, OTHER).await.unwrap();
    let second = ConnectionLimiter::acquire_slot(&limiter, OTHER).await.unwrap();
    let (first_request, second_request) =
        (RunningRequest::begin(&first.connection()), RunningRequest::begin(&second.connection()));
    assert!(ConnectionLimiter::acquire_slot(&limiter, OTHER).await.is_none(), "its share is busy");
    drop(second_request);
    let third = ConnectionLimiter::acquire_slot(&limiter, OTHER).await.unwrap();
    second.connection().wait_for_displacement().await;
    // This machine may take all slots; a client that comes when all are busy waits for one.
    let local = [
        ConnectionLimiter::acquire_slot(&limiter, PEER).await,
        ConnectionLimiter::acquire_slot(&limiter, PEER).await,
    ];
    let all = [&third].into_iter().chain(local.iter().flatten());
    let busy: Vec<RunningRequest> =
        all.map(|place| RunningRequest::begin(&place.connection())).collect();
    let waiting = tokio::spawn({
        let limiter = Arc::clone(&limiter);
        async move { ConnectionLimiter::acquire_slot(&limiter, PEER).await.is_some() }
    });
    tokio::task::yield_now().await;
    assert!(!waiting.is_finished());
    drop(first);
    drop(first_request);
    assert!(waiting.await.unwrap());
    drop(busy);
}
