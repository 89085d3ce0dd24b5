//! `migrate`: everything of a home into a PostgreSQL database, or back, with a comparison of every row.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use commonbook::Commonbook;
use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::store::{Store, TransferStep, transfer};
use indicatif::{HumanCount, ProgressBar, ProgressStyle};
use serde_json::json;

use crate::calls::output::{print_json, print_line, print_note};
use crate::clients::local::RpcClient;
use crate::settings::config::Config;
use crate::settings::database::Database;
use crate::system::secret_string::SecretString;

/// Copies everything from a home into a PostgreSQL database, or back, and compares every row. Stop all
/// servers and clients first. A run that was cut is continued by the next one; the source stays as it is.
#[derive(Debug, clap::Args)]
pub(crate) struct MigrateCommand {
    /// Folder of a home, or the connection string of a database, that has the memories
    #[arg(long, value_name = "PLACE")]
    from: String,
    /// Folder of a home, or the connection string of a database, that is empty
    #[arg(long, value_name = "PLACE")]
    to: String,
}

/// Where memories are moved from or to.
enum MigrationPlace {
    Home(PathBuf),
    Database(Database),
}

/// Opens the store of a place.
pub(crate) struct StoreOpeners<'o> {
    /// The store in this file.
    pub(crate) file: &'o dyn Fn(&Path) -> Result<Arc<dyn Store>>,
    /// The store in this database.
    pub(crate) database: &'o dyn Fn(&Database) -> Result<Arc<dyn Store>>,
}

impl MigrateCommand {
    /// Copies and compares, and prints the number of rows.
    ///
    /// # Errors
    /// `not_found` if the home to copy from has no store; `unavailable` if a server runs on a home, or a
    /// store cannot be used; `conflict` if the target has other memories.
    pub(crate) fn run(
        &self,
        config: &Config,
        open: &StoreOpeners<'_>,
        as_json: bool,
    ) -> Result<()> {
        let (from, to) = (self.place(&self.from, config)?, self.place(&self.to, config)?);
        if let MigrationPlace::Home(home) = &from
            && !home.join(STORE_FILE).exists()
        {
            let message = format!("{} has no memories", home.display());
            return Err(Error::not_found(message).with_field("from").hint("Name another home."));
        }
        let is_database = matches!(to, MigrationPlace::Database(_));
        let homes = [from.home(), to.home()].map(|home| home.map(Path::to_owned));
        let (from, to) = (from.open(config, open)?, to.open(config, open)?);
        let [from_home, to_home] = homes;
        if let Some(home) = from_home {
            Commonbook::new(Arc::clone(&from)).with_home(home).store_standing_files()?;
        }
        let bar = progress_bar();
        let summary = transfer(&*from, &*to, &mut |step: TransferStep| {
            let verb = if step.is_comparison { "comparing" } else { "copying" };
            bar.set_message(format!("{verb} {}", step.table));
            bar.inc(step.rows);
        });
        bar.finish_and_clear();
        let summary = summary?;
        to.refresh_statistics()?;
        if let Some(home) = to_home {
            let book = Commonbook::new(Arc::clone(&to)).with_home(home).as_node()?;
            book.mirror_standing_files()?;
        }
        if as_json {
            print_json(&json!({
                "from": from.place(), "to": to.place(),
                "copied": summary.copied, "compared": summary.compared,
            }));
            return Ok(());
        }
        let (copied, compared) = (HumanCount(summary.copied), HumanCount(summary.compared));
        print_line(&format!("Copied {copied} rows to {}", to.place()));
        print_line(&format!("Compared {compared} rows, journals among them: all are equal"));
        if is_database {
            print_note(
                "Set COMMONBOOK_DATABASE, or `database` in config.json, where this database is used.",
            );
        }
        Ok(())
    }

    fn place(&self, place: &str, config: &Config) -> Result<MigrationPlace> {
        let is_keyword = |word: &str| word.starts_with("host=") || word.starts_with("dbname=");
        if place.contains("://") || place.split_whitespace().any(is_keyword) {
            let configured = config.database()?;
            let authorities = configured.and_then(|database| database.authorities);
            let url = SecretString(place.to_owned());
            return Ok(MigrationPlace::Database(Database { url, authorities }));
        }
        Ok(MigrationPlace::Home(PathBuf::from(place)))
    }
}

/// The file of a home's store.
const STORE_FILE: &str = "commonbook.db";

impl MigrationPlace {
    fn home(&self) -> Option<&Path> {
        match self {
            Self::Home(home) => Some(home),
            Self::Database(_) => None,
        }
    }

    fn open(&self, config: &Config, open: &StoreOpeners<'_>) -> Result<Arc<dyn Store>> {
        match self {
            Self::Database(database) => (open.database)(database),
            Self::Home(home) => {
                let config = Config { home: Some(home.clone()), database: None, ..config.clone() };
                if RpcClient::connect_to_home(&config).is_some() {
                    let message = format!("a server has the store of {} open", home.display());
                    return Err(Error::new(ErrorKind::Unavailable, message).hint(
                        "Stop the server and every client of this home, then migrate again.",
                    ));
                }
                crate::system::atomic::create_folders(home)?;
                (open.file)(&home.join(STORE_FILE))
            }
        }
    }
}

fn progress_bar() -> ProgressBar {
    let bar = ProgressBar::new_spinner();
    let style = ProgressStyle::with_template("{spinner} {msg}: {human_pos} rows, {elapsed}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
    bar.enable_steady_tick(Duration::from_millis(100));
    bar
}
