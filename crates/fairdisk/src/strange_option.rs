//! What to use instead of an option that a command does not have.

use clap::error::{ContextKind, ContextValue, ErrorKind};

/// For a command and an option that others have: what to use there.
const INSTEAD: &[(&str, &[&str], &str)] = &[
    ("compare", &["--arm"], "--scheduler says what is compared; an arm that has it counts as it"),
    ("advise", &["--arm"], "--scheduler says what is tried; an arm that has it counts as it"),
    (
        "explain",
        &["--arm", "--row", "--seed", "--seeds"],
        "it is a part of <RUN>: SPEC/ARM/ROW/SEED",
    ),
    ("blame", &["--scheduler"], "the schedulers are <GOOD> and <BAD>"),
];

/// Puts what to use into the error about an option that the command does not have, in the place of
/// clap's proposal to take the option for a value, which no command has a use for.
pub(crate) fn advise(error: &mut clap::Error, command: Option<&str>) {
    if error.kind() != ErrorKind::UnknownArgument {
        return;
    }
    error.remove(ContextKind::Suggested);
    let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg) else { return };
    let is_it = |(of, options, _): &&(&str, &[&str], &str)| {
        command == Some(of) && options.contains(&option.as_str())
    };
    if let Some((_, _, instead)) = INSTEAD.iter().find(is_it) {
        error.remove(ContextKind::SuggestedArg);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![(*instead).into()]));
    }
}
