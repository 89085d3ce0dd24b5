//! Sending one message over HTTP, to addresses that a webhook may connect to.
//!
//! The resolver checks each address of a host, and the connection is made to one of those that it
//! returned: a name that resolves to another address the next time is checked again then. There are no
//! proxies, which would resolve names themselves, and no connections are kept: one that a webhook with
//! private addresses made is not used by another. Redirects are not followed.

use std::sync::OnceLock;
use std::time::Duration;

use commonbook::base::limits;
use commonbook::model::webhook::address::may_connect;
use commonbook::model::webhook::delivery::{SendOutcome, WebhookSender, WebhookTarget};
use commonbook::model::webhook::message::WebhookMessage;
use ureq::Agent;
use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{DefaultConnector, NextTimeout};

/// The time limit for a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// The sender of this program.
#[derive(Default)]
pub(crate) struct HttpWebhookSender {
    /// For webhooks that connect to public addresses alone.
    public: OnceLock<Agent>,
    /// For webhooks that may connect to private ones.
    private: OnceLock<Agent>,
}

impl WebhookSender for HttpWebhookSender {
    fn send(&self, target: &WebhookTarget, message: &WebhookMessage) -> SendOutcome {
        let allow_private = target.allow_private;
        let agent = if allow_private { &self.private } else { &self.public };
        let agent = agent.get_or_init(|| agent_with(allow_private, DefaultResolver::default()));
        send_with(agent, target, message)
    }
}

/// An agent that resolves names with this resolver, and checks what it returns.
fn agent_with(allow_private: bool, resolver: impl Resolver) -> Agent {
    let config = Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .max_idle_connections(0)
        .proxy(None)
        .timeout_connect(Some(CONNECT_TIMEOUT))
        .timeout_global(Some(Duration::from_secs(limits::WEBHOOK_SECONDS)))
        .user_agent(concat!("commonbook/", env!("CARGO_PKG_VERSION")))
        .build();
    let resolver = CheckedResolver { allow_private, inner: resolver };
    Agent::with_parts(config, DefaultConnector::default(), resolver)
}

fn send_with(agent: &Agent, target: &WebhookTarget, message: &WebhookMessage) -> SendOutcome {
    let sent = agent
        .post(&target.url)
        .header("Content-Type", "application/json")
        .header("webhook-id", &message.id)
        .header("webhook-timestamp", message.timestamp.to_string())
        .header("webhook-signature", &message.signature)
        .send(&message.body);
    match sent {
        // The body is not read: it may be endless, and nothing of it is needed.
        Ok(response) => SendOutcome::Answered(response.status().as_u16()),
        Err(error) => {
            tracing::debug!(id = message.id, %error, "a message of a webhook got no answer");
            outcome_of(&error)
        }
    }
}

fn outcome_of(error: &ureq::Error) -> SendOutcome {
    match error {
        ureq::Error::Other(cause) if cause.is::<AddressRefusal>() => SendOutcome::AddressRefused,
        ureq::Error::HostNotFound => SendOutcome::HostUnknown,
        ureq::Error::Timeout(_) => SendOutcome::TimedOut,
        ureq::Error::Rustls(_) | ureq::Error::Tls(_) | ureq::Error::TlsRequired => {
            SendOutcome::TlsFailed
        }
        // A certificate that is not valid fails the first read.
        ureq::Error::Io(error) if error.kind() == std::io::ErrorKind::InvalidData => {
            SendOutcome::TlsFailed
        }
        _ => SendOutcome::Unreachable,
    }
}

/// A resolver that returns only addresses to which a webhook may connect.
#[derive(Debug)]
struct CheckedResolver<R> {
    allow_private: bool,
    inner: R,
}

/// The error for a host without an address that a webhook may connect to.
#[derive(Debug)]
struct AddressRefusal;

impl std::fmt::Display for AddressRefusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the webhook may connect to no address of this host")
    }
}

impl std::error::Error for AddressRefusal {}

impl<R: Resolver> Resolver for CheckedResolver<R> {
    fn resolve(
        &self,
        uri: &Uri,
        config: &Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, ureq::Error> {
        let is_https = uri.scheme_str() == Some("https");
        let found = self.inner.resolve(uri, config, timeout).map_err(|error| match error {
            ureq::Error::Timeout(_) => error,
            _ => ureq::Error::HostNotFound,
        })?;
        let mut admitted = self.empty();
        for address in &found {
            if may_connect(address.ip(), is_https, self.allow_private) {
                admitted.push(*address);
            }
        }
        match admitted.is_empty() {
            true => Err(ureq::Error::Other(Box::new(AddressRefusal))),
            false => Ok(admitted),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::{SocketAddr, TcpListener};
    use std::sync::Mutex;

    use super::*;

    /// A resolver that answers the next of these lists at each call, whatever the name.
    #[derive(Debug)]
    struct ScriptedResolver(Mutex<Vec<Vec<SocketAddr>>>);

    impl ScriptedResolver {
        fn answering(lists: &[&[SocketAddr]]) -> Self {
            Self(Mutex::new(lists.iter().rev().map(|list| list.to_vec()).collect()))
        }
    }

    impl Resolver for ScriptedResolver {
        fn resolve(
            &self,
            _: &Uri,
            _: &Config,
            _: NextTimeout,
        ) -> Result<ResolvedSocketAddrs, ureq::Error> {
            let next = self.0.lock().unwrap().pop().ok_or(ureq::Error::HostNotFound)?;
            let mut found = self.empty();
            next.into_iter().for_each(|address| found.push(address));
            Ok(found)
        }
    }

    fn message() -> WebhookMessage {
        let (id, signature) = ("whk_1".to_owned(), "v1,x".to_owned());
        WebhookMessage { id, timestamp: 1, signature, body: "{}".to_owned() }
    }

    fn send(allow_private: bool, url: &str, resolver: ScriptedResolver) -> SendOutcome {
        let target = WebhookTarget { url: url.to_owned(), allow_private };
        send_with(&agent_with(allow_private, resolver), &target, &message())
    }

    /// A listener that answers 200 to each connection, and counts them.
    fn listener() -> (SocketAddr, std::sync::Arc<Mutex<u32>>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let count = std::sync::Arc::new(Mutex::new(0));
        let counted = std::sync::Arc::clone(&count);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                *counted.lock().unwrap() += 1;
                let _read = stream.read(&mut [0; 4096]).unwrap();
                let answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
                stream.write_all(answer.as_bytes()).unwrap();
            }
        });
        (address, count)
    }

    #[test]
    fn the_address_of_the_connection_is_checked_and_not_the_name() {
        let (local, count) = listener();
        let scripted = |lists: &[&[SocketAddr]]| ScriptedResolver::answering(lists);
        // A public name that resolves to this machine, alone or in an IPv6 form.
        let mapped: SocketAddr = format!("[::ffff:127.0.0.1]:{}", local.port()).parse().unwrap();
        for private in [local, mapped] {
            for url in ["https://receiver.example/", "http://receiver.example/"] {
                let sent = send(false, url, scripted(&[&[private]]));
                assert_eq!(sent, SendOutcome::AddressRefused, "{url} {private}");
            }
        }
        assert_eq!(*count.lock().unwrap(), 0, "nothing was connected to");
        let sent = send(true, "http://receiver.example/", scripted(&[&[local]]));
        assert_eq!((sent, *count.lock().unwrap()), (SendOutcome::Answered(200), 1));
        // Over http nothing reaches a public address.
        let public: SocketAddr = "203.1.113.9:80".parse().unwrap();
        let sent = send(true, "http://receiver.example/", scripted(&[&[public]]));
        assert_eq!(sent, SendOutcome::AddressRefused);
        let sent = send(true, "https://receiver.example/", scripted(&[]));
        assert_eq!(sent, SendOutcome::HostUnknown);
    }

    #[test]
    fn a_name_that_changes_its_address_is_checked_at_each_connection() {
        let (local, count) = listener();
        let public: SocketAddr = "203.1.113.9:443".parse().unwrap();
        let inner = ScriptedResolver::answering(&[&[public, local], &[local]]);
        let checked = CheckedResolver { allow_private: false, inner };
        let uri: Uri = "https://receiver.example/".parse().unwrap();
        let config = Agent::config_builder().build();
        let resolve = || checked.resolve(&uri, &config, NextTimeout::default());
        let first = resolve().unwrap();
        assert_eq!(first.iter().copied().collect::<Vec<_>>(), [public], "of both, the public one");
        let refused = outcome_of(&resolve().err().unwrap());
        assert_eq!(refused, SendOutcome::AddressRefused);
        assert_eq!(*count.lock().unwrap(), 0);
    }

    #[test]
    fn numeric_hosts_in_odd_forms_are_checked_too() {
        let sender = HttpWebhookSender::default();
        for host in ["127.1", "0x7f000001", "2130706433", "017700000001", "localhost", "[::1]"] {
            let target = WebhookTarget { url: format!("https://{host}:9/"), allow_private: false };
            let sent = sender.send(&target, &message());
            // A resolver that does not know a form finds no host.
            let refused = [SendOutcome::AddressRefused, SendOutcome::HostUnknown];
            assert!(refused.contains(&sent), "{host}: {sent:?}");
        }
    }
}
