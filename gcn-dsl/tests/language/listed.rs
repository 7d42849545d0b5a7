//! Enums without fields that are stored in memory (`#[repr(u32)]` and the like), as elements of slices, LDS and private
//! memory, as fields and as arguments.

use gcn_dsl::LaunchError;
use gcn_dsl::prelude::*;

const TARGETS: [Target; 3] = [Target::GFX900, Target::GFX90A, Target::GFX950];

mod tokens {
    use gcn_dsl::prelude::*;

    gcn_kernel! {
        /// The class of a byte in a text.
        #[device]
        #[repr(u8)]
        #[derive(Clone, Copy, Eq, Hash)]
        pub enum Class {
            Space,
            Digit = 3,
            Letter,
            Other = 200,
        }

        #[device]
        #[repr(i32)]
        #[derive(Debug)]
        pub enum State {
            Start = -1,
            Number,
            Word = 7,
        }

        #[device]
        #[repr(C)]
        #[derive(PartialEq)]
        pub struct Cell {
            pub class: Class,
            pub state: State,
            pub count: u32,
        }

        #[device]
        pub fn class_of(byte: V<u32>) -> V<Class> {
            match byte {
                32 => Class::Space,
                48..=57 => Class::Digit,
                97..=122 => Class::Letter,
                _ => Class::Other,
            }
        }

        #[device]
        pub fn stepped(state: V<State>, class: V<Class>, usual: State) -> V<State> {
            match (state, class) {
                (_, Class::Space) => usual,
                (State::Start, Class::Digit) => State::Number,
                (State::Start, _) => State::Word,
                (other, Class::Letter | Class::Digit) => other,
                (_, Class::Other) => State::Start,
            }
        }
    }
}

use tokens::{Cell, Class, State};

fn host_class(byte: u8) -> Class {
    match byte {
        b' ' => Class::Space,
        b'0'..=b'9' => Class::Digit,
        b'a'..=b'z' => Class::Letter,
        _ => Class::Other,
    }
}

fn host_step(state: State, class: Class, usual: State) -> State {
    match (state, class) {
        (_, Class::Space) => usual,
        (State::Start, Class::Digit) => State::Number,
        (State::Start, _) => State::Word,
        (other, Class::Letter | Class::Digit) => other,
        (_, Class::Other) => State::Start,
    }
}

gcn_kernel! {
    /// Each lane reads a line of 8 bytes.
    #[workgroup(64)]
    fn read(text: &[u8], classes: &mut [Class], ends: &mut [State], cells: &mut [Cell], usual: State, words: &mut [u32]) {
        let i = global_id().x;
        let shared = Lds::<State, 64>::new();
        let own = Private::<Class, 8>::new();
        let mut state: V<State> = State::Start;
        for k in 0..8 {
            let class = tokens::class_of(text[i * 8 + k] as u32);
            own[k] = class;
            state = tokens::stepped(state, class, usual);
        }
        for k in 0..8 {
            classes[i * 8 + k] = own[7 - k];
        }
        shared[63 - i] = state;
        barrier();
        let other = shared[i];
        ends[i] = other;
        let mut cell = cells[i];
        if cell.class == Class::Digit && other != State::Start {
            cell.class = Class::Letter;
            cell.count += 1;
        }
        cell.state = if cell.count > 2 { State::Word } else { other };
        cells[i] = cell;
        words[i] = match other {
            State::Start => 1000,
            State::Word if i > 32 => State::Word as u32 + 1,
            known => known as u32 + cell.class as u32,
        };
    }
}

#[test]
fn memory_holds_enums_of_numbers() {
    let text: Vec<u8> = (0..512).map(|i| b" 17az%9q"[(i * 5 + i / 8 * 3) % 8]).collect();
    let before = |i: usize| Cell {
        class: [Class::Space, Class::Digit, Class::Other][i % 3],
        state: State::Start,
        count: i as u32 % 4,
    };
    for target in TARGETS {
        for usual in [State::Start, State::Number] {
            let (mut classes, mut ends) = (vec![Class::Space; 512], vec![State::Start; 64]);
            let mut cells: Vec<Cell> = (0..64).map(before).collect();
            let mut words = vec![0; 64];
            let device = Device::simulator(target);
            let out = (&text, &mut classes, &mut ends, &mut cells, usual, &mut words);
            let (text_of, a, b, c, d, e) = out;
            read.launch(&device, Grid::x(1), (text_of, a, b, c, d, e)).unwrap();
            let end = |i: usize| {
                let line = &text[i * 8..][..8];
                line.iter().fold(State::Start, |state, byte| host_step(state, host_class(*byte), usual))
            };
            for i in 0..64 {
                for k in 0..8 {
                    assert_eq!(classes[i * 8 + k], host_class(text[i * 8 + 7 - k]), "{target} {i} {k}");
                }
                let other = end(63 - i);
                let mut cell = before(i);
                if cell.class == Class::Digit && other != State::Start {
                    (cell.class, cell.count) = (Class::Letter, cell.count + 1);
                }
                cell.state = if cell.count > 2 { State::Word } else { other };
                assert_eq!((ends[i], cells[i]), (other, cell), "{target} {i}");
                let word = match other {
                    State::Start => 1000,
                    State::Word if i > 32 => 8,
                    known => (known as i32 as u32).wrapping_add(cell.class as u32),
                };
                assert_eq!(words[i], word, "{target} {i}");
            }
        }
    }
}

gcn_kernel! {
    #[workgroup(64)]
    fn number(x: &[u8], y: &mut [Class], z: &mut [u32]) {
        let i = global_id().x;
        y[i] = x[i] as Class;
        z[i] = if let Class::Letter = y[i] { 1 } else { 0 };
    }
}

/// The layout is Rust's, and the host reports an error if it reads a number that is no variant's.
#[test]
fn numbers_without_a_name() {
    let device = Device::simulator(Target::GFX942);
    let x: Vec<u8> = [0, 3, 4, 200].repeat(16);
    let (mut y, mut z) = (vec![Class::Other; 64], vec![0; 64]);
    number.launch(&device, Grid::x(1), (&x, &mut y, &mut z)).unwrap();
    for (i, n) in x.iter().enumerate() {
        let class = [Class::Space, Class::Digit, Class::Letter, Class::Other][i % 4];
        assert_eq!((y[i], z[i]), (class, u32::from(*n == 4)), "{n}");
    }
    let mut x = x;
    x[7] = 5;
    let error = number.launch(&device, Grid::x(1), (&x, &mut y, &mut z)).unwrap_err();
    let LaunchError::UnknownVariant(unknown) = &error else { panic!("{error}") };
    assert_eq!((unknown.of, unknown.number), ("Class", 5));
    assert!(error.to_string().starts_with("no variant of `Class` is 5, which the device wrote: "), "{error}");

    // Such a number in a buffer, and as a field.
    let cells = device.buffer::<Cell>(2).unwrap();
    let numbers: DevicePtr<u8> = DevicePtr::from_address(cells.as_ptr().address());
    let mut bytes = [0; 24];
    bytes[12 + 4..][..4].copy_from_slice(&(-2i32).to_le_bytes());
    bytes[4..][..4].copy_from_slice(&7i32.to_le_bytes());
    device.write(numbers, &bytes).unwrap();
    let error = cells.to_vec().unwrap_err();
    let LaunchError::UnknownVariant(unknown) = &error else { panic!("{error}") };
    assert_eq!((unknown.of, unknown.number), ("State", -2));
    assert_eq!((size_of::<Class>(), size_of::<State>(), size_of::<Cell>()), (1, 4, 12));
}
