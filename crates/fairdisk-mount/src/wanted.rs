//! What is asked of the kernel when a mount begins.

use fuser::{InitFlags, KernelConfig, Version};

/// Requests the kernel may have waiting at once: the scheduler is to choose among all of them.
const BACKGROUND_MAX: u16 = 1024;
/// Bytes of the largest write.
const WRITE_BYTES_MAX: u32 = 1 << 20;
/// What is used if the kernel has it.
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

/// Asks for what there is of it.
pub(crate) fn ask_for(config: &mut KernelConfig) {
    for flag in WANTED {
        // What this kernel has not goes without.
        let _ = config.add_capabilities(flag);
    }
    let _ = config.set_max_background(BACKGROUND_MAX);
    let _ = config.set_congestion_threshold(BACKGROUND_MAX);
    let _ = config.set_max_write(WRITE_BYTES_MAX);
    if let Err(most) = config.set_max_readahead(WRITE_BYTES_MAX) {
        let _ = config.set_max_readahead(most);
    }
}

/// Whether the kernel looks who may change the flags of a file before it asks us: it does from
/// Linux 5.13 on, and this is the first version of the protocol of which that is sure.
pub(crate) fn checks_flags(config: &KernelConfig) -> bool {
    config.kernel_abi() >= Version(7, 34)
}
