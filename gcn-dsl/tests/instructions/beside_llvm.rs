//! Kernels that spill, compared with the code that clang generates for the same kernels in OpenCL C with the same
//! number of VGPRs: the table of guide/registers.md.

use std::path::Path;
use std::process::Command;

use gcn_dsl::lang::RegisterLimits;
use gcn_dsl::prelude::*;
use gcn_dsl::{BuildOptions, BuiltKernel};
use gcn_test_support::llvm::tool;

gcn_kernel! {
    #[workgroup(64)]
    fn reverse(x: &[u32], y: &mut [u32]) {
        let lane = local_id().x;
        let a = Private::<u32, 32>::new();
        #[unroll] for i in 0..32u32 {
            a[i] = x[lane + 64 * i];
        }
        #[unroll] for i in 0..32u32 {
            y[lane + 64 * i] = a[31 - i];
        }
    }

    #[workgroup(64)]
    fn mix(x: &[u32], y: &mut [u32]) {
        let lane = local_id().x;
        let a = Private::<u32, 64>::new();
        #[unroll] for i in 0..64u32 {
            a[i] = x[lane + 64 * i];
        }
        #[unroll] for i in 0..64u32 {
            a[i] = a[i] * 3 + a[(i * 7 + 5) % 64];
        }
        #[unroll] for i in 0..64u32 {
            a[63 - i] = a[63 - i] ^ a[(i * 11 + 2) % 64];
        }
        #[unroll] for i in 0..64u32 {
            y[lane + 64 * i] = a[i];
        }
    }

    #[workgroup(64)]
    fn sums(trips: u32, x: &[u32], y: &mut [u32]) {
        let lane = local_id().x;
        let a = Private::<u32, 40>::new();
        #[unroll] for i in 0..40u32 {
            a[i] = x[lane + 64 * i];
        }
        let mut sum = lane - lane;
        for t in 0..trips {
            let v = x[lane + 64 * t];
            #[unroll] for i in 0..8u32 {
                sum = sum * a[i] + v;
            }
        }
        #[unroll] for i in 0..40u32 {
            y[lane + 64 * i] = a[i] + sum;
        }
    }

    #[workgroup(64)]
    fn tile(depth: u32, p: &[f32], q: &[f32], y: &mut [f32]) {
        let lane = local_id().x;
        let sum = Private::<f32, 64>::new();
        #[unroll] for i in 0..64u32 {
            sum[i] = 0.0;
        }
        for k in 0..depth {
            let a = Private::<f32, 8>::new();
            let b = Private::<f32, 8>::new();
            #[unroll] for i in 0..8u32 {
                a[i] = p[k * 512 + lane * 8 + i];
                b[i] = q[k * 512 + lane * 8 + i];
            }
            #[unroll] for i in 0..64u32 {
                sum[i] = a[i / 8].mul_add(b[i % 8], sum[i]);
            }
        }
        #[unroll] for i in 0..64u32 {
            y[lane + 64 * i] = sum[i];
        }
    }
}

/// What is counted in the code of a kernel.
struct Row {
    vgprs: usize,
    memory: usize,
    moves: usize,
    all: usize,
}

impl Row {
    /// Counts in lines of assembly.
    fn of<'a>(vgprs: usize, lines: impl Iterator<Item = &'a str>) -> Row {
        let mut row = Row { vgprs, memory: 0, moves: 0, all: 0 };
        for name in lines.filter_map(|l| l.split_whitespace().next()) {
            let families = ["s_", "v_", "ds_", "global_", "flat_", "buffer_", "scratch_"];
            row.all += usize::from(families.iter().any(|f| name.starts_with(f)));
            row.moves += usize::from(name.starts_with("v_accvgpr_"));
        }
        row
    }

    fn text(&self) -> String {
        format!("{} | {} | {} | {}", self.vgprs, self.memory, self.moves, self.all)
    }
}

fn ours(kernel: &BuiltKernel) -> Row {
    let text = kernel.assembly(Comments::None);
    let row = Row::of(kernel.report().vgprs as usize, text.lines().filter(|l| l.starts_with([' ', '\t'])));
    let spills = kernel.spills();
    Row { memory: spills.stores + spills.loads, all: kernel.spec().program.lines.len(), ..row }
}

/// What clang generates for a kernel of `spills.cl`: the text from the kernel's label to its end.
fn theirs(clang: &Path, name: &str, target: Target, limit: u32) -> Row {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/spills.cl");
    let (arch, limit) = (format!("-mcpu={target}"), format!("-DLIMIT={limit}"));
    let options =
        ["-x", "cl", "-cl-std=CL2.0", "-Xclang", "-finclude-default-header", "-nogpulib", "-O3", "-S"];
    let output = Command::new(clang)
        .args(options)
        .args(["-target", "amdgcn-amd-amdhsa", &arch, &limit, "-o", "-"])
        .arg(&source)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let from = text.find(&format!("\n{name}:")).unwrap();
    let code = &text[from..from + text[from..].find(".Lfunc_end").unwrap()];
    let metadata = &text[text.find("amdhsa.kernels").unwrap()..];
    let mine = metadata[metadata.find(&format!(".name:           {name}\n")).unwrap()..].lines();
    let count = mine.filter_map(|l| l.trim().strip_prefix(".vgpr_count:")).next().unwrap();
    let row = Row::of(count.trim().parse().unwrap(), code.lines().filter(|l| l.starts_with('\t')));
    // The source kernels use no private memory and no buffers, so all of these are spills.
    let spill = |l: &&str| l.trim().starts_with("buffer_") || l.trim().starts_with("scratch_");
    Row { memory: code.lines().filter(spill).count(), ..row }
}

fn options(vgprs: u32) -> BuildOptions {
    let registers = RegisterLimits { vgprs: Some(vgprs), ..RegisterLimits::default() };
    BuildOptions { registers, ..BuildOptions::default() }
}

type Build = fn(Target, &BuildOptions) -> BuiltKernel;

const KERNELS: [(&str, [u32; 2], Build); 4] = [
    ("reverse", [32, 40], |t, o| reverse.build_with(t, o).unwrap().into_any()),
    ("mix", [32, 48], |t, o| mix.build_with(t, o).unwrap().into_any()),
    ("sums", [32, 40], |t, o| sums.build_with(t, o).unwrap().into_any()),
    ("tile", [48, 64], |t, o| tile.build_with(t, o).unwrap().into_any()),
];

#[test]
fn the_table_beside_llvm_is_what_is_measured() {
    let Some(clang) = tool("clang") else { return };
    let document = include_str!("../../guide/registers.md");
    let mut table = String::new();
    for (name, limits, build) in KERNELS {
        for target in [Target::GFX906, Target::GFX908] {
            for limit in limits {
                let kernel = build(target, &options(limit));
                assert!(kernel.report().vgprs <= limit, "{}", kernel.report());
                let (ours, theirs) = (ours(&kernel).text(), theirs(&clang, name, target, limit).text());
                table += &format!("| `{name}` | {target} | {limit} | {ours} | {theirs} |\n");
            }
        }
    }
    assert!(document.contains(&table), "guide/registers.md should have\n{table}");
}

#[test]
fn the_kernels_of_the_table_are_right() {
    let x: Vec<u32> = (0..64 * 64).map(|i: u32| i.wrapping_mul(2_654_435_761) >> 7).collect();
    let floats: Vec<f32> = (0..1536).map(|i| ((i * 37) % 101) as f32 / 16.0 - 3.0).collect();
    for target in [Target::GFX906, Target::GFX908] {
        let (device, grid) = (Device::simulator(target), Grid::x(1));
        let [few, most] = [24, 256].map(|vgprs| {
            let options = options(vgprs);
            let mut y = [vec![0u32; 32 * 64], vec![0u32; 64 * 64], vec![0u32; 40 * 64]];
            let mut sums_of = vec![0.0f32; 64 * 64];
            let build = |b: Build| b(target, &options);
            device.launch(&reverse, &build(KERNELS[0].2), grid, (&x[..32 * 64], &mut y[0])).unwrap();
            device.launch(&mix, &build(KERNELS[1].2), grid, (&x, &mut y[1])).unwrap();
            device.launch(&sums, &build(KERNELS[2].2), grid, (5, &x, &mut y[2])).unwrap();
            device.launch(&tile, &build(KERNELS[3].2), grid, (3, &floats, &floats, &mut sums_of)).unwrap();
            (y, sums_of)
        });
        assert!(few == most, "{target}");
        assert!((0..64).all(|lane| most.0[0][lane] == x[lane + 31 * 64]), "{target}");
    }
}
