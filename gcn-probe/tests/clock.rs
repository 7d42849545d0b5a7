//! The closed loop of the suite `clock`: against the timed mode, what is measured is what its table of parameters says.
#![allow(missing_docs, reason = "a test")]

use gcn_isa::Target;
use gcn_probe::clock;
use gcn_probe::launch::Launch;
use gcn_sim::timed::{self, Config};

type Seen<'a> = &'a mut dyn FnMut(&[u8]) -> bool;

fn with(config: &Config) -> impl FnMut(&Launch, u32, Seen) -> Result<(), String> {
    move |launch, _, seen| {
        seen(&launch.simulate_timed(config)?);
        Ok(())
    }
}

#[test]
fn look() {
    let names = std::env::var("T").unwrap_or_else(|_| "gfx942".to_owned());
    let only = std::env::var("X").unwrap_or_default();
    for name in names.split(',') {
        let target: Target = name.parse().unwrap();
        for task in clock::tasks(target) {
            if !task.name.contains(&only) {
                continue;
            }
            let start = std::time::Instant::now();
            let result = clock::run(task, target, &mut with(&Config::default()));
            println!("{name} {}: {:?} {}", task.name, start.elapsed(), result.message);
            if std::env::var("C").is_ok() {
                for c in &result.curves {
                    println!("   {}: {:?}", c.title, c.points);
                }
            }
            for m in &result.measured {
                let want = timed::parameters(target).into_iter().find(|p| p.name == m.name).map(|p| p.value);
                let mark = if want.as_ref() == Some(&m.value) { "" } else { "  <<<<" };
                println!("   {} {} {}{mark}", m.name, m.value, want.unwrap_or("none".to_owned()));
            }
        }
    }
}
