//! The metrics of a server: what its calls took, and the figures of its home, in the text format of
//! Prometheus.
//!
//! Each value of a label is a name that the program itself has: a verb, a door, a kind of event or of
//! error. None comes from a request. Only a process that serves records anything.

use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use commonbook::Commonbook;
use commonbook::base::clock::{Clock, SystemClock};
use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::model::caller::EntryPoint;
use commonbook::model::figures::HomeFigures;
use commonbook::verbs::EventCount;
use jiff::Timestamp;
use prometheus::{
    Encoder, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, IntGauge, IntGaugeVec, Opts,
    Registry, TextEncoder,
};

use crate::calls::call_history::CallHistory;
use crate::calls::slow_calls::{SlowCall, SlowCallList};

/// The type of the text.
pub(crate) const METRICS_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The upper bounds of the buckets for times, in seconds.
const SECONDS_BUCKETS: [f64; 14] =
    [0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];

/// The upper bounds of the buckets for tokens.
const TOKENS_BUCKETS: [f64; 9] =
    [50.0, 100.0, 250.0, 500.0, 1_000.0, 2_000.0, 4_000.0, 8_000.0, 16_000.0];

/// The outcome of what did not fail.
pub(crate) const OUTCOME_OK: &str = "ok";

/// The outcome of a hook that failed.
pub(crate) const OUTCOME_FAILED: &str = "failed";

/// The metrics of this process, once it serves.
static METRICS: OnceLock<ServerMetrics> = OnceLock::new();

/// The metrics of this process; `None` unless it serves.
pub(crate) fn server_metrics() -> Option<&'static ServerMetrics> {
    METRICS.get()
}

/// Begins to record, for a server of this home.
///
/// # Errors
/// `unavailable` if the store cannot be read.
pub(crate) fn begin(book: &Commonbook) -> Result<()> {
    let metrics = ServerMetrics::new().map_err(metrics_error)?;
    let count = book.begin_event_count()?;
    *metrics.count.lock().unwrap_or_else(PoisonError::into_inner) = count;
    // A second server in one process would share these metrics.
    drop(METRICS.set(metrics));
    Ok(())
}

fn metrics_error(error: prometheus::Error) -> Error {
    Error::new(ErrorKind::Internal, "the metrics cannot be made").with_cause(error)
}

/// Everything that a server records.
pub(crate) struct ServerMetrics {
    registry: Registry,
    requests: IntCounterVec,
    durations: HistogramVec,
    running: IntGauge,
    responses: IntCounterVec,
    hooks: HistogramVec,
    events: IntCounterVec,
    context_tokens: HistogramVec,
    context_items: IntCounterVec,
    home: HomeMetrics,
    slow_calls: SlowCallList,
    history: CallHistory,
    /// Up to where the events of the journals are counted; held while a scrape is answered.
    count: Mutex<EventCount>,
}

/// The figures of the home, which each scrape reads anew.
struct HomeMetrics {
    store_bytes: IntGauge,
    store_waits: IntGaugeVec,
    workspaces: IntGauge,
    journal_events: IntGauge,
    queued_writes: IntGauge,
    searches: IntGaugeVec,
    index_workspaces: IntGauge,
    index_memories: IntGauge,
    index_unembedded: IntGauge,
    index_read: IntGauge,
    index_written: IntGauge,
    follower_lag: IntGaugeVec,
    streams: IntGauge,
    stream_lag: IntGauge,
    stream_events: IntCounterVec,
    stream_failures: IntCounter,
}

impl ServerMetrics {
    fn new() -> prometheus::Result<Self> {
        let series = SeriesRegistry(Registry::new_custom(Some("commonbook".to_owned()), None)?);
        let by_verb = ["verb", "door"];
        let metrics = Self {
            requests: series.counters(
                "requests_total",
                "Calls of verbs, by outcome: ok, or the kind of the error",
                &["verb", "door", "outcome"],
            )?,
            durations: series.histograms(
                "request_duration_seconds",
                "Time of a call of a verb, from its parsed request to its response",
                &SECONDS_BUCKETS,
                &by_verb,
            )?,
            running: series.gauge("requests_running", "Calls of verbs that run now")?,
            responses: series.counters(
                "http_responses_total",
                "Responses over HTTP, by status, refusals before any verb among them",
                &["status"],
            )?,
            hooks: series.histograms(
                "hook_duration_seconds",
                "Time of a client's hook, from its start to its output",
                &SECONDS_BUCKETS,
                &["client", "event", "outcome"],
            )?,
            events: series.counters(
                "events_total",
                "Events in the journals since the server started, of every process",
                &["kind"],
            )?,
            context_tokens: series.histograms(
                "context_tokens",
                "Tokens of the items of a text that an agent received",
                &TOKENS_BUCKETS,
                &["origin"],
            )?,
            context_items: series.counters(
                "context_items_total",
                "Candidates of the texts that agents received: told, or left out",
                &["origin", "outcome"],
            )?,
            home: HomeMetrics::new(&series)?,
            slow_calls: SlowCallList::default(),
            history: CallHistory::default(),
            count: Mutex::default(),
            registry: series.0,
        };
        metrics.add_process()?;
        Ok(metrics)
    }

    /// What does not change while the process runs.
    fn add_process(&self) -> prometheus::Result<()> {
        let build = Opts::new("build_info", "Always 1; the version of the program is its label");
        let build = IntGaugeVec::new(build, &["version"])?;
        build.with_label_values(&[env!("CARGO_PKG_VERSION")]).set(1);
        self.registry.register(Box::new(build))?;
        let started = "Time at which the server started, in seconds since 1970";
        let started = IntGauge::new("start_time_seconds", started)?;
        started.set(SystemClock.now().as_second());
        self.registry.register(Box::new(started))
    }

    /// A call of a verb begins.
    pub(crate) fn begin_call(&self) {
        self.running.inc();
    }

    /// A call of a verb has ended with this outcome.
    pub(crate) fn end_call(
        &self,
        verb: &'static str,
        door: EntryPoint,
        outcome: &'static str,
        took: Duration,
    ) {
        self.running.dec();
        self.requests.with_label_values(&[verb, door.name(), outcome]).inc();
        self.durations.with_label_values(&[verb, door.name()]).observe(took.as_secs_f64());
        let at = SystemClock.now();
        self.history.note_call(verb, outcome == OUTCOME_OK, took, at);
        self.slow_calls.note(SlowCall { verb, door, outcome, took, at });
    }

    /// The slowest calls of the last hour, the slowest first.
    pub(crate) fn slowest_calls(&self, now: Timestamp) -> Vec<SlowCall> {
        self.slow_calls.slowest(now)
    }

    /// The last hour, minute by minute.
    pub(crate) const fn history(&self) -> &CallHistory {
        &self.history
    }

    /// A response was sent over HTTP.
    pub(crate) fn note_response(&self, status: axum::http::StatusCode) {
        self.responses.with_label_values(&[status.as_str()]).inc();
    }

    /// A hook of a client has ended.
    pub(crate) fn note_hook(
        &self,
        client: &'static str,
        event: &'static str,
        outcome: &'static str,
        took: Duration,
    ) {
        self.hooks.with_label_values(&[client, event, outcome]).observe(took.as_secs_f64());
    }

    /// The text of all series, with these figures of the home and what is new in its journals.
    ///
    /// # Errors
    /// `unavailable` if the store cannot be read.
    pub(crate) fn render(&self, book: &Commonbook, figures: &HomeFigures) -> Result<String> {
        let mut count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
        self.home.set(figures);
        for events in book.count_new_events(&mut count)? {
            for (kind, number) in events.kinds {
                self.events.with_label_values(&[kind.name()]).inc_by(number);
            }
            for context in events.contexts {
                let origin = context.origin.name();
                self.context_tokens.with_label_values(&[origin]).observe(context.tokens as f64);
                for (outcome, items) in [("told", context.items), ("left_out", context.left_out)] {
                    self.context_items.with_label_values(&[origin, outcome]).inc_by(items);
                }
            }
        }
        let mut text = Vec::new();
        TextEncoder::new().encode(&self.registry.gather(), &mut text).map_err(metrics_error)?;
        String::from_utf8(text).map_err(|error| {
            Error::new(ErrorKind::Internal, "the metrics are not UTF-8").with_cause(error)
        })
    }
}

impl HomeMetrics {
    fn new(series: &SeriesRegistry) -> prometheus::Result<Self> {
        Ok(Self {
            store_bytes: series.gauge("store_bytes", "Disk space of the store")?,
            store_waits: series.gauges(
                "store_waits",
                "1 if a write is answered after it is on the disk, or on a standby of the database",
                &["for"],
            )?,
            workspaces: series.gauge("workspaces", "Workspaces of the home")?,
            journal_events: series.gauge("journal_events", "Events in all journals")?,
            queued_writes: series.gauge(
                "writer_queue_length",
                "Writes of this process that wait for their turn or run",
            )?,
            searches: series.gauges(
                "searches",
                "Searches of this process that run, or wait for a slot",
                &["state"],
            )?,
            index_workspaces: series.gauge("index_workspaces", "Workspaces in the search index")?,
            index_memories: series.gauge("index_memories", "Memories in the search index")?,
            index_unembedded: series
                .gauge("index_unembedded_memories", "Memories that wait for their vector")?,
            index_read: series.gauge(
                "index_position_events",
                "Events of all journals that the search index has read",
            )?,
            index_written: series.gauge(
                "index_written_events",
                "Events of all journals that the files of the search index hold",
            )?,
            follower_lag: series.gauges(
                "follower_lag_events",
                "Events that a follower of the journals has not read yet",
                &["follower"],
            )?,
            streams: series.gauge("streams_open", "Open event streams and MCP subscriptions")?,
            stream_lag: series.gauge(
                "stream_lag_events",
                "The most events that an open event stream is behind its journal",
            )?,
            stream_events: series.counters(
                "stream_events_total",
                "Events for streams: delivered, or left out by the filter of the stream",
                &["outcome"],
            )?,
            stream_failures: series
                .counter("stream_failures_total", "Event streams that broke or fell behind")?,
        })
    }

    fn set(&self, figures: &HomeFigures) {
        let HomeFigures { index, streams, .. } = figures;
        let gauges = [
            (&self.store_bytes, figures.store_bytes),
            (&self.workspaces, figures.workspaces),
            (&self.journal_events, figures.events),
            (&self.queued_writes, figures.queued_writes),
            (&self.index_workspaces, index.workspaces),
            (&self.index_memories, index.memories),
            (&self.index_unembedded, index.unembedded),
            (&self.index_read, index.read),
            (&self.index_written, index.written),
            (&self.streams, streams.open),
            (&self.stream_lag, streams.lag_max),
        ];
        for (gauge, number) in gauges {
            gauge.set(signed(number));
        }
        let waits = [("disk", figures.waits_for_disk), ("standby", figures.waits_for_standby)];
        for (place, is_waited_for) in waits {
            self.store_waits.with_label_values(&[place]).set(i64::from(is_waited_for));
        }
        let searches =
            [("running", figures.running_searches), ("waiting", figures.waiting_searches)];
        for (state, number) in searches {
            self.searches.with_label_values(&[state]).set(signed(number));
        }
        for lag in &figures.followers {
            self.follower_lag.with_label_values(&[lag.follower]).set(signed(lag.events));
        }
        for (outcome, total) in [("delivered", streams.delivered), ("filtered", streams.filtered)] {
            raise(&self.stream_events.with_label_values(&[outcome]), total);
        }
        raise(&self.stream_failures, streams.failed);
    }
}

/// Raises a counter to a total that was counted elsewhere.
fn raise(counter: &IntCounter, total: u64) {
    counter.inc_by(total.saturating_sub(counter.get()));
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Makes series and registers them.
struct SeriesRegistry(Registry);

impl SeriesRegistry {
    fn counter(&self, name: &str, help: &str) -> prometheus::Result<IntCounter> {
        let counter = IntCounter::new(name, help)?;
        self.0.register(Box::new(counter.clone()))?;
        Ok(counter)
    }

    fn counters(
        &self,
        name: &str,
        help: &str,
        labels: &[&str],
    ) -> prometheus::Result<IntCounterVec> {
        let counters = IntCounterVec::new(Opts::new(name, help), labels)?;
        self.0.register(Box::new(counters.clone()))?;
        Ok(counters)
    }

    fn gauge(&self, name: &str, help: &str) -> prometheus::Result<IntGauge> {
        let gauge = IntGauge::new(name, help)?;
        self.0.register(Box::new(gauge.clone()))?;
        Ok(gauge)
    }

    fn gauges(&self, name: &str, help: &str, labels: &[&str]) -> prometheus::Result<IntGaugeVec> {
        let gauges = IntGaugeVec::new(Opts::new(name, help), labels)?;
        self.0.register(Box::new(gauges.clone()))?;
        Ok(gauges)
    }

    fn histograms(
        &self,
        name: &str,
        help: &str,
        buckets: &[f64],
        labels: &[&str],
    ) -> prometheus::Result<HistogramVec> {
        let options = HistogramOpts::new(name, help).buckets(buckets.to_vec());
        let histograms = HistogramVec::new(options, labels)?;
        self.0.register(Box::new(histograms.clone()))?;
        Ok(histograms)
    }
}
