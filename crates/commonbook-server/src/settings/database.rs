//! The PostgreSQL database that holds the memories, if they are not in the file of the home.

use std::path::PathBuf;

use commonbook::base::error::{Error, Result};
use commonbook::base::hash::sha256;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::system::secret_string::SecretString;

/// The section `database` of config.json.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DatabaseSettings {
    /// The connection string, such as `postgres://commonbook@db.example.com/commonbook`; without it the memories are in
    /// the home. `COMMONBOOK_DATABASE` precedes it.
    #[schemars(with = "Option<String>")]
    url: Option<SecretString>,
    /// The absolute path of a file with the PEM certificates of the authorities that sign the server's
    /// certificate; without it the public ones count.
    authorities: Option<PathBuf>,
}

/// A database with memories.
#[derive(Debug, Clone)]
pub(crate) struct Database {
    /// The connection string.
    pub(crate) url: SecretString,
    /// The file with certificates of authorities.
    pub(crate) authorities: Option<PathBuf>,
}

impl DatabaseSettings {
    /// Succeeds if the path is absolute.
    ///
    /// # Errors
    /// `invalid` with the field.
    pub(crate) fn check(&self) -> Result<()> {
        match &self.authorities {
            Some(file) if !file.is_absolute() => {
                Err(Error::invalid("authorities", "expected the absolute path of a file"))
            }
            _ => Ok(()),
        }
    }

    /// The database; `url` is that of the environment, which precedes. `None` without either.
    pub(crate) fn database(self, url: Option<&SecretString>) -> Option<Database> {
        let url = url.cloned().or(self.url)?;
        Some(Database { url, authorities: self.authorities })
    }
}

impl Database {
    /// What distinguishes this database from others, without its secrets.
    pub(crate) fn fingerprint(&self) -> String {
        sha256(&self.url.0)
    }
}
