//! A small server on this machine that sends the responses of a test.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc;
use std::thread;

use serde_json::Value;

/// The reaction of the server to one request.
#[derive(Debug)]
pub(crate) enum LoopbackResponse {
    /// Sends this status, with these header lines and this body.
    With(u16, &'static str, String),
    /// Sends nothing until the client closes the connection.
    Silence,
}

/// One request that the server received.
#[derive(Debug)]
pub(crate) struct LoopbackRequest {
    /// The request line and headers.
    pub(crate) head: String,
    /// The body.
    pub(crate) body: Value,
}

/// Starts a server; returns its base URL and the requests as they arrive.
///
/// # Errors
/// The error of the system if no port is free.
pub(crate) fn serve(
    mut reply: impl FnMut(&LoopbackRequest) -> LoopbackResponse + Send + 'static,
) -> io::Result<(String, mpsc::Receiver<LoopbackRequest>)> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let base = format!("http://{}", listener.local_addr()?);
    let (sender, requests) = mpsc::channel();
    thread::spawn(move || {
        while let Ok((stream, _)) = listener.accept() {
            // A connection that breaks off is no request.
            let Ok(request) = read_request(&stream) else { continue };
            let reply = reply(&request);
            if sender.send(request).is_err() {
                break;
            }
            write_response(stream, reply);
        }
    });
    Ok((base, requests))
}

fn read_request(stream: &TcpStream) -> io::Result<LoopbackRequest> {
    let mut reader = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let lower = line.to_lowercase();
        if let Some(number) = lower.strip_prefix("content-length:") {
            length = number.trim().parse().map_err(io::Error::other)?;
        }
        if line.trim().is_empty() {
            break;
        }
        head.push_str(&line);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok(LoopbackRequest { head, body: serde_json::from_slice(&body)? })
}

fn write_response(mut stream: TcpStream, reply: LoopbackResponse) {
    match reply {
        LoopbackResponse::With(status, headers, body) => {
            let length = body.len();
            let head = format!(
                "HTTP/1.1 {status} Said\r\n{headers}Connection: close\r\n\
                 Content-Length: {length}\r\n\r\n"
            );
            let _ =
                stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body.as_bytes()));
        }
        LoopbackResponse::Silence => {
            let _ = stream.read(&mut [0; 1]);
        }
    }
}
