// Refusals reach MLIR's remark engine, which filters them by the pass and writes them as text or as YAML.
// RUN: rs-opt %s --winograd --remarks-filter-missed=winograd -o /dev/null 2>&1 | rs-filecheck %s
// RUN: rs-opt %s --winograd --remarks-filter-missed=winograd --remark-policy=final -o /dev/null 2>&1 | rs-filecheck %s
// RUN: rs-opt %s --winograd --remarks-filter-missed='fold-.*' -o /dev/null 2>&1 | rs-filecheck %s --check-prefix=OTHER --allow-empty
// RUN: rs-opt %s --winograd --remarks-filter-missed=winograd --remark-format=yaml --remarks-output-file=%t.yaml -o /dev/null
// RUN: rs-filecheck %s --check-prefix=YAML --input-file=%t.yaml
// RUN: rs-opt %s --simplify-algebra --remarks-filter-missed='simplify-.*' -o /dev/null 2>&1 | rs-filecheck %s --check-prefix=PATTERN
// OTHER-NOT: remark

// CHECK: remark: [Missed] winograd | Category:winograd | Function=main | Reason="it is not channels-last, and has not 3 by 3 results"
// YAML: --- !Missed
// YAML-NEXT: Pass: winograd
// YAML-NEXT: Name: winograd
// YAML-NEXT: DebugLoc: {{.*}}remark_engine.mlir
// YAML: Function: main
// YAML-NEXT: Args:
// YAML-NEXT: - Reason: it is not channels-last, and has not 3 by 3 results
// PATTERN: remark: [Missed] {{.*}} | Category:simplify-algebra | Function=main | Reason="'{{.*}}' does not match:
func.func @main(%x: tensor<1x4x8x8xf32>, %w: tensor<8x4x3x3xf32>) -> tensor<1x8x6x6xf32> attributes {capture.entry} {
  %0 = prim.conv %x, %w {strides = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, lhs_dilation = array<i64: 1, 1>, rhs_dilation = array<i64: 1, 1>, groups = 1 : i64} : (tensor<1x4x8x8xf32>, tensor<8x4x3x3xf32>) -> tensor<1x8x6x6xf32>
  %1 = prim.add %0, %0 : tensor<1x8x6x6xf32>
  return %1 : tensor<1x8x6x6xf32>
}
