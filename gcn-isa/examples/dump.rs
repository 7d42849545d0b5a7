use gcn_isa::table::*;
use gcn_isa::target::*;
fn main() {
    for row in rows_of(Family::RDNA) {
        let sets: Vec<_> = row.targets.iter().map(|s| s.name()).collect();
        let ops: Vec<_> = row.operands.iter().map(|o| {
            let mut k = vec![];
            for (f, n) in [(OperandKinds::VGPR,"v"),(OperandKinds::HALF_VGPR,"h"),(OperandKinds::SGPR,"s"),(OperandKinds::INLINE_INT,"c"),(OperandKinds::LITERAL,"l"),(OperandKinds::LITERAL16,"l16"),(OperandKinds::SPECIAL,"m"),(OperandKinds::IMM,"imm"),(OperandKinds::OFF,"off")] { if o.kinds.contains(f) { k.push(n) } }
            let a = match o.access { Access::Read=>"s", Access::Write=>"d", Access::ReadWrite=>"b" };
            format!("{}:{}:{}:{}:{}:{}", o.name, a, k.join("|"), o.dwords, o.specials, o.last_vgpr)
        }).collect();
        println!("{}\t{}\t{}\t{}\t{}\t{:#x}\t{}\t{}\t{:?}\t{:?}\t{:?}\t{}\t{}\t{:?}\t{:?}\t{:?}", row.mnemonic,row.printed,row.format.name(),row.form,sets.join(","),row.opcode,row.bytes,ops.join(" ; "),row.waves.iter_names().map(|x|x.0).collect::<Vec<_>>(),row.implicit_reads.iter_names().map(|x|x.0).collect::<Vec<_>>(),row.implicit_writes.iter_names().map(|x|x.0).collect::<Vec<_>>(),row.class.name(), row.op_sel_bits(), row.mem_bytes, row.bits, row.modifiers.iter_names().map(|x|x.0).collect::<Vec<_>>());
    }
}
