//! A kernel's signature, the layout of its arguments in the kernarg segment, and the packing of host values into it.
//!
//! Layout: the arguments in order. A scalar has its natural alignment and at least 4 bytes (narrower values are
//! extended to 4); a slice is an 8-byte pointer followed by its length in elements as u32; a pointer has 8 bytes. The
//! size of the segment is a multiple of 8.

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
    /// The symbol name, which includes const generic arguments (`gemm_128_64`).
    pub name: String,
    /// The size of the workgroup.
    pub workgroup: [u32; 3],
    /// The targets for which the kernel is written: all, unless `#[targets(…)]` names some.
    pub targets: TargetSet,
    /// The limits on register use.
    pub registers: RegisterLimits,
    /// `#[wave(…)]`: the wave size.
    pub wave: Option<WaveSize>,
    /// The second number of `#[wave(…)]`: the wave size on targets that lack the first.
    pub other_wave: Option<WaveSize>,
    /// `#[contract]`: a multiplication and an addition may be fused, which rounds once.
    pub contract: bool,
    /// The arguments in order.
    pub args: Vec<SignatureArg>,
}

/// The limits given by `#[max_registers(…)]` and `#[min_occupancy(…)]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RegisterLimits {
    /// The largest number of VGPRs.
    pub vgprs: Option<u32>,
    /// The largest number of SGPRs, not counting VCC and other special registers.
    pub sgprs: Option<u32>,
    /// The largest number of AGPRs.
    pub agprs: Option<u32>,
    /// The number of waves that must at least fit on a SIMD.
    pub min_occupancy: Option<u32>,
    /// The largest number of LDS bytes that a workgroup may use for spilled values; `None` if it may not use LDS for
    /// them.
    pub lds_spill: Option<u32>,
}

impl RegisterLimits {
    /// These limits, except that a limit that `other` sets replaces this one.
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

/// An argument in a signature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignatureArg {
    /// The argument's name.
    pub name: &'static str,
    /// The kind of argument.
    pub kind: SignatureArgKind,
    /// The element type; `u8` if the elements are structs or arrays.
    pub elem: Elem,
    /// The number of values of that type in one element of memory.
    pub count: u32,
    /// The byte offset in the kernarg segment.
    pub offset: u32,
}

/// The kinds of arguments.
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

/// Assigns offsets to arguments, one after the other.
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

/// The scalar type of an element of memory, and the number of such scalars in it.
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
            other_wave: None,
            contract: false,
            args: Vec::new(),
        }
    }

    /// Appends the name of a type argument of a generic kernel to the kernel's name.
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

    /// Appends a host value with which the kernel is built to the kernel's name, so that kernels built with different
    /// values have different names.
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

    /// Restricts the kernel to the named targets. The macro has rejected unknown names.
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

    /// `#[wave(32)]` or `#[wave(64)]`. The macro has rejected other numbers.
    #[must_use]
    pub fn wave(mut self, lanes: u32) -> Signature {
        self.wave = WaveSize::of_lanes(lanes);
        self
    }

    /// The second number of `#[wave(64, 32)]`.
    #[must_use]
    pub fn or_wave(mut self, lanes: u32) -> Signature {
        self.other_wave = WaveSize::of_lanes(lanes);
        self
    }

    /// The wave size that `#[wave(…)]` requests on a target; `None` without the attribute.
    pub fn wave_on(&self, target: Target) -> Option<WaveSize> {
        let first = self.wave.filter(|wave| target.instruction_set().has_wave(*wave));
        first.or(self.other_wave).or(self.wave)
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

    /// The size of the kernarg segment in bytes.
    pub fn kernarg_bytes(&self) -> u32 {
        self.layout().end.next_multiple_of(8)
    }
}

/// Returns the slice. If its size is always a multiple of 4 bytes, because each element fills whole dwords although its
/// scalars are narrower, records that.
fn whole_dwords<T: Stored, A>(slice: Slice<T, A>) -> Slice<T, A> {
    if <T as Stored>::ELEM.bytes() < 4 && T::BYTES.is_multiple_of(4) {
        with(|c| c.builder.whole_dwords(slice.resource));
    }
    slice
}

/// Gives the kernel's body its arguments, in order.
#[derive(Debug, Default)]
pub struct Arguments {
    layout: Layout,
}

impl Arguments {
    /// Reads the next argument, a scalar.
    pub(in crate::lang) fn scalar<T: Scalar>(&mut self) -> S<T> {
        let offset = self.layout.place(SignatureArgKind::Value, T::ELEM);
        with(|c| {
            let of = |elem| Type::uniform(elem);
            if T::ELEM != Elem::Bool {
                let v = c.builder.value(Inst::KernArg { offset }, of(T::ELEM), None);
                // In memory a lane mask has 64 bits for both wave sizes.
                let here = T::elem_in(c.wave);
                return S::from_value(match here == T::ELEM {
                    true => v,
                    false => c.builder.value(Inst::Cast(v), of(here), None),
                });
            }
            // A host `bool` is 0 or 1 in memory; convert it to a condition.
            let dword = Type::uniform(Elem::U32);
            let raw = c.builder.value(Inst::KernArg { offset }, dword, None);
            let one = c.builder.constant(1, dword);
            let bit = c.builder.value(Inst::Bin(Bin::And, raw, one), dword, None);
            let zero = c.builder.constant(0, dword);
            S::from_value(c.builder.value(Inst::Cmp(crate::ir::Pred::Ne, bit, zero), of(Elem::Bool), None))
        })
    }
    /// Reads the next argument, a `&[T]`.
    pub fn slice<T: Stored>(&mut self) -> Slice<T, ReadOnly> {
        let place = self.layout.place(SignatureArgKind::Slice, <T as Stored>::ELEM);
        whole_dwords(Slice::constant_from_kernarg(place))
    }
    /// Reads the next argument, a `&mut [T]`.
    pub fn slice_mut<T: Stored>(&mut self) -> Slice<T, Writable> {
        whole_dwords(Slice::from_kernarg(self.layout.place(SignatureArgKind::SliceMut, <T as Stored>::ELEM)))
    }
    /// Reads the next argument, a `*const T`.
    pub fn pointer<T: Stored>(&mut self) -> Ptr<T, ReadOnly> {
        Ptr::from_kernarg(self.layout.place(SignatureArgKind::Pointer, <T as Stored>::ELEM))
    }
    /// Reads the next argument, a `*mut T`.
    pub fn pointer_mut<T: Stored>(&mut self) -> Ptr<T, Writable> {
        Ptr::from_kernarg(self.layout.place(SignatureArgKind::PointerMut, <T as Stored>::ELEM))
    }
}

/// A function that receives a slice's bytes after the launch and stores them, converted to host values.
pub type WriteBack<'a> = Box<dyn FnOnce(&[u8]) -> Result<(), UnknownVariant> + 'a>;

/// A host argument, packed for the launch.
pub enum PackedArg<'a> {
    /// The bytes of a scalar.
    Value(Vec<u8>),
    /// A slice on the host. The launch copies it to the device and, if the kernel may write it, back.
    Slice {
        /// The number of elements.
        len: usize,
        /// The bytes of the elements.
        bytes: Vec<u8>,
        /// Copies the elements back after the launch; `None` if the kernel only reads the slice.
        write_back: Option<WriteBack<'a>>,
    },
    /// A slice that is already on the device.
    Buffer {
        /// The number of elements.
        len: usize,
        /// The size of the elements in bytes.
        bytes: usize,
        /// The device address of the first element.
        address: u64,
    },
    /// A device address.
    Pointer(u64),
}

/// Packs a kernel's arguments, which the host passes one by one, in order.
#[derive(Default)]
pub struct Packer<'a> {
    /// The arguments packed so far.
    pub args: Vec<PackedArg<'a>>,
}

fn bytes_of<T: Stored>(data: &[T]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(data.len() * T::BYTES as usize);
    data.iter().for_each(|x| x.append(&mut bytes));
    bytes
}

impl<'a> Packer<'a> {
    /// Packs a scalar.
    pub(in crate::lang) fn scalar<T: Scalar>(&mut self, x: T) {
        let mut bytes = Vec::new();
        x.write_bytes(&mut bytes);
        self.args.push(PackedArg::Value(bytes));
    }

    /// Packs a slice that the kernel reads.
    pub fn slice<T: Stored>(&mut self, data: &[T]) {
        self.args.push(PackedArg::Slice { len: data.len(), bytes: bytes_of(data), write_back: None });
    }

    /// Packs a slice that the kernel may write.
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

    /// Packs a device pointer.
    pub fn pointer<T: Stored>(&mut self, pointer: crate::lang::DevicePtr<T>) {
        self.args.push(PackedArg::Pointer(pointer.address()));
    }
}
