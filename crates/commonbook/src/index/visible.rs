//! Who is admitted to an answer: sight and filters come before everything that is counted.

use rustc_hash::FxHashSet;

use super::slate::{ScratchGuard, ScratchPool};
use crate::index::facts::{LengthStatistics, MemoryCatalog, MemoryClass, MemoryNumber};
use crate::model::access::Sight;
use crate::model::search::SearchFilter;
use crate::model::workspace::Workspace;

/// What no session, case or topic has as its number: a name that nobody uses is looked for as long
/// as one that only others use.
const NO_NUMBER: u32 = u32::MAX;

/// Decides which memories exist for a question: those in sight that pass its filters.
pub(super) struct VisibilityFilter<'s> {
    catalog: &'s MemoryCatalog,
    within: &'s SearchFilter,
    sight: &'s Sight,
    /// The audiences that the caller belongs to, with the numbers of their workspaces, in order.
    pub(super) audiences: Vec<(u32, u32)>,
    /// The classes that are admitted.
    classes: ScratchGuard<'s, bool>,
    /// The numbers that the wanted session has in the workspaces.
    sessions: Option<Vec<u32>>,
    /// The numbers that the wanted case has in the workspaces.
    cases: Option<Vec<u32>>,
    /// The numbers of the wanted topics.
    topics: Vec<u32>,
    fits: Option<PhraseFilter>,
    pub(super) sums: LengthStatistics,
    /// Whether nothing is asked but what is decided for classes.
    plain: bool,
}

/// Which memories have every phrase of a question and nothing that it excludes.
#[derive(Debug, Default)]
pub(super) struct PhraseFilter {
    /// Those that have what is wanted; none where nothing is.
    wanted: Option<FxHashSet<MemoryNumber>>,
    excluded: FxHashSet<MemoryNumber>,
}

impl PhraseFilter {
    /// Leaves of what is wanted only these.
    pub(super) fn restrict(&mut self, having: FxHashSet<MemoryNumber>) {
        self.wanted = Some(match self.wanted.take() {
            Some(mut wanted) => {
                wanted.retain(|number| having.contains(number));
                wanted
            }
            None => having,
        });
    }

    /// Leaves these out.
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
        slates: &'s ScratchPool<bool>,
        sight: &'s Sight,
        within: &'s SearchFilter,
    ) -> Self {
        let admits = |class: &MemoryClass| {
            let wanted = |given: &Option<String>, found: &str| {
                given.as_deref().is_none_or(|given| given == found)
            };
            sight.can_see(&class.reach)
                && (!within.of_user
                    || class.reach.user_id.is_none()
                    || class.reach.user_id == sight.user)
                && wanted(&within.owner, class.reach.owner.as_str())
                && wanted(&within.memory_type, &class.memory_type)
                && within.trust.is_none_or(|trust| class.reach.trust == trust)
                && within.importance.is_none_or(|least| class.importance >= least)
                && (within.superseded || within.at.is_some() || !class.superseded)
                && (within.archived || !class.deleted)
        };
        let audiences = catalog.admitted(sight);
        let (mut classes, mut sums) =
            (slates.take(catalog.classes.len()), LengthStatistics::default());
        for (_, audience) in &audiences {
            for class in catalog.classes.of_audience(*audience) {
                if admits(catalog.classes.class(*class)) {
                    classes.change(*class, |admitted| *admitted = true);
                    sums.add(catalog.classes.sums(*class));
                }
            }
        }
        let numbers = |name: &str| -> Vec<u32> {
            let of = |it: &Workspace| catalog.session(it.as_str(), name).unwrap_or(NO_NUMBER);
            sight.workspaces.iter().map(of).collect()
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

    /// The same, of those alone that have every phrase and nothing that is excluded.
    pub(super) fn with_phrase_filter(self, fits: Option<PhraseFilter>) -> Self {
        Self { plain: self.plain && fits.is_none(), fits, ..self }
    }

    /// Whether a memory is admitted. It is asked of many: what most questions need is short.
    #[inline]
    pub(super) fn admits(&self, number: MemoryNumber) -> bool {
        let class = self.catalog.classed[number as usize];
        self.admits_class(class) && (self.plain || self.admits_member(number, class))
    }

    /// The admitted memories, audience by audience: what the caller does not see is not even passed.
    pub(super) fn admitted(&self) -> Vec<MemoryNumber> {
        let members = || {
            let audiences = self.audiences.iter();
            audiences.map(|(_, audience)| self.catalog.classes.members(*audience))
        };
        let mut all = vec![0; members().map(<[MemoryNumber]>::len).sum()];
        let mut count = 0;
        for number in members().flatten() {
            // What is not admitted is overwritten by the next: no branch is to be guessed.
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

    /// The audiences of the workspace of a memory that the caller belongs to.
    pub(super) fn workspace_audiences(&self, number: MemoryNumber) -> &[(u32, u32)] {
        let class = self.catalog.classed[number as usize];
        let workspace = self.catalog.classes.workspace(class);
        let begin = self.audiences.partition_point(|(other, _)| *other < workspace);
        let end = self.audiences.partition_point(|(other, _)| *other <= workspace);
        &self.audiences[begin..end]
    }

    /// Whether the memories of a class are admitted as far as that is decided for all of them.
    #[inline]
    pub(super) fn admits_class(&self, class: u32) -> bool {
        self.classes.get(class)
    }

    /// Whether a memory of an admitted class is admitted by what it alone has.
    #[inline(never)]
    fn admits_member(&self, number: MemoryNumber, class: u32) -> bool {
        let brief = &self.catalog.brief[number as usize];
        if !self.admits_case(brief.case, class) {
            return false;
        }
        if self.fits.as_ref().is_some_and(|fits| !fits.contains(number)) {
            return false;
        }
        let millis = |time: Option<jiff::Timestamp>| time.map(jiff::Timestamp::as_millisecond);
        self.sessions.as_ref().is_none_or(|sessions| sessions.contains(&brief.session))
            && self.topics.iter().all(|topic| self.catalog.has_topic(number, *topic))
            && millis(self.within.since).is_none_or(|since| brief.from >= since)
            && millis(self.within.until).is_none_or(|until| brief.from <= until)
            && millis(self.within.at).is_none_or(|at| self.holds_at(number, at))
    }

    /// Whether a memory of this case, or of none, is wanted: of the case that is asked for, the
    /// asker's own, or the others where they are asked for too; of no other case that is shut.
    fn admits_case(&self, case: u32, class: u32) -> bool {
        let own = || self.catalog.classes.class(class).reach.owner == self.sight.agent;
        let asked = self.cases.as_ref().is_some_and(|cases| cases.contains(&case));
        let beside = self.cases.is_none() || self.within.others || own();
        asked || (beside && (self.within.closed || !self.catalog.is_inactive_case(class, case)))
    }

    /// Whether a memory held at this time: it had begun, had not ended, and what replaced it had
    /// not begun.
    fn holds_at(&self, number: MemoryNumber, at: i64) -> bool {
        let facts = self.catalog.facts(number);
        let workspace = self.catalog.class(number).reach.workspace.as_str();
        let replaced = facts.heir.is_some_and(|heir| {
            let heir = self.catalog.number(workspace, heir);
            heir.is_none_or(|heir| self.catalog.facts(heir).from <= at)
        });
        facts.from <= at && at < facts.until && !replaced
    }
}
