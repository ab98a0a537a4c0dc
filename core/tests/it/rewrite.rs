//! Folds and patterns, by our driver and by upstream's passes.

use crate::toy::*;
use std::collections::HashMap;
use strata_core::pass::Incremental;
use strata_core::pass::run_pipeline;
use strata_core::prelude::*;
use strata_core::registry::Registry;
use strata_core::remark::Remarks;
use strata_core::rewrite::{Greedy, apply_greedily, apply_in_order, apply_once};

fn upstream(text: &str, pipeline: &str) -> String {
    let context = Registry::new().with_upstream().with_upstream_passes().with_dialect(&TOY).context();
    let module = parse(&context, text).unwrap();
    run_pipeline(module.op(), pipeline).unwrap();
    module.to_string()
}

fn names(text: &str) -> Vec<String> {
    let op = |line: &'_ str| line.split_once(" = ").filter(|_| line.starts_with('%')).map_or(line.to_owned(), |(_, op)| op.to_owned());
    let words = text.lines().map(|line| op(line.trim())).filter_map(|op| op.split(' ').next().map(str::to_owned));
    words.filter(|word| word.starts_with("toy.")).collect()
}

#[test]
fn canonicalize_folds_and_rewrites() {
    let text = upstream(
        "func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
           %zero = toy.constant {value = dense<0.0> : tensor<4xf32>} : tensor<4xf32>
           %dead = toy.square %x : tensor<4xf32>
           %0 = toy.add %zero, %x : tensor<4xf32>
           %1 = toy.mul %0, %0 : tensor<4xf32>
           toy.print %1 : tensor<4xf32>
           return %1 : tensor<4xf32>
         }",
        "canonicalize",
    );
    assert_eq!(names(&text), ["toy.square", "toy.print"], "{text}");
}

#[test]
fn constants_are_made_and_unused_memory_goes() {
    let text = upstream(
        "func.func @f(%m: tensor<2x3xf32>) -> (tensor<4xf32>, tensor<2x3xf32>) {
           %a = toy.alloc : memref<4xf32>
           %0 = toy.constant {value = dense<3.0> : tensor<4xf32>} : tensor<4xf32>
           %1 = toy.square %0 : tensor<4xf32>
           %2 = toy.transpose %m : (tensor<2x3xf32>) -> tensor<3x2xf32>
           %3 = toy.transpose %2 : (tensor<3x2xf32>) -> tensor<2x3xf32>
           return %1, %3 : tensor<4xf32>, tensor<2x3xf32>
         }",
        "canonicalize",
    );
    assert_eq!(names(&text), ["toy.constant"], "{text}");
    assert!(text.contains("dense<9.0") && text.contains("return %0, %arg0"), "{text}");
}

#[test]
fn cse_licm_and_inline_understand_the_effects() {
    let text = upstream(
        "func.func private @square(%x: tensor<4xf32>) -> tensor<4xf32> {
           %0 = toy.square %x : tensor<4xf32>
           return %0 : tensor<4xf32>
         }
         func.func @f(%x: tensor<4xf32>, %n: index) {
           %c0 = arith.constant 0 : index
           %c1 = arith.constant 1 : index
           scf.for %i = %c0 to %n step %c1 {
             %0 = func.call @square(%x) : (tensor<4xf32>) -> tensor<4xf32>
             %1 = toy.square %x : tensor<4xf32>
             %2 = toy.mul %0, %1 : tensor<4xf32>
             toy.print %2 : tensor<4xf32>
           }
           return
         }",
        "inline,symbol-dce,cse,loop-invariant-code-motion",
    );
    assert_eq!(names(&text), ["toy.square", "toy.mul", "toy.print"], "{text}");
    let body = text.split("scf.for").nth(1).unwrap();
    assert_eq!(names(body), ["toy.print"], "{text}");
}

#[test]
fn calls_of_our_functions_are_inlined_by_our_interfaces() {
    let text = upstream(
        "toy.kernel private @k(%x: tensor<4xf32>) -> tensor<4xf32> {
           %0 = toy.square %x : tensor<4xf32>
           toy.return %0 : tensor<4xf32>
         }
         func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
           %0 = toy.call @k(%x) : tensor<4xf32>
           return %0 : tensor<4xf32>
         }",
        "inline,symbol-dce",
    );
    assert_eq!(names(&text), ["toy.square"], "{text}");
}

const PRODUCTS: &str = "func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = toy.mul %x, %x : tensor<4xf32>
  %1 = toy.mul %0, %y : tensor<4xf32>
  return %1 : tensor<4xf32>
}";

#[test]
fn our_driver_applies_closures() {
    let context = context();
    let module = parse(&context, PRODUCTS).unwrap();
    let mut patterns = Patterns::new(module.cx());
    patterns.on::<Mul>("to-add", 1, |mul, rewriter| {
        let add = Add::build(rewriter, mul.lhs(), mul.rhs(), mul.result().ty());
        rewriter.replace_with_op(mul.op(), add.op());
        Ok(())
    });
    assert!(apply_greedily(module.op(), patterns, Greedy::default()).unwrap());
    assert_eq!(names(&module.to_string()), ["toy.add", "toy.add"]);
    let mut patterns = Patterns::new(module.cx());
    patterns.add("nothing", "", 1, |_, _| Err("never".into()));
    assert!(!apply_greedily(module.op(), patterns, Greedy::default()).unwrap());
}

#[test]
fn a_higher_benefit_goes_first_and_one_walk_is_one_walk() {
    let context = context();
    let module = parse(&context, PRODUCTS).unwrap();
    let mut patterns = Patterns::new(module.cx());
    for (name, benefit) in [("low", 1), ("high", 2)] {
        patterns.on::<Mul>(name, benefit, move |mul, rewriter| {
            if mul.op().attr("toy.by").is_some() {
                return Err("done".into());
            }
            let by = mul.op().cx().str_attr(name);
            rewriter.set_attr(mul.op(), "toy.by", by);
            Ok(())
        });
    }
    apply_once(module.op(), patterns);
    assert_eq!(module.to_string().matches("toy.by = \"high\"").count(), 2, "{module}");
}

#[test]
fn patterns_that_never_rest_are_reported() {
    let context = context();
    let module = parse(&context, PRODUCTS).unwrap();
    let mut patterns = Patterns::new(module.cx());
    patterns.on::<Mul>("swap", 1, |mul, rewriter| {
        let swapped = Mul::build(rewriter, mul.rhs(), mul.lhs(), mul.result().ty());
        rewriter.replace_with_op(mul.op(), swapped.op());
        Ok(())
    });
    let config = Greedy { max_rewrites: Some(1_000), ..Greedy::default() };
    let error = apply_greedily(module.op(), patterns, config).unwrap_err().to_string();
    assert!(error.contains("did not come to rest"), "{error}");
}

/// How many ops stand between a value and the arguments.
struct Depth;

impl Analysis for Depth {
    type Of<'c> = HashMap<Value<'c>, usize>;

    fn compute(op: Op<'_>) -> HashMap<Value<'_>, usize> {
        let mut depths = HashMap::new();
        op.walk(&mut |op| Self::made(&mut depths, op));
        depths
    }
}

impl Incremental for Depth {
    fn made<'c>(depths: &mut HashMap<Value<'c>, usize>, op: Op<'c>) {
        let deepest = op.operands().iter().map(|value| depths.get(value).copied().unwrap_or(0)).max().unwrap_or(0);
        for result in op.results() {
            depths.insert(result, deepest + 1);
        }
    }
}

/// `x * x` becomes `(x + x) + x`, as long as nothing is deeper than a limit.
fn spread_below(limit: usize) -> impl for<'x> Fn(Op<'x>, &mut Rewriter<'x, Depth>) -> std::result::Result<Value<'x>, NoMatch> {
    move |mul, rewriter| {
        let (x, ty) = (mul.operand(0), mul.result(0).ty());
        if rewriter.analysis().get(&x).copied().unwrap_or(0) >= limit {
            return Err("deep enough".into());
        }
        let inner = Add::build(rewriter, x, x, ty).result();
        let outer = Mul::build(rewriter, inner, x, ty).result();
        let depths = rewriter.analysis();
        assert_eq!(depths[&outer], depths[&inner] + 1, "what a pattern made is known at once");
        Ok(outer)
    }
}

#[test]
fn the_driver_in_order_keeps_an_analysis_true() {
    let context = context();
    let module = parse(&context, PRODUCTS).unwrap();
    let mut patterns = Patterns::<Depth>::new(module.cx());
    patterns.identity::<Mul>("spread", 1, spread_below(2));
    // The first product's replacement is a product of something one deep, which is replaced too; what that gives is two deep.
    assert_eq!(apply_in_order(module.op(), patterns), 2);
    assert_eq!(names(&module.to_string()), ["toy.add", "toy.add", "toy.mul", "toy.mul"], "{module}");
}

#[test]
fn the_driver_in_order_erases_what_is_replaced_or_unused_and_tells_once() {
    let context = context();
    let text = "func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = toy.square %x : tensor<4xf32>
      %1 = toy.mul %0, %x : tensor<4xf32>
      %2 = toy.add %1, %x : tensor<4xf32>
      toy.print %2 : tensor<4xf32>
      return %x : tensor<4xf32>
    }";
    let module = parse(&context, text).unwrap();
    let mut patterns = Patterns::<()>::new(module.cx());
    patterns.remarks(Remarks::of("first", true)).identity_of_any("first-operand", 1, |op, _| match op.isa::<Mul>() {
        true => Ok(op.operand(1)),
        false => Err("no product".into()),
    });
    let (rewrites, remarks) = strata_core::diagnostic::collect(module.cx(), || apply_in_order(module.op(), patterns));
    assert_eq!(rewrites, 1);
    assert_eq!(names(&module.to_string()), ["toy.add", "toy.print"], "{module}");
    let of_add = remarks.iter().filter(|remark| remark.message.contains("'first-operand' does not match: no product"));
    assert_eq!(of_add.count(), 5, "func, square, add, print and return say it once each: {remarks:?}");
}

#[test]
fn a_block_is_inlined() {
    let context = context();
    let text = "func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = toy.fusion %x : tensor<4xf32> {
      ^bb0(%a: tensor<4xf32>):
        %1 = toy.square %a : tensor<4xf32>
        toy.yield %1 : tensor<4xf32>
      }
      return %0 : tensor<4xf32>
    }";
    let module = parse(&context, text).unwrap();
    let mut patterns = Patterns::new(module.cx());
    patterns.on::<Fusion>("unwrap", 1, |fusion, rewriter| {
        let body = fusion.op().body(0);
        let end = body.terminator().ok_or("no terminator")?;
        let values = end.operands();
        rewriter.inline_block_before(body, fusion.op(), &fusion.inputs());
        rewriter.replace(fusion.op(), &values);
        rewriter.erase(end);
        Ok(())
    });
    apply_greedily(module.op(), patterns, Greedy::default()).unwrap();
    assert_eq!(names(&module.to_string()), ["toy.square"], "{module}");
}

#[test]
fn a_panic_in_a_pattern_fails_the_pipeline() {
    let context = Registry::new().with_upstream().with_upstream_passes().with_dialect(&TOY).context();
    let module = parse(&context, PRODUCTS).unwrap();
    let mut patterns = Patterns::new(module.cx());
    patterns.on::<Mul>("boom", 1, |_, _| panic!("as asked"));
    let (result, errors) =
        strata_core::diagnostic::collect_errors(module.cx(), || apply_greedily(module.op(), patterns, Greedy::default()));
    assert!(!result.unwrap());
    assert!(errors[0].contains("'toy.mul' op the pattern 'boom' panicked: as asked"), "{errors:?}");
}

#[test]
fn folding_is_a_question_too() {
    let context = context();
    let module = parse(&context, "%0 = toy.constant {value = dense<1.0> : tensor<f32>} : tensor<f32>").unwrap();
    let constant = module.op().find_all(Constant::NAME)[0];
    assert_eq!(constant.fold(), Some(vec![Folded::Attr(constant.attr("value").unwrap())]));
}

const FUSED: &str = "func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = toy.fusion %x : tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %1 = toy.square %a : tensor<4xf32>
    toy.yield %1 : tensor<4xf32>
  }
  %2 = toy.add %0, %0 : tensor<4xf32>
  return %2 : tensor<4xf32>
}";

#[test]
fn a_pass_inlines_a_body() {
    let context = context();
    let module = parse(&context, FUSED).unwrap();
    let fusion = module.op().find_all("toy.fusion")[0];
    let mut rewriter = Rewriter::before(fusion);
    let values = rewriter.inline_body_before(fusion.body(0), fusion, &fusion.operands());
    rewriter.replace(fusion, &values);
    assert_eq!(names(&module.to_string()), ["toy.square", "toy.add"], "{module}");
    assert!(module.op().verify());
}

#[test]
fn some_uses_are_replaced() {
    let context = context();
    let module = parse(&context, FUSED).unwrap();
    let (fusion, add) = (module.op().find_all("toy.fusion")[0], module.op().find_all("toy.add")[0]);
    Rewriter::before(add).replace_uses_if(fusion.result(0), fusion.operand(0), |user| user.index == 1);
    assert_eq!(add.operands(), [fusion.result(0), fusion.operand(0)]);
}

#[test]
fn a_function_gets_another_type_and_a_copy_takes_the_place_of_an_op() {
    let context = context();
    let module = parse(&context, PRODUCTS).unwrap();
    let other = parse(&context, FUSED).unwrap();
    let [function, made] = [&module, &other].map(|module| module.op().lookup_symbol("f").unwrap());
    let mut rewriter = Rewriter::before(function);
    let copy = rewriter.replace_with_copy(function, made);
    assert_eq!(names(&module.to_string()), ["toy.fusion", "toy.square", "toy.yield", "toy.add"], "{module}");
    let wide = module.cx().tensor(&[8], module.cx().f32());
    strata_core::upstream::func::set_type(&mut rewriter, copy, &[wide], &[]);
    assert_eq!(copy.attr("function_type").unwrap().to_string(), "(tensor<8xf32>) -> ()");
}

#[test]
fn everything_below_an_op_is_relocated_once() {
    let context = context();
    let module = parse(&context, FUSED).unwrap();
    let mut count = 0;
    Rewriter::before(module.op()).relocate_all(module.op(), &mut |location| {
        count += 1;
        location.cx().file_location("here", count, 0)
    });
    let fusion = module.op().find_all("toy.fusion")[0];
    assert_eq!(count, 9, "a module, a function, five ops in it and two arguments");
    assert_eq!(fusion.body(0).arg(0).location().file_line().map(|(_, line)| line), Some(5));
    assert_eq!(fusion.location().file_line().map(|(_, line)| line), Some(4));
}

#[test]
fn ops_are_made_where_the_rewriter_goes() {
    let context = context();
    let module = parse(&context, PRODUCTS).unwrap();
    let first = module.op().find_all("toy.mul")[0];
    let mut rewriter = Rewriter::before(module.op());
    rewriter.go_after(first);
    Square::build(&mut rewriter, first.operand(0), first.result(0).ty());
    rewriter.go_before(first);
    Add::build(&mut rewriter, first.operand(0), first.operand(0), first.result(0).ty());
    assert_eq!(names(&module.to_string()), ["toy.add", "toy.mul", "toy.square", "toy.mul"], "{module}");
}
