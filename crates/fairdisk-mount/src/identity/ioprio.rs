//! The I/O priority of a thread: the one set by ionice(1), or the one derived from its CPU
//! scheduling.

use fairdisk_core::{IoClass, IoPrio};

const WHO_PROCESS: libc::c_int = 1;
const CLASS_SHIFT: libc::c_long = 13;

/// The I/O priority set for the thread `tid`, if any.
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

/// The I/O priority of a thread for which none is set.
pub(crate) fn from_cpu(tid: u32) -> IoPrio {
    let Ok(tid) = i32::try_from(tid) else { return IoPrio::UNSET };
    // SAFETY: the call takes a plain number and touches no memory of ours.
    let policy = unsafe { libc::sched_getscheduler(tid) };
    let pid = rustix::process::Pid::from_raw(tid);
    let nice = pid.and_then(|pid| rustix::process::getpriority_process(Some(pid)).ok());
    follows(policy, nice.unwrap_or(0))
}

/// Derives the class from the scheduling policy, and the level from the nice value. For a thread
/// that has ended, `policy` is negative and the class stays unset.
fn follows(policy: libc::c_int, nice: i32) -> IoPrio {
    let unset = IoPrio::from_nice(nice.clamp(-20, 19) as i8);
    let class = match policy & !libc::SCHED_RESET_ON_FORK {
        _ if policy < 0 => unset.class,
        libc::SCHED_IDLE => IoClass::Idle,
        libc::SCHED_FIFO | libc::SCHED_RR => IoClass::RealTime,
        _ => unset.class,
    };
    IoPrio { class, ..unset }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

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
        let nice = rustix::process::getpriority_process(None).unwrap();
        assert_eq!(from_cpu(std::process::id()), IoPrio::from_nice(nice as i8));
    }

    #[test]
    fn the_class_follows_from_how_a_thread_gets_the_cpu() {
        let real_time = |level| IoPrio { class: IoClass::RealTime, level };
        assert_eq!(follows(libc::SCHED_FIFO, 0), real_time(4));
        assert_eq!(follows(libc::SCHED_RR | libc::SCHED_RESET_ON_FORK, -20), real_time(0));
        assert_eq!(follows(libc::SCHED_BATCH, 10), IoPrio::from_nice(10));
        assert_eq!(follows(-1, 0), IoPrio::UNSET, "it is gone");
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        let (pid, param) = (child.id(), libc::sched_param { sched_priority: 0 });
        // SAFETY: the parameters live until the call returns.
        let set = unsafe { libc::sched_setscheduler(pid as i32, libc::SCHED_IDLE, &param) };
        assert_eq!(set, 0, "everybody may do so");
        let own = from_cpu(std::process::id());
        assert_eq!(from_cpu(pid), IoPrio { class: IoClass::Idle, ..own });
        drop(child.stdin.take());
        child.wait().unwrap();
    }
}
