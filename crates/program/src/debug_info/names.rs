//! Replaces the numbers that each body has of its own by the program's, and names functions and globals.
//!
//! Sequential, in the order of functions and globals: whatever the threads did, equal inputs give equal numbers.

use drip_bitcode as bc;
use rustc_hash::FxHashMap;

use super::body::{NamedBody, PendingNames};
use super::mangling;
use super::types::{ModuleTypes, Source, TypeBuilder, local_types};
use crate::body::{Body, Loc};
use crate::ids::*;
use crate::link::{Job, Linkage};
use crate::load::Problem;
use crate::model::*;
use crate::types::Type;

struct Namer<'l, 'm> {
    linked: &'l mut Linkage<'m>,
    types: TypeBuilder,
    /// By module.
    modules: Vec<ModuleTypes>,
    files: FxHashMap<(StrId, StrId), FileId>,
    /// File nodes of modules that were looked up.
    module_files: FxHashMap<(u32, bc::MetadataId), Option<FileId>>,
}

pub(crate) fn name_program(
    linked: &mut Linkage<'_>,
    bodies: Vec<Result<NamedBody, Problem>>,
    problems: &mut Vec<Problem>,
) {
    let mut namer = Namer {
        modules: linked
            .modules
            .iter()
            .map(|_| ModuleTypes::default())
            .collect(),
        linked,
        types: TypeBuilder::default(),
        files: FxHashMap::default(),
        module_files: FxHashMap::default(),
    };
    let jobs = std::mem::take(&mut namer.linked.jobs);
    for (job, result) in jobs.iter().zip(bodies) {
        match result {
            Ok(named) => namer.body(job, named),
            Err(problem) => {
                namer.linked.program.funcs[job.func].unreadable =
                    Some(problem.text.as_str().into());
                problems.push(problem);
            }
        }
    }
    namer.declarations();
    namer.globals();
    let program = &mut namer.linked.program;
    program.di_types = namer.types.finish(&mut program.strings);
}

impl Namer<'_, '_> {
    fn body(&mut self, job: &Job, named: NamedBody) {
        let NamedBody {
            mut body,
            mut names,
        } = named;
        let files: Vec<FileId> = names
            .files
            .iter()
            .map(|&(directory, name)| self.file(names.text(directory), names.text(name)))
            .collect();
        let mut source = Source {
            md: self.linked.modules[job.module as usize].metadata(),
            module: &mut self.modules[job.module as usize],
            local: local_types(std::mem::take(&mut names.types)),
            strings: &mut self.linked.program.strings,
        };
        rename_vars(&mut body, &names, &mut source, &mut self.types);
        for loc in body.locs.iter_mut() {
            loc.file = files.get(loc.file.index()).copied().unwrap_or(loc.file);
        }
        let function = &mut self.linked.program.funcs[job.func];
        if let Some(found) = names.function {
            function.source_name = Some(source.strings.intern(names.text(found.name)));
            function.di_type = found.ty.map(|ty| self.types.number(&mut source, ty));
            let file = found.file.and_then(|f| files.get(f as usize).copied());
            function.loc = file.map(|file| Loc {
                file,
                line: found.line,
                column: 0,
                inlined_at: None,
            });
        }
        function.body = Some(body);
        self.const_params(job.func);
    }

    fn file(&mut self, directory: &str, name: &str) -> FileId {
        let strings = &mut self.linked.program.strings;
        let key = (strings.intern(directory), strings.intern(name));
        let files = &mut self.linked.program.files;
        *self.files.entry(key).or_insert_with(|| {
            files.push(File {
                directory: key.0,
                name: key.1,
            })
        })
    }

    /// Functions that have no body here: prototypes, where the unit kept them.
    fn declarations(&mut self) {
        for func in self.linked.program.funcs.ids() {
            if self.linked.program.funcs[func].di_type.is_some() {
                continue;
            }
            let Some((module, node)) = self.linked.func_debug.get(func.index()).copied().flatten()
            else {
                self.const_params(func);
                continue;
            };
            let md = self.linked.modules[module as usize].metadata();
            let Some(found) = md.subprogram(node) else {
                continue;
            };
            let loc = self.loc(module, found.file, found.line);
            let di_type = found.ty.map(|ty| self.module_type(module, ty));
            let name = self.linked.program.strings.intern(found.name);
            let function = &mut self.linked.program.funcs[func];
            function.source_name = function.source_name.or(Some(name));
            function.loc = function.loc.or(loc);
            function.di_type = di_type;
            self.const_params(func);
        }
    }

    fn globals(&mut self) {
        for global in self.linked.program.globals.ids() {
            let Some((module, node)) = self
                .linked
                .global_debug
                .get(global.index())
                .copied()
                .flatten()
            else {
                continue;
            };
            let md = self.linked.modules[module as usize].metadata();
            let Some(found) = md.global_variable(node) else {
                continue;
            };
            let loc = self.loc(module, found.file, found.line);
            let di_type = found.ty.map(|ty| self.module_type(module, ty));
            // A compiler-made variable may have no name.
            let name =
                (!found.name.is_empty()).then(|| self.linked.program.strings.intern(found.name));
            let global = &mut self.linked.program.globals[global];
            (global.loc, global.di_type, global.source_name) = (loc, di_type, name);
        }
    }

    fn loc(&mut self, module: u32, file: Option<bc::MetadataId>, line: u32) -> Option<Loc> {
        let file = self.module_file(module, file?)?;
        Some(Loc {
            file,
            line,
            column: 0,
            inlined_at: None,
        })
    }

    fn module_file(&mut self, module: u32, node: bc::MetadataId) -> Option<FileId> {
        if let Some(&known) = self.module_files.get(&(module, node)) {
            return known;
        }
        let found = self.linked.modules[module as usize].metadata().file(node);
        let file = found.map(|file| self.file(file.directory, file.filename));
        self.module_files.insert((module, node), file);
        file
    }

    fn module_type(&mut self, module: u32, ty: bc::MetadataId) -> DiTypeId {
        let mut source = Source {
            md: self.linked.modules[module as usize].metadata(),
            module: &mut self.modules[module as usize],
            local: Vec::new(),
            strings: &mut self.linked.program.strings,
        };
        self.types.number(&mut source, ty)
    }

    /// Marks parameters that the source declares as pointer to const.
    fn const_params(&mut self, func: FuncId) {
        let function = &self.linked.program.funcs[func];
        let source = match function.di_type {
            Some(ty) => self.const_by_type(ty),
            None => mangling::pointee_const(self.linked.program.strings.get(function.name)),
        };
        if !source.contains(&true) {
            return;
        }
        let Type::Func { params, .. } = self.linked.program.types.get(function.ty) else {
            return;
        };
        let params: Vec<bool> = params
            .iter()
            .map(|p| self.linked.program.types.is_ptr(*p))
            .collect();
        let function = &mut self.linked.program.funcs[func];
        let hidden = usize::from(
            function
                .params
                .first()
                .is_some_and(|p| p.has(ParamAttrs::SRET)),
        );
        // The source's parameters match the machine's one by one, after a hidden result and perhaps `this`; if they
        // don't, some were split or merged on the way, and none is marked.
        let by_name = function.di_type.is_none();
        let shift = match params.len().checked_sub(hidden + source.len()) {
            Some(0) => hidden,
            Some(1) if by_name => hidden + 1,
            _ => return,
        };
        for (index, _) in source.iter().enumerate().filter(|(_, is_const)| **is_const) {
            if params.get(index + shift) == Some(&true) {
                function.params[index + shift].0 |= ParamAttrs::POINTEE_CONST;
            }
        }
    }

    fn const_by_type(&self, ty: DiTypeId) -> Vec<bool> {
        let DiType::Func { params, .. } = &self.types.table[ty] else {
            return Vec::new();
        };
        params
            .iter()
            .map(|p| p.is_some_and(|p| self.points_to_const(p)))
            .collect()
    }

    fn points_to_const(&self, ty: DiTypeId) -> bool {
        match &self.types.table[self.strip(ty).0] {
            DiType::Pointer { to: Some(to) } => {
                let (end, is_const) = self.strip(*to);
                is_const || matches!(self.types.table[end], DiType::Const(None))
            }
            _ => false,
        }
    }

    /// The type behind typedefs and qualifiers, and whether `const` was among them.
    fn strip(&self, ty: DiTypeId) -> (DiTypeId, bool) {
        /// Longer chains only exist in broken debug info.
        const MAX_CHAIN: usize = 64;
        let (mut ty, mut is_const) = (ty, false);
        for _ in 0..MAX_CHAIN {
            match self.types.table[ty] {
                DiType::Typedef {
                    of: Some(inner), ..
                }
                | DiType::Qualified(Some(inner)) => ty = inner,
                DiType::Const(Some(inner)) => (ty, is_const) = (inner, true),
                _ => break,
            }
        }
        (ty, is_const)
    }
}

fn rename_vars(
    body: &mut Body,
    names: &PendingNames,
    source: &mut Source<'_>,
    types: &mut TypeBuilder,
) {
    for var in body.vars.iter_mut() {
        let range = names
            .names
            .get(var.name.index())
            .copied()
            .unwrap_or_default();
        var.name = source.strings.intern(names.text(range));
        var.ty = var
            .ty
            .map(|md| types.number(source, bc::MetadataId(md.as_u32())));
    }
}
