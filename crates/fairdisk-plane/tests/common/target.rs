//! Opens targets for tests.

use fairdisk_plane::file::Watch;
use fairdisk_plane::{FileNeeds, TargetError, TargetFile};
use std::path::Path;

pub fn open(path: &Path, needs: &FileNeeds) -> Result<TargetFile, TargetError> {
    TargetFile::open(path, needs, &mut |_| Watch::Continue)
}

pub const fn read_only(sectors: u64) -> FileNeeds {
    FileNeeds { writes: false, ..FileNeeds::scratch(sectors) }
}

pub const fn overwrite(sectors: u64) -> FileNeeds {
    FileNeeds { overwrite: true, ..FileNeeds::scratch(sectors) }
}
