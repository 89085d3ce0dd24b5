//! Sections of config.json about what runs without a call: backups, the judge of contradictions, digests, and the
//! question about what was learned.

use std::path::PathBuf;

use commonbook::base::error::{Error, Result};
use commonbook::base::{input, limits};
use commonbook::model::case::digest::MergeBotSettings;
use commonbook_embed::client::{EndpointAddress, EndpointPurpose};
use jiff::SignedDuration;
use schemars::JsonSchema;
use serde::Deserialize;

/// The path of the models that answer in a chat, below the base of their endpoint.
pub(crate) const CHAT_PATH: &str = "chat/completions";

/// Hours between two backups by default, and at most: a year.
const EVERY_HOURS: u32 = 24;
const EVERY_HOURS_MAX: u32 = 8_760;

/// Backups that stay by default, and at most.
const KEEP: u32 = 7;
const KEEP_MAX: u32 = 1_000;

/// The names of the settings of the judge of contradictions.
const JUDGE_ENDPOINT: EndpointPurpose = EndpointPurpose {
    path: CHAT_PATH,
    field: "endpoint",
    setting: "contradictions in config.json",
    example: "Write {\"endpoint\": \"http://HOST:PORT\", \"model\": \"NAME\"}, and the key, if there is \
              one, into COMMONBOOK_JUDGE_KEY.",
    key: "COMMONBOOK_JUDGE_KEY",
    otherwise: "the pairs stay open",
};

/// The names of the settings of the writer of digests.
pub(crate) const DIGEST_ENDPOINT: EndpointPurpose = EndpointPurpose {
    path: CHAT_PATH,
    field: "endpoint",
    setting: "digest in config.json",
    example: "Write {\"endpoint\": \"http://HOST:PORT\", \"model\": \"NAME\"}, and the key, if there is \
              one, into COMMONBOOK_DIGEST_KEY.",
    key: "COMMONBOOK_DIGEST_KEY",
    otherwise: "digests use the agents' own sentences",
};

/// The section `backup` of config.json.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BackupSettings {
    /// The folder of the backups, absolute and outside the home; nothing is backed up without it.
    folder: Option<PathBuf>,
    /// Hours between two backups; 24 by default.
    #[schemars(range(min = 1, max = EVERY_HOURS_MAX))]
    every_hours: Option<u32>,
    /// Backups that stay; 7 by default.
    #[schemars(range(min = 1, max = KEEP_MAX))]
    keep: Option<u32>,
}

impl BackupSettings {
    /// Succeeds if the folder is absolute and the numbers are in range.
    ///
    /// # Errors
    /// `invalid` with the field.
    pub(crate) fn check(&self) -> Result<()> {
        let is_set = self.every_hours.is_some() || self.keep.is_some();
        if self.folder.as_ref().map_or(is_set, |folder| !folder.is_absolute()) {
            return Err(Error::invalid("folder", "expected the absolute path of a folder"));
        }
        for (field, number, max) in
            [("every_hours", self.every_hours, EVERY_HOURS_MAX), ("keep", self.keep, KEEP_MAX)]
        {
            if number.is_some_and(|number| !(1..=max).contains(&number)) {
                let message =
                    format!("{} is out of range; expected 1 to {max}", number.unwrap_or_default());
                return Err(Error::invalid(field, message));
            }
        }
        Ok(())
    }

    /// The schedule; `None` without a folder.
    pub(crate) fn schedule(&self) -> Option<BackupSchedule> {
        Some(BackupSchedule {
            folder: self.folder.clone()?,
            every: SignedDuration::from_hours(self.every_hours.unwrap_or(EVERY_HOURS).into()),
            keep: self.keep.unwrap_or(KEEP) as usize,
        })
    }
}

/// When backups are written, where, and how many of them stay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BackupSchedule {
    /// The folder.
    pub(crate) folder: PathBuf,
    /// The time from one backup to the next.
    pub(crate) every: SignedDuration,
    /// The number of backups that stay.
    pub(crate) keep: usize,
}

/// The section `contradictions` of config.json: empty, or an endpoint with a model.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ContradictionSettings {
    /// The base URL of a server with OpenAI's `/v1/chat/completions`; without it nothing is asked. Its key is
    /// `COMMONBOOK_JUDGE_KEY`.
    endpoint: Option<String>,
    /// The model of the endpoint, which has to be named with it; there is none by default.
    model: Option<String>,
}

impl ContradictionSettings {
    /// Checks the settings.
    ///
    /// # Errors
    /// `invalid`, with the field.
    pub(crate) fn check(&self) -> Result<()> {
        self.address().map(drop)
    }

    /// The endpoint that these settings name, if any.
    ///
    /// # Errors
    /// `invalid`, with the field.
    pub(crate) fn address(&self) -> Result<Option<EndpointAddress>> {
        let Some(base) = &self.endpoint else {
            let without = "expected `endpoint` too".to_owned();
            return match self.model {
                Some(_) => Err(Error::invalid("model", without)),
                None => Ok(None),
            };
        };
        let model = self.model.as_deref().unwrap_or_default();
        Ok(Some(EndpointAddress::read(base, model, &JUDGE_ENDPOINT)?))
    }
}

/// The section `digest` of config.json: whether and how often digests run by themselves, and the
/// writer: a command, or an endpoint with a model.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct DigestSettings {
    /// Whether digests run by themselves; yes by default.
    automatic: Option<bool>,
    /// Memories of two or more agents on a case after which its digest runs; 20 by default.
    #[schemars(range(min = 1, max = limits::DIGEST_EVERY_MAX))]
    every: Option<u32>,
    /// The command of a shell that writes an entry; without it and without `endpoint` the entries are the agents' own
    /// sentences. Excludes `endpoint`.
    pub(crate) command: Option<String>,
    /// The base URL of a server with OpenAI's `/v1/chat/completions` that writes an entry; without it none is asked. Its
    /// key is `COMMONBOOK_DIGEST_KEY`.
    endpoint: Option<String>,
    /// The model of the endpoint, which has to be named with it; there is none by default.
    model: Option<String>,
}

impl DigestSettings {
    /// Checks the settings.
    ///
    /// # Errors
    /// `invalid`, with the field.
    pub(crate) fn check(&self) -> Result<()> {
        if let Some(every) = self.every {
            input::in_range("every", every, 1..=limits::DIGEST_EVERY_MAX)?;
        }
        self.address().map(drop)
    }

    /// When digests run by themselves.
    pub(crate) fn merge_bot(&self) -> MergeBotSettings {
        let default = MergeBotSettings::default();
        MergeBotSettings {
            automatic: self.automatic.unwrap_or(default.automatic),
            every: self.every.unwrap_or(default.every),
        }
    }

    /// The endpoint that these settings name, if any.
    ///
    /// # Errors
    /// `invalid`, with the field.
    pub(crate) fn address(&self) -> Result<Option<EndpointAddress>> {
        match (&self.command, &self.endpoint, &self.model) {
            (Some(command), None, None) if !command.trim().is_empty() => Ok(None),
            (None, None, None) => Ok(None),
            (None, Some(base), model) => {
                let model = model.as_deref().unwrap_or_default();
                Ok(Some(EndpointAddress::read(base, model, &DIGEST_ENDPOINT)?))
            }
            _ => Err(Error::invalid(
                "command",
                "expected either `command`, or `endpoint` with `model`",
            )),
        }
    }
}

/// The section `learning` of config.json: when an agent is asked what it learned.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct LearningSettings {
    /// Whether agents are asked.
    pub(crate) ask: bool,
    /// Tool calls that make a run long.
    #[schemars(range(min = 1, max = 10_000))]
    pub(crate) calls: u32,
    /// Minutes that make a run long.
    #[schemars(range(min = 1, max = 1_440))]
    pub(crate) minutes: u32,
}

impl Default for LearningSettings {
    fn default() -> Self {
        Self { ask: true, calls: 15, minutes: 5 }
    }
}

impl LearningSettings {
    /// Checks the settings.
    ///
    /// # Errors
    /// `invalid`, with the field.
    pub(crate) fn check(&self) -> Result<()> {
        input::in_range("calls", self.calls, 1..=10_000)?;
        input::in_range("minutes", self.minutes, 1..=1_440).map(drop)
    }
}
