//! Generates random legal instructions, from every row of a target in turn.

use gcn_emit::encode::{EncodeError, encode_inst};
use gcn_isa::table::{self, InstDesc};
use gcn_isa::{Inst, Operand, Target};
use gcn_test_support::Random;

use super::{modifiers, operands};

/// The maximum number of attempts for a row, since operands that are legal individually may be illegal together.
const TRIES: usize = 64;

/// An endless sequence of legal instructions for one target.
///
/// ```ignore
/// let mut generator = Generator::new(Target::GFX942, 1);
/// let (inst, bytes) = generator.legal();
/// ```
pub struct Generator {
    target: Target,
    rng: Random,
    rows: Vec<&'static InstDesc>,
    at: usize,
}

impl Generator {
    /// A generator, which gives the same instructions for the same seed.
    pub fn new(target: Target, seed: u64) -> Generator {
        let rows = table::rows().iter().filter(|r| r.targets.contains(target)).collect();
        Generator { target, rng: Random::new(seed ^ (target as u64) << 56), rows, at: 0 }
    }

    /// The generator's random number generator.
    pub fn rng(&mut self) -> &mut Random {
        &mut self.rng
    }

    /// The next row; all rows take turns.
    pub fn row(&mut self) -> &'static InstDesc {
        let row = self.rows[self.at % self.rows.len()];
        self.at += 1;
        row
    }

    /// An instruction of the row whose operands and modifiers are legal individually.
    pub fn draw(&mut self, desc: &'static InstDesc) -> Inst {
        let rng = &mut self.rng;
        let agprs = rng.one_in(2);
        let mut inst = Inst::new(desc, []);
        inst.mods = modifiers::modifiers(rng, desc);
        for position in 0..desc.operands.len() {
            let operand = operands::operand(rng, desc, position, &inst.mods, agprs);
            inst.operands.push(operand);
        }
        // D and C of a matrix instruction are often the same registers.
        if let (true, Some(d), Some(c)) =
            (desc.is_matrix(), desc.operand_index("vdst"), desc.operand_index("src2"))
            && rng.one_in(2)
            && let (Operand::Reg(accumulator), Operand::Reg(_)) = (inst.operands[d], inst.operands[c])
        {
            inst.operands[c] = accumulator.into();
        }
        inst
    }

    /// The next legal instruction and its machine code.
    pub fn legal(&mut self) -> (Inst, Vec<u8>) {
        let desc = self.row();
        let mut last: Option<EncodeError> = None;
        for _ in 0..TRIES {
            let inst = self.draw(desc);
            match encode_inst(&inst, self.target) {
                Ok(bytes) => return (inst, bytes.to_vec()),
                Err(error) => last = Some(error),
            }
        }
        panic!("no legal instruction found: {last:?}")
    }
}
