//! The entry's side of a mutation: what was written to an argument is a result.

use strata_core::ir::{Attr, Block, Op, Value};
use strata_core::upstream::func;
use strata_dialects::capture::{self, DIM_ORDER};

use super::{Refusal, alias::Aliases};

/// Adds a result of kind `mutation` for each argument that was written to, and lets the return read current values.
pub(super) fn mutations<'c>(function: Op<'c>, entry: Block<'c>, aliases: &Aliases<'c>) -> Result<usize, Refusal> {
    let cx = function.cx();
    let args = entry.args();
    let written: Vec<_> = args.iter().filter_map(|arg| Some((arg.index(), aliases.written(*arg)?))).collect();
    if written.is_empty() {
        return Ok(0);
    }
    if !capture::is_part(function) {
        return Err("writes to its arguments, and only an entry (`capture.entry`) can give their new values back".to_owned());
    }
    let terminator = entry.terminator().filter(|op| op.isa::<func::Return>()).ok_or("its body does not end in a return")?;
    let dicts = |name: &str, count: usize| match function.attr(name).and_then(Attr::as_array) {
        Some(dicts) => dicts,
        None => vec![cx.dict_attr(&[]); count],
    };
    let (arg_attrs, mut result_attrs) = (dicts("arg_attrs", args.len()), dicts("res_attrs", terminator.num_operands()));
    let mut values = terminator.operands();
    let count = written.len();
    for (place, value) in written {
        let name = arg_attrs.get(place).and_then(|dict| dict.entry(capture::NAME)).and_then(Attr::as_str);
        let name = name.ok_or_else(|| format!("argument {place} is written to and has no `capture.name`"))?;
        let mut entries = vec![(capture::KIND, cx.str_attr("mutation")), (capture::NAME, cx.str_attr(&name))];
        // The new value lies as the old one.
        entries.extend(arg_attrs[place].entry(DIM_ORDER).map(|order| (DIM_ORDER, order)));
        result_attrs.push(cx.dict_attr(&entries));
        values.push(value);
    }
    terminator.set_operands(&values);
    let inputs: Vec<_> = args.into_iter().map(Value::ty).collect();
    let results: Vec<_> = values.into_iter().map(Value::ty).collect();
    function.set_attr("function_type", cx.type_attr(cx.function(&inputs, &results)));
    function.set_attr("res_attrs", cx.array_attr(&result_attrs));
    Ok(count)
}
