//! Rules about weights: who goes by which.

use super::place;
use crate::blocks::{Block, Kind};
use crate::cause::Cause;
use crate::findings::{Finding, Place};
use crate::groups::{Group, Knob, Setting, Version};
use crate::snapshot::{Snapshot, Stack};
use crate::units::{BFQ_MOST, bfq_weight_of, unit_at};

/// The largest weight that io.cost takes.
const COST_MOST: u64 = 10_000;

/// What a disk goes by.
#[derive(Clone, Copy)]
struct Heeds {
    bfq: bool,
    cost: bool,
}

impl Heeds {
    fn of(snapshot: &Snapshot, block: &Block) -> Self {
        Self {
            bfq: block.scheduler.as_deref() == Some("bfq"),
            cost: snapshot.trees.cost_is_on(&block.number),
        }
    }

    fn any(self) -> bool {
        self.bfq || self.cost
    }

    /// The largest weight that it takes.
    fn most(self) -> u64 {
        if self.bfq { BFQ_MOST } else { COST_MOST }
    }
}

pub(super) fn check(snapshot: &Snapshot, stack: &Stack, findings: &mut Vec<Finding>) {
    let heeds = |block: &&Block| Heeds::of(snapshot, block).any();
    for block in &stack.layers {
        cost(snapshot, block, findings);
    }
    let weighted: Vec<&Group> = snapshot.trees.groups.iter().filter(|it| has_weight(it)).collect();
    if weighted.is_empty() {
        return;
    }
    for disk in stack.disks() {
        let above = |block: &&Block| heeds(block) && stack.leads(block, disk);
        let Some(heeding) = stack.layers.iter().find(above) else {
            findings.extend(unheeded(snapshot, disk, &weighted));
            continue;
        };
        // Nobody uses the ways to a disk that has several but their device above.
        if !heeds(&disk) && heeding.kind != Kind::Multipath {
            let cause = Cause::SchedulerAbove {
                upper: heeding.name.clone(),
                disk: disk.name.clone(),
                scheduler: disk.scheduler.clone().unwrap_or_else(|| "none".to_owned()),
            };
            let value = disk.scheduler.clone().unwrap_or_default();
            findings.push(Finding::new(cause, vec![Place::new(disk.scheduler_file(), value)]));
        }
    }
    for block in stack.layers.iter().filter(heeds) {
        for group in &weighted {
            findings.extend(of_group(Heeds::of(snapshot, block), block, group));
        }
    }
    of_other_disk(snapshot, stack, &weighted, findings);
}

fn has_weight(group: &Group) -> bool {
    group.settings.iter().any(|setting| setting.knob.is_weight())
}

/// Weights that no device of a stack goes by.
fn unheeded(snapshot: &Snapshot, disk: &Block, weighted: &[&Group]) -> Option<Finding> {
    let is_about = |setting: &&Setting| {
        setting.knob.is_weight() && setting.number.as_ref().is_none_or(|it| *it == disk.number)
    };
    let places = |group: &&Group| group.settings.iter().filter(is_about).map(place).collect();
    let of_groups: Vec<Vec<Place>> = weighted.iter().map(places).collect();
    let groups = of_groups.iter().filter(|places| !places.is_empty()).count();
    let cause = Cause::WeightsUnheeded {
        disk: disk.name.clone(),
        scheduler: disk.scheduler.clone().unwrap_or_else(|| "none".to_owned()),
        groups,
        has_cost: snapshot.trees.v1.is_none(),
    };
    let scheduler = Place::new(disk.scheduler_file(), disk.scheduler.clone().unwrap_or_default());
    let places = [scheduler].into_iter().chain(of_groups.concat()).collect();
    (groups > 0).then(|| Finding::new(cause, places))
}

/// A group's weights on a disk that goes by weights.
fn of_group(heeds: Heeds, block: &Block, group: &Group) -> Option<Finding> {
    let find = |knob: Knob| {
        let is_it = |it: &&Setting| {
            it.knob == knob && it.number.as_ref().is_none_or(|number| *number == block.number)
        };
        // A line for the disk is worth more than the line for all.
        group.settings.iter().filter(is_it).max_by_key(|it| it.number.is_some())
    };
    let (cost, bfq) = (find(Knob::Weight), find(Knob::BfqWeight));
    let file = |name: &str| format!("{}/{name}", group.directory);
    let other = |by: &str, name: &str, set: &Setting| {
        let cause = Cause::OtherWeight {
            disk: block.name.clone(),
            by: by.to_owned(),
            heeded_file: file(name),
            weight: set.weight().unwrap_or(100).min(heeds.most()),
        };
        Finding::new(cause, vec![place(set)])
    };
    let scaled =
        |asked: u64, made: u64| Cause::SystemdScale { asked, made, file: file("io.bfq.weight") };
    match (heeds.bfq, heeds.cost, cost, bfq) {
        // The usual weight is what systemd makes of some others, too.
        (true, _, Some(set), None)
            if unit_at(&group.path).is_some() && set.weight().map(bfq_weight_of) == Some(100) =>
        {
            Some(Finding::new(scaled(set.weight()?, 100), vec![place(set)]))
        }
        (true, false, Some(set), None) => Some(other("BFQ", "io.bfq.weight", set)),
        (false, true, None, Some(set)) => Some(other("io.cost", "io.weight", set)),
        (true, _, Some(asked), Some(made)) => {
            let (weight, into) = (asked.weight()?, made.weight()?);
            (weight != into && into == bfq_weight_of(weight))
                .then(|| Finding::new(scaled(weight, into), vec![place(asked), place(made)]))
        }
        _ => None,
    }
}

/// Weights for a device that does not go by weights, while one below or above it does.
fn of_other_disk(
    snapshot: &Snapshot,
    stack: &Stack,
    weighted: &[&Group],
    findings: &mut Vec<Finding>,
) {
    let heeds = |block: &Block| Heeds::of(snapshot, block);
    let settings = weighted.iter().flat_map(|group| group.settings.iter().map(|it| (*group, it)));
    for (group, setting) in settings.filter(|(_, setting)| setting.knob.is_weight()) {
        let is_it = |block: &&Block| setting.number.as_ref() == Some(&block.number);
        let Some(block) = stack.layers.iter().find(is_it) else { continue };
        if block.kind == Kind::Partition || heeds(block).any() {
            continue;
        }
        let is_near = |one: &&Block| stack.leads(block, one) || stack.leads(one, block);
        for heeding in stack.layers.iter().filter(|one| heeds(one).any()).filter(is_near) {
            let heeds = heeds(heeding);
            let file = match (group.version, heeds.bfq) {
                (Version::V1, _) => setting.file.clone(),
                (Version::V2, true) => format!("{}/io.bfq.weight", group.directory),
                (Version::V2, false) => format!("{}/io.weight", group.directory),
            };
            let cause = Cause::WeightOfOtherDisk {
                device: block.name.clone(),
                disk: heeding.name.clone(),
                number: heeding.number.clone(),
                weight: setting.weight().unwrap_or(100).min(heeds.most()),
                file,
            };
            findings.push(Finding::new(cause, vec![place(setting)]));
        }
    }
}

/// Faults of io.cost itself.
fn cost(snapshot: &Snapshot, block: &Block, findings: &mut Vec<Finding>) {
    let heeds = Heeds::of(snapshot, block);
    if !heeds.cost {
        return;
    }
    let of_disk = |is_model: bool| {
        let mut lines = snapshot.trees.cost.iter();
        lines.find(|line| line.number == block.number && line.is_model == is_model)
    };
    let Some(qos) = of_disk(false) else { return };
    let mut places = vec![Place::new(&qos.file, &qos.line)];
    let (disk, number) = (block.name.clone(), block.number.clone());
    if heeds.bfq {
        let cause = Cause::BfqAndCost {
            disk: disk.clone(),
            number: number.clone(),
            file: qos.file.clone(),
        };
        let scheduler = Place::new(block.scheduler_file(), "bfq");
        findings.push(Finding::new(cause, vec![places[0].clone(), scheduler]));
    }
    let model = of_disk(true);
    if model.is_none_or(|model| !model.says("ctrl=user")) {
        places.extend(model.map(|model| Place::new(&model.file, &model.line)));
        findings.push(Finding::new(Cause::CostUnmeasured { disk, number }, places));
    }
}
