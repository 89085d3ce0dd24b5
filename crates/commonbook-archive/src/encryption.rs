//! Encryption of archives: age, for recipients or with a passphrase.

use std::fmt;
use std::io::{self, BufReader, Read, Seek, SeekFrom};

use age::secrecy::SecretString;
use age::stream::StreamReader;
use age::{DecryptError, Decryptor, EncryptError, Encryptor, Identity, IdentityFile};
use age::{scrypt, x25519};

use crate::ArchiveError;

/// The first bytes of an age file.
pub(crate) const AGE_START: &[u8] = b"age-encryption.org/";
/// The first bytes of an age file that is written as text.
pub(crate) const ARMOR_START: &[u8] = b"-----BEGIN AGE ENCRYPTED FILE-----";
/// The logarithm of the rounds of work behind a passphrase: what `age` itself takes.
const WORK_FACTOR: u8 = 18;
/// The logarithm of the rounds that are done for a file of unknown origin: they take 1 GiB of memory
/// (scrypt, RFC 7914, with blocks of 1 KiB), and two more would take 4.
const WORK_FACTOR_MAX: u8 = 20;

/// For whom an archive is encrypted.
#[derive(Clone)]
pub enum Encryption {
    /// For the holders of the secret keys.
    Recipients(Vec<x25519::Recipient>),
    /// For those who know a passphrase.
    Passphrase(SecretString),
}

/// What decrypts an archive.
#[derive(Default)]
pub enum ArchiveKeys {
    /// Nothing: only an archive that is not encrypted can be read.
    #[default]
    None,
    /// Secret keys.
    Identities(Vec<Box<dyn Identity + Send + Sync>>),
    /// A passphrase.
    Passphrase(SecretString),
}

/// A kind of key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyKind {
    /// A secret key of a recipient.
    Identity,
    /// A passphrase.
    Passphrase,
}

/// A text that is no recipient; its number among those that were given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecipientError {
    /// The number, from 1.
    pub number: usize,
}

impl Encryption {
    /// Encryption for these recipients (`age1…`).
    ///
    /// # Errors
    /// The number of the first text that is no recipient.
    pub fn to_recipients<'r>(
        recipients: impl IntoIterator<Item = &'r str>,
    ) -> Result<Self, RecipientError> {
        let parse = |(index, text): (usize, &str)| {
            text.parse().map_err(|_| RecipientError { number: index + 1 })
        };
        recipients
            .into_iter()
            .enumerate()
            .map(parse)
            .collect::<Result<_, _>>()
            .map(Self::Recipients)
    }

    /// Encryption with this passphrase.
    #[must_use]
    pub fn with_passphrase(passphrase: String) -> Self {
        Self::Passphrase(SecretString::from(passphrase))
    }

    pub(crate) fn encryptor(&self) -> io::Result<Encryptor> {
        let encryptor = match self {
            Self::Recipients(recipients) => {
                let recipients = recipients.iter().map(|recipient| recipient as _);
                Encryptor::with_recipients(recipients)
            }
            Self::Passphrase(passphrase) => {
                let mut recipient = scrypt::Recipient::new(passphrase.clone());
                recipient.set_work_factor(WORK_FACTOR);
                Encryptor::with_recipients(std::iter::once(&recipient as _))
            }
        };
        encryptor.map_err(encryption_error)
    }
}

fn encryption_error(error: EncryptError) -> io::Error {
    match error {
        EncryptError::Io(error) => error,
        error => io::Error::other(error),
    }
}

impl ArchiveKeys {
    /// The secret keys of files such as `age-keygen` writes.
    ///
    /// # Errors
    /// `InvalidData` with the number of a line that is no secret key, or if there is no key at all.
    pub fn of_identities<R: io::BufRead>(files: impl IntoIterator<Item = R>) -> io::Result<Self> {
        let mut identities = Vec::new();
        for file in files {
            let file = IdentityFile::from_buffer(file)?;
            identities.extend(file.into_identities().map_err(io::Error::other)?);
        }
        if identities.is_empty() {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "it has no secret key"));
        }
        Ok(Self::Identities(identities))
    }

    /// A passphrase.
    #[must_use]
    pub fn of_passphrase(passphrase: String) -> Self {
        Self::Passphrase(SecretString::from(passphrase))
    }
}

impl fmt::Display for KeyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Identity => "for the holders of a secret key",
            Self::Passphrase => "with a passphrase",
        })
    }
}

/// The gzipped bytes of an archive, decrypted where they are encrypted.
pub(crate) enum Payload<R> {
    Plain(R),
    Encrypted(Box<StreamReader<BufReader<R>>>),
}

impl<R: Read + Seek> Payload<R> {
    /// The bytes of a source that begins with these.
    ///
    /// # Errors
    /// If a key is missing, wrong or given without need, or the header of an encrypted file is damaged.
    pub(crate) fn open(source: R, start: &[u8], keys: &ArchiveKeys) -> Result<Self, ArchiveError> {
        if start.starts_with(ARMOR_START) {
            return Err(ArchiveError::Armor);
        }
        if !start.starts_with(AGE_START) {
            return match keys {
                ArchiveKeys::None => Ok(Self::Plain(source)),
                _ => Err(ArchiveError::Unencrypted),
            };
        }
        let decryptor = Decryptor::new_buffered(BufReader::new(source))
            .map_err(|error| decryption_error(error, KeyKind::Identity))?;
        let kind = match decryptor.is_scrypt() {
            true => KeyKind::Passphrase,
            false => KeyKind::Identity,
        };
        let decrypted = match (keys, kind) {
            (ArchiveKeys::Identities(identities), KeyKind::Identity) => {
                decryptor.decrypt(identities.iter().map(|identity| &**identity as _))
            }
            (ArchiveKeys::Passphrase(passphrase), KeyKind::Passphrase) => {
                let mut identity = scrypt::Identity::new(passphrase.clone());
                identity.set_max_work_factor(WORK_FACTOR_MAX);
                decryptor.decrypt(std::iter::once(&identity as _))
            }
            _ => return Err(ArchiveError::MissingKey(kind)),
        };
        let stream = decrypted.map_err(|error| decryption_error(error, kind))?;
        Ok(Self::Encrypted(Box::new(stream)))
    }

    /// Goes back to the first byte.
    pub(crate) fn rewind(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(source) => source.rewind(),
            Self::Encrypted(stream) => stream.seek(SeekFrom::Start(0)).map(drop),
        }
    }
}

impl<R: Read> Read for Payload<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(source) => source.read(buffer),
            Self::Encrypted(stream) => stream.read(buffer),
        }
    }
}

fn decryption_error(error: DecryptError, kind: KeyKind) -> ArchiveError {
    match error {
        DecryptError::Io(error) => error.into(),
        DecryptError::NoMatchingKeys
        | DecryptError::DecryptionFailed
        | DecryptError::KeyDecryptionFailed => ArchiveError::WrongKey(kind),
        DecryptError::ExcessiveWork { required, .. } => {
            ArchiveError::ExcessiveWork { required, most: WORK_FACTOR_MAX }
        }
        DecryptError::InvalidHeader | DecryptError::InvalidMac => {
            ArchiveError::Damage("the header of its encryption was altered".to_owned())
        }
        _ => ArchiveError::Foreign("it is encrypted in a way that is not known".to_owned()),
    }
}
