//! Independent checker: does the solution satisfy every constraint?
//!
//! Reads the sets only; nothing of the solvers' graphs, worklists or cycles. A location that a constraint asks for and that
//! does not exist is a violation.

use std::fmt;

use super::call::Callee;
use super::constraint::Constraint;
use super::effect::{
    Moved, copied_fields, copied_stride, copied_to, moved, needs_array, overflows,
};
use super::objects::{ObjectKind, Objects};
use super::points_to::PointsTo;
use super::{LocId, LocSet, NodeId};

/// A constraint that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    pub constraint: Constraint,
    pub why: String,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.constraint, self.why)
    }
}

/// All violations, at most `most`.
pub fn check(points_to: &PointsTo<'_>, most: usize) -> Vec<Broken> {
    let mut checker = Checker {
        points_to,
        // Asking for a location may make it: on a copy.
        objects: points_to.system.objects.clone(),
    };
    let mut broken = Vec::new();
    for &constraint in &points_to.system.constraints {
        if broken.len() >= most {
            break;
        }
        if let Err(why) = checker.holds(constraint) {
            broken.push(Broken { constraint, why });
        }
    }
    broken
}

struct Checker<'c, 'p> {
    points_to: &'c PointsTo<'p>,
    objects: Objects,
}

impl Checker<'_, '_> {
    fn set(&self, node: NodeId) -> &LocSet {
        self.points_to.node(node)
    }

    /// Does the node point there? A wide one points to all that was handed over.
    fn contains(&self, node: NodeId, loc: LocId) -> bool {
        let points_to = self.points_to;
        self.set(node).contains(loc)
            || (points_to.is_wide(node) && points_to.outside().contains(loc))
    }

    fn includes(&self, dst: NodeId, src: NodeId) -> Result<(), String> {
        let set = self.set(src);
        if set.is_subset(self.set(dst)) || set.iter().all(|loc| self.contains(dst, loc)) {
            return Ok(());
        }
        Err(format!(
            "{dst} holds {:?}, {src} holds {:?}",
            self.set(dst),
            self.set(src)
        ))
    }

    /// What is copied goes through nodes of the solver's own; if one of them is wide, what was handed over arrives as such.
    fn includes_copied(&self, dst: NodeId, src: NodeId) -> Result<(), String> {
        let points_to = self.points_to;
        let handed = points_to.outside();
        if points_to.statistics.wide > 0
            && self.set(dst).contains(points_to.system.unseen)
            && self.set(src).is_subset(handed)
        {
            return Ok(());
        }
        self.includes(dst, src)
    }

    fn holds(&mut self, constraint: Constraint) -> Result<(), String> {
        let points_to = self.points_to;
        let types = &points_to.system.program.types;
        match constraint {
            Constraint::Addr { dst, loc } => {
                let loc = self.objects.find(loc);
                let held = self.contains(dst, loc);
                held.then_some(())
                    .ok_or_else(|| format!("{dst} lacks {loc}"))
            }
            Constraint::Copy { dst, src } => self.includes(dst, src),
            Constraint::Field {
                dst,
                src,
                offset,
                stride,
            } => {
                for loc in points_to.node(src).iter() {
                    match moved(&mut self.objects, types, loc, offset, stride) {
                        Moved::At(to) if self.contains(dst, to) => {}
                        Moved::At(to) => return Err(format!("{dst} lacks {to}")),
                        Moved::NeedsArray(object, _) => {
                            return Err(format!("{object} is no array"));
                        }
                        Moved::Parked(object, at) if overflows(&self.objects, object, at) => {
                            return Err(format!("{object} goes on at {at}"));
                        }
                        Moved::Parked(..) => {}
                    }
                }
                Ok(())
            }
            Constraint::Load { dst, addr } => {
                for content in points_to
                    .node(addr)
                    .iter()
                    .filter_map(|l| points_to.system.read(l))
                {
                    self.includes(dst, content)?;
                }
                Ok(())
            }
            Constraint::Store { addr, src } => {
                for content in points_to
                    .node(addr)
                    .iter()
                    .filter_map(|l| points_to.system.written(l))
                {
                    self.includes(content, src)?;
                }
                Ok(())
            }
            Constraint::MemCopy { dst, src, len } => {
                if points_to.is_wide(src) {
                    self.includes(points_to.system.handed, dst)?;
                }
                for from in points_to.node(src).iter() {
                    self.copied(points_to.node(dst), from, len)?;
                }
                Ok(())
            }
            Constraint::Call(call) => {
                let site = &points_to.system.calls[call];
                let reached = points_to.callees(site.instance, site.inst);
                let callee = site.callee.map(|node| points_to.node(node));
                for loc in callee.into_iter().flat_map(LocSet::iter) {
                    let ObjectKind::Function(func) = self.objects.kind_of(loc) else {
                        continue;
                    };
                    if !points_to.system.fits(site, func) {
                        continue;
                    }
                    let has_base = points_to.instances().base(func).map(Callee::Instance);
                    let external = reached.contains(&Callee::External(func));
                    let bound = has_base.is_some_and(|base| reached.contains(&base));
                    if !external && !bound && has_base.is_some() {
                        return Err(format!("{func} is not reached"));
                    }
                }
                Ok(())
            }
        }
    }

    fn exists(&self, loc: LocId) -> Result<(), String> {
        let exists = loc.index() < self.points_to.system.contents.len();
        exists
            .then_some(())
            .ok_or_else(|| format!("there is no {loc}"))
    }

    fn copied(&mut self, dst: &LocSet, from: LocId, len: u64) -> Result<(), String> {
        let points_to = self.points_to;
        let types = &points_to.system.program.types;
        let stride = copied_stride(&self.objects, from, len);
        let fields = copied_fields(&self.objects, from, len);
        for to in dst.iter() {
            if needs_array(&self.objects, types, to, stride) {
                return Err(format!("{to} is no array"));
            }
            for &(distance, field) in &fields {
                self.exists(field)?;
                let Some(field) = points_to.system.read(field) else {
                    continue;
                };
                let Some(place) = copied_to(&mut self.objects, types, to, distance) else {
                    continue;
                };
                self.exists(place)?;
                if let Some(place) = points_to.system.written(place) {
                    self.includes_copied(place, field)?;
                }
            }
        }
        Ok(())
    }
}
