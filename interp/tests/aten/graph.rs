//! The exported graph, walked node by node with tensors that may share storage.

use std::collections::{BTreeMap, HashMap};
use std::io::Read;
use std::path::Path;

use serde_json::Value as Json;
use strata_dialects::aten::{Operator, op};
use strata_dialects::capture::Storage;
use strata_interp::alias::{Heap, Ref, functional, is_view, reshapes};
use strata_interp::aten::{self, join};
use strata_interp::{Args, InterpError, Scalar, Tensor, Value};

use super::io::Set;
use super::schema::Schemas;
use super::{Problem, dtype, strided, wrong};

/// A program with its weights.
pub struct Program {
    model: Json,
    weights: HashMap<String, Tensor>,
}

/// What a call gives.
pub struct Result_ {
    /// User outputs in order.
    pub outputs: Vec<Value>,
    /// New values of buffers by name.
    pub mutations: BTreeMap<String, Value>,
}

impl Program {
    /// Opens an archive.
    pub fn open(path: &Path) -> Result<Program, Problem> {
        // Nothing stands before the archive; looking for something, the library takes some archives for damaged ones.
        let config = zip::read::Config { archive_offset: zip::read::ArchiveOffset::Known(0) };
        let mut zip = zip::ZipArchive::with_config(config, std::fs::File::open(path).map_err(wrong)?).map_err(wrong)?;
        let mut files: HashMap<String, Vec<u8>> = HashMap::new();
        for k in 0..zip.len() {
            let mut entry = zip.by_index(k).map_err(wrong)?;
            let name = entry.name().map_err(wrong)?.split_once('/').map_or(String::new(), |(_, rest)| rest.to_string());
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).map_err(wrong)?;
            files.insert(name, bytes);
        }
        let json =
            |name: &str| -> Result<Json, Problem> { files.get(name).map_or(Ok(Json::Null), |b| serde_json::from_slice(b).map_err(wrong)) };
        let model = json("models/model.json")?;
        let mut weights = HashMap::new();
        for (folder, config) in [("data/weights", "model_weights_config.json"), ("data/constants", "model_constants_config.json")] {
            for (name, w) in json(&format!("{folder}/{config}"))?["config"].as_object().into_iter().flatten() {
                let meta = &w["tensor_meta"];
                let sizes = |key: &str| -> Vec<usize> {
                    meta[key].as_array().into_iter().flatten().filter_map(|s| Some(s["as_int"].as_u64()? as usize)).collect()
                };
                let Some(bytes) = w["path_name"].as_str().and_then(|p| files.get(&format!("{folder}/{p}"))) else { continue };
                let offset = meta["storage_offset"]["as_int"].as_u64().unwrap_or(0) as usize;
                weights.insert(
                    name.clone(),
                    strided(dtype(meta["dtype"].as_u64().unwrap_or(0))?, &sizes("sizes"), &sizes("strides"), offset, bytes)?,
                );
            }
        }
        Ok(Program { model, weights })
    }

    /// Runs the program on an input set.
    pub fn run(&self, schemas: &Schemas, set: &Set) -> Result<Result_, Problem> {
        let module = &self.model["graph_module"];
        let mut walk = Walk { schemas, heap: Heap::default() };
        let mut env = Env::new();
        let mut inputs = (0..set.inputs()).map(|k| set.value(&format!("in_{k}")));
        let mut buffers = BTreeMap::new();
        for spec in module["signature"]["input_specs"].as_array().into_iter().flatten() {
            let (kind, spec) = spec.as_object().and_then(|o| o.iter().next()).ok_or_else(|| wrong("an input spec"))?;
            let arg = &spec["arg"];
            let (name, value) = match kind.as_str() {
                "user_input" => {
                    let Some(name) =
                        arg.as_object().and_then(|o| o.values().next()).and_then(|v| v["name"].as_str().or(v["as_name"].as_str()))
                    else {
                        inputs.next();
                        continue;
                    };
                    (name, inputs.next().ok_or_else(|| wrong("too few inputs"))??)
                }
                _ => {
                    let fqn = ["parameter_name", "buffer_name", "tensor_constant_name"]
                        .iter()
                        .find_map(|k| spec[*k].as_str())
                        .ok_or_else(|| wrong(format!("an input of kind {kind}")))?;
                    let t = self.weights.get(fqn).ok_or_else(|| wrong(format!("no weight `{fqn}`")))?;
                    let name = arg["name"].as_str().unwrap_or_default();
                    if kind == "buffer" {
                        buffers.insert(fqn.to_string(), name.to_string());
                    }
                    (name, Value::Tensor(t.clone()))
                }
            };
            let slot = walk.bind(value)?;
            env.insert(name.to_string(), slot);
        }
        let results = walk.graph(&module["graph"], &mut env)?;
        let mut out = Result_ { outputs: Vec::new(), mutations: BTreeMap::new() };
        for (fqn, name) in buffers {
            out.mutations.insert(fqn, walk.read(&env[&name])?);
        }
        let specs = module["signature"]["output_specs"].as_array().cloned().unwrap_or_default();
        for (value, spec) in results.into_iter().zip(specs) {
            let value = walk.read(&value)?;
            match spec["buffer_mutation"]["buffer_name"].as_str() {
                Some(fqn) => {
                    out.mutations.insert(fqn.to_string(), value);
                }
                None => out.outputs.push(value),
            }
        }
        Ok(out)
    }
}

/// A bound value: tensors live on the heap.
#[derive(Clone)]
enum Slot {
    Tensor(Ref),
    Tensors(Vec<Option<Ref>>),
    Other(Value),
}

type Env = HashMap<String, Slot>;

struct Walk<'a> {
    schemas: &'a Schemas,
    heap: Heap,
}

impl Walk<'_> {
    fn bind(&mut self, value: Value) -> Result<Slot, Problem> {
        Ok(match value {
            Value::Tensor(t) => Slot::Tensor(self.heap.store(&t, &Storage::RowMajor)?),
            Value::Tensors(ts) => Slot::Tensors(
                ts.iter().map(|t| t.as_ref().map(|t| self.heap.store(t, &Storage::RowMajor)).transpose()).collect::<Result<_, _>>()?,
            ),
            other => Slot::Other(other),
        })
    }

    fn read(&self, slot: &Slot) -> Result<Value, Problem> {
        Ok(match slot {
            Slot::Tensor(r) => Value::Tensor(self.heap.load(r)?),
            Slot::Tensors(rs) => {
                Value::Tensors(rs.iter().map(|r| r.as_ref().map(|r| self.heap.load(r)).transpose()).collect::<Result<_, _>>()?)
            }
            Slot::Other(v) => v.clone(),
        })
    }

    fn graph(&mut self, graph: &Json, env: &mut Env) -> Result<Vec<Slot>, Problem> {
        for node in graph["nodes"].as_array().into_iter().flatten() {
            let target = node["target"].as_str().unwrap_or_default();
            let results = self.node(target, node, env).map_err(|e| match e {
                Problem::Interp(e) => Problem::Interp(e.at(target, node["name"].as_str().unwrap_or_default())),
                Problem::Wrong(e) => Problem::Wrong(format!("{target}: {e}")),
            })?;
            bind_outputs(node, results, env)?;
        }
        graph["outputs"].as_array().into_iter().flatten().map(|o| self.slot(o, env)).collect()
    }

    /// The slot an argument names, or its constant.
    fn slot(&mut self, arg: &Json, env: &Env) -> Result<Slot, Problem> {
        let (kind, v) = arg.as_object().and_then(|o| o.iter().next()).ok_or_else(|| wrong("an argument"))?;
        let named = |v: &Json| -> Result<Slot, Problem> {
            let name = v["name"].as_str().or(v["as_name"].as_str()).unwrap_or_default();
            env.get(name).cloned().ok_or_else(|| wrong(format!("`{name}` is not defined")))
        };
        let scalars = |v: &Json| -> Result<Slot, Problem> {
            Ok(Slot::Other(Value::Scalars(v.as_array().into_iter().flatten().map(number).collect::<Result<_, _>>()?)))
        };
        match kind.as_str() {
            "as_tensor" => named(v),
            "as_tensors" => v
                .as_array()
                .into_iter()
                .flatten()
                .map(|t| match named(t)? {
                    Slot::Tensor(r) => Ok(Some(r)),
                    _ => Err(wrong("a list of tensors")),
                })
                .collect::<Result<_, _>>()
                .map(Slot::Tensors),
            "as_optional_tensors" => v
                .as_array()
                .into_iter()
                .flatten()
                .map(|t| match t.get("as_tensor") {
                    Some(t) => match named(t)? {
                        Slot::Tensor(r) => Ok(Some(r)),
                        _ => Err(wrong("a list of tensors")),
                    },
                    None => Ok(None),
                })
                .collect::<Result<_, _>>()
                .map(Slot::Tensors),
            "as_sym_int" | "as_sym_float" | "as_sym_bool" => match v.get("as_name") {
                Some(_) => named(v),
                None => Ok(Slot::Other(Value::Scalar(number(v.as_object().and_then(|o| o.values().next()).unwrap_or(v))?))),
            },
            "as_sym_ints" => {
                let mut out = Vec::new();
                for s in v.as_array().into_iter().flatten() {
                    let slot = if s.get("as_name").is_some() { named(s)? } else { Slot::Other(Value::Scalar(number(&s["as_int"])?)) };
                    match self.read(&slot)? {
                        Value::Scalar(s) => out.push(s),
                        Value::Tensor(t) => out.push(t.item()?),
                        other => return Err(wrong(format!("{} as a size", other.kind()))),
                    }
                }
                Ok(Slot::Other(Value::Scalars(out)))
            }
            "as_int" | "as_float" | "as_bool" => Ok(Slot::Other(Value::Scalar(number(v)?))),
            "as_ints" | "as_floats" | "as_bools" => scalars(v),
            "as_complex" => Ok(Slot::Other(Value::Scalar(Scalar::Complex(num_complex::Complex64::new(
                v["real"].as_f64().unwrap_or(0.0),
                v["imag"].as_f64().unwrap_or(0.0),
            ))))),
            "as_string" => Ok(Slot::Other(Value::Str(v.as_str().unwrap_or_default().to_string()))),
            "as_scalar_type" => Ok(Slot::Other(Value::DType(dtype(v.as_u64().unwrap_or(0))?))),
            "as_none" | "as_device" | "as_layout" | "as_memory_format" => Ok(Slot::Other(Value::None)),
            other => Err(wrong(format!("an argument of kind {other}"))),
        }
    }

    fn node(&mut self, target: &str, node: &Json, env: &mut Env) -> Result<Vec<Slot>, Problem> {
        let inputs = node["inputs"].as_array().cloned().unwrap_or_default();
        if let Some(hop) = target.strip_prefix("torch.ops.higher_order.") {
            return self.higher_order(hop, &inputs, env);
        }
        if let Some(op) = target.strip_prefix("_operator.") {
            let v: Vec<Scalar> = inputs
                .iter()
                .map(|i| self.slot(&i["arg"], env).and_then(|s| self.read(&s)))
                .map(|v| v.and_then(|v| if let Value::Scalar(s) = v { Ok(s) } else { Err(wrong("a size")) }))
                .collect::<Result<_, _>>()?;
            return Ok(vec![Slot::Other(Value::Scalar(python(op, &v).ok_or_else(|| wrong(format!("operator {op}")))?))]);
        }
        let full = target.strip_prefix("torch.ops.").unwrap_or(target);
        let short = full.strip_suffix(".default").unwrap_or(full);
        let operator = Operator::named(short).ok_or_else(|| wrong(format!("operator {short}")))?;
        let computing = functional(operator);
        let called = computing.unwrap_or(operator);
        let mut args = Args::new();
        for (n, v) in self.schemas.defaults(short) {
            args.set(n, v.clone());
        }
        let mut first: Option<(String, Ref, String)> = None;
        for i in &inputs {
            let slot = self.slot(&i["arg"], env)?;
            let arg = i["name"].as_str().unwrap_or_default();
            if let (Slot::Tensor(r), None) = (&slot, &first) {
                first = Some((arg.to_string(), r.clone(), i["arg"]["as_tensor"]["name"].as_str().unwrap_or_default().to_string()));
            }
            args.set(arg, self.read(&slot)?);
        }
        if let (Some(_), Some((_, r, variable))) = (computing, &first) {
            if reshapes(operator) {
                let positions = r.positions().clone();
                let seen = tensor(aten::call(called, &args.with("self", positions))?)?;
                let slot = Slot::Tensor(r.view(seen));
                env.insert(variable.clone(), slot.clone());
                return Ok(vec![slot]);
            }
            if matches!(operator, op::RESIZE_ | op::RESIZE_AS_) {
                let slot = self.bind(Value::Tensor(tensor(aten::call(called, &args)?)?))?;
                env.insert(variable.clone(), slot.clone());
                return Ok(vec![slot]);
            }
            let value = tensor(aten::call(called, &args)?)?;
            self.heap.write(r, &value)?;
            return Ok(vec![Slot::Tensor(r.clone())]);
        }
        if let (true, Some((arg, r, _))) = (first.as_ref().is_some_and(|(_, r, _)| is_view(called, r.dtype())), &first) {
            let positions = r.positions().clone();
            let seen = aten::call(called, &args.with(arg, positions))?;
            return Ok(seen.into_iter().map(|v| self.view(r, v)).collect());
        }
        self.update_statistics(called, &args, &inputs, env)?;
        aten::call(called, &args)?.into_iter().map(|v| self.bind(v)).collect()
    }

    fn view(&self, r: &Ref, seen: Value) -> Slot {
        match seen {
            Value::Tensor(p) => Slot::Tensor(r.view(p)),
            Value::Tensors(ps) => Slot::Tensors(ps.into_iter().flatten().map(|p| Some(r.view(p))).collect()),
            other => Slot::Other(other),
        }
    }

    /// Batch norm in training also writes its running statistics, whatever its schema says.
    fn update_statistics(&mut self, operator: Operator, args: &Args, inputs: &[Json], env: &Env) -> Result<(), Problem> {
        let writes = [op::BATCH_NORM, op::NATIVE_BATCH_NORM, op::_NATIVE_BATCH_NORM_LEGIT, op::_BATCH_NORM_WITH_UPDATE].contains(&operator);
        let training = operator == op::_BATCH_NORM_WITH_UPDATE || (writes && args.flag("training")?);
        if !training || args.opt("running_mean").is_none() {
            return Ok(());
        }
        let results = aten::call(op::_NATIVE_BATCH_NORM_LEGIT_FUNCTIONAL, &args.clone().with("training", Value::int(1)))?;
        for (value, arg) in results[3..].iter().zip(["running_mean", "running_var"]) {
            let Some(input) = inputs.iter().find(|i| i["name"] == arg) else { continue };
            if let (Slot::Tensor(r), Value::Tensor(t)) = (self.slot(&input["arg"], env)?, value) {
                self.heap.write(&r, t)?;
            }
        }
        Ok(())
    }

    /// Runs a subgraph on slots.
    fn call(&mut self, graph: &Json, operands: &[Slot]) -> Result<Vec<Slot>, Problem> {
        let mut env = Env::new();
        for (input, slot) in graph["inputs"].as_array().into_iter().flatten().zip(operands) {
            let name = input
                .as_object()
                .and_then(|o| o.values().next())
                .and_then(|v| v["name"].as_str().or(v["as_name"].as_str()))
                .unwrap_or_default();
            env.insert(name.to_string(), slot.clone());
        }
        self.graph(graph, &mut env)
    }

    fn operands(&mut self, arg: &Json, env: &Env) -> Result<Vec<Slot>, Problem> {
        Ok(match self.slot(&arg["arg"], env)? {
            Slot::Tensors(rs) => rs.into_iter().flatten().map(Slot::Tensor).collect(),
            Slot::Other(Value::Scalars(v)) => v.into_iter().map(|v| Slot::Other(Value::Scalar(v))).collect(),
            other => vec![other],
        })
    }

    fn higher_order(&mut self, hop: &str, inputs: &[Json], env: &Env) -> Result<Vec<Slot>, Problem> {
        let graph = |k: usize| inputs.get(k).map(|i| i["arg"]["as_graph"]["graph"].clone()).ok_or_else(|| wrong("a subgraph"));
        let truth = |w: &Self, s: &Slot| -> Result<bool, Problem> {
            match w.read(s)? {
                Value::Tensor(t) => Ok(t.item()?.truthy()),
                Value::Scalar(s) => Ok(s.truthy()),
                _ => Err(wrong("a condition")),
            }
        };
        match hop {
            "cond" => {
                let pred = self.slot(&inputs[0]["arg"], env)?;
                let branch = graph(if truth(self, &pred)? { 1 } else { 2 })?;
                let operands = self.operands(&inputs[3], env)?;
                self.call(&branch, &operands)
            }
            "while_loop" => {
                let (cond, body) = (graph(0)?, graph(1)?);
                let mut carried = self.operands(&inputs[2], env)?;
                let fixed = self.operands(&inputs[3], env)?;
                for _ in 0..100_000 {
                    let all = [carried.clone(), fixed.clone()].concat();
                    let go = self.call(&cond, &all)?;
                    if !truth(self, &go[0])? {
                        return Ok(carried);
                    }
                    carried = self.call(&body, &all)?;
                }
                Err(wrong("a loop that does not end"))
            }
            "scan" | "map_impl" => {
                let body = graph(0)?;
                let scan = hop == "scan";
                let mut carried = if scan { self.operands(&inputs[1], env)? } else { Vec::new() };
                let xs = self.operands(&inputs[1 + scan as usize], env)?;
                let fixed = self.operands(&inputs[2 + scan as usize], env)?;
                let xs: Vec<Tensor> = xs.iter().map(|x| tensor(vec![self.read(x)?])).collect::<Result<_, _>>()?;
                let steps = xs.first().and_then(|x| x.shape().first().copied()).ok_or_else(|| wrong("nothing to scan"))?;
                let mut outputs: Vec<Vec<Tensor>> = Vec::new();
                for k in 0..steps {
                    let mut all = carried.clone();
                    for x in &xs {
                        all.push(self.bind(Value::Tensor(x.select(0, k)?))?);
                    }
                    all.extend(fixed.clone());
                    let mut results = self.call(&body, &all)?;
                    let rest = results.split_off(carried.len());
                    carried = results;
                    let rest: Vec<Tensor> = rest.iter().map(|r| tensor(vec![self.read(r)?])).collect::<Result<_, _>>()?;
                    outputs.resize(rest.len(), Vec::new());
                    outputs.iter_mut().zip(rest).for_each(|(o, r)| o.push(r));
                }
                for o in outputs {
                    carried.push(self.bind(Value::Tensor(join::stack(&o.iter().collect::<Vec<_>>(), 0)?))?);
                }
                Ok(carried)
            }
            other => Err(Problem::Interp(InterpError::Unsupported { op: format!("higher_order.{other}"), location: String::new() })),
        }
    }
}

fn tensor(results: Vec<Value>) -> Result<Tensor, Problem> {
    match results.into_iter().next() {
        Some(Value::Tensor(t)) => Ok(t),
        _ => Err(wrong("no tensor result")),
    }
}

fn bind_outputs(node: &Json, results: Vec<Slot>, env: &mut Env) -> Result<(), Problem> {
    let mut results = results.into_iter();
    for output in node["outputs"].as_array().into_iter().flatten() {
        let Some((kind, v)) = output.as_object().and_then(|o| o.iter().next()) else { continue };
        if kind == "as_none" {
            results.next();
            continue;
        }
        let slot = results.next().ok_or_else(|| wrong("too few results"))?;
        match (v.as_array(), slot) {
            (Some(names), Slot::Tensors(rs)) => {
                for (n, r) in names.iter().zip(rs) {
                    env.insert(n["name"].as_str().unwrap_or_default().to_string(), r.map_or(Slot::Other(Value::None), Slot::Tensor));
                }
            }
            (Some(names), first) => {
                let all = std::iter::once(first).chain(results.by_ref());
                for (n, s) in names.iter().zip(all) {
                    env.insert(n["name"].as_str().unwrap_or_default().to_string(), s);
                }
            }
            (None, Slot::Tensors(rs)) => {
                // One list result spelled as several outputs.
                let mut rs = rs.into_iter();
                let name = |v: &Json| v["name"].as_str().unwrap_or_default().to_string();
                for output in node["outputs"].as_array().into_iter().flatten() {
                    if let (Some(v), Some(Some(r))) = (output.as_object().and_then(|o| o.values().next()), rs.next()) {
                        env.insert(name(v), Slot::Tensor(r));
                    }
                }
                return Ok(());
            }
            (None, slot) => {
                let name = v["name"].as_str().or(v["as_name"].as_str()).unwrap_or_default();
                env.insert(name.to_string(), slot);
            }
        }
    }
    Ok(())
}

fn number(v: &Json) -> Result<Scalar, Problem> {
    if let Some(b) = v.as_bool() {
        return Ok(Scalar::Bool(b));
    }
    if let Some(i) = v.as_i64() {
        return Ok(Scalar::Int(i as i128));
    }
    match v.as_str() {
        Some("Infinity") => Ok(Scalar::Float(f64::INFINITY)),
        Some("-Infinity") => Ok(Scalar::Float(f64::NEG_INFINITY)),
        Some("NaN") => Ok(Scalar::Float(f64::NAN)),
        _ => v.as_f64().map(Scalar::Float).ok_or_else(|| wrong(format!("{v} is not a number"))),
    }
}

/// Python's operators on sizes.
fn python(op: &str, v: &[Scalar]) -> Option<Scalar> {
    let (a, b) = (v.first()?.int(), v.get(1).map_or(0, |b| b.int()));
    Some(match op {
        "add" => Scalar::Int(a + b),
        "sub" => Scalar::Int(a - b),
        "mul" => Scalar::Int(a * b),
        "floordiv" => Scalar::Int(a.checked_div_euclid(b)?),
        "mod" => Scalar::Int(a.checked_rem_euclid(b)?),
        "neg" => Scalar::Int(-a),
        "ge" => Scalar::Bool(a >= b),
        "le" => Scalar::Bool(a <= b),
        "gt" => Scalar::Bool(a > b),
        "lt" => Scalar::Bool(a < b),
        "eq" => Scalar::Bool(a == b),
        "ne" => Scalar::Bool(a != b),
        "truediv" => Scalar::Float(v[0].float() / v[1].float()),
        _ => return None,
    })
}
