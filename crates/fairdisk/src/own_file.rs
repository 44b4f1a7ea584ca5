//! Files that a command writes on request, such as a page of plots. One of the same kind is
//! replaced, anything else never.

use crate::failure::Failure;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

const NO_DEVICE: &str = "a block device; expected the name of a file";

/// A kind of file.
pub(crate) struct OwnFile {
    /// The option that asks for it.
    option: &'static str,
    /// What it is called.
    noun: &'static str,
    /// The first bytes of every file of this kind, by which it is recognised.
    begins: &'static str,
    /// A name for one.
    example: &'static str,
}

impl OwnFile {
    /// The page of `--report`.
    pub(crate) const PAGE: Self = Self {
        option: "--report",
        noun: "page",
        begins: "<!DOCTYPE html>",
        example: "report.html",
    };

    /// The page of `--animate`.
    pub(crate) const FILM: Self = Self { option: "--animate", example: "film.html", ..Self::PAGE };

    /// The tracks of `--perfetto`.
    pub(crate) const TRACKS: Self = Self {
        option: "--perfetto",
        noun: "trace of Perfetto",
        // The number of the field that holds its first packet.
        begins: "\n",
        example: "load.pftrace",
    };

    /// The device file of `--output`.
    pub(crate) const DEVICE: Self = Self {
        option: "--output",
        noun: "measured device",
        begins: "# Measured by ",
        example: "my-disk.toml",
    };

    /// The error that something about `path` is wrong.
    pub(crate) fn bad(&self, path: &Path, text: &str) -> Failure {
        Failure::BadInput(format!("{} {}: {text}", self.option, path.display()))
    }

    /// Checks that a file can be written at `path` and would overwrite nothing but an earlier one.
    /// To be called before the work that it reports, which would otherwise be lost.
    ///
    /// # Errors
    /// The directory is missing or not writable, something else is at `path`, or it is `-`.
    pub(crate) fn demand_place(&self, path: &Path) -> Result<(), Failure> {
        let bad = |text: &str| self.bad(path, text);
        let Self { noun, example, .. } = self;
        if path.as_os_str() == "-" {
            return Err(bad(&format!(
                "standard output has the results; expected the name of a file, as in {example}"
            )));
        }
        match &Target::of(path) {
            Target::Stream => Ok(()),
            Target::Device => Err(bad(&format!("{NO_DEVICE}, as in {example}"))),
            Target::File(file) if file.is_dir() => {
                Err(bad(&format!("a directory; expected the name of a file, as in {example}")))
            }
            Target::File(file) => {
                let other = self.is_something_else(file);
                if other.map_err(|error| bad(&error.to_string()))? {
                    return Err(bad(&format!(
                        "is no {noun} and would be overwritten; choose another name or remove it"
                    )));
                }
                let part = part_of(file);
                let made = File::create_new(&part).and_then(|_| fs::remove_file(&part));
                made.map_err(|error| bad(&format!("cannot be written there: {error}")))
            }
        }
    }

    /// Writes the file. An existing one is replaced atomically, once the new one is complete.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn write(&self, path: &Path, text: &str) -> Result<(), Failure> {
        let written = match Target::of(path) {
            Target::Stream => fs::write(path, text),
            Target::Device => Err(io::Error::other(NO_DEVICE)),
            Target::File(file) => {
                let part = part_of(&file);
                let written = write_like(&file, &part, text);
                let written = written.and_then(|()| fs::rename(&part, &file));
                written.inspect_err(|_| {
                    // The write or rename error is the one to report.
                    let _ = fs::remove_file(&part);
                })
            }
        };
        let option = self.option;
        written.map_err(|error| Failure::Run(format!("{option} {}: {error}", path.display())))
    }

    /// Writes a file with partial results. It does not replace an existing file but takes a name of
    /// its own beside that, of which an earlier one is replaced. Returns the name.
    ///
    /// # Errors
    /// The file cannot be written, or something else has that name.
    pub(crate) fn write_partial(&self, path: &Path, text: &str) -> Result<PathBuf, Failure> {
        let keeps = match Target::of(path) {
            Target::File(file) => fs::metadata(file).is_ok_and(|found| found.len() > 0),
            Target::Stream | Target::Device => false,
        };
        if !keeps {
            return self.write(path, text).map(|()| path.to_owned());
        }
        let beside = beside(path);
        self.demand_place(&beside).map_err(|failure| Failure::Run(failure.message()))?;
        self.write(&beside, text)?;
        Ok(beside)
    }

    fn is_something_else(&self, file: &Path) -> io::Result<bool> {
        let open = match File::open(file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            open => open?,
        };
        let mut begins = Vec::new();
        open.take(self.begins.len() as u64).read_to_end(&mut begins)?;
        Ok(!begins.is_empty() && begins != self.begins.as_bytes())
    }
}

/// What the path of a file refers to.
enum Target {
    /// A regular file or a directory, or nothing yet.
    File(PathBuf),
    /// A pipe, a terminal, or an open file without a name: it can be written to but not replaced.
    Stream,
    /// A block device, whose contents nobody can mean to be replaced.
    Device,
}

impl Target {
    fn of(path: &Path) -> Self {
        match fs::metadata(path) {
            Ok(found) if found.file_type().is_block_device() => Self::Device,
            Ok(found) if !found.is_file() && !found.is_dir() => Self::Stream,
            // The target of a symbolic link is replaced, never the link itself, which may be
            // /dev/stdout.
            Ok(_) => fs::canonicalize(path).map_or(Self::Stream, Self::File),
            Err(_) => Self::File(followed(path)),
        }
    }
}

/// The most links that the kernel follows in a path. Source: path_resolution(7).
const LINKS_MAX: usize = 40;

/// Where a path leads that may be a link to what is not there yet.
fn followed(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    for _ in 0..LINKS_MAX {
        let Ok(to) = fs::read_link(&path) else { break };
        path = path.with_file_name("").join(to);
    }
    path
}

/// Writes `text` to the new file `part`, which has the permissions of `file` from its first byte
/// on, if that is there.
fn write_like(file: &Path, part: &Path, text: &str) -> io::Result<()> {
    let mut part = File::create(part)?;
    if let Ok(earlier) = fs::metadata(file) {
        part.set_permissions(earlier.permissions())?;
    }
    part.write_all(text.as_bytes())
}

/// The name of a file with partial results where `path` is kept: `page.partial.html` for
/// `page.html`.
fn beside(path: &Path) -> PathBuf {
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push(".partial");
    if let Some(ending) = path.extension() {
        name.push(".");
        name.push(ending);
    }
    path.with_file_name(name)
}

/// The temporary name of a file that is being written, in the same directory.
fn part_of(file: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(file.file_name().unwrap_or(OsStr::new("report")));
    name.push(format!(".{}.part", std::process::id()));
    file.with_file_name(name)
}
