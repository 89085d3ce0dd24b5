//! `doctor`: checks the home, and says what is wrong and how to repair it.

mod checks;

use commonbook::Commonbook;
use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::model::workspace::Workspace;
use commonbook::store::StoreLoss;
use indicatif::{HumanBytes, ProgressBar};
use serde_json::{Value, json};

use super::layout::print_labelled;
use crate::config::Config;
use crate::output::{self, count_text};
use checks::HealthCheck;

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

/// Workspaces that the report names.
const WORKSPACES_SHOWN_MAX: usize = 5;

/// The state of the store.
#[derive(Default)]
struct StoreHealth {
    json: Value,
    /// What was checked, and what was found.
    lines: Vec<(&'static str, String)>,
    damage: usize,
}

impl DoctorCommand {
    /// Prints what it finds. `commands` is the number of user commands that the hooks run;
    /// `accept` accepts the loss of data in the store.
    ///
    /// # Errors
    /// `unavailable` if the store is damaged, newer than the program or cannot be opened, or if
    /// another check fails; `conflict` if it accepts a loss and the store has lost nothing.
    pub(crate) fn run(
        &self,
        config: &Config,
        open: impl FnOnce() -> Result<Commonbook>,
        accept: impl FnOnce() -> Result<StoreLoss>,
        commands: Result<usize>,
        as_json: bool,
    ) -> Result<()> {
        let accepted = self.accept_loss.then(accept).transpose()?;
        let mut store = check_store(config, open, self.deep)?;
        if let Some(StoreLoss { reason, .. }) = accepted {
            store.lines.insert(0, ("accepted", reason.clone()));
            store.json["accepted_loss"] = json!(reason);
        }
        let checks = checks::run_checks(config, commands);
        if as_json {
            store.json["checks"] = json!(checks);
            output::print_json(&store.json);
        } else {
            store.lines.iter().for_each(|(what, found)| print_labelled(what, found));
            for HealthCheck { what, found, repair } in &checks {
                print_labelled(what, found);
                if let Some(repair) = repair {
                    print_labelled("", &format!("-> {repair}"));
                }
            }
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
    let path = config.store_path()?;
    // A mark without a store means that the store is gone: opening it reports that.
    if !path.exists() && !path.with_extension("db.mark").exists() {
        let note = format!("{} does not exist yet", path.display());
        let json = json!({"store": path, "findings": [], "note": note});
        let found = format!("{note}: the first save creates it");
        return Ok(StoreHealth { json, lines: vec![("store", found)], damage: 0 });
    }
    let book = open()?;
    let progress = ProgressBar::new_spinner().with_message("checking the store");
    progress.enable_steady_tick(std::time::Duration::from_millis(100));
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
    let mut lines = vec![
        ("store", format!("{} ({})", path.display(), HumanBytes(bytes))),
        ("workspaces", workspaces_text(&workspaces)),
    ];
    lines.extend(findings.iter().map(|finding| ("damage", finding.to_string())));
    lines.extend(
        index_findings.iter().map(|finding| {
            ("index", format!("{finding}; `commonbook reindex` rebuilds the index"))
        }),
    );
    if findings.is_empty() {
        let found = match deep {
            true => "The store is intact, and only commonbook has changed it",
            false => "The store is intact",
        };
        lines.push(("integrity", found.to_owned()));
    }
    let damage = findings.len();
    let json = json!({
        "store": path, "disk_bytes": bytes, "workspaces": workspaces, "findings": findings,
        "index_findings": index_findings,
    });
    Ok(StoreHealth { json, lines, damage })
}

/// The workspaces with memories: the first ones by name, and the number of the others.
fn workspaces_text(workspaces: &[Workspace]) -> String {
    let shown = workspaces.iter().take(WORKSPACES_SHOWN_MAX).map(ToString::to_string);
    let shown = shown.collect::<Vec<_>>().join(", ");
    match workspaces.len() {
        0 => "none yet".to_owned(),
        count if count > WORKSPACES_SHOWN_MAX => {
            format!("{shown} and {} more", count - WORKSPACES_SHOWN_MAX)
        }
        _ => shown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_workspaces_are_named_and_the_others_counted() {
        let text = |count: usize| {
            let names = (1..=count).map(|number| format!("w{number}").parse().unwrap());
            workspaces_text(&names.collect::<Vec<_>>())
        };
        assert_eq!(text(0), "none yet");
        assert_eq!(text(5), "w1, w2, w3, w4, w5");
        assert_eq!(text(7), "w1, w2, w3, w4, w5 and 2 more");
    }
}
