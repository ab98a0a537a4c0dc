//! Archives of TorchScript, written here as text: what they become, what is refused and where, and that no archive is too hostile.

use std::io::Write;

use strata_driver::{Options, compile, lower, standard};
use strata_runtime::compare::{Tolerance, compare};
use strata_runtime::{DType, Session, Tensor, TensorFile};
use tempfile::NamedTempFile;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

/// An object of `__torch__.M` without attributes.
const OBJECT: &[u8] = b"\x80\x02c__torch__\nM\n)\x81}b.";

/// An archive of these entries.
fn archive(entries: &[(&str, &[u8])]) -> NamedTempFile {
    let file = tempfile::Builder::new().suffix(".pt").tempfile().expect("a file");
    let mut zip = ZipWriter::new(file.reopen().expect("the file"));
    for (name, bytes) in entries {
        let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
        zip.start_file(format!("m/{name}"), stored).expect("an entry");
        zip.write_all(bytes).expect("bytes");
    }
    zip.finish().expect("an archive");
    file
}

/// A call of a compiled method `forward` with this body, on the numbers of a vector.
fn called(body: &str) -> impl Fn(&[f32]) -> Result<Vec<f32>, String> + use<> {
    let lines: Vec<_> = body.lines().map(|line| format!("    {line}\n")).collect();
    let text = format!("class M(Module):\n  def forward(self: __torch__.M,\n    x: Tensor) -> Tensor:\n{}", lines.concat());
    let file = archive(&[("version", b"3\n"), ("data.pkl", OBJECT), ("code/__torch__.py", text.as_bytes())]);
    let options = Options { signature: Some("f32[2]".to_owned()), ..Options::default() };
    let artefact = compile(standard(), file.path(), &options, None).unwrap_or_else(|error| panic!("{body}: {error}"));
    let session = Session::load(&artefact, None).expect("a session");
    move |x| {
        let results = session.run(&[Tensor::from_slice(DType::F32, &[2], x).expect("a vector")]).map_err(|error| error.to_string())?;
        Ok(results[0].values::<f32>().expect("f32").to_vec())
    }
}

/// The text of a program at the level `capture`, or what is said of it.
fn captured(entries: &[(&str, &[u8])], signature: &str) -> Result<String, String> {
    let options = Options { signature: (!signature.is_empty()).then(|| signature.to_owned()), ..Options::default() };
    lower(standard(), archive(entries).path(), "capture", &options).map_err(|error| error.to_string())
}

/// The same of a method `forward` with this body.
fn forward(body: &str, signature: &str) -> Result<String, String> {
    let lines: Vec<_> = body.lines().map(|line| format!("    {line}\n")).collect();
    let text = format!("class M(Module):\n  def forward(self: __torch__.M,\n    x: Tensor,\n    n: int=3) -> Tensor:\n{}", lines.concat());
    captured(&[("version", b"3\n"), ("data.pkl", OBJECT), ("code/__torch__.py", text.as_bytes())], signature)
}

/// The program of a body that is imported.
fn program(body: &str, signature: &str) -> String {
    forward(body, signature).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn what_is_known_leaves_no_trace() {
    let body = "y = x\nfor i in range(n):\n  if torch.gt(i, 0):\n    y0 = torch.mul(y, 2)\n  else:\n    y0 = y\n  y = y0\nreturn y";
    let text = program(body, "f32[2x3]");
    assert_eq!(text.matches("aten.mul").count(), 2, "{text}");
    assert!(!text.contains("scf."), "{text}");
}

#[test]
fn an_attribute_that_a_call_leaves_may_not_matter_to_the_next_one() {
    const STATE: &[u8] = b"\x80\x02c__torch__\nM\n)\x81}X\x04\x00\x00\x00told\x89sb.";
    let text = |body: &str| format!("class M(Module):\n  told : bool\n  def forward(self: __torch__.M,\n    x: Tensor) -> Tensor:\n{body}");
    let call = |body: &str| captured(&[("version", b"3\n"), ("data.pkl", STATE), ("code/__torch__.py", text(body).as_bytes())], "f32[3]");
    let warned = "    if self.told:\n      pass\n    else:\n      self.told = True\n    return torch.mul(x, 2)\n";
    assert!(call(warned).unwrap().contains("aten.mul"));
    // Otherwise it is kept as a buffer.
    let kept = |body: &str| {
        let text = call(body).unwrap();
        assert!(text.contains("tensor<i1> {capture.kind = \"buffer\", capture.name = \"told\"}") && text.contains("aten.copy_"), "{text}");
    };
    kept("    if self.told:\n      y = torch.mul(x, 2)\n    else:\n      y = x\n    self.told = True\n    return y\n");
    kept("    self.told = torch.__not__(self.told)\n    return x\n");
    let perhaps = "    if bool(torch.gt(torch.sum(x), 0)):\n      self.told = True\n    else:\n      pass\n";
    kept(&format!("{perhaps}    return torch.mul(x, int(self.told))\n"));
    let error = call("    if self.told:\n      self.told = None\n    else:\n      self.told = [x]\n    return x\n").unwrap_err();
    assert!(error.contains("the call changes the attribute `told`"), "{error}");
}

#[test]
fn what_the_first_call_sets_may_be_lists_and_objects() {
    const STATE: &[u8] = b"\x80\x02c__torch__\nM\n)\x81}X\x04\x00\x00\x00keptNsb.";
    const PART: &str = "class Part:\n  n : int\n  def __init__(self: __torch__.Part) -> NoneType:\n    self.n = 2\n    return None\n";
    let call = |set: &str, then: &str| {
        let set = format!("    if torch.__is__(self.kept, None):\n{set}    else:\n      pass\n");
        let module = format!("class M(Module):\n  kept : Any\n  def forward(self: __torch__.M,\n    x: Tensor) -> Tensor:\n{set}{then}");
        let text = PART.to_owned() + &module;
        captured(&[("version", b"3\n"), ("data.pkl", STATE), ("code/__torch__.py", text.as_bytes())], "f32[3]")
    };
    let list = "      self.kept = [[0.5], [3.0]]\n";
    let read = "    return torch.mul(x, self.kept[1][0])\n";
    assert!(call(list, read).unwrap().contains("other = 3.0"));
    // A list that grows from call to call, one in a list, and an attribute of an object.
    let error = call(list, &format!("    _0 = torch.append(self.kept, [1.0])\n{read}")).unwrap_err();
    assert!(error.contains("the call changes the attribute `kept.3`"), "{error}");
    assert!(call(list, &format!("    _0 = torch.append(self.kept[0], 1.0)\n{read}")).unwrap_err().contains("`kept.0.2`"));
    let object = "      part = __torch__.Part.__new__(__torch__.Part)\n      _0 = (part).__init__()\n      self.kept = part\n";
    let read = "    return torch.mul(x, self.kept.n)\n";
    assert!(call(object, read).unwrap().contains("other = 2"));
    let counts = "    part = self.kept\n    y = torch.mul(x, 2)\n    part.n = torch.add(part.n, 1)\n    return y\n";
    assert!(call(object, counts).unwrap_err().contains("`kept.n`"));
    let tensor = "      self.kept = [torch.mul(x, 2)]\n";
    assert!(call(tensor, "    return torch.mul(x, self.kept[0])\n").unwrap_err().contains("`kept`"));
}

#[test]
fn two_names_that_may_be_of_one_tensor_are_read_before_it_is_written_to() {
    let refused = |body: &str| {
        let error = forward(&format!("a = torch.mul(x, 2)\nb = torch.add(x, 1)\n{body}"), "f32[3x3]").unwrap_err();
        assert!(error.contains("may have changed") || error.contains("may be another one"), "{error}");
    };
    let condition = "if bool(torch.gt(torch.sum(x), 0)):\n  c = torch.relu(x)\n  a0, b0 = c, c\nelse:\n";
    let write = "_1 = torch.add_(a0, 1)\nreturn b0";
    let steps = "for i in range(int(torch.sum(x))):\n";
    refused(&format!("{steps}  _0 = torch.add_(a, 1)\n  c = torch.mul(b, 2)\n  b = torch.t(a)\nreturn c"));
    // What differs between ways has the rest of the program run on each of them; of a loop that cannot be carried these are its first steps.
    let both = |body: &str| {
        let text = program(&format!("a = torch.mul(x, 2)\nb = torch.add(x, 1)\n{body}"), "f32[3x3]");
        assert!(text.contains("scf.if"), "{text}");
    };
    both(&format!("{condition}  a0, b0 = a, b\n{write}"));
    both(&format!("{steps}  _0 = torch.add_(a, 1)\n  b = torch.t(a)\n_1 = torch.add_(a, 1)\nreturn b"));
    both(&format!("{steps}  a = torch.mul(a, 2)\n  b = a\n_1 = torch.add_(a, 1)\nreturn b"));
    both(&format!("{steps}  _0 = torch.add_(a, 1)\n  c = torch.mul(b, 2)\n  b = c\n  a = c\nreturn b"));
    // That a step would raise says nothing of calls that do not take it.
    both(&format!("y = [x, b]\n{steps}  a = torch.add(a, torch.pop(y))\nreturn a"));
    // So has a write to one of two views, or to what may be an input, which the call changes then.
    both(
        "y = torch.clone(x)\nif bool(torch.gt(torch.sum(x), 1)):\n  z = torch.select(y, 0, 0)\nelse:\n  z = torch.select(y, 0, 1)\n_0 = torch.add_(z, 1)\nreturn y",
    );
    let perhaps = "z = x\nif bool(torch.gt(torch.sum(x), 1)):\n  z = torch.mul(x, 2)\nelse:\n  pass\n_0 = torch.add_(z, 1)\nreturn z";
    both(perhaps);
    assert!(program(perhaps, "f32[2]").contains("aten.copy_"), "the input is changed where it is z");
    // Two names of one tensor in both branches are that behind them.
    let text = program(&format!("a = torch.mul(x, 2)\n{condition}  a0, b0 = a, a\n{write}"), "f32[3x3]");
    assert!(text.contains("-> (tensor<3x3xf32>) {"), "{text}");
}

#[test]
fn conditions_of_a_call_are_branches() {
    let body =
        "if bool(torch.gt(torch.sum(x), 0)):\n  y = torch.add(x, 1)\n  k = 1\nelse:\n  y = torch.relu(x)\n  k = 2\nreturn torch.mul(y, k)";
    let text = program(body, "f32[2x3]");
    assert!(text.contains("scf.if") && text.contains("-> (index, tensor<2x3xf32>)"), "{text}");
}

#[test]
fn branches_of_other_sizes_join_in_a_symbolic_one() {
    let body = "if bool(torch.gt(torch.sum(x), 0)):\n  y = torch.slice(x, 0, 0, 1)\nelse:\n  y = x\nreturn y";
    assert!(
        program(body, "f32[2x3]").contains("scf.if %1 -> (tensor<?x3xf32>)") || program(body, "f32[2x3]").contains("-> (tensor<?x3xf32>)")
    );
}

#[test]
fn a_branch_that_raises_is_a_guard() {
    let body =
        "if bool(torch.gt(torch.sum(x), 9)):\n  ops.prim.RaiseException(\"too large\", \"builtins.ValueError\")\nelse:\n  pass\nreturn x";
    let text = program(body, "f32[2x3]");
    assert!(text.contains("capture.guard") && text.contains("too large") && !text.contains("scf.if"), "{text}");
}

#[test]
fn loops_that_a_call_decides_are_loops() {
    let counted = "y = x\nfor i in range(int(torch.sum(x))):\n  y = torch.mul(y, 2)\nreturn y";
    assert!(program(counted, "i64[3]").contains("scf.for"));
    let until =
        "y = x\n_0 = bool(torch.gt(torch.sum(x), 1))\nwhile _0:\n  y = torch.div(y, 2)\n  _0 = bool(torch.gt(torch.sum(y), 1))\nreturn y";
    assert!(program(until, "f32[3]").contains("scf.while"));
}

/// A loop takes as many steps as the call says, on lists and dicts that each step changes: a call fails where one of its steps raises, and a
/// call with a step less does not.
#[test]
fn a_loop_raises_in_the_step_that_raises() {
    let cases = [
        ("y = [x]", "_0 = torch.pop(y)", "x", 1, "pop from empty list"),
        ("y = annotate(List[Tensor], [])", "_0 = torch.pop(y)", "x", 0, "pop from empty list"),
        ("y = [x, x, x]", "x = torch.add(x, torch.pop(y, 0))", "x", 3, "pop from empty list"),
        ("y = [1, 2]", "x = torch.add(x, y[0])\n  _0 = torch.Delete(y, 0)", "x", 2, "list index out of range"),
        ("y = [x]", "x = torch.add(x, y[0])\n  torch.clear(y)", "x", 1, "list index out of range"),
        ("y = [1, 1, 2]", "torch.remove(y, 1)", "x", 2, "x not in list"),
        ("y = {0: x}", "x = torch.add(x, torch.pop(y, 0))", "x", 1, "KeyError"),
        ("y = {0: 1, 1: 2}", "x = torch.add(x, y[i])\n  torch.Delete(y, i)", "x", 2, "KeyError"),
        ("y = [5, 6]", "x = torch.add(x, y[i])", "x", 2, "list index out of range"),
        ("y = [0]", "ops.prim.RaiseException(\"no step\", \"builtins.ValueError\")", "x", 0, "no step"),
    ];
    for (before, step, result, steps, said) in cases {
        let count = "int(torch.select(x, 0, 1))";
        let programs = [
            format!("{before}\nfor i in range({count}):\n  {step}\nreturn {result}"),
            // In a region that only a call decides about.
            format!(
                "{before}\nif bool(torch.gt(torch.select(x, 0, 0), 0)):\n  for i in range({count}):\n    {}\n  y0 = {result}\nelse:\n  y0 = {result}\nreturn y0",
                step.replace("\n  ", "\n    ")
            ),
            // Until a number is small enough.
            format!(
                "{before}\nn = torch.select(x, 0, 1)\ni = 0\n_9 = bool(torch.gt(n, 0))\nwhile _9:\n  {step}\n  i = torch.add(i, 1)\n  n = torch.sub(n, 1)\n  _9 = bool(torch.gt(n, 0))\nreturn {result}"
            ),
        ];
        for program in programs {
            let call = called(&program);
            for count in 0..steps + 3 {
                match call(&[1.0, count as f32]) {
                    Ok(_) => assert!(count <= steps, "{count} steps of\n{program}"),
                    Err(error) => assert!(count > steps && error.contains(said), "{count} steps of\n{program}\n{error}"),
                }
            }
        }
    }
}

/// Items of a list that a loop appends to are there as the call says.
#[test]
fn a_list_that_grew_is_read_where_it_has_items() {
    let grown = "y = [x]\nfor i in range(int(torch.select(x, 0, 1))):\n  _0 = torch.append(y, torch.mul(x, i))\n";
    let call = called(&format!("{grown}return y[2]"));
    assert_eq!(call(&[3.0, 2.0]), Ok(vec![3.0, 2.0]));
    assert!(call(&[3.0, 1.0]).unwrap_err().contains("list index out of range"));
    let call = called(&format!("{grown}return y[-2]"));
    assert_eq!(call(&[3.0, 1.0]), Ok(vec![3.0, 1.0]));
    assert!(call(&[3.0, 0.0]).unwrap_err().contains("list index out of range"));
    let empty = grown.replace("[x]", "annotate(List[Tensor], [])");
    let call = called(&format!("{empty}return torch.sum(torch.stack(y), [0])"));
    assert_eq!(call(&[3.0, 2.0]), Ok(vec![3.0, 2.0]));
    assert!(call(&[3.0, 0.0]).unwrap_err().contains("non-empty"));
}

#[test]
fn what_is_written_through_a_view_is_not_known() {
    let body = "y = torch.zeros([3])\n_0 = torch.copy_(torch.select(y, 0, 0), torch.select(x, 0, 0))\nif bool(torch.gt(torch.sum(y), 1)):\n  z = x\nelse:\n  z = y\nreturn z";
    assert!(program(body, "f32[3]").contains("scf.if"));
}

#[test]
fn branches_give_back_what_they_write() {
    let body = "y = torch.clone(x)\nl = [x]\nif bool(torch.gt(torch.sum(x), 1)):\n  _0 = torch.add_(y, 1)\n  _1 = torch.append(l, y)\nelse:\n  _2 = torch.append(l, x)\nreturn torch.cat(l)";
    assert!(program(body, "f32[3]").contains("aten.copy_"));
}

#[test]
fn symbolic_sizes_stay_symbols() {
    let text = program("return torch.reshape(x, [torch.mul(torch.size(x, 0), 2), -1])", "f32[?x4]");
    assert!(text.contains("arith.muli") && text.contains("capture.dim"), "{text}");
}

#[test]
fn numbers_of_a_call_are_guarded() {
    let text = program("return torch.mul(x, n)", "f32[2],int=7");
    assert!(text.contains("other = 7") && text.contains("in_1 == 7"), "{text}");
}

/// What Python saved runs here without it: a traced module that calls a scripted function, and a scripted module that calls a traced one;
/// both have a branch on values, one of them a loop.
#[test]
fn archives_run_without_python() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../test/conformance/torchscript");
    for (name, calls) in [("traced_calls_scripted", &["traced_calls_scripted.s0", "traced_calls_scripted.s1"][..]), ("mixed", &["mixed"])] {
        let options = Options { signature: Some("f32[3x4]".to_owned()), ..Options::default() };
        let artefact = compile(standard(), &folder.join(format!("{name}.pt")), &options, None).unwrap_or_else(|error| panic!("{error}"));
        let session = Session::load(&artefact, None).expect("a session");
        for call in calls {
            let file = TensorFile::read(&folder.join(format!("{call}.safetensors"))).expect("inputs and outputs");
            let found = session.run(&[file.tensors["in_0"].clone()]).expect("results");
            let wanted = &file.tensors["out_0"];
            let difference = compare(&found[0], wanted, Tolerance { rtol: 1.3e-6, atol: 1e-5 }).expect("tensors of one type");
            assert_eq!(difference.wrong, 0, "{call}: {:?}", difference.describe(wanted));
        }
    }
}

/// Programs that are refused, and what is said of them: the entry, the line, the reason.
#[test]
fn what_cannot_be_is_refused_by_name() {
    let cases = [
        ("return torch.tolist(x)", "f32[?]", "a list whose length only a call knows is no output"),
        ("return torch.tolist(x)", "f32[?x2]", "code/__torch__.py:5: `tolist`"),
        ("return torch.no_such_operator(x)", "f32[2]", "code/__torch__.py:5: `aten.no_such_operator`"),
        (
            "k = int(torch.sum(x))\ns = torch.format(\"{}\", k)\nif torch.eq(s, \"2\"):\n  y = x\nelse:\n  y = x\nreturn y",
            "i64[2]",
            "a text of values",
        ),
        ("return __torch__.missing(x, )", "f32[2]", "the archive has no function `__torch__.missing`"),
        ("return (self).forward(x, n, )", "f32[2]", "functions call each other"),
        ("y = x\n_0 = True\nwhile _0:\n  pass\nreturn y", "f32[2]", "steps or"),
        ("ops.prim.RaiseException(\"never\")\nreturn x", "f32[2]", "every call of this signature raises: never"),
        ("return torch.matmul(x, x)", "f32[2x3]", "`aten.matmul`"),
        ("return torch.reshape(x, [1000000000, 1000000000, 1000000000])", "f32[2]", "`aten.reshape`"),
        ("return x", "", "--signature="),
        ("return x", "f32[2],f32[2],f32[2]", "inputs more than `forward` has parameters for"),
        ("return x", "f99[2]", "`f99[2]` is none of"),
        ("return x +", "f32[2]", "archive entry `code/__torch__.py`, line 5"),
    ];
    for (body, signature, said) in cases {
        let error = forward(body, signature).expect_err(body);
        assert!(error.contains(said), "{body}: {error}");
    }
}

#[test]
fn damaged_archives_are_refused() {
    let text: &[u8] = b"class M(Module):\n  def forward(self, x: Tensor) -> Tensor:\n    return x\n";
    let with =
        |pickle: &[u8], version: &[u8]| captured(&[("version", version), ("data.pkl", pickle), ("code/__torch__.py", text)], "f32[2]");
    assert!(with(OBJECT, b"3").is_ok());
    for (pickle, version, said) in [
        (&OBJECT[..9], &b"3"[..], "`data.pkl`: byte"),
        (b"\x80\x02}.", b"3", "holds no module"),
        (b"\x80\x02c__torch__\nOther\n)\x81}b.", b"3", "not a class of the archive"),
        (OBJECT, b"99", "versions 1 to 10 are read"),
        (b"\x80\x02]q\x00h\x00a.", b"3", "nested"),
    ] {
        let error = with(pickle, version).expect_err(said);
        assert!(error.contains(said), "{error}");
    }
}

/// Numbers that look random, the same at each run.
fn random(state: &mut u64) -> usize {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*state >> 33) as usize
}

#[test]
fn no_edit_of_an_archive_panics() {
    let text: &[u8] = b"class M(Module):\n  w : Tensor\n  def forward(self: __torch__.M,\n    x: Tensor) -> Tensor:\n    y = annotate(List[Tensor], [])\n    for i in range(torch.size(x, 0)):\n      _0 = torch.append(y, torch.mul(x[i], (torch.len(y))))\n    if bool(torch.gt(torch.sum(x), 0.5)):\n      z = torch.stack(y, 0)\n    else:\n      z = torch.cat([x, x], -1)\n    return torch.reshape(z, [-1, torch.floordiv(4, 2)])\n";
    let mut state = 1;
    for _ in 0..400 {
        let (mut text, mut pickle) = (text.to_vec(), OBJECT.to_vec());
        let target = if random(&mut state).is_multiple_of(4) { &mut pickle } else { &mut text };
        for _ in 0..1 + random(&mut state) % 3 {
            let at = random(&mut state) % target.len().max(1);
            match random(&mut state) % 4 {
                0 => drop(target.get_mut(at).map(|byte| *byte = (random(&mut state) % 256) as u8)),
                1 => target.truncate(at),
                2 => {
                    let piece = target[at..(at + random(&mut state) % 12).min(target.len())].to_vec();
                    let to = random(&mut state) % target.len().max(1);
                    target.splice(to..to, piece);
                }
                _ => drop(target.get_mut(at).map(|byte| *byte = b"0192-.([{]})_:="[random(&mut state) % 15])),
            }
            if target.is_empty() {
                break;
            }
        }
        // Whether it is refused does not matter here.
        let _ = captured(&[("version", b"3\n"), ("data.pkl", &pickle), ("code/__torch__.py", &text)], "f32[2x4]");
    }
}
