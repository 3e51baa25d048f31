//! Question: what does a call do that starts a thread?
//!
//! What the thread's function frees, keeps or lets be of its argument is freed, kept or let be once the thread has run, and it
//! runs in any case: for a leak it does not matter when. So the call does what its model says, and where it has succeeded what that function's
//! summary says of its argument. Known false negatives: what the thread makes, and what it returns to whoever waits for it, is kept.

use std::sync::Arc;

use drip_models::{
    Atom, CellPath, Certainty, Class, Escape, EscapeTo, Free, MAX_OUTCOMES, Outcome, Root, Subject,
    Summary, Value, ValuePath, Write,
};

/// The model of the call, with what the thread's function does to `argument`; the model alone if that can't be told.
pub(super) fn with_routine(model: Arc<Summary>, argument: u16, routine: &Summary) -> Arc<Summary> {
    if !routine.returns() {
        return model;
    }
    let mut both = Summary::clone(&model);
    both.touched.extend(&routine.touched);
    both.limited |= routine.limited;
    both.outcomes = Vec::new();
    let is_argument = |path: &ValuePath| path.root == Root::Arg(argument);
    for outcome in &model.outcomes {
        // A thread that was not started leaves its argument alone.
        if !outcome.escapes.iter().any(|e| is_argument(&e.path)) {
            both.outcomes.push(outcome.clone());
            continue;
        }
        let mut started = outcome.clone();
        started.escapes.retain(|e| !is_argument(&e.path));
        for run in &routine.outcomes {
            let joined = with_run(started.clone(), argument, run);
            if !both.outcomes.contains(&joined) {
                both.outcomes.push(joined);
            }
        }
    }
    match both.outcomes.len() > MAX_OUTCOMES {
        true => model,
        false => Arc::new(both),
    }
}

/// One way of the call, and then one way of the thread's function.
fn with_run(mut outcome: Outcome, argument: u16, run: &Outcome) -> Outcome {
    let renamed = |path: &ValuePath| match path.root {
        Root::Arg(0) => Some(ValuePath {
            root: Root::Arg(argument),
            loads: path.loads.clone(),
        }),
        Root::Global(_) => Some(path.clone()),
        Root::Arg(_) | Root::Fresh(_) | Root::Ret => None,
    };
    let kept = |path: ValuePath| Escape {
        path,
        to: EscapeTo::Thread,
    };
    outcome.when.extend(run.when.iter().filter_map(|atom| {
        let Subject::Entry(path) = &atom.subject else {
            return None;
        };
        Some(Atom {
            subject: Subject::Entry(renamed(path)?),
            class: atom.class,
        })
    }));
    outcome.frees.extend(run.frees.iter().filter_map(|free| {
        Some(Free {
            path: renamed(&free.path)?,
            ..free.clone()
        })
    }));
    let escapes = run.escapes.iter().filter_map(|e| renamed(&e.path));
    outcome.escapes.extend(escapes.map(kept));
    for write in &run.writes {
        let Some(base) = renamed(&write.cell.base) else {
            continue;
        };
        let value = match &write.value {
            Value::Entry { path, plus } => {
                renamed(path).map(|path| Value::Entry { path, plus: *plus })
            }
            Value::Fresh { .. } => Some(Value::Unknown(Class::NonZero)),
            other => Some(other.clone()),
        };
        outcome.writes.push(Write {
            cell: CellPath {
                base,
                offset: write.cell.offset,
            },
            value: value.unwrap_or(Value::Unknown(Class::Any)),
            // Nobody says when.
            certainty: Certainty::May,
        });
    }
    if let Value::Entry { path, .. } = &run.ret {
        outcome.escapes.extend(renamed(path).map(kept));
    }
    outcome
}
