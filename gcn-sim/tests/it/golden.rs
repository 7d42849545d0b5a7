//! Compares matrix and dot instructions with results from hardware, and from models that were compared with hardware bit by bit.
//!
//! The folder `data/mma` has one file for each instruction and target. Its README gives the sources.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use gcn_isa::layout::{self, Matrix, Shape};
use gcn_isa::table::{self, InstDesc, OperandKinds};
use gcn_isa::{Inst, Operand, Reg, Target};
use gcn_sim::{Alone, KernelState, Machine, MatrixArithmetic, Registers, Way, forced};

use super::harness::{Case, state};

/// The distance between the first registers of operands; an operand has at most 32 registers.
const APART: u16 = 40;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data/mma")
}

fn text(path: &Path) -> String {
    let mut text = String::new();
    let packed = std::fs::read(path).unwrap();
    flate2::read::GzDecoder::new(&packed[..]).read_to_string(&mut text).unwrap();
    text
}

/// The lines of a file except its header, split into columns.
fn rows(text: &str) -> impl Iterator<Item = Vec<&str>> {
    text.lines().skip(1).map(|line| line.split('\t').collect())
}

/// An instruction whose operands A, B, C and D are in separate registers.
struct Product {
    machine: Machine,
    shape: Shape,
    inst: Inst,
}

impl Product {
    fn new(target: Target, mnemonic: &str, matrix: MatrixArithmetic) -> Product {
        let row: &'static InstDesc = table::find_mnemonic(target, mnemonic).next().expect(mnemonic);
        let operand = |(number, named): (usize, &table::OperandDesc)| {
            let (first, len) = (number as u16 * APART, named.dwords.max(1));
            let vector = named.kinds.contains(OperandKinds::VGPR);
            Operand::Reg(if vector { Reg::v(first, len) } else { Reg::a(first, len) })
        };
        let inst = Inst::new(row, row.operands.iter().enumerate().map(operand));
        let state = KernelState { vgprs: 256, agprs: 256, ..KernelState::default() };
        let machine = Machine::new(target, &[0, 0, 0x81, 0xbf], state).unwrap().with_matrix(matrix);
        Product { machine, shape: *layout::shape(row, target).unwrap(), inst }
    }

    /// The first slot of the operand with this name.
    fn slot(&self, name: &str) -> usize {
        let number = self.inst.desc.operands.iter().position(|o| o.name == name).unwrap();
        let register = self.inst.operands[number].reg().unwrap();
        let agprs = if register.file == gcn_isa::reg::RegFile::Agpr { 256 } else { 0 };
        agprs + usize::from(register.index)
    }

    /// Writes the elements of a matrix in every block.
    fn put(
        &self,
        registers: &mut Registers,
        name: &str,
        matrix: Matrix,
        at: (u16, u16),
        bits: u64,
        wide: bool,
    ) {
        for block in 0..self.shape.blocks {
            let place = self.shape.place(matrix, block, at.0, at.1).unwrap();
            let slot = self.slot(name) + usize::from(place.register);
            registers.v[slot][usize::from(place.lane)] |= (bits as u32) << place.low_bit;
            if wide {
                registers.v[slot + 1][usize::from(place.lane)] = (bits >> 32) as u32;
            }
        }
    }

    fn get(&self, registers: &Registers, block: u8, at: (u16, u16), wide: bool) -> u64 {
        let place = self.shape.place(Matrix::D, block, at.0, at.1).unwrap();
        let slot = self.slot("vdst") + usize::from(place.register);
        let word = |n: usize| u64::from(registers.v[slot + n][usize::from(place.lane)]);
        if wide { word(0) | word(1) << 32 } else { word(0) }
    }

    fn registers() -> Registers {
        Registers { s: [0; 128], v: vec![[0; 64]; 512], scc: false }
    }
}

/// Elements of a matrix, row by row.
fn matrix(text: &str, ty: &str) -> Vec<Vec<u64>> {
    let digits = match ty {
        "fp8" | "bf8" => 2,
        "f16" | "bf16" => 4,
        "f64" => 16,
        _ => 8,
    };
    let element = |at: usize, row: &str| u64::from_str_radix(&row[at..at + digits], 16).unwrap();
    text.split(',').map(|row| (0..row.len()).step_by(digits).map(|at| element(at, row)).collect()).collect()
}

fn is_nan(bits: u64, wide: bool) -> bool {
    if wide { f64::from_bits(bits).is_nan() } else { f32::from_bits(bits as u32).is_nan() }
}

/// The number of outputs in a file that were compared, and descriptions of those that differ.
fn compare(
    path: &Path,
    way: Option<Way>,
    arithmetic: MatrixArithmetic,
    every: usize,
) -> (usize, Vec<String>) {
    let text = text(path);
    let (mut count, mut wrong) = (0, Vec::new());
    let mut product = None;
    for row in rows(&text).step_by(every) {
        let target: Target = row[0].parse().unwrap();
        let product = product.get_or_insert_with(|| Product::new(target, row[1], arithmetic));
        let stored: usize = row[7].parse().unwrap();
        let wide = row[10] == "f64";
        let (a, b) = (matrix(row[11], row[8]), matrix(row[12], row[9]));
        let (c, d) = (matrix(row[13], row[10]), matrix(row[14], row[10]));
        let Shape { m, n, k, .. } = product.shape;
        assert_eq!([m, n, k].map(|x| x.to_string()), [row[4], row[5], row[6]]);
        let mut before = Product::registers();
        for i in 0..m {
            let line = usize::from(i) % stored;
            (0..k).for_each(|k| {
                product.put(&mut before, "src0", Matrix::A, (i, k), a[line][usize::from(k)], wide);
            });
            (0..n).for_each(|j| {
                product.put(&mut before, "src2", Matrix::C, (i, j), c[line][usize::from(j)], wide);
            });
        }
        for k in 0..k {
            (0..n).for_each(|j| {
                product.put(&mut before, "src1", Matrix::B, (k, j), b[usize::from(k)][usize::from(j)], wide);
            });
        }
        let alone = Alone::new(&product.machine, &product.inst).unwrap();
        let after = match way {
            None => alone.after(&before),
            Some(way) => forced(way, || alone.after(&before)),
        };
        let after = after.unwrap();
        for block in 0..product.shape.blocks {
            for (i, j) in (0..m).flat_map(|i| (0..n).map(move |j| (i, j))) {
                let got = product.get(&after, block, (i, j), wide);
                let right = d[usize::from(i) % stored][usize::from(j)];
                count += 1;
                if got != right && !(is_nan(got, wide) && is_nan(right, wide)) {
                    let (name, class, id) = (row[1], row[2], row[3]);
                    wrong.push(format!("{target} {name} {class} {id} [{i}][{j}]: {got:#x}, not {right:#x}"));
                }
            }
        }
    }
    (count, wrong)
}

/// The files with results of models.
fn files() -> Vec<PathBuf> {
    let all = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = all.filter(|path| path.to_string_lossy().contains("-v_mfma")).collect();
    files.sort();
    files
}

/// Checks every element of every vector for all 64 instructions.
#[test]
fn matrix_instructions_have_the_bits_of_the_hardware() {
    let files = files();
    assert_eq!(files.len(), 64);
    let mut report = BTreeMap::new();
    for path in files {
        let (count, wrong) = compare(&path, None, MatrixArithmetic::Hardware, 1);
        assert!(count >= 72 * 16 * 4, "{path:?}: {count}");
        if !wrong.is_empty() {
            let first: Vec<String> = wrong.iter().take(3).cloned().collect();
            report.insert(path.file_name().unwrap().to_owned(), (wrong.len(), count, first));
        }
    }
    assert!(report.is_empty(), "{report:#?}");
}

/// The same with the code for hosts with narrower vectors and with none, on a part of the vectors.
#[test]
fn matrix_instructions_have_the_bits_of_the_hardware_in_every_way() {
    for (number, path) in files().iter().enumerate() {
        let way = if number % 2 == 0 { Way::Avx2 } else { Way::Portable };
        let (_, wrong) = compare(path, Some(way), MatrixArithmetic::Hardware, 7);
        assert!(wrong.is_empty(), "{way:?}: {wrong:#?}");
    }
}

/// For narrow input formats, the chain gives other results than the model; for wide ones, the same.
#[test]
fn the_chain_is_what_was_there_before() {
    for path in files() {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let (count, wrong) = compare(&path, None, MatrixArithmetic::Chain, 5);
        let same = name.contains("f64") || name.ends_with("f32.tsv.gz") && !name.contains("xf32");
        assert_eq!(wrong.is_empty(), same, "{name}: {} of {count}", wrong.len());
    }
}

/// Compares with what an MI300X printed.
#[test]
fn fp8_products_are_those_that_an_mi300x_printed() {
    let text = text(&folder().join("captured-gfx942-fp8.tsv.gz"));
    let mut count = 0;
    let mut product = None;
    for row in rows(&text) {
        let target: Target = row[0].parse().unwrap();
        let product = product.get_or_insert_with(|| Product::new(target, row[1], MatrixArithmetic::Hardware));
        let (a, b) = (&matrix(row[3], "fp8")[0], &matrix(row[4], "fp8")[0]);
        let mut before = Product::registers();
        for k in 0..32 {
            product.put(&mut before, "src0", Matrix::A, (0, k), a[usize::from(k)], false);
            product.put(&mut before, "src1", Matrix::B, (k, 0), b[usize::from(k)], false);
        }
        product.put(&mut before, "src2", Matrix::C, (0, 0), matrix(row[5], "f32")[0][0], false);
        let after = Alone::new(&product.machine, &product.inst).unwrap().after(&before).unwrap();
        assert_eq!(product.get(&after, 0, (0, 0), false), matrix(row[6], "f32")[0][0], "{row:?}");
        count += 1;
    }
    assert_eq!(count, 1748);
}

/// Compares with results from an MI200 and an MI350: MODE affects mixed multiply-adds, but not dot products.
#[test]
fn dot_products_treat_denormals_as_measured() {
    let text = text(&folder().join("captured-dot2.tsv.gz"));
    let mut count = 0;
    for row in rows(&text) {
        let target: Target = row[0].parse().unwrap();
        let bits = |i: usize| u32::from_str_radix(row[i], 16).unwrap();
        let mut case = Case::new(target).v(1, [bits(3); 64]).v(2, [bits(4); 64]).v(3, [bits(5); 64]);
        case.state = state();
        let keeps = row[2].contains("denorm=keep");
        case.state.float_mode.denorm_32 = if keeps { 3 } else { 0 };
        case.state.float_mode.denorm_16_64 = if keeps { 3 } else { 0 };
        let body = match row[1] {
            "v_dot2c_f32_f16" => "v_dot2c_f32_f16 v3, v1, v2",
            "v_dot2_f32_f16" => "v_dot2_f32_f16 v3, v1, v2, v3",
            // The first two sources are halves, the third is an f32.
            _ => "v_fma_mix_f32 v3, v1, v2, v3 op_sel_hi:[1,1,0]",
        };
        assert_eq!(case.run(body).v(3), [bits(6); 64], "{row:?}");
        count += 1;
    }
    assert_eq!(count, 12);
}

/// Six products that distinguish the possible implementations: in each lane eight words, two for A, two for B and four for C.
#[test]
fn products_that_tell_arithmetics_apart() {
    use Target::{GFX90A, GFX908, GFX942};
    for (name, target, mnemonic, right) in [
        ("xf32_trunc", GFX942, "v_mfma_f32_16x16x8_xf32", 0x3f80_0000),
        ("f16_den", GFX908, "v_mfma_f32_16x16x16f16", 0x3380_0000),
        ("fp8_groups", GFX942, "v_mfma_f32_16x16x32_fp8_fp8", 0x3880_0000),
        ("f16_trunc", GFX942, "v_mfma_f32_16x16x16_f16", 0x4b80_0001),
        ("c_den", GFX90A, "v_mfma_f32_16x16x16bf16_1k", 0),
        ("f16_exact", GFX908, "v_mfma_f32_16x16x16f16", 0x4b80_0001),
    ] {
        let packed = std::fs::read(folder().join(name).with_extension("in.gz")).unwrap();
        let mut bytes = Vec::new();
        flate2::read::GzDecoder::new(&packed[..]).read_to_end(&mut bytes).unwrap();
        let product = Product::new(target, mnemonic, MatrixArithmetic::Hardware);
        let mut before = Product::registers();
        for (lane, words) in super::harness::words(&bytes).chunks_exact(8).enumerate() {
            for (operand, first, count) in [("src0", 0, 2), ("src1", 2, 2), ("src2", 4, 4)] {
                for i in 0..count {
                    before.v[product.slot(operand) + i][lane] = words[first + i];
                }
            }
        }
        let after = Alone::new(&product.machine, &product.inst).unwrap().after(&before).unwrap();
        assert_eq!(product.get(&after, 0, (0, 0), false), right, "{name}");
    }
}
