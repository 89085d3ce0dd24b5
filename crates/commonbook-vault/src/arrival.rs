//! Whether git has brought files into a folder since a pass, as git's own files say.
//!
//! Git writes its index after the files and before it moves the branch, and notes each move in the log of
//! `HEAD`. If anything but commits was made since, git can have brought every file. A file that it brought
//! without a move (`merge --squash`, `checkout BRANCH -- FILE`, a patch of a branch) stands in a commit that
//! was not made here: `git.rs` reads those.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use commonbook::base::clock::{Clock as _, SystemClock};
use commonbook::base::hash::sha256;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// Names in the folder of git that are there while it puts files of several commits together.
const WORK_MARKS: [&str; 6] =
    ["index.lock", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply"];

/// How the notes of the log begin that tell of a commit made here.
const OWN_MOVES: [&str; 3] = ["commit: ", "commit (initial): ", "commit (amend): "];

/// The age of the index at which git, which moves the branch right after it, has ended.
const SETTLED_AGE: Duration = Duration::from_secs(1);

/// Where a repository stands, as git's own files say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GitPosition {
    /// The checksum of the index.
    index: String,
    /// The commit that is checked out; empty without one.
    commit: String,
    /// The length of the log of `HEAD`, in bytes, and its checksum.
    log_bytes: usize,
    log: String,
}

/// What git has done to a folder since a pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitArrival {
    /// Whether it can have brought files.
    pub brought_files: bool,
    /// Where the repository stands now; `None` if the folder lies in none.
    pub position: Option<GitPosition>,
}

/// What git has done to a folder since it stood at this position; `None` before the first pass, when every
/// file of a repository counts as brought. While git may be about to move the branch, it waits, at most a
/// second.
#[must_use]
pub fn arrival_since(before: Option<&GitPosition>, folder: &Path) -> GitArrival {
    let Some(VaultRepository { git, .. }) = VaultRepository::of(folder) else {
        return GitArrival { brought_files: before.is_some(), position: None };
    };
    let is_at_work = || WORK_MARKS.iter().any(|name| git.join(name).exists());
    let log = read_log(&git);
    let now = position_of(&git, &log);
    let brought = |now: &GitPosition, log: &[u8]| {
        is_at_work() || before.is_none_or(|before| !only_commits_between(before, now, log))
    };
    let is_settled = before.is_none_or(|before| before.index == now.index)
        || before.is_some_and(|before| before.commit != now.commit || before.log != now.log);
    let left = unsettled_time(&git.join("index")).filter(|_| !is_settled && !brought(&now, &log));
    let Some(left) = left else {
        return GitArrival { brought_files: brought(&now, &log), position: Some(now) };
    };
    let (_sender, receiver) = mpsc::channel::<()>();
    let _waited = receiver.recv_timeout(left);
    let log = read_log(&git);
    let now = position_of(&git, &log);
    GitArrival { brought_files: brought(&now, &log), position: Some(now) }
}

/// Whether nothing but commits made here lies between two positions.
fn only_commits_between(before: &GitPosition, now: &GitPosition, log: &[u8]) -> bool {
    let Some((earlier, later)) = log.split_at_checked(before.log_bytes) else { return false };
    if sum_of(earlier) != before.log {
        return false;
    }
    let later = String::from_utf8_lossy(later);
    let mut commit = before.commit.as_str();
    for line in later.lines() {
        let Some((head, note)) = line.split_once('\t') else { return false };
        let mut words = head.split(' ');
        let (Some(old), Some(new)) = (words.next(), words.next()) else { return false };
        let is_first = commit.is_empty() && old.bytes().all(|byte| byte == b'0');
        if !(old == commit || is_first) || !OWN_MOVES.iter().any(|own| note.starts_with(own)) {
            return false;
        }
        commit = new;
    }
    commit == now.commit
}

/// The commits that were made here, as the logs of `HEAD` say.
pub(crate) fn own_commits(git: &Path) -> BTreeSet<String> {
    let log = [read_log(git), read_log(&common_folder(git))].concat();
    let moves = String::from_utf8_lossy(&log);
    let made = moves.lines().filter_map(|line| {
        let (head, note) = line.split_once('\t')?;
        OWN_MOVES.iter().any(|own| note.starts_with(own)).then(|| head.split(' ').nth(1))?
    });
    made.map(str::to_owned).collect()
}

/// How long the index is too young to say that git has ended.
fn unsettled_time(index: &Path) -> Option<Duration> {
    let modified = fs::metadata(index).and_then(|found| found.modified()).ok()?;
    // A file has the time of the machine, in tests too.
    let age = SystemClock.now().duration_since(Timestamp::try_from(modified).ok()?);
    let age = Duration::try_from(age).unwrap_or_default();
    SETTLED_AGE.checked_sub(age).filter(|left| !left.is_zero())
}

fn read_log(git: &Path) -> Vec<u8> {
    fs::read(git.join("logs/HEAD")).unwrap_or_default()
}

fn position_of(git: &Path, log: &[u8]) -> GitPosition {
    GitPosition {
        index: sum_of(&fs::read(git.join("index")).unwrap_or_default()),
        commit: commit_of(git),
        log_bytes: log.len(),
        log: sum_of(log),
    }
}

fn sum_of(bytes: &[u8]) -> String {
    sha256(&String::from_utf8_lossy(bytes))
}

/// A repository: the folder that it is of, and that of git.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct VaultRepository {
    pub(crate) root: PathBuf,
    pub(crate) git: PathBuf,
}

impl VaultRepository {
    /// The repository that a folder lies in: a `.git` in it or above it, and nothing that a setting or a
    /// variable names.
    pub(crate) fn of(folder: &Path) -> Option<Self> {
        folder.ancestors().find_map(|root| {
            let git = root.join(".git");
            if git.is_dir() {
                return Some(Self { root: root.to_owned(), git });
            }
            // A worktree or a submodule: the file names the folder.
            let text = fs::read_to_string(&git).ok()?;
            let git = root.join(text.trim().strip_prefix("gitdir:")?.trim());
            Some(Self { root: root.to_owned(), git })
        })
    }
}

/// The commit that is checked out; empty if there is none, or if it cannot be told.
fn commit_of(git: &Path) -> String {
    let head = fs::read_to_string(git.join("HEAD")).unwrap_or_default();
    let Some(branch) = head.trim().strip_prefix("ref:").map(str::trim) else {
        return head.trim().to_owned();
    };
    let common = common_folder(git);
    let loose =
        [git, &*common].into_iter().find_map(|git| fs::read_to_string(git.join(branch)).ok());
    if let Some(commit) = loose {
        return commit.trim().to_owned();
    }
    let packed = fs::read_to_string(common.join("packed-refs")).unwrap_or_default();
    let commit = packed.lines().find_map(|line| line.strip_suffix(branch)?.strip_suffix(' '));
    commit.unwrap_or_default().to_owned()
}

/// The folder that the worktrees of a repository share.
fn common_folder(git: &Path) -> PathBuf {
    let common = fs::read_to_string(git.join("commondir")).map(|path| git.join(path.trim()));
    common.unwrap_or_else(|_| git.to_owned())
}
