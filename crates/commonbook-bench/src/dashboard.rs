//! `bench dashboard`: how long the server takes for each page of a large home, at rest and while events arrive.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use commonbook::base::clock::{Clock, FixedClock, SystemClock};
use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook_server::child::{ChildServer, program_command, step_error};
use commonbook_server::output::print_line;
use serde_json::json;

use super::consolidation::fill_home;
use super::machine::MachineProfile;
use super::search::size;
use super::synthetic::MAIN_WORKSPACE;
use super::timed_step::TimedStep;

/// The pages, as the path behind the workspace.
const PAGES: [&str; 12] = [
    "now",
    "memories",
    "memories?q=release+notes",
    "cases",
    "handoffs",
    "entities",
    "contexts",
    "knowledge",
    "contradictions",
    "agents",
    "health",
    "find?q=release",
];

/// Threads that save while the pages are read again.
const WRITERS: usize = 4;

/// Arguments of the dashboard bench.
#[derive(Debug, clap::Args)]
pub(super) struct DashboardBench {
    /// Memories of the made-up home: 50000, 50k
    #[arg(long, default_value = "50k", value_parser = size)]
    size: usize,
    /// How often each page is read
    #[arg(long, default_value_t = 30)]
    each: usize,
    /// The folder for the home; the system's temporary folder by default
    #[arg(long)]
    folder: Option<PathBuf>,
}

/// A browser that has signed in.
struct SignedIn<'s> {
    server: &'s ChildServer,
    agent: ureq::Agent,
    cookie: String,
}

impl<'s> SignedIn<'s> {
    fn by_link(server: &'s ChildServer, home: &std::path::Path) -> Result<Self> {
        let arguments = ["dashboard", "--no-open", "--workspace", MAIN_WORKSPACE];
        let output = program_command(home, &arguments)?
            .output()
            .map_err(|error| step_error("the link was not made", error))?;
        let link = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        let config = ureq::Agent::config_builder().max_redirects(0).http_status_as_error(false);
        let agent = ureq::Agent::new_with_config(config.build());
        let response =
            agent.get(&link).call().map_err(|error| step_error("the link does not open", error))?;
        let cookie = response.headers().get("set-cookie").and_then(|line| line.to_str().ok());
        let cookie = cookie.and_then(|line| line.split(';').next()).map(str::to_owned);
        let cookie = cookie.ok_or_else(|| Error::new(ErrorKind::Unavailable, "no cookie came"))?;
        Ok(Self { server, agent, cookie })
    }

    /// Reads a page; returns its bytes.
    fn read(&self, page: &str) -> Result<usize> {
        let url = format!("{}/dashboard/w/{MAIN_WORKSPACE}/{page}", self.server.url());
        let mut response = self
            .agent
            .get(&url)
            .header("cookie", &self.cookie)
            .call()
            .map_err(|error| step_error("the server did not respond", error))?;
        let body = response
            .body_mut()
            .read_to_string()
            .map_err(|error| step_error("the page is not text", error))?;
        match response.status().as_u16() {
            200 => Ok(body.len()),
            status => Err(Error::new(ErrorKind::Unavailable, format!("{page}: status {status}"))),
        }
    }
}

impl DashboardBench {
    /// Fills a home, starts a server, and reads each page.
    ///
    /// # Errors
    /// The error of the failing step.
    pub(super) fn run(&self) -> Result<()> {
        MachineProfile::detect_machine().print();
        let folder = super::bench_folder(self.folder.as_ref())?;
        let clock = Arc::new(FixedClock::at(SystemClock.now()));
        {
            let book =
                super::open_bench_book(folder.path(), Arc::<FixedClock>::clone(&clock) as _)?;
            fill_home(&book, &clock, self.size)?;
        }
        let server = ChildServer::start(folder.path())?;
        let browser = SignedIn::by_link(&server, folder.path())?;
        print_line(&format!("\n{} memories; ms from request to the whole page", self.size));
        TimedStep::print_head();
        for page in PAGES {
            self.time_page(&browser, page, "")?;
        }
        let (stopping, saved) = (AtomicBool::new(false), AtomicUsize::new(0));
        std::thread::scope(|threads| {
            for writer in 0..WRITERS {
                let (server, stopping, saved) = (&server, &stopping, &saved);
                threads.spawn(move || save_until(server, writer, stopping, saved));
            }
            let begun = std::time::Instant::now();
            let timed = ["now", "memories"]
                .iter()
                .try_for_each(|page| self.time_page(&browser, page, ", while events arrive"));
            stopping.store(true, Ordering::Relaxed);
            let seconds = begun.elapsed().as_secs_f64();
            let rate = saved.load(Ordering::Relaxed) as f64 / seconds;
            print_line(&format!("memories saved meanwhile, a second: {rate:.0}"));
            timed
        })
    }

    fn time_page(&self, browser: &SignedIn<'_>, page: &str, note: &str) -> Result<()> {
        let bytes = browser.read(page)?;
        let mut step = TimedStep::new(format!("{page}{note} ({bytes} bytes)"));
        for _ in 0..self.each {
            step.time(|| browser.read(page))?;
        }
        step.print();
        Ok(())
    }
}

fn save_until(server: &ChildServer, writer: usize, stopping: &AtomicBool, saved: &AtomicUsize) {
    let mut number = 0;
    while !stopping.load(Ordering::Relaxed) {
        number += 1;
        let body = json!({"text": format!("Writer {writer} counts {number} boxes in the hall")});
        let agent = format!("writer-{writer}");
        if server.call("POST", "/v1/memories", &agent, MAIN_WORKSPACE, &body).is_ok() {
            saved.fetch_add(1, Ordering::Relaxed);
        }
    }
}
