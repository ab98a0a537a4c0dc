//! The entry function of an imported program.

use strata_core::ir::{Attr, Block, Cx, Op, OpSpec, Type, Value};
use strata_core::rewrite::Rewriter;
use strata_core::upstream::func;
use strata_dialects::capture;

use crate::import::{ENTRY, Input, Output};

/// The values that a program gives, and what each is.
pub type Results<'c> = Vec<(Value<'c>, Output)>;

/// A function with these arguments in a module, and its block.
pub fn begin<'c>(cx: Cx<'c>, module: Block<'c>, arguments: &[Type<'c>]) -> (Op<'c>, Block<'c>) {
    let mut builder = Rewriter::at_end(module, cx.unknown());
    let ty = cx.type_attr(cx.function(arguments, &[]));
    let attrs = [("sym_name", cx.str_attr(ENTRY)), ("function_type", ty), (capture::ENTRY, cx.unit())];
    let function = builder.op(OpSpec { name: func::Func::NAME, attrs: &attrs, regions: 1, ..OpSpec::default() });
    let block = builder.add_block(function.region(0), arguments);
    (function, block)
}

/// Ends the function; `inputs` are its arguments, those that were added since included.
pub fn finish<'c>(builder: &mut Rewriter<'c>, function: Op<'c>, block: Block<'c>, inputs: &[Input], results: &Results<'c>) {
    let cx = builder.cx();
    let values: Vec<_> = results.iter().map(|(value, _)| *value).collect();
    func::ret(builder, &values);
    let arguments: Vec<Type<'c>> = block.args().into_iter().map(|value| value.ty()).collect();
    let types: Vec<Type<'c>> = values.iter().map(|value| value.ty()).collect();
    func::set_type(builder, function, &arguments, &types);
    let argument =
        |input: &Input| cx.dict_attr(&[(capture::KIND, cx.str_attr(input.kind.spelling())), (capture::NAME, cx.str_attr(&input.name))]);
    let arguments: Vec<Attr<'c>> = inputs.iter().map(argument).collect();
    builder.set_attr(function, "arg_attrs", cx.array_attr(&arguments));
    let result = |(_, output): &(_, Output)| match output {
        Output::Mutation { name } => cx.dict_attr(&[(capture::KIND, cx.str_attr("mutation")), (capture::NAME, cx.str_attr(name))]),
        _ => cx.dict_attr(&[(capture::KIND, cx.str_attr("output"))]),
    };
    let attrs: Vec<Attr<'c>> = results.iter().map(result).collect();
    builder.set_attr(function, "res_attrs", cx.array_attr(&attrs));
}
