
#[test]
fn zz() {
    for t in gcn_isa::Target::with_instructions().filter(|t| !t.has_hazards()) {
        let c = gcn_sim::coverage(t);
        println!("{t} known {} refused {} unknown {}", c.known.len(), c.refused.len(), c.unknown.len());
        for u in c.unknown { println!("{t} {u}"); }
    }
}
