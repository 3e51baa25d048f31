//! Copies of memory, field by field, in two halves that copies share.
//!
//! A [`Gather`] reads: what all fields at one distance from its pointers hold comes together in one node per distance. A
//! [`Scatter`] writes: one node per distance flows to the fields at that distance of all its targets. A copy between `n`
//! sources and `m` targets thus has n + m edges per distance, and copies from the same pointer, or to the same pointer, share
//! them. A node is made only where two different ones come together ([`Joint`]): when what most blocks hold has become one
//! node, copies between them need no edges at all. So only some copies are looked at before cycles are looked for again.
//! Only what is new is looked at: new members of the two sets, and members whose object got a location or became an array.

use drip_base::IdSet;
use rustc_hash::{FxHashMap, FxHashSet};

use super::effect::{copied_fields, copied_stride, copied_to, needs_array};
use super::solve::Solver;
use super::{LocId, LocSet, NodeId, ObjectId};

/// New edges, as a share of all edges, after which cycles are looked for before further copies are looked at.
const COPIES_SHARE: usize = 16;

/// Where flows of one distance come together.
#[derive(Clone, Copy)]
struct Joint {
    node: NodeId,
    /// Made for this; else it is the only node that flows in.
    is_own: bool,
}

/// The reading half.
pub(super) struct Gather {
    src: NodeId,
    len: u64,
    distances: FxHashMap<u64, Joint>,
    strides: Vec<u32>,
    /// Sources that were looked at.
    done: LocSet,
    /// Objects of sources that changed since then.
    touched: Vec<ObjectId>,
    /// Scatters that it feeds.
    into: Vec<usize>,
}

/// The writing half.
pub(super) struct Scatter {
    dst: NodeId,
    distances: FxHashMap<u64, Joint>,
    strides: Vec<u32>,
    done: LocSet,
    touched: Vec<ObjectId>,
    new_distances: Vec<(u64, NodeId)>,
    new_strides: Vec<u32>,
}

/// Who wants to know when an object changes.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Watcher {
    Gather(usize),
    Scatter(usize),
}

/// All copies of memory.
#[derive(Default)]
pub(super) struct Copies {
    gathers: Vec<Gather>,
    scatters: Vec<Scatter>,
    by_source: FxHashMap<(NodeId, u64), usize>,
    by_target: FxHashMap<NodeId, usize>,
    pairs: FxHashSet<(usize, usize)>,
    watched: FxHashMap<ObjectId, Vec<Watcher>>,
    watching: FxHashSet<(Watcher, ObjectId)>,
    dirty_gathers: IdSet<usize>,
    dirty_scatters: IdSet<usize>,
}

impl Copies {
    pub fn is_settled(&self) -> bool {
        self.dirty_gathers.is_empty() && self.dirty_scatters.is_empty()
    }

    /// The object has a new location, or another shape.
    pub fn touch(&mut self, object: ObjectId) {
        for &watcher in self.watched.get(&object).into_iter().flatten() {
            match watcher {
                Watcher::Gather(at) => {
                    self.gathers[at].touched.push(object);
                    self.dirty_gathers.insert(at);
                }
                Watcher::Scatter(at) => {
                    self.scatters[at].touched.push(object);
                    self.dirty_scatters.insert(at);
                }
            }
        }
    }

    /// The sets of nodes with these halves have grown.
    pub fn wake(&mut self, gathers: &[usize], scatters: &[usize]) {
        self.dirty_gathers.extend(gathers.iter().copied());
        self.dirty_scatters.extend(scatters.iter().copied());
    }

    /// A half wants to know about the objects of these locations.
    fn watch(&mut self, watcher: Watcher, objects: impl Iterator<Item = ObjectId>) {
        for object in objects {
            if self.watching.insert((watcher, object)) {
                self.watched.entry(object).or_default().push(watcher);
            }
        }
    }
}

impl Solver<'_> {
    pub(super) fn add_block(&mut self, dst: NodeId, src: NodeId, len: u64) {
        let (dst, src) = (self.find(dst), self.find(src));
        let copies = &mut self.copies;
        let gather = *copies.by_source.entry((src, len)).or_insert_with(|| {
            let id = copies.gathers.len();
            copies.gathers.push(Gather {
                src,
                len,
                distances: FxHashMap::default(),
                strides: Vec::new(),
                done: LocSet::new(),
                touched: Vec::new(),
                into: Vec::new(),
            });
            self.uses[src.index()].gathers.push(id);
            id
        });
        let scatter = *copies.by_target.entry(dst).or_insert_with(|| {
            let id = copies.scatters.len();
            copies.scatters.push(Scatter {
                dst,
                distances: FxHashMap::default(),
                strides: Vec::new(),
                done: LocSet::new(),
                touched: Vec::new(),
                new_distances: Vec::new(),
                new_strides: Vec::new(),
            });
            self.uses[dst.index()].scatters.push(id);
            id
        });
        copies.wake(&[gather], &[scatter]);
        self.to_bound.extend([src, dst]);
        if copies.pairs.insert((gather, scatter)) {
            copies.gathers[gather].into.push(scatter);
            let strides = copies.gathers[gather].strides.clone();
            let nodes: Vec<(u64, NodeId)> = sorted(&copies.gathers[gather].distances);
            copies.scatters[scatter].new_strides.extend(strides);
            for (distance, node) in nodes {
                self.connect(scatter, distance, node);
            }
        }
    }

    /// Looks at copies that something has changed for, until many edges are new.
    pub(super) fn copy_memory(&mut self) {
        let gathers: Vec<usize> = self.copies.dirty_gathers.iter().collect();
        for gather in gathers {
            if self.wave.new_edges * COPIES_SHARE > self.edges.len() {
                return;
            }
            self.copies.dirty_gathers.remove(gather);
            self.gather(gather);
        }
        let scatters: Vec<usize> = self.copies.dirty_scatters.iter().collect();
        for scatter in scatters {
            if self.wave.new_edges * COPIES_SHARE > self.edges.len() {
                return;
            }
            self.copies.dirty_scatters.remove(scatter);
            self.scatter(scatter);
        }
    }

    /// Members of a set that were not looked at, or whose object has changed; `done` is the whole set afterwards.
    fn to_look_at(&self, set: &LocSet, done: &mut LocSet, touched: Vec<ObjectId>) -> LocSet {
        let objects = &self.system.objects;
        let new = set.difference(done);
        let mut found: Vec<LocId> = new.iter().map(|loc| objects.find(loc)).collect();
        done.union_with(&new);
        if !touched.is_empty() {
            let touched: IdSet<ObjectId> = touched.into_iter().collect();
            let again = done
                .iter()
                .filter(|&loc| touched.contains(objects.object_of(loc)));
            found.extend(again.map(|loc| objects.find(loc)));
        }
        found.sort_unstable();
        found.into_iter().collect()
    }

    fn gather(&mut self, id: usize) {
        let src = self.find(self.copies.gathers[id].src);
        let mut done = std::mem::take(&mut self.copies.gathers[id].done);
        let touched = std::mem::take(&mut self.copies.gathers[id].touched);
        if self.wide.contains(src) {
            // Whatever is out there can be copied: to anywhere in the targets.
            for scatter in self.copies.gathers[id].into.clone() {
                let dst = self.copies.scatters[scatter].dst;
                self.add_edge(dst, self.system.handed);
            }
        }
        let sources = self.to_look_at(&self.sets[src.index()], &mut done, touched);
        self.copies.gathers[id].done = done;
        let len = self.copies.gathers[id].len;
        let objects = &self.system.objects;
        let watched = sources.iter().map(|loc| objects.object_of(loc));
        self.copies.watch(Watcher::Gather(id), watched);
        for source in sources.iter() {
            let stride = copied_stride(&self.system.objects, source, len);
            if stride > 0 && !self.copies.gathers[id].strides.contains(&stride) {
                self.copies.gathers[id].strides.push(stride);
                for scatter in self.copies.gathers[id].into.clone() {
                    self.copies.scatters[scatter].new_strides.push(stride);
                    self.copies.dirty_scatters.insert(scatter);
                }
            }
            for (distance, field) in copied_fields(&self.system.objects, source, len) {
                if let Some(content) = self.system.read(field) {
                    self.gather_at(id, distance, content);
                }
            }
        }
    }

    /// What a gather reads at a distance goes to all its scatters.
    fn gather_at(&mut self, id: usize, distance: u64, content: NodeId) {
        let known = self.copies.gathers[id].distances.get(&distance).copied();
        let Some(joint) = self.join(known, content) else {
            return;
        };
        self.copies.gathers[id].distances.insert(distance, joint);
        for scatter in self.copies.gathers[id].into.clone() {
            self.connect(scatter, distance, joint.node);
        }
    }

    /// What was gathered at a distance goes to the scatter's targets.
    fn connect(&mut self, scatter: usize, distance: u64, gathered: NodeId) {
        let known = self.copies.scatters[scatter].distances.get(&distance);
        if let Some(joint) = self.join(known.copied(), gathered) {
            let half = &mut self.copies.scatters[scatter];
            half.distances.insert(distance, joint);
            half.new_distances.push((distance, joint.node));
            self.copies.dirty_scatters.insert(scatter);
        }
    }

    /// One more node flows in; the joint if it is another one now.
    fn join(&mut self, known: Option<Joint>, incoming: NodeId) -> Option<Joint> {
        let Some(joint) = known else {
            return Some(Joint {
                node: incoming,
                is_own: false,
            });
        };
        if self.find(joint.node) == self.find(incoming) {
            return None;
        }
        if joint.is_own {
            self.add_edge(incoming, joint.node);
            return None;
        }
        let node = self.system.fresh_node();
        self.grow();
        self.add_edge(joint.node, node);
        self.add_edge(incoming, node);
        Some(Joint { node, is_own: true })
    }

    fn scatter(&mut self, id: usize) {
        let dst = self.find(self.copies.scatters[id].dst);
        let half = &mut self.copies.scatters[id];
        let mut done = std::mem::take(&mut half.done);
        let touched = std::mem::take(&mut half.touched);
        let new_distances = std::mem::take(&mut half.new_distances);
        let mut new_strides = std::mem::take(&mut half.new_strides);
        new_strides.retain(|stride| !half.strides.contains(stride));
        let old_strides = half.strides.clone();
        half.strides.extend(&new_strides);
        let before = self.current(done.clone());
        let targets = self.to_look_at(&self.sets[dst.index()], &mut done, touched);
        self.copies.scatters[id].done = done;
        let objects = &self.system.objects;
        let watched = targets.iter().map(|loc| objects.object_of(loc));
        self.copies.watch(Watcher::Scatter(id), watched);
        self.make_arrays(&before, &new_strides);
        self.make_arrays(&targets, &old_strides);
        self.make_arrays(&targets, &new_strides);
        let all = sorted(&self.copies.scatters[id].distances);
        self.put(&before, &new_distances);
        self.put(&targets, &all);
    }

    /// Several elements of an array make what they are copied to an array.
    fn make_arrays(&mut self, targets: &LocSet, strides: &[u32]) {
        let types = &self.system.program.types;
        for &stride in strides {
            for target in targets.iter() {
                let target = self.system.objects.find(target);
                if needs_array(&self.system.objects, types, target, stride) {
                    let object = self.system.objects.object_of(target);
                    self.make_array(object, stride);
                }
            }
        }
    }

    fn put(&mut self, targets: &LocSet, distances: &[(u64, NodeId)]) {
        let types = &self.system.program.types;
        for target in targets.iter() {
            for &(distance, through) in distances {
                let target = self.system.objects.find(target);
                let place = copied_to(&mut self.system.objects, types, target, distance);
                let Some(place) = place else { continue };
                if self.has_new_locs() {
                    self.grow();
                }
                if let Some(content) = self.system.written(place) {
                    self.add_edge(through, content);
                }
            }
        }
    }
}

fn sorted(joints: &FxHashMap<u64, Joint>) -> Vec<(u64, NodeId)> {
    let mut list: Vec<(u64, NodeId)> = joints.iter().map(|(&d, j)| (d, j.node)).collect();
    list.sort_unstable();
    list
}
