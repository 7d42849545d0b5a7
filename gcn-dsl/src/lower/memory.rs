//! Loads, stores, kernel arguments and variables.

use gcn_isa::inst::Mods;
use gcn_isa::operand::Operand;
use gcn_isa::target::Generation;

use super::{Lower, LowerError, Lowered, Src, Width, mask};
use crate::ir::far::DS_OFFSET_MAX;
use crate::ir::{Bin, Cache, Inst, Manner, Memory, Place, Type, Value, Variable};
use crate::mir::{MInst, MOperand, Op, VReg, VSlice, scratch};
use crate::scalar::Elem;

/// The size and extension of a memory access, which its mnemonic names.
struct Access {
    bytes: u32,
    signed: bool,
}

impl Access {
    fn of(ty: Type) -> Access {
        Access {
            bytes: ty.elem.bytes() * u32::from(ty.count),
            signed: ty.elem.is_signed() && !ty.elem.is_float(),
        }
    }

    /// The suffix of `buffer_load_*` and `global_load_*`.
    fn vector_load(&self) -> Option<&'static str> {
        Some(match (self.bytes, self.signed) {
            (1, true) => "sbyte",
            (1, false) => "ubyte",
            (2, true) => "sshort",
            (2, false) => "ushort",
            _ => return self.dwords(),
        })
    }

    fn vector_store(&self) -> Option<&'static str> {
        match self.bytes {
            1 => Some("byte"),
            2 => Some("short"),
            _ => self.dwords(),
        }
    }

    fn dwords(&self) -> Option<&'static str> {
        Some(match self.bytes {
            4 => "dword",
            8 => "dwordx2",
            12 => "dwordx3",
            16 => "dwordx4",
            _ => return None,
        })
    }

    fn lds_load(&self) -> Option<&'static str> {
        Some(match (self.bytes, self.signed) {
            (1, true) => "i8",
            (1, false) => "u8",
            (2, true) => "i16",
            (2, false) => "u16",
            _ => return self.lds_store(),
        })
    }

    fn lds_store(&self) -> Option<&'static str> {
        Some(match self.bytes {
            1 => "b8",
            2 => "b16",
            4 => "b32",
            8 => "b64",
            12 => "b96",
            16 => "b128",
            _ => return None,
        })
    }
}

/// The address of an access, as instruction operands.
pub(super) struct Address {
    /// The mnemonic's prefix: `buffer`, `global`, `scratch` or `ds`.
    pub family: &'static str,
    /// The varying part, a VGPR or `off`.
    pub varying: Src,
    /// The base operands, which follow the varying part in assembly order.
    pub base: Vec<Src>,
    /// The immediate offset.
    pub offset: i32,
    /// True if the varying part is a byte offset in a buffer (`offen`).
    pub offen: bool,
}

/// The largest immediate offset of a MUBUF instruction.
const MUBUF_OFFSET_MAX: u64 = 4095;

impl Lower<'_> {
    /// Loads from memory that the dispatcher has filled. `pointer`, the address, is part of the kernel's initial state.
    pub(super) fn dispatch_load(&mut self, v: Value, pointer: Option<VReg>, offset: u32) -> Lowered {
        let Some(pointer) = pointer else { unreachable!("enabled because it is read") };
        let base = Src::Reg(pointer.all(self.func.info(pointer)));
        let dst = self.define(v);
        self.machine(
            &scalar_load("s_load_dword", dst.len),
            &[dst],
            &[base, Src::Fixed(Operand::Imm(i64::from(offset)))],
        )
    }

    pub(super) fn load_uniform(&mut self, v: Value, resource: Value, offset: Value) -> Lowered {
        let base = self.slice_resource(resource);
        let offset = match self.operand(offset) {
            // Immediate offsets of buffer loads have 20 bits.
            Src::Const(bits, _) if bits < 1 << 20 => Src::Fixed(Operand::Imm(bits as i64)),
            other => Src::Reg(self.in_sgpr(other, 1)),
        };
        let dst = self.define(v);
        self.machine(&scalar_load("s_buffer_load_dword", dst.len), &[dst], &[base, offset])
    }

    /// The resource of a slice as a source. The scheduler learns that the slice is a separate memory object.
    fn slice_resource(&mut self, resource: Value) -> Src {
        let src = self.operand(resource);
        // A slice that overlaps another slice is not a separate memory object.
        if let (Src::Reg(slice), false) = (src, self.kernel.overlapping.contains(&resource)) {
            self.func.slices.insert(slice.reg);
        }
        src
    }

    pub(super) fn address(&mut self, memory: Memory, offset: Value) -> Address {
        match memory {
            Memory::Lds(id) => {
                let (_, array) = self.kernel.lds_place(id);
                let (varying, constant) = self.split_constant(offset, DS_OFFSET_MAX - array);
                let varying = Src::Reg(self.in_vgpr(varying, 1));
                Address {
                    family: "ds",
                    varying,
                    base: vec![],
                    offset: (array + constant) as i32,
                    offen: false,
                }
            }
            Memory::Lanes(pointer) => {
                let varying = self.operand(pointer);
                let varying = Src::Reg(self.in_vgpr(varying, 2));
                let offset = match self.operand(offset) {
                    Src::Const(bits, _) => bits as i32,
                    other => {
                        unreachable!("lanes' pointers are advanced by 64-bit arithmetic, not by {other:?}")
                    }
                };
                let base = vec![Src::Fixed(Operand::Off)];
                Address { family: "global", varying, base, offset, offen: false }
            }
            Memory::Private(id) => self.scratch_address(self.kernel.private[id.0 as usize].offset, offset),
            Memory::Buffer(resource) => {
                let base = vec![self.slice_resource(resource), Src::Const(0, Width::B32)];
                let (varying, offset, offen) = match self.split_aligned(offset) {
                    (Src::Const(bits, _), 0) if bits <= MUBUF_OFFSET_MAX => {
                        (Src::Fixed(Operand::Off), bits as i32, false)
                    }
                    (other, constant) => (Src::Reg(self.in_vgpr(other, 1)), constant, true),
                };
                Address { family: "buffer", varying, base, offset, offen }
            }
            Memory::Global(pointer) => {
                let base = vec![self.operand(pointer)];
                let offset = self.operand(offset);
                let varying = Src::Reg(self.in_vgpr(offset, 1));
                Address { family: "global", varying, base, offset: 0, offen: false }
            }
        }
    }

    /// The address of byte `offset` of the private array at `array`. Only the array's own offset is put in the
    /// instruction's offset field: with a constant part of the index there as well, an index that wraps around would
    /// reach another address.
    fn scratch_address(&mut self, array: u32, offset: Value) -> Address {
        let off = Src::Fixed(Operand::Off);
        let scratch =
            |varying, offset| Address { family: "scratch", varying, base: vec![off], offset, offen: false };
        match self.operand(offset) {
            Src::Const(bits, _) => {
                let at = (bits as u32).wrapping_add(array);
                let inside = at.min(scratch::reach(self.target) - 1);
                if at == inside && !scratch::needs_base(self.target) {
                    return scratch(off, at as i32);
                }
                // The offset does not fit into the field, or there is no form without an address register, so put the
                // rest of the offset in a VGPR.
                let rest = self.in_vgpr(Src::Const(u64::from(at - inside), Width::B32), 1);
                scratch(Src::Reg(rest), inside as i32)
            }
            index => {
                let inside = array.min(scratch::reach(self.target) - 1);
                let mut varying = Src::Reg(self.in_vgpr(index, 1));
                if array > inside {
                    let sum = self.temp_v();
                    // This cannot fail, since every target can add dwords.
                    let rest = Src::Const(u64::from(array - inside), Width::B32);
                    if self.machine("v_add_u32", &[sum], &[rest, varying]).is_ok() {
                        varying = Src::Reg(sum);
                    }
                }
                scratch(varying, inside as i32)
            }
        }
    }

    /// Splits `offset` into a computed part and a constant for a buffer instruction such that their sum does not wrap
    /// around. A constant that could cause a wrap stays in the computed part, because the instruction's addition does
    /// not wrap: a negative index would not come back into bounds.
    fn split_aligned(&mut self, offset: Value) -> (Src, i32) {
        let kernel = self.kernel;
        let offset = kernel.resolved(offset);
        if let Inst::Bin(Bin::Add, inner, c) = kernel.def(offset).inst
            && let Inst::Const(bits) = kernel.def(c).inst
            && bits <= MUBUF_OFFSET_MAX
            // For `x = 0`, `(x - 4) + 4` is 0 in the IR, but 2^32, which is out of bounds, in the instruction.
            && self.ranges.adds_exactly(inner, bits as u32)
        {
            return (self.operand(inner), bits as i32);
        }
        (self.operand(offset), 0)
    }

    /// Splits `offset` into a computed part and a constant of at most `limit`. LDS addresses wrap at 2^32 before the
    /// bounds check, so the split is exact.
    fn split_constant(&mut self, offset: Value, limit: u32) -> (Src, u32) {
        let mut offset = self.kernel.resolved(offset);
        // If the sum is uniform, only the part without the constant is copied to a vector register.
        if let Inst::Splat(uniform) = self.kernel.def(offset).inst {
            offset = self.kernel.resolved(uniform);
        }
        if let Inst::Bin(Bin::Add, inner, c) = self.kernel.def(offset).inst
            && let Inst::Const(bits) = self.kernel.def(c).inst
            && bits <= u64::from(limit)
        {
            return (self.operand(inner), bits as u32);
        }
        match self.operand(offset) {
            Src::Const(bits, _) if bits <= u64::from(limit) => (Src::Const(0, Width::B32), bits as u32),
            other => (other, 0),
        }
    }

    pub(super) fn load(&mut self, v: Value, memory: Memory, offset: Value, manner: Manner) -> Lowered {
        match manner {
            Manner::Plain => self.load_with(v, memory, offset, |_| {}),
            Manner::Cached(cache) => self.load_with(v, memory, offset, self.hint(cache, false)),
            Manner::Transposed(bits) => self.load_transposed(v, memory, offset, bits),
        }
    }

    /// Sets the modifiers for a cache hint, as LLVM's memory legalizer does. On targets with scopes, `glc`, `scc` and
    /// `slc` are called `sc0`, `sc1` and `nt`.
    fn hint(&self, cache: Cache, is_store: bool) -> impl Fn(&mut Mods) + use<> {
        let (generation, scopes) = (self.target.generation(), self.target.is_gfx940_family());
        move |m: &mut Mods| match (cache, generation) {
            (Cache::Streaming, Generation::GFX9) => (m.glc, m.slc) = (!scopes, true),
            (Cache::Bypass, Generation::GFX9) if scopes => (m.glc, m.scc) = (true, true),
            // Stores always write through.
            (Cache::Bypass, Generation::GFX9) => m.glc = !is_store,
            (Cache::Streaming, Generation::GFX12) => m.th = 1,
            (Cache::Bypass, Generation::GFX12) => m.scope = 3,
            (Cache::Streaming, _) => m.slc = true,
            (Cache::Bypass, _) => (m.glc, m.dlc) = (!is_store, !is_store),
        }
    }

    fn load_transposed(&mut self, v: Value, memory: Memory, offset: Value, bits: u8) -> Lowered {
        let address = self.address(memory, offset);
        let dst = self.define(v);
        let mnemonic = format!("{}_read_b{}_tr_b{bits}", address.family, 32 * u32::from(dst.len));
        self.machine_with(&mnemonic, &[dst], &[address.varying], memory_mods(address.offset, false, |_| {}))
    }

    /// Emits a load with additional modifiers.
    pub(super) fn load_with(
        &mut self,
        v: Value,
        memory: Memory,
        offset: Value,
        modify: impl Fn(&mut Mods),
    ) -> Lowered {
        let ty = self.kernel.ty(v);
        let address = self.address(memory, offset);
        let dst = self.define(v);
        let access = Access::of(ty);
        let (size, verb) = match address.family {
            "ds" => (access.lds_load(), "read"),
            _ => (access.vector_load(), "load"),
        };
        let size = size.ok_or_else(|| self.no_access(ty))?;
        let srcs: Vec<Src> = [address.varying].into_iter().chain(address.base).collect();
        let mnemonic = format!("{}_{verb}_{size}", address.family);
        self.machine_with(&mnemonic, &[dst], &srcs, memory_mods(address.offset, address.offen, modify))
    }

    pub(super) fn store(&mut self, memory: Memory, offset: Value, value: Value, manner: Manner) -> Lowered {
        match manner {
            Manner::Cached(cache) => self.store_with(memory, offset, value, self.hint(cache, true)),
            Manner::Plain | Manner::Transposed(_) => self.store_with(memory, offset, value, |_| {}),
        }
    }

    /// Emits a store with additional modifiers.
    pub(super) fn store_with(
        &mut self,
        memory: Memory,
        offset: Value,
        value: Value,
        modify: impl Fn(&mut Mods),
    ) -> Lowered {
        let ty = self.kernel.ty(value);
        let address = self.address(memory, offset);
        let data = self.operand(self.low_bits_of(value));
        let data = Src::Reg(self.in_vgpr(data, ty.dwords()));
        let access = Access::of(ty);
        let (size, verb) = match address.family {
            "ds" => (access.lds_store(), "write"),
            _ => (access.vector_store(), "store"),
        };
        let size = size.ok_or_else(|| self.no_access(ty))?;
        // In assembly order, buffer stores have the data first; all others have the address first.
        let mut srcs = if address.family == "buffer" {
            vec![data, address.varying]
        } else {
            vec![address.varying, data]
        };
        srcs.extend(address.base);
        let mnemonic = format!("{}_{verb}_{size}", address.family);
        self.machine_with(&mnemonic, &[], &srcs, memory_mods(address.offset, address.offen, modify))
    }

    /// A value with the same low bits as `value`, which is enough for a store of 8 or 16 bits.
    fn low_bits_of(&self, value: Value) -> Value {
        let kernel = self.kernel;
        let is_word = |v: Value| kernel.ty(v).is_varying_word();
        match kernel.def(value).inst {
            Inst::Cast(word) if kernel.ty(value).is_narrow_integer() && is_word(word) => word,
            _ => value,
        }
    }

    fn no_access(&self, ty: Type) -> LowerError {
        self.unsupported(
            &format!("one load or store of {} elements", ty.count),
            ty.elem,
            "move 1, 2, 4, 8, 12 or 16 bytes at once",
        )
    }

    pub(super) fn concat(&mut self, v: Value, parts: &[Value]) {
        let dst = self.define(v);
        self.push(Op::Undef, [MOperand::Virt(dst)]);
        let mut at = 0;
        for part in parts {
            let len = self.kernel.ty(*part).dwords();
            let src = self.operand(*part);
            self.copy(VSlice { reg: dst.reg, start: at, len }, super::arith::raw_bits(src));
            at += len;
        }
    }

    pub(super) fn write(&mut self, var: Variable, value: Value, keep: bool) -> Lowered {
        let ty = self.kernel.variables[var.0 as usize];
        let dst = self.variable(var);
        // If the value was just computed and is not needed otherwise, its last instruction can write the variable
        // directly.
        if self.direct.writes.get(&value) == Some(&var) && self.compute_in(value, dst, keep) {
            return Ok(());
        }
        let src = super::arith::raw_bits(self.operand(value));
        if !keep || ty.place == Place::Uniform {
            self.copy(dst, src);
            return Ok(());
        }
        if ty.elem == Elem::Bool {
            // A lane mask is in scalar registers, which EXEC does not mask, so merge the bits of inactive lanes
            // explicitly.
            let (new, old) = (self.new_mask(), self.new_mask());
            let exec = Src::Fixed(self.exec().into());
            self.machine(self.mask_op(mask::AND), &[new], &[src, exec])?;
            self.machine(self.mask_op(mask::AND_NOT), &[old], &[Src::Reg(dst), exec])?;
            return self.machine(self.mask_op(mask::OR), &[dst], &[Src::Reg(old), Src::Reg(new)]);
        }
        // A copy of several dwords starts with `Op::Undef`, which would end the live range of the old value, but
        // inactive lanes must keep it.
        let before = self.block_len();
        self.copy(dst, src);
        self.keep_destination_since(before);
        Ok(())
    }

    fn block_len(&self) -> usize {
        self.func.blocks.last().map_or(0, |b| b.insts.len())
    }

    /// Marks the copies emitted since `start` as keeping inactive lanes, so that the destination does not count as
    /// undefined before them.
    fn keep_destination_since(&mut self, start: usize) {
        let Some(block) = self.func.blocks.last_mut() else { return };
        let copies = block.insts.split_off(start);
        block
            .insts
            .extend(copies.into_iter().filter(|i| i.op != Op::Undef).map(|i| MInst { keeps_dst: true, ..i }));
    }
}

/// The mnemonic of a scalar load of `dwords` dwords, such as `s_load_dwordx4`; `of_one` is that of one dword.
fn scalar_load(of_one: &str, dwords: u8) -> String {
    match dwords {
        1 => of_one.to_owned(),
        n => format!("{of_one}x{n}"),
    }
}

fn memory_mods(offset: i32, offen: bool, modify: impl Fn(&mut Mods)) -> impl Fn(&mut Mods) {
    move |m| {
        m.offset = offset;
        m.offen = offen;
        modify(m);
    }
}
