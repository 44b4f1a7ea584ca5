//! I/O priorities of threads, as `ionice` sets them.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::io;

/// `IOPRIO_WHO_PROCESS` of ioprio_set(2): the number is that of a thread.
const WHO_PROCESS: libc::c_int = 1;
const CLASS_SHIFT: u32 = 13;
/// The level of a thread that has set none.
const USUAL_LEVEL: u8 = 4;

/// The class of an I/O priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// Before all others.
    RealTime,
    /// The usual one.
    BestEffort,
    /// After all others.
    Idle,
}

/// An I/O priority that somebody has set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Ioprio {
    /// The class.
    pub class: Class,
    /// The level in the class, 0 (first) to 7.
    pub level: u8,
}

impl Ioprio {
    /// The priority in the kernel's number; `None` if none was set.
    pub fn from_raw(raw: u32) -> Option<Self> {
        let class = match raw >> CLASS_SHIFT {
            1 => Class::RealTime,
            2 => Class::BestEffort,
            3 => Class::Idle,
            _ => return None,
        };
        Some(Self { class, level: u8::try_from(raw & 7).unwrap_or(USUAL_LEVEL) })
    }

    /// The kernel's number.
    pub fn raw(self) -> u32 {
        let class = match self.class {
            Class::RealTime => 1,
            Class::BestEffort => 2,
            Class::Idle => 3,
        };
        class << CLASS_SHIFT | u32::from(self.level)
    }

    /// Whether it differs from that of a thread which has set none.
    pub fn is_unusual(self) -> bool {
        self != Self { class: Class::BestEffort, level: USUAL_LEVEL }
    }

    /// The priority of a thread; `None` if it has set none or has ended.
    pub fn of_thread(tid: u32) -> Option<Self> {
        // SAFETY: the call takes and returns numbers only.
        let raw = unsafe { libc::syscall(libc::SYS_ioprio_get, WHO_PROCESS, tid) };
        u32::try_from(raw).ok().and_then(Self::from_raw)
    }

    /// Gives a thread a priority, or none.
    ///
    /// # Errors
    /// The thread has ended, or this process may not.
    pub fn give(priority: Option<Self>, tid: u32) -> io::Result<()> {
        let raw = priority.map_or(0, Self::raw);
        // SAFETY: the call takes and returns numbers only.
        let done = unsafe { libc::syscall(libc::SYS_ioprio_set, WHO_PROCESS, tid, raw) };
        if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }
}

impl fmt::Display for Ioprio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.class {
            Class::RealTime => write!(f, "real-time:{}", self.level),
            Class::BestEffort => write!(f, "best-effort:{}", self.level),
            Class::Idle => write!(f, "idle"),
        }
    }
}

impl From<Ioprio> for String {
    fn from(priority: Ioprio) -> Self {
        priority.to_string()
    }
}

impl TryFrom<String> for Ioprio {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let (class, level) = text.split_once(':').unwrap_or((&text, "4"));
        let class = match class {
            "real-time" => Class::RealTime,
            "best-effort" => Class::BestEffort,
            "idle" => Class::Idle,
            _ => return Err(format!("`{text}`: not real-time:0-7, best-effort:0-7 or idle")),
        };
        let level = if class == Class::Idle { Ok(0) } else { level.parse() };
        let level = level.ok().filter(|level| *level <= 7);
        let level = level.ok_or_else(|| format!("`{text}`: levels are 0 (first) to 7"))?;
        Ok(Self { class, level })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_priority_is_what_its_number_and_its_text_say() {
        let priority = Ioprio::from_raw(16_387).unwrap();
        assert_eq!(priority, Ioprio { class: Class::BestEffort, level: 3 });
        assert_eq!((priority.raw(), priority.to_string().as_str()), (16_387, "best-effort:3"));
        assert_eq!(Ioprio::try_from("best-effort:3".to_owned()), Ok(priority));
        assert_eq!(Ioprio::from_raw(0), None);
        let idle = Ioprio::try_from("idle".to_owned()).unwrap();
        assert_eq!((idle.class, idle.to_string()), (Class::Idle, "idle".to_owned()));
        assert!(Ioprio::try_from("real-time:8".to_owned()).unwrap_err().contains("0 (first) to 7"));
        assert!(!Ioprio::try_from("best-effort".to_owned()).unwrap().is_unusual());
    }
}
