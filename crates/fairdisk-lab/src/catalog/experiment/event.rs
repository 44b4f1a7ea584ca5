//! Events: what somebody does while a row runs.

use serde::Deserialize;

/// What somebody does at a time. One of the keys but `at_s`, `priority`, `weight` and `to` is
/// there.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Event {
    /// When, in seconds from the beginning of the run.
    pub at_s: f64,
    /// A scheduler takes over: an id of the catalogue or the path of a `.toml` file.
    pub scheduler: Option<String>,
    /// The arm's own scheduler takes over again.
    #[serde(default)]
    pub back: bool,
    /// A group is made, which is not there before.
    pub make: Option<String>,
    /// A group is removed, whose tasks have been ended.
    pub remove: Option<String>,
    /// A group gets another priority or weight.
    pub group: Option<String>,
    /// Its new priority.
    pub priority: Option<u8>,
    /// Its new weight.
    pub weight: Option<u32>,
    /// The tasks of a name are ended.
    pub end: Option<String>,
    /// The tasks of a name move to another group.
    #[serde(rename = "move")]
    pub moves: Option<String>,
    /// The group to which they move.
    pub to: Option<String>,
    /// From now on every request fails.
    #[serde(default)]
    pub disk_fails: bool,
}

/// What somebody does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Deed {
    /// Lets the scheduler take over that has this id or path.
    Switch(String),
    /// Lets the arm's own scheduler take over again.
    Back,
    /// Makes the group of this name.
    Make(String),
    /// Removes the group of this name.
    Remove(String),
    /// Gives the group of this name another priority.
    Priority(String, u8),
    /// Gives the group of this name another weight.
    Weight(String, u32),
    /// Ends the tasks of this name.
    End(String),
    /// Moves the tasks of this name to the group of that name.
    Move(String, String),
    /// Lets every request fail.
    DiskFails,
}

impl Event {
    /// The keys of which each event has one.
    pub(super) const KEYS: &str =
        "`scheduler`, `back`, `make`, `remove`, `group`, `end`, `move`, `disk_fails`";

    /// What the keys say is done; each once, in the order of [`KEYS`](Self::KEYS).
    fn deeds(&self) -> Vec<Deed> {
        let priority = |name: &String| Some(Deed::Priority(name.clone(), self.priority?));
        let weight = |name: &String| Some(Deed::Weight(name.clone(), self.weight?));
        let group = self.group.iter();
        let each = [
            self.scheduler.clone().map(Deed::Switch),
            self.back.then_some(Deed::Back),
            self.make.clone().map(Deed::Make),
            self.remove.clone().map(Deed::Remove),
            self.end.clone().map(Deed::End),
            self.moves.clone().zip(self.to.clone()).map(|(tasks, to)| Deed::Move(tasks, to)),
            self.disk_fails.then_some(Deed::DiskFails),
        ];
        let settings = group.flat_map(|name| [priority(name), weight(name)]);
        each.into_iter().chain(settings).flatten().collect()
    }

    /// What is done.
    ///
    /// # Errors
    /// The keys say nothing, or several things.
    pub fn deed(&self) -> Result<Deed, String> {
        let is_setting = self.priority.is_some() || self.weight.is_some();
        if self.moves.is_some() != self.to.is_some() {
            return Err("`move` goes with `to`, the group to which the tasks move".to_owned());
        }
        match (self.deeds().as_slice(), self.group.is_some() == is_setting) {
            ([deed], true) => Ok(deed.clone()),
            (_, false) => Err("`group` goes with `priority` or `weight`".to_owned()),
            ([], true) => Err(format!("nothing is done; add one of {}", Self::KEYS)),
            _ => Err(format!("give each event one of {}", Self::KEYS)),
        }
    }
}

impl Deed {
    /// The deed in words.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Self::Switch(name) => format!("scheduler {name}"),
            Self::Back => "the arm's own scheduler again".to_owned(),
            Self::Make(group) => format!("group {group} made"),
            Self::Remove(group) => format!("group {group} removed"),
            Self::Priority(group, priority) => format!("group {group} gets priority {priority}"),
            Self::Weight(group, weight) => format!("group {group} gets weight {weight}"),
            Self::End(tasks) => format!("tasks {tasks} ended"),
            Self::Move(tasks, to) => format!("tasks {tasks} moved to {to}"),
            Self::DiskFails => "the disk fails".to_owned(),
        }
    }
}
