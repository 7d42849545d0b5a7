//! Writes the assembly file.

mod code;
mod sections;

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use super::names::written;
use super::{Disassembly, Options};
use crate::metadata::Metadata;
use crate::object::{Binding, CodeObject, KernelCode, SymbolKind, SymbolPlace, SymbolView, Visibility};

/// Writes the file from top to bottom.
pub(super) struct Printer<'p, 'd> {
    object: &'p CodeObject<'d>,
    disassembly: &'p Disassembly<'p, 'd>,
    options: &'p Options<'p>,
    /// The only kernel to be written, if one is selected.
    only: Option<&'p KernelCode<'d>>,
    /// The symbols that have been defined in the output, since a name can be defined only once.
    defined: HashSet<&'p str>,
    /// Numbers of the kernels.
    kernels: HashMap<&'d str, usize>,
    out: String,
}

impl<'p, 'd> Printer<'p, 'd> {
    pub(super) fn new(
        object: &'p CodeObject<'d>,
        disassembly: &'p Disassembly<'p, 'd>,
        options: &'p Options<'p>,
    ) -> Printer<'p, 'd> {
        let only = options.kernel.and_then(|name| object.kernel(name));
        let size: usize = disassembly.sections.iter().map(|s| s.bytes.len()).sum();
        // A line has about five times as many bytes as its instruction.
        let out = String::with_capacity(size.saturating_mul(5));
        let kernels =
            object.kernels.iter().enumerate().map(|(number, kernel)| (kernel.name, number)).collect();
        Printer { object, disassembly, options, only, defined: HashSet::new(), kernels, out }
    }

    pub(super) fn file(mut self) -> String {
        let _ = writeln!(self.out, "\t.amdgcn_target \"{}\"", self.object.target_id.triple());
        // The assemblers do not support V3, whose descriptors and code are the same as in V4.
        let version = self.object.abi_version.clamp(2, 4) + 2;
        let _ = writeln!(self.out, "\t.amdhsa_code_object_version {version}");
        match (self.options.kernel, self.only) {
            (None, _) => self.everything(),
            (Some(_), Some(kernel)) => self.one_kernel(kernel),
            (Some(name), None) => {
                let _ = writeln!(self.out, "; the object has no kernel {name:?}");
            }
        }
        self.out
    }

    fn everything(&mut self) {
        for symbol in &self.object.symbols {
            self.unplaced(symbol);
        }
        let mut descriptors = HashSet::new();
        for section in &self.disassembly.sections {
            self.code_section(section, 0, section.bytes.len() as u64);
        }
        for (number, section) in self.object.sections.iter().enumerate() {
            self.data_section(number, section, &mut descriptors);
        }
        let rest = self.object.kernels.iter().enumerate().filter(|(i, _)| !descriptors.contains(i));
        let rest: Vec<_> = rest.map(|(_, kernel)| kernel).collect();
        if !rest.is_empty() {
            self.out.push_str("\n\t.section .rodata,\"a\",@progbits\n");
        }
        for kernel in rest {
            self.descriptor(kernel);
        }
        if let Some(metadata) = &self.object.metadata {
            self.metadata(metadata);
        }
    }

    fn one_kernel(&mut self, kernel: &'p KernelCode<'d>) {
        let section = self.disassembly.sections.iter().find(|s| Some(s.number) == kernel.section);
        if let Some(section) = section {
            let from = kernel.address.wrapping_sub(section.address);
            self.code_section(section, from, from.saturating_add(kernel.code.len() as u64));
        }
        self.out.push_str("\n\t.section .rodata,\"a\",@progbits\n");
        self.descriptor(kernel);
        if let (Some(metadata), Some(own)) = (&self.object.metadata, &kernel.metadata) {
            self.metadata(&Metadata { kernels: vec![own.clone()], ..metadata.clone() });
        }
    }

    fn metadata(&mut self, metadata: &Metadata) {
        self.out.push_str("\n\t.amdgpu_metadata\n");
        self.out.push_str(&metadata.to_yaml());
        self.out.push_str("\t.end_amdgpu_metadata\n");
    }

    /// Writes a symbol that is not in a section: a number, or LDS.
    fn unplaced(&mut self, symbol: &'p SymbolView<'d>) {
        let Some(name) = written(symbol.name) else { return };
        let is_own = matches!(symbol.place, SymbolPlace::Absolute | SymbolPlace::Lds)
            && !matches!(symbol.kind, SymbolKind::File | SymbolKind::Section);
        if !is_own || !self.defined.insert(symbol.name) {
            return;
        }
        self.binding(symbol, &name);
        let _ = match symbol.place {
            SymbolPlace::Lds => {
                let align = symbol.address.clamp(1, 1 << 16);
                writeln!(self.out, "\t.amdgpu_lds {name}, {}, {align}", symbol.size)
            }
            _ => writeln!(self.out, "\t.set {name}, {:#x}", symbol.address),
        };
    }

    /// Defines a symbol at the current position.
    fn define(&mut self, symbol: &'p SymbolView<'d>) {
        if matches!(symbol.kind, SymbolKind::File | SymbolKind::Section) {
            return;
        }
        let Some(name) = written(symbol.name) else {
            let _ = writeln!(self.out, "; here is a symbol whose name cannot be written: {:?}", symbol.name);
            return;
        };
        if !self.defined.insert(symbol.name) {
            let _ = writeln!(self.out, "; here is a second symbol {name}");
            return;
        }
        self.binding(symbol, &name);
        let kind = match symbol.kind {
            SymbolKind::Function => Some("function"),
            SymbolKind::Object => Some("object"),
            _ => None,
        };
        if let Some(kind) = kind {
            let _ = writeln!(self.out, "\t.type {name},@{kind}");
        }
        let _ = writeln!(self.out, "{name}:");
        if symbol.size > 0 {
            let _ = writeln!(self.out, "\t.size {name}, {}", symbol.size);
        }
    }

    fn binding(&mut self, symbol: &SymbolView<'_>, name: &str) {
        let binding = match symbol.binding {
            Binding::Local => None,
            Binding::Global => Some("globl"),
            Binding::Weak => Some("weak"),
        };
        let visibility = match symbol.visibility {
            Visibility::Default => None,
            Visibility::Internal => Some("internal"),
            Visibility::Hidden => Some("hidden"),
            Visibility::Protected => Some("protected"),
        };
        for directive in [binding, visibility].into_iter().flatten() {
            let _ = writeln!(self.out, "\t.{directive} {name}");
        }
    }
}
