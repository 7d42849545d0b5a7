//! Compares loads and stores of LDS and global memory with operations on byte arrays: consecutive, arbitrary and coinciding addresses, with
//! all lanes or some active. If addresses coincide, lanes are processed in ascending order.

use gcn_isa::Target;
use gcn_sim::KernelState;
use gcn_test_support::Random;

use super::harness::{Case, Lanes, state};

/// The number of bytes of the memory that is accessed.
const BYTES: usize = 2048;
/// The offset of this memory in the harness's buffer.
const PLACE: usize = 0x8000;

/// An access of one or two data: the size of each in bytes, its distance from the address, and its first register.
struct Access {
    text: &'static str,
    size: usize,
    data: &'static [(usize, usize)],
    /// True if a narrow load sign-extends.
    signed: bool,
    /// The half of the register that contains a narrow datum, if it is in a half.
    half: Option<u32>,
}

const fn whole(text: &'static str, size: usize) -> Access {
    Access { text, size, data: &[(0, 10)], signed: false, half: None }
}

const fn signed(text: &'static str, size: usize) -> Access {
    Access { signed: true, ..whole(text, size) }
}

const fn half(text: &'static str, size: usize, half: u32) -> Access {
    Access { half: Some(half), ..whole(text, size) }
}

const fn two(text: &'static str, size: usize, data: &'static [(usize, usize)]) -> Access {
    Access { text, size, data, signed: false, half: None }
}

/// The address is in v8; in global memory instructions, ADDR stands for it.
const LOADS: [Access; 28] = [
    whole("ds_read_u8 v10, v8", 1),
    signed("ds_read_i8 v10, v8", 1),
    whole("ds_read_u16 v10, v8", 2),
    signed("ds_read_i16 v10, v8", 2),
    half("ds_read_u8_d16 v10, v8", 1, 0),
    half("ds_read_u8_d16_hi v10, v8", 1, 1),
    half("ds_read_u16_d16 v10, v8", 2, 0),
    half("ds_read_u16_d16_hi v10, v8", 2, 1),
    whole("ds_read_b32 v10, v8", 4),
    whole("ds_read_b64 v[10:11], v8", 8),
    whole("ds_read_b96 v[10:12], v8", 12),
    whole("ds_read_b128 v[10:13], v8", 16),
    two("ds_read2_b32 v[10:11], v8 offset1:3", 4, &[(0, 10), (12, 11)]),
    two("ds_read2_b64 v[10:13], v8 offset0:1 offset1:2", 8, &[(8, 10), (16, 12)]),
    two("ds_read2st64_b32 v[10:11], v8 offset0:1", 4, &[(256, 10), (0, 11)]),
    two("ds_read2st64_b64 v[10:13], v8 offset1:1", 8, &[(0, 10), (512, 12)]),
    whole("global_load_ubyte v10, ADDR", 1),
    signed("global_load_sbyte v10, ADDR", 1),
    whole("global_load_ushort v10, ADDR", 2),
    signed("global_load_sshort v10, ADDR", 2),
    half("global_load_ubyte_d16 v10, ADDR", 1, 0),
    half("global_load_ubyte_d16_hi v10, ADDR", 1, 1),
    half("global_load_short_d16 v10, ADDR", 2, 0),
    half("global_load_short_d16_hi v10, ADDR", 2, 1),
    whole("global_load_dword v10, ADDR", 4),
    whole("global_load_dwordx2 v[10:11], ADDR", 8),
    whole("global_load_dwordx3 v[10:12], ADDR", 12),
    whole("global_load_dwordx4 v[10:13], ADDR", 16),
];

const STORES: [Access; 20] = [
    whole("ds_write_b8 v8, v10", 1),
    half("ds_write_b8_d16_hi v8, v10", 1, 1),
    whole("ds_write_b16 v8, v10", 2),
    half("ds_write_b16_d16_hi v8, v10", 2, 1),
    whole("ds_write_b32 v8, v10", 4),
    whole("ds_write_b64 v8, v[10:11]", 8),
    whole("ds_write_b96 v8, v[10:12]", 12),
    whole("ds_write_b128 v8, v[10:13]", 16),
    two("ds_write2_b32 v8, v10, v12 offset1:1", 4, &[(0, 10), (4, 12)]),
    two("ds_write2_b64 v8, v[10:11], v[12:13] offset0:2 offset1:1", 8, &[(16, 10), (8, 12)]),
    two("ds_write2st64_b32 v8, v10, v12 offset1:1", 4, &[(0, 10), (256, 12)]),
    two("ds_write2st64_b64 v8, v[10:11], v[12:13] offset0:1", 8, &[(512, 10), (0, 12)]),
    whole("global_store_byte ADDR", 1),
    half("global_store_byte_d16_hi ADDR", 1, 1),
    whole("global_store_short ADDR", 2),
    half("global_store_short_d16_hi ADDR", 2, 1),
    whole("global_store_dword ADDR", 4),
    whole("global_store_dwordx2 ADDR", 8),
    whole("global_store_dwordx3 ADDR", 12),
    whole("global_store_dwordx4 ADDR", 16),
];

impl Access {
    fn is_global(&self) -> bool {
        self.text.contains("ADDR")
    }

    /// The instruction's text. `wide`: its global address is in a register pair.
    fn instruction(&self, store: bool, wide: bool) -> String {
        let (address, base) = if wide { ("v[32:33]", "off") } else { ("v9", "s[40:41]") };
        let registers =
            if self.size <= 4 { "v10".to_owned() } else { format!("v[10:{}]", 9 + self.size / 4) };
        let operands =
            if store { format!("{address}, {registers}, {base}") } else { format!("{address}, {base}") };
        self.text.replace("ADDR", &operands)
    }

    /// The contents of v10 to v13 after a lane's load, given the old contents `old`. `ecc`: a 16-bit load clears the other half.
    fn load(&self, memory: &[u8], at: usize, old: [u32; 4], ecc: bool) -> [u32; 4] {
        let mut new = old;
        for (distance, register) in self.data {
            let bytes = &memory[at + distance..][..self.size];
            if self.size >= 4 {
                for (i, word) in bytes.chunks_exact(4).enumerate() {
                    new[register - 10 + i] = u32::from_le_bytes(word.try_into().unwrap());
                }
                continue;
            }
            let value = bytes.iter().rev().fold(0, |value, byte| value << 8 | u32::from(*byte));
            let sign =
                if self.signed && bytes[self.size - 1] >= 0x80 { u32::MAX << (8 * self.size) } else { 0 };
            let kept = if ecc { 0 } else { old[0] };
            new[0] = match self.half {
                None => value | sign,
                Some(0) => kept & 0xffff_0000 | value,
                Some(_) => kept & 0xffff | value << 16,
            };
        }
        new
    }

    fn store(&self, memory: &mut [u8], at: usize, registers: [u32; 4]) {
        for (distance, register) in self.data {
            let bytes: Vec<u8> =
                registers[register - 10..].iter().flat_map(|word| word.to_le_bytes()).collect();
            let from = if self.half == Some(1) { 2 } else { 0 };
            memory[at + distance..][..self.size].copy_from_slice(&bytes[from..from + self.size]);
        }
    }
}

/// The lanes' addresses, of one of several kinds.
fn addresses(kind: usize, access: &Access, random: &mut Random) -> Lanes {
    let reach = access.data.iter().map(|data| data.0).max().unwrap() + access.size;
    let last = BYTES - reach;
    let any = |random: &mut Random, most: usize| random.next_u64() as usize % (most + 1);
    let start = any(random, last - 63 * access.size);
    let mut lanes: Lanes = std::array::from_fn(|lane| (start + lane * access.size) as u32);
    match kind {
        0 => {}
        // Aligned to a multiple of 8.
        1 => lanes.iter_mut().for_each(|at| *at -= (start % 8) as u32),
        2 => lanes.reverse(),
        3 => lanes[any(random, 63)] = any(random, last) as u32,
        4 => lanes = [any(random, last) as u32; 64],
        _ => lanes.iter_mut().for_each(|at| *at = any(random, last) as u32),
    }
    lanes
}

#[test]
fn every_pattern_of_lanes() {
    let mut random = Random::new(55);
    for target in [Target::GFX906, Target::GFX942] {
        let accesses = LOADS.iter().map(|a| (a, false)).chain(STORES.iter().map(|a| (a, true)));
        for (number, ((access, store), kind)) in
            accesses.flat_map(|a| (0..6).map(move |kind| (a, kind))).enumerate()
        {
            // All lanes, some lanes, one lane, or none.
            let exec = match number % 7 {
                0..=2 => u64::MAX,
                3 | 4 => random.next_u64(),
                5 => 1 << (random.next_u64() % 64),
                _ => {
                    if number % 2 == 0 {
                        0
                    } else {
                        u64::MAX >> 13
                    }
                }
            };
            let at = addresses(kind, access, &mut random);
            let mut any = || std::array::from_fn::<u32, 64, _>(|_| random.next_u64() as u32);
            let (before, registers): ([Lanes; 8], [Lanes; 4]) =
                (std::array::from_fn(|_| any()), std::array::from_fn(|_| any()));
            let state = KernelState { lds_bytes: BYTES as u32, ..state() };
            let mut case = Case { state, ..Case::new(target) };
            let lines = std::array::from_fn(|lane| 16 * lane as u32);
            case = case.v(8, at).v(20, lines);
            for (i, lanes) in before.iter().enumerate() {
                case = case.v([4, 5, 6, 7, 14, 15, 16, 17][i], *lanes);
            }
            for (i, lanes) in registers.iter().enumerate() {
                case = case.v(10 + i as u32, *lanes);
            }
            let [fill, dump] = if access.is_global() {
                [
                    "global_store_dwordx4 v21, v[4:7], s[40:41]\nglobal_store_dwordx4 v21, v[14:17], s[40:41] offset:1024",
                    "global_load_dwordx4 v[24:27], v21, s[40:41]\nglobal_load_dwordx4 v[28:31], v21, s[40:41] offset:1024",
                ]
            } else {
                [
                    "ds_write_b128 v20, v[4:7]\nds_write_b128 v20, v[14:17] offset:1024",
                    "ds_read_b128 v[24:27], v20\nds_read_b128 v[28:31], v20 offset:1024",
                ]
            };
            let tested = access.instruction(store, number % 2 == 0);
            let outcome = case.run(&format!(
                "v_add_u32 v9, {PLACE:#x}, v8\nv_add_u32 v21, {PLACE:#x}, v20\nv_mov_b32 v33, s41
                 v_add_co_u32 v32, vcc, s40, v9\nv_addc_co_u32 v33, vcc, 0, v33, vcc\n{fill}
                 s_mov_b32 exec_lo, {:#x}\ns_mov_b32 exec_hi, {:#x}\n{tested}\ns_mov_b64 exec, -1\n{dump}",
                exec as u32,
                exec >> 32
            ));
            let mut memory: Vec<u8> = Vec::new();
            for part in before.chunks_exact(4) {
                memory.extend((0..64).flat_map(|lane| (0..4).flat_map(move |i| part[i][lane].to_le_bytes())));
            }
            let mut expected = registers;
            for lane in (0..64).filter(|lane| exec >> lane & 1 == 1) {
                let (address, own) = (at[lane] as usize, registers.map(|register| register[lane]));
                if store {
                    access.store(&mut memory, address, own);
                } else {
                    let new = access.load(&memory, address, own, target.supports_sramecc());
                    (0..4).for_each(|i| expected[i][lane] = new[i]);
                }
            }
            for (i, lanes) in expected.iter().enumerate() {
                assert_eq!(
                    outcome.v(10 + i),
                    *lanes,
                    "{target}: {tested}, kind {kind}, EXEC {exec:#x}, v{}",
                    10 + i
                );
            }
            for (at, word) in memory.chunks_exact(4).enumerate() {
                let (lane, register) = (at / 4 % 64, 24 + at % 4 + at / 256 * 4);
                let word = u32::from_le_bytes(word.try_into().unwrap());
                let place = 4 * at;
                assert_eq!(
                    outcome.v(register)[lane],
                    word,
                    "{target}: {tested}, kind {kind}, EXEC {exec:#x}, byte {place}"
                );
            }
        }
    }
}
