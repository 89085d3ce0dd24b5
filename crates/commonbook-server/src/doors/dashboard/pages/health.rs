//! Health: the store, the index, the model, the last hour, the followers, the slow calls and the webhooks of
//! this server, and what `doctor` says of its home.

use std::collections::BTreeMap;
use std::time::Duration;

use commonbook::base::error::Result;
use commonbook::model::access;
use commonbook::model::figures::HomeFigures;
use commonbook::model::stats::WorkspaceStats;
use commonbook::model::token::TokenScope;
use commonbook::model::webhook::{Webhook, WebhookDetails, WebhookList};
use commonbook::verbs::names;
use indicatif::HumanBytes;
use maud::{Markup, html};
use serde_json::json;

use super::super::parts::{act_button, agent, chip, handle, time};
use super::super::plots::{self, PlotFrame, Series};
use super::super::request::{PageContent, PageRequest, SameCall};
use crate::background::health::{self, HealthCheck};
use crate::calls::call_history::{
    CallCount, HISTORY_STEP, HistoryMinute, HomeSizes, history_begin,
};
use crate::calls::metrics::server_metrics;
use crate::calls::output::count_text;
use crate::calls::slow_calls::SlowCall;
use crate::calls::words::{webhook_filter, webhook_state};

/// Webhooks whose dead letters the page lists.
const SHOWN_DETAILS_MAX: usize = 10;

/// Shows the state of the home to who may see it.
pub(super) fn show(request: &PageRequest) -> Result<PageContent> {
    let stats: WorkspaceStats = request.call(names::GET_MEMORY_STATS, json!({}))?;
    let webhooks: WebhookList = request.call(names::LIST_WEBHOOKS, json!({}))?;
    let caller = request.caller()?;
    let may_look = access::require_scope(caller, TokenScope::Admin).is_ok();
    // A token of one workspace sees no figures of the others.
    let figures = request.book().get_home_figures(caller).ok();
    let main = html! {
        h1 { "Health" }
        @if may_look { (home(request)?) }
        @if let Some(figures) = &figures {
            (last_hour(request))
            (followers(request, figures))
            (slow_calls(request))
        }
        section id="webhooks" data-live="*" aria-label="Webhooks" {
            h2 { "Webhooks" }
            (webhook_list(request, &webhooks.items)?)
        }
        (workspace(&stats))
    };
    let same = vec![
        SameCall::new(names::GET_MEMORY_STATS, json!({}), &["stats"]),
        SameCall::new(names::LIST_WEBHOOKS, json!({}), &["webhook", "list"]),
    ];
    Ok(PageContent { title: "Health".to_owned(), main, same })
}

fn workspace(stats: &WorkspaceStats) -> Markup {
    html! {
        section id="health" data-live="*" aria-label="This workspace" {
            h2 { "This workspace" }
            dl class="facts" {
                dt { "Memories" } dd { (stats.memories) ", and " (stats.deleted) " deleted that can be restored" }
                dt { "Events" } dd { (stats.events) }
                dt { "Contradictions open" } dd { (stats.contradictions) }
                dt { "Sessions without a summary" } dd { (stats.unsummarised) }
                dt { "Disk" } dd { (HumanBytes(stats.disk_bytes)) " for all workspaces" }
                @if let Some(bus) = &stats.bus {
                    dt { "Event streams" } dd { (bus.followers) " open; " (bus.delivered) " events sent, " (bus.filtered) " filtered, " (bus.failed) " broken or behind" }
                    @if let Some(event) = &bus.last_event { dt { "Last event" } dd { (event.kind.name()) " " (time(event.at)) } }
                }
            }
            @if !stats.by_type.is_empty() {
                h3 { "Memories by type" }
                dl class="facts" { @for (kind, count) in &stats.by_type { dt { (kind) } dd { (count) } } }
            }
            @if !stats.by_agent.is_empty() {
                h3 { "Memories by agent" }
                dl class="facts" { @for (name, count) in &stats.by_agent { dt { (name) } dd { (count) } } }
            }
        }
    }
}

/// What `doctor` says of the home, as far as the server can check it.
fn home(request: &PageRequest) -> Result<Markup> {
    let checks = health::check_from_server(request.config(), request.book())?;
    let failed = checks.iter().filter(|check| check.repair.is_some()).count();
    Ok(html! {
        section id="home" data-live="*" aria-label="This home" {
            h2 { "What doctor says" }
            @if failed == 0 { p { (chip("every check passed", "good")) } }
            @else { p { (chip(&(count_text(failed as u64, "check", "checks") + " failed"), "bad")) } }
            dl class="facts" {
                dt { "version" } dd { (env!("CARGO_PKG_VERSION")) }
                @for HealthCheck { what, found, repair } in &checks {
                    dt { (what) }
                    dd {
                        (found)
                        @if let Some(repair) = repair { " " (chip(repair, "bad")) }
                    }
                }
            }
            p class="muted" {
                "A server cannot look at everything. The port, the project of a folder, the modes of files, hooks, clients, and where each \
                 client keeps its memories: run " code { "commonbook doctor" } "; with " code { "--deep" } " it verifies every row too."
            }
        }
    })
}

/// The labels below a plot of the last hour.
const HOUR_TIMES: [&str; 5] = ["60 minutes ago", "45", "30", "15 minutes ago", "now"];

/// Verbs whose times the page shows, those called most often first.
const SHOWN_VERBS_MAX: usize = 12;

/// The calls, errors, times and sizes of the last hour.
fn last_hour(request: &PageRequest) -> Markup {
    let minutes = server_metrics().map(|metrics| metrics.history().minutes(request.now));
    let minutes = minutes.unwrap_or_default();
    let frame = |title, unit| PlotFrame {
        title,
        unit,
        since: history_begin(request.now),
        step: HISTORY_STEP,
        times: &HOUR_TIMES,
    };
    let series = |name, colour, value: &dyn Fn(&HistoryMinute) -> u64| Series {
        name,
        colour,
        values: minutes.iter().map(value).collect(),
    };
    let calls = [
        series("succeeded", 0, &|minute| minute.all().calls - minute.all().errors),
        series("failed", 4, &|minute| minute.all().errors),
    ];
    let slowest = [series("slowest call", 2, &|minute| milliseconds(minute.all().slowest))];
    let size =
        |read: fn(HomeSizes) -> u64| move |minute: &HistoryMinute| minute.sizes.map_or(0, read);
    let store = [series("store", 3, &size(|sizes| sizes.store_bytes / 1_024))];
    let memories = [
        series("with a vector", 0, &size(|sizes| sizes.memories.saturating_sub(sizes.unembedded))),
        series("without one", 1, &size(|sizes| sizes.unembedded)),
    ];
    html! {
        section id="hour" data-live="*" aria-label="The last hour" {
            h2 { "The last hour of this server" }
            div class="halves" {
                (plots::bars(&frame("Calls a minute", ""), &calls))
                (plots::bars(&frame("Slowest call of each minute", "ms"), &slowest))
                (plots::bars(&frame("Memories in the index", "memories"), &memories))
                (plots::bars(&frame("Store on the disk", "KiB"), &store))
            }
            h3 { "Calls by verb" }
            (verb_table(&minutes))
        }
    }
}

/// The verbs of the last hour with their times, and the mean of each minute as a small plot.
fn verb_table(minutes: &[HistoryMinute]) -> Markup {
    let mut verbs: BTreeMap<&str, CallCount> = BTreeMap::new();
    for (verb, count) in minutes.iter().flat_map(|minute| &minute.verbs) {
        let known = verbs.entry(verb).or_default();
        *known = known.plus(*count);
    }
    let mut verbs: Vec<_> = verbs.into_iter().collect();
    verbs.sort_by_key(|(_, count)| std::cmp::Reverse(count.calls));
    let mean = |verb: &str| {
        let counts = minutes.iter().map(|minute| minute.verbs.get(verb).copied());
        let means = counts.map(|count| count.unwrap_or_default().mean());
        means.map(|mean| u64::try_from(mean.as_micros()).unwrap_or(u64::MAX)).collect::<Vec<_>>()
    };
    html! {
        @if verbs.is_empty() { p class="muted" { "No call has ended yet." } }
        @else {
            div class="scroll" { table {
                thead { tr { th { "Verb" } th class="number" { "Calls" } th class="number" { "Failed" } th class="number" { "Mean, ms" } th class="number" { "Slowest, ms" } th { "Mean of each minute" } } }
                tbody {
                    @for (verb, count) in verbs.iter().take(SHOWN_VERBS_MAX) {
                        tr {
                            td { code { (verb) } }
                            td class="number" { (count.calls) } td class="number" { (count.errors) }
                            td class="number" { (format!("{:.1}", count.mean().as_secs_f64() * 1_000.0)) }
                            td class="number" { (format!("{:.1}", count.slowest.as_secs_f64() * 1_000.0)) }
                            td { (plots::small_line(&mean(verb))) }
                        }
                    }
                }
            } }
        }
    }
}

/// A time in whole milliseconds, rounded up: what took any time is seen.
fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_micros().div_ceil(1_000)).unwrap_or(u64::MAX)
}

/// How many memories wait for a vector; with the model off, none does.
fn waiting_vectors(request: &PageRequest, unembedded: u64) -> String {
    match request.book().index().embedding_model() {
        Ok(None) => "they are compared by words: the model is off".to_owned(),
        Ok(Some(_)) | Err(_) => format!("{unembedded} wait for their vector"),
    }
}

fn followers(request: &PageRequest, figures: &HomeFigures) -> Markup {
    let HomeFigures { index, streams, .. } = figures;
    html! {
        section id="followers" data-live="*" aria-label="Followers of the journals" {
            h2 { "Followers" }
            p { (count_text(figures.events, "event", "events")) " in "
                (count_text(figures.workspaces, "journal", "journals")) "." }
            div class="scroll" { table {
                thead { tr { th { "Follower" } th class="number" { "Events behind" } th { "What it makes" } } }
                tbody {
                    @for lag in &figures.followers {
                        tr {
                            td { (lag.follower) }
                            td class="number" { (lag.events) }
                            td { (follower_work(lag.follower)) }
                        }
                    }
                    tr { td { "event streams" } td class="number" { (streams.lag_max) } td { (streams.open) " open" } }
                }
            } }
            dl class="facts" {
                dt { "Index position" } dd { (index.read) " events read, " (index.written) " of them in its files" }
                dt { "Memories in the index" } dd { (index.memories) " of " (count_text(index.workspaces, "workspace", "workspaces")) "; " (waiting_vectors(request, index.unembedded)) }
                dt { "Writes in the queue" } dd { (figures.queued_writes) }
                dt { "Searches" } dd { (figures.running_searches) " run, " (figures.waiting_searches) " wait" }
            }
        }
    }
}

/// What a follower of the journals makes.
fn follower_work(follower: &str) -> &'static str {
    match follower {
        "index" => "the words and vectors that searches use",
        "mentions" => "which memory mentions which entity",
        "contradictions" => "memories that cannot both hold",
        "digests" => "digests of cases",
        _ => "",
    }
}

fn slow_calls(request: &PageRequest) -> Markup {
    let calls = server_metrics().map(|metrics| metrics.slowest_calls(request.now));
    let calls = calls.unwrap_or_default();
    html! {
        section id="slow" data-live="*" aria-label="The slowest calls" {
            h2 { "The slowest calls of the last hour" }
            @if calls.is_empty() { p class="muted" { "No call has ended yet." } }
            @else {
                div class="scroll" { table {
                    thead { tr { th { "Verb" } th { "Door" } th class="number" { "Milliseconds" } th { "Outcome" } th { "Ended" } } }
                    tbody {
                        @for SlowCall { verb, door, outcome, took, at } in &calls {
                            tr {
                                td { code { (verb) } } td { (door.name()) }
                                td class="number" { (format!("{:.1}", took.as_secs_f64() * 1_000.0)) }
                                td { (outcome) } td { (time(*at)) }
                            }
                        }
                    }
                } }
            }
        }
    }
}

fn webhook_list(request: &PageRequest, webhooks: &[Webhook]) -> Result<Markup> {
    let mut shown = 0;
    let mut blocks = Vec::new();
    for webhook in webhooks {
        let details = match webhook.dead_letters > 0 && shown < SHOWN_DETAILS_MAX {
            true => {
                shown += 1;
                let id = json!({"webhook_id": webhook.id});
                Some(request.call::<WebhookDetails>(names::GET_WEBHOOK, id)?)
            }
            false => None,
        };
        blocks.push(webhook_card(request, webhook, details.as_ref()));
    }
    Ok(html! {
        @if webhooks.is_empty() {
            p class="muted" { "None. " code { "commonbook webhook add URL --events 'memory.*'" } " sends events to an address." }
        }
        @for block in &blocks { (block) }
    })
}

fn webhook_card(
    request: &PageRequest,
    webhook: &Webhook,
    details: Option<&WebhookDetails>,
) -> Markup {
    let id = webhook.id.to_string();
    let (progress, back) = (&webhook.progress, request.path("health"));
    let holds = progress.failing.is_some() || progress.stopped.is_some();
    html! {
        article class="card" id=(id) {
            h3 { (webhook.url) }
            dl class="facts" {
                dt { "Webhook" } dd { code { (handle(&webhook.id)) } " of " (agent(request, &webhook.agent)) " in " (webhook.workspace) }
                dt { "Events" } dd { (webhook_filter(webhook)) }
                dt { "State" } dd { (chip(&webhook_state(webhook), if holds { "bad" } else { "good" })) }
                dt { "Read through" } dd { "event " (progress.through) }
                dt { "Delivered" } dd { (progress.delivered) }
                @if let Some(failing) = &progress.failing {
                    dt { "Waits" } dd { "event " (failing.sequence) ", next attempt " (time(failing.retry_at)) "; later events wait behind it" }
                }
                dt { "Dead letters" } dd { (webhook.dead_letters) }
            }
            @if let Some(details) = details {
                div class="scroll" { table {
                    thead { tr { th { "Event" } th { "Failed" } th class="number" { "Attempts" } th { "Why" } th { "Again" } } }
                    tbody {
                        @for letter in &details.dead_letters {
                            @let sequence = letter.sequence.to_string();
                            tr {
                                td { (sequence) } td { (time(letter.failed_at)) } td class="number" { (letter.attempts) } td { (letter.failure) }
                                td { (act_button(request, names::RETRY_DELIVERY, "Retry", &[("webhook_id", &id), ("sequence", &sequence)], &back)) }
                            }
                        }
                    }
                } }
            }
            @if webhook.dead_letters > 0 || holds {
                (act_button(request, names::RETRY_DELIVERY, "Retry all, and go on now", &[("webhook_id", &id)], &back))
            }
        }
    }
}
