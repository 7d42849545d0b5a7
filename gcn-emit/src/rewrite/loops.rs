//! The loop depth of each block of a control-flow graph.
//!
//! A loop is a strongly connected component of blocks, with one entry or several. Its head is its first block in the order of the program.
//! The loops inside it are the components that remain when edges to the head are removed.

use gcn_isa::cfg::Cfg;

/// The number of loops around each block, at most `most`.
pub(super) fn depths(cfg: &Cfg, most: u32) -> Vec<u32> {
    let mut depths = vec![0; cfg.blocks.len()];
    let mut is_head = vec![false; cfg.blocks.len()];
    for depth in 1..=most {
        let mut found = false;
        for component in components(cfg, &is_head) {
            let Some(&head) = component.iter().min() else { continue };
            found = true;
            component.iter().for_each(|b| depths[*b] = depth);
            is_head[head] = true;
        }
        if !found {
            break;
        }
    }
    depths
}

/// The strongly connected components of the graph without edges to heads (Tarjan's algorithm with an explicit stack).
fn components(cfg: &Cfg, is_head: &[bool]) -> Vec<Vec<usize>> {
    const UNSEEN: usize = usize::MAX;
    let n = cfg.blocks.len();
    let (mut index, mut low, mut on_stack) = (vec![UNSEEN; n], vec![0; n], vec![false; n]);
    let (mut stack, mut path, mut next) = (Vec::new(), Vec::new(), 0);
    let mut found = Vec::new();
    for root in 0..n {
        if index[root] != UNSEEN {
            continue;
        }
        path.push((root, 0));
        while let Some((block, edge)) = path.pop() {
            if edge == 0 {
                (index[block], low[block], on_stack[block]) = (next, next, true);
                next += 1;
                stack.push(block);
            }
            let succs = &cfg.blocks[block].succs;
            if let Some(&succ) = succs.get(edge) {
                path.push((block, edge + 1));
                if is_head[succ] {
                    continue;
                }
                if index[succ] == UNSEEN {
                    path.push((succ, 0));
                } else if on_stack[succ] {
                    low[block] = low[block].min(index[succ]);
                }
                continue;
            }
            if let Some(&(above, _)) = path.last() {
                low[above] = low[above].min(low[block]);
            }
            if low[block] == index[block] {
                let at = stack.iter().rposition(|b| *b == block).unwrap_or(0);
                let component = stack.split_off(at);
                component.iter().for_each(|b| on_stack[*b] = false);
                let leads_to_itself = succs.contains(&block) && !is_head[block];
                if component.len() > 1 || leads_to_itself {
                    found.push(component);
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use gcn_isa::cfg::Block;

    use super::*;

    fn graph(edges: &[(usize, usize)]) -> Cfg {
        let n = edges.iter().map(|e| e.0.max(e.1)).max().unwrap_or(0) + 1;
        let block = |b| Block {
            start: b,
            end: b + 1,
            succs: edges.iter().filter(|e| e.0 == b).map(|e| e.1).collect(),
            preds: edges.iter().filter(|e| e.1 == b).map(|e| e.0).collect(),
            unknown_exit: false,
        };
        Cfg { blocks: (0..n).map(block).collect() }
    }

    #[test]
    fn loops_nest() {
        let nested = graph(&[(0, 1), (1, 2), (2, 2), (2, 3), (3, 1), (3, 4)]);
        assert_eq!(depths(&nested, 9), [0, 1, 2, 1, 0]);
        assert_eq!(depths(&nested, 1), [0, 1, 1, 1, 0]);
    }

    #[test]
    fn a_loop_may_have_two_entries() {
        let two = graph(&[(0, 1), (0, 2), (1, 2), (2, 1), (2, 3)]);
        assert_eq!(depths(&two, 9), [0, 1, 1, 0]);
    }
}
