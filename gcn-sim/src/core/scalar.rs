//! Reads operands with one value for all lanes: scalar operands, and direct reads of LDS.

use gcn_isa::SrcSpecial;
use gcn_isa::target::Family;

use crate::core::aperture;
use crate::core::fault::Fault;
use crate::core::machine::Cx;
use crate::core::operand::Src;
use crate::core::site::Space;
use crate::core::value::{Raw, Ty, Value};

impl Cx<'_> {
    /// A scalar operand of up to 32 bits.
    #[inline]
    pub(crate) fn scalar(&self, src: &Src, ty: Ty) -> Result<u32, Fault> {
        Ok(match src {
            Src::Scalar(n) => self.w.s[*n as usize],
            Src::Const(c) => c.narrow(ty),
            Src::Special(special) => self.special(*special)?,
            Src::Vector(_) | Src::None => return Err(Fault::Unsupported("a scalar operand of this kind")),
        })
    }

    /// A scalar operand of 64 bits.
    #[inline]
    pub(crate) fn scalar_wide(&self, src: &Src, ty: Ty) -> Result<u64, Fault> {
        Ok(match src {
            Src::Scalar(n) => self.w.pair(*n as usize),
            Src::Const(c) => c.wide(ty),
            Src::Special(special) => self.special_wide(*special)?,
            Src::Vector(_) | Src::None => return Err(Fault::Unsupported("a scalar operand of this kind")),
        })
    }

    pub(crate) fn special(&self, special: SrcSpecial) -> Result<u32, Fault> {
        Ok(match special {
            SrcSpecial::Vccz => u32::from(self.w.vcc() == 0),
            SrcSpecial::Execz => u32::from(self.w.exec() == 0),
            SrcSpecial::Scc => u32::from(self.w.scc),
            // A 32-bit read of an aperture is not reliable on hardware; compilers read 64 bits and use one half.
            SrcSpecial::SharedBase
            | SrcSpecial::SharedLimit
            | SrcSpecial::PrivateBase
            | SrcSpecial::PrivateLimit => {
                return Err(Fault::Unsupported("a 32-bit read of an aperture register"));
            }
            SrcSpecial::FlatScratchBaseLo => aperture::scratch_base(self.w.id) as u32,
            SrcSpecial::FlatScratchBaseHi => (aperture::scratch_base(self.w.id) >> 32) as u32,
            SrcSpecial::PopsExitingWaveId | SrcSpecial::LdsDirect => {
                return Err(Fault::Unsupported("a graphics-only source"));
            }
        })
    }

    pub(crate) fn special_wide(&self, special: SrcSpecial) -> Result<u64, Fault> {
        Ok(match special {
            SrcSpecial::SharedBase => aperture::SHARED_BASE,
            SrcSpecial::SharedLimit => aperture::SHARED_BASE + aperture::SIZE - 1,
            SrcSpecial::PrivateBase => aperture::PRIVATE_BASE,
            SrcSpecial::PrivateLimit => aperture::PRIVATE_BASE + aperture::SIZE - 1,
            SrcSpecial::FlatScratchBaseLo => aperture::scratch_base(self.w.id),
            other => u64::from(self.special(other)?),
        })
    }

    /// Reads one value from LDS for all lanes: M0 contains its address in bits 15:0 and its type in bits 18:16.
    pub(crate) fn lds_direct(&self) -> Result<u32, Fault> {
        if self.machine.target().family() == Family::GFX9 {
            return Err(Fault::Unsupported("reading LDS as an operand"));
        }
        let m0 = self.w.m0();
        let (bytes, signed) = match m0 >> 16 & 7 {
            0 => (1, false),
            1 => (2, false),
            2 => (4, false),
            4 => (1, true),
            5 => (2, true),
            _ => return Err(Fault::Unsupported("a direct read of LDS of this type in M0[18:16]")),
        };
        let start = (m0 & 0xffff) as usize;
        let outside = Fault::OutOfBounds {
            space: Space::Lds,
            write: false,
            lane: None,
            address: start as u64,
            bytes: bytes as u32,
        };
        let data = self.lds.get(start..start + bytes).ok_or(outside)?;
        let value = data.iter().rev().fold(0, |value, byte| value << 8 | u32::from(*byte));
        let unused = 32 - 8 * bytes as u32;
        Ok(if signed { ((value << unused) as i32 >> unused) as u32 } else { value })
    }
}

/// A typed value that can be a scalar operand.
pub(crate) trait ScalarValue: Value {
    fn read(cx: &Cx<'_>, src: &Src) -> Result<Self, Fault>;
    fn write(self, cx: &mut Cx<'_>, n: u16);
}

/// Reads and writes the words of scalar operands.
pub(crate) trait ScalarRaw: Raw {
    fn read(cx: &Cx<'_>, src: &Src, ty: Ty) -> Result<Self, Fault>;
    fn write(self, cx: &mut Cx<'_>, n: u16);
}

impl ScalarRaw for u32 {
    #[inline]
    fn read(cx: &Cx<'_>, src: &Src, ty: Ty) -> Result<u32, Fault> {
        cx.scalar(src, ty)
    }

    #[inline]
    fn write(self, cx: &mut Cx<'_>, n: u16) {
        cx.w.s[n as usize] = self;
    }
}

impl ScalarRaw for u64 {
    #[inline]
    fn read(cx: &Cx<'_>, src: &Src, ty: Ty) -> Result<u64, Fault> {
        cx.scalar_wide(src, ty)
    }

    #[inline]
    fn write(self, cx: &mut Cx<'_>, n: u16) {
        cx.w.set_pair(n as usize, self);
    }
}

impl<V: Value> ScalarValue for V
where
    V::Raw: ScalarRaw,
{
    #[inline]
    fn read(cx: &Cx<'_>, src: &Src) -> Result<V, Fault> {
        Ok(V::from_raw(<V::Raw as ScalarRaw>::read(cx, src, V::TY)?))
    }

    #[inline]
    fn write(self, cx: &mut Cx<'_>, n: u16) {
        self.into_raw().write(cx, n);
    }
}
