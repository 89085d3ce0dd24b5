//! Why an archive is refused.

use std::io;

use crate::ARCHIVE_VERSION;
use crate::encryption::KeyKind;

/// Why a file cannot be read as an archive. No text of the file is in a message, but a name in quotation marks.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// The file is no archive of Commonbook.
    #[error("the file is no archive of Commonbook: {0}")]
    Foreign(String),
    /// The file is not what its writer wrote.
    #[error("the archive is damaged: {0}")]
    Damage(String),
    /// A newer program wrote the file.
    #[error(
        "the archive has version {version}, of {written_by}; expected {ARCHIVE_VERSION} or less"
    )]
    NewerVersion {
        /// The version of its format.
        version: u64,
        /// The program that wrote it.
        written_by: String,
    },
    /// The file is encrypted, and no key of this kind was given.
    #[error("the archive is encrypted {0}, and no key for that was given")]
    MissingKey(KeyKind),
    /// No given key decrypts the file.
    #[error("the archive is encrypted {0}, and the given key is not the right one")]
    WrongKey(KeyKind),
    /// A key was given for a file that is not encrypted.
    #[error("the archive is not encrypted, and a key was given")]
    Unencrypted,
    /// The encrypted file is written as text.
    #[error("the file is an encrypted one in ASCII armor; expected a binary one")]
    Armor,
    /// The passphrase of the file needs more work than is done for a file of unknown origin.
    #[error("its passphrase needs 2^{required} rounds of work; expected at most 2^{most}")]
    ExcessiveWork {
        /// The logarithm of the work that it needs.
        required: u8,
        /// The logarithm of the work that is done.
        most: u8,
    },
    /// The file cannot be read.
    #[error(transparent)]
    Io(io::Error),
}

impl From<io::Error> for ArchiveError {
    /// The error of a read: decoders report what is wrong with the data as an error of reading.
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Self::Damage("the file ends early".to_owned()),
            io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => {
                Self::Damage("its bytes were altered".to_owned())
            }
            _ => Self::Io(error),
        }
    }
}
