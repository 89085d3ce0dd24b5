//! Plots, drawn on the server: the same data give the same picture.

use maud::{Markup, html};

/// The numbers of one thing, one for each step of time.
pub(super) struct Series {
    pub(super) name: &'static str,
    pub(super) values: Vec<u64>,
}

/// Width and height of a plot, in units of its own.
const PLOT_WIDTH: usize = 600;
const PLOT_HEIGHT: usize = 90;

/// Stacked bars over time, with the number of each as its title.
pub(super) fn bars(title: &str, series: &[Series], first: &str, last: &str) -> Markup {
    let steps = series.iter().map(|series| series.values.len()).max().unwrap_or_default().max(1);
    let at = |series: &Series, step: usize| series.values.get(step).copied().unwrap_or_default();
    let sum = |step: usize| series.iter().map(|series| at(series, step)).sum::<u64>();
    let most = (0..steps).map(sum).max().unwrap_or_default().max(1);
    let scale = |value: u64| value as f64 / most as f64 * PLOT_HEIGHT as f64;
    let width = PLOT_WIDTH as f64 / steps as f64;
    let mut rects = Vec::new();
    for step in 0..steps {
        let mut below = 0;
        for (place, series) in series.iter().enumerate() {
            let value = at(series, step);
            if value > 0 {
                let top = PLOT_HEIGHT as f64 - scale(below + value);
                rects.push((place, step as f64 * width, top, scale(value), value, series.name));
                below += value;
            }
        }
    }
    let total: u64 = (0..steps).map(sum).sum();
    html! {
        figure class="plot" {
            svg viewBox={ "0 0 " (PLOT_WIDTH) " " (PLOT_HEIGHT) } role="img" aria-label={ (title) ": " (total) " in all, at most " (most) " in one step" }
                preserveAspectRatio="none" {
                @for (place, left, top, height, value, name) in &rects {
                    rect class={ "series-" (place) } x={ (format!("{left:.1}")) } y={ (format!("{top:.1}")) }
                        width={ (format!("{:.1}", width * 0.8)) } height={ (format!("{height:.1}")) } {
                        title { (value) " " (name) }
                    }
                }
            }
            figcaption {
                span { (first) }
                span { (title) ": " (total) ", at most " (most)
                    @for (place, series) in series.iter().enumerate() {
                        " " span class={ "key series-" (place) } { (series.name) }
                    }
                }
                span { (last) }
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
