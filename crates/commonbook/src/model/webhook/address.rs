//! The address of a webhook: the URLs that it may have, and the network addresses to which its deliveries
//! may connect.

// Addresses are plain data; nothing here opens a connection.
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use http::Uri;

use crate::base::error::{Error, Result};
use crate::base::{input, limits};

/// The URL of a webhook: `https`, or `http` to a private address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebhookUrl {
    text: String,
    host: String,
    is_https: bool,
}

impl WebhookUrl {
    /// Parses a URL, with the parser of the client that connects to it.
    ///
    /// # Errors
    /// `invalid` for another scheme, a missing host, a user name, a fragment and a malformed text;
    /// `too_large` for a long one.
    pub fn parse(text: &str) -> Result<Self> {
        let text = input::line("url", text, limits::WEBHOOK_URL_CHARS)?;
        let wrong = |reason: &str| {
            Error::invalid("url", reason).hint("Name a URL such as https://example.com/events.")
        };
        let uri: Uri = text.parse().map_err(|_| wrong("is not a URL"))?;
        let is_https = match uri.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            _ => return Err(wrong("expected a URL with https or http")),
        };
        let authority = uri.authority().ok_or_else(|| wrong("expected a host"))?;
        if authority.as_str().contains('@') {
            return Err(wrong("must not have a user name or a password"));
        }
        if text.contains('#') {
            return Err(wrong("must not have a fragment"));
        }
        let host = authority.host().trim_start_matches('[').trim_end_matches(']').to_owned();
        if host.is_empty() {
            return Err(wrong("expected a host"));
        }
        Ok(Self { text, host, is_https })
    }

    /// The URL as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Checks the address that the URL itself names, so that a person learns of a refusal at once.
    /// A name of a host is checked by each delivery, when it connects.
    ///
    /// # Errors
    /// `invalid` if a delivery could not connect.
    pub fn check_named_address(&self, allow_private: bool) -> Result<()> {
        let is_local =
            self.host.eq_ignore_ascii_case("localhost") || self.host.ends_with(".localhost");
        let named = match is_local {
            true => Some(IpAddr::V4(Ipv4Addr::LOCALHOST)),
            false => self.host.parse().ok(),
        };
        let refused = named.filter(|address| !may_connect(*address, self.is_https, allow_private));
        if let Some(address) = refused.filter(|address| !is_public(*address)) {
            return Err(Error::invalid("url", format!("{address} is a private address")).hint(
                "Set `allow_private` (--allow-private), as a person, or name a public address.",
            ));
        }
        if refused.is_some() || (!self.is_https && !allow_private) {
            return Err(Error::invalid("url", "http would send the events unencrypted; expected https")
                .hint("Use https. With `allow_private` (--allow-private), http reaches private addresses."));
        }
        Ok(())
    }
}

/// Whether a delivery may connect to this address: over `https` to a public one, and to any private
/// one if the webhook allows that. `http` never leaves the private network.
#[must_use]
pub fn may_connect(address: IpAddr, is_https: bool, allow_private: bool) -> bool {
    match is_public(address) {
        true => is_https,
        false => allow_private,
    }
}

/// Whether this is the address of a host on the public internet.
#[must_use]
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

/// Networks of IPv4 that are not public, by address and prefix length: those of RFC 6890 and its successors,
/// and the address of a provider's metadata that lies among public ones.
const PRIVATE_NETWORKS: [(Ipv4Addr, u32); 17] = [
    (Ipv4Addr::new(0, 0, 0, 0), 8),
    (Ipv4Addr::new(10, 0, 0, 0), 8),
    // Shared by customers of a provider; metadata at 100.100.100.200.
    (Ipv4Addr::new(100, 64, 0, 0), 10),
    (Ipv4Addr::new(127, 0, 0, 0), 8),
    // Metadata of an Azure host.
    (Ipv4Addr::new(168, 63, 129, 16), 32),
    // Link-local; metadata at 169.254.169.254.
    (Ipv4Addr::new(169, 254, 0, 0), 16),
    (Ipv4Addr::new(172, 16, 0, 0), 12),
    // Protocol assignments; metadata at 192.0.0.192.
    (Ipv4Addr::new(192, 0, 0, 0), 24),
    (Ipv4Addr::new(192, 0, 2, 0), 24),
    (Ipv4Addr::new(192, 31, 196, 0), 24),
    (Ipv4Addr::new(192, 88, 99, 0), 24),
    (Ipv4Addr::new(192, 168, 0, 0), 16),
    (Ipv4Addr::new(198, 18, 0, 0), 15),
    (Ipv4Addr::new(198, 51, 100, 0), 24),
    (Ipv4Addr::new(203, 0, 113, 0), 24),
    (Ipv4Addr::new(224, 0, 0, 0), 4),
    (Ipv4Addr::new(240, 0, 0, 0), 4),
];

fn is_public_v4(address: Ipv4Addr) -> bool {
    let is_in = |network: Ipv4Addr, length: u32| {
        let rest = 32 - length;
        address.to_bits().checked_shr(rest) == network.to_bits().checked_shr(rest)
    };
    !PRIVATE_NETWORKS.iter().any(|(network, length)| is_in(*network, *length))
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let [first, second, third, fourth, fifth, sixth, seventh, eighth] = address.segments();
    let inner = |high: u16, low: u16| Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low));
    match (first, second) {
        // IPv4-mapped (::ffff:0:0/96).
        (0, 0) if [third, fourth, fifth, sixth] == [0, 0, 0, 0xffff] => {
            is_public_v4(inner(seventh, eighth))
        }
        // A gateway translates these to IPv4 (64:ff9b::/96).
        (0x64, 0xff9b) if [third, fourth, fifth, sixth] == [0; 4] => {
            is_public_v4(inner(seventh, eighth))
        }
        // 6to4 carries an address of IPv4.
        (0x2002, _) => is_public_v4(inner(second, third)),
        // Teredo and other protocol assignments, documentation.
        (0x2001, 0..=0x01ff | 0x0db8) | (0x3fff, 0..=0x0fff) => false,
        // All other public addresses are in 2000::/3.
        _ => first & 0xe000 == 0x2000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::error::ErrorKind;

    #[test]
    fn private_addresses_are_known_in_every_form() {
        let private = [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "10.255.255.255",
            "100.64.0.1",
            "100.100.100.200",
            "100.127.255.255",
            "127.0.0.1",
            "127.9.9.9",
            "168.63.129.16",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.192",
            "192.0.2.1",
            "192.168.1.1",
            "198.18.0.1",
            "198.19.255.255",
            "198.51.100.7",
            "203.0.113.9",
            "224.0.0.1",
            "239.1.1.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::127.0.0.1",
            "::8.8.8.8",
            "::ffff:127.0.0.1",
            "::ffff:10.1.2.3",
            "::ffff:169.254.169.254",
            "64:ff9b::127.0.0.1",
            "64:ff9b::a9fe:a9fe",
            "64:ff9b:1::1",
            "100::1",
            "fc00::1",
            "fd00:ec2::254",
            "fdff::1",
            "fe80::1",
            "febf::1",
            "fec0::1",
            "ff02::1",
            "2001::1",
            "2001:1ff::1",
            "2001:db8::1",
            "2002:7f00:1::",
            "2002:a9fe:a9fe::1",
            "2002:c0a8:101::",
            "3fff:fff::1",
            "4000::1",
        ];
        for text in private {
            let address: IpAddr = text.parse().expect(text);
            assert!(!is_public(address), "{text}");
            let allowed = [(true, false), (false, false), (true, true), (false, true)]
                .map(|(is_https, allow)| may_connect(address, is_https, allow));
            assert_eq!(allowed, [false, false, true, true], "{text}");
        }
    }

    #[test]
    fn public_addresses_are_reached_over_https_alone() {
        let public = [
            "1.1.1.1",
            "8.8.8.8",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.1",
            "168.63.129.17",
            "172.15.255.255",
            "172.32.0.0",
            "192.0.1.1",
            "192.167.255.255",
            "192.169.0.0",
            "198.17.255.255",
            "198.20.0.0",
            "223.255.255.255",
            "::ffff:8.8.8.8",
            "64:ff9b::808:808",
            "2001:200::1",
            "2001:4860:4860::8888",
            "2002:808:808::1",
            "2606:4700::1111",
            "3ffe::1",
        ];
        for text in public {
            let address: IpAddr = text.parse().expect(text);
            let allowed = [(true, false), (false, false), (true, true), (false, true)]
                .map(|(is_https, allow)| may_connect(address, is_https, allow));
            assert_eq!(allowed, [true, false, true, false], "{text}");
        }
    }

    #[test]
    fn a_url_has_a_scheme_and_a_host_and_no_more_than_an_address() {
        for good in [
            "https://example.com",
            "https://example.com/events?key=1",
            "HTTPS://Example.COM:8443/x",
            "https://8.8.8.8/",
            "https://[2606:4700::1111]:9/",
        ] {
            let url = WebhookUrl::parse(good).expect(good);
            assert_eq!(url.as_str(), good);
            url.check_named_address(false).expect(good);
        }
        for bad in [
            "",
            "example.com",
            "/events",
            "ftp://example.com/",
            "file:///etc/passwd",
            "https://",
            "https:///x",
            "https://user@example.com/",
            "https://u:p@example.com/",
            "https://example.com/#top",
            "https://exa mple.com/",
            "https://example.com/\n",
            "javascript:alert(1)",
            "https://@10.0.0.1/",
        ] {
            let parsed = WebhookUrl::parse(bad);
            // A line break at the end is trimmed.
            assert!(parsed.is_err() || bad.ends_with('\n'), "{bad:?}");
        }
        let long = format!("https://example.com/{}", "x".repeat(limits::WEBHOOK_URL_CHARS));
        let error = WebhookUrl::parse(&long).expect_err("a long URL");
        assert_eq!((error.kind, error.field.as_deref()), (ErrorKind::TooLarge, Some("url")));
    }

    #[test]
    fn an_address_in_the_url_is_refused_at_once() {
        for private in [
            "https://127.0.0.1/",
            "https://[::1]:8/",
            "https://localhost/",
            "https://LocalHost:1/",
            "https://a.localhost/",
            "https://169.254.169.254/latest/meta-data",
            "https://10.0.0.8/",
            "https://[::ffff:10.0.0.8]/",
            "http://192.168.0.1/",
        ] {
            let url = WebhookUrl::parse(private).expect(private);
            let error = url.check_named_address(false).expect_err(private);
            assert!(error.message.contains("is a private address"), "{}", error.message);
            assert!(error.hint.is_some_and(|hint| hint.contains("allow_private")));
            url.check_named_address(true).expect(private);
        }
        let plain = WebhookUrl::parse("http://8.8.8.8/").expect("a URL");
        for allow_private in [false, true] {
            let error = plain.check_named_address(allow_private).expect_err("unencrypted");
            assert!(error.message.contains("unencrypted"), "{}", error.message);
        }
        // Whether a name is public shows when a delivery connects.
        let named = WebhookUrl::parse("http://receiver.example/").expect("a URL");
        assert!(named.check_named_address(false).is_err());
        assert!(named.check_named_address(true).is_ok());
    }
}
