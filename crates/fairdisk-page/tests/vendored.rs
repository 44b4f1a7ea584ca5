//! What pages carry is what its manifest says, with its licence beside it.

use sha2::{Digest, Sha256};
use std::fs;
use std::path::Path;
use toml::Table;

fn folder() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("vendor")
}

fn libraries() -> Vec<Table> {
    let manifest = fs::read_to_string(folder().join("manifest.toml")).expect("a manifest");
    let mut manifest: Table = manifest.parse().expect("TOML");
    manifest.remove("library").expect("libraries").try_into().expect("tables")
}

fn text<'a>(library: &'a Table, key: &str) -> &'a str {
    library.get(key).and_then(|value| value.as_str()).unwrap_or_else(|| panic!("{key}"))
}

#[test]
fn each_library_is_the_one_of_the_manifest() {
    for library in libraries() {
        let bytes = fs::read(folder().join(text(&library, "file"))).expect("there");
        let hash: String = Sha256::digest(&bytes).iter().map(|it| format!("{it:02x}")).collect();
        assert_eq!(hash, text(&library, "sha256"), "{}", text(&library, "file"));
        let version = format!("version=\"{}\"", text(&library, "version"));
        let contents = String::from_utf8(bytes).expect("text");
        // One names its version in its code, the other takes it from its package.
        let said = contents.contains(&version) || contents.contains(text(&library, "version"));
        assert!(said, "{} does not say {version}", text(&library, "file"));
    }
}

#[test]
fn each_library_has_its_licence() {
    let libraries = libraries();
    for library in &libraries {
        let licence = fs::read_to_string(folder().join(text(library, "licence-file")));
        let licence = licence.expect("a licence");
        assert_eq!(text(library, "licence"), "BSD-3-Clause");
        assert!(licence.contains("Redistribution and use in source and binary forms"));
    }
    let listed: Vec<&str> = libraries.iter().map(|library| text(library, "file")).collect();
    let scripts = fs::read_dir(folder()).expect("there").flatten();
    let scripts = scripts.map(|file| file.file_name().to_string_lossy().into_owned());
    for script in scripts.filter(|name| name.ends_with(".js")) {
        assert!(listed.contains(&script.as_str()), "{script} is not in the manifest");
    }
}
