// RUN: rs-opt %s --split-input-file --verify-diagnostics | FileCheck %s
// RUN: rs-opt %s --split-input-file --verify-diagnostics --canonicalize --cse | FileCheck %s

// CHECK-LABEL: func.func @main(
// CHECK: capture.graph_break %{{.*}} {reason = "call of print", resume = @rest} : tensor<4xf32>
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {capture.entry} {
  capture.graph_break %x {resume = @rest, reason = "call of print"} : (tensor<4xf32>) -> ()
}

// CHECK-LABEL: func.func @rest(
// CHECK-SAME: attributes {capture.resume}
func.func @rest(%x: tensor<4xf32> {capture.kind = "input"}, %w: tensor<2xf32> {capture.kind = "parameter", capture.name = "w"}) -> tensor<4xf32>
    attributes {capture.resume} {
  return %x : tensor<4xf32>
}

// -----

func.func @graph_break_c1(%x: tensor<4xf32>, %b: i1) -> tensor<4xf32> {
  %0 = scf.execute_region -> tensor<4xf32> {
    // expected-error @+1 {{C1: its parent is not a func.func}}
    capture.graph_break %x {resume = @graph_break_c1, reason = "print"} : (tensor<4xf32>) -> ()
  }
  return %0 : tensor<4xf32>
}

// -----

func.func @graph_break_c2(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{C2: `@rest` is no function with `capture.resume`}}
  capture.graph_break %x {resume = @rest, reason = "print"} : (tensor<4xf32>) -> ()
}

func.func @rest(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

func.func @graph_break_c3(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{C3: `@rest` takes (tensor<8xf32>), and is given (tensor<4xf32>)}}
  capture.graph_break %x {resume = @rest, reason = "print"} : (tensor<4xf32>) -> ()
}

func.func @rest(%x: tensor<8xf32>) attributes {capture.resume} {
  return
}

// -----

func.func @graph_break_c4(%x: tensor<4xf32>) {
  // expected-error @+1 {{C4: the function gives (), and the values are (tensor<4xf32>)}}
  capture.graph_break %x {resume = @rest, reason = "print"} : (tensor<4xf32>) -> ()
}

func.func @rest(%x: tensor<4xf32>) attributes {capture.resume} {
  return
}

// -----

func.func @graph_break_c5(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{C5: the reason is empty}}
  capture.graph_break %x {resume = @rest, reason = ""} : (tensor<4xf32>) -> ()
}

func.func @rest(%x: tensor<4xf32>) attributes {capture.resume} {
  return
}
