//! An endpoint embedder against a loopback server.

use std::io::Read as _;
use std::net::TcpListener;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use super::super::tests::keeps_the_laws;
use super::*;
use crate::client::loopback;
use crate::client::loopback::{LoopbackRequest, LoopbackResponse};

const KEY: &str = "sk-very-secret";

/// Starts a server; returns the address of its model `m`, and the requests as they arrive.
fn serve(
    reply: impl FnMut(&LoopbackRequest) -> LoopbackResponse + Send + 'static,
) -> (EmbeddingAddress, mpsc::Receiver<LoopbackRequest>) {
    let (base, requests) = loopback::serve(reply).unwrap();
    (format!("{base}#m").parse().unwrap(), requests)
}

/// One vector of three numbers for each text, in reverse order, which contains the length of the text.
fn vectors(request: &LoopbackRequest) -> LoopbackResponse {
    let texts = request.body["input"].as_array().unwrap();
    let data = texts.iter().enumerate().rev();
    let data: Vec<Value> = data
        .map(|(index, text)| {
            let length = text.as_str().unwrap().len();
            json!({ "object": "embedding", "index": index, "embedding": [length, 1, 0.5] })
        })
        .collect();
    LoopbackResponse::With(
        200,
        "",
        json!({ "object": "list", "data": data, "model": "m" }).to_string(),
    )
}

fn item(embedding: &Value) -> LoopbackResponse {
    LoopbackResponse::With(
        200,
        "",
        json!({ "data": [{ "index": 0, "embedding": embedding }] }).to_string(),
    )
}

fn quick() -> RetryPolicy {
    let short = Duration::from_millis(300);
    let pause = Duration::from_millis(1);
    let pause_most = Duration::from_secs(2);
    RetryPolicy { texts: short, question: short, pause, pause_most, ..RetryPolicy::default() }
}

fn with_key(address: EmbeddingAddress) -> EmbeddingAddress {
    EmbeddingAddress { at: address.at.with_key(Some(KEY)).unwrap(), ..address }
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(ToString::to_string).collect()
}

/// An endpoint of three numbers with these responses.
fn endpoint(
    reply: impl FnMut(&LoopbackRequest) -> LoopbackResponse + Send + 'static,
) -> (EndpointEmbedder, mpsc::Receiver<LoopbackRequest>) {
    let (address, requests) = serve(reply);
    (EndpointEmbedder::with_dimension(with_key(address), 3, quick()), requests)
}

/// Checks that an error is `unavailable` with these words, and without the key.
fn assert_unavailable(error: &EmbedError, words: &str) {
    assert_eq!(error.kind, EmbedErrorKind::Unavailable);
    assert!(error.message.contains(words), "{}", error.message);
    assert!(error.hint.is_some());
    assert!(!format!("{error:?}").contains(KEY), "{error:?}");
}

#[test]
fn laws() {
    let (address, _requests) = serve(vectors);
    keeps_the_laws(&EndpointEmbedder::connect(address).unwrap());
}

#[test]
fn texts_go_in_batches_and_come_back_in_order() {
    let (endpoint, requests) = endpoint(vectors);
    let many: Vec<String> = (1..=150).map(|length| "x".repeat(length)).collect();
    let vectors = endpoint.embed(&many).unwrap();
    for (vector, text) in vectors.iter().zip(&many) {
        let length = vector[0] / vector[1];
        assert!((length - text.len() as f32).abs() < 0.01, "{length}");
    }
    let sizes: Vec<_> = requests
        .try_iter()
        .map(|request| request.body["input"].as_array().unwrap().len())
        .collect();
    assert_eq!(sizes, [64, 64, 22]);
}

#[test]
fn large_texts_go_in_smaller_batches() {
    let large = "x".repeat(REQUEST_BYTES_MAX / 2);
    let all = texts(&["a", &large, &large, "b", &"y".repeat(REQUEST_BYTES_MAX * 2), "c"]);
    let sizes: Vec<usize> = request_batches(&all).iter().map(Vec::len).collect();
    assert_eq!(sizes, [2, 2, 1, 1]);
    assert!(request_batches(&[]).is_empty());
}

#[test]
fn the_request_has_the_openai_format() {
    let (mut address, requests) = serve(vectors);
    address.dimensions = Some(3);
    let endpoint = EndpointEmbedder::connect(with_key(address)).unwrap();
    endpoint.embed_query("one").unwrap();
    let request = requests.recv().unwrap();
    assert!(request.head.starts_with("POST /v1/embeddings HTTP/1.1\r\n"), "{}", request.head);
    assert!(request.head.to_lowercase().contains(&format!("authorization: bearer {KEY}")));
    let body = json!({
        "model": "m", "input": ["one"], "encoding_format": "float", "dimensions": 3
    });
    assert_eq!(request.body, body);
    assert_eq!(endpoint.spec().dimension, 3);
    assert!(!format!("{endpoint:?}").contains(KEY));
}

#[test]
fn the_first_response_determines_the_dimension() {
    let (address, _requests) = serve(vectors);
    let endpoint = EndpointEmbedder::connect(address).unwrap();
    let spec = ModelSpec { model: "m".into(), revision: "endpoint".into(), dimension: 3 };
    assert_eq!(endpoint.spec(), &spec);
    let (address, _requests) = serve(|_| item(&json!([])));
    let error = EndpointEmbedder::connect(address).unwrap_err();
    assert_unavailable(&error, "a vector of 0 numbers");
}

#[test]
fn a_busy_endpoint_is_retried() {
    for status in [408, 429, 500, 503] {
        let mut calls = 0;
        let (endpoint, requests) = endpoint(move |request| {
            calls += 1;
            if calls < 3 {
                LoopbackResponse::With(status, "", String::new())
            } else {
                vectors(request)
            }
        });
        endpoint.embed(&texts(&["a"])).unwrap();
        assert_eq!(requests.try_iter().count(), 3, "{status}");
    }
}

#[test]
fn at_most_three_attempts_are_made() {
    let body = json!({ "error": { "message": format!("overloaded\n for {KEY}") } }).to_string();
    let (endpoint, requests) = endpoint(move |_| LoopbackResponse::With(503, "", body.clone()));
    let error = endpoint.embed(&texts(&["a"])).unwrap_err();
    assert_unavailable(&error, "answered 503: overloaded for (the key)");
    assert_eq!(requests.try_iter().count(), 3);
    endpoint.embed_query("a").unwrap_err();
    assert_eq!(requests.try_iter().count(), 1);
}

#[test]
fn a_permanent_error_is_not_retried() {
    for status in [301, 400, 401, 404] {
        let (endpoint, requests) = endpoint(move |_| {
            LoopbackResponse::With(status, "Location: /elsewhere\r\n", "no".into())
        });
        let error = endpoint.embed(&texts(&["a"])).unwrap_err();
        assert_unavailable(&error, &format!("answered {status}"));
        assert_eq!(requests.try_iter().count(), 1, "{status}");
    }
}

#[test]
fn retry_after_is_obeyed() {
    let mut calls = 0;
    let (endpoint, requests) = endpoint(move |request| {
        calls += 1;
        if calls < 2 {
            LoopbackResponse::With(429, "Retry-After: 1\r\n", String::new())
        } else {
            vectors(request)
        }
    });
    let begin = std::time::Instant::now();
    endpoint.embed(&texts(&["a"])).unwrap();
    assert!(begin.elapsed() >= Duration::from_secs(1));
    assert_eq!(requests.try_iter().count(), 2);
}

#[test]
fn a_long_retry_after_is_not_waited_for() {
    let (endpoint, requests) =
        endpoint(|_| LoopbackResponse::With(429, "Retry-After: 3600\r\n", String::new()));
    assert_unavailable(&endpoint.embed(&texts(&["a"])).unwrap_err(), "answered 429");
    assert_eq!(requests.try_iter().count(), 1);
}

#[test]
fn a_silent_endpoint_times_out() {
    let (address, _requests) = serve(|_| LoopbackResponse::Silence);
    let short = Duration::from_millis(50);
    let retry_policy = RetryPolicy { texts: short, question: short, ..quick() };
    let endpoint = EndpointEmbedder::with_dimension(with_key(address), 3, retry_policy);
    assert_unavailable(&endpoint.embed(&texts(&["a"])).unwrap_err(), "timeout");
    assert_unavailable(&endpoint.embed_query("a").unwrap_err(), "timeout");
}

#[test]
fn a_missing_endpoint_is_unavailable() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let address: EmbeddingAddress = format!("http://{free}#m").parse().unwrap();
    let error = EndpointEmbedder::connect(with_key(address)).unwrap_err();
    assert_unavailable(&error, "cannot be reached");
}

#[test]
fn an_https_address_starts_a_tls_handshake() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("https://{}#m", listener.local_addr().unwrap()).parse().unwrap();
    let hello = thread::spawn(move || {
        let mut first = [0; 2];
        listener.accept().unwrap().0.read_exact(&mut first).unwrap();
        first
    });
    let error = EndpointEmbedder::connect_with(with_key(address), quick()).unwrap_err();
    assert_unavailable(&error, "cannot be reached");
    // A TLS record of the handshake begins so.
    assert_eq!(hello.join().unwrap(), [0x16, 0x03]);
}

#[test]
fn an_invalid_response_is_refused() {
    let fine = json!({ "index": 0, "embedding": [1, 2, 3] });
    let zero = json!({ "index": 0, "embedding": [0, 0, 0] });
    let short = json!({ "index": 0, "embedding": [1, 2] });
    let far = json!({ "index": 7, "embedding": [1, 2, 3] });
    let none = json!({ "index": 0, "embedding": [1, null, 3] });
    let list = |items: &[&Value]| json!({ "data": items }).to_string();
    for (body, words) in [
        (format!("<html>{KEY}</html>"), "something else than a list of embeddings"),
        (String::new(), "something else than a list of embeddings"),
        ("{\"data\":".to_owned(), "something else than a list of embeddings"),
        (list(&[]), "0 vectors for 1 texts"),
        (list(&[&fine, &fine]), "2 vectors for 1 texts"),
        (list(&[&far]), "two vectors for one text"),
        (list(&[&short]), "a vector of 2 numbers instead of 3"),
        (list(&[&zero]), "zero or not finite"),
        (list(&[&none]), "something else than a list of embeddings"),
        (
            "{\"data\":[{\"embedding\":[1e39,1,1]}]}".to_owned(),
            "something else than a list of embeddings",
        ),
        (
            "{\"data\":[{\"embedding\":[NaN,1,1]}]}".to_owned(),
            "something else than a list of embeddings",
        ),
    ] {
        let shown = body.clone();
        let (endpoint, requests) = endpoint(move |_| LoopbackResponse::With(200, "", body.clone()));
        assert_unavailable(&endpoint.embed(&texts(&["a"])).unwrap_err(), words);
        assert_eq!(requests.try_iter().count(), 1, "{shown}");
    }
}

#[test]
fn stopping_ends_the_wait() {
    let (address, requests) =
        serve(|_| LoopbackResponse::With(503, "Retry-After: 60\r\n", String::new()));
    let retry_policy = RetryPolicy { pause_most: Duration::from_secs(120), ..quick() };
    let endpoint = Arc::new(EndpointEmbedder::with_dimension(address, 3, retry_policy));
    let waiting = Arc::clone(&endpoint);
    let thread = thread::spawn(move || waiting.embed(&texts(&["a"])).unwrap_err());
    requests.recv().unwrap();
    endpoint.stop();
    assert_unavailable(&thread.join().unwrap(), "answered 503");
    assert_unavailable(&endpoint.embed_query("a").unwrap_err(), "gets no more requests");
    assert!(requests.try_recv().is_err());
}
