//! Parses specs in JSON.

mod unique;

use std::path::PathBuf;

use serde_json::{Map, Value};

use super::{Arg, Buffer, Element, Error, Init, Key, Number, Out, Spec};

/// The keys of a spec.
const SPEC_KEYS: [&str; 9] =
    ["kernel", "grid", "global", "workgroup", "dynamic_lds", "scratch", "rest", "args", "comment"];
/// The keys of a buffer.
const BUFFER_KEYS: [&str; 5] = ["buffer", "count", "shape", "init", "out"];

impl Spec {
    /// Parses a spec. File names in it are relative to the folder passed to [`super::Program::prepare`].
    ///
    /// ```
    /// let text = r#"{"grid": [4], "args": {"n": {"i32": 5}, "x": {"buffer": "f32", "count": 8, "init": "iota"}}}"#;
    /// let spec = gcn_sim::launch::Spec::from_json(text)?;
    /// assert_eq!(spec.grid, Some([4, 1, 1]));
    /// # Ok::<(), gcn_sim::launch::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Json`], or [`Error::Spec`] and [`Error::Argument`] with the position, the expected form and a remedy.
    pub fn from_json(text: &str) -> Result<Spec, Error> {
        // Some editors put a byte order mark at the start of files.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let value = unique::from_str(text).map_err(|e| Error::Json(e.to_string()))?;
        let Value::Object(map) = &value else {
            return Err(Error::spec("it is not an object", "write `{\"args\": {…}}`"));
        };
        if let Some(key) = map.keys().find(|k| !SPEC_KEYS.contains(&k.as_str())) {
            return Err(Error::spec(
                format!("there is no key `{key}`"),
                format!("the keys are {}", SPEC_KEYS.join(", ")),
            ));
        }
        Ok(Spec {
            kernel: map.get("kernel").map(|v| text_of(v, "kernel")).transpose()?,
            grid: map.get("grid").map(|v| dimensions(v, "grid")).transpose()?,
            global: map.get("global").map(|v| dimensions(v, "global")).transpose()?,
            workgroup: map.get("workgroup").map(|v| dimensions(v, "workgroup")).transpose()?,
            dynamic_lds: map.get("dynamic_lds").map(|v| size(v, "dynamic_lds")).transpose()?.unwrap_or(0),
            scratch: map.get("scratch").map(|v| size(v, "scratch")).transpose()?,
            rest_zero: map.get("rest").map(rest).transpose()?.unwrap_or(false),
            args: map.get("args").map(args).transpose()?.unwrap_or_default(),
        })
    }
}

fn text_of(value: &Value, key: &str) -> Result<String, Error> {
    let text = value.as_str().map(str::to_owned);
    text.ok_or_else(|| Error::spec(format!("`{key}` is not text"), format!("write `\"{key}\": \"…\"`")))
}

fn size(value: &Value, key: &str) -> Result<u32, Error> {
    let number = value.as_u64().and_then(|n| u32::try_from(n).ok());
    number.ok_or_else(|| {
        Error::spec(format!("`{key}` is {value}"), "write a number of bytes, such as 1024".to_owned())
    })
}

fn rest(value: &Value) -> Result<bool, Error> {
    match value.as_str() {
        Some("zero") => Ok(true),
        Some("error") => Ok(false),
        _ => Err(Error::spec(format!("`rest` is {value}"), "write \"zero\" or \"error\"")),
    }
}

/// Parses one to three sizes; omitted ones are 1.
fn dimensions(value: &Value, key: &str) -> Result<[u32; 3], Error> {
    let wrong = || Error::spec(format!("`{key}` is {value}"), format!("write `\"{key}\": [X, Y, Z]`"));
    let list = match value {
        Value::Number(_) => std::slice::from_ref(value),
        Value::Array(list) if (1..=3).contains(&list.len()) => list,
        _ => return Err(wrong()),
    };
    let mut sizes = [1; 3];
    for (size, value) in sizes.iter_mut().zip(list) {
        *size = value.as_u64().and_then(|n| u32::try_from(n).ok()).ok_or_else(wrong)?;
    }
    Ok(sizes)
}

fn args(value: &Value) -> Result<Vec<(Key, Arg)>, Error> {
    match value {
        Value::Array(list) => list
            .iter()
            .enumerate()
            .map(|(at, value)| Ok((Key::Position(at), arg(&at.to_string(), value)?)))
            .collect(),
        Value::Object(map) => {
            map.iter().map(|(key, value)| Ok((Key::Name(key.clone()), arg(key, value)?))).collect()
        }
        _ => Err(Error::spec(
            "`args` is neither object nor list",
            "write `{\"name\": value, …}`, or a list in the order of the arguments",
        )),
    }
}

/// Parses an argument's value.
fn arg(name: &str, value: &Value) -> Result<Arg, Error> {
    match value {
        Value::Null => Ok(Arg::Null),
        Value::Number(_) | Value::String(_) => Ok(Arg::Untyped(number(name, value)?)),
        Value::Bool(flag) => Ok(Arg::Untyped(Number::Int((*flag).into()))),
        Value::Object(map) if map.contains_key("buffer") => Ok(Arg::Buffer(buffer(name, map)?)),
        Value::Object(map) => special(name, value, map),
        Value::Array(_) => Err(Error::argument(
            name,
            "a list is not a value",
            "write `{\"buffer\": \"f32\", \"init\": [1, 2]}` for a pointer to these, or `{\"struct\": […]}`",
        )),
    }
}

/// Parses values other than buffers, such as `{"i32": 5}`.
fn special(name: &str, whole: &Value, map: &Map<String, Value>) -> Result<Arg, Error> {
    let unknown = || {
        Error::argument(
            name,
            format!("{whole} is not a value"),
            "write `{\"i32\": 5}`, `{\"buffer\": \"f32\", …}`, `{\"same\": \"x\"}`, `{\"count\": \"x\"}`, `{\"struct\": […]}`, `{\"bytes\": \"00ff\"}` or null",
        )
    };
    let other = |other: &Value| match other {
        Value::String(other) => Ok(Key::Name(other.clone())),
        Value::Number(at) => Ok(Key::Position(at.as_u64().ok_or_else(unknown)? as usize)),
        _ => Err(unknown()),
    };
    if let Some(same) = map.get("same") {
        let wrong =
            || Error::argument(name, "`offset` is not a number of bytes from 0", "write `\"offset\": 64`");
        let offset = map.get("offset").map_or(Some(0), Value::as_u64).ok_or_else(wrong)?;
        known_keys(name, map, &["same", "offset"])?;
        return Ok(Arg::Same(other(same)?, offset));
    }
    if let Some(counted) = map.get("count") {
        known_keys(name, map, &["count"])?;
        return Ok(Arg::Count(other(counted)?));
    }
    let mut entries = map.iter();
    let (Some((key, value)), None) = (entries.next(), entries.next()) else { return Err(unknown()) };
    match (key.as_str(), value) {
        ("struct", Value::Array(members)) => {
            Ok(Arg::Struct(members.iter().map(|m| member(name, m)).collect::<Result<_, _>>()?))
        }
        ("bytes", Value::String(digits)) => Ok(Arg::Bytes(hex(name, digits)?)),
        _ => {
            let element: Element = key.parse().map_err(|_| unknown())?;
            Ok(Arg::Scalar(element, number(name, value)?))
        }
    }
}

/// Parses a member of a structure: any value, optionally with `"at"` for its offset.
fn member(name: &str, value: &Value) -> Result<(Option<u32>, Arg), Error> {
    let Value::Object(map) = value else { return Ok((None, arg(name, value)?)) };
    let mut map = map.clone();
    let at = map.remove("at").map(|at| {
        let wrong = || Error::argument(name, format!("`at` is {at}"), "write a number of bytes");
        at.as_u64().and_then(|at| u32::try_from(at).ok()).ok_or_else(wrong)
    });
    Ok((at.transpose()?, arg(name, &Value::Object(map))?))
}

fn known_keys(name: &str, map: &Map<String, Value>, known: &[&str]) -> Result<(), Error> {
    match map.keys().find(|k| !known.contains(&k.as_str())) {
        Some(key) => Err(Error::argument(
            name,
            format!("there is no key `{key}` here"),
            format!("the keys are {}", known.join(", ")),
        )),
        None => Ok(()),
    }
}

fn hex(name: &str, digits: &str) -> Result<Vec<u8>, Error> {
    let empty = || Error::argument(name, "`bytes` is empty", "write \"00ff\", or leave the argument out");
    let digits: Vec<char> = digits.chars().filter(|c| !c.is_whitespace() && *c != '_').collect();
    let byte = |pair: &[char]| match pair {
        [high, low] => Some((high.to_digit(16)? << 4 | low.to_digit(16)?) as u8),
        _ => None,
    };
    if digits.is_empty() {
        return Err(empty());
    }
    let bytes: Option<Vec<u8>> = digits.chunks(2).map(byte).collect();
    bytes.ok_or_else(|| Error::argument(name, "`bytes` has no pairs of hexadecimal digits", "write \"00ff\""))
}

/// Parses a number: a JSON number, a string for a value that JSON lacks (`"inf"`, `"nan"`), or a string with bits (`"0x7fc0"`).
fn number(name: &str, value: &Value) -> Result<Number, Error> {
    let wrong = || {
        Error::argument(
            name,
            format!("{value} is not a number"),
            "write 1, 0.5, \"inf\", \"-inf\", \"nan\" or bits such as \"0x7fc0\"",
        )
    };
    match value {
        Value::Bool(flag) => Ok(Number::Int((*flag).into())),
        Value::Number(n) => {
            let int = n.as_i64().map(i128::from).or(n.as_u64().map(i128::from));
            int.map(Number::Int).or(n.as_f64().map(Number::Float)).ok_or_else(wrong)
        }
        Value::String(text) => match text.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16).map(Number::Bits).map_err(|_| wrong()),
            None => text.parse().map(Number::Float).map_err(|_| wrong()),
        },
        _ => Err(wrong()),
    }
}

fn buffer(name: &str, map: &Map<String, Value>) -> Result<Buffer, Error> {
    known_keys(name, map, &BUFFER_KEYS)?;
    let types = "write `\"buffer\": \"f32\"` with the type of its elements";
    let element = map.get("buffer").and_then(Value::as_str);
    let element = element.ok_or_else(|| Error::argument(name, "`buffer` is not a type", types))?;
    let element: Element = element.parse().map_err(|e| Error::argument(name, format!("{e}"), types))?;
    Ok(Buffer {
        element,
        shape: shape(name, map)?,
        init: map.get("init").map_or(Ok(Init::Value(Number::Int(0))), |v| init(name, element, v))?,
        out: map.get("out").map(|v| out(name, v)).transpose()?.flatten(),
    })
}

fn shape(name: &str, map: &Map<String, Value>) -> Result<Option<Vec<u64>>, Error> {
    let wrong = |v: &Value| {
        let remedy = "write `\"count\": N` or `\"shape\": [N, M]`";
        Error::argument(name, format!("{v} is not a number of elements"), remedy)
    };
    match (map.get("count"), map.get("shape")) {
        (None, None) => Ok(None),
        (Some(count), None) => Ok(Some(vec![count.as_u64().ok_or_else(|| wrong(count))?])),
        (None, Some(Value::Array(sizes))) => {
            sizes.iter().map(|n| n.as_u64().ok_or_else(|| wrong(n))).collect::<Result<_, _>>().map(Some)
        }
        (None, Some(other)) => Err(wrong(other)),
        (Some(_), Some(_)) => Err(Error::argument(name, "there are `count` and `shape`", "leave one out")),
    }
}

fn init(name: &str, element: Element, value: &Value) -> Result<Init, Error> {
    let unknown = || {
        Error::argument(
            name,
            format!("{value} is not a value of `init`"),
            "write \"zeros\", \"ones\", \"iota\", \"random\", a list of values, {\"value\": 3}, {\"iota\": {\"start\": 0, \"step\": 1}}, {\"random\": {\"seed\": 1, \"min\": -1, \"max\": 1}}, {\"npy\": \"x.npy\"} or {\"raw\": \"x.bin\"}",
        )
    };
    let map = match value {
        Value::Array(values) if values.iter().any(|v| v.is_object() || v.is_null()) => {
            return Ok(Init::Pointers(values.iter().map(|v| arg(name, v)).collect::<Result<_, _>>()?));
        }
        Value::Array(values) => {
            return Ok(Init::Values(values.iter().map(|v| number(name, v)).collect::<Result<_, _>>()?));
        }
        Value::String(generator) => {
            let none = Map::new();
            return match generator.as_str() {
                "zeros" => Ok(Init::Value(Number::Int(0))),
                "ones" => Ok(Init::Value(Number::Int(1))),
                "iota" => iota(name, &none),
                "random" => random(name, element, &none),
                _ => Err(unknown()),
            };
        }
        Value::Object(map) => map,
        _ => return Err(unknown()),
    };
    let mut entries = map.iter();
    let (Some((key, value)), None) = (entries.next(), entries.next()) else { return Err(unknown()) };
    match (key.as_str(), value) {
        ("value", value) => Ok(Init::Value(number(name, value)?)),
        ("iota", Value::Object(map)) => iota(name, map),
        ("random", Value::Object(map)) => random(name, element, map),
        ("npy", Value::String(path)) => Ok(Init::Npy(PathBuf::from(path))),
        ("raw", Value::String(path)) => Ok(Init::Raw(PathBuf::from(path))),
        _ => Err(unknown()),
    }
}

fn iota(name: &str, map: &Map<String, Value>) -> Result<Init, Error> {
    known_keys(name, map, &["start", "step"])?;
    let get = |key: &str, default: i128| map.get(key).map_or(Ok(Number::Int(default)), |v| number(name, v));
    Ok(Init::Iota { start: get("start", 0)?, step: get("step", 1)? })
}

/// Parses a random initial value. The default range is -1 to 1 for floats, all values for bytes, and 0 to 100 for other integers.
fn random(name: &str, element: Element, map: &Map<String, Value>) -> Result<Init, Error> {
    known_keys(name, map, &["seed", "min", "max"])?;
    let (min, max) = match element {
        _ if element.is_float() => (-1, 1),
        Element::U8 => (0, 255),
        Element::I8 => (-128, 127),
        _ => (0, 100),
    };
    let get = |key: &str, default: i128| map.get(key).map_or(Ok(Number::Int(default)), |v| number(name, v));
    let wrong = || Error::argument(name, "`seed` is not a number from 0", "write `\"seed\": 1`");
    let seed = map.get("seed").map_or(Some(0), Value::as_u64).ok_or_else(wrong)?;
    Ok(Init::Random { seed, min: get("min", min)?, max: get("max", max)? })
}

fn out(name: &str, value: &Value) -> Result<Option<Out>, Error> {
    match value {
        Value::Bool(show) => Ok(show.then_some(Out::Show)),
        Value::String(path) => Ok(Some(Out::File(PathBuf::from(path)))),
        _ => Err(Error::argument(
            name,
            format!("{value} is not a value of `out`"),
            "write true, or the name of a file",
        )),
    }
}
