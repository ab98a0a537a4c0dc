// RUN: own-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{'sat.fixed' C2: 9 of 8 bits are behind the point}}
func.func private @type_c2() -> !sat.fixed<bits = 8, fraction = 9>

// -----

// expected-error @+1 {{'sat.fixed' parameter `bits` is "eight", not an integer}}
func.func private @type_kind() -> !sat.fixed<bits = "eight", fraction = 0>

// -----

// expected-error @+1 {{expected 'fraction'}}
func.func private @type_names() -> !sat.fixed<bits = 8, digits = 0>

// -----

// expected-error @+1 {{the dialect 'sat' has no type 'float'}}
func.func private @no_type() -> !sat.float

// -----

// expected-error @+1 {{'sat.rounding' C1: the mode `up` is neither nearest nor down}}
func.func private @attr_c1() attributes {sat.mode = #sat.rounding<mode = "up">}

// -----

func.func @op_type(%x: f32) -> i32 {
  // expected-error @+1 {{result #0 'result' must be !sat.fixed, but is 'i32'}}
  %0 = sat.quantize %x {rounding = #sat.rounding<mode = "down">} : (f32) -> i32
  return %0 : i32
}

// -----

func.func @op_attr(%x: f32) -> !sat.fixed<bits = 8, fraction = 4> {
  // expected-error @+1 {{attribute 'rounding' must be #sat.rounding}}
  %0 = sat.quantize %x {rounding = "down"} : (f32) -> !sat.fixed<bits = 8, fraction = 4>
  return %0 : !sat.fixed<bits = 8, fraction = 4>
}

// -----

func.func @op_c1(%x: f16) -> !sat.fixed<bits = 32, fraction = 4> {
  // expected-error @+1 {{C1: f16 does not hold 32 bits}}
  %0 = sat.quantize %x {rounding = #sat.rounding<mode = "down">} : (f16) -> !sat.fixed<bits = 32, fraction = 4>
  return %0 : !sat.fixed<bits = 32, fraction = 4>
}
