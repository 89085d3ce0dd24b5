//! Plots, drawn on the server: the same data give the same picture.

use jiff::Timestamp;
use maud::{Markup, html};

use crate::calls::words::beginning;

/// The numbers of one thing, one for each step of time.
pub(super) struct Series {
    pub(super) name: &'static str,
    /// The number of its colour in the style.
    pub(super) colour: usize,
    pub(super) values: Vec<u64>,
}

/// Width and height of a plot, in units of its own.
const PLOT_WIDTH: usize = 600;
const PLOT_HEIGHT: usize = 90;

/// Stacked bars over time, with the number of each as its title.
pub(super) fn bars(title: &str, series: &[Series], first: &Markup, last: &Markup) -> Markup {
    let steps = series.iter().map(|series| series.values.len()).max().unwrap_or_default().max(1);
    let at = |series: &Series, step: usize| series.values.get(step).copied().unwrap_or_default();
    let sum = |step: usize| series.iter().map(|series| at(series, step)).sum::<u64>();
    let most = (0..steps).map(sum).max().unwrap_or_default().max(1);
    let scale = |value: u64| value as f64 / most as f64 * PLOT_HEIGHT as f64;
    let width = PLOT_WIDTH as f64 / steps as f64;
    let mut rects = Vec::new();
    for step in 0..steps {
        let mut below = 0;
        for series in series {
            let value = at(series, step);
            if value > 0 {
                let top = PLOT_HEIGHT as f64 - scale(below + value);
                rects.push((
                    series.colour,
                    step as f64 * width,
                    top,
                    scale(value),
                    value,
                    series.name,
                ));
                below += value;
            }
        }
    }
    let total: u64 = (0..steps).map(sum).sum();
    html! {
        figure class="plot" {
            svg viewBox={ "0 0 " (PLOT_WIDTH) " " (PLOT_HEIGHT) } role="img" aria-label={ (title) ": " (total) " in all, at most " (most) " in one step" }
                preserveAspectRatio="none" {
                @for (colour, left, top, height, value, name) in &rects {
                    rect class={ "series-" (colour) } x={ (format!("{left:.1}")) } y={ (format!("{top:.1}")) }
                        width={ (format!("{:.1}", width * 0.8)) } height={ (format!("{height:.1}")) } {
                        title { (value) " " (name) }
                    }
                }
            }
            figcaption {
                span { (first) }
                span { (title) ", " (total) " in all, at most " (most) " in one step"
                    @for series in series {
                        " " span class={ "key series-" (series.colour) } { (series.name) }
                    }
                }
                span { (last) }
            }
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
const LINE_WIDTH: f64 = 560.0;
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
