//! Lessons on RDNA: their results in the strict simulator are those of the reference, and LLVM assembles their text to the same bytes. A
//! lesson whose operations the target lacks is refused by an error that names the target.

use gcn_dsl::prelude::*;
use gcn_examples::lessons;

use crate::oracle;

/// Every instruction set of RDNA.
const TARGETS: [Target; 5] =
    [Target::GFX1010, Target::GFX1030, Target::GFX1100, Target::GFX1151, Target::GFX1201];

/// What RDNA 1 and 2 lack: shuffles among 64 lanes, or atomic additions of `f32` in memory. `radix_sort` launches `prefix_scan`.
const LACKED_BY_GFX10: [&str; 6] =
    ["block_reduce", "prefix_scan", "gemv", "spmv", "embedding_scatter", "radix_sort"];

#[test]
fn lessons_agree_or_are_refused() {
    for target in TARGETS {
        let lacks = target.generation() == gcn_isa::target::Generation::GFX10;
        for lesson in lessons::ALL {
            let refused = lacks && LACKED_BY_GFX10.contains(&lesson.name);
            let kernel = match lesson.build(target) {
                Ok(kernel) => kernel,
                Err(error) => {
                    // Matrix instructions of CDNA: the lesson lists the targets that have them.
                    let listed = matches!(error.cause, gcn_dsl::BuildCause::Target { .. });
                    assert!(listed || refused, "{} on {target}: {error}", lesson.name);
                    assert!(error.to_string().contains(target.name()), "{error}");
                    continue;
                }
            };
            oracle::assembles_to_our_bytes(&kernel);
            for &size in lesson.sizes {
                match (lesson.run)(&Device::simulator(target), &kernel, size) {
                    Ok(outcome) => assert!(
                        outcome.comparison.agrees(),
                        "{} {size} on {target}: {}",
                        lesson.name,
                        outcome.comparison
                    ),
                    Err(error) => assert!(refused, "{} {size} on {target}: {error}", lesson.name),
                }
            }
        }
    }
}
