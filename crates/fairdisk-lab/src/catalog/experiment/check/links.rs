//! Checks of references between tasks of a row: which tasks they follow, and whose files they use.

use crate::catalog::allowed::Wrong;
use crate::catalog::error::unknown;
use crate::catalog::experiment::{Experiment, Row, Tasks, Until};

/// Checks the references of the tasks in line `at` of a row.
pub(super) fn check_links(
    experiment: &Experiment,
    path: &str,
    row: &Row,
    at: usize,
) -> Result<(), Wrong> {
    let tasks = &row.tasks[at];
    let wrong = |key: &str, text: String| Err((format!("{path}.{key}"), text.into()));
    if let Some(name) = &tasks.after {
        let other = before(row, at, path, "after", name)?;
        if other.background || !experiment.task(other).has_end() {
            let text = format!(
                "`{name}` never ends; give it `bytes_mib` or `ios` and no `background`, or drop \
                 `after`"
            );
            return wrong("after", text);
        }
        if experiment.until == Some(Until::First) {
            let text = "the run ends with the first task that is done; drop `after`, or give \
                        `until = \"done\"`";
            return wrong("after", text.to_owned());
        }
        if tasks.start_s.is_some() {
            let text = "`start_s` and `after` exclude each other; drop one of them";
            return wrong("start_s", text.to_owned());
        }
    }
    if let Some(name) = &tasks.files_of {
        let other = before(row, at, path, "files_of", name)?;
        if tasks.file.is_some() || tasks.new {
            let text = format!("the files are those of `{name}`; drop `file` and `new`");
            return wrong("files_of", text);
        }
        let volumes = [other, tasks].map(|tasks| experiment.task(tasks).volume);
        if volumes[0] != volumes[1] {
            let text = format!(
                "the files of `{name}` are on volume `{}`, not on `{}`",
                volumes[0], volumes[1]
            );
            return wrong("files_of", text);
        }
    }
    Ok(())
}

/// The tasks with this name in a line above line `at`.
fn before<'a>(
    row: &'a Row,
    at: usize,
    path: &str,
    key: &str,
    name: &str,
) -> Result<&'a Tasks, Wrong> {
    let above = &row.tasks[..at];
    above.iter().find(|tasks| tasks.name.as_deref() == Some(name)).ok_or_else(|| {
        let later = row.task_names().any(|known| known == name);
        let known: Vec<&str> = above.iter().filter_map(|tasks| tasks.name.as_deref()).collect();
        let text = match later {
            true => format!("`{name}` is no task above this one; put it there"),
            false => unknown("named task above this one", name, &known),
        };
        (format!("{path}.{key}"), text.into())
    })
}
