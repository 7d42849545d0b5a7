//! Byte-pair tokenisation: a workgroup for each word; in each round the pair of least rank is merged, looked up in an open hash table.
use gcn_dsl::prelude::*;

use crate::everywhere;

const MAX: usize = 64;
const NONE: u32 = u32::MAX;

gcn_kernel! {
    #[device]
    #[repr(C)]
    #[derive(Default)]
    pub struct Merge { left: u32, right: u32, rank: u32, token: u32 }

    #[device]
    fn lookup(table: &[Merge], left: V<u32>, right: V<u32>) -> Option<V<Merge>> {
        let mask = table.len() - 1;
        let mut slot = (left.wrapping_mul(0x9e37_79b1) ^ right.rotate_left(16)) & mask;
        loop {
            let m = table[slot];
            if m.rank == NONE {
                return None;
            }
            if (m.left, m.right) == (left, right) {
                return Some(m);
            }
            slot = (slot + 1) & mask;
        }
    }

    #[workgroup(64)]
    fn tokenise(text: &[u8], words: &[[u32; 2]], table: &[Merge], tokens: &mut [[u32; 64]], counts: &mut [u32]) {
        let symbols = Lds::<u32, MAX>::new();
        let word = workgroup_id().x;
        let [start, end] = words[word];
        let mut len = end - start;
        let t = local_id().x;
        if t < len {
            symbols[t] = text[start + t].into();
        }
        barrier();
        loop {
            let found = if t + 1 < len { lookup(table, symbols[t], symbols[t + 1]) } else { None };
            let (rank, token) = found.map_or((NONE, 0), |m| (m.rank, m.token));
            let best = workgroup_min(rank);
            if best == NONE {
                break;
            }
            // The leftmost of overlapping pairs (aaa) wins: one merge in each round.
            let here = rank == best;
            let at = workgroup_min(if here { t } else { MAX as u32 });
            let mut mine = if t < len { symbols[t] } else { 0 };
            if t == at {
                mine = token;
            } else if t > at && t + 1 < len {
                mine = symbols[t + 1];
            }
            barrier();
            len -= 1;
            if t < len {
                symbols[t] = mine;
            }
            barrier();
        }
        if t < len {
            tokens[word][t] = symbols[t];
        }
        if t == 0 {
            counts[word] = len;
        }
    }
}

#[test]
fn merges_pairs() {
    let text: Vec<u8> = b"banana abracadabra aaaaaaaaa mississippi the theatre x anan".to_vec();
    let mut words = vec![];
    let mut at = 0u32;
    for w in text.split(|c| *c == b' ') {
        words.push([at, at + w.len() as u32]);
        at += w.len() as u32 + 1;
    }
    let rules: Vec<(u32, u32)> = vec![
        (97, 110),
        (256, 256),
        (97, 97),
        (115, 115),
        (105, 259),
        (116, 104),
        (261, 101),
        (258, 258),
        (98, 114),
        (97, 98),
        (105, 112),
    ];
    let mut table = vec![Merge { left: 0, right: 0, rank: NONE, token: 0 }; 32];
    for (r, (a, b)) in rules.iter().enumerate() {
        let mut s = ((a.wrapping_mul(0x9e3779b1) ^ b.rotate_left(16)) & 31) as usize;
        while table[s].rank != NONE {
            s = (s + 1) % 32;
        }
        table[s] = Merge { left: *a, right: *b, rank: r as u32, token: 256 + r as u32 };
    }
    let want: Vec<Vec<u32>> = words
        .iter()
        .map(|[s, e]| {
            let mut v: Vec<u32> = text[*s as usize..*e as usize].iter().map(|c| *c as u32).collect();
            loop {
                let best = v
                    .windows(2)
                    .enumerate()
                    .filter_map(|(i, w)| rules.iter().position(|r| *r == (w[0], w[1])).map(|r| (r, i)))
                    .min();
                let Some((r, i)) = best else { break v };
                v[i] = 256 + r as u32;
                v.remove(i + 1);
            }
        })
        .collect();
    everywhere(|device| {
        let (mut tokens, mut counts) = (vec![[0u32; 64]; words.len()], vec![0u32; words.len()]);
        tokenise
            .launch(device, Grid::x(words.len() as u32), (&text, &words, &table, &mut tokens, &mut counts))
            .unwrap();
        for (i, w) in want.iter().enumerate() {
            assert_eq!(&tokens[i][..counts[i] as usize], &w[..]);
        }
    });
}
