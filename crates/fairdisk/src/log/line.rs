//! A log event as a line of text, in logfmt or JSON.

use serde_json::{Map, Value};
use std::fmt::Write as _;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tracing::Level;

/// The name of an event and its key-value pairs, in the order in which they were recorded.
#[derive(Debug, Default)]
pub(super) struct Fields {
    event: String,
    list: Vec<(&'static str, Value)>,
}

/// One log event.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) level: Level,
    at: SystemTime,
    pub(super) fields: Fields,
}

impl Fields {
    pub(super) fn add(&mut self, name: &'static str, value: Value) {
        match value {
            Value::String(event) if name == "message" => self.event = event,
            value => self.list.push((name, value)),
        }
    }
}

impl Line {
    pub(super) fn new(level: Level, at: SystemTime) -> Self {
        Self { level, at, fields: Fields::default() }
    }

    fn level(&self) -> &'static str {
        match self.level {
            Level::ERROR => "error",
            Level::WARN => "warn",
            Level::INFO => "info",
            _ => "debug",
        }
    }

    /// The event as `ts=… level=… event=… key=value …`.
    pub(super) fn logfmt(&self) -> String {
        format!("ts={} level={} {}", timestamp(self.at), self.level(), self.without_time())
    }

    /// The event in logfmt without `ts` and `level`, for a system log, which records those itself.
    pub(super) fn without_time(&self) -> String {
        let mut text = "event=".to_owned();
        push(&mut text, &self.fields.event);
        for (name, value) in &self.fields.list {
            let _ = write!(text, " {name}=");
            match value {
                Value::String(value) => push(&mut text, value),
                other => text.push_str(&other.to_string()),
            }
        }
        text
    }

    pub(super) fn json(&self) -> String {
        let mut map = Map::new();
        map.insert("ts".to_owned(), timestamp(self.at).into());
        map.insert("level".to_owned(), self.level().into());
        map.insert("event".to_owned(), self.fields.event.as_str().into());
        let fields = self.fields.list.iter();
        map.extend(fields.map(|(name, value)| ((*name).to_owned(), value.clone())));
        Value::Object(map).to_string()
    }
}

/// Appends a logfmt value, quoted if it is empty or contains characters that would split it.
fn push(text: &mut String, value: &str) {
    let is_plain =
        |c: char| !c.is_control() && !c.is_whitespace() && !matches!(c, '"' | '=' | '\\');
    if !value.is_empty() && value.chars().all(is_plain) {
        text.push_str(value);
        return;
    }
    // Quoted as a JSON string, whose escapes every logfmt reader understands.
    text.push_str(&Value::from(value).to_string());
}

/// The time in RFC 3339 format, in UTC with milliseconds.
fn timestamp(at: SystemTime) -> String {
    let since = at.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    let (day, second) = (since.as_secs() / 86_400, since.as_secs() % 86_400);
    let (year, month, date) = civil(day);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    let ms = since.subsec_millis();
    format!("{year:04}-{month:02}-{date:02}T{hour:02}:{minute:02}:{second:02}.{ms:03}Z")
}

/// Year, month and day of the month, in the Gregorian calendar, of a day counted from 1970-01-01.
/// Internally a year begins in March, so that the leap day is its last day.
const fn civil(day: u64) -> (u64, u64, u64) {
    let day = day + 719_468;
    let (era, day) = (day / 146_097, day % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let date = day - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (era * 400 + year + next, month, date)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line() -> Line {
        let at = UNIX_EPOCH + Duration::from_millis(1_709_210_096_007);
        let mut line = Line::new(Level::WARN, at);
        line.fields.add("message", "setting changed".into());
        line.fields.add("group", "/a b\"c\\d\ne=f".into());
        line.fields.add("old", "".into());
        line.fields.add("uid", 0.into());
        line
    }

    #[test]
    fn values_stay_in_one_piece() {
        let text = line().logfmt();
        assert_eq!(
            text,
            "ts=2024-02-29T12:34:56.007Z level=warn event=\"setting changed\" \
             group=\"/a b\\\"c\\\\d\\ne=f\" old=\"\" uid=0"
        );
        let value: Value = serde_json::from_str(&line().json()).unwrap();
        assert_eq!(value["group"], "/a b\"c\\d\ne=f");
        assert_eq!((&value["event"], &value["uid"]), (&"setting changed".into(), &0.into()));
    }

    #[test]
    fn days_are_those_of_the_calendar() {
        for (day, date) in [
            (0, (1970, 1, 1)),
            (364, (1970, 12, 31)),
            (11_016, (2000, 2, 29)),
            (11_017, (2000, 3, 1)),
            (20_747, (2026, 10, 21)),
            (47_540, (2100, 2, 28)),
            (47_541, (2100, 3, 1)),
        ] {
            assert_eq!(civil(day), date, "{day}");
        }
    }
}
