//! The numbers of vector instructions that functions of f32 take: those in the guide, and those of ROCm's library for
//! comparison.

use std::io::Write;
use std::process::{Command, Stdio};

use gcn_dsl::prelude::*;
use gcn_test_support::llvm::tool;

macro_rules! functions {
    ($($name:ident)*) => {
        $(gcn_kernel! {
            #[workgroup(64)]
            fn $name(x: &[f32], y: &mut [f32]) {
                let i = local_id().x;
                y[i] = x[i].$name();
            }
        })*

        fn functions() -> Vec<(&'static str, usize)> {
            vec![$((stringify!($name), vector(&text(&$name)))),*]
        }
    };
}
functions! { exp exp2 exp_m1 ln log2 log10 sin cos tan tanh }

gcn_kernel! {
    #[workgroup(64)]
    fn sine_and_cosine(x: &[f32], y: &mut [f32]) {
        let i = local_id().x;
        y[i] = x[i].sin() + x[i].cos();
    }
}

gcn_kernel! {
    #[workgroup(64)]
    fn dot(x: &[f32], y: &[f32], sums: &mut [f32]) {
        let i = local_id().x;
        let mut sum = sums[i];
        #[unroll] for k in 0..8u32 {
            sum = x[i + 64 * k].mul_add(y[i + 64 * k], sum);
        }
        sums[i] = sum;
    }
}

fn text(kernel: &impl Kernel) -> String {
    kernel.build(Target::GFX942).unwrap().assembly(Comments::None)
}

fn count(text: &str, of: impl Fn(&str) -> bool) -> usize {
    text.lines().filter(|line| of(line.trim_start())).count()
}

fn vector(text: &str) -> usize {
    count(text, |line| line.starts_with("v_"))
}

#[test]
fn the_guide_says_how_many_instructions_functions_take() {
    let guide = include_str!("../../guide/types.md");
    let rows = functions().into_iter().map(|(name, count)| format!("| `{name}` | {count} |"));
    let missing: Vec<String> = rows.filter(|row| !guide.contains(row)).collect();
    assert!(missing.is_empty(), "rows of the guide should begin with {missing:#?}");
}

#[test]
fn sine_and_cosine_share_the_reduction() {
    let all = functions();
    let of = |name: &str| all.iter().find(|(n, _)| *n == name).map_or(0, |(_, count)| *count);
    let both = vector(&text(&sine_and_cosine));
    // The reduction is the larger part of each function. Both together take 237 instructions with clang 22 and ROCm's
    // library, which reduces twice.
    assert!(2 * both < of("sin") + of("cos") + both, "{both}, {} and {}", of("sin"), of("cos"));
    assert!(both < of("sin") + 20, "{both}, after {} for a sine", of("sin"));
}

/// The loop of [`dot`] in C.
const DOT: &str = "__attribute__((amdgpu_kernel)) void dot(const float *x, const float *y, float *sums) {
    float sum = *sums;
    for (int k = 0; k < 8; k++) sum = __builtin_fmaf(x[64 * k], y[64 * k], sum);
    *sums = sum;
}";

#[test]
fn sums_are_short_instructions_as_clangs() {
    let short = |text: &str| count(text, |line| line.starts_with("v_fmac_f32"));
    let ours = short(&text(&dot));
    assert_eq!(ours, 8);
    let Some(clang) = tool("clang") else { return };
    let arguments = ["-x", "c", "--target=amdgcn-amd-amdhsa", "-mcpu=gfx942", "-O3", "-S", "-o", "-", "-"];
    let mut run =
        Command::new(clang).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    run.stdin.take().unwrap().write_all(DOT.as_bytes()).unwrap();
    let theirs = String::from_utf8(run.wait_with_output().unwrap().stdout).unwrap();
    assert_eq!(short(&theirs), ours, "{theirs}");
}
