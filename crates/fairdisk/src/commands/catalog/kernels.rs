//! `fairdisk catalog kernels`: the kernels whose memory management hosts may have, and what each
//! changed.

use crate::failure::Failure;
use crate::output;
use fairdisk_lab::catalog::error::unknown;
use fairdisk_sim::host::memory::{KERNEL_SWITCHES, Kernel, KernelSwitch, RELEASES};
use serde_json::{Value, json};
use std::fmt::Write as _;

/// The releases, each with the changes that it made.
pub(super) fn entries() -> impl Iterator<Item = (&'static str, String)> {
    RELEASES.into_iter().map(|release| {
        let new = KERNEL_SWITCHES.iter().filter(|switch| switch.release == Some(release));
        let new: Vec<&str> = new.map(|switch| switch.name).collect();
        let title = match (release == RELEASES[0], new.is_empty()) {
            (true, _) => "[memory] kernel; none of the changes".to_owned(),
            (_, true) => "as the one before".to_owned(),
            _ => format!("with {}", new.join(", ")),
        };
        (release, title)
    })
}

/// Prints what each change does, and which are on in a release, as a table for a host file.
pub(super) fn show(release: &str, json: bool) -> Result<(), Failure> {
    let Some(kernel) = Kernel::of_release(release) else {
        return Err(Failure::BadInput(unknown("kernel", release, &RELEASES)));
    };
    if json {
        let switches: Vec<Value> = KERNEL_SWITCHES.iter().map(|it| as_json(it, kernel)).collect();
        let value = json!({ "schema": output::SCHEMA, "id": release, "switches": switches });
        return Ok(output::print_json(&value)?);
    }
    let mut text = format!(
        "[memory]\nkernel = \"{release}\"\n\n# A host can have one of the changes on or off by \
         itself, as with\n# --set host.memory.switches.{}=true. Each is as {release} has it.\n\
         [memory.switches]\n",
        KERNEL_SWITCHES[0].name
    );
    for switch in KERNEL_SWITCHES {
        let KernelSwitch { name, commit, author, release, summary } = *switch;
        let since = release.unwrap_or("in no release");
        let source = [commit, author, since].into_iter().filter(|it| !it.is_empty());
        let source = source.collect::<Vec<_>>().join(", ");
        let on = kernel.get(name).unwrap_or_default();
        let _ = writeln!(text, "# {summary}\n# {source}\n{name} = {on}");
    }
    Ok(output::print(&text)?)
}

fn as_json(switch: &KernelSwitch, kernel: Kernel) -> Value {
    json!({
        "name": switch.name,
        "on": kernel.get(switch.name),
        "commit": switch.commit,
        "author": switch.author,
        "release": switch.release,
        "summary": switch.summary,
    })
}
