//! A kernel's signature, its arguments in the kernarg segment, and the packing of host values into it.
//!
//! Layout: arguments in order; a scalar at its natural alignment but at least 4 bytes (narrower values are extended to 4);
//! a slice is an 8-byte pointer, then its length in elements as u32; a pointer is 8 bytes. The segment is a multiple of 8.

use gcn_isa::target::WaveSize;
use gcn_isa::{Target, TargetSet};

use crate::ir::{Bin, Inst, Type};
use crate::lang::memory::layout::{Stored, taken};
use crate::lang::memory::slice::{Ptr, ReadOnly, Slice, Writable};
use crate::lang::{S, with};
use crate::scalar::{Elem, Scalar, UnknownVariant};

/// The arguments and the build settings of a `gcn_kernel!` kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signature {
    /// Symbol name; const generic arguments are part of it (`gemm_128_64`).
    pub name: String,
    /// Workgroup size.
    pub workgroup: [u32; 3],
    /// Targets for which the kernel is written; every target if none were named.
    pub targets: TargetSet,
    /// The limits on registers.
    pub registers: RegisterLimits,
    /// `#[wave(…)]`: the size of waves.
    pub wave: Option<WaveSize>,
    /// `#[contract]`: products and sums may round once.
    pub contract: bool,
    /// Arguments in order.
    pub args: Vec<SignatureArg>,
}

/// `#[max_registers(…)]` and `#[min_occupancy(…)]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RegisterLimits {
    /// Most VGPRs.
    pub vgprs: Option<u32>,
    /// Most SGPRs, VCC and the like not counted.
    pub sgprs: Option<u32>,
    /// Most AGPRs.
    pub agprs: Option<u32>,
    /// Least waves per SIMD.
    pub min_occupancy: Option<u32>,
    /// Most bytes of LDS that a workgroup may use for spilled values; none if not given.
    pub lds_spill: Option<u32>,
}

impl RegisterLimits {
    /// These limits; those that `other` gives take precedence.
    #[must_use]
    pub fn replaced_by(self, other: RegisterLimits) -> RegisterLimits {
        RegisterLimits {
            vgprs: other.vgprs.or(self.vgprs),
            sgprs: other.sgprs.or(self.sgprs),
            agprs: other.agprs.or(self.agprs),
            min_occupancy: other.min_occupancy.or(self.min_occupancy),
            lds_spill: other.lds_spill.or(self.lds_spill),
        }
    }
}

/// An argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignatureArg {
    /// Name.
    pub name: &'static str,
    /// The kind of argument.
    pub kind: SignatureArgKind,
    /// Element type; of a struct or an array `u8`.
    pub elem: Elem,
    /// The number of values of that type in an element of memory.
    pub count: u32,
    /// Byte offset in the kernarg segment.
    pub offset: u32,
}

/// Kinds of argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignatureArgKind {
    /// A scalar by value.
    Value,
    /// `&[T]`.
    Slice,
    /// `&mut [T]`.
    SliceMut,
    /// `*const T`.
    Pointer,
    /// `*mut T`.
    PointerMut,
}

impl SignatureArgKind {
    fn layout(self, elem: Elem) -> (u32, u32) {
        match self {
            SignatureArgKind::Value => (elem.bytes().max(4), elem.bytes().max(4)),
            SignatureArgKind::Slice | SignatureArgKind::SliceMut => (12, 8),
            SignatureArgKind::Pointer | SignatureArgKind::PointerMut => (8, 8),
        }
    }
}

/// Places arguments one after the other.
#[derive(Debug, Clone, Copy, Default)]
struct Layout {
    end: u32,
}

impl Layout {
    fn place(&mut self, kind: SignatureArgKind, elem: Elem) -> u32 {
        let (size, align) = kind.layout(elem);
        let offset = self.end.next_multiple_of(align);
        self.end = offset + size;
        offset
    }
}

/// The type of an element of memory, and the number of values of that type in it.
fn element<T: Stored>() -> (Elem, u32) {
    let elem = <T as Stored>::ELEM;
    (elem, T::BYTES / elem.bytes())
}

impl Signature {
    /// A signature without arguments.
    pub fn new(name: &str, const_params: &[(&str, i128)], workgroup: [u32; 3]) -> Signature {
        let mut name = name.to_owned();
        for (_, value) in const_params {
            name.push('_');
            name.push_str(&value.to_string().replace('-', "m"));
        }
        Signature {
            name,
            workgroup,
            targets: TargetSet::ALL,
            registers: RegisterLimits::default(),
            wave: None,
            contract: false,
            args: Vec::new(),
        }
    }

    /// Makes a type that the kernel is generic over a part of the name, by the type's own name.
    #[must_use]
    pub fn of_type<T: ?Sized>(mut self) -> Signature {
        for word in
            std::any::type_name::<T>().split(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != ':')
        {
            if let Some(name) = word.rsplit("::").next().filter(|n| !n.is_empty()) {
                self.name.push('_');
                self.name.push_str(name);
            }
        }
        self
    }

    /// Makes a value that the kernel is built with a part of the name, so that instances have names of their own.
    #[must_use]
    pub fn host(mut self, value: &impl std::fmt::Debug) -> Signature {
        self.name.push('_');
        self.name.extend(format!("{value:?}").chars().filter_map(|c| match c {
            c if c.is_ascii_alphanumeric() => Some(c),
            '-' => Some('m'),
            '.' => Some('p'),
            ' ' | ',' | '_' => Some('_'),
            _ => None,
        }));
        self
    }

    /// Limits the kernel to targets by name. Unknown names were refused by the macro.
    #[must_use]
    pub fn targets(mut self, names: &[&str]) -> Signature {
        let named: Vec<Target> = names.iter().filter_map(|n| n.parse().ok()).collect();
        self.targets = TargetSet::of(&named);
        self
    }

    /// `#[max_registers(vgpr = n)]`.
    #[must_use]
    pub fn max_vgprs(mut self, n: u32) -> Signature {
        self.registers.vgprs = Some(n);
        self
    }

    /// `#[max_registers(sgpr = n)]`.
    #[must_use]
    pub fn max_sgprs(mut self, n: u32) -> Signature {
        self.registers.sgprs = Some(n);
        self
    }

    /// `#[max_registers(agpr = n)]`.
    #[must_use]
    pub fn max_agprs(mut self, n: u32) -> Signature {
        self.registers.agprs = Some(n);
        self
    }

    /// `#[max_registers(lds_spill = n)]`.
    #[must_use]
    pub fn max_lds_spill(mut self, bytes: u32) -> Signature {
        self.registers.lds_spill = Some(bytes);
        self
    }

    /// `#[min_occupancy(n)]`.
    #[must_use]
    pub fn min_occupancy(mut self, waves_per_simd: u32) -> Signature {
        self.registers.min_occupancy = Some(waves_per_simd);
        self
    }

    /// `#[wave(32)]` or `#[wave(64)]`. The macro refused other numbers.
    #[must_use]
    pub fn wave(mut self, lanes: u32) -> Signature {
        self.wave = WaveSize::of_lanes(lanes);
        self
    }

    /// `#[contract]`.
    #[must_use]
    pub fn contract(mut self) -> Signature {
        self.contract = true;
        self
    }

    fn arg(mut self, kind: SignatureArgKind, (elem, count): (Elem, u32), name: &'static str) -> Signature {
        let mut layout = self.layout();
        let offset = layout.place(kind, elem);
        self.args.push(SignatureArg { name, kind, elem, count, offset });
        self
    }

    fn layout(&self) -> Layout {
        let end = self.args.last().map_or(0, |a| a.offset + a.kind.layout(a.elem).0);
        Layout { end }
    }

    /// Adds a scalar.
    pub(in crate::lang) fn scalar<T: Scalar>(self, name: &'static str) -> Signature {
        self.arg(SignatureArgKind::Value, (T::ELEM, 1), name)
    }
    /// Adds `&[T]`.
    #[must_use]
    pub fn slice<T: Stored>(self, name: &'static str) -> Signature {
        self.arg(SignatureArgKind::Slice, element::<T>(), name)
    }
    /// Adds `&mut [T]`.
    #[must_use]
    pub fn slice_mut<T: Stored>(self, name: &'static str) -> Signature {
        self.arg(SignatureArgKind::SliceMut, element::<T>(), name)
    }
    /// Adds `*const T`.
    #[must_use]
    pub fn pointer<T: Stored>(self, name: &'static str) -> Signature {
        self.arg(SignatureArgKind::Pointer, element::<T>(), name)
    }
    /// Adds `*mut T`.
    #[must_use]
    pub fn pointer_mut<T: Stored>(self, name: &'static str) -> Signature {
        self.arg(SignatureArgKind::PointerMut, element::<T>(), name)
    }

    /// Bytes of the kernarg segment.
    pub fn kernarg_bytes(&self) -> u32 {
        self.layout().end.next_multiple_of(8)
    }
}

/// The slice. If it always ends with a whole dword, that is recorded: elements that are whole dwords may have narrow
/// parts.
fn whole_dwords<T: Stored, A>(slice: Slice<T, A>) -> Slice<T, A> {
    if <T as Stored>::ELEM.bytes() < 4 && T::BYTES.is_multiple_of(4) {
        with(|c| c.builder.whole_dwords(slice.resource));
    }
    slice
}

/// Hands a kernel's body its arguments, in order.
#[derive(Debug, Default)]
pub struct Arguments {
    layout: Layout,
}

impl Arguments {
    /// The next argument is a scalar.
    pub(in crate::lang) fn scalar<T: Scalar>(&mut self) -> S<T> {
        let offset = self.layout.place(SignatureArgKind::Value, T::ELEM);
        with(|c| {
            let of = |elem| Type::uniform(elem);
            if T::ELEM != Elem::Bool {
                let v = c.builder.value(Inst::KernArg { offset }, of(T::ELEM), None);
                // In memory a mask of lanes has 64 bits in both sizes of waves.
                let here = T::elem_in(c.wave);
                return S::from_value(match here == T::ELEM {
                    true => v,
                    false => c.builder.value(Inst::Cast(v), of(here), None),
                });
            }
            // Any nonzero byte is true; a condition in an SGPR is 0 or 1.
            let dword = Type::uniform(Elem::U32);
            let raw = c.builder.value(Inst::KernArg { offset }, dword, None);
            let one = c.builder.constant(1, dword);
            let bit = c.builder.value(Inst::Bin(Bin::And, raw, one), dword, None);
            let zero = c.builder.constant(0, dword);
            S::from_value(c.builder.value(Inst::Cmp(crate::ir::Pred::Ne, bit, zero), of(Elem::Bool), None))
        })
    }
    /// The next argument is `&[T]`.
    pub fn slice<T: Stored>(&mut self) -> Slice<T, ReadOnly> {
        let place = self.layout.place(SignatureArgKind::Slice, <T as Stored>::ELEM);
        whole_dwords(Slice::constant_from_kernarg(place))
    }
    /// The next argument is `&mut [T]`.
    pub fn slice_mut<T: Stored>(&mut self) -> Slice<T, Writable> {
        whole_dwords(Slice::from_kernarg(self.layout.place(SignatureArgKind::SliceMut, <T as Stored>::ELEM)))
    }
    /// The next argument is `*const T`.
    pub fn pointer<T: Stored>(&mut self) -> Ptr<T, ReadOnly> {
        Ptr::from_kernarg(self.layout.place(SignatureArgKind::Pointer, <T as Stored>::ELEM))
    }
    /// The next argument is `*mut T`.
    pub fn pointer_mut<T: Stored>(&mut self) -> Ptr<T, Writable> {
        Ptr::from_kernarg(self.layout.place(SignatureArgKind::PointerMut, <T as Stored>::ELEM))
    }
}

/// Receives a slice's bytes after the launch.
pub type WriteBack<'a> = Box<dyn FnOnce(&[u8]) -> Result<(), UnknownVariant> + 'a>;

/// A host argument on its way to the device.
pub enum PackedArg<'a> {
    /// A scalar's bytes in memory.
    Value(Vec<u8>),
    /// A slice: element count and bytes; if the kernel may write them, also the function that copies the bytes back
    /// after the launch.
    Slice {
        /// Number of elements.
        len: usize,
        /// The elements.
        bytes: Vec<u8>,
        /// Receives the elements after the launch.
        write_back: Option<WriteBack<'a>>,
    },
    /// A slice that is on the device already.
    Buffer {
        /// Number of elements.
        len: usize,
        /// Their size in bytes.
        bytes: usize,
        /// Where they are.
        address: u64,
    },
    /// A device address.
    Pointer(u64),
}

/// Takes a kernel's host arguments one by one, in order.
#[derive(Default)]
pub struct Packer<'a> {
    /// The arguments so far.
    pub args: Vec<PackedArg<'a>>,
}

fn bytes_of<T: Stored>(data: &[T]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(data.len() * T::BYTES as usize);
    data.iter().for_each(|x| x.append(&mut bytes));
    bytes
}

impl<'a> Packer<'a> {
    /// A scalar.
    pub(in crate::lang) fn scalar<T: Scalar>(&mut self, x: T) {
        let mut bytes = Vec::new();
        x.write_bytes(&mut bytes);
        self.args.push(PackedArg::Value(bytes));
    }

    /// A slice that the kernel reads.
    pub fn slice<T: Stored>(&mut self, data: &[T]) {
        self.args.push(PackedArg::Slice { len: data.len(), bytes: bytes_of(data), write_back: None });
    }

    /// A slice that the kernel may write.
    pub fn slice_mut<T: Stored>(&mut self, data: &'a mut [T]) {
        let (len, bytes) = (data.len(), bytes_of(data));
        let write_back = Box::new(move |bytes: &[u8]| {
            let mut to = data.iter_mut();
            taken(bytes, |x| {
                if let Some(to) = to.next() {
                    *to = x;
                }
            })
        });
        self.args.push(PackedArg::Slice { len, bytes, write_back: Some(write_back) });
    }

    /// A device pointer.
    pub fn pointer<T: Stored>(&mut self, pointer: crate::lang::DevicePtr<T>) {
        self.args.push(PackedArg::Pointer(pointer.address()));
    }
}
