//! Benchmarks of the checker and of the inserter on straight code and on code with branches, of growing length. They measure instructions
//! per second, which should not fall as the code gets longer.

use divan::Bencher;
use divan::counter::ItemsCount;
use gcn_emit::text::parse_program;
use gcn_isa::check::check;
use gcn_isa::wait::{WaitOptions, insert_waits};
use gcn_isa::{Program, Target};

fn main() {
    divan::main();
}

const LENGTHS: [usize; 3] = [10_000, 100_000, 1_000_000];

/// A piece of a matrix multiplication and the code around it: loads from memory and LDS, accumulation, scalar values from vector
/// instructions, packed arithmetic, stores.
const BODY: &str = include_str!("stream.s");

/// A program of about `length` instructions, in one block or with a branch every few instructions. The branches lead forward and backward,
/// so that loops contain loops.
fn program(length: usize, branching: bool) -> Program {
    let pieces = length / BODY.lines().count() + 1;
    let mut text = String::with_capacity(pieces * (BODY.len() + 80));
    for piece in 0..pieces {
        if branching {
            text += &format!("L{piece}:\n");
        }
        text += BODY;
        match piece % 4 {
            _ if !branching => {}
            1 => text += &format!("s_cbranch_scc1 L{}\n", piece - 1),
            2 => text += &format!("s_cbranch_vccz L{}\n", (piece + 2).min(pieces - 1)),
            3 => text += &format!("s_cbranch_scc0 L{}\n", piece - 3),
            _ => {}
        }
    }
    text += "s_endpgm\n";
    parse_program(&text, Target::GFX942, "bench").expect("the benchmark's program")
}

/// Checks a program that has all its waits. The checker finds nothing, but has to examine every instruction.
#[divan::bench(args = LENGTHS, consts = [false, true], sample_count = 10)]
fn checker<const BRANCHING: bool>(bencher: Bencher<'_, '_>, length: usize) {
    let mut waited = program(length, BRANCHING);
    insert_waits(&mut waited, &WaitOptions::default());
    let lines = waited.lines.len();
    bencher.counter(ItemsCount::new(lines)).bench(|| check(divan::black_box(&waited)).is_clean());
}

/// Inserts every wait into a program that has no waits.
#[divan::bench(args = LENGTHS, consts = [false, true], sample_count = 10)]
fn inserter<const BRANCHING: bool>(bencher: Bencher<'_, '_>, length: usize) {
    let bare = program(length, BRANCHING);
    let lines = bare.lines.len();
    bencher.counter(ItemsCount::new(lines)).with_inputs(|| bare.clone()).bench_values(|mut program| {
        insert_waits(&mut program, &WaitOptions::default());
        program
    });
}

/// A program without waits whose blocks each have a load, two branches to arbitrary blocks, and a use of a loaded value. At every point,
/// every load may be outstanding.
fn dense(blocks: usize) -> Program {
    let mut text = String::new();
    for block in 0..blocks {
        let (far, near) = (block * 2654435761 % blocks, block * 40503 % blocks);
        let (loaded, used) = (block % 250, block * 3 % 250);
        text += &format!("L{block}:\ns_cbranch_scc1 L{far}\nglobal_load_dword v{loaded}, v0, s[0:1]\n");
        text += &format!("s_cbranch_vccz L{near}\nv_add_f32_e32 v1, v{used}, v2\n");
    }
    text += "s_endpgm\n";
    parse_program(&text, Target::GFX942, "bench").expect("the benchmark's program")
}

/// Checks a program that has very many branches and no waits.
#[divan::bench(args = [1_250, 5_000, 20_000], sample_count = 3)]
fn checker_dense(bencher: Bencher<'_, '_>, blocks: usize) {
    let program = dense(blocks);
    let lines = program.lines.len();
    bencher.counter(ItemsCount::new(lines)).bench(|| check(divan::black_box(&program)).is_clean());
}

/// The way in which a program's blocks of four instructions are connected.
#[derive(Clone, Copy, Debug)]
enum Shape {
    /// A loop around a chain of comparisons. Each comparison leads to its own block, and each of these blocks leads back to the loop's
    /// start.
    Switch,
    /// Each block ends with a branch to an arbitrary other block.
    AnyJump,
    /// A fourth of the blocks end with a jump to an unknown target, which may be any block that no branch names.
    Indirect,
    /// Loops that are nested as deeply as there are blocks.
    Deep,
    /// Two paths lead from each block to the next one.
    Diamonds,
}

const SHAPES: [Shape; 5] = [Shape::Switch, Shape::AnyJump, Shape::Indirect, Shape::Deep, Shape::Diamonds];

/// A program of about `length` instructions with this shape and without waits.
fn shaped(shape: Shape, length: usize) -> Program {
    let mut state = 1usize;
    let mut random = |bound: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % bound
    };
    let blocks = length / 6;
    let (mut text, mut arms) = (String::from("head:\n"), String::new());
    for block in 0..blocks {
        let mut body = String::new();
        for _ in 0..4 {
            let (a, b, even) = (random(60), random(60), random(20) * 2);
            body += &match random(6) {
                0 => format!("global_load_dword v{a}, v[{even}:{}], off\n", even + 1),
                1 => format!("ds_read_b32 v{a}, v{b}\n"),
                2 => format!("v_add_f32 v{a}, v{b}, v{a}\n"),
                3 => format!("s_load_dword s{}, s[{even}:{}], 0x0\n", a % 40, even + 1),
                4 => format!("v_readfirstlane_b32 s{}, v{b}\n", a % 40),
                _ => format!("s_add_u32 s{0}, s{0}, s{1}\n", a % 40, b % 40),
            };
        }
        let far = random(blocks);
        match shape {
            Shape::Switch => {
                text += &format!("s_cbranch_scc1 block{block}\n");
                arms += &format!("block{block}:\n{body}s_branch head\n");
            }
            Shape::AnyJump => text += &format!("block{block}:\n{body}s_cbranch_scc1 block{far}\n"),
            Shape::Indirect if block % 4 == 0 => {
                text += &format!("block{block}:\n{body}s_setpc_b64 s[44:45]\n");
            }
            Shape::Indirect => text += &format!("block{block}:\n{body}s_cbranch_scc1 block{far}\n"),
            Shape::Deep => {
                text += &format!("block{block}:\n{body}");
                arms += &format!("s_cbranch_scc1 block{}\n", blocks - 1 - block);
            }
            Shape::Diamonds => {
                text += &format!("s_cbranch_scc1 block{block}\n{body}block{block}:\n");
            }
        }
    }
    text += if matches!(shape, Shape::Switch) { "s_endpgm\n" } else { "" };
    text += &arms;
    text += "s_endpgm\n";
    parse_program(&text, Target::GFX942, "bench").expect("the benchmark's program")
}

/// Inserts every wait into programs in which very many paths meet.
#[divan::bench(args = SHAPES, consts = [2_500, 5_000, 20_000], sample_count = 3)]
fn inserter_shapes<const LENGTH: usize>(bencher: Bencher<'_, '_>, shape: Shape) {
    let bare = shaped(shape, LENGTH);
    let lines = bare.lines.len();
    bencher.counter(ItemsCount::new(lines)).with_inputs(|| bare.clone()).bench_values(|mut program| {
        insert_waits(&mut program, &WaitOptions::default());
        program
    });
}
