//! Writes measured parameters into the table of the timed mode.

use std::fmt;

use gcn_isa::TargetSet;
use gcn_isa::target::InstructionSet;
use gcn_sim::timed::{Grade, measured_row};

/// The checkout's table of timing parameters.
pub const TIMING: &str = "gcn-sim/data/timing.tsv";

/// A parameter whose value changes, or whose source becomes better.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    /// Its name.
    pub name: String,
    /// The value before.
    pub before: String,
    /// The value now.
    pub after: String,
}

impl fmt::Display for Changed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Changed { name, before, after } = self;
        if before == after {
            write!(f, "{name}: {after}, now measured")
        } else {
            write!(f, "{name}: {before} -> {after}")
        }
    }
}

/// The indices of columns in [`COLUMNS`](gcn_sim::timed::COLUMNS).
const NAME: usize = 0;
const TARGETS: usize = 1;
const VALUE: usize = 2;
const UNIT: usize = 3;
const GRADE: usize = 4;

/// The table with these parameter values for one instruction set. A row that covers several sets is split, so that the other sets keep
/// their values. Measured names that the table lacks are ignored.
pub fn with_measured(
    table: &str,
    set: InstructionSet,
    measured: &[(String, String)],
    source: &str,
) -> (String, Vec<Changed>) {
    let mut lines: Vec<String> = table.lines().map(str::to_owned).collect();
    let mut changed = Vec::new();
    for (name, value) in measured {
        let cells = |line: &String| line.split('\t').map(str::to_owned).collect::<Vec<_>>();
        let is_named = |line: &String| !line.starts_with('#') && cells(line)[NAME] == *name;
        let sets = |line: &String| cells(line).get(TARGETS)?.parse::<TargetSet>().ok();
        let own = |line: &String| is_named(line) && sets(line).is_some_and(|sets| sets.has(set));
        // The row that applies to the set: its own, or that of the set whose values it uses, or the row for all sets.
        let stands = |line: &String| {
            is_named(line) && sets(line).map_or_else(|| true, |sets| sets.has(set.measured_as()))
        };
        let Some(at) = lines.iter().position(own).or_else(|| lines.iter().rposition(stands)) else {
            continue;
        };
        let row = cells(&lines[at]);
        let [Some(before), Some(unit), Some(grade)] = [VALUE, UNIT, GRADE].map(|column| row.get(column))
        else {
            continue;
        };
        if before == value && *grade == Grade::Measured.to_string() {
            continue;
        }
        changed.push(Changed { name: name.clone(), before: before.clone(), after: value.clone() });
        let new = measured_row(name, set, value, unit, source);
        let others: Vec<&str> = match sets(&lines[at]).filter(|sets| sets.has(set)) {
            Some(sets) => sets.iter().filter(|other| *other != set).map(InstructionSet::name).collect(),
            None => vec![row[TARGETS].as_str()],
        };
        if others.is_empty() {
            lines[at] = new;
            continue;
        }
        let mut rest = row.clone();
        rest[TARGETS] = others.join("+");
        lines[at] = rest.join("\t");
        lines.insert(at + 1, new);
    }
    (lines.join("\n") + "\n", changed)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "name\ttarget\tvalue\tunit\tgrade\tsource\trange\n# A remark\tall\n\
        a.time\t..gfx942\t4\tcycles\tassumed\ta guess\t2..8\na.time\tgfx950\t5\tcycles\tmeasured\tsomebody\n\
        b.time\tall\t7\tcycles\tmanual\ta book\n";

    fn rows(table: &str, name: &str) -> Vec<(Vec<&'static str>, String, String)> {
        let rows = table.lines().filter(|line| line.starts_with(name));
        rows.map(|line| {
            let cells: Vec<&str> = line.split('\t').collect();
            let sets = cells[TARGETS]
                .parse::<TargetSet>()
                .map(|sets| sets.iter().map(InstructionSet::name).collect());
            (sets.unwrap_or_default(), cells[VALUE].to_owned(), cells[GRADE..].join("|"))
        })
        .collect()
    }

    #[test]
    fn columns_are_those_of_the_table() {
        let named = [NAME, TARGETS, VALUE, UNIT, GRADE].map(|column| gcn_sim::timed::COLUMNS[column]);
        assert_eq!(named, ["name", "target", "value", "unit", "grade"]);
        assert!(TABLE.starts_with(&gcn_sim::timed::COLUMNS.join("\t")));
    }

    #[test]
    fn a_row_for_several_is_divided_and_others_keep_theirs() {
        let set = gcn_isa::Target::GFX942.instruction_set();
        let measured = [("a.time", "6"), ("b.time", "7"), ("c.time", "8")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()));
        let (table, changed) = with_measured(TABLE, set, &measured, "an MI300X, HIP 7.1, 2026-11-29");
        let names: Vec<_> =
            changed.iter().map(|c| (c.name.as_str(), c.before.as_str(), c.after.as_str())).collect();
        assert_eq!(names, [("a.time", "4", "6"), ("b.time", "7", "7")]);
        let of_a = rows(&table, "a.time");
        assert!(!of_a[0].0.contains(&"gfx942") && of_a[0].0.contains(&"gfx90a"), "{of_a:?}");
        assert_eq!((&of_a[0].1[..], &of_a[0].2[..]), ("4", "assumed|a guess|2..8"));
        let own = (vec!["gfx942"], "6".to_owned(), "measured|an MI300X, HIP 7.1, 2026-11-29".to_owned());
        assert_eq!(of_a[1], own);
        assert_eq!(of_a[2].0, ["gfx950"]);
        let of_b = rows(&table, "b.time");
        assert_eq!((of_b.len(), of_b[1].0.clone()), (2, vec!["gfx942"]));
        // Applying the same values again changes nothing.
        let (again, changed) = with_measured(&table, set, &measured, "another day");
        assert_eq!((again, changed.len()), (table, 0));
        // If the set already has its own row, the value in that row is replaced.
        let set = gcn_isa::Target::GFX950.instruction_set();
        let (table, _) = with_measured(TABLE, set, &[("a.time".to_owned(), "9".to_owned())], "an MI350X");
        assert_eq!(rows(&table, "a.time")[1].1, "9");
        assert_eq!(rows(&table, "a.time").len(), 2);
    }
}
