//! `mount.fairdisk` and `mount.fairdisk-cgroup`, the mount helpers that mount(8) runs for fstab
//! entries of type `fairdisk` and `fairdisk-cgroup`.
//!
//! They are this program under other names. Each translates the options of mount(8) into those of
//! its command, `fairdisk mount` or `fairdisk cgroup mount`, which are also accepted by their own
//! names, and runs that command.

use crate::cli::Cli;
use crate::output::{diagnose, print};
use clap::CommandFactory as _;
use fairdisk_lab::nearest::nearest;
use std::env;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

/// The exit status that mount(8) documents for incorrect usage.
const WRONG_USAGE: u8 = 1;
/// The exit status that mount(8) documents for a failed mount.
const FAILED: u8 = 32;

/// The option of the kernel's `mount -t cgroup` that named the controller in 2008.
const CONTROLLER: &str = "cfq";

/// Flags of mount(8) that `fairdisk mount` has under other names.
const OWN_FLAGS: [&str; 2] = ["ro", "noexec"];

/// Options that concern mount(8) itself or on-disk file systems, and are accepted without effect.
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

/// Options that a mount cannot honour, each with the reason or the alternative.
const REFUSED: [(&str, &str); 6] = [
    ("ro", "groups are made and changed there"),
    ("remount", "unmount it and mount it again"),
    ("suid", "set-user-id bits have no effect through the mount"),
    ("dev", "device files have no effect through the mount"),
    ("sync", "programs that need it use fsync or O_SYNC"),
    ("dirsync", "programs that need it use fsync"),
];

/// Options of the commands that make no sense in an fstab entry.
const OWN_ONLY: [&str; 4] = ["foreground", "detached", "help", "version"];

/// What a helper mounts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Helper {
    /// A directory whose disk is shared.
    Disk,
    /// The directory of groups.
    Groups,
}

impl Helper {
    fn called(name: Option<&OsStr>) -> Self {
        match name.is_some_and(|name| name.as_encoded_bytes().ends_with(b".fairdisk-cgroup")) {
            true => Self::Groups,
            false => Self::Disk,
        }
    }

    /// The command that does it.
    const fn command(self) -> &'static [&'static str] {
        match self {
            Self::Disk => &["mount"],
            Self::Groups => &["cgroup", "mount"],
        }
    }

    const fn usage(self) -> &'static str {
        match self {
            Self::Disk => "usage: mount.fairdisk SOURCE MOUNTPOINT [-sfnv] [-o OPTIONS]",
            Self::Groups => "usage: mount.fairdisk-cgroup cfq DIRECTORY [-sfnv] [-o OPTIONS]",
        }
    }

    /// The arguments of the command that say what to mount and where. Groups have no source.
    fn places(self, places: &[OsString]) -> &[OsString] {
        match self {
            Self::Disk => places,
            Self::Groups => &places[1..],
        }
    }
}

/// The parsed command line of mount(8).
#[derive(Debug, Default, PartialEq, Eq)]
struct Asked {
    places: Vec<OsString>,
    options: Vec<String>,
    sloppy: bool,
    verbose: bool,
    fake: bool,
}

/// Whether the program was invoked as a mount helper, that is under a name that begins with
/// `mount.`.
pub(crate) fn is_called(name: Option<&OsStr>) -> bool {
    let name = name.map(Path::new).and_then(Path::file_name);
    name.is_some_and(|name| name.as_encoded_bytes().starts_with(b"mount."))
}

/// Runs the helper called `name` with the arguments that mount(8) gives it.
pub(crate) fn run(name: Option<&OsStr>, arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let helper = Helper::called(name);
    let arguments: Vec<OsString> = arguments.collect();
    if arguments.iter().any(|argument| argument == "--help" || argument == "-h") {
        let (usage, command) = (helper.usage(), helper.command().join(" "));
        let _ =
            print(&format!("{usage}\nOPTIONS are those of `fairdisk {command}`, without `--`\n"));
        return ExitCode::SUCCESS;
    }
    let translated = Asked::read(helper, arguments.into_iter()).and_then(|asked| {
        let options = translate(helper, &asked)?;
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
    mount(helper, &asked, &options)
}

fn mount(helper: Helper, asked: &Asked, options: &[String]) -> ExitCode {
    let output = env::current_exe().and_then(|program| {
        let mut command = Command::new(program);
        command.args(helper.command()).args(options).args(helper.places(&asked.places));
        command.stdin(Stdio::null()).stderr(Stdio::inherit()).output()
    });
    match output {
        Ok(output) if output.status.success() => {
            if asked.verbose {
                // A failure to print this is not a failure to mount.
                let _ = print(&String::from_utf8_lossy(&output.stdout));
            }
            ExitCode::SUCCESS
        }
        Ok(output) if output.status.code() == Some(2) => ExitCode::from(WRONG_USAGE),
        // The command has already reported the error.
        Ok(_) => ExitCode::from(FAILED),
        Err(error) => {
            diagnose(&format!("error: cannot run fairdisk: {error}"));
            ExitCode::from(FAILED)
        }
    }
}

impl Asked {
    /// Parses `SOURCE MOUNTPOINT [-sfnv] [-o OPTIONS] [-t TYPE]`, in any order.
    fn read(helper: Helper, mut arguments: impl Iterator<Item = OsString>) -> Result<Self, String> {
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
            _ => Err(helper.usage().to_owned()),
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

/// The equivalent options of the command. Of contradictory options the last one counts.
fn translate(helper: Helper, asked: &Asked) -> Result<Vec<String>, String> {
    let known = own_options(helper);
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
            // According to mount(8), both imply noexec.
            ("user" | "users", _) => no_exec = true,
            (key, _) if key == "comment" || key.starts_with("x-") || key.starts_with("X-") => {}
            (key, None) if IGNORED.contains(&key) => {}
            (CONTROLLER, None) if helper == Helper::Groups => {}
            _ => match own {
                Some(own) => options.push(own.with(key, value)?),
                None if asked.sloppy => {}
                None => return Err(unknown(helper, key, value, &known)),
            },
        }
    }
    if helper == Helper::Groups {
        // Nothing can be executed there in any case.
        return if read_only { Err(unknown(helper, "ro", None, &known)) } else { Ok(options) };
    }
    let flags = [(read_only, "--read-only"), (no_exec, "--no-exec")];
    let flags = flags.into_iter().filter(|(asked, _)| *asked).map(|(_, flag)| flag.to_owned());
    options.extend(flags);
    // The same option may have been given under both of its names.
    options.sort();
    options.dedup();
    Ok(options)
}

fn unknown(helper: Helper, key: &str, value: Option<&str>, known: &[OwnOption]) -> String {
    if value.is_some() && (IGNORED.contains(&key) || OWN_FLAGS.contains(&key)) {
        return format!("option `{key}` takes no value");
    }
    if let Some((_, why)) = REFUSED.iter().find(|(refused, _)| *refused == key) {
        return format!("option `{key}` is not supported: {why}");
    }
    let words = known.iter().map(|own| &*own.name).chain(OWN_FLAGS).chain(IGNORED);
    match nearest(&key.replace('_', "-"), words) {
        Some(near) => format!("unknown option `{key}`; did you mean `{near}`?"),
        None => {
            let command = helper.command().join(" ");
            format!("unknown option `{key}` (fairdisk {command} --help lists them, without --)")
        }
    }
}

/// A long option of the command, accepted as a mount option.
struct OwnOption {
    name: String,
    /// For an option that takes a value: its default value, or else the name of the value, to show
    /// in error messages.
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

    /// The option as an argument of the command, or an error if it lacks a value or has one too
    /// many. Checked here, since the command would take the next argument as the missing
    /// value. `key` is the spelling used in fstab, for error messages.
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

/// The long options of the command that are accepted as mount options.
fn own_options(helper: Helper) -> Vec<OwnOption> {
    let root = Cli::command();
    let mount = helper.command().iter().try_fold(&root, |at, name| at.find_subcommand(name));
    let all = mount.into_iter().flat_map(clap::Command::get_arguments);
    all.filter_map(OwnOption::of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn translated(arguments: &[&str]) -> Result<Vec<String>, String> {
        let all = ["/srv/a b", "/mnt"].iter().chain(arguments).map(OsString::from);
        Asked::read(Helper::Disk, all).and_then(|asked| translate(Helper::Disk, &asked))
    }

    #[test]
    fn the_name_decides() {
        assert!(is_called(Some(OsStr::new("/sbin/mount.fairdisk"))));
        assert!(is_called(Some(OsStr::new("mount.fuse.fairdisk"))));
        assert!(!is_called(Some(OsStr::new("/mount.d/fairdisk"))) && !is_called(None));
    }

    #[test]
    fn groups_take_the_options_of_2008_and_no_disk() {
        let name = OsString::from("/sbin/mount.fairdisk-cgroup");
        let helper = Helper::called(Some(&name));
        assert_eq!(helper, Helper::Groups);
        assert_eq!(Helper::called(Some(OsStr::new("/sbin/mount.fuse.fairdisk"))), Helper::Disk);
        let asked = |options: &str| {
            let all = ["cfq", "/dev/cgroup", "-o", options].map(OsString::from);
            Asked::read(helper, all.into_iter()).and_then(|asked| translate(helper, &asked))
        };
        assert_eq!(asked("rw,cfq,nofail,noexec,x-systemd.before=mnt-data.mount"), Ok(vec![]));
        for (option, says) in [
            ("ro", "option `ro` is not supported: groups are made and changed there"),
            ("scheduler=cfq", "unknown option `scheduler` (fairdisk cgroup mount --help"),
            ("blkio", "unknown option `blkio`"),
        ] {
            let why = asked(option).expect_err(option);
            assert!(why.contains(says), "{option}: {why}");
        }
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
        // Known options are never ignored.
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
        assert!(Asked::read(Helper::Disk, ["/a"].map(OsString::from).into_iter()).is_err());
    }
}
