//! The off switches: the environment variable `COMMONBOOK`, and a file in the project.

use std::fs;
use std::path::{Path, PathBuf};

use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook_text::decode::strict_text_of_bytes;
use commonbook_text::nearest::nearest_name;
use serde_json::{Map, Value};

use crate::settings::config::Config;

/// The settings of a project, below its root.
const PROJECT_FILE: &str = ".commonbook/config.json";

/// Maximum size of that file: a project can contain anything.
const PROJECT_FILE_BYTES_MAX: u64 = 64 * 1024;

/// The one setting of a project.
const OFF: &str = "off";

/// Succeeds if Commonbook is on: in this process, and in the project of its folder. A file of the project that
/// is not valid came with a clone, and switches nothing off: the log and `doctor` name it.
///
/// # Errors
/// `forbidden` if `COMMONBOOK` or the project switches it off; `invalid` if the variable is not valid.
pub(crate) fn check_switch(config: &Config) -> Result<()> {
    match read_switch(config) {
        Err(error) if error.kind == ErrorKind::Invalid && config.switch.is_none() => {
            tracing::warn!(error = %error.message, "the project's file switches nothing off");
            Ok(())
        }
        switched => switched,
    }
}

/// Reads whether Commonbook is on, as [`check_switch`] does, and names a file that is not valid.
///
/// # Errors
/// `forbidden` if `COMMONBOOK` or the project switches it off; `invalid` if the variable or the file of
/// the project is not valid.
pub(crate) fn read_switch(config: &Config) -> Result<()> {
    match config.switch.as_deref() {
        Some("off") => Err(switched_off("COMMONBOOK=off", "Unset COMMONBOOK to use it again.")),
        // A person can use Commonbook in a project that switches it off.
        Some("on") => Ok(()),
        Some(_) => {
            let message = "COMMONBOOK is not valid; expected on or off";
            Err(Error::new(ErrorKind::Invalid, message)
                .hint("Correct COMMONBOOK in the environment, or unset it."))
        }
        None => match project_file(config) {
            Some(path) if is_off(&path)? => Err(switched_off(
                &path.display().to_string(),
                "Remove `off` from that file, or set COMMONBOOK=on.",
            )),
            _ => Ok(()),
        },
    }
}

fn switched_off(by: &str, hint: &str) -> Error {
    Error::new(ErrorKind::Forbidden, format!("Commonbook is off here: {by}")).hint(hint)
}

/// The settings file of the project, if it exists. That of a home is no project's.
fn project_file(config: &Config) -> Option<PathBuf> {
    let root = config.project()?;
    let path = root.join(PROJECT_FILE);
    let resolved = |path: &Path| fs::canonicalize(path).ok();
    let home = config.home.as_deref().and_then(resolved);
    let is_home = home.is_some() && path.parent().and_then(resolved) == home;
    let is_own = is_home || Some(&root) == config.user_home.as_ref();
    (!is_own && path.exists()).then_some(path)
}

/// Whether the file of a project switches Commonbook off.
fn is_off(path: &Path) -> Result<bool> {
    let invalid = |reason: String| {
        Error::new(ErrorKind::Invalid, format!("{}: {reason}", path.display())).hint(
            "Write `{\"off\": true}`, or remove the file. Until then it switches nothing off.",
        )
    };
    let metadata = fs::metadata(path).map_err(|error| invalid(error.to_string()))?;
    if !metadata.is_file() || metadata.len() > PROJECT_FILE_BYTES_MAX {
        return Err(invalid("not a file of at most 64 KiB".to_owned()));
    }
    let bytes = fs::read(path).map_err(|error| invalid(error.to_string()))?;
    let text = strict_text_of_bytes(&bytes).ok_or_else(|| invalid("not a text file".to_owned()))?;
    let mut settings: Map<String, Value> =
        serde_json::from_str(&text).map_err(|error| invalid(error.to_string()))?;
    let off = settings.shift_remove(OFF);
    if let Some(name) = settings.keys().next() {
        let reason = match nearest_name(name, &[OFF]) {
            Some(near) => format!("unknown setting `{name}`; did you mean `{near}`?"),
            None => format!("`{name}` is no setting of a project, which can only be `off`"),
        };
        return Err(invalid(reason));
    }
    match off {
        None => Ok(false),
        Some(Value::Bool(off)) => Ok(off),
        Some(_) => Err(invalid("off: expected true or false".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_of_a_project_can_only_switch_off() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.json");
        let read = |text: &str| {
            fs::write(&path, text).unwrap();
            is_off(&path).map_err(|error| error.message)
        };
        for (text, off) in [("{}", false), (r#"{"off": false}"#, false), (r#"{"off": true}"#, true)]
        {
            assert_eq!(read(text), Ok(off), "{text}");
        }
        for (text, words) in [
            ("off", "expected"),
            (r#"{"off": "yes"}"#, "off: expected true or false"),
            (r#"{"of": true}"#, "unknown setting `of`; did you mean `off`?"),
            (r#"{"url": "https://evil.example"}"#, "`url` is no setting of a project"),
            (r#"{"off": true, "workspace": "theirs"}"#, "`workspace` is no setting of a project"),
        ] {
            let message = read(text).unwrap_err();
            assert!(message.contains(words), "{text}: {message}");
        }
        fs::write(&path, " ".repeat(1 << 20)).unwrap();
        assert!(is_off(&path).is_err());
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert!(is_off(&path).is_err());
    }
}
