//! `config`: shows the settings of config.json, changes one, and prints their schema.

use clap::{Args, Subcommand};
use commonbook::base::error::{Error, ErrorKind, Result};
use serde_json::{Map, Value};

use super::layout::print_facts;
use crate::calls::output::{print_json, print_line, print_note};
use crate::settings::config::{Config, settings_schema};
use crate::system::atomic::{self, StagedFile};
use crate::system::serving::running_server;

/// A setting that can hold a password; only the file itself shows it.
const SECRET_SETTING: &str = "database.url";

/// What stands in the place of its value.
const SECRET_TEXT: &str = "(set; the file has it)";

/// Shows and changes the settings in config.json.
#[derive(Debug, Args)]
pub(crate) struct ConfigCommand {
    #[command(subcommand)]
    action: Option<ConfigAction>,
}

#[derive(Debug, Subcommand)]
enum ConfigAction {
    /// Lists the settings that config.json has; without them the defaults count
    List,
    /// Prints one setting
    Get {
        /// Setting, with a point between its names: `backup.folder`
        key: String,
    },
    /// Changes one setting, if the file is valid with it
    Set {
        /// Setting, with a point between its names: `backup.folder`
        key: String,
        /// Value, as JSON or as a text
        value: String,
    },
    /// Removes one setting, so that its default counts
    Unset {
        /// Setting, with a point between its names: `backup.folder`
        key: String,
    },
    /// Prints the JSON schema of config.json
    Schema,
}

impl ConfigCommand {
    /// Whether it changes the file.
    pub(crate) fn changes_settings(&self) -> bool {
        matches!(self.action, Some(ConfigAction::Set { .. } | ConfigAction::Unset { .. }))
    }

    /// Shows the settings or changes one.
    ///
    /// # Errors
    /// `invalid` if the file is no JSON, or not valid with the change, which is not written then; `not_found`
    /// for a setting that it does not have.
    pub(crate) fn run(&self, config: &Config, as_json: bool) -> Result<()> {
        let mut settings = config.settings()?;
        match &self.action {
            None | Some(ConfigAction::List) => list(config, settings, as_json),
            Some(ConfigAction::Get { key }) => {
                let value = find(&settings, key).ok_or_else(|| missing(key))?;
                print_value(key, value, as_json);
            }
            Some(ConfigAction::Set { key, value }) => {
                let value = serde_json::from_str(value).unwrap_or_else(|_| value.as_str().into());
                set_setting(config, key, value)?;
                print_line(&format!("{key} is set"));
                note_server(config);
            }
            Some(ConfigAction::Unset { key }) => {
                remove(&mut settings, key).ok_or_else(|| missing(key))?;
                write(config, settings)?;
                print_line(&format!("{key} is not set any more: its default counts"));
                note_server(config);
            }
            Some(ConfigAction::Schema) => print_json(&settings_schema()),
        }
        Ok(())
    }
}

fn list(config: &Config, mut settings: Map<String, Value>, as_json: bool) {
    if find(&settings, SECRET_SETTING).is_some() {
        // It was there just now.
        drop(put(&mut settings, SECRET_SETTING, SECRET_TEXT.into()));
    }
    if as_json {
        return print_json(&Value::Object(settings));
    }
    let path = config.settings_path().unwrap_or_default();
    if settings.is_empty() {
        print_line(&format!("{} sets nothing: the defaults count", path.display()));
        return print_note(
            "`commonbook config schema` names the settings, `commonbook config set KEY VALUE` \
             changes one",
        );
    }
    let mut leaves = Vec::new();
    settings.iter().for_each(|(name, value)| add_leaves(name, value, &mut leaves));
    let facts: Vec<(&str, String)> =
        leaves.iter().map(|(key, text)| (key.as_str(), text.clone())).collect();
    print_facts(&facts);
}

/// Adds each value below a setting, with its whole name.
fn add_leaves(key: &str, value: &Value, leaves: &mut Vec<(String, String)>) {
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            fields.iter().for_each(|(name, value)| {
                add_leaves(&format!("{key}.{name}"), value, leaves);
            });
        }
        value => leaves.push((key.to_owned(), plain(value))),
    }
}

fn print_value(key: &str, value: &Value, as_json: bool) {
    let secret = Value::from(SECRET_TEXT);
    let value = if key == SECRET_SETTING { &secret } else { value };
    if as_json { print_json(value) } else { print_line(&plain(value)) }
}

/// A value as a person writes it: a text without quotation marks.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn find<'s>(settings: &'s Map<String, Value>, key: &str) -> Option<&'s Value> {
    let mut names = key.split('.');
    let first = settings.get(names.next()?);
    names.fold(first, |value, name| value?.get(name))
}

/// Puts a value where its name says.
fn put(settings: &mut Map<String, Value>, key: &str, value: Value) -> Result<()> {
    let Some((name, rest)) = key.split_once('.') else {
        settings.insert(key.to_owned(), value);
        return Ok(());
    };
    let below = settings.entry(name).or_insert_with(|| Value::Object(Map::new()));
    match below {
        Value::Object(below) => put(below, rest, value),
        _ => Err(Error::invalid("key", format!("{name} is a value and has no {rest}"))
            .hint("Run `commonbook config list`.")),
    }
}

/// Removes a value, and each section that has no other.
fn remove(settings: &mut Map<String, Value>, key: &str) -> Option<Value> {
    let Some((name, rest)) = key.split_once('.') else { return settings.remove(key) };
    let below = settings.get_mut(name)?.as_object_mut()?;
    let removed = remove(below, rest)?;
    if below.is_empty() {
        settings.remove(name);
    }
    Some(removed)
}

fn missing(key: &str) -> Error {
    Error::new(ErrorKind::NotFound, format!("config.json has no setting {key}: its default counts"))
        .hint("`commonbook config schema` names all settings and their defaults.")
}

/// Changes one setting in config.json, if the file is valid with it.
///
/// # Errors
/// `invalid` if the file is no JSON, or not valid with the change, which is not written then.
pub(super) fn set_setting(config: &Config, key: &str, value: Value) -> Result<()> {
    let mut settings = config.settings()?;
    put(&mut settings, key, value)?;
    write(config, settings)
}

/// Writes the settings, if they are valid.
fn write(config: &Config, settings: Map<String, Value>) -> Result<()> {
    let text = format!("{:#}\n", Value::Object(settings));
    config.check_draft(&text)?;
    let home = config.home()?;
    atomic::create_folders(home)?;
    let path = config.settings_path().unwrap_or_default();
    StagedFile::write(&path, &text)?.replace_target()
}

/// Says that a running server has the settings of its start.
pub(super) fn note_server(config: &Config) {
    if config.home().ok().and_then(running_server).is_some() {
        print_note("The server of this home reads the file at its next start.");
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_setting_is_put_found_and_removed_by_its_name() {
        let mut settings = Map::new();
        put(&mut settings, "backup.keep", json!(3)).unwrap();
        put(&mut settings, "backup.folder", json!("/b")).unwrap();
        assert_eq!(find(&settings, "backup.keep"), Some(&json!(3)));
        assert!(put(&mut settings, "backup.keep.more", json!(1)).is_err());
        assert!(remove(&mut settings, "backup.every_hours").is_none());
        assert_eq!(remove(&mut settings, "backup.keep"), Some(json!(3)));
        assert_eq!(remove(&mut settings, "backup.folder"), Some(json!("/b")));
        assert!(settings.is_empty(), "an empty section goes");
    }
}
