//! Outputs are held to the schemas that `fairdisk schema` prints.

use serde_json::Value;
use std::process::Command;

/// The schema of `command`, closed: what has a name that the schema does not know is an error.
pub(crate) fn closed_schema(command: &str) -> Value {
    let mut program = Command::new(env!("CARGO_BIN_EXE_fairdisk"));
    let printed = program.args(["schema", command]).output().unwrap();
    let mut schema = serde_json::from_slice(&printed.stdout).unwrap();
    close(&mut schema);
    schema
}

fn close(schema: &mut Value) {
    match schema {
        Value::Object(members) => {
            if members.contains_key("properties") && !members.contains_key("additionalProperties") {
                members.insert("additionalProperties".to_owned(), false.into());
            }
            members.values_mut().for_each(close);
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}

/// Checks that a command printed what its schema says.
#[track_caller]
pub(crate) fn demand_valid(command: &str, printed: &Value) {
    let schema = closed_schema(command);
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    let errors: Vec<String> = validator
        .iter_errors(printed)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(errors.is_empty(), "{command}: {errors:#?}");
}
