//! Graphs, drawn on the server: the same data give the same picture.
//!
//! Nodes are links with text. The layouts know them by number, so that no name reaches a layout.

use std::f64::consts::{FRAC_PI_2, TAU};

use dagre::graph::{Graph, GraphOptions};
use dagre::layout::types::LabelPos;
use dagre::{EdgeLabel, LayoutOptions, NodeLabel, Point};
use maud::{Markup, html};

use crate::calls::words::beginning;

/// A node of a graph, which leads to a page.
#[derive(Debug, Clone)]
pub(super) struct DrawnNode {
    /// Its name, cut where there is no room for all of it.
    pub(super) label: String,
    /// What kind of thing it is, in a word.
    pub(super) kind: String,
    pub(super) path: String,
    /// The CSS class of its shape, beside `node`.
    pub(super) class: &'static str,
    /// Steps from the middle of a radial graph.
    pub(super) steps: u32,
}

/// An edge between two nodes, by their numbers.
#[derive(Debug, Clone)]
pub(super) struct DrawnEdge {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) label: String,
    /// The CSS class of its line, beside `edge`.
    pub(super) class: &'static str,
}

/// Characters of a label in a box.
const BOX_LABEL_CHARS_MAX: usize = 24;
/// Width of a letter, about, and height of a box.
const LETTER_WIDTH: f64 = 7.2;
const BOX_HEIGHT: f64 = 30.0;
/// Room around a drawing.
const MARGIN: f64 = 14.0;

/// A graph in layers: each edge leads down where the graph permits it.
#[expect(clippy::too_many_lines, reason = "a picture or a page, from top to bottom")]
pub(super) fn layered(title: &str, nodes: &[DrawnNode], edges: &[DrawnEdge]) -> Markup {
    let mut graph: Graph<NodeLabel, EdgeLabel> =
        Graph::with_options(GraphOptions { directed: true, multigraph: true, compound: true });
    for (number, node) in nodes.iter().enumerate() {
        let letters = beginning(&node.label, BOX_LABEL_CHARS_MAX).chars().count();
        let width = letters as f64 * LETTER_WIDTH + 24.0;
        let size = NodeLabel { width, height: BOX_HEIGHT, ..NodeLabel::default() };
        graph.set_node(number.to_string(), Some(size));
    }
    let drawn = |edge: &&DrawnEdge| edge.from < nodes.len() && edge.to < nodes.len();
    let edges: Vec<&DrawnEdge> = edges.iter().filter(drawn).collect();
    for (number, edge) in edges.iter().enumerate() {
        let width = edge.label.chars().count() as f64 * LETTER_WIDTH + 8.0;
        let label =
            EdgeLabel { width, height: 14.0, labelpos: LabelPos::Center, ..EdgeLabel::default() };
        let (from, to) = (edge.from.to_string(), edge.to.to_string());
        graph.set_edge(from, to, Some(label), Some(&number.to_string()));
    }
    let options = LayoutOptions {
        nodesep: 34.0,
        edgesep: 16.0,
        ranksep: 34.0,
        marginx: MARGIN,
        marginy: MARGIN,
        ..LayoutOptions::default()
    };
    dagre::layout(&mut graph, Some(options));
    let place = |number: usize| {
        graph.node(&number.to_string()).map(|node| {
            (node.x.unwrap_or_default(), node.y.unwrap_or_default(), node.width, node.height)
        })
    };
    let lines: Vec<_> = edges
        .iter()
        .enumerate()
        .filter_map(|(number, edge)| {
            let (from, to) = (edge.from.to_string(), edge.to.to_string());
            let laid = graph.edge(&from, &to, Some(&number.to_string()))?;
            let at = laid.x.zip(laid.y).map(|(x, y)| on_curve(&laid.points, x, y));
            Some((*edge, laid.points.as_slice(), at))
        })
        .collect();
    let mut area = DrawnArea { left: 0.0, top: 0.0, width: 0.0, height: 0.0 };
    for (x, y, box_width, box_height) in (0..nodes.len()).filter_map(place) {
        area.include(x - box_width / 2.0, y - box_height / 2.0);
        area.include(x + box_width / 2.0, y + box_height / 2.0);
    }
    for (edge, points, at) in &lines {
        points.iter().for_each(|point| area.include(point.x, point.y));
        let half = edge.label.chars().count() as f64 * LETTER_WIDTH / 2.0;
        if let Some((x, y)) = at {
            area.include(x - half, *y);
            area.include(x + half, *y);
        }
    }
    let main = html! {
        @for (edge, points, _) in &lines {
            path class={ "edge " (edge.class) } d=(curve(points)) { title { (edge_title(nodes, edge)) } }
            (arrow(points, edge.class))
        }
        @for (edge, _, at) in &lines {
            @if let Some((x, y)) = at { (edge_label(*x, *y, &edge.label)) }
        }
        @for (number, node) in nodes.iter().enumerate() {
            @if let Some((x, y, box_width, box_height)) = place(number) {
                (node_link(node, &html! {
                    rect class={ "node " (node.class) } x=(px(x - box_width / 2.0)) y=(px(y - box_height / 2.0)) width=(px(box_width))
                        height=(px(box_height)) rx="7" {}
                    text x=(px(x)) y=(px(y + 4.0)) text-anchor="middle" { (beginning(&node.label, BOX_LABEL_CHARS_MAX)) }
                }))
            }
        }
    };
    area.svg(title, &main)
}

/// Characters of a label at a ring.
const RING_LABEL_CHARS_MAX: usize = 20;
/// Height of a label, and width of one of its letters, about.
const RING_LABEL_HEIGHT: f64 = 15.0;
const RING_LETTER_WIDTH: f64 = 6.6;
/// Between two rings there is room for a label.
const RING_GAP: f64 = 150.0;
/// Rings with upright labels are nearer to each other, and wider than high.
const UPRIGHT_GAP: f64 = 105.0;
const UPRIGHT_STRETCH: f64 = 1.35;
/// Up to this many leaves, labels stand upright; more have room only along the radius.
const UPRIGHT_LEAVES_MAX: usize = 14;
/// Up to this many edges, each has its label.
const LABELLED_EDGES_MAX: usize = 16;

/// A graph in rings around its first node: each ring is one step further from it.
pub(super) fn radial(title: &str, nodes: &[DrawnNode], edges: &[DrawnEdge]) -> Markup {
    let tree = RingTree::of(nodes, edges);
    let leaves = tree.leaves_total();
    let is_upright = leaves <= UPRIGHT_LEAVES_MAX;
    let (stretch, gap) = if is_upright { (UPRIGHT_STRETCH, UPRIGHT_GAP) } else { (1.0, RING_GAP) };
    let first = (leaves as f64 * RING_LABEL_HEIGHT / TAU).max(gap);
    let radius = |steps: u32| match steps {
        0 => 0.0,
        steps => first + f64::from(steps - 1) * gap,
    };
    let angles = tree.angles();
    let at = |number: usize| {
        let (angle, radius) = (angles[number], radius(nodes[number].steps));
        (radius * angle.cos() * stretch, radius * angle.sin())
    };
    let rings = nodes.iter().map(|node| node.steps).max().unwrap_or_default();
    let mut area =
        DrawnArea { left: -MARGIN, top: -MARGIN, width: 2.0 * MARGIN, height: 2.0 * MARGIN };
    for (number, node) in nodes.iter().enumerate() {
        let (x, y) = at(number);
        for (x, y) in label_corners(node, x, y, angles[number], is_upright) {
            area.include(x, y);
        }
    }
    let has_labels = edges.len() <= LABELLED_EDGES_MAX;
    let main = html! {
        @for steps in 1..=rings {
            ellipse class="ring" cx="0" cy="0" rx=(px(radius(steps) * stretch)) ry=(px(radius(steps))) {}
        }
        @for edge in edges.iter().filter(|edge| edge.from < nodes.len() && edge.to < nodes.len()) {
            @let (from, to) = (at(edge.from), at(edge.to));
            path class={ "edge " (edge.class) } d={ "M" (px(from.0)) " " (px(from.1)) "L" (px(to.0)) " " (px(to.1)) } {
                title { (edge_title(nodes, edge)) }
            }
            @if has_labels { (edge_label(f64::midpoint(from.0, to.0), f64::midpoint(from.1, to.1), &edge.label)) }
        }
        @for (number, node) in nodes.iter().enumerate() {
            @let (x, y) = at(number);
            (node_link(node, &html! {
                circle class={ "node " (node.class) } cx=(px(x)) cy=(px(y)) r={ @if node.steps == 0 { "9" } @else { "6" } } {}
                (ring_label(node, x, y, angles[number], is_upright))
            }))
        }
    };
    area.svg(title, &main)
}

/// The label of a node at a ring, outside of the ring; that of the first node is below it.
fn ring_label(node: &DrawnNode, x: f64, y: f64, angle: f64, is_upright: bool) -> Markup {
    let label = beginning(&node.label, RING_LABEL_CHARS_MAX);
    let is_left = angle.cos() < 0.0;
    if node.steps == 0 {
        return html! { text class="middle" x=(px(x)) y=(px(y + 24.0)) text-anchor="middle" { (label) } };
    }
    if is_upright {
        let (across, down) = (angle.cos(), angle.sin());
        let anchor = match across {
            across if across > 0.25 => "start",
            across if across < -0.25 => "end",
            _ => "middle",
        };
        let left = if anchor == "middle" { x } else { x + across.signum() * 11.0 };
        let below = if anchor == "middle" { y + down.signum() * 16.0 + 4.0 } else { y + 4.0 };
        return html! { text x=(px(left)) y=(px(below)) text-anchor=(anchor) { (label) } };
    }
    let degrees = angle.to_degrees() + if is_left { 180.0 } else { 0.0 };
    html! {
        text x=(if is_left { "-11" } else { "11" }) y="4" text-anchor=(if is_left { "end" } else { "start" })
            transform={ "translate(" (px(x)) " " (px(y)) ") rotate(" (px(degrees)) ")" } { (label) }
    }
}

/// Two corners of the room that a node and its label take.
fn label_corners(
    node: &DrawnNode,
    x: f64,
    y: f64,
    angle: f64,
    is_upright: bool,
) -> [(f64, f64); 2] {
    let letters = beginning(&node.label, RING_LABEL_CHARS_MAX).chars().count();
    let width = letters as f64 * RING_LETTER_WIDTH;
    if node.steps == 0 {
        return [(x - width / 2.0, y - 10.0), (x + width / 2.0, y + 28.0)];
    }
    if !is_upright {
        let (across, down) = (angle.cos() * (width + 12.0), angle.sin() * (width + 12.0));
        return [(x - 8.0, y - 8.0), (x + across, y + down)];
    }
    match angle.cos() {
        across if across > 0.25 => [(x, y - 10.0), (x + 12.0 + width, y + 10.0)],
        across if across < -0.25 => [(x, y - 10.0), (x - 12.0 - width, y + 10.0)],
        _ => [(x - width / 2.0, y - 24.0), (x + width / 2.0, y + 24.0)],
    }
}

/// The nodes of a radial graph as a tree: each hangs on a node that is one step nearer to the middle.
struct RingTree {
    children: Vec<Vec<usize>>,
    /// Leaves below each node; a leaf has one.
    leaves: Vec<usize>,
    /// Nodes without a nearer neighbour: the first, and what is not connected to it.
    roots: Vec<usize>,
}

impl RingTree {
    fn of(nodes: &[DrawnNode], edges: &[DrawnEdge]) -> Self {
        let mut children = vec![Vec::new(); nodes.len()];
        let mut roots = Vec::new();
        let steps_of = |number: usize| nodes.get(number).map(|node| node.steps);
        for (number, node) in nodes.iter().enumerate() {
            let others = edges.iter().filter_map(|edge| match number {
                number if number == edge.from => Some(edge.to),
                number if number == edge.to => Some(edge.from),
                _ => None,
            });
            let nearer = others
                .filter(|other| steps_of(*other).is_some_and(|steps| steps + 1 == node.steps));
            match nearer.min() {
                Some(parent) => children[parent].push(number),
                None => roots.push(number),
            }
        }
        // Children are further from the middle than their parents.
        let mut order: Vec<usize> = (0..nodes.len()).collect();
        order.sort_by_key(|number| std::cmp::Reverse(nodes[*number].steps));
        let mut leaves = vec![1; nodes.len()];
        for number in order {
            let below: usize = children[number].iter().map(|child| leaves[*child]).sum();
            leaves[number] = below.max(1);
        }
        Self { children, leaves, roots }
    }

    fn leaves_total(&self) -> usize {
        self.roots.iter().map(|root| self.leaves[*root]).sum::<usize>().max(1)
    }

    /// The angle of each node: the middle of the part of the circle that its leaves have.
    fn angles(&self) -> Vec<f64> {
        let mut angles = vec![0.0; self.leaves.len()];
        let leaf = TAU / self.leaves_total() as f64;
        // Not at the very top, where the labels of two neighbours would meet.
        let start = -FRAC_PI_2 + leaf / 2.0;
        let mut open: Vec<(usize, f64)> = Vec::new();
        let mut from = start;
        for root in &self.roots {
            open.push((*root, from));
            from += self.leaves[*root] as f64 * leaf;
        }
        while let Some((number, mut from)) = open.pop() {
            angles[number] = from + self.leaves[number] as f64 * leaf / 2.0;
            for child in &self.children[number] {
                open.push((*child, from));
                from += self.leaves[*child] as f64 * leaf;
            }
        }
        angles
    }
}

/// The area of a drawing, in units of its own.
struct DrawnArea {
    left: f64,
    top: f64,
    width: f64,
    height: f64,
}

impl DrawnArea {
    /// Grows until this point stands within, with a margin.
    fn include(&mut self, x: f64, y: f64) {
        let right = (self.left + self.width).max(x + MARGIN);
        let bottom = (self.top + self.height).max(y + MARGIN);
        (self.left, self.top) = (self.left.min(x - MARGIN), self.top.min(y - MARGIN));
        (self.width, self.height) = (right - self.left, bottom - self.top);
    }

    fn svg(&self, title: &str, main: &Markup) -> Markup {
        let Self { left, top, width, height } = *self;
        html! {
            div class="graph" tabindex="0" role="group" aria-label=(title) {
                svg viewBox={ (px(left)) " " (px(top)) " " (px(width)) " " (px(height)) } width=(px(width)) height=(px(height))
                    role="group" aria-label=(title) { (main) }
            }
        }
    }
}

/// A number of a drawing: one digit behind the point, and no minus before zero.
fn px(value: f64) -> String {
    let text = format!("{value:.1}");
    if text == "-0.0" { "0.0".to_owned() } else { text }
}

fn node_link(node: &DrawnNode, shape: &Markup) -> Markup {
    html! {
        a href=(node.path) {
            title { (node.label) " (" (node.kind) ")" }
            (shape)
        }
    }
}

fn edge_title(nodes: &[DrawnNode], edge: &DrawnEdge) -> String {
    format!("{} → {}: {}", nodes[edge.from].label, nodes[edge.to].label, edge.label)
}

fn edge_label(x: f64, y: f64, label: &str) -> Markup {
    html! { text class="label" x=(px(x)) y=(px(y + 4.0)) text-anchor="middle" { (label) } }
}

/// The place on the rounded line through these points that is nearest to one of them.
fn on_curve(points: &[Point], x: f64, y: f64) -> (f64, f64) {
    let [first, inner @ .., last] = points else { return (x, y) };
    let distance = |point: &Point| (point.x - x).hypot(point.y - y);
    let by_distance =
        |a: &(usize, &Point), b: &(usize, &Point)| distance(a.1).total_cmp(&distance(b.1));
    let Some((place, corner)) = inner.iter().enumerate().min_by(by_distance) else { return (x, y) };
    let middle =
        |a: &Point, b: &Point| Point::new(f64::midpoint(a.x, b.x), f64::midpoint(a.y, b.y));
    let before = place.checked_sub(1).and_then(|before| inner.get(before));
    let start = before.map_or_else(|| first.clone(), |before| middle(before, corner));
    let end = inner.get(place + 1).map_or_else(|| last.clone(), |next| middle(corner, next));
    let round = middle(&middle(&start, corner), &middle(corner, &end));
    (round.x, round.y)
}

/// A line through these points, rounded between them.
fn curve(points: &[Point]) -> String {
    let [first, inner @ .., last] = points else { return String::new() };
    let mut path = format!("M{} {}", px(first.x), px(first.y));
    for (place, point) in inner.iter().enumerate() {
        let next = inner.get(place + 1);
        let (x, y) = match next {
            Some(next) => (f64::midpoint(point.x, next.x), f64::midpoint(point.y, next.y)),
            None => (last.x, last.y),
        };
        path += &format!("Q{} {} {} {}", px(point.x), px(point.y), px(x), px(y));
    }
    if inner.is_empty() {
        path += &format!("L{} {}", px(last.x), px(last.y));
    }
    path
}

/// The head of an arrow at the end of a line.
fn arrow(points: &[Point], class: &str) -> Markup {
    let [.., before, tip] = points else { return html! {} };
    let angle = (tip.y - before.y).atan2(tip.x - before.x);
    let corner = |turn: f64| {
        let (x, y) = (tip.x - 9.0 * (angle + turn).cos(), tip.y - 9.0 * (angle + turn).sin());
        format!("{},{}", px(x), px(y))
    };
    let corners = format!("{},{} {} {}", px(tip.x), px(tip.y), corner(0.42), corner(-0.42));
    html! { polygon class={ "head " (class) } points=(corners) {} }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(label: &str, steps: u32) -> DrawnNode {
        DrawnNode {
            label: label.to_owned(),
            kind: "tool".to_owned(),
            path: "/dashboard/w/default/entities/ent_1".to_owned(),
            class: "",
            steps,
        }
    }

    fn edge(from: usize, to: usize) -> DrawnEdge {
        DrawnEdge { from, to, label: "uses".to_owned(), class: "" }
    }

    /// A made-up graph of this many nodes: rings for `radial`, and edges back and across.
    fn synthetic(count: usize, seed: u64) -> (Vec<DrawnNode>, Vec<DrawnEdge>) {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut nodes = vec![node("middle", 0)];
        let mut edges = Vec::new();
        for number in 1..count {
            let other = random.usize(..number);
            nodes.push(node(&format!("node number {number}"), (nodes[other].steps + 1).min(3)));
            edges.push(edge(other, number));
            if random.u8(..4) == 0 {
                edges.push(edge(number, random.usize(..number)));
            }
        }
        (nodes, edges)
    }

    type Drawing = fn(&str, &[DrawnNode], &[DrawnEdge]) -> Markup;
    const DRAWINGS: [Drawing; 2] = [layered, radial];

    #[test]
    fn equal_data_give_equal_bytes() {
        for draw in DRAWINGS {
            for seed in 0..6 {
                let (nodes, edges) = synthetic(30, seed);
                let first = draw("Graph", &nodes, &edges).into_string();
                for _ in 0..4 {
                    assert_eq!(draw("Graph", &nodes, &edges).into_string(), first, "seed {seed}");
                }
            }
        }
    }

    #[test]
    fn no_name_becomes_markup() {
        let hostile = r#""><script>alert(1)</script><img src=x onerror=y>"#;
        let nodes = [node(hostile, 0), DrawnNode { kind: hostile.to_owned(), ..node(hostile, 1) }];
        let edges = [DrawnEdge { label: hostile.to_owned(), ..edge(0, 1) }];
        for draw in DRAWINGS {
            let svg = draw(hostile, &nodes, &edges).into_string();
            assert!(!svg.contains("<script") && !svg.contains("<img"), "{svg}");
            assert!(svg.contains("&lt;script&gt;"), "{svg}");
        }
    }

    #[test]
    fn eighty_nodes_stand_within_the_drawing_and_apart() {
        for seed in 0..4 {
            let (nodes, edges) = synthetic(80, seed);
            for draw in DRAWINGS {
                let svg = draw("Graph", &nodes, &edges).into_string();
                assert_eq!(svg.matches("<a href").count(), 80);
                assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
            }
            let svg = radial("Graph", &nodes, &edges).into_string();
            let area = numbers_of(&svg, "viewBox=\"");
            let places: Vec<(f64, f64)> = svg
                .split("<circle")
                .skip(1)
                .map(|circle| (numbers_of(circle, "cx=\"")[0], numbers_of(circle, "cy=\"")[0]))
                .collect();
            for (place, (x, y)) in places.iter().enumerate() {
                assert!(*x > area[0] && *x < area[0] + area[2], "{x} of {area:?}");
                assert!(*y > area[1] && *y < area[1] + area[3], "{y} of {area:?}");
                let near = |other: &&(f64, f64)| (other.0 - x).hypot(other.1 - y) < 12.0;
                let near = places[place + 1..].iter().filter(near).count();
                assert_eq!(near, 0, "seed {seed}: another node at {x} {y}");
            }
        }
    }

    #[test]
    fn graphs_without_edges_with_circles_and_with_loops_are_drawn() {
        let nodes = [node("a", 0), node("b", 1), node("c", 1)];
        let loops = [edge(0, 1), edge(1, 0), edge(1, 2), edge(2, 0), edge(2, 2), edge(0, 1)];
        for draw in DRAWINGS {
            for edges in [&loops[..], &[]] {
                let svg = draw("Graph", &nodes, edges).into_string();
                assert_eq!(svg.matches("class=\"edge").count(), edges.len());
            }
            assert!(draw("Graph", &[], &[]).into_string().contains("<svg"));
            // An edge to a node that is not shown is left out.
            let svg = draw("Graph", &nodes, &[edge(0, 7)]).into_string();
            assert_eq!(svg.matches("class=\"edge").count(), 0);
        }
    }

    fn numbers_of(text: &str, before: &str) -> Vec<f64> {
        let after = text.split_once(before).expect("the attribute").1;
        let value = after.split_once('"').expect("its end").0;
        value.split(' ').map(|number| number.parse().expect("a number")).collect()
    }
}
