//! Rate limits of agents over HTTP: reads and writes a minute.

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

/// The rate limit of each agent, from the setting or the defaults.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct RateSetting {
    /// Reads a minute; `None` for no limit.
    reads: Option<NonZeroU32>,
    /// Writes a minute; `None` for no limit.
    writes: Option<NonZeroU32>,
}

impl RateSetting {
    /// The setting, else the default. On a loopback address the default is no limit: agents without
    /// tokens choose their names, so that a limit would bind only honest ones.
    ///
    /// # Errors
    /// `invalid` if the setting is malformed.
    pub(crate) fn of(setting: Option<&str>, only_this_machine: bool) -> Result<Self> {
        match setting {
            Some(setting) => setting.parse(),
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

    /// Parses `off` or `reads=6000,writes=1200`; a missing part has no limit.
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
                        "expected `off`, or numbers of `reads` and `writes`",
                    )
                    .hint("Write `off`, or calls a minute: `reads=6000,writes=1200`."));
                }
            }
        }
        Ok(setting)
    }
}

/// Counts the calls of each agent.
#[derive(Debug, Default)]
pub(crate) struct AgentRateLimits {
    reads: Option<KeyedRateLimit>,
    writes: Option<KeyedRateLimit>,
}

impl AgentRateLimits {
    /// Limits without calls so far.
    pub(crate) fn new(setting: RateSetting) -> Self {
        let rate = |a_minute: Option<NonZeroU32>| a_minute.map(KeyedRateLimit::new);
        Self { reads: rate(setting.reads), writes: rate(setting.writes) }
    }

    /// Counts a call of this caller, by its token, which its children share, else by its name.
    ///
    /// # Errors
    /// `rate_limited`, with the seconds to wait, if the caller exceeds its limit.
    pub(crate) fn admit(&self, caller: &Caller, writes: bool) -> Result<()> {
        let (rate, calls) = if writes { (&self.writes, "writes") } else { (&self.reads, "reads") };
        let Some(rate) = rate else { return Ok(()) };
        let name = match &caller.proof {
            CallerProof::Token { id, .. } => id.to_string(),
            CallerProof::Word => caller.agent.to_string(),
        };
        rate.admit(&name).map_err(|seconds| {
            let message = format!("the limit of {} {calls} a minute is exceeded", rate.a_minute);
            Error::rate_limited(message, seconds)
        })
    }
}

/// Counts wrong tokens by the peer that sends them. A right token still passes: the limit makes guessing
/// slow and visible, not impossible to recover from.
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
    /// Counts and logs a wrong token of this peer.
    ///
    /// # Errors
    /// `rate_limited`, with the seconds to wait, if the peer exceeds its limit.
    pub(crate) fn count(&self, peer: IpAddr) -> Result<()> {
        let total = self.total.fetch_add(1, Ordering::Relaxed) + 1;
        let counted = self.rate.admit(&peer.to_string());
        match counted {
            Ok(()) => tracing::warn!(%peer, total, "a peer sent a wrong token"),
            Err(_) => {
                tracing::debug!(%peer, total, "a peer sent a wrong token and exceeds its limit");
            }
        }
        counted.map_err(|seconds| {
            let most = self.rate.a_minute;
            let message = format!("the limit of {most} wrong tokens a minute is exceeded");
            Error::rate_limited(message, seconds).hint(
                "Ask the operator of the server for a token: `commonbook token create AGENT`.",
            )
        })
    }
}

/// A number of calls a minute for each name: they can come at once, and refill one by one.
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

    /// Counts a call, or returns the seconds to wait.
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

    /// Drops the names with a full allowance; drops all names if more than half are left: a limit for
    /// each name cannot stop a caller that uses that many.
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
    fn only_an_exposed_address_has_a_limit_by_default() {
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
            let error = call("ann", writes).expect_err("the limit is exceeded");
            assert_eq!(error.kind, ErrorKind::RateLimited);
            let most = if writes { 60 } else { 30 };
            assert!(error.retry_after.is_some_and(|seconds| seconds.get() <= most));
        }
        let anonymous = caller(None);
        assert!(rates.admit(&anonymous, true).is_ok() && rates.admit(&anonymous, true).is_err());
    }

    #[test]
    fn the_children_of_a_token_share_its_allowance() {
        let rates = AgentRateLimits::new("writes=2".parse().expect("a setting"));
        let id = Id::new(&CountingIds::default(), Timestamp::UNIX_EPOCH);
        let proof = CallerProof::Token { id, scopes: Vec::new(), bound: false, asserted: true };
        let call = |name| rates.admit(&Caller { proof: proof.clone(), ..caller(Some(name)) }, true);
        assert!(call("ann").is_ok() && call("ann/one").is_ok());
        assert!(call("ann/two").is_err());
        assert!(
            rates.admit(&caller(Some("ann")), true).is_ok(),
            "a caller without the token has its own allowance"
        );
    }

    #[test]
    fn wrong_tokens_count_for_the_peer_that_sends_them() {
        let wrong = WrongTokens::default();
        let (first, second) = (IpAddr::from([192, 0, 2, 7]), IpAddr::from([192, 0, 2, 8]));
        for _ in 0..limits::WRONG_TOKENS_A_MINUTE {
            assert!(wrong.count(first).is_ok());
        }
        let error = wrong.count(first).expect_err("the limit is exceeded");
        assert_eq!(error.kind, ErrorKind::RateLimited);
        assert!(error.retry_after.is_some_and(|seconds| seconds.get() <= 6));
        assert!(wrong.count(second).is_ok());
    }

    #[test]
    fn the_number_of_names_stays_bounded() {
        let rate = KeyedRateLimit::new(NonZeroU32::MIN);
        for number in 0..limits::RATE_NAMES * 3 {
            assert!(rate.admit(&number.to_string()).is_ok());
            assert!(rate.names.read().expect("unbroken").len() <= limits::RATE_NAMES);
        }
    }
}
