//! Runs whole suites through gcn-hip's library: they find no difference, and neither a process that crashes nor one that hangs ends a run.
//! The test has its own `main` instead of libtest's, since it starts itself as the child process, whose standard output must contain only
//! results.
#![allow(missing_docs, reason = "a test")]

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn main() {
    linux::main();
}

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
fn main() {}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod linux {
    use std::io::Write;
    use std::path::{Path, PathBuf};
    use std::process::Command;
    use std::time::Duration;

    use gcn_isa::hazards::remedy;
    use gcn_probe::form::Forms;
    use gcn_probe::report::{FormResult, RuleResult, Status, Verdict};
    use gcn_probe::run::{self, Work};
    use gcn_probe::suite::{Matrix, Settings, Suite, Values, Waits};
    use gcn_test_support::env::daily_seed;

    /// The variable that tells a child process how to behave.
    const CHILD: &str = "GCN_PROBE_TEST_CHILD";
    /// A time limit that is long enough for one form on a busy machine.
    const LIMIT: Duration = Duration::from_secs(60);

    pub fn main() {
        if let Ok(work) = std::env::var(CHILD) {
            child(&work);
            return;
        }
        // `--list`, or a filter that does not match this test: do nothing.
        let mut arguments = std::env::args().skip(1);
        if arguments.any(|argument| {
            argument == "--list" || !argument.starts_with('-') && !"probe".contains(&argument)
        }) {
            return;
        }
        // `.ci/run` does the same on gfx942 with all suites, through `gcn run`; and the tests of the suites without HIP's library, on all
        // targets.
        nothing_differs(today(&["gfx908", "gfx90a", "gfx950"]));
        no_product_differs(today(&["gfx950", "gfx1100", "gfx90a", "gfx1201"]));
        waits_are_those_of_the_rules("gfx1201", 2, &["waitcnt.half"]);
        processes_that_die_or_hang_cost_one_form();
        targets_without_programs_are_refused();
        println!("test probe ... ok");
    }

    /// Another of these on each day.
    fn today<'a>(targets: &[&'a str]) -> &'a str {
        targets[(daily_seed() % targets.len() as u64) as usize]
    }

    fn child(work: &str) {
        let [suite, how, first] = work.split(' ').collect::<Vec<_>>()[..] else { panic!("{work}") };
        let first = first.parse().unwrap();
        let work = Work { device: 0, settings: Settings { seed: 1, quick: true }, first, displays: false };
        let mut out = std::io::stdout().lock();
        if suite == Waits::NAME {
            return run::child::<Waits>(work, &mut out).unwrap();
        }
        if suite == Matrix::NAME {
            return run::child::<Matrix>(work, &mut out).unwrap();
        }
        match (how, first) {
            ("dies", 0) | ("hangs", 0) => {
                // Returns an error, since the receiver stops reading.
                let _ = run::child::<Values>(work, &mut Few(out, 3));
                if how == "hangs" {
                    std::thread::sleep(LIMIT);
                }
            }
            _ => run::child::<Values>(work, &mut out).unwrap(),
        }
    }

    /// A writer that accepts this number of lines and then fails.
    struct Few<'a>(std::io::StdoutLock<'a>, usize);

    impl Write for Few<'_> {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            if self.1 == 0 {
                return Err(std::io::Error::other("no more lines"));
            }
            self.0.write(bytes)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            self.1 -= 1;
            self.0.flush()
        }
    }

    /// The results of a suite on the simulator of that target.
    fn probe<S: Suite>(target: &str, how: &str, limit: Duration, journal: &Path) -> Vec<S::Outcome> {
        try_probe::<S>(target, how, limit, journal).unwrap()
    }

    fn try_probe<S: Suite>(
        target: &str,
        how: &str,
        limit: Duration,
        journal: &Path,
    ) -> Result<Vec<S::Outcome>, String> {
        let library = std::env::current_exe().unwrap().parent().unwrap().join("libamdhip64.so");
        let command = |first: usize| {
            let mut command = Command::new(std::env::current_exe().unwrap());
            command.env(CHILD, format!("{} {how} {first}", S::NAME)).env("GCN_HIP_TARGET", target);
            command.env("GCN_HIP_LIBRARY", &library);
            if S::NAME == Waits::NAME {
                command.env("GCN_HIP_MODE", "faithful").env("GCN_HIP_LEVEL", "cautious");
            }
            command
        };
        let ran = run::run::<S>(command, limit, journal, |_, _| ());
        let (header, _, results) = ran.map_err(|error| error.to_string())?;
        // The report must be marked as simulated, and names its driver.
        assert!(header.gpu.simulated, "{:?}", header.gpu);
        assert_eq!(header.gpu.driver.hip.split('.').count(), 3, "{:?}", header.gpu.driver);
        Ok(results)
    }

    fn journal(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("gcn-probe-{name}-{}.part", std::process::id()))
    }

    fn nothing_differs(target: &str) {
        let path = journal(target);
        let forms = probe::<Values>(target, "plain", LIMIT, &path);
        let others: Vec<_> = forms.iter().filter(|form| form.status != Status::Equal).collect();
        assert!(others.is_empty(), "{target}: {others:#?}");
        assert_eq!(forms.len(), Forms::of(target.parse().unwrap()).run.len());
        // A run continues from a journal that was truncated within a line, and produces the same report.
        let text = std::fs::read(&path).unwrap();
        std::fs::write(&path, &text[..text.len() * 9 / 10]).unwrap();
        assert_eq!(probe::<Values>(target, "plain", LIMIT, &path), forms);
        std::fs::remove_file(path).unwrap();
    }

    fn no_product_differs(target: &str) {
        let path = journal("matrix");
        let forms = probe::<Matrix>(target, "plain", LIMIT, &path);
        let others: Vec<_> = forms.iter().filter(|form| form.status != Status::Equal).collect();
        assert!(others.is_empty(), "{target}: {others:#?}");
        assert_eq!(forms.len(), gcn_probe::matrix::forms(target.parse().unwrap()).len());
        std::fs::remove_file(path).unwrap();
    }

    /// The waits measured through HIP are those that the rules require, except for rules whose effect the simulator does not have: those in
    /// `unseen`, and rules with a remedy.
    fn waits_are_those_of_the_rules(target: &str, least: usize, unseen: &[&str]) {
        let path = journal("waits");
        let rules = probe::<Waits>(target, "plain", LIMIT, &path);
        let is_unseen = |rule: &str| unseen.contains(&rule) || remedy::all().any(|known| known.id == rule);
        let expected = |rule: &RuleResult| match rule.verdict {
            Verdict::NotSeen => is_unseen(&rule.rule),
            verdict => verdict <= Verdict::Equal,
        };
        let others: Vec<_> = rules.iter().filter(|rule| !expected(rule)).collect();
        assert!(others.is_empty(), "{target}: {others:#?}");
        assert!(rules.iter().filter(|rule| rule.verdict == Verdict::Equal).count() > least);
        std::fs::remove_file(path).unwrap();
    }

    /// A target without programs is an error: a report without results would suggest that nothing differs.
    fn targets_without_programs_are_refused() {
        let path = journal("none");
        let matrix = try_probe::<Matrix>("gfx1030", "plain", LIMIT, &path).unwrap_err();
        assert!(matrix.contains("`matrix` has no programs for gfx1030"), "{matrix}");
        assert!(!path.exists());
    }

    /// The first child process gives two results, then crashes or hangs.
    fn processes_that_die_or_hang_cost_one_form() {
        for (how, status) in [("dies", Status::Failed), ("hangs", Status::Hung)] {
            let path = journal(how);
            // However long the first process needs before its first result, it prints its results at once.
            let forms = probe::<Values>("gfx942", how, LIMIT / 3, &path);
            assert_eq!(forms[2].status, status, "{:?}", forms[2]);
            let others = |form: &&FormResult| form.status != Status::Equal;
            assert_eq!(forms.iter().filter(others).count(), 1);
            std::fs::remove_file(path).unwrap();
        }
    }
}
