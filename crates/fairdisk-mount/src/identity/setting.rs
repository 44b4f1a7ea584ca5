//! The settings of a group: their keys, values and limits, and what they amount to together.

use super::hierarchy::MOUNTS;
use fairdisk_core::{Contradiction, Qos, QosKey, Refusal, Share, Span, Weight, WeightMap};
use fairdisk_sched::Honours;
use std::fmt;
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
    /// A setting of the quality of service.
    Qos(QosKey, Option<u64>),
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
            Setting::Weight(Some(weight)) => *share = Share::Weight(weight),
            Setting::Priority(Some(priority)) => *share = Share::Priority(priority),
            // Without a weight, a priority that is said still holds, and the other way round.
            Setting::Weight(None) if matches!(share, Share::Priority(_)) => {}
            Setting::Priority(None) if matches!(share, Share::Weight(_)) => {}
            Setting::Weight(None) | Setting::Priority(None) => *share = Share::DEFAULT,
            Setting::Idle(to) => *idle = to,
            Setting::Qos(key, value) => key.set(qos, value),
        }
        self
    }

    /// The keys of those settings that a scheduler ignores.
    pub fn ignored(&self, honours: Honours) -> impl Iterator<Item = &'static str> {
        let is_default = self.share == Share::DEFAULT;
        let made = self.settings().skip(usize::from(is_default)).map(Setting::parts);
        made.filter_map(move |(key, value)| value.filter(|_| !honours.keeps(key)).and(Some(key)))
    }

    /// The settings, in the order of [`Setting::all`].
    fn settings(&self) -> impl Iterator<Item = Setting> + use<> {
        let Self { share, idle, qos } = *self;
        let share = match share {
            // Nobody needs to have said so.
            Share::DEFAULT => Setting::Weight(Some(Weight::DEFAULT)),
            Share::Weight(weight) => Setting::Weight(Some(weight)),
            Share::Priority(priority) => Setting::Priority(Some(priority)),
        };
        let qos = Setting::all_of(qos);
        [share, Setting::Idle(idle)].into_iter().chain(qos)
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

impl Setting {
    /// All settings, without values. If both a weight and a priority are given, the weight counts.
    fn all() -> impl Iterator<Item = Self> {
        let qos = QosKey::ALL.map(|key| Self::Qos(key, None));
        [Self::Priority(None), Self::Weight(None), Self::Idle(None)].into_iter().chain(qos)
    }

    fn all_of(qos: Qos) -> impl Iterator<Item = Self> {
        qos.settings().map(|(key, value)| Self::Qos(key, Some(value)))
    }

    /// The settings of `qos` as [`parse`](Self::parse) reads them.
    pub(crate) fn words(qos: &Qos) -> impl Iterator<Item = String> + use<> {
        Self::all_of(*qos).filter_map(Self::word)
    }

    /// The setting as [`parse`](Self::parse) reads it, unless it is removed.
    #[must_use]
    pub fn word(self) -> Option<String> {
        let (key, value) = self.parts();
        Some(format!("{key}={}", value?))
    }

    /// The setting as [`parse`](Self::parse) reads it, also if it is removed.
    pub(super) fn in_words(self) -> String {
        let (key, value) = self.parts();
        format!("{key}={}", value.as_deref().unwrap_or("none"))
    }

    /// The keys of all settings.
    pub fn keys() -> impl Iterator<Item = &'static str> {
        Self::all().map(Self::key)
    }

    /// The setting with this key, without a value.
    pub(super) fn named(key: &str) -> Option<Self> {
        Self::all().find(|setting| setting.key() == key)
    }

    /// The key.
    pub(crate) const fn key(self) -> &'static str {
        match self {
            Self::Weight(_) => "weight",
            Self::Priority(_) => "ioprio",
            Self::Idle(_) => "idle",
            Self::Qos(key, _) => key.name(),
        }
    }

    /// Whether it is about the share, which is the same on all disks.
    pub(super) const fn is_of_share(&self) -> bool {
        matches!(self, Self::Weight(_) | Self::Priority(_))
    }

    /// The keys of the share.
    pub(super) const fn keys_of_share() -> [&'static str; 2] {
        [Self::Weight(None).key(), Self::Priority(None).key()]
    }

    /// Whether it is one of a floor.
    pub(crate) const fn is_of_floor(&self) -> bool {
        matches!(self, Self::Qos(QosKey::MinIops | QosKey::MinBps, _))
    }

    /// The values that the setting takes.
    fn takes(self) -> String {
        let (what, values, none) = match self {
            Self::Weight(_) => ("a weight is a number from", "1 to 10000", "none"),
            Self::Priority(_) => ("a group priority is a number from", "0 (high) to 7", "none"),
            Self::Idle(_) => {
                ("how long to wait is a whole number of ms from", "0 to 1000", "default")
            }
            Self::Qos(key, _) => {
                let (what, none) = match key {
                    QosKey::Burst => ("a burst is a whole number of ms from", "default"),
                    QosKey::BurstFor => ("a burst lasts a whole number of seconds from", "default"),
                    QosKey::LatencyP99 => ("a latency target is a number of ms from", "none"),
                    QosKey::FsyncP99 => ("a target for fsync is a number of ms from", "none"),
                    _ => ("a rate, each second, is", "none"),
                };
                (what, key.notation().words, none)
            }
        };
        format!("{what} {values}, or {none}")
    }

    /// Parses several settings as [`parse`](Self::parse) does.
    ///
    /// # Errors
    /// One of the texts is not a setting, or a setting is given twice.
    pub fn parse_all<T: AsRef<str>>(texts: &[T]) -> Result<Vec<Self>, SettingError> {
        let mut all: Vec<Self> = Vec::new();
        for text in texts {
            let setting = Self::parse(text.as_ref())?;
            if all.iter().any(|other| other.key() == setting.key()) {
                return Err(SettingError::Twice(setting.key()));
            }
            all.push(setting);
        }
        Ok(all)
    }

    /// Parses `weight=200`, `ioprio=2`, `idle=20` (milliseconds), `max_bps=10M` and so on; the
    /// value `default` or `none` removes a setting.
    ///
    /// # Errors
    /// There is no `=`, the key is unknown, or the value is out of range.
    pub fn parse(text: &str) -> Result<Self, SettingError> {
        let parts = text.split_once('=');
        let (key, value) = parts.ok_or_else(|| SettingError::NoValue(text.to_owned()))?;
        Self::of(key.trim(), value.trim())
    }

    /// The setting with this key and value, as [`parse`](Self::parse) reads them.
    pub(crate) fn of(key: &str, value: &str) -> Result<Self, SettingError> {
        let none = Self::named(key).ok_or_else(|| SettingError::Key(key.to_owned()))?;
        let is_max = value == "max" && matches!(none, Self::Qos(key, _) if key.is_ceiling());
        let is_none = is_max || matches!(value, "default" | "none");
        let setting = if is_none { Some(none) } else { none.with_value(value) };
        setting.ok_or_else(|| SettingError::Value { setting: none, value: value.to_owned() })
    }

    /// The setting with a value; `None` if the value is out of range.
    fn with_value(self, value: &str) -> Option<Self> {
        Some(match self {
            Self::Weight(_) => Self::Weight(Some(Weight::new(value.parse().ok()?)?)),
            Self::Priority(_) => {
                Self::Priority(Some(value.parse().ok().filter(|priority| *priority <= 7)?))
            }
            Self::Idle(_) => {
                Self::Idle(Some(Span::from_ms(value.parse().ok().filter(|ms| *ms <= 1000)?)))
            }
            Self::Qos(key, _) => Self::Qos(key, Some(key.parse(value)?)),
        })
    }

    /// The key, and the value unless the setting is removed.
    pub(super) fn parts(self) -> (&'static str, Option<String>) {
        let value = match self {
            Self::Weight(weight) => weight.map(|weight| weight.get().to_string()),
            Self::Priority(priority) => priority.map(|priority| priority.to_string()),
            Self::Idle(idle) => idle.map(|idle| idle.as_ms().to_string()),
            Self::Qos(key, value) => value.map(|value| key.written(value)),
        };
        (self.key(), value)
    }

    /// The key of the setting that this one replaces.
    pub(super) const fn instead_of(self) -> Option<&'static str> {
        match self {
            Self::Weight(Some(_)) => Some(Self::Priority(None).key()),
            Self::Priority(Some(_)) => Some(Self::Weight(None).key()),
            _ => None,
        }
    }
}

/// Why a setting cannot be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingError {
    /// The text has no `=`.
    NoValue(String),
    /// The setting with this key is given twice.
    Twice(&'static str),
    /// The key is unknown.
    Key(String),
    /// The value is not valid for its key.
    Value {
        /// The setting.
        setting: Setting,
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
        /// Its floor, as it would have been, in the syntax of [`Setting::parse`].
        floor: Vec<String>,
        /// The scheduler's reason.
        refusal: Refusal,
    },
}

impl fmt::Display for SettingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoValue(text) => {
                write!(f, "`{text}` is no setting; expected KEY=VALUE, such as weight=200")
            }
            Self::Twice(key) => write!(f, "`{key}` is given twice; give it once"),
            Self::Key(key) => {
                let known = Setting::keys().collect::<Vec<_>>().join(", ");
                write!(f, "unknown setting `{key}` (known: {known})")
            }
            Self::Value { setting, value } => {
                write!(f, "{}={value}: {}", setting.key(), setting.takes())
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
            Self::NotKept { group, floor, refusal } => {
                let floor = floor.join(" ");
                write!(f, "the settings of group `{group}` stay as they were: {refusal} ({floor})")
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
        assert_eq!(Setting::parse("max_bps=none"), Ok(Setting::Qos(QosKey::MaxBps, None)));
        for (text, says) in [
            ("weight=0", "1 to 10000"),
            ("weight=many", "1 to 10000"),
            ("weight=1K", "1 to 10000"),
            ("idle=2.5", "a whole number of ms from 0 to 1000"),
            ("burst_ms=1.5", "a whole number of ms from 1 to 60000"),
            ("latency_p99_ms=0", "0.001 to 60000"),
            ("latency_p99_ms=nan", "0.001 to 60000"),
            ("weight=4294967396", "1 to 10000"),
            ("ioprio=8", "0 (high) to 7"),
            ("idle=1001", "from 0 to 1000, or default"),
            ("min_iops=0", "from 1 on"),
            ("max_bps=20000000000G", "K, M or G"),
            ("burst_ms=0", "from 1 to 60000"),
            ("weight", "`weight` is no setting; expected KEY=VALUE"),
            ("200", "`200` is no setting; expected KEY=VALUE"),
            ("prio=1", "unknown setting `prio` (known: ioprio, weight, idle, min_iops"),
        ] {
            let error = Setting::parse(text).unwrap_err().to_string();
            assert!(error.contains(says), "{text}: {error}");
        }
    }

    #[test]
    fn a_setting_is_given_once() {
        let error = |texts: &[&str]| Setting::parse_all(texts).unwrap_err().to_string();
        assert_eq!(
            error(&["weight=5", "idle=1", "weight=6"]),
            "`weight` is given twice; give it once"
        );
        assert_eq!(error(&["max_bps=5", "max_bps=none"]), "`max_bps` is given twice; give it once");
        assert_eq!(Setting::parse_all(&["weight=none", "ioprio=2"]).unwrap().len(), 2);
    }

    #[test]
    fn a_refusal_names_the_values_that_are_taken_everywhere() {
        for key in QosKey::ALL {
            let error = Setting::of(key.name(), "some").unwrap_err().to_string();
            assert!(error.contains(key.notation().words), "{error}");
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
        assert_eq!(Asks::DEFAULT.to_string(), "weight=100");
        let none = [QosKey::Burst, QosKey::MinIops]
            .into_iter()
            .fold(asks, |asks, key| asks.with(Setting::Qos(key, None)));
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
        for key in Setting::keys() {
            let setting = Setting::of(key, "2").unwrap();
            assert_eq!(setting.parts(), (key, Some("2".to_owned())));
            let is_kept = SchedulerSpec::named("fair").unwrap().honours().keeps(key);
            assert_eq!(is_kept, key != QosKey::FsyncP99.name(), "{key}");
            assert!(Honours::ALL.keeps(key), "{key}");
            let gone = Setting::of(key, "none").unwrap();
            assert_eq!(gone.parts(), (key, None));
            assert_eq!(Asks::DEFAULT.with(setting).with(gone), Asks::DEFAULT);
        }
    }
}
