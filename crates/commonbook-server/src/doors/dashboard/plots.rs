//! Plots, drawn on the server: the same data give the same picture.

use jiff::{SignedDuration, Timestamp};
use maud::{Markup, html};

use crate::calls::words::beginning;

/// The numbers of one thing, one for each step of time.
pub(super) struct Series {
    pub(super) name: &'static str,
    /// The number of its colour in the style.
    pub(super) colour: usize,
    pub(super) values: Vec<u64>,
}

/// What a plot shows over time, and in which unit.
pub(super) struct PlotFrame<'a> {
    /// What is counted or measured in each step: `Events a minute`.
    pub(super) title: &'a str,
    /// The unit of the numbers; empty for a count.
    pub(super) unit: &'a str,
    /// When the first step begins.
    pub(super) since: Timestamp,
    /// The length of a step.
    pub(super) step: SignedDuration,
    /// The labels below the plot, evenly from its begin to its end.
    pub(super) times: &'a [&'a str],
}

/// Width and height of a plot, in units of its own.
const PLOT_WIDTH: usize = 600;
const PLOT_HEIGHT: usize = 90;

/// Stacked bars over time with their scale, their unit and a legend; and the same numbers as a table.
pub(super) fn bars(frame: &PlotFrame<'_>, series: &[Series]) -> Markup {
    let steps = series.iter().map(|series| series.values.len()).max().unwrap_or_default().max(1);
    let sum = |step: usize| series.iter().map(|series| value_at(series, step)).sum::<u64>();
    let most = (0..steps).map(sum).max().unwrap_or_default();
    let top = scale_top(most);
    let total: u64 = (0..steps).map(sum).sum();
    let PlotFrame { title, unit, .. } = frame;
    // A sum over time says something of a count alone.
    let all = if unit.is_empty() { format!("{total} in all, ") } else { String::new() };
    let summary = format!("{title}: {all}at most {}", with_unit(most, unit));
    html! {
        figure class="plot" {
            figcaption {
                strong { (title) } span { (all) "at most " (with_unit(most, unit)) }
                @for series in series { span class={ "key series-" (series.colour) } { (series.name) } }
            }
            div class="plot-frame" {
                div class="plot-scale" aria-hidden="true" { span { (with_unit(top, unit)) } span { (top / 2) } span { "0" } }
                svg viewBox={ "0 0 " (PLOT_WIDTH) " " (PLOT_HEIGHT) } role="img" aria-label=(summary) preserveAspectRatio="none" {
                    @for height in [0, PLOT_HEIGHT / 2, PLOT_HEIGHT] {
                        line class="grid" x1="0" x2=(PLOT_WIDTH) y1=(height) y2=(height) {}
                    }
                    (stacked_rects(frame, series, steps, top))
                }
                div class="plot-times" aria-hidden="true" { @for time in frame.times { span { (time) } } }
            }
            details { summary { "As a table" } (number_table(frame, series, steps)) }
        }
    }
}

fn value_at(series: &Series, step: usize) -> u64 {
    series.values.get(step).copied().unwrap_or_default()
}

fn with_unit(number: u64, unit: &str) -> String {
    if unit.is_empty() { number.to_string() } else { format!("{number} {unit}") }
}

/// The number at the top of the scale: the next of 2, 4, 6, 8, 10, 20, 40 …, whose half is whole.
fn scale_top(most: u64) -> u64 {
    let mut power = 1_u64;
    loop {
        for factor in [2, 4, 6, 8, 10] {
            let top = power.saturating_mul(factor);
            if top >= most {
                return top;
            }
        }
        power = power.saturating_mul(10);
    }
}

fn stacked_rects(frame: &PlotFrame<'_>, series: &[Series], steps: usize, top: u64) -> Markup {
    let height = |value: u64| value as f64 / top as f64 * PLOT_HEIGHT as f64;
    let width = PLOT_WIDTH as f64 / steps as f64;
    html! {
        @for step in 0..steps {
            @for (place, one) in series.iter().enumerate() {
                @let value = value_at(one, step);
                @let below: u64 = series[..place].iter().map(|lower| value_at(lower, step)).sum();
                @if value > 0 {
                    rect class={ "series-" (one.colour) } x={ (format!("{:.1}", step as f64 * width)) }
                        y={ (format!("{:.1}", PLOT_HEIGHT as f64 - height(below + value))) }
                        width={ (format!("{:.1}", width * 0.8)) } height={ (format!("{:.1}", height(value))) } {
                        title { (with_unit(value, frame.unit)) " " (one.name) ", " (step_time(frame, step).strftime("%F %H:%M UTC")) }
                    }
                }
            }
        }
    }
}

fn step_time(frame: &PlotFrame<'_>, step: usize) -> Timestamp {
    let passed = frame.step.saturating_mul(i32::try_from(step).unwrap_or(i32::MAX));
    frame.since.saturating_add(passed).unwrap_or(frame.since)
}

/// The steps in which something was counted, with the number of each series.
fn number_table(frame: &PlotFrame<'_>, series: &[Series], steps: usize) -> Markup {
    let is_empty = |step: &usize| series.iter().all(|series| value_at(series, *step) == 0);
    let shown: Vec<usize> = (0..steps).filter(|step| !is_empty(step)).collect();
    html! {
        @if shown.is_empty() { p class="muted" { "Nothing in this time." } }
        @else {
            div class="scroll" { table {
                thead { tr { th { "From" } @for series in series { th class="number" { (series.name) @if !frame.unit.is_empty() { ", " (frame.unit) } } } } }
                tbody {
                    @for step in &shown {
                        tr {
                            td { (step_time(frame, *step).strftime("%F %H:%M UTC")) }
                            @for series in series { td class="number" { (value_at(series, *step)) } }
                        }
                    }
                }
            } }
        }
    }
}

/// Something that happened at a time, on a row of a time line.
pub(super) struct TimeMark {
    /// The name of its row.
    pub(super) row: String,
    pub(super) at: Timestamp,
    /// How large it is, in proportion to the others.
    pub(super) size: u64,
    /// What it is, in words.
    pub(super) title: String,
    /// The page of it.
    pub(super) path: String,
}

/// Rows that a time line has at most; the last one holds all others.
const TIME_LINE_ROWS_MAX: usize = 10;

/// The parts of a time line, in units of its own.
const ROW_HEIGHT: f64 = 26.0;
const NAME_WIDTH: f64 = 150.0;
const LINE_WIDTH: f64 = 390.0;
const DOT_RADIUS_MIN: f64 = 3.0;
const DOT_RADIUS_MAX: f64 = 11.0;

/// Characters of the name of a row.
const ROW_NAME_CHARS_MAX: usize = 22;

/// Dots on a row for each name, in order of time, each as large as its number and a link to its page.
/// The rows are in the order in which the marks name them.
pub(super) fn time_line(
    title: &str,
    marks: &[TimeMark],
    since: Timestamp,
    until: Timestamp,
) -> Markup {
    let mut names: Vec<&str> = Vec::new();
    for mark in marks {
        if !names.contains(&mark.row.as_str()) {
            names.push(&mark.row);
        }
    }
    let others = names.len() > TIME_LINE_ROWS_MAX;
    names.truncate(if others { TIME_LINE_ROWS_MAX - 1 } else { TIME_LINE_ROWS_MAX });
    let rows = names.len() + usize::from(others);
    let height = rows as f64 * ROW_HEIGHT + 24.0;
    let middle = |row: usize| (row as f64 + 0.5) * ROW_HEIGHT;
    let length = until.duration_since(since).as_secs_f64().max(1.0);
    let most = marks.iter().map(|mark| mark.size).max().unwrap_or_default().max(1);
    let dots = marks.iter().map(|mark| {
        let row = names.iter().position(|name| *name == mark.row).unwrap_or(names.len());
        let passed = mark.at.duration_since(since).as_secs_f64() / length;
        // The area is the size, so the radius is its root.
        let share = (mark.size as f64 / most as f64).sqrt();
        let radius = DOT_RADIUS_MIN + share * (DOT_RADIUS_MAX - DOT_RADIUS_MIN);
        (mark, NAME_WIDTH + passed.clamp(0.0, 1.0) * LINE_WIDTH, middle(row), radius)
    });
    let dots: Vec<_> = dots.collect();
    let width = NAME_WIDTH + LINE_WIDTH + 2.0 * DOT_RADIUS_MAX;
    let end = NAME_WIDTH + LINE_WIDTH;
    let name_of = |row: usize| names.get(row).map_or("others", |name| name);
    html! {
        div class="graph time-line" tabindex="0" role="group" aria-label=(title) {
            svg viewBox={ "0 0 " (width) " " (height) } width=(width) height=(height) {
                @for row in 0..rows {
                    line class="ring" x1=(NAME_WIDTH) x2=(end) y1=(middle(row)) y2=(middle(row)) {}
                    text x="8" y=(middle(row) + 4.0) { (beginning(name_of(row), ROW_NAME_CHARS_MAX)) }
                }
                @for (mark, left, top, radius) in &dots {
                    // The table below has the same links: the keyboard does not stop at a hundred dots.
                    a href=(mark.path) aria-label=(mark.title) tabindex="-1" {
                        circle class="node" cx=(format!("{left:.1}")) cy=(format!("{top:.1}")) r=(format!("{radius:.1}")) {
                            title { (mark.title) ", " (mark.at.strftime("%F %H:%M:%S UTC")) }
                        }
                    }
                }
                text class="label" x=(NAME_WIDTH) y=(height - 6.0) { (since.strftime("%F %H:%M UTC")) }
                text class="label" x=(end) y=(height - 6.0) text-anchor="end" { (until.strftime("%H:%M UTC")) }
            }
        }
        p class="muted legend" { "A dot is a context; its area is its size in tokens, at most " (most) "." }
    }
}

/// Numbers over time as a line of small bars, in proportion to the most; the numbers stand beside it.
pub(super) fn small_line(values: &[u64]) -> Markup {
    let most = values.iter().max().copied().unwrap_or_default().max(1);
    let height = |value: u64| value as f64 / most as f64 * 10.0;
    html! {
        svg class="small-line" viewBox={ "0 0 " (values.len()) " 10" } preserveAspectRatio="none" aria-hidden="true" {
            @for (step, value) in values.iter().enumerate().filter(|(_, value)| **value > 0) {
                rect class="series-0" x=(step) y={ (format!("{:.1}", 10.0 - height(*value))) } width="0.8" height={ (format!("{:.1}", height(*value))) } {}
            }
        }
    }
}

/// A number as a bar, in proportion to the most.
pub(super) fn share(number: u64, most: u64) -> Markup {
    let width = if most == 0 { 0.0 } else { number.min(most) as f64 / most as f64 * 100.0 };
    html! {
        svg class="share" viewBox="0 0 100 2" preserveAspectRatio="none" aria-hidden="true" {
            rect class="track" width="100" height="2" {}
            rect class="series-0" width=(format!("{width:.1}")) height="2" {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scale_ends_at_a_round_number_whose_half_is_whole() {
        for (most, top) in
            [(0, 2), (1, 2), (3, 4), (5, 6), (9, 10), (11, 20), (41, 60), (2_253, 4_000)]
        {
            assert_eq!(scale_top(most), top, "{most}");
        }
    }

    #[test]
    fn a_plot_has_its_scale_its_unit_its_legend_and_its_numbers() {
        let frame = PlotFrame {
            title: "Slowest call of a minute",
            unit: "ms",
            since: Timestamp::UNIX_EPOCH,
            step: SignedDuration::from_mins(1),
            times: &["1 h ago", "now"],
        };
        let series = [Series { name: "slowest", colour: 0, values: vec![0, 7, 0] }];
        let plot = bars(&frame, &series).into_string();
        for part in [
            "<span>8 ms</span><span>4</span><span>0</span>",
            "<span class=\"key series-0\">slowest</span>",
            "<span>1 h ago</span><span>now</span>",
            "<td>1970-01-01 00:01 UTC</td><td class=\"number\">7</td>",
            "7 ms slowest, 1970-01-01 00:01 UTC",
        ] {
            assert!(plot.contains(part), "{part}: {plot}");
        }
        assert_eq!(plot.matches("<rect").count(), 1, "{plot}");
    }
}
