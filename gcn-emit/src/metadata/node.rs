//! Metadata of any structure: the contents of a `MessagePack` note, including unknown keys.

use std::cmp::Ordering;
use std::fmt;

use rmp::encode;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use super::MetadataError;

/// A metadata value, including all values inside it.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// A missing value.
    Nil,
    /// A boolean.
    Bool(bool),
    /// An unsigned integer.
    UInt(u64),
    /// A negative integer.
    Int(i64),
    /// A floating-point number.
    Float(f64),
    /// A string.
    Text(String),
    /// A sequence.
    Seq(Vec<Node>),
    /// A map, in the order of the bytes. Nearly all keys are strings.
    Map(Vec<(Node, Node)>),
}

impl Node {
    /// Parses a `MessagePack` value.
    ///
    /// # Errors
    /// [`MetadataError`] if the bytes end early, are not `MessagePack`, or contain something that metadata cannot
    /// contain.
    pub fn from_msgpack(bytes: &[u8]) -> Result<Node, MetadataError> {
        rmp_serde::from_slice(bytes).map_err(|e| MetadataError(e.to_string()))
    }
}

impl Node {
    /// Compares keys in the order in which LLVM writes the keys of a map: by type, then by value.
    ///
    /// ```
    /// use std::cmp::Ordering;
    /// use gcn_emit::metadata::Node;
    ///
    /// assert_eq!(Node::Int(-1).key_order(&Node::UInt(0)), Ordering::Less);
    /// assert_eq!(Node::Text("a".to_owned()).key_order(&Node::UInt(7)), Ordering::Greater);
    /// ```
    pub fn key_order(&self, other: &Node) -> Ordering {
        match (self, other) {
            (Node::Int(a), Node::Int(b)) => a.cmp(b),
            (Node::UInt(a), Node::UInt(b)) => a.cmp(b),
            (Node::Bool(a), Node::Bool(b)) => a.cmp(b),
            (Node::Float(a), Node::Float(b)) => a.total_cmp(b),
            (Node::Text(a), Node::Text(b)) => a.cmp(b),
            _ => self.kind().cmp(&other.kind()),
        }
    }

    /// The rank of the key's type.
    fn kind(&self) -> u8 {
        match self {
            Node::Int(_) => 0,
            Node::UInt(_) => 1,
            Node::Nil => 2,
            Node::Bool(_) => 3,
            Node::Float(_) => 4,
            Node::Text(_) => 5,
            Node::Seq(_) => 6,
            Node::Map(_) => 7,
        }
    }

    /// Writes the value as LLVM does: each number in its shortest form, and a float as f32 if it is in the range of f32.
    ///
    /// ```
    /// use gcn_emit::metadata::Node;
    ///
    /// let node = Node::Map(vec![(Node::Text(".size".to_owned()), Node::UInt(300))]);
    /// assert_eq!(node.to_msgpack(), b"\x81\xa5.size\xcd\x01\x2c");
    /// ```
    pub fn to_msgpack(&self) -> Vec<u8> {
        let mut out = Vec::new();
        // Writing to a vector cannot fail.
        let _ = write(&mut out, self);
        out
    }
}

fn write(out: &mut Vec<u8>, node: &Node) -> Result<(), std::io::Error> {
    match node {
        Node::Nil => encode::write_nil(out)?,
        Node::Bool(value) => encode::write_bool(out, *value)?,
        Node::UInt(value) => {
            encode::write_uint(out, *value)?;
        }
        Node::Int(value) => {
            encode::write_sint(out, *value)?;
        }
        Node::Float(value) if (f64::from(f32::MIN_POSITIVE)..=f64::from(f32::MAX)).contains(&value.abs()) => {
            encode::write_f32(out, *value as f32)?;
        }
        Node::Float(value) => encode::write_f64(out, *value)?,
        Node::Text(text) => encode::write_str(out, text)?,
        Node::Seq(items) => {
            encode::write_array_len(out, items.len() as u32)?;
            items.iter().try_for_each(|item| write(out, item))?;
        }
        Node::Map(entries) => {
            encode::write_map_len(out, entries.len() as u32)?;
            for (key, value) in entries {
                write(out, key)?;
                write(out, value)?;
            }
        }
    }
    Ok(())
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Node, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map, sequence, text, number, boolean or nil")
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Nil)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Node, E> {
        Ok(Node::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Node, E> {
        Ok(Node::UInt(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Node, E> {
        Ok(u64::try_from(value).map_or(Node::Int(value), Node::UInt))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Node, E> {
        Ok(Node::Float(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Node, E> {
        Ok(Node::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Node, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(Node::Seq(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(Node::Map(entries))
    }
}
