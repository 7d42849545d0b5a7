//! Converts constants in a line to typed Rust literals that have the value that the assembler gives the constant in
//! that operand.

use gcn_isa::table::{Class, ConstType, InstDesc, OperandKinds};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};

use crate::expand::Cx;

/// A number as written in the source.
struct Written<'a> {
    negative: bool,
    digits: &'a str,
    span: Span,
}

impl Written<'_> {
    fn sign(&self) -> Option<TokenStream> {
        self.negative.then(|| quote!(-))
    }

    /// The number as a float literal with the type as its suffix.
    fn float(&self, suffix: &str) -> TokenStream {
        let (sign, typed) = (self.sign(), syn::LitFloat::new(&format!("{}{suffix}", self.digits), self.span));
        quote_spanned!(self.span=> #sign #typed)
    }

    /// The number as an integer literal with the type as its suffix.
    fn int(&self, suffix: &str) -> TokenStream {
        let (sign, typed) = (self.sign(), syn::LitInt::new(&format!("{}{suffix}", self.digits), self.span));
        quote_spanned!(self.span=> #sign #typed)
    }

    /// The number as a 16-bit float.
    fn half(&self, name: &str) -> TokenStream {
        let (name, wide) = (Ident::new(name, self.span), self.float("f64"));
        quote_spanned!(self.span=> ::gcn_dsl::prelude::#name::from_f64(#wide))
    }

    /// The number's bits as a 32-bit operand.
    fn bits32(&self) -> TokenStream {
        let int = self.int(if self.negative { "i32" } else { "u32" });
        quote_spanned!(self.span=> ((#int) as u32))
    }
}

impl Cx<'_> {
    /// The Rust expression for a constant in operand `at` of `row`.
    pub(super) fn asm_constant(
        &mut self,
        negative: bool,
        number: &syn::Lit,
        (row, at): (&InstDesc, usize),
    ) -> Option<TokenStream> {
        let span = number.span();
        match number {
            syn::Lit::Float(n) if n.suffix().is_empty() => {
                let value = float(&Written { negative, digits: n.base10_digits(), span }, row, at);
                if value.is_none() && is_accumulator(row, at) {
                    self.errors.at(n, F64_ACCUMULATOR);
                } else if value.is_none() {
                    self.errors
                        .at(n, format!("`{}` reads 16-bit integers here; write the bits", row.mnemonic));
                }
                value
            }
            syn::Lit::Int(n) if is_accumulator(row, at) && is_f64(row) => {
                self.errors.at(n, F64_ACCUMULATOR);
                None
            }
            syn::Lit::Int(n) if n.suffix().is_empty() => {
                let inline = n.base10_parse::<u64>().is_ok_and(|n| n <= if negative { 16 } else { 64 });
                Some(int(&Written { negative, digits: n.base10_digits(), span }, inline, row, at))
            }
            _ => {
                let sign = negative.then(|| quote!(-));
                Some(quote_spanned!(span=> #sign #number))
            }
        }
    }
}

/// True if the operand can only be a literal dword. The function takes such an operand as an integer.
fn is_literal(row: &InstDesc, at: usize) -> bool {
    (OperandKinds::LITERAL | OperandKinds::LITERAL16).contains(row.operands[at].kinds)
}

/// True for the accumulator C of a matrix instruction. A constant there applies to each of its dwords.
fn is_accumulator(row: &InstDesc, at: usize) -> bool {
    row.is_matrix() && row.operands[at].name == "src2" && row.operands[at].dwords > 2
}

fn is_f64(row: &InstDesc) -> bool {
    row.class == Class::MfmaDgemm
}

const F64_ACCUMULATOR: &str = "C of this instruction is a value: write `{name}`";

fn float(n: &Written<'_>, row: &InstDesc, at: usize) -> Option<TokenStream> {
    let (span, bits) = (n.span, is_literal(row, at));
    let of = |half: TokenStream| quote_spanned!(span=> u32::from(#half.to_bits()));
    let single = |n: &Written<'_>| {
        let value = n.float("f32");
        quote_spanned!(span=> f32::to_bits(#value))
    };
    Some(match row.constant_type(at) {
        ConstType::F16 if !bits => n.half("f16"),
        ConstType::Bf16 if !bits => n.half("bf16"),
        ConstType::F16 | ConstType::PackedF16 => of(n.half("f16")),
        ConstType::Bf16 | ConstType::PackedBf16 => of(n.half("bf16")),
        ConstType::I16 => return None,
        _ if is_accumulator(row, at) && is_f64(row) => return None,
        _ if is_accumulator(row, at) => {
            let value = single(n);
            quote_spanned!(span=> ::gcn_dsl::isa::EachDword(#value))
        }
        ConstType::B32 if bits => single(n),
        // Both halves of the register pair read the same constant.
        ConstType::B32 if row.operands[at].dwords == 2 => {
            let value = single(n);
            quote_spanned!(span=> (u64::from(#value) * 0x1_0000_0001))
        }
        ConstType::B32 => n.float("f32"),
        ConstType::F64 | ConstType::B64 => n.float("f64"),
    })
}

fn int(n: &Written<'_>, inline: bool, row: &InstDesc, at: usize) -> TokenStream {
    let (span, dwords) = (n.span, row.operands[at].dwords);
    match row.constant_type(at) {
        _ if is_accumulator(row, at) => {
            let bits = n.bits32();
            quote_spanned!(span=> ::gcn_dsl::isa::EachDword(#bits))
        }
        ConstType::B32 if dwords == 2 => {
            let bits = n.bits32();
            quote_spanned!(span=> (u64::from(#bits) * 0x1_0000_0001))
        }
        // A literal gives only the high half of a 64-bit float.
        ConstType::F64 if !inline => {
            let bits = n.bits32();
            quote_spanned!(span=> (u64::from(#bits) << 32))
        }
        _ if dwords == 2 => n.int(if n.negative { "i64" } else { "u64" }),
        _ if is_literal(row, at) => n.bits32(),
        _ => n.int(if n.negative { "i32" } else { "u32" }),
    }
}
