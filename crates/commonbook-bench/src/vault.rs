//! `bench vault`: how long a large home takes to write its vault, to find nothing to do, to take in an edit,
//! and to come back from the vault after the store is lost.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use commonbook::base::clock::{Clock, FixedClock, SystemClock};
use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook_server::child::{program_command, step_error};
use commonbook_server::output::print_line;

use super::consolidation::fill_home;
use super::machine::MachineProfile;
use super::search::size;
use super::synthetic::MAIN_WORKSPACE;
use super::timed_step::TimedStep;

/// Edits of one file each.
const EDITS: usize = 20;

/// The longest wait for a change to arrive.
const ARRIVAL_MAX: Duration = Duration::from_secs(60);

/// The delay between two looks at a file.
const LOOK_DELAY: Duration = Duration::from_millis(5);

/// Arguments of the vault bench.
#[derive(Debug, clap::Args)]
pub(super) struct VaultBench {
    /// Memories of the made-up home: 50000, 50k
    #[arg(long, default_value = "50k", value_parser = size)]
    size: usize,
    /// The folder for the homes and the vault; the system's temporary folder by default
    #[arg(long)]
    folder: Option<PathBuf>,
}

impl VaultBench {
    /// Fills a home, writes its vault, edits it, and rebuilds a home from it.
    ///
    /// # Errors
    /// The error of the failing step; `internal` if the rebuilt home exports anything else.
    pub(super) fn run(&self) -> Result<()> {
        MachineProfile::detect_machine().print();
        let folder = super::bench_folder(self.folder.as_ref())?;
        let [home, again, vault] = ["home", "again", "vault"].map(|name| folder.path().join(name));
        fs::create_dir_all(&home).map_err(|error| step_error("no home", error))?;
        {
            let clock = Arc::new(FixedClock::at(SystemClock.now()));
            let book = super::open_bench_book(&home, Arc::<FixedClock>::clone(&clock) as _)?;
            fill_home(&book, &clock, self.size)?;
        }
        let dir = vault.to_string_lossy().into_owned();
        print_line(&format!("\n{} memories", self.size));
        TimedStep::print_head();
        let once = |what: &str, home: &Path, arguments: &[&str]| {
            let mut step = TimedStep::new(what);
            step.time(|| run(home, arguments))?;
            step.print();
            Ok::<(), Error>(())
        };
        once("write the vault", &home, &["vault", "init", &dir, "--with-history"])?;
        let mut still = TimedStep::new("a pass with nothing to do");
        for _ in 0..5 {
            still.time(|| run(&home, &["vault", "sync", &dir]))?;
        }
        still.print();
        time_edits(&home, &vault)?;
        // The watcher was stopped in the middle of a pass.
        run(&home, &["vault", "sync", &dir])?;
        let [before, after] = ["before", "after"].map(|name| folder.path().join(name));
        let file = |path: &Path| path.to_string_lossy().into_owned();
        run(&home, &["export", &file(&before)])?;
        once(
            "rebuild an empty home from the vault",
            &again,
            &["rebuild", "--from-vault", &dir, "--with-history", "--later"],
        )?;
        run(&again, &["export", &file(&after)])?;
        let (before, after) = (read_text(&before)?, read_text(&after)?);
        // Each home signs its own lines.
        let bare =
            |line: &str| line.rsplit_once(",\"signature\":").map(|(rest, _)| rest.to_owned());
        let pairs = before.lines().zip(after.lines());
        let differing = pairs.into_iter().find(|(before, after)| bare(before) != bare(after));
        if let Some((before, after)) = differing {
            let message = format!("the rebuilt home exports\n{after}\ninstead of\n{before}");
            return Err(Error::new(ErrorKind::Internal, message));
        }
        let counts = [&before, &after].map(|text| text.lines().count());
        print_line(&format!(
            "the rebuilt home exports {} of {} lines, the same",
            counts[1], counts[0]
        ));
        Ok(())
    }
}

/// Times edits that a watcher takes in: from the save of a file until its file has the next revision.
fn time_edits(home: &Path, vault: &Path) -> Result<()> {
    let dir = vault.to_string_lossy().into_owned();
    let mut files = Vec::new();
    collect_files(&vault.join("memories"), &mut files)?;
    let mut watcher = program_command(home, &with_workspace(&["vault", "watch", &dir]))?
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .map_err(|error| step_error("the watcher does not start", error))?;
    let timed = (|| {
        let mut step = TimedStep::new("an edit, until the watcher has taken it in");
        for (number, path) in files.iter().step_by((files.len() / (EDITS + 1)).max(1)).enumerate() {
            let edited =
                format!("{}\nEdited by hand, number {number}\n", read_text(path)?.trim_end());
            // The watcher's first pass takes a while: the first edit waits for it, and is not counted.
            let arrive = || {
                fs::write(path, &edited).map_err(|error| step_error("cannot edit", error))?;
                wait_for(path, &edited)
            };
            match number {
                0 => arrive()?,
                _ => step.time(arrive)?,
            }
            if number == EDITS {
                break;
            }
        }
        step.print();
        Ok(())
    })();
    drop(watcher.kill());
    drop(watcher.wait());
    timed
}

/// Waits until the program has written a file again.
#[expect(clippy::disallowed_methods, reason = "the bench looks at a file as a person would")]
fn wait_for(path: &Path, edited: &str) -> Result<()> {
    let begun = Instant::now();
    while read_text(path)? == edited {
        if begun.elapsed() > ARRIVAL_MAX {
            return Err(Error::new(ErrorKind::Unavailable, "the watcher did not take in an edit"));
        }
        std::thread::sleep(LOOK_DELAY);
    }
    Ok(())
}

fn read_text(path: &Path) -> Result<String> {
    fs::read_to_string(path).map_err(|error| step_error("cannot read a file", error))
}

fn collect_files(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    let entries = fs::read_dir(folder).map_err(|error| step_error("cannot list", error))?;
    for entry in entries.flatten() {
        match entry.path() {
            path if path.is_dir() => collect_files(&path, files)?,
            path => files.push(path),
        }
    }
    Ok(())
}

fn with_workspace<'a>(arguments: &[&'a str]) -> Vec<&'a str> {
    [arguments, &["--workspace", MAIN_WORKSPACE]].concat()
}

/// Runs a command of the program to its end.
fn run(home: &Path, arguments: &[&str]) -> Result<()> {
    let output = program_command(home, &with_workspace(arguments))?
        .output()
        .map_err(|error| step_error("the program does not start", error))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(Error::new(ErrorKind::Internal, format!("{} failed: {said}", arguments.join(" "))))
}
