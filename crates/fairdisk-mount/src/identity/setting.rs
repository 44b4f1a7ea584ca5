//! The settings of a group: their keys, values and limits, and what they amount to together.

use super::hierarchy::MOUNTS;
use fairdisk_core::{Contradiction, Qos, Refusal, Share, Span, Weight, WeightMap};
use fairdisk_sched::Honours;
use std::fmt;
use std::num::NonZeroU64;
use std::path::PathBuf;

/// One setting of a group; `None` removes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// The weight, 1 to 10000.
    Weight(Option<Weight>),
    /// The group priority, 0 (high) to 7 (low).
    Priority(Option<u8>),
    /// How long the disk is kept idle for the group when it has nothing queued, up to 1 s; zero
    /// disables idling.
    Idle(Option<Span>),
    /// The floor in I/Os per second.
    MinIops(Option<NonZeroU64>),
    /// The floor in bytes per second.
    MinBps(Option<NonZeroU64>),
    /// The ceiling in I/Os per second.
    MaxIops(Option<NonZeroU64>),
    /// The ceiling in bytes per second.
    MaxBps(Option<NonZeroU64>),
    /// The burst that the ceiling permits at once, as a time at its rate.
    Burst(Option<Span>),
    /// The latency target: 99 of 100 I/Os are to complete within this time.
    LatencyP99(Option<Span>),
}

/// The settings that a group's directory states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Said {
    /// The settings in force. Those that contradict one another are left out.
    pub asks: Asks,
    /// The contradiction because of which settings were left out.
    pub refused: Option<Contradiction>,
}

impl Said {
    /// A directory without settings.
    pub const NOTHING: Self = Self { asks: Asks::DEFAULT, refused: None };
}

/// Everything that a group asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asks {
    /// The share of the disk.
    pub share: Share,
    /// How long the disk is kept idle for the group; `None` leaves that to the scheduler.
    pub idle: Option<Span>,
    /// The floor, the ceiling and the latency target.
    pub qos: Qos,
}

impl Asks {
    /// A group without settings.
    pub const DEFAULT: Self = Self { share: Share::DEFAULT, idle: None, qos: Qos::NONE };

    /// The weights that group priorities stand for, whatever the scheduler.
    pub const WEIGHTS: WeightMap = WeightMap::LinearHigh0;

    /// A copy with `setting` applied.
    #[must_use]
    pub fn with(mut self, setting: Setting) -> Self {
        let Self { share, idle, qos } = &mut self;
        match setting {
            Setting::Weight(weight) => *share = weight.map_or(Share::DEFAULT, Share::Weight),
            Setting::Priority(priority) => {
                *share = priority.map_or(Share::DEFAULT, Share::Priority);
            }
            Setting::Idle(to) => *idle = to,
            Setting::MinIops(rate) => qos.floor.iops = rate,
            Setting::MinBps(rate) => qos.floor.bytes_per_s = rate,
            Setting::MaxIops(rate) => qos.ceiling.iops = rate,
            Setting::MaxBps(rate) => qos.ceiling.bytes_per_s = rate,
            Setting::Burst(burst) => qos.burst = burst.unwrap_or(Qos::NONE.burst),
            Setting::LatencyP99(target) => qos.latency_p99 = target,
        }
        self
    }

    /// The keys of those settings that a scheduler ignores.
    pub fn ignored(&self, honours: Honours) -> impl Iterator<Item = &'static str> {
        let is_default = self.share == Share::DEFAULT;
        let made = self.settings().skip(usize::from(is_default)).map(Setting::parts);
        made.filter_map(move |(key, value)| value.filter(|_| !honours.keeps(key)).and(Some(key)))
    }

    /// The settings, in the order of [`KEYS`].
    fn settings(&self) -> impl Iterator<Item = Setting> + use<> {
        let Self { share, idle, qos } = *self;
        let share = match share {
            Share::Weight(weight) => Setting::Weight(Some(weight)),
            Share::Priority(priority) => Setting::Priority(Some(priority)),
        };
        let burst = Some(qos.burst).filter(|burst| *burst != Qos::NONE.burst);
        let others = [
            Setting::Idle(idle),
            Setting::MinIops(qos.floor.iops),
            Setting::MinBps(qos.floor.bytes_per_s),
            Setting::MaxIops(qos.ceiling.iops),
            Setting::MaxBps(qos.ceiling.bytes_per_s),
            Setting::Burst(burst),
            Setting::LatencyP99(qos.latency_p99),
        ];
        std::iter::once(share).chain(others)
    }
}

impl fmt::Display for Asks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut between = "";
        for setting in self.settings() {
            if let (key, Some(value)) = setting.parts() {
                write!(f, "{between}{key}={value}")?;
                between = " ";
            }
        }
        Ok(())
    }
}

/// The keys of all settings, and what values each takes. If both a weight and a priority are given,
/// the weight counts.
pub(super) const KEYS: [(&str, &str); 9] = [
    ("ioprio", "a group priority is a number from 0 (high) to 7, or none"),
    ("weight", "a weight is a number from 1 to 10000, or none"),
    ("idle", "how long to wait is a number of ms from 0 to 1000, or default"),
    ("min_iops", RATE),
    ("min_bps", RATE),
    ("max_iops", RATE),
    ("max_bps", RATE),
    ("burst_ms", "a burst is a number of ms from 1 to 60000, or default"),
    ("latency_p99_ms", "a latency target is a number of ms from 0.001 to 60000, or none"),
];

const RATE: &str = "a rate is a whole number a second, at least 1, with K, M or G for powers of \
                    1024, or none";

impl Setting {
    /// The keys of all settings.
    pub fn keys() -> impl Iterator<Item = &'static str> {
        KEYS.iter().map(|(key, _)| *key)
    }

    /// Parses several settings as [`parse`](Self::parse) does.
    ///
    /// # Errors
    /// One of the texts is not a setting.
    pub fn parse_all<T: AsRef<str>>(texts: &[T]) -> Result<Vec<Self>, SettingError> {
        texts.iter().map(|text| Self::parse(text.as_ref())).collect()
    }

    /// Parses `weight=200`, `ioprio=2`, `idle=20` (milliseconds), `max_bps=10M` and so on; the
    /// value `default` or `none` removes a setting.
    ///
    /// # Errors
    /// The key is unknown, or the value is out of range.
    pub fn parse(text: &str) -> Result<Self, SettingError> {
        let (key, value) = text.split_once('=').unwrap_or((text, ""));
        Self::of(key.trim(), value.trim())
    }

    pub(super) fn of(key: &str, value: &str) -> Result<Self, SettingError> {
        if !KEYS.iter().any(|(known, _)| *known == key) {
            return Err(SettingError::Key(key.to_owned()));
        }
        let setting = match value {
            "default" | "none" => Self::taken_back(key),
            _ if key == "latency_p99_ms" => milliseconds(value).map(Some).map(Self::LatencyP99),
            _ => number(value).and_then(|number| Self::numbered(key, number)),
        };
        let error = || SettingError::Value { key: key.to_owned(), value: value.to_owned() };
        setting.ok_or_else(error)
    }

    fn numbered(key: &str, number: u64) -> Option<Self> {
        let rate = || NonZeroU64::new(number).map(Some);
        let ms = |from, to| (from..=to).contains(&number).then(|| Some(Span::from_ms(number)));
        match key {
            "weight" => Weight::new(u32::try_from(number).ok()?).map(Some).map(Self::Weight),
            "ioprio" => (number <= 7).then_some(Self::Priority(Some(number as u8))),
            "idle" => ms(0, 1000).map(Self::Idle),
            "min_iops" => rate().map(Self::MinIops),
            "min_bps" => rate().map(Self::MinBps),
            "max_iops" => rate().map(Self::MaxIops),
            "max_bps" => rate().map(Self::MaxBps),
            "burst_ms" => ms(1, 60_000).map(Self::Burst),
            _ => None,
        }
    }

    pub(super) fn taken_back(key: &str) -> Option<Self> {
        Some(match key {
            "weight" => Self::Weight(None),
            "ioprio" => Self::Priority(None),
            "idle" => Self::Idle(None),
            "min_iops" => Self::MinIops(None),
            "min_bps" => Self::MinBps(None),
            "max_iops" => Self::MaxIops(None),
            "max_bps" => Self::MaxBps(None),
            "burst_ms" => Self::Burst(None),
            "latency_p99_ms" => Self::LatencyP99(None),
            _ => return None,
        })
    }

    /// The key, and the value unless the setting is removed.
    pub(super) fn parts(self) -> (&'static str, Option<String>) {
        let rate = |rate: Option<NonZeroU64>| rate.map(|rate| rate.to_string());
        let ms = |span: Option<Span>| span.map(|span| (span.as_ns() as f64 / 1e6).to_string());
        match self {
            Self::Weight(weight) => ("weight", weight.map(|weight| weight.get().to_string())),
            Self::Priority(priority) => ("ioprio", priority.map(|priority| priority.to_string())),
            Self::Idle(idle) => ("idle", ms(idle)),
            Self::MinIops(iops) => ("min_iops", rate(iops)),
            Self::MinBps(bps) => ("min_bps", rate(bps)),
            Self::MaxIops(iops) => ("max_iops", rate(iops)),
            Self::MaxBps(bps) => ("max_bps", rate(bps)),
            Self::Burst(burst) => ("burst_ms", ms(burst)),
            Self::LatencyP99(target) => ("latency_p99_ms", ms(target)),
        }
    }

    /// The key of the setting that this one replaces.
    pub(super) const fn instead_of(self) -> Option<&'static str> {
        match self {
            Self::Weight(Some(_)) => Some("ioprio"),
            Self::Priority(Some(_)) => Some("weight"),
            _ => None,
        }
    }
}

/// Parses a number, in which `K`, `M` and `G` stand for powers of 1024.
fn number(text: &str) -> Option<u64> {
    let (digits, shift) = match text.as_bytes().last()? {
        b'K' | b'k' => (&text[..text.len() - 1], 10),
        b'M' | b'm' => (&text[..text.len() - 1], 20),
        b'G' | b'g' => (&text[..text.len() - 1], 30),
        _ => (text, 0),
    };
    digits.parse::<u64>().ok()?.checked_mul(1 << shift)
}

/// Parses a number of milliseconds, which may have a fraction.
fn milliseconds(text: &str) -> Option<Span> {
    let ms: f64 = text.parse().ok()?;
    (0.001..=60_000.0).contains(&ms).then(|| Span::from_ns((ms * 1e6).round() as u64))
}

/// Why a setting cannot be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingError {
    /// The key is unknown.
    Key(String),
    /// The value is not valid for its key.
    Value {
        /// The key.
        key: String,
        /// The value.
        value: String,
    },
    /// There is no cgroup hierarchy.
    NoHierarchy,
    /// The group's path contains `..`.
    LeadsUp {
        /// The path.
        group: String,
    },
    /// The group does not exist.
    NoGroup {
        /// The path of the group.
        group: String,
        /// The directory that it would have.
        directory: PathBuf,
    },
    /// The system refuses the change.
    Refused {
        /// The path of the group.
        group: String,
        /// The error of the system.
        why: String,
    },
    /// The setting contradicts others of the group.
    Contradicts(Contradiction),
    /// The scheduler refuses the setting.
    NotKept {
        /// The path of the group.
        group: String,
        /// The scheduler's reason.
        refusal: Refusal,
    },
}

impl fmt::Display for SettingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(key) => {
                let known = KEYS.map(|(key, _)| key).join(", ");
                write!(f, "unknown setting `{key}` (known: {known})")
            }
            Self::Value { key, value } => {
                let takes = KEYS.iter().find(|(known, _)| known == key).map_or("", |(_, it)| it);
                write!(f, "{key}={value}: {takes}")
            }
            Self::NoHierarchy => write!(
                f,
                "there are no groups: no cgroup hierarchy was mounted when this started; {MOUNTS} \
                 one, for mounts after that"
            ),
            Self::LeadsUp { group } => {
                write!(
                    f,
                    "no group `{group}`: a group's path leads down from the root, without `..`"
                )
            }
            Self::NoGroup { group, directory } => {
                let directory = directory.display();
                write!(f, "no group `{group}`: there is no directory {directory}; mkdir makes one")
            }
            Self::Refused { group, why } => {
                write!(f, "the settings of group `{group}` cannot be changed: {why}")
            }
            Self::Contradicts(why) => why.fmt(f),
            Self::NotKept { group, refusal } => {
                write!(f, "the settings of group `{group}` stay as they were: {refusal}")
            }
        }
    }
}

impl std::error::Error for SettingError {}

#[cfg(test)]
mod tests {
    use super::*;
    use fairdisk_sched::SchedulerSpec;

    #[test]
    fn settings_are_read_as_they_are_written() {
        assert_eq!(Setting::parse("ioprio=2"), Ok(Setting::Priority(Some(2))));
        assert_eq!(Setting::parse("ioprio=none"), Ok(Setting::Priority(None)));
        let parts = |text: &str| Setting::parse(text).unwrap().parts();
        assert_eq!(parts("weight = 10000"), ("weight", Some("10000".to_owned())));
        assert_eq!(parts("latency_p99_ms=0.25"), ("latency_p99_ms", Some("0.25".to_owned())));
        assert_eq!(Setting::parse("idle=0"), Ok(Setting::Idle(Some(Span::ZERO))));
        assert_eq!(parts("idle=default"), ("idle", None));
        assert_eq!(parts("max_bps=10M"), ("max_bps", Some((10 << 20).to_string())));
        assert_eq!(Setting::parse("max_bps=none"), Ok(Setting::MaxBps(None)));
        for (text, says) in [
            ("weight=0", "1 to 10000"),
            ("weight=many", "1 to 10000"),
            ("latency_p99_ms=0", "0.001 to 60000"),
            ("latency_p99_ms=nan", "0.001 to 60000"),
            ("weight=4294967396", "1 to 10000"),
            ("ioprio=8", "0 (high) to 7"),
            ("idle=1001", "from 0 to 1000, or default"),
            ("min_iops=0", "at least 1"),
            ("max_bps=20000000000G", "K, M or G"),
            ("burst_ms=0", "from 1 to 60000"),
            ("prio=1", "unknown setting `prio` (known: ioprio, weight, idle, min_iops"),
        ] {
            let error = Setting::parse(text).unwrap_err().to_string();
            assert!(error.contains(says), "{text}: {error}");
        }
    }

    #[test]
    fn what_is_asked_for_is_said_in_the_words_of_settings() {
        let words = ["weight=300", "idle=0", "min_iops=50", "max_bps=1048576", "burst_ms=20"];
        let asks =
            words.iter().fold(Asks::DEFAULT, |asks, word| asks.with(Setting::parse(word).unwrap()));
        assert_eq!(asks.to_string(), words.join(" "));
        let back = asks
            .to_string()
            .split(' ')
            .fold(Asks::DEFAULT, |asks, word| asks.with(Setting::parse(word).unwrap()));
        assert_eq!(back, asks);
        assert_eq!(Asks::DEFAULT.to_string(), "ioprio=4");
        let none = asks.with(Setting::Burst(None)).with(Setting::MinIops(None));
        assert_eq!(none.to_string(), "weight=300 idle=0 max_bps=1048576");
    }

    #[test]
    fn what_a_scheduler_takes_no_notice_of_is_known() {
        let words = ["weight=5", "idle=0", "min_bps=7", "max_iops=9", "latency_p99_ms=1"];
        let asks =
            words.iter().fold(Asks::DEFAULT, |asks, word| asks.with(Setting::parse(word).unwrap()));
        let ignored = |asks: &Asks, name| {
            let honours = SchedulerSpec::named(name).unwrap().honours();
            asks.ignored(honours).collect::<Vec<_>>()
        };
        assert_eq!(ignored(&asks, "fair"), [""; 0]);
        assert_eq!(ignored(&asks, "mclock"), ["idle", "latency_p99_ms"]);
        let all = ["weight", "idle", "min_bps", "max_iops", "latency_p99_ms"];
        assert_eq!(ignored(&asks, "noop"), all);
        assert_eq!(ignored(&Asks::DEFAULT, "noop"), [""; 0], "nothing was set");
    }

    #[test]
    fn every_key_is_read_and_taken_back_under_its_name() {
        for (key, _) in KEYS {
            let setting = Setting::of(key, "2").unwrap();
            assert_eq!(setting.parts(), (key, Some("2".to_owned())));
            assert!(SchedulerSpec::named("fair").unwrap().honours().keeps(key), "{key}");
            assert!(Honours::ALL.keeps(key), "{key}");
            let gone = Setting::of(key, "none").unwrap();
            assert_eq!(gone.parts(), (key, None));
            assert_eq!(Asks::DEFAULT.with(setting).with(gone), Asks::DEFAULT);
        }
    }
}
