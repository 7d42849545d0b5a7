//! Tests `gcn timeline`: what the page draws in Chromium, and the static picture.

use std::path::PathBuf;

use gcn_test_support::browser::{self, Window};
use serde_json::Value;

use crate::{TWO_KERNELS, gcn};

/// A kernel of two waves: twenty trips of a loop with a load, a wait for it and a barrier.
const BODY: &str = "s_load_dwordx2 s[4:5], s[0:1], 0x0
	s_movk_i32 s7, 20
	v_lshlrev_b32_e32 v1, 2, v0
	s_waitcnt lgkmcnt(0)
.Ltrip:
	global_load_dword v2, v1, s[4:5]
	s_sub_u32 s7, s7, 1
	s_waitcnt vmcnt(0)
	v_add_u32_e32 v2, 1, v2
	global_store_dword v1, v2, s[4:5]
	s_barrier
	s_cmp_lg_u32 s7, 0
	s_cbranch_scc1 .Ltrip
";
const TRIPS: usize = 20;
const SPEC: &str = r#"{"kernel": "fill", "grid": 1, "workgroup": 128,
    "args": {"x": {"buffer": "u32", "count": 128}, "value": {"u32": 0}}}"#;
/// A part of the file's name, and therefore of every source line on the page: HTML that must not be interpreted.
const HOSTILE: &str = "<img src=x onerror=document.title=1>";

/// A folder with the kernel and its spec.
struct Case {
    folder: PathBuf,
    file: String,
    spec: String,
}

impl Case {
    fn new(name: &str) -> Case {
        let folder = std::env::temp_dir().join(format!("gcn-tools-timeline-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let path = |name: &str| folder.join(name).to_string_lossy().into_owned();
        let (file, spec) = (path(&format!("{HOSTILE}.s")), path("spec.json"));
        let (before, rest) = TWO_KERNELS.split_once("s_load_dwordx2").expect("the body of `fill`");
        let (_, after) = rest.split_once("s_endpgm").expect("its end");
        let text =
            format!("{before}{BODY}\ts_endpgm{after}").replacen("next_free_sgpr 7", "next_free_sgpr 8", 1);
        std::fs::write(&file, text).expect("the kernel is written");
        std::fs::write(&spec, SPEC).expect("the spec is written");
        Case { folder, file, spec }
    }

    /// The output of `gcn COMMAND FILE --args SPEC`.
    fn run(&self, command: &str, more: &[&str]) -> String {
        gcn(&[&[command, self.file.as_str(), "--args", self.spec.as_str()], more].concat()).text()
    }

    /// The result of a script that runs on the page.
    fn see(&self, more: &[&str], window: Window, script: &str) -> Option<Value> {
        let chromium = browser::chromium()?;
        let page = self.run("timeline", &[&["-o", "-"], more].concat());
        let answer = browser::ask(&chromium, &self.folder, &page, script, window);
        Some(serde_json::from_str(&answer).unwrap_or_else(|_| panic!("{answer}")))
    }
}

impl Drop for Case {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

const WIDE: Window = Window { size: (1300, 900), dark: false };

/// JavaScript functions for the scripts, which read the positions of bars on the screen.
const BARS: &str = "
    // Headless Chromium draws no frames, so `requestAnimationFrame` would never call back.
    window.requestAnimationFrame = draw => setTimeout(draw, 0);
    const frame = () => new Promise(done => setTimeout(done, 5));
    const box = e => { const r = e.getBoundingClientRect(); return { x: r.left, y: r.top, w: r.width, h: r.height }; };
    const bars = () => [...document.querySelectorAll('#chart .bar')].map(e =>
        ({ ...box(e), row: +e.dataset.row, style: e.classList[1], fill: getComputedStyle(e).fill }));
    const names = () => [...document.querySelectorAll('#chart .label')].map(e => e.firstChild.data);";

/// The bars of a wave fill its row from start to end at the scale of the axis. The cycles of each cause equal those of the report, which a
/// run without a recording produces.
#[test]
fn bars_are_as_long_as_the_report_says() {
    let case = Case::new("bars");
    let script = format!(
        "{BARS} report(JSON.stringify({{ bars: bars(), names: names(), chart: box(chart), left, end: data.end }}));"
    );
    let Some(seen) = case.see(&["--trips", "all"], WIDE, &script) else { return };
    let timed: Value =
        serde_json::from_str(&case.run("sim", &["--timed", "--cus", "1", "--json"])).expect("JSON");
    let timed = &timed["timed"];
    let cycles = timed["cycles"].as_f64().expect("cycles");
    assert_eq!(seen["end"].as_f64(), Some(cycles));
    let number = |value: &Value| value.as_f64().expect("a number");
    let names: Vec<&str> =
        seen["names"].as_array().expect("names").iter().filter_map(Value::as_str).collect();
    let scale = (number(&seen["chart"]["w"]) - number(&seen["left"]) - 8.0) / cycles;
    let bars: Vec<&Value> = seen["bars"].as_array().expect("bars").iter().collect();
    let row = |name: &str| {
        names.iter().position(|n| n.starts_with(name)).unwrap_or_else(|| panic!("{name}: {names:?}"))
    };
    let of = |row: usize, style: &str| -> f64 {
        let bars = bars.iter().filter(|b| b["row"] == row && (style.is_empty() || b["style"] == style));
        // A gap of one pixel separates each bar from the next.
        bars.map(|b| number(&b["w"]) + if number(&b["w"]) > 3.0 { 1.0 } else { 0.0 }).sum::<f64>() / scale
    };
    for wave in timed["by_wave"].as_array().expect("waves") {
        let row = row(&format!("wg 0 wave {}", wave["wave"]));
        let life = number(&wave["end"]) - number(&wave["start"]);
        assert!((of(row, "") / life - 1.0).abs() < 0.05, "{} of {life} cycles in row {row}", of(row, ""));
        for (style, cause) in [("s-waitcnt", "WAITCNT"), ("s-barrier-wait", "BARRIER_WAIT")] {
            let lost = number(&wave["stalls"][cause]);
            let drawn = of(row, style);
            assert!((drawn - lost).abs() < 0.05 * life, "{cause}: {drawn} drawn, {lost} lost");
        }
    }
    // Loads and stores do not overlap in this pipeline.
    let unit = timed["pipes"]
        .as_array()
        .expect("pipes")
        .iter()
        .find(|p| p["pipe"] == "Flat")
        .expect("vector memory");
    let busy = number(&unit["utilization"]) * cycles;
    assert!(
        (of(row("vector memory"), "") / busy - 1.0).abs() < 0.25,
        "{} {busy}",
        of(row("vector memory"), "")
    );
    // Nothing is drawn over the names or past the edge of the chart.
    let (from, to) = (number(&seen["chart"]["x"]) + number(&seen["left"]), number(&seen["chart"]["w"]));
    assert!(bars.iter().all(|b| number(&b["x"]) >= from - 0.1 && number(&b["x"]) + number(&b["w"]) <= to));
}

/// A wait has the colour of its cause in the legend, and names the load, the model's rule and the hazard rule.
#[test]
fn waits_say_why() {
    let case = Case::new("waits");
    let script = format!(
        "{BARS}
        const legend = [...document.querySelectorAll('#legend li')].find(li => li.textContent === 'WAITCNT');
        const colour = getComputedStyle(legend.querySelector('rect')).fill;
        // Selects the longest wait.
        const bar = [...document.querySelectorAll('#chart .s-waitcnt')].reduce((a, b) => (box(a).w > box(b).w ? a : b));
        const r = box(bar), at = document.elementFromPoint(r.x + r.w / 2, r.y + r.h / 2);
        at.dispatchEvent(new PointerEvent('pointermove', {{ bubbles: true, pointerId: 1 }}));
        report(JSON.stringify({{ same: at === bar, colour, fill: getComputedStyle(bar).fill, panel: panel.innerText,
            images: document.images.length, title: document.title }}));"
    );
    let Some(seen) = case.see(&[], WIDE, &script) else { return };
    assert_eq!((&seen["same"], &seen["colour"]), (&Value::Bool(true), &seen["fill"]), "{seen}");
    let panel = seen["panel"].as_str().expect("text");
    for part in [
        "waits: WAITCNT",
        "The last to be done: global_load_dword v2",
        "vmcnt",
        "v_add_u32",
        "cycle ",
        HOSTILE,
    ] {
        assert!(panel.contains(part), "{part}: {panel}");
    }
    // The file name is shown as text and not interpreted as HTML.
    assert_eq!((&seen["images"], &seen["title"]), (&Value::from(0), &Value::from("fill: timeline")));
}

/// Each barrier is a line across the rows of both waves. The trips between the first two and the last two are folded.
#[test]
fn barriers_are_lines_and_trips_are_folded() {
    let case = Case::new("folds");
    let script = format!(
        "{BARS}
        const rows = bars().filter(b => data.rows[b.row].wave).map(b => [b.y, b.y + b.h]);
        report(JSON.stringify({{ lines: [...document.querySelectorAll('#chart .barrier')].map(box),
            top: Math.min(...rows.map(r => r[0])), bottom: Math.max(...rows.map(r => r[1])),
            folds: [...document.querySelectorAll('#chart .fold-text')].map(e => e.textContent),
            folded: [...document.querySelectorAll('#chart .fold')].map(box), bars: bars().length }}));"
    );
    let Some(all) = case.see(&["--trips", "all"], WIDE, &script) else { return };
    let lines = all["lines"].as_array().expect("lines");
    assert_eq!((lines.len(), all["folds"].as_array().map(Vec::len)), (TRIPS, Some(0)));
    for line in lines {
        let (top, tall) = (line["y"].as_f64().unwrap_or(0.0), line["h"].as_f64().unwrap_or(0.0));
        let (first, last) = (all["top"].as_f64().unwrap_or(0.0), all["bottom"].as_f64().unwrap_or(0.0));
        assert!(top <= first + 1.0 && top + tall >= last - 1.0, "{line} from {first} to {last}");
    }
    let some = case.see(&[], WIDE, &script).expect("a browser");
    assert_eq!(some["folds"], serde_json::json!([format!("{} trips", TRIPS - 4)]));
    assert!(some["folded"][0]["w"].as_f64().is_some_and(|w| w > 5.0), "{some}");
    // Two trips at the start and two at the end are shown; the fold hides the barriers of the others.
    assert_eq!(some["lines"].as_array().map(Vec::len), Some(4));
    assert!(some["bars"].as_u64() < all["bars"].as_u64().map(|n| n * 2 / 3), "{some}");
}

/// The wheel zooms around the pointer; keys zoom, scroll and show everything.
#[test]
fn wheel_and_keys_zoom() {
    let case = Case::new("zoom");
    let script = format!(
        "{BARS}
        const seen = {{ all: {{ ...view }} }}, r = box(chart), at = left + (width - left - 8) / 4;
        const key = async key => {{ document.body.dispatchEvent(new KeyboardEvent('keydown', {{ key, bubbles: true }})); await frame(); }};
        const wheel = new WheelEvent('wheel', {{ deltaY: -500, clientX: r.x + at, clientY: r.y + 30, bubbles: true, cancelable: true }});
        const before = bars().length;
        chart.dispatchEvent(wheel);
        await frame();
        Object.assign(seen, {{ stopped: wheel.defaultPrevented, wheel: {{ ...view }} }});
        await key('ArrowRight'); seen.right = {{ ...view }};
        await key('+'); seen.plus = {{ ...view }};
        for (let i = 0; i < 60; i++) await key('+');
        seen.most = {{ ...view }};
        const issue = data.rows.find(row => row.wave).bars.find(bar => !data.classes[bar.kind].wait);
        show(issue.from - 4, issue.from + 20);
        await frame();
        seen.texts = document.querySelectorAll('#chart .text').length;
        await key('0'); seen.fit = {{ ...view }};
        seen.redrawn = bars().length === before;
        report(JSON.stringify(seen));"
    );
    let Some(seen) = case.see(&["--trips", "1"], WIDE, &script) else { return };
    let view =
        |name: &str| (seen[name]["from"].as_f64().unwrap_or(-1.0), seen[name]["to"].as_f64().unwrap_or(-1.0));
    let span = |name| view(name).1 - view(name).0;
    let ((from, to), (zoomed, end)) = (view("all"), view("wheel"));
    assert!(seen["stopped"] == true && span("wheel") < 0.6 * span("all"), "{seen}");
    // The cycle under the pointer stays at the same position.
    let (before, after) = (from + (to - from) / 4.0, zoomed + (end - zoomed) / 4.0);
    assert!((before - after).abs() < 0.01 * span("all"), "{before} {after}");
    assert!(view("right").0 > zoomed && (span("right") - span("wheel")).abs() < 1e-6, "{seen}");
    assert!(span("plus") < span("right") && (span("most") - 8.0).abs() < 1e-6, "{seen}");
    assert!(
        seen["fit"] == seen["all"] && seen["redrawn"] == true && seen["texts"].as_u64() > Some(0),
        "{seen}"
    );
}

/// The page follows the user's preference for dark colours, and fits the screen of a telephone.
#[test]
fn dark_and_narrow() {
    let case = Case::new("dark");
    let script = format!(
        "{BARS}
        const light = colour => {{ const [r, g, b] = colour.match(/\\d+/g); return (+r + +g + +b) / 3; }};
        const body = getComputedStyle(document.body);
        report(JSON.stringify({{ ground: light(body.backgroundColor), ink: light(body.color),
            over: document.documentElement.scrollWidth - innerWidth, width: innerWidth, names: names(), bars: bars().length }}));"
    );
    let see = |size, dark| case.see(&[], Window { size, dark }, &script);
    for (size, names) in [((1300, 900), "vector memory"), ((500, 900), "VMEM")] {
        for dark in [false, true] {
            let Some(seen) = see(size, dark) else { return };
            let (ground, ink) = (seen["ground"].as_f64().unwrap_or(0.0), seen["ink"].as_f64().unwrap_or(0.0));
            let contrast = if dark { ink - ground } else { ground - ink };
            assert!(contrast > 150.0, "{size:?} {dark}: {seen}");
            assert_eq!((&seen["over"], &seen["width"]), (&Value::from(0), &Value::from(size.0)), "{seen}");
            assert!(seen["names"].as_array().is_some_and(|n| n.iter().any(|n| n == names)), "{seen}");
            assert!(seen["bars"].as_u64() > Some(50), "{seen}");
        }
    }
}

/// A page refers to nothing outside of its file; a picture is XML with a bar for each barrier wait.
#[test]
fn files_stand_alone() {
    let case = Case::new("files");
    let page = case.run("timeline", &["-o", "-"]);
    for reference in ["http:", "https:", "src=\"", "href=", "@import", "url("] {
        assert!(!page.contains(reference), "{reference}");
    }
    let picture = case.folder.join("t.svg").to_string_lossy().into_owned();
    case.run("timeline", &["-o", &picture, "--trips", "all"]);
    let picture = std::fs::read_to_string(picture).expect("a picture");
    assert!(picture.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
    assert_eq!(picture.matches("class=\"barrier\"").count(), TRIPS);
    assert_eq!(picture.matches("the last to be done: global_load_dword").count(), 2 * TRIPS);
    let events = case.folder.join("t.json").to_string_lossy().into_owned();
    case.run("timeline", &["-o", &events]);
    let events: Value = serde_json::from_slice(&std::fs::read(events).expect("events")).expect("JSON");
    assert!(events["traceEvents"].as_array().is_some_and(|e| e.len() > 100));
}

/// A browser takes a minute to draw ten thousand elements, so a large picture has one element for all bars of the same row and class.
#[test]
fn a_large_picture_has_few_elements() {
    let case = Case::new("large");
    let picture = case.folder.join("t.svg").to_string_lossy().into_owned();
    let draw = |more: &[&str]| {
        case.run("timeline", &[&["-o", picture.as_str(), "--trips", "all"], more].concat());
        std::fs::read_to_string(&picture).expect("the picture")
    };
    let bars = |text: &str| {
        let rects = text
            .lines()
            .filter(|line| line.starts_with("<rect class=\"p-") || line.starts_with("<rect class=\"s-"));
        let paths = text.lines().filter(|line| line.starts_with("<path "));
        (rects.count(), paths.clone().count(), paths.map(|path| path.matches('M').count()).sum::<usize>())
    };
    let (rects, paths, together) = bars(&draw(&["--grid", "16"]));
    assert!(rects == 0 && paths < 400 && together > 2_000, "{rects} {paths} {together}");
    let (rects, paths, _) = bars(&draw(&[]));
    assert!(rects > 100 && paths == 0, "{rects} {paths}");
    let part = draw(&["--cycles", "1000..1500", "--width", "750"]);
    assert!(
        part.contains("width=\"750\"") && part.contains(">1400</text>") && !part.contains(">1600</text>"),
        "{part}"
    );
    let wrong =
        [case.file.as_str(), "--args", case.spec.as_str(), "-o", picture.as_str(), "--cycles", "7..7"];
    assert!(gcn(&[&["timeline"], &wrong[..]].concat()).failure(2).contains("the first below the second"));
}

#[test]
fn what_is_wrong_is_said() {
    let case = Case::new("wrong");
    let run = |more: &[&str]| gcn(&[&["timeline", case.file.as_str()], more].concat());
    let args = ["--args", case.spec.as_str()];
    assert!(run(&["-o", "-"]).failure(2).contains("prints a spec to fill in"));
    assert!(
        run(&[&args[..], &["-o", "t.png"]].concat()).failure(2).contains("must end in .html, .svg or .json")
    );
    assert!(
        run(&[&args[..], &["-o", "-", "--trips", "0"]].concat()).failure(2).contains("above 0, or `all`")
    );
    assert!(run(&[&args[..], &["-o", "-", "--set", "x=1"]].concat()).failure(2).contains("no parameter `x`"));
}
