//! iozone commands, read as iozone reads them, with nothing silently ignored.
//!
//! A command becomes a job file: a job for each process of each test, tests one after another. With
//! several numbers of processes there is a job file for each. What iozone knows and Fairdisk does
//! not honour is an error, unless it cannot change a result; then it is a note.
//!
//! ```
//! use fairdisk_lab::iozone;
//!
//! let rows = iozone::parse("x.iozone", "iozone -i 0 -i 1 -t 2 -s 8m -F d1/f d2/f\n")?;
//! assert_eq!(rows[0].label, "2 processes");
//! assert_eq!(rows[0].jobs.jobs.len(), 8);
//! # Ok::<(), fairdisk_lab::jobfile::Problems>(())
//! ```

mod command;
mod options;
mod tests_of;

use crate::jobfile::{Context, JobFile, JobRow, Place, Problems};
use options::Options;
use std::fmt::Write as _;
use tests_of::{Side, Test};

/// The rows of the command in `text`, the text of the file `name`: one for each number of
/// processes.
///
/// # Errors
/// Returns everything in the command that is wrong or not supported.
pub fn parse(name: &str, text: &str) -> Result<Vec<JobRow>, Problems> {
    let options = Options::of(name, text)?;
    let row = |&processes: &u32| {
        let file = JobFile::parse(name, &job_file(&options, processes), &Context::closed());
        let mut jobs = file.and_then(|file| file.resolve())?;
        // Places in the text made here would mean nothing to the reader.
        jobs.notes = options.notes.clone();
        let each = Test::of(&options, processes).into_iter();
        let children = each.map(|test| test.children).collect();
        let noun = if processes == 1 { "process" } else { "processes" };
        Ok(JobRow { label: format!("{processes} {noun}"), jobs, children })
    };
    options.processes.iter().map(row).collect()
}

/// Where the command in `text`, the text of the file `name`, begins.
///
/// # Errors
/// Returns an error if there is no command.
pub fn place(name: &str, text: &str) -> Result<Place, Problems> {
    Ok(command::words(name, text)?.0)
}

/// The job file of a command with so many processes.
fn job_file(options: &Options, processes: u32) -> String {
    let mut out = format!("[global]\nsize={}\nbs={}\n", options.bytes, options.record_bytes);
    // iozone gives no advice about its files.
    out.push_str("fadvise_hint=0\n");
    out.push_str("filesystem=ext2\n");
    out.push_str(if options.unmounts { "remount\n" } else { "invalidate=0\n" });
    let _ = writeln!(out, "direct={}", u8::from(options.direct));
    if options.sync {
        out.push_str("sync=1\n");
    }
    match (options.mapped, options.queue) {
        (true, _) => out.push_str("ioengine=mmap\n"),
        (_, Some(depth)) => {
            let _ = writeln!(out, "ioengine=posixaio\niodepth={depth}");
        }
        _ => out.push_str("ioengine=sync\n"),
    }
    if !options.goes_on {
        out.push_str("exitall\n");
    }
    for (at, test) in Test::of(options, processes).iter().enumerate() {
        for process in 0..processes {
            section(&mut out, options, (at, test), process);
        }
    }
    out
}

/// A process of a test as a job.
fn section(out: &mut String, options: &Options, (at, test): (usize, &Test), process: u32) {
    let file = &options.files[process as usize];
    let _ = writeln!(out, "[{}-{}]", test.job, process + 1);
    if process == 0 && at > 0 {
        out.push_str("stonewall\n");
    }
    let (rw, side) = test.pattern(options, process);
    let _ = writeln!(out, "rw={rw}\nfilename={}\ndisk={}", file.path, file.disk);
    out.push_str(&test.keys(options));
    if side == Side::Write {
        // iozone flushes in any case; with `-e` it does so once more as a part of the time.
        out.push_str(if options.flushes { "end_fsync=1\n" } else { "" });
        out.push_str("fsync_on_close=1\n");
    }
}
