//! The panes on a real terminal: takes it, reads its keys, draws, and gives it back, whatever happens.

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

use anstream::ColorChoice;
use commonbook::base::clock::{Clock as _, SystemClock};
use commonbook::base::error::{Error, ErrorKind, Result};
use commonbook::base::thread;
use commonbook::model::caller::Caller;
use jiff::tz::TimeZone;
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyEventKind};

use super::draw::{MonitorTheme, draw};
use super::state::{MonitorInput, MonitorState};

/// The time between two pictures while nothing happens: ages and the minute go on.
const TICK: Duration = Duration::from_secs(1);

/// The terminal while the panes have it. Dropping it gives the terminal back; so does a panic.
struct PaneTerminal(DefaultTerminal);

impl PaneTerminal {
    fn take() -> io::Result<Self> {
        ratatui::try_init().map(Self)
    }
}

impl Drop for PaneTerminal {
    fn drop(&mut self) {
        ratatui::restore();
    }
}

/// Shows what comes in until the person quits. `sender` leads to `inputs`: the keys come that way too.
///
/// # Errors
/// `unavailable` if the terminal cannot be used, or the machine has no thread left.
pub(super) fn show(
    caller: &Caller,
    sender: Sender<MonitorInput>,
    inputs: &Receiver<MonitorInput>,
) -> Result<()> {
    let choice = anstream::AutoStream::choice(&io::stdout());
    let theme = MonitorTheme { has_colors: choice != ColorChoice::Never };
    let mut state = MonitorState::new(caller, SystemClock.now(), TimeZone::system());
    let mut terminal = PaneTerminal::take().map_err(unusable_terminal)?;
    // The thread ends with the program: a read cannot be interrupted.
    thread::start(move || read_keys(&sender))?;
    loop {
        terminal.0.draw(|frame| draw(frame, &mut state, theme)).map_err(unusable_terminal)?;
        let first = match inputs.recv_timeout(TICK) {
            Ok(input) => Some(input),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        };
        let now = MonitorInput::Now(SystemClock.now());
        for input in first.into_iter().chain(inputs.try_iter()).chain([now]) {
            if input.redraws() {
                terminal.0.clear().map_err(unusable_terminal)?;
            }
            if state.update(input).is_break() {
                return Ok(());
            }
        }
    }
}

/// Sends each key. A terminal that is gone quits.
fn read_keys(inputs: &Sender<MonitorInput>) {
    loop {
        let input = match event::read() {
            Ok(Event::Key(key)) if key.kind != KeyEventKind::Release => MonitorInput::Key(key),
            // The next picture has the new size.
            Ok(Event::Resize(..)) => MonitorInput::Resize,
            Ok(_) => continue,
            Err(_) => MonitorInput::Quit,
        };
        let ends = matches!(input, MonitorInput::Quit);
        if inputs.send(input).is_err() || ends {
            return;
        }
    }
}

fn unusable_terminal(error: io::Error) -> Error {
    Error::new(ErrorKind::Unavailable, format!("the terminal cannot be used: {error}"))
        .hint("Call it with --plain.")
        .with_cause(error)
}
