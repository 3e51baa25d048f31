//! Small programs that own memory: functions without loops that allocate, free, hand on and branch, and call those before them.

use proptest::prelude::*;
use std::fmt::Write as _;

/// Pointer variables of a function: its pointer parameters first, then locals.
pub const POINTERS: usize = 3;

/// Numbers that are handed over: summaries tell numbers apart by their sign.
pub const NUMBERS: std::ops::Range<i32> = -1..2;

/// Lines before the first function: declarations.
pub const PRELUDE_LINES: u32 = 7;

#[derive(Clone, Debug)]
pub struct Program {
    pub functions: Vec<Function>,
}

/// `char *fN(char *p0, int n, char **out)`; all functions have the same parameters, so that any can be called anywhere.
#[derive(Clone, Debug)]
pub struct Function {
    pub body: Vec<Statement>,
    /// The pointer returned at the end; null without.
    pub result: Option<usize>,
}

#[derive(Clone, Debug)]
pub enum Statement {
    Allocate(usize),
    Free(usize),
    Copy {
        to: usize,
        from: usize,
    },
    Clear(usize),
    /// `*out = p`
    Store(usize),
    /// `p = *out`
    Load(usize),
    /// Handed to code out of sight.
    Escape(usize),
    Exit,
    Return(Option<usize>),
    If(Condition, Vec<Statement>, Vec<Statement>),
    Call(Call),
}

#[derive(Clone, Debug)]
pub struct Call {
    /// Among the functions before the caller; without any, nothing is called.
    pub callee: usize,
    pub to: Option<usize>,
    pub pointer: Option<usize>,
    pub number: Number,
    /// The variable whose address is handed over; without one, the caller's own `out`.
    pub out: Option<usize>,
}

#[derive(Clone, Copy, Debug)]
pub enum Number {
    Parameter,
    Constant(i32),
}

#[derive(Clone, Copy, Debug)]
pub enum Condition {
    IsZero,
    NotPositive,
    IsNull(usize),
    NotNull(usize),
    /// Nobody knows.
    Unknown,
}

fn pointer() -> impl Strategy<Value = usize> {
    0..POINTERS
}

fn condition() -> impl Strategy<Value = Condition> {
    prop_oneof![
        3 => Just(Condition::IsZero),
        1 => Just(Condition::NotPositive),
        3 => pointer().prop_map(Condition::IsNull),
        2 => pointer().prop_map(Condition::NotNull),
        1 => Just(Condition::Unknown),
    ]
}

fn call() -> impl Strategy<Value = Call> {
    let number = prop_oneof![Just(Number::Parameter), NUMBERS.prop_map(Number::Constant)];
    (
        0usize..8,
        proptest::option::of(pointer()),
        proptest::option::of(pointer()),
        number,
        proptest::option::weighted(0.8, pointer()),
    )
        .prop_map(|(callee, to, pointer, number, out)| Call {
            callee,
            to,
            pointer,
            number,
            out,
        })
}

fn statement() -> impl Strategy<Value = Statement> {
    let leaf = prop_oneof![
        4 => pointer().prop_map(Statement::Allocate),
        4 => pointer().prop_map(Statement::Free),
        1 => (pointer(), pointer()).prop_map(|(to, from)| Statement::Copy { to, from }),
        1 => pointer().prop_map(Statement::Clear),
        2 => pointer().prop_map(Statement::Store),
        1 => pointer().prop_map(Statement::Load),
        1 => pointer().prop_map(Statement::Escape),
        1 => Just(Statement::Exit),
        2 => proptest::option::of(pointer()).prop_map(Statement::Return),
        5 => call().prop_map(Statement::Call),
    ];
    leaf.prop_recursive(2, 8, 3, |inner| {
        (
            condition(),
            proptest::collection::vec(inner.clone(), 1..3),
            proptest::collection::vec(inner, 0..2),
        )
            .prop_map(|(condition, then, els)| Statement::If(condition, then, els))
    })
}

pub fn program() -> impl Strategy<Value = Program> {
    let function = (
        proptest::collection::vec(statement(), 1..6),
        proptest::option::of(pointer()),
    )
        .prop_map(|(body, result)| Function { body, result });
    proptest::collection::vec(function, 2..5).prop_map(|functions| Program { functions })
}

impl Program {
    /// As C: one statement per line. `lines` gets the line of every allocation and call, in the order of the text.
    pub fn source(&self) -> (String, Lines) {
        let mut printer = Printer {
            text: String::new(),
            line: PRELUDE_LINES,
            lines: Lines::default(),
        };
        printer.put("void sink(char *);");
        for (index, function) in self.functions.iter().enumerate() {
            printer.put(&format!("char *f{index}(char *p0, int n, char **out) {{"));
            for local in 1..POINTERS {
                printer.put(&format!("char *p{local} = NULL;"));
            }
            let mut lines = Vec::new();
            printer.statements(index, &function.body, &mut lines);
            printer.put(&format!("return {};", name(function.result)));
            printer.put("}");
            printer.lines.of_function.push(lines);
        }
        (printer.text, printer.lines)
    }
}

/// The lines of allocations and calls of each function, in the order of the text.
#[derive(Debug, Default)]
pub struct Lines {
    pub of_function: Vec<Vec<u32>>,
}

fn name(pointer: Option<usize>) -> String {
    pointer.map_or_else(|| "NULL".to_owned(), |p| format!("p{p}"))
}

struct Printer {
    text: String,
    line: u32,
    lines: Lines,
}

impl Printer {
    /// Writes a line and returns its number.
    fn put(&mut self, line: &str) -> u32 {
        let _ = writeln!(self.text, "{line}");
        self.line += 1;
        self.line
    }

    fn statements(&mut self, function: usize, list: &[Statement], lines: &mut Vec<u32>) {
        for statement in list {
            self.statement(function, statement, lines);
        }
    }

    fn statement(&mut self, function: usize, statement: &Statement, lines: &mut Vec<u32>) {
        match statement {
            Statement::Allocate(p) => lines.push(self.put(&format!("p{p} = malloc(4);"))),
            Statement::Free(p) => {
                self.put(&format!("free(p{p});"));
            }
            Statement::Copy { to, from } => {
                self.put(&format!("p{to} = p{from};"));
            }
            Statement::Clear(p) => {
                self.put(&format!("p{p} = NULL;"));
            }
            Statement::Store(p) => {
                self.put(&format!("*out = p{p};"));
            }
            Statement::Load(p) => {
                self.put(&format!("p{p} = *out;"));
            }
            Statement::Escape(p) => {
                self.put(&format!("sink(p{p});"));
            }
            Statement::Exit => {
                self.put("exit(1);");
            }
            Statement::Return(p) => {
                self.put(&format!("return {};", name(*p)));
            }
            Statement::If(condition, then, els) => {
                self.put(&format!("if ({}) {{", shown(*condition)));
                self.statements(function, then, lines);
                self.put("} else {");
                self.statements(function, els, lines);
                self.put("}");
            }
            Statement::Call(call) => {
                if function == 0 {
                    lines.push(self.put(";"));
                    return;
                }
                let to = call.to.map_or_else(String::new, |p| format!("p{p} = "));
                let number = match call.number {
                    Number::Parameter => "n".to_owned(),
                    Number::Constant(value) => value.to_string(),
                };
                let out = call
                    .out
                    .map_or_else(|| "out".to_owned(), |p| format!("&p{p}"));
                let line = self.put(&format!(
                    "{to}f{}({}, {number}, {out});",
                    call.callee % function,
                    name(call.pointer)
                ));
                lines.push(line);
            }
        }
    }
}

fn shown(condition: Condition) -> String {
    match condition {
        Condition::IsZero => "n == 0".to_owned(),
        Condition::NotPositive => "n <= 0".to_owned(),
        Condition::IsNull(p) => format!("!p{p}"),
        Condition::NotNull(p) => format!("p{p}"),
        Condition::Unknown => "getchar()".to_owned(),
    }
}
