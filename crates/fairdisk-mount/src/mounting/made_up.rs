//! Recognition of pseudo file systems, whose files the kernel generates.
//!
//! Access to such files is checked against the process that opens, reads or writes them, not only
//! against their mode. A process that opens one on behalf of another would give away its own
//! permissions.

use rustix::fd::AsFd;
use rustix::fs::fstatfs;
use std::io;

/// The magic numbers of pseudo file systems, from statfs(2); the last six are from the names that
/// `stat -f` of GNU coreutils prints.
const MADE_UP: [i64; 22] = [
    0x0000_9fa0, // procfs
    0x6265_6572, // sysfs
    0x0027_e0eb, // cgroup, version 1
    0x6367_7270, // cgroup, version 2
    0x6462_6720, // debugfs
    0x7472_6163, // tracefs
    0x7363_6673, // securityfs
    0xf97c_ff8c, // SELinux
    0x4341_5d53, // Smack
    0xcafe_4a11, // bpf
    0x4249_4e4d, // binfmt_misc
    0xde5e_81e4, // efivarfs
    0x6e73_6673, // nsfs
    0x1980_0202, // mqueue
    0x6165_676c, // pstore
    0xabba_1974, // xenfs
    0x6265_6570, // configfs
    0x0765_5821, // resctrl
    FUSECTL,
    0x6e66_7364, // nfsd
    0x6759_6969, // rpc_pipefs
    0x5a3c_69f0, // apparmorfs
];

/// The magic number of fusectl, the file system of FUSE connections.
pub(crate) const FUSECTL: i64 = 0x6573_5543;

/// Refuses a file of a pseudo file system, which must not be read, written or followed in our name.
pub(crate) fn refuse_made_up(fd: impl AsFd) -> io::Result<()> {
    if is_made_up(fd)? {
        return Err(io::Error::from_raw_os_error(libc::EOPNOTSUPP));
    }
    Ok(())
}

/// Whether the file belongs to a pseudo file system.
pub(crate) fn is_made_up(fd: impl AsFd) -> io::Result<bool> {
    Ok(MADE_UP.contains(&kind(fd)?))
}

/// The magic number of a file's file system.
pub(crate) fn kind(fd: impl AsFd) -> io::Result<i64> {
    let kind = fstatfs(fd)?.f_type;
    Ok(unsigned(kind as i64))
}

/// Undoes the sign extension on systems where the field has 32 bits.
const fn unsigned(kind: i64) -> i64 {
    kind & 0xffff_ffff
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;

    #[test]
    fn what_is_stored_is_told_from_what_is_made_up() {
        let is = |path: &str| is_made_up(File::open(path).unwrap()).unwrap();
        assert!(is("/proc/self/maps"));
        assert!(!is("/") && !is("/dev"));
    }

    /// The number of every pseudo file system that is mounted here is known.
    #[test]
    fn those_that_are_mounted_here_are_known() {
        let names = "proc sysfs cgroup cgroup2 debugfs tracefs securityfs selinuxfs smackfs bpf \
                     binfmt_misc efivarfs mqueue pstore xenfs configfs resctrl fusectl nfsd \
                     rpc_pipefs";
        let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap();
        let mut seen = 0;
        let mounted = |line: &'_ str| {
            let mut fields = line.split(' ').skip(1).map(str::to_owned);
            fields.next().zip(fields.next())
        };
        for (at, kind) in mounts.lines().filter_map(mounted) {
            let made_up = names.split_whitespace().any(|name| name == kind);
            let is_stored = ["ext4", "xfs", "btrfs", "tmpfs"].contains(&&*kind);
            // Another file system may be mounted over it, and some are not accessible.
            let last = mounts.lines().rev().filter_map(mounted).find(|(over, _)| *over == at);
            if (made_up || is_stored)
                && last.is_some_and(|(_, top)| top == kind)
                && let Ok(opened) = File::open(&at)
            {
                assert_eq!(is_made_up(opened).unwrap(), made_up, "{kind} at {at}");
                seen += u32::from(made_up);
            }
        }
        assert!(seen > 0, "not even procfs: {mounts}");
    }

    #[test]
    fn each_is_known_once_and_in_32_bits_as_well() {
        for (at, kind) in MADE_UP.into_iter().enumerate() {
            let told = i64::from(u32::try_from(kind).unwrap().cast_signed());
            assert_eq!(MADE_UP.iter().position(|it| *it == unsigned(told)), Some(at), "{kind:x}");
        }
    }
}
