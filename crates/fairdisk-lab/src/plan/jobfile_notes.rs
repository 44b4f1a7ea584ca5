//! Notes on the results of a job file.

use crate::jobfile::{Job, Resolved, SubmissionClass, is_sync};

/// How engines were modelled, and the parser's notes.
pub(super) fn notes(resolved: &Resolved) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    for job in &resolved.jobs {
        let note = engine(job).filter(|note| !notes.contains(note));
        notes.extend(note);
    }
    notes.extend(resolved.notes.iter().map(ToString::to_string));
    notes
}

/// A note on jobs that end by their `runtime` although the caller says how long to run.
pub(super) fn keeps_runtime(jobs: &[String]) -> Option<String> {
    let (noun, verb) = if jobs.len() == 1 { ("job", "ends") } else { ("jobs", "end") };
    let names: Vec<String> = jobs.iter().map(|name| format!("`{name}`")).collect();
    let names = names.join(", ");
    (!jobs.is_empty()).then(|| {
        format!(
            "{noun} {names}: {verb} by `runtime` and not with --duration, as others wait for it"
        )
    })
}

/// How the engine of a job was modelled. Nobody expects anything else of a synchronous one.
fn engine(job: &Job) -> Option<String> {
    let class = match job.submission.class {
        SubmissionClass::Sync if is_sync(job.submission.engine) => return None,
        SubmissionClass::Sync => "one I/O at a time".to_owned(),
        SubmissionClass::Mapped => "page faults, one at a time, of the lab's memory".to_owned(),
        SubmissionClass::Null => "no disk is touched".to_owned(),
        SubmissionClass::Async(queue) => format!("up to {} I/Os in flight", queue.depth),
    };
    Some(format!("job `{}`: ioengine {} runs as: {class}", job.name, job.submission.engine))
}
