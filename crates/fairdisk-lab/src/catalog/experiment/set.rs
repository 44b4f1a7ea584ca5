//! `set` of an arm or a row: what it changes about its scheduler and about other files.

use crate::catalog::overrides::Override;

/// The files an arm changes beside its scheduler's.
pub(super) const OF_ARM: [&str; 2] = ["device", "host"];
/// Those that a row changes.
pub(super) const OF_ROW: [&str; 3] = ["device", "host", "volume"];

/// The file that a change names first, or the first part of a key of the scheduler.
pub(super) fn scope(set: &str) -> &str {
    set.trim_start().split('.').next().unwrap_or_default()
}

/// Reads what `whose` `set` says, which may change files of these scopes and the scheduler.
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
        let set = if is_other { set.clone() } else { format!("scheduler.{set}") };
        Override::parse(&set).map_err(|message| (at, message))
    };
    let changes: Vec<Override> = set.iter().enumerate().map(read).collect::<Result<_, _>>()?;
    Override::demand_once(&changes)?;
    Ok(changes)
}

const REMEDY: &str = "a row has its own `duration_s`, and what tasks have is said in `tasks`";
