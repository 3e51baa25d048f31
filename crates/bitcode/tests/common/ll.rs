//! A rough reader of LLVM's textual form: enough to compare counts, opcodes, callees and locations.

use std::collections::HashMap;

use drip_bitcode::{
    BinaryOp, BlockId, CastOp, CmpPredicate, DebugRecord, DebugValue, ModuleValue, OperandKind,
    RawBody, RawInst, RawInstKind, RawModule, ValueId,
};

/// One instruction, as far as it is compared.
#[derive(Debug, PartialEq, Eq, Clone)]
pub struct Inst {
    pub opcode: String,
    /// Name of a function that is called directly.
    pub callee: Option<String>,
    /// Local values and blocks that it uses, by the number that the disassembler prints, sorted.
    pub locals: Vec<u32>,
    /// Line, column, file and function of the source.
    pub loc: Option<(u32, u32, String, String)>,
}

/// One defined function.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Function {
    pub name: String,
    pub blocks: usize,
    pub insts: Vec<Inst>,
    /// Per debug record: the local values that it names.
    pub debug_records: Vec<Vec<u32>>,
}

/// A module.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Summary {
    pub functions: Vec<Function>,
    pub declarations: Vec<String>,
    pub globals: Vec<String>,
    pub aliases: Vec<String>,
    pub ifuncs: Vec<String>,
}

/// The identifier that starts at the beginning of `text`, without `@` or `%`, and what follows it.
fn identifier(text: &str) -> Option<(&str, &str)> {
    let rest = text.get(1..)?;
    if let Some(quoted) = rest.strip_prefix('"') {
        let end = quoted.find('"')?;
        return Some((&quoted[..end], &quoted[end + 1..]));
    }
    let is_part = |c: char| c.is_ascii_alphanumeric() || "-$._".contains(c);
    let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
    Some(rest.split_at(end))
}

fn global_name(line: &str) -> String {
    let at = line.find('@').expect("a global's name");
    let name = identifier(&line[at..]).expect("a global's name").0;
    // What has no name is printed with a number.
    if name.parse::<u32>().is_ok() {
        return String::new();
    }
    // Escaped bytes such as \01.
    let mut out = String::new();
    let mut rest = name;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let code = rest
            .get(at + 1..at + 3)
            .and_then(|hex| u8::from_str_radix(hex, 16).ok());
        out.push(char::from(code.expect("an escape")));
        rest = &rest[at + 3..];
    }
    out + rest
}

fn callee(text: &str) -> Option<String> {
    let text = &text[..text.find(" asm ").unwrap_or(text.len())];
    let marks = text.match_indices(['@', '%']);
    for (at, mark) in marks {
        let (_, rest) = identifier(&text[at..])?;
        if rest.starts_with('(') {
            return (mark == "@").then(|| global_name(&text[at..]));
        }
    }
    None
}

fn opcode(text: &str) -> &str {
    let text = match text.split_once(" = ") {
        Some((left, right)) if left.starts_with('%') && !left.contains(' ') => right,
        _ => text,
    };
    let mut words = text.split([' ', ',']);
    let first = words.next().unwrap_or("");
    match first {
        "tail" | "musttail" | "notail" => "call",
        "br" if !text.starts_with("br label") => "condbr",
        _ => first,
    }
}

/// The value of `field: ` in a metadata node's text.
fn field<'t>(node: &'t str, name: &str) -> Option<&'t str> {
    let patterns = [format!("({name}: "), format!(", {name}: ")];
    let at = patterns
        .iter()
        .find_map(|p| node.find(p.as_str()).map(|at| at + p.len()))?;
    let rest = &node[at..];
    if let Some(text) = rest.strip_prefix('"') {
        return Some(&text[..text.find('"')?]);
    }
    Some(&rest[..rest.find([',', ')'])?])
}

struct Metadata<'t> {
    nodes: HashMap<&'t str, &'t str>,
}

impl<'t> Metadata<'t> {
    fn new(text: &'t str) -> Self {
        let lines = text.lines().filter(|line| line.starts_with('!'));
        Self {
            nodes: lines.filter_map(|line| line.split_once(" = ")).collect(),
        }
    }

    fn location(&self, id: &str) -> (u32, u32, String, String) {
        let node = self.nodes[id];
        let number = |name| field(node, name).map_or(0, |n| n.parse().expect("a number"));
        let (line, col) = (number("line"), number("column"));
        let mut scope = field(node, "scope").expect("a scope");
        let mut file = None;
        loop {
            let node = self.nodes[scope];
            file = file.or(field(node, "file"));
            if node.contains("!DISubprogram(") {
                let file = file.and_then(|id| field(self.nodes[id], "filename"));
                let function = field(node, "name").unwrap_or("");
                return (line, col, file.unwrap_or("").into(), function.into());
            }
            scope = field(node, "scope").expect("an outer scope");
        }
    }
}

/// Reads the text of a module.
pub fn parse(text: &str) -> Summary {
    let metadata = Metadata::new(text);
    let mut summary = Summary::default();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if line.starts_with("define ") {
            let mut function = Function {
                name: global_name(line),
                ..Function::default()
            };
            parse_body(&mut lines, &metadata, &mut function);
            summary.functions.push(function);
        } else if line.starts_with("declare ") {
            summary.declarations.push(global_name(line));
        } else if line.starts_with('@') {
            let (_, rest) = identifier(line).expect("a name");
            let words = ["global", "constant", "alias", "ifunc"];
            let kind = rest.split(' ').find(|word| words.contains(word));
            let list = match kind {
                Some("alias") => &mut summary.aliases,
                Some("ifunc") => &mut summary.ifuncs,
                _ => &mut summary.globals,
            };
            list.push(global_name(line));
        }
    }
    summary
}

fn parse_body<'t>(
    lines: &mut std::iter::Peekable<impl Iterator<Item = &'t str>>,
    metadata: &Metadata<'_>,
    function: &mut Function,
) {
    let is_label = |line: &str| !line.starts_with([' ', ';', '}']) && line.contains(':');
    if lines.peek().is_some_and(|line| !is_label(line)) {
        function.blocks += 1;
    }
    while let Some(line) = lines.next() {
        if line == "}" {
            return;
        }
        if is_label(line) {
            function.blocks += 1;
        } else if line.trim_start().starts_with("#dbg_") {
            function.debug_records.push(locals(line));
        } else if line.starts_with("  ") && !line.starts_with("   ") && line != "  ]" {
            let mut whole = line.trim().to_owned();
            while let Some(more) = lines.next_if(|next| {
                (next.starts_with("    ") && !next.trim_start().starts_with("#dbg_"))
                    || *next == "  ]"
                    || next.starts_with("  ], !")
            }) {
                whole.push(' ');
                whole.push_str(more.trim());
            }
            add_instruction(&whole, metadata, function);
        }
    }
}

fn add_instruction(text: &str, metadata: &Metadata<'_>, function: &mut Function) {
    let opcode = opcode(text).to_owned();
    let is_call = matches!(&*opcode, "call" | "invoke" | "callbr");
    let callee = if is_call { callee(text) } else { None };
    if callee
        .as_deref()
        .is_some_and(|c| c.starts_with("llvm.dbg."))
    {
        let operands = text.find("llvm.dbg.").map_or(text, |at| &text[at..]);
        function.debug_records.push(locals(operands));
        return;
    }
    let loc = text.rfind("!dbg !").map(|at| {
        let id = &text[at + 5..];
        let end = id.find([',', ' ']).unwrap_or(id.len());
        metadata.location(&id[..end])
    });
    let operands = match text.split_once(" = ") {
        Some((left, right)) if left.starts_with('%') && !left.contains(' ') => right,
        _ => text,
    };
    function.insts.push(Inst {
        opcode,
        callee,
        locals: locals(operands),
        loc,
    });
}

/// The numbers of all `%123` in a text, sorted.
fn locals(text: &str) -> Vec<u32> {
    // The block inside a constant is no operand of the instruction.
    let pieces = text.split("blockaddress(").enumerate();
    let text: String = pieces
        .map(|(index, piece)| match piece.split_once(')') {
            Some((_, rest)) if index > 0 => rest,
            _ => piece,
        })
        .collect();
    let names = text
        .match_indices('%')
        .filter_map(|(at, _)| identifier(&text[at..]));
    let mut numbers: Vec<u32> = names.filter_map(|(name, _)| name.parse().ok()).collect();
    numbers.sort_unstable();
    numbers
}

/// The numbers that the disassembler gives to unnamed blocks and values: arguments, then per block the
/// block itself and its results.
struct Slots {
    blocks: Vec<u32>,
    values: Vec<Option<u32>>,
    first_value: u32,
}

impl Slots {
    fn new(body: &RawBody) -> Self {
        let mut next = body.arg_count;
        let mut values = vec![None; body.local_count() as usize];
        for arg in 0..body.arg_count {
            values[arg as usize] = Some(arg);
        }
        let mut blocks = Vec::new();
        for block in 0..body.blocks.len() {
            blocks.push(next);
            next += 1;
            for inst in body.block(BlockId(block as u32)) {
                if let Some(result) = inst.result {
                    values[(result.0 - body.first_value) as usize] = Some(next);
                    next += 1;
                }
            }
        }
        let first_value = body.first_value;
        Self {
            blocks,
            values,
            first_value,
        }
    }

    fn value(&self, id: ValueId) -> Option<u32> {
        let index = id.0.checked_sub(self.first_value)?;
        self.values[index as usize]
    }

    fn used_by(&self, body: &RawBody, inst: &RawInst) -> Vec<u32> {
        let mut slots = Vec::new();
        body.visit_operands(inst, |operand| match operand {
            OperandKind::Value(id) => slots.extend(self.value(id)),
            OperandKind::Block(id) => slots.push(self.blocks[id.index()]),
            OperandKind::Metadata(_) => {}
        });
        slots.sort_unstable();
        slots
    }

    fn used_by_record(&self, body: &RawBody, record: &DebugRecord) -> Vec<u32> {
        let mut slots = Vec::new();
        for value in [record.value, record.address] {
            match value {
                DebugValue::None => {}
                DebugValue::Value(id) => slots.extend(self.value(id)),
                DebugValue::List(range) => {
                    let values = body.operands(range).iter().filter_map(|o| o.as_value());
                    slots.extend(values.filter_map(|id| self.value(id)));
                }
            }
        }
        slots.sort_unstable();
        slots
    }
}

/// The same summary, made from a decoded module.
pub fn summarize(module: &RawModule) -> Summary {
    let mut summary = Summary::default();
    for (index, function) in module.functions.iter().enumerate() {
        if function.is_declaration {
            summary.declarations.push(function.name.to_string());
            continue;
        }
        let body = module
            .decode_body(index)
            .unwrap_or_else(|error| panic!("{}: {error}", function.name));
        let md = body.metadata(module);
        let slots = Slots::new(&body);
        let inst = |inst: &RawInst| {
            let callee = inst
                .kind
                .call()
                .and_then(|call| callee_name(module, body.call(call)?.callee));
            let loc = inst.loc.map(|id| {
                let loc = md.source_loc(body.loc(id).expect("a location"));
                let function = loc.function.and_then(|id| md.subprogram(id));
                let file = loc.file.map_or("", |file| file.filename);
                let function = function.map_or("", |f| f.name);
                (loc.line, loc.col, file.to_owned(), function.to_owned())
            });
            Inst {
                opcode: mnemonic(&inst.kind).to_owned(),
                callee,
                locals: slots.used_by(&body, inst),
                loc,
            }
        };
        summary.functions.push(Function {
            name: function.name.to_string(),
            blocks: body.blocks.len(),
            insts: body.insts.iter().map(inst).collect(),
            debug_records: body
                .debug_records
                .iter()
                .map(|record| slots.used_by_record(&body, record))
                .collect(),
        });
    }
    summary.globals = module.globals.iter().map(|g| g.name.to_string()).collect();
    summary.aliases = module.aliases.iter().map(|a| a.name.to_string()).collect();
    summary.ifuncs = module.ifuncs.iter().map(|a| a.name.to_string()).collect();
    summary
}

fn callee_name(module: &RawModule, callee: ValueId) -> Option<String> {
    match module.value(callee)? {
        ModuleValue::Function(index) => Some(module.functions[index as usize].name.to_string()),
        ModuleValue::Alias(index) => Some(module.aliases[index as usize].name.to_string()),
        ModuleValue::Ifunc(index) => Some(module.ifuncs[index as usize].name.to_string()),
        ModuleValue::Global(index) => Some(module.globals[index as usize].name.to_string()),
        ModuleValue::Constant(_) => None,
    }
}

/// The opcodes of a body, in order.
pub fn mnemonics(body: &RawBody) -> Vec<&'static str> {
    body.insts.iter().map(|inst| mnemonic(&inst.kind)).collect()
}

/// LLVM's word for an instruction; a conditional branch is `condbr`.
pub fn mnemonic(kind: &RawInstKind) -> &'static str {
    match kind {
        RawInstKind::Unop { .. } => "fneg",
        RawInstKind::Binop { op, .. } => binary(*op),
        RawInstKind::Cast { op, .. } => cast(*op),
        RawInstKind::Gep { .. } => "getelementptr",
        RawInstKind::Select { .. } => "select",
        RawInstKind::ExtractElement { .. } => "extractelement",
        RawInstKind::InsertElement { .. } => "insertelement",
        RawInstKind::ShuffleVector { .. } => "shufflevector",
        RawInstKind::Cmp { predicate, .. } => {
            if is_float(*predicate) {
                "fcmp"
            } else {
                "icmp"
            }
        }
        RawInstKind::ExtractValue { .. } => "extractvalue",
        RawInstKind::InsertValue { .. } => "insertvalue",
        RawInstKind::Freeze { .. } => "freeze",
        RawInstKind::Phi { .. } => "phi",
        RawInstKind::Alloca { .. } => "alloca",
        RawInstKind::Load { .. } => "load",
        RawInstKind::Store { .. } => "store",
        RawInstKind::CmpXchg { .. } => "cmpxchg",
        RawInstKind::AtomicRmw { .. } => "atomicrmw",
        RawInstKind::Fence { .. } => "fence",
        RawInstKind::VaArg { .. } => "va_arg",
        RawInstKind::Call(_) => "call",
        RawInstKind::Invoke { .. } => "invoke",
        RawInstKind::CallBr { .. } => "callbr",
        RawInstKind::Ret { .. } => "ret",
        RawInstKind::Br { .. } => "br",
        RawInstKind::CondBr { .. } => "condbr",
        RawInstKind::Switch { .. } => "switch",
        RawInstKind::IndirectBr { .. } => "indirectbr",
        RawInstKind::Unreachable => "unreachable",
        RawInstKind::Resume { .. } => "resume",
        RawInstKind::LandingPad { .. } => "landingpad",
        RawInstKind::CleanupPad { .. } => "cleanuppad",
        RawInstKind::CatchPad { .. } => "catchpad",
        RawInstKind::CatchSwitch { .. } => "catchswitch",
        RawInstKind::CleanupRet { .. } => "cleanupret",
        RawInstKind::CatchRet { .. } => "catchret",
    }
}

fn is_float(predicate: CmpPredicate) -> bool {
    format!("{predicate:?}").starts_with('F')
}

fn binary(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "add",
        BinaryOp::Sub => "sub",
        BinaryOp::Mul => "mul",
        BinaryOp::UDiv => "udiv",
        BinaryOp::SDiv => "sdiv",
        BinaryOp::URem => "urem",
        BinaryOp::SRem => "srem",
        BinaryOp::Shl => "shl",
        BinaryOp::LShr => "lshr",
        BinaryOp::AShr => "ashr",
        BinaryOp::And => "and",
        BinaryOp::Or => "or",
        BinaryOp::Xor => "xor",
        BinaryOp::FAdd => "fadd",
        BinaryOp::FSub => "fsub",
        BinaryOp::FMul => "fmul",
        BinaryOp::FDiv => "fdiv",
        BinaryOp::FRem => "frem",
    }
}

fn cast(op: CastOp) -> &'static str {
    match op {
        CastOp::Trunc => "trunc",
        CastOp::ZExt => "zext",
        CastOp::SExt => "sext",
        CastOp::FpToUi => "fptoui",
        CastOp::FpToSi => "fptosi",
        CastOp::UiToFp => "uitofp",
        CastOp::SiToFp => "sitofp",
        CastOp::FpTrunc => "fptrunc",
        CastOp::FpExt => "fpext",
        CastOp::PtrToInt => "ptrtoint",
        CastOp::IntToPtr => "inttoptr",
        CastOp::BitCast => "bitcast",
        CastOp::AddrSpaceCast => "addrspacecast",
        CastOp::PtrToAddr => "ptrtoaddr",
    }
}
