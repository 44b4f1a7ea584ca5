//! Steps carried out, all or none, and taken back.

use crate::ioprio::Ioprio;
use crate::root::Root;
use crate::steps::{Form, Step};
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Where it is kept what was there before. It is gone with the next boot, as the settings are.
pub const STATE: &str = "/run/fairdisk/kernel.state";

/// A step and what takes it back; a line of the file in which that is kept.
#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    step: Step,
    /// The value that restores a file; none for one of a group that was made.
    before: Option<String>,
}

/// The kept steps, written before each is carried out.
struct State {
    path: PathBuf,
    file: File,
    kept: Vec<Kept>,
}

/// Carries out all steps, or none. `tell` gets a line for each.
///
/// # Errors
/// A plan is applied already, or a step cannot be done; the steps before it are taken back then.
pub fn apply(
    root: &Root,
    steps: &[Step],
    state: &Path,
    tell: &mut dyn FnMut(&str),
) -> Result<(), String> {
    let mut state = State::create(state)?;
    for step in steps {
        if let Err(why) = state.carry_out(root, step, tell) {
            let State { path, mut kept, .. } = state;
            // Of a value that the kernel made another of, something was written.
            let _ = kept.pop_if(|last| matches!(last.step, Step::Make { .. }));
            return Err(match take_back(root, kept, &path, tell) {
                Ok(()) => format!("{why}; nothing is changed"),
                Err(left) => format!("{why}; {left}"),
            });
        }
    }
    Ok(())
}

/// The lines that [`apply`] would tell.
pub fn preview(root: &Root, steps: &[Step]) -> Vec<String> {
    steps.iter().map(|step| line(step, before(root, step).as_deref())).collect()
}

/// Takes back what was applied, the last first.
///
/// # Errors
/// Nothing is applied, or something cannot be taken back; that stays kept.
pub fn undo(root: &Root, state: &Path, tell: &mut dyn FnMut(&str)) -> Result<(), String> {
    let text = match fs::read_to_string(state) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(format!("no plan is applied: {} is not there", state.display()));
        }
        Err(error) => return Err(format!("{}: {error}", state.display())),
    };
    take_back(root, parse(&text).map_err(|why| format!("{}: {why}", state.display()))?, state, tell)
}

/// The kept steps of a file.
fn parse(text: &str) -> Result<Vec<Kept>, String> {
    let mut kept = Vec::new();
    let mut lines = (1..).zip(text.lines()).peekable();
    while let Some((number, line)) = lines.next() {
        match serde_json::from_str(line) {
            Ok(one) => kept.push(one),
            // The last line may be torn if the machine went down; its step was not begun then.
            Err(_) if lines.peek().is_none() && !text.ends_with('\n') => {}
            Err(error) => return Err(format!("line {number}: {error}; nothing is taken back")),
        }
    }
    Ok(kept)
}

impl State {
    fn create(path: &Path) -> Result<Self, String> {
        let wrong = |error: io::Error| format!("{}: {error}", path.display());
        if let Some(directory) = path.parent().filter(|it| !it.as_os_str().is_empty()) {
            fs::create_dir_all(directory).map_err(wrong)?;
        }
        let file = OpenOptions::new().write(true).create_new(true).open(path);
        let file = file.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => {
                let state = path.display();
                format!("a plan is applied already ({state}); first: fairdisk kernel undo")
            }
            _ => wrong(error),
        })?;
        Ok(Self { path: path.to_owned(), file, kept: Vec::new() })
    }

    fn carry_out(
        &mut self,
        root: &Root,
        step: &Step,
        tell: &mut dyn FnMut(&str),
    ) -> Result<(), String> {
        let before = before(root, step);
        let said = line(step, before.as_deref());
        let kept = Kept { step: step.clone(), before };
        let mut text = serde_json::to_string(&kept).map_err(|error| error.to_string())?;
        text.push('\n');
        self.kept.push(kept);
        let written = self.file.write_all(text.as_bytes()).and_then(|()| self.file.sync_all());
        written.map_err(|error| format!("{}: {error}", self.path.display()))?;
        carry_out(root, step)?;
        tell(&said);
        Ok(())
    }
}

/// What takes the step back.
fn before(root: &Root, step: &Step) -> Option<String> {
    match step {
        Step::Make { .. } => None,
        Step::Write { file, form, .. } => form.value(&root.text(file)?),
        Step::Ionice { tid, .. } => Ioprio::of_thread(*tid).map(|priority| priority.to_string()),
    }
}

/// The step in words.
fn line(step: &Step, before: Option<&str>) -> String {
    match step {
        Step::Make { directory } => format!("{directory}: made"),
        Step::Write { file, value, .. } => {
            let mut text = format!("{file}: {value}");
            if let Some(before) = before {
                let _ = write!(text, " (was {before})");
            }
            text
        }
        Step::Ionice { tid, priority } => {
            let text = |priority: Option<String>| priority.unwrap_or_else(|| "none".to_owned());
            let (now, before) =
                (text(priority.map(|it| it.to_string())), before.map(str::to_owned));
            format!("thread {tid}: {now} (was {})", text(before))
        }
    }
}

fn carry_out(root: &Root, step: &Step) -> Result<(), String> {
    match step {
        Step::Make { directory } => fs::create_dir(root.place(directory))
            .map_err(|error| format!("cannot make {directory}: {error}")),
        Step::Write { file, value, form } => write(root, file, value, form),
        Step::Ionice { tid, priority } => match Ioprio::give(*priority, *tid) {
            // A thread that has ended needs none.
            Err(error) if error.raw_os_error() != Some(libc::ESRCH) => {
                Err(format!("I/O priority of thread {tid}: {error}"))
            }
            _ => Ok(()),
        },
    }
}

fn write(root: &Root, file: &str, value: &str, form: &Form) -> Result<(), String> {
    let wrong = |error: io::Error| format!("cannot write `{value}` to {file}: {error}");
    let opened = OpenOptions::new().write(true).truncate(true).open(root.place(file));
    opened.and_then(|mut file| file.write_all(value.as_bytes())).map_err(wrong)?;
    let now = root.text(file).and_then(|text| form.value(&text));
    match now {
        Some(now) if form.shows_what_was_written() && now != value => {
            Err(format!("the kernel made `{now}` of `{value}` in {file}"))
        }
        _ => Ok(()),
    }
}

/// Takes steps back, the last first. The file in which they are kept has what could not be taken
/// back, or is gone.
fn take_back(
    root: &Root,
    mut kept: Vec<Kept>,
    state: &Path,
    tell: &mut dyn FnMut(&str),
) -> Result<(), String> {
    let (mut left, mut whys) = (Vec::new(), Vec::new());
    while let Some(one) = kept.pop() {
        match take_back_one(root, &one) {
            Ok(said) => said.iter().for_each(|said| tell(said)),
            Err(why) => {
                whys.push(why);
                left.push(one);
            }
        }
    }
    let wrong = |error: io::Error| format!("{}: {error}", state.display());
    if left.is_empty() {
        return fs::remove_file(state).map_err(wrong);
    }
    left.reverse();
    write_anew(state, &left).map_err(wrong)?;
    Err(format!("not taken back (kept in {}): {}", state.display(), whys.join("; ")))
}

/// Puts a file with these steps in the place of another; one of both is there at each moment.
fn write_anew(state: &Path, kept: &[Kept]) -> io::Result<()> {
    let lines = kept.iter().map(|one| Ok(serde_json::to_string(one)? + "\n"));
    let text: String = lines.collect::<io::Result<_>>()?;
    let next = state.with_extension("next");
    let mut file = File::create(&next)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    fs::rename(next, state)
}

/// Takes one step back, and says so if there was anything to take back.
fn take_back_one(root: &Root, Kept { step, before }: &Kept) -> Result<Option<String>, String> {
    match (step, before) {
        (Step::Make { directory }, _) => match fs::remove_dir(root.place(directory)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(format!("{directory}: {error}"))
            }
            _ => Ok(Some(format!("{directory}: removed"))),
        },
        // A file of a group, or of a disk, that is gone has nothing to be taken back.
        (Step::Write { file, .. }, _) if !root.exists(file) => Ok(None),
        (Step::Write { file, form, .. }, Some(value)) => {
            write(root, file, value, form).map(|()| Some(format!("{file}: {value}")))
        }
        (Step::Write { .. }, None) => Ok(None),
        (Step::Ionice { tid, .. }, before) => {
            let priority = before.clone().and_then(|text| Ioprio::try_from(text).ok());
            let step = Step::Ionice { tid: *tid, priority };
            carry_out(root, &step).map(|()| Some(line(&step, None)))
        }
    }
}
