//! What nodes that are addresses or callees do with new locations in their sets: edges of loads and stores, calls through
//! pointers, and what code out of sight can reach.

use super::objects::ObjectKind;
use super::solve::Solver;
use super::{LocId, LocSet, NodeId};

impl Solver<'_> {
    /// Lets loads, stores and calls see what is new.
    pub(super) fn look_through(&mut self) {
        for node in std::mem::take(&mut self.waiting) {
            let node = self.find(node);
            let unseen = std::mem::take(&mut self.unseen[node.index()]);
            if unseen.is_empty() {
                continue;
            }
            let unseen = self.current(unseen);
            if self.uses[node.index()].is_handed {
                self.escape(&unseen);
            }
            self.through_memory(node, &unseen);
            self.calls(node, &unseen);
            let root = self.find(node);
            let uses = &self.uses[root.index()];
            self.copies.wake(&uses.gathers, &uses.scatters);
        }
    }

    fn through_memory(&mut self, node: NodeId, new: &LocSet) {
        let node = self.find(node);
        if let Some(ring) = self.uses[node.index()].ring {
            for loc in new.iter() {
                let (read, written) = (self.system.read(loc), self.system.written(loc));
                if let (Some(content), true) = (written, read == written) {
                    self.merge(content, ring);
                }
            }
        }
        let node = self.find(node);
        let uses = &mut self.uses[node.index()];
        let mut loads = std::mem::take(&mut uses.loads);
        let mut stores = std::mem::take(&mut uses.stores);
        if loads.is_empty() && stores.is_empty() {
            return;
        }
        self.replace_by_roots(&mut loads);
        self.replace_by_roots(&mut stores);
        // What many locations hold is often one node.
        let mut read: Vec<NodeId> = Vec::new();
        let mut written: Vec<NodeId> = Vec::new();
        for loc in new.iter() {
            if let (Some(content), false) = (self.system.read(loc), loads.is_empty()) {
                read.push(content);
            }
            if let (Some(content), false) = (self.system.written(loc), stores.is_empty()) {
                written.push(content);
            }
        }
        self.replace_by_roots(&mut read);
        self.replace_by_roots(&mut written);
        for content in read {
            for &dst in &loads {
                self.add_edge(content, dst);
            }
        }
        for content in written {
            for &src in &stores {
                self.add_edge(src, content);
            }
        }
        self.uses[node.index()].loads = loads;
        self.uses[node.index()].stores = stores;
    }

    fn replace_by_roots(&mut self, nodes: &mut Vec<NodeId>) {
        nodes.iter_mut().for_each(|n| *n = self.merged.find(*n));
        nodes.sort_unstable();
        nodes.dedup();
    }

    fn calls(&mut self, node: NodeId, new: &LocSet) {
        let node = self.find(node);
        let calls = self.uses[node.index()].calls.clone();
        if calls.is_empty() {
            return;
        }
        for loc in new.iter() {
            let func = match self.system.objects.kind_of(loc) {
                ObjectKind::Function(func) => func,
                ObjectKind::Outside => {
                    for &call in &calls {
                        if self.unseen_calls.insert(call) {
                            let site = self.system.calls[call].clone();
                            self.system.reach_outside(&site);
                        }
                    }
                    continue;
                }
                _ => continue,
            };
            for &call in &calls {
                if !self.reached.insert((call, func)) {
                    continue;
                }
                let site = self.system.calls[call].clone();
                if let Some(callee) = self.system.reach(&site, func) {
                    self.callees[call].push(callee);
                }
            }
        }
        self.take_constraints();
    }

    /// Code out of sight reads and writes all that it was handed, and calls the functions it knows.
    fn escape(&mut self, new: &LocSet) {
        let (handed, outside) = (self.system.handed, self.system.outside);
        for loc in new.iter() {
            match self.system.objects.kind_of(loc) {
                ObjectKind::Library => {}
                ObjectKind::Function(func) => {
                    let Some(base) = self.system.instances.base(func) else {
                        continue;
                    };
                    let params = self.system.params[base].clone();
                    for param in params
                        .into_iter()
                        .flatten()
                        .chain(self.system.varargs[base])
                    {
                        self.add_edge(outside, param);
                    }
                    if let Some(ret) = self.system.returns[base] {
                        self.add_edge(ret, handed);
                    }
                }
                _ => {
                    let object = self.system.objects.object_of(loc);
                    if self.escaped.insert(object) {
                        for (_, field) in self.system.objects.list[object].locs().to_vec() {
                            self.hand_out(field);
                        }
                    }
                }
            }
        }
    }

    pub(super) fn hand_out(&mut self, loc: LocId) {
        if let Some(content) = self.system.read(loc) {
            self.add_edge(content, self.system.handed);
        }
        if let Some(content) = self.system.written(loc) {
            self.add(content, self.system.unseen);
        }
        self.add(self.system.handed, loc);
    }
}
