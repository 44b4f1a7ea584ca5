//! `mount.fairdisk`: what mount(8) runs for a line of fstab.
//!
//! The program under another name. It translates what mount(8) passes into the options of
//! `fairdisk mount`, which are all known here by their own names, and runs that.

use crate::cli::Cli;
use crate::output::{diagnose, print};
use clap::CommandFactory as _;
use fairdisk_lab::nearest::nearest;
use std::env;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

/// What mount(8) takes for wrong usage.
const WRONG_USAGE: u8 = 1;
/// What mount(8) takes for a mount that failed.
const FAILED: u8 = 32;

const USAGE: &str = "usage: mount.fairdisk SOURCE MOUNTPOINT [-sfnv] [-o OPTIONS]";

/// Flags of mount(8) that `fairdisk mount` has under other names.
const OWN_FLAGS: [&str; 2] = ["ro", "noexec"];

/// Options for mount(8) itself and for file systems on disks, which change nothing here.
const IGNORED: [&str; 31] = [
    "_netdev",
    "async",
    "atime",
    "auto",
    "defaults",
    "diratime",
    "group",
    "lazytime",
    "loud",
    "noatime",
    "noauto",
    "nodev",
    "nodiratime",
    "nofail",
    "nogroup",
    "noiversion",
    "nolazytime",
    "nomand",
    "noowner",
    "norelatime",
    "nostrictatime",
    "nosuid",
    "nouser",
    "nousers",
    "owner",
    "relatime",
    "rw",
    "silent",
    "strictatime",
    "user",
    "users",
];

/// Options that ask for what cannot be done.
const REFUSED: [(&str, &str); 5] = [
    ("remount", "unmount it and mount it again"),
    ("suid", "set-user-id bits have no effect through the mount"),
    ("dev", "device files have no effect through the mount"),
    ("sync", "programs that need it use fsync or O_SYNC"),
    ("dirsync", "programs that need it use fsync"),
];

/// Options of `fairdisk mount` that make no sense in a line of fstab.
const OWN_ONLY: [&str; 4] = ["foreground", "detached", "help", "version"];

/// What mount(8) asked for.
#[derive(Debug, Default, PartialEq, Eq)]
struct Asked {
    places: Vec<OsString>,
    options: Vec<String>,
    sloppy: bool,
    verbose: bool,
    fake: bool,
}

/// Whether the program was called by the name of a mount helper.
pub(crate) fn is_called(name: Option<&OsStr>) -> bool {
    let name = name.map(Path::new).and_then(Path::file_name);
    name.is_some_and(|name| name.as_encoded_bytes().starts_with(b"mount."))
}

/// Does what mount(8) asks for.
pub(crate) fn run(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.collect();
    if arguments.iter().any(|argument| argument == "--help" || argument == "-h") {
        let _ = print(&format!("{USAGE}\nOPTIONS are those of `fairdisk mount`, without `--`\n"));
        return ExitCode::SUCCESS;
    }
    let translated = Asked::read(arguments.into_iter()).and_then(|asked| {
        let options = translate(&asked)?;
        Ok((asked, options))
    });
    let (asked, options) = match translated {
        Ok(translated) => translated,
        Err(why) => {
            diagnose(&format!("error: {why}"));
            return ExitCode::from(WRONG_USAGE);
        }
    };
    if asked.fake {
        return ExitCode::SUCCESS;
    }
    mount(&asked, &options)
}

fn mount(asked: &Asked, options: &[String]) -> ExitCode {
    let output = env::current_exe().and_then(|program| {
        let mut command = Command::new(program);
        command.arg("mount").args(options).args(&asked.places);
        command.stdin(Stdio::null()).stderr(Stdio::inherit()).output()
    });
    match output {
        Ok(output) if output.status.success() => {
            if asked.verbose {
                // Nobody to tell it to is no failure.
                let _ = print(&String::from_utf8_lossy(&output.stdout));
            }
            ExitCode::SUCCESS
        }
        Ok(output) if output.status.code() == Some(2) => ExitCode::from(WRONG_USAGE),
        // It has said why.
        Ok(_) => ExitCode::from(FAILED),
        Err(error) => {
            diagnose(&format!("error: cannot run fairdisk: {error}"));
            ExitCode::from(FAILED)
        }
    }
}

impl Asked {
    /// Reads `SOURCE MOUNTPOINT [-sfnv] [-o OPTIONS] [-t TYPE]`, in any order.
    fn read(mut arguments: impl Iterator<Item = OsString>) -> Result<Self, String> {
        let mut asked = Self::default();
        while let Some(argument) = arguments.next() {
            let letters = argument.to_str().and_then(|text| text.strip_prefix('-'));
            let Some(letters) = letters.filter(|letters| !letters.is_empty()) else {
                asked.places.push(argument);
                continue;
            };
            asked.letters(letters, &mut arguments)?;
        }
        match asked.places.len() {
            2 => Ok(asked),
            _ => Err(USAGE.to_owned()),
        }
    }

    fn letters(
        &mut self,
        letters: &str,
        more: &mut impl Iterator<Item = OsString>,
    ) -> Result<(), String> {
        for (at, letter) in letters.char_indices() {
            match letter {
                's' => self.sloppy = true,
                'v' => self.verbose = true,
                'f' => self.fake = true,
                'n' => {}
                'o' | 't' => {
                    let rest = &letters[at + 1..];
                    let value = if rest.is_empty() {
                        let next = more.next().ok_or(format!("-{letter} needs a value"))?;
                        next.into_string().map_err(|_| format!("-{letter}: no text"))?
                    } else {
                        rest.to_owned()
                    };
                    if letter == 'o' {
                        let all = value.split(',').filter(|option| !option.is_empty());
                        self.options.extend(all.map(str::to_owned));
                    }
                    return Ok(());
                }
                other => return Err(format!("unknown option -{other} (known: -s -f -n -v -o -t)")),
            }
        }
        Ok(())
    }
}

/// The options of `fairdisk mount` that say the same. Of those that contradict one another the last
/// one counts.
fn translate(asked: &Asked) -> Result<Vec<String>, String> {
    let known = own_options();
    let (mut read_only, mut no_exec, mut options) = (false, false, Vec::new());
    for option in &asked.options {
        let (key, value) = match option.split_once('=') {
            Some((key, value)) => (key, Some(value)),
            None => (option.as_str(), None),
        };
        let plain = key.replace('_', "-");
        let own = known.iter().find(|own| own.name == plain);
        match (key, value) {
            ("ro", None) => read_only = true,
            ("rw", None) => read_only = false,
            ("noexec", None) => no_exec = true,
            ("exec", None) => no_exec = false,
            // mount(8): they imply noexec.
            ("user" | "users", _) => no_exec = true,
            (key, _) if key == "comment" || key.starts_with("x-") || key.starts_with("X-") => {}
            (key, None) if IGNORED.contains(&key) => {}
            _ => match own {
                Some(own) => options.push(own.with(key, value)?),
                None if asked.sloppy => {}
                None => return Err(unknown(key, value, &known)),
            },
        }
    }
    let flags = [(read_only, "--read-only"), (no_exec, "--no-exec")];
    let flags = flags.into_iter().filter(|(asked, _)| *asked).map(|(_, flag)| flag.to_owned());
    options.extend(flags);
    // Asked for in both ways, perhaps.
    options.sort();
    options.dedup();
    Ok(options)
}

fn unknown(key: &str, value: Option<&str>, known: &[OwnOption]) -> String {
    if let Some((_, why)) = REFUSED.iter().find(|(refused, _)| *refused == key) {
        return format!("option `{key}` is not supported: {why}");
    }
    if value.is_some() && (IGNORED.contains(&key) || OWN_FLAGS.contains(&key)) {
        return format!("option `{key}` takes no value");
    }
    let words = known.iter().map(|own| &*own.name).chain(OWN_FLAGS).chain(IGNORED);
    match nearest(&key.replace('_', "-"), words) {
        Some(near) => format!("unknown option `{key}`; did you mean `{near}`?"),
        None => format!("unknown option `{key}` (fairdisk mount --help lists them, without --)"),
    }
}

/// A long option of `fairdisk mount`.
struct OwnOption {
    name: String,
    /// A value, or what it is, if it takes one.
    example: Option<String>,
}

impl OwnOption {
    fn of(arg: &clap::Arg) -> Option<Self> {
        let name = arg.get_long().filter(|long| !OWN_ONLY.contains(long))?.to_owned();
        let default = || Some(arg.get_default_values().first()?.to_string_lossy().into_owned());
        let kind = || Some(arg.get_value_names()?.first()?.to_string());
        let takes = arg.get_action().takes_values();
        let example = takes.then(|| default().or_else(kind).unwrap_or_else(|| "VALUE".to_owned()));
        Some(Self { name, example })
    }

    /// The option, called `key`, as `fairdisk mount` takes it. Without the value that it needs it
    /// would take the next word for it.
    fn with(&self, key: &str, value: Option<&str>) -> Result<String, String> {
        let Self { name, example } = self;
        match (value, example) {
            (Some(value), Some(_)) if !value.is_empty() => Ok(format!("--{name}={value}")),
            (None, None) => Ok(format!("--{name}")),
            (_, Some(example)) => {
                Err(format!("option `{key}` needs a value, as in {key}={example}"))
            }
            (Some(_), None) => Err(format!("option `{key}` takes no value")),
        }
    }
}

/// The long options of `fairdisk mount`.
fn own_options() -> Vec<OwnOption> {
    let root = Cli::command();
    let mount = root.find_subcommand("mount");
    let all = mount.into_iter().flat_map(clap::Command::get_arguments);
    all.filter_map(OwnOption::of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn translated(arguments: &[&str]) -> Result<Vec<String>, String> {
        let all = ["/srv/a b", "/mnt"].iter().chain(arguments).map(OsString::from);
        Asked::read(all).and_then(|asked| translate(&asked))
    }

    #[test]
    fn the_name_decides() {
        assert!(is_called(Some(OsStr::new("/sbin/mount.fairdisk"))));
        assert!(is_called(Some(OsStr::new("mount.fuse.fairdisk"))));
        assert!(!is_called(Some(OsStr::new("/mount.d/fairdisk"))) && !is_called(None));
    }

    #[test]
    fn options_are_those_of_the_command() {
        let line =
            "rw,scheduler=two-layer-cfq,depth=1,allow_other,ro,nofail,_netdev,x-a.b=c,noatime";
        let expected = ["--allow-other", "--depth=1", "--read-only", "--scheduler=two-layer-cfq"];
        assert_eq!(
            translated(&["-o", line, "-t", "fairdisk"]).as_deref(),
            Ok(&expected.map(String::from)[..])
        );
        assert_eq!(translated(&["-nvo", "dirty_mib=8"]), Ok(vec!["--dirty-mib=8".to_owned()]));
        assert_eq!(translated(&["-oro,rw,defaults"]), Ok(vec![]));
        assert_eq!(translated(&["-o", "users"]), Ok(vec!["--no-exec".to_owned()]));
        assert_eq!(translated(&["-o", "user,exec"]), Ok(vec![]));
    }

    #[test]
    fn what_is_unknown_is_named_with_what_was_meant() {
        for (option, says) in [
            ("shceduler=noop", "unknown option `shceduler`; did you mean `scheduler`?"),
            ("allow_others", "unknown option `allow_others`; did you mean `allow-other`?"),
            ("colour", "unknown option `colour` (fairdisk mount --help"),
            ("foreground", "unknown option `foreground`"),
            ("suid", "`suid` is not supported"),
            ("remount", "unmount it and mount it again"),
            ("noauto=1", "`noauto` takes no value"),
            ("ro=3", "`ro` takes no value"),
        ] {
            let why = translated(&["-o", option]).expect_err(option);
            assert!(why.contains(says), "{option}: {why}");
            assert_eq!(translated(&["-s", "-o", option]), Ok(vec![]), "{option}");
        }
        // What is known is not passed over.
        for (option, says) in [
            ("dirty_mib", "option `dirty_mib` needs a value, as in dirty_mib=32"),
            ("scheduler=", "option `scheduler` needs a value, as in scheduler=NAME"),
            ("allow_other=1", "option `allow_other` takes no value"),
        ] {
            for sloppy in ["-n", "-s"] {
                assert_eq!(translated(&[sloppy, "-o", option]), Err(says.to_owned()));
            }
        }
        assert!(translated(&["-x"]).is_err() && translated(&["more"]).is_err());
        assert!(Asked::read(["/a"].map(OsString::from).into_iter()).is_err());
    }
}
