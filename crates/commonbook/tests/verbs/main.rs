//! The verbs, with a clock that stands still and ids that count.
