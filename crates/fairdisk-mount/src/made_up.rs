//! File systems whose files the kernel makes up.
//!
//! It looks at whoever opens, reads or writes such a file, not only at its mode: a process that
//! opens it for somebody else gives away what it may do itself.

use rustix::fd::AsFd;
use rustix::fs::fstatfs;
use std::io;

/// By the numbers of statfs(2), and, of the last seven, by what they say themselves.
const MADE_UP: [i64; 23] = [
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
    0x76a9_f425, // dlmfs
    0x5a3c_69f0, // apparmorfs
];

/// The file system of FUSE's connections.
pub(crate) const FUSECTL: i64 = 0x6573_5543;

/// Nothing of such a file is to be read, written or followed in our name.
pub(crate) fn refuse_made_up(fd: impl AsFd) -> io::Result<()> {
    if is_made_up(fd)? {
        return Err(io::Error::from_raw_os_error(libc::EOPNOTSUPP));
    }
    Ok(())
}

/// Whether the file is in one of them.
pub(crate) fn is_made_up(fd: impl AsFd) -> io::Result<bool> {
    Ok(MADE_UP.contains(&kind(fd)?))
}

/// The type of the file system that a file is in.
pub(crate) fn kind(fd: impl AsFd) -> io::Result<i64> {
    let kind = fstatfs(fd)?.f_type;
    Ok(unsigned(kind as i64))
}

/// Where the type has 32 bits the larger numbers are negative.
const fn unsigned(kind: i64) -> i64 {
    kind & 0xffff_ffff
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;

    #[test]
    fn what_is_stored_is_told_from_what_is_made_up() {
        let is = |path: &str| File::open(path).ok().map(|file| is_made_up(file).unwrap());
        assert_eq!(is("/proc/self/maps"), Some(true));
        assert!(is("/sys/kernel") != Some(false));
        assert_eq!(is("/"), Some(false));
        assert_eq!(is("/dev"), Some(false));
    }

    /// Few kernels have these: nfsd, rpc_pipefs, xenfs, dlmfs and apparmorfs.
    #[test]
    fn rare_ones_are_known_in_32_bits_as_well() {
        let rare = [0x6e66_7364, 0x6759_6969, 0xabba_1974, 0x76a9_f425, 0x5a3c_69f0_u32];
        for kind in rare {
            for told in [i64::from(kind), kind.cast_signed().into()] {
                assert!(MADE_UP.contains(&unsigned(told)), "{kind:x}");
            }
        }
        let [ext4, fuse] = [0xef53, 0x6573_5546];
        assert!(!MADE_UP.contains(&ext4) && !MADE_UP.contains(&fuse));
    }
}
