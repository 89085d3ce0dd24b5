//! The paths of standing memory files, and the roles of their names.

use std::path::{Path, PathBuf};

use crate::model::agent::Agent;

/// The ending of a file.
const FILE_ENDING: &str = ".md";

/// The ending of the role in a legacy name: `engineer_memories.md`.
const LEGACY_ENDING: &str = "_memories";

/// The folders of standing memory files: the project's, then the home's. An edit takes the first
/// that has a file of the role; contexts have both files.
#[must_use]
pub fn standing_folders(project: Option<&Path>, home: &Path) -> Vec<PathBuf> {
    let home = home.join("memories");
    let project = project.map(|project| project.join(".commonbook").join("memories"));
    // The home can be that of the user's folder, and the user work there.
    project.into_iter().filter(|folder| *folder != home).chain([home.clone()]).collect()
}

/// The name of a new file of this role.
#[must_use]
pub fn standing_file_name(role: &str) -> String {
    format!("{role}{FILE_ENDING}")
}

/// The role of a file by its name, in either case: `PM.md` and `pm_memories.md` are files of `pm`.
#[must_use]
pub fn role_of_file(name: &str) -> Option<String> {
    let stem = name.strip_suffix(FILE_ENDING)?.to_lowercase();
    let role = stem.strip_suffix(LEGACY_ENDING).unwrap_or(&stem);
    let agent = Agent::with_any_name(role).ok()?;
    (agent.as_str() == role && agent.role() == role).then(|| role.to_owned())
}

/// The file of a role among the names in a folder: the plain name before the legacy one, lower case
/// before other cases.
pub fn file_of_role<'n>(names: impl Iterator<Item = &'n str>, role: &str) -> Option<&'n str> {
    let rank = |name: &str| {
        let stem = name.strip_suffix(FILE_ENDING).unwrap_or(name);
        let is_legacy = stem.to_lowercase() != role;
        let is_lower = stem.chars().all(|c| !c.is_uppercase());
        (is_legacy, !is_lower, name.to_owned())
    };
    names.filter(|name| role_of_file(name).as_deref() == Some(role)).min_by_key(|name| rank(name))
}
