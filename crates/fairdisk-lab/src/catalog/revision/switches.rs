//! The table `[switches]` of the families that have switches.

use super::File;
use crate::catalog::error::{CatalogError, unknown};
use crate::catalog::source::Source;
use fairdisk_sched::SchedulerSpec;

impl File {
    /// Turns the switches of `family` that the file names on or off with `set`, which says whether
    /// there is one of that name.
    pub(super) fn switch(
        &self,
        source: Source<'_>,
        family: &str,
        mut set: impl FnMut(&str, bool) -> bool,
    ) -> Result<(), CatalogError> {
        for (name, on) in &self.switches {
            let path = format!("switches.{name}");
            if !set(name, *on) {
                let switches = SchedulerSpec::switches_of(Some(family));
                let known: Vec<&str> = switches.map(|switch| switch.name).collect();
                return Err(source.error_at_key(&path, unknown("switch", name, &known)));
            }
            if *on && self.family != family {
                let message =
                    format!("`{name}` is a switch of the family {family}, not of this one");
                return Err(source.error_at_key(&path, message));
            }
        }
        Ok(())
    }
}
