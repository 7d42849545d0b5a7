//! Rules of memory instructions: data of wide stores, clauses under XNACK.

use super::evidence::{Evidence, Voice};
use super::rule::{Condition, Link, Overlap, Rule, WaitStates, cite, on};
use super::view::{Kinds, Role};

const ONE: WaitStates = WaitStates::Const(1);
const TWO: WaitStates = WaitStates::Const(2);

const WIDE: Condition = Condition::any(Kinds::WIDE_STORE).but(Kinds::SGPR_OFFSET);
const OVERWRITES_DATA: Link =
    Link::Registers { first: Role::STORE_DATA, second: Role::VDST, overlap: Overlap::Any };

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "cdna3.8",
        title: "a store or atomic of more than 64 bits, then a load over its data",
        cite: cite::TABLE_11,
        first: WIDE,
        second: Condition::any(Kinds::MEMORY),
        link: OVERWRITES_DATA,
        need: &[(on::ALL, ONE)],
        evidence: Evidence::of(Voice::Moot, Voice::Less).rocroller(Voice::Moot),
        xnack: false,
        note: "by its words the case holds for whatever writes the data, but no load returns in one cycle; LLVM looks at vector ALU writers only",
    },
    Rule {
        id: "cdna3.9",
        title: "a store or atomic of more than 64 bits, then a vector ALU instruction over its data",
        cite: cite::TABLE_11,
        first: WIDE,
        second: Condition::any(Kinds::ANY_VALU),
        link: OVERWRITES_DATA,
        need: &[(on::UP_TO_GFX90A, ONE), (on::GFX940, TWO)],
        evidence: Evidence::AGREED.rocroller(Voice::Agrees),
        xnack: false,
        note: "",
    },
    Rule {
        id: "llvm.9.sgpr-offset",
        title: "a buffer store of more than 64 bits with an SGPR as offset, then a vector ALU instruction over its data",
        cite: "LLVM pull requests 197267 and 203770",
        first: Condition { any: Kinds::WIDE_STORE, none: Kinds::empty() },
        second: Condition::any(Kinds::ANY_VALU),
        link: OVERWRITES_DATA,
        need: &[(on::GFX940, ONE)],
        evidence: Evidence::of(Voice::Less, Voice::Less).rocroller(Voice::Less),
        xnack: false,
        note: "the manual exempts an SGPR offset, which was seen to fail on hardware",
    },
    Rule {
        id: "xnack.clause",
        title: "memory instructions of one clause of which one writes what the other reads, or the second stores",
        cite: cite::LLVM,
        first: Condition::any(Kinds::LOADS),
        second: Condition::any(Kinds::VMEM.union(Kinds::SMEM)),
        link: Link::Clause { window: 64 },
        need: &[(on::ALL, ONE)],
        evidence: Evidence::LLVM,
        xnack: true,
        note: "adjacent scalar memory instructions form a clause, adjacent vector memory instructions do; a page fault \
               replays all of it. Any other instruction ends it",
    },
];
