//! Visibility: permission and filters are applied before anything is counted.

use rustc_hash::FxHashSet;

use super::scratch::{ScratchGuard, ScratchPool};
use crate::index::facts::{LengthStatistics, MemoryCatalog, MemoryClass, MemoryNumber};
use crate::model::access::Sight;
use crate::model::search::SearchFilter;
use crate::model::workspace::Workspace;

/// The number of an unknown session, case or topic: looking up an unknown name takes as long as one
/// that only others use.
const NO_NUMBER: u32 = u32::MAX;

/// Decides which memories exist for a question: those that the caller may see and that pass the
/// filters.
pub(super) struct VisibilityFilter<'s> {
    catalog: &'s MemoryCatalog,
    within: &'s SearchFilter,
    sight: &'s Sight,
    /// The caller's audiences, with the numbers of their workspaces, sorted.
    pub(super) audiences: Vec<(u32, u32)>,
    /// The admitted classes.
    classes: ScratchGuard<'s, bool>,
    /// The numbers of the requested session in the workspaces.
    sessions: Option<Vec<u32>>,
    /// The numbers of the requested case in the workspaces.
    cases: Option<Vec<u32>>,
    /// The numbers of the requested topics.
    topics: Vec<u32>,
    fits: Option<PhraseFilter>,
    pub(super) sums: LengthStatistics,
    /// Whether all conditions are decided per class.
    plain: bool,
}

/// The memories that contain every phrase of a question and nothing that it excludes.
#[derive(Debug, Default)]
pub(super) struct PhraseFilter {
    /// The memories that have every phrase; `None` without phrases.
    wanted: Option<FxHashSet<MemoryNumber>>,
    excluded: FxHashSet<MemoryNumber>,
}

impl PhraseFilter {
    /// Restricts the memories to these.
    pub(super) fn restrict(&mut self, having: FxHashSet<MemoryNumber>) {
        self.wanted = Some(match self.wanted.take() {
            Some(mut wanted) => {
                wanted.retain(|number| having.contains(number));
                wanted
            }
            None => having,
        });
    }

    /// Excludes these.
    pub(super) fn exclude(&mut self, having: FxHashSet<MemoryNumber>) {
        self.excluded.extend(having);
    }

    fn contains(&self, number: MemoryNumber) -> bool {
        self.wanted.as_ref().is_none_or(|wanted| wanted.contains(&number))
            && !self.excluded.contains(&number)
    }
}

impl<'s> VisibilityFilter<'s> {
    pub(super) fn of(
        catalog: &'s MemoryCatalog,
        scratch: &'s ScratchPool<bool>,
        sight: &'s Sight,
        within: &'s SearchFilter,
    ) -> Self {
        let admits = |class: &MemoryClass| {
            let wanted = |requested: &Option<String>, value: &str| {
                requested.as_deref().is_none_or(|requested| requested == value)
            };
            sight.can_see(&class.visibility)
                && (!within.of_user
                    || class.visibility.user_id.is_none()
                    || class.visibility.user_id == sight.user)
                && wanted(&within.owner, class.visibility.owner.as_str())
                && wanted(&within.memory_type, &class.memory_type)
                && within.trust.is_none_or(|trust| class.visibility.trust == trust)
                && within.importance.is_none_or(|min| class.importance >= min)
                // What is archived and superseded, as a merged duplicate, is found as archived.
                && (within.superseded
                    || within.at.is_some()
                    || !class.superseded
                    || (within.archived && class.archived))
                && (within.archived || !class.deleted)
                && (within.archived || within.at.is_some() || !class.archived)
        };
        let audiences = catalog.admitted(sight);
        let (mut classes, mut sums) =
            (scratch.take(catalog.classes.len()), LengthStatistics::default());
        for (_, audience) in &audiences {
            for class in catalog.classes.of_audience(*audience) {
                if admits(catalog.classes.class(*class)) {
                    classes.change(*class, |admitted| *admitted = true);
                    sums.add(catalog.classes.sums(*class));
                }
            }
        }
        let numbers = |name: &str| -> Vec<u32> {
            let number = |workspace: &Workspace| {
                catalog.session(workspace.as_str(), name).unwrap_or(NO_NUMBER)
            };
            sight.workspaces.iter().map(number).collect()
        };
        let sessions = within.session.as_deref().map(numbers);
        let cases = within.case.as_ref().map(|case| numbers(case.as_str()));
        let topics = within.topics.iter().map(|topic| catalog.topic(topic).unwrap_or(NO_NUMBER));
        let topics = topics.collect();
        let plain = sessions.is_none()
            && within.topics.is_empty()
            && cases.is_none()
            && (within.closed || !catalog.has_inactive_case(sight))
            && [within.since, within.until, within.at].iter().all(Option::is_none);
        let fits = None;
        Self {
            catalog,
            within,
            sight,
            audiences,
            classes,
            sessions,
            cases,
            topics,
            fits,
            sums,
            plain,
        }
    }

    /// Restricts it to memories that pass the phrase filter.
    pub(super) fn with_phrase_filter(self, fits: Option<PhraseFilter>) -> Self {
        Self { plain: self.plain && fits.is_none(), fits, ..self }
    }

    /// Whether a memory is admitted. Called for many memories, so the common case is short.
    #[inline]
    pub(super) fn admits(&self, number: MemoryNumber) -> bool {
        let class = self.catalog.classed[number as usize];
        self.admits_class(class) && (self.plain || self.admits_member(number, class))
    }

    /// The admitted memories, by audience: memories of other audiences are not even read.
    pub(super) fn admitted(&self) -> Vec<MemoryNumber> {
        let members = || {
            let audiences = self.audiences.iter();
            audiences.map(|(_, audience)| self.catalog.classes.members(*audience))
        };
        let mut all = vec![0; members().map(<[MemoryNumber]>::len).sum()];
        let mut count = 0;
        for number in members().flatten() {
            // A memory that is not admitted is overwritten by the next, without a branch.
            all[count] = *number;
            let class = self.catalog.classed[*number as usize];
            count += usize::from(self.admits_class(class));
        }
        all.truncate(count);
        if !self.plain {
            all.retain(|number| self.admits(*number));
        }
        all
    }

    /// The caller's audiences in the workspace of a memory.
    pub(super) fn workspace_audiences(&self, number: MemoryNumber) -> &[(u32, u32)] {
        let class = self.catalog.classed[number as usize];
        let workspace = self.catalog.classes.workspace(class);
        let begin = self.audiences.partition_point(|(other, _)| *other < workspace);
        let end = self.audiences.partition_point(|(other, _)| *other <= workspace);
        &self.audiences[begin..end]
    }

    /// Whether the conditions decided per class admit this class.
    #[inline]
    pub(super) fn admits_class(&self, class: u32) -> bool {
        self.classes.get(class)
    }

    /// Whether the conditions decided per memory admit a member of an admitted class.
    #[inline(never)]
    fn admits_member(&self, number: MemoryNumber, class: u32) -> bool {
        let hot = &self.catalog.hot[number as usize];
        if !self.admits_case(hot.case, class) {
            return false;
        }
        if self.fits.as_ref().is_some_and(|fits| !fits.contains(number)) {
            return false;
        }
        let millis = |time: Option<jiff::Timestamp>| time.map(jiff::Timestamp::as_millisecond);
        self.sessions
            .as_ref()
            .is_none_or(|sessions| sessions.contains(&self.catalog.session_of(number)))
            && self.topics.iter().all(|topic| self.catalog.has_topic(number, *topic))
            && millis(self.within.since).is_none_or(|since| hot.from >= since)
            && millis(self.within.until).is_none_or(|until| hot.from <= until)
            && millis(self.within.at).is_none_or(|at| self.holds_at(number, at))
    }

    /// Whether the filter admits a memory of this case or of no case: the requested case, the
    /// caller's own case, or any other if requested; otherwise only open cases.
    fn admits_case(&self, case: u32, class: u32) -> bool {
        let own = || self.catalog.classes.class(class).visibility.owner == self.sight.agent;
        let requested = self.cases.as_ref().is_some_and(|cases| cases.contains(&case));
        let beside = self.cases.is_none() || self.within.others || own();
        requested || (beside && (self.within.closed || !self.catalog.is_inactive_case(class, case)))
    }

    /// Whether a memory held at this time: it had begun, had not ended, and its successor had not
    /// begun.
    fn holds_at(&self, number: MemoryNumber, at: i64) -> bool {
        let facts = self.catalog.facts(number);
        let workspace = self.catalog.class(number).visibility.workspace.as_str();
        let replaced = facts.successor.is_some_and(|successor| {
            let successor = self.catalog.number(workspace, successor);
            successor.is_none_or(|successor| self.catalog.facts(successor).from <= at)
        });
        facts.from <= at && at < facts.until && !replaced
    }
}
