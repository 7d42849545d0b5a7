//! `gcn schema`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use crate::failure::Failure;
use crate::{commands, file};

/// Prints the JSON Schema of the output that a command prints with --json.
///
/// Without a command, lists the commands that have one.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The command
    #[arg(value_name = "COMMAND")]
    command: Option<String>,
}

const EXAMPLES: &str = "\
Examples:
  gcn schema                        the commands with a schema
  gcn schema check > check.json     the schema of `gcn check --json`";

/// The declarations of all outputs, in a notation that the file explains.
const OUTPUTS: &str = include_str!("../../data/outputs.txt");

/// The declaration of an object type.
#[derive(Default)]
struct Object<'d> {
    description: &'d str,
    /// Name, type and description of each field.
    fields: Vec<(&'d str, &'d str, &'d str)>,
}

/// The outputs of the commands.
#[derive(Default)]
struct Outputs<'d> {
    commands: BTreeMap<&'d str, &'d str>,
    types: BTreeMap<&'d str, Object<'d>>,
}

/// Splits a text at its first colon into declaration and description.
fn described(text: &str) -> (&str, &str) {
    text.split_once(": ").map_or((text.trim(), ""), |(text, description)| (text.trim(), description.trim()))
}

impl<'d> Outputs<'d> {
    fn read(text: &'d str) -> Outputs<'d> {
        let (mut outputs, mut current) = (Outputs::default(), "");
        for line in text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()) {
            let (head, tail) = described(line);
            // Declarations are not indented; an indented `type` is a field with that name.
            let declares = !line.starts_with(' ');
            if let Some(name) = head.strip_prefix("command ").filter(|_| declares) {
                outputs.commands.insert(name, tail);
            } else if let Some(name) = head.strip_prefix("type ").filter(|_| declares) {
                current = name;
                outputs.types.insert(name, Object { description: tail, fields: Vec::new() });
            } else if let (Some((name, ty)), Some(object)) =
                (head.split_once(' '), outputs.types.get_mut(current))
            {
                object.fields.push((name, ty.trim(), tail));
            }
        }
        outputs
    }

    /// The schema of a command's output.
    fn schema(&self, command: &str) -> Option<Value> {
        let mut wanted = BTreeSet::new();
        let mut schema = of(self.commands.get(command)?, &mut wanted);
        let mut definitions = Map::new();
        while let Some(name) = wanted.iter().find(|name| !definitions.contains_key(**name)).copied() {
            let object = self.types.get(name).map_or(Value::Bool(false), |object| object.schema(&mut wanted));
            definitions.insert(name.to_owned(), object);
        }
        if let Value::Object(map) = &mut schema {
            map.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
            map.insert("title".to_owned(), json!(format!("gcn {command} --json")));
            map.insert("$defs".to_owned(), Value::Object(definitions));
        }
        Some(schema)
    }
}

impl<'d> Object<'d> {
    fn schema(&self, wanted: &mut BTreeSet<&'d str>) -> Value {
        let (mut properties, mut required) = (Map::new(), Vec::new());
        for (name, ty, description) in &self.fields {
            let mut schema = of(ty, wanted);
            if let (Value::Object(map), false) = (&mut schema, description.is_empty()) {
                map.insert("description".to_owned(), json!(description));
            }
            let bare = name.strip_suffix('?').unwrap_or(name);
            if bare == *name {
                required.push(bare);
            }
            properties.insert(bare.to_owned(), schema);
        }
        let mut schema = json!({
            "type": "object", "properties": properties, "required": required, "additionalProperties": false
        });
        if let (Value::Object(map), false) = (&mut schema, self.description.is_empty()) {
            map.insert("description".to_owned(), json!(self.description));
        }
        schema
    }
}

/// Splits a type at each `|` outside of brackets.
fn alternatives(ty: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0usize, 0);
    for (i, c) in ty.char_indices() {
        match c {
            '[' | '{' => depth += 1,
            ']' | '}' => depth = depth.saturating_sub(1),
            '|' if depth == 0 => {
                parts.push(ty[start..i].trim());
                start = i + 1;
            }
            _ => {}
        }
    }
    parts.push(ty[start..].trim());
    parts
}

/// The schema of a type. The names of the types to which it refers are added to `wanted`.
fn of<'d>(ty: &'d str, wanted: &mut BTreeSet<&'d str>) -> Value {
    let parts = alternatives(ty);
    if parts.len() > 1 {
        let all: Vec<Value> = parts.into_iter().map(|part| of(part, wanted)).collect();
        return json!({ "anyOf": all });
    }
    if let Some(inner) = ty.strip_suffix('?') {
        return json!({ "anyOf": [of(inner, wanted), { "type": "null" }] });
    }
    let inside = |open, close| ty.strip_prefix(open).and_then(|rest: &str| rest.strip_suffix(close));
    if let Some(items) = inside('[', ']') {
        return json!({ "type": "array", "items": of(items, wanted) });
    }
    if let Some(values) = inside('{', '}') {
        return json!({ "type": "object", "additionalProperties": of(values, wanted) });
    }
    match ty {
        "any" => json!({}),
        "string" | "integer" | "number" | "boolean" => json!({ "type": ty }),
        name => {
            wanted.insert(name);
            json!({ "$ref": format!("#/$defs/{name}") })
        }
    }
}

/// Prints a schema, or the list of commands.
pub fn run(args: &Args) -> Result<(), Failure> {
    let outputs = Outputs::read(OUTPUTS);
    let names: Vec<&str> = outputs.commands.keys().copied().collect();
    let Some(command) = &args.command else {
        return file::print(format!("{}\n", names.join("\n")).as_bytes());
    };
    let schema = outputs.schema(command).ok_or_else(|| {
        Failure::usage(format!(
            "`gcn {command}` has no --json; the commands that have are {}",
            names.join(", ")
        ))
    })?;
    file::print(commands::json(&schema)?.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_that_is_named_is_declared_and_used() {
        let outputs = Outputs::read(OUTPUTS);
        let mut used = BTreeSet::new();
        for command in outputs.commands.keys() {
            let schema = outputs.schema(command).expect("a command");
            let definitions = schema["$defs"].as_object().expect("definitions");
            assert!(definitions.values().all(Value::is_object), "{command}");
            used.extend(definitions.keys().cloned());
        }
        assert!(outputs.types.keys().all(|name| used.contains(*name)));
        assert!(outputs.types.values().all(|object| !object.fields.is_empty()));
    }

    #[test]
    fn types_become_schemas() {
        let mut wanted = BTreeSet::new();
        assert_eq!(
            of("[[string | number]]", &mut wanted).to_string(),
            r#"{"items":{"items":{"anyOf":[{"type":"string"},{"type":"number"}]},"type":"array"},"type":"array"}"#
        );
        assert_eq!(of("{A?}", &mut wanted)["additionalProperties"]["anyOf"][0]["$ref"], "#/$defs/A");
        assert!(wanted.contains("A"));
    }
}
