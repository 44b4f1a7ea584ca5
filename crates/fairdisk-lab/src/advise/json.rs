//! Advice as JSON.

use super::settings::{Given, check, commands, given, lines};
use super::words::others;
use super::{Advice, Party, Tried, Verdict, Wish};
use crate::memory::MemoryResults;
use crate::results::{SCHEMA, is_false, value};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// What `fairdisk advise` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AdviceResults {
    /// Another number if a name changes its meaning.
    schema: u32,
    /// The id of the experiment, or the name of the job file.
    experiment: String,
    /// One line about it.
    title: String,
    /// Whether all wishes come true as proposed.
    granted: bool,
    /// The wishes.
    wishes: Vec<WishResults>,
    /// The groups that wish for no share; null if nothing is proposed.
    others: Option<Vec<Other>>,
    /// The proposal; null if nothing was tried.
    proposed: Option<Proposed>,
    /// What to know before reading the figures.
    note: Option<&'static str>,
    /// Tries that a scheduler refused.
    refused: Vec<Refused>,
    /// What was tried.
    tried: Vec<TriedResults>,
    /// With `--want memory=…` only: how much memory the load needs, as proposed.
    #[serde(skip_serializing_if = "Option::is_none")]
    memory: Option<MemoryResults>,
    /// With `--for kernel` only: the plan for the kernel's own controllers.
    #[serde(skip_serializing_if = "Option::is_none")]
    kernel: Option<KernelPlan>,
}

/// A proposal for the kernel's own controllers.
#[derive(Debug, Serialize, JsonSchema)]
pub struct KernelPlan {
    /// The plan as a file for `fairdisk kernel apply`.
    pub plan: String,
    /// Files with which it lasts beyond a boot.
    pub lasting: String,
    /// What the plan lacks.
    pub notes: Vec<String>,
    /// Wishes that only a mount keeps.
    pub mount_only: Vec<String>,
}

/// A wish.
#[derive(Debug, Serialize, JsonSchema)]
struct WishResults {
    /// Whose it is.
    group: String,
    /// What is wished for, in words.
    wish: String,
    /// Whether it comes true as proposed.
    met: bool,
    /// Whether the proposed scheduler sees to it.
    enforced: bool,
    /// What the group got, in words.
    got: Option<String>,
    /// Why it cannot come true.
    limit: Option<String>,
}

/// What a group without a wish for a share gets.
#[derive(Debug, Serialize, JsonSchema)]
struct Other {
    /// Its name.
    group: String,
    /// What it got, in words.
    got: String,
}

/// What is proposed.
#[derive(Debug, Serialize, JsonSchema)]
struct Proposed {
    /// Which try it is.
    name: String,
    /// The scheduler.
    scheduler: String,
    groups: Settings,
    /// Lines of an experiment or of a job file, whichever the load is.
    experiment: String,
    /// The command that runs it again, with those lines in `FILE`.
    check: String,
    /// Commands for a mount; none where no mount can run it.
    commands: Vec<String>,
}

/// A refused try.
#[derive(Debug, Serialize, JsonSchema)]
struct Refused {
    /// Which try it is.
    name: String,
    /// Why it was refused.
    reason: String,
}

/// A try.
#[derive(Debug, Serialize, JsonSchema)]
struct TriedResults {
    /// Which try it is.
    name: String,
    /// The scheduler.
    scheduler: String,
    groups: Settings,
    /// Millions of bytes of all groups a second.
    mb_per_s: f64,
    /// That as a part of what `noop` moves.
    of_noop: Option<f64>,
    /// How many wishes come true.
    met: usize,
    /// Each wish, in order.
    wishes: Vec<VerdictResults>,
    /// Whether runs are missing or were cut short.
    #[serde(skip_serializing_if = "is_false")]
    partial: bool,
}

/// Whether a wish comes true.
#[derive(Debug, Serialize, JsonSchema)]
struct VerdictResults {
    /// Whether it does.
    met: bool,
    /// Whether the scheduler sees to it.
    enforced: bool,
    /// What the group got, in words.
    got: String,
}

/// Settings by key, by group.
type Settings = BTreeMap<String, BTreeMap<&'static str, Option<f64>>>;

/// The advice as a JSON object.
#[must_use]
pub fn to_json(advice: &Advice) -> Value {
    value(&AdviceResults::from(advice))
}

impl From<&Advice> for AdviceResults {
    fn from(advice: &Advice) -> Self {
        let best = advice.proposed();
        let wish = |(at, wish): (usize, &Wish)| {
            let verdict = best.map(|best| &best.verdicts[at]);
            WishResults {
                group: wish.name.clone(),
                wish: wish.text.clone(),
                met: verdict.is_some_and(|it| it.met),
                enforced: verdict.is_some_and(|it| it.enforced),
                got: verdict.map(|it| it.got.clone()),
                limit: advice.limits[at].clone(),
            }
        };
        let others = |best| {
            let other = |(name, got): (_, _)| Other { group: name, got };
            others(advice, best).into_iter().map(other).collect()
        };
        let refused = |(name, reason): &(String, String)| Refused {
            name: name.clone(),
            reason: reason.clone(),
        };
        Self {
            schema: SCHEMA,
            experiment: advice.experiment.clone(),
            title: advice.title.clone(),
            granted: advice.is_granted(),
            wishes: advice.wishes.iter().enumerate().map(wish).collect(),
            others: best.map(others),
            proposed: best.map(|best| Proposed {
                name: best.name.clone(),
                scheduler: best.scheduler.clone(),
                groups: settings(best, &advice.groups),
                experiment: lines(advice, best),
                check: check(advice, best),
                commands: commands(advice, best),
            }),
            note: advice.comparison.note(),
            refused: advice.refused.iter().map(refused).collect(),
            tried: advice.tried.iter().map(|one| TriedResults::of(one, &advice.groups)).collect(),
            memory: advice.memory.as_ref().map(MemoryResults::from),
            kernel: None,
        }
    }
}

impl AdviceResults {
    /// The results, with what was proposed for the kernel's own controllers.
    #[must_use]
    pub fn with_kernel(self, kernel: Option<KernelPlan>) -> Self {
        Self { kernel, ..self }
    }
}

fn settings(tried: &Tried, parties: &[Party]) -> Settings {
    let group = |Given { group, settings, .. }: Given<'_>| {
        let settings = settings.into_iter().map(|(key, value)| (key, value.parse().ok()));
        (group.name.clone(), settings.collect())
    };
    given(tried, parties).map(group).collect()
}

impl TriedResults {
    fn of(tried: &Tried, parties: &[Party]) -> Self {
        let verdict = |verdict: &Verdict| VerdictResults {
            met: verdict.met,
            enforced: verdict.enforced,
            got: verdict.got.clone(),
        };
        Self {
            name: tried.name.clone(),
            scheduler: tried.scheduler.clone(),
            groups: settings(tried, parties),
            mb_per_s: tried.cell.mb_per_s,
            of_noop: tried.cell.of_noop,
            met: tried.met(),
            wishes: tried.verdicts.iter().map(verdict).collect(),
            partial: tried.cell.partial,
        }
    }
}
