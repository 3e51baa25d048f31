//! The slow, obvious analysis: every call is executed in place, every way that the program can go is gone, with concrete
//! values. A block that nobody holds when a function returns has been lost in that function.

use super::language::{Call, Condition, Function, NUMBERS, Number, POINTERS, Program, Statement};
use std::collections::BTreeSet;

/// Runs of one function; with more its verdict is not known.
const MAX_RUNS: usize = 20_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pointer {
    Null,
    /// A block that the run has made.
    Made(usize),
    /// A block of the caller, of which nothing is asked.
    Existing,
}

/// A block and what became of it.
struct Block {
    /// The allocation or call of the outermost function that made it, by position in the text.
    site: usize,
    /// Freed, out of sight, or known to be lost.
    settled: bool,
}

struct Frame {
    pointers: [Pointer; POINTERS],
    number: i32,
    out: Out,
    /// Blocks that existed when the function was called.
    blocks_before: usize,
}

/// Where `out` points to.
#[derive(Clone, Copy)]
enum Out {
    /// The cell of the outermost function's caller.
    Outside,
    Variable {
        frame: usize,
        pointer: usize,
    },
}

enum Left {
    /// Goes on behind the statement.
    No,
    Returns(Pointer),
    Exits,
}

/// Positions of the allocations and calls in the text of `root` whose blocks some run loses in it; `None` if there are too many
/// runs, or one of them is doubtful.
pub fn losses(program: &Program, root: usize) -> Option<BTreeSet<usize>> {
    let mut lost = BTreeSet::new();
    let mut choices: Vec<(u32, u32)> = Vec::new();
    for _ in 0..MAX_RUNS {
        let mut run = Run {
            program,
            frames: Vec::new(),
            outside: Pointer::Null,
            blocks: Vec::new(),
            site: 0,
            choices: std::mem::take(&mut choices),
            taken: 0,
            lost: &mut lost,
            is_doubtful: false,
        };
        run.root(root);
        if run.is_doubtful {
            return None;
        }
        choices = run.choices;
        // The next run: the last decision that has another way goes it.
        while choices.last().is_some_and(|&(way, ways)| way + 1 == ways) {
            choices.pop();
        }
        match choices.last_mut() {
            Some((way, _)) => *way += 1,
            None => return Some(lost),
        }
    }
    None
}

struct Run<'r> {
    program: &'r Program,
    frames: Vec<Frame>,
    /// What the outermost function's `*out` holds.
    outside: Pointer,
    blocks: Vec<Block>,
    /// The allocation or call that the outermost function is at.
    site: usize,
    /// Decisions of this run, with the number of ways at each.
    choices: Vec<(u32, u32)>,
    taken: usize,
    lost: &'r mut BTreeSet<usize>,
    /// The program ended with a block that nobody held: whether that is a leak is a matter of taste.
    is_doubtful: bool,
}

impl Run<'_> {
    fn choose(&mut self, ways: u32) -> u32 {
        let at = self.taken;
        self.taken += 1;
        if at == self.choices.len() {
            self.choices.push((0, ways));
        }
        self.choices[at].0
    }

    fn existing(&mut self) -> Pointer {
        if self.choose(2) == 0 {
            Pointer::Null
        } else {
            Pointer::Existing
        }
    }

    fn root(&mut self, root: usize) {
        let pointer = self.existing();
        self.outside = self.existing();
        let number = NUMBERS.start + self.choose(NUMBERS.len() as u32) as i32;
        self.function(root, pointer, number, Out::Outside);
    }

    /// Executes a function; `None` if it does not return.
    fn function(&mut self, index: usize, p0: Pointer, number: i32, out: Out) -> Option<Pointer> {
        let mut pointers = [Pointer::Null; POINTERS];
        pointers[0] = p0;
        self.frames.push(Frame {
            pointers,
            number,
            out,
            blocks_before: self.blocks.len(),
        });
        let program = self.program;
        let function: &Function = &program.functions[index];
        let mut position = 0;
        let result = match self.statements(index, &function.body, &mut position) {
            Left::No => function.result.map_or(Pointer::Null, |p| self.get(p)),
            Left::Returns(result) => result,
            Left::Exits => return None,
        };
        self.leave(result);
        Some(result)
    }

    /// Ends the innermost function: what it has made and nobody holds is lost in it.
    fn leave(&mut self, result: Pointer) {
        let Some(frame) = self.frames.pop() else {
            return;
        };
        for index in frame.blocks_before..self.blocks.len() {
            let block = Pointer::Made(index);
            let held = result == block
                || self.outside == block
                || self.frames.iter().any(|f| f.pointers.contains(&block));
            if held || self.blocks[index].settled {
                continue;
            }
            self.blocks[index].settled = true;
            if self.frames.is_empty() {
                self.lost.insert(self.blocks[index].site);
            }
        }
    }

    fn get(&self, pointer: usize) -> Pointer {
        self.frames
            .last()
            .map_or(Pointer::Null, |f| f.pointers[pointer])
    }

    fn set(&mut self, pointer: usize, value: Pointer) {
        if let Some(frame) = self.frames.last_mut() {
            frame.pointers[pointer] = value;
        }
    }

    fn out(&self) -> Out {
        self.frames.last().map_or(Out::Outside, |f| f.out)
    }

    fn settle(&mut self, pointer: usize) {
        if let Pointer::Made(index) = self.get(pointer) {
            self.blocks[index].settled = true;
        }
    }

    /// `position` counts the allocations and calls in the function's text.
    fn statements(&mut self, function: usize, list: &[Statement], position: &mut usize) -> Left {
        for (at, statement) in list.iter().enumerate() {
            match self.statement(function, statement, position) {
                Left::No => {}
                left => {
                    *position += list[at + 1..].iter().map(sites).sum::<usize>();
                    return left;
                }
            }
        }
        Left::No
    }

    fn statement(&mut self, function: usize, statement: &Statement, position: &mut usize) -> Left {
        match statement {
            Statement::Allocate(p) => {
                self.at_site(position);
                let made = if self.choose(2) == 0 {
                    Pointer::Null
                } else {
                    self.blocks.push(Block {
                        site: self.site,
                        settled: false,
                    });
                    Pointer::Made(self.blocks.len() - 1)
                };
                self.set(*p, made);
            }
            Statement::Free(p) | Statement::Escape(p) => self.settle(*p),
            Statement::Copy { to, from } => self.set(*to, self.get(*from)),
            Statement::Clear(p) => self.set(*p, Pointer::Null),
            Statement::Store(p) => {
                let value = self.get(*p);
                match self.out() {
                    Out::Outside => self.outside = value,
                    Out::Variable { frame, pointer } => {
                        self.frames[frame].pointers[pointer] = value
                    }
                }
            }
            Statement::Load(p) => {
                let value = match self.out() {
                    Out::Outside => self.outside,
                    Out::Variable { frame, pointer } => self.frames[frame].pointers[pointer],
                };
                self.set(*p, value);
            }
            Statement::Exit => {
                self.is_doubtful |= self.holds_nothing_of_some();
                return Left::Exits;
            }
            Statement::Return(p) => return Left::Returns(p.map_or(Pointer::Null, |p| self.get(p))),
            Statement::If(condition, then, els) => {
                return self.branch(function, *condition, then, els, position);
            }
            Statement::Call(call) => {
                self.at_site(position);
                return self.call(function, call);
            }
        }
        Left::No
    }

    /// Is there a block that nobody holds?
    fn holds_nothing_of_some(&self) -> bool {
        (0..self.blocks.len()).any(|index| {
            let block = Pointer::Made(index);
            let held = self.frames.iter().any(|f| f.pointers.contains(&block));
            !held && self.outside != block && !self.blocks[index].settled
        })
    }

    fn at_site(&mut self, position: &mut usize) {
        if self.frames.len() == 1 {
            self.site = *position;
        }
        *position += 1;
    }

    fn branch(
        &mut self,
        function: usize,
        condition: Condition,
        then: &[Statement],
        els: &[Statement],
        position: &mut usize,
    ) -> Left {
        let number = self.frames.last().map_or(0, |f| f.number);
        let holds = match condition {
            Condition::IsZero => number == 0,
            Condition::NotPositive => number <= 0,
            Condition::IsNull(p) => self.get(p) == Pointer::Null,
            Condition::NotNull(p) => self.get(p) != Pointer::Null,
            Condition::Unknown => self.choose(2) == 0,
        };
        let skipped = |list: &[Statement]| list.iter().map(sites).sum::<usize>();
        if holds {
            let left = self.statements(function, then, position);
            *position += skipped(els);
            left
        } else {
            *position += skipped(then);
            self.statements(function, els, position)
        }
    }

    fn call(&mut self, function: usize, call: &Call) -> Left {
        if function == 0 {
            return Left::No;
        }
        let pointer = call.pointer.map_or(Pointer::Null, |p| self.get(p));
        let number = match call.number {
            Number::Parameter => self.frames.last().map_or(0, |f| f.number),
            Number::Constant(value) => value,
        };
        let out = match call.out {
            Some(pointer) => Out::Variable {
                frame: self.frames.len() - 1,
                pointer,
            },
            None => self.out(),
        };
        match self.function(call.callee % function, pointer, number, out) {
            Some(result) => {
                if let Some(to) = call.to {
                    self.set(to, result);
                }
                Left::No
            }
            None => Left::Exits,
        }
    }
}

/// Allocations and calls in the text of a statement.
fn sites(statement: &Statement) -> usize {
    match statement {
        Statement::Allocate(_) | Statement::Call(_) => 1,
        Statement::If(_, then, els) => then.iter().chain(els).map(sites).sum(),
        _ => 0,
    }
}
