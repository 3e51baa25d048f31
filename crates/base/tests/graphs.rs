//! Properties of the graph algorithms: each result equals that of a naive twin which follows the
//! definition (dominance by removing the node, components by reachability, …), on random graphs.

use drip_base::{
    Dominators, EntityId, Frontiers, Graph, IdSet, LoopForest, LoopId, PostDominators, Rpo, SccId,
    Sccs,
};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// Random graphs of up to 14 nodes with entry 0; sparse enough to have unreachable parts, dense enough
/// to have irreducible loops.
fn graphs() -> impl Strategy<Value = Graph<u32>> {
    (1usize..14).prop_flat_map(|n| {
        let edge = (0..n as u32, 0..n as u32);
        proptest::collection::vec(edge, 0..=2 * n)
            .prop_map(move |edges| Graph::from_edges(n, edges))
    })
}

/// Nodes reachable from `from` without passing through `avoiding`.
fn reach(graph: &Graph<u32>, from: u32, avoiding: Option<u32>) -> IdSet<u32> {
    let mut seen = IdSet::new();
    let mut stack = vec![from];
    while let Some(node) = stack.pop() {
        if Some(node) != avoiding && seen.insert(node) {
            stack.extend(graph.succs(node));
        }
    }
    seen
}

fn naive_dominates(graph: &Graph<u32>, entry: u32, a: u32, b: u32) -> bool {
    a == b || (reach(graph, entry, None).contains(b) && !reach(graph, entry, Some(a)).contains(b))
}

fn naive_frontier(graph: &Graph<u32>, dom: &Dominators<u32>, of: &BTreeSet<u32>) -> BTreeSet<u32> {
    let mut result = BTreeSet::new();
    for (from, to) in graph.edges().filter(|&(from, _)| dom.is_reachable(from)) {
        for &def in of.iter().filter(|&&def| dom.is_reachable(def)) {
            if dom.dominates(def, from) && !dom.strictly_dominates(def, to) {
                result.insert(to);
            }
        }
    }
    result
}

fn naive_iterated(graph: &Graph<u32>, dom: &Dominators<u32>, defs: &BTreeSet<u32>) -> Vec<u32> {
    let mut all = defs.clone();
    loop {
        let frontier = naive_frontier(graph, dom, &all);
        let before = all.len();
        all.extend(&frontier);
        if all.len() == before {
            return frontier.into_iter().collect();
        }
    }
}

/// The graph with a virtual exit `n` behind every end and every endless header.
fn with_exit(graph: &Graph<u32>, endless: &[u32]) -> Graph<u32> {
    let exit = graph.len() as u32;
    let ends = graph
        .nodes()
        .iter()
        .filter(|&n| graph.succs(n).is_empty() || endless.contains(&n))
        .map(|n| (n, exit));
    Graph::from_edges(graph.len() + 1, graph.edges().chain(ends))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn dominators_equal_removal(graph in graphs()) {
        let dom = Dominators::compute(&graph, &graph.reversed(), 0);
        for a in graph.nodes() {
            for b in graph.nodes() {
                prop_assert_eq!(dom.dominates(a, b), naive_dominates(&graph, 0, a, b), "{} {}", a, b);
            }
            let strict = graph.nodes().iter().filter(|&d| dom.strictly_dominates(d, a));
            let closest = strict.max_by_key(|&d| dom.depth(d));
            prop_assert_eq!(dom.idom(a), closest);
            prop_assert_eq!(dom.is_reachable(a), reach(&graph, 0, None).contains(a));
            for &child in dom.children(a) {
                prop_assert_eq!(dom.idom(child), Some(a));
            }
        }
        let mut preorder = dom.preorder().to_vec();
        preorder.sort_unstable();
        prop_assert_eq!(preorder, reach(&graph, 0, None).iter().collect::<Vec<_>>());
    }

    #[test]
    fn common_dominator_is_the_deepest_shared_one(graph in graphs()) {
        let dom = Dominators::compute(&graph, &graph.reversed(), 0);
        for a in graph.nodes() {
            for b in graph.nodes() {
                let shared = graph.nodes().iter().filter(|&d| {
                    dom.is_reachable(a) && dom.is_reachable(b) && dom.dominates(d, a) && dom.dominates(d, b)
                });
                prop_assert_eq!(dom.common(a, b), shared.max_by_key(|&d| dom.depth(d)));
            }
        }
    }

    #[test]
    fn components_equal_mutual_reachability(graph in graphs()) {
        let sccs = Sccs::compute(&graph);
        let reached: Vec<_> = graph.nodes().iter().map(|n| reach(&graph, n, None)).collect();
        for a in graph.nodes() {
            for b in graph.nodes() {
                let mutual = reached[a.index()].contains(b) && reached[b.index()].contains(a);
                prop_assert_eq!(sccs.component_of(a) == sccs.component_of(b), mutual);
            }
        }
        for (from, to) in graph.edges() {
            prop_assert!(sccs.component_of(from) >= sccs.component_of(to), "bottom-up");
        }
        let condensed = sccs.condensation(&graph);
        for scc in sccs.bottom_up() {
            let members = sccs.members(scc);
            prop_assert!(members.is_sorted() && !members.is_empty());
            let on_cycle = graph.succs(members[0]).iter().any(|&s| reached[s.index()].contains(members[0]));
            prop_assert_eq!(sccs.is_cyclic(scc), on_cycle);
            let expected: BTreeSet<SccId> = members.iter().flat_map(|&m| graph.succs(m))
                .map(|&s| sccs.component_of(s)).filter(|&s| s != scc).collect();
            prop_assert_eq!(condensed.succs(scc), expected.into_iter().collect::<Vec<_>>());
        }
    }

    #[test]
    fn frontiers_equal_the_definition(graph in graphs(), picks in proptest::collection::btree_set(0u32..14, 0..5)) {
        let dom = Dominators::compute(&graph, &graph.reversed(), 0);
        let mut finder = Frontiers::new(&graph, &dom);
        let defs: BTreeSet<u32> = picks.into_iter().filter(|&d| d.index() < graph.len()).collect();
        // Twice with one finder: marks of the first query must not disturb the second.
        for set in [defs.clone(), graph.nodes().iter().collect(), defs] {
            let found = finder.iterated(set.iter().copied());
            prop_assert_eq!(found, naive_iterated(&graph, &dom, &set));
        }
    }

    #[test]
    fn live_frontier_is_the_part_of_the_frontier_where_the_value_is_live(
        graph in graphs(), defs in proptest::collection::btree_set(0u32..14, 0..4), uses in proptest::collection::btree_set(0u32..14, 0..4),
    ) {
        let inside = |set: BTreeSet<u32>| -> BTreeSet<u32> {
            set.into_iter().filter(|&d| d.index() < graph.len()).collect()
        };
        let (defs, uses) = (inside(defs), inside(uses));
        let dom = Dominators::compute(&graph, &graph.reversed(), 0);
        // Live on entry: reaches a use without passing a definition (uses stand before definitions).
        let live: IdSet<u32> = graph.nodes().iter().filter(|&b| {
            let mut stack = vec![b];
            let mut seen = BTreeSet::new();
            while let Some(n) = stack.pop() {
                if !seen.insert(n) { continue; }
                if uses.contains(&n) { return true; }
                if !defs.contains(&n) { stack.extend(graph.succs(n)); }
            }
            false
        }).collect();
        let mut finder = Frontiers::new(&graph, &dom);
        let full = finder.iterated(defs.iter().copied());
        let pruned = finder.iterated_live(defs.iter().copied(), &live);
        let expected: Vec<u32> = full.into_iter().filter(|&b| live.contains(b)).collect();
        prop_assert_eq!(pruned, expected);
    }

    #[test]
    fn post_dominators_equal_removal(graph in graphs()) {
        let post = PostDominators::compute(&graph, 0);
        let exit = graph.len() as u32;
        let ended = with_exit(&graph, post.endless_headers());
        for b in graph.nodes() {
            prop_assert!(reach(&ended, b, None).contains(exit), "{} reaches the exit", b);
            for a in graph.nodes() {
                let expected = a == b || !reach(&ended, b, Some(a)).contains(exit);
                prop_assert_eq!(post.post_dominates(a, b), expected, "{} {}", a, b);
            }
        }
        for &header in post.endless_headers() {
            let ends = reach(&graph, header, None).iter().any(|n| graph.succs(n).is_empty());
            prop_assert!(!ends, "{} was joined to the exit though it can end", header);
        }
    }

    #[test]
    fn control_dependence_equals_the_definition(graph in graphs()) {
        let post = PostDominators::compute(&graph, 0);
        let deps = post.control_dependence(&graph);
        for block in graph.nodes() {
            let expected: BTreeSet<u32> = graph.edges().filter(|&(from, to)| {
                let strictly = block != from && post.post_dominates(block, from);
                post.post_dominates(block, to) && !strictly
            }).map(|(from, _)| from).collect();
            prop_assert_eq!(deps.succs(block), expected.into_iter().collect::<Vec<_>>(), "{}", block);
        }
    }

    #[test]
    fn reverse_postorder_has_a_retreating_edge_in_every_cycle(graph in graphs()) {
        let rpo = Rpo::compute(&graph, 0);
        let forward = graph.edges().filter(|&(a, b)| rpo.is_reachable(a) && !rpo.is_retreating(a, b));
        let acyclic = Graph::from_edges(graph.len(), forward);
        let sccs = Sccs::compute(&acyclic);
        prop_assert!(sccs.bottom_up().iter().all(|scc| !sccs.is_cyclic(scc)));
        prop_assert_eq!(rpo.order().iter().copied().collect::<IdSet<_>>(), reach(&graph, 0, None));
    }

    #[test]
    fn loops_are_the_cycles(graph in graphs()) {
        let loops = LoopForest::compute(&graph, &graph.reversed(), 0);
        check_forest(&graph, &loops)?;
        let reached = reach(&graph, 0, None);
        let inside: Vec<(u32, u32)> = graph.edges().filter(|&(a, _)| reached.contains(a)).collect();
        let sccs = Sccs::compute(&Graph::from_edges(graph.len(), inside));
        for node in graph.nodes() {
            let on_cycle = reached.contains(node) && sccs.is_cyclic(sccs.component_of(node));
            prop_assert_eq!(loops.innermost(node).is_some(), on_cycle, "{}", node);
        }
        // The outermost loops are exactly the cyclic components.
        for id in loops.ids().iter().filter(|&id| loops.parent(id).is_none()) {
            let scc = sccs.component_of(loops.header(id));
            prop_assert_eq!(sorted(loops.blocks(id)), sccs.members(scc));
        }
    }

    #[test]
    fn reducible_loops_are_natural_loops(graph in graphs()) {
        let preds = graph.reversed();
        let dom = Dominators::compute(&graph, &preds, 0);
        let loops = LoopForest::compute(&graph, &preds, 0);
        for header in graph.nodes().iter().filter(|&n| dom.is_reachable(n)) {
            let latches: Vec<u32> = preds.succs(header).iter().copied()
                .filter(|&p| dom.is_reachable(p) && dom.dominates(header, p)).collect();
            let natural = natural_loop(&preds, &dom, header, &latches);
            match loops.headed_by(header) {
                Some(id) if !loops.is_irreducible(id) => {
                    prop_assert!(!latches.is_empty());
                    prop_assert_eq!(sorted(loops.blocks(id)), natural);
                }
                Some(_) => {}
                None => prop_assert!(latches.is_empty(), "{} heads a natural loop", header),
            }
        }
    }
}

fn sorted(blocks: &[u32]) -> Vec<u32> {
    let mut blocks = blocks.to_vec();
    blocks.sort_unstable();
    blocks
}

/// What reaches a latch without passing the header, and the header.
fn natural_loop(
    preds: &Graph<u32>,
    dom: &Dominators<u32>,
    header: u32,
    latches: &[u32],
) -> Vec<u32> {
    let mut body = BTreeSet::from([header]);
    let mut stack = latches.to_vec();
    while let Some(node) = stack.pop() {
        if dom.is_reachable(node) && body.insert(node) {
            stack.extend(preds.succs(node));
        }
    }
    body.into_iter().collect()
}

/// Shape of the forest: headers first, children inside parents, siblings apart, flags true.
fn check_forest(graph: &Graph<u32>, loops: &LoopForest<u32>) -> Result<(), TestCaseError> {
    for id in loops.ids() {
        let blocks: BTreeSet<u32> = loops.blocks(id).iter().copied().collect();
        prop_assert_eq!(loops.blocks(id)[0], loops.header(id));
        prop_assert_eq!(loops.headed_by(loops.header(id)), Some(id));
        for node in graph.nodes() {
            prop_assert_eq!(loops.contains(id, node), blocks.contains(&node));
        }
        let outer: Option<LoopId> = loops.parent(id);
        prop_assert_eq!(loops.depth(id), 1 + outer.map_or(0, |p| loops.depth(p)));
        if let Some(outer) = outer {
            prop_assert!(outer < id);
            prop_assert!(blocks.iter().all(|&b| loops.contains(outer, b)));
            prop_assert!(!blocks.contains(&loops.header(outer)));
        }
        let reached = reach(graph, 0, None);
        let entered_aside = graph.edges().any(|(from, to)| {
            reached.contains(from)
                && !blocks.contains(&from)
                && blocks.contains(&to)
                && to != loops.header(id)
        });
        prop_assert_eq!(
            loops.is_irreducible(id),
            entered_aside,
            "{} of {:?}",
            id,
            graph
        );
        prop_assert!(loops.back_edges(id, graph).next().is_some());
        prop_assert!(
            loops
                .exits(id, graph)
                .all(|(a, b)| blocks.contains(&a) && !blocks.contains(&b))
        );
    }
    Ok(())
}

/// A chain of `n` nodes, each with an edge to the last one (`goto fail`) and every tenth a loop.
fn error_ladder(n: u32) -> Graph<u32> {
    let forward = (0..n - 1).map(|i| (i, i + 1));
    let fail = (0..n - 1).map(move |i| (i, n - 1));
    let back = (10..n).step_by(10).map(|i| (i, i - 10));
    Graph::from_edges(n as usize, forward.chain(fail).chain(back))
}

#[test]
fn large_graphs_neither_recurse_nor_blow_up() {
    let graph = error_ladder(200_000);
    let preds = graph.reversed();
    let dom = Dominators::compute(&graph, &preds, 0);
    assert_eq!(dom.depth(199_998), Some(199_998));
    assert_eq!(dom.idom(199_999), Some(0));
    let mut finder = Frontiers::new(&graph, &dom);
    assert_eq!(finder.iterated([5]), [0, 199_999]);
    let sccs = Sccs::compute(&graph);
    assert_eq!(sccs.len(), 1 + 199_999 - 199_990);
    let loops = LoopForest::compute(&graph, &preds, 0);
    assert_eq!(loops.len(), 19_999);
    let post = PostDominators::compute(&graph, 0);
    assert_eq!(post.ipdom(0), Some(199_999));
}

#[test]
fn nested_loops() {
    // 0 → 1 → 2 → 3 → 2, 3 → 4 → 1, 4 → 5, 1 → 5, 3 → 3
    let edges = [
        (0, 1),
        (1, 2),
        (2, 3),
        (3, 2),
        (3, 3),
        (3, 4),
        (4, 1),
        (4, 5),
        (1, 5),
    ];
    let graph = Graph::<u32>::from_edges(6, edges);
    let loops = LoopForest::compute(&graph, &graph.reversed(), 0);
    let shape: Vec<_> = loops
        .ids()
        .iter()
        .map(|l| (loops.header(l), loops.depth(l), loops.blocks(l).to_vec()))
        .collect();
    assert_eq!(
        shape,
        [
            (1, 1, vec![1, 4, 2, 3]),
            (2, 2, vec![2, 3]),
            (3, 3, vec![3])
        ]
    );
    let outer = loops.headed_by(1).unwrap();
    assert_eq!(
        loops.exits(outer, &graph).collect::<Vec<_>>(),
        [(1, 5), (4, 5)]
    );
    assert_eq!(loops.depth_of(0), 0);
}

#[test]
fn endless_loop_is_left_at_its_header() {
    let graph = Graph::<u32>::from_edges(4, [(0, 1), (1, 2), (2, 1), (0, 3)]);
    let post = PostDominators::compute(&graph, 0);
    assert_eq!(post.endless_headers(), [1]);
    assert_eq!(post.ipdom(2), Some(1));
    assert_eq!(post.ipdom(0), None);
}
