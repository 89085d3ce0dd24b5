//! `doctor`: checks the home, and says what is wrong and how to repair it.

mod checks;

use commonbook::Commonbook;
use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::store::StoreLoss;
use serde_json::{Value, json};

use super::layout::print_labelled;
use crate::background::health::{self, HealthCheck};
use crate::calls::output::{self, count_text};
use crate::settings::config::Config;
pub(super) use checks::reach;

/// Checks the store, the server, the model, ports, file modes and clients.
#[derive(Debug, clap::Args)]
pub(crate) struct DoctorCommand {
    /// Also verify the digest of every row and the hash chain of every journal
    #[arg(long)]
    deep: bool,
    /// Accept that the store has lost data: record the loss in the journal and reset the mark
    #[arg(long)]
    accept_loss: bool,
}

/// The state of the hooks of a home.
pub(crate) struct HookState {
    /// The number of user commands that they run.
    pub(crate) commands: Result<usize>,
    /// The number of events that wait to be written.
    pub(crate) waiting: usize,
    /// What was given up of what they had to write.
    pub(crate) loss: Option<String>,
}

/// The state of the store.
#[derive(Default)]
struct StoreHealth {
    json: Value,
    checks: Vec<HealthCheck>,
    damage: usize,
}

impl StoreHealth {
    /// The state of a store that cannot be opened or read.
    fn unreadable(error: &Error) -> Self {
        let repair = error.hint.clone().unwrap_or_else(|| "See docs/operating.md.".to_owned());
        let checks = vec![HealthCheck::faulty("store", error.message.clone(), repair)];
        Self { json: json!({"findings": [], "error": error.message}), checks, damage: 0 }
    }
}

impl DoctorCommand {
    /// Prints what it finds. `accept` accepts the loss of data in the store.
    ///
    /// # Errors
    /// `unavailable` if the store is damaged, newer than the program or cannot be opened, or if
    /// another check fails; `conflict` if it accepts a loss and the store has lost nothing.
    pub(crate) fn run(
        &self,
        config: &Config,
        open: impl FnOnce() -> Result<Commonbook>,
        accept: impl FnOnce() -> Result<StoreLoss>,
        hooks: HookState,
        as_json: bool,
    ) -> Result<()> {
        let accepted = self.accept_loss.then(accept).transpose()?;
        // The other checks may say why it cannot be opened.
        let (mut store, store_error) = match check_store(config, open, self.deep) {
            Ok(store) => (store, None),
            Err(error) => (StoreHealth::unreadable(&error), Some(error)),
        };
        if let Some(StoreLoss { reason, .. }) = accepted {
            store.checks.insert(0, HealthCheck::healthy("accepted", reason.clone()));
            store.json["accepted_loss"] = json!(reason);
        }
        let mut checks = store.checks;
        checks.extend(checks::run_checks(config, hooks));
        if as_json {
            store.json["checks"] = json!(checks);
            output::print_json(&store.json);
        } else {
            for HealthCheck { what, found, repair } in &checks {
                print_labelled(what, found);
                if let Some(repair) = repair {
                    print_labelled("", &format!("-> {repair}"));
                }
            }
        }
        if let Some(error) = store_error {
            return Err(error);
        }
        if store.damage > 0 {
            let message = format!("the store is damaged: {} findings", store.damage);
            return Err(Error::new(ErrorKind::Unavailable, message).hint(
                "Stop every commonbook process, then restore the file from a backup or an export.",
            ));
        }
        match checks.iter().filter(|check| check.repair.is_some()).count() {
            0 => Ok(()),
            failed => {
                let message = count_text(failed as u64, "check", "checks") + " failed";
                Err(Error::new(ErrorKind::Unavailable, message)
                    .hint("Follow the line marked -> below each failed check."))
            }
        }
    }
}

fn check_store(
    config: &Config,
    open: impl FnOnce() -> Result<Commonbook>,
    deep: bool,
) -> Result<StoreHealth> {
    // A mark without a store means that the store is gone: opening it reports that.
    if !config.has_store()? && !config.store_file()?.with_extension("db.mark").exists() {
        let path = config.store_file()?;
        let note = format!("{} does not exist yet", path.display());
        let json = json!({"store": path, "findings": [], "note": note});
        let found = format!("{note}: the first save creates it");
        let checks = vec![HealthCheck::healthy("store", found)];
        return Ok(StoreHealth { json, checks, damage: 0 });
    }
    let book = open()?;
    let progress = output::spinner("checking the store");
    let mut findings = book.store().check();
    if deep && let Ok(found) = &mut findings {
        // Rows on damaged pages cannot be verified.
        found.extend(if found.is_empty() { book.store().check_rows()? } else { Vec::new() });
    }
    let index_findings = book.index().check();
    progress.finish_and_clear();
    let (findings, index_findings) = (findings?, index_findings?);
    let bytes = book.store().disk_bytes()?;
    let workspaces = book.store().read(|tx| tx.workspaces())?;
    let mut checks = health::check_files(config, &book)?;
    checks
        .extend(findings.iter().map(|finding| HealthCheck::healthy("damage", finding.to_string())));
    if findings.is_empty() {
        let found = match deep {
            true => format!("{}, and only commonbook has changed it", health::INTACT),
            false => health::INTACT.to_owned(),
        };
        checks.push(HealthCheck::healthy("integrity", found));
    }
    let damage = findings.len();
    let json = json!({
        "store": book.store().place(), "disk_bytes": bytes, "workspaces": workspaces, "findings": findings,
        "index_findings": index_findings,
    });
    Ok(StoreHealth { json, checks, damage })
}
