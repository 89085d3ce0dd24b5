//! What the files of a git repository say: where its data is, and which remote it has. They name no program
//! that Commonbook runs.

use std::fs;
use std::path::{Path, PathBuf};

/// The folder of a repository's data, which its worktrees share (gitrepository-layout).
pub(super) fn git_data(root: &Path) -> PathBuf {
    let git = root.join(".git");
    if !git.exists() {
        // A bare repository is its own data.
        return root.to_owned();
    }
    let Ok(text) = fs::read_to_string(&git) else { return git };
    let Some(linked) = text.strip_prefix("gitdir:") else { return git };
    let linked = root.join(linked.trim());
    match fs::read_to_string(linked.join("commondir")) {
        Ok(shared) => {
            let shared = linked.join(shared.trim());
            fs::canonicalize(&shared).unwrap_or(shared)
        }
        // A submodule, or a repository that keeps its data elsewhere.
        Err(_) => linked,
    }
}

/// Whether the data is that of a bare repository.
pub(super) fn is_bare(data: &Path) -> bool {
    let config = GitConfig::read(data);
    config.values("core", None, "bare").any(|value| value == "true")
}

/// A configuration of git, or of a version control with files of the same form.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct GitConfig {
    entries: Vec<GitEntry>,
}

/// A value in a configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
struct GitEntry {
    /// The name of the section, in lower case.
    section: String,
    subsection: Option<String>,
    /// The name of the value, in lower case.
    name: String,
    value: String,
}

impl GitConfig {
    /// The configuration of a repository with this data; empty if it cannot be read.
    pub(super) fn read(data: &Path) -> Self {
        Self::parse(&fs::read_to_string(data.join("config")).unwrap_or_default())
    }

    /// The values of a text in git's form (git-config, "Syntax"). What git would refuse is left out.
    pub(super) fn parse(text: &str) -> Self {
        let (mut section, mut subsection) = (String::new(), None);
        let mut entries = Vec::new();
        let text = text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n");
        for line in joined_lines(&text) {
            let mut rest = line.trim();
            if let Some(header) = rest.strip_prefix('[')
                && let Some((head, after)) = split_header(header)
            {
                (section, subsection) = section_of(head);
                rest = after.trim();
            }
            if rest.is_empty() || rest.starts_with(['#', ';']) {
                continue;
            }
            let (name, value) = rest.split_once('=').unwrap_or((rest, "true"));
            let (name, value) = (name.trim().to_lowercase(), plain_value(value));
            let (section, subsection) = (section.clone(), subsection.clone());
            entries.push(GitEntry { section, subsection, name, value });
        }
        Self { entries }
    }

    /// The values with this name that are not empty, in order.
    pub(super) fn values<'c>(
        &'c self,
        section: &'c str,
        subsection: Option<&'c str>,
        name: &'c str,
    ) -> impl Iterator<Item = &'c str> {
        let is_meant = move |entry: &&GitEntry| {
            entry.section == section
                && entry.subsection.as_deref() == subsection
                && entry.name == name
                && !entry.value.is_empty()
        };
        self.entries.iter().filter(is_meant).map(|entry| entry.value.as_str())
    }

    /// The rewritten beginnings of URLs: the new one, and the one that a URL has (`url.BASE.insteadOf`).
    pub(super) fn rewrites(&self) -> impl Iterator<Item = (&str, &str)> {
        let entries =
            self.entries.iter().filter(|entry| entry.section == "url" && entry.name == "insteadof");
        entries.filter_map(|entry| Some((entry.subsection.as_deref()?, entry.value.as_str())))
    }

    /// The URL of `origin`, else of the only remote.
    pub(super) fn remote_url(&self) -> Option<&str> {
        let url = |remote| self.values("remote", Some(remote), "url").next();
        if let Some(origin) = url("origin") {
            return Some(origin);
        }
        let mut remotes: Vec<&str> = (self.entries.iter())
            .filter(|entry| entry.section == "remote")
            .filter_map(|entry| entry.subsection.as_deref())
            .collect();
        remotes.dedup();
        let [only] = remotes[..] else { return None };
        url(only)
    }
}

/// The lines of a configuration; a backslash at the end of one continues it.
fn joined_lines(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut is_continued = false;
    for line in text.lines() {
        let (line, continues) = match line.strip_suffix('\\') {
            Some(begun) if !begun.ends_with('\\') => (begun, true),
            _ => (line, false),
        };
        match lines.last_mut().filter(|_| is_continued) {
            Some(last) => last.push_str(line),
            None => lines.push(line.to_owned()),
        }
        is_continued = continues;
    }
    lines
}

/// The inside of a section's header, and what follows it. A bracket between quotation marks is no end.
fn split_header(header: &str) -> Option<(&str, &str)> {
    let (mut is_quoted, mut is_escaped) = (false, false);
    for (at, c) in header.char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' if is_quoted => is_escaped = true,
            '"' => is_quoted = !is_quoted,
            ']' if !is_quoted => return Some((&header[..at], &header[at + 1..])),
            _ => {}
        }
    }
    None
}

/// The section and subsection of a header: `remote "origin"`, or `remote.origin` in an old file.
fn section_of(head: &str) -> (String, Option<String>) {
    if let Some((section, subsection)) = head.split_once('"') {
        let subsection = subsection.strip_suffix('"').unwrap_or(subsection);
        return (section.trim().to_lowercase(), Some(unescaped(subsection)));
    }
    match head.split_once('.') {
        Some((section, subsection)) => {
            (section.trim().to_lowercase(), Some(subsection.trim().to_lowercase()))
        }
        None => (head.trim().to_lowercase(), None),
    }
}

/// A value without quotation marks, escapes and comments.
fn plain_value(text: &str) -> String {
    let (mut value, mut kept) = (String::new(), 0);
    let mut is_quoted = false;
    let mut letters = text.trim_start().chars();
    while let Some(c) = letters.next() {
        match c {
            '"' => is_quoted = !is_quoted,
            '#' | ';' if !is_quoted => break,
            '\\' => value.extend(letters.next()),
            c => value.push(c),
        }
        if is_quoted || !c.is_whitespace() {
            kept = value.len();
        }
    }
    value.truncate(kept);
    value
}

fn unescaped(text: &str) -> String {
    let mut letters = text.chars();
    let mut plain = String::new();
    while let Some(c) = letters.next() {
        plain.extend(if c == '\\' { letters.next() } else { Some(c) });
    }
    plain
}
