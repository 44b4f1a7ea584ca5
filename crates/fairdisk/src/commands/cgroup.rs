//! `fairdisk cgroup`: shows groups as a directory with the control files that the two-layer CFQ
//! patches of 2008 had.

use super::daemon;
use crate::failure::Failure;
use crate::interrupt;
use crate::log::LogArgs;
use crate::output::diagnose;
use clap::Subcommand;
use fairdisk_mount::cgroups::{self, CgroupMount, Left, OWN_NAME};
use fairdisk_mount::end_at_first_panic;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Show groups as a directory: mkdir makes one, echo moves tasks and sets shares
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Mount the directory of groups
    ///
    /// Mounts a cgroup hierarchy of version 1 without controllers and shows it, with `cfq.ioprio`,
    /// `cfq.weight`, `cfq.idle` and `cfq.stat` in every group; where that cannot be, the tree of
    /// version 2. `fairdisk mount` started afterwards takes its
    /// groups from there.
    #[command(after_help = "A group:    mkdir DIRECTORY/test1\n\
        Its tasks:  echo $$ > DIRECTORY/test1/tasks\n\
        Its share:  echo 2 > DIRECTORY/test1/cfq.ioprio\n\
        What it got: cat DIRECTORY/test1/cfq.stat")]
    Mount {
        #[command(flatten)]
        place: Place,
        /// Stay in the foreground; Ctrl-C unmounts
        #[arg(long)]
        foreground: bool,
        /// Started in the background: says on standard output when it is mounted
        #[arg(long, hide = true, requires = "foreground")]
        detached: bool,
    },
    /// Unmount it; groups that are left stay as they are
    Umount {
        #[command(flatten)]
        place: Place,
    },
}

#[derive(Debug, clap::Args)]
struct Place {
    /// An empty directory where groups appear, such as /dev/cgroup
    directory: PathBuf,
    /// The name of the hierarchy
    #[arg(long, hide = true, value_name = "NAME", default_value = OWN_NAME)]
    hierarchy: String,
}

pub(crate) fn execute(args: &Args) -> Result<(), Failure> {
    match &args.action {
        Action::Mount { foreground: false, .. } => daemon::start(&["cgroup", "mount"]),
        Action::Mount { place, detached, .. } => serve(place, *detached),
        Action::Umount { place } => {
            say(place, cgroups::unmount(&place.hierarchy, &place.directory, diagnose)?);
            Ok(())
        }
    }
}

fn serve(place: &Place, detached: bool) -> Result<(), Failure> {
    // For panics and warnings; nothing else is logged.
    LogArgs::default().start(detached)?;
    end_at_first_panic();
    if detached {
        daemon::detach();
    }
    let stop = interrupt::stop_flag()?;
    let mounted = CgroupMount::mount(&place.hierarchy, &place.directory, diagnose)?;
    let hierarchy = mounted.hierarchy();
    if hierarchy.is_version2() && place.hierarchy == OWN_NAME {
        diagnose(
            "note: no hierarchy of version 1 can be made here; groups are cgroups of version 2",
        );
    }
    for mountpoint in cgroups::strangers(hierarchy.name()) {
        diagnose(&format!(
            "note: {mountpoint} was mounted before and has other groups; mount it again to use these"
        ));
    }
    let text = format!(
        "mounted groups={} hierarchy={} pid={}",
        shown(mounted.mountpoint()),
        shown(hierarchy.mount()),
        std::process::id()
    );
    if detached {
        daemon::say_ready(&text);
    } else {
        diagnose(&text);
    }
    wait(place, mounted, &stop)
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

/// Serves until the directory is unmounted or `stop` is set.
fn wait(place: &Place, mounted: CgroupMount, stop: &AtomicBool) -> Result<(), Failure> {
    while !stop.load(Ordering::Relaxed) && !mounted.is_over() {
        fairdisk_plane::pause(Duration::from_millis(100));
    }
    say(place, mounted.unmount()?);
    Ok(())
}

fn say(place: &Place, left: Left) {
    if let Left::Groups(groups) = left {
        let them = if groups == 1 { "1 group stays" } else { &format!("{groups} groups stay") };
        diagnose(&format!(
            "note: {them} in hierarchy `{}`, with their tasks and settings; mount it again to see \
             them",
            place.hierarchy
        ));
    }
    diagnose("unmounted");
}
