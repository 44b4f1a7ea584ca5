//! Priorities of tasks under BFQ that change while the tasks keep a disk busy that takes 8 ms for
//! each request.

#[path = "support/device.rs"]
mod device;

use device::{Device, Serves};
use fairdisk_core::{Change, IoClass, IoPrio, Span, TaskId};
use fairdisk_sched::bfq::{Bfq, BfqParams};

const SERVES: Serves = Serves { depth: 1, time: Span::from_ms(8), one_by_one: true };
const TASKS: [TaskId; 2] = [TaskId(0), TaskId(1)];

/// Two readers at level 4, each with so many requests, that have shared the disk for 30 s.
fn after_a_while(requests: u32) -> Device<Bfq> {
    let params = BfqParams { low_latency: false, ..BfqParams::default() };
    let mut disk = Device::new(Bfq::new(&params), SERVES, true);
    disk.add_group(1, 100);
    assert_eq!([0; 2].map(|_| disk.add_task(1, requests)), TASKS);
    disk.run(Span::from_s(30));
    disk
}

/// A task's new priority, which its next requests bear, too.
fn set(disk: &mut Device<Bfq>, task: TaskId, class: IoClass, level: u8) {
    let ioprio = IoPrio { class, level };
    disk.tell(&Change::TaskPriority { task, ioprio });
    let slots = disk.slots.iter_mut().filter(|slot| slot.task == task);
    slots.for_each(|slot| slot.ioprio = ioprio);
}

/// What both tasks get in a minute.
fn minute(disk: &mut Device<Bfq>) -> [u32; 2] {
    disk.run(Span::from_s(60));
    TASKS.map(|task| disk.done_by(|slot| slot.task == task).0)
}

#[test]
fn a_new_level_counts_while_the_task_is_busy() {
    for requests in [1, 4] {
        let mut disk = after_a_while(requests);
        set(&mut disk, TASKS[0], IoClass::BestEffort, 7);
        set(&mut disk, TASKS[1], IoClass::BestEffort, 0);
        let [low, high] = minute(&mut disk);
        println!("{low} and {high}");
        assert!((790..=880).contains(&low) && low + high >= 7400, "{low} and {high}");
    }
}

#[test]
fn a_new_class_counts_while_the_task_is_busy() {
    let mut disk = after_a_while(1);
    set(&mut disk, TASKS[1], IoClass::RealTime, 4);
    let [ordinary, real_time] = minute(&mut disk);
    assert!(ordinary <= 1 && real_time >= 7400, "{ordinary} and {real_time}");
    set(&mut disk, TASKS[1], IoClass::Idle, 0);
    let [ordinary, idle] = minute(&mut disk);
    assert!(idle < 400 && ordinary >= 7000, "{ordinary} and {idle}");
    set(&mut disk, TASKS[1], IoClass::BestEffort, 4);
    let [one, other] = minute(&mut disk);
    assert!(one.abs_diff(other) < 200, "{one} and {other}");
}
