//! Branches that are longer than the 128 KiB that their 16-bit distance permits.

use std::path::Path;

use gcn_dsl::prelude::*;
use gcn_emit::encode::{BRANCH_REACH, encode_program};
use gcn_isa::table::Behaviours;
use gcn_isa::{Operand, Program, check};
use gcn_test_support::env::daily_sample;
use gcn_test_support::llvm::tool;

use super::options;

/// The number of steps of one half of the loop's body. A step has at least 16 bytes.
const STEPS: u32 = 8500;

fn step(x: u32, k: u32) -> u32 {
    (x ^ k.wrapping_mul(0x9e37_79b9)).wrapping_mul(0x85eb_ca6b ^ k)
}

gcn_kernel! {
    #[device]
    fn many<const FROM: u32>(x: V<u32>) -> V<u32> {
        let mut x = x;
        #[unroll]
        for k in FROM..FROM + STEPS {
            x = (x ^ k.wrapping_mul(0x9e37_79b9)) * (0x85eb_ca6b ^ k);
        }
        x
    }

    /// A loop of more than 256 KiB: its branch back, a branch over half of it, a `continue`, and branches out of it are long.
    #[workgroup(64)]
    fn long(n: u32, skip: u32, stop: u32, x: &mut [u32]) {
        let i = local_id().x;
        let mut sum: V<u32> = x[i];
        for k in 0..n {
            if k == stop {
                break;
            }
            if k != skip {
                sum = many::<0>(sum);
            }
            // Some lanes are switched off, and no lane is on from the fourth iteration on.
            if i > 20 * k {
                sum = many::<100_000>(sum);
                if all(sum == 0) {
                    break;
                }
            } else {
                sum += 1;
            }
        }
        x[i] = sum;
    }
}

fn reference(n: u32, skip: u32, stop: u32, x: &mut [u32]) {
    let many = |x, from| (from..from + STEPS).fold(x, step);
    for (i, x) in x.iter_mut().enumerate() {
        for k in (0..n).take_while(|k| *k != stop) {
            if k != skip {
                *x = many(*x, 0);
            }
            *x = if i as u32 > 20 * k { many(*x, 100_000) } else { x.wrapping_add(1) };
        }
    }
}

/// The branches of a program, with their distances in bytes.
fn branches(program: &Program) -> impl Iterator<Item = u32> {
    let offsets = gcn_emit::encode::offsets(program).unwrap();
    program.lines.iter().enumerate().filter_map(move |(line, code)| {
        let Some(Operand::Label(label)) = code.inst.operands.get(code.inst.desc.branch_operand()?) else {
            return None;
        };
        Some(offsets[program.labels[label.0 as usize].at?].abs_diff(offsets[line + 1]))
    })
}

#[test]
fn long_branches_lead_over_islands() {
    let mc = tool("llvm-mc");
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR")).join("islands");
    std::fs::create_dir_all(&scratch).unwrap();
    let targets = [Target::GFX942, Target::GFX1010, Target::GFX1100, Target::GFX1201, Target::GFX1250];
    for target in daily_sample(targets, 3) {
        let device = Device::simulator(target);
        let built = long.build_with(target, &options(target.usual_wave())).unwrap();
        let program = built.program();
        let size = *gcn_emit::encode::offsets(program).unwrap().last().unwrap();
        assert!(size > 1 << 18, "{target}: {size}");
        let longest = branches(program).max().unwrap();
        assert!(longest <= *BRANCH_REACH.end() as u32 * 4 && longest > 60_000, "{target}: {longest}");
        assert!(
            !program
                .lines
                .iter()
                .any(|line| line.inst.desc.does(Behaviours::READS_PC | Behaviours::TO_REGISTER))
        );
        assert_eq!(check::check(program).findings, [], "{target}");

        for (n, skip, stop) in [(3, 1, 9), (4, 9, 2), (0, 0, 0)] {
            let mut x: Vec<u32> = (7..71).collect();
            let mut want = x.clone();
            reference(n, skip, stop, &mut want);
            device.launch(&long, &built, Grid::x(1), (n, skip, stop, &mut x)).unwrap();
            assert_eq!(x, want, "{target}: {n} {skip} {stop}");
        }
        if let Some(mc) = &mc {
            let source = scratch.join(format!("{target}.s"));
            std::fs::write(&source, built.assembly(Comments::None)).unwrap();
            let mut command = std::process::Command::new(mc);
            command.args([
                "-triple=amdgcn-amd-amdhsa",
                "-filetype=obj",
                &format!("-mcpu={target}"),
                "-o",
                "-",
            ]);
            let output = command.arg(&source).output().unwrap();
            assert!(output.status.success(), "{target}: {}", String::from_utf8_lossy(&output.stderr));
            let code = encode_program(program).unwrap().bytes;
            let start = output.stdout.windows(64).position(|part| part == &code[..64]).unwrap();
            assert!(output.stdout[start..].starts_with(&code), "{target}");
        }
    }
}
