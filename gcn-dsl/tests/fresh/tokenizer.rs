//! A state machine that parses `name = number + number …` in a line for each work-item, with `Option`, `Result` and
//! `?`.
use super::{everywhere, numbers};
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[device]
    #[derive(Clone, Copy, PartialEq)]
    enum State {
        Start,
        Name,
        AfterName,
        Value,
        Number,
        AfterNumber,
    }

    #[device]
    #[derive(Clone, Copy)]
    enum ParseError {
        Unexpected { at: V<u32>, byte: V<u8> },
        Overflow(V<u32>),
        Empty,
    }

    #[device]
    fn digit(c: V<u8>) -> Option<V<u32>> {
        if c >= b'0' && c <= b'9' { Some((c - b'0') as u32) } else { None }
    }

    #[device]
    fn push_digit(value: V<u32>, d: V<u32>, at: V<u32>) -> Result<V<u32>, ParseError> {
        value.checked_mul(10).and_then(|v| v.checked_add(d)).ok_or(ParseError::Overflow(at))
    }

    #[device]
    fn parse(text: &[u8], begin: V<u32>, end: V<u32>) -> Result<V<u32>, ParseError> {
        let mut state = State::Start;
        let mut sum = 0;
        let mut number = 0;
        for i in begin..end {
            let c = text[i];
            state = match (state, c) {
                (State::Start, b' ') => State::Start,
                (State::Start, b'a'..=b'z' | b'_') => State::Name,
                (State::Name, b'a'..=b'z' | b'_' | b'0'..=b'9') => State::Name,
                (State::Name, b' ') => State::AfterName,
                (State::Name | State::AfterName, b'=') => State::Value,
                (State::AfterName, b' ') => State::AfterName,
                (State::Value, b' ') => State::Value,
                (State::Value | State::Number, b'0'..=b'9') => {
                    let d = digit(c).unwrap();
                    number = push_digit(number, d, i - begin)?;
                    State::Number
                }
                (State::Number, b' ') => State::AfterNumber,
                (State::AfterNumber, b' ') => State::AfterNumber,
                (State::Number | State::AfterNumber, b'+') => {
                    sum += number;
                    number = 0;
                    State::Value
                }
                _ => return Err(ParseError::Unexpected { at: i - begin, byte: c }),
            };
        }
        match state {
            State::Number | State::AfterNumber => Ok(sum + number),
            State::Start => Err(ParseError::Empty),
            _ => Err(ParseError::Unexpected { at: end - begin, byte: b'\n' }),
        }
    }

    #[workgroup(64)]
    fn parse_lines(text: &[u8], starts: &[u32], values: &mut [u32], errors: &mut [i32]) {
        let line = global_id().x;
        if line >= values.len() {
            return;
        }
        match parse(text, starts[line], starts[line + 1] - 1) {
            Ok(v) => {
                values[line] = v;
                errors[line] = 0;
            }
            Err(ParseError::Unexpected { at, byte }) => errors[line] = -((at * 256 + byte as u32) as i32),
            Err(ParseError::Overflow(at)) => errors[line] = 1000 + at as i32,
            Err(ParseError::Empty) => errors[line] = 1,
        }
    }
}

fn host(line: &[u8]) -> Result<u32, i32> {
    let mut st = 0;
    let (mut sum, mut num) = (0u32, 0u32);
    for (i, c) in line.iter().enumerate() {
        st = match (st, c) {
            (0, b' ') => 0,
            (0, b'a'..=b'z' | b'_') => 1,
            (1, b'a'..=b'z' | b'_' | b'0'..=b'9') => 1,
            (1, b' ') => 2,
            (1 | 2, b'=') => 3,
            (2, b' ') => 2,
            (3, b' ') => 3,
            (3 | 4, b'0'..=b'9') => {
                num = num
                    .checked_mul(10)
                    .and_then(|n| n.checked_add((c - b'0') as u32))
                    .ok_or(1000 + i as i32)?;
                4
            }
            (4 | 5, b' ') => 5,
            (4 | 5, b'+') => {
                sum = sum.wrapping_add(num);
                num = 0;
                3
            }
            _ => return Err(-((i * 256 + *c as usize) as i32)),
        };
    }
    match st {
        4 | 5 => Ok(sum.wrapping_add(num)),
        0 => Err(1),
        _ => Err(-((line.len() * 256 + 10) as i32)),
    }
}

#[test]
fn values_or_errors_of_lines() {
    let mut lines: Vec<String> = [
        "x = 1 + 2",
        "",
        "   ",
        "abc_1=42",
        "x = 99999999999",
        "x == 2",
        "9 = 3",
        "x = 4 5",
        "x",
        " y  =  7+8 + 9 ",
    ]
    .map(String::from)
    .to_vec();
    let set = b"ab_ =+0123";
    let random = numbers(90 * 12, 10);
    for k in 0..90 {
        let letters = random[k * 12..][..k % 12].iter().map(|n| set[*n as usize] as char);
        lines.push(letters.collect());
        // Half of the lines start correctly.
        lines.push(format!("a={}", &lines[lines.len() - 1]));
    }
    let (mut text, mut starts) = (Vec::new(), vec![0]);
    for line in &lines {
        text.extend_from_slice(line.as_bytes());
        text.push(b'\n');
        starts.push(text.len() as u32);
    }
    let n = lines.len();
    everywhere(|device| {
        let (mut values, mut errors) = (vec![0; n], vec![7; n]);
        parse_lines.launch(device, Grid::x(3), (&text, &starts, &mut values, &mut errors)).unwrap();
        for i in 0..n {
            let got = if errors[i] == 0 { Ok(values[i]) } else { Err(errors[i]) };
            assert_eq!(got, host(lines[i].as_bytes()), "{:?}", lines[i]);
        }
    });
}
