//! The means by which the file of a node is reached again.

use super::named::Named;
use crate::files::descriptor::Descriptor;
use crate::fingerprint::fingerprint;
use crate::sys::handle::RawHandle;
use std::sync::Arc;

/// The means by which the file of a node is reached again.
#[derive(Debug)]
pub(super) enum Place {
    /// A file handle of the common layout: the inode number and this generation.
    Short { generation: u32 },
    /// Any other file handle.
    Long(Box<RawHandle>),
    /// A descriptor that is kept open.
    Held(Arc<Descriptor>),
    /// A name in the node of its directory.
    Named(Box<Named>),
}

/// A file handle of the common layout: inode number and generation, in 32 bits each.
pub(super) fn short_bytes(inode: u64, generation: u32) -> [u8; 8] {
    let mut bytes = [0; 8];
    bytes[..4].copy_from_slice(&(inode as u32).to_ne_bytes());
    bytes[4..].copy_from_slice(&generation.to_ne_bytes());
    bytes
}

impl Place {
    /// A handle that belongs to no file.
    pub(super) fn nowhere() -> Self {
        Self::Long(Box::new(RawHandle { kind: 0, bytes: Vec::new() }))
    }

    /// The most compact form of a handle.
    pub(super) fn of(handle: RawHandle, inode: u64) -> Self {
        if let (1, Ok(bytes)) = (handle.kind, <[u8; 8]>::try_from(handle.bytes.as_slice())) {
            let generation = u32::from_ne_bytes([bytes[4], bytes[5], bytes[6], bytes[7]]);
            // Only if the conversion is lossless, and the inode number serves as the node number.
            let short = u32::try_from(inode).is_ok() && inode != super::ROOT;
            if short && short_bytes(inode, generation) == bytes {
                return Self::Short { generation };
            }
        }
        Self::Long(Box::new(handle))
    }

    /// Distinguishes files that successively have the same inode number.
    pub(super) fn generation(&self) -> u64 {
        match self {
            Self::Short { generation } => u64::from(*generation),
            Self::Long(handle) => fingerprint(&handle.bytes),
            Self::Named(named) => named.mark.generation(),
            Self::Held(_) => 0,
        }
    }

    /// The descriptor that is kept, if any.
    pub(super) fn descriptor(self) -> Option<Arc<Descriptor>> {
        match self {
            Self::Held(fd) => Some(fd),
            Self::Named(named) => named.fd,
            _ => None,
        }
    }

    /// Whether `other` adds nothing new: it leads to the same file, and in no better way.
    pub(super) fn leads_as(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Named(one), Self::Named(two)) => one.fd.is_some() && one.is_as(two),
            // A node that has a name again need not be kept open.
            (_, Self::Named(_)) => false,
            (Self::Short { generation: one }, Self::Short { generation: two }) => one == two,
            (Self::Long(one), Self::Long(two)) => one == two,
            // The kept file exists, so any file with its number is the same one.
            (Self::Held(_), _) => true,
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_handles_are_short_and_nothing_is_lost() {
        let bytes = short_bytes(77, 0xdead_beef).to_vec();
        let place = Place::of(RawHandle { kind: 1, bytes }, 77);
        assert!(matches!(place, Place::Short { generation: 0xdead_beef }));
    }

    #[test]
    fn other_handles_are_kept_as_they_are() {
        let of =
            |kind, bytes: &[u8], inode| Place::of(RawHandle { kind, bytes: bytes.into() }, inode);
        assert!(matches!(of(1, &short_bytes(77, 1), 78), Place::Long(_)));
        assert!(matches!(of(2, &short_bytes(77, 1), 77), Place::Long(_)));
        assert!(matches!(of(1, &[1; 12], 77), Place::Long(_)));
        assert!(matches!(of(1, &short_bytes(77, 1), 77 | 1 << 32), Place::Long(_)));
    }
}
