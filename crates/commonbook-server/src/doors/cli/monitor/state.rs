//! The state of the panes: inputs alone change it, and `draw` shows it.

use std::collections::{BTreeMap, VecDeque};
use std::ops::ControlFlow;

use commonbook::model::agent::{Agent, AgentRecord};
use commonbook::model::caller::Caller;
use commonbook::model::event::Event;
use commonbook::model::workspace::Workspace;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::doors::cli::describe::origin_words;
use crate::doors::cli::layout::{is_hidden, one_line};

/// Events that the panes keep; the oldest go first.
const SHOWN_EVENTS_MAX: usize = 5_000;

/// Minutes whose rates are kept.
const RATE_MINUTES_MAX: i64 = 240;

/// Characters of a filter.
const FILTER_CHARS_MAX: usize = 80;

/// An event with its words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ShownEvent {
    pub(super) event: Event,
    pub(super) words: String,
}

/// Something that waits for somebody.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WorkRow {
    pub(super) kind: &'static str,
    pub(super) handle: String,
    pub(super) words: String,
}

/// What changes the state.
#[derive(Debug)]
pub(super) enum MonitorInput {
    /// A key.
    Key(KeyEvent),
    /// The terminal has another size.
    Resize,
    /// The next event of the journal.
    Event(Box<ShownEvent>),
    /// The agents of the registry.
    Agents(Vec<AgentRecord>),
    /// All open work.
    Work(Vec<WorkRow>),
    /// A note about the connection.
    Note(String),
    /// The time.
    Now(Timestamp),
    /// The end.
    Quit,
}

impl MonitorInput {
    /// Whether the person wants everything drawn again.
    pub(super) fn redraws(&self) -> bool {
        matches!(self, Self::Key(key) if key.code == KeyCode::Char('l')
            && key.modifiers.contains(KeyModifiers::CONTROL))
    }
}

/// A pane that keys move in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MonitorPane {
    Events,
    Agents,
    Work,
}

impl MonitorPane {
    pub(super) const ALL: [Self; 3] = [Self::Events, Self::Agents, Self::Work];

    fn next(self, step: usize) -> Self {
        let index = Self::ALL.iter().position(|pane| *pane == self).unwrap_or_default();
        Self::ALL[(index + step) % Self::ALL.len()]
    }
}

/// A page over the panes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct MonitorOverlay {
    pub(super) title: String,
    pub(super) lines: Vec<String>,
    pub(super) scroll: usize,
}

/// Events of each minute.
#[derive(Debug, Default)]
pub(super) struct MinuteCounts(BTreeMap<i64, u64>);

impl MinuteCounts {
    fn add(&mut self, at: Timestamp) {
        *self.0.entry(minute_of(at)).or_default() += 1;
    }

    fn forget_before(&mut self, now: Timestamp) {
        self.0 = self.0.split_off(&(minute_of(now) - RATE_MINUTES_MAX));
    }

    /// The rates of the last minutes, the present one last.
    pub(super) fn last_minutes(&self, now: Timestamp, count: usize) -> Vec<u64> {
        let now = minute_of(now);
        let count = i64::try_from(count).unwrap_or(RATE_MINUTES_MAX);
        let minutes = now - count + 1..=now;
        minutes.map(|minute| self.0.get(&minute).copied().unwrap_or(0)).collect()
    }
}

fn minute_of(at: Timestamp) -> i64 {
    at.as_second().div_euclid(60)
}

/// The state of the panes.
#[derive(Debug)]
pub(super) struct MonitorState {
    pub(super) workspace: Workspace,
    pub(super) agent: Agent,
    pub(super) now: Timestamp,
    pub(super) zone: TimeZone,
    pub(super) pane: MonitorPane,
    pub(super) rates: MinuteCounts,
    pub(super) agents: Vec<AgentRecord>,
    pub(super) work: Vec<WorkRow>,
    pub(super) note: String,
    pub(super) page: Option<MonitorOverlay>,
    /// The text that shown events contain; empty for all.
    pub(super) filter: String,
    /// Whether keys write the filter.
    pub(super) is_typing: bool,
    /// Lines of the active pane, as it was drawn last.
    pub(super) pane_lines: usize,
    events: VecDeque<ShownEvent>,
    /// The sequence of the chosen event; none while the newest is shown.
    chosen_event: Option<u64>,
    chosen_agent: usize,
    chosen_work: usize,
}

impl MonitorState {
    pub(super) fn new(caller: &Caller, now: Timestamp, zone: TimeZone) -> Self {
        Self {
            workspace: caller.workspace.clone(),
            agent: caller.agent.clone(),
            now,
            zone,
            pane: MonitorPane::Events,
            rates: MinuteCounts::default(),
            agents: Vec::new(),
            work: Vec::new(),
            note: String::new(),
            page: None,
            filter: String::new(),
            is_typing: false,
            pane_lines: 1,
            events: VecDeque::new(),
            chosen_event: None,
            chosen_agent: 0,
            chosen_work: 0,
        }
    }

    /// Takes an input; breaks if the person quits.
    pub(super) fn update(&mut self, input: MonitorInput) -> ControlFlow<()> {
        match input {
            MonitorInput::Quit => return ControlFlow::Break(()),
            MonitorInput::Key(key) => return self.press(key),
            MonitorInput::Resize => {}
            MonitorInput::Event(shown) => self.add_event(*shown),
            MonitorInput::Agents(agents) => self.set_agents(agents),
            MonitorInput::Work(work) => {
                let clean = |row: WorkRow| WorkRow { words: one_line(&row.words), ..row };
                self.work = work.into_iter().map(clean).collect();
                self.chosen_work = self.chosen_work.min(self.work.len().saturating_sub(1));
            }
            MonitorInput::Note(note) => self.note = one_line(&note),
            MonitorInput::Now(now) => {
                self.now = now;
                self.rates.forget_before(now);
            }
        }
        ControlFlow::Continue(())
    }

    fn add_event(&mut self, shown: ShownEvent) {
        self.rates.add(shown.event.at);
        self.events.push_back(ShownEvent { words: one_line(&shown.words), ..shown });
        if self.events.len() > SHOWN_EVENTS_MAX {
            self.events.pop_front();
        }
    }

    fn set_agents(&mut self, mut agents: Vec<AgentRecord>) {
        // Who can be asked is connected: a note about a loss is over.
        self.note.clear();
        agents.sort_by(|one, other| {
            (other.last_seen, &one.agent).cmp(&(one.last_seen, &other.agent))
        });
        self.chosen_agent = self.chosen_agent.min(agents.len().saturating_sub(1));
        self.agents = agents;
    }

    /// The events that the filter shows, oldest first.
    pub(super) fn shown_events(&self) -> Vec<&ShownEvent> {
        let wanted = self.filter.to_lowercase();
        let fits = |shown: &&ShownEvent| {
            let Event { kind, actor, subject, .. } = &shown.event;
            let texts = [shown.words.as_str(), kind.name(), actor.as_str(), subject];
            wanted.is_empty() || texts.iter().any(|text| text.to_lowercase().contains(&wanted))
        };
        self.events.iter().filter(fits).collect()
    }

    /// The number of the chosen row among those of a pane.
    pub(super) fn chosen(&self, pane: MonitorPane) -> usize {
        match pane {
            MonitorPane::Events => {
                let shown = self.shown_events();
                let last = shown.len().saturating_sub(1);
                let Some(chosen) = self.chosen_event else { return last };
                let index = shown.iter().position(|shown| shown.event.sequence >= chosen);
                index.unwrap_or(last)
            }
            MonitorPane::Agents => self.chosen_agent,
            MonitorPane::Work => self.chosen_work,
        }
    }

    /// Whether the newest event is shown, and each new one as it comes.
    pub(super) fn is_following(&self) -> bool {
        self.chosen_event.is_none()
    }

    /// What an agent did last, without its name.
    pub(super) fn last_act(&self, agent: &Agent) -> Option<&str> {
        let shown = self.events.iter().rev().find(|shown| shown.event.actor == *agent)?;
        let words = &shown.words;
        Some(words.strip_prefix(agent.as_str()).map_or(words.as_str(), str::trim_start))
    }

    fn press(&mut self, key: KeyEvent) -> ControlFlow<()> {
        let has_control = key.modifiers.contains(KeyModifiers::CONTROL);
        if has_control {
            return match key.code {
                KeyCode::Char('c') => ControlFlow::Break(()),
                _ => ControlFlow::Continue(()),
            };
        }
        if self.is_typing {
            self.type_filter(key.code);
        } else if self.page.is_some() {
            self.press_on_page(key.code);
        } else {
            return self.press_on_panes(key.code);
        }
        ControlFlow::Continue(())
    }

    fn type_filter(&mut self, key: KeyCode) {
        match key {
            KeyCode::Enter => self.is_typing = false,
            KeyCode::Esc => {
                self.is_typing = false;
                self.filter.clear();
            }
            KeyCode::Backspace => drop(self.filter.pop()),
            KeyCode::Char(letter)
                if !is_hidden(letter) && self.filter.chars().count() < FILTER_CHARS_MAX =>
            {
                self.filter.push(letter);
            }
            _ => {}
        }
    }

    fn press_on_page(&mut self, key: KeyCode) {
        let Some(page) = &mut self.page else { return };
        let last = page.lines.len().saturating_sub(1);
        match key {
            KeyCode::Down | KeyCode::Char('j') => page.scroll = last.min(page.scroll + 1),
            KeyCode::Up | KeyCode::Char('k') => page.scroll = page.scroll.saturating_sub(1),
            KeyCode::PageDown => page.scroll = last.min(page.scroll + self.pane_lines),
            KeyCode::PageUp => page.scroll = page.scroll.saturating_sub(self.pane_lines),
            KeyCode::Esc | KeyCode::Enter | KeyCode::Char('q' | '?') => self.page = None,
            _ => {}
        }
    }

    fn press_on_panes(&mut self, key: KeyCode) -> ControlFlow<()> {
        match key {
            KeyCode::Esc | KeyCode::Char('q') => return ControlFlow::Break(()),
            KeyCode::Tab => self.pane = self.pane.next(1),
            KeyCode::BackTab => self.pane = self.pane.next(2),
            KeyCode::Down | KeyCode::Char('j') => self.move_down(1),
            KeyCode::Up | KeyCode::Char('k') => self.move_up(1),
            KeyCode::PageDown => self.move_down(self.pane_lines),
            KeyCode::PageUp => self.move_up(self.pane_lines),
            KeyCode::Home | KeyCode::Char('g') => self.choose(0),
            KeyCode::End | KeyCode::Char('G') => self.choose(usize::MAX),
            KeyCode::Char('/') => {
                self.pane = MonitorPane::Events;
                self.is_typing = true;
            }
            KeyCode::Char('?') => self.page = Some(help_page()),
            KeyCode::Enter => self.page = self.whole_row(),
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn move_down(&mut self, rows: usize) {
        self.choose(self.chosen(self.pane).saturating_add(rows));
    }

    fn move_up(&mut self, rows: usize) {
        self.choose(self.chosen(self.pane).saturating_sub(rows));
    }

    /// Chooses a row of the active pane; the last one if there are fewer.
    fn choose(&mut self, row: usize) {
        match self.pane {
            MonitorPane::Events => {
                let shown = self.shown_events();
                let is_last = row.saturating_add(1) >= shown.len();
                let chosen = shown.get(row).map(|shown| shown.event.sequence);
                self.chosen_event = chosen.filter(|_| !is_last);
            }
            MonitorPane::Agents => {
                self.chosen_agent = row.min(self.agents.len().saturating_sub(1));
            }
            MonitorPane::Work => self.chosen_work = row.min(self.work.len().saturating_sub(1)),
        }
    }

    /// The chosen row of the active pane, whole.
    fn whole_row(&self) -> Option<MonitorOverlay> {
        let row = self.chosen(self.pane);
        match self.pane {
            MonitorPane::Events => self.shown_events().get(row).map(|shown| event_page(shown)),
            MonitorPane::Agents => self.agents.get(row).map(|agent| self.agent_page(agent)),
            MonitorPane::Work => self.work.get(row).map(|WorkRow { kind, handle, words }| {
                let lines = vec![words.clone(), String::new(), format!("id ends in {handle}")];
                MonitorOverlay { title: (*kind).to_owned(), lines, scroll: 0 }
            }),
        }
    }

    fn agent_page(&self, record: &AgentRecord) -> MonitorOverlay {
        let AgentRecord { agent, first_seen, last_seen, device, client, memory_count } = record;
        let time = |at: &Timestamp| at.to_zoned(self.zone.clone()).strftime("%F %T %Z").to_string();
        let mut lines = vec![
            format!("last seen   {}", time(last_seen)),
            format!("first seen  {}", time(first_seen)),
        ];
        lines.extend(device.as_ref().map(|device| format!("device      {}", one_line(device))));
        lines.extend(client.as_ref().map(|client| format!("client      {}", one_line(client))));
        lines.push(format!("memories    {memory_count}"));
        lines.extend(self.last_act(agent).map(|act| format!("last act    {act}")));
        MonitorOverlay { title: agent.to_string(), lines, scroll: 0 }
    }
}

/// An event whole: its words, from where it came, and its fields as JSON.
fn event_page(shown: &ShownEvent) -> MonitorOverlay {
    let ShownEvent { event, words } = shown;
    let origin = origin_words(event);
    let mut lines = vec![words.clone()];
    lines.extend(Some(origin).filter(|origin| !origin.is_empty()));
    lines.push(String::new());
    let json = serde_json::to_string_pretty(event).unwrap_or_default();
    let clean = |line: &str| line.chars().filter(|c| !is_hidden(*c)).collect();
    lines.extend(json.lines().map(clean));
    let title = format!("event {} · {}", event.sequence, event.kind.name());
    MonitorOverlay { title, lines, scroll: 0 }
}

fn help_page() -> MonitorOverlay {
    let lines = [
        "q, Esc, Ctrl-C   quit",
        "Tab, Shift-Tab   next pane, pane before",
        "j, k, arrows     next row, row before",
        "PgDn, PgUp       a page on, a page back",
        "g, G             first row, last row",
        "/                show only events with a text",
        "Enter            show the row whole",
        "Ctrl-L           draw again",
        "?                this help",
        "",
        "The last row of the events follows what happens.",
        "Esc, Enter or q closes this page.",
    ];
    let lines = lines.map(str::to_owned).to_vec();
    MonitorOverlay { title: "keys".to_owned(), lines, scroll: 0 }
}

/// A time span in few letters: `now`, `12s`, `3m`, `4h`, `2d`.
pub(super) fn short_age(age: SignedDuration) -> String {
    let seconds = age.as_secs();
    match seconds {
        ..=1 => "now".to_owned(),
        2..60 => format!("{seconds}s"),
        60..3_600 => format!("{}m", seconds / 60),
        3_600..86_400 => format!("{}h", seconds / 3_600),
        _ => format!("{}d", seconds / 86_400),
    }
}
