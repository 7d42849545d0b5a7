//! Merges loads of adjacent kernel arguments.

use super::super::{Inst, Kernel, Region, Stmt, Type, Value, ValueDef};
use super::edit::part;
use crate::scalar::Elem;

/// The sizes of scalar loads in dwords, widest first.
const SIZES: [u32; 4] = [16, 8, 4, 2];

/// Merges the loads of arguments at the start of the body. The size of the kernarg segment is a multiple of 8 bytes,
/// and nothing is read beyond the 8 bytes that contain the last used argument.
pub(super) fn merge(kernel: &mut Kernel, body: &mut Region) {
    let at_start = body.stmts.iter().take_while(|s| matches!(s, Stmt::Inst(_)));
    let mut args: Vec<(u32, u32, Value)> = at_start
        .filter_map(|stmt| match stmt {
            Stmt::Inst(v) => match kernel.def(*v).inst {
                Inst::KernArg { offset } => Some((offset / 4, u32::from(kernel.ty(*v).dwords()), *v)),
                _ => None,
            },
            _ => None,
        })
        .collect();
    args.sort_unstable();
    let end = args.iter().map(|a| a.0 + a.1).max().unwrap_or_default().next_multiple_of(2);
    let mut wide = Vec::new();
    let mut rest = args.as_slice();
    while let Some(&(first, dwords, _)) = rest.first() {
        // The four dwords of a slice's resource start with its pointer, and the registers of a wide load start at a
        // multiple of four. If a pointer were at any other position in the load, it would have to be copied, so it does
        // not become part of this load.
        let aligned = rest.iter().take_while(|a| a.1 != 2 || (a.0 - first).is_multiple_of(4)).count();
        let choice = SIZES.iter().find_map(|&size| {
            let inside = rest[..aligned].iter().take_while(|a| a.0 + a.1 <= first + size).count();
            let used: u32 = rest[..inside].iter().map(|a| a.1).sum();
            (first + size <= end && inside > 1 && 4 * used >= 3 * size).then_some((size, inside))
        });
        let (size, inside) = choice.unwrap_or((dwords, 1));
        let (together, others) = rest.split_at(inside);
        rest = others;
        if together.len() > 1 {
            wide.push(Stmt::Inst(load(kernel, first, size, together)));
        }
    }
    body.stmts.splice(0..0, wide);
}

fn load(kernel: &mut Kernel, first: u32, size: u32, parts: &[(u32, u32, Value)]) -> Value {
    let ty = Type { count: size as u8, ..Type::uniform(Elem::U32) };
    kernel.values.push(ValueDef { inst: Inst::KernArg { offset: 4 * first }, ty: Some(ty), loc: None });
    let wide = Value(kernel.values.len() as u32 - 1);
    for (dword, dwords, v) in parts {
        kernel.values[v.0 as usize].inst = part(wide, dword - first, *dwords, size);
    }
    wide
}
