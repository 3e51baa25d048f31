//! Question: can a run of the function really lose the block, when the calls on its way are executed and not only summarised?
//!
//! A summary tells at most eight outcomes of a function; what belongs together inside of it (a result and what is stored
//! through a pointer, a length and a block, a flag and a way) may come apart. A finding is worth a second look: the function is
//! executed along the path that the finding shows, from its entry, with symbols for all that is unknown, and small callees are executed
//! with it, in place, down to a depth. Callees that are too large, recursive, or library functions are taken by their
//! summaries. At the function's return memory is searched: is the block alive and out of reach?
//!
//! Domain: a *world* (`world`): cells with terms, the fate of each block, and a conjunction of facts. Order: depth first; both ways at
//! a branch that nothing decides. Ways through a callee that leave the same world are one, under either's facts. Invariants: a
//! run's facts can hold (the solver is asked at each branch; it may not know); a block that ran out of sight is never called lost.
//! Cost: bounded by [`STEPS`] and [`QUERIES`]; beyond them there is no verdict.

mod calls;
mod elements;
mod guards;
mod guide;
mod machine;
mod memory;
mod run;
mod steps;
mod summaries;
mod texts;
mod world;

use std::ops::ControlFlow;

use drip_flow::{Frame, UseFlow, sort_of};
use drip_program::{FuncId, InstId};

use super::calls::CallContext;
use super::paths::Path;
use guide::Guide;
pub use machine::Fuel;
use machine::Machine;
use run::Activation;
use world::{Fate, Kind, Obj, Value, World};

/// Instructions and questions to the solver for all paths of one object; beyond them its losses are suspicions.
const STEPS: usize = 12_000;
const QUERIES: usize = 250;

/// Instructions that are spent on a run that is certain, once there is one that loses the block perhaps.
const STEPS_TO_CERTAINTY: usize = 2_000;

/// Runs that lose the block and whose facts turn out to contradict each other, for one path.
const FINAL_QUERIES: usize = 4;

/// What the second look at a path shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Second {
    /// A run loses the block.
    Lost,
    /// A run does, if a callee finds in memory what it takes for that.
    LostPerhaps,
    /// A run does as long as no callee is executed; none that was passed has to do with the block.
    Briefly,
    /// A run does, as far as the summaries of functions tell that were not executed.
    Roughly,
    /// No run does.
    Refuted,
    /// Some runs could not be followed to their end, and no other loses it.
    Open,
}

impl Default for Fuel {
    fn default() -> Self {
        Fuel {
            steps: STEPS,
            queries: QUERIES,
        }
    }
}

/// The calls that make the object in question, outermost first.
fn trace(frame: &Frame<'_>, flow: &UseFlow) -> Option<Vec<(FuncId, InstId)>> {
    let (call, index) = flow.birth(frame)?;
    let summary = frame.calls.get(&call);
    let made = summary.and_then(|s| s.fresh.get(usize::from(index)));
    let links = made.iter().flat_map(|m| &m.chain);
    let inner = links.map(|link| (link.func, link.inst));
    Some(std::iter::once((frame.func, call)).chain(inner).collect())
}

/// What a second look at a path shows.
pub struct Look {
    pub second: Second,
    /// How many blocks of the path some run has come through.
    pub passed: usize,
    /// Some run loses the block whatever callers pass and memory holds, on this path or another.
    is_certain: bool,
}

/// Executes the function along `path`. Where the fuel is used up inside of callees the function is executed once more with nothing
/// but their summaries: as long as none of them has to do with the block, these leave nothing open that matters.
pub fn second_look(
    context: &CallContext<'_>,
    frame: &Frame<'_>,
    flow: &UseFlow,
    path: &Path,
    fuel: &mut Fuel,
) -> Look {
    let look = executed(context, frame, flow, path, fuel, Manner::Whole);
    if look.second != Second::Open {
        return look;
    }
    let mut little = Fuel::SMALL;
    let brief = executed(context, frame, flow, path, &mut little, Manner::Brief);
    match brief.second {
        Second::Lost | Second::LostPerhaps => Look {
            second: Second::Briefly,
            ..look
        },
        _ => look,
    }
}

/// Does some run lose the block whatever callers pass and memory holds? Runs that ask for something are not followed.
pub fn is_certainly_lost(
    context: &CallContext<'_>,
    frame: &Frame<'_>,
    flow: &UseFlow,
    path: &Path,
    fuel: &mut Fuel,
) -> bool {
    executed(context, frame, flow, path, fuel, Manner::Certain).is_certain
}

/// How a function is executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Manner {
    /// With its callees.
    Whole,
    /// Callees are what their summaries say.
    Brief,
    /// With its callees, as long as nothing is asked of callers or memory.
    Certain,
}

/// Executes the function.
fn executed(
    context: &CallContext<'_>,
    frame: &Frame<'_>,
    flow: &UseFlow,
    path: &Path,
    fuel: &mut Fuel,
    manner: Manner,
) -> Look {
    let Some(trace) = trace(frame, flow) else {
        return Look {
            second: Second::Open,
            passed: 0,
            is_certain: false,
        };
    };
    let guide = Guide::new(frame, flow, path, trace[0].1);
    let mut machine = Machine::new(context, trace, std::mem::replace(fuel, Fuel::EMPTY));
    machine.activations = 1;
    machine.is_brief = manner == Manner::Brief;
    machine.only_certain = manner == Manner::Certain;
    let activation = Activation {
        func: frame.func,
        body: frame.body,
        number: 1,
        guide: Some(&guide),
    };
    let params = frame.body.params.iter().enumerate();
    let args = params
        .map(|(n, &ty)| {
            let sort = sort_of(frame.program, ty);
            let word = machine.unknown_word(sort);
            machine.remember_as_input();
            if context.granted.has(frame.func, frame.body.param(n)) {
                machine.granted.insert(word.term);
            }
            Value::Word(word)
        })
        .collect();
    let mut seen = Seen::default();
    let mut is_limited = false;
    let done = machine.execute(
        &activation,
        args,
        World::default(),
        &mut |machine, world, value| {
            let go_on = seen.exit(machine, &world, &value);
            if seen.perhaps && !is_limited {
                is_limited = true;
                machine.fuel.steps = machine.fuel.steps.min(STEPS_TO_CERTAINTY);
            }
            go_on
        },
    );
    for (world, held) in std::mem::take(&mut machine.rounds) {
        if seen
            .round(&mut machine, &world, &Value::Fields(held.into()))
            .is_break()
        {
            break;
        }
    }
    seen.open |= done.is_none() || machine.is_cut;
    tracing::debug!(
        steps = machine.fuel.steps,
        queries = machine.fuel.queries,
        cut = machine.is_cut,
        furthest = machine.furthest,
        of = guide.blocks.len(),
        contradictions = seen.contradictions,
        unclear = seen.open,
        verdict = ?seen.verdict(),
        "executed"
    );
    let passed = machine.furthest;
    *fuel = machine.fuel;
    Look {
        second: seen.verdict(),
        passed,
        is_certain: seen.certain,
    }
}

/// What the returns of the function show.
#[derive(Default)]
struct Seen {
    certain: bool,
    lost: bool,
    perhaps: bool,
    roughly: bool,
    open: bool,
    contradictions: usize,
}

impl Seen {
    fn exit(
        &mut self,
        machine: &mut Machine<'_, '_>,
        world: &World,
        value: &Value,
    ) -> ControlFlow<()> {
        let second = machine.judge(world, value, false);
        self.certain |= second == Second::Lost && machine.is_certain(world);
        self.note(machine, world, second)
    }

    /// A run that goes round a loop: the function's own variables still hold what they hold.
    fn round(
        &mut self,
        machine: &mut Machine<'_, '_>,
        world: &World,
        held: &Value,
    ) -> ControlFlow<()> {
        let second = machine.judge(world, held, true);
        self.note(machine, world, second)
    }

    fn note(
        &mut self,
        machine: &mut Machine<'_, '_>,
        world: &World,
        second: Second,
    ) -> ControlFlow<()> {
        match second {
            // Nothing new.
            Second::Lost
                if world.is_rough && self.roughly || world.is_doubtful() && self.perhaps => {}
            Second::Lost if !machine.is_possible(world) => self.contradictions += 1,
            Second::Lost if world.is_rough => self.roughly = true,
            Second::Lost if world.is_doubtful() => self.perhaps = true,
            Second::Lost => self.lost = true,
            Second::Open => self.open = true,
            Second::Refuted | Second::Roughly | Second::Briefly | Second::LostPerhaps => {}
        }
        match self.lost || self.contradictions == FINAL_QUERIES {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    }

    fn verdict(&self) -> Second {
        match self {
            Seen { lost: true, .. } => Second::Lost,
            Seen { perhaps: true, .. } => Second::LostPerhaps,
            Seen { roughly: true, .. } => Second::Roughly,
            Seen { open: true, .. } => Second::Open,
            _ if self.contradictions == FINAL_QUERIES => Second::Open,
            _ => Second::Refuted,
        }
    }
}

impl Machine<'_, '_> {
    /// Is a block with this history out of reach when the function returns, or, if it is still running, of its variables?
    fn judge(&self, world: &World, value: &Value, is_running: bool) -> Second {
        let mut made = world
            .fates
            .iter()
            .filter(|(obj, _)| self.is_from_same_call(*obj))
            .peekable();
        if made.peek().is_none() {
            return Second::Refuted;
        }
        let returned: Vec<Obj> = match value {
            Value::Word(word) => word.at.map(|place| place.obj).into_iter().collect(),
            Value::Fields(words) => words.iter().filter_map(|w| Some(w.at?.obj)).collect(),
            Value::None => Vec::new(),
        };
        let cells = world.cells.keys().map(|key| key.0);
        let loose = world.loose.keys().map(|key| key.0);
        let outside = cells.chain(loose).filter(|&obj| {
            let known = match self.objects[obj] {
                Kind::Global(_) | Kind::Behind(_) => true,
                Kind::Stack { .. } => is_running,
                _ => false,
            };
            known || matches!(world.fate(obj), Some(Fate::Escaped | Fate::Unclear))
        });
        let reached = self.reachable(world, outside.chain(returned));
        let mut verdict = Second::Refuted;
        for (obj, fate) in made {
            match fate {
                Fate::Alive if reached.contains(obj) => {}
                Fate::Alive if self.is_target(obj) => return Second::Lost,
                Fate::Unclear | Fate::Alive => verdict = Second::Open,
                Fate::Freed | Fate::Escaped => {}
            }
        }
        verdict
    }
}
