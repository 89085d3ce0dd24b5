//! The conditions of a measurement: machine, date and command.

use std::fs;

use commonbook::base::clock::{Clock, SystemClock};
use serde::Serialize;

use commonbook_server::output::print_line;

/// Where, when and how something was measured.
#[derive(Debug, Serialize)]
pub(super) struct MachineProfile {
    cores: usize,
    cpu: String,
    os: String,
    date: String,
    version: &'static str,
    command: String,
}

impl MachineProfile {
    /// This machine, now.
    pub(super) fn detect_machine() -> Self {
        let arguments = std::env::args().skip(1).map(quote_argument);
        Self {
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            cpu: cpu().unwrap_or_else(|| std::env::consts::ARCH.to_owned()),
            os: os(),
            date: SystemClock.now().to_string(),
            version: env!("CARGO_PKG_VERSION"),
            command: std::iter::once("commonbook".to_owned())
                .chain(arguments)
                .collect::<Vec<_>>()
                .join(" "),
        }
    }

    /// Prints three lines that fit a terminal.
    pub(super) fn print(&self) {
        print_line(&format!("command   {}", self.command));
        print_line(&format!("machine   {} cores, {}, {}", self.cores, self.cpu, self.os));
        print_line(&format!("date      {}, commonbook {}", self.date, self.version));
    }
}

/// An argument, quoted for a shell.
fn quote_argument(argument: String) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./:=@#,+".contains(c);
    if !argument.is_empty() && argument.chars().all(plain) {
        return argument;
    }
    format!("'{}'", argument.replace('\'', "'\\''"))
}

/// The processor model, if the system reports it (Linux).
fn cpu() -> Option<String> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    let model = text.lines().find(|line| line.starts_with("model name"))?;
    Some(model.split_once(':')?.1.trim().to_owned())
}

fn os() -> String {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!("{} {}", std::env::consts::OS, release.trim()).trim().to_owned()
}

/// The memory of a process, if the system reports it (Linux).
pub(super) fn process_bytes(process: u32, what: &str) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(what))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024)
}
