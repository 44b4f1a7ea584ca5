//! Tests of the structure of `fair`: which of its files imports which, and how large its structs
//! are.
//!
//! Its rules are `impl Fair`, each in a file of its own that imports the scheduler. Apart from that
//! no two files know each other, neither directly nor by way of others: a type that two of them
//! need lies in a third one.

use fairdisk_tidy::files::{demand_none, ending_in};
use std::collections::{BTreeMap, BTreeSet};
use syn::{Fields, Item, UseTree};

/// The most fields of a struct.
const FIELDS_MAX: usize = 12;
const FOLDER: &str = "crates/fairdisk-sched/src/";
/// The file in which the scheduler is, and the names that all others may take from it.
const SCHEDULER: &str = "fair";
const OF_SCHEDULER: &[&str] = &["Fair", "NIL", "Rules"];

/// The items of each file, without its tests, by the path of its module.
fn modules() -> BTreeMap<String, Vec<Item>> {
    let of_scheduler = |path: &str| {
        let module = path.strip_prefix(FOLDER)?.strip_suffix(".rs")?.replace('/', "::");
        let is_of = module == SCHEDULER || module.starts_with(&format!("{SCHEDULER}::"));
        is_of.then_some(module)
    };
    let modules: BTreeMap<String, Vec<Item>> = ending_in(&[".rs"])
        .iter()
        .filter_map(|file| {
            let module = of_scheduler(&file.path)?;
            let parsed = syn::parse_file(&file.text).unwrap_or_else(|e| panic!("{module}: {e}"));
            Some((module, parsed.items))
        })
        .collect();
    assert!(modules.len() > 50, "{} files cannot be all", modules.len());
    modules
}

/// All paths that a tree of imports names, each with what was before it.
fn paths(tree: &UseTree, before: &[String]) -> Vec<Vec<String>> {
    let with = |name: String| [before, &[name]].concat();
    match tree {
        UseTree::Path(path) => paths(&path.tree, &with(path.ident.to_string())),
        UseTree::Name(name) => vec![with(name.ident.to_string())],
        UseTree::Rename(name) => vec![with(name.ident.to_string())],
        UseTree::Glob(_) => vec![before.to_vec()],
        UseTree::Group(group) => group.items.iter().flat_map(|one| paths(one, before)).collect(),
    }
}

/// The path from the root of the crate on, of a path that is written in this module.
fn absolute(module: &str, path: &[String]) -> Vec<String> {
    let mut at: Vec<String> = module.split("::").map(str::to_owned).collect();
    let mut rest = path.iter().peekable();
    match rest.peek().map(|first| first.as_str()) {
        Some("crate") => {
            rest.next();
            at.clear();
        }
        Some("self") => _ = rest.next(),
        _ => {}
    }
    while rest.next_if(|one| *one == "super").is_some() {
        at.pop();
    }
    at.extend(rest.cloned());
    at
}

/// The modules that each one imports from.
fn imports() -> BTreeMap<String, BTreeSet<String>> {
    let modules = modules();
    let target = |path: &[String]| {
        let lengths = (1..=path.len()).rev();
        let found = lengths.map(|length| path[..length].join("::"));
        found.into_iter().find(|module| modules.contains_key(module))
    };
    let of = |module: &String, items: &Vec<Item>| {
        let uses = items.iter().filter_map(|item| match item {
            Item::Use(one) => Some(&one.tree),
            _ => None,
        });
        let all = uses.flat_map(|tree| paths(tree, &[])).map(|path| absolute(module, &path));
        let names_scheduler = |path: &Vec<String>| {
            let name = path.last().is_some_and(|name| OF_SCHEDULER.contains(&name.as_str()));
            name && path.len() == 2 && path[0] == SCHEDULER
        };
        let all = all.filter(|path| !names_scheduler(path));
        all.filter_map(|path| target(&path)).filter(|one| one != module).collect()
    };
    modules.iter().map(|(module, items)| (module.clone(), of(module, items))).collect()
}

/// All modules that can be reached from this one.
fn reached<'a>(from: &str, imports: &'a BTreeMap<String, BTreeSet<String>>) -> BTreeSet<&'a str> {
    let (mut found, mut left) = (BTreeSet::new(), vec![from]);
    while let Some(module) = left.pop() {
        for next in &imports[module] {
            if found.insert(next.as_str()) {
                left.push(next);
            }
        }
    }
    found
}

#[test]
fn no_file_imports_itself_by_way_of_others() {
    let imports = imports();
    let knows = |module: &str, other: &str| reached(module, &imports).contains(other);
    let loops = imports.keys().filter(|module| knows(module, module));
    let faults: Vec<String> = loops
        .map(|module| {
            let with: Vec<&String> =
                imports[module].iter().filter(|one| knows(one, module)).collect();
            format!("{module} imports {with:?}, which lead back to it")
        })
        .collect();
    demand_none(&faults);
}

#[test]
fn imports_are_found() {
    let imports = imports();
    assert!(imports["fair"].contains("fair::group"));
    assert!(imports["fair::cache"].contains("fair::cache::comparison"));
    assert!(imports["fair::queues::turns"].contains("fair::queue"));
    assert!(reached("fair::decide", &imports).contains("fair::patience"));
}

#[test]
fn structs_have_few_fields() {
    let mut faults = Vec::new();
    for (module, items) in modules() {
        for item in items {
            let Item::Struct(one) = item else { continue };
            let Fields::Named(fields) = &one.fields else { continue };
            if fields.named.len() > FIELDS_MAX {
                faults.push(format!("{module}::{}: {} fields", one.ident, fields.named.len()));
            }
        }
    }
    demand_none(&faults);
}
