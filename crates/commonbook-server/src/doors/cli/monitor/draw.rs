//! The picture of the panes.

use commonbook::model::agent::AgentRecord;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear, Paragraph, Sparkline, Wrap};

use super::state::{MonitorOverlay, MonitorPane, MonitorState, ShownEvent, WorkRow, short_age};

/// The size from which all panes are shown at once; a smaller terminal shows the active one.
const ALL_PANES_COLUMNS_MIN: u16 = 72;
const ALL_PANES_LINES_MIN: u16 = 18;

/// Lines of the rates with their frame.
const RATE_LINES: u16 = 4;

/// Columns of the rates in the head of a small terminal.
const SMALL_RATE_COLUMNS: u16 = 12;

/// Columns of the panes beside the events, in percent.
const SIDE_PERCENT: u16 = 38;

/// Letters of the name of an agent in its pane.
const AGENT_CHARS_MAX: usize = 16;

/// How the panes are coloured.
#[derive(Debug, Clone, Copy)]
pub(super) struct MonitorTheme {
    /// Whether the person wants colours.
    pub(super) has_colors: bool,
}

impl MonitorTheme {
    fn color(self, color: Color) -> Style {
        if self.has_colors { Style::new().fg(color) } else { Style::new() }
    }

    /// The style of a kind of event.
    fn of_kind(self, kind: &str) -> Style {
        match kind.split('.').next().unwrap_or_default() {
            "handoff" => self.color(Color::Cyan),
            "contradiction" | "quarantine" => self.color(Color::Yellow),
            "session" | "context" | "agent" | "checkpoint" => {
                Style::new().add_modifier(Modifier::DIM)
            }
            _ if matches!(kind, "memory.quarantined" | "memory.forgotten" | "memory.purged") => {
                self.color(Color::Red)
            }
            _ => Style::new(),
        }
    }
}

/// Draws the state.
pub(super) fn draw(frame: &mut Frame<'_>, state: &mut MonitorState, theme: MonitorTheme) {
    let area = frame.area();
    let [head, body, foot] =
        Layout::vertical([Constraint::Length(1), Constraint::Fill(1), Constraint::Length(1)])
            .areas(area);
    if area.width >= ALL_PANES_COLUMNS_MIN && area.height >= ALL_PANES_LINES_MIN {
        draw_head(frame, state, head);
        draw_all_panes(frame, state, theme, body);
    } else {
        draw_small(frame, state, theme, head, body);
    }
    draw_foot(frame, state, foot);
    if let Some(page) = &state.page {
        state.pane_lines = usize::from(draw_page(frame, page, body));
    }
}

fn draw_head(frame: &mut Frame<'_>, state: &MonitorState, area: Rect) {
    let time = state.now.to_zoned(state.zone.clone()).strftime("%T %Z").to_string();
    let who = format!(" commonbook · {} · as {}", state.workspace, state.agent);
    frame.render_widget(Paragraph::new(who).style(bold()), area);
    frame.render_widget(Paragraph::new(format!("{time} ")).right_aligned(), area);
}

fn draw_all_panes(
    frame: &mut Frame<'_>,
    state: &mut MonitorState,
    theme: MonitorTheme,
    area: Rect,
) {
    let [rates, panes] =
        Layout::vertical([Constraint::Length(RATE_LINES), Constraint::Fill(1)]).areas(area);
    let [events, side] = Layout::horizontal([
        Constraint::Percentage(100 - SIDE_PERCENT),
        Constraint::Percentage(SIDE_PERCENT),
    ])
    .areas(panes);
    let [agents, work] =
        Layout::vertical([Constraint::Percentage(50), Constraint::Percentage(50)]).areas(side);
    draw_rates(frame, state, theme, rates);
    for (pane, area) in MonitorPane::ALL.into_iter().zip([events, agents, work]) {
        draw_pane(frame, state, theme, pane, area);
    }
}

/// The active pane alone, with the rates in the head.
fn draw_small(
    frame: &mut Frame<'_>,
    state: &mut MonitorState,
    theme: MonitorTheme,
    head: Rect,
    body: Rect,
) {
    let [name, rates] =
        Layout::horizontal([Constraint::Fill(1), Constraint::Length(SMALL_RATE_COLUMNS)])
            .areas(head);
    frame.render_widget(Paragraph::new(format!(" {}", state.workspace)).style(bold()), name);
    let data = state.rates.last_minutes(state.now, usize::from(SMALL_RATE_COLUMNS));
    frame.render_widget(Sparkline::default().data(data).style(theme.color(Color::Green)), rates);
    draw_pane(frame, state, theme, state.pane, body);
}

fn draw_rates(frame: &mut Frame<'_>, state: &MonitorState, theme: MonitorTheme, area: Rect) {
    let minutes = usize::from(area.width.saturating_sub(2));
    let data = state.rates.last_minutes(state.now, minutes);
    let (now, peak) = (data.last().copied().unwrap_or(0), data.iter().max().copied().unwrap_or(0));
    let all: u64 = data.iter().sum();
    let title = format!(" Events a minute: {now} now, {peak} at most, {all} in all ");
    let line = Sparkline::default().data(data).style(theme.color(Color::Green));
    frame.render_widget(line.block(Block::bordered().title(title)), area);
}

fn draw_pane(
    frame: &mut Frame<'_>,
    state: &mut MonitorState,
    theme: MonitorTheme,
    pane: MonitorPane,
    area: Rect,
) {
    let is_active = state.pane == pane;
    let lines = usize::from(area.height.saturating_sub(2));
    if is_active {
        state.pane_lines = lines.max(1);
    }
    let (title, count, empty) = match pane {
        MonitorPane::Events => {
            let all = state.filter.is_empty();
            let empty = if all { "no event yet" } else { "no event has this text" };
            (events_title(state), state.shown_events().len(), empty)
        }
        MonitorPane::Agents => {
            let count = state.agents.len();
            (format!(" Agents: {count} "), count, "no agent yet")
        }
        MonitorPane::Work => {
            let count = state.work.len();
            (format!(" Open work: {count} "), count, "nothing waits")
        }
    };
    // The chosen row is the last one in view, or above it.
    let chosen = state.chosen(pane);
    let first = (chosen + 1).saturating_sub(lines).min(count.saturating_sub(lines));
    let mut rows = match pane {
        MonitorPane::Events => event_rows(state, theme, first, lines),
        MonitorPane::Agents => agent_rows(state, first, lines),
        MonitorPane::Work => work_rows(state, theme, first, lines),
    };
    if count == 0 {
        rows.push(Line::styled(empty, dim()));
    } else if let Some(row) = rows.get_mut(chosen - first).filter(|_| is_active) {
        row.style = row.style.add_modifier(Modifier::REVERSED);
    }
    let columns = usize::from(area.width.saturating_sub(2));
    let too_long: Vec<bool> = rows.iter().map(|row| row.width() > columns).collect();
    let border = if is_active { bold() } else { dim() };
    let title = Span::styled(title, if is_active { bold() } else { Style::new() });
    let block = Block::bordered().border_style(border).title(title);
    let inner = block.inner(area);
    frame.render_widget(Paragraph::new(rows).block(block), area);
    for (row, _) in inner.rows().zip(too_long).filter(|(_, is_too_long)| *is_too_long) {
        if let Some(cell) = frame.buffer_mut().cell_mut((row.right().saturating_sub(1), row.y)) {
            cell.set_symbol("…");
        }
    }
}

fn events_title(state: &MonitorState) -> String {
    let paused = if state.is_following() { "" } else { ", paused" };
    match state.filter.is_empty() {
        true => format!(" Events{paused} "),
        false => format!(" Events with \"{}\"{paused} ", state.filter),
    }
}

fn event_rows(
    state: &MonitorState,
    theme: MonitorTheme,
    first: usize,
    lines: usize,
) -> Vec<Line<'_>> {
    let shown = state.shown_events().into_iter().skip(first).take(lines);
    shown.map(|shown| event_row(state, theme, shown)).collect()
}

fn event_row<'s>(state: &MonitorState, theme: MonitorTheme, shown: &'s ShownEvent) -> Line<'s> {
    let ShownEvent { event, words } = shown;
    let at = event.at.to_zoned(state.zone.clone());
    let style = theme.of_kind(event.kind.name());
    let (actor, rest) = match words.strip_prefix(event.actor.as_str()) {
        Some(rest) => (event.actor.as_str(), rest),
        None => ("", words.as_str()),
    };
    Line::from(vec![
        Span::styled(at.strftime("%T ").to_string(), dim()),
        Span::styled(actor, bold().patch(style)),
        Span::styled(rest, style),
    ])
}

fn agent_rows(state: &MonitorState, first: usize, lines: usize) -> Vec<Line<'_>> {
    let width = state.agents.iter().map(|record| record.agent.as_str().chars().count()).max();
    let width = width.unwrap_or(0).min(AGENT_CHARS_MAX);
    let shown = state.agents.iter().skip(first).take(lines);
    shown.map(|record| agent_row(state, record, width)).collect()
}

/// The row of an agent, with this many letters of its name.
fn agent_row<'s>(state: &'s MonitorState, record: &AgentRecord, width: usize) -> Line<'s> {
    let AgentRecord { agent, last_seen, .. } = record;
    // The end of a path is the role.
    let name = agent.as_str();
    let cut = name.char_indices().rev().nth(width.saturating_sub(1)).map_or(0, |(cut, _)| cut);
    let age = short_age(state.now.duration_since(*last_seen));
    Line::from(vec![
        Span::styled(format!("{:<width$}", &name[cut..]), bold()),
        Span::styled(format!(" {age:>3} "), dim()),
        Span::raw(state.last_act(agent).unwrap_or_default()),
    ])
}

fn work_rows(
    state: &MonitorState,
    theme: MonitorTheme,
    first: usize,
    lines: usize,
) -> Vec<Line<'_>> {
    let shown = state.work.iter().skip(first).take(lines);
    shown.map(|row| work_row(theme, row)).collect()
}

fn work_row(theme: MonitorTheme, row: &WorkRow) -> Line<'_> {
    let WorkRow { kind, words, .. } = row;
    Line::from(vec![
        Span::styled(format!("{kind} "), bold().patch(theme.of_kind(kind))),
        Span::raw(words.as_str()),
    ])
}

fn draw_foot(frame: &mut Frame<'_>, state: &MonitorState, area: Rect) {
    let keys = match area.width >= ALL_PANES_COLUMNS_MIN {
        true => " q quit   Tab pane   j k move   / filter   Enter whole   ? help",
        false => " q quit  Tab pane  ? help",
    };
    let line = match (state.is_typing, state.note.is_empty()) {
        (true, _) => Line::from(format!(" show events with: {}_", state.filter)),
        (false, false) => Line::styled(format!(" {}", state.note), bold()),
        (false, true) => Line::styled(keys, dim()),
    };
    frame.render_widget(Paragraph::new(line), area);
}

/// Draws a page over the panes; returns the number of its lines.
fn draw_page(frame: &mut Frame<'_>, page: &MonitorOverlay, area: Rect) -> u16 {
    let lines: Vec<Line<'_>> = page.lines.iter().map(|line| Line::from(line.as_str())).collect();
    let scroll = u16::try_from(page.scroll).unwrap_or(u16::MAX);
    let block = Block::bordered().border_style(bold()).title(format!(" {} ", page.title));
    let text = Paragraph::new(lines).wrap(Wrap { trim: false }).scroll((scroll, 0)).block(block);
    frame.render_widget(Clear, area);
    frame.render_widget(text, area);
    area.height.saturating_sub(2)
}

fn bold() -> Style {
    Style::new().add_modifier(Modifier::BOLD)
}

fn dim() -> Style {
    Style::new().add_modifier(Modifier::DIM)
}

#[cfg(test)]
mod tests;
