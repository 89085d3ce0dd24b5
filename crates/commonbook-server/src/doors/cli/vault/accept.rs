//! `vault accept`: uses a vault that another home made.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;
use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::base::home_key::HomeKey;
use commonbook::model::agent::Agent;
use commonbook::model::caller::Caller;
use commonbook_vault::files::VaultFiles;
use commonbook_vault::folder::{DiskSteps, VaultFolder};
use commonbook_vault::report::SyncOptions;
use commonbook_vault::settings::VaultSettings;
use commonbook_vault::writer::{VaultWriter, WriterKey};
use serde_json::{Value, json};

use super::{VaultPlace, report};
use crate::background::vaults::VaultRegistry;
use crate::calls::output::{count_text, print_json, print_line, print_note};
use crate::doors::cli::person::as_person;

/// Uses a vault that another home made: its memories become those of others, and none of them is trusted
/// until you accept the key of the home that signed it.
#[derive(Debug, Args)]
pub(super) struct AcceptVault {
    /// Folder [default: this folder if it is a vault, else that of the project]
    dir: Option<PathBuf>,
    /// Accept the home with this key, which its person told you: what it signed is as good as what you wrote
    #[arg(long = "writer", value_name = "KEY")]
    writers: Vec<WriterKey>,
    /// Take in more new files than a pass takes in unasked
    #[arg(long)]
    many: bool,
}

impl AcceptVault {
    /// Adopts the vault, with the homes of these keys, and runs one pass.
    ///
    /// # Errors
    /// `not_found` if the folder is no vault; `conflict` if it is the vault of another workspace; errors of
    /// the pass.
    pub(super) fn run(&self, place: &VaultPlace<'_>, as_json: bool) -> Result<()> {
        let root = place.find(self.dir.as_deref())?;
        let (home, folder) = (place.config.home()?, VaultFolder::new(&root, Box::new(DiskSteps)));
        let workspace = place.caller.workspace.clone();
        let said = VaultSettings::read(&folder)?;
        if said.workspace != workspace {
            let message = format!(
                "the vault says that it is of workspace {}; expected {workspace}, that of this folder",
                said.workspace
            );
            return Err(Error::conflict(message)
                .with_field("DIR")
                .hint(format!("If it is yours to say, give --workspace {}.", said.workspace)));
        }
        let own = VaultWriter::of_home(&HomeKey::open(home)?).key();
        let found = writers_of(&folder, &said)?;
        let accepted = VaultRegistry::accept(home, &root, &workspace, &self.writers)?.writers;
        let others = found.keys().copied().filter(|key| *key != own);
        VaultRegistry::note_writers(home, &root, others)?;
        let options = SyncOptions { many: self.many, ..SyncOptions::default() };
        let done = place.sync(&root, options)?;
        let waiting = found.iter().filter(|(key, _)| **key != own && !accepted.contains(*key));
        if as_json {
            let waiting = waiting.map(|(key, files)| json!({"key": key, "files": files}));
            let waiting: Vec<Value> = waiting.collect();
            print_json(&json!({"key": own, "accepted": accepted, "waiting": waiting}));
            return Ok(());
        }
        report::print(&root, &done, false, as_json);
        print_line(&format!("the key of this home, for those who share the vault: {own}"));
        for (key, files) in waiting {
            let (files, root) = (count_text(*files, "file", "files"), root.display());
            print_note(&format!(
                "{files} signed with {key}; if its person told you that key, run `commonbook vault accept {root} --writer {key}`"
            ));
        }
        Ok(())
    }
}

/// Refuses a caller that may be an agent, as `memory agree` does: whose word a home takes is a person's to say.
///
/// # Errors
/// `forbidden` without a terminal, and under an agent's name.
pub(super) fn require_person(caller: &Caller) -> Result<()> {
    if as_person(caller.clone()).agent == Agent::human() {
        return Ok(());
    }
    let message = "only a person accepts a vault or the key of a home";
    Err(Error::new(ErrorKind::Forbidden, message).hint(
        "Run `commonbook vault accept` at a terminal, without an agent's name, or accept it on the page Vaults of \
         `commonbook dashboard`.",
    ))
}

/// The homes that signed files of a vault, each with their number.
fn writers_of(folder: &VaultFolder, settings: &VaultSettings) -> Result<BTreeMap<WriterKey, u64>> {
    let mut writers = BTreeMap::new();
    let files = VaultFiles::read(folder)?;
    let all = files.memories.values().flatten();
    for key in all.filter_map(|found| found.file.writer(&settings.workspace)) {
        *writers.entry(key).or_default() += 1;
    }
    Ok(writers)
}
