//! Fairdisk's keys for a group's floors, ceilings and targets.

use std::collections::BTreeMap;

use super::draft::Draft;
use super::setting::Given;
use super::value::{Read, ValueError};
use fairdisk_core::{Notation, Qos, QosKey};
use serde::{Serialize, Serializer};

/// The limits of a group, each with its value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Limits(pub BTreeMap<QosKey, u64>);

/// The key of a limit in job files.
pub(super) fn key(limit: QosKey) -> String {
    format!("group_{}", limit.name())
}

/// Parses a limit into the draft.
pub(super) fn read(draft: &mut Draft, limit: QosKey, given: Given<'_>) -> Read<()> {
    let Notation { unit, range, .. } = limit.notation();
    // Numbers in job files have 63 bits.
    let [least, most] = range.map(|bound| (bound / unit).min(i64::MAX as u64));
    let value = match limit {
        QosKey::LatencyP99 | QosKey::FsyncP99 => milliseconds(limit, given),
        QosKey::BurstFor => seconds(limit, given),
        _ => given.count(least..=most).map(|value| value * unit),
    };
    let mut slot = None;
    given.set(&mut slot, value)?;
    draft.group_limits.extend(slot.map(|placed| (limit, placed)));
    Ok(())
}

/// Milliseconds with decimals, rounded to whole microseconds, as the job's JSON has them.
fn milliseconds(target: QosKey, given: Given<'_>) -> Read<u64> {
    let expected = format!("milliseconds from {}, such as 2.5", target.notation().words);
    let ns = target.parse(given.word(&expected)?.trim());
    ns.map_or_else(|| ValueError::bad(expected), |ns| Ok((ns + 500) / 1_000 * 1_000))
}

/// Whole seconds, or a time with its unit.
fn seconds(limit: QosKey, given: Given<'_>) -> Read<u64> {
    let expected = format!("seconds from {}, such as 60 or 5min", limit.notation().words);
    let ns = limit.parse(given.word(&expected)?.trim());
    ns.map_or_else(|| ValueError::bad(expected), Ok)
}

impl Limits {
    /// The limits as quality of service for the schedulers.
    #[must_use]
    pub fn qos(&self) -> Qos {
        let mut qos = Qos::NONE;
        self.0.iter().for_each(|(limit, value)| limit.set(&mut qos, Some(*value)));
        qos
    }

    /// The first contradiction among the limits: the limit at fault, and a message in the terms of
    /// job files.
    pub(super) fn contradiction(&self) -> Option<(QosKey, String)> {
        let found = self.qos().check(self.0.contains_key(&QosKey::Burst)).err()?;
        let limit = QosKey::named(found.key())?;
        let text = QosKey::ALL.into_iter().fold(found.to_string(), |text, limit| {
            text.replace(&format!("`{}`", limit.name()), &format!("`{}`", key(limit)))
        });
        Some((limit, text))
    }
}

impl Serialize for Limits {
    /// A target is a whole number of microseconds, under a name of its own.
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(self.0.iter().map(|(limit, value)| match limit {
            QosKey::LatencyP99 => ("latency_p99_us", value / 1_000),
            QosKey::FsyncP99 => ("fsync_p99_us", value / 1_000),
            _ => (limit.name(), value / limit.notation().unit),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobfile::{Context, JobFile};

    #[test]
    fn every_limit_has_a_key_and_is_written_as_it_was_read() {
        let all = || (1..).zip(QosKey::ALL).map(|(value, limit)| (limit, value));
        let lines = all().map(|(limit, value)| format!("{}={value}\n", key(limit)));
        let lines: String = lines.collect();
        let text = format!("[job]\nrw=read\nsize=1m\ngroup=/a\n{lines}");
        let file = JobFile::parse("limits.fio", &text, &Context::closed()).unwrap();
        let resolved = file.resolve().unwrap();
        let limits = &resolved.jobs[0].group.as_ref().unwrap().limits;
        assert_eq!(
            limits.0,
            all().map(|(limit, value)| (limit, value * limit.notation().unit)).collect()
        );
        assert!(limits.qos().settings().eq(limits.0.clone()));
        let [rates, times] = [
            r#"{"min_iops":1,"min_bps":2,"max_iops":3,"max_bps":4"#,
            r#","burst_ms":9,"burst_iops":10,"burst_bps":11,"burst_for":12"#,
        ];
        let apart = r#","max_read_iops":5,"max_read_bps":6,"max_write_iops":7,"max_write_bps":8"#;
        let targets = r#","latency_p99_us":13000,"fsync_p99_us":14000}"#;
        assert_eq!(serde_json::to_string(limits).unwrap(), [rates, apart, times, targets].concat());
    }
}
