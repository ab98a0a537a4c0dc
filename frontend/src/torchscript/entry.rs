//! The entry function: arguments of a call for the parameters of `forward`, results in the order of the flattened outputs, and what the
//! call changes.

use std::collections::VecDeque;
use std::rc::Rc;

use strata_core::ir::{Block, Cx, DYNAMIC, Module, Op};
use strata_core::rewrite::Rewriter;
use strata_dialects::aten::{Input as Operand, op};
use strata_dialects::capture;

use super::error::{Eval, OTHERWISE, ScriptError, Stop};
use super::evaluate::Evaluator;
use super::paths;
use super::pickle::Pickled;
use super::program::{self, Program};
use super::state::{Left, kept, left};
use super::text::ast::Expr;
use super::texts;
use super::value::{Shared, Value};
use crate::import::{ENTRY, Imported, Input, InputKind, Output, Weights, constant_guard};
use crate::library::Library;
use crate::operators::Operators;
use crate::pt2::argument::Real;
use crate::pt2::schema::Constant;
use crate::signature::{Leaf, Signature};
use crate::{function, types};

/// Builds the module of a program.
pub(super) fn build<'c>(
    program: &Program,
    signature: Option<&Signature>,
    known: (&dyn Operators, Option<&Library<'c>>),
    cx: Cx<'c>,
) -> Result<Imported<'c>, ScriptError> {
    let traced;
    let signature = match signature {
        Some(signature) => signature,
        None => {
            traced = traced_signature(program)?.ok_or_else(|| ScriptError::Signature(NO_SIGNATURE.to_owned()))?;
            &traced
        }
    };
    let mut counted = Vec::new();
    loop {
        let (imported, left) = of_call(program, signature, known, cx, (Vec::new(), &counted))?;
        let read = |left: &[Left<'c>]| left.iter().filter(|left| left.is_read).cloned().collect::<Vec<_>>();
        let before = read(&left);
        let Some(mut changed) = before.first().cloned() else { return Ok(imported) };
        let mut numbers: Vec<_> = before.iter().filter(|left| left.is_number).map(Left::way).collect();
        // What a call changes does not matter if the next call is the same program, and changes nothing more: a warning that is given once.
        if before.iter().all(|left| left.is_plain) {
            let (next, more) = of_call(program, signature, known, cx, (left, &counted))?;
            for module in [&imported.module, &next.module] {
                without_dead(module);
            }
            let more = read(&more);
            if more.is_empty() && next.module.to_string() == imported.module.to_string() {
                return Ok(imported);
            }
            numbers.extend(more.iter().filter(|left| left.is_number).map(Left::way));
            changed = more.into_iter().next().unwrap_or(changed);
        }
        let count = counted.len();
        numbers.retain(|number| !counted.contains(number));
        counted.extend(numbers);
        if counted.len() == count {
            return Err(ScriptError::Program {
                entry: "data.pkl".into(),
                line: 0,
                why: changed.refused() + "; the next call is another program",
                help: OTHERWISE,
            });
        }
    }
}

/// Erases the ops that nobody needs: those that computed what is known.
fn without_dead(module: &Module<'_>) {
    for block in module.body().ops().into_iter().flat_map(|function| function.region(0).blocks()) {
        let mut builder = Rewriter::at_end(block, module.op().location());
        block.ops().into_iter().rev().filter(|op| op.is_dead()).for_each(|op| builder.erase(op));
    }
}

/// Builds the module of one call, before which a call left these attributes, and in which these numbers are buffers; also gives the
/// attributes that it leaves.
fn of_call<'c>(
    program: &Program,
    signature: &Signature,
    known: (&dyn Operators, Option<&Library<'c>>),
    cx: Cx<'c>,
    (before, counted): (Vec<Left<'c>>, &[String]),
) -> Result<(Imported<'c>, Vec<Left<'c>>), ScriptError> {
    let module = Module::new(cx);
    let (function, block, leaves) = declared(cx, module.body(), signature)?;
    let builder = Rewriter::at_end(block, cx.unknown());
    let mut eval = Evaluator::new(builder, block, program, known);
    eval.left = before;
    eval.counted = counted.to_vec();
    let mut inputs = Vec::new();
    let mut given = Vec::new();
    for (leaf, place) in signature.0.iter().zip(&leaves) {
        let name = format!("in_{}", given.len());
        let value = bind(&mut eval, held(leaf), &name, *place, &mut inputs);
        given.push((keys(leaf), value));
    }
    let outputs = paths::followed(&mut eval, block, &[], &|eval| evaluated(eval, given.clone())).map_err(|stop| match stop {
        Stop::Refused(error) => error,
        Stop::Here(why) => eval.refusal(why),
        Stop::Split => eval.refusal("it is evaluated otherwise a second time"),
        Stop::Raised(message) => eval.refusal(format!("every call of this signature raises: {message}")),
    })?;
    let (results, outputs, left) = outputs;
    inputs.extend(eval.weights.iter().map(|(input, _)| input.clone()));
    let table = eval.weights.iter().map(|(input, elements)| (input.name.clone(), elements.stored())).collect();
    eval.go_to_end(block);
    function::finish(&mut eval.builder, function, block, &inputs, &results);
    let weights = Some(Weights { table });
    let format = format!("TorchScript, operators of version {}", program.version);
    Ok((Imported { module, entry: ENTRY.to_owned(), inputs, outputs, weights, format }, left))
}

const NO_SIGNATURE: &str = "a scripted model has no types of its own: give those of a call, with --signature='f32[1x3x224x224],i64[?]' \
     (rs-compile, rs-opt), or inputs to run it on, with --inputs or --expect (rs-run)";

/// The function with the arguments of a call, and the place of each leaf among them.
fn declared<'c>(cx: Cx<'c>, module: Block<'c>, signature: &Signature) -> Result<(Op<'c>, Block<'c>, Vec<Option<usize>>), ScriptError> {
    let (mut arguments, mut places) = (Vec::new(), Vec::new());
    for leaf in signature.0.iter().map(held) {
        let ty = match leaf {
            Leaf::Tensor(dtype, sizes) => {
                let sizes: Vec<_> = sizes.iter().map(|size| size.unwrap_or(DYNAMIC)).collect();
                types::spelled(cx, dtype, &sizes).map_err(ScriptError::Signature)?
            }
            Leaf::Elements(..) => {
                let why = format!("{leaf}: the elements of a tensor do nothing here; give its type alone");
                return Err(ScriptError::Signature(why));
            }
            Leaf::Int(_) => cx.index(),
            Leaf::Float(_) => cx.f64(),
            Leaf::Bool(_) => cx.int(1),
            Leaf::None | Leaf::Entry(..) => {
                places.push(None);
                continue;
            }
        };
        places.push(Some(arguments.len()));
        arguments.push(ty);
    }
    let (function, block) = function::begin(cx, module, &arguments);
    Ok((function, block, places))
}

/// The value of a leaf: numbers are those of the signature, and a call with others fails.
fn bind<'c>(eval: &mut Evaluator<'_, 'c>, leaf: &Leaf, name: &str, place: Option<usize>, inputs: &mut Vec<Input>) -> Value<'c> {
    let Some(place) = place else { return Value::None };
    inputs.push(Input { name: name.to_owned(), kind: InputKind::Input });
    let argument = eval.entry.arg(place);
    let mut guard = |constant: Constant| constant_guard(eval.cx, &mut eval.builder, name, &constant, argument);
    match leaf {
        Leaf::Tensor(..) | Leaf::Elements(..) => {
            symbols(&mut eval.builder, argument, name);
            Value::Tensor(argument)
        }
        Leaf::Int(value) => {
            guard(Constant::AsInt(*value));
            Value::Int(*value)
        }
        Leaf::Float(value) => {
            guard(Constant::AsFloat(Real(*value)));
            Value::Float(*value)
        }
        Leaf::Bool(value) => {
            guard(Constant::AsBool(*value));
            Value::Bool(*value)
        }
        Leaf::None | Leaf::Entry(..) => Value::None,
    }
}

/// What an entry of a dict holds; another leaf itself.
fn held(leaf: &Leaf) -> &Leaf {
    if let Leaf::Entry(_, leaf) = leaf { held(leaf) } else { leaf }
}

/// The keys of the dicts that a leaf is an entry of, the outermost first.
fn keys(mut leaf: &Leaf) -> VecDeque<String> {
    let mut keys = VecDeque::new();
    while let Leaf::Entry(key, of) = leaf {
        keys.push_back(key.clone());
        leaf = of;
    }
    keys
}

/// The values of a call that are left; those of dicts with their keys.
type Leaves<'c> = VecDeque<(VecDeque<String>, Value<'c>)>;

/// The symbolic sizes of an argument.
fn symbols<'c>(builder: &mut Rewriter<'c>, argument: strata_core::ir::Value<'c>, name: &str) {
    let cx = builder.cx();
    for (dim, size) in argument.ty().shape().into_iter().enumerate() {
        if size == DYNAMIC {
            let attrs = [
                ("dim", cx.i64_attr(dim as i64)),
                ("symbol", cx.str_attr(&format!("{name}_{dim}"))),
                ("min", cx.i64_attr(0)),
                ("max", cx.i64_attr(i64::MAX)),
            ];
            builder.value(capture::Dim::NAME, &[argument], cx.index(), &attrs);
        }
    }
}

/// The results of a call, what it gives in each place, and the attributes that it leaves to the next one.
pub(super) type Call<'c> = (function::Results<'c>, Vec<Output>, Vec<Left<'c>>);

/// Evaluates `forward`.
fn evaluated<'c>(eval: &mut Evaluator<'_, 'c>, leaves: Vec<(VecDeque<String>, Value<'c>)>) -> Eval<Call<'c>> {
    let root = eval.program.module.clone();
    let module = eval.unpickle(&root, "", "data", None)?;
    let Value::Object(object) = &module else { return Err("the archive holds no module".into()) };
    let found = eval.program.method(&object.class, "forward")?;
    let found = found.ok_or_else(|| Stop::Here(format!("`{}` has no method `forward`", object.class)))?;
    let mut leaves = Leaves::from(leaves);
    let params: Vec<_> = found.item.params.iter().skip(1).collect();
    let mut args = Vec::new();
    for (place, param) in params.iter().enumerate() {
        if leaves.is_empty() && param.default.is_some() {
            break;
        }
        let needed: usize = params[place + 1..].iter().filter(|param| param.default.is_none()).map(|param| least(param.ty.as_ref())).sum();
        if param.ty.as_ref().is_none_or(|ty| dicts_in(ty) == 0) {
            eval.entries = 0;
        }
        args.push(taken(eval, param.ty.as_ref(), &mut leaves, needed).map_err(|why| format!("parameter `{}`: {why}", param.name))?);
    }
    if !leaves.is_empty() {
        return Err(format!("the call has {} inputs more than `forward` has parameters for", leaves.len()).into());
    }
    let value = eval.method(&module, "forward", args, Vec::new())?;
    let (mut results, mut outputs) = (Vec::new(), Vec::new());
    flattened(eval, &value, &mut results, &mut outputs)?;
    let left = left(eval)?;
    kept(eval)?;
    rebound(eval, &mut results)?;
    Ok((results, outputs, left))
}

/// An attribute that holds another tensor than at the beginning is a buffer that the call changes. What the call gives of the old tensors,
/// and new ones that are views of them, are copied before any of them is written to.
fn rebound<'c>(eval: &mut Evaluator<'_, 'c>, results: &mut function::Results<'c>) -> Eval<()> {
    let mut changed = Vec::new();
    for (object, name, old) in std::mem::take(&mut eval.assigned) {
        match object.get(&name) {
            Some(Value::Tensor(new)) if new == old => {}
            Some(Value::Tensor(new)) if new.ty() == old.ty() => changed.push((old, new)),
            _ => return Err(format!("attribute `{name}` of `{}` becomes a value of another type", object.path).into()),
        }
    }
    let olds: Vec<_> = changed.iter().map(|(old, _)| *old).collect();
    let values = results.iter_mut().map(|(result, _)| result).chain(changed.iter_mut().map(|(_, new)| new));
    for value in values.filter(|value| value.ty().is_tensor()) {
        if !eval.facts.is_view_of(*value, &olds) {
            continue;
        }
        match eval.build(op::CLONE.schema(), &[Some(Operand::Tensor(*value))])? {
            Value::Tensor(copy) => *value = copy,
            other => return Err(format!("{} is no tensor", other.kind()).into()),
        }
    }
    for (old, new) in changed {
        eval.build(op::COPY_.schema(), &[Some(Operand::Tensor(old)), Some(Operand::Tensor(new))])?;
    }
    Ok(())
}

/// How many leaves a parameter takes at least.
fn least(ty: Option<&Expr>) -> usize {
    match ty {
        Some(Expr::Subscript(of, parts)) => match (of.dotted().as_deref(), &**parts) {
            (Some("Tuple"), Expr::Tuple(parts)) => parts.iter().map(|part| least(Some(part))).sum(),
            (Some("Tuple"), one) => least(Some(one)),
            (Some("List" | "Dict" | "Optional"), _) => 0,
            _ => 1,
        },
        _ => 1,
    }
}

/// The value of a parameter from the next leaves; `needed` of them are for those behind it.
fn taken<'c>(eval: &mut Evaluator<'_, 'c>, ty: Option<&Expr>, leaves: &mut Leaves<'c>, needed: usize) -> Result<Value<'c>, String> {
    if let Some(Expr::Subscript(of, parts)) = ty {
        match (of.dotted().as_deref(), &**parts) {
            (Some("Tuple"), Expr::Tuple(parts)) => {
                let mut items = Vec::new();
                for (place, part) in parts.iter().enumerate() {
                    let later: usize = parts[place + 1..].iter().map(|part| least(Some(part))).sum();
                    items.push(taken(eval, Some(part), leaves, needed + later)?);
                }
                return Ok(Value::Tuple(items.into()));
            }
            (Some("Tuple"), one) => return Ok(Value::Tuple(Rc::new([taken(eval, Some(one), leaves, needed)?]))),
            (Some("List"), item) => {
                let mut items = Vec::new();
                while leaves.len() > needed {
                    items.push(taken(eval, Some(item), leaves, needed)?);
                }
                return Ok(Value::List(Shared::new(0, items)));
            }
            (Some("Optional"), item) => {
                return match leaves.front() {
                    None => Ok(Value::None),
                    Some((_, Value::None)) => Ok(leaves.pop_front().map_or(Value::None, |(_, value)| value)),
                    Some(_) => taken(eval, Some(item), leaves, needed),
                };
            }
            (Some("Dict"), Expr::Tuple(of)) if of.len() == 2 => return dict(eval, &of[0], &of[1], leaves, needed),
            _ => {}
        }
    }
    let named = ty.and_then(Expr::dotted).filter(|name| name.starts_with("__torch__."));
    if let Some(name) = named
        && let Ok(Some(found)) = eval.program.class(&name)
        && found.item.base.as_deref() == Some("NamedTuple")
    {
        let parts: Vec<_> =
            found.item.fields.iter().map(|field| taken(eval, field.ty.as_ref(), leaves, needed)).collect::<Result<_, _>>()?;
        let fields: Vec<_> = found.item.fields.iter().map(|field| field.name.clone()).collect();
        return eval.named_tuple(&name, &fields, parts).map_err(|_| "it has other fields".to_owned());
    }
    if let Some(key) = leaves.front().and_then(|(keys, _)| keys.front()) {
        return Err(format!("the call has the entry `{key}` of a dict for it"));
    }
    value_of(ty, leaves)
}

/// The dict whose entries the next leaves are, each with its key. A key that stands there twice begins another dict.
fn dict<'c>(eval: &mut Evaluator<'_, 'c>, keys: &Expr, values: &Expr, leaves: &mut Leaves<'c>, needed: usize) -> Result<Value<'c>, String> {
    let mut items: Vec<(Value<'c>, Value<'c>)> = Vec::new();
    let depth = 1 + dicts_in(values);
    while let Some(text) = leaves.front().filter(|(keys, _)| keys.len() == depth).and_then(|(keys, _)| keys.front().cloned()) {
        let key = match keys.dotted().as_deref() {
            Some("str") => Value::text(&text),
            Some("int") => match text.parse() {
                Ok(key) => Value::Int(key),
                // It is a key of what comes behind.
                Err(_) if !items.is_empty() => break,
                Err(_) => return Err(format!("`{text}` is no key of a dict of ints")),
            },
            _ => return Err("the keys of a dict are texts or ints".to_owned()),
        };
        if items.iter().any(|(known, _)| known.same(&key)) {
            break;
        }
        let mut entry = Leaves::new();
        while leaves.front().is_some_and(|(keys, _)| keys.front() == Some(&text))
            && let Some((mut keys, value)) = leaves.pop_front()
        {
            keys.pop_front();
            entry.push_back((keys, value));
        }
        items.push((key, taken(eval, Some(values), &mut entry, 0)?));
        while let Some((mut keys, value)) = entry.pop_back() {
            keys.push_front(text.clone());
            leaves.push_front((keys, value));
        }
    }
    if items.is_empty() && leaves.len() > needed {
        return Err(
            "a dict needs its keys: give them in the signature, as in a:f32[2],b:f32[2], or in the `keys` of a file of inputs".to_owned()
        );
    }
    // Entries of a dict before it may be this one's.
    if items.is_empty() && eval.entries > 1 {
        return Err("two dicts, one behind the other, need a key that both have, or keys that are no entries of the first".to_owned());
    }
    eval.entries = items.len();
    Ok(eval.dict(items))
}

/// Dicts in each other in values of a type.
fn dicts_in(ty: &Expr) -> usize {
    match ty {
        Expr::Subscript(of, parts) => usize::from(of.dotted().as_deref() == Some("Dict")) + dicts_in(parts),
        Expr::Tuple(parts) => parts.iter().map(dicts_in).max().unwrap_or(0),
        _ => 0,
    }
}

/// The next leaf as a value of a plain type.
fn value_of<'c>(ty: Option<&Expr>, leaves: &mut Leaves<'c>) -> Result<Value<'c>, String> {
    let (_, leaf) = leaves.pop_front().ok_or("the call has no input for it")?;
    // A float may be given as an int, and a number stands for a tensor nowhere.
    Ok(match (ty.and_then(Expr::dotted).as_deref(), leaf) {
        (Some("float"), Value::Int(value)) => Value::Float(value as f64),
        (Some("Tensor"), leaf @ (Value::Int(_) | Value::Float(_) | Value::Bool(_))) => return Err(format!("{} is no tensor", leaf.kind())),
        (_, leaf) => leaf,
    })
}

/// The leaves of what the call gives, as PyTorch's pytrees order them.
fn flattened<'c>(
    eval: &mut Evaluator<'_, 'c>,
    value: &Value<'c>,
    results: &mut function::Results<'c>,
    outputs: &mut Vec<Output>,
) -> Eval<()> {
    match value {
        Value::None => outputs.push(Output::None),
        Value::Str(_) if texts::is_open(value) => return Err("it gives a text of values that only a call knows".into()),
        Value::Str(text) | Value::Device(text) => outputs.push(Output::Text { text: text.to_string() }),
        Value::Dict(items) => {
            for (_, value) in items.borrow().clone() {
                flattened(eval, &value, results, outputs)?;
            }
        }
        Value::Tensor(tensor) => {
            eval.readable(*tensor)?;
            results.push((eval.facts.shaped(*tensor), Output::Value));
            outputs.push(Output::Value);
        }
        value => match value.items() {
            Some(items) => {
                for item in &items {
                    flattened(eval, item, results, outputs)?;
                }
            }
            None => {
                let number = eval.as_number(value).ok_or_else(|| format!("{} is no output that a call gives", value.kind()))?;
                results.push((number, Output::Value));
                outputs.push(Output::Value);
            }
        },
    }
    Ok(())
}

/// The types of the call that a model was traced with.
fn traced_signature(program: &Program) -> Result<Option<Signature>, ScriptError> {
    let Some(Pickled::Dict(methods)) = program.traced_inputs()? else { return Ok(None) };
    let forward = methods.borrow().iter().find_map(|(key, value)| match key {
        Pickled::Str(name) if name.rsplit('.').next() == Some("forward") => Some(value.clone()),
        _ => None,
    });
    let mut leaves = Vec::new();
    Ok(forward.and_then(|forward| traced_leaves(&forward, &mut leaves)).map(|()| Signature(leaves)))
}

fn traced_leaves(value: &Pickled, leaves: &mut Vec<Leaf>) -> Option<()> {
    match value {
        Pickled::Tuple(items) => items.iter().try_for_each(|item| traced_leaves(item, leaves)),
        Pickled::List(items) => items.borrow().iter().try_for_each(|item| traced_leaves(item, leaves)),
        Pickled::Dict(items) => items.borrow().iter().try_for_each(|(key, value)| {
            let key = match key {
                Pickled::Str(key) => key.to_string(),
                Pickled::Int(key) => key.to_string(),
                _ => return None,
            };
            let mut entry = Vec::new();
            traced_leaves(value, &mut entry)?;
            leaves.extend(entry.into_iter().map(|leaf| Leaf::Entry(key.clone(), Box::new(leaf))));
            Some(())
        }),
        Pickled::Object(object) if &*object.class == "torch._utils._rebuild_tensor_v2" => {
            // Their values are not kept.
            let traced = program::described(object).ok()?;
            leaves.push(Leaf::Tensor(
                traced.dtype.spelling()?.to_owned(),
                traced.sizes.iter().map(|size| i64::try_from(*size).ok()).collect(),
            ));
            Some(())
        }
        value => {
            leaves.push(match value {
                Pickled::Int(value) => Leaf::Int(*value),
                Pickled::Float(value) => Leaf::Float(*value),
                Pickled::Bool(value) => Leaf::Bool(*value),
                Pickled::None => Leaf::None,
                _ => return None,
            });
            Some(())
        }
    }
}
