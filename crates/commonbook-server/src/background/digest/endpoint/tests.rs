//! Tests of the model behind an endpoint: its requests, and the handling of each response.

use std::sync::mpsc::Receiver;

use serde_json::{Value, json};

use super::*;
use crate::loopback::{LoopbackRequest, LoopbackResponse, serve};
use crate::settings::sections::DIGEST_ENDPOINT;

const KEY: &str = "sk-very-secret";

/// A model at an endpoint with these responses, and the requests that it receives.
fn model(
    reply: impl FnMut(&LoopbackRequest) -> LoopbackResponse + Send + 'static,
) -> (EndpointWriter, Receiver<LoopbackRequest>) {
    let (base, asked) = serve(reply).unwrap();
    let address =
        EndpointAddress::read(&base, "m", &DIGEST_ENDPOINT).unwrap().with_key(Some(KEY)).unwrap();
    (EndpointWriter::at(address), asked)
}

fn says(text: &str) -> LoopbackResponse {
    let message = json!({"role": "assistant", "content": text});
    LoopbackResponse::With(
        200,
        "",
        json!({"choices": [{"index": 0, "message": message}]}).to_string(),
    )
}

/// A response of a model about one entry.
fn written(model: &EndpointWriter, within: Duration) -> Result<String> {
    let facts = WriterRequest {
        case: "orders",
        title: "Slow orders",
        sentence: "The cause is one query for each row.",
        authors: &[],
        topics: &[],
        sources: Vec::new(),
        characters: 512,
    };
    model.write(&facts, within)
}

#[test]
fn the_request_to_a_model_has_the_openai_format() {
    let (model, asked) = model(|_| says(" One query per row. "));
    assert_eq!(written(&model, Duration::from_secs(60)).unwrap(), " One query per row. ");
    let LoopbackRequest { head, body } = asked.recv().unwrap();
    assert!(head.starts_with("POST /v1/chat/completions HTTP/1.1\r\n"), "{head}");
    assert!(head.to_lowercase().contains(&format!("authorization: bearer {KEY}")), "{head}");
    assert_eq!((&body["model"], &body["stream"]), (&json!("m"), &json!(false)));
    assert_eq!(body["messages"][0]["role"], "system");
    let fact: Value =
        serde_json::from_str(body["messages"][1]["content"].as_str().unwrap()).unwrap();
    assert_eq!(fact["sentence"], "The cause is one query for each row.");
    assert!(!format!("{model:?}").contains(KEY));
    assert_eq!(model.kind(), WriterKind::Endpoint);
}

#[test]
fn a_silent_model_fails_within_its_time_limit() {
    let long = Duration::from_secs(60);
    let table = [
        (LoopbackResponse::Silence, Duration::from_millis(50), "timeout"),
        (LoopbackResponse::With(503, "", String::new()), long, "answered 503"),
        (LoopbackResponse::With(200, "", "<html>".to_owned()), long, "not a completion"),
        (LoopbackResponse::With(200, "", "{\"choices\":[]}".to_owned()), long, "no text"),
        (LoopbackResponse::With(200, "", "x".repeat(300_000)), long, "limit"),
    ];
    for (reply, within, words) in table {
        let mut reply = Some(reply);
        let (model, _asked) = model(move |_| reply.take().unwrap_or(LoopbackResponse::Silence));
        let error = written(&model, within).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Unavailable, "{words}");
        assert!(error.message.contains(words) && error.hint.is_some(), "{}", error.message);
    }
}
