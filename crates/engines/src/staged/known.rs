//! Question: what does a losing path know when it ends, and what does it ask of the function's arguments?
//!
//! The exploration remembers only what decides between losing and not losing. Here every branch of the path counts; where a loop has turned
//! a condition round, the last turn does.

use std::cell::OnceCell;

use drip_cond::{Sort, TermId};
use drip_flow::{End, Frame, State, UseFlow, Values, args_of};
use drip_models::{Atom, Root, Subject, ValuePath};
use drip_program::{BlockId, CmpPred, Op, Operand};

use super::exits::ExitReader;
use super::feasible::SmallQuestions;
use super::paths::Path;
use super::ways::Way;

/// A path as it was taken, and what is known at its end.
pub(super) struct Known {
    pub way: Way,
    pub state: State,
}

impl Known {
    pub fn on(
        frame: &Frame<'_>,
        values: &mut Values,
        flow: &UseFlow,
        path: &Path,
        end: &End,
    ) -> Known {
        let way = Way::through(path.blocks(flow));
        let mut state = State::clone(&end.state);
        for &(from, to) in way.edges() {
            let Some(fact) = branch_fact(frame, values, from, to) else {
                continue;
            };
            let fact = values.replaced(fact, |sym| end.state.lookup(sym));
            let negation = values.terms.not(fact);
            state.facts.retain(|known| *known != negation);
            if values.terms.as_bool(fact).is_none() {
                state.learn(fact);
            }
        }
        Known { way, state }
    }

    /// Conditions on the arguments themselves.
    pub fn asked_of_arguments(&self, frame: &Frame<'_>, values: &mut Values) -> Vec<Atom> {
        let questions = &mut SmallQuestions::default();
        let mut atoms = reader(frame, values, questions).atoms(&self.state);
        atoms.retain(|atom| matches!(&atom.subject, Subject::Entry(path) if path.loads.is_empty()));
        atoms
    }
}

/// What the callees' outcomes on a path ask of the function's own arguments, which it hands on.
pub(super) fn asked_by_callees(frame: &Frame<'_>, path: &Path) -> Vec<Atom> {
    let mut asked = Vec::new();
    for choice in path.hops.iter().flat_map(|hop| &hop.choices) {
        let outcomes = frame.calls.get(&choice.inst).map(|call| &call.outcomes);
        let outcome = outcomes.and_then(|outcomes| outcomes.get(usize::from(choice.alternative)));
        let args = args_of(frame.body, choice.inst);
        for atom in outcome.into_iter().flat_map(|outcome| &outcome.when) {
            let Subject::Entry(path) = &atom.subject else {
                continue;
            };
            let (Root::Arg(n), []) = (path.root, &path.loads[..]) else {
                continue;
            };
            let handed_on = args.get(usize::from(n)).and_then(|arg| arg.as_value());
            if let Some(own) = handed_on.and_then(|value| frame.body.as_param(value))
                && let Ok(own) = u16::try_from(own)
            {
                asked.push(Atom {
                    subject: Subject::Entry(ValuePath::arg(own)),
                    class: atom.class,
                });
            }
        }
    }
    asked
}

/// What holds if a branch goes this way; none for other ends of blocks.
pub(super) fn branch_fact(
    frame: &Frame<'_>,
    values: &mut Values,
    from: BlockId,
    to: BlockId,
) -> Option<TermId> {
    let Op::CondBr { cond, then, els } = frame.body.insts[frame.body.terminator(from)].op else {
        return None;
    };
    let term = values.term(cond);
    if then == els || values.terms.sort(term) != Sort::Bool {
        return None;
    }
    Some(match to == then {
        true => term,
        false => values.terms.not(term),
    })
}

/// A comparison that a branch hangs on.
pub(super) struct Comparison {
    pub pred: CmpPred,
    pub a: Operand,
    pub b: Operand,
    pub holds: bool,
}

/// The comparison behind a branch, and whether it holds if the branch goes this way.
pub(super) fn comparison(frame: &Frame<'_>, from: BlockId, to: BlockId) -> Option<Comparison> {
    let body = frame.body;
    let Op::CondBr { cond, then, els } = body.insts[body.terminator(from)].op else {
        return None;
    };
    let Op::Cmp { pred, a, b } = body.insts[body.def(cond.as_value()?)?].op else {
        return None;
    };
    (then != els).then_some(Comparison {
        pred,
        a,
        b,
        holds: to == then,
    })
}

/// Reads values and conditions where no object is followed.
pub(super) fn reader<'r, 'a>(
    frame: &'r Frame<'a>,
    values: &'r mut Values,
    questions: &'r mut SmallQuestions,
) -> ExitReader<'r, 'a> {
    ExitReader {
        frame,
        values,
        questions,
        objects: &[],
        alike: &[],
        fresh: &[],
        concerned: OnceCell::new(),
        limited: false,
        keeps_result: false,
    }
}
