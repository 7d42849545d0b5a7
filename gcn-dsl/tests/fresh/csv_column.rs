//! A CSV column to fixed-point numbers, in the style of cuDF: a state machine with enums and error codes.
use gcn_dsl::prelude::*;

pub const OK: u32 = 0;
pub const EMPTY: u32 = 1;
pub const BAD_CHARACTER: u32 = 2;
pub const OVERFLOW: u32 = 3;

gcn_kernel! {
    #[device]
    enum State {
        Start,
        Sign,
        Integer,
        Fraction,
        Trailing,
    }

    #[device]
    enum ParseError {
        Empty,
        BadCharacter,
        Overflow,
    }

    #[device]
    fn push_digit(value: V<i32>, c: V<u8>) -> Option<V<i32>> {
        let digit = (c - b'0') as i32;
        value.checked_mul(10)?.checked_add(digit)
    }

    // A number with up to two places after the point, times 100
    #[device]
    fn parse_fixed(text: &[u8], begin: V<u32>, end: V<u32>) -> Result<V<i32>, ParseError> {
        let mut state = State::Start;
        let mut negative = false;
        let mut value: V<i32> = 0;
        let mut places: V<u32> = 0;
        for k in begin..end {
            let c = text[k];
            state = match (state, c) {
                (State::Start, b' ') => State::Start,
                (State::Start, b'+') => State::Sign,
                (State::Start, b'-') => {
                    negative = true;
                    State::Sign
                }
                (State::Start | State::Sign | State::Integer, b'0'..=b'9') => {
                    let Some(v) = push_digit(value, c) else { return Err(ParseError::Overflow) };
                    value = v;
                    State::Integer
                }
                (State::Integer, b'.') => State::Fraction,
                (State::Fraction, b'0'..=b'9') if places < 2 => {
                    let Some(v) = push_digit(value, c) else { return Err(ParseError::Overflow) };
                    value = v;
                    places += 1;
                    State::Fraction
                }
                (State::Fraction, b'0'..=b'9') => State::Fraction, // truncated
                (State::Integer | State::Fraction | State::Trailing, b' ') => State::Trailing,
                _ => return Err(ParseError::BadCharacter),
            };
        }
        match state {
            State::Start => return Err(ParseError::Empty),
            State::Sign => return Err(ParseError::BadCharacter),
            _ => {}
        }
        while places < 2 {
            match value.checked_mul(10) {
                Some(v) => value = v,
                None => return Err(ParseError::Overflow),
            }
            places += 1;
        }
        Ok(if negative { -value } else { value })
    }

    #[workgroup(64)]
    pub fn parse_column(text: &[u8], offsets: &[u32], values: &mut [i32], errors: &mut [u32], error_count: &mut [u32]) {
        let row = global_id().x;
        if row + 1 >= offsets.len() {
            return;
        }
        let code = match parse_fixed(text, offsets[row], offsets[row + 1]) {
            Ok(value) => {
                values[row] = value;
                OK
            }
            Err(e) => {
                error_count.atomic(0).fetch_add(1, Scope::Agent, Ordering::Relaxed);
                match e {
                    ParseError::Empty => EMPTY,
                    ParseError::BadCharacter => BAD_CHARACTER,
                    ParseError::Overflow => OVERFLOW,
                }
            }
        };
        errors[row] = code;
    }
}

#[test]
fn matches_host() {
    let fields = [
        "12",
        "-3.5",
        "  +7.25 ",
        "",
        "   ",
        "-",
        "1.239",
        "12a",
        "99999999999",
        "21474836.47",
        "21474836.48",
        "0.01",
        "5 5",
        "-0.5",
        ".5",
        "100000000",
    ];
    let want: Vec<Result<i32, u32>> = vec![
        Ok(1200),
        Ok(-350),
        Ok(725),
        Err(EMPTY),
        Err(EMPTY),
        Err(BAD_CHARACTER),
        Ok(123),
        Err(BAD_CHARACTER),
        Err(OVERFLOW),
        Ok(2147483647),
        Err(OVERFLOW),
        Ok(1),
        Err(BAD_CHARACTER),
        Ok(-50),
        Err(BAD_CHARACTER),
        Err(OVERFLOW),
    ];
    let text: Vec<u8> = fields.concat().into_bytes();
    let mut offsets = vec![0u32];
    for f in fields {
        offsets.push(offsets.last().unwrap() + f.len() as u32);
    }
    let (mut values, mut errors, mut count) = (vec![0i32; fields.len()], vec![9u32; fields.len()], [0u32]);
    parse_column
        .launch(
            &Device::simulator(Target::GFX942),
            Grid::x(1),
            (&text, &offsets, &mut values, &mut errors, &mut count),
        )
        .unwrap();
    for (k, w) in want.iter().enumerate() {
        match w {
            Ok(v) => assert_eq!((values[k], errors[k]), (*v, OK), "{:?}", fields[k]),
            Err(e) => assert_eq!(errors[k], *e, "{:?}", fields[k]),
        }
    }
    assert_eq!(count[0] as usize, want.iter().filter(|w| w.is_err()).count());
}
