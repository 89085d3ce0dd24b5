//! `bench dashboard`: how long each page of a large home takes, at rest and while events arrive: in the server, in Chromium,
//! and over many event streams.

mod browser;
mod pairs;
mod streams;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use commonbook::base::clock::{Clock, FixedClock, SystemClock};
use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook_server::child::{ChildServer, program_command, step_error};
use commonbook_server::output::print_line;
use serde_json::json;

use browser::BrowserChoice;

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
const WRITERS: usize = 2;

/// How often a writer saves in a second, many memories at once.
const SAVES_PER_SECOND: usize = 10;

/// Agents that hand over to each other before the pages are read.
const AGENTS: usize = 8;

/// Handoffs and contexts that are made before the pages are read.
const HANDOFFS: usize = 120;
const CONTEXTS: usize = 60;

/// Arguments of the dashboard bench.
#[derive(Debug, clap::Args)]
pub(super) struct DashboardBench {
    /// Memories of the made-up home: 50000, 50k
    #[arg(long, default_value = "50k", value_parser = size)]
    size: usize,
    /// How often each page is read
    #[arg(long, default_value_t = 30)]
    each: usize,
    /// Events a second that the writers aim at; what they reach is printed
    #[arg(long, default_value_t = 1_000)]
    rate: usize,
    /// Event streams of the pages that are open at once
    #[arg(long, default_value_t = 200)]
    streams: usize,
    #[command(flatten)]
    browser: BrowserChoice,
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

/// A link that signs in a browser.
fn sign_in_link(home: &Path) -> Result<String> {
    let arguments = ["dashboard", "--no-open", "--workspace", MAIN_WORKSPACE];
    let output = program_command(home, &arguments)?
        .output()
        .map_err(|error| step_error("the link was not made", error))?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

impl<'s> SignedIn<'s> {
    fn by_link(server: &'s ChildServer, home: &Path) -> Result<Self> {
        let link = sign_in_link(home)?;
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
        work_together(&server)?;
        let browser = SignedIn::by_link(&server, folder.path())?;
        print_line(&format!("\n{} memories; from the request to the whole page", self.size));
        TimedStep::print_head();
        for page in PAGES {
            self.time_page(&browser, page, "")?;
        }
        self.measure_browser(folder.path(), ", at rest")?;
        streams::measure(&browser, self.streams)?;
        pairs::measure(&browser, folder.path())?;
        self.while_events_arrive(&server, "in the server", || {
            print_line("\nwhile events arrive; from the request to the whole page");
            TimedStep::print_head();
            PAGES.iter().try_for_each(|page| self.time_page(&browser, page, ""))
        })?;
        if self.browser.is_chosen() {
            self.while_events_arrive(&server, "in Chromium", || {
                self.measure_browser(folder.path(), ", while events arrive")
            })?;
        }
        Ok(())
    }

    fn measure_browser(&self, home: &Path, note: &str) -> Result<()> {
        match self.browser.is_chosen() {
            true => self.browser.measure(home, &sign_in_link(home)?, note),
            false => Ok(()),
        }
    }

    /// Runs an act while writers save, and prints the events a second that they reached.
    fn while_events_arrive(
        &self,
        server: &ChildServer,
        place: &str,
        act: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        let (stopping, saved) = (AtomicBool::new(false), AtomicUsize::new(0));
        std::thread::scope(|threads| {
            for writer in 0..WRITERS {
                let (stopping, saved) = (&stopping, &saved);
                let batch = self.rate.div_ceil(WRITERS * SAVES_PER_SECOND);
                threads.spawn(move || save_until(server, place, writer, batch, stopping, saved));
            }
            let begun = Instant::now();
            let done = act();
            let (seconds, saved) = (begun.elapsed().as_secs_f64(), saved.load(Ordering::Relaxed));
            stopping.store(true, Ordering::Relaxed);
            let rate = saved as f64 / seconds;
            print_line(&format!("events a second meanwhile, {place}: {rate:.0} ({saved} events)"));
            done
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

/// Makes the handoffs and contexts that the pages show.
fn work_together(server: &ChildServer) -> Result<()> {
    let call = |path: &str, agent: &str, body: &serde_json::Value| {
        let (status, answer) = server.call("POST", path, agent, MAIN_WORKSPACE, body)?;
        match status {
            200 | 201 => Ok(()),
            _ => Err(Error::new(ErrorKind::Unavailable, format!("{path}: {status}: {answer}"))),
        }
    };
    let agent = |number: usize| format!("agent-{}", number % AGENTS);
    for number in 0..HANDOFFS {
        let task = format!("Check the settings of release {number}");
        let body = json!({"to": agent(number * 3 + 1), "task": task, "context": "As noted."});
        call("/v1/handoffs", &agent(number), &body)?;
    }
    for number in 0..CONTEXTS {
        let body = json!({"task": format!("Prepare the settings of release {number}")});
        call("/v1/context", &agent(number), &body)?;
    }
    Ok(())
}

/// Saves batches at a steady pace.
#[expect(clippy::disallowed_methods, reason = "the bench keeps a rate")]
fn save_until(
    server: &ChildServer,
    place: &str,
    writer: usize,
    batch: usize,
    stopping: &AtomicBool,
    saved: &AtomicUsize,
) {
    let agent = format!("writer-{writer}");
    let pause = Duration::from_secs(1) / u32::try_from(SAVES_PER_SECOND).unwrap_or(1);
    let mut due = Instant::now();
    let mut number = 0;
    while !stopping.load(Ordering::Relaxed) {
        let memories: Vec<_> = (number..number + batch)
            .map(|box_number| {
                let text = format!("{place}, writer {writer} counts box {box_number}");
                json!({"text": text, "topics": ["boxes"]})
            })
            .collect();
        number += batch;
        let body = json!(memories);
        let answer = server.call("POST", "/v1/memories", &agent, MAIN_WORKSPACE, &body);
        if answer.is_ok_and(|(status, _)| status == 201) {
            saved.fetch_add(batch, Ordering::Relaxed);
        }
        due += pause;
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
    }
}
