//! Questions on IR, and uses of what is gone.

use crate::toy::*;
use strata_core::diagnostic::collect_errors;
use strata_core::prelude::*;
use strata_core::query::{CallGraph, Dominance, Symbols};
use strata_core::registry::Registry;
use strata_core::rewrite::{Greedy, apply_greedily};

const TEXT: &str = "
toy.kernel private @leaf(%x: tensor<4xf32>) -> tensor<4xf32> {
  toy.return %x : tensor<4xf32>
}
func.func @top(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @middle(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = toy.call @leaf(%0) : tensor<4xf32>
  toy.print %1 : tensor<4xf32>
  return %1 : tensor<4xf32>
}
func.func private @middle(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = toy.call @leaf(%x) : tensor<4xf32>
  return %0 : tensor<4xf32>
}";

#[test]
fn calls_and_symbols() {
    let context = context();
    let module = parse(&context, TEXT).unwrap();
    let graph = CallGraph::new(module.op());
    let names: Vec<_> = graph.bottom_up().into_iter().filter_map(|function| function.str("sym_name")).collect();
    assert_eq!(names, ["leaf", "middle", "top"]);
    let mut symbols = Symbols::new(module.op()).unwrap();
    let leaf = symbols.get("leaf").unwrap();
    assert_eq!(leaf.symbol_users(module.op()).unwrap().len(), 2);
    let copy = leaf.clone_with(&[]);
    assert_eq!(symbols.insert(copy), "leaf_0");
    assert!(symbols.rename_uses("leaf", "leaf_0"));
    symbols.erase(leaf);
    assert!(module.op().verify(), "{module}");
}

#[test]
fn effects_and_dominance() {
    let context = context();
    let module = parse(&context, TEXT).unwrap();
    let top = module.op().lookup_symbol("top").unwrap();
    let ops = top.body(0).ops();
    assert!(!ops[2].is_effect_free() && !ops[1].is_dead());
    let dominance = Dominance::new(top);
    assert!(dominance.dominates(ops[0].result(0), ops[1]) && !dominance.dominates(ops[1].result(0), ops[0]));
    assert!(dominance.properly_dominates(ops[0], ops[3]));
    let fused = module.cx().fuse_locations(&[ops[0].location(), ops[0].location()]);
    assert_eq!(fused, ops[0].location());
}

#[test]
fn a_use_after_erase_names_the_op() {
    let context = context();
    let module = parse(
        &context,
        "func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = toy.square %x : tensor<4xf32>
      return %0 : tensor<4xf32>
    }",
    )
    .unwrap();
    let mut patterns = Patterns::new(module.cx());
    patterns.on::<Square>("too-late", 1, |square, rewriter| {
        rewriter.replace(square.op(), &[square.input()]);
        let _ = square.input();
        Ok(())
    });
    let (_, errors) = collect_errors(module.cx(), || apply_greedily(module.op(), patterns, Greedy::default()));
    assert!(errors[0].contains("an op 'toy.square' is used after it was erased"), "{errors:?}");
}

#[test]
fn registering_thousands_of_ops_is_cheap() {
    static MANY: DialectDef = DialectDef {
        name: "many",
        ops: || (0..2_500).map(|index| OpDef { name: format!("many.op{index}").leak(), ..OpDef::NEW }).collect(),
        ..DialectDef::NEW
    };
    let registry = Registry::new().with_dialect(&MANY);
    let times: Vec<_> = (0..5)
        .map(|_| {
            let context = registry.context();
            let start = std::time::Instant::now();
            assert!(strata_core::registry::load_dialect(&context, "many"));
            start.elapsed()
        })
        .collect();
    let best = times.iter().min().unwrap();
    println!("2,500 ops registered in {best:?}");
    // The bound is wide: test machines are shared.
    assert!(best.as_millis() < 50, "{times:?}");
}
