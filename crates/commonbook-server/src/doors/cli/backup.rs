//! `backup` and `restore-backup`: the whole home in one file, and back.

use std::fs;
use std::path::{Path, PathBuf};

use commonbook::Commonbook;
use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::base::home_key::HomeKey;
use commonbook::store::sqlite::backup::{self, BackupSummary, HomeFile};
use indicatif::HumanBytes;
use serde_json::json;

use crate::background::home_backup::{KEY_FILE, unwritable, write_home_backup, write_home_file};
use crate::calls::output::{count_text, print_json, print_line, print_note, spinner};
use crate::clients::local::RpcClient;
use crate::settings::config::{Config, SETTINGS_FILE, settings_reach};
use crate::system::atomic;

/// Backs up the whole home into one file while others go on writing, and reads it back: the store,
/// standing memory, settings and the key of the home. The search index is not in it.
#[derive(Debug, clap::Args)]
pub(crate) struct BackupCommand {
    /// File to write, with mode 0600
    file: PathBuf,
    /// Replace an existing file, once the backup is verified
    #[arg(long)]
    force: bool,
}

/// Restores a backup into this home. What was forgotten since stays forgotten. Stop the server first.
#[derive(Debug, clap::Args)]
pub(crate) struct RestoreBackupCommand {
    /// File that `backup` wrote
    file: PathBuf,
    /// Replace the store that this home has
    #[arg(long)]
    yes: bool,
    /// Whether what reaches beyond another home comes along: its tokens, webhooks, and settings that name
    /// commands, folders or addresses
    #[arg(long, value_enum)]
    settings: Option<SettingsChoice>,
}

/// Which settings a home has after a backup of another one is restored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum SettingsChoice {
    /// They replace those of this home
    Take,
    /// This home keeps its own settings, and the tokens and webhooks end
    Leave,
}

impl BackupCommand {
    /// Writes the backup, and prints what it holds.
    ///
    /// # Errors
    /// `not_found` if the home has no store; `invalid` if the file is inside the home; `conflict` if it
    /// exists and `--force` is missing; `unavailable` if it cannot be written or is not equal.
    pub(crate) fn run(&self, config: &Config, as_json: bool) -> Result<()> {
        let (home, store) = (config.home()?, config.store_file()?);
        if !store.exists() {
            return Err(Error::not_found(format!("{} does not exist", store.display()))
                .hint("Name the home with --home."));
        }
        // Migrates an older store, and refuses a damaged one.
        drop(crate::settings::store::open_store(&store)?);
        let progress = spinner("writing the backup");
        let written = write_home_backup(home, &store, &self.file, self.force);
        progress.finish_and_clear();
        let summary = written?;
        if as_json {
            print_json(&json!({"file": self.file, "verified": true, "backup": summary}));
            return Ok(());
        }
        print_line(&format!("Backed up {} to {}", describe(&summary), self.file.display()));
        print_note("The backup was read back and is whole. It holds the key of this home.");
        Ok(())
    }
}

impl RestoreBackupCommand {
    /// Restores the backup, and prints what it held. `open` opens the restored home.
    ///
    /// # Errors
    /// `conflict` if the home has a store and `--yes` is missing, or if the backup is of another home, reaches
    /// beyond it and `--settings` is missing; `unavailable` if a process has the
    /// store open, the backup is damaged or newer, or the disk is full. Then nothing was changed.
    pub(crate) fn run(
        &self,
        config: &Config,
        open: impl FnOnce() -> Result<Commonbook>,
        as_json: bool,
    ) -> Result<()> {
        let (home, store) = (config.home()?, config.store_file()?);
        let progress = spinner("verifying the backup");
        let read = backup::read_backup(&self.file);
        progress.finish_and_clear();
        let (summary, files) = read?;
        if store.exists() && !self.yes {
            return Err(Error::conflict(format!("{} has a store", home.display())).hint(format!(
                "The backup holds {}. Add --yes to replace the store by it, or name an empty --home.",
                describe(&summary)
            )));
        }
        if self.settings.is_none() && !is_of_home(home, &files)? {
            refuse_reach(home, &files, &summary)?;
        }
        let leaves_settings = self.settings == Some(SettingsChoice::Leave);
        if RpcClient::connect_to_home(config).is_some() {
            return Err(Error::new(ErrorKind::Unavailable, "a server has the store open")
                .hint("Stop the server and every client of this home, then restore again."));
        }
        atomic::create_folders(home)?;
        let staged = backup::stage_backup(&self.file, &store)?;
        let forgotten = restore_staged(&staged, &store, leaves_settings).inspect_err(|_| {
            backup::discard_staged(&staged);
        })?;
        let taken = files.iter().filter(|file| !(leaves_settings && file.name == SETTINGS_FILE));
        for HomeFile { name, bytes } in taken {
            write_home_file(home, name, bytes)?;
        }
        match fs::remove_dir_all(store.with_file_name("index")) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(unwritable(error));
            }
            _ => {}
        }
        let book = open()?;
        // The files are older than what was forgotten since.
        book.finish_forgetting()?;
        crate::background::follow::update_index(&book)?;
        if as_json {
            print_json(&json!({"home": home, "forgotten_again": forgotten, "backup": summary}));
            return Ok(());
        }
        print_line(&format!("Restored {} into {}", describe(&summary), home.display()));
        if forgotten > 0 {
            let memories = count_text(forgotten, "memory", "memories");
            print_note(&format!("{memories} of it had been forgotten and did not come back"));
        }
        Ok(())
    }
}

/// Whether the backup was written by this home: it holds the same key.
fn is_of_home(home: &Path, files: &[HomeFile]) -> Result<bool> {
    const MESSAGE: &str = "a backup of this home";
    let Some(own) = HomeKey::read(home)? else { return Ok(false) };
    let key = files.iter().find(|file| file.name == KEY_FILE);
    let key = key.and_then(|file| std::str::from_utf8(&file.bytes).ok());
    let key = key.and_then(|text| HomeKey::from_hex(text.trim()));
    Ok(key.is_some_and(|key| own.proves(MESSAGE, &key.signature(MESSAGE))))
}

/// Refuses what of another home reaches beyond it: settings that name commands, folders or addresses, tokens
/// whose secrets others may have, and webhooks, which send them what happens here.
fn refuse_reach(home: &Path, files: &[HomeFile], summary: &BackupSummary) -> Result<()> {
    let file = files.iter().find(|file| file.name == SETTINGS_FILE);
    let mut reach: Vec<String> = Vec::new();
    for (count, one, several) in
        [(summary.tokens, "token", "tokens"), (summary.webhooks, "webhook", "webhooks")]
    {
        reach.extend((count > 0).then(|| count_text(count, one, several)));
    }
    let settings = file.map(|file| settings_reach(&file.bytes)).unwrap_or_default();
    reach.extend(settings.iter().map(|setting| format!("{SETTINGS_FILE}: {setting}")));
    if reach.is_empty() {
        return Ok(());
    }
    let message = format!(
        "{} did not write this backup, which reaches beyond the home: {}",
        home.display(),
        reach.join(", ")
    );
    Err(Error::conflict(message).with_field("--settings").hint(
        "If the backup is yours, add `--settings take`. `--settings leave` restores everything else.",
    ))
}

/// Makes a staged copy the store of the home, without what either of the two has forgotten, and without its
/// tokens and webhooks if they end. Returns the number of memories that did not come back.
fn restore_staged(staged: &Path, store: &Path, ends_access: bool) -> Result<u64> {
    let restored = Commonbook::new(crate::settings::store::open_store(staged)?);
    if ends_access {
        restored.end_outside_access()?;
    }
    if store.exists() {
        match crate::settings::store::open_store_despite_loss(store) {
            Ok(present) => restored.take_over_forgotten(&*present)?,
            Err(error) => print_note(&format!(
                "note: the present store cannot be read, so what it had forgotten is unknown: {}",
                error.message
            )),
        }
    }
    let forgotten = restored.forget_again()?;
    drop(restored);
    backup::replace_store(staged, store)?;
    drop(crate::settings::store::open_store(store)?);
    Ok(forgotten)
}

fn describe(summary: &BackupSummary) -> String {
    format!(
        "{}, {} and {} of {} ({})",
        count_text(summary.memories, "memory", "memories"),
        count_text(summary.events, "event", "events"),
        count_text(summary.files.len() as u64, "file", "files"),
        count_text(summary.workspaces, "workspace", "workspaces"),
        HumanBytes(summary.bytes)
    )
}
