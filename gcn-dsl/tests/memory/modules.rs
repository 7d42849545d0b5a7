//! Code objects of several kernels, tested with LLVM: what its tools read in them, and what its assembler and linker
//! make of the assembly.

use std::path::Path;
use std::process::Command;

use gcn_dsl::Module;
use gcn_dsl::prelude::*;
use gcn_emit::object::{CodeObject, read_code_object};
use gcn_test_support::llvm::tool;

const SQUARES: [u32; 500] = {
    let (mut squares, mut k) = ([0; 500], 0);
    while k < 500 {
        squares[k] = (k * k) as u32;
        k += 1;
    }
    squares
};

gcn_kernel! {
    /// The kernel's table is after its code.
    #[workgroup(64)]
    fn square(x: &mut [u32]) {
        let i = global_id().x;
        x[i] = SQUARES[x[i]];
    }

    #[workgroup(256)]
    fn scale<T: Float>(a: T, x: &mut [T]) {
        let i = global_id().x;
        if i < x.len() {
            x[i] = x[i] * a;
        }
    }

    #[workgroup(64)]
    fn sum(n: u32, x: &[u32], y: &mut [u32]) {
        let mut total: V<u32> = 0;
        for k in 0..n {
            total += x[k * 64 + lane_id()];
        }
        y[lane_id()] = total;
    }
}

fn run(tool: &Path, arguments: &[&str], file: &Path) -> String {
    let output = Command::new(tool).args(arguments).arg(file).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

#[test]
fn llvm_reads_and_makes_the_same_module() {
    let tools = ["llvm-readelf", "llvm-objdump", "llvm-mc", "ld.lld"].map(tool);
    let [Some(readelf), Some(objdump), Some(mc), Some(lld)] = tools else { return };
    let folder = std::env::temp_dir().join(format!("gcn-dsl-module-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for target in [Target::GFX900, Target::GFX90A, Target::GFX942] {
        let kernels = (
            scale::<f32>.build(target).unwrap(),
            square.build(target).unwrap(),
            scale::<f16>.build(target).unwrap(),
            sum.build(target).unwrap(),
        );
        let module = Module::new(&[&kernels.0, &kernels.1, &kernels.2, &kernels.3]).unwrap();
        let file = folder.join("module.hsaco");
        std::fs::write(&file, module.code_object()).unwrap();
        let symbols = run(&readelf, &["--dyn-syms", "--notes"], &file);
        let code = run(&objdump, &["-d"], &file);
        for kernel in module.kernels() {
            let name = kernel.name();
            assert!(symbols.contains(&format!(" {name}\n")), "{name}: {symbols}");
            assert!(symbols.contains(&format!(" {name}.kd\n")), "{name}: {symbols}");
            assert!(symbols.contains(&format!(".symbol:         {name}.kd")), "{name}: {symbols}");
            assert!(code.contains(&format!("<{name}>:")), "{name}: {code}");
        }

        let (source, assembled, linked) = (folder.join("m.s"), folder.join("m.o"), folder.join("m.hsaco"));
        std::fs::write(&source, module.assembly(Comments::Explain)).unwrap();
        let [to_object, to_linked] = [&assembled, &linked].map(|f| f.to_str().unwrap());
        let cpu = format!("-mcpu={target}");
        run(&mc, &["-triple=amdgcn-amd-amdhsa", &cpu, "-filetype=obj", "-o", to_object], &source);
        run(&lld, &["-shared", "-o", to_linked], &assembled);
        let theirs = std::fs::read(&linked).unwrap();
        let (theirs, ours) =
            (read_code_object(&theirs).unwrap(), read_code_object(module.code_object()).unwrap());
        assert_eq!(theirs.kernels.len(), 4);
        let text = |object: &CodeObject<'_>| object.section(".text").unwrap().bytes.to_vec();
        assert_eq!(text(&theirs), text(&ours), "{target}: constants are part of it");
        for (theirs, ours) in theirs.kernels.iter().zip(&ours.kernels) {
            assert_eq!((theirs.name, theirs.code), (ours.name, ours.code), "{target}");
        }
    }
    std::fs::remove_dir_all(&folder).unwrap();
}
