//! Generates the page `docs/memory-model.md` from the tables.

use std::fmt::{self, Write};

use super::{DIFFERENCES, ERRATA, Mode, Operation, Row, Scope, Sequence, Space, TABLES, Table, sequence};

const INTRODUCTION: &str = "\
# The memory model

For people who use atomics and fences in kernels, or who emit code for them. This page lists the machine instructions of every atomic
operation and every fence, for each ordering, scope and address space. The code sequences are those of the LLVM AMDGPU guide (LLVM 17) and,
for RDNA, those that LLVM 22's memory legalizer emits. `gcn_isa::memory_model` holds them as data, from which this page is written:
`GCN_BLESS=1 cargo test -p gcn-isa-tests memory_model`.

In a kernel, atomics and fences look like this:

```rust
x.atomic(i).store(value, Scope::Agent, Ordering::Release);   // x: &mut [T], *mut T or an LDS array
let seen = x.atomic(i).load(Scope::Agent, Ordering::Acquire);
let old = x.atomic(i).fetch_add(1, Scope::Workgroup, Ordering::Relaxed);
fence(Scope::System, Ordering::AcqRel);
```

An ordering that an operation cannot have does not compile: a load that releases, a store that acquires, a relaxed fence.

## How to read the tables

| in the tables | meaning |
|---|---|
| ordering | Rust's orderings under LLVM's names: `monotonic` is Rust's `Relaxed` |
| scope | LLVM's `syncscope`: `wavefront` (with the same sequences as `singlethread`), `workgroup`, `agent` or `system`. In LDS, a scope wider \
than the workgroup means the workgroup |
| address space | `global` is memory, `local` is LDS, `generic` is a FLAT access, which may go to either |
| `load`, `store`, `atomic` | the access itself, followed by its cache bits. The bit by which a read-modify-write returns the old value (`glc`, `sc0`) is not shown |
| `atomicrmw` | a read-modify-write. On RDNA one that returns the old value counts as a load and any other one as a store; their waits differ, so the tables have both forms |
| Code | the code in the *normal mode*, for which kernels are built. On RDNA this is CU mode, in which a workgroup runs on one compute unit |
| TgSplit | the code if a workgroup's waves may run on several compute units; `-` if it is the same as in the normal mode |
| WGP mode | the code if a workgroup runs on two compute units with separate caches (RDNA); `-` if it is the same as in the normal mode |
| `no LDS` | in TgSplit mode a workgroup has no LDS, so the operation does not exist |

The sequences assume one happens-before relation for all address spaces, as HSA defines it. So they include the waits that the guide omits
for OpenCL. They do not include waits for registers, which the wait inserter adds.

## Barriers

`barrier()` consists of three parts, as HIP's `__syncthreads` does: `fence(Scope::Workgroup, Ordering::AcqRel)`, `s_barrier`, and the same
fence again. So every access of a wave to LDS, loads included, is complete before any wave continues after the barrier.

The fences are necessary. Without them, a load from LDS could return a value that another wave stores after the barrier: a compute unit has
several queues to LDS, and operations of different waves in different queues can be reordered. Only `s_waitcnt lgkmcnt(0)` orders them,
according to the guide, on each of the targets in this table:

| access before `s_barrier` | gfx900, gfx906, gfx908 | gfx90a, gfx942, gfx950 |
|---|---|---|
| loads from LDS, stores to it, its atomics, FLAT accesses | complete | complete: the fence waits for lgkmcnt |
| copies from global memory directly to LDS | complete | complete: the fence waits for vmcnt |
| other accesses to global memory | complete: `s_barrier` needs every counter at 0 | may be outstanding: the waves of a workgroup share a compute \
unit and its vector cache (no TgSplit) |
| scalar loads, and exchanges between lanes (`ds_bpermute_b32` and similar) | complete | may be outstanding: no wave writes what they read |

Three things are not needed at a barrier:

- Invalidating a cache. At workgroup scope the waves share the caches.
- The wait before `s_barrier`, if an earlier instruction has already waited, for example for a loaded value. It is then omitted.
- A wait in the second fence, since no access that it orders is outstanding after `s_barrier`.

`barrier_with_reads_pending()` does not wait for loads from LDS. It is for code in which no wave writes the LDS being read before the next
barrier, for example code that uses three buffers in turn. `gcn sim --sanitize races` reports code in which a wave does.
";

/// The text of the page.
pub fn page() -> String {
    let mut out = String::from(INTRODUCTION);
    // Writing to a string cannot fail.
    _ = write_page(&mut out);
    out
}

fn write_page(out: &mut String) -> fmt::Result {
    for table in &TABLES {
        write_table(out, table)?;
    }
    writeln!(out, "\n## Where LLVM 22 differs from the guide\n")?;
    writeln!(
        out,
        "The tables above follow the guide. This table lists every combination and target for which LLVM 22.1.8's memory legalizer emits other code.\n"
    )?;
    writeln!(out, "| Where | Guide, and here | LLVM |\n|---|---|---|")?;
    for d in DIFFERENCES {
        writeln!(out, "| {} | {} | {} |", d.place, d.guide, d.llvm)?;
    }
    writeln!(
        out,
        "\nAfter the legalizer has run, LLVM 22.1.8 removes the wait between `buffer_wbl2` and the access that it releases if no \
         store is outstanding there (LLVM pull request 178316). This project keeps every wait of a sequence."
    )?;
    writeln!(out, "\n## Where the guide contradicts itself or is silent\n")?;
    writeln!(out, "| Rows | Printed | Taken, and why |\n|---|---|---|")?;
    ERRATA.iter().try_for_each(|e| writeln!(out, "| {} | {} | {} |", e.rows, e.printed, e.taken))
}

fn write_table(out: &mut String, table: &Table) -> fmt::Result {
    let targets: Vec<&str> = table.targets.targets().map(crate::Target::name).collect();
    writeln!(out, "\n## {} ({})\n", table.section, targets.join(", "))?;
    let (title, rule) = match other_mode(table) {
        Some((_, title)) => (format!(" {title} |"), "---|"),
        None => (String::new(), ""),
    };
    writeln!(out, "| Operation | Ordering | Scope | Address space | Code |{title}")?;
    writeln!(out, "|---|---|---|---|---|{rule}")?;
    for row in table.rows {
        write_row(out, table, row)?;
    }
    Ok(())
}

/// The mode of a table other than the normal one, and its name; `None` if the table has only the normal mode.
fn other_mode(table: &Table) -> Option<(Mode, &'static str)> {
    let wgp = table.targets.iter().any(crate::InstructionSet::has_workgroup_processors);
    match (table.tg_split, wgp) {
        (true, _) => Some((Mode::TgSplit, "TgSplit")),
        (false, true) => Some((Mode::Wgp, "WGP mode")),
        (false, false) => None,
    }
}

/// Scopes and address spaces with their code in the normal mode and in the other mode.
type Codes = (Vec<Scope>, Vec<Space>, String, String);

/// Writes a row: one line for each distinct code of the row's scopes and address spaces. There is only one, except for "same as
/// corresponding".
fn write_row(out: &mut String, table: &Table, row: &Row) -> fmt::Result {
    let spaces = if row.operation == Operation::Fence { &[Space::Generic] } else { row.spaces };
    let mut lines: Vec<Codes> = Vec::new();
    for &scope in row.scopes {
        for &space in spaces {
            // A scope wider than the workgroup in LDS belongs to another row.
            if space == Space::Local && scope > Scope::Workgroup {
                continue;
            }
            let normal = code(table, row, Mode::Normal, scope, space);
            let other = other_mode(table).map_or(Mode::Normal, |mode| mode.0);
            let split = code(table, row, other, scope, space);
            match lines.iter_mut().find(|l| l.0 == [scope] && l.2 == normal && l.3 == split) {
                Some((_, spaces, ..)) => spaces.push(space),
                None => lines.push((vec![scope], vec![space], normal, split)),
            }
        }
    }
    let lines = merged(lines);
    for (scopes, spaces, normal, split) in lines {
        let scopes: Vec<&str> = scopes.iter().map(|s| s.name()).collect();
        let spaces: Vec<&str> = spaces.iter().map(|s| s.name()).collect();
        let spaces = if row.operation == Operation::Fence { String::new() } else { spaces.join(", ") };
        let (operation, ordering) = (row.operation.name(), row.ordering.name());
        write!(out, "| {operation} | {ordering} | {} | {spaces} | {normal} |", scopes.join(", "))?;
        if other_mode(table).is_some() {
            write!(out, " {} |", if split == normal { "-" } else { &split })?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// Merges scopes that have the same code in the same address spaces into one line.
fn merged(lines: Vec<Codes>) -> Vec<Codes> {
    let mut out: Vec<Codes> = Vec::new();
    for line in lines {
        match out.iter_mut().find(|o| (&o.1, &o.2, &o.3) == (&line.1, &line.2, &line.3)) {
            Some(same) => same.0.extend(line.0),
            None => out.push(line),
        }
    }
    out
}

fn code(table: &Table, row: &Row, mode: Mode, scope: Scope, space: Space) -> String {
    let target = table.targets.targets().next();
    let found = target.and_then(|t| sequence(t, mode, row.operation, row.ordering, scope, space));
    match found.as_ref().map(Sequence::to_string) {
        Some(text) if text.is_empty() => "nothing".to_owned(),
        Some(text) => text.split("; ").map(|part| format!("`{part}`")).collect::<Vec<_>>().join("<br>"),
        None => "no LDS".to_owned(),
    }
}
