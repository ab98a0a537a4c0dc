// RUN: rs-opt %s --verify-diagnostics --split-input-file

func.func @words(%x: tensor<2x8xi8>, %y: tensor<?x8xbf16>) -> (tensor<2x2xi32>, tensor<?x4xi32>) {
  %0 = loop.words %x : (tensor<2x8xi8>) -> tensor<2x2xi32>
  %1 = loop.words %y : (tensor<?x8xbf16>) -> tensor<?x4xi32>
  return %0, %1 : tensor<2x2xi32>, tensor<?x4xi32>
}

// -----

func.func @words_c1(%x: tensor<2x8xf32>) -> tensor<2x8xi32> {
  // expected-error @+1 {{C1: tensor<2x8xf32> cannot be read as tensor<2x8xi32>}}
  %0 = loop.words %x : (tensor<2x8xf32>) -> tensor<2x8xi32>
  return %0 : tensor<2x8xi32>
}

// -----

func.func @words_c1_result(%x: tensor<2x8xi8>) -> tensor<2x2xf32> {
  // expected-error @+1 {{C1: tensor<2x8xi8> cannot be read as tensor<2x2xf32>}}
  %0 = loop.words %x : (tensor<2x8xi8>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}

// -----

func.func @words_c2(%x: tensor<2x7xi8>) -> tensor<2x2xi32> {
  // expected-error @+1 {{C2: the words of tensor<2x7xi8> are not tensor<2x2xi32>}}
  %0 = loop.words %x : (tensor<2x7xi8>) -> tensor<2x2xi32>
  return %0 : tensor<2x2xi32>
}

// -----

func.func @words_c2_unknown(%x: tensor<2x?xi8>) -> tensor<2x?xi32> {
  // expected-error @+1 {{C2: the words of tensor<2x?xi8> are not tensor<2x?xi32>}}
  %0 = loop.words %x : (tensor<2x?xi8>) -> tensor<2x?xi32>
  return %0 : tensor<2x?xi32>
}
