//! Question: what comes after a loss in its own function: the program's end, a return of what, or more of the program?
//!
//! `p = realloc(p, n); if (!p) exit(1);` loses a block that nobody misses. All ways from the loss on are walked (`ways`), with what
//! the losing path knows deciding what it can; where they return, what the function returns then is noted, for those who know its callers
//! (`fates`).

use drip_cond::Sort;
use drip_flow::{End, Frame, State, UseFlow, Values};
use drip_models::{Atom, Class, Subject, Value};
use drip_program::{BlockId, FuncId, InstId, Op, Operand};

use super::exits::ExitReader;
use super::paths::Path;
use super::ways::{Asker, Way, Ways, Work};

/// What the path asks of the function's arguments.
pub(super) fn asked_of_arguments(
    frame: &Frame<'_>,
    values: &mut Values,
    flow: &UseFlow,
    path: &Path,
    end: &End,
) -> Vec<Atom> {
    let blocks: Vec<BlockId> = path.blocks(flow).collect();
    let state = known_on(frame, values, &blocks, end);
    let mut atoms = reader(frame, values).atoms(&state);
    atoms.retain(|atom| matches!(&atom.subject, Subject::Entry(path) if path.loads.is_empty()));
    atoms
}

fn reader<'r, 'a>(frame: &'r Frame<'a>, values: &'r mut Values) -> ExitReader<'r, 'a> {
    ExitReader {
        frame,
        values,
        objects: &[],
        fresh: &[],
        limited: false,
        keeps_result: false,
    }
}

/// Returns of a function after which the question is up to its callers.
#[derive(Clone)]
pub(super) struct Returns {
    pub func: FuncId,
    pub values: Vec<Class>,
    pub work: Work,
}

impl Returns {
    /// These and those.
    pub fn join(&mut self, other: Returns) {
        for class in other.values {
            if !self.values.contains(&class) {
                self.values.push(class);
            }
        }
        self.work.join(other.work);
    }
}

/// What comes after the loss; none if the program goes on. Without any return the program ends.
pub(super) fn afterwards(
    frame: &Frame<'_>,
    values: &mut Values,
    flow: &UseFlow,
    path: &Path,
    end: &End,
) -> Option<Returns> {
    let blocks: Vec<BlockId> = path.blocks(flow).collect();
    let state = known_on(frame, values, &blocks, end);
    let mut after = Returns {
        func: frame.func,
        values: Vec::new(),
        work: Work::default(),
    };
    if let Op::Ret { value } = frame.body.insts[end.at].op {
        let value = value.map(|value| came_from(frame, &blocks, value));
        let class = returned(frame, values, &state, value);
        after.values.push(class);
        return Some(after);
    }
    if end.leaves {
        return None;
    }
    let asker = InFrame {
        frame,
        values,
        state: &state,
        returned: &mut after.values,
    };
    let block = frame.block_of(end.at);
    Ways::new(frame.program, frame.body, asker, &mut after.work)
        .all_end(block, end.at)
        .then_some(after)
}

/// What the path knows at its end: what the exploration remembers, and each branch that it takes.
fn known_on(frame: &Frame<'_>, values: &mut Values, blocks: &[BlockId], end: &End) -> State {
    let mut state = end.state.clone();
    for pair in blocks.windows(2) {
        let Op::CondBr { cond, then, els } = frame.body.insts[frame.body.terminator(pair[0])].op
        else {
            continue;
        };
        let term = values.term(cond);
        if then == els || values.terms.sort(term) != Sort::Bool {
            continue;
        }
        let term = values.replaced(term, |sym| end.state.lookup(sym));
        let fact = match pair[1] == then {
            true => term,
            false => values.terms.not(term),
        };
        // What a loop has turned round since is not known any more: the last turn counts.
        let negation = values.terms.not(fact);
        state.facts.retain(|known| *known != negation);
        if values.terms.as_bool(fact).is_none() {
            state.learn(fact);
        }
    }
    state
}

/// What φs of the path's last blocks are on it.
fn came_from(frame: &Frame<'_>, blocks: &[BlockId], mut operand: Operand) -> Operand {
    let body = frame.body;
    let mut pairs = blocks.windows(2).rev();
    while let Some(inst) = operand.as_value().and_then(|value| body.def(value))
        && let Op::Phi { incoming } = body.insts[inst].op
        && let Some(pair) = pairs.find(|pair| pair[1] == frame.block_of(inst))
        && let mut entries = body.incoming(incoming).iter()
        && let Some(entry) = entries.find(|entry| entry.block == pair[0])
    {
        operand = entry.value;
    }
    operand
}

/// What is known of a returned value.
fn returned(
    frame: &Frame<'_>,
    values: &mut Values,
    state: &State,
    value: Option<Operand>,
) -> Class {
    match reader(frame, values).returned_value(state, value) {
        Value::Int(number) => Class::Eq(number),
        Value::Unknown(class) => class,
        Value::Fresh { .. } | Value::Func(_) => Class::NonZero,
        Value::Entry { .. } => Class::Any,
    }
}

struct InFrame<'w, 'a> {
    frame: &'w Frame<'a>,
    values: &'w mut Values,
    state: &'w State,
    returned: &'w mut Vec<Class>,
}

impl Asker for InFrame<'_, '_> {
    /// Given what the path knows of its arguments (`check_memory(p)`, where p is null).
    fn never_passes(&mut self, inst: InstId) -> bool {
        let Some(summary) = self.frame.calls.get(&inst).filter(|s| !s.may_throw) else {
            return false;
        };
        summary.outcomes.iter().all(|outcome| {
            outcome.when.iter().any(|atom| {
                let Some(operand) = self.frame.asked_of(inst, atom) else {
                    return false;
                };
                let term = self.values.term(operand);
                let term = self.values.replaced(term, |sym| self.state.lookup(sym));
                let known = self.values.terms.as_int(term);
                known.is_some_and(|known| {
                    let number = drip_cond::to_signed(known, self.values.terms.width(term));
                    !atom.class.contains(number)
                })
            })
        })
    }

    fn decides(&mut self, way: &Way, cond: Operand) -> Option<bool> {
        let term = self.values.term(way.taken(self.frame.body, cond));
        if self.values.terms.sort(term) != Sort::Bool {
            return None;
        }
        let term = self.values.replaced(term, |sym| self.state.lookup(sym));
        let negation = self.values.terms.not(term);
        match self.values.terms.as_bool(term) {
            None if self.state.knows(term) => Some(true),
            None if self.state.knows(negation) => Some(false),
            known => known,
        }
    }

    fn accepts(&mut self, way: &Way, value: Option<Operand>, _: &mut Work) -> bool {
        let value = value.map(|value| way.taken(self.frame.body, value));
        let class = returned(self.frame, self.values, self.state, value);
        if !self.returned.contains(&class) {
            self.returned.push(class);
        }
        true
    }
}
