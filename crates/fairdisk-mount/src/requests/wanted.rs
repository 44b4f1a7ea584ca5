//! The capabilities and limits negotiated with the kernel when a mount begins.

use fuser::{InitFlags, KernelConfig, Version};

/// The most background requests that the kernel may have pending. It is high, so that the scheduler
/// can choose among all of them.
pub(super) const BACKGROUND_MAX: u16 = 1024;
/// The size in bytes of the largest write, and of the largest read-ahead.
const WRITE_BYTES_MAX: u32 = 1 << 20;
/// The FUSE capabilities to use where the kernel has them.
const WANTED: [InitFlags; 10] = [
    InitFlags::FUSE_PARALLEL_DIROPS,
    InitFlags::FUSE_DO_READDIRPLUS,
    InitFlags::FUSE_READDIRPLUS_AUTO,
    InitFlags::FUSE_ASYNC_DIO,
    InitFlags::FUSE_POSIX_ACL,
    InitFlags::FUSE_DONT_MASK,
    InitFlags::FUSE_HANDLE_KILLPRIV_V2,
    InitFlags::FUSE_DIRECT_IO_ALLOW_MMAP,
    InitFlags::FUSE_CACHE_SYMLINKS,
    InitFlags::FUSE_NO_EXPORT_SUPPORT,
];

/// Negotiates the capabilities and limits.
pub(crate) fn ask_for(config: &mut KernelConfig) {
    for flag in WANTED {
        // A capability that this kernel lacks is not used.
        let _ = config.add_capabilities(flag);
    }
    let _ = config.set_max_background(BACKGROUND_MAX);
    let _ = config.set_congestion_threshold(BACKGROUND_MAX);
    let _ = config.set_max_write(WRITE_BYTES_MAX);
    if let Err(most) = config.set_max_readahead(WRITE_BYTES_MAX) {
        let _ = config.set_max_readahead(most);
    }
}

/// Whether the kernel checks a caller's permission to change inode flags before it sends the
/// request. It does so from Linux 5.13 on, of which 7.34 is the first protocol version that is
/// certain to imply it.
pub(crate) fn checks_flags(config: &KernelConfig) -> bool {
    config.kernel_abi() >= Version(7, 34)
}
