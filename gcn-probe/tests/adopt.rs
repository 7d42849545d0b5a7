//! Tests `adopt`: observations of a report become rows of a checkout's table, and the grades that depend on them change.

use std::fs;
use std::path::{Path, PathBuf};

use gcn_isa::Target;
use gcn_isa::hazards::{AnyRule as _, Grade, all, facts, read_observations};
use gcn_probe::adopt::timing::TIMING;
use gcn_probe::adopt::{OBSERVED, adopt};
use gcn_probe::report::Report;
use gcn_sim::timed::parameters;

/// A copy of the tables of this checkout, in a folder of its own.
struct Checkout(PathBuf);

impl Checkout {
    fn new(name: &str) -> Checkout {
        let root = std::env::temp_dir().join(format!("gcn-probe-{name}-{}", std::process::id()));
        for name in [OBSERVED, TIMING] {
            let table = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join(name);
            let copy = root.join(name);
            fs::create_dir_all(copy.parent().unwrap()).unwrap();
            fs::copy(table, copy).unwrap();
        }
        Checkout(root)
    }

    fn table(&self) -> String {
        fs::read_to_string(self.0.join(OBSERVED)).unwrap()
    }
}

impl Drop for Checkout {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A report with these rules, each of which requires two wait states, and the number that was measured for each.
fn report(gpu: &str, simulated: bool, rules: &[(&str, &str, Option<u8>)]) -> Report {
    let rule = |(id, verdict, measured): &(&str, &str, Option<u8>)| {
        serde_json::json!({
            "rule": id, "title": "", "grade": "", "verdict": verdict, "message": "",
            "pairs": [{ "instructions": "", "asked": 2, "needed": 2, "needed_by": id, "measured": measured,
                        "unstable": false, "places": [] }],
        })
    };
    let rules: Vec<_> = rules.iter().map(rule).collect();
    serde_json::from_value(serde_json::json!({
        "header": {
            "schema": 2, "tools": "0.1.0", "seed": 1, "quick": false,
            "gpu": { "name": gpu, "target_id": "gfx942:sramecc+:xnack-", "compute_units": 304, "clock_mhz": 2100,
                     "driver": { "hip": "7.1.25424", "module": "6.14.14" }, "simulated": simulated },
        },
        "date": "2026-11-29",
        "waits": { "totals": {}, "rules": rules },
    }))
    .unwrap()
}

/// The names of two rules of grade [`Grade::Cautious`], which evidence from hardware can raise.
fn cautious() -> [&'static str; 2] {
    let mut rules = all().filter(|rule| rule.grade() == Grade::Cautious).map(|rule| rule.id);
    [rules.next().unwrap(), rules.next().unwrap()]
}

#[test]
fn a_failure_on_hardware_makes_a_cautious_rule_documented() {
    let checkout = Checkout::new("adopted");
    let [failing, unseen] = cautious();
    let mi300 =
        report("AMD Instinct MI300X", false, &[(failing, "equal", Some(2)), (unseen, "not_seen", None)]);
    let adopted = adopt(&mi300, &checkout.0, false).unwrap();
    let changes: Vec<String> = adopted.grades.iter().map(ToString::to_string).collect();
    assert_eq!((adopted.rows, changes), (2, vec![format!("{failing}: cautious -> documented")]));
    let table = checkout.table();
    let source = "AMD Instinct MI300X\tHIP 7.1.25424, amdgpu 6.14.14\t2026-11-29";
    assert!(table.contains(&format!("{failing}\tgfx942\tfails\t2:2\t{source}\n")), "{table}");
    assert!(table.contains(&format!("{unseen}\tgfx942\tnever\t2:-\t{source}\n")), "{table}");
    // The same report again changes nothing; a report of another GPU adds rows; a later report of the first GPU replaces its rows.
    let again = adopt(&mi300, &checkout.0, false).unwrap();
    assert_eq!((again.rows, again.grades.len()), (0, 0));
    let other = report("AMD Instinct MI325X", false, &[(unseen, "less", Some(1))]);
    assert_eq!(adopt(&other, &checkout.0, false).unwrap().grades.len(), 1);
    let later = Report { date: "2027-01-02".to_owned(), ..mi300 };
    assert_eq!(adopt(&later, &checkout.0, false).unwrap().rows, 2);
    let rows = read_observations(&checkout.table()).unwrap();
    assert_eq!(rows.iter().filter(|row| row.rule == failing || row.rule == unseen).count(), 3);
}

/// A time measured on one GPU becomes the row of its instruction set, which the timed mode then uses; the rows of other sets are unchanged.
#[test]
fn a_measured_time_becomes_a_row() {
    let checkout = Checkout::new("timed");
    let path = checkout.0.join(TIMING);
    let of = |target: Target| {
        let mut config = gcn_sim::timed::Config::default();
        config.read(&fs::read_to_string(&path).unwrap(), target).unwrap();
        let of_issue = config.overrides.into_iter().find(|(name, _)| name == "issue.interval");
        of_issue.map(|(_, value)| value).unwrap()
    };
    let before = [Target::GFX90A, Target::GFX942].map(of);
    let parameter = serde_json::json!({ "name": "issue.interval", "unit": "cycles", "measured": "9", "table": "4",
        "grade": "assumed", "range": null, "fit": "differs", "message": "" });
    let clock = serde_json::json!({ "totals": {}, "parameters": [parameter], "curves": [] });
    let timed = Report {
        clock: Some(serde_json::from_value(clock).unwrap()),
        waits: None,
        ..report("a GPU", false, &[])
    };
    let adopted = adopt(&timed, &checkout.0, false).unwrap();
    let changes: Vec<String> = adopted.timing.iter().map(ToString::to_string).collect();
    assert_eq!((adopted.rows, changes), (0, vec![format!("issue.interval: {} -> 9", before[1])]));
    assert_eq!([Target::GFX90A, Target::GFX942].map(of), [before[0].clone(), "9".to_owned()]);
    let text = fs::read_to_string(&path).unwrap();
    let source = "measured\tgcn probe: a GPU, HIP 7.1.25424, amdgpu 6.14.14, 2026-11-29";
    assert!(
        text.lines().any(|line| line.starts_with("issue.interval\tgfx942\t9\t") && line.ends_with(source)),
        "{text}"
    );
    assert_eq!(adopt(&timed, &checkout.0, false).unwrap().timing, []);
}

#[test]
fn what_proves_nothing_is_refused() {
    let checkout = Checkout::new("refused");
    let [failing, unmeasured] = cautious();
    let simulated = report("AMD Instinct MI300X", true, &[(failing, "equal", Some(2))]);
    let before = checkout.table();
    let error = adopt(&simulated, &checkout.0, false).unwrap_err();
    assert!(error.contains("made by the simulator") && error.contains("--simulated"), "{error}");
    let nothing = report("a GPU", false, &[(unmeasured, "not_measured", None)]);
    let error = adopt(&Report { waits: None, ..nothing }, &checkout.0, false).unwrap_err();
    assert!(error.contains("gcn probe waits clock"), "{error}");
    assert_eq!(checkout.table(), before);
    let elsewhere = report("a GPU", false, &[(failing, "equal", Some(2))]);
    let error = adopt(&elsewhere, &checkout.0.join("src"), false).unwrap_err();
    assert!(error.contains("observed.tsv"), "{error}");
    assert_eq!(adopt(&simulated, &checkout.0, true).unwrap().grades.len(), 1);
}

/// A report about each rule and each parameter of a target is adopted, and the tables are as the tests of the crates that own them ask: each
/// line is read, each target has each parameter once, and a second report finds nothing to change.
#[test]
fn the_readers_of_the_tables_accept_what_was_adopted() {
    let checkout = Checkout::new("read");
    let before = fs::read_to_string(checkout.0.join(TIMING)).unwrap();
    for target in [Target::GFX942, Target::GFX1100, Target::GFX1201] {
        let rules: Vec<&str> = all().map(|rule| rule.id).collect();
        let rules: Vec<_> = rules.iter().map(|rule| (*rule, "equal", Some(2))).collect();
        let parameters = parameters(target).into_iter().map(|p| {
            serde_json::json!({ "name": p.name, "unit": p.unit, "measured": p.value, "table": p.value, "grade": "assumed",
                "range": null, "fit": "equal", "message": "" })
        });
        let clock =
            serde_json::json!({ "totals": {}, "parameters": parameters.collect::<Vec<_>>(), "curves": [] });
        let mut whole = report("a GPU", false, &rules);
        whole.header.gpu.target_id = format!("{target}:xnack-");
        whole.clock = Some(serde_json::from_value(clock).unwrap());
        let adopted = adopt(&whole, &checkout.0, false).unwrap();
        assert!(adopted.rows > 50 && adopted.timing.len() > 50, "{adopted:?}");
        let again = adopt(&whole, &checkout.0, false).unwrap();
        assert_eq!((again.rows, again.grades.len(), again.timing.len()), (0, 0, 0));
    }
    let rows = read_observations(&checkout.table()).unwrap();
    assert!(
        rows.is_sorted()
            && rows.iter().all(|row| facts(&row.rule).is_some() && row.target.parse::<Target>().is_ok())
    );
    let after = fs::read_to_string(checkout.0.join(TIMING)).unwrap();
    let values = |table: &str, target: Target| {
        let mut config = gcn_sim::timed::Config::default();
        config.read(table, target).unwrap();
        config.overrides
    };
    for target in Target::KNOWN {
        let [mut old, mut new] = [&before, &after].map(|table| values(table, target));
        old.sort();
        new.sort();
        assert_eq!(old, new, "{target}");
        assert!(new.windows(2).all(|pair| pair[0].0 != pair[1].0), "{target}");
    }
    for line in after.lines().filter(|line| !line.starts_with('#')).skip(1) {
        // Only an assumed value has a range.
        let assumed = line.split('\t').nth(4) == Some("assumed");
        assert_eq!(line.split('\t').count(), 6 + usize::from(assumed), "{line}");
    }
}
