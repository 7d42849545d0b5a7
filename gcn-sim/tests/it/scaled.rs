//! Tests the matrix instructions that only gfx950 has. Operands are laid out by published formulas, not by our layout code.
//!
//! Sources: AMD's tutorial "Matrix Core Programming on AMD CDNA3 and CDNA4 architecture" and Triton's linear layouts for the f8f6f4
//! instructions and their scales; IREE's descriptions for the instructions with doubled K.

use gcn_isa::{Target, table};
use gcn_sim::{Memory, Options};
use gcn_test_support::Random;

use super::harness::{Kernel, bytes, state, words};

/// The formats in the order of the values of `cbsz` or `blgp`: bits, exponent bits, bias.
const FORMATS: [(usize, u32, i32); 5] = [(8, 4, 7), (8, 5, 15), (6, 2, 1), (6, 3, 3), (4, 2, 1)];

/// The value of an encoding of a format; encodings of NaN and infinity do not occur here.
fn value(format: usize, code: u32) -> f64 {
    let (bits, exponent, bias) = FORMATS[format];
    let fraction = bits as u32 - 1 - exponent;
    let magnitude = code & ((1 << (bits - 1)) - 1);
    let (e, f) =
        (magnitude >> fraction, f64::from(magnitude & ((1 << fraction) - 1)) / f64::from(1u32 << fraction));
    let x = if e == 0 { f * 2f64.powi(1 - bias) } else { (1.0 + f) * 2f64.powi(e as i32 - bias) };
    if code >> (bits - 1) == 1 { -x } else { x }
}

/// A random encoding with a moderate exponent, so that sums are exact.
fn code(format: usize, random: &mut Random) -> u32 {
    let (bits, exponent, bias) = FORMATS[format];
    let fraction = bits as u32 - 1 - exponent;
    let e = if bits == 8 {
        (bias as u32) - 1 + random.next_u64() as u32 % 3
    } else {
        random.next_u64() as u32 % (1 << exponent)
    };
    let sign = random.next_u64() as u32 & 1;
    sign << (bits - 1) | e << fraction | random.next_u64() as u32 & ((1 << fraction) - 1)
}

/// The lane and the first bit of element k in a row of A (or a column of B), which has `rows` rows.
fn place(format: usize, rows: usize, row: usize, k: usize) -> (usize, usize) {
    let bits = FORMATS[format].0;
    let groups = 64 / rows;
    if bits == 8 {
        // Sixteen consecutive elements, then sixteen from the other half of k.
        return (row + rows * (k / 16 % groups), (k / (16 * groups) * 16 + k % 16) * 8);
    }
    (row + rows * (k / 32), k % 32 * bits)
}

/// The lane and the register of an element of the result.
fn result_place(rows: usize, row: usize, column: usize) -> (usize, usize) {
    if rows == 16 {
        (column + 16 * (row / 4), row % 4)
    } else {
        (column + 32 * (row / 4 % 2), 4 * (row / 8) + row % 4)
    }
}

fn put(registers: &mut [[u32; 64]], lane: usize, bit: usize, bits: usize, code: u32) {
    for i in 0..bits {
        registers[(bit + i) / 32][lane] |= (code >> i & 1) << ((bit + i) % 32);
    }
}

/// Runs one instruction, with A from v10, B from v20, C from v40 on (D is a copy of C from v60 on), and scales in v8 and v9.
fn run(
    text: &str,
    a: &[[u32; 64]],
    b: &[[u32; 64]],
    c: &[[u32; 64]],
    scales: [[u32; 64]; 2],
) -> Vec<[u32; 64]> {
    let mut body =
        String::from("s_load_dwordx2 s[4:5], s[0:1], 0x0\nv_lshlrev_b32 v2, 2, v0\ns_waitcnt lgkmcnt(0)\n");
    let mut data = Vec::new();
    for (first, registers) in [(10, a), (20, b), (40, c), (8, &scales[..])] {
        for (i, register) in registers.iter().enumerate() {
            let at = data.len() * 4;
            body += &format!("v_add_u32 v3, {at:#x}, v2\nglobal_load_dword v{}, v3, s[4:5]\n", first + i);
            data.extend(register);
        }
    }
    body += &format!("s_waitcnt vmcnt(0)\ns_nop 4\n{text}\ns_nop 15\ns_nop 15\n");
    for i in 0..c.len() {
        body += &format!(
            "v_add_u32 v3, {:#x}, v2\nglobal_store_dword v3, v{}, s[4:5]\n",
            0x8000 + i * 256,
            60 + i
        );
    }
    body += "s_endpgm";
    let mut memory = Memory::new();
    let buffer = memory.alloc(0x1_0000);
    memory.write(buffer, &bytes(&data)).unwrap();
    Kernel { target: Target::GFX950, state: state(), text: body }
        .run(&mut memory, [1, 1, 1], [64, 1, 1], &[buffer], &Options::default())
        .unwrap_or_else(|e| panic!("{e}\n{text}"));
    (0..c.len() as u64)
        .map(|i| words(&memory.read(buffer + 0x8000 + 256 * i, 256).unwrap()).try_into().unwrap())
        .collect()
}

/// The exponents of the scales: a pattern that differs for every row and block of 32.
fn exponent(row: usize, block: usize, span: i32, at: i32) -> i32 {
    at + (row as i32 * 7 + block as i32 * 3) % span
}

/// Tests all pairs of formats in both shapes. `scales`: the byte of the scale registers to use, and the range of the exponents.
fn check(scales: Option<(usize, i32, i32)>) {
    let mut random = Random::new(29);
    for (rows, depth, name) in [(16, 128, "16x16x128"), (32, 64, "32x32x64")] {
        for format_a in 0..5 {
            for format_b in 0..5 {
                let mut a_codes = vec![vec![0; depth]; rows];
                let mut b_codes = vec![vec![0; depth]; rows];
                let registers = |format: usize| vec![[0u32; 64]; FORMATS[format].0 * rows * depth / 64 / 32];
                let (mut a, mut b) = (registers(format_a), registers(format_b));
                for i in 0..rows {
                    for k in 0..depth {
                        a_codes[i][k] = code(format_a, &mut random);
                        b_codes[i][k] = code(format_b, &mut random);
                        let (lane, bit) = place(format_a, rows, i, k);
                        put(&mut a, lane, bit, FORMATS[format_a].0, a_codes[i][k]);
                        let (lane, bit) = place(format_b, rows, i, k);
                        put(&mut b, lane, bit, FORMATS[format_b].0, b_codes[i][k]);
                    }
                }
                // Bytes that are not selected are NaN.
                let mut scale_registers = [[u32::MAX; 64]; 2];
                if let Some((byte, span, at)) = scales {
                    for i in 0..rows {
                        for block in 0..depth / 32 {
                            for (which, at) in [at, -at].into_iter().enumerate() {
                                let e = (exponent(i + which, block, span, at) + 127) as u32;
                                let register = &mut scale_registers[which][i + rows * block];
                                *register = *register & !(0xff << (8 * byte)) | e << (8 * byte);
                            }
                        }
                    }
                }
                let mut c = vec![[0u32; 64]; rows * rows / 64];
                for row in 0..rows {
                    for column in 0..rows {
                        let (lane, register) = result_place(rows, row, column);
                        c[register][lane] = ((row * 3 + column) as f32 - 40.0).to_bits();
                    }
                }
                let range = |first: usize, count: usize| format!("v[{first}:{}]", first + count - 1);
                let operands = format!(
                    "{}, {}, {}, {}",
                    range(60, c.len()),
                    range(10, a.len()),
                    range(20, b.len()),
                    range(40, c.len())
                );
                let text = match scales {
                    None => format!("v_mfma_f32_{name}_f8f6f4 {operands} cbsz:{format_a} blgp:{format_b}"),
                    Some((byte, ..)) => {
                        let (low, high) = (byte & 1, byte >> 1);
                        format!(
                            "v_mfma_scale_f32_{name}_f8f6f4 {operands}, v8, v9 op_sel:[{low},{low},0] op_sel_hi:[{high},{high},0] cbsz:{format_a} blgp:{format_b}"
                        )
                    }
                };
                let result = run(&text, &a, &b, &c, scale_registers);
                for row in 0..rows {
                    for column in 0..rows {
                        let scale = |block: usize| match scales {
                            None => 1.0,
                            Some((_, span, at)) => 2f64.powi(
                                exponent(row, block, span, at) + exponent(column + 1, block, span, -at),
                            ),
                        };
                        let sum: f64 = (0..depth)
                            .map(|k| {
                                value(format_a, a_codes[row][k])
                                    * value(format_b, b_codes[column][k])
                                    * scale(k / 32)
                            })
                            .sum();
                        let (lane, register) = result_place(rows, row, column);
                        let want = sum + f64::from(f32::from_bits(c[register][lane]));
                        let got = f64::from(f32::from_bits(result[register][lane]));
                        assert_eq!(got, want, "{text}: row {row}, column {column}");
                    }
                }
            }
        }
    }
}

#[test]
fn every_pair_of_formats() {
    check(None);
}

#[test]
fn scales_of_rows_and_columns() {
    for byte in 0..4 {
        check(Some((byte, 3, 0)));
    }
    // Scales near both ends of the range, whose product is moderate.
    check(Some((0, 3, 100)));
}

#[test]
fn nan_scales_and_elements() {
    let ones = [[0x3838_3838u32; 64]; 8];
    let c = [[0u32; 64]; 4];
    let text = "v_mfma_scale_f32_16x16x128_f8f6f4 v[60:63], v[10:17], v[20:27], v[40:43], v8, v9";
    let mut scales = [[127u32; 64]; 2];
    // The scale of row 3 for k from 32 to 63.
    scales[0][3 + 16] = 0xff;
    let result = run(text, &ones, &ones, &c, scales);
    for row in 0..16 {
        for column in 0..16 {
            let (lane, register) = result_place(16, row, column);
            let got = f32::from_bits(result[register][lane]);
            assert!(if row == 3 { got.is_nan() } else { got == 128.0 }, "{row} {column} {got}");
        }
    }
    let mut a = ones;
    a[0][5] = 0x3838_387f;
    let result = run(text, &a, &ones, &c, [[127; 64]; 2]);
    assert!(f32::from_bits(result[1][16]).is_nan() && f32::from_bits(result[0][16]) == 128.0);
}

/// Tests the instructions with twice the K of gfx942's. A lane has as many consecutive k as fill its registers.
#[test]
fn instructions_with_doubled_k() {
    let cases = [
        ("v_mfma_f32_16x16x32_f16", 16, 32),
        ("v_mfma_f32_16x16x32_bf16", 16, 32),
        ("v_mfma_f32_32x32x16_f16", 32, 16),
        ("v_mfma_f32_32x32x16_bf16", 32, 16),
        ("v_mfma_i32_16x16x64_i8", 16, 64),
        ("v_mfma_i32_32x32x32_i8", 32, 32),
    ];
    for (name, rows, depth) in cases {
        let bits = if name.ends_with("i8") { 8 } else { 16 };
        let mut random = Random::new(5);
        let mut matrix = || -> Vec<Vec<i32>> {
            (0..rows).map(|_| (0..depth).map(|_| (random.next_u64() % 15) as i32 - 7).collect()).collect()
        };
        let (a_values, b_values) = (matrix(), matrix());
        let run_length = depth * rows / 64;
        let registers = |values: &[Vec<i32>]| {
            let mut registers = vec![[0u32; 64]; 4];
            for (i, row) in values.iter().enumerate() {
                for (k, x) in row.iter().enumerate() {
                    let code = match bits {
                        8 => u32::from(*x as u8),
                        _ if name.ends_with("bf16") => {
                            u32::from(half::bf16::from_f64(f64::from(*x)).to_bits())
                        }
                        _ => u32::from(half::f16::from_f64(f64::from(*x)).to_bits()),
                    };
                    put(&mut registers, i + rows * (k / run_length), k % run_length * bits, bits, code);
                }
            }
            registers
        };
        let (a, b) = (registers(&a_values), registers(&b_values));
        let count = rows * rows / 64;
        let c = vec![[0u32; 64]; count];
        let printed = table::find_mnemonic(Target::GFX950, name).next().unwrap().printed;
        let text = format!("{printed} v[60:{}], v[10:13], v[20:23], v[40:{}]", 59 + count, 39 + count);
        let result = run(&text, &a, &b, &c, [[0; 64]; 2]);
        for row in 0..rows {
            for column in 0..rows {
                let want: i32 = (0..depth).map(|k| a_values[row][k] * b_values[column][k]).sum();
                let (lane, register) = result_place(rows, row, column);
                let got = result[register][lane];
                let got = if bits == 8 { got as i32 } else { f32::from_bits(got) as i32 };
                assert_eq!(got, want, "{name}: row {row}, column {column}");
            }
        }
    }
}
