//! The other way round: is a report gone once its object is freed where it was lost?
//!
//! The freed value is the result of the call that the finding names, so only findings are tried whose memory is handed out
//! as a result (not through an out-parameter); the free comes before the first instruction of each losing statement, which
//! the call must dominate. What can't be tried is told with its reason.

use super::super::results::Repair;
use super::causes::position;
use super::equivalent::block_of;
use super::{Session, counts, mutate, relative};
use drip_engines::{Finding, SourcePos};
use drip_program::{Body, Cfg, FuncId, InstId, Op, Operand, Program};

impl Session {
    /// Tries the findings of the unchanged program, at most `limit` of them.
    pub(super) fn repairs(&mut self, limit: usize) -> Vec<Repair> {
        let findings: Vec<Finding> = self
            .unchanged
            .findings
            .iter()
            .filter(|f| counts(f))
            .take(limit)
            .cloned()
            .collect();
        findings
            .iter()
            .map(|finding| Repair {
                program: self.name.clone(),
                rule: finding.rule.code().to_owned(),
                file: relative(&finding.primary.file, &self.source),
                line: finding.primary.line,
                result: self.repair(finding).unwrap_or_else(str::to_owned),
            })
            .collect()
    }

    fn repair(&mut self, finding: &Finding) -> Result<String, &'static str> {
        let (func, call) =
            find_call(&self.program, &finding.primary).ok_or("the call is not found")?;
        let body = self.program.funcs[func].body.clone().ok_or("no body")?;
        if !self.program.types.is_ptr(body.insts[call].ty) {
            return Err("handed out through memory");
        }
        let places = losing_places(&self.program, func, &body, call, finding)
            .ok_or("the losing statement is not found")?;
        let free = self
            .program
            .find_func("free")
            .ok_or("the program has no `free`")?;
        let pointer = Operand::value(body.result(call));
        let changed = mutate::with_free_before(&mut self.program, &body, &places, pointer, free);
        let after = self.analyse_with(func, changed);
        let gone = after.findings.iter().all(|f| f.id != finding.id);
        Ok(if gone { "vanished" } else { "stays" }.to_owned())
    }
}

/// The call at this place.
fn find_call(program: &Program, at: &SourcePos) -> Option<(FuncId, InstId)> {
    program
        .funcs
        .iter_enumerated()
        .find_map(|(func, function)| {
            let body = function
                .body
                .as_ref()
                .filter(|_| program.shown_name(func) == at.function)?;
            let is_call = |inst: &InstId| matches!(body.insts[*inst].op, Op::Call { .. });
            let call = body
                .insts
                .ids()
                .iter()
                .filter(is_call)
                .find(|&inst| is_at(program, func, body, inst, at))?;
            Some((func, call))
        })
}

fn is_at(program: &Program, func: FuncId, body: &Body, inst: InstId, at: &SourcePos) -> bool {
    let here = position(program, func, body, inst);
    (here.line, here.column) == (at.line, at.column)
        && here.file.ends_with(at.file.trim_start_matches("./"))
}

/// For each losing statement, its first instruction in every block that the call dominates.
fn losing_places(
    program: &Program,
    func: FuncId,
    body: &Body,
    call: InstId,
    finding: &Finding,
) -> Option<Vec<InstId>> {
    let cfg = Cfg::build(body);
    let made = block_of(body, call)?;
    let mut places = Vec::new();
    for lost in &finding.lost {
        let mut found = false;
        for block in body.blocks.ids().iter().filter(|&b| cfg.is_reachable(b)) {
            let mut insts = body.block_insts(block);
            let first = insts.find(|&inst| {
                let behind = if block == made {
                    inst > call
                } else {
                    cfg.dominates(made, block)
                };
                behind
                    && !matches!(body.insts[inst].op, Op::Phi { .. })
                    && is_at(program, func, body, inst, &lost.at)
            });
            found |= first.is_some();
            places.extend(first);
        }
        if !found {
            return None;
        }
    }
    (!places.is_empty()).then_some(places)
}
