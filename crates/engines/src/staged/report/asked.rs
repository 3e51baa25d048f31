//! Question: what does the call that makes the object ask of its arguments?
//!
//! A callee that makes a block of the caller's only where it gets no arena, or only in one mode, says so in its outcomes; no branch of
//! the losing function does. Told is only what tells the chosen outcome from those that do not make the object.

use drip_flow::UseFlow;
use drip_models::{Atom, Class, Outcome, Root, Subject};
use drip_program::InstId;

use super::{Loss, Reporter};

impl Reporter<'_, '_> {
    /// Conditions on the arguments of the call that makes the object: "`arena == NULL`".
    pub(super) fn asked_by_maker(&self, flow: &UseFlow, loss: &Loss<'_>) -> Vec<String> {
        let Some((call, index)) = flow.birth(self.frame) else {
            return Vec::new();
        };
        let mut choices = loss.path.hops.iter().flat_map(|hop| &hop.choices);
        let choice = choices.find(|choice| choice.inst == call);
        let outcomes = self.frame.calls.get(&call).map(|call| &call.outcomes[..]);
        let (Some(choice), Some(outcomes)) = (choice, outcomes) else {
            return Vec::new();
        };
        let Some(chosen) = outcomes.get(usize::from(choice.alternative)) else {
            return Vec::new();
        };
        let others = outcomes
            .iter()
            .filter(|other| !other.fresh.contains(&index));
        let others: Vec<&Outcome> = others.collect();
        let tells = |atom: &&Atom| others.iter().any(|other| !other.when.contains(atom));
        let asked = chosen.when.iter().filter(tells);
        asked.filter_map(|atom| self.asked(call, atom)).collect()
    }

    /// What an outcome asks of an argument, if the argument has a name.
    fn asked(&self, call: InstId, atom: &Atom) -> Option<String> {
        let Subject::Entry(path) = &atom.subject else {
            return None;
        };
        let (Root::Arg(n), []) = (path.root, &path.loads[..]) else {
            return None;
        };
        let arg = *self.frame.args(call).get(usize::from(n))?;
        let value = arg.as_value()?;
        let name = self.names.value(arg)?;
        let is_pointer = self
            .frame
            .program
            .types
            .is_ptr(self.frame.body.value_ty(value));
        match atom.class {
            Class::Eq(0) if is_pointer => Some(format!("{name} == NULL")),
            // That a pointer is one goes without saying.
            _ if is_pointer => None,
            Class::Any | Class::Has(_) | Class::Lacks(_) => None,
            class => Some(format!("{name} {class}")),
        }
    }
}
