//! What tasks of a job file do about what they measure, as the machine wants it.

use crate::jobfile::{
    Criterion, Ends as JobEnds, Job, LatencyTarget as JobTarget, LeastRate as JobLeast,
    PerOp as JobPerOp, SubmissionClass, Watch as JobWatch,
};
use fairdisk_core::Span;
use fairdisk_sim::workload::{Ends, Flow, LatencyTarget, LeastRate, Limit, PerOp, Steady, Watch};

const MILLION: f64 = 1e6;

/// What else ends with a task of the job.
pub(super) const fn ends(job: &Job) -> Ends {
    match job.ends {
        None | Some(JobEnds::Group) => Ends::Set,
        Some(JobEnds::Running) => Ends::Running,
        Some(JobEnds::All) => Ends::All,
    }
}

/// The part that a task of the job has of what its flow does.
pub(super) fn flow(job: &Job) -> Option<Flow> {
    let flow = job.flow?;
    let pause = Span::from_us(u64::from(flow.sleep_us));
    Some(Flow { id: flow.id, weight: flow.weight.get(), pause })
}

/// What a task of the job looks at.
pub(super) fn watch(job: &Job) -> Watch {
    let JobWatch { least, latency_max_ns, steady, target } = &job.watch;
    let per_op = |list: &JobPerOp<Option<u64>>| PerOp {
        read: list.read,
        write: list.write,
        trim: list.trim,
    };
    let least = least.as_ref().map(|JobLeast { bytes_per_s, ios_per_s, cycle_ms }| LeastRate {
        bytes_per_s: per_op(bytes_per_s),
        ios_per_s: per_op(ios_per_s),
        cycle: Span::from_ms(u64::from(*cycle_ms)),
    });
    let steady = steady.as_ref().map(|steady| {
        let Criterion { bytes, slope, limit, percent } = steady.criterion;
        let limit = if percent {
            Limit::OfMean((limit / 100.0 * MILLION).round() as u64)
        } else {
            Limit::Millionths((limit * MILLION).round() as u64)
        };
        let (lasting, ramp) = (Span::from_ns(steady.lasting_ns), Span::from_ns(steady.ramp_ns));
        Steady { bytes, slope, limit, lasting, ramp }
    });
    let depth_max = match job.submission.class {
        SubmissionClass::Async(queue) => queue.depth,
        _ => 1,
    };
    let target = target.as_ref().map(|target| {
        let JobTarget { latency_ns, window_ns, percent, goes_on } = *target;
        LatencyTarget {
            latency: Span::from_ns(latency_ns),
            window: Span::from_ns(window_ns),
            millionths: (percent / 100.0 * MILLION).round() as u32,
            goes_on,
            depth_max,
        }
    });
    Watch { least, longest: latency_max_ns.map(Span::from_ns), steady, target }
}
