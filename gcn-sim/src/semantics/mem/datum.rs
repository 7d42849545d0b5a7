//! What loads and stores of the vector memory formats move.

/// What a load or store moves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Datum {
    /// Suffix of the mnemonic.
    pub suffix: &'static str,
    /// Bytes of one piece.
    pub bytes: u32,
    /// Pieces: dwords of a multi-dword access, else 1.
    pub pieces: u16,
    /// Sign-extend.
    pub signed: bool,
    /// Half of the register that a 16-bit datum uses.
    pub half: Option<bool>,
}

impl Datum {
    /// Bytes of all pieces.
    pub(crate) const fn size(&self) -> u32 {
        self.bytes * self.pieces as u32
    }
}

/// A loaded datum as the register sees it.
pub(crate) fn extend(datum: &Datum, raw: u32) -> u32 {
    let shift = 32 - 8 * datum.bytes;
    if datum.signed { ((raw << shift) as i32 >> shift) as u32 } else { raw }
}
