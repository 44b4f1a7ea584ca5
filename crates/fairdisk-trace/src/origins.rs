//! Who asked for requests: a device, a group, a task, a priority.

use fairdisk_core::IoPrio;
use std::collections::HashMap;

/// The number of an origin in a trace: small and dense.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OriginId(pub u32);

/// An origin of requests.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Origin {
    /// The device, volume or file; empty if the format names none.
    pub device: String,
    /// The group; empty if it is not known.
    pub group: String,
    /// The task, as `name` or `name-pid`; empty if it is not known.
    pub task: String,
    /// The task's I/O priority.
    pub ioprio: IoPrio,
}

/// The origins of a trace, by number.
#[derive(Clone, Debug, Default)]
pub struct Origins {
    all: Vec<Origin>,
    numbers: HashMap<Origin, OriginId>,
    /// Those that were asked for last, the latest first: tasks take turns.
    last: [OriginId; RECENT],
}

/// So many origins are found without a search.
const RECENT: usize = 8;

impl Origins {
    /// The number of an origin, which is new with the first request that has it.
    pub fn number(&mut self, device: &str, group: &str, task: &str, ioprio: IoPrio) -> OriginId {
        let is = |one: &Origin| {
            one.task == task && one.group == group && one.device == device && one.ioprio == ioprio
        };
        let known = |id: &OriginId| self.all.get(id.0 as usize).is_some_and(is);
        let found = self.last.iter().position(known);
        let at = found.unwrap_or(RECENT - 1);
        if found.is_none() {
            let [device, group, task] = [device, group, task].map(str::to_owned);
            self.last[at] = self.put(Origin { device, group, task, ioprio });
        }
        self.last[..=at].rotate_right(1);
        self.last[0]
    }

    /// The number of this origin. Its names are [`seen`].
    pub fn put(&mut self, origin: Origin) -> OriginId {
        let Origin { device, group, task, ioprio } = origin;
        let [device, group, task] = [device, group, task].map(seen);
        let origin = Origin { device, group, task, ioprio };
        if let Some(number) = self.numbers.get(&origin) {
            return *number;
        }
        let number = OriginId(self.all.len() as u32);
        self.all.push(origin.clone());
        self.numbers.insert(origin, number);
        number
    }

    /// The origin with this number, which a request of the same trace has.
    #[must_use]
    pub fn get(&self, at: OriginId) -> &Origin {
        &self.all[at.0 as usize]
    }

    /// All origins so far, by number.
    #[must_use]
    pub fn all(&self) -> &[Origin] {
        &self.all
    }
}

/// The path of a group and those of the groups around it but for the root, from the inside out:
/// `/a/b` and `/a`. A name that is no path is around itself alone.
pub fn enclosing(group: &str) -> impl Iterator<Item = &str> {
    let paths = std::iter::successors(Some(group), |path| Some(path.rsplit_once('/')?.0));
    paths.take_while(|path| !matches!(*path, "" | "/"))
}

/// A name as it can be shown and written in a line: letters that cannot be seen, or that turn the
/// direction of writing, are escaped. Names of tasks and cgroups are chosen by others.
pub(crate) fn seen(name: String) -> String {
    let acts = |c: char| {
        let turns = matches!(c, '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}');
        c.is_control() || turns || matches!(c, '\u{2028}'..='\u{2029}' | '\u{2066}'..='\u{2069}')
    };
    if !name.contains(acts) {
        return name;
    }
    let mut text = String::new();
    for c in name.chars() {
        if acts(c) { text.extend(c.escape_default()) } else { text.push(c) }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_shown_without_what_terminals_obey() {
        let mut origins = Origins::default();
        let number = origins.number("8,0", "/a\n\u{1b}]0;x\u{7}", "sh-1", IoPrio::UNSET);
        assert_eq!(origins.get(number).group, "/a\\n\\u{1b}]0;x\\u{7}");
        assert_eq!(origins.number("8,0", "/a\n\u{1b}]0;x\u{7}", "sh-1", IoPrio::UNSET), number);
        assert_eq!(origins.all().len(), 1);
    }
}
