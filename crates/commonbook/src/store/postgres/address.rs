//! Where a PostgreSQL server is, and whether connections to it are encrypted.

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use postgres::config::{Host, SslMode, TargetSessionAttrs};
use postgres::error::Severity;
use postgres::{Client, Config, NoTls};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::base::error::{Error, ErrorKind, Result};

/// The address of a server, or of several of which one accepts writes.
#[derive(Clone)]
pub(super) struct DatabaseAddress {
    config: Config,
    /// What encrypts connections; `None` on this machine, and where the address says `sslmode=disable`.
    tls: Option<MakeRustlsConnect>,
    /// Whether a pooler is in between, which gives each transaction any of its connections.
    is_pooled: bool,
}

/// Says in a connection string that a pooler in transaction mode, such as PgBouncer, is in between.
const POOLER_FLAG: &str = "pgbouncer=true";

/// Modes of `libpq` that verify a certificate, as TLS does here in any case.
const VERIFYING_MODES: [&str; 2] = ["sslmode=verify-full", "sslmode=verify-ca"];

/// The word of `libpq` for the file of authorities, and its value for those of the system.
const AUTHORITIES_WORD: &str = "sslrootcert=";
const SYSTEM_AUTHORITIES: &str = "system";

/// How long a server may take to accept a connection; then the next one is tried. A server that stops
/// without a word, as when its machine loses power, is known by this and by the two below.
const CONNECT_TIME_MAX: Duration = Duration::from_secs(5);

/// How long what was sent may wait for the other machine's confirmation.
const CONFIRMATION_TIME_MAX: Duration = Duration::from_secs(15);

/// How long a connection is silent before it is tried whether the other machine is there.
const SILENCE_TIME_MAX: Duration = Duration::from_secs(15);

impl DatabaseAddress {
    /// Reads a connection string. A server on another machine is reached with TLS unless the string
    /// says `sslmode=disable`; its certificate is verified with the authorities of `authorities` or of
    /// `sslrootcert` in the string, files of PEM certificates, or with the public ones.
    ///
    /// # Errors
    /// `invalid` if the text is no connection string, or the file holds no certificate.
    pub(super) fn parse(connection: &str, authorities: Option<&Path>) -> Result<Self> {
        let AddressWords { connection, is_pooled, authorities: named } =
            AddressWords::of(connection);
        let authorities = authorities.map(Path::to_owned).or(named);
        let mut config = Config::from_str(&connection).map_err(|error| {
            Error::new(ErrorKind::Invalid, "this is no connection string of PostgreSQL")
                .hint("Write it as `postgres://user@host/database`.")
                .with_cause(error)
        })?;
        let is_encrypted = match config.get_ssl_mode() {
            SslMode::Disable => false,
            SslMode::Require => true,
            _ => is_elsewhere(&config),
        };
        let mode = if is_encrypted { SslMode::Require } else { SslMode::Disable };
        config.ssl_mode(mode);
        if config.get_application_name().is_none() {
            config.application_name("commonbook");
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT_TIME_MAX);
        }
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(CONFIRMATION_TIME_MAX);
        }
        // Two hours by default, as the standard of TCP wants it.
        config.keepalives_idle(config.get_keepalives_idle().min(SILENCE_TIME_MAX));
        if config.get_hosts().len() > 1 {
            config.target_session_attrs(TargetSessionAttrs::ReadWrite);
        }
        let tls = is_encrypted.then(|| encryption(authorities.as_deref())).transpose()?;
        Ok(Self { config, tls, is_pooled })
    }

    /// Where the database is, without user and password: `db.example:5432/memories`.
    pub(super) fn place(&self) -> String {
        let ports = self.config.get_ports();
        let hosts = self.config.get_hosts().iter().enumerate().map(|(index, host)| {
            let port = ports.get(index).or(ports.first()).copied().unwrap_or(5432);
            match host {
                Host::Tcp(name) => format!("{name}:{port}"),
                #[cfg(unix)]
                Host::Unix(folder) => format!("{}:{port}", folder.display()),
            }
        });
        let hosts = hosts.collect::<Vec<_>>().join(", ");
        let database = self.config.get_dbname().or(self.config.get_user()).unwrap_or_default();
        format!("{hosts}/{database}")
    }

    /// Opens a connection.
    pub(super) fn connect(&self) -> Result<Client, postgres::Error> {
        self.connect_by(&self.config)
    }

    /// Opens a connection that sets `is_warned` when the server warns of something.
    pub(super) fn connect_noting(
        &self,
        is_warned: Arc<AtomicBool>,
    ) -> Result<Client, postgres::Error> {
        let mut config = self.config.clone();
        config.notice_callback(move |notice| {
            tracing::warn!(message = notice.message(), "PostgreSQL warns");
            if notice.parsed_severity() == Some(Severity::Warning) {
                is_warned.store(true, Ordering::Relaxed);
            }
        });
        self.connect_by(&config)
    }

    fn connect_by(&self, config: &Config) -> Result<Client, postgres::Error> {
        match &self.tls {
            Some(tls) => config.connect(tls.clone()),
            None => config.connect(NoTls),
        }
    }

    /// Whether a pooler is in between.
    pub(super) fn is_pooled(&self) -> bool {
        self.is_pooled
    }

    /// The address in words, without user and password.
    pub(super) fn summary(&self) -> String {
        let hosts = self.config.get_hosts().iter().map(|host| match host {
            Host::Tcp(name) => name.clone(),
            #[cfg(unix)]
            Host::Unix(folder) => folder.display().to_string(),
        });
        let hosts = hosts.collect::<Vec<_>>().join(", ");
        let database = self.config.get_dbname().or(self.config.get_user()).unwrap_or("postgres");
        format!("database {database} on {hosts}")
    }
}

/// A connection string without the words that the client does not know, and what they say.
struct AddressWords {
    connection: String,
    is_pooled: bool,
    authorities: Option<PathBuf>,
}

impl AddressWords {
    fn of(connection: &str) -> Self {
        let (start, words, separator) = match connection.split_once('?') {
            Some((start, words)) => (format!("{start}?"), words, '&'),
            None => (String::new(), connection, ' '),
        };
        let (mut known, mut is_pooled, mut authorities) = (Vec::new(), false, None);
        for word in words.split(separator) {
            if word == POOLER_FLAG {
                is_pooled = true;
            } else if VERIFYING_MODES.contains(&word) {
                known.push("sslmode=require");
            } else if let Some(file) = word.strip_prefix(AUTHORITIES_WORD) {
                authorities = (file != SYSTEM_AUTHORITIES).then(|| PathBuf::from(file));
            } else {
                known.push(word);
            }
        }
        let connection = start + &known.join(separator.encode_utf8(&mut [0; 4]));
        Self { connection, is_pooled, authorities }
    }
}

/// Whether any of the servers is on another machine.
fn is_elsewhere(config: &Config) -> bool {
    let is_far = |host: &Host| match host {
        Host::Tcp(name) => {
            let is_loopback =
                name.parse::<IpAddr>().map_or(name == "localhost", |ip| ip.is_loopback());
            !is_loopback
        }
        #[cfg(unix)]
        Host::Unix(_) => false,
    };
    match config.get_hostaddrs() {
        [] => config.get_hosts().iter().any(is_far),
        addresses => addresses.iter().any(|address| !address.is_loopback()),
    }
}

/// TLS with these authorities, or with the public ones.
fn encryption(authorities: Option<&Path>) -> Result<MakeRustlsConnect> {
    let mut roots = RootCertStore::empty();
    match authorities {
        Some(file) => {
            let unusable = |reason: String| {
                let message = format!("{} cannot be used: {reason}", file.display());
                Error::new(ErrorKind::Invalid, message)
                    .hint("Name a file with the PEM certificate of the authority.")
            };
            let found = CertificateDer::pem_file_iter(file)
                .and_then(Iterator::collect::<Result<Vec<_>, _>>)
                .map_err(|error| unusable(error.to_string()))?;
            for certificate in found {
                roots.add(certificate).map_err(|error| unusable(error.to_string()))?;
            }
            if roots.is_empty() {
                return Err(unusable("it holds no certificate".to_owned()));
            }
        }
        None => roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned()),
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| {
            Error::new(ErrorKind::Internal, "TLS cannot be set up").with_cause(error)
        })?;
    let config = config.with_root_certificates(roots).with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_encrypted(connection: &str) -> bool {
        DatabaseAddress::parse(connection, None).unwrap().tls.is_some()
    }

    #[test]
    fn a_server_on_another_machine_is_reached_with_tls_unless_the_address_says_otherwise() {
        assert!(is_encrypted("postgres://ann@db.example.com/memory"));
        assert!(is_encrypted("postgres://ann@10.0.0.7/memory"));
        assert!(is_encrypted("host=localhost,db2 user=ann"));
        assert!(is_encrypted("host=localhost hostaddr=10.0.0.7 user=ann"));
        assert!(is_encrypted("postgres://ann@localhost/memory?sslmode=require"));
        assert!(!is_encrypted("postgres://ann@localhost/memory"));
        assert!(!is_encrypted("postgres://ann@127.0.0.1/memory"));
        assert!(!is_encrypted("postgres://ann@[::1]/memory"));
        assert!(!is_encrypted("host=/var/run/postgresql user=ann"));
        assert!(!is_encrypted("postgres://ann@db.example.com/memory?sslmode=disable"));
    }

    #[test]
    fn the_words_of_libpq_for_verified_tls_are_known() {
        for mode in ["verify-full", "verify-ca", "require"] {
            assert!(is_encrypted(&format!("postgres://ann@localhost/memory?sslmode={mode}")));
            assert!(is_encrypted(&format!("host=localhost user=ann sslmode={mode}")));
        }
        assert!(is_encrypted("postgres://ann@db/memory?sslmode=verify-full&sslrootcert=system"));
        let address = "postgres://ann@db/memory?sslrootcert=/no/such/file.pem";
        let error = DatabaseAddress::parse(address, None).err().unwrap();
        assert!(error.message.contains("/no/such/file.pem"), "{}", error.message);
    }

    #[test]
    fn a_server_that_is_silent_is_given_up_soon_unless_the_address_says_otherwise() {
        let config = |address: &str| DatabaseAddress::parse(address, None).unwrap().config;
        let usual = config("postgres://ann@localhost/memory");
        assert_eq!(usual.get_connect_timeout(), Some(&CONNECT_TIME_MAX));
        assert_eq!(usual.get_tcp_user_timeout(), Some(&CONFIRMATION_TIME_MAX));
        assert_eq!(usual.get_keepalives_idle(), SILENCE_TIME_MAX);
        let own = config("host=localhost user=ann connect_timeout=60 keepalives_idle=7");
        assert_eq!(own.get_connect_timeout(), Some(&Duration::from_secs(60)));
        assert_eq!(own.get_keepalives_idle(), Duration::from_secs(7));
    }

    #[test]
    fn a_flag_says_that_a_pooler_is_in_between() {
        let strings = [
            "postgres://ann@localhost/memory?pgbouncer=true",
            "postgres://ann@localhost/memory?sslmode=disable&pgbouncer=true",
            "host=localhost pgbouncer=true user=ann dbname=memory",
        ];
        for connection in strings {
            let address = DatabaseAddress::parse(connection, None).unwrap();
            assert!(address.is_pooled(), "{connection}");
            assert_eq!(address.summary(), "database memory on localhost");
        }
        assert!(
            !DatabaseAddress::parse("postgres://ann@localhost/memory", None).unwrap().is_pooled()
        );
    }

    #[test]
    fn a_summary_names_the_database_and_no_secret() {
        let address = DatabaseAddress::parse("postgres://ann:secret@one,two/memory", None).unwrap();
        assert_eq!(address.summary(), "database memory on one, two");
    }

    #[test]
    fn a_file_without_a_certificate_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("authority.pem");
        std::fs::write(&file, "no certificate").unwrap();
        let address = "postgres://ann@db/memory";
        for (file, reason) in
            [(file.clone(), "no certificate"), (folder.path().join("x"), "cannot be used")]
        {
            let error = DatabaseAddress::parse(address, Some(&file)).err().unwrap();
            assert_eq!(error.kind, ErrorKind::Invalid);
            assert!(error.message.contains(reason), "{}", error.message);
        }
    }
}
