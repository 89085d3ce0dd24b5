//! `doctor`: looks the home through, and says what is wrong and what to do.

mod checks;

use commonbook::Commonbook;
use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::store::StoreLoss;
use indicatif::{HumanBytes, ProgressBar};
use serde_json::{Value, json};

use crate::config::Config;
use crate::output;
use checks::HealthCheck;

/// Looks the store through for damage, and the server, the model, the ports and the clients.
#[derive(Debug, clap::Args)]
pub(crate) struct DoctorCommand {
    /// Recompute the digest of every row and the hash chain of every journal too
    #[arg(long)]
    deep: bool,
    /// Go on with a store that has lost something: notes it in the journal, and resets the mark
    #[arg(long)]
    accept_loss: bool,
}

/// What was found of the store.
#[derive(Default)]
struct StoreHealth {
    told: Value,
    lines: Vec<String>,
    damage: usize,
}

impl DoctorCommand {
    /// Tells what it finds. `commands` is how many commands of the user's own the hooks run;
    /// `accept` goes on with a store that has lost something.
    ///
    /// # Errors
    /// `unavailable` when the store is damaged, newer, or cannot be opened, and when something else
    /// is wrong; `conflict` when a loss is accepted and there is none.
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
            store.lines.insert(0, format!("accepted    {reason}"));
            store.told["accepted_loss"] = json!(reason);
        }
        let checks = checks::run_checks(config, commands);
        if as_json {
            let mut told = store.told;
            told["checks"] = json!(checks);
            output::print_json(&told);
        } else {
            store.lines.iter().for_each(|line| output::print_line(line));
            for HealthCheck { what, found, mend } in &checks {
                output::print_line(&format!("{what:10}  {found}"));
                if let Some(mend) = mend {
                    output::print_line(&format!("{:10}  -> {mend}", ""));
                }
            }
        }
        if store.damage > 0 {
            let told = format!("{} findings of damage", store.damage);
            return Err(Error::new(ErrorKind::Unavailable, told).hint(
                "Stop every commonbook process, and restore the file from a copy or an export.",
            ));
        }
        match checks.iter().filter(|check| check.mend.is_some()).count() {
            0 => Ok(()),
            wrong => Err(Error::new(ErrorKind::Unavailable, format!("{wrong} things are wrong"))
                .hint("What to do about each stands below it.")),
        }
    }
}

fn check_store(
    config: &Config,
    open: impl FnOnce() -> Result<Commonbook>,
    deep: bool,
) -> Result<StoreHealth> {
    let path = config.store_path()?;
    // Where there is a mark there was a store, and opening it says what became of it.
    if !path.exists() && !path.with_extension("db.mark").exists() {
        let note = format!("Nothing is kept in {} yet", path.display());
        let told = json!({"store": path, "findings": [], "note": note});
        return Ok(StoreHealth { told, lines: vec![note], damage: 0 });
    }
    let book = open()?;
    let progress = ProgressBar::new_spinner().with_message("looking through the store");
    progress.enable_steady_tick(std::time::Duration::from_millis(100));
    let mut findings = book.store().check();
    if deep && let Ok(found) = &mut findings {
        // Of pages that cannot be read there is nothing to recompute.
        found.extend(if found.is_empty() { book.store().check_rows()? } else { Vec::new() });
    }
    let spoilt = book.index().check();
    progress.finish_and_clear();
    let (findings, spoilt) = (findings?, spoilt?);
    let bytes = book.store().disk_bytes()?;
    let workspaces = book.store().read(|tx| tx.workspaces())?;
    let names: Vec<_> = workspaces.iter().map(ToString::to_string).collect();
    let mut lines = vec![
        format!("store       {} ({})", path.display(), HumanBytes(bytes)),
        format!("workspaces  {}", names.join(", ")),
    ];
    lines.extend(findings.iter().map(|finding| format!("damage      {finding}")));
    let mends = |finding| format!("index       {finding}; `commonbook reindex` mends it");
    lines.extend(spoilt.iter().map(mends));
    if findings.is_empty() {
        lines.push(match deep {
            true => "The store is whole, and nothing was changed outside of commonbook".to_owned(),
            false => "The store is whole".to_owned(),
        });
    }
    let damage = findings.len();
    let told = json!({
        "store": path, "disk_bytes": bytes, "workspaces": workspaces, "findings": findings,
        "index_findings": spoilt,
    });
    Ok(StoreHealth { told, lines, damage })
}
