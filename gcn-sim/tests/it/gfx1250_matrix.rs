//! Matrix instructions of gfx12.5 whose layouts are those of AMD's emulator: the places of elements by the emulator's formulas, written out
//! here again, and the products in plain Rust.

use gcn_isa::Target;
use gcn_isa::target::WaveSize;
use gcn_sim::{KernelState, Machine, Memory, Options, UserSgprs, run};

use super::harness::{assemble, state};

/// The registers of an operand, by register and lane.
type Registers = Vec<[u32; 32]>;

/// Runs one instruction with A in v[0:15], B in v[16:31], C and D in v[32:47], and `more` in v[48:51]. Returns D.
fn multiply(instruction: &str, [a, b, c, more]: [&Registers; 4]) -> Registers {
    let all: Vec<[u32; 32]> = [(a, 16), (b, 16), (c, 16), (more, 4)]
        .into_iter()
        .flat_map(|(registers, n)| (0..n).map(|r| registers.get(r).copied().unwrap_or([0; 32])))
        .collect();
    let loads: String =
        (0..all.len()).map(|r| format!("global_load_b32 v{r}, v60, s[2:3] offset:{}\n", 128 * r)).collect();
    let stores: String =
        (0..16).map(|r| format!("global_store_b32 v60, v{}, s[2:3] offset:{}\n", 32 + r, 128 * r)).collect();
    let text = format!(
        "s_load_b64 s[2:3], s[0:1], 0x0
        v_lshlrev_b32 v60, 2, v0
        s_wait_kmcnt 0x0
        {loads}
        s_wait_loadcnt 0x0
        {instruction}
        v_nop
        v_nop
        {stores}
        s_endpgm"
    );
    let user_sgprs = UserSgprs { kernarg_segment_ptr: true, ..UserSgprs::default() };
    let kernel =
        KernelState { wave_size: WaveSize::W32, vgprs: 64, agprs: 0, sgprs: 32, user_sgprs, ..state() };
    let machine = Machine::new(Target::GFX1250, &assemble(Target::GFX1250, &text), kernel)
        .unwrap_or_else(|error| panic!("{instruction}: {error}"));
    let mut memory = Memory::new();
    let at = memory.alloc(128 * all.len());
    let bytes: Vec<u8> = all.iter().flatten().flat_map(|x| x.to_le_bytes()).collect();
    memory.write(at, &bytes).unwrap();
    run(&machine, &mut memory, [1, 1, 1], [32, 1, 1], &at.to_le_bytes(), &Options::default()).unwrap();
    let bytes = memory.read(at, 128 * 16).unwrap();
    let word = |i: usize| u32::from_le_bytes(bytes[4 * i..][..4].try_into().unwrap());
    (0..16).map(|r| std::array::from_fn(|lane| word(32 * r + lane))).collect()
}

/// Writes `bits` bits at element `slot` of a lane.
fn put(registers: &mut Registers, lane: usize, slot: usize, bits: usize, value: u32) {
    for i in 0..bits {
        let at = slot * bits + i;
        registers[at / 32][lane] |= (value >> i & 1) << (at % 32);
    }
}

/// The lane and slot of the element of a row of A or a column of B, by rocjitsu's `wmma_block_scaled_input_loc`.
fn place(line: usize, k: usize, bits: usize) -> (usize, usize) {
    let block = if bits == 8 { 16 } else { 32 };
    (line + 16 * (k / block % 2), k / (2 * block) * block + k % block)
}

/// The register and lane of an element of D, by rocjitsu's `wmma_output_loc_32`.
fn result(row: usize, col: usize) -> (usize, usize) {
    (8 * (row / 16) + row % 8, row % 16 / 8 * 16 + col)
}

/// The values of the codes 0 to 7 of a small float, without sign; codes with the sign bit are the negated ones.
fn value(code: u32, bits: usize, name: &str) -> f64 {
    // Exponent bits, fraction bits and bias of the OCP formats.
    let (exponent, fraction, bias) = match name {
        "FP8" => (4, 3, 7),
        "BF8" => (5, 2, 15),
        "FP6" => (2, 3, 1),
        "BF6" => (3, 2, 3),
        _ => (2, 1, 1),
    };
    let (e, f) = (code >> fraction & ((1 << exponent) - 1), code & ((1 << fraction) - 1));
    let f = f64::from(f) / f64::from(1 << fraction);
    let magnitude = match e {
        0 => f * 2f64.powi(1 - bias),
        e => (1.0 + f) * 2f64.powi(e as i32 - bias),
    };
    if code >> (bits - 1) & 1 == 1 { -magnitude } else { magnitude }
}

/// A sequence of numbers without a pattern.
fn random(state: &mut u32) -> u32 {
    *state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
    *state >> 8
}

#[test]
fn scaled_products_of_every_pair_of_formats() {
    let formats = [("FP8", 8), ("BF8", 8), ("FP6", 6), ("BF6", 6), ("FP4", 4)];
    let mut seed = 1;
    for (name_a, bits_a) in formats {
        for (name_b, bits_b) in formats {
            for (kind, block, registers) in [("", 32, 1), ("16", 16, 2)] {
                for half in [0, 1] {
                    let codes = |bits: usize, seed: &mut u32| -> Vec<u32> {
                        // Small magnitudes, of which sums are exact in f32.
                        (0..16 * 128).map(|_| (random(seed) & 3) | (random(seed) & 1) << (bits - 1)).collect()
                    };
                    let (a, b) = (codes(bits_a, &mut seed), codes(bits_b, &mut seed));
                    let blocks = 128 / block;
                    let scales: Vec<u32> = (0..32 * blocks).map(|_| 126 + random(&mut seed) % 3).collect();
                    let mut inputs = [vec![[0; 32]; 16], vec![[0; 32]; 16]];
                    let mut more = vec![[0; 32]; 4];
                    for line in 0..16 {
                        for k in 0..128 {
                            for (which, (codes, bits)) in [(&a, bits_a), (&b, bits_b)].into_iter().enumerate()
                            {
                                let (lane, slot) = place(line, k, bits);
                                put(&mut inputs[which], lane, slot, bits, codes[128 * line + k]);
                            }
                        }
                        for n in 0..blocks {
                            let lane = line + 16 * half;
                            more[n / 4][lane] |= scales[blocks * line + n] << (8 * (n % 4));
                            more[2 + n / 4][lane] |= scales[blocks * (16 + line) + n] << (8 * (n % 4));
                        }
                    }
                    let last =
                        |first: usize, bits: usize| format!("v[{first}:{}]", first + 64 * bits / 32 - 1);
                    let scale = |first: usize| match registers {
                        1 => format!("v{first}"),
                        _ => format!("v[{first}:{}]", first + 1),
                    };
                    let row = if half == 1 {
                        " matrix_a_scale:MATRIX_SCALE_ROW1 matrix_b_scale:MATRIX_SCALE_ROW1"
                    } else {
                        ""
                    };
                    let text = format!(
                        "v_wmma_scale{kind}_f32_16x16x128_f8f6f4 v[32:39], {}, {}, v[32:39], {}, {} \
                         matrix_a_fmt:MATRIX_FMT_{name_a} matrix_b_fmt:MATRIX_FMT_{name_b}{row}",
                        last(0, bits_a),
                        last(16, bits_b),
                        scale(48),
                        scale(50),
                    );
                    let d = multiply(&text, [&inputs[0], &inputs[1], &vec![[0; 32]; 16], &more]);
                    for row in 0..16 {
                        for col in 0..16 {
                            let sum: f64 = (0..128)
                                .map(|k| {
                                    let power = |which: usize, line: usize| {
                                        let scale = scales[blocks * (16 * which + line) + k / block];
                                        2f64.powi(scale as i32 - 127)
                                    };
                                    value(a[128 * row + k], bits_a, name_a)
                                        * value(b[128 * col + k], bits_b, name_b)
                                        * power(0, row)
                                        * power(1, col)
                                })
                                .sum();
                            let (register, lane) = result(row, col);
                            assert_eq!(f32::from_bits(d[register][lane]), sum as f32, "{text} {row} {col}");
                        }
                    }
                }
            }
        }
    }
}

/// Products of fp4 with scales of both formats, in VGPRs or SGPRs, and with 32 rows. By rocjitsu's `wmma_block_scaled_a_input_loc`, the upper
/// 16 rows are in the eight registers after those of the lower 16; by its `wmma_a_scale_lane`, lane i has the scales of row i. An SGPR has
/// the scales of every row.
#[test]
fn scales_of_both_formats_in_both_kinds_of_registers() {
    let mut seed = 3;
    for rows in [16, 32] {
        for (kind, block) in [("", 32), ("16", 16)] {
            for (format, scalar) in [("E8", false), ("E8", true), ("E4M3", false), ("E4M3", true)] {
                let mut codes = |lines: usize| -> Vec<u32> {
                    (0..lines * 128).map(|_| (random(&mut seed) & 3) | (random(&mut seed) & 1) << 3).collect()
                };
                let (a, b) = (codes(rows), codes(16));
                let blocks = 128 / block;
                // Scales of which sums of products are exact in f32.
                let mut scale = || match format {
                    "E8" => 126 + random(&mut seed) % 3,
                    _ => (6 + random(&mut seed) % 2) << 3 | (random(&mut seed) & 1) << 2,
                };
                let all: [Vec<u32>; 2] = [rows, 16].map(|lines| {
                    let shared: Vec<u32> = (0..blocks).map(|_| scale()).collect();
                    let mut of_line =
                        || if scalar { shared.clone() } else { (0..blocks).map(|_| scale()).collect() };
                    (0..lines).flat_map(|_| of_line()).collect()
                });
                let factor = |which: usize, line: usize, k: usize| match (
                    all[which][blocks * line + k / block],
                    format,
                ) {
                    (code, "E8") => 2f64.powi(code as i32 - 127),
                    (code, _) => value(code, 8, "FP8"),
                };
                let mut inputs = [vec![[0; 32]; 16], vec![[0; 32]; 16]];
                let mut more = vec![[0; 32]; 4];
                let mut words = [0u32; 4];
                for (which, (codes, lines)) in [(&a, rows), (&b, 16)].into_iter().enumerate() {
                    for line in 0..lines {
                        for k in 0..128 {
                            let (lane, slot) = place(line % 16, k, 4);
                            put(&mut inputs[which], lane, slot + 64 * (line / 16), 4, codes[128 * line + k]);
                        }
                        for n in 0..blocks {
                            let bits = all[which][blocks * line + n] << (8 * (n % 4));
                            more[2 * which + n / 4][line] |= bits;
                            words[2 * which + n / 4] |= bits;
                        }
                    }
                }
                let setup: String = words
                    .iter()
                    .enumerate()
                    .map(|(i, word)| format!("s_mov_b32 s{}, {word:#x}\n", 4 + i))
                    .collect();
                let [of_a, of_b] = match (scalar, block) {
                    (true, 32) => ["s4", "s6"],
                    (true, _) => ["s[4:5]", "s[6:7]"],
                    (false, 32) => ["v48", "v50"],
                    (false, _) => ["v[48:49]", "v[50:51]"],
                };
                let (name, formats) = match rows {
                    16 => ("16x16x128_f8f6f4", "matrix_a_fmt:MATRIX_FMT_FP4 matrix_b_fmt:MATRIX_FMT_FP4 "),
                    _ => ("32x16x128_f4", ""),
                };
                let (d, of_rows) = (32 + rows / 2 - 1, rows / 2 - 1);
                let text = format!(
                    "{setup}v_wmma_scale{kind}_f32_{name} v[32:{d}], v[0:{of_rows}], v[16:23], v[32:{d}], {of_a}, {of_b} {formats}\
                     matrix_a_scale_fmt:MATRIX_SCALE_FMT_{format} matrix_b_scale_fmt:MATRIX_SCALE_FMT_{format}"
                );
                let d = multiply(&text, [&inputs[0], &inputs[1], &vec![], &more]);
                for row in 0..rows {
                    for col in 0..16 {
                        let product = |k: usize| {
                            value(a[128 * row + k], 4, "")
                                * value(b[128 * col + k], 4, "")
                                * factor(0, row, k)
                                * factor(1, col, k)
                        };
                        let (register, lane) = result(row, col);
                        let sum: f64 = (0..128).map(product).sum();
                        assert_eq!(f64::from(f32::from_bits(d[register][lane])), sum, "{text} {row} {col}");
                    }
                }
            }
        }
    }
}

/// Without scales, and with 32 rows: the upper 16 rows of A, C and D are in the registers after those of the lower 16.
#[test]
fn products_of_fp4_with_32_rows() {
    let mut seed = 7;
    let a: Vec<u32> = (0..32 * 128).map(|_| random(&mut seed) & 15).collect();
    let b: Vec<u32> = (0..16 * 128).map(|_| random(&mut seed) & 15).collect();
    let (mut of_a, mut of_b, mut of_c) = (vec![[0; 32]; 16], vec![[0; 32]; 16], vec![[0; 32]; 16]);
    for k in 0..128 {
        for row in 0..32 {
            let (lane, slot) = place(row % 16, k, 4);
            put(&mut of_a, lane, slot + 64 * (row / 16), 4, a[128 * row + k]);
        }
        for col in 0..16 {
            let (lane, slot) = place(col, k, 4);
            put(&mut of_b, lane, slot, 4, b[128 * col + k]);
        }
    }
    for row in 0..32 {
        for col in 0..16 {
            let (register, lane) = result(row, col);
            of_c[register][lane] = (row as f32).to_bits();
        }
    }
    let text = "v_wmma_f32_32x16x128_f4 v[32:47], v[0:15], v[16:23], v[32:47]";
    let d = multiply(text, [&of_a, &of_b, &of_c, &vec![]]);
    for row in 0..32 {
        for col in 0..16 {
            let products = (0..128).map(|k| value(a[128 * row + k], 4, "") * value(b[128 * col + k], 4, ""));
            let (register, lane) = result(row, col);
            let sum = row as f64 + products.sum::<f64>();
            assert_eq!(f64::from(f32::from_bits(d[register][lane])), sum, "{row} {col}");
        }
    }
}

/// Sparse products: places by rocjitsu's `swmmac_a_input_loc`, `swmmac_b_input_loc` and `swmmac_index_loc`.
#[test]
fn sparse_products() {
    for (text, depth, bits) in [
        ("v_swmmac_f32_16x16x64_f16 v[32:39], v[0:7], v[16:31], v48", 64, 16),
        ("v_swmmac_f32_16x16x128_fp8_fp8 v[32:39], v[0:7], v[16:31], v[48:49]", 128, 8),
    ] {
        let mut seed = 3;
        let kept = depth / 2;
        // Small integers, which both formats have.
        let code = |n: u32| {
            if bits == 16 {
                [0x3c00, 0x4000, 0xbc00, 0][n as usize]
            } else {
                [0x38, 0x40, 0xb8, 0][n as usize]
            }
        };
        let number = |n: u32| [1.0, 2.0, -1.0, 0.0][n as usize];
        let a: Vec<u32> = (0..16 * kept).map(|_| random(&mut seed) & 3).collect();
        let b: Vec<u32> = (0..16 * depth).map(|_| random(&mut seed) & 3).collect();
        let pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)];
        let chosen: Vec<(u32, u32)> =
            (0..16 * kept / 2).map(|_| pairs[random(&mut seed) as usize % 6]).collect();
        let (mut of_a, mut of_b, mut index) = (vec![[0; 32]; 16], vec![[0; 32]; 16], vec![[0; 32]; 4]);
        let run = 128 / bits;
        for line in 0..16 {
            for k in 0..kept {
                let (lane, slot) = (line + 16 * (k / run % 2), k / (2 * run) * run + k % run);
                put(&mut of_a, lane, slot, bits, code(a[kept * line + k]));
                let pair = chosen[kept / 2 * line + k / 2];
                let which = if k % 2 == 0 { pair.0 } else { pair.1 };
                put(&mut index, line + 16 * (k / (kept / 2)), k % (kept / 2), 2, which);
            }
            for k in 0..depth {
                let (lane, slot) = (line + 16 * (k / (2 * run) % 2), k / (4 * run) * 2 * run + k % (2 * run));
                put(&mut of_b, lane, slot, bits, code(b[depth * line + k]));
            }
        }
        let d = multiply(text, [&of_a, &of_b, &vec![[0; 32]; 16], &index]);
        for row in 0..16 {
            for col in 0..16 {
                let sum: f32 = (0..kept)
                    .map(|k| {
                        let pair = chosen[kept / 2 * row + k / 2];
                        let dense = k / 2 * 4 + if k % 2 == 0 { pair.0 } else { pair.1 } as usize;
                        number(a[kept * row + k]) * number(b[depth * col + dense])
                    })
                    .sum();
                let (register, lane) = result(row, col);
                assert_eq!(f32::from_bits(d[register][lane]), sum, "{text} {row} {col}");
            }
        }
    }
}
