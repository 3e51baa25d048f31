//! Boolean guards as binary decision diagrams (crate `oxidd`): a few hundred variables, one per branch condition of a slice.
//!
//! One manager serves many sources, one after the other; every source starts again with the first variable.
//! Limits: [`MAX_VARIABLES`], [`MAX_FUNCTION_NODES`]; a source that needs more is given up, which is counted. Both are
//! properties of the source alone; the manager's own bound is far beyond them, since reaching it depends on what it served
//! before.

use oxidd::bdd::{BDDFunction, BDDManagerRef, new_manager};
use oxidd::util::{OptBool, OutOfMemory};
use oxidd::{BooleanFunction, Function, Manager, ManagerRef};

/// Branch conditions in the backward slice of one source.
pub const MAX_VARIABLES: u32 = 512;

/// Nodes of one guard.
pub const MAX_FUNCTION_NODES: usize = 1000;

/// Nodes of all diagrams that are alive at once.
const MAX_NODES: usize = 1 << 19;

/// Remembered results of operations.
const CACHE_ENTRIES: usize = 1 << 14;

/// A Boolean function of branch conditions. Equality is equivalence.
#[derive(Clone)]
pub struct Bdd {
    function: BDDFunction,
    /// It has at most so many nodes. Counting them costs more than most operations: it is done when this says too little.
    most_nodes: usize,
}

impl PartialEq for Bdd {
    fn eq(&self, other: &Bdd) -> bool {
        self.function == other.function
    }
}

impl Eq for Bdd {}

/// Nodes of a constant, and of a literal with both its ends.
const CONSTANT_NODES: usize = 1;
const LITERAL_NODES: usize = 3;

/// The diagram grew beyond its bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge;

impl From<OutOfMemory> for TooLarge {
    fn from(_: OutOfMemory) -> TooLarge {
        TooLarge
    }
}

impl Bdd {
    /// An operation, again without what nobody uses any more if the manager is full. The manager collects such nodes by itself,
    /// but in a thread of its own: without this, what is found would depend on when that runs.
    fn with_room<T>(&self, operation: impl Fn() -> Result<T, OutOfMemory>) -> Result<T, TooLarge> {
        operation().or_else(|_| {
            self.function.with_manager_shared(|manager, _| manager.gc());
            Ok(operation()?)
        })
    }

    /// The result of joining two functions.
    fn joined(&self, other: &Bdd, function: BDDFunction) -> Result<Bdd, TooLarge> {
        if function == self.function {
            return Ok(self.clone());
        }
        if function == other.function {
            return Ok(other.clone());
        }
        let (small, large) = match self.most_nodes <= other.most_nodes {
            true => (self.most_nodes, other.most_nodes),
            false => (other.most_nodes, self.most_nodes),
        };
        // Every node of the result stands for a pair; next to a literal there is one pair per node, and the literal's own ends.
        let mut most_nodes = match small {
            ..=LITERAL_NODES => large + LITERAL_NODES,
            _ => small * large,
        };
        if most_nodes > MAX_FUNCTION_NODES {
            most_nodes = function.node_count();
        }
        if most_nodes > MAX_FUNCTION_NODES {
            return Err(TooLarge);
        }
        Ok(Bdd {
            function,
            most_nodes,
        })
    }

    pub fn and(&self, other: &Bdd) -> Result<Bdd, TooLarge> {
        let function = self.with_room(|| self.function.and(&other.function))?;
        self.joined(other, function)
    }

    pub fn or(&self, other: &Bdd) -> Result<Bdd, TooLarge> {
        let function = self.with_room(|| self.function.or(&other.function))?;
        self.joined(other, function)
    }

    pub fn not(&self) -> Result<Bdd, TooLarge> {
        Ok(Bdd {
            function: self.with_room(|| self.function.not())?,
            most_nodes: self.most_nodes,
        })
    }

    pub fn is_true(&self) -> bool {
        self.function.valid()
    }

    pub fn is_false(&self) -> bool {
        !self.function.satisfiable()
    }
}

/// Variables and the values they must have.
pub type Cube = Vec<(u32, bool)>;

/// A disjunction of cubes.
pub struct Cubes {
    pub list: Vec<Cube>,
    /// Do they cover the whole function?
    pub complete: bool,
}

/// The manager of the diagrams.
pub struct Bdds {
    manager: BDDManagerRef,
    top: BDDFunction,
    bottom: BDDFunction,
}

impl Bdds {
    pub fn new() -> Bdds {
        let manager = new_manager(MAX_NODES, CACHE_ENTRIES, 1);
        let (top, bottom) = manager.with_manager_exclusive(|manager| {
            manager.add_vars(MAX_VARIABLES);
            (BDDFunction::t(manager), BDDFunction::f(manager))
        });
        Bdds {
            manager,
            top,
            bottom,
        }
    }

    pub fn yes(&self) -> Bdd {
        Bdd {
            function: self.top.clone(),
            most_nodes: CONSTANT_NODES,
        }
    }

    pub fn no(&self) -> Bdd {
        Bdd {
            function: self.bottom.clone(),
            most_nodes: CONSTANT_NODES,
        }
    }

    pub fn variable(&self, number: u32) -> Result<Bdd, TooLarge> {
        if number >= MAX_VARIABLES {
            return Err(TooLarge);
        }
        let manager = &self.manager;
        let var = manager.with_manager_shared(|manager| BDDFunction::var(manager, number))?;
        Ok(Bdd {
            function: var,
            most_nodes: LITERAL_NODES,
        })
    }

    /// Cubes whose disjunction implies `function`, each as short as it can be made by leaving literals out; at most `most`.
    pub fn cubes(&self, function: &Bdd, most: usize) -> Result<Cubes, TooLarge> {
        let outside = function.not()?;
        let mut rest = function.clone();
        let mut found: Vec<Cube> = Vec::new();
        while found.len() < most {
            let Some(values) = rest.function.pick_cube(|_, _, _| false) else {
                break;
            };
            let mut literals: Cube = values
                .iter()
                .enumerate()
                .filter_map(|(number, value)| match value {
                    OptBool::None => None,
                    OptBool::False => Some((number as u32, false)),
                    OptBool::True => Some((number as u32, true)),
                })
                .collect();
            let mut at = 0;
            while at < literals.len() {
                let mut shorter = literals.clone();
                shorter.remove(at);
                if self.cube(&shorter)?.and(&outside)?.is_false() {
                    literals = shorter;
                } else {
                    at += 1;
                }
            }
            rest = rest.and(&self.cube(&literals)?.not()?)?;
            found.push(literals);
        }
        Ok(Cubes {
            complete: rest.is_false(),
            list: found,
        })
    }

    fn cube(&self, literals: &[(u32, bool)]) -> Result<Bdd, TooLarge> {
        let mut cube = self.yes();
        for &(number, value) in literals {
            let variable = self.variable(number)?;
            let literal = if value { variable } else { variable.not()? };
            cube = cube.and(&literal)?;
        }
        Ok(cube)
    }
}

impl Default for Bdds {
    fn default() -> Bdds {
        Bdds::new()
    }
}
