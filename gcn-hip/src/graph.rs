//! Graphs of operations, and how they are captured.

use std::collections::{BTreeMap, BTreeSet};
use std::mem::discriminant;

use crate::error::{Error, Result};
use crate::registry::Registry;
use crate::work::Op;

/// An operation in a graph.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub op: Op,
    /// The nodes that must have been done.
    pub after: Vec<u64>,
    /// The graph that it is in.
    pub graph: u64,
    /// The node of which it is a copy.
    pub original: Option<u64>,
    /// The arguments of a kernel, for a caller who has asked for them.
    pub places: Box<[u64]>,
}

/// A graph: its nodes in the order in which they were added.
#[derive(Clone, Debug, Default)]
pub(crate) struct Graph {
    pub nodes: Vec<u64>,
}

/// A graph that is ready: its operations in an order that respects the dependencies.
pub(crate) struct Instance {
    pub ops: Vec<(u64, Op)>,
    pub flags: u64,
    /// Nodes that do nothing.
    pub off: BTreeSet<u64>,
}

impl Instance {
    /// What a launch of the instance does.
    pub(crate) fn work(&self) -> Vec<Op> {
        let on = self.ops.iter().filter(|(node, _)| !self.off.contains(node));
        on.map(|(_, op)| op.clone()).collect()
    }
}

/// The outcome of replacing the operations of an instance.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Update {
    Done,
    /// The number of nodes differs.
    Topology,
    /// This node is of another kind.
    Kind(u64),
}

/// All graphs.
pub(crate) struct Graphs {
    pub graphs: Registry<Graph>,
    pub nodes: Registry<Node>,
    pub instances: Registry<Instance>,
}

/// Graphs may contain graphs this deep.
const DEEPEST: usize = 64;

impl Graphs {
    pub(crate) fn new() -> Graphs {
        Graphs { graphs: Registry::new(4), nodes: Registry::new(5), instances: Registry::new(6) }
    }

    pub(crate) fn create(&mut self) -> u64 {
        self.graphs.add(Graph::default())
    }

    /// Adds a node after others of the same graph.
    pub(crate) fn add(&mut self, graph: u64, after: Vec<u64>, op: Op) -> Result<u64> {
        let inside = |node: &u64| self.nodes.get(*node).is_some_and(|n| n.graph == graph);
        let mut once = after.clone();
        once.sort_unstable();
        once.dedup();
        if !after.iter().all(inside) || once.len() != after.len() {
            return Err(Error::InvalidValue);
        }
        if let Op::Graph(child) = op {
            self.graphs.get(child).ok_or(Error::InvalidValue)?;
        }
        let list = self.graphs.get_mut(graph).ok_or(Error::InvalidValue)?;
        let node = self.nodes.add(Node { op, after, graph, original: None, places: Box::default() });
        list.nodes.push(node);
        Ok(node)
    }

    /// Destroys a graph with its nodes.
    pub(crate) fn destroy(&mut self, graph: u64) -> Result {
        let Graph { nodes } = self.graphs.remove(graph).ok_or(Error::InvalidValue)?;
        nodes.into_iter().for_each(|node| drop(self.nodes.remove(node)));
        Ok(())
    }

    /// Destroys a node; its successors no longer depend on it.
    pub(crate) fn destroy_node(&mut self, node: u64) -> Result {
        let Node { graph, .. } = self.nodes.remove(node).ok_or(Error::InvalidValue)?;
        if let Some(graph) = self.graphs.get_mut(graph) {
            graph.nodes.retain(|other| *other != node);
        }
        self.nodes.values_mut().for_each(|other| other.after.retain(|after| *after != node));
        Ok(())
    }

    /// A copy of a graph, whose nodes are new.
    pub(crate) fn copy(&mut self, graph: u64) -> Result<u64> {
        let nodes = self.graphs.get(graph).ok_or(Error::InvalidValue)?.nodes.clone();
        let copy = self.create();
        let mut renamed = BTreeMap::new();
        for node in nodes {
            let mut own = self.nodes.get(node).ok_or(Error::InvalidValue)?.clone();
            (own.graph, own.original, own.places) = (copy, Some(node), Box::default());
            let new = self.nodes.add(own);
            renamed.insert(node, new);
            self.graphs.get_mut(copy).ok_or(Error::InvalidValue)?.nodes.push(new);
        }
        for new in renamed.values() {
            if let Some(node) = self.nodes.get_mut(*new) {
                node.after
                    .iter_mut()
                    .for_each(|after| *after = renamed.get(after).copied().unwrap_or(*after));
            }
        }
        Ok(copy)
    }

    /// Makes a graph ready to run.
    pub(crate) fn instantiate(&mut self, graph: u64, flags: u64) -> Result<u64> {
        let mut ops = Vec::new();
        self.collect(graph, &mut ops, DEEPEST)?;
        Ok(self.instances.add(Instance { ops, flags, off: BTreeSet::new() }))
    }

    /// Replaces the operations of an instance by those of a graph, which must be of the same kinds in the same order. The
    /// instance's nodes keep their handles.
    pub(crate) fn update(&mut self, instance: u64, graph: u64) -> Result<Update> {
        let mut ops = Vec::new();
        self.collect(graph, &mut ops, DEEPEST)?;
        let instance = self.instances.get_mut(instance).ok_or(Error::InvalidValue)?;
        if ops.len() != instance.ops.len() {
            return Ok(Update::Topology);
        }
        let pairs = || instance.ops.iter().zip(&ops);
        let differs =
            |((_, old), (_, new)): &(&(u64, Op), &(u64, Op))| discriminant(old) != discriminant(new);
        if let Some((_, (node, _))) = pairs().find(differs) {
            return Ok(Update::Kind(*node));
        }
        for ((_, old), (_, new)) in instance.ops.iter_mut().zip(ops) {
            *old = new;
        }
        Ok(Update::Done)
    }

    /// The nodes in an order that respects the dependencies: those that are free first, in the order in which
    /// they were added.
    fn collect(&self, graph: u64, ops: &mut Vec<(u64, Op)>, depth: usize) -> Result {
        let depth = depth.checked_sub(1).ok_or(Error::InvalidValue)?;
        let mut open = self.graphs.get(graph).ok_or(Error::InvalidValue)?.nodes.clone();
        let mut done = BTreeSet::new();
        while !open.is_empty() {
            let before = open.len();
            let mut rest = Vec::new();
            for handle in open {
                let node = self.nodes.get(handle).ok_or(Error::InvalidValue)?;
                if !node.after.iter().all(|after| done.contains(after)) {
                    rest.push(handle);
                    continue;
                }
                match node.op {
                    Op::Graph(child) => self.collect(child, ops, depth)?,
                    ref op => ops.push((handle, op.clone())),
                }
                done.insert(handle);
            }
            // A cycle.
            if rest.len() == before {
                return Err(Error::InvalidValue);
            }
            open = rest;
        }
        Ok(())
    }

    /// True if `node` comes after `earlier`, or is it.
    pub(crate) fn follows(&self, node: u64, earlier: u64) -> bool {
        let (mut open, mut seen) = (vec![node], BTreeSet::new());
        while let Some(at) = open.pop() {
            if at == earlier {
                return true;
            }
            if seen.insert(at) {
                open.extend(self.nodes.get(at).map_or(&[][..], |n| &n.after));
            }
        }
        false
    }

    /// The pairs of a graph: a node, and one that waits for it.
    pub(crate) fn edges(&self, graph: u64) -> Result<Vec<(u64, u64)>> {
        let nodes = &self.graphs.get(graph).ok_or(Error::InvalidValue)?.nodes;
        let of = |node: &u64| {
            let after = self.nodes.get(*node).map_or(&[][..], |n| &n.after);
            after.iter().map(|from| (*from, *node)).collect::<Vec<_>>()
        };
        Ok(nodes.iter().flat_map(of).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_run_after_those_that_they_depend_on() {
        let mut g = Graphs::new();
        let graph = g.create();
        let a = g.add(graph, vec![], Op::Record(1)).unwrap();
        let b = g.add(graph, vec![], Op::Record(2)).unwrap();
        let c = g.add(graph, vec![b], Op::Record(3)).unwrap();
        // `a` is to come last.
        g.nodes.get_mut(a).unwrap().after.push(c);
        let order = |g: &mut Graphs, graph| {
            let instance = g.instantiate(graph, 0)?;
            let ops = &g.instances.get(instance).unwrap().ops;
            let number = |op: &(u64, Op)| if let Op::Record(n) = op.1 { n } else { 0 };
            Ok::<_, Error>(ops.iter().map(number).collect::<Vec<_>>())
        };
        assert_eq!(order(&mut g, graph).unwrap(), [2, 3, 1]);
        let copy = g.copy(graph).unwrap();
        assert!(g.follows(a, b) && !g.follows(b, a));
        let outer = g.create();
        g.add(outer, vec![], Op::Graph(copy)).unwrap();
        g.destroy(graph).unwrap();
        assert_eq!(order(&mut g, outer).unwrap(), [2, 3, 1]);
        assert_eq!(g.edges(copy).unwrap().len(), 2);
        // Another graph of the same kinds, one that is shorter, and one that is of another kind.
        let instance = g.instantiate(copy, 0).unwrap();
        let other = g.create();
        let first = g.add(other, vec![], Op::Record(7)).unwrap();
        assert_eq!(g.update(instance, other), Ok(Update::Topology));
        let second = g.add(other, vec![first], Op::Nothing).unwrap();
        g.add(other, vec![second], Op::Record(9)).unwrap();
        assert_eq!(g.update(instance, other), Ok(Update::Kind(second)));
        g.nodes.get_mut(second).unwrap().op = Op::Record(8);
        assert_eq!(g.update(instance, other), Ok(Update::Done));
        let instance = g.instances.get_mut(instance).unwrap();
        instance.off.insert(instance.ops[1].0);
        let numbers =
            instance.work().iter().map(|op| if let Op::Record(n) = op { *n } else { 0 }).collect::<Vec<_>>();
        assert_eq!(numbers, [7, 9]);
        // A cycle, a graph in itself, and nodes of another graph.
        let first = g.graphs.get(copy).unwrap().nodes[0];
        let last = g.graphs.get(copy).unwrap().nodes[2];
        g.nodes.get_mut(last).unwrap().after.push(first);
        assert_eq!(order(&mut g, copy), Err(Error::InvalidValue));
        let own = g.create();
        g.add(own, vec![], Op::Graph(own)).unwrap();
        assert_eq!(order(&mut g, own), Err(Error::InvalidValue));
        assert_eq!(g.add(own, vec![first], Op::Nothing), Err(Error::InvalidValue));
    }
}
