//! What to know about the result of a job file.

use crate::jobfile::{GroupSetting, GroupShare, IoPrio, Job, Resolved, SubmissionClass};
use fairdisk_sched::{Nesting, SchedulerSpec};

/// How engines were understood, what `scheduler` does not look at, and the reader's notes.
pub(super) fn notes(resolved: &Resolved, scheduler: &str, spec: &SchedulerSpec) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    for job in &resolved.jobs {
        let note = engine(job);
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
    notes.extend(unused(&resolved.jobs, scheduler, spec));
    notes.extend(resolved.notes.iter().map(ToString::to_string));
    notes
}

fn engine(job: &Job) -> String {
    let class = match job.submission.class {
        SubmissionClass::Sync => "one I/O at a time".to_owned(),
        SubmissionClass::Mapped => "page faults, one at a time, of the lab's memory".to_owned(),
        SubmissionClass::Null => "no disk is touched".to_owned(),
        SubmissionClass::Async(queue) => format!("up to {} I/Os in flight", queue.depth),
    };
    format!("job `{}`: ioengine {} runs as: {class}", job.name, job.submission.engine)
}

/// Shares and priorities that jobs ask for and do not get.
fn unused(jobs: &[Job], scheduler: &str, spec: &SchedulerSpec) -> Vec<String> {
    let groups = || jobs.iter().filter_map(|job| job.group.as_ref());
    let mut notes = Vec::new();
    let honours = spec.honours();
    if !honours.shares && groups().any(|group| group.share != GroupShare::Default) {
        notes.push(format!(
            "scheduler `{scheduler}` does not look at the weights and priorities of groups; \
             two-layer-cfq does"
        ));
    }
    let mut limits = groups().flat_map(|group| group.limits.0.keys());
    if let Some(limit) = limits.find(|limit| !honours.keeps(limit.name())) {
        let key = limit.key();
        notes.push(format!("scheduler `{scheduler}` takes no notice of {key}; fair does"));
    }
    let (levels, instead) = match honours.nesting {
        Nesting::None => (1, "every path is a group beside all others"),
        Nesting::OneLevel => (2, "what lies deeper is taken to lie in the outermost group"),
        Nesting::Deep => (usize::MAX, ""),
    };
    let is_deeper = |group: &&GroupSetting| group.path.matches('/').count() > levels;
    if let Some(group) = groups().find(is_deeper).filter(|_| honours.shares) {
        notes.push(format!(
            "group `{}`: scheduler `{scheduler}` does not nest groups so deep: {instead}; fair does",
            group.path
        ));
    }
    let asks = |job: &Job| job.priority.io != IoPrio::FromNice || job.priority.nice != 0;
    if !honours.priorities && jobs.iter().any(asks) {
        notes.push(format!(
            "scheduler `{scheduler}` does not look at prio, prioclass and nice; cfq and \
             two-layer-cfq do"
        ));
    }
    notes
}
