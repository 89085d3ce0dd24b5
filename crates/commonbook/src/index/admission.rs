//! Who is admitted to an answer: sight and filters come before everything that is counted.

use std::ops::Range;

use super::catalog::{Catalog, Class, Number, Sums};
use crate::access::Sight;
use crate::search::Within;
use crate::workspace::Workspace;

/// Decides which memories exist for a question: those in sight that pass its filters.
pub(super) struct Admission<'s> {
    catalog: &'s Catalog,
    within: &'s Within,
    /// What is decided for all memories of a class.
    pub(super) classes: Vec<bool>,
    /// The numbers that the wanted session has in the workspaces.
    sessions: Option<Vec<u32>>,
    /// The numbers that the wanted case has in the workspaces, and for each class whether its
    /// memories are the asker's own, which are given beside those of the case.
    case: Option<(Vec<u32>, Vec<bool>)>,
    /// The numbers of the wanted topics; none of a topic that no memory has.
    topics: Option<Vec<u32>>,
    /// For each memory, whether it has every phrase and nothing that is excluded; where the
    /// question has such.
    fits: Option<Vec<bool>>,
    pub(super) sums: Sums,
    /// Whether nothing is asked but what is decided for classes.
    plain: bool,
}

impl<'s> Admission<'s> {
    pub(super) fn of(catalog: &'s Catalog, sight: &Sight, within: &'s Within) -> Self {
        let mut sums = Sums::default();
        let admits = |class: &Class| {
            let wanted = |given: &Option<String>, found: &str| {
                given.as_deref().is_none_or(|given| given == found)
            };
            sight.reaches(&class.reach)
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
        let mut classes = Vec::new();
        let mut own = Vec::new();
        for (class, of_class) in catalog.classes() {
            let admitted = admits(class);
            if admitted {
                sums.add(of_class);
            }
            classes.push(admitted);
            own.push(class.reach.owner == sight.agent);
        }
        let numbers = |name: &str| -> Vec<u32> {
            let of = |workspace: &Workspace| catalog.session(workspace.as_str(), name);
            sight.workspaces.iter().filter_map(of).collect()
        };
        let sessions = within.session.as_deref().map(numbers);
        let case = within.case.as_ref().map(|case| (numbers(case.as_str()), own));
        let topics = within.topics.iter().map(|topic| catalog.topic(topic)).collect();
        let plain = sessions.is_none()
            && within.topics.is_empty()
            && case.is_none()
            && (within.closed || !catalog.has_shut())
            && [within.since, within.until, within.at].iter().all(Option::is_none);
        Self { catalog, within, classes, sessions, case, topics, fits: None, sums, plain }
    }

    /// The same, of those alone that have every phrase and nothing that is excluded.
    pub(super) fn fitting(self, fits: Option<Vec<bool>>) -> Self {
        Self { plain: self.plain && fits.is_none(), fits, ..self }
    }

    /// Whether a memory is admitted. It is asked of many: what most questions need is short.
    #[inline]
    pub(super) fn admits(&self, number: Number) -> bool {
        let class = self.catalog.classed[number as usize];
        self.admits_class(class) && (self.plain || self.admits_by_itself(number, class as usize))
    }

    /// The admitted ones among the memories of these numbers, in their order.
    pub(super) fn admitted(&self, numbers: Range<Number>) -> Vec<Number> {
        let classed = &self.catalog.classed[numbers.start as usize..numbers.end as usize];
        let mut all = vec![0; classed.len()];
        let mut count = 0;
        for (number, class) in numbers.zip(classed) {
            // What is not admitted is overwritten by the next: no branch is to be guessed.
            all[count] = number;
            count += usize::from(self.admits_class(*class));
        }
        all.truncate(count);
        if !self.plain {
            all.retain(|number| self.admits(*number));
        }
        all
    }

    /// Whether the memories of a class are admitted as far as that is decided for all of them.
    #[inline]
    fn admits_class(&self, class: u32) -> bool {
        self.classes.get(class as usize).copied().unwrap_or(false)
    }

    /// Whether a memory of an admitted class is admitted by what it alone has.
    #[inline(never)]
    fn admits_by_itself(&self, number: Number, class: usize) -> bool {
        let brief = &self.catalog.brief[number as usize];
        if !self.admits_case(brief.case, class) {
            return false;
        }
        if self.fits.as_ref().is_some_and(|fits| !fits[number as usize]) {
            return false;
        }
        let Some(topics) = &self.topics else { return false };
        let millis = |time: Option<jiff::Timestamp>| time.map(jiff::Timestamp::as_millisecond);
        self.sessions.as_ref().is_none_or(|sessions| sessions.contains(&brief.session))
            && topics.iter().all(|topic| self.catalog.has_topic(number, *topic))
            && millis(self.within.since).is_none_or(|since| brief.from >= since)
            && millis(self.within.until).is_none_or(|until| brief.from <= until)
            && millis(self.within.at).is_none_or(|at| self.holds(number, at))
    }

    /// Whether a memory of this case, or of none, is wanted: of the case that is asked for, the
    /// asker's own, or the others where they are asked for too; of no other case that is shut.
    fn admits_case(&self, case: u32, class: usize) -> bool {
        let asked = self.case.as_ref().is_some_and(|(cases, _)| cases.contains(&case));
        let beside = self.case.as_ref().is_none_or(|(_, own)| self.within.others || own[class]);
        asked || (beside && (self.within.closed || !self.catalog.is_shut(case)))
    }

    /// Whether a memory held at this time: it had begun, had not ended, and what replaced it had
    /// not begun.
    fn holds(&self, number: Number, at: i64) -> bool {
        let facts = self.catalog.facts(number);
        let workspace = self.catalog.class(number).reach.workspace.as_str();
        let replaced = facts.heir.is_some_and(|heir| {
            let heir = self.catalog.number(workspace, heir);
            heir.is_none_or(|heir| self.catalog.facts(heir).from <= at)
        });
        facts.from <= at && at < facts.until && !replaced
    }
}
