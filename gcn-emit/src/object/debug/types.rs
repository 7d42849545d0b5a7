//! Types in debug information.

use crate::kernel::VariableType;

const DW_ATE_UNSIGNED: u8 = 7;

/// The type of a parameter or variable.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Type {
    Scalar(Scalar),
    /// A pointer, with its name in the source. The pointer of a slice is represented in the same way.
    Pointer {
        name: String,
        to: Scalar,
    },
    Array(Box<Type>, u64),
    Struct(&'static str, Vec<(&'static str, Type)>),
}

/// A number.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Scalar {
    pub(super) name: String,
    /// `DW_ATE_*`
    pub(super) encoding: u8,
    pub(super) bytes: u8,
}

impl Scalar {
    /// The number type with this name: `f32`, `bf16`, `i8`, `u64`, `bool`. `None` if there is none.
    fn named(name: &str) -> Option<Scalar> {
        const DW_ATE_BOOLEAN: u8 = 2;
        const DW_ATE_FLOAT: u8 = 4;
        const DW_ATE_SIGNED: u8 = 5;
        let (kind, bits) = name.split_at(name.find(|c: char| c.is_ascii_digit()).unwrap_or(name.len()));
        let encoding = match kind {
            "f" | "bf" | "fp" => DW_ATE_FLOAT,
            "i" => DW_ATE_SIGNED,
            "u" => DW_ATE_UNSIGNED,
            "bool" => DW_ATE_BOOLEAN,
            _ => return None,
        };
        let bits: u8 = if kind == "bool" { 8 } else { bits.parse().ok()? };
        Some(Scalar { name: name.to_owned(), encoding, bytes: bits / 8 })
    }
}

impl Type {
    /// The debug information's type for a variable; `None` if it cannot be described.
    pub(super) fn of(ty: &VariableType) -> Option<Type> {
        Some(match ty {
            VariableType::Scalar(name) => Type::Scalar(Scalar::named(name)?),
            VariableType::Lanes => {
                Type::Scalar(Scalar { name: "lanes".to_owned(), encoding: DW_ATE_UNSIGNED, bytes: 8 })
            }
            VariableType::Array(of, count) => Type::Array(Box::new(Type::of(of)?), *count),
            VariableType::Struct(name, fields) => {
                let fields: Option<_> =
                    fields.iter().map(|(name, ty)| Some((*name, Type::of(ty)?))).collect();
                Type::Struct(name, fields?)
            }
        })
    }

    /// The size of the type.
    pub(super) fn bytes(&self) -> u64 {
        match self {
            Type::Scalar(scalar) => scalar.bytes.into(),
            Type::Pointer { .. } => 8,
            Type::Array(of, count) => of.bytes() * count,
            Type::Struct(_, fields) => fields.iter().map(|field| field.1.bytes()).sum(),
        }
    }

    /// The type with this name: a scalar, or a slice of or pointer to one. `None` for other names.
    pub(super) fn named(name: &str) -> Option<Type> {
        let pointee = ["*const ", "*mut ", "&mut [", "&["].iter().find_map(|begin| name.strip_prefix(begin));
        match pointee {
            None => Scalar::named(name).map(Type::Scalar),
            Some(to) => {
                // The element type of an array, or of a structure of bytes that is written in the same way.
                let to = to.trim_start_matches('[').trim_end_matches(']');
                let to = to.split_once(';').map_or(to, |(element, _)| element);
                Some(Type::Pointer { name: name.to_owned(), to: Scalar::named(to)? })
            }
        }
    }
}
