//! Union-find over nodes, and the search for cycles of copy edges among few nodes.

use super::NodeId;

/// Which nodes are one.
#[derive(Clone, Debug, Default)]
pub struct Merged {
    parent: Vec<NodeId>,
}

impl Merged {
    pub fn new(same: Vec<NodeId>) -> Merged {
        Merged { parent: same }
    }

    pub fn grow(&mut self, nodes: usize) {
        while self.parent.len() < nodes {
            self.parent.push(NodeId::new(self.parent.len()));
        }
    }

    pub fn find(&mut self, node: NodeId) -> NodeId {
        let mut root = node;
        while self.parent[root.index()] != root {
            root = self.parent[root.index()];
        }
        let mut at = node;
        while self.parent[at.index()] != root {
            at = std::mem::replace(&mut self.parent[at.index()], root);
        }
        root
    }

    /// `gone` is `kept` from now on; both must be roots.
    pub fn link(&mut self, gone: NodeId, kept: NodeId) {
        self.parent[gone.index()] = kept;
    }

    /// The root of every node.
    pub fn into_roots(mut self) -> Vec<NodeId> {
        let nodes = self.parent.len();
        (0..nodes).map(|n| self.find(NodeId::new(n))).collect()
    }
}

/// Strongly connected components among some nodes, of at least two nodes. `succs` gives roots among them only.
pub fn components_among(
    nodes: &[NodeId],
    mut succs: impl FnMut(NodeId, &mut Vec<NodeId>),
    marks: &mut Marks,
) -> Vec<Vec<NodeId>> {
    marks.start();
    let mut found = Vec::new();
    for &start in nodes {
        if matches!(marks.state(start), State::New) {
            search_from(start, &mut succs, marks, &mut found);
        }
    }
    found
}

/// Tarjan's search from one node.
fn search_from(
    start: NodeId,
    succs: &mut impl FnMut(NodeId, &mut Vec<NodeId>),
    marks: &mut Marks,
    found: &mut Vec<Vec<NodeId>>,
) {
    let mut open: Vec<NodeId> = vec![start];
    let mut row = Vec::new();
    marks.enter(start);
    succs(start, &mut row);
    let mut stack: Vec<(NodeId, Vec<NodeId>, usize)> = vec![(start, row, 0)];
    while let Some((node, list, at)) = stack.last_mut() {
        let node = *node;
        if let Some(&next) = list.get(*at) {
            *at += 1;
            match marks.state(next) {
                State::New => {
                    marks.enter(next);
                    open.push(next);
                    let mut row = Vec::new();
                    succs(next, &mut row);
                    stack.push((next, row, 0));
                }
                State::Open(low) => marks.lower(node, low),
                State::Closed => {}
            }
            continue;
        }
        stack.pop();
        let low = marks.low(node);
        if low == marks.number(node) {
            let from = open.iter().rposition(|&n| n == node).unwrap_or(0);
            let component = open.split_off(from);
            component.iter().for_each(|&n| marks.close(n));
            if component.len() > 1 {
                found.push(component);
            }
        } else if let Some((parent, ..)) = stack.last() {
            marks.lower(*parent, low);
        }
    }
}

enum State {
    New,
    Open(u32),
    Closed,
}

/// Tarjan's numbers, kept between searches: a node's numbers count only if they are of this search.
#[derive(Clone, Debug, Default)]
pub struct Marks {
    search: u32,
    next: u32,
    entries: Vec<(u32, u32, u32)>,
}

const CLOSED: u32 = u32::MAX;

impl Marks {
    fn start(&mut self) {
        self.search += 1;
        self.next = 0;
    }

    fn enter(&mut self, node: NodeId) {
        if self.entries.len() <= node.index() {
            self.entries.resize(node.index() + 1, (0, 0, 0));
        }
        self.entries[node.index()] = (self.search, self.next, self.next);
        self.next += 1;
    }

    fn state(&self, node: NodeId) -> State {
        match self.entries.get(node.index()) {
            Some(&(search, _, low)) if search == self.search => match low {
                CLOSED => State::Closed,
                _ => State::Open(self.number(node)),
            },
            _ => State::New,
        }
    }

    fn number(&self, node: NodeId) -> u32 {
        self.entries[node.index()].1
    }

    fn low(&self, node: NodeId) -> u32 {
        self.entries[node.index()].2
    }

    fn lower(&mut self, node: NodeId, low: u32) {
        let entry = &mut self.entries[node.index()].2;
        *entry = (*entry).min(low);
    }

    fn close(&mut self, node: NodeId) {
        self.entries[node.index()].2 = CLOSED;
    }
}
