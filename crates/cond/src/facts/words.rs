//! Rules for words other than sums: casts, bitwise operators, shifts, products and quotients.
//!
//! Each rule has a forward part (operands → term) and, where it pays, a backward part (term → operands). Both only ever
//! intersect, so a rule that knows nothing does nothing.

use super::domain::Range;
use super::graph::Node;
use super::propagate::Propagator;
use super::state::{Conflict, State};
use super::sums;
use crate::term::{BinOp, TermKind, mask};

/// Runs the rules of an operator node.
pub(crate) fn operator(
    p: &mut Propagator<'_>,
    state: &mut State,
    node: Node,
) -> Result<(), Conflict> {
    let graph = p.graph;
    let width = graph.width(node);
    if graph
        .operands(node)
        .iter()
        .all(|&operand| state.range(operand).single().is_some())
    {
        let value = graph.apply(node, |operand| state.range(operand).umin);
        return p.refine(state, node, &Range::exactly(width, value));
    }
    let a = graph.operand(node, 0);
    match graph.kind(node) {
        TermKind::Linear(sum) => sums::linear(p, state, node, sum),
        TermKind::Zext(_) => zext(p, state, node, a),
        TermKind::Sext(_) => sext(p, state, node, a),
        TermKind::Trunc(_) => trunc(p, state, node, a),
        TermKind::Binary(op, _, _) => {
            let b = graph.operand(node, 1);
            match op {
                BinOp::And | BinOp::Or | BinOp::Xor => bitwise(p, state, node, *op, a, b),
                BinOp::Shl | BinOp::LShr | BinOp::AShr => shift(p, state, node, *op, a, b),
                _ => arithmetic(p, state, node, *op, a, b),
            }
        }
        _ => Ok(()),
    }
}

pub(crate) fn refine_some(
    p: &mut Propagator<'_>,
    state: &mut State,
    node: Node,
    range: Option<Range>,
) -> Result<(), Conflict> {
    // A rule's own range is never empty for consistent operands: emptiness is a conflict.
    p.refine(state, node, &range.ok_or(Conflict)?)
}

fn zext(p: &mut Propagator<'_>, state: &mut State, node: Node, a: Node) -> Result<(), Conflict> {
    let (width, narrow) = (p.graph.width(node), p.graph.width(a));
    let x = state.range(a);
    let wide = Range {
        umin: x.umin,
        umax: x.umax,
        zeros: x.zeros | (mask(width) & !mask(narrow)),
        ones: x.ones,
        ..Range::full(width)
    };
    refine_some(p, state, node, wide.reduced())?;
    let n = state.range(node);
    let low = mask(narrow);
    let inner = Range {
        umin: n.umin,
        umax: n.umax.min(low),
        zeros: n.zeros & low,
        ones: n.ones & low,
        ..Range::full(narrow)
    };
    refine_some(p, state, a, inner.reduced())
}

fn sext(p: &mut Propagator<'_>, state: &mut State, node: Node, a: Node) -> Result<(), Conflict> {
    let (width, narrow) = (p.graph.width(node), p.graph.width(a));
    let x = state.range(a);
    let below_sign = mask(narrow - 1);
    let wide = Range {
        smin: x.smin,
        smax: x.smax,
        zeros: x.zeros & below_sign,
        ones: x.ones & below_sign,
        ..Range::full(width)
    };
    refine_some(p, state, node, wide.reduced())?;
    let n = state.range(node);
    let full = Range::full(narrow);
    let inner = Range {
        smin: n.smin.max(full.smin),
        smax: n.smax.min(full.smax),
        zeros: n.zeros & mask(narrow),
        ones: n.ones & mask(narrow),
        ..full
    };
    refine_some(p, state, a, inner.reduced())
}

fn trunc(p: &mut Propagator<'_>, state: &mut State, node: Node, a: Node) -> Result<(), Conflict> {
    let (width, wide) = (p.graph.width(node), p.graph.width(a));
    let x = state.range(a);
    let low = mask(width);
    refine_some(
        p,
        state,
        node,
        Range::bits(width, x.zeros & low, x.ones & low),
    )?;
    let unsigned = Range::residues(width, i128::from(x.umin), i128::from(x.umax));
    let signed = Range::residues(width, i128::from(x.smin), i128::from(x.smax));
    p.refine(state, node, &unsigned)?;
    p.refine(state, node, &signed)?;
    let n = state.range(node);
    refine_some(p, state, a, Range::bits(wide, n.zeros, n.ones))?;
    let fits = Range::full(width);
    if x.umax <= low {
        refine_some(p, state, a, Range::unsigned(wide, n.umin, n.umax))?;
    }
    if x.smin >= fits.smin && x.smax <= fits.smax {
        refine_some(p, state, a, Range::signed(wide, n.smin, n.smax))?;
    }
    Ok(())
}

fn bitwise(
    p: &mut Propagator<'_>,
    state: &mut State,
    node: Node,
    op: BinOp,
    a: Node,
    b: Node,
) -> Result<(), Conflict> {
    let forward = bitwise_forward(op, &state.range(a), &state.range(b));
    refine_some(p, state, node, forward)?;
    for (this, other) in [(a, b), (b, a)] {
        let backward = bitwise_backward(op, &state.range(node), &state.range(other));
        refine_some(p, state, this, backward)?;
    }
    Ok(())
}

/// Bits in which two operands certainly agree, and certainly differ.
fn agreement(x: &Range, y: &Range) -> (u64, u64) {
    (
        (x.zeros & y.zeros) | (x.ones & y.ones),
        (x.zeros & y.ones) | (x.ones & y.zeros),
    )
}

fn bitwise_forward(op: BinOp, x: &Range, y: &Range) -> Option<Range> {
    let full = Range::full(x.width);
    let range = match op {
        BinOp::And => Range {
            umax: x.umax.min(y.umax),
            zeros: x.zeros | y.zeros,
            ones: x.ones & y.ones,
            ..full
        },
        BinOp::Or => Range {
            umin: x.umin.max(y.umin),
            zeros: x.zeros & y.zeros,
            ones: x.ones | y.ones,
            ..full
        },
        _ => {
            let (zeros, ones) = agreement(x, y);
            Range {
                zeros,
                ones,
                ..full
            }
        }
    };
    range.reduced()
}

/// What the result and one operand say about the other operand.
fn bitwise_backward(op: BinOp, n: &Range, other: &Range) -> Option<Range> {
    let full = Range::full(n.width);
    let range = match op {
        BinOp::And => Range {
            umin: n.umin,
            zeros: n.zeros & other.ones,
            ones: n.ones,
            ..full
        },
        BinOp::Or => Range {
            umax: n.umax,
            zeros: n.zeros,
            ones: n.ones & other.zeros,
            ..full
        },
        _ => {
            let (zeros, ones) = agreement(n, other);
            Range {
                zeros,
                ones,
                ..full
            }
        }
    };
    range.reduced()
}

fn shift(
    p: &mut Propagator<'_>,
    state: &mut State,
    node: Node,
    op: BinOp,
    a: Node,
    b: Node,
) -> Result<(), Conflict> {
    let width = p.graph.width(node);
    let (x, by) = (state.range(a), state.range(b));
    match by.single().filter(|&by| by < u64::from(width)) {
        Some(k) => {
            refine_some(p, state, node, shift_forward(op, &x, k))?;
            let backward = shift_backward(op, &state.range(node), k);
            refine_some(p, state, a, backward)
        }
        None if op == BinOp::LShr => {
            let least = by.umin.min(u64::from(width));
            let umax = if least >= u64::from(width) {
                0
            } else {
                x.umax >> least
            };
            refine_some(p, state, node, Range::unsigned(width, 0, umax))
        }
        None => Ok(()),
    }
}

/// The operand shifted by a constant below the width.
fn shift_forward(op: BinOp, x: &Range, k: u64) -> Option<Range> {
    let (width, m) = (x.width, mask(x.width));
    match op {
        BinOp::Shl => Range::bits(width, (x.zeros << k) | mask(k as u32), x.ones << k),
        BinOp::LShr => {
            let zeros = (x.zeros >> k) | (m & !(m >> k));
            let ones = x.ones >> k;
            Range {
                umin: x.umin >> k,
                umax: x.umax >> k,
                zeros,
                ones,
                ..Range::full(width)
            }
            .reduced()
        }
        _ => Range::signed(width, x.smin >> k, x.smax >> k),
    }
}

/// What the shifted word says about the operand.
fn shift_backward(op: BinOp, n: &Range, k: u64) -> Option<Range> {
    let (width, m) = (n.width, mask(n.width));
    let full = Range::full(width);
    match op {
        BinOp::Shl => Range::bits(width, n.zeros >> k, n.ones >> k),
        BinOp::LShr => {
            let lost = mask(k as u32);
            let (umin, umax) = ((n.umin << k) & m, ((n.umax << k) | lost) & m);
            let (zeros, ones) = ((n.zeros << k) & m, (n.ones << k) & m);
            Range {
                umin,
                umax,
                zeros,
                ones,
                ..full
            }
            .reduced()
        }
        _ => {
            let low = i128::from(n.smin) << k;
            let high = (i128::from(n.smax) << k) + ((1i128 << k) - 1);
            let low = low.max(i128::from(full.smin));
            let high = high.min(i128::from(full.smax));
            Range::signed(width, low as i64, high as i64)
        }
    }
}

/// Forward only: these operators are rare in conditions, and SAT does the rest.
fn arithmetic(
    p: &mut Propagator<'_>,
    state: &mut State,
    node: Node,
    op: BinOp,
    a: Node,
    b: Node,
) -> Result<(), Conflict> {
    let width = p.graph.width(node);
    let (x, y) = (state.range(a), state.range(b));
    let range = match op {
        BinOp::Mul => product(&x, &y),
        BinOp::UDiv if y.umin > 0 => Range::unsigned(width, x.umin / y.umax, x.umax / y.umin),
        BinOp::URem if y.umin > 0 && x.umax < y.umin => Range::unsigned(width, x.umin, x.umax),
        BinOp::URem if y.umin > 0 => Range::unsigned(width, 0, x.umax.min(y.umax - 1)),
        BinOp::URem => Range::unsigned(width, 0, x.umax),
        BinOp::SDiv if y.smin > 0 => {
            let quotients = [
                x.smin / y.smin,
                x.smin / y.smax,
                x.smax / y.smin,
                x.smax / y.smax,
            ];
            let (low, high) = quotients
                .iter()
                .fold((i64::MAX, i64::MIN), |(l, h), &q| (l.min(q), h.max(q)));
            Range::signed(width, low, high)
        }
        BinOp::SRem if y.smin > 0 => {
            let low = if x.smin >= 0 {
                0
            } else {
                x.smin.max(1 - y.smax)
            };
            let high = if x.smax < 0 {
                0
            } else {
                x.smax.min(y.smax - 1)
            };
            Range::signed(width, low, high)
        }
        _ => return Ok(()),
    };
    refine_some(p, state, node, range)
}

/// The size of a product that doesn't overflow, and its trailing zeros.
fn product(x: &Range, y: &Range) -> Option<Range> {
    let width = x.width;
    let trailing = x.zeros.trailing_ones() + y.zeros.trailing_ones();
    let zeros = mask(trailing.min(width));
    let high = u128::from(x.umax) * u128::from(y.umax);
    let sized = if high <= u128::from(mask(width)) {
        Range::unsigned(width, x.umin * y.umin, high as u64)?
    } else {
        Range::full(width)
    };
    sized.meet(&Range::bits(width, zeros, 0)?)
}
