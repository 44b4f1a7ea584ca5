//! The I/O priority of a thread: what `ionice` set, or what follows from `nice`.

use fairdisk_core::{IoClass, IoPrio};

const WHO_PROCESS: libc::c_int = 1;
const CLASS_SHIFT: libc::c_long = 13;

/// What `ionice` has set for the thread `tid`, if anything.
pub(crate) fn of(tid: u32) -> Option<IoPrio> {
    // SAFETY: the call takes plain numbers and touches no memory of ours.
    let value = unsafe { libc::syscall(libc::SYS_ioprio_get, WHO_PROCESS, tid) };
    if value < 0 { None } else { decode(value) }
}

fn decode(value: libc::c_long) -> Option<IoPrio> {
    let class = match value >> CLASS_SHIFT {
        1 => IoClass::RealTime,
        2 => IoClass::BestEffort,
        3 => IoClass::Idle,
        _ => return None,
    };
    let level = (value & 7) as u8;
    Some(IoPrio { class, level })
}

/// What a thread has for which `ionice` has set nothing.
pub(crate) fn from_nice(tid: u32) -> IoPrio {
    let pid = i32::try_from(tid).ok().and_then(rustix::process::Pid::from_raw);
    let nice = pid.and_then(|pid| rustix::process::getpriority_process(Some(pid)).ok());
    IoPrio::from_nice(nice.unwrap_or(0).clamp(-20, 19) as i8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_and_levels_are_told_apart() {
        assert_eq!(decode(0), None);
        assert_eq!(decode(4), None, "no class: the level says nothing");
        assert_eq!(decode(2 << 13 | 3), Some(IoPrio::best_effort(3)));
        assert_eq!(decode(1 << 13), Some(IoPrio { class: IoClass::RealTime, level: 0 }));
        assert_eq!(decode(3 << 13 | 7), Some(IoPrio { class: IoClass::Idle, level: 7 }));
    }

    #[test]
    fn our_own_level_follows_from_nice() {
        assert_eq!(from_nice(std::process::id()), IoPrio::UNSET);
    }
}
