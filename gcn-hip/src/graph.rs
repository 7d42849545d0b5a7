//! Graphs of operations, and their instances.

use std::collections::{BTreeMap, BTreeSet};
use std::mem::discriminant;

use crate::error::{Error, Result};
use crate::host::Ptr;
use crate::registry::Registry;
use crate::work::Op;

/// A node of a graph, with its operation.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub op: Op,
    /// The nodes that must complete before this node.
    pub after: Vec<u64>,
    /// The graph that contains this node.
    pub graph: u64,
    /// If the graph is a clone of another one, the node of that graph to which this node corresponds.
    pub original: Option<u64>,
    /// The addresses of a kernel's arguments, kept for a caller that queried them.
    pub places: Box<[u64]>,
    pub attributes: Attributes,
}

/// The attributes of a kernel node.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Attributes {
    /// The number of the attribute that was set last; 0 if none was.
    pub set: u32,
    /// `hipAccessPolicyWindow`.
    pub window: [u64; 4],
    pub cooperative: u32,
    pub priority: i32,
}

/// A graph: its nodes in the order in which they were added.
#[derive(Clone, Debug, Default)]
pub(crate) struct Graph {
    pub nodes: Vec<u64>,
}

/// A step of an instance: the operation of a node.
pub(crate) struct Step {
    pub node: u64,
    pub op: Op,
    /// The indices of earlier steps that must complete before this one.
    after: BTreeSet<usize>,
}

/// An executable graph: its operations in an order that respects the dependencies. The step of a child graph node comes after the steps of
/// the child graph, and does nothing itself.
pub(crate) struct Instance {
    /// The graph from which the instance was made.
    graph: u64,
    pub steps: Vec<Step>,
    pub flags: u64,
    /// The disabled nodes.
    pub off: BTreeSet<u64>,
}

impl Instance {
    /// The operations that a launch of the instance executes.
    pub(crate) fn work(&self) -> Vec<Op> {
        let works = |step: &&Step| !self.off.contains(&step.node) && !matches!(step.op, Op::Graph(_));
        self.steps.iter().filter(works).map(|step| step.op.clone()).collect()
    }

    /// The operation of a node; `None` if the instance has no step for the node.
    pub(crate) fn op(&mut self, node: u64) -> Option<&mut Op> {
        self.steps.iter_mut().find(|step| step.node == node).map(|step| &mut step.op)
    }
}

/// The result of trying to replace the operations of an instance.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Update {
    Done,
    /// The number of nodes differs, or the dependencies of this node differ.
    Topology(Option<u64>),
    /// The kind of this node differs.
    Kind(u64),
    /// The parameters of this node differ in a way that cannot be changed in an instance.
    Parameters(u64),
}

/// All graphs.
pub(crate) struct Graphs {
    pub graphs: Registry<Graph>,
    pub nodes: Registry<Node>,
    pub instances: Registry<Instance>,
}

/// The maximum nesting depth of child graphs.
const DEEPEST: usize = 64;

impl Graphs {
    pub(crate) fn new() -> Graphs {
        Graphs { graphs: Registry::new(4), nodes: Registry::new(5), instances: Registry::new(6) }
    }

    pub(crate) fn create(&mut self) -> u64 {
        self.graphs.add(Graph::default())
    }

    /// Adds a node with dependencies on others of the same graph.
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
        let node = self.nodes.add(Node {
            op,
            after,
            graph,
            original: None,
            places: Box::default(),
            attributes: Attributes::default(),
        });
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

    /// A copy of a graph, with new nodes.
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

    /// Creates an instance of a graph.
    pub(crate) fn instantiate(&mut self, graph: u64, flags: u64) -> Result<u64> {
        let steps = self.steps(graph)?;
        // A second instance would use the same memory addresses.
        let memory = |step: &Step| matches!(step.op, Op::Alloc(_) | Op::Free(_));
        if steps.iter().any(memory) && self.instances.iter().any(|(_, other)| other.graph == graph) {
            return Err(Error::NotSupported);
        }
        Ok(self.instances.add(Instance { graph, steps, flags, off: BTreeSet::new() }))
    }

    /// The operations of a graph in execution order.
    fn steps(&self, graph: u64) -> Result<Vec<Step>> {
        let mut steps = Vec::new();
        self.collect(graph, &mut steps, DEEPEST)?;
        Ok(steps)
    }

    /// The addresses of memory that the allocation nodes of graphs and instances use.
    pub(crate) fn reserved(&self) -> BTreeSet<Ptr> {
        let nodes = self.nodes.iter().map(|(_, node)| &node.op);
        let steps =
            self.instances.iter().flat_map(|(_, instance)| instance.steps.iter().map(|step| &step.op));
        let address = |op: &Op| if let Op::Alloc(memory) = op { Some(memory.at) } else { None };
        nodes.chain(steps).filter_map(address).collect()
    }

    /// True if a node frees this memory.
    pub(crate) fn frees(&self, at: Ptr) -> bool {
        self.nodes.iter().any(|(_, node)| matches!(node.op, Op::Free(freed) if freed == at))
    }

    /// Replaces the operations of an instance by those of a graph, which must have the same kinds in the same order and the same
    /// dependencies. The instance's nodes keep their handles.
    pub(crate) fn update(&mut self, instance: u64, graph: u64) -> Result<Update> {
        let steps = self.steps(graph)?;
        let instance = self.instances.get_mut(instance).ok_or(Error::InvalidValue)?;
        Ok(take_over(&mut instance.steps, 0, steps))
    }

    /// As [`update`](Self::update), for the steps of a child graph node.
    pub(crate) fn update_child(&mut self, instance: u64, node: u64, graph: u64) -> Result<Update> {
        let steps = self.steps(graph)?;
        let found = self.instances.get(instance).ok_or(Error::InvalidValue)?;
        let end = found.steps.iter().position(|step| step.node == node).ok_or(Error::InvalidValue)?;
        let Op::Graph(child) = found.steps[end].op else { return Err(Error::InvalidValue) };
        // The steps of the child graph immediately precede the step of the child graph node.
        let start = end - self.steps(child)?.len();
        let instance = self.instances.get_mut(instance).ok_or(Error::InvalidValue)?;
        Ok(take_over(&mut instance.steps[start..end], start, steps))
    }

    /// Collects the nodes in topological order. Among nodes whose dependencies are satisfied, the one added first comes first.
    fn collect(&self, graph: u64, steps: &mut Vec<Step>, depth: usize) -> Result {
        let depth = depth.checked_sub(1).ok_or(Error::InvalidValue)?;
        let mut open = self.graphs.get(graph).ok_or(Error::InvalidValue)?.nodes.clone();
        let mut done = BTreeMap::new();
        while !open.is_empty() {
            let before = open.len();
            let mut rest = Vec::new();
            for handle in open {
                let node = self.nodes.get(handle).ok_or(Error::InvalidValue)?;
                let after = node.after.iter().map(|after| done.get(after).copied());
                let Some(after) = after.collect::<Option<_>>() else {
                    rest.push(handle);
                    continue;
                };
                if let Op::Graph(child) = node.op {
                    self.collect(child, steps, depth)?;
                }
                done.insert(handle, steps.len());
                steps.push(Step { node: handle, op: node.op.clone(), after });
            }
            // A whole pass added no node, so the graph has a cycle.
            if rest.len() == before {
                return Err(Error::InvalidValue);
            }
            open = rest;
        }
        Ok(())
    }

    /// True if `node` depends on `earlier` directly or indirectly, or is the same node.
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

    /// The dependencies of a graph as pairs: a node, and a node that depends on it.
    pub(crate) fn edges(&self, graph: u64) -> Result<Vec<(u64, u64)>> {
        let nodes = &self.graphs.get(graph).ok_or(Error::InvalidValue)?.nodes;
        let of = |node: &u64| {
            let after = self.nodes.get(*node).map_or(&[][..], |n| &n.after);
            after.iter().map(|from| (*from, *node)).collect::<Vec<_>>()
        };
        Ok(nodes.iter().flat_map(of).collect())
    }
}

/// Replaces the operations `old`, which start at index `start` of their instance, by `new`. If a step differs in kind or dependencies, none
/// is replaced.
fn take_over(old: &mut [Step], start: usize, new: Vec<Step>) -> Update {
    if new.len() != old.len() {
        return Update::Topology(None);
    }
    for (old, new) in old.iter().zip(&new) {
        if discriminant(&old.op) != discriminant(&new.op) {
            return Update::Kind(new.node);
        }
        if !old.after.iter().copied().eq(new.after.iter().map(|step| start + step)) {
            return Update::Topology(Some(new.node));
        }
        if !old.op.may_become(&new.op) {
            return Update::Parameters(new.node);
        }
    }
    for (old, new) in old.iter_mut().zip(new) {
        old.op = new.op;
    }
    Update::Done
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The events that an instance records, in order of execution.
    fn numbers(instance: &Instance) -> Vec<u64> {
        instance.work().iter().map(|op| if let Op::Record(n) = op { *n } else { 0 }).collect()
    }

    #[test]
    fn operations_run_after_those_that_they_depend_on() {
        let mut g = Graphs::new();
        let graph = g.create();
        let a = g.add(graph, vec![], Op::Record(1)).unwrap();
        let b = g.add(graph, vec![], Op::Record(2)).unwrap();
        let c = g.add(graph, vec![b], Op::Record(3)).unwrap();
        // Makes `a` depend on `c`, so that `a` comes last.
        g.nodes.get_mut(a).unwrap().after.push(c);
        let order = |g: &mut Graphs, graph| {
            let instance = g.instantiate(graph, 0)?;
            Ok::<_, Error>(numbers(g.instances.get(instance).unwrap()))
        };
        assert_eq!(order(&mut g, graph).unwrap(), [2, 3, 1]);
        let copy = g.copy(graph).unwrap();
        assert!(g.follows(a, b) && !g.follows(b, a));
        let outer = g.create();
        g.add(outer, vec![], Op::Graph(copy)).unwrap();
        g.destroy(graph).unwrap();
        assert_eq!(order(&mut g, outer).unwrap(), [2, 3, 1]);
        assert_eq!(g.edges(copy).unwrap().len(), 2);
        // All of these are errors: a cycle, a graph that contains itself, and nodes of another graph.
        let first = g.graphs.get(copy).unwrap().nodes[0];
        let last = g.graphs.get(copy).unwrap().nodes[2];
        g.nodes.get_mut(last).unwrap().after.push(first);
        assert_eq!(order(&mut g, copy), Err(Error::InvalidValue));
        let own = g.create();
        g.add(own, vec![], Op::Graph(own)).unwrap();
        assert_eq!(order(&mut g, own), Err(Error::InvalidValue));
        assert_eq!(g.add(own, vec![first], Op::Nothing), Err(Error::InvalidValue));
    }

    #[test]
    fn an_instance_takes_over_a_graph_of_the_same_shape() {
        let mut g = Graphs::new();
        // Each graph has three record nodes: the second depends on the first, and the third on both. If `inside`, the third one is in a
        // child graph.
        let make = |g: &mut Graphs, first: u64, inside: bool| {
            let graph = g.create();
            let a = g.add(graph, vec![], Op::Record(first)).unwrap();
            let b = g.add(graph, vec![a], Op::Record(first + 1)).unwrap();
            let mut last = Op::Record(first + 2);
            if inside {
                let child = g.create();
                g.add(child, vec![], last).unwrap();
                last = Op::Graph(child);
            }
            let c = g.add(graph, vec![a, b], last).unwrap();
            (graph, [a, b, c])
        };
        let ((plain, _), (nested, _)) = (make(&mut g, 1, false), make(&mut g, 1, true));
        let [plain, nested] = [plain, nested].map(|graph| g.instantiate(graph, 0).unwrap());
        let (other, nodes) = make(&mut g, 7, false);
        assert_eq!(g.update(nested, other), Ok(Update::Topology(None)));
        assert_eq!(g.update(plain, other), Ok(Update::Done));
        assert_eq!(numbers(g.instances.get(plain).unwrap()), [7, 8, 9]);
        let (inner, _) = make(&mut g, 11, true);
        assert_eq!(g.update(nested, inner), Ok(Update::Done));
        assert_eq!(numbers(g.instances.get(nested).unwrap()), [11, 12, 13]);
        // The order in which dependencies are listed does not matter. A missing dependency, or a node of another kind, is an error, and
        // then nothing is replaced.
        g.nodes.get_mut(nodes[2]).unwrap().after = vec![nodes[1], nodes[0]];
        assert_eq!(g.update(plain, other), Ok(Update::Done));
        g.nodes.get_mut(nodes[0]).unwrap().op = Op::Record(70);
        g.nodes.get_mut(nodes[2]).unwrap().after = vec![nodes[1]];
        assert_eq!(g.update(plain, other), Ok(Update::Topology(Some(nodes[2]))));
        g.nodes.get_mut(nodes[1]).unwrap().op = Op::Nothing;
        assert_eq!(g.update(plain, other), Ok(Update::Kind(nodes[1])));
        let plain = g.instances.get_mut(plain).unwrap();
        plain.off.insert(plain.steps[1].node);
        assert_eq!(numbers(plain), [7, 9]);
    }
}
