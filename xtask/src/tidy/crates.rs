//! The dependency rules of `architecture.md`: what each crate must not reach, and what `rs-run` must not link.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde_json::Value;

use super::Fault;
use crate::cargo::{self, Profile, Result};

/// Per crate, the crates of ours it may reach; outside crates are ruled by `FOREIGN`.
const REACH: [(&str, &[&str]); 16] = [
    ("strata-core-sys", &[]),
    ("strata-macros", &[]),
    ("strata-core", &["strata-core-sys", "strata-macros"]),
    ("strata-dialects", CORE),
    ("strata-interp", DIALECTS),
    ("strata-frontend", DIALECTS),
    ("strata-passes", DIALECTS),
    ("strata-lowering", DIALECTS),
    ("strata-store", &[]),
    ("strata-runtime", &[]),
    ("strata-torch-ops", &[]),
    ("strata-report", &["strata-runtime"]),
    ("strata-python", &["strata-report", "strata-runtime"]),
    ("strata-test", &[]),
    ("strata-tools", &["strata-report", "strata-runtime", "strata-store"]),
    (
        "strata-driver",
        &[
            "strata-core-sys",
            "strata-macros",
            "strata-core",
            "strata-dialects",
            "strata-interp",
            "strata-frontend",
            "strata-passes",
            "strata-lowering",
            "strata-report",
            "strata-runtime",
            "strata-store",
        ],
    ),
];
const CORE: &[&str] = &["strata-core-sys", "strata-macros", "strata-core"];
const DIALECTS: &[&str] = &["strata-core-sys", "strata-macros", "strata-core", "strata-dialects"];

/// Outside crates that a crate must not reach.
const FOREIGN: [(&str, &[&str]); 8] = [
    ("strata-store", &["melior", "mlir-sys", "inkwell", "llvm-sys"]),
    ("strata-runtime", &["melior", "mlir-sys", "inkwell", "llvm-sys"]),
    ("strata-report", &["melior", "mlir-sys", "inkwell", "llvm-sys"]),
    ("strata-python", &["melior", "mlir-sys", "inkwell", "llvm-sys"]),
    ("strata-dialects", &["inkwell", "llvm-sys"]),
    ("strata-interp", &["inkwell", "llvm-sys"]),
    ("strata-frontend", &["inkwell", "llvm-sys"]),
    ("strata-passes", &["inkwell", "llvm-sys"]),
];

/// Programs that must start without the compiler.
const LEAN: [&str; 1] = ["rs-run"];

pub fn check() -> Result<Vec<Fault>> {
    // Only this platform's dependencies, so that nothing is fetched that no build here needs.
    let platform = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let output = cargo::command(&["metadata", "--format-version=1", "--filter-platform", &platform]).output()?;
    if !output.status.success() {
        return Err(format!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    let graph = Graph::new(&serde_json::from_slice(&output.stdout)?);
    let mut faults = Vec::new();
    for (name, allowed) in REACH {
        let reached = graph.reach(name);
        for found in reached.iter().filter(|found| found.starts_with("strata-") && !allowed.contains(&found.as_str())) {
            faults.push(Fault::new(name, format!("depends on {found}, which docs/src/architecture.md forbids")));
        }
    }
    for (name, forbidden) in FOREIGN {
        let reached = graph.reach(name);
        for found in forbidden.iter().filter(|found| reached.contains(**found)) {
            faults.push(Fault::new(name, format!("reaches the crate {found}, which docs/src/architecture.md forbids")));
        }
    }
    for tool in LEAN {
        faults.extend(linked(tool)?);
    }
    Ok(faults)
}

/// The normal dependencies of every package, by name.
struct Graph(BTreeMap<String, BTreeSet<String>>);

impl Graph {
    fn new(metadata: &Value) -> Graph {
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let names: BTreeMap<String, String> =
            list(&metadata["packages"]).iter().map(|package| (text(&package["id"]), text(&package["name"]))).collect();
        let name = |id: &Value| names.get(&text(id)).cloned().unwrap_or_default();
        let mut edges: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for node in list(&metadata["resolve"]["nodes"]) {
            let normal = list(&node["deps"]).into_iter().filter(|dep| list(&dep["dep_kinds"]).iter().any(|kind| kind["kind"].is_null()));
            edges.entry(name(&node["id"])).or_default().extend(normal.map(|dep| name(&dep["pkg"])));
        }
        Graph(edges)
    }

    fn reach(&self, from: &str) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        let mut open = vec![from];
        while let Some(next) = open.pop() {
            for dep in self.0.get(next).into_iter().flatten() {
                if found.insert(dep.clone()) {
                    open.push(dep);
                }
            }
        }
        found
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or("").to_string()
}

/// Faults of a built tool that needs MLIR's or LLVM's libraries; a tool that is not built has none.
fn linked(tool: &str) -> Result<Vec<Fault>> {
    let path = cargo::tools(Profile::Dev).join(tool);
    let reader = cargo::llvm_bin().join("llvm-readelf");
    if !path.exists() || !reader.exists() {
        return Ok(Vec::new());
    }
    let output = Command::new(reader).arg("--needed-libs").arg(&path).output()?;
    let needed = String::from_utf8_lossy(&output.stdout).into_owned();
    let heavy = needed.lines().map(str::trim).filter(|line| line.starts_with("libMLIR") || line.starts_with("libLLVM"));
    Ok(heavy.map(|library| Fault::new(tool, format!("links {library}; it must start without the compiler"))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn follows_normal_dependencies_only() {
        let metadata = serde_json::json!({
            "packages": [{"id": "1", "name": "a"}, {"id": "2", "name": "b"}, {"id": "3", "name": "c"}, {"id": "4", "name": "d"}],
            "resolve": {"nodes": [
                {"id": "1", "deps": [{"pkg": "2", "dep_kinds": [{"kind": null}]}, {"pkg": "4", "dep_kinds": [{"kind": "dev"}]}]},
                {"id": "2", "deps": [{"pkg": "3", "dep_kinds": [{"kind": null}]}]}
            ]}
        });
        let reached: Vec<String> = Graph::new(&metadata).reach("a").into_iter().collect();
        assert_eq!(reached, ["b", "c"]);
    }
}
