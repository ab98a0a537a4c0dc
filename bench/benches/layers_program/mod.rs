//! The program of equal layers that benchmarks write.

/// A flat program of so many feed-forward layers with attention to themselves; the one numbered `edited` has another scale.
pub fn program(layers: usize, edited: Option<usize>) -> String {
    let mut text = String::from("func.func @main(%x0: tensor<32x64xf32> {capture.kind = \"input\", capture.name = \"x\"}");
    for at in 0..layers {
        text += &format!(", %w{at}: tensor<64x64xf32> {{capture.kind = \"input\", capture.name = \"w{at}\"}}");
    }
    text += ") -> (tensor<32x64xf32> {capture.kind = \"output\"}) attributes {capture.entry} {\n";
    for at in 0..layers {
        let scale = if edited == Some(at) { "0.75" } else { "0.125" };
        let line = |name: &str, rest: &str, types: &str| {
            format!("  %{name}{at} = aten.{rest} : {types} loc(\"{name}{at}\"(\"layers.{at}\"(unknown)))\n")
        };
        let (square, pair) = ("tensor<32x64xf32>", "(tensor<32x64xf32>, tensor<32x64xf32>) -> tensor<32x64xf32>");
        text += &line("m", &format!("mm %x{at}, %w{at}"), "(tensor<32x64xf32>, tensor<64x64xf32>) -> tensor<32x64xf32>");
        text += &line("t", &format!("permute %m{at} {{dims = array<i64: 1, 0>}}"), "(tensor<32x64xf32>) -> tensor<64x32xf32>");
        text += &line("s", &format!("mm %m{at}, %t{at}"), "(tensor<32x64xf32>, tensor<64x32xf32>) -> tensor<32x32xf32>");
        text += &line("c", &format!("mul.Scalar %s{at} {{other = {scale} : f64}}"), "tensor<32x32xf32>");
        text += &line("p", &format!("softmax.int %c{at} {{dim = -1 : i64}}"), "tensor<32x32xf32>");
        text += &line("a", &format!("mm %p{at}, %m{at}"), "(tensor<32x32xf32>, tensor<32x64xf32>) -> tensor<32x64xf32>");
        text += &line("g", &format!("gelu %a{at} {{approximate = \"none\"}}"), square);
        text += &format!(
            "  %x{} = aten.add.Tensor %g{at}, %x{at} {{alpha = 1 : i64}} : {pair} loc(\"x{at}\"(\"layers.{at}\"(unknown)))\n",
            at + 1
        );
    }
    text + &format!("  return %x{layers} : tensor<32x64xf32>\n}}\n")
}
