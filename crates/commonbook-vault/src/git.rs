//! A vault in a git repository: a pass with commit, pull and push.
//!
//! The user's own `git` does the work. Where two machines changed one file, git takes theirs whole, and the
//! pass after it compares it with the store, which has ours: so memories are merged by their fields, and no
//! mark of a conflict gets into a file.

use std::collections::BTreeSet;
use std::io::{Seek as _, Write as _};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use commonbook::base::error::{Error, ErrorKind, Result};

use crate::arrival::{VaultRepository, own_commits};
use crate::report::{SyncOptions, SyncReport};
use crate::settings::UNSHARED;

/// How git merges the files of a vault: theirs, whole.
const MERGE_DRIVER: &str = "merge.commonbook.driver=cp -- %B %A";

/// What the settings of a repository may not make git do, since a stranger can have written them: be a
/// repository without `.git`, and run programs where commits are read, compared and made.
const SAFE_SETTINGS: [&str; 13] = [
    "safe.bareRepository=explicit",
    "log.showSignature=false",
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.pager=cat",
    "commit.gpgSign=false",
    "push.gpgSign=false",
    "protocol.ext.allow=never",
    "submodule.recurse=false",
    "fetch.recurseSubmodules=false",
    "push.recurseSubmodules=no",
    "gc.auto=0",
    "maintenance.auto=false",
];

/// Variables that lead git to another repository than that of the folder, or to another program.
const FOREIGN_VARIABLES: [&str; 7] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_COMMON_DIR",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_EXTERNAL_DIFF",
    "GIT_CONFIG_PARAMETERS",
];

/// Settings by which a repository's own files name a program, by section and last word, each with a value
/// that runs none but git's own.
const PROGRAM_SETTINGS: [(&str, &str, &str); 14] = [
    // Options of a merge: they can put a file of the person's into its message.
    ("branch", "mergeoptions", ""),
    ("core", "alternaterefscommand", "true"),
    ("core", "askpass", ""),
    ("core", "editor", "true"),
    ("core", "gitproxy", "none"),
    ("core", "sshcommand", "ssh"),
    ("credential", "helper", ""),
    ("filter", "clean", ""),
    ("filter", "process", ""),
    ("filter", "required", "false"),
    ("filter", "smudge", ""),
    ("gpg", "program", "false"),
    ("hook", "command", "true"),
    ("merge", "driver", "false"),
];

/// What runs, by the shell, at the other end of a remote that lies on this machine: git without what that
/// repository's own settings and hooks would run as this user.
const LOCAL_END: &str = "GIT_NO_LAZY_FETCH=1 git -c core.hooksPath=/dev/null -c core.fsmonitor=false \
    -c core.alternateRefsCommand=true -c receive.denyCurrentBranch=refuse -c receive.autogc=false";

/// The variable by which git finds a proxy program; where it is set, the setting `core.gitProxy` is not read.
const PROXY_VARIABLE: &str = "GIT_PROXY_COMMAND";

/// The message of each commit.
const COMMIT_MESSAGE: &str = "vault: memories";

/// Pushes that others may cross before a pass gives up.
const PUSH_ATTEMPTS: u32 = 4;

/// One pass of a vault with the repository that it lives in: commits, pulls, takes in what others changed,
/// and pushes. Without an upstream branch it only commits.
///
/// # Errors
/// `invalid` if the vault is in no repository; `conflict` if files outside of the vault cannot be merged;
/// `unavailable` with git's own words if git fails; the error of the pass.
pub fn sync_with_git(
    root: &Path,
    options: SyncOptions,
    pass: &dyn Fn(SyncOptions) -> Result<SyncReport>,
) -> Result<SyncReport> {
    let repository = VaultRepository::of(root).ok_or_else(|| {
        Error::invalid("--git", format!("{} is in no git repository", root.display()))
            .hint("Make one with `git init`, and add a remote to share it.")
    })?;
    let git = GitFolder::open(root, repository)?;
    git.finish_merge()?;
    let mut report = pass(options)?;
    git.commit()?;
    if git.line(&["rev-parse", "--abbrev-ref", "@{upstream}"]).is_none() {
        report.note("--git", "committed, and nothing is shared: the branch has no upstream. Set one with `git push -u REMOTE BRANCH`.");
        return Ok(report);
    }
    // Of a setting that names the program at the other end, git takes the first one.
    let fetch = ["fetch", "--quiet", &*format!("--upload-pack={}", git.far_end("upload"))];
    let push = ["push", "--quiet", &*format!("--receive-pack={}", git.far_end("receive"))];
    let mut said = String::new();
    for _ in 0..PUSH_ATTEMPTS {
        git.run(&fetch)?;
        git.merge_upstream()?;
        report.add(pass(options)?);
        git.commit()?;
        let pushed = git.output(&push)?;
        if pushed.status.success() {
            return Ok(report);
        }
        said =
            String::from_utf8_lossy(&pushed.stderr).lines().next().unwrap_or_default().to_owned();
    }
    let message = format!("git push failed {PUSH_ATTEMPTS} times: {said}");
    Err(Error::new(ErrorKind::Unavailable, message).hint(
        "Everything is committed here. If others pushed meanwhile, run the command again; else mend what git says.",
    ))
}

/// A file of a vault as a commit has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CommittedFile {
    /// Its path below the folder of the vault.
    pub(crate) path: String,
    pub(crate) content: String,
}

/// The files of a vault as the commits brought or changed them that this clone did not make: all that its
/// objects have, on a branch or not any more. Nothing is fetched for it.
///
/// # Errors
/// `unavailable` with git's own words if git fails.
pub(crate) fn files_of_others(
    root: &Path,
    repository: VaultRepository,
) -> Result<Vec<CommittedFile>> {
    let own = own_commits(&repository.git);
    let git = GitFolder::open(root, repository)?;
    let format = "--batch-check=%(objecttype) %(objectname)";
    let objects = git.run(&["cat-file", "--batch-all-objects", "--unordered", format])?;
    let commits = objects.lines().filter_map(|line| line.strip_prefix("commit "));
    let others: BTreeSet<&str> = commits.filter(|commit| !own.contains(*commit)).collect();
    let listed = git.answer(
        &[
            "diff-tree",
            "--stdin",
            "-r",
            "-c",
            "--root",
            "--no-renames",
            "--relative",
            "-z",
            "--",
            ".",
        ],
        others.iter().copied(),
    )?;
    let listed = String::from_utf8_lossy(&listed);
    let mut words = listed.split('\0');
    let mut files = BTreeSet::new();
    while let Some(word) = words.next() {
        // A commit has one word; a file has its modes, objects and status, and then its path.
        let Some(change) = word.strip_prefix(':') else { continue };
        let object = change.rsplit(' ').nth(1).unwrap_or_default();
        let path = words.next().unwrap_or_default();
        if object.bytes().any(|digit| digit != b'0') {
            files.insert((object, path));
        }
    }
    let contents = git.answer(&["cat-file", "--batch"], files.iter().map(|(object, _)| *object))?;
    let paths = files.iter().map(|(_, path)| *path);
    Ok(paths
        .zip(batch_of(&contents))
        .filter_map(|(path, content)| {
            Some(CommittedFile { path: path.to_owned(), content: content? })
        })
        .collect())
}

/// The objects that `git cat-file --batch` prints, in order; `None` for one that is not there.
fn batch_of(printed: &[u8]) -> impl Iterator<Item = Option<String>> {
    let mut left = printed;
    std::iter::from_fn(move || {
        let end = left.iter().position(|byte| *byte == b'\n')?;
        let head = String::from_utf8_lossy(&left[..end]);
        left = &left[end + 1..];
        let Some(bytes) = head.rsplit(' ').next().and_then(|bytes| bytes.parse::<usize>().ok())
        else {
            return Some(None);
        };
        let content = String::from_utf8_lossy(left.get(..bytes)?).into_owned();
        left = left.get(bytes + 1..)?;
        Some(Some(content))
    })
}

/// Git in the folder of a vault, in the repository that it lies in.
struct GitFolder<'g> {
    root: &'g Path,
    repository: VaultRepository,
    /// Settings that take the place of the repository's own.
    tamed: Vec<(String, String)>,
}

impl<'g> GitFolder<'g> {
    fn open(root: &'g Path, repository: VaultRepository) -> Result<Self> {
        let git = Self { root, repository, tamed: Vec::new() };
        let tamed = git.tamed_settings()?;
        Ok(Self { tamed, ..git })
    }

    fn output(&self, arguments: &[&str]) -> Result<Output> {
        started(self.command(arguments).output())
    }

    /// What a command that must succeed, and fetches nothing, says to these lines.
    fn answer<'l>(
        &self,
        arguments: &[&str],
        lines: impl Iterator<Item = &'l str>,
    ) -> Result<Vec<u8>> {
        let asked = || {
            let mut questions = tempfile::tempfile()?;
            questions
                .write_all(lines.map(|line| format!("{line}\n")).collect::<String>().as_bytes())?;
            questions.rewind()?;
            let mut command = self.command(arguments);
            command.env("GIT_NO_LAZY_FETCH", "1").env("GIT_ALLOW_PROTOCOL", "none");
            command.stdin(Stdio::from(questions)).output()
        };
        let output = started(asked())?;
        Self::checked(arguments, &output)?;
        Ok(output.stdout)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("git");
        command.arg("-C").arg(self.root);
        command.arg("--git-dir").arg(&self.repository.git);
        command.arg("--work-tree").arg(&self.repository.root);
        for setting in SAFE_SETTINGS.iter().chain([&MERGE_DRIVER]) {
            command.args(["-c", *setting]);
        }
        for name in FOREIGN_VARIABLES {
            command.env_remove(name);
        }
        command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_TERMINAL_PROMPT", "0");
        // In variables: a name with `=` in it cannot be given by `-c`.
        command.env("GIT_CONFIG_COUNT", self.tamed.len().to_string());
        for (place, (name, value)) in self.tamed.iter().enumerate() {
            command.env(format!("GIT_CONFIG_KEY_{place}"), name);
            command.env(format!("GIT_CONFIG_VALUE_{place}"), value);
        }
        // Of this setting too git takes the first one, unless the variable is there.
        if self.tamed.iter().any(|(name, _)| name == "core.gitproxy") {
            command.env(PROXY_VARIABLE, "");
        }
        command.args(arguments);
        command
    }

    /// What takes the place of the settings by which the repository's own files name programs: the
    /// person's own settings, else values that run none.
    fn tamed_settings(&self) -> Result<Vec<(String, String)>> {
        let listed = self.run(&["config", "--list", "--show-scope", "--name-only", "-z"])?;
        let words: Vec<&str> = listed.split('\0').collect();
        let mut tamed = Vec::new();
        for pair in words.chunks_exact(2) {
            let (scope, name) = (pair[0], pair[1]);
            let section = name.split('.').next().unwrap_or_default();
            let last = name.rsplit('.').next().unwrap_or_default();
            let harmless =
                PROGRAM_SETTINGS.iter().find(|found| (found.0, found.1) == (section, last));
            let Some((_, _, value)) = harmless.filter(|_| ["local", "worktree"].contains(&scope))
            else {
                continue;
            };
            tamed.push((name.to_owned(), (*value).to_owned()));
            let general = format!("{section}.{last}");
            let names = [Some(&*general).filter(|general| *general != name), Some(name)];
            for own in names.into_iter().flatten() {
                let own =
                    self.output(&["config", "--global", "--includes", "-z", "--get-all", own])?;
                let own = String::from_utf8_lossy(&own.stdout).into_owned();
                let values = own.split_terminator('\0');
                tamed.extend(values.map(|value| (name.to_owned(), value.to_owned())));
            }
        }
        Ok(tamed)
    }

    /// The program at the other end of a fetch (`upload`) or a push (`receive`).
    fn far_end(&self, program: &str) -> String {
        let (field, option) = match program {
            "upload" => ("%(upstream:remotename)", None),
            _ => ("%(push:remotename)", Some("--push")),
        };
        let branch = self.line(&["symbolic-ref", "--quiet", "HEAD"]).unwrap_or_default();
        let format = format!("--format={field}");
        let name = self.line(&["for-each-ref", &format, &branch]).filter(|name| !name.is_empty());
        let name = name.as_deref().unwrap_or("origin");
        // A branch may name an address in place of a remote.
        let words = ["remote", "get-url", "--all"].into_iter().chain(option).chain(["--", name]);
        let urls = self.line(&words.collect::<Vec<&str>>());
        match urls.as_deref().unwrap_or(name).lines().any(is_path) {
            true => format!("{LOCAL_END} {program}-pack"),
            false => format!("git-{program}-pack"),
        }
    }

    /// Runs a command that must succeed.
    fn run(&self, arguments: &[&str]) -> Result<String> {
        let output = self.output(arguments)?;
        Self::checked(arguments, &output)?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    fn checked(arguments: &[&str], output: &Output) -> Result<()> {
        if output.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        let said = said.lines().next().unwrap_or("it says nothing");
        let action = arguments.first().copied().unwrap_or_default();
        Err(Error::new(ErrorKind::Unavailable, format!("git {action} failed: {said}"))
            .hint("Mend that with git, and run the command again; nothing is lost."))
    }

    /// The output of a command; `None` if it fails.
    fn line(&self, arguments: &[&str]) -> Option<String> {
        self.run(arguments).ok().map(|text| text.trim().to_owned())
    }

    /// Commits the files of the vault, and nothing else: no private ones either, whatever git ignores.
    fn commit(&self) -> Result<()> {
        self.stage()?;
        if self
            .output(&["diff", "--no-ext-diff", "--no-textconv", "--cached", "--quiet", "--", "."])?
            .status
            .success()
        {
            return Ok(());
        }
        let unshared = UNSHARED.map(|name| format!(":(exclude){name}"));
        let paths = ["--", "."].into_iter().chain(unshared.iter().map(String::as_str));
        let arguments = ["commit", "--quiet", "-m", COMMIT_MESSAGE];
        self.run(&arguments.into_iter().chain(paths).collect::<Vec<&str>>()).map(drop)
    }

    /// Stages the files of the vault that a repository gets. `add` fails if it is to exclude a folder that git
    /// ignores, so that what it staged of those is taken back.
    fn stage(&self) -> Result<()> {
        self.run(&["add", "--all", "--", "."])?;
        self.run(&[&["reset", "--quiet", "--"], &UNSHARED[..]].concat()).map(drop)
    }

    /// Merges the upstream branch.
    fn merge_upstream(&self) -> Result<()> {
        if self.output(&["merge", "--quiet", "--no-edit", "@{upstream}"])?.status.success() {
            return Ok(());
        }
        if !self.is_merging()? {
            // Git refused before it began: it says why.
            return self.run(&["merge", "--quiet", "--no-edit", "@{upstream}"]).map(drop);
        }
        self.finish_merge()
    }

    /// Whether a merge has begun. The file says so even if a git that was killed had not yet filled it.
    fn is_merging(&self) -> Result<bool> {
        let path =
            self.run(&["rev-parse", "--path-format=absolute", "--git-path", "MERGE_HEAD"])?;
        Ok(Path::new(path.trim_end_matches(['\r', '\n'])).exists())
    }

    /// Finishes a merge in which one side moved or removed what the other changed: what is there stays.
    fn finish_merge(&self) -> Result<()> {
        if !self.is_merging()? {
            return Ok(());
        }
        let unmerged = |scope: &str| {
            self.line(&[
                "diff",
                "--no-ext-diff",
                "--name-only",
                "--diff-filter=U",
                "--relative",
                "--",
                scope,
            ])
        };
        let outside = self
            .line(&["diff", "--no-ext-diff", "--name-only", "--diff-filter=U"])
            .unwrap_or_default();
        let inside = unmerged(".").unwrap_or_default();
        if outside.lines().count() > inside.lines().count() {
            self.run(&["merge", "--abort"])?;
            return Err(Error::conflict(
                "files outside of the vault cannot be merged by themselves",
            )
            .hint("Pull and merge the repository by hand, and run the command again."));
        }
        self.stage()?;
        // A message of our own: a git that was killed left none.
        self.run(&["commit", "--quiet", "-m", COMMIT_MESSAGE]).map(drop)
    }
}

/// Whether git takes an address for a path on this machine: `host:path` is none.
fn is_path(address: &str) -> bool {
    let is_drive = cfg!(windows) && address.get(1..2) == Some(":");
    let host = address.split_once(':').map(|(host, _)| host);
    is_drive || address.starts_with("file://") || host.is_none_or(|host| host.contains('/'))
}

/// The output of git, if it could be started.
fn started(output: std::io::Result<Output>) -> Result<Output> {
    output.map_err(|error| {
        Error::new(ErrorKind::Unavailable, format!("cannot run git: {error}"))
            .hint("Install git, or run the command without --git.")
            .with_cause(error)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_no_address_of_another_machine() {
        for path in ["/srv/a.git", "../a.git", "a.git", "file:///srv/a.git", "./a:b.git"] {
            assert!(is_path(path), "{path}");
        }
        for other in ["git@host:a.git", "host:a", "https://host/a", "ssh://host/a", "ext::sh x"] {
            assert!(!is_path(other), "{other}");
        }
    }
}
