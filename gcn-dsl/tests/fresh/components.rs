//! ECL-CC (Burtscher): connected components by union-find with pointer jumping.
use gcn_dsl::prelude::*;

gcn_kernel! {
    // link representatives
    #[device]
    fn representative(idx: V<u32>, nstat: &mut [u32]) -> V<u32> {
        let mut curr = nstat.atomic(idx).load(Scope::Agent, Ordering::Relaxed);
        if curr != idx {
            let mut prev = idx;
            loop {
                let next = nstat.atomic(curr).load(Scope::Agent, Ordering::Relaxed);
                if curr <= next {
                    break;
                }
                nstat.atomic(prev).store(next, Scope::Agent, Ordering::Relaxed);
                prev = curr;
                curr = next;
            }
        }
        curr
    }

    // initialize with first smaller neighbor ID
    #[workgroup(256)]
    pub fn init(nodes: u32, nidx: &[u32], nlist: &[u32], nstat: &mut [u32], incr: u32) {
        let from = global_id().x;
        for v in (from..nodes).step_by(incr) {
            let beg = nidx[v];
            let end = nidx[v + 1];
            let mut m = v;
            let mut i = beg;
            while m == v && i < end {
                m = m.min(nlist[i]);
                i += 1;
            }
            nstat[v] = m;
        }
    }

    // process vertices at thread granularity
    #[workgroup(256)]
    pub fn compute(nodes: u32, nidx: &[u32], nlist: &[u32], nstat: &mut [u32], incr: u32) {
        let from = global_id().x;
        for v in (from..nodes).step_by(incr) {
            let vstat = nstat.atomic(v).load(Scope::Agent, Ordering::Relaxed);
            if v != vstat {
                let beg = nidx[v];
                let end = nidx[v + 1];
                let mut vstat = representative(v, nstat);
                for i in beg..end {
                    let nli = nlist[i];
                    if v > nli {
                        let mut ostat = representative(nli, nstat);
                        loop {
                            let mut repeat = false;
                            if vstat != ostat {
                                if vstat < ostat {
                                    let ret = nstat.atomic(ostat).compare_exchange(ostat, vstat, Scope::Agent, Ordering::Relaxed, Ordering::Relaxed);
                                    if ret != ostat {
                                        ostat = ret;
                                        repeat = true;
                                    }
                                } else {
                                    let ret = nstat.atomic(vstat).compare_exchange(vstat, ostat, Scope::Agent, Ordering::Relaxed, Ordering::Relaxed);
                                    if ret != vstat {
                                        vstat = ret;
                                        repeat = true;
                                    }
                                }
                            }
                            if !repeat {
                                break;
                            }
                        }
                    }
                }
            }
        }
    }

    // link all vertices to sink
    #[workgroup(256)]
    pub fn flatten(nodes: u32, nstat: &mut [u32], incr: u32) {
        let from = global_id().x;
        for v in (from..nodes).step_by(incr) {
            let mut next;
            let mut vstat = nstat[v];
            let old = vstat;
            while vstat > { next = nstat[vstat]; next } {
                vstat = next;
            }
            if old != vstat {
                nstat[v] = vstat;
            }
        }
    }
}

#[test]
fn matches_host() {
    let n = 600usize;
    let mut adj = vec![vec![]; n];
    for k in 0..500usize {
        let (a, b) = (k * 7919 % n, (k * 104729 + 13 * k * k) % n);
        adj[a].push(b as u32);
        adj[b].push(a as u32);
    }
    let mut nidx = vec![0u32];
    let mut nlist = vec![];
    for a in &adj {
        nlist.extend(a.iter().copied());
        nidx.push(nlist.len() as u32);
    }
    let device = Device::simulator(Target::GFX942);
    let stream = device.stream().unwrap();
    let (di, dl) = (device.upload(&nidx).unwrap(), device.upload(&nlist).unwrap());
    let mut stat = device.zeroed::<u32>(n).unwrap();
    init.launch(&stream, Grid::x(2), (n as u32, &di, &dl, &mut stat, 512)).unwrap();
    compute.launch(&stream, Grid::x(2), (n as u32, &di, &dl, &mut stat, 512)).unwrap();
    flatten.launch(&stream, Grid::x(2), (n as u32, &mut stat, 512)).unwrap();
    let got = stat.to_vec().unwrap();
    let mut label = vec![u32::MAX; n];
    for s in 0..n {
        if label[s] != u32::MAX {
            continue;
        }
        let mut stack = vec![s];
        while let Some(v) = stack.pop() {
            if label[v] != u32::MAX {
                continue;
            }
            label[v] = s as u32;
            stack.extend(adj[v].iter().map(|x| *x as usize));
        }
    }
    assert_eq!(got, label);
}
