//! Text files written by users, read with a size limit.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The longest file that is read, in bytes; a device such as `/dev/zero` has no end.
const BYTES_MAX: u64 = 16 << 20;

/// The start of blktrace records, except for their version.
const BLKTRACE: &[u8] = b"\x07tae";

/// Reads the text of a file.
///
/// # Errors
/// Returns an error if the file cannot be read, is longer than 16 MiB, or is not UTF-8 (naming the
/// line).
pub fn read(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    File::open(path)?.take(BYTES_MAX + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > BYTES_MAX {
        return Err(io::Error::other("it is longer than 16 MiB; split it or name another file"));
    }
    if bytes.starts_with(BLKTRACE) {
        return Err(io::Error::other("it is a trace of blktrace, which `fairdisk trace` shows"));
    }
    if bytes.contains(&0) {
        return Err(io::Error::other("it is no text; name a file that you can edit"));
    }
    String::from_utf8(bytes).map_err(|error| {
        let sound = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + sound.iter().filter(|byte| **byte == b'\n').count();
        io::Error::other(format!("line {line} is not UTF-8; save the file as UTF-8"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_an_end_is_not_read_for_ever() {
        let error = read(Path::new("/dev/zero")).map_err(|error| error.to_string());
        assert!(error.is_err_and(|error| error.contains("longer than 16 MiB")));
    }

    #[test]
    fn a_line_that_is_no_text_is_named() {
        let path = std::env::temp_dir().join(format!("fairdisk-text-{}", std::process::id()));
        std::fs::write(&path, b"one\ntwo\n\xff\n").unwrap_or_else(|error| panic!("{error}"));
        let error = read(&path).map_err(|error| error.to_string());
        std::fs::remove_file(&path).unwrap_or_else(|error| panic!("{error}"));
        assert!(error.is_err_and(|error| error.starts_with("line 3 is not UTF-8")));
    }
}
