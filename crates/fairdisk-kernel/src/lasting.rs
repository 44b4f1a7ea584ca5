//! A plan as files that last: a udev rule, lines for systemd, and writes to cgroups.

use crate::plan::{GroupPlan, Plan};
use crate::units::{io_weight_for_bfq, unit_at};
use std::fmt::Write as _;

/// The lines for files and shells that have the plan in force after each boot. A disk is given by
/// its name, `sda`; `number` is its `MAJOR:MINOR`, if that is known.
pub fn lasting(plan: &Plan, disk: &str, number: Option<&str>) -> String {
    let mut text = String::new();
    let number = number.unwrap_or("MAJOR:MINOR");
    for device in &plan.devices {
        if let Some(scheduler) = &device.scheduler {
            let tunables = device.iosched.iter();
            let tunables: String = tunables
                .map(|(name, value)| format!(", ATTR{{queue/iosched/{name}}}=\"{value}\""))
                .collect();
            let _ = writeln!(
                text,
                "# /etc/udev/rules.d/60-fairdisk.rules\n\
                 ACTION==\"add|change\", SUBSYSTEM==\"block\", KERNEL==\"{disk}\", \
                 ATTR{{queue/scheduler}}=\"{scheduler}\"{tunables}\n"
            );
        }
        let cost = &device.io.cost;
        let lines = [("io.cost.model", &cost.model), ("io.cost.qos", &cost.qos)];
        let lines = lines.into_iter().filter_map(|(name, line)| Some((name, line.as_ref()?)));
        let lines: String = lines
            .map(|(name, line)| format!("w /sys/fs/cgroup/{name} - - - - {number} {line}\n"))
            .collect();
        if !lines.is_empty() {
            let _ = writeln!(text, "# /etc/tmpfiles.d/fairdisk.conf\n{lines}");
        }
    }
    let units: String = plan.groups.iter().filter_map(|group| unit(group, disk)).collect();
    if !units.is_empty() {
        let _ = writeln!(text, "# units of systemd keep these\n{units}");
    }
    let writes: String = plan.groups.iter().map(|group| writes(group, number)).collect();
    if !writes.is_empty() {
        let _ = writeln!(text, "# other cgroups, until they are gone\n{writes}");
    }
    text
}

/// The command that gives a unit its settings for good.
fn unit(group: &GroupPlan, disk: &str) -> Option<String> {
    let name = unit_at(&group.path)?;
    let mut words = Vec::new();
    if let Some(weight) = group.io.bfq.weight {
        words.push(format!("IOWeight={}", io_weight_for_bfq(weight)));
    } else if let Some(weight) = group.io.weight {
        words.push(format!("IOWeight={weight}"));
    }
    for line in group.io.max.values() {
        for (key, value) in line.split_whitespace().filter_map(|pair| pair.split_once('=')) {
            let key = match key {
                "rbps" => "IOReadBandwidthMax",
                "wbps" => "IOWriteBandwidthMax",
                "riops" => "IOReadIOPSMax",
                _ => "IOWriteIOPSMax",
            };
            words.push(format!("'{key}=/dev/{disk} {value}'"));
        }
    }
    for target in group.io.latency.values().filter_map(|line| line.strip_prefix("target=")) {
        words.push(format!("'IODeviceLatencyTargetSec=/dev/{disk} {target}us'"));
    }
    (!words.is_empty()).then(|| format!("systemctl set-property {name} {}\n", words.join(" ")))
}

/// The writes that give a group that is no unit its settings.
fn writes(group: &GroupPlan, number: &str) -> String {
    if unit_at(&group.path).is_some() {
        return String::new();
    }
    let write = |name: &str, value: String| {
        format!("echo '{value}' > '/sys/fs/cgroup/{}/{name}'\n", group.path)
    };
    let weight = group.io.weight.map(|weight| write("io.weight", weight.to_string()));
    let bfq = group.io.bfq.weight.map(|weight| write("io.bfq.weight", weight.to_string()));
    let limits = group.io.max.values().map(|line| write("io.max", format!("{number} {line}")));
    let targets =
        group.io.latency.values().map(|line| write("io.latency", format!("{number} {line}")));
    weight.into_iter().chain(bfq).chain(limits).chain(targets).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_becomes_files_that_last() {
        let plan = "[[device]]\npath = '/dev/sda'\nscheduler = 'bfq'\niosched.low_latency = 0\n\
            io.cost.qos = 'enable=1 ctrl=user'\n\
            [[group]]\npath = 'system.slice/db.service'\nio.bfq.weight = 400\n\
            io.max.'/dev/sda' = 'riops=50'\n\
            [[group]]\npath = 'shop/web'\nio.bfq.weight = 50\nio.latency.'/dev/sda' = 'target=9'\n";
        let text = lasting(&Plan::parse(plan).unwrap(), "sda", Some("8:0"));
        let has = |line: &str| assert!(text.lines().any(|one| one == line), "{text}");
        has("ACTION==\"add|change\", SUBSYSTEM==\"block\", KERNEL==\"sda\", \
             ATTR{queue/scheduler}=\"bfq\", ATTR{queue/iosched/low_latency}=\"0\"");
        has("w /sys/fs/cgroup/io.cost.qos - - - - 8:0 enable=1 ctrl=user");
        has("systemctl set-property db.service IOWeight=3400 'IOReadIOPSMax=/dev/sda 50'");
        has("echo '50' > '/sys/fs/cgroup/shop/web/io.bfq.weight'");
        has("echo '8:0 target=9' > '/sys/fs/cgroup/shop/web/io.latency'");
    }
}
