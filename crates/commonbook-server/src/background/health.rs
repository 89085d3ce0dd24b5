//! The health of a home: the checks that `doctor` prints and that a server shows of itself, in the same
//! words.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::SystemTime;

use commonbook::Commonbook;
use commonbook::base::clock::{Clock as _, SystemClock};
use commonbook::base::error::{Error, Result};
use commonbook::index::Index;
use commonbook::model::checkpoint::CheckpointSettings;
use commonbook::model::workspace::Workspace;
use commonbook::store::{Store, StoreServer};
use commonbook_embed::EmbedderSettings;
use indicatif::HumanBytes;
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use serde_json::Value;

use crate::calls::output::count_text;
use crate::calls::words::{beginning, minute};
use crate::clients::local::RpcClient;
use crate::clients::sandbox::{self, SandboxState};
use crate::settings::config::Config;
use crate::system::process;

/// Workspaces that the report names.
const WORKSPACES_SHOWN_MAX: usize = 5;

/// Free disk space below which a home is in danger, in bytes.
const FREE_BYTES_MIN: u64 = 100 * 1024 * 1024;

/// The time after which a backup that was due counts as missing.
const BACKUP_TIME_MAX: SignedDuration = SignedDuration::from_hours(1);

/// When this server found its store intact.
static INTACT_AT: OnceLock<Timestamp> = OnceLock::new();

/// The result of one check.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct HealthCheck {
    /// The part that was checked.
    pub(crate) what: &'static str,
    /// The finding.
    pub(crate) found: String,
    /// How to repair it; `None` if nothing is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) repair: Option<String>,
}

impl HealthCheck {
    /// A check that found nothing wrong.
    pub(crate) fn healthy(what: &'static str, found: impl Into<String>) -> Self {
        Self { what, found: found.into(), repair: None }
    }

    /// A check that found a fault, with its repair.
    pub(crate) fn faulty(
        what: &'static str,
        found: impl Into<String>,
        repair: impl Into<String>,
    ) -> Self {
        Self { what, found: found.into(), repair: Some(repair.into()) }
    }

    /// A check that failed with this error.
    pub(crate) fn from_error(what: &'static str, error: Error) -> Self {
        let repair = error.hint.unwrap_or_else(|| "See docs/operating.md.".to_owned());
        Self::faulty(what, error.message, repair)
    }
}

/// What a server can check of its home and of itself: no file beyond its sandbox, and no page of the store
/// that it has not read for its own work.
///
/// # Errors
/// `unavailable` if the store or the index cannot be read.
pub(crate) fn check_from_server(config: &Config, book: &Commonbook) -> Result<Vec<HealthCheck>> {
    let mut checks = check_files(config, book)?;
    checks.push(check_integrity_at_start(book.store().server()?.is_some()));
    checks.extend(check_server_settings(config));
    checks.push(check_model(book.index().embedding_model()));
    checks.extend(check_settings(config));
    checks.extend(check_handoffs(config));
    checks.extend(check_process());
    checks.extend(check_sandbox(config));
    Ok(checks)
}

/// Reports the files of the store and of the index, by what is known without reading them all.
///
/// # Errors
/// `unavailable` if the store or the index cannot be read.
pub(crate) fn check_files(config: &Config, book: &Commonbook) -> Result<Vec<HealthCheck>> {
    let (store, index) = (book.store(), book.index());
    let size = format!("{} ({})", store.place(), HumanBytes(store.disk_bytes()?));
    let workspaces = store.read(|tx| tx.workspaces())?;
    let schema = format!("version {}", store.schema_version()?);
    let mut checks = vec![
        HealthCheck::healthy("store", size),
        HealthCheck::healthy("workspaces", workspaces_text(&workspaces)),
        HealthCheck::healthy("schema", schema),
    ];
    checks.extend(store.server()?.iter().flat_map(check_database));
    checks.extend(check_disk(config.home()?));
    let damage = index.check()?;
    checks.extend(damage.into_iter().map(|damage| {
        HealthCheck::faulty("index", damage, "Run `commonbook reindex`, which rebuilds the index.")
    }));
    checks.push(HealthCheck::healthy("index", index_text(index, store)?));
    checks.extend(
        language_advice(config, book)?.map(|advice| HealthCheck::healthy("languages", advice)),
    );
    Ok(checks)
}

/// How a home gets a model that reads its notes: if some are in other languages than English, and the
/// bundled model embeds them.
///
/// # Errors
/// `unavailable` if the store cannot be read.
pub(crate) fn language_advice(config: &Config, book: &Commonbook) -> Result<Option<String>> {
    let is_bundled = config.embedder().is_ok_and(|named| named == EmbedderSettings::Bundled);
    Ok((is_bundled && book.has_foreign_notes()?).then(|| {
        "some notes are not in English, and the bundled model reads English alone: their words are found, their \
         meaning is not. A folder with multilingual-e5-small changes that: `commonbook reindex --model FOLDER` \
         (docs/operating.md, The search index)"
            .to_owned()
    }))
}

/// What the files of a home's index lack, or what a node holds.
fn index_text(index: &Index, store: &dyn Store) -> Result<String> {
    if index.is_of_node() {
        let held = index.figures();
        if held.workspaces == 0 {
            return Ok("this node holds none; a search builds that of its workspace".to_owned());
        }
        let memories = count_text(held.memories, "memory", "memories");
        let workspaces = count_text(held.workspaces, "workspace", "workspaces");
        return Ok(format!("this node holds {memories} of {workspaces}; a search builds others"));
    }
    Ok(match index.unwritten_events(store)? {
        0 => "its files hold every event".to_owned(),
        left => {
            let events = count_text(left, "event waits", "events wait");
            format!("{events} to be written; searches find them already")
        }
    })
}

/// Reports what the database server does with a write before it answers.
fn check_database(server: &StoreServer) -> [HealthCheck; 2] {
    let version = format!("PostgreSQL {}", server.version);
    let commits = match server.waits_for_disk() {
        true => HealthCheck::healthy("database", format!("{version}; a commit waits for its disk")),
        false => HealthCheck::faulty(
            "database",
            format!("{version} with `synchronous_commit = off`: a crash loses answered writes"),
            "Set `synchronous_commit = on` for the server, the database and the role.",
        ),
    };
    let standbys = match server.waits_for_standby() {
        true => format!("a commit waits for {}", server.standbys),
        // One server with a backup is no fault.
        false => "a commit waits for none: a failover may lose answered writes".to_owned(),
    };
    [commits, HealthCheck::healthy("standbys", standbys)]
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

/// Reports the free space of the disk that holds a folder; nothing if the system does not say.
fn check_disk(folder: &Path) -> Option<HealthCheck> {
    let free = process::free_bytes(folder)?;
    let found = format!("{} are free", HumanBytes(free));
    Some(match free < FREE_BYTES_MIN {
        true => {
            HealthCheck::faulty("disk", found, "Free disk space: a write fails on a full disk.")
        }
        false => HealthCheck::healthy("disk", found),
    })
}

/// Records that this server has read its whole store, and found it intact.
pub(crate) fn note_intact_store(at: Timestamp) {
    // A second server in one process would share this.
    let _set_before = INTACT_AT.set(at);
}

/// Reports the check of the file that each server makes when it starts; a database is not read as a whole.
fn check_integrity_at_start(is_in_database: bool) -> HealthCheck {
    let found = match INTACT_AT.get() {
        _ if is_in_database => "`commonbook doctor` reads every row of the database".to_owned(),
        Some(at) => format!("{INTACT}, as the server found at {}", minute(*at)),
        None => "the server checks the store now".to_owned(),
    };
    HealthCheck::healthy("integrity", found)
}

/// The finding of an intact store.
pub(crate) const INTACT: &str = "The store is intact";

/// Reports the settings that cannot be read, and those that differ from the defaults.
pub(crate) fn check_settings(config: &Config) -> Vec<HealthCheck> {
    let mut checks = Vec::new();
    if let Some(error) = &config.settings_error {
        checks.push(HealthCheck::from_error("settings", error.clone()));
    }
    let note = config.past_section_note();
    checks.extend(note.map(|note| HealthCheck::healthy("settings", note)));
    checks.extend(check_contexts(config));
    checks.extend(check_checkpoints(config));
    checks.extend(check_backups(config));
    checks
}

/// Reports how old the newest backup of the schedule is; nothing without a schedule.
fn check_backups(config: &Config) -> Option<HealthCheck> {
    let schedule = config.backup_schedule().ok()??;
    let now = SystemClock.now();
    let newest = match schedule.newest_at(now) {
        Ok(newest) => newest,
        Err(error) => return Some(HealthCheck::from_error("backups", error)),
    };
    let is_late =
        |newest: &Timestamp| now.duration_since(*newest) > schedule.every + BACKUP_TIME_MAX;
    let repair =
        "Run `commonbook serve`, whose log says why a backup fails; or `commonbook backup FILE`.";
    Some(match newest {
        None => HealthCheck::faulty("backups", "the schedule has written none yet", repair),
        Some(newest) => {
            let found = format!("the newest of the schedule is of {}", minute(newest));
            match is_late(&newest) {
                true => HealthCheck::faulty("backups", found, repair),
                false => HealthCheck::healthy("backups", found),
            }
        }
    })
}

/// Reports that the running server read config.json before its last change.
pub(crate) fn check_server_settings(config: &Config) -> Option<HealthCheck> {
    let time = |time: SystemTime| Timestamp::try_from(time).ok();
    let begun = RpcClient::server_start(config).and_then(time)?;
    let changed = fs::metadata(config.settings_path()?).and_then(|file| file.modified()).ok();
    let is_older = changed.and_then(time).is_some_and(|changed| begun < changed);
    let found = format!(
        "the server that runs since {} began before config.json changed, and uses the earlier settings",
        minute(begun)
    );
    let repair = "Restart it: `commonbook serve`, or the client that runs `commonbook mcp`.";
    is_older.then(|| HealthCheck::faulty("server", found, repair))
}

/// Characters of a setting in the report.
const SETTING_CHARS_MAX: usize = 60;

/// Reports the settings of contexts that differ from the defaults.
fn check_contexts(config: &Config) -> Option<HealthCheck> {
    let preferences = serde_json::to_value(config.preferences().ok()?).ok()?;
    let mut settings = Vec::new();
    collect_settings("", &preferences, &mut settings);
    let found = settings.join(", ");
    (!found.is_empty()).then(|| HealthCheck::healthy("contexts", found))
}

/// Adds each value below a setting with its path: `agents.*.budget 900`.
fn collect_settings(path: &str, value: &Value, settings: &mut Vec<String>) {
    match value {
        Value::Null => {}
        Value::Object(fields) => {
            for (name, value) in fields {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                collect_settings(&path, value, settings);
            }
        }
        Value::Array(items) if items.is_empty() => {}
        value => {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            settings.push(format!("{path} {}", beginning(&text, SETTING_CHARS_MAX)));
        }
    }
}

/// Reports the settings of checkpoints that differ from the defaults.
fn check_checkpoints(config: &Config) -> Option<HealthCheck> {
    let settings = config.checkpoints().ok()?;
    let CheckpointSettings { kept, days, minutes, partial_memories, partial_entities } = settings;
    let found = format!(
        "{kept} kept for {days} days, one after {minutes} minutes of activity; a partial resume has \
         {partial_memories} memories and {partial_entities} entities"
    );
    let is_default = settings == CheckpointSettings::default();
    (!is_default).then(|| HealthCheck::healthy("checkpoints", found))
}

/// Reports whether agents can hand work over; an invalid setting is reported as such.
pub(crate) fn check_handoffs(config: &Config) -> Option<HealthCheck> {
    let handoffs = config.collaboration().ok()?.handoffs;
    let found = match handoffs {
        true => "agents can hand work over",
        false => "off: collaboration.handoffs in config.json is false",
    };
    Some(HealthCheck::healthy("handoffs", found))
}

/// Reports the model that embeds memories, or why there is none.
pub(crate) fn check_model(model: Result<Option<String>>) -> HealthCheck {
    match model {
        Ok(Some(name)) => HealthCheck::healthy("model", name),
        Ok(None) => HealthCheck::healthy("model", "off: searches compare words only"),
        Err(error) => HealthCheck::from_error("model", error),
    }
}

/// Checks that no core file can hold the memory of a commonbook process.
pub(crate) fn check_process() -> Option<HealthCheck> {
    match process::leaves_core_files()? {
        false => Some(HealthCheck::healthy("process", "commonbook processes leave no core files")),
        true => Some(HealthCheck::faulty(
            "process",
            "commonbook processes leave core files, which can hold the text of memories",
            "Run `ulimit -c 0` before `commonbook`.",
        )),
    }
}

/// Checks which files a server may use, and which links of the home lead out of them.
pub(crate) fn check_sandbox(config: &Config) -> Vec<HealthCheck> {
    let sandbox = match sandbox::sandbox_state(config) {
        Ok(SandboxState::On(sandbox)) => sandbox,
        Ok(SandboxState::Off) => {
            return vec![HealthCheck::healthy("sandbox", "off, because COMMONBOOK_SANDBOX=off")];
        }
        Ok(SandboxState::Unsupported) => {
            let found = "not available: it needs Landlock of Linux 5.19 or newer";
            return vec![HealthCheck::healthy("sandbox", found)];
        }
        Ok(SandboxState::Refused(error)) | Err(error) => {
            return vec![HealthCheck::from_error("sandbox", error)];
        }
    };
    let list = |paths: &[PathBuf]| {
        paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
    };
    let mut found = format!("`commonbook serve` can write only below {}", list(&sandbox.writes));
    if !sandbox.reads.is_empty() {
        found += &format!("; besides system folders it can read {}", list(&sandbox.reads));
    }
    let mut checks = vec![HealthCheck::healthy("sandbox", found)];
    checks.extend(sandbox.missing.iter().map(|folder| {
        let found = format!("{} in `folders` of config.json does not exist", folder.display());
        HealthCheck::faulty("sandbox", found, "Create the folder, or remove it from `folders`.")
    }));
    checks.extend(sandbox.escaping_links().into_iter().map(|(link, target)| {
        let found =
            format!("{} leads to {}, outside the sandbox", link.display(), target.display());
        HealthCheck::faulty(
            "sandbox",
            found,
            "Add the folder of the target to `folders` in config.json.",
        )
    }));
    checks
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
