//! Feeds one of the parsers, which `FAIRDISK_PARSER` names, with inputs of libFuzzer.

#![no_main]

use fairdisk_fuzz::Parser;
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

static PARSER: LazyLock<Parser> = LazyLock::new(|| {
    let name = std::env::var("FAIRDISK_PARSER").unwrap_or_default();
    let known = || Parser::all().map(|(name, _)| name).collect::<Vec<_>>().join(", ");
    Parser::named(&name).unwrap_or_else(|| panic!("FAIRDISK_PARSER is one of {}", known()))
});

fuzz_target!(|bytes: &[u8]| PARSER.read(bytes));
