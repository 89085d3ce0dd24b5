//! How often each agent may call over HTTP: so many reads, and so many writes, a minute.

use std::net::IpAddr;
use std::num::NonZeroU32;
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock};

use commonbook::base::error::{Error, Result};
use commonbook::base::limits;
use commonbook::model::caller::{Caller, CallerProof};
use governor::clock::{Clock, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};

/// The name of the setting, in errors and documents.
const RATE_SETTING: &str = "COMMONBOOK_RATE";

/// How often each agent may call: what an operator asks for, or the defaults.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct RateSetting {
    /// Reads a minute; as many as one likes when there is none.
    reads: Option<NonZeroU32>,
    /// Writes a minute; as many as one likes when there is none.
    writes: Option<NonZeroU32>,
}

impl RateSetting {
    /// What is asked for, else the default. Where only this machine can call there is none: agents
    /// without tokens name themselves, so it would hold nobody back but the honest.
    ///
    /// # Errors
    /// `invalid` for what is no such setting.
    pub(crate) fn of(asked: Option<&str>, only_this_machine: bool) -> Result<Self> {
        match asked {
            Some(asked) => asked.parse(),
            None if only_this_machine => Ok(Self::default()),
            None => Ok(Self {
                reads: NonZeroU32::new(limits::READS_A_MINUTE),
                writes: NonZeroU32::new(limits::WRITES_A_MINUTE),
            }),
        }
    }
}

impl FromStr for RateSetting {
    type Err = Error;

    /// `off`, or `reads=6000,writes=1200`; what is left out has no limit.
    fn from_str(text: &str) -> Result<Self> {
        let mut setting = Self::default();
        if text.trim() == "off" {
            return Ok(setting);
        }
        for part in text.split(',') {
            let (name, number) = part.split_once('=').unwrap_or((part, ""));
            let number = number.trim().parse().ok();
            match (name.trim(), number) {
                ("reads", Some(_)) if setting.reads.is_none() => setting.reads = number,
                ("writes", Some(_)) if setting.writes.is_none() => setting.writes = number,
                _ => {
                    return Err(Error::invalid(
                        RATE_SETTING,
                        format!("{text:?} is no such setting"),
                    )
                    .hint("Write off, or calls a minute: reads=6000,writes=1200."));
                }
            }
        }
        Ok(setting)
    }
}

/// Counts the calls of every agent, each by itself.
#[derive(Debug, Default)]
pub(crate) struct AgentRateLimits {
    reads: Option<KeyedRateLimit>,
    writes: Option<KeyedRateLimit>,
}

impl AgentRateLimits {
    /// Nobody has called yet.
    pub(crate) fn new(setting: RateSetting) -> Self {
        let rate = |a_minute: Option<NonZeroU32>| a_minute.map(KeyedRateLimit::new);
        Self { reads: rate(setting.reads), writes: rate(setting.writes) }
    }

    /// Counts a call of this caller: of its token, which its children have in common, else of the
    /// name that it gives itself.
    ///
    /// # Errors
    /// `rate_limited`, with the seconds to wait, for one too many.
    pub(crate) fn admit(&self, caller: &Caller, writes: bool) -> Result<()> {
        let (rate, what) = if writes { (&self.writes, "writes") } else { (&self.reads, "reads") };
        let Some(rate) = rate else { return Ok(()) };
        let name = match &caller.proof {
            CallerProof::Token { id, .. } => id.to_string(),
            CallerProof::Word => caller.agent.to_string(),
        };
        rate.admit(&name).map_err(|seconds| {
            let message =
                format!("{what}: at most {} a minute, and these were more", rate.a_minute);
            Error::rate_limited(message, seconds)
        })
    }
}

/// Counts the tokens that are none, by the peer that shows them. A right one is taken all the same:
/// guessing is hopeless, and is to be neither cheap nor unseen.
#[derive(Debug)]
pub(crate) struct WrongTokens {
    rate: KeyedRateLimit,
    total: AtomicU64,
}

impl Default for WrongTokens {
    fn default() -> Self {
        let a_minute = NonZeroU32::new(limits::WRONG_TOKENS_A_MINUTE).unwrap_or(NonZeroU32::MIN);
        Self { rate: KeyedRateLimit::new(a_minute), total: AtomicU64::new(0) }
    }
}

impl WrongTokens {
    /// Counts a wrong token of this peer, and tells the log.
    ///
    /// # Errors
    /// `rate_limited`, with the seconds to wait, for one too many within a minute.
    pub(crate) fn count(&self, peer: IpAddr) -> Result<()> {
        let total = self.total.fetch_add(1, Ordering::Relaxed) + 1;
        let counted = self.rate.admit(&peer.to_string());
        match counted {
            Ok(()) => tracing::warn!(%peer, total, "a wrong token was shown"),
            Err(_) => tracing::debug!(%peer, total, "a wrong token was shown, one too many"),
        }
        counted.map_err(|seconds| {
            let most = self.rate.a_minute;
            let message = format!("wrong tokens: at most {most} a minute, and these were more");
            Error::rate_limited(message, seconds)
                .hint("Ask the operator of the server for a token (`commonbook token create`).")
        })
    }
}

/// So many calls a minute for each name: all at once if one likes, then one by one as they come back.
#[derive(Debug)]
struct KeyedRateLimit {
    a_minute: NonZeroU32,
    clock: DefaultClock,
    names: RwLock<DefaultKeyedRateLimiter<String>>,
}

impl KeyedRateLimit {
    fn new(a_minute: NonZeroU32) -> Self {
        let names = RwLock::new(RateLimiter::keyed(Quota::per_minute(a_minute)));
        Self { a_minute, clock: DefaultClock::default(), names }
    }

    /// Counts a call; else answers the seconds to wait.
    fn admit(&self, name: &str) -> Result<(), NonZeroU32> {
        let names = self.names.read().unwrap_or_else(PoisonError::into_inner);
        let admitted = names.check_key(&name.to_owned());
        let many = names.len() > limits::RATE_NAMES;
        drop(names);
        if many {
            self.forget();
        }
        admitted.map_err(|refused| {
            let wait = refused.wait_time_from(self.clock.now());
            let seconds = u32::try_from(wait.as_millis().div_ceil(1000)).unwrap_or(u32::MAX);
            NonZeroU32::new(seconds).unwrap_or(NonZeroU32::MIN)
        })
    }

    /// Forgets the names that have their whole allowance again; and all of them when half of them
    /// have not. Who calls by so many names is not held back by a limit for each.
    fn forget(&self) {
        let mut names = self.names.write().unwrap_or_else(PoisonError::into_inner);
        names.retain_recent();
        if names.len() > limits::RATE_NAMES / 2 {
            *names = RateLimiter::keyed(Quota::per_minute(self.a_minute));
        }
        names.shrink_to_fit();
    }
}

#[cfg(test)]
mod tests {
    use commonbook::base::clock::Timestamp;
    use commonbook::base::error::ErrorKind;
    use commonbook::base::id::{CountingIds, Id};
    use commonbook::model::caller::EntryPoint;
    use commonbook::model::workspace::Workspace;

    use super::*;

    fn caller(name: Option<&str>) -> Caller {
        let name = name.map(|name| name.parse().expect("a name"));
        Caller::new(name, Workspace::fallback(), EntryPoint::Rest)
    }

    #[test]
    fn a_setting_is_read_or_refused() {
        let of = |reads, writes| RateSetting {
            reads: NonZeroU32::new(reads),
            writes: NonZeroU32::new(writes),
        };
        let table = [
            ("off", Some(of(0, 0))),
            ("reads=10,writes=5", Some(of(10, 5))),
            (" writes = 5 , reads = 10 ", Some(of(10, 5))),
            ("writes=5", Some(of(0, 5))),
            ("reads=0", None),
            ("reads=-1", None),
            ("reads=1,reads=2", None),
            ("10", None),
            ("reads=10;writes=5", None),
            ("reads=99999999999", None),
        ];
        for (text, wanted) in table {
            assert_eq!(text.parse::<RateSetting>().ok(), wanted, "{text:?}");
        }
    }

    #[test]
    fn only_an_address_that_others_reach_is_limited_unasked() {
        assert_eq!(RateSetting::of(None, true).ok(), Some(RateSetting::default()));
        let open = RateSetting::of(None, false).expect("the default");
        assert_eq!(open.writes.map(NonZeroU32::get), Some(limits::WRITES_A_MINUTE));
        assert_eq!(RateSetting::of(Some("off"), false).ok(), Some(RateSetting::default()));
    }

    #[test]
    fn each_agent_has_its_own_reads_and_writes() {
        let rates = AgentRateLimits::new("reads=2,writes=1".parse().expect("a setting"));
        let call = |name: &str, writes| rates.admit(&caller(Some(name)), writes);
        assert!(call("ann", true).is_ok() && call("bob", true).is_ok());
        assert!(call("ann", false).is_ok() && call("ann", false).is_ok());
        for writes in [true, false] {
            let error = call("ann", writes).expect_err("one too many");
            assert_eq!(error.kind, ErrorKind::RateLimited);
            let most = if writes { 60 } else { 30 };
            assert!(error.retry_after.is_some_and(|seconds| seconds.get() <= most));
        }
        let anonymous = caller(None);
        assert!(rates.admit(&anonymous, true).is_ok() && rates.admit(&anonymous, true).is_err());
    }

    #[test]
    fn the_children_of_a_token_have_its_allowance_in_common() {
        let rates = AgentRateLimits::new("writes=2".parse().expect("a setting"));
        let id = Id::new(&CountingIds::default(), Timestamp::UNIX_EPOCH);
        let proof = CallerProof::Token { id, scopes: Vec::new(), bound: false, asserted: true };
        let call = |name| rates.admit(&Caller { proof: proof.clone(), ..caller(Some(name)) }, true);
        assert!(call("ann").is_ok() && call("ann/one").is_ok());
        assert!(call("ann/two").is_err());
        assert!(rates.admit(&caller(Some("ann")), true).is_ok(), "who shows none is another");
    }

    #[test]
    fn wrong_tokens_count_for_the_peer_that_shows_them() {
        let wrong = WrongTokens::default();
        let (one, other) = (IpAddr::from([192, 0, 2, 7]), IpAddr::from([192, 0, 2, 8]));
        for _ in 0..limits::WRONG_TOKENS_A_MINUTE {
            assert!(wrong.count(one).is_ok());
        }
        let error = wrong.count(one).expect_err("one too many");
        assert_eq!(error.kind, ErrorKind::RateLimited);
        assert!(error.retry_after.is_some_and(|seconds| seconds.get() <= 6));
        assert!(wrong.count(other).is_ok());
    }

    #[test]
    fn names_are_forgotten_before_they_are_too_many() {
        let rate = KeyedRateLimit::new(NonZeroU32::MIN);
        for number in 0..limits::RATE_NAMES * 3 {
            assert!(rate.admit(&number.to_string()).is_ok());
            assert!(rate.names.read().expect("unbroken").len() <= limits::RATE_NAMES);
        }
    }
}
