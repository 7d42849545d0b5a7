//! Pictures that no other tool draws: lanes, banks, barriers.

use std::fmt::Write as _;

use gcn_dsl::prelude::*;

use crate::{Picture, TARGET, barriers, lds};

/// An SVG document in the making. Colours come from classes, so that pictures suit light and dark pages.
struct Drawing {
    width: u32,
    height: u32,
    body: String,
}

/// The colours of the classes, for light and dark pages.
const STYLE: &str = "text{font:12px sans-serif;fill:#222}.n{fill:#fff;stroke:#888}.a{fill:#7fb3e6;stroke:#446}\
.b{fill:#f0a35e;stroke:#644}.c{fill:#8fce8b;stroke:#464}.o{fill:#ddd;stroke:#aaa}.l{stroke:#666;fill:none}\
@media(prefers-color-scheme:dark){text{fill:#ddd}.n{fill:#222;stroke:#888}.a{fill:#2f6ba5}.b{fill:#a55f1c}\
.c{fill:#3d7a3a}.o{fill:#444;stroke:#666}.l{stroke:#aaa}}";

impl Drawing {
    fn new(width: u32, height: u32) -> Drawing {
        Drawing { width, height, body: String::new() }
    }

    fn cell(&mut self, class: &str, at: (u32, u32), size: (u32, u32), label: &str) {
        let ((x, y), (w, h)) = (at, size);
        let _ = writeln!(self.body, r#"<rect class="{class}" x="{x}" y="{y}" width="{w}" height="{h}"/>"#);
        if !label.is_empty() {
            self.text((x + w / 2, y + h / 2 + 4), "middle", label);
        }
    }

    fn text(&mut self, (x, y): (u32, u32), anchor: &str, text: &str) {
        let text = text.replace('&', "&amp;").replace('<', "&lt;");
        let _ = writeln!(self.body, r#"<text x="{x}" y="{y}" text-anchor="{anchor}">{text}</text>"#);
    }

    fn line(&mut self, (x1, y1): (u32, u32), (x2, y2): (u32, u32)) {
        let _ = writeln!(self.body, r#"<line class="l" x1="{x1}" y1="{y1}" x2="{x2}" y2="{y2}"/>"#);
    }

    fn svg(&self, title: &str) -> String {
        let Drawing { width, height, body } = self;
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
             height=\"{height}\" role=\"img\">\n<title>{title}</title>\n<style>{STYLE}</style>\n{body}</svg>\n"
        )
    }
}

/// Two workgroups of two waves of 64 lanes, as the kernel `who` numbers them.
fn hierarchy() -> String {
    let mut out = Drawing::new(760, 190);
    for group in 0..2u32 {
        let left = 8 + group * 380;
        out.text(
            (left, 18),
            "start",
            &format!("workgroup {group}: work-items {} to {}", group * 128, group * 128 + 127),
        );
        for wave in 0..2u32 {
            let top = 30 + wave * 78;
            out.text((left, top + 14), "start", &format!("wave {wave}"));
            for lane in 0..64u32 {
                let at = (left + 52 + lane % 32 * 9, top + 2 + lane / 32 * 22);
                out.cell(if wave == 0 { "a" } else { "b" }, at, (9, 20), "");
            }
            out.text((left + 52, top + 60), "start", "lane 0");
            out.text((left + 52 + 288, top + 60), "end", "lane 63");
        }
    }
    out.svg("Workgroups consist of waves, waves of 64 lanes")
}

/// What happens to 8 of 64 lanes at a branch.
fn divergence() -> String {
    let mut out = Drawing::new(760, 200);
    let x = [12u32, 3, 15, 1, 0, 11, 2, 7];
    type Step = (&'static str, fn(u32) -> bool);
    let steps: [Step; 4] =
        [("x[i]", |_| true), ("if x[i] > 9 {", |x| x > 9), ("} else {", |x| x <= 9), ("}", |_| true)];
    for (row, (label, active)) in steps.into_iter().enumerate() {
        let top = 12 + row as u32 * 44;
        out.text((8, top + 22), "start", label);
        for (lane, x) in x.into_iter().enumerate() {
            let class = if active(x) { ["n", "a", "b", "n"][row] } else { "o" };
            let text = if row == 0 { x.to_string() } else { String::new() };
            out.cell(class, (170 + lane as u32 * 60, top), (52, 34), &text);
        }
    }
    out.text((170, 196), "start", "lanes 0 to 7; grey: switched off");
    out.svg("A branch runs both of its sides, each with its own lanes")
}

/// Lanes 0 to 31 of a column read, and the banks that they meet in.
fn banks(pitch: u32) -> String {
    let banks = TARGET.lds_banks();
    let mut out = Drawing::new(760, 120 + 14 * lds::most_in_a_bank(pitch) as u32);
    let mut filled = vec![0u32; banks as usize];
    out.text((8, 18), "start", &format!("row pitch of {pitch} words: lane i reads word {pitch} * i"));
    for bank in 0..banks {
        out.cell("n", (8 + bank * 23, 30), (22, 20), &bank.to_string());
    }
    out.text((8, 70), "start", "banks; below each the lanes (of the first 32) that want a word of it");
    for (lane, bank) in lds::banks(pitch).take(32).enumerate() {
        let Some(depth) = filled.get_mut(bank as usize) else { continue };
        let class = if *depth == 0 { "c" } else { "b" };
        out.cell(class, (8 + bank * 23, 80 + *depth * 14), (22, 13), "");
        out.text((8 + bank * 23 + 11, 80 + *depth * 14 + 11), "middle", &lane.to_string());
        *depth += 1;
    }
    out.svg(&format!("Banks of a column with a pitch of {pitch} words"))
}

/// A tile of 16 x 16 pixels with its halo of two, and how many of the first 32 lanes want each bank.
fn halo() -> String {
    let mut out = Drawing::new(760, 330);
    out.text((8, 18), "start", "20 x 20 cells for 16 x 16 pixels");
    for (row, column) in (0..20u32).flat_map(|row| (0..20u32).map(move |column| (row, column))) {
        let inside = (2..18).contains(&row) && (2..18).contains(&column);
        let needed = row < 5 && (8..13).contains(&column);
        let class = match (row, column) {
            (2, 10) => "b",
            _ if needed => "c",
            _ if inside => "a",
            _ => "o",
        };
        out.cell(class, (8 + column * 14, 30 + row * 14), (13, 13), "");
    }
    for (line, (class, text)) in [
        ("b", "a pixel"),
        ("c", "the 5 x 5 that it needs"),
        ("a", "the other pixels of the workgroup"),
        ("o", "the halo: pixels of its neighbours"),
    ]
    .into_iter()
    .enumerate()
    {
        let top = 40 + line as u32 * 28;
        out.cell(class, (330, top), (13, 13), "");
        out.text((354, top + 11), "start", text);
    }
    let banks = TARGET.lds_banks();
    for (tile, (columns, width)) in [(20u32, 16u32), (36, 32)].into_iter().enumerate() {
        let top = 190 + tile as u32 * 70;
        let what = format!("banks of lanes 0 to 31, {width} in a row of the tile");
        out.text((330, top - 6), "start", &what);
        let mut wanted = vec![0u32; banks as usize];
        for lane in 0..32u32 {
            if let Some(count) =
                wanted.get_mut((lane / width * columns + lane % width) as usize % banks as usize)
            {
                *count += 1;
            }
        }
        for (bank, count) in wanted.into_iter().enumerate() {
            let class = ["o", "c", "b"][count.min(2) as usize];
            out.cell(class, (330 + bank as u32 * 13, top), (12, 24), &count.to_string());
        }
    }
    out.svg("A tile with its halo, and how many of the first 32 lanes want each bank")
}

/// Two waves at a barrier.
fn barrier_picture() -> String {
    let mut out = Drawing::new(760, 150);
    let bars: [[(&str, &str, u32, u32); 3]; 2] = [
        [
            ("a", "store to LDS", 90, 130),
            ("o", "waits at the barrier", 220, 250),
            ("c", "load from LDS", 470, 130),
        ],
        [("n", "other work", 90, 240), ("a", "store to LDS", 330, 140), ("c", "load from LDS", 470, 130)],
    ];
    for (wave, row) in bars.into_iter().enumerate() {
        let top = 20 + 50 * wave as u32;
        out.text((8, top + 22), "start", &format!("wave {wave}"));
        for (class, text, x, width) in row {
            out.cell(class, (x, top), (width, 34), text);
        }
    }
    out.line((470, 8), (470, 118));
    out.text((470, 138), "middle", "barrier: all waves have arrived");
    out.svg("A wave waits at a barrier until all waves of its workgroup have arrived")
}

/// Six exchanges that add up the lanes of a wave, shown for eight lanes and three exchanges.
fn butterfly() -> String {
    let mut out = Drawing::new(760, 230);
    for step in 0..4u32 {
        let top = 20 + step * 54;
        let label = if step == 0 { "values".to_owned() } else { format!("^ {}", 8 >> step) };
        out.text((8, top + 18), "start", &label);
        for lane in 0..8u32 {
            out.cell(
                ["n", "a", "b", "c"][step as usize],
                (100 + lane * 80, top),
                (60, 26),
                &(1u32 << step).to_string(),
            );
            if step > 0 {
                let other = lane ^ (8 >> step);
                out.line((130 + lane * 80, top - 28), (130 + lane * 80, top));
                out.line((130 + other * 80, top - 28), (130 + lane * 80, top));
            }
        }
    }
    out.svg("Each step adds the value of the lane whose number differs in one bit; the numbers say how many values are in a sum")
}

/// The pictures of this module.
///
/// # Errors
/// A kernel could not be built or run.
pub fn pictures() -> Result<Vec<Picture>, crate::Fault> {
    let reverse = barriers::reverse.timeline(TARGET, Grid::x(1), (&mut [0; 256],))?.svg();
    let (x, mut y) = (vec![1.0; 1024], vec![1.0; 1024]);
    let saxpy = crate::first::saxpy.timeline(TARGET, Grid::x(4), (2.0, &x, &mut y))?.svg();
    Ok(vec![
        Picture { name: "halo", svg: halo() },
        Picture { name: "hierarchy", svg: hierarchy() },
        Picture { name: "divergence", svg: divergence() },
        Picture { name: "banks-32", svg: banks(32) },
        Picture { name: "banks-33", svg: banks(33) },
        Picture { name: "barrier", svg: barrier_picture() },
        Picture { name: "butterfly", svg: butterfly() },
        Picture { name: "timeline-reverse", svg: reverse },
        Picture { name: "timeline-saxpy", svg: saxpy },
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_halo_shows_the_conflicts_of_the_square_tile_only() {
        // A square tile has four banks that two lanes want; the wide one has none. Nothing else is drawn with a 2.
        assert_eq!(halo().matches(">2<").count(), 4);
        assert_eq!(halo().matches(">0<").count(), 4);
    }
}
