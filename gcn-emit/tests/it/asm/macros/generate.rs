//! Generates random programs of macros, repetitions and conditions, valid and invalid ones.

use std::fmt::Write as _;

use gcn_test_support::Random;

/// Values of arguments, some of which are not numbers.
const VALUES: [&str; 18] = [
    "1", "2", "0", "-1", "3+4", "1 + 2", "2 * 3", "(1 + 2)", "(1 2)", "~0", "0x10", "s1", "!0", "x", "\"4\"",
    "\"\"", "\"5 6\"", "1 - 2",
];
const NUMBERS: [&str; 8] = ["0", "1", "2", "3", "s0", "s1", "s2+1", "s0-s1"];
const SEPARATORS: [&str; 4] = [",", ", ", " ", " , "];
const PARAMETERS: [&str; 4] = ["a", "b", "cc", "d.e"];

/// The program with this seed.
pub fn program(seed: u64) -> String {
    let mut writer = Writer { rng: Random::new(seed ^ 0x6d61_6372), out: String::new(), macros: 0, depth: 0 };
    writer.out += ".set s0, 1\n.set s1, 2\n.set s2, 0\n";
    for number in 0..3 {
        writer.definition(number);
        writer.macros = number + 1;
    }
    writer.statements(&[], 6);
    if writer.rng.one_in(20) {
        writer.out += [".endif\n", ".endr\n", ".else\n", ".purgem m7\n"][writer.rng.below(4)];
    }
    writer.out
}

struct Writer {
    rng: Random,
    out: String,
    /// The number of macros that may be called.
    macros: usize,
    depth: usize,
}

impl Writer {
    fn pick<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.rng.below(all.len())]
    }

    fn line(&mut self, text: &str) {
        self.out += text;
        self.out.push('\n');
    }

    fn definition(&mut self, number: usize) {
        let count = self.rng.below(PARAMETERS.len() + 1);
        let mut head = format!(".macro m{number}");
        for (i, name) in PARAMETERS[..count].iter().enumerate() {
            let separator = if i == 0 { " " } else { self.pick(&SEPARATORS) };
            let last = i + 1 == count;
            let qualifier = match self.rng.below(8) {
                0 => ":req",
                1 if last || self.rng.one_in(4) => ":vararg",
                _ => "",
            };
            let _ = write!(head, "{separator}{name}{qualifier}");
            if self.rng.one_in(4) && qualifier != ":req" {
                let value = self.pick(&VALUES);
                let _ = write!(head, "={value}");
            }
        }
        self.line(&head);
        self.statements(&PARAMETERS[..count], 3);
        if !self.rng.one_in(60) {
            let end = self.pick(&[".endm", ".endmacro", "\t.endm ; end"]);
            self.line(end);
        }
    }

    fn statements(&mut self, parameters: &[&str], most: usize) {
        for _ in 0..1 + self.rng.below(most) {
            self.depth += 1;
            self.statement(parameters);
            self.depth -= 1;
        }
    }

    fn statement(&mut self, parameters: &[&str]) {
        let kinds = if self.depth > 3 { 6 } else { 10 };
        match self.rng.below(kinds) {
            0 | 1 => {
                let (a, b) = (self.number(parameters), self.number(parameters));
                self.line(&format!(".long {a}, {b}"));
            }
            2 => {
                let (a, b) = (self.text(parameters), self.text(parameters));
                let inner = self.pick(&["\\()", "|", " ", "."]);
                self.line(&format!("\t.ascii \"<{a}{inner}{b}>\""));
            }
            3 => {
                let (name, value) = (self.pick(&["s0", "s1", "s2", "t\\@"]), self.number(parameters));
                self.line(&format!(".set {name}, {value}"));
            }
            4 => {
                let index = self.pick(&["s0", "s1&7", "3"]);
                let value = self.number(parameters);
                self.line(&format!("v_mov_b32 v[{index}], ({value}) & 15 ; comment"));
            }
            5 if self.macros > 0 => self.call(parameters),
            6 | 7 => self.condition(parameters),
            8 => self.repetition(parameters),
            _ => {
                let exit = !parameters.is_empty() && self.rng.one_in(3);
                self.line(if exit { ".exitm" } else { "s_nop 0" });
            }
        }
    }

    fn number(&mut self, parameters: &[&str]) -> String {
        if parameters.is_empty() || self.rng.flip() {
            return self.pick(&NUMBERS).to_owned();
        }
        let name = self.pick(parameters);
        let form = self.rng.below(4);
        [format!("\\{name}"), format!("(\\{name})*2"), format!("\\{name}\\()0"), format!("\\{name}+1")][form]
            .clone()
    }

    fn text(&mut self, parameters: &[&str]) -> String {
        match self.rng.below(5) {
            0 => "\\@".to_owned(),
            1 => "\\+".to_owned(),
            2 => "z".to_owned(),
            _ if parameters.is_empty() => "y".to_owned(),
            _ => format!("\\{}", self.pick(parameters)),
        }
    }

    fn values(&mut self, count: usize) -> String {
        let mut values = String::new();
        for i in 0..count {
            let value = if self.rng.one_in(12) { "" } else { self.pick(&VALUES) };
            let separator = if i == 0 { "" } else { self.pick(&SEPARATORS) };
            values += separator;
            values += value;
        }
        values.trim_end().to_owned()
    }

    fn call(&mut self, parameters: &[&str]) {
        let called = self.rng.below(self.macros);
        let count = self.rng.below(4);
        let mut arguments = self.values(count);
        if self.rng.one_in(5) {
            let (name, value) = (self.pick(&PARAMETERS), self.pick(&VALUES));
            arguments = format!("{name}={value}");
        } else if !parameters.is_empty() && self.rng.one_in(3) {
            arguments = format!("\\{}", self.pick(parameters));
        }
        let comment = self.pick(&["", "", " // x", " ; y"]);
        self.line(&format!("  m{called} {arguments}{comment}"));
    }

    fn condition(&mut self, parameters: &[&str]) {
        let test = match self.rng.below(7) {
            0 => format!(".ifb {}", self.text(parameters)),
            1 => format!(".ifnb {}", self.text(parameters)),
            2 => format!(".ifc {}, {}", self.text(parameters), self.pick(&["1", "x", "y"])),
            3 => format!(".ifdef {}", self.pick(&["s0", "m0", "t0", "unknown"])),
            4 => format!(".ifeqs \"{}\",\"1\"", self.text(parameters)),
            _ => {
                let name = self.pick(&[".if", ".ifeq", ".ifne", ".ifgt", ".ifge", ".iflt", ".ifle"]);
                format!("{name} {}", self.number(parameters))
            }
        };
        self.line(&test);
        self.statements(parameters, 2);
        if self.rng.one_in(3) {
            let number = self.number(parameters);
            self.line(&format!(".elseif {number}"));
            self.statements(parameters, 2);
        }
        if self.rng.flip() {
            self.line(".else");
            self.statements(parameters, 2);
        }
        if !self.rng.one_in(60) {
            self.line(".endif");
        }
    }

    fn repetition(&mut self, parameters: &[&str]) {
        let count = 1 + self.rng.below(3);
        let head = match self.rng.below(3) {
            0 => format!(".rept {}", self.pick(&["0", "1", "3", "s1"])),
            1 => format!(".irp q, {}", self.values(count)),
            _ => format!(".irpc q, {}", self.pick(&["12", "abc", "\"1 2\"", "7", "021"])),
        };
        self.line(&head);
        let inner: Vec<&str> = if head.starts_with(".rept") { vec![] } else { vec!["q"] };
        let names = [parameters, &inner].concat();
        self.statements(&names, 2);
        if !self.rng.one_in(60) {
            self.line(".endr");
        }
    }
}
