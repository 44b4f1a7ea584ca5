//! Blame of real runs: the user's command is run with each switch at its good or bad value, and
//! prints the number to compare.

use super::Args;
use super::machine;
use super::shell::Shell;
use crate::failure::Failure;
use crate::interrupt;
use fairdisk_core::Span;
use fairdisk_lab::blame::{Change, FACTORS_MAX, FactorSet, Measure, Report, Sample};
use fairdisk_lab::nearest::nearest;

/// A switch: its name, its good value and its bad value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Switch {
    name: String,
    good: String,
    bad: String,
}

impl Switch {
    /// Parses `NAME=GOOD,BAD`.
    ///
    /// # Errors
    /// A message that says what is wrong or what is expected.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let expected = "expected NAME=GOOD,BAD, as in ra=128,4096";
        let (name, values) = text.split_once('=').ok_or(expected)?;
        let (good, bad) = values.split_once(',').ok_or(expected)?;
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        let starts_well = name.starts_with(|first: char| first.is_ascii_alphabetic());
        if !starts_well || !name.chars().all(is_plain) {
            return Err(
                "the name must begin with a letter and have letters, digits and _".to_owned()
            );
        }
        if good == bad {
            return Err("the good and the bad value are the same".to_owned());
        }
        if bad.contains(',') {
            return Err("expected two values".to_owned());
        }
        Ok(Self { name: name.to_owned(), good: good.to_owned(), bad: bad.to_owned() })
    }

    fn value(&self, is_bad: bool) -> &str {
        if is_bad { &self.bad } else { &self.good }
    }
}

pub(super) fn execute(args: &Args, text: &str) -> Result<(), Failure> {
    let stop = interrupt::stop_flag()?;
    let switches = &args.switches;
    let mut names: Vec<&str> = switches.iter().map(|switch| switch.name.as_str()).collect();
    names.sort_unstable();
    if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(Failure::BadInput(format!("--switch {} is given twice", twice[0])));
    }
    if switches.is_empty() || switches.len() > FACTORS_MAX {
        let message =
            format!("--command needs 1 to {FACTORS_MAX} switches: --switch NAME=GOOD,BAD");
        return Err(Failure::BadInput(message));
    }
    demand_known(text, &names)?;
    let shell = Shell::new(args.timeout.unwrap_or(TIMEOUT), &stop);
    let command = UserCommand { text, switches, shell };
    let before = machine::State::now();
    args.warm_up(&command, switches.len(), &stop)?;
    let mut design = args.design(switches.len());
    design.threads = 1;
    design.is_real = true;
    let identity = format!("{text} {switches:?}");
    let (findings, kept) = args.investigate(&command, &design, &identity, &stop)?;
    let change = |switch: &Switch| Change {
        name: switch.name.clone(),
        good: switch.good.clone(),
        bad: switch.bad.clone(),
        about: None,
    };
    let caveats = machine::doubts(&before, &findings, args.lower_is_better);
    let report = Report {
        title: text.to_owned(),
        place: "this machine".to_owned(),
        shell: "command",
        metric: "command".to_owned(),
        unit: args.unit(),
        good: "all switches good".to_owned(),
        bad: "all switches bad".to_owned(),
        changes: switches.iter().map(change).collect(),
        findings,
        divergence: None,
        published: None,
        caveats,
        excluded: Vec::new(),
    };
    args.show(&report, kept)
}

/// Checks that no `{NAME}` in the command is a misspelt switch, which would be passed on unreplaced
/// and the switch would have no effect. Other braces belong to the shell.
fn demand_known(text: &str, names: &[&str]) -> Result<(), Failure> {
    let braces = text.split('{').skip(1).filter_map(|rest| rest.split_once('}'));
    // `{}` and `{1}` belong to xargs and to the shell.
    let is_name = |name: &str| name.starts_with(|first: char| first.is_ascii_alphabetic());
    for (name, _) in braces.filter(|(name, _)| is_name(name) && !names.contains(name)) {
        if let Some(near) = nearest(name, names.iter().copied()) {
            let message =
                format!("--command: no switch is called `{name}`; did you mean `{near}`?");
            return Err(Failure::BadInput(message));
        }
    }
    Ok(())
}

/// The user's command and the switches that are put into it.
struct UserCommand<'a> {
    text: &'a str,
    switches: &'a [Switch],
    shell: Shell<'a>,
}

/// The default of `--timeout`: the longest a run may take.
pub(super) const TIMEOUT: Span = Span::from_s(600);

impl Measure for UserCommand<'_> {
    fn measure(&self, set: FactorSet, seed: u32) -> Result<Sample, String> {
        let text = self.with_values(set);
        let switches = self.switches.iter().enumerate();
        let value = |(at, one): (usize, &'_ Switch)| {
            (one.name.clone(), one.value(set.contains(at)).to_owned())
        };
        let values: Vec<(String, String)> = switches.map(value).collect();
        let variables: Vec<(&str, &str)> =
            values.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        // If the run was interrupted, nobody uses the value.
        let number = self.shell.number(&text, &variables, None).map_err(|why| {
            format!("run {} of `{text}` with {} {why}", seed + 1, self.values(set))
        })?;
        Ok(Sample { value: number.unwrap_or(0.0), trace: None })
    }
}

impl UserCommand<'_> {
    /// The command with each `{NAME}` replaced by the value of its switch.
    fn with_values(&self, set: FactorSet) -> String {
        let switches = self.switches.iter().enumerate();
        switches.fold(self.text.to_owned(), |text, (at, switch)| {
            text.replace(&format!("{{{}}}", switch.name), switch.value(set.contains(at)))
        })
    }

    /// Each switch with its value, which the command may have from the environment alone.
    fn values(&self, set: FactorSet) -> String {
        let switches = self.switches.iter().enumerate();
        let values =
            switches.map(|(at, one)| format!("{}={}", one.name, one.value(set.contains(at))));
        values.collect::<Vec<_>>().join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn switches_have_a_name_and_two_values() {
        let switch = Switch::parse("sched=mq-deadline,none").expect("well formed");
        assert_eq!((switch.value(false), switch.value(true)), ("mq-deadline", "none"));
        for bad in ["x", "x=1", "=1,2", "1x=1,2", "a-b=1,2", "x=1,1", "x=1,2,3"] {
            assert!(Switch::parse(bad).is_err(), "{bad}");
        }
    }
}
