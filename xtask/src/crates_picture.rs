//! `docs/src/pictures/crates.svg`: the crates of the workspace, each above those that it needs.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use petgraph::algo::toposort;
use petgraph::algo::tred::{dag_to_toposorted_adjacency_list, dag_transitive_reduction_closure};
use petgraph::graph::{DiGraph, NodeIndex};
use serde::Deserialize;

use crate::cargo::{self, Result};

/// Crates that no other part of Strata is made of: what they check or show is in the others.
const BESIDE: [&str; 5] = ["own-dialect", "strata-bench", "strata-fuzz", "templates", "xtask"];

/// Sizes in pixels: of a box, and from one box to the next.
const BOX: (f64, f64) = (112.0, 30.0);
const STEP: (f64, f64) = (128.0, 72.0);

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
    /// `None` for what the crate itself needs, not its tests or its build.
    kind: Option<String>,
}

/// The picture as SVG.
pub fn svg() -> Result<String> {
    let output = cargo::command(&["metadata", "--format-version=1", "--no-deps"]).output()?;
    if !output.status.success() {
        return Err(format!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    let metadata: Metadata = serde_json::from_slice(&output.stdout)?;
    draw(&reduced(&metadata)?)
}

/// The crates and what each needs, without the needs that follow from others.
fn reduced(metadata: &Metadata) -> Result<DiGraph<String, ()>> {
    let mut graph = DiGraph::new();
    let mut nodes: BTreeMap<&str, NodeIndex> = BTreeMap::new();
    for package in metadata.packages.iter().filter(|package| !BESIDE.contains(&package.name.as_str())) {
        let label = package.name.strip_prefix("strata-").unwrap_or(&package.name);
        nodes.insert(&package.name, graph.add_node(label.to_owned()));
    }
    for package in &metadata.packages {
        for dependency in package.dependencies.iter().filter(|dependency| dependency.kind.is_none()) {
            if let (Some(&from), Some(&to)) = (nodes.get(package.name.as_str()), nodes.get(dependency.name.as_str())) {
                graph.update_edge(from, to, ());
            }
        }
    }
    let order = toposort(&graph, None).map_err(|cycle| format!("the crate {} needs itself", graph[cycle.node_id()]))?;
    let (sorted, places) = dag_to_toposorted_adjacency_list::<_, u32>(&graph, &order);
    let (direct, _) = dag_transitive_reduction_closure(&sorted);
    let place = |node: NodeIndex| places[node.index()];
    graph.retain_edges(|graph, edge| graph.edge_endpoints(edge).is_some_and(|(from, to)| direct.contains_edge(place(from), place(to))));
    Ok(graph)
}

/// Rows from the crates that need nothing, at the bottom.
fn rows(graph: &DiGraph<String, ()>) -> Result<Vec<Vec<NodeIndex>>> {
    let mut order = toposort(graph, None).map_err(|_| "the crates need each other")?;
    order.reverse();
    let mut height: BTreeMap<NodeIndex, usize> = BTreeMap::new();
    for node in order {
        let below = graph.neighbors(node).filter_map(|need| height.get(&need)).max();
        height.insert(node, below.map_or(0, |below| below + 1));
    }
    let mut rows = vec![Vec::new(); height.values().max().map_or(0, |top| top + 1)];
    for (node, row) in height {
        rows[row].push(node);
    }
    rows.iter_mut().for_each(|row| row.sort_by(|a, b| graph[*a].cmp(&graph[*b])));
    Ok(rows)
}

fn draw(graph: &DiGraph<String, ()>) -> Result<String> {
    let rows = rows(graph)?;
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0) as f64;
    let (width, height) = (columns * STEP.0, rows.len() as f64 * STEP.1);
    let mut corners: BTreeMap<NodeIndex, (f64, f64)> = BTreeMap::new();
    for (at, row) in rows.iter().enumerate() {
        let left = (width - row.len() as f64 * STEP.0) / 2.0;
        for (column, &node) in row.iter().enumerate() {
            let x = left + column as f64 * STEP.0 + (STEP.0 - BOX.0) / 2.0;
            corners.insert(node, (x, height - (at as f64 + 1.0) * STEP.1 + (STEP.1 - BOX.1) / 2.0));
        }
    }
    let mut page = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" font-family=\"sans-serif\" font-size=\"13\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"white\"/>\n"
    );
    for (from, to) in graph.edge_indices().filter_map(|edge| graph.edge_endpoints(edge)) {
        let ((x1, y1), (x2, y2)) = (corners[&from], corners[&to]);
        let (x1, y1, x2) = (x1 + BOX.0 / 2.0, y1 + BOX.1, x2 + BOX.0 / 2.0);
        let middle = (y1 + y2) / 2.0;
        writeln!(page, "<path d=\"M{x1} {y1}C{x1} {middle} {x2} {middle} {x2} {y2}\" fill=\"none\" stroke=\"#999\"/>")?;
    }
    for (node, (x, y)) in &corners {
        let (middle, base) = (x + BOX.0 / 2.0, y + BOX.1 / 2.0 + 4.5);
        writeln!(
            page,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{}\" height=\"{}\" rx=\"4\" fill=\"#e8eef6\" stroke=\"#4878a8\"/>",
            BOX.0, BOX.1
        )?;
        writeln!(page, "<text x=\"{middle}\" y=\"{base}\" text-anchor=\"middle\">{}</text>", graph[*node])?;
    }
    page.push_str("</svg>\n");
    Ok(page)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metadata(text: &str) -> Metadata {
        serde_json::from_str(text).expect("it is metadata")
    }

    #[test]
    fn needs_that_follow_are_not_drawn() {
        let metadata = metadata(
            r#"{"packages": [
                {"name": "strata-a", "dependencies": [{"name": "strata-b", "kind": null}, {"name": "strata-c", "kind": null}]},
                {"name": "strata-b", "dependencies": [{"name": "strata-c", "kind": null}, {"name": "strata-a", "kind": "dev"}]},
                {"name": "strata-c", "dependencies": [{"name": "serde", "kind": null}]}]}"#,
        );
        let graph = reduced(&metadata).expect("no cycle");
        assert_eq!((graph.node_count(), graph.edge_count()), (3, 2));
        let labels: Vec<Vec<_>> =
            rows(&graph).expect("no cycle").iter().map(|row| row.iter().map(|&node| &graph[node]).collect()).collect();
        assert_eq!(labels, [["c"], ["b"], ["a"]]);
        assert_eq!(draw(&graph).expect("it draws").matches("<path").count(), 2);
    }
}
