//! The `set` key of an arm or a row: changes to its scheduler and to other files.

use crate::catalog::overrides::Override;

/// The other files that an arm may change.
pub(super) const OF_ARM: [&str; 2] = ["device", "host"];
/// The other files that a row may change.
pub(super) const OF_ROW: [&str; 3] = ["device", "host", "volume"];

/// The file that a change names first, or the first part of a scheduler's key.
pub(super) fn scope(set: &str) -> &str {
    set.trim_start().split('.').next().unwrap_or_default()
}

/// Parses the `set` key of `whose`, which may change the scheduler and files of these scopes.
pub(super) fn read(
    set: &[String],
    whose: &str,
    scopes: &[&str],
) -> Result<Vec<Override>, (usize, String)> {
    let read = |(at, set): (usize, &String)| {
        if !set.contains('=') {
            return Err((at, format!("{set}: expected KEY=VALUE, as in cfq.slice_idle_ms=0")));
        }
        if let Some(rest) = set.trim_start().strip_prefix("scheduler.") {
            return Err((at, format!("{set}: in {whose} that is `{rest}`")));
        }
        if scope(set) == "experiment" {
            return Err((at, format!("{set}: all rows and arms are of one experiment; {REMEDY}")));
        }
        let is_other = scopes.contains(&scope(set));
        let whole = if is_other { set.clone() } else { format!("scheduler.{set}") };
        Override::listed(&whole, set).map_err(|message| (at, message))
    };
    let changes: Vec<Override> = set.iter().enumerate().map(read).collect::<Result<_, _>>()?;
    Override::demand_once(&changes)?;
    Ok(changes)
}

const REMEDY: &str = "a row has its own `duration_s`, and what tasks have is said in `tasks`";
