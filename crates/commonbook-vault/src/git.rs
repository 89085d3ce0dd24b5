//! Which files of a vault came by git from somebody else.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// The files of these that git tracks and whose last commit another person made. Without git, or outside of
/// a repository, none.
#[must_use]
pub fn files_of_others(root: &Path, paths: &[&str]) -> BTreeSet<String> {
    if paths.is_empty() || git(root, &["rev-parse", "--is-inside-work-tree"]).is_none() {
        return BTreeSet::new();
    }
    let me = git(root, &["config", "user.email"]).unwrap_or_default();
    let is_of_other = |path: &&&str| {
        let author = git(root, &["log", "-1", "--format=%ae", "--", path]).unwrap_or_default();
        !author.is_empty() && author != me
    };
    paths.iter().filter(is_of_other).map(|path| (*path).to_owned()).collect()
}

/// The output of a git command; `None` if it fails.
fn git(root: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").arg("-C").arg(root).args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
