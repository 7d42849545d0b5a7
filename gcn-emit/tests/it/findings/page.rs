//! Compares parts of the page with the results, or updates them.

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/findings.md");

/// Prevents tests of different parts of the page from writing it at the same time.
static WRITING: std::sync::Mutex<()> = std::sync::Mutex::new(());

/// Compares the part of the page between `<!-- NAME -->` and `<!-- end -->` with `fresh`; with `GCN_BLESS=1`, replaces it.
pub fn compare(name: &str, fresh: &str) {
    let _writing = WRITING.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let page = std::fs::read_to_string(PAGE).expect("docs/findings.md");
    let mark = format!("<!-- {name} -->\n");
    let (before, rest) =
        page.split_once(&mark).unwrap_or_else(|| panic!("docs/findings.md has no part {name}"));
    let (old, after) = rest.split_once("<!-- end -->").expect("the part has an end");
    if gcn_test_support::env::bless() {
        std::fs::write(PAGE, format!("{before}{mark}{fresh}<!-- end -->{after}"))
            .expect("docs/findings.md can be written");
        return;
    }
    if let Some((number, (old, new))) =
        old.lines().zip(fresh.lines()).enumerate().find(|(_, (old, new))| old != new)
    {
        panic!("part {name} of docs/findings.md, line {number}:\n  page: {old}\n  now:  {new}");
    }
    assert_eq!(old.lines().count(), fresh.lines().count(), "part {name} of docs/findings.md is out of date");
}
