//! The paths of standing memory files.

use std::path::{Path, PathBuf};

use crate::model::agent::Agent;

/// The paths of an agent's standing memory, in search order; the first that exists counts.
/// `project` is the folder of the project, `home` that of Commonbook.
///
/// The project's file comes before the global one, and both before files of the legacy name
/// `{role}_memories.md`. The file of a `pm` may be called `PM.md`. No path leads out of the two
/// folders: a role has no separator and does not begin with a dot.
#[must_use]
pub fn standing_paths(project: Option<&Path>, home: &Path, agent: &Agent) -> Vec<PathBuf> {
    let role = agent.role();
    let folders: Vec<PathBuf> = project
        .map(|project| project.join(".commonbook").join("memories"))
        .into_iter()
        .chain([home.join("memories")])
        .collect();
    let mut names = vec![format!("{role}.md")];
    if role == "pm" {
        names.push("PM.md".to_owned());
    }
    let legacy = format!("{role}_memories.md");
    let under =
        |name: String| folders.iter().map(move |folder| folder.join(&name)).collect::<Vec<_>>();
    let current = folders.iter().flat_map(|folder| names.iter().map(move |name| folder.join(name)));
    let mut places: Vec<PathBuf> = current.collect();
    places.extend(under(legacy));
    if role == "pm" {
        places.extend(under("PM_memories.md".to_owned()));
    }
    places
}
