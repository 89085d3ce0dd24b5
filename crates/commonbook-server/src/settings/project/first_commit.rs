//! The first commit of a repository, by which copies of it on several machines know one another.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use commonbook::base::error::{Error, ErrorKind, Result};

use crate::system::shell;

/// The time limit of git, which reads a history of any length.
const GIT_TIMEOUT: Duration = Duration::from_secs(1);

/// Bytes of git's response that are read.
const RESPONSE_BYTES_MAX: u64 = 4096;

/// Bytes of the log of a branch that are read.
const LOG_BYTES_MAX: u64 = 64 * 1024;

/// Digits of a commit's name, in repositories of SHA-1 and of SHA-256.
const NAME_DIGITS: [usize; 2] = [40, 64];

/// The first commit of the repository with this data: the log of its branch begins with it, or git finds it.
/// Returns `None` if there is no commit yet.
///
/// # Errors
/// `unavailable` if git cannot be run, takes too long, or does not know the first commit.
pub(super) fn first_commit(data: &Path) -> Result<Option<String>> {
    if let Some(logged) = logged_commit(data) {
        return Ok(Some(logged));
    }
    match newest_commit(data) {
        Some(newest) => commit_below(data, &newest).map(Some),
        None => Ok(None),
    }
}

/// The first commit in the log of the repository's own branch, with the amendments that follow it; `None` if
/// the log begins later.
fn logged_commit(data: &Path) -> Option<String> {
    let log = fs::File::open(data.join("logs/HEAD")).ok()?;
    let mut entries = BufReader::new(log.take(LOG_BYTES_MAX)).lines().map_while(|line| {
        let line = line.ok()?;
        let (head, message) = line.split_once('\t')?;
        let mut names = head.split(' ').map(str::to_owned);
        Some([names.next()?, names.next()?, message.to_owned()])
    });
    let [before, first, message] = entries.next()?;
    if !before.bytes().all(|digit| digit == b'0') || !message.starts_with("commit (initial)") {
        return None;
    }
    let amended = entries.take_while(|[.., message]| message.starts_with("commit (amend)"));
    commit_name(&amended.last().map_or(first, |[_, amended, _]| amended))
}

/// The newest commit of the branch of the repository.
fn newest_commit(data: &Path) -> Option<String> {
    let head = fs::read_to_string(data.join("HEAD")).ok()?;
    let Some(branch) = head.trim().strip_prefix("ref: ") else { return commit_name(head.trim()) };
    let is_below = branch.starts_with("refs/") && !branch.split('/').any(|part| part == "..");
    let loose = || commit_name(fs::read_to_string(data.join(branch)).ok()?.trim());
    let packed = || {
        let packed = fs::read_to_string(data.join("packed-refs")).ok()?;
        let mut lines = packed.lines().filter_map(|line| line.split_once(' '));
        commit_name(lines.find(|(_, name)| *name == branch)?.0)
    };
    is_below.then(|| loose().or_else(packed)).flatten()
}

/// The first commit below another one, along first parents. Git reads the objects alone, from a repository
/// of its own with no settings: those of the folder, which a stranger can have written, name no program.
fn commit_below(data: &Path, newest: &str) -> Result<String> {
    let failed = |reason: &str| {
        let message = format!("git does not say the first commit of {}: {reason}", data.display());
        Error::new(ErrorKind::Unavailable, message).hint("Run `git log` there.")
    };
    let unwritable = |error: std::io::Error| failed(&error.to_string()).with_cause(error);
    let empty = tempfile::tempdir().map_err(unwritable)?;
    for folder in ["objects", "refs"] {
        fs::create_dir(empty.path().join(folder)).map_err(unwritable)?;
    }
    let settings = match newest.len() {
        64 => {
            "[core]\nrepositoryformatversion = 1\nbare = true\n[extensions]\nobjectformat = sha256\n"
        }
        _ => "[core]\nrepositoryformatversion = 0\nbare = true\n",
    };
    for (file, text) in [("HEAD", "ref: refs/heads/main\n"), ("config", settings)] {
        fs::write(empty.path().join(file), text).map_err(unwritable)?;
    }
    let mut git = Command::new("git");
    git.arg("--git-dir").arg(empty.path());
    git.args(["rev-list", "--first-parent", "--max-parents=0", newest, "--"]);
    for variable in GIT_VARIABLES {
        git.env_remove(variable);
    }
    git.env("GIT_OBJECT_DIRECTORY", data.join("objects"))
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", empty.path().join("none"))
        .env("GIT_NO_LAZY_FETCH", "1")
        .current_dir(empty.path())
        .stderr(Stdio::null());
    let output = shell::run_process(
        git,
        "git",
        String::new(),
        RESPONSE_BYTES_MAX,
        Instant::now() + GIT_TIMEOUT,
    )?;
    let output = String::from_utf8_lossy(&output);
    output
        .lines()
        .next_back()
        .and_then(commit_name)
        .ok_or_else(|| failed("no commit in its response"))
}

/// Variables by which the process of a client could lead git elsewhere.
const GIT_VARIABLES: [&str; 8] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_COMMON_DIR",
    "GIT_NAMESPACE",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_CONFIG",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_PARAMETERS",
];

/// The text as the name of a commit, if it is one.
fn commit_name(text: &str) -> Option<String> {
    let is_name = NAME_DIGITS.contains(&text.len()) && text.bytes().all(|c| c.is_ascii_hexdigit());
    is_name.then(|| text.to_lowercase())
}

#[cfg(test)]
mod tests;
