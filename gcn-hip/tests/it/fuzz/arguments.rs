//! Generates arguments: valid ones, and invalid ones of all kinds.

use super::{OWN, Sequence};
use crate::api::P;

/// The size in bytes of each object in host memory that a call gets.
const ROOM: usize = 1 << 12;

/// Host callbacks for the calls.
pub extern "C" fn plain(_: P) {}
extern "C" fn of_stream(_: P, _: u32, _: P) {}

impl Sequence {
    /// Allocates host memory that starts with these words.
    pub fn room(&mut self, words: Vec<u64>) -> P {
        let mut words = words;
        words.resize(ROOM / 8, 0);
        self.kept.push(words.into());
        self.kept.last().unwrap().as_ptr() as P
    }

    /// An object of a kind, mostly one that exists.
    fn thing(&mut self, kind: char) -> P {
        if self.one_in(12) {
            let junk = [0, 77, 0x6a00_0000_0010, 1 << 47][self.below(4)];
            // A null handle means the default stream, or no event, and is valid.
            self.wrong |= junk != 0 && kind != 'l';
            return junk;
        }
        match self.made.get(&kind) {
            Some(all) if !all.is_empty() => {
                let at = all.len() - 1 - self.random.below(all.len().min(6));
                let (handle, lives) = all[at];
                self.wrong |= !lives;
                handle
            }
            _ => 0,
        }
    }

    fn memory(&mut self) -> P {
        if self.one_in(5) {
            self.live = false;
            return if self.one_in(3) { 0 } else { self.own.as_ptr() as P + OWN / 2 + self.random.below(64) };
        }
        let made = self.made.get(&'p').map_or(&[][..], Vec::as_slice);
        let Some(&(at, lives)) = made.get(made.len().saturating_sub(1 + self.random.below(6))) else {
            self.live = false;
            return 0;
        };
        self.live &= lives;
        // An offset at the start, inside, at the end or past the end of an allocation; far past the end there is an unused page.
        let offset = [0, 0, 0, 4, 63, 256, 4096, 70_000][self.random.below(8)];
        self.live &= offset < 256;
        at + offset
    }

    fn size(&mut self) -> P {
        match self.below(8) {
            0 => 0,
            1 => [usize::MAX, 1 << 40, isize::MAX as usize, u32::MAX as usize][self.below(4)],
            2 => 65_536,
            _ => 1 + self.below(300),
        }
    }

    pub fn argument(&mut self, kind: char) -> P {
        match kind {
            'P' | 'S' | 'E' | 'M' | 'U' | 'G' | 'X' | 'N' | 'L' | 'O' => {
                if self.one_in(16) {
                    return 0;
                }
                let count = if kind == 'O' { self.below(400) as u64 } else { 0 };
                self.room(vec![count])
            }
            's' | 'e' | 'm' | 'u' | 'g' | 'x' | 'n' | 'l' | '7' => self.thing(kind),
            'p' => self.memory(),
            'z' => self.size(),
            // Waits for a value that is present already, since nothing would ever write another one.
            '0' => 0,
            'k' => self.below(6),
            'i' => [0, 1, 2, 3, 4, 7, 8, 50, 98, u32::MAX as usize, i32::MAX as usize][self.below(11)],
            '8' => [4, 4, 8, 0][self.below(4)],
            '9' => [701, 70_100_000, 0, u32::MAX as usize][self.below(4)],
            'f' => [0, 0, 0, 1, 2, 4, 8, 0x4000_0000][self.below(8)],
            'd' => [0, 0, 1, 1, 2, 63, u32::MAX as usize][self.below(7)],
            'y' => [1, 1, 1, 2, 3, 0, u32::MAX as usize][self.below(7)],
            'b' => [1, 1, 1, 2, 64, 0, 1025, u32::MAX as usize][self.below(8)],
            'w' => [0, 1, 2, 3][self.below(4)],
            'v' => [0, 1, 0x6a00_0000_0010, self.own.as_ptr() as P][self.below(4)],
            'c' => [0, plain as *const () as P][self.below(2)],
            't' => [0, of_stream as *const () as P][self.below(2)],
            'h' => self.name(),
            'j' => {
                let wrong = self.wrong;
                let node = self.thing('n');
                self.wrong = wrong;
                node
            }
            'a' => {
                // The function looks at only as many objects as its count says, so a destroyed one need not be refused.
                let wrong = self.wrong;
                let nodes = (0..4).map(|_| self.thing('n') as u64).collect();
                self.wrong = wrong;
                if self.one_in(8) { 0 } else { self.room(nodes) }
            }
            'q' => {
                let at = self.memory() as u64;
                let values = self.room(vec![at, 3]) as u64;
                self.live = true; // Kernels may be given anything.
                if self.one_in(16) { 0 } else { self.room(vec![values, values + 8, values + 8]) }
            }
            'Q' => {
                if !self.one_in(4) {
                    return 0;
                }
                let size = [0, 8, 12, 16, 4096, 1 << 20][self.below(6)];
                let (at, size) = (self.memory() as u64, self.room(vec![size]) as u64);
                self.live = true;
                let values = self.room(vec![at, 3]) as u64;
                let last = [3, 3, 3, 9][self.below(4)];
                self.room(vec![1, values, 2, size, last])
            }
            'r' => self.structure("p#hzzz"),
            '2' => self.structure("zztpp0zzztpp0zzh"),
            '3' => self.structure("0zzzpzzz0zzzpzzzzhhk"),
            '4' => self.launch(),
            '5' => self.structure("!@00"),
            '6' => self.structure("cp"),
            'o' => [0, 1, 1, 2, 2, 3][self.below(6)],
            '1' => {
                let choice = self.below(8);
                self.wrong |= choice < 2;
                [0, 0x6a00_0000_0010, self.variable()][choice.min(2)]
            }
            _ => unreachable!("{kind}"),
        }
    }

    /// A structure whose fields have these kinds: `t` is a memory type, `#` an element size, `h` a number of rows, `@` a location. Sizes
    /// are small, so that a copy of host memory stays within existing memory.
    fn structure(&mut self, kinds: &str) -> P {
        let words = kinds.chars().map(|kind| match kind {
            'z' => self.below(70),
            't' => self.below(5),
            '#' => [1, 2, 4, 3][self.below(4)],
            'h' => [0, 1, 1, 2][self.below(4)],
            // The location type for a device, and the device.
            '@' => 1 | self.argument('d') << 32,
            '0' => 0,
            // The only allocation type that pools support.
            '!' => 1,
            kind => self.argument(kind),
        });
        let words = words.map(|word| word as u64).collect();
        self.live = false;
        if self.one_in(12) { 0 } else { self.room(words) }
    }

    /// The parameters of a kernel node.
    fn launch(&mut self) -> P {
        let both = |low: P, high: P| (low & 0xffff_ffff | high << 32) as u64;
        let right = [64, 1, 1, 1, 1, 1];
        let [x, y, z, gx, gy, gz] = if self.one_in(2) {
            right
        } else {
            [b'b', b'b', b'b', b'y', b'y', b'y'].map(|kind| self.argument(kind.into()))
        };
        let (function, arguments) = (self.thing('u') as u64, self.argument('q') as u64);
        let fields = vec![both(x, y), both(z, 0), 0, function, both(gx, gy), both(gz, 0), arguments, 0];
        self.room(fields)
    }

    fn name(&mut self) -> P {
        const NAMES: [&[u8]; 12] = [
            b"add\0",
            b"add\0",
            b"add\0",
            b"add\0",
            b"add\0",
            b"total\0",
            b"hipMalloc\0",
            b"\xff\0",
            b"\0",
            b"beyond\0",
            b"stop\0",
            b"0000:01:00.0\0",
        ];
        if self.one_in(12) {
            return 0;
        }
        let name = if self.one_in(200) { &b"never\0"[..] } else { NAMES[self.below(NAMES.len())] };
        let words = name.chunks(8).map(|c| c.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)));
        let words = words.collect();
        self.room(words)
    }
}
