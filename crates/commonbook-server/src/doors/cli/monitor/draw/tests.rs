//! Pictures of the panes, as golden files; keys; texts that try to control the terminal.

use commonbook::model::caller::{Caller, EntryPoint};
use commonbook::model::event::Event;
use jiff::tz::TimeZone;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use serde_json::json;

use super::super::state::{MonitorInput, MonitorState, ShownEvent, WorkRow};
use super::*;

const PLAIN: MonitorTheme = MonitorTheme { has_colors: false };

fn event(sequence: u64, minute: u64, kind: &str, actor: &str, words: &str) -> MonitorInput {
    let event: Event = serde_json::from_value(json!({
        "sequence": sequence, "workspace": "payments", "at": format!("2026-11-23T12:{minute:02}:05Z"),
        "kind": kind, "actor": actor, "device": "jarvis", "door": "mcp",
        "subject": "mem_01m7y9c4dpeqkspxh7a865d434", "importance": "normal",
    }))
    .unwrap();
    MonitorInput::Event(Box::new(ShownEvent { event, words: words.to_owned() }))
}

fn agent(name: &str, minute: u64) -> AgentRecord {
    serde_json::from_value(json!({
        "agent": name, "first_seen": "2026-11-23T08:00:00Z",
        "last_seen": format!("2026-11-23T12:{minute:02}:30Z"), "device": "jarvis",
        "client": "editor/2", "memory_count": 3,
    }))
    .unwrap()
}

fn press(state: &mut MonitorState, keys: &[KeyCode]) {
    for key in keys {
        let input = MonitorInput::Key(KeyEvent::new(*key, KeyModifiers::NONE));
        assert!(state.update(input).is_continue(), "{key:?}");
    }
}

/// A workspace in which something happens.
fn busy() -> MonitorState {
    let caller = Caller::new(None, "payments".parse().unwrap(), EntryPoint::Cli);
    let now = "2026-11-23T12:30:40Z".parse().unwrap();
    let mut state = MonitorState::new(&caller, now, TimeZone::UTC);
    let row = |kind, handle: &str, words: &str| WorkRow {
        kind,
        handle: handle.to_owned(),
        words: words.to_owned(),
    };
    let said = "claude-code saved: Retries double after each failure, five at most";
    let inputs = [
        event(1, 10, "session.started", "claude-code", "claude-code started a session"),
        event(2, 12, "memory.saved", "claude-code", said),
        event(3, 12, "memory.saved", "codex", "codex saved: The gateway answers 429 at noon"),
        event(4, 27, "handoff.created", "codex", "codex → gemini-cli: Write the release notes"),
        event(5, 30, "contradiction.found", "system", "system found a contradiction: 5, but 7"),
        event(6, 30, "memory.updated", "codex", "codex updated (text): The limit is 7"),
        MonitorInput::Agents(vec![agent("claude-code", 12), agent("codex", 30)]),
        MonitorInput::Work(vec![
            row("handoff", "h7a865d4", "codex → gemini-cli: Write the release notes"),
            row("contradiction", "k2b765d4", "5, but 7"),
        ]),
    ];
    for input in inputs {
        assert!(state.update(input).is_continue());
    }
    state
}

fn picture(state: &mut MonitorState, columns: u16, lines: u16) -> TestBackend {
    let mut terminal = Terminal::new(TestBackend::new(columns, lines)).unwrap();
    terminal.draw(|frame| draw(frame, state, PLAIN)).unwrap();
    terminal.backend().clone()
}

#[test]
fn all_panes_on_a_usual_terminal() {
    insta::assert_snapshot!(picture(&mut busy(), 80, 24));
}

#[test]
fn the_active_pane_on_a_small_terminal() {
    let mut state = busy();
    insta::assert_snapshot!("small_events", picture(&mut state, 40, 12));
    press(&mut state, &[KeyCode::Tab]);
    insta::assert_snapshot!("small_agents", picture(&mut state, 40, 12));
    press(&mut state, &[KeyCode::Tab]);
    insta::assert_snapshot!("small_work", picture(&mut state, 40, 12));
}

#[test]
fn enter_shows_the_event_whole_and_a_question_mark_the_keys() {
    let mut state = busy();
    press(&mut state, &[KeyCode::Up, KeyCode::Char('k'), KeyCode::Enter]);
    insta::assert_snapshot!("whole_event", picture(&mut state, 80, 24));
    press(&mut state, &[KeyCode::Esc, KeyCode::Char('?')]);
    insta::assert_snapshot!("help", picture(&mut state, 40, 12));
}

#[test]
fn the_filter_shows_what_has_its_text() {
    let mut state = busy();
    press(&mut state, &[KeyCode::Char('/')]);
    press(&mut state, &"GATEway".chars().map(KeyCode::Char).collect::<Vec<_>>());
    insta::assert_snapshot!("filter", picture(&mut state, 80, 24));
    press(&mut state, &[KeyCode::Enter]);
    assert_eq!(state.shown_events().len(), 1);
    press(&mut state, &[KeyCode::Char('/'), KeyCode::Esc]);
    assert_eq!(state.shown_events().len(), 6);
}

#[test]
fn a_lost_connection_is_noted_until_the_server_answers() {
    let mut state = busy();
    let foot = |state: &mut MonitorState| {
        let picture = picture(state, 80, 24).to_string();
        picture.lines().last().unwrap().to_owned()
    };
    let note = MonitorInput::Note("the event stream ended; connecting again".to_owned());
    assert!(state.update(note).is_continue());
    assert!(foot(&mut state).contains("connecting again"));
    assert!(state.update(MonitorInput::Agents(vec![agent("codex", 30)])).is_continue());
    assert!(foot(&mut state).contains("q quit"));
}

#[test]
fn a_chosen_row_stays_chosen_and_the_last_one_follows() {
    let mut state = busy();
    let chosen = |state: &MonitorState| {
        state.shown_events()[state.chosen(MonitorPane::Events)].event.sequence
    };
    assert_eq!((chosen(&state), state.is_following()), (6, true));
    press(&mut state, &[KeyCode::Up, KeyCode::Up]);
    assert!(state.update(event(7, 30, "memory.saved", "codex", "codex saved: more")).is_continue());
    assert_eq!((chosen(&state), state.is_following()), (4, false));
    press(&mut state, &[KeyCode::Char('G')]);
    assert_eq!((chosen(&state), state.is_following()), (7, true));
    press(&mut state, &[KeyCode::Char('g')]);
    assert_eq!(chosen(&state), 1);
    press(&mut state, &[KeyCode::PageDown, KeyCode::BackTab, KeyCode::Char('j'), KeyCode::Down]);
    assert_eq!((state.pane, state.chosen(MonitorPane::Work)), (MonitorPane::Work, 1));
}

#[test]
fn each_key_that_quits_does() {
    let control = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
    let plain = |key| KeyEvent::new(key, KeyModifiers::NONE);
    for key in [control, plain(KeyCode::Esc), plain(KeyCode::Char('q'))] {
        assert!(busy().update(MonitorInput::Key(key)).is_break(), "{key:?}");
    }
    let mut typing = busy();
    press(&mut typing, &[KeyCode::Char('/'), KeyCode::Char('q')]);
    assert_eq!(typing.filter, "q");
    assert!(typing.update(MonitorInput::Key(control)).is_break());
}

#[test]
fn no_text_of_a_memory_controls_the_terminal() {
    let mut state = busy();
    let bad = "codex saved: \u{1b}[2J\u{1b}]0;owned\u{7}\u{9b}31m\u{202e}tea\r\n\u{0}";
    assert!(state.update(event(7, 30, "memory.saved", "codex", bad)).is_continue());
    let row = WorkRow { kind: "handoff", handle: "x".to_owned(), words: bad.to_owned() };
    assert!(state.update(MonitorInput::Work(vec![row])).is_continue());
    assert!(state.update(MonitorInput::Note(bad.to_owned())).is_continue());
    let mut odd = agent("codex", 30);
    odd.client = Some(bad.to_owned());
    assert!(state.update(MonitorInput::Agents(vec![odd])).is_continue());
    let check = |state: &mut MonitorState| {
        let backend = picture(state, 80, 24);
        for cell in backend.buffer().content() {
            let odd = |c: char| c.is_control() || c == '\u{202e}';
            assert!(!cell.symbol().contains(odd), "{:?}", cell.symbol());
        }
    };
    for _ in MonitorPane::ALL {
        check(&mut state);
        press(&mut state, &[KeyCode::Enter]);
        check(&mut state);
        press(&mut state, &[KeyCode::Esc, KeyCode::Tab]);
    }
}

#[test]
fn without_colours_no_cell_has_one() {
    let drawn = |has_colors| {
        let mut terminal = Terminal::new(TestBackend::new(80, 24)).unwrap();
        let theme = MonitorTheme { has_colors };
        terminal.draw(|frame| draw(frame, &mut busy(), theme)).unwrap();
        let cells = terminal.backend().buffer().content().to_vec();
        cells.iter().any(|cell| cell.fg != Color::Reset || cell.bg != Color::Reset)
    };
    assert_eq!((drawn(false), drawn(true)), (false, true));
}
