//! Names the build: the version, and in a release build the commit of its sources, if it is known.

#![expect(clippy::disallowed_methods, reason = "a build script reads what Cargo sets")]

use std::path::Path;
use std::process::Command;

fn main() {
    let version = std::env::var("CARGO_PKG_VERSION").unwrap_or_default();
    // A debug build is not rebuilt for each commit.
    let is_release = std::env::var("PROFILE").is_ok_and(|profile| profile == "release");
    // A debug build has 400,000 addresses to relocate, which takes a fifth of the time of each of the thousands of
    // commands that the tests run. At a fixed address there is none.
    if !is_release && std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "linux") {
        println!("cargo::rustc-link-arg=-no-pie");
    }
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src");
    let commit = if is_release { packaged_commit().or_else(git_commit) } else { None };
    let version = commit.map_or(version.clone(), |commit| format!("{version} ({commit})"));
    println!("cargo::rustc-env=COMMONBOOK_VERSION={version}");
}

/// The commit that `cargo package` wrote down.
fn packaged_commit() -> Option<String> {
    let text = std::fs::read_to_string(".cargo_vcs_info.json").ok()?;
    let (_, rest) = text.split_once("\"sha1\": \"")?;
    rest.get(..9).map(str::to_owned)
}

/// The commit of the repository.
fn git_commit() -> Option<String> {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| text.trim().to_owned())
    };
    // Sources that lie in another repository have no commit of their own.
    git(&["ls-files", "--error-unmatch", "Cargo.toml"])?;
    for path in ["HEAD", "logs/HEAD"] {
        let path = git(&["rev-parse", "--git-path", path])?;
        if Path::new(&path).exists() {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    let commit = git(&["rev-parse", "--short=9", "HEAD"])?;
    let is_changed = git(&["status", "--porcelain", "--untracked-files=no"])?;
    Some(if is_changed.is_empty() { commit } else { format!("{commit}, changed") })
}
