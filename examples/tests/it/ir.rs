//! The textual IR of every lesson, on the targets that the lesson supports, parses to the same IR text and the same
//! machine code.

use gcn_dsl::BuildOptions;
use gcn_dsl::ir::{text, verify};
use gcn_dsl::prelude::*;
use gcn_examples::lessons;

#[test]
fn reads_back_to_the_same_machine_code() {
    let options = BuildOptions::default();
    let mut read = 0;
    for (lesson, target) in crate::lessons_on_targets() {
        let Ok(kernel) = (lesson.build_with)(target, &options) else { continue };
        let printed = kernel.ir();
        let what = format!("{} on {target}", lesson.name);
        let parsed = text::parse(&printed).unwrap_or_else(|e| panic!("{what}: {e}\n{printed}"));
        verify::verify(&parsed).unwrap_or_else(|e| panic!("{what}: {e}\n{printed}"));
        assert_eq!(parsed.to_string(), printed, "{what}");
        let again = kernel.with_ir(&printed, &options).unwrap_or_else(|e| panic!("{what}: {e}"));
        assert_eq!(again.assembly(Comments::None), kernel.assembly(Comments::None), "{what}");
        read += 1;
    }
    assert!(read >= lessons::ALL.len() / 2, "{read} kernels");
}
