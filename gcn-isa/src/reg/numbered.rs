//! Parses numbered registers in the notation of users.

use super::{FIRST_NAMED_SGPR, Reg, RegFile};

/// The maximum number of registers in a tuple.
const LONGEST: u16 = 32;
/// The number of VGPRs, which is also the number of AGPRs.
const VECTOR: u16 = 256;

/// The reason why a text does not name registers by number.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotNumbered {
    /// The text has another form.
    #[error("registers are written `v10`, `a0`, `s20`, or as a range with its last register, `v[8:11]`")]
    Form,
    /// The register file has fewer registers.
    #[error("the last one is `{prefix}{last}`")]
    Beyond {
        /// The prefix of the register file.
        prefix: char,
        /// The number of the file's last register.
        last: u16,
    },
    /// The last register of the range comes before the first.
    #[error("the range ends before it begins")]
    Backwards,
    /// The range is longer than any range that an instruction accepts.
    #[error("a range has at most {LONGEST} registers")]
    TooLong,
}

impl Reg {
    /// The registers that `text` names by number, in the notation of `Display`: `v10`, `a[0:3]`, `s[4:5]`. Registers
    /// with fixed meanings (`vcc`, `exec`, …) are not included.
    ///
    /// # Errors
    /// [`NotNumbered`] if the text does not name such registers.
    ///
    /// ```
    /// use gcn_isa::Reg;
    /// assert_eq!(Reg::numbered("v[8:11]"), Ok(Reg::v(8, 4)));
    /// assert!(Reg::numbered("s102").is_err());
    /// ```
    pub fn numbered(text: &str) -> Result<Reg, NotNumbered> {
        let (file, count) = match text.bytes().next() {
            Some(b'v') => (RegFile::Vgpr, VECTOR),
            Some(b'a') => (RegFile::Agpr, VECTOR),
            Some(b's') => (RegFile::Sgpr, FIRST_NAMED_SGPR),
            _ => return Err(NotNumbered::Form),
        };
        let (prefix, numbers) = text.split_at(1);
        let range = numbers.strip_prefix('[').and_then(|n| n.strip_suffix(']'));
        let (first, last) = match range {
            Some(range) => range.split_once(':').unwrap_or((range, range)),
            None => (numbers, numbers),
        };
        let (first, last) = (number(first)?, number(last)?);
        if first.max(last) >= u32::from(count) {
            let prefix = prefix.chars().next().unwrap_or_default();
            return Err(NotNumbered::Beyond { prefix, last: count - 1 });
        }
        let (first, last) = (first as u16, last as u16);
        if last < first {
            return Err(NotNumbered::Backwards);
        }
        if last - first >= LONGEST {
            return Err(NotNumbered::TooLong);
        }
        Ok(Reg { file, index: first, len: (last - first + 1) as u8 })
    }
}

fn number(text: &str) -> Result<u32, NotNumbered> {
    if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit()) {
        return Err(NotNumbered::Form);
    }
    // A number that overflows is also larger than the last number of every register file.
    Ok(text.parse().unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests parsing against `Display`.
    #[test]
    fn what_is_printed_is_read() {
        for (file, count) in [(RegFile::Sgpr, 102), (RegFile::Vgpr, 256), (RegFile::Agpr, 256)] {
            for index in 0..count {
                for len in 1..=32.min(count - index) {
                    let reg = Reg { file, index, len: len as u8 };
                    assert_eq!(Reg::numbered(&reg.to_string()), Ok(reg));
                }
            }
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        for text in ["", "v", "w1", "v-1", "v[1:2", "v1:2", "v[1:2:3]", "v[a:b]", "vcc", "é"] {
            assert_eq!(Reg::numbered(text), Err(NotNumbered::Form), "{text}");
        }
        assert_eq!(Reg::numbered("v[5:4]"), Err(NotNumbered::Backwards));
        assert_eq!(Reg::numbered("v[0:32]"), Err(NotNumbered::TooLong));
        for text in ["v256", "a[254:256]", "s102", "v99999999999999999999"] {
            assert!(matches!(Reg::numbered(text), Err(NotNumbered::Beyond { .. })), "{text}");
        }
    }
}
