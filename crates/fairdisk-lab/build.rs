//! Embeds the catalogue: every `catalog/<kind>/<id>.toml` becomes an entry of a table.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let catalog = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../catalog");
    let mut table = String::from("&[\n");
    for kind in ["devices", "hosts", "revisions", "experiments"] {
        let folder = catalog.join(kind);
        println!("cargo::rerun-if-changed={}", folder.display());
        let mut files: Vec<PathBuf> =
            fs::read_dir(&folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
        files.retain(|file| file.extension().is_some_and(|ending| ending == "toml"));
        files.sort();
        for file in files {
            println!("cargo::rerun-if-changed={}", file.display());
            let id = file.file_stem().unwrap_or_default().to_string_lossy();
            let path = file.canonicalize()?;
            let path = path.display().to_string();
            writeln!(table, "    ({kind:?}, {id:?}, include_str!({path:?})),")
                .map_err(io::Error::other)?;
        }
    }
    table.push(']');
    let out = env::var("OUT_DIR").map_err(io::Error::other)?;
    fs::write(Path::new(&out).join("catalog.rs"), table)
}
