//! Rules for sums: intervals of integers, low bits, offsets from objects, and each summand from the others.

use super::domain::Range;
use super::graph::Node;
use super::propagate::Propagator;
use super::state::{Conflict, Place, State};
use super::words::refine_some;
use crate::term::{Linear, mask, to_signed};

/// Summands up to which the interval of each is derived from the others.
const MAX_SOLVED_SUMMANDS: usize = 4;

/// Coefficients per class, signed, and the constant.
fn grouped(p: &Propagator<'_>, state: &State, node: Node, sum: &Linear) -> Vec<(Node, u64)> {
    let m = mask(p.graph.width(node));
    let mut groups: Vec<(Node, u64)> = Vec::with_capacity(sum.terms.len());
    for (i, &(_, coefficient)) in sum.terms.iter().enumerate() {
        let rep = state.find(p.graph.operand(node, i));
        match groups.iter_mut().find(|(known, _)| *known == rep) {
            Some((_, total)) => *total = total.wrapping_add(coefficient) & m,
            None => groups.push((rep, coefficient)),
        }
    }
    groups.retain(|&(_, coefficient)| coefficient != 0);
    groups
}

/// `n = Σ cᵢ·xᵢ + k`, as intervals of integers reduced to residues, as low bits, and as an offset from an object.
pub(crate) fn linear(
    p: &mut Propagator<'_>,
    state: &mut State,
    node: Node,
    sum: &Linear,
) -> Result<(), Conflict> {
    let width = p.graph.width(node);
    let groups = grouped(p, state, node, sum);
    if let [(x, 1)] = groups[..] {
        offset_places(p, state, node, x, sum.constant)?;
    }
    for signed in [false, true] {
        if let Some((low, high)) = integer_sum(state, &groups, sum.constant, width, signed) {
            p.refine(state, node, &Range::residues(width, low, high))?;
        }
    }
    let (zeros, ones) = low_bits(state, &groups, sum.constant, width);
    refine_some(p, state, node, Range::bits(width, zeros, ones))?;
    if groups.len() <= MAX_SOLVED_SUMMANDS {
        for at in 0..groups.len() {
            solve_summand(p, state, node, &groups, at, sum.constant)?;
        }
    }
    Ok(())
}

fn offset_places(
    p: &mut Propagator<'_>,
    state: &mut State,
    node: Node,
    x: Node,
    offset: u64,
) -> Result<(), Conflict> {
    if p.graph.width(node) != 64 {
        return Ok(());
    }
    if let Some(Place {
        object,
        offset: inner,
    }) = state.place(x)
    {
        p.set_place(
            state,
            node,
            Place {
                object,
                offset: inner.wrapping_add(offset),
            },
        )?;
    }
    if let Some(Place {
        object,
        offset: outer,
    }) = state.place(node)
    {
        p.set_place(
            state,
            x,
            Place {
                object,
                offset: outer.wrapping_sub(offset),
            },
        )?;
    }
    Ok(())
}

/// The sum as integers, with the operands read as unsigned or as signed; `None` beyond 128 bits.
fn integer_sum(
    state: &State,
    groups: &[(Node, u64)],
    constant: u64,
    width: u32,
    signed: bool,
) -> Option<(i128, i128)> {
    let (mut low, mut high) = (i128::from(constant), i128::from(constant));
    for &(x, coefficient) in groups {
        let (min, max) = bounds(&state.range(x), signed);
        let c = i128::from(to_signed(coefficient, width));
        let (at_min, at_max) = (c.checked_mul(min)?, c.checked_mul(max)?);
        low = low.checked_add(at_min.min(at_max))?;
        high = high.checked_add(at_min.max(at_max))?;
    }
    Some((low, high))
}

fn bounds(range: &Range, signed: bool) -> (i128, i128) {
    if signed {
        (i128::from(range.smin), i128::from(range.smax))
    } else {
        (i128::from(range.umin), i128::from(range.umax))
    }
}

/// Low bits of a sum that are known because the low bits of all summands are.
fn low_bits(state: &State, groups: &[(Node, u64)], constant: u64, width: u32) -> (u64, u64) {
    let (mut known, mut value) = (width, constant);
    for &(x, coefficient) in groups {
        let range = state.range(x);
        let bits = (range.zeros | range.ones).trailing_ones() + coefficient.trailing_zeros();
        known = known.min(bits);
        value = value.wrapping_add(range.ones.wrapping_mul(coefficient));
    }
    let m = mask(known);
    (!value & m, value & m)
}

/// `xᵢ = ±(n − Σ others − k)` where the coefficient is 1 or −1.
fn solve_summand(
    p: &mut Propagator<'_>,
    state: &mut State,
    node: Node,
    groups: &[(Node, u64)],
    at: usize,
    constant: u64,
) -> Result<(), Conflict> {
    let width = p.graph.width(node);
    let Some(&(x, coefficient)) = groups.get(at) else {
        return Ok(());
    };
    let sign = to_signed(coefficient, width);
    if width > 1 && sign != 1 && sign != -1 {
        return Ok(());
    }
    let sign = if sign == -1 && width > 1 { -1 } else { 1 };
    let others: Vec<(Node, u64)> = groups
        .iter()
        .enumerate()
        .filter(|&(i, _)| i != at)
        .map(|(_, &group)| group)
        .collect();
    for signed in [false, true] {
        let Some((low, high)) = integer_sum(state, &others, constant, width, signed) else {
            continue;
        };
        let (min, max) = bounds(&state.range(node), signed);
        let (Some(low), Some(high)) = (min.checked_sub(high), max.checked_sub(low)) else {
            continue;
        };
        let (low, high) = if sign == 1 {
            (low, high)
        } else {
            (-high, -low)
        };
        p.refine(state, x, &Range::residues(width, low, high))?;
    }
    Ok(())
}
