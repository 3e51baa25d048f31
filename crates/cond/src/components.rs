//! Which conjuncts have nothing to do with each other?
//!
//! A path condition is mostly a heap of unrelated tests. Conjuncts that share no unknown are decided apart: smaller
//! queries are cheaper, a guess has to fit only its own part, and a session meets the same part again under other
//! paths. Shared are symbols, functions (their results are one table) and addresses (all objects' addresses differ, so
//! whatever mentions any address is one part).

use rustc_hash::FxHashMap;

use crate::Terms;
use crate::term::{FnKey, SymId, TermId, TermKind};

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Shared {
    Term(TermId),
    Sym(SymId),
    Function(FnKey),
    Addresses,
}

struct Partition {
    parent: Vec<usize>,
    owner: FxHashMap<Shared, usize>,
}

impl Partition {
    fn find(&self, index: usize) -> usize {
        let mut at = index;
        while let Some(&parent) = self.parent.get(at) {
            if parent == at {
                break;
            }
            at = parent;
        }
        at
    }

    /// Notes that the conjunct uses something; true if nobody did before.
    fn claim(&mut self, shared: Shared, conjunct: usize) -> bool {
        let Some(&other) = self.owner.get(&shared) else {
            self.owner.insert(shared, conjunct);
            return true;
        };
        let (a, b) = (self.find(other), self.find(conjunct));
        if let Some(parent) = self.parent.get_mut(a.max(b)) {
            *parent = a.min(b);
        }
        false
    }
}

/// The conjuncts in groups that share no unknowns; groups are in the order of their first conjuncts.
pub(crate) fn partition(terms: &Terms, conjuncts: &[TermId]) -> Vec<Vec<TermId>> {
    let mut partition = Partition {
        parent: (0..conjuncts.len()).collect(),
        owner: FxHashMap::default(),
    };
    let mut stack = Vec::new();
    for (index, &conjunct) in conjuncts.iter().enumerate() {
        stack.push(conjunct);
        while let Some(t) = stack.pop() {
            let kind = terms.kind(t);
            if matches!(kind, TermKind::Bool(_) | TermKind::Int(_))
                || !partition.claim(Shared::Term(t), index)
            {
                continue;
            }
            match kind {
                TermKind::Sym(sym) => {
                    partition.claim(Shared::Sym(*sym), index);
                }
                TermKind::Addr(_) => {
                    partition.claim(Shared::Addresses, index);
                }
                TermKind::App(function, _) => {
                    partition.claim(Shared::Function(*function), index);
                }
                _ => {}
            }
            kind.for_each_child(|child| stack.push(child));
        }
    }
    let mut groups: Vec<Vec<TermId>> = Vec::new();
    let mut number: FxHashMap<usize, usize> = FxHashMap::default();
    for (index, &conjunct) in conjuncts.iter().enumerate() {
        let at = *number.entry(partition.find(index)).or_insert_with(|| {
            groups.push(Vec::new());
            groups.len() - 1
        });
        if let Some(group) = groups.get_mut(at) {
            group.push(conjunct);
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::{ObjKey, Sort};

    #[test]
    fn parts_share_no_unknowns() {
        let mut terms = Terms::new();
        let [x, y, z, w] = [0, 1, 2, 3].map(|i| terms.sym(SymId(i), Sort::Bits(32)));
        let five = terms.int(32, 5);
        let list = [
            terms.slt(x, five),
            terms.slt(y, five),
            terms.slt(z, five),
            terms.slt(x, z),
            terms.eq(w, five),
        ];
        let groups = partition(&terms, &list);
        assert_eq!(
            groups,
            vec![
                vec![list[0], list[2], list[3]],
                vec![list[1]],
                vec![list[4]]
            ]
        );
    }

    #[test]
    fn functions_and_addresses_are_shared() {
        let mut terms = Terms::new();
        let [x, y] = [0, 1].map(|i| terms.sym(SymId(i), Sort::Bits(64)));
        let [f, g] = [x, y].map(|arg| terms.app(FnKey(0), &[arg], Sort::Bool));
        assert_eq!(partition(&terms, &[f, g]).len(), 1);
        let h = terms.app(FnKey(1), &[y], Sort::Bool);
        assert_eq!(partition(&terms, &[f, h]).len(), 2);
        let (p, q) = (terms.addr(ObjKey(0)), terms.addr(ObjKey(1)));
        let list = [terms.eq(x, p), terms.eq(y, q)];
        assert_eq!(partition(&terms, &list).len(), 1);
    }
}
