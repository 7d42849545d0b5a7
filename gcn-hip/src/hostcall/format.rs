//! Formats `printf` messages of kernels: a format and its arguments as 64-bit values.

/// The text of a message, which consists of a format string and its arguments. Strings are zero-terminated bytes, padded to whole values.
pub(super) fn message(values: &[u64]) -> Vec<u8> {
    let mut arguments = Arguments { values };
    let format = arguments.string();
    let mut out = Vec::new();
    let mut rest = &format[..];
    while let Some(at) = rest.iter().position(|byte| *byte == b'%') {
        out.extend(&rest[..at]);
        let (spec, after) = Spec::parse(&rest[at + 1..], &mut arguments);
        rest = after;
        spec.write(&mut arguments, &mut out);
    }
    out.extend(rest);
    out
}

struct Arguments<'v> {
    values: &'v [u64],
}

impl Arguments<'_> {
    /// The next value; 0 if there is none. A kernel that passes too few values has undefined behaviour.
    fn next(&mut self) -> u64 {
        let Some((first, rest)) = self.values.split_first() else { return 0 };
        self.values = rest;
        *first
    }

    fn string(&mut self) -> Vec<u8> {
        let mut text = Vec::new();
        while !self.values.is_empty() {
            let bytes = self.next().to_le_bytes();
            let end = bytes.iter().position(|byte| *byte == 0);
            text.extend(&bytes[..end.unwrap_or(bytes.len())]);
            if end.is_some() {
                break;
            }
        }
        text
    }
}

/// A conversion specification.
#[derive(Default)]
struct Spec {
    left: bool,
    plus: bool,
    space: bool,
    alternate: bool,
    zero: bool,
    width: usize,
    precision: Option<usize>,
    /// The size of an integer in bytes.
    size: u32,
    conversion: u8,
}

/// The maximum width or precision in characters.
const WIDEST: usize = 1 << 16;

impl Spec {
    fn parse<'f>(format: &'f [u8], arguments: &mut Arguments<'_>) -> (Spec, &'f [u8]) {
        let mut spec = Spec { size: 4, ..Spec::default() };
        let mut bytes = format;
        while let Some((flag, rest)) = bytes.split_first() {
            match flag {
                b'-' => spec.left = true,
                b'+' => spec.plus = true,
                b' ' => spec.space = true,
                b'#' => spec.alternate = true,
                b'0' => spec.zero = true,
                _ => break,
            }
            bytes = rest;
        }
        if let Some(width) = number(&mut bytes, arguments) {
            spec.left |= width < 0;
            spec.width = (width.unsigned_abs() as usize).min(WIDEST);
        }
        if let Some(rest) = bytes.strip_prefix(b".") {
            bytes = rest;
            let precision = number(&mut bytes, arguments).unwrap_or(0);
            spec.precision = usize::try_from(precision).ok().map(|p| p.min(WIDEST));
        }
        while let Some((length, rest)) = bytes.split_first() {
            match length {
                b'h' => spec.size /= 2,
                b'l' | b'j' | b'z' | b't' | b'q' | b'L' => spec.size = 8,
                _ => break,
            }
            bytes = rest;
        }
        if let Some((conversion, rest)) = bytes.split_first() {
            spec.conversion = *conversion;
            bytes = rest;
        }
        (spec, bytes)
    }

    fn write(&self, arguments: &mut Arguments<'_>, out: &mut Vec<u8>) {
        let body = match self.conversion {
            b'%' => return out.push(b'%'),
            b'd' | b'i' => {
                let shift = 64 - 8 * self.size.max(1);
                let value = (arguments.next() << shift).cast_signed() >> shift;
                self.integer(&value.unsigned_abs().to_string(), self.sign(value < 0))
            }
            b'u' => self.integer(&self.unsigned(arguments).to_string(), ""),
            b'o' => {
                let digits = format!("{:o}", self.unsigned(arguments));
                self.integer(&digits, if self.alternate && digits != "0" { "0" } else { "" })
            }
            b'x' => self.hexadecimal(self.unsigned(arguments), "0x"),
            b'X' => self.hexadecimal(self.unsigned(arguments), "0X").to_uppercase(),
            b'p' => format!("{:#x}", arguments.next()),
            b'c' => return self.pad_bytes(&[arguments.next() as u8], out),
            b's' => {
                let mut text = arguments.string();
                text.truncate(self.precision.unwrap_or(text.len()));
                return self.pad_bytes(&text, out);
            }
            b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' => {
                self.float(f64::from_bits(arguments.next()))
            }
            // `%n` is ignored; anything that is not a conversion is printed unchanged.
            b'n' => {
                arguments.next();
                return;
            }
            other => return out.extend([b'%', other]),
        };
        self.pad_bytes(body.as_bytes(), out);
    }

    fn unsigned(&self, arguments: &mut Arguments<'_>) -> u64 {
        let shift = 64 - 8 * self.size.max(1);
        arguments.next() << shift >> shift
    }

    fn hexadecimal(&self, value: u64, prefix: &str) -> String {
        let prefix = if self.alternate && value != 0 { prefix } else { "" };
        self.integer(&format!("{value:x}"), prefix)
    }

    fn sign(&self, negative: bool) -> &'static str {
        match (negative, self.plus, self.space) {
            (true, ..) => "-",
            (_, true, _) => "+",
            (_, _, true) => " ",
            _ => "",
        }
    }

    /// Digits with a prefix, and with the zeros that precision or width require.
    fn integer(&self, digits: &str, prefix: &str) -> String {
        let digits = if digits == "0" && self.precision == Some(0) { "" } else { digits };
        let least = match self.precision {
            Some(precision) => precision,
            None if self.zero && !self.left => self.width.saturating_sub(prefix.len()),
            None => 0,
        };
        format!("{prefix}{digits:0>least$}")
    }

    fn float(&self, value: f64) -> String {
        let upper = self.conversion.is_ascii_uppercase();
        let sign = self.sign(value.is_sign_negative());
        let magnitude = value.abs();
        let finite = value.is_finite();
        let body = match self.conversion.to_ascii_lowercase() {
            _ if value.is_nan() => "nan".to_owned(),
            _ if !finite => "inf".to_owned(),
            b'f' => self.point(format!("{magnitude:.*}", self.precision.unwrap_or(6))),
            b'e' => exponential(magnitude, self.precision.unwrap_or(6), self.alternate),
            b'g' => self.general(magnitude),
            _ => hexadecimal_float(magnitude, self.precision),
        };
        let body = if upper { body.to_uppercase() } else { body };
        let zeros = if self.zero && !self.left && finite { self.width.saturating_sub(sign.len()) } else { 0 };
        format!("{sign}{body:0>zeros$}")
    }

    /// With `#`, adds a decimal point even if no digit follows.
    fn point(&self, digits: String) -> String {
        if self.alternate && !digits.contains('.') { digits + "." } else { digits }
    }

    /// `%g`: the shorter of `%e` and `%f`, without trailing zeros.
    fn general(&self, value: f64) -> String {
        let digits = self.precision.unwrap_or(6).max(1);
        let scientific = format!("{value:.*e}", digits - 1);
        let exponent: i32 = scientific.split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0);
        let strip = |text: String| {
            if self.alternate || !text.contains('.') {
                return text;
            }
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        };
        if exponent < -4 || exponent >= digits as i32 {
            let (mantissa, _) = scientific.split_once('e').unwrap_or((&scientific, ""));
            return format!("{}{}", strip(mantissa.to_owned()), exponent_text(exponent));
        }
        let decimals = (digits as i32 - 1 - exponent).max(0) as usize;
        strip(self.point(format!("{value:.decimals$}")))
    }

    fn pad_bytes(&self, text: &[u8], out: &mut Vec<u8>) {
        let fill = self.width.saturating_sub(text.len());
        let blanks = std::iter::repeat_n(b' ', fill);
        if self.left {
            out.extend(text);
            out.extend(blanks);
        } else {
            out.extend(blanks);
            out.extend(text);
        }
    }
}

/// A number in the format, or for `*` the next argument; `None` if there is neither.
fn number(bytes: &mut &[u8], arguments: &mut Arguments<'_>) -> Option<i64> {
    if let Some(rest) = bytes.strip_prefix(b"*") {
        *bytes = rest;
        return Some(i64::from(arguments.next() as i32));
    }
    let digits = bytes.iter().take_while(|b| b.is_ascii_digit()).count();
    let (text, rest) = bytes.split_at(digits);
    *bytes = rest;
    let value =
        |text: &[u8]| text.iter().fold(0i64, |n, d| n.saturating_mul(10).saturating_add(i64::from(d - b'0')));
    (digits > 0).then(|| value(text))
}

fn exponent_text(exponent: i32) -> String {
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("e{sign}{:02}", exponent.unsigned_abs())
}

fn exponential(value: f64, precision: usize, point: bool) -> String {
    let text = format!("{value:.precision$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let point = if point && !mantissa.contains('.') { "." } else { "" };
    format!("{mantissa}{point}{}", exponent_text(exponent.parse().unwrap_or(0)))
}

/// `%a`: the mantissa in hexadecimal.
fn hexadecimal_float(value: f64, precision: Option<usize>) -> String {
    const MANTISSA: u32 = 52;
    let bits = value.to_bits();
    let (mut fraction, biased) = (bits & ((1 << MANTISSA) - 1), (bits >> MANTISSA) as i32);
    let mut whole = u64::from(biased > 0);
    let exponent = if value == 0.0 { 0 } else { biased.max(1) - 1023 };
    let mut digits = MANTISSA as usize / 4;
    if let Some(precision) = precision.filter(|p| *p < digits) {
        // Rounded to nearest, ties to even.
        let dropped = 4 * (digits - precision) as u32;
        let all = whole << MANTISSA | fraction;
        let (kept, rest, half) = (all >> dropped, all & ((1 << dropped) - 1), 1u64 << (dropped - 1));
        let kept = kept + u64::from(rest > half || rest == half && kept & 1 == 1);
        digits = precision;
        (whole, fraction) = (kept >> (4 * digits), kept & ((1 << (4 * digits)) - 1));
    }
    let mut text = if digits == 0 { String::new() } else { format!("{fraction:0digits$x}") };
    match precision {
        Some(precision) => text += &"0".repeat(precision - digits),
        None => text.truncate(text.trim_end_matches('0').len()),
    }
    let point = if text.is_empty() { "" } else { "." };
    format!("0x{whole}{point}{text}p{exponent:+}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Formats a message that a kernel sends.
    fn print(format: &str, values: &[u64]) -> String {
        let mut all = string(format);
        all.extend(values);
        String::from_utf8(message(&all)).unwrap()
    }

    fn string(text: &str) -> Vec<u64> {
        let mut bytes = text.as_bytes().to_vec();
        bytes.push(0);
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        bytes.as_chunks::<8>().0.iter().map(|chunk| u64::from_le_bytes(*chunk)).collect()
    }

    /// The expected texts are those of glibc's `printf`.
    #[test]
    fn conversions_print_as_the_c_library_does() {
        let f = f64::to_bits;
        for (format, value, expected) in [
            ("%d|", -5i64 as u64, "-5|"),
            ("%5d|", 42, "   42|"),
            ("%-5d|", 42, "42   |"),
            ("%05d|", -42i64 as u64, "-0042|"),
            ("%+.3d|", 7, "+007|"),
            ("%hhd|", 0x1ff, "-1|"),
            ("%hu|", 0x1_0005, "5|"),
            ("%lld|", u64::MAX, "-1|"),
            ("%u|", u64::MAX, "4294967295|"),
            ("%zu|", u64::MAX, "18446744073709551615|"),
            ("%#x|", 255, "0xff|"),
            ("%#08X|", 255, "0X0000FF|"),
            ("%#o|", 8, "010|"),
            ("%.0d|", 0, "|"),
            ("%c|", 65, "A|"),
            ("%f|", f(3.25), "3.250000|"),
            ("%.0f|", f(2.5), "2|"),
            ("%8.3f|", f(-1.5), "  -1.500|"),
            ("%08.2f|", f(-1.5), "-0001.50|"),
            ("%e|", f(12345.678), "1.234568e+04|"),
            ("%.2E|", f(0.00012), "1.20E-04|"),
            ("%g|", f(100_000.0), "100000|"),
            ("%g|", f(1_000_000.0), "1e+06|"),
            ("%g|", f(0.0001), "0.0001|"),
            ("%#g|", f(1.0), "1.00000|"),
            ("%G|", f(f64::INFINITY), "INF|"),
            ("%05f|", f(-f64::INFINITY), " -inf|"),
            ("%a|", f(1.5), "0x1.8p+0|"),
            ("%.1a|", f(1.999), "0x2.0p+0|"),
            ("%%%d|", 1, "%1|"),
        ] {
            assert_eq!(print(format, &[value]), expected, "{format}");
        }
    }

    #[test]
    fn strings_widths_and_what_is_missing() {
        let mut values = string("a long string");
        values.extend([6, 3, f64::to_bits(2.0)]);
        assert_eq!(print("[%s] [%*.*f]\n", &values), "[a long string] [ 2.000]\n");
        assert_eq!(print("%.3s|%5s|", &[string("abcdef"), string("x")].concat()), "abc|    x|");
        assert_eq!(print("%d %s|%y", &[]), "0 |%y");
        assert_eq!(message(&[]), b"");
    }
}
