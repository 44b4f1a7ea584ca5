//! Notes on the results of a job file.

use crate::jobfile::{Job, Resolved, SubmissionClass};

/// How engines were modelled, and the parser's notes.
pub(super) fn notes(resolved: &Resolved) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    for job in &resolved.jobs {
        let note = engine(job);
        if !notes.contains(&note) {
            notes.push(note);
        }
    }
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
