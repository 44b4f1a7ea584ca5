//! How a node's file is reached again.

use super::named::Named;
use crate::fingerprint::fingerprint;
use crate::sys::handle::RawHandle;
use rustix::fd::OwnedFd;
use std::sync::Arc;

/// How a node's file is reached again.
#[derive(Debug)]
pub(super) enum Place {
    /// By a handle of the common kind: the inode number and this.
    Short { generation: u32 },
    /// By any other handle.
    Long(Box<RawHandle>),
    /// By a descriptor.
    Held(Arc<OwnedFd>),
    /// By its name in another node.
    Named(Box<Named>),
}

/// The handle of the common kind: inode number and generation, 32 bits each.
pub(super) fn short_bytes(inode: u64, generation: u32) -> [u8; 8] {
    let mut bytes = [0; 8];
    bytes[..4].copy_from_slice(&(inode as u32).to_ne_bytes());
    bytes[4..].copy_from_slice(&generation.to_ne_bytes());
    bytes
}

impl Place {
    /// A handle that no file has.
    pub(super) fn nowhere() -> Self {
        Self::Long(Box::new(RawHandle { kind: 0, bytes: Vec::new() }))
    }

    /// The shortest form of a handle.
    pub(super) fn of(handle: RawHandle, inode: u64) -> Self {
        if let (1, Ok(bytes)) = (handle.kind, <[u8; 8]>::try_from(handle.bytes.as_slice())) {
            let generation = u32::from_ne_bytes([bytes[4], bytes[5], bytes[6], bytes[7]]);
            // Only if nothing is lost, and the inode number is the node's number.
            let short = u32::try_from(inode).is_ok() && inode != super::ROOT;
            if short && short_bytes(inode, generation) == bytes {
                return Self::Short { generation };
            }
        }
        Self::Long(Box::new(handle))
    }

    /// Tells files apart that have the same inode number one after the other.
    pub(super) fn generation(&self) -> u64 {
        match self {
            Self::Short { generation } => u64::from(*generation),
            Self::Long(handle) => fingerprint(&handle.bytes),
            Self::Named(named) => named.mark.generation(),
            Self::Held(_) => 0,
        }
    }

    /// A descriptor that is at hand.
    pub(super) fn descriptor(self) -> Option<Arc<OwnedFd>> {
        match self {
            Self::Held(fd) => Some(fd),
            Self::Named(named) => named.fd,
            _ => None,
        }
    }

    /// Whether both lead to the same file, as far as they are of the same kind.
    pub(super) fn leads_as(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Named(one), Self::Named(two)) => one.fd.is_some() && one.is_as(two),
            // What has a name need not be held.
            (_, Self::Named(_)) => false,
            (Self::Short { generation: one }, Self::Short { generation: two }) => one == two,
            (Self::Long(one), Self::Long(two)) => one == two,
            // A held file exists: whatever else has its number is the same file.
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
