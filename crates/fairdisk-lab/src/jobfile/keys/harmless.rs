//! When a key that cannot be honoured changes nothing, so that its job can run.

use crate::jobfile::draft::{Draft, value};
use crate::jobfile::setting::Given;
use crate::jobfile::value::Read;
use crate::jobfile::{finish, source};

use super::{Does, Key, Shape};

/// A setting of a key that is refused where it has an effect.
#[derive(Debug, Clone)]
pub(in crate::jobfile) struct Refused {
    pub(in crate::jobfile) key: &'static Key,
    pub(in crate::jobfile) setting: source::Setting,
}

/// The circumstances in which a key has no effect in fio either.
#[derive(Clone, Copy)]
pub(in crate::jobfile) struct Harmless {
    /// The values that fio accepts.
    pub(super) shape: Shape,
    /// Values that mean the same as no key at all.
    pub(super) values: &'static [&'static str],
    /// What the job lacks for the key to have an effect.
    pub(super) lacks: Lacks,
}

/// What a key needs to have an effect.
#[derive(Clone, Copy)]
pub(super) enum Lacks {
    /// Nothing else.
    Nothing,
    /// One of these keys, each with a value that is not harmless itself.
    Keys(&'static [&'static str]),
    /// A checksum to verify.
    Verify,
    /// Writes.
    Writes,
    /// A rate.
    Rate,
    /// A pause.
    Think,
    /// Several requests in flight.
    Depth,
    /// Several passes.
    Passes,
}

impl Refused {
    /// Why the key has no effect on the job, if so.
    pub(in crate::jobfile) fn has_no_effect(&self, draft: &Draft) -> Option<String> {
        let Does::Refuse(harmless) = self.key.does else { return None };
        if self.has_neutral_value(harmless) {
            return Some("the value of fio without the key".to_owned());
        }
        harmless.lacks.reason(draft)
    }

    fn has_neutral_value(&self, harmless: Harmless) -> bool {
        let text = self.setting.value.as_deref().unwrap_or_default().trim();
        harmless.values.contains(&text)
    }

    /// The values with which the job could run.
    pub(in crate::jobfile) const fn neutral_values(&self) -> &'static [&'static str] {
        match self.key.does {
            Does::Refuse(harmless) => harmless.values,
            _ => &[],
        }
    }
}

impl Harmless {
    /// Refuses values that fio refuses.
    pub(in crate::jobfile) fn check(self, given: Given<'_>) -> Read<()> {
        self.shape.check(given)
    }
}

impl Draft {
    /// Whether one of these refused keys is set to something that has an effect.
    fn refuses(&self, names: &[&str]) -> bool {
        let has_effect = |one: &&Refused| one.has_no_effect(self).is_none();
        self.refused.iter().filter(|one| names.contains(&one.key.name)).any(|one| has_effect(&one))
    }
}

impl Lacks {
    fn reason(self, draft: &Draft) -> Option<String> {
        let (is_lacking, lack) = match self {
            Self::Nothing => return None,
            Self::Keys(names) => {
                let text = format!("it takes {}, which is not in force", names.join(" or "));
                return (!draft.refuses(names)).then_some(text);
            }
            Self::Verify => (!draft.verification.verifies(), "nothing is verified"),
            Self::Writes => (!finish::mix(draft).uses().write, "nothing is written"),
            Self::Rate => (!draft.has_rate(), "there is no rate"),
            Self::Think => (value(&draft.think_ns).unwrap_or(0) == 0, "there is no thinktime"),
            Self::Depth => (is_one_by_one(draft), "one request is in flight"),
            Self::Passes => (has_one_pass(draft), "the work is done once"),
        };
        is_lacking.then(|| lack.to_owned())
    }
}

fn is_one_by_one(draft: &Draft) -> bool {
    value(&draft.iodepth).unwrap_or(1) == 1 || finish::one_by_one(draft).is_some()
}

fn has_one_pass(draft: &Draft) -> bool {
    let is_repeated = value(&draft.time_based).unwrap_or(false) || draft.io_size.is_some();
    value(&draft.loops).unwrap_or(1) == 1 && !is_repeated
}
