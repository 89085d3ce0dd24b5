//! The items that an agent added to standing memory files: a purge drops them, from earlier versions too.

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::base::error::Result;
use crate::model::bulk::{BulkSelection, PurgeTrace, TraceFate, TraceKind};
use crate::model::caller::Caller;
use crate::model::standing::{StandingAction, StandingDocument};
use crate::verbs::Commonbook;
use crate::verbs::standing::StandingTarget;
use crate::verbs::standing::versions::StandingCause;

/// The end of a time without one.
const LAST_DAY: &str = "9999-12-31";

impl Commonbook {
    /// Drops the items that carry the mark of the caller or of an agent below it, with a day of the
    /// selection, from the files of the home and of the caller's project and from their versions.
    pub(super) fn purge_standing_items(
        &self,
        caller: &Caller,
        selection: &BulkSelection,
        dry_run: bool,
        now: Timestamp,
    ) -> Result<Vec<PurgeTrace>> {
        let day = |at: Timestamp| at.to_zoned(TimeZone::UTC).date().to_string();
        let (since, until) = selection.bounds();
        let first = since.map(day).unwrap_or_default();
        let last = until.map_or_else(|| LAST_DAY.to_owned(), day);
        let drop_items = |document: &mut StandingDocument| {
            document.drop_items_of(&caller.agent, first.as_str()..=last.as_str()).len()
        };
        let may_write = self.may_write_standing(caller);
        let mut traces = Vec::new();
        for target in self.all_standing_targets(caller)? {
            let found = match target.text()? {
                Some(text) => drop_items(&mut StandingDocument::parse(&text)),
                None => 0,
            };
            let mut trace = PurgeTrace {
                kind: TraceKind::Standing,
                id: target.path.display().to_string(),
                fate: TraceFate::Removed,
                remains: None,
            };
            if let Err(error) = &may_write
                && found > 0
            {
                trace.fate = TraceFate::Stays;
                trace.remains = Some(error.message.clone());
                traces.push(trace);
                continue;
            }
            if !dry_run && found > 0 {
                let action = StandingAction::Removed;
                let cause = StandingCause { by: Some(caller.agent.clone()), action, at: now };
                self.change_standing(&target, &cause, |before| {
                    let mut document = before.unwrap_or_else(|| StandingDocument::parse(""));
                    drop_items(&mut document);
                    Ok((document, ()))
                })?;
            }
            let of_versions = match may_write.is_ok() {
                true => self.drop_version_items(&target, dry_run, drop_items)?,
                false => 0,
            };
            if found > 0 || of_versions > 0 {
                traces.push(trace);
            }
        }
        Ok(traces)
    }

    /// Drops items from the versions of a file; returns how many of these held some.
    fn drop_version_items(
        &self,
        target: &StandingTarget,
        dry_run: bool,
        drop_items: impl Fn(&mut StandingDocument) -> usize,
    ) -> Result<usize> {
        let key = &target.key;
        let texts = self.store.read(|tx| {
            let versions = tx.standing_versions(key, u32::MAX)?.into_iter();
            let texts = versions.map(|version| {
                Ok((version.version, tx.standing_text(key, version.version)?.unwrap_or_default()))
            });
            texts.collect::<Result<Vec<(u64, String)>>>()
        })?;
        let cleaned = texts.into_iter().filter_map(|(version, text)| {
            let mut document = StandingDocument::parse(&text);
            (drop_items(&mut document) > 0).then(|| (version, document.render()))
        });
        let cleaned: Vec<(u64, String)> = cleaned.collect();
        let (key, count) = (key.clone(), cleaned.len());
        if dry_run || count == 0 {
            return Ok(count);
        }
        self.store.write(move |tx| {
            for (version, text) in &cleaned {
                tx.replace_standing_text(&key, *version, text)?;
            }
            Ok(())
        })?;
        Ok(count)
    }
}
