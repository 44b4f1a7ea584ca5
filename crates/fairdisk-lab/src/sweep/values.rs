//! The values of a sweep, as the command line gives them: `KEY=a..b+step`, or `KEY=a,b,c`.

use crate::catalog::overrides::Override;

/// The most values of a sweep; more are a mistake in the step.
const VALUES_MAX: usize = 10_000;

/// A key and the values that it takes, one after another.
#[derive(Clone, Debug, PartialEq)]
pub struct Sweep {
    key: String,
    values: Vec<String>,
    changes: Vec<Override>,
}

impl Sweep {
    /// Parses `KEY=VALUES`. The values are separated by commas; one of them may be a range
    /// `FROM..TO+STEP`.
    ///
    /// # Errors
    /// Returns what is wrong with the key or its values.
    pub fn parse(text: &str) -> Result<Self, String> {
        let bad = |message: String| format!("--sweep {text}: {message}");
        let expected = format!("expected {EXPECTED}");
        let (key, list) = text.split_once('=').ok_or_else(|| bad(expected))?;
        let key = key.trim().to_owned();
        let values = values_of(list).map_err(bad)?;
        if values.len() > VALUES_MAX {
            let message = format!("{} values; up to {VALUES_MAX} with a larger step", values.len());
            return Err(bad(message));
        }
        let twice = values.iter().enumerate().find(|(at, value)| values[..*at].contains(value));
        if let Some((_, value)) = twice {
            return Err(bad(format!("{value} is there twice; drop one of them")));
        }
        let change = |value: &String| Override::given("--sweep", &format!("{key}={value}"));
        let changes = values.iter().map(change).collect::<Result<_, _>>()?;
        Ok(Self { key, values, changes })
    }

    /// The key, with its scope first.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The values, in order.
    #[must_use]
    pub fn values(&self) -> &[String] {
        &self.values
    }

    /// The change of each value.
    #[must_use]
    pub fn changes(&self) -> &[Override] {
        &self.changes
    }
}

/// What a sweep looks like.
const EXPECTED: &str = "KEY=FROM..TO+STEP or KEY=VALUE,VALUE,…, as in host.memory.mib=192..384+8";

/// The values of a list: separated by commas; one of them may be a range `FROM..TO+STEP`.
///
/// # Errors
/// Returns what is wrong with them.
pub fn values_of(list: &str) -> Result<Vec<String>, String> {
    let mut values: Vec<String> = Vec::new();
    for item in list.split(',').map(str::trim) {
        match item.split_once("..") {
            _ if item.is_empty() => {
                return Err(format!("a value is missing; expected {EXPECTED}"));
            }
            Some(range) => values.extend(of_range(item, range)?),
            None => values.push(item.to_owned()),
        }
    }
    Ok(values)
}

/// The values of a range. They have as many digits behind the point as its numbers.
fn of_range(item: &str, (from, rest): (&str, &str)) -> Result<Vec<String>, String> {
    let Some((to, step)) = rest.split_once('+') else {
        return Err(format!("the step of {item} is missing; expected {item}+STEP"));
    };
    let number = |text: &str| {
        let value: Option<f64> = text.trim().parse().ok().filter(|value: &f64| value.is_finite());
        value.ok_or_else(|| format!("{} is no number; expected FROM..TO+STEP", text.trim()))
    };
    let [low, high, by] = [number(from)?, number(to)?, number(step)?];
    if by <= 0.0 {
        return Err(format!("a step of {} leads nowhere; give one above 0", step.trim()));
    }
    if low > high {
        return Err(format!("{item} ends before it begins; expected the smaller number first"));
    }
    // Half a step of tolerance, for the last value is meant although its sum is rounded.
    let steps = ((high - low) / by + 1e-9).floor();
    if steps >= VALUES_MAX as f64 {
        return Err(format!(
            "{item} has {} values; up to {VALUES_MAX}, give a larger step",
            steps + 1.0
        ));
    }
    let behind = |text: &str| text.trim().split_once('.').map_or(0, |(_, digits)| digits.len());
    let digits = behind(from).max(behind(step));
    let value = |at: usize| format!("{:.digits$}", low + by * at as f64);
    Ok((0..=steps as usize).map(value).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<String> {
        let sweep = Sweep::parse(text).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(sweep.changes().len(), sweep.values().len());
        sweep.values().to_vec()
    }

    #[test]
    fn values_are_listed_or_a_range() {
        assert_eq!(values("host.hz=100,250, 1000"), ["100", "250", "1000"]);
        assert_eq!(values("host.memory.mib=192..216+8"), ["192", "200", "208", "216"]);
        assert_eq!(values("host.memory.mib=1..8+3"), ["1", "4", "7"]);
        assert_eq!(values("experiment.ramp_s=0.1..0.3+0.1"), ["0.1", "0.2", "0.3"]);
        assert_eq!(values("tasks.count=1,2,10..30+10"), ["1", "2", "10", "20", "30"]);
        assert_eq!(values("host.memory.kernel=2.6.30,2.6.32"), ["2.6.30", "2.6.32"]);
        assert_eq!(values("volume.cached=true,false"), ["true", "false"]);
        assert_eq!(values("host.hz=100..100+1"), ["100"]);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place_and_remedy() {
        for (text, why) in [
            ("host.hz", "--sweep host.hz: expected KEY=FROM..TO+STEP"),
            ("host.hz=1,,2", "a value is missing"),
            ("host.hz=", "a value is missing"),
            ("host.hz=1..9", "the step of 1..9 is missing; expected 1..9+STEP"),
            ("host.hz=1..x+1", "x is no number"),
            ("host.hz=1..9+0", "a step of 0 leads nowhere"),
            ("host.hz=9..1+1", "9..1+1 ends before it begins"),
            ("host.hz=1..1000000+1", "has 1000000 values; up to 10000, give a larger step"),
            ("host.hz=1,2,1", "1 is there twice"),
            ("hots.hz=1,2", "--sweep hots.hz=1: unknown scope `hots`; did you mean `host`?"),
            ("host=1,2", "which key of the host?"),
        ] {
            let error = Sweep::parse(text).expect_err(text);
            assert!(error.starts_with("--sweep ") && error.contains(why), "{text}: {error}");
        }
    }
}
