//! Command lines of fio on the command line: `fairdisk run --name=x --rw=randread` becomes
//! `fairdisk run 'fio --name=x --rw=randread'`, which is a SPEC like any other.

use clap::CommandFactory as _;
use fairdisk_lab::jobfile::is_fio_option;
use std::borrow::Cow;
use std::ffi::OsString;

/// The commands that take one.
const COMMANDS: [&str; 3] = ["run", "compare", "advise"];

/// The arguments with the words of fio joined into one. Words of fio are all from `fio`, from the
/// first option that fio has and the command has not, or behind `--`.
pub(crate) fn joined(arguments: Vec<OsString>) -> Vec<OsString> {
    let texts: Option<Vec<&str>> = arguments.iter().map(|word| word.to_str()).collect();
    let Some(words) = texts else { return arguments };
    let Some(command) = words.get(1).filter(|name| COMMANDS.contains(name)) else {
        return arguments;
    };
    let Some((first, rest)) = split(command, &words[2..]) else { return arguments };
    let kept = arguments[..2 + first].iter().cloned();
    let quoted: Vec<_> = rest.iter().map(|word| quoted(word)).collect();
    kept.chain([format!("fio {}", quoted.join(" ")).into()]).collect()
}

/// The word as a shell reads it; most words of fio are read as they are.
fn quoted(word: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_=:/.,%+@".contains(c);
    if word.chars().all(is_plain) && !word.is_empty() {
        return word.into();
    }
    shlex::try_quote(word).unwrap_or_else(|_| word.into())
}

/// How many words come before those of fio, and those behind the word `fio`.
fn split<'a>(command: &str, words: &'a [&'a str]) -> Option<(usize, &'a [&'a str])> {
    let cli = crate::cli::Cli::command();
    let own: Vec<&clap::Arg> = cli
        .find_subcommand(command)
        .into_iter()
        .flat_map(clap::Command::get_arguments)
        .filter(|argument| argument.get_long().is_some())
        .collect();
    let own_named = |word: &str| {
        let name = word.strip_prefix("--").unwrap_or_default().split('=').next();
        own.iter().find(|argument| argument.get_long() == name)
    };
    let is_own = |word: &str| own_named(word).is_some();
    let wants_value =
        |word: &str| own_named(word).is_some_and(|argument| argument.get_action().takes_values());
    let is_value = |at: usize| at > 0 && !words[at - 1].contains('=') && wants_value(words[at - 1]);
    let at = (0..words.len()).find(|at| match words[*at] {
        "--" => words[at + 1..].iter().any(|word| word.starts_with('-')),
        "fio" => !is_value(*at) && *at + 1 < words.len(),
        word => !is_own(word) && is_fio_option(word),
    })?;
    let skipped = usize::from(words[at] == "--");
    let rest = &words[at + skipped..];
    Some((at, rest.strip_prefix(&["fio"]).unwrap_or(rest)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined_words(line: &str) -> Vec<String> {
        let words = line.split(' ').map(OsString::from).collect();
        joined(words).into_iter().map(|word| word.into_string().unwrap()).collect()
    }

    #[test]
    fn the_words_of_fio_become_one() {
        let fio = "fio --name=x --rw=randread --size 1m";
        for line in [
            "fairdisk run --device nvme --name=x --rw=randread --size 1m",
            "fairdisk run --device nvme -- --name=x --rw=randread --size 1m",
            "fairdisk run --json fio --name=x --rw=randread --size 1m",
            "fairdisk run --device nvme fio --name=x --rw=randread --size 1m",
            "fairdisk run --device nvme -- fio --name=x --rw=randread --size 1m",
        ] {
            let joined = joined_words(line);
            assert_eq!(joined.last().unwrap(), fio, "{line}");
            assert!([4, 5].contains(&joined.len()), "{joined:?}");
        }
    }

    #[test]
    fn other_words_stay() {
        for line in [
            "fairdisk run two-groups --seeds 1 --set host.hz=1000",
            "fairdisk run -- two-groups",
            "fairdisk run two-groups --report fio --json",
            "fairdisk ctl list --name=x",
            "fairdisk run x.fio --no-such-option",
        ] {
            assert_eq!(joined_words(line).join(" "), line);
        }
    }
}
