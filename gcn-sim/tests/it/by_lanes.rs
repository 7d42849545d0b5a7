//! Checks that an instruction has the same effect on a wave as on each of its lanes alone, whichever fast path the simulator takes for all
//! lanes.

use gcn_emit::encode::encode_program;
use gcn_emit::text::parse_program;
use gcn_isa::table::{self, Access, Class, ImplicitRegs, InstDesc, Modifiers, OperandDesc, OperandKinds};
use gcn_isa::target::{Subtarget, WaveSize};
use gcn_isa::{Inline, Inst, Operand, Reg, Target, reg};
use gcn_sim::{Alone, KernelState, Machine, Memory, Options, Registers, Way, forced, run};
use gcn_test_support::Random;

use super::harness::state;

/// SGPR numbers of EXEC and VCC.
const EXEC: usize = reg::EXEC.index as usize;
const VCC: usize = reg::VCC.index as usize;

/// The number of VGPRs that instructions use. It is so small that destinations often overlap sources.
const FEW: usize = 6;

const SUBTARGETS: [Subtarget; 3] = [
    Subtarget { target: Target::GFX942, wave: WaveSize::W64 },
    Subtarget { target: Target::GFX1100, wave: WaveSize::W32 },
    Subtarget { target: Target::GFX1100, wave: WaveSize::W64 },
];

/// A random word, often a special float value.
fn word(random: &mut Random) -> u32 {
    let word = random.next_u64() as u32;
    match random.below(8) {
        0 => word & 0x8000_8000,
        1 => 0x7f80_7c00 ^ word & 0x8040_8201,
        2 => word & 0x807f_83ff,
        3 | 4 => 0x3f80_3c00 ^ word & 0x807f_83ff,
        _ => word,
    }
}

/// A random lane mask: all lanes, a few, groups of them, or arbitrary ones.
fn mask(random: &mut Random, lanes: usize) -> u64 {
    let any = random.next_u64();
    let mask = match random.below(5) {
        0 | 1 => u64::MAX,
        2 => any & random.next_u64() & random.next_u64(),
        3 => 0xffff << (16 * random.below(4)) | any & 0xf0,
        _ => any,
    };
    mask & u64::MAX >> (64 - lanes)
}

fn operand(random: &mut Random, named: &OperandDesc) -> Option<Operand> {
    let len = named.dwords.max(1);
    let constant = named.access == Access::Read && random.one_in(4);
    if named.kinds.contains(OperandKinds::INLINE_INT) && constant {
        let number = random.below(80) as i8 - 16;
        return Some(Operand::Inline(if random.one_in(2) {
            Inline::Int(number)
        } else {
            Inline::Float(242)
        }));
    }
    if named.kinds.contains(OperandKinds::VGPR) && !(constant && named.kinds.contains(OperandKinds::SGPR)) {
        return Some(Operand::Reg(Reg::v(random.below(FEW) as u16, len)));
    }
    if named.kinds.contains(OperandKinds::SGPR) {
        return Some(Operand::Reg(Reg::s(4 * random.below(8) as u16, len)));
    }
    named.kinds.contains(OperandKinds::LITERAL).then(|| Operand::Literal(word(random)))
}

/// The instruction `row` with random operands and, if it accepts them, sign modifiers.
fn instruction(random: &mut Random, row: &'static InstDesc) -> Option<Inst> {
    let operands: Option<Vec<Operand>> = row.operands.iter().map(|o| operand(random, o)).collect();
    let mut inst = Inst::new(row, operands?);
    if row.modifiers.contains(Modifiers::NEG) && random.one_in(4) {
        inst.mods.neg = random.below(8) as u8;
    }
    Some(inst)
}

/// True for instructions that this test excludes: those that read other lanes, name a register by an index, or are packed.
fn is_left_out(row: &InstDesc) -> bool {
    // Packed operations have separate functions for the two halves.
    row.modifiers.intersects(Modifiers::DPP_CTRL | Modifiers::DPP8 | Modifiers::OP_SEL_HI)
        || matches!(row.class, Class::Readlane | Class::Writelane | Class::Permlane)
        || row.implicit_reads.contains(ImplicitRegs::M0)
}

/// Runs each instruction of the vector ALU with random operands, registers and EXEC. A lane's registers must equal those after the
/// instruction with that lane alone active, and masks must be the union of those of single lanes. Repeated for each host instruction set.
#[test]
fn arithmetic() {
    let mut random = Random::new(11);
    for on in SUBTARGETS {
        let lanes = on.wave.lanes() as usize;
        let state = KernelState { vgprs: 16, agprs: 0, wave_size: on.wave, ..KernelState::default() };
        let end = encode_program(&parse_program("s_endpgm", on.target, "test").unwrap()).unwrap();
        let machine = Machine::new(on.target, &end.bytes, state).unwrap();
        let mut tried = 0;
        let rows =
            table::rows_on(on).filter(|row| row.is_valu() && !row.multiplies_matrices() && !is_left_out(row));
        for row in rows {
            let Some(inst) = instruction(&mut random, row) else { continue };
            let Some(alone) = Alone::new(&machine, &inst) else { continue };
            let mut before = Registers { s: [0; 128], v: vec![[0; 64]; 16], scc: false };
            before
                .v
                .iter_mut()
                .flatten()
                .chain(&mut before.s[..VCC + 2])
                .for_each(|w| *w = word(&mut random));
            let exec = mask(&mut random, lanes);
            let with = |exec: u64| {
                let mut registers = Registers { s: before.s, v: before.v.clone(), scc: before.scc };
                (registers.s[EXEC], registers.s[EXEC + 1]) = (exec as u32, (exec >> 32) as u32);
                registers
            };
            let Some(whole) = alone.after(&with(exec)) else { continue };
            let portable = forced(Way::Portable, || alone.after(&with(exec))).unwrap();
            assert!(whole.v == portable.v && whole.s == portable.s, "{on:?}: {inst:?}");
            // If no lane is active, a mask is 0 and everything else is unchanged.
            let none = alone.after(&with(0)).unwrap();
            assert!(none.v == before.v, "{on:?}: {inst:?} without lanes");
            let (mut v, mut s) = (before.v.clone(), none.s);
            for lane in (0..lanes).filter(|lane| exec >> lane & 1 == 1) {
                let one = alone.after(&with(1 << lane)).unwrap();
                for (register, of_one) in v.iter_mut().zip(&one.v) {
                    register[lane] = of_one[lane];
                }
                s.iter_mut().zip(one.s).zip(none.s).for_each(|((s, one), none)| *s |= one & !none);
            }
            // EXEC must be unchanged, unless the instruction writes it.
            if with(exec).s[EXEC..] == whole.s[EXEC..] {
                s[EXEC..].copy_from_slice(&whole.s[EXEC..]);
            }
            for (slot, (whole, lanes)) in whole.v.iter().zip(&v).enumerate() {
                assert!(whole == lanes, "{on:?}, {exec:#x}, v{slot}: {inst:?}\n{whole:x?}\n{lanes:x?}");
            }
            assert!(whole.s == s, "{on:?}, {exec:#x}: {inst:?}\n{:x?}\n{s:x?}", whole.s);
            tried += 1;
        }
        assert!(tried > 400, "{on:?}: {tried}");
    }
}

/// Mnemonics of loads and stores and their names on RDNA 3.
const OF_RDNA: [(&str, &str); 10] = [
    ("ds_write_", "ds_store_"),
    ("ds_read_", "ds_load_"),
    ("_dwordx2", "_b64"),
    ("_dwordx3", "_b96"),
    ("_dwordx4", "_b128"),
    ("_dword", "_b32"),
    ("_ubyte", "_u8"),
    ("_ushort", "_u16"),
    ("store_byte", "store_b8"),
    ("store_short", "store_b16"),
];

/// Random addresses of the lanes: consecutive from some position on, almost consecutive, at a fixed distance, or arbitrary.
fn places(random: &mut Random, size: u32) -> Vec<u32> {
    let (start, which) = (random.below(9) as u32, random.below(5));
    let start = if random.one_in(2) { start * 4 } else { start };
    let stride = if which == 2 { 2 * size } else { size };
    let mut places: Vec<u32> = (0..64)
        .map(|lane| if which < 3 { start + stride * lane } else { random.below(1500) as u32 })
        .collect();
    if which == 1 {
        let odd = random.below(64);
        places[odd] = random.below(1500) as u32;
    }
    if which == 4 {
        places.iter_mut().for_each(|place| *place &= !3);
    }
    places
}

/// Random loads and stores of global memory, buffers, scratch and LDS. Faithful mode records every access before it happens, and therefore
/// takes the lane-by-lane path; strict mode records those to LDS afterwards. All must agree.
#[test]
fn accesses() {
    const DATA: [(&str, &str, &str, &str, u32); 6] = [
        ("ubyte", "byte", "u8", "b8", 1),
        ("ushort", "short", "u16", "b16", 2),
        ("dword", "dword", "b32", "b32", 4),
        ("dwordx2", "dwordx2", "b64", "b64", 8),
        ("dwordx3", "dwordx3", "b96", "b96", 12),
        ("dwordx4", "dwordx4", "b128", "b128", 16),
    ];
    let mut random = Random::new(12);
    for on in SUBTARGETS {
        let rdna = on.target.has_workgroup_processors();
        for ((load, store, read, write, size), round) in
            DATA.into_iter().flat_map(|datum| (0..20).map(move |round| (datum, round)))
        {
            let registers = |first: u32| match size.div_ceil(4) {
                1 => format!("v{first}"),
                words => format!("v[{first}:{}]", first + words - 1),
            };
            let exec = mask(&mut random, on.wave.lanes() as usize);
            let set_exec = match on.wave {
                WaveSize::W32 => format!("s_mov_b32 exec_lo, {:#x}", exec as u32),
                WaveSize::W64 => {
                    format!("s_mov_b32 exec_lo, {:#x}\ns_mov_b32 exec_hi, {:#x}", exec as u32, exec >> 32)
                }
            };
            let (address, base) = if round % 2 == 0 { ("v2", "s[20:21]") } else { ("v[4:5]", "off") };
            let wait = "s_waitcnt vmcnt(0) lgkmcnt(0)\ns_nop 7";
            let wait = if rdna { format!("{wait}\ns_waitcnt_vscnt null, 0x0") } else { wait.to_string() };
            let (a, b, c, d) = (registers(8), registers(12), registers(16), registers(20));
            // Raw buffers, which end beyond the data of all lanes or of some.
            let (records, format) = (1400 + 2000 * random.below(2), if rdna { 3 << 28 } else { 0 });
            // The first allocation is at 1 << 32; the table of addresses begins at byte 4000 of it.
            let text = format!(
                "s_mov_b32 s20, 0\ns_mov_b32 s21, 1\ns_mov_b64 s[24:25], s[20:21]
                 s_mov_b32 s26, {records}\ns_mov_b32 s27, {format:#x}\nv_lshlrev_b32 v1, 2, v0\nv_lshlrev_b32 v3, 4, v0
                 global_load_dword v2, v1, s[20:21] offset:4000\n{wait}
                 v_mov_b32 v4, v2\nv_mov_b32 v5, 1
                 global_load_dwordx4 v[8:11], v3, s[20:21] offset:4\nglobal_load_dwordx4 v[12:15], v3, s[20:21] offset:8
                 global_load_dwordx4 v[16:19], v3, s[20:21] offset:12\nglobal_load_dwordx4 v[20:23], v3, s[20:21] offset:16
                 {wait}
                 {set_exec}
                 s_nop 7
                 ds_write_{write} v2, {a}\n{wait}
                 ds_read_{read} {b}, v2\n{wait}
                 buffer_load_{load} {c}, v2, s[24:27], 0 offen offset:5\n{wait}
                 buffer_store_{store} {c}, v2, s[24:27], 0 offen offset:1028\n{wait}
                 scratch_store_{store} v2, {a}, off offset:4\n{wait}
                 scratch_load_{load} {d}, v2, off offset:8\n{wait}
                 global_load_{load} {a}, {address}, {base} offset:3\n{wait}
                 global_store_{store} {address}, {a}, {base} offset:2052\n{wait}
                 global_load_{load} {a}, {address}, {base} offset:8\n{wait}
                 global_store_dwordx4 v3, v[8:11], s[20:21] offset:4000\n{wait}
                 v_add_u32 v3, 0x1800, v3\n{wait}
                 global_store_dwordx4 v3, v[12:15], s[20:21]\n{wait}
                 global_store_dwordx4 v3, v[16:19], s[20:21] offset:1024\n{wait}
                 global_store_dwordx4 v3, v[20:23], s[20:21] offset:-1024\n{wait}
                 s_endpgm"
            );
            let text = match rdna {
                true => OF_RDNA
                    .iter()
                    .fold(text, |text, (old, new)| text.replace(old, new))
                    .replace("v_add_u32", "v_add_nc_u32"),
                false => text,
            };
            let program = parse_program(&text, on.target, "test").unwrap_or_else(|e| panic!("{e}\n{text}"));
            let code = encode_program(&program).unwrap_or_else(|e| panic!("{e}\n{text}")).bytes;
            let kernel = KernelState {
                lds_bytes: 4096,
                private_bytes: 4096,
                vgprs: 24,
                wave_size: on.wave,
                ..state()
            };
            let machine = Machine::new(on.target, &code, kernel).unwrap();
            let mut bytes: Vec<u8> = (0..0x2000).map(|_| random.next_u64() as u8).collect();
            for (lane, place) in places(&mut random, size).into_iter().enumerate() {
                bytes[4000 + 4 * lane..][..4].copy_from_slice(&place.to_le_bytes());
            }
            let after = |options: &Options| {
                let mut memory = Memory::new();
                let base = memory.alloc(bytes.len());
                memory.write(base, &bytes).unwrap();
                let done = run(&machine, &mut memory, [1; 3], [on.wave.lanes(), 1, 1], &[], options);
                done.unwrap_or_else(|e| panic!("{on:?}: {e}\n{text}"));
                memory.read(base, bytes.len()).unwrap()
            };
            let (at_once, by_lanes) = (after(&Options::default()), after(&Options::faithful()));
            let portable = forced(Way::Portable, || after(&Options::default()));
            assert!(at_once == by_lanes && at_once == portable, "{on:?}, {exec:#x}\n{text}");
            assert!(at_once == after(&Options::strict()), "{on:?}, {exec:#x}, strict\n{text}");
            assert!(exec == 0 || at_once != bytes, "{on:?}: nothing is stored\n{text}");
        }
    }
}
