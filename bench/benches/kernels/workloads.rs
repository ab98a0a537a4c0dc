//! The programs: for each kind of kernel the size that a benchmark is named for, and sizes that divide by nothing.

/// A kind of kernel.
pub struct Family {
    pub name: &'static str,
    /// Sizes; the first is the named one.
    pub sizes: &'static [&'static [i64]],
    /// The program for these sizes.
    pub text: fn(&[i64]) -> String,
    /// The least that must be done.
    pub work: fn(&[i64]) -> Work,
}

/// Bytes to read and write, operations to do.
pub struct Work {
    pub bytes: f64,
    pub flops: f64,
}

pub const FAMILIES: &[Family] = &[
    Family { name: "matmul", sizes: &[&[1024, 1024, 1024], &[1021, 1031, 1033], &[37, 1500, 2048]], text: matmul, work: matmul_work },
    Family { name: "softmax", sizes: &[&[4096, 1024], &[4093, 1021], &[1361, 3083]], text: softmax, work: copy },
    Family { name: "layernorm", sizes: &[&[8192, 768], &[8191, 769], &[2099, 2999]], text: layernorm, work: copy },
    Family { name: "gelu", sizes: &[&[16_777_216], &[16_777_213], &[4093, 4099]], text: gelu, work: copy },
    Family { name: "rowsum", sizes: &[&[4096, 4096], &[4093, 4099], &[2039, 8209]], text: |sizes| sum(sizes, 1), work: read },
    Family { name: "colsum", sizes: &[&[4096, 4096], &[4093, 4099], &[8209, 2039]], text: |sizes| sum(sizes, 0), work: read },
    Family { name: "transpose_add", sizes: &[&[4096, 4096], &[4093, 4099], &[2039, 8209]], text: transpose_add, work: add },
    Family { name: "sdpa", sizes: &[&[8, 12, 128, 64], &[7, 11, 127, 61], &[2, 3, 509, 67]], text: sdpa, work: sdpa_work },
    Family { name: "sincos", sizes: &[&[10_000], &[10_007], &[101, 103]], text: sincos, work: copy },
];

fn points(sizes: &[i64]) -> f64 {
    sizes.iter().product::<i64>() as f64
}

/// `tensor<AxBxf32>`.
fn tensor(sizes: &[i64]) -> String {
    format!("tensor<{}xf32>", sizes.iter().map(i64::to_string).collect::<Vec<_>>().join("x"))
}

/// A program with these inputs, whose body ends in `%r`.
fn program(inputs: &[String], result: &str, body: &str) -> String {
    let input = |(at, ty): (usize, &String)| format!("%x{at}: {ty} {{capture.kind = \"input\", capture.name = \"x{at}\"}}");
    let inputs: Vec<_> = inputs.iter().enumerate().map(input).collect();
    let kind = "{capture.kind = \"output\"}";
    format!(
        "func.func @main({}) -> ({result} {kind}) attributes {{capture.entry}} {{\n{body}\nreturn %r : {result}\n}}\n",
        inputs.join(", ")
    )
}

fn matmul(sizes: &[i64]) -> String {
    let (a, b, c) = (tensor(&[sizes[0], sizes[1]]), tensor(&[sizes[1], sizes[2]]), tensor(&[sizes[0], sizes[2]]));
    program(&[a.clone(), b.clone()], &c, &format!("%r = aten.mm %x0, %x1 : ({a}, {b}) -> {c}"))
}

fn matmul_work(sizes: &[i64]) -> Work {
    let [m, k, n] = [sizes[0] as f64, sizes[1] as f64, sizes[2] as f64];
    Work { bytes: 4.0 * (m * k + k * n + m * n), flops: 2.0 * m * k * n }
}

fn softmax(sizes: &[i64]) -> String {
    let ty = tensor(sizes);
    program(std::slice::from_ref(&ty), &ty, &format!("%r = aten._softmax %x0 {{dim = 1 : i64, half_to_float = false}} : {ty}"))
}

fn layernorm(sizes: &[i64]) -> String {
    let (ty, row, rows) = (tensor(sizes), tensor(&sizes[1..]), tensor(&[sizes[0], 1]));
    let attrs = format!("{{normalized_shape = array<i64: {}>, eps = 1.0e-5 : f64, segments = array<i64: 1, 1, 1>}}", sizes[1]);
    let body = format!("%r, %m, %s = aten.native_layer_norm %x0, %x1, %x2 {attrs} : ({ty}, {row}, {row}) -> ({ty}, {rows}, {rows})");
    program(&[ty.clone(), row.clone(), row], &ty, &body)
}

fn gelu(sizes: &[i64]) -> String {
    let ty = tensor(sizes);
    program(std::slice::from_ref(&ty), &ty, &format!("%r = aten.gelu %x0 : {ty}"))
}

fn sum(sizes: &[i64], dim: usize) -> String {
    let (ty, result) = (tensor(sizes), tensor(&[sizes[1 - dim]]));
    program(std::slice::from_ref(&ty), &result, &format!("%r = aten.sum.dim_IntList %x0 {{dim = array<i64: {dim}>}} : ({ty}) -> {result}"))
}

fn transpose_add(sizes: &[i64]) -> String {
    let (ty, turned) = (tensor(sizes), tensor(&[sizes[1], sizes[0]]));
    let body = format!("%t = aten.t %x0 : ({ty}) -> {turned}\n%r = aten.add.Tensor %t, %x1 : {turned}");
    program(&[ty, turned.clone()], &turned, &body)
}

fn sdpa(sizes: &[i64]) -> String {
    let ty = tensor(sizes);
    let body =
        format!("%r = aten.scaled_dot_product_attention %x0, %x1, %x2 {{segments = array<i64: 1, 1, 1, 0>}} : ({ty}, {ty}, {ty}) -> {ty}");
    program(&[ty.clone(), ty.clone(), ty.clone()], &ty, &body)
}

fn sdpa_work(sizes: &[i64]) -> Work {
    let [batch, heads, length, depth] = [sizes[0] as f64, sizes[1] as f64, sizes[2] as f64, sizes[3] as f64];
    Work { bytes: 16.0 * points(sizes), flops: 4.0 * batch * heads * length * length * depth }
}

fn sincos(sizes: &[i64]) -> String {
    let ty = tensor(sizes);
    program(
        std::slice::from_ref(&ty),
        &ty,
        &format!("%s = aten.sin %x0 : {ty}\n%c = aten.cos %x0 : {ty}\n%r = aten.add.Tensor %s, %c : {ty}"),
    )
}

/// One tensor read, one written.
fn copy(sizes: &[i64]) -> Work {
    Work { bytes: 8.0 * points(sizes), flops: 0.0 }
}

/// One tensor read.
fn read(sizes: &[i64]) -> Work {
    Work { bytes: 4.0 * points(sizes), flops: 0.0 }
}

/// Two tensors read, one written.
fn add(sizes: &[i64]) -> Work {
    Work { bytes: 12.0 * points(sizes), flops: 0.0 }
}
