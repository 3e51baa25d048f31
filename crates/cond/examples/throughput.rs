//! How many queries per second does each stage settle?
//!
//! Generates path conditions as a leak checker meets them: about twenty branch atoms over 32-bit integers, some flags and
//! null tests, few correlations; one family per stage. Prints a table.
//!
//!     cargo run --release -p drip-cond --example throughput [queries per family] [directory for CNF files]
//!
//! `FAMILY=part of a name` runs the matching families only; `STEPS=1` shows what the interval stage did.

use std::time::Instant;

use drip_cond::{Budget, ObjKey, Sort, Stage, SymId, TermId, Terms, Verdict, check, to_dimacs};

/// A small deterministic generator (xorshift).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }
}

const MEASURED_SECONDS: f64 = 0.5;
const ATOMS: usize = 20;
const INTS: u32 = 12;

struct Family {
    name: &'static str,
    make: fn(&mut Terms, &mut Random) -> Vec<TermId>,
}

const FAMILIES: [Family; 9] = [
    Family {
        name: "contradicting atoms",
        make: contradiction,
    },
    Family {
        name: "bounds that exclude each other",
        make: bounds,
    },
    Family {
        name: "n > 10, then not (n > 5 && n != 7 && p)",
        make: split_bounds,
    },
    Family {
        name: "cycle of orders, equal pointers",
        make: cycle,
    },
    Family {
        name: "feasible branches",
        make: feasible,
    },
    Family {
        name: "feasible with disjunctions",
        make: feasible_disjunctions,
    },
    Family {
        name: "bit tricks, infeasible",
        make: parity,
    },
    Family {
        name: "sums of unknowns, mostly feasible",
        make: sums,
    },
    Family {
        name: "region of 60 blocks: reach end, avoid frees",
        make: region,
    },
];

fn int(terms: &mut Terms, index: u64) -> TermId {
    terms.sym(SymId(index as u32), Sort::Bits(32))
}

/// A branch condition that holds when every integer n has the value 3 * n + 1.
fn true_atom(terms: &mut Terms, random: &mut Random) -> TermId {
    let index = random.below(u64::from(INTS));
    let value = 3 * index + 1;
    let x = int(terms, index);
    let slack = random.below(20);
    match random.below(8) {
        0 => {
            let k = terms.int(32, value + 1 + slack);
            terms.slt(x, k)
        }
        1 => {
            let k = terms.int(32, value.saturating_sub(slack));
            terms.sge(x, k)
        }
        2 => {
            let k = terms.int(32, value + 1 + slack);
            terms.ne(x, k)
        }
        3 => {
            let k = terms.int(32, value);
            terms.eq(x, k)
        }
        4 => {
            let m = terms.int(32, 1 << (slack % 5));
            let masked = terms.band(x, m);
            let truth = terms.truthy(masked);
            if value >> (slack % 5) & 1 == 1 {
                truth
            } else {
                terms.not(truth)
            }
        }
        5 => {
            let other = random.below(u64::from(INTS));
            let y = int(terms, other);
            if index < other {
                terms.slt(x, y)
            } else {
                terms.sle(y, x)
            }
        }
        6 => {
            let p = terms.sym(SymId(100 + index as u32), Sort::Bits(64));
            let null = terms.int(64, 0);
            terms.ne(p, null)
        }
        _ => {
            let one = terms.int(32, 1);
            let next = terms.add(x, one);
            let k = terms.int(32, value + 2 + slack);
            terms.ult(next, k)
        }
    }
}

fn background(terms: &mut Terms, random: &mut Random, count: usize) -> Vec<TermId> {
    (0..count).map(|_| true_atom(terms, random)).collect()
}

fn contradiction(terms: &mut Terms, random: &mut Random) -> Vec<TermId> {
    let mut list = background(terms, random, ATOMS - 1);
    let x = int(terms, random.below(u64::from(INTS)));
    let k = terms.int(32, 50 + random.below(50));
    let atom = terms.slt(x, k);
    list.push(atom);
    list.push(terms.sge(x, k));
    list
}

fn bounds(terms: &mut Terms, random: &mut Random) -> Vec<TermId> {
    let mut list = background(terms, random, ATOMS - 2);
    let x = int(terms, 50);
    let k = random.below(1000);
    let (low, high) = (terms.int(32, k), terms.int(32, k + 1 + random.below(9)));
    list.push(terms.slt(x, low));
    list.push(terms.sgt(x, high));
    list
}

fn split_bounds(terms: &mut Terms, random: &mut Random) -> Vec<TermId> {
    let mut list = background(terms, random, ATOMS - 3);
    let n = int(terms, 50);
    let (ten, five, seven) = (terms.int(32, 10), terms.int(32, 5), terms.int(32, 7));
    list.push(terms.sgt(n, ten));
    let p = terms.addr(ObjKey(random.below(4) as u32));
    let q = terms.sym(SymId(200), Sort::Bits(64));
    list.push(terms.eq(p, q));
    let null = terms.int(64, 0);
    let parts = [terms.sgt(n, five), terms.ne(n, seven), terms.ne(q, null)];
    let all = terms.and(&parts);
    list.push(terms.not(all));
    list
}

fn cycle(terms: &mut Terms, random: &mut Random) -> Vec<TermId> {
    let mut list = background(terms, random, ATOMS - 4);
    if random.below(2) == 0 {
        let (x, y, z) = (int(terms, 50), int(terms, 51), int(terms, 52));
        list.push(terms.slt(x, y));
        list.push(terms.sle(y, z));
        list.push(terms.sle(z, x));
    } else {
        let (p, q) = (terms.addr(ObjKey(1)), terms.addr(ObjKey(2)));
        let x = terms.sym(SymId(200), Sort::Bits(64));
        let y = terms.sym(SymId(201), Sort::Bits(64));
        list.push(terms.eq(x, p));
        list.push(terms.eq(y, x));
        list.push(terms.eq(y, q));
    }
    list
}

fn feasible(terms: &mut Terms, random: &mut Random) -> Vec<TermId> {
    background(terms, random, ATOMS)
}

fn feasible_disjunctions(terms: &mut Terms, random: &mut Random) -> Vec<TermId> {
    let mut list = background(terms, random, ATOMS - 5);
    for _ in 0..5 {
        let first = true_atom(terms, random);
        let second = true_atom(terms, random);
        let not_first = terms.not(first);
        let parts = if random.below(2) == 0 {
            [not_first, second]
        } else {
            [second, first]
        };
        list.push(terms.or(&parts));
    }
    list
}

fn parity(terms: &mut Terms, random: &mut Random) -> Vec<TermId> {
    let mut list = background(terms, random, ATOMS - 2);
    let n = int(terms, 50);
    let one = terms.int(32, 1);
    let odd = terms.band(n, one);
    let odd = terms.truthy(odd);
    list.push(odd);
    let last = match random.below(2) {
        0 => {
            let square = terms.mul(n, n);
            let bit = terms.band(square, one);
            let set = terms.truthy(bit);
            terms.not(set)
        }
        _ => {
            let m = int(terms, 51);
            let sum = terms.add(n, m);
            let same = terms.bxor(sum, m);
            let bit = terms.band(same, one);
            let set = terms.truthy(bit);
            terms.not(set)
        }
    };
    list.push(last);
    list
}

fn sums(terms: &mut Terms, random: &mut Random) -> Vec<TermId> {
    let mut list = background(terms, random, ATOMS - 3);
    let (x, y, z) = (int(terms, 50), int(terms, 51), int(terms, 52));
    let k = terms.int(32, random.below(1000));
    let sum = terms.add(x, y);
    let twice = terms.add(sum, z);
    list.push(terms.slt(sum, z));
    list.push(terms.eq(twice, k));
    list.push(terms.sgt(x, y));
    list
}

/// A whole acyclic region: block b is reached through one of its predecessors' edges.
fn region(terms: &mut Terms, random: &mut Random) -> Vec<TermId> {
    const BLOCKS: usize = 60;
    let mut reached = vec![Terms::TRUE];
    let mut incoming: Vec<Vec<TermId>> = vec![Vec::new(); BLOCKS + 8];
    for block in 0..BLOCKS {
        if block > 0 {
            let list = std::mem::take(&mut incoming[block]);
            reached.push(terms.or(&list));
        }
        let condition = if random.below(4) == 0 {
            let x = int(terms, random.below(u64::from(INTS)));
            let k = terms.int(32, random.below(30));
            terms.slt(x, k)
        } else {
            true_atom(terms, random)
        };
        let otherwise = terms.not(condition);
        let (near, far) = (block + 1, block + 1 + random.below(5) as usize);
        let here = reached[block];
        let taken = terms.and(&[here, condition]);
        let skipped = terms.and(&[here, otherwise]);
        incoming[near].push(taken);
        incoming[far].push(skipped);
    }
    let mut list = vec![reached[BLOCKS - 1]];
    for _ in 0..6 {
        let freed = reached[1 + random.below(BLOCKS as u64 - 2) as usize];
        list.push(terms.not(freed));
    }
    list
}

/// Time spent on the processor by this thread, in seconds; wall-clock time where the system doesn't say.
fn processor_seconds(start: Instant) -> f64 {
    let on_cpu = std::fs::read_to_string("/proc/thread-self/schedstat")
        .ok()
        .and_then(|text| {
            text.split_whitespace()
                .next()
                .and_then(|ns| ns.parse::<f64>().ok())
        });
    on_cpu.map_or_else(|| start.elapsed().as_secs_f64(), |ns| ns / 1e9)
}

fn dump(directory: &str, family: usize, number: usize, terms: &Terms, query: &[TermId]) {
    if let Some(text) = to_dimacs(terms, query, 100_000)
        && let Err(error) = std::fs::write(format!("{directory}/{family}-{number:05}.cnf"), text)
    {
        eprintln!("{directory}: {error}");
    }
}

fn main() {
    let directory = std::env::args().nth(2);
    let count: usize = std::env::args()
        .nth(1)
        .and_then(|n| n.parse().ok())
        .unwrap_or(2000);
    println!(
        "{:<42} {:>9} {:>6} {:>7} {:>6} {:>6} {:>5} {:>5} {:>5}",
        "family", "queries/s", "filter", "interv.", "SAT", "unkn.", "feas.", "cls", "confl"
    );
    let debug = std::env::var("STEPS").is_ok();
    for (at, family) in FAMILIES.iter().enumerate() {
        if std::env::var("FAMILY").is_ok_and(|part| !family.name.contains(&part)) {
            continue;
        }
        let mut random = Random(0x1234_5678_9abc_def1);
        let mut terms = Terms::new();
        let queries: Vec<Vec<TermId>> = (0..count)
            .map(|_| (family.make)(&mut terms, &mut random))
            .collect();
        let mut stages = [0usize; 4];
        let (mut feasible, mut unknown, mut clauses, mut conflicts) = (0usize, 0usize, 0, 0);
        let (mut steps, mut splits, mut guesses) = (0, 0, 0);
        let wall = Instant::now();
        for (number, query) in queries.iter().enumerate() {
            let answer = check(&mut terms, query, &Budget::default());
            if let (Stage::Sat, Some(directory)) = (answer.stage, &directory) {
                dump(directory, at, number, &terms, query);
            }
            stages[answer.stage as usize] += 1;
            feasible += usize::from(answer.verdict == Verdict::Feasible);
            unknown += usize::from(answer.verdict == Verdict::Unknown);
            clauses += answer.cost.clauses;
            conflicts += answer.cost.conflicts;
            steps += answer.cost.interval_steps;
            splits += answer.cost.splits;
            guesses += answer.cost.guesses;
        }
        // The system's clock ticks coarsely: repeat until it can tell.
        let start = processor_seconds(wall);
        let mut rounds = 0;
        while processor_seconds(wall) - start < MEASURED_SECONDS {
            rounds += 1;
            for query in &queries {
                check(&mut terms, query, &Budget::default());
            }
        }
        let time = processor_seconds(wall) - start;
        if debug {
            println!(
                "   steps {} splits {} guesses {}",
                steps / count as u64,
                splits / count as u32,
                guesses / count as u32
            );
        }
        let rate = (rounds * count) as f64 / time;
        let sat = stages[Stage::Sat as usize];
        println!(
            "{:<42} {:>9.0} {:>6} {:>7} {:>6} {:>6} {:>5} {:>5} {:>5}",
            family.name,
            rate,
            stages[Stage::Filter as usize],
            stages[Stage::Intervals as usize],
            sat,
            unknown,
            feasible,
            clauses / sat.max(1) as u64,
            conflicts / sat.max(1) as u64,
        );
    }
}
