//! Prints the names of all parsers.

fn main() {
    fairdisk_fuzz::Parser::all().for_each(|(name, _)| println!("{name}"));
}
