//! The configuration: environment variables, config.json and the git repository.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::model::access::AccessPolicy;
use commonbook::model::checkpoint::CheckpointSettings;
use commonbook::model::collaboration::CollaborationSettings;
use commonbook::model::consolidation::ConsolidationSettings;
use commonbook::model::entity::{EntityRules, EntitySettings};
use commonbook::model::workspace::Workspace;
use commonbook::prompt::context::ContextPreferences;
use commonbook_embed::EmbedderSettings;
use commonbook_text::decode::strict_text_of_bytes;
use commonbook_text::nearest::nearest_name;
use jiff::tz::TimeZone;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::calls::output;
use crate::calls::verb::Verb;
use crate::settings::database::{Database, DatabaseSettings};
use crate::settings::project::map::{NearWorkspace, identified_project, workspace_of};
use crate::settings::project::{
    FolderSearch, Project, ProjectFolder, RemoteSettings, VersionRootCache,
};
use crate::settings::sections::{
    BackupSchedule, BackupSettings, ContradictionSettings, DigestSettings, LearningSettings,
};
use crate::system::secret_string::SecretString;

/// The address on which a server listens by default.
pub(crate) const DEFAULT_ADDRESS: &str = "127.0.0.1:7077";

/// The settings file in the home folder.
pub(crate) const SETTINGS_FILE: &str = "config.json";

/// The sections of that file.
const SETTINGS_SECTIONS: [&str; 12] = [
    "backup",
    "checkpoints",
    "consolidation",
    "context",
    "collaboration",
    "contradictions",
    "database",
    "digest",
    "embedder",
    "entities",
    "folders",
    "learning",
];

/// A section of earlier releases: a home that still has it starts, and `doctor` says that it has no effect.
const PAST_SECTION: &str = "audit";

/// The sections of that file by which a process runs commands, opens folders or calls addresses.
const REACH_SECTIONS: [&str; 6] =
    ["backup", "contradictions", "database", "digest", "embedder", "folders"];

/// The settings of a home; a server reads them when it begins.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, title = "config.json of Commonbook")]
#[expect(dead_code, reason = "the sections are read one by one")]
struct SettingsFile {
    /// Backups that a server makes by itself.
    backup: Option<BackupSettings>,
    /// When checkpoints are made, and how many stay.
    checkpoints: Option<CheckpointSettings>,
    /// When consolidations run by themselves.
    consolidation: Option<ConsolidationSettings>,
    /// How contexts are chosen and written.
    context: Option<ContextPreferences>,
    /// How agents hand work over.
    collaboration: Option<CollaborationSettings>,
    /// The judge of contradictions.
    contradictions: Option<ContradictionSettings>,
    /// The database with the memories, in the place of the home's file.
    database: Option<DatabaseSettings>,
    /// When digests of cases are written, and by what.
    digest: Option<DigestSettings>,
    /// What embeds memories, if `COMMONBOOK_EMBEDDER` does not say: `off`, the absolute path of a model's folder, or
    /// `http(s)://HOST:PORT#MODEL`; `bundled`, the model in the program, by default.
    embedder: Option<String>,
    /// The own types of entities, and how statements are joined.
    entities: Option<EntitySettings>,
    /// Folders that a server may use besides the home, as absolute paths; none by default.
    folders: Option<Vec<PathBuf>>,
    /// When agents are asked what they learned.
    learning: Option<LearningSettings>,
}

/// The JSON schema of config.json.
pub(crate) fn settings_schema() -> Value {
    let mut schema = Map::new();
    schema.insert("$schema".to_owned(), "https://json-schema.org/draft/2020-12/schema".into());
    if let Value::Object(sections) = commonbook::base::input::schema::<SettingsFile>() {
        schema.extend(sections);
    }
    let mut schema = Value::Object(schema);
    drop_nulls(&mut schema);
    schema
}

/// Removes `null` from types and defaults: a setting that is not set is left out.
fn drop_nulls(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            fields.retain(|name, value| name != "default" || !value.is_null());
            if let Some(Value::Array(types)) = fields.get("type")
                && let [of_value, null] = types.as_slice()
                && null == "null"
            {
                let of_value = of_value.clone();
                fields.insert("type".to_owned(), of_value);
            }
            fields.values_mut().for_each(drop_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_nulls),
        _ => {}
    }
}

/// Each setting that is no section, by its names and with its schema; `*` stands for a name of the user's.
#[cfg(test)]
pub(crate) fn settings_of(schema: &Value) -> Vec<(String, &Value)> {
    let mut found = Vec::new();
    collect_settings("", schema, &mut found);
    found
}

#[cfg(test)]
fn collect_settings<'s>(path: &str, schema: &'s Value, found: &mut Vec<(String, &'s Value)>) {
    for (name, setting) in schema["properties"].as_object().into_iter().flatten() {
        let path = format!("{path}{name}");
        if setting["properties"].is_object() {
            collect_settings(&format!("{path}."), setting, found);
        } else {
            collect_settings(&format!("{path}.*."), &setting["additionalProperties"], found);
            found.push((path, setting));
        }
    }
}

/// The values of a config.json by which a process runs commands, opens folders or calls addresses, each with
/// its keys; of a database only that there is one, since its address can hold a password. A file that is no
/// JSON names none: no process reads it.
pub(crate) fn settings_reach(file: &[u8]) -> Vec<String> {
    let text = strict_text_of_bytes(file).unwrap_or_default();
    let sections: Map<String, Value> = serde_json::from_str(&text).unwrap_or_default();
    let named = sections.into_iter().filter(|(name, _)| REACH_SECTIONS.contains(&name.as_str()));
    named
        .flat_map(|(name, section)| match &*name {
            "database" => vec![name],
            _ => texts_below(&name, &section),
        })
        .collect()
}

/// The embedder that a text of config.json names, for each process of the home in whatever folder it runs.
///
/// # Errors
/// `invalid` for an unknown value and for a relative path.
fn lasting_embedder(named: &str) -> Result<EmbedderSettings> {
    match named.parse::<EmbedderSettings>() {
        Ok(EmbedderSettings::Directory(path)) if !path.is_absolute() => {
            Err(Error::new(ErrorKind::Invalid, "expected the absolute path of a model's folder"))
        }
        Ok(settings) => Ok(settings),
        Err(error) => {
            let error = Error::from(error);
            Err(Error::new(ErrorKind::Invalid, error.reason()))
        }
    }
}

/// The reason of a wrong value without the text that it quotes: that can be a password.
fn without_text(reason: &str) -> String {
    let Some((before, rest)) = reason.split_once("string \"") else { return reason.to_owned() };
    let after = rest.rsplit_once('"').map_or("", |(_, after)| after);
    format!("{before}a text{after}")
}

/// The reason why settings are wrong without the texts of theirs that it quotes. The words that it expects
/// stay.
pub(crate) fn without_texts(reason: &str, settings: &Value) -> String {
    let reason = without_text(reason);
    let (wrong, expected) = match reason.find(", expected") {
        Some(place) => reason.split_at(place),
        None => (reason.as_str(), ""),
    };
    let mut wrong = wrong.to_owned();
    for text in texts_in(settings).filter(|text| !text.is_empty()) {
        for quoted in [format!("`{text}`"), format!("{text:?}"), format!("'{text}'")] {
            wrong = wrong.replace(&quoted, "a text");
        }
    }
    wrong + expected
}

/// The texts in a value.
fn texts_in(value: &Value) -> Box<dyn Iterator<Item = &str> + '_> {
    match value {
        Value::String(text) => Box::new(std::iter::once(text.as_str())),
        Value::Array(items) => Box::new(items.iter().flat_map(texts_in)),
        Value::Object(fields) => Box::new(fields.values().flat_map(texts_in)),
        _ => Box::new(std::iter::empty()),
    }
}

/// The texts in a value, each with its keys.
fn texts_below(path: &str, value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![format!("{path} {text:?}")],
        Value::Array(items) => items.iter().flat_map(|item| texts_below(path, item)).collect(),
        Value::Object(fields) => {
            let below =
                |(key, value): (&String, &Value)| texts_below(&format!("{path}.{key}"), value);
            fields.iter().flat_map(below).collect()
        }
        _ => Vec::new(),
    }
}

/// The configuration from the environment.
#[derive(Debug, Clone, Default)]
pub struct Config {
    /// The folder of all data: `COMMONBOOK_HOME`, else `~/.commonbook`.
    pub home: Option<PathBuf>,
    /// `COMMONBOOK`: `off` switches Commonbook off; `on` uses it also where a project switches it off.
    pub switch: Option<String>,
    /// `COMMONBOOK_AGENT_ID`: the agent, if the request does not name it.
    pub agent: Option<String>,
    /// `COMMONBOOK_PERSON`: `1` says that a command without a terminal is a person's own script.
    pub person: bool,
    /// `COMMONBOOK_URL`: the server with the memories, instead of the home.
    pub url: Option<String>,
    /// `COMMONBOOK_TOKEN`: the token for that server.
    pub token: Option<SecretString>,
    /// `COMMONBOOK_DATABASE`: the PostgreSQL database with the memories, as a connection string, instead
    /// of the file in the home.
    pub database: Option<SecretString>,
    /// `COMMONBOOK_WORKSPACE`: the workspace, if the request does not name it.
    pub workspace: Option<String>,
    /// `COMMONBOOK_USER_ID`: the user that the caller works for.
    pub user: Option<String>,
    /// `COMMONBOOK_SESSION`: the session that commands work in, if a flag does not name it.
    pub session: Option<String>,
    /// `PATH`: where programs of clients are.
    pub search_path: Option<OsString>,
    /// `COMMONBOOK_EMBEDDER`: the embedder, in the place of `embedder` in config.json: `bundled`, `off`, the path
    /// of a model's directory, or `http(s)://HOST:PORT#MODEL`.
    pub embedder: Option<String>,
    /// `COMMONBOOK_EMBEDDER_KEY`: the key of an embedding endpoint.
    pub embedder_key: Option<SecretString>,
    /// `COMMONBOOK_DIGEST_KEY`: the key of an endpoint that writes digests.
    pub digest_key: Option<SecretString>,
    /// `COMMONBOOK_JUDGE_KEY`: the key of an endpoint that judges contradictions.
    pub judge_key: Option<SecretString>,
    /// `COMMONBOOK_PRODUCTION`: `1` refuses writes from callers without a name.
    pub production: Option<String>,
    /// `COMMONBOOK_SHARING`: the sharing of a memory whose author does not choose: `shared`, the default,
    /// or `private`.
    pub sharing: Option<String>,
    /// `COMMONBOOK_RATE`: the rate limit of each agent over HTTP, `reads=6000,writes=1200` a minute.
    pub rate: Option<String>,
    /// `COMMONBOOK_SANDBOX`: `on`, the default, or `off`: whether the kernel restricts a server to its files.
    pub sandbox: Option<String>,
    /// `COMMONBOOK_HOSTS`: further host names of the server.
    pub hosts: Option<String>,
    /// `COMMONBOOK_LOG`: the filter of the log (`info`, `commonbook=debug`).
    pub log: Option<String>,
    /// `TZ`: the time zone in which people read times.
    pub time_zone: Option<String>,
    /// The working folder at the start of the program.
    pub folder: Option<PathBuf>,
    /// The files of git with settings for all repositories.
    pub git_files: Vec<PathBuf>,
    /// Whether a client opened this very folder, as that of its project.
    pub folder_is_opened: bool,
    /// The folders of projects that clients name to their hooks, by the variable.
    pub opened_folders: Vec<(&'static str, PathBuf)>,
    /// `HOME`: the user's home folder, which contains the files of clients.
    pub user_home: Option<PathBuf>,
    /// Other folders of client files, by the prefixes of their paths.
    pub client_folders: Vec<(&'static str, PathBuf)>,
    /// The error of a home folder that was named in a way that only a shell understands.
    pub home_error: Option<Error>,
    /// The text of a config.json that is checked before it is written, in the place of the file's.
    pub settings_draft: Option<String>,
    /// The error of a config.json that this process ignores: it reads with the default settings, and
    /// writes nothing.
    pub settings_error: Option<Error>,
    /// What this run of a command has read; a process that runs on reads anew.
    pub run: Option<Arc<RunCache>>,
}

/// What a run of a command reads once: nothing of it changes as long as the run lasts.
#[derive(Debug, Default)]
pub struct RunCache {
    /// The text of config.json.
    settings: OnceLock<Result<Option<String>>>,
    /// The working copies around folders.
    roots: VersionRootCache,
}

#[expect(clippy::disallowed_methods, reason = "the one place that reads the environment")]
impl Config {
    /// Reads the environment.
    pub fn read() -> Self {
        let text = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let folder = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let user_home = folder("HOME").or_else(|| folder("USERPROFILE")).map(PathBuf::from);
        let client_folders = CLIENT_FOLDERS.iter().filter_map(|(name, below, prefixes)| {
            let folder = PathBuf::from(folder(name)?).join(below);
            Some(prefixes.iter().map(move |prefix| (*prefix, folder.clone())))
        });
        let config = Self {
            client_folders: client_folders.flatten().collect(),
            home: default_home(user_home.as_deref()),
            switch: text("COMMONBOOK"),
            agent: text("COMMONBOOK_AGENT_ID"),
            person: text("COMMONBOOK_PERSON").is_some_and(|value| value == "1"),
            url: text("COMMONBOOK_URL"),
            token: text("COMMONBOOK_TOKEN").map(SecretString),
            database: text("COMMONBOOK_DATABASE").map(SecretString),
            workspace: text("COMMONBOOK_WORKSPACE"),
            user: text("COMMONBOOK_USER_ID"),
            session: text("COMMONBOOK_SESSION"),
            search_path: folder("PATH"),
            embedder: text("COMMONBOOK_EMBEDDER"),
            embedder_key: text("COMMONBOOK_EMBEDDER_KEY").map(SecretString),
            digest_key: text("COMMONBOOK_DIGEST_KEY").map(SecretString),
            judge_key: text("COMMONBOOK_JUDGE_KEY").map(SecretString),
            production: text("COMMONBOOK_PRODUCTION"),
            sharing: text("COMMONBOOK_SHARING"),
            rate: text("COMMONBOOK_RATE"),
            sandbox: text("COMMONBOOK_SANDBOX"),
            hosts: text("COMMONBOOK_HOSTS"),
            log: text("COMMONBOOK_LOG"),
            time_zone: text("TZ"),
            // A shell knows the name of a folder that is gone.
            folder: std::env::current_dir().ok().or_else(|| folder("PWD").map(PathBuf::from)),
            git_files: git_files(&folder, user_home.as_deref()),
            folder_is_opened: false,
            opened_folders: (OPENED_FOLDERS.iter())
                .filter_map(|name| Some((*name, PathBuf::from(folder(name)?))))
                .collect(),
            user_home,
            home_error: None,
            settings_draft: None,
            settings_error: None,
            run: None,
        };
        match folder("COMMONBOOK_HOME") {
            Some(home) => config.with_home(&home, "COMMONBOOK_HOME"),
            None => config,
        }
    }
}

impl Config {
    /// The same with this home folder; `source` names where it comes from: `--home`. Files of clients set it
    /// without a shell, so `~/` is understood here, and variables are refused.
    #[must_use]
    pub(crate) fn with_home(self, home: &OsStr, source: &str) -> Self {
        match home_folder(home, source, self.user_home.as_deref()) {
            Ok(home) => Self { home: Some(home), home_error: None, run: None, ..self },
            Err(error) => Self { home: None, home_error: Some(error), ..self },
        }
    }

    /// The home folder.
    ///
    /// # Errors
    /// `invalid` if neither `COMMONBOOK_HOME` nor `HOME` is set, if it is named with a variable, or if a pipe or
    /// a device lies in it in place of a file: its reader would wait for ever.
    pub(crate) fn home(&self) -> Result<&Path> {
        let home = self.home.as_deref().ok_or_else(|| {
            if let Some(error) = &self.home_error {
                return error.clone();
            }
            Error::new(ErrorKind::Invalid, "the home folder is unknown")
                .hint("Name it with --home, or set COMMONBOOK_HOME.")
        })?;
        match HOME_FILES.iter().map(|name| home.join(name)).find(|path| is_pipe_or_device(path)) {
            None => Ok(home),
            Some(path) => {
                let message = format!("{} is a pipe or a device; expected a file", path.display());
                Err(Error::new(ErrorKind::Invalid, message).hint(
                    "Remove it, and restore the file from a backup of the home if there is one.",
                ))
            }
        }
    }

    /// The file of the store.
    ///
    /// # Errors
    /// As [`Self::home`] and [`Self::database`]; `invalid` if the memories are in a database.
    pub(crate) fn store_file(&self) -> Result<PathBuf> {
        match self.database()? {
            Some(_) => Err(Error::new(
                ErrorKind::Invalid,
                "the memories are in PostgreSQL, not in a file of the home",
            )
            .hint(
                "Back up and restore the database with the tools of PostgreSQL, or take \
                 `commonbook export --format archive`.",
            )),
            None => Ok(self.home()?.join("commonbook.db")),
        }
    }

    /// Whether there is a store to read: one in a database, or a file in the home.
    ///
    /// # Errors
    /// As [`Self::home`] and [`Self::database`].
    pub(crate) fn has_store(&self) -> Result<bool> {
        Ok(self.database()?.is_some() || self.store_file()?.exists())
    }

    /// The database with the memories: `COMMONBOOK_DATABASE`, or the section `database` of config.json;
    /// `None` if they are in the file of the home.
    ///
    /// # Errors
    /// `invalid` if the section is not valid, or stands in a file that is not: the memories are not
    /// looked for in the file of the home then, while other wrong settings let a person read.
    pub(crate) fn database(&self) -> Result<Option<Database>> {
        let settings = match self.sections() {
            Err(error) if self.database.is_none() && self.settings_mention("database") => {
                return Err(error);
            }
            Err(_) => DatabaseSettings::default(),
            Ok(_) => self.section("database", DatabaseSettings::check)?,
        };
        Ok(settings.database(self.database.as_ref()))
    }

    /// Whether a config.json that cannot be read as settings has this name in it.
    fn settings_mention(&self, name: &str) -> bool {
        let path = self.settings_path().filter(|path| !is_pipe_or_device(path));
        let text = path.and_then(|path| std::fs::read(path).ok());
        text.is_some_and(|text| String::from_utf8_lossy(&text).contains(name))
    }

    /// The home folder, if it is not the default.
    pub(crate) fn custom_home(&self) -> Option<&Path> {
        let default = default_home(self.user_home.as_deref());
        self.home.as_deref().filter(|home| default.as_deref() != Some(home))
    }

    /// The same for a run that ends soon.
    #[must_use]
    pub(crate) fn for_one_run(self) -> Self {
        Self { run: Some(Arc::default()), ..self }
    }

    /// The folder of the project: the root of the working copy here, else the folder that a client opened,
    /// else the working folder.
    pub(crate) fn project(&self) -> Option<PathBuf> {
        let folder = self.folder.as_deref()?;
        Some(self.project_folder().map_or_else(|| folder.to_owned(), ProjectFolder::working_copy))
    }

    /// The root of the project without links in its path, the same for all worktrees of a repository.
    pub(crate) fn project_root(&self) -> Option<PathBuf> {
        let folder = self.folder.as_deref()?;
        let root = || std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
        Some(self.project_folder().map_or_else(root, |project| project.root))
    }

    /// The project around the working folder, if that is in one.
    pub(crate) fn found_project(&self) -> Option<Project> {
        let folder = self.project_folder()?;
        let project = Project::of(folder, &self.remote_settings());
        Some(identified_project(self.home.as_deref(), project))
    }

    /// What the user's own settings of git and ssh say of remotes.
    pub(crate) fn remote_settings(&self) -> RemoteSettings {
        RemoteSettings::new(self.user_home.as_deref(), &self.git_files)
    }

    fn project_folder(&self) -> Option<ProjectFolder> {
        let search = FolderSearch {
            home: self.home.as_deref(),
            user_home: self.user_home.as_deref(),
            is_opened: self.folder_is_opened,
            roots: self.run.as_deref().map(|run| &run.roots),
        };
        ProjectFolder::around(self.folder.as_deref()?, search)
    }

    /// The folder that a client opened, as this variable names it.
    pub(crate) fn opened_folder(&self, variable: &str) -> Option<&PathBuf> {
        self.opened_folders.iter().find(|(name, _)| *name == variable).map(|(_, folder)| folder)
    }

    /// The same in the first folder that Cursor opened, if the working folder is no project.
    #[must_use]
    pub(crate) fn in_window_folder(self) -> Self {
        let folders = self.opened_folder(CURSOR_FOLDERS).and_then(|folders| folders.to_str());
        let first = folders
            .and_then(|folders| folders.split(',').next())
            .map(|it| PathBuf::from(it.trim()));
        match first.filter(|folder| folder.is_dir() && self.project_folder().is_none()) {
            Some(folder) => self.in_opened_folder(Some(folder)),
            None => self,
        }
    }

    /// The same in the folder that a client opened: it is a project of its own if no version control knows it.
    #[must_use]
    pub(crate) fn in_opened_folder(self, folder: Option<PathBuf>) -> Self {
        Self { folder, folder_is_opened: true, ..self }
    }

    /// The path of a client's file, if an environment variable moves it out of the home.
    pub(crate) fn client_path(&self, path: &str) -> Option<PathBuf> {
        self.client_folders.iter().find_map(|(prefix, folder)| {
            let below = path.strip_prefix(prefix)?;
            // `.claude.json` keeps its name; `.claude/settings.json` becomes `settings.json`.
            Some(folder.join(if prefix.ends_with('/') { below } else { path }))
        })
    }

    /// The access policy of this process.
    ///
    /// # Errors
    /// `invalid` if a variable has an unknown value.
    pub(crate) fn policy(&self) -> Result<AccessPolicy> {
        let invalid = |name: &str, expected: &str| {
            Error::new(ErrorKind::Invalid, format!("{name} is not valid; expected {expected}"))
                .hint(format!("Correct {name} in the environment, or unset it."))
        };
        let anonymous_writes = match self.production.as_deref() {
            None | Some("0" | "false") => true,
            Some("1" | "true") => false,
            Some(_) => return Err(invalid("COMMONBOOK_PRODUCTION", "1 or 0")),
        };
        let sharing = self.sharing.as_deref().map(str::parse).transpose();
        let sharing = sharing.map_err(|_| invalid("COMMONBOOK_SHARING", "shared or private"))?;
        let default = AccessPolicy::default();
        Ok(AccessPolicy { anonymous_writes, sharing: sharing.unwrap_or(default.sharing) })
    }

    /// The section `context` of config.json.
    ///
    /// # Errors
    /// `invalid` if the file is not JSON or a value is not valid.
    pub(crate) fn preferences(&self) -> Result<ContextPreferences> {
        self.read_section("context", |preferences: &ContextPreferences| {
            preferences.check().map(drop)
        })
    }

    /// The section `collaboration` of config.json.
    ///
    /// # Errors
    /// As [`Self::preferences`].
    pub(crate) fn collaboration(&self) -> Result<CollaborationSettings> {
        self.read_section("collaboration", CollaborationSettings::check)
    }

    /// The section `checkpoints` of config.json.
    ///
    /// # Errors
    /// As [`Self::preferences`].
    pub(crate) fn checkpoints(&self) -> Result<CheckpointSettings> {
        self.read_section("checkpoints", CheckpointSettings::check)
    }

    /// The rules of entities: the section `entities` of config.json.
    ///
    /// # Errors
    /// As [`Self::preferences`].
    pub(crate) fn entity_rules(&self) -> Result<EntityRules> {
        self.read_section("entities", |entities: &EntitySettings| entities.check().map(drop))?
            .check()
    }

    /// The section `contradictions` of config.json.
    ///
    /// # Errors
    /// As [`Self::preferences`].
    pub(crate) fn contradictions(&self) -> Result<ContradictionSettings> {
        self.read_section("contradictions", ContradictionSettings::check)
    }

    /// The section `consolidation` of config.json.
    ///
    /// # Errors
    /// As [`Self::preferences`].
    pub(crate) fn consolidation(&self) -> Result<ConsolidationSettings> {
        self.read_section("consolidation", ConsolidationSettings::check)
    }

    /// When agents are asked what they learned: the section `learning` of config.json.
    ///
    /// # Errors
    /// As [`Self::preferences`].
    pub(crate) fn learning(&self) -> Result<LearningSettings> {
        self.read_section("learning", LearningSettings::check)
    }

    /// The section `digest` of config.json.
    ///
    /// # Errors
    /// As [`Self::preferences`].
    pub(crate) fn digest(&self) -> Result<DigestSettings> {
        self.read_section("digest", DigestSettings::check)
    }

    /// The embedder: `COMMONBOOK_EMBEDDER`, else `embedder` in config.json, else the model of the program.
    ///
    /// # Errors
    /// As [`Self::preferences`]; `invalid` for an unknown value.
    pub(crate) fn embedder(&self) -> Result<EmbedderSettings> {
        let named = match &self.embedder {
            Some(named) => named.parse()?,
            None => self
                .read_section("embedder", |named: &Option<String>| {
                    named.as_deref().map(lasting_embedder).transpose().map(drop)
                })?
                .map_or(Ok(EmbedderSettings::Bundled), |named| lasting_embedder(&named))?,
        };
        Ok(named.with_key(self.embedder_key.as_ref().map(|key| key.0.as_str()))?)
    }

    /// The schedule of backups: the section `backup` of config.json; `None` if it names no folder.
    ///
    /// # Errors
    /// As [`Self::preferences`] and [`Self::home`]; `invalid` if the folder is in the home.
    pub(crate) fn backup_schedule(&self) -> Result<Option<BackupSchedule>> {
        let schedule = self.read_section("backup", BackupSettings::check)?.schedule();
        let home = self.home.as_ref();
        let is_in_home =
            |schedule: &BackupSchedule| home.is_some_and(|home| schedule.folder.starts_with(home));
        match schedule {
            Some(schedule) if is_in_home(&schedule) => {
                Err(self.invalid_settings("backup.folder: expected a folder outside the home"))
            }
            schedule => Ok(schedule),
        }
    }

    /// The folders that a server may use besides the home: the section `folders` of config.json.
    ///
    /// # Errors
    /// As [`Self::preferences`]; `invalid` if a path is not absolute.
    pub(crate) fn sandbox_folders(&self) -> Result<Vec<PathBuf>> {
        self.read_section("folders", |folders: &Vec<PathBuf>| {
            let relative = folders.iter().position(|folder| !folder.is_absolute());
            relative.map_or(Ok(()), |index| {
                let field = format!("[{index}]");
                Err(Error::invalid(&field, "expected the absolute path of a folder"))
            })
        })
    }

    /// Whether a server uses the sandbox.
    ///
    /// # Errors
    /// `invalid` if `COMMONBOOK_SANDBOX` is neither `on` nor `off`.
    pub(crate) fn wants_sandbox(&self) -> Result<bool> {
        match self.sandbox.as_deref() {
            None | Some("on") => Ok(true),
            Some("off") => Ok(false),
            Some(_) => Err(Error::new(
                ErrorKind::Invalid,
                "COMMONBOOK_SANDBOX is not valid; expected on or off",
            )
            .hint("Correct COMMONBOOK_SANDBOX in the environment, or unset it.")),
        }
    }

    /// Succeeds if config.json is valid: every section that it has, and no other.
    ///
    /// # Errors
    /// As [`Self::preferences`].
    pub(crate) fn check_settings(&self) -> Result<()> {
        // One read of the file, not one for each section.
        let text = self.settings_text()?.unwrap_or_else(|| "{}".to_owned());
        Self { settings_draft: Some(text), ..self.clone() }.check_sections()
    }

    fn check_sections(&self) -> Result<()> {
        let sections = self.sections()?;
        let is_unknown =
            |name: &&String| !SETTINGS_SECTIONS.contains(&name.as_str()) && *name != PAST_SECTION;
        if let Some(name) = sections.keys().find(is_unknown) {
            let near = nearest_name(name, &SETTINGS_SECTIONS);
            let near = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            return Err(self.invalid_settings(&format!("unknown setting `{name}`{near}")));
        }
        self.preferences()?;
        self.collaboration()?;
        self.checkpoints()?;
        self.consolidation()?;
        self.digest()?;
        self.learning()?;
        Self { embedder: None, ..self.clone() }.embedder()?;
        self.backup_schedule()?;
        self.read_section("database", DatabaseSettings::check)?;
        self.entity_rules()?;
        self.contradictions()?;
        self.sandbox_folders().map(drop)
    }

    /// What a reader should know of a section of config.json that an earlier release read; `None` without one.
    pub(crate) fn past_section_note(&self) -> Option<String> {
        self.sections().ok()?.contains_key(PAST_SECTION).then(|| {
            format!(
                "`{PAST_SECTION}` in config.json has no effect any more: remove it. `commonbook audit \
                 --all-workspaces --follow` prints what its monthly files held"
            )
        })
    }

    /// The configuration with the default settings, if config.json is not valid: a person can still read
    /// memories, and nothing is written with default settings in place of wrong ones.
    pub(crate) fn tolerating_settings(self) -> Self {
        let settings_error = self.check_settings().err();
        Self { settings_error, ..self }
    }

    /// Succeeds if this verb may run although config.json is not valid.
    ///
    /// # Errors
    /// The error of config.json, for a verb that writes.
    pub(crate) fn admit(&self, verb: &Verb) -> Result<()> {
        if verb.only_reads() { Ok(()) } else { self.require_settings() }
    }

    /// Succeeds if config.json is not ignored.
    ///
    /// # Errors
    /// The error of config.json.
    pub(crate) fn require_settings(&self) -> Result<()> {
        self.settings_error.clone().map_or(Ok(()), Err)
    }

    /// What is wrong with the time zone that the environment names: times are in UTC then.
    pub(crate) fn time_zone_fault(&self) -> Option<String> {
        let name = self.time_zone.as_ref().filter(|_| TimeZone::try_system().is_err())?;
        Some(format!("TZ is {name:?}, which names no time zone: times are read and shown in UTC"))
    }

    /// Tells the person that the time zone of the environment or config.json is ignored, if it is.
    pub(crate) fn warn_of_settings(&self) {
        self.time_zone_fault().iter().for_each(|fault| {
            output::print_note(&format!("warning: {fault}. Correct TZ, or unset it."));
        });
        if let Some(error) = &self.settings_error {
            output::print_note(&format!("warning: {error}"));
            output::print_note("The default settings are in use, and nothing is written.");
        }
    }

    /// A section of config.json, checked; the default if the file or the section does not exist.
    fn read_section<T: Default + DeserializeOwned>(
        &self,
        name: &str,
        check: impl Fn(&T) -> Result<()>,
    ) -> Result<T> {
        match self.settings_error {
            Some(_) => Ok(T::default()),
            None => self.section(name, check),
        }
    }

    /// The same, also if other sections are not valid.
    fn section<T: Default + DeserializeOwned>(
        &self,
        name: &str,
        check: impl Fn(&T) -> Result<()>,
    ) -> Result<T> {
        let Some(section) = self.sections()?.remove(name) else { return Ok(T::default()) };
        let read = commonbook::base::input::from_value::<T>(section.clone());
        let checked = read.and_then(|read| check(&read).map(|()| read));
        checked.map_err(|error| {
            let reason = with_nearest_name(&without_texts(error.reason(), &section));
            let field = match error.field {
                Some(place) if place.starts_with('[') => place,
                field => field.map(|field| format!(".{field}")).unwrap_or_default(),
            };
            self.invalid_settings(&format!("{name}{field}: {reason}"))
        })
    }

    /// The sections of config.json.
    fn sections(&self) -> Result<Map<String, Value>> {
        let Some(text) = self.settings_text()? else { return Ok(Map::new()) };
        serde_json::from_str(&text)
            .map_err(|error| self.invalid_settings(&without_text(&error.to_string())))
    }

    /// The text of config.json, or the draft of it; `None` without the file.
    fn settings_text(&self) -> Result<Option<String>> {
        if let Some(draft) = &self.settings_draft {
            return Ok(Some(draft.clone()));
        }
        match &self.run {
            Some(run) => run.settings.get_or_init(|| self.read_settings_text()).clone(),
            None => self.read_settings_text(),
        }
    }

    fn read_settings_text(&self) -> Result<Option<String>> {
        let Some(path) = self.settings_path() else { return Ok(None) };
        if is_pipe_or_device(&path) {
            return Err(self.invalid_settings("it is a pipe or a device; expected a file"));
        }
        let bytes = match std::fs::read(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            read => read.map_err(|error| self.invalid_settings(&error.to_string()))?,
        };
        let Some(text) = strict_text_of_bytes(&bytes) else {
            return Err(self.invalid_settings("not a text file"));
        };
        if text.trim().is_empty() {
            return Err(self.invalid_settings("the file is empty; write {} or remove it"));
        }
        if text.contains('\0') {
            return Err(self.invalid_settings("not a text file"));
        }
        Ok(Some(text.into()))
    }

    /// What config.json has.
    ///
    /// # Errors
    /// `invalid` if it is no JSON object.
    pub(crate) fn settings(&self) -> Result<Map<String, Value>> {
        self.sections()
    }

    /// Succeeds if this text is a valid config.json.
    ///
    /// # Errors
    /// As [`Self::check_settings`].
    pub(crate) fn check_draft(&self, text: &str) -> Result<()> {
        let draft = Some(text.to_owned());
        Self { settings_draft: draft, settings_error: None, ..self.clone() }.check_settings()
    }

    /// The path of config.json.
    pub(crate) fn settings_path(&self) -> Option<PathBuf> {
        self.home.as_ref().map(|home| home.join(SETTINGS_FILE))
    }

    fn invalid_settings(&self, reason: &str) -> Error {
        let path = self.settings_path().unwrap_or_default();
        Error::new(ErrorKind::Invalid, format!("{}: {reason}", path.display()))
            .hint("Correct the file as docs/operating.md describes, or remove it.")
    }

    /// The workspace that the environment names, else that of the project around the working folder.
    ///
    /// # Errors
    /// `invalid` if `COMMONBOOK_WORKSPACE` is not the name of a workspace; `conflict` or `unavailable` if
    /// the map of projects or the key of the home is damaged.
    pub(crate) fn nearest_workspace(&self) -> Result<Option<NearWorkspace>> {
        if let Some(name) = &self.workspace {
            return name.parse().map(|name: Workspace| Some(name.into()));
        }
        let home = self.home.as_deref();
        let near = |project| workspace_of(home, &project, &self.remote_settings());
        self.found_project().map(near).transpose()
    }
}

/// The log file of hooks in the home.
pub(crate) const HOOK_LOG: &str = "hook.log";

/// The variables that move the files of clients: the name, a folder below its value, and the prefixes
/// of the paths that it moves.
const CLIENT_FOLDERS: [(&str, &str, &[&str]); 5] = [
    ("CLAUDE_CONFIG_DIR", "", &[".claude.json", ".claude/"]),
    ("CODEX_HOME", "", &[".codex/"]),
    ("GEMINI_CLI_HOME", ".gemini", &[".gemini/"]),
    ("COPILOT_HOME", "", &[".copilot/"]),
    ("XDG_CONFIG_HOME", "opencode", &[".config/opencode/"]),
];

/// The variables in which clients name the folder of the project to their hooks and servers.
const OPENED_FOLDERS: [&str; 3] = ["CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR", CURSOR_FOLDERS];

/// The variable in which Cursor names the folders of its window, with commas, to a server that it starts elsewhere.
const CURSOR_FOLDERS: &str = "WORKSPACE_FOLDER_PATHS";

/// The files of a home that its commands open.
const HOME_FILES: [&str; 10] = [
    SETTINGS_FILE,
    "commonbook.db",
    "commonbook.db-shm",
    "commonbook.db-wal",
    "commonbook.db.lock",
    "commonbook.db.mark",
    "hook.key",
    "projects.json",
    "projects.lock",
    "server.lock",
];

/// Whether something lies at this path that is neither a file nor a folder.
fn is_pipe_or_device(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|found| !found.is_file() && !found.is_dir())
}

/// Whether a part of a path stands for a value: `{env:HOME}` as a client writes it, `<home>`, `!HOME!`.
fn is_placeholder(part: &str) -> bool {
    [("{", "}"), ("<", ">"), ("!", "!")].iter().any(|(open, close)| {
        let inside = part.strip_prefix(open).and_then(|rest| rest.strip_suffix(close));
        inside.is_some_and(|inside| !inside.is_empty())
    })
}

/// The folder that this text names: `~/` is the user's folder.
fn home_folder(text: &OsStr, source: &str, user: Option<&Path>) -> Result<PathBuf> {
    let refused = |reason: &str| {
        // The address of a server can hold a password.
        let is_address = text.to_string_lossy().contains("://");
        let message = match is_address {
            true => format!("{source} is no folder: {reason}"),
            false => format!("{source} is {}: {reason}", text.display()),
        };
        Err(Error::new(ErrorKind::Invalid, message)
            .hint("Write the whole path of the folder, or one that begins with `~/`."))
    };
    if text.is_empty() {
        return Err(Error::new(ErrorKind::Invalid, format!("{source} must not be empty"))
            .hint("Name the folder, or leave it out for `~/.commonbook`."));
    }
    let Some(readable) = text.to_str() else { return Ok(text.into()) };
    let names_variable = readable.split(['/', '\\']).any(is_placeholder);
    if readable.contains(['$', '`'])
        || readable.contains("{{")
        || readable.split('%').count() > 2
        || names_variable
    {
        return refused("no shell has replaced the variable in it");
    }
    if readable.trim() != readable || readable.starts_with(['"', '\'']) {
        return refused("it has blanks or quotation marks around it");
    }
    if readable.contains("://") || readable.starts_with("file:") {
        return refused("expected a path, and no address");
    }
    let is_of_windows = readable.get(1..3).is_some_and(|rest| [":\\", ":/"].contains(&rest));
    if cfg!(unix) && (is_of_windows || readable.starts_with("\\\\")) {
        return refused("it is a path of Windows, and this machine has none such");
    }
    let Some(below) = readable.strip_prefix('~') else { return Ok(text.into()) };
    match (below.strip_prefix(['/', '\\']).or(below.is_empty().then_some("")), user) {
        (Some(below), Some(user)) => Ok(user.join(below.trim_start_matches(['/', '\\']))),
        (Some(_), None) => refused("the folder of the user is unknown, since HOME is not set"),
        (None, _) => refused("expected `~/` at its beginning, or a path without `~`"),
    }
}

/// The files in which git has settings for all repositories (git-config, "Files").
fn git_files(
    variable: &impl Fn(&str) -> Option<OsString>,
    user_home: Option<&Path>,
) -> Vec<PathBuf> {
    let own = match variable("GIT_CONFIG_GLOBAL") {
        Some(file) => vec![PathBuf::from(file)],
        None => {
            let folder = variable("XDG_CONFIG_HOME").map(PathBuf::from);
            let folder = folder.or_else(|| Some(user_home?.join(".config")));
            let files = [
                folder.map(|folder| folder.join("git/config")),
                user_home.map(|home| home.join(".gitconfig")),
            ];
            files.into_iter().flatten().collect()
        }
    };
    [vec![PathBuf::from("/etc/gitconfig")], own].concat()
}

fn default_home(user: Option<&Path>) -> Option<PathBuf> {
    Some(user?.join(".commonbook"))
}

/// The message of an unknown field with the nearest known one. Serde quotes the unknown field first,
/// and then the known ones.
fn with_nearest_name(message: &str) -> String {
    let Some((_, names)) = message.split_once("unknown field ") else { return message.to_owned() };
    let quoted: Vec<&str> = names.split('`').skip(1).step_by(2).collect();
    let Some((unknown, known)) = quoted.split_first() else { return message.to_owned() };
    let near = nearest_name(unknown, known);
    let near = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
    format!("unknown setting `{unknown}`{near}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_folder_of_cursors_window_counts_where_the_working_folder_is_no_project() {
        let user = tempfile::tempdir().unwrap();
        let (window, here) = (user.path().join("shop"), user.path().join("bakery"));
        for folder in [&window, &here] {
            std::fs::create_dir(folder).unwrap();
        }
        let opened = |folder: &Path, named: &Path| {
            let opened_folders = vec![(CURSOR_FOLDERS, named.to_owned())];
            let user_home = Some(user.path().to_owned());
            let config = Config { user_home, opened_folders, ..Config::default() };
            config.in_opened_folder(Some(folder.to_owned())).in_window_folder().folder.unwrap()
        };
        let both = PathBuf::from(format!("{}, {}", window.display(), here.display()));
        assert_eq!(opened(user.path(), &window), window);
        assert_eq!(opened(user.path(), &both), window);
        assert_eq!(opened(user.path(), &user.path().join("gone")), user.path());
        assert_eq!(opened(&here, &window), here);
    }

    #[test]
    fn no_error_quotes_a_text_of_the_settings() {
        let home = tempfile::tempdir().unwrap();
        let config = Config { home: Some(home.path().to_owned()), ..Config::default() };
        let secret = "postgres://u:pass-word@h/db";
        for text in [
            serde_json::json!(secret),
            serde_json::json!({"database": secret}),
            serde_json::json!({"database": {"url": [secret]}}),
            serde_json::json!({"backup": {"keep": secret}}),
            serde_json::json!({"digest": {"endpoint": {"x": secret}}}),
            serde_json::json!({"folders": {"write": secret}}),
        ] {
            std::fs::write(home.path().join(SETTINGS_FILE), text.to_string()).unwrap();
            let error = config.check_settings().unwrap_err();
            assert!(!format!("{error:?} {error}").contains("pass-word"), "{error}");
        }
    }

    #[test]
    fn a_home_is_the_folder_that_its_author_meant() {
        let user = Path::new("/home/ann");
        let table = [
            ("~", "/home/ann"),
            ("~/book", "/home/ann/book"),
            ("~//book", "/home/ann/book"),
            ("~\\book", "/home/ann/book"),
            ("/srv/book", "/srv/book"),
            ("book", "book"),
            ("/srv/50%/book~", "/srv/50%/book~"),
            ("/srv/book!/{1,2}x", "/srv/book!/{1,2}x"),
        ];
        for (text, folder) in table {
            let found = home_folder(OsStr::new(text), "--home", Some(user)).unwrap();
            assert_eq!(found, Path::new(folder), "{text}");
        }
        for (text, reason) in [
            ("", "--home must not be empty"),
            ("$HOME/book", "--home is $HOME/book: no shell has replaced the variable in it"),
            ("${HOME}/book", "no shell has replaced"),
            ("/srv/$USER", "no shell has replaced"),
            ("%USERPROFILE%\\book", "no shell has replaced"),
            ("`pwd`/book", "no shell has replaced"),
            ("{{HOME}}/book", "no shell has replaced"),
            ("{env:HOME}/book", "no shell has replaced"),
            ("/srv/<user>/book", "no shell has replaced"),
            ("!USERPROFILE!\\book", "no shell has replaced"),
            ("\"~/book\"", "quotation marks around it"),
            ("'/srv/book'", "quotation marks around it"),
            (" /srv/book", "it has blanks"),
            ("/srv/book\n", "it has blanks"),
            (" ", "it has blanks"),
            ("file:///srv/book", "expected a path, and no address"),
            ("https://book.example", "expected a path, and no address"),
            #[cfg(unix)]
            ("C:\\Users\\ann\\book", "a path of Windows"),
            ("~bob/book", "expected `~/` at its beginning"),
            ("~book", "expected `~/` at its beginning"),
        ] {
            let error = home_folder(OsStr::new(text), "--home", Some(user)).unwrap_err();
            assert!(error.message.contains(reason) && error.hint.is_some(), "{text}: {error}");
        }
        assert!(home_folder(OsStr::new("~/book"), "--home", None).is_err());
        let config = Config { user_home: Some(user.into()), ..Config::default() };
        let refused = config.with_home(OsStr::new("$HOME/book"), "COMMONBOOK_HOME");
        assert!(refused.home.is_none());
        assert_eq!(refused.home().unwrap_err().kind, ErrorKind::Invalid);
    }

    #[cfg(unix)]
    #[test]
    fn no_pipe_in_a_home_is_opened() {
        for name in HOME_FILES {
            let home = tempfile::tempdir().unwrap();
            let config = Config { home: Some(home.path().to_owned()), ..Config::default() };
            config.home().unwrap();
            let pipe = home.path().join(name);
            assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
            let error = config.home().unwrap_err();
            assert!(error.message.contains("is a pipe") && error.hint.is_some(), "{name}: {error}");
            assert_eq!(config.check_settings().is_err(), name == SETTINGS_FILE, "{name}");
            assert!(!config.settings_mention("x"));
        }
    }

    #[test]
    fn the_schema_has_every_section_with_its_settings() {
        let schema = settings_schema();
        let sections = schema["properties"].as_object().unwrap();
        let mut names: Vec<&str> = sections.keys().map(String::as_str).collect();
        let mut expected = SETTINGS_SECTIONS.to_vec();
        names.sort_unstable();
        expected.sort_unstable();
        assert_eq!(names, expected);
        let text = schema.to_string();
        for setting in ["every_hours", "merge_strategy", "authorities", "max_memories", "minutes"] {
            assert!(text.contains(&format!("\"{setting}\"")), "{setting}");
        }
        assert_eq!(schema["additionalProperties"], false);
    }

    #[test]
    fn the_schema_describes_every_setting_and_names_its_default() {
        let schema = settings_schema();
        let settings = settings_of(&schema);
        assert!(settings.len() > 50, "{}", settings.len());
        for (path, setting) in settings {
            let description = setting["description"].as_str().unwrap_or_default();
            assert!(!description.is_empty(), "{path} has no description");
            let says_default =
                ["by default", "without it"].iter().any(|words| description.contains(words));
            assert!(says_default || setting.get("default").is_some(), "{path} has no default");
            assert!(!setting.to_string().contains("\"null\""), "{path}: {setting}");
        }
    }

    #[test]
    fn a_number_is_accepted_within_the_range_of_the_schema_alone() {
        let home = tempfile::tempdir().unwrap();
        let config = Config { home: Some(home.path().to_owned()), ..Config::default() };
        let is_accepted = |path: &str, number: &Value| {
            // Backups have numbers only with a folder.
            let mut settings = json!({"backup": {"folder": "/b"}});
            let mut place = &mut settings;
            for name in path.split('.') {
                place = &mut place[name];
            }
            *place = number.clone();
            config.check_draft(&settings.to_string()).is_ok()
        };
        let schema = settings_schema();
        let mut found = 0;
        for (path, setting) in settings_of(&schema) {
            let step = match setting["type"].as_str() {
                Some("integer") => json!(1),
                Some("number") => json!(0.25),
                _ => continue,
            };
            let beyond = |bound: &Value, sign: i64| match (bound.as_i64(), step.as_i64()) {
                (Some(bound), Some(step)) => json!(bound + sign * step),
                _ => json!(bound.as_f64().unwrap() + sign as f64 * 0.25),
            };
            let least = &setting["minimum"];
            assert!(is_accepted(&path, least), "{path}: {least}");
            assert!(!is_accepted(&path, &beyond(least, -1)), "{path}: less than {least}");
            if let Some(most) = setting.get("maximum") {
                assert!(is_accepted(&path, most), "{path}: {most}");
                assert!(!is_accepted(&path, &beyond(most, 1)), "{path}: more than {most}");
            }
            found += 1;
        }
        assert!(found > 25, "{found}");
    }

    #[test]
    fn an_unknown_setting_is_refused_with_the_nearest_one() {
        let home = tempfile::tempdir().unwrap();
        let config = Config { home: Some(home.path().to_owned()), ..Config::default() };
        let check = |text: &str| {
            std::fs::write(home.path().join(SETTINGS_FILE), text).unwrap();
            config.check_settings().map_err(|error| error.message)
        };
        assert_eq!(check("{}"), Ok(()));
        assert_eq!(check(r#"{"context": {"agents": {"*": {"budget": 900}}}}"#), Ok(()));
        assert_eq!(config.past_section_note(), None);
        for past in [r#"{"audit": {"folder": "audit"}}"#, r#"{"audit": 3, "context": {}}"#] {
            assert_eq!(check(past), Ok(()), "{past}");
            let note = config.past_section_note().unwrap();
            assert!(note.starts_with("`audit` in config.json has no effect"), "{note}");
        }
        for (text, words) in [
            ("{", "EOF"),
            ("", "the file is empty; write {} or remove it"),
            ("\n", "the file is empty; write {} or remove it"),
            ("\0\u{1}", "not a text file"),
            (r#"{"contxt": {}}"#, "unknown setting `contxt`; did you mean `context`?"),
            (r#"{"zebra": {}}"#, "unknown setting `zebra`"),
            (
                r#"{"context": {"agents": {"*": {"buget": 900}}}}"#,
                "unknown setting `buget`; did you mean `budget`?",
            ),
            (r#"{"collaboration": {"rule": {}}}"#, "did you mean `rules`?"),
            (r#"{"entities": {"types": {"tool": {}}}}"#, "entities.types.tool: is a built-in type"),
            (
                r#"{"entities": {"types": {"service": {"nams": ["a"]}}}}"#,
                "unknown setting `nams`; did you mean `names`?",
            ),
            (
                r#"{"entities": {"types": {"service": {"names": ["x"]}}}}"#,
                "entities.types.service.names[0]: a name has at least 2 letters",
            ),
            (r#"{"contradictions": {"model": "m"}}"#, "contradictions.model: expected `endpoint`"),
            (r#"{"checkpoints": {"kept": 0}}"#, "checkpoints.kept: 0 is out of range"),
            (r#"{"checkpoints": {"day": 7}}"#, "did you mean `days`?"),
            (r#"{"backup": {"folder": "x"}}"#, "backup.folder: expected the absolute path"),
            (r#"{"backup": {"keep": 3}}"#, "backup.folder: expected the absolute path"),
            (r#"{"backup": {"folder": "/x", "keep": 0}}"#, "backup.keep: 0 is out of range"),
            (r#"{"backup": {"folder": "/x", "every_hour": 1}}"#, "did you mean `every_hours`?"),
            (
                r#"{"folders": ["/a", "relative"]}"#,
                "folders[1]: expected the absolute path of a folder",
            ),
        ] {
            let message = check(text).unwrap_err();
            assert!(message.contains(words), "{text}: {message}");
        }
        let tolerant = config.tolerating_settings();
        assert!(tolerant.settings_error.is_some() && tolerant.preferences().is_ok());
    }

    #[test]
    fn an_error_prints_a_value_only_if_it_is_a_number_a_truth_value_or_of_a_closed_list() {
        let home = tempfile::tempdir().unwrap();
        let config = Config { home: Some(home.path().to_owned()), ..Config::default() };
        for text in [
            r#""hunter2pw""#,
            r#"["hunter2pw"]"#,
            r#"{"context": "hunter2pw"}"#,
            r#"{"context": {"budget": "hunter2pw"}}"#,
            r#"{"context": {"agents": {"*": {"budget": "a \"hunter2pw\" `hunter2pw`"}}}}"#,
            r#"{"context": {"profile_owners": ["hunter2pw!"]}}"#,
            r#"{"context": {"templates": {"relevant": "hunter2pw {what}"}}}"#,
            r#"{"collaboration": {"rules": {"deep_chain": "hunter2pw"}}}"#,
            r#"{"collaboration": {"handoff": {"budget": "hunter2pw"}}}"#,
            r#"{"database": {"url": "postgres://ann:hunter2pw@db", "pasword": "hunter2pw"}}"#,
            r#"{"database": {"url": ["hunter2pw"]}}"#,
            r#"{"database": {"authorities": "hunter2pw"}}"#,
            r#"{"database": "postgres://ann:hunter2pw@db/x"}"#,
            r#"{"digest": {"endpoint": "http://ann:hunter2pw@[", "model": "m"}}"#,
            r#"{"digest": {"command": "hunter2pw", "endpoint": "hunter2pw", "automatic": 3}}"#,
            r#"{"digest": {"key": "hunter2pw"}}"#,
            r#"{"contradictions": {"endpoint": "ftp://ann:hunter2pw@h", "model": "m"}}"#,
            r#"{"backup": {"folder": "hunter2pw"}}"#,
            r#"{"backup": {"folder": "/x", "keep": "hunter2pw"}}"#,
            r#"{"entities": {"types": {"service": {"names": ["hunter2pw", 3]}}}}"#,
            r#"{"entities": {"threshold": "hunter2pw"}}"#,
            r#"{"learning": {"ask": "hunter2pw"}}"#,
            r#"{"consolidation": {"automatic": "hunter2pw"}}"#,
            r#"{"folders": ["hunter2pw"]}"#,
            r#"{"folders": "hunter2pw"}"#,
            r#"{"checkpoints": {"kept": "hunter2pw"}}"#,
            r#"{"context": {"budget": hunter2pw}}"#,
        ] {
            std::fs::write(home.path().join(SETTINGS_FILE), text).unwrap();
            let message = config.check_settings().map_err(|error| error.message);
            let message = message.err().unwrap_or_default();
            assert!(!message.contains("hunter2pw"), "{text}: {message}");
        }
    }
}
