//! `vault`: the Markdown files of a workspace, kept equal to its memories; and `rebuild`, the way back.

mod accept;
mod rebuild;
mod report;
mod source;
mod watch;

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, Subcommand};
use commonbook::Commonbook;
use commonbook::base::clock::SystemClock;
use commonbook::base::error::{Error, Result};
use commonbook::base::home_key::HomeKey;
use commonbook::base::id::RandomIds;
use commonbook::model::access;
use commonbook::model::agent::Agent;
use commonbook::model::caller::Caller;
use commonbook::model::token::TokenScope;
use commonbook::model::workspace::Workspace;
use commonbook_vault::cache::PassCache;
use commonbook_vault::folder::{DiskSteps, VaultFolder};
use commonbook_vault::report::{SyncOptions, SyncReport};
use commonbook_vault::settings::{VaultSettings, is_vault};
use commonbook_vault::state::VaultState;
use commonbook_vault::sync::Vault;
use commonbook_vault::writer::VaultWriter;

use accept::AcceptVault;
pub(crate) use rebuild::RebuildCommand;
pub(crate) use source::BookSource;

use crate::background::follow;
use crate::background::vaults::{AdoptedVault, VaultRegistry};
use crate::calls::output::{count_text, print_note};
use crate::clients::remote::rest::COMMAND_TIMEOUT;
use crate::clients::remote::{RestClient, ServerAddress};
use crate::settings::config::Config;
use crate::settings::project::place_outside;

/// The folder of a project's vault, below the project.
const PROJECT_VAULT: &str = ".commonbook/vault";

/// Keeps the memories of the workspace as Markdown files that you read, edit and keep in git.
#[derive(Debug, Args)]
pub(crate) struct VaultCommand {
    #[command(subcommand)]
    action: VaultAction,
}

#[derive(Debug, Subcommand)]
enum VaultAction {
    /// Makes a vault in a folder and writes the memories into it
    Init(InitVault),
    /// Uses a vault that another home made, and believes what it says only of homes whose keys you accept
    Accept(AcceptVault),
    /// Takes in what you changed in the files, and writes what changed in the store
    Sync(SyncVault),
    /// Does so again and again: each change arrives within a second, until Ctrl-C
    Watch(WatchVault),
}

#[derive(Debug, Args)]
struct InitVault {
    /// Folder [default: .commonbook/vault in the project]
    dir: Option<PathBuf>,
    /// Write your private memories too, into a folder that git ignores
    #[arg(long)]
    private: bool,
    /// Write the earlier revisions of memories too
    #[arg(long)]
    with_history: bool,
}

#[derive(Debug, Args)]
struct SyncVault {
    /// Folder [default: this folder if it is a vault, else that of the project, else the only one of the
    /// workspace]
    dir: Option<PathBuf>,
    /// Delete the memories whose files you removed; they can be restored for 30 days
    #[arg(long)]
    prune: bool,
    /// Take in a change of any size, such as many new files
    #[arg(long)]
    many: bool,
    /// Only show what would be accepted
    #[arg(long)]
    dry_run: bool,
    /// Commit, pull from and push to the git repository of the vault too
    #[arg(long, conflicts_with = "dry_run")]
    git: bool,
}

#[derive(Debug, Args)]
struct WatchVault {
    /// Folder [default: this folder if it is a vault, else that of the project, else the only one of the
    /// workspace]
    dir: Option<PathBuf>,
}

/// Where a vault's command works, and for whom.
pub(crate) struct VaultPlace<'p> {
    pub(crate) config: &'p Config,
    pub(crate) caller: Caller,
    pub(crate) source: BookSource,
}

impl VaultCommand {
    /// Runs the action.
    ///
    /// # Errors
    /// `not_found` if the folder is no vault; `conflict` if it is the vault of another workspace, or if very
    /// much changed at once; `unavailable` if the store or the disk fails.
    pub(crate) fn run(
        &self,
        caller: Caller,
        config: &Config,
        open: impl FnOnce() -> Result<Commonbook>,
        as_json: bool,
    ) -> Result<()> {
        if let VaultAction::Accept(_) = &self.action {
            accept::require_person(&caller)?;
        }
        let folder = self.folder(config, &caller.workspace);
        let place = &VaultPlace::open(folder.as_deref(), caller, config, open)?;
        match &self.action {
            VaultAction::Init(init) => place.init(init, as_json),
            VaultAction::Accept(accept) => accept.run(place, as_json),
            VaultAction::Sync(sync) => {
                let folder = place.find(sync.dir.as_deref())?;
                let options =
                    SyncOptions { prune: sync.prune, many: sync.many, dry_run: sync.dry_run };
                match sync.git {
                    true => place.sync_with_git(&folder, options, as_json),
                    false => {
                        let report = place.sync(&folder, options)?;
                        report::print(&folder, &report, sync.dry_run, as_json);
                        Ok(())
                    }
                }
            }
            VaultAction::Watch(watch) => {
                let folder = place.find(watch.dir.as_deref())?;
                watch::watch(place, &folder)
            }
        }
    }

    /// The folder of the vault, by which its workspace is known, for a command in this workspace.
    fn folder(&self, config: &Config, workspace: &Workspace) -> Option<PathBuf> {
        match &self.action {
            VaultAction::Init(_) | VaultAction::Accept(_) => None,
            VaultAction::Sync(SyncVault { dir, .. }) | VaultAction::Watch(WatchVault { dir }) => {
                find_folder(config, dir.as_deref(), workspace).ok()
            }
        }
    }
}

impl<'p> VaultPlace<'p> {
    /// The place of a command on the vault in a folder, or on none yet: in the workspace of the vault, for
    /// the person.
    ///
    /// # Errors
    /// `forbidden` without the scope `admin`, and if this home does not use the vault; errors of `open`.
    pub(crate) fn open(
        folder: Option<&Path>,
        mut caller: Caller,
        config: &'p Config,
        open: impl FnOnce() -> Result<Commonbook>,
    ) -> Result<Self> {
        config.require_settings()?;
        access::require_scope(&caller, TokenScope::Admin)?;
        let address = ServerAddress::of(config, None)?;
        // At a server its token says who the person is.
        if address.is_none() && caller.agent.is_anonymous() {
            caller.agent = Agent::human();
        }
        if let Some(folder) = folder {
            let home = config.home()?;
            let registry = VaultRegistry::following(home, folder)?;
            let vault = registry.vault(folder).inspect_err(|_| {
                note_offer(home, folder, &caller.workspace);
            })?;
            caller.workspace = vault.settings.workspace.clone();
        }
        let source = match address {
            Some(address) => BookSource::Server {
                server: RestClient::new(address, COMMAND_TIMEOUT),
                caller: caller.clone(),
                key: Box::new(HomeKey::open(config.home()?)?),
            },
            None => BookSource::Home { book: Box::new(open()?), caller: caller.clone() },
        };
        Ok(Self { config, caller, source })
    }

    fn init(&self, init: &InitVault, as_json: bool) -> Result<()> {
        let root = match &init.dir {
            Some(dir) => dir.clone(),
            None => project_vault(self.config)?,
        };
        std::fs::create_dir_all(&root).map_err(|error| {
            Error::invalid("DIR", format!("cannot create {}: {error}", root.display()))
                .hint("Name a folder that you may write.")
        })?;
        let root = std::fs::canonicalize(&root).unwrap_or(root);
        if std::fs::canonicalize(self.config.home()?).is_ok_and(|home| root.starts_with(home)) {
            return Err(Error::invalid(
                "DIR",
                format!("{} is inside the home folder", root.display()),
            )
            .hint("Name a folder outside the home folder."));
        }
        if !is_vault(&root) && has_files(&root) {
            return Err(Error::invalid("DIR", format!("{} has other files", root.display())).hint(
                "Name an empty folder, or a new one: the files in the folder of a vault become memories.",
            ));
        }
        let settings = VaultSettings {
            private: init.private,
            history: init.with_history,
            ..VaultSettings::new(self.caller.workspace.clone())
        };
        let registry = VaultRegistry::following(self.config.home()?, &root)?;
        let before = match is_vault(&root) {
            true => Some(registry.vault(&root)?.clone()),
            false => None,
        };
        settings.write(&VaultFolder::new(&root, Box::new(DiskSteps)))?;
        let before = before.unwrap_or_else(|| AdoptedVault::new(settings.clone()));
        VaultRegistry::set(self.config.home()?, &root, before.with_settings(settings))?;
        let report = self.sync(&root, SyncOptions::default())?;
        report::print(&root, &report, false, as_json);
        Ok(())
    }

    /// The folder of a vault that exists.
    fn find(&self, dir: Option<&Path>) -> Result<PathBuf> {
        find_folder(self.config, dir, &self.caller.workspace)
    }

    /// One pass.
    ///
    /// # Errors
    /// As [`Vault::sync`].
    pub(crate) fn sync(&self, root: &Path, options: SyncOptions) -> Result<SyncReport> {
        self.sync_again(root, &mut PassCache::default(), options)
    }

    /// One pass, which reads only what has changed since the passes before with this cache.
    ///
    /// # Errors
    /// As [`Vault::sync`].
    pub(crate) fn sync_again(
        &self,
        root: &Path,
        cache: &mut PassCache,
        options: SyncOptions,
    ) -> Result<SyncReport> {
        let folder = VaultFolder::new(root, Box::new(DiskSteps));
        let home = self.config.home()?;
        let AdoptedVault { settings, writers, .. } =
            VaultRegistry::read(home)?.vault(folder.root())?.clone();
        // The folder still is a vault, and of this workspace.
        settings.check(&VaultSettings::read(&folder)?)?;
        let vault = Vault {
            state: VaultState::of(home, folder.root()),
            folder,
            settings,
            writer: VaultWriter::of_home(&HomeKey::open(home)?),
            writers,
            source: &self.source,
            person: self.caller.clone(),
            clock: &SystemClock,
            ids: &RandomIds::default(),
        };
        let report = vault.sync_again(cache, options)?;
        if !options.dry_run && !report.strangers.is_empty() {
            let strangers = report.strangers.iter().copied();
            VaultRegistry::note_writers(home, vault.folder.root(), strangers)?;
        }
        if let (BookSource::Home { book, .. }, true) = (&self.source, report.changed_store()) {
            follow::embed_briefly(book, self.config);
        }
        Ok(report)
    }

    fn sync_with_git(&self, root: &Path, options: SyncOptions, as_json: bool) -> Result<()> {
        let sync = |options| self.sync(root, options);
        let report = commonbook_vault::git::sync_with_git(root, options, &sync)?;
        report::print(root, &report, false, as_json);
        Ok(())
    }
}

/// Runs a pass of each vault that this home has written of the workspace in which something was forgotten, if
/// something was: it goes there too. Where that fails, a note names the command that does it.
pub(crate) fn sync_after_forgetting(
    forgotten: Option<&Workspace>,
    caller: &Caller,
    config: &Config,
    open: impl Fn() -> Result<Commonbook>,
) -> Result<()> {
    let Some(workspace) = forgotten else { return Ok(()) };
    let registry = VaultRegistry::read(config.home()?)?;
    for gone in registry.gone_of(workspace) {
        print_note(&format!("{}: if it is elsewhere, that still has it", gone_vault(gone)));
    }
    for (root, _) in registry.vaults_of(workspace).filter(|(root, _)| is_vault(root)) {
        let place = VaultPlace::open(Some(root), caller.clone(), config, &open);
        let report = place.and_then(|place| place.sync(root, SyncOptions::default()));
        let root = root.display();
        print_note(&match report {
            Ok(report) => {
                let removed = count_text(report.removed, "file is", "files are");
                format!("{root}: {removed} gone; the history of git keeps what was committed")
            }
            Err(error) => {
                format!("{root} still has it: {error} Run `commonbook vault sync {root}`.")
            }
        });
    }
    Ok(())
}

/// Notes for the pages that a vault of this workspace is there, which this home does not use.
fn note_offer(home: &Path, folder: &Path, workspace: &Workspace) {
    let said = VaultSettings::read(&VaultFolder::new(folder, Box::new(DiskSteps)));
    let is_of_workspace = said.is_ok_and(|said| said.workspace == *workspace);
    if is_of_workspace && let Err(error) = VaultRegistry::note_offer(home, folder, workspace) {
        tracing::debug!(%error, "a vault is not noted for the pages");
    }
}

/// The folder of a vault that exists: the named one, this one, that of the project, or the only one of this
/// workspace that this home made or accepted.
///
/// # Errors
/// `not_found` with the command that makes one; `conflict` if the workspace has several.
fn find_folder(config: &Config, dir: Option<&Path>, workspace: &Workspace) -> Result<PathBuf> {
    let named = match dir {
        Some(dir) => dir.to_owned(),
        None => match config.folder.as_deref().filter(|folder| is_vault(folder)) {
            Some(folder) => folder.to_owned(),
            None => vault_of(config, workspace)?,
        },
    };
    match is_vault(&named) {
        true => Ok(std::fs::canonicalize(&named).unwrap_or(named)),
        false => Err(Error::not_found(format!("{} is no vault", named.display()))
            .hint(format!("Make one: `commonbook vault init {}`.", named.display()))),
    }
}

/// The vault of the project, if this home uses it; else the only vault of the workspace that it uses, wherever
/// that lies; else that of the project, with or without a vault.
fn vault_of(config: &Config, workspace: &Workspace) -> Result<PathBuf> {
    let own = project_vault(config);
    let registry = config.home().and_then(VaultRegistry::read)?;
    let is_used = |own: &PathBuf| {
        let whole = std::fs::canonicalize(own);
        whole.is_ok_and(|whole| registry.find(&whole).is_some() && is_vault(&whole))
    };
    if let Some(own) = own.as_ref().ok().filter(|own| is_used(own)) {
        return Ok(own.clone());
    }
    let vaults = registry.vaults_of(workspace).map(|(folder, _)| folder);
    match vaults.filter(|folder| is_vault(folder)).collect::<Vec<_>>()[..] {
        [] => match registry.gone_of(workspace).next() {
            Some(gone) if !own.as_ref().is_ok_and(|own| is_vault(own)) => Err(gone_vault(gone)),
            _ => own,
        },
        [only] => Ok(only.to_owned()),
        [first, ..] => Err(Error::conflict(format!("workspace {workspace} has several vaults"))
            .hint(format!("Name the folder of one: `commonbook vault sync {}`.", first.display()))),
    }
}

/// The error about a vault whose folder is not there any more.
fn gone_vault(folder: &Path) -> Error {
    let folder = folder.display();
    Error::not_found(format!("the vault of this workspace is not in {folder} any more"))
        .with_field("DIR")
        .hint("If you moved it, name its folder: `commonbook vault sync DIR`. Else make another one: `commonbook vault init DIR`.")
}

/// Whether a folder has anything besides hidden files, such as those of git.
fn has_files(folder: &Path) -> bool {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.into_iter().any(|entry| !entry.file_name().to_string_lossy().starts_with('.'))
}

/// The folder of the project's vault.
fn project_vault(config: &Config) -> Result<PathBuf> {
    let project = config.project().ok_or_else(|| {
        Error::invalid("DIR", "this folder is in no project")
            .hint("Name the folder of the vault: `commonbook vault init DIR`.")
    })?;
    let folder = project.join(PROJECT_VAULT);
    // A link that came with a clone can lead anywhere.
    let inside = folder.parent().unwrap_or(&project);
    if let Some(place) = place_outside(&folder).or_else(|| place_outside(inside)) {
        let (folder, place) = (folder.display(), place.display());
        let message = format!("{folder} leads out of its project, to {place}");
        return Err(Error::invalid("DIR", message)
            .hint("If you know that folder and want it, name it itself."));
    }
    Ok(folder)
}

/// The delay after the last change of a file before it is accepted: an editor writes several times.
const QUIET_DELAY: Duration = Duration::from_millis(150);
