//! The answers of `fairdisk explain` as JSON.

use super::Story;
use super::journey::Journey;
use super::stall;
use super::text::{ms, reason, words};
use super::wait::{Part, Wait};
use crate::results::{SCHEMA, value};
use fairdisk_core::{Instant, Why};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// What `fairdisk explain --slowest` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SlowestResults {
    /// Another number if a name changes its meaning.
    schema: u32,
    #[serde(flatten)]
    run: Run,
    /// How many requests the run has.
    requests: u64,
    /// Those that took longest.
    slowest: Vec<Request>,
}

/// What `fairdisk explain` prints of one request.
#[derive(Debug, Serialize, JsonSchema)]
pub struct LifeResults {
    /// Another number if a name changes its meaning.
    schema: u32,
    #[serde(flatten)]
    run: Run,
    #[serde(flatten)]
    request: Request,
    /// What happened to it.
    steps: Vec<Moment>,
    /// What happened to its task before, that was short of memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    memory_steps: Option<Vec<Moment>>,
    /// What the task did meanwhile.
    #[serde(skip_serializing_if = "Option::is_none")]
    memory_meanwhile: Option<Vec<Meanwhile>>,
    /// What the disk served while the request waited.
    served_meanwhile: Vec<Served>,
    /// What the disk stood still for; without a reason if no request was there.
    idle_meanwhile: Vec<Meanwhile>,
    /// Why a busy disk took no more.
    spared: Vec<Meanwhile>,
    /// Why its group was held back, whoever else was served.
    held_back: Vec<Meanwhile>,
}

/// Which run.
#[derive(Debug, Serialize, JsonSchema)]
struct Run {
    /// `SPEC/ARM/ROW/SEED`.
    run: String,
    /// Of several disks, which.
    #[serde(skip_serializing_if = "Option::is_none")]
    disk: Option<u32>,
}

/// A request.
#[derive(Debug, Serialize, JsonSchema)]
struct Request {
    /// Its number.
    request: u64,
    /// The number of its task.
    task: u32,
    /// The name of its group.
    group: String,
    /// `read`, `write`, `discard` or `flush`.
    op: &'static str,
    start_sector: u64,
    sectors: u32,
    /// When it was asked for.
    submitted_ms: f64,
    /// How long it waited for the disk; null if it still does at the end.
    wait_ms: Option<f64>,
    /// How long it took; null if it is not done at the end.
    total_ms: Option<f64>,
    /// How long its task waited for memory before.
    #[serde(skip_serializing_if = "Option::is_none")]
    memory_wait_ms: Option<f64>,
}

/// Something that happened.
#[derive(Debug, Serialize, JsonSchema)]
struct Moment {
    at_ms: f64,
    what: String,
}

/// What happened meanwhile.
#[derive(Debug, Serialize, JsonSchema)]
struct Meanwhile {
    /// How often.
    count: u64,
    /// For how long.
    ms: f64,
    why: Option<String>,
}

/// Service of others meanwhile.
#[derive(Debug, Serialize, JsonSchema)]
struct Served {
    /// The name of their group.
    group: String,
    #[serde(flatten)]
    part: Meanwhile,
}

impl Meanwhile {
    fn of(part: Part, why: Option<String>) -> Self {
        Self { count: part.count, ms: ms(Some(part.time)), why }
    }

    fn all(parts: &BTreeMap<Why, Part>) -> Vec<Self> {
        parts.iter().map(|(why, part)| Self::of(*part, Some(why.text().to_owned()))).collect()
    }
}

impl Moment {
    fn new(at: Instant, what: String) -> Self {
        Self { at_ms: at.as_ns() as f64 / 1e6, what }
    }
}

impl From<&Story> for Run {
    fn from(story: &Story) -> Self {
        Self { run: story.name.clone(), disk: story.disk }
    }
}

impl Request {
    fn of(story: &Story, journey: &Journey) -> Self {
        let known = |span: Option<_>| span.map(|span| ms(Some(span)));
        let stall = &journey.stall;
        Self {
            request: journey.number,
            task: journey.task.0,
            group: story.group_name(journey.group).to_owned(),
            op: journey.op.name(),
            start_sector: journey.start.0,
            sectors: journey.sectors.0,
            submitted_ms: journey.submitted.as_ns() as f64 / 1e6,
            wait_ms: known(journey.wait()),
            total_ms: known(journey.total()),
            memory_wait_ms: (!stall.is_none()).then(|| ms(Some(stall.total()))),
        }
    }
}

/// The slowest requests as JSON.
pub(super) fn slowest(story: &Story, requests: u64, list: &[Journey]) -> Value {
    let slowest = list.iter().map(|journey| Request::of(story, journey)).collect();
    value(&SlowestResults { schema: SCHEMA, run: story.into(), requests, slowest })
}

/// The life of one request as JSON.
pub(super) fn life(story: &Story, journey: &Journey, wait: &Wait) -> Value {
    let stall = Some(&journey.stall).filter(|stall| !stall.is_none());
    let served = wait.served.iter().map(|((group, why), part)| Served {
        group: story.group_name(*group).to_owned(),
        part: Meanwhile::of(*part, Some(reason(*why))),
    });
    let idle = wait.idle.iter();
    value(&LifeResults {
        schema: SCHEMA,
        run: story.into(),
        request: Request::of(story, journey),
        steps: journey.steps.iter().map(|(at, step)| Moment::new(*at, words(*step))).collect(),
        memory_steps: stall.map(|stall| {
            stall.steps().iter().map(|(at, step)| Moment::new(*at, stall::words(*step))).collect()
        }),
        memory_meanwhile: stall.map(|stall| {
            let parts = stall.parts().into_iter();
            parts.map(|(what, part)| Meanwhile::of(part, Some(what))).collect()
        }),
        served_meanwhile: served.collect(),
        idle_meanwhile: idle
            .map(|(why, part)| Meanwhile::of(*part, why.map(|why| why.text().to_owned())))
            .collect(),
        spared: Meanwhile::all(&wait.spared),
        held_back: Meanwhile::all(&wait.held_back),
    })
}
