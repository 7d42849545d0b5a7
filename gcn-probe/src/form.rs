//! Selects the instruction forms of the table that the suite `values` runs. Each form that is left out has a rule as the reason.

use gcn_isa::Target;
use gcn_isa::table::{
    self, Access, Behaviours, Class, Format, ImplicitRegs, InstDesc, OperandDesc, OperandKinds, Unit,
};
use gcn_isa::target::Subtarget;

/// The size in dwords of the largest operand; each operand gets this many registers.
pub const MOST_DWORDS: u8 = 8;

/// An instruction form, in waves of one size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Form {
    /// The form's row in the instruction table.
    pub row: &'static InstDesc,
    /// The target and the wave size.
    pub on: Subtarget,
}

impl Form {
    /// The name in reports: the mnemonic with its suffix, the addressing form, the encoding if several have the same name, and the wave size
    /// on targets with several.
    pub fn name(self) -> String {
        let Form { row, on } = self;
        let alike = table::find(on, row.printed).filter(|other| other.form == row.form).count();
        let mut name = row.printed.to_owned();
        let encoding = if alike > 1 { row.format.name() } else { "" };
        for part in [row.form, encoding].into_iter().filter(|part| !part.is_empty()) {
            name = format!("{name} {part}");
        }
        match on.wave_sizes().len() {
            1 => name,
            _ => format!("{name} wave{}", on.wave.lanes()),
        }
    }

    /// All forms of `target`, by wave size, in the order of the table.
    pub fn all(target: Target) -> impl Iterator<Item = Form> {
        let sizes = target.wave_sizes().iter().filter_map(move |wave| Subtarget::new(target, *wave));
        sizes.flat_map(|on| table::rows_on(on).map(move |row| Form { row, on }))
    }
}

/// The forms of a target that run, and the others with the rule that excludes each.
#[derive(Debug)]
pub struct Forms {
    /// Forms that run.
    pub run: Vec<Form>,
    /// Excluded forms, each with the reason.
    pub left_out: Vec<(Form, &'static str)>,
}

impl Forms {
    /// The forms of `target`.
    pub fn of(target: Target) -> Forms {
        let mut forms = Forms { run: Vec::new(), left_out: Vec::new() };
        for form in Form::all(target) {
            match left_out(form.row) {
                None => forms.run.push(form),
                Some(rule) => forms.left_out.push((form, rule)),
            }
        }
        forms
    }
}

/// The rule that excludes a form, if there is one.
fn left_out(row: &InstDesc) -> Option<&'static str> {
    let only = |kind: OperandKinds| {
        let files = OperandKinds::VGPR | OperandKinds::AGPR | OperandKinds::SGPR;
        row.operands.iter().any(|operand| operand.kinds & files == kind)
    };
    let addressed = is_addressed(row);
    let rules = [
        (row.multiplies_matrices(), "a matrix instruction, which the suite `matrix` runs"),
        (
            row.class.is_boundary() || row.ends_block() || row.branch_operand().is_some(),
            "controls the wave, its mode or caches, or reads a clock",
        ),
        (
            row.does(Behaviours::CALLS)
                || row.does(Behaviours::TO_REGISTER)
                || row.does(Behaviours::READS_PC),
            "goes to an address, or gives one",
        ),
        (row.does(Behaviours::SKIPS_VECTOR), "chooses whether vector instructions are skipped"),
        (row.format.unit() == Unit::ScalarMemory, "accesses memory through the scalar cache"),
        (
            row.format.is_buffer() || row.format == Format::VImage,
            "needs the resource of a buffer or an image",
        ),
        (matches!(row.format, Format::Scratch | Format::VScratch), "accesses scratch memory"),
        (
            matches!(row.class, Class::GlobalLoadLds | Class::VmemLoadLds) || row.default_mods().lds,
            "loads into LDS at the address in M0",
        ),
        (
            row.class.is_async_copy() || row.class == Class::AsyncArrive,
            "copies between memory and LDS by itself, with counters of its own",
        ),
        (row.class == Class::LdsBvh, "its address is an entry of a traversal stack"),
        (row.class == Class::VmemPrefetch, "has no result"),
        (row.class == Class::BarrierState, "reads the state of a barrier"),
        (
            row.does(Behaviours::LDS_BASE_IN_M0)
                || !row.is_ds() && row.implicit_reads.contains(ImplicitRegs::M0),
            "M0 is a part of the address or chooses a register",
        ),
        (
            row.entry.is_packed() && (row.default_mods().dpp.is_some() || row.default_mods().sdwa.is_some()),
            "DPP or SDWA with packed operands: no manual says what it does",
        ),
        (row.does(Behaviours::STRIDE_64), "its two addresses are too far apart for blocks of lanes"),
        (only(OperandKinds::AGPR), "an operand can only be an AGPR"),
        (
            addressed && row.operand_index("vaddr").is_none()
                || row.is_ds() && row.operand_index("addr").is_none(),
            "the address is not one of each lane's",
        ),
        (row.operands.iter().any(|o| o.dwords > MOST_DWORDS), "an operand is wider than eight dwords"),
        (
            row.operands.iter().any(|o| !has_place(o)),
            "an operand is neither a register of its own nor a constant",
        ),
    ];
    rules.into_iter().find_map(|(applies, rule)| applies.then_some(rule))
}

/// True if the generator can produce an operand for this slot.
fn has_place(operand: &OperandDesc) -> bool {
    let kinds = operand.kinds;
    let registers = kinds.intersects(OperandKinds::VGPR | OperandKinds::HALF_VGPR | OperandKinds::SGPR);
    let special = ["vcc_lo", "vcc", "exec_lo", "exec"].iter().any(|name| operand.allows_special(name));
    let constant = kinds.intersects(
        OperandKinds::IMM
            | OperandKinds::LITERAL
            | OperandKinds::LITERAL16
            | OperandKinds::LITERAL64
            | OperandKinds::INLINE_INT
            | OperandKinds::OFF,
    );
    registers || special || operand.access == Access::Read && constant
}

/// True for an access to memory at an address of each lane.
pub(crate) fn is_addressed(row: &InstDesc) -> bool {
    matches!(row.format, Format::Flat | Format::Global | Format::VFlat | Format::VGlobal)
}
