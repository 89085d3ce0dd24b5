//! Who types a command: the person at a terminal, who is `human` as on the pages, or a program.

use std::io::{self, IsTerminal as _};

use commonbook::Commonbook;
use commonbook::base::error::Result;
use commonbook::model::agent::Agent;
use commonbook::model::caller::{Caller, CallerProof};
use serde_json::json;

use crate::calls::output::{count_text, print_note};
use crate::settings::config::Config;
use crate::system::atomic::StagedFile;

/// The file in the home that says that the person has got what was saved without a name.
const PERSON_FILE: &str = "person.json";

/// Whether a person is at this command. One of its streams may lead elsewhere: `commonbook list | less`. A
/// program that starts a command reads its output and what it reports.
fn at_terminal() -> bool {
    let streams =
        [io::stdin().is_terminal(), io::stdout().is_terminal(), io::stderr().is_terminal()];
    streams.into_iter().filter(|is_terminal| *is_terminal).count() >= 2
}

/// The caller of a command that gives no name: the person at a terminal, or of the script that says so in
/// `COMMONBOOK_PERSON`. Any other command without a terminal has no person's power.
pub(super) fn at_command_line(caller: Caller, config: &Config) -> Caller {
    if !caller.agent.is_anonymous() || caller.proof != CallerProof::Word {
        return caller;
    }
    match at_terminal() || config.person {
        true => Caller { agent: Agent::human(), ..caller },
        false => Caller { unattended: true, ..caller },
    }
}

/// The caller as the person whose additions are rules, if it both reads and types at a terminal; an unnamed
/// one otherwise.
pub(super) fn as_person(caller: Caller) -> Caller {
    let at_hand = io::stdin().is_terminal() && io::stdout().is_terminal();
    let is_person = caller.agent.is_anonymous() || caller.agent == Agent::human();
    match (is_person, at_hand) {
        (true, true) => Caller { agent: Agent::human(), ..caller },
        (true, false) => Caller { agent: Agent::anonymous(), ..caller },
        (false, _) => caller,
    }
}

/// Gives the person at a terminal what earlier commands saved without a name, once for each home.
pub(super) fn adopt_once(
    caller: &Caller,
    config: &Config,
    open: impl FnOnce() -> Result<Commonbook>,
) {
    if caller.agent != Agent::human() || config.settings_error.is_some() {
        return;
    }
    // The next command tries again.
    if let Err(error) = adopt(caller, config, open) {
        tracing::debug!(%error, "cannot adopt what was saved without a name");
    }
}

fn adopt(
    caller: &Caller,
    config: &Config,
    open: impl FnOnce() -> Result<Commonbook>,
) -> Result<()> {
    let mark = config.home()?.join(PERSON_FILE);
    if mark.exists() || !config.has_store()? {
        return Ok(());
    }
    let adopted = open()?.adopt_unnamed(caller)?;
    if adopted > 0 {
        let (memories, human) = (count_text(adopted, "memory", "memories"), Agent::human());
        print_note(&format!(
            "note: {memories} saved here without a name: you own them now, as `{human}`"
        ));
    }
    StagedFile::write(&mark, &format!("{}\n", json!({"adopted": adopted})))?.replace_target()
}
