// RUN: rs-opt %s --split-input-file --verify-diagnostics

// Places in the lists of a call, and sizes of elements, are small numbers: code is made of what they say.
func.func @input_c1() attributes {host.entry} {
  // expected-error @+1 {{C1: the index 4611686018427387904 is not between 0 and 2147483647}}
  %0 = host.input {index = 4611686018427387904 : i64} : memref<?xf32>
  host.return
}

// -----

func.func @input_size_c1() attributes {host.entry} {
  // expected-error @+1 {{C1: the dim -1 is not between 0 and 2147483647}}
  %0 = host.input_size {index = 0 : i64, dim = -1 : i64} : index
  host.return
}

// -----

func.func @weight_c1() attributes {host.entry} {
  // expected-error @+1 {{C1: the index -1 is not between 0 and 2147483647}}
  %0 = host.weight {index = -1 : i64} : memref<?xf32>
  host.return
}

// -----

func.func @output_c1() attributes {host.entry} {
  // expected-error @+1 {{C1: the index 9223372036854775807 is not between 0 and 2147483647}}
  %0 = host.output {index = 9223372036854775807 : i64} : memref<?xf32>
  host.return
}

// -----

func.func @elements_c1() attributes {host.entry} {
  %n = host.input_size {index = 0 : i64, dim = 0 : i64} : index
  // expected-error @+1 {{C1: no element has 0 bytes}}
  %0 = host.elements %n {bytes = 0 : i64, text = "no room"} : (index) -> index
  host.return
}

// -----

func.func @input_size_c1_index() attributes {host.entry} {
  // expected-error @+1 {{C1: the index -1 is not between 0 and 2147483647}}
  %0 = host.input_size {index = -1 : i64, dim = 0 : i64} : index
  host.return
}
