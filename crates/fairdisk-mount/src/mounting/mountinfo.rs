//! The mount table as this process sees it, from `/proc/self/mountinfo`.
//!
//! Names in it are bytes, since a mount point's name need not be UTF-8.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::Path;

const FILE: &str = "/proc/self/mountinfo";

/// A snapshot of the mount table.
#[derive(Debug)]
pub(crate) struct Mountinfo(Vec<u8>);

/// A mount.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line<'a> {
    /// The device number of the mount, `MAJOR:MINOR`.
    pub(crate) device: &'a [u8],
    /// The directory of the file system that is mounted.
    pub(crate) root: Cow<'a, Path>,
    /// The mount point.
    pub(crate) place: Cow<'a, Path>,
    /// The type of the file system.
    pub(crate) kind: &'a [u8],
    /// The source of the mount.
    pub(crate) source: Cow<'a, Path>,
    /// The options of the file system.
    pub(crate) options: &'a [u8],
}

impl Mountinfo {
    /// Reads the current table.
    pub(crate) fn read() -> io::Result<Self> {
        fs::read(FILE).map(Self)
    }

    /// A table with this text.
    #[cfg(test)]
    pub(crate) fn of(text: impl Into<Vec<u8>>) -> Self {
        Self(text.into())
    }

    /// The mounts, the oldest first. Of several mounts at one place, the last one is visible.
    pub(crate) fn lines(&self) -> impl Iterator<Item = Line<'_>> + Clone {
        self.0.split(|byte| *byte == b'\n').filter_map(Line::parse)
    }
}

impl<'a> Line<'a> {
    fn parse(line: &'a [u8]) -> Option<Self> {
        let mut fields = line.split(|byte| *byte == b' ').skip(2);
        let (device, root, place) = (fields.next()?, fields.next()?, fields.next()?);
        // The options of the mount are followed by a variable number of optional fields.
        let mut system = fields.skip_while(|field| *field != b"-").skip(1);
        let (kind, source, options) = (system.next()?, system.next()?, system.next()?);
        let [root, place, source] = [root, place, source].map(decoded);
        Some(Self { device, root, place, kind, source, options })
    }
}

/// Decodes a path. Characters that would end a field or a line are written as a backslash and three
/// octal digits.
fn decoded(field: &[u8]) -> Cow<'_, Path> {
    if !field.contains(&b'\\') {
        return Cow::Borrowed(Path::new(OsStr::from_bytes(field)));
    }
    let (mut bytes, mut rest) = (Vec::with_capacity(field.len()), field);
    while let Some((first, after)) = rest.split_first() {
        let (byte, after) = escaped(rest).unwrap_or((*first, after));
        bytes.push(byte);
        rest = after;
    }
    Cow::Owned(OsString::from_vec(bytes).into())
}

/// The byte whose escape `text` begins with, and the rest of `text`.
fn escaped(text: &[u8]) -> Option<(u8, &[u8])> {
    let (digits, rest) = text.strip_prefix(b"\\")?.split_first_chunk::<3>()?;
    let digits = str::from_utf8(digits).ok()?;
    Some((u8::from_str_radix(digits, 8).ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_paths_whatever_bytes_they_have() {
        let cases: [(&[u8], &[u8]); 10] = [
            (b"/a", b"/a"),
            (b"/a\\040b\\011c\\012d", b"/a b\tc\nd"),
            (b"/a\\134040", b"/a\\040"),
            (b"\\043a", b"#a"),
            (b"/\xff", b"/\xff"),
            (b"/\xff\\040\xc3\xa4", b"/\xff \xc3\xa4"),
            // Escapes that the kernel does not write.
            (b"/a\\", b"/a\\"),
            (b"/a\\04", b"/a\\04"),
            (b"/a\\9990", b"/a\\9990"),
            (b"/a\\\xff\xff\xff", b"/a\\\xff\xff\xff"),
        ];
        for (field, bytes) in cases {
            assert_eq!(decoded(field).as_os_str().as_bytes(), bytes, "{field:?}");
        }
    }

    #[test]
    fn a_line_is_a_mount_and_what_is_none_is_left_out() {
        let table = Mountinfo::of(
            *b"25 20 0:22 / /tmp/\xff rw shared:7 master:1 - tmpfs tmpfs rw,mode=755\n\
            half a line\n\
            28 25 8:1 /a\\040b /mnt/- rw - fuse.fairdisk  rw\n",
        );
        let [first, second] = &table.lines().collect::<Vec<_>>()[..] else { panic!("{table:?}") };
        assert_eq!((first.device, first.kind), (&b"0:22"[..], &b"tmpfs"[..]));
        assert_eq!(first.options, b"rw,mode=755");
        assert_eq!(first.place.as_os_str().as_bytes(), b"/tmp/\xff");
        assert_eq!((&*second.root, &*second.place), (Path::new("/a b"), Path::new("/mnt/-")));
        assert_eq!((second.kind, &*second.source), (&b"fuse.fairdisk"[..], Path::new("")));
    }
}
