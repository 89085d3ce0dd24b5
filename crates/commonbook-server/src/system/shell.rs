//! Runs a user command in the shell, with input, output and a deadline.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::base::thread;

use crate::system::process;

/// The time between two checks whether a command has ended.
const EXIT_POLL_INTERVAL: Duration = Duration::from_millis(1);

/// Runs a command in `folder` with `input` on its standard input; returns at most `output_bytes_max`
/// bytes of its standard output.
///
/// # Errors
/// `unavailable` if it cannot be run, fails, or runs past `deadline`; then the shell and all its child
/// processes are killed.
pub(crate) fn run(
    command: &str,
    folder: Option<&Path>,
    input: String,
    output_bytes_max: u64,
    deadline: Instant,
) -> Result<Vec<u8>> {
    let (shell, flag) = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
    let mut process = Command::new(shell);
    process.args([flag, &with_user_umask(command)]).stderr(Stdio::null());
    if let Some(folder) = folder {
        process.current_dir(folder);
    }
    run_process(process, program_of(command), input, output_bytes_max, deadline)
}

/// The first program of a command: an error repeats no more of it, since arguments and variables can be secret.
fn program_of(command: &str) -> &str {
    command.split_whitespace().find(|word| !word.contains('=')).unwrap_or_default()
}

/// Runs a program as [`run`] does; `name` is its name in errors.
///
/// # Errors
/// As [`run`].
pub(crate) fn run_process(
    mut process: Command,
    name: &str,
    input: String,
    output_bytes_max: u64,
    deadline: Instant,
) -> Result<Vec<u8>> {
    let failed = |reason: String| {
        Error::new(ErrorKind::Unavailable, format!("the command {name:?} {reason}"))
    };
    of_its_own_group(&mut process);
    let piped = process.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let mut child = piped.map_err(|error| failed(format!("cannot be run: {error}")))?;
    let output = match read_output(&mut child, input, output_bytes_max, deadline) {
        Ok(output) => output,
        Err(error) => {
            kill(&mut child);
            return Err(error);
        }
    };
    let status = match &output {
        Some(_) => wait_for_exit(&mut child, deadline),
        None => None,
    };
    let Some((output, status)) = output.zip(status) else {
        kill(&mut child);
        return Err(failed("took too long".to_owned()));
    };
    if !status.success() {
        return Err(failed(format!("ended with {status}")));
    }
    Ok(output)
}

/// The command with the umask of the user, because its files belong to the user.
fn with_user_umask(command: &str) -> String {
    match process::user_umask().filter(|_| cfg!(unix)) {
        Some(umask) => format!("umask {umask}\n{command}"),
        None => command.to_owned(),
    }
}

/// The standard output of a command after it has closed it; `None` after the deadline.
///
/// # Errors
/// `unavailable` if the machine has no thread left.
fn read_output(
    child: &mut Child,
    input: String,
    output_bytes_max: u64,
    deadline: Instant,
) -> Result<Option<Vec<u8>>> {
    let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
    let (sender, receiver) = mpsc::channel();
    thread::start(move || {
        if let Some(mut stdin) = stdin {
            // Fails if the command closes its standard input early, which is fine.
            drop(stdin.write_all(input.as_bytes()));
        }
    })?;
    thread::start(move || {
        let mut output = Vec::new();
        if let Some(stdout) = stdout {
            drop(stdout.take(output_bytes_max).read_to_end(&mut output));
        }
        drop(sender.send(output));
    })?;
    Ok(receiver.recv_timeout(deadline.saturating_duration_since(Instant::now())).ok())
}

/// The exit status of a command; `None` after the deadline.
fn wait_for_exit(child: &mut Child, end: Instant) -> Option<ExitStatus> {
    let (_never, nothing) = mpsc::channel::<()>();
    loop {
        if let Ok(Some(status)) = child.try_wait() {
            return Some(status);
        }
        if Instant::now() >= end {
            return None;
        }
        // There is no wait with a timeout for a child process.
        let _ = nothing.recv_timeout(EXIT_POLL_INTERVAL);
    }
}

#[cfg(unix)]
fn of_its_own_group(process: &mut Command) {
    use std::os::unix::process::CommandExt;
    process.process_group(0);
}

/// Ends a command with all that it started, as a shell does that: without a library for it, signals
/// take unsafe code.
#[cfg(unix)]
fn kill(child: &mut Child) {
    let group = format!("kill -s KILL -- -{}", child.id());
    // It may have ended just now.
    drop(Command::new("sh").args(["-c", &group]).stderr(Stdio::null()).status());
    drop(child.kill());
    drop(child.wait());
}

#[cfg(not(unix))]
fn of_its_own_group(_: &mut Command) {}

#[cfg(not(unix))]
fn kill(child: &mut Child) {
    drop(child.kill());
    drop(child.wait());
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    fn said(command: &str, within: Duration) -> Result<Vec<u8>> {
        run(command, None, "told".to_owned(), 9, Instant::now() + within)
    }

    #[test]
    fn a_command_is_told_and_heard() {
        let long = Duration::from_secs(60);
        assert_eq!(said("cat", long).unwrap(), b"told");
        assert_eq!(said("echo hello", long).unwrap(), b"hello\n");
        let error = said("cat; exit 3", long).unwrap_err();
        assert!(error.message.contains("ended with exit status: 3"), "{}", error.message);
        let error = said("/no/such/program", long).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Unavailable);
    }

    #[test]
    fn of_a_command_that_says_too_much_no_more_is_heard() {
        // The pipe is closed beneath it, and it ends with that signal.
        let error = said("yes", Duration::from_secs(60)).unwrap_err();
        assert!(error.message.contains("ended with"), "{}", error.message);
        let all = said("printf 0123456789abcdef", Duration::from_secs(60));
        assert!(all.is_err() || all.is_ok_and(|said| said == b"012345678"));
    }

    #[test]
    fn a_command_that_hangs_is_ended_with_all_that_it_started() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let (tell, closed) = mpsc::channel();
        let reader = pipe.clone();
        // What is written there ends when nobody is left who could go on.
        std::thread::spawn(move || tell.send(std::fs::read(reader).unwrap()));
        let started = format!("sleep 600 > '{}' & wait", pipe.display());
        for hangs in [started.as_str(), "exec >&-; sleep 600"] {
            let error = said(hangs, Duration::from_millis(300)).unwrap_err();
            assert!(error.message.contains("took too long"), "{}", error.message);
        }
        assert_eq!(closed.recv_timeout(Duration::from_secs(60)), Ok(Vec::new()));
    }
}
