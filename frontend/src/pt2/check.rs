//! Consistency of a program: names are defined once and before their use, and every tensor is described.
//!
//! A cycle in the graph shows up here as a use before the definition.

use std::collections::HashSet;

use super::{
    argument::Argument,
    error::Pt2Error,
    program::MODEL,
    schema::{ExportedProgram, Graph, InputSpec, OutputSpec, SymInt, TensorMeta},
};

/// PyTorch's own limit on dimensions.
const MAX_RANK: usize = 64;
/// Nodes, inputs and outputs of all graphs together.
const MAX_VALUES: usize = 1 << 22;
/// The schema whose fields [`super::schema`] lists.
const SCHEMA_MAJOR: i64 = 8;

/// Checks the whole program.
pub(super) fn check(program: &ExportedProgram) -> Result<(), Pt2Error> {
    if program.schema_version.major != SCHEMA_MAJOR {
        let why = format!("schema {} is not {SCHEMA_MAJOR}, the one that is read", program.schema_version.major);
        let help = "export the program with PyTorch 2.8 or later";
        return Err(Pt2Error::Field { entry: MODEL.to_owned(), field: "schema_version.major".to_owned(), why, help });
    }
    for (symbol, range) in program.range_constraints.iter() {
        if let (Some(min), Some(max)) = (range.min_val, range.max_val)
            && min > max
        {
            return Err(at(format!("range_constraints.{symbol}"), format!("the range {min}..={max} is empty")));
        }
    }
    let mut values = 0;
    graph(&program.graph_module.graph, "graph_module.graph", &mut values)?;
    signature(program)
}

fn at(field: String, why: String) -> Pt2Error {
    Pt2Error::field(MODEL, field, why)
}

fn graph(graph: &Graph, path: &str, values: &mut usize) -> Result<(), Pt2Error> {
    *values += graph.inputs.len() + graph.outputs.len() + graph.nodes.len();
    if *values > MAX_VALUES {
        return Err(at(path.to_owned(), format!("there are more than {MAX_VALUES} values")));
    }
    for (name, meta) in graph.tensor_values.iter() {
        tensor(meta).map_err(|why| at(format!("{path}.tensor_values.{name}"), why))?;
    }
    let mut defined = HashSet::new();
    for (place, input) in graph.inputs.iter().enumerate() {
        define(graph, input, &mut defined).map_err(|why| at(format!("{path}.inputs[{place}]"), why))?;
    }
    for (place, node) in graph.nodes.iter().enumerate() {
        let path = || format!("{path}.nodes[{place}]");
        for (place, input) in node.inputs.iter().enumerate() {
            let path = || format!("{}.inputs[{place}]", path());
            used(&input.arg, &defined).map_err(|why| at(path(), why))?;
            if let Argument::AsGraph(nested) = &input.arg {
                self::graph(&nested.graph, &format!("{}.arg.as_graph.graph", path()), values)?;
            }
        }
        for (place, output) in node.outputs.iter().enumerate() {
            define(graph, output, &mut defined).map_err(|why| at(format!("{}.outputs[{place}]", path()), why))?;
        }
    }
    for (place, output) in graph.outputs.iter().enumerate() {
        used(output, &defined).map_err(|why| at(format!("{path}.outputs[{place}]"), why))?;
    }
    Ok(())
}

fn tensor(meta: &TensorMeta) -> Result<(), String> {
    if meta.sizes.len() != meta.strides.len() {
        return Err(format!("there are {} sizes and {} strides", meta.sizes.len(), meta.strides.len()));
    }
    if meta.sizes.len() > MAX_RANK {
        return Err(format!("{} dimensions are more than {MAX_RANK}", meta.sizes.len()));
    }
    if let Some(size) = meta.sizes.iter().find(|size| matches!(size, SymInt::Int(size) if *size < 0)) {
        return Err(format!("{size:?} is a negative size"));
    }
    let known = || meta.sizes.iter().filter_map(|size| if let SymInt::Int(size) = size { Some(*size) } else { None });
    let item = if known().any(|size| size == 0) { 1 } else { meta.dtype.size() as i64 };
    match known().filter(|size| *size > 0).try_fold(item, i64::checked_mul) {
        Some(_) => Ok(()),
        None => Err(format!("its sizes {:?} make more bytes than can be counted", known().collect::<Vec<_>>())),
    }
}

fn used(argument: &Argument, defined: &HashSet<&str>) -> Result<(), String> {
    let mut missing = None;
    argument.names(&mut |name| {
        if !defined.contains(name) {
            missing.get_or_insert(name);
        }
    });
    missing.map_or(Ok(()), |name| Err(format!("`{name}` is not defined before it is used here")))
}

fn define<'a>(graph: &Graph, argument: &'a Argument, defined: &mut HashSet<&'a str>) -> Result<(), String> {
    let mut problem = None;
    argument.names(&mut |name| {
        let described = match argument {
            Argument::AsSymInt(_) | Argument::AsSymInts(_) => graph.sym_int_values.get(name).is_some(),
            Argument::AsSymFloat(_) | Argument::AsSymFloats(_) => graph.sym_float_values.get(name).is_some(),
            Argument::AsSymBool(_) | Argument::AsSymBools(_) => graph.sym_bool_values.get(name).is_some(),
            Argument::AsCustomObj(_) => true,
            _ => graph.tensor_values.get(name).is_some(),
        };
        if !described {
            problem.get_or_insert(format!("`{name}` is defined here, and no table of the graph describes it"));
        } else if !defined.insert(name) {
            problem.get_or_insert(format!("`{name}` is defined twice"));
        }
    });
    problem.map_or(Ok(()), Err)
}

fn signature(program: &ExportedProgram) -> Result<(), Pt2Error> {
    let module = &program.graph_module;
    let specs = &module.signature;
    let counts = [
        ("input_specs", specs.input_specs.len(), "inputs", module.graph.inputs.len()),
        ("output_specs", specs.output_specs.len(), "outputs", module.graph.outputs.len()),
    ];
    for (field, specs, values, graph) in counts {
        if specs != graph {
            let field = format!("graph_module.signature.{field}");
            return Err(at(field, format!("there are {specs} of them and {graph} {values} of the graph")));
        }
    }
    for (place, (spec, input)) in specs.input_specs.iter().zip(&module.graph.inputs).enumerate() {
        let name = match spec {
            InputSpec::UserInput { arg } => one_name(arg),
            InputSpec::Parameter { arg, .. } | InputSpec::Buffer { arg, .. } | InputSpec::TensorConstant { arg, .. } => Some(&*arg.name),
            InputSpec::ConstantInput { .. } => continue,
            InputSpec::CustomObj { arg, .. } => Some(&*arg.name),
            InputSpec::Token { arg } => Some(&*arg.name),
        };
        same(name, input).map_err(|why| at(format!("graph_module.signature.input_specs[{place}]"), why))?;
    }
    for (place, (spec, output)) in specs.output_specs.iter().zip(&module.graph.outputs).enumerate() {
        let name = match spec {
            OutputSpec::UserOutput { arg } => one_name(arg),
            OutputSpec::LossOutput { arg } | OutputSpec::Token { arg } => Some(&*arg.name),
            OutputSpec::BufferMutation { arg, .. } | OutputSpec::ParameterMutation { arg, .. } => Some(&*arg.name),
            OutputSpec::UserInputMutation { arg, .. } => Some(&*arg.name),
            OutputSpec::GradientToParameter { arg, .. } | OutputSpec::GradientToUserInput { arg, .. } => Some(&*arg.name),
        };
        same(name, output).map_err(|why| at(format!("graph_module.signature.output_specs[{place}]"), why))?;
    }
    Ok(())
}

fn one_name(argument: &Argument) -> Option<&str> {
    let mut found = None;
    argument.names(&mut |name| found = Some(name));
    found
}

fn same(name: Option<&str>, value: &Argument) -> Result<(), String> {
    match one_name(value) {
        graph if graph == name => Ok(()),
        graph => Err(format!("it names {name:?}, and the graph has {graph:?} in this place")),
    }
}
