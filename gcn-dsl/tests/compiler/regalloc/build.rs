//! A small builder of functions for tests.

use gcn_isa::program::SourceLoc;
use gcn_isa::{Inline, Label, Operand, RegFile, Target, table};

use gcn_dsl::mir::{Function, MBlock, MInst, MOperand, Op, VReg, VSlice};

/// A value that can be used as an operand.
pub trait AsOperand {
    fn operand(&self, f: &Function) -> MOperand;
}

impl AsOperand for VReg {
    fn operand(&self, f: &Function) -> MOperand {
        MOperand::Virt(self.all(f.info(*self)))
    }
}

impl AsOperand for VSlice {
    fn operand(&self, _: &Function) -> MOperand {
        MOperand::Virt(*self)
    }
}

impl AsOperand for Operand {
    fn operand(&self, _: &Function) -> MOperand {
        MOperand::Fixed(*self)
    }
}

impl AsOperand for MOperand {
    fn operand(&self, _: &Function) -> MOperand {
        *self
    }
}

pub fn slice(reg: VReg, start: u8, len: u8) -> VSlice {
    VSlice { reg, start, len }
}

pub fn int(i: i8) -> Operand {
    Operand::Inline(Inline::Int(i))
}

/// Builds a function. Instructions are appended to the last block, and an instruction's source line is its number.
pub struct Build {
    pub f: Function,
    line: u32,
}

impl Build {
    pub fn new(target: Target) -> Build {
        let mut f = Function::new(target, "k");
        f.blocks.push(MBlock::default());
        Build { f, line: 0 }
    }

    pub fn s(&mut self, len: u8) -> VReg {
        self.f.new_vreg(RegFile::Sgpr, len)
    }

    pub fn v(&mut self, len: u8) -> VReg {
        self.f.new_vreg(RegFile::Vgpr, len)
    }

    pub fn a(&mut self, len: u8) -> VReg {
        self.f.new_vreg(RegFile::Agpr, len)
    }

    /// Starts a block and returns its number.
    pub fn block(&mut self, loop_depth: u32) -> usize {
        self.f.blocks.push(MBlock { insts: Vec::new(), loop_depth });
        self.f.blocks.len() - 1
    }

    pub fn push(&mut self, op: Op, operands: &[&dyn AsOperand]) -> &mut MInst {
        self.line += 1;
        let operands = operands.iter().map(|o| o.operand(&self.f)).collect();
        let loc = Some(SourceLoc::new("k.rs", self.line, 1));
        let block = self.f.blocks.last_mut().unwrap();
        block.insts.push(MInst { op, operands, keeps_dst: false, loc });
        block.insts.last_mut().unwrap()
    }

    /// Appends a machine instruction, given by its printed name and form.
    pub fn form(&mut self, name: &str, form: &str, operands: &[&dyn AsOperand]) -> &mut MInst {
        let row = table::find_form(self.f.target, name, form).unwrap_or_else(|| panic!("no {name} {form}"));
        self.push(Op::Machine(row, row.default_mods()), operands)
    }

    pub fn inst(&mut self, name: &str, operands: &[&dyn AsOperand]) -> &mut MInst {
        self.form(name, "", operands)
    }

    pub fn copy(&mut self, dst: &dyn AsOperand, src: &dyn AsOperand) -> &mut MInst {
        self.push(Op::Copy, &[dst, src])
    }

    pub fn undef(&mut self, dst: VReg) {
        self.push(Op::Undef, &[&dst]);
    }

    pub fn branch(&mut self, name: &str, block: usize) {
        self.inst(name, &[&Operand::Label(Label(block as u32))]);
    }

    /// Appends an instruction that defines one VGPR and uses another.
    pub fn load(&mut self, dst: VReg, addr: VReg) {
        self.inst("ds_read_b32", &[&dst, &addr]);
    }

    pub fn end(mut self) -> Function {
        let row = table::find(self.f.target, "s_endpgm").next().unwrap_or_else(|| panic!("no s_endpgm"));
        let code = Operand::Imm(0);
        let operands: Vec<&dyn AsOperand> = row.operands.iter().map(|_| &code as &dyn AsOperand).collect();
        self.inst("s_endpgm", &operands);
        self.f
    }
}
