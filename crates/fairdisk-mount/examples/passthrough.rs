//! Passes a directory through without a scheduler: `passthrough SOURCE MOUNTPOINT [READERS]`. Ends
//! when it is unmounted.

use fairdisk_mount::{MountOptions, Mounted, OpenGate};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [source, mountpoint, rest @ ..] = arguments.as_slice() else {
        eprintln!("passthrough SOURCE MOUNTPOINT [READERS]");
        return ExitCode::from(2);
    };
    let mut options = MountOptions { allow_other: true, ..MountOptions::default() };
    if let Some(readers) = rest.first().and_then(|readers| readers.parse().ok()) {
        options.readers = readers;
    }
    let (source, mountpoint) = (Path::new(source), Path::new(mountpoint));
    match Mounted::mount(source, mountpoint, options, Arc::new(OpenGate)) {
        Ok(mounted) => {
            mounted.wait();
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
