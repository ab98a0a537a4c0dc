//! The functions that hold the expansions: one per operation and type, made when first asked for.

use super::lanes::Lanes;
use super::libm::Function;
use super::own::{Far, Normal, Rest};
use super::{EXACT_PREFIX, FAR, MathTarget, far, integer, own, special};
use std::collections::HashSet;
use strata_core::ir::{Attr, Builder, ElementType, Op, OpSpec, Type, Value};
use strata_core::upstream::{arith, func, scf, vector};

const COLD: &str = "noinline\", \"cold";

/// The functions made so far in a module.
pub(super) struct Bodies<'c> {
    module: Op<'c>,
    pub target: MathTarget,
    known: HashSet<String>,
}

impl<'c> Bodies<'c> {
    pub(super) fn new(module: Op<'c>, target: MathTarget) -> Self {
        Self { module, target, known: HashSet::new() }
    }

    /// The function's value at operands of one type: a scalar, or a vector of any shape.
    pub(super) fn value(&mut self, builder: &mut Builder<'c>, function: Function, operands: &[Value<'c>]) -> Value<'c> {
        let ty = operands[0].ty();
        if !ty.is_vector() || self.is_register(ty) {
            return self.register(builder, function, operands);
        }
        self.body(builder, function.name, operands, "alwaysinline", |bodies, inner, arguments| {
            let flat = ty.cx().vector(&[ty.num_elements().unwrap_or(1)], ty.element());
            let arguments: Vec<_> = arguments.iter().map(|&argument| cast(inner, argument, flat)).collect();
            let result = bodies.cut(inner, function, &arguments);
            cast(inner, result, ty)
        })
    }

    /// The same value by a call that is not inlined.
    pub(super) fn shared(&mut self, builder: &mut Builder<'c>, function: Function, operands: &[Value<'c>]) -> Value<'c> {
        self.body(builder, &format!("shared.{}", function.name), operands, "noinline", |bodies, inner, arguments| {
            bodies.value(inner, function, arguments)
        })
    }

    /// A vector that one register holds.
    fn is_register(&self, ty: Type<'c>) -> bool {
        let bits = ty.shape().iter().product::<i64>() * ty.element_type().map_or(0, |element| i64::from(element.bits()));
        ty.rank() == 1 && [128, 256, 512].contains(&bits) && bits <= i64::from(self.target.vector_bits)
    }

    /// The value over a one-dimensional vector, register by register.
    fn cut(&mut self, builder: &mut Builder<'c>, function: Function, operands: &[Value<'c>]) -> Value<'c> {
        let ty = operands[0].ty();
        let (total, bits) = (ty.shape()[0], ty.element_type().map_or(32, ElementType::bits));
        let lanes_of = |register: u32| i64::from(register / bits);
        let mut done = 0;
        let mut result: Option<Value<'c>> = None;
        while done < total {
            let mut lanes = lanes_of(self.target.vector_bits);
            while lanes > total - done && lanes > lanes_of(128) {
                lanes /= 2;
            }
            // Lanes past the end repeat the last one: its value is as safe as any.
            let pick: Vec<i64> = (done..done + lanes).map(|lane| lane.min(total - 1)).collect();
            let parts: Vec<_> = operands.iter().map(|&operand| shuffle(builder, operand, operand, &pick)).collect();
            let part = self.register(builder, function, &parts);
            let take = lanes.min(total - done);
            result = Some(match result {
                None => shuffle(builder, part, part, &(0..take).collect::<Vec<_>>()),
                Some(before) => shuffle(builder, before, part, &(0..done + take).collect::<Vec<_>>()),
            });
            done += take;
        }
        result.unwrap_or(operands[0])
    }

    /// The value over one register or scalar: our own code, or the library's.
    fn register(&mut self, builder: &mut Builder<'c>, function: Function, operands: &[Value<'c>]) -> Value<'c> {
        let target = self.target;
        // Special functions have no other code.
        let own = target.own && target.fma && own::has(function.name, operands[0].ty());
        let special = special::has(function.name, operands[0].ty().element_type());
        if !own && !special {
            return self.library(builder, function, operands);
        }
        self.body(builder, function.name, operands, "alwaysinline", |bodies, inner, arguments| {
            let ty = arguments[0].ty();
            if integer::has(function.name, ty.element_type()) {
                return bodies.of_integers(inner, function, arguments);
            }
            if special {
                let own = special::expand(&Lanes::new(inner, ty, target.scalef), function.name, arguments);
                return own.unwrap_or_else(|| bodies.library(inner, function, arguments));
            }
            if [own::DOUBLE, own::PAIRS].iter().any(|list| list.contains(&function.name)) {
                let own = in_f64(inner, function, arguments, target.scalef);
                return own.unwrap_or_else(|| bodies.library(inner, function, arguments));
            }
            let expansion = own::expand(&Lanes::new(inner, ty, target.scalef), function.name, arguments);
            match expansion {
                None => bodies.library(inner, function, arguments),
                Some(own::Expansion { value, far: None }) => value,
                Some(own::Expansion { value, far: Some(far) }) => bodies.patch(inner, function, arguments, value, far),
            }
        })
    }

    /// `value`, but that of other code in far lanes: a jump that is hardly ever taken.
    fn patch(
        &mut self,
        builder: &mut Builder<'c>,
        function: Function,
        arguments: &[Value<'c>],
        value: Value<'c>,
        Far { lanes, by }: Far<'c>,
    ) -> Value<'c> {
        let name = format!("{FAR}{}", function.name);
        where_any(builder, lanes, value, |builder| match by {
            Rest::Library => {
                let rare = self.body(builder, &name, arguments, COLD, |bodies, inner, arguments| match bodies.target.library {
                    true => bodies.lane_by_lane(inner, function, arguments),
                    false => far::value(bodies.module, inner, function.name, arguments[0]),
                });
                arith::select(builder, lanes, rare, value)
            }
            Rest::Own(normal) => self.body(builder, &name, &[arguments[0], value], COLD, |bodies, inner, arguments| {
                bodies.beside_normal(inner, function, arguments, normal)
            }),
            Rest::Everywhere => self.everywhere(builder, function, &arguments[..1]),
        })
    }

    /// The value where a lane's is no normal number, from the argument and what is right for those whose value is.
    fn beside_normal(&mut self, builder: &mut Builder<'c>, function: Function, arguments: &[Value<'c>], normal: Normal) -> Value<'c> {
        let (ty, scalef) = (arguments[1].ty(), self.target.scalef);
        let (zeroed, rest) = {
            let lanes = Lanes::new(builder, ty, scalef);
            let x = lanes.float(arguments[0]);
            let zero = x.below(normal.zero_below);
            (zero.select(0.0, lanes.float(arguments[1])).value, x.abs().not_within(normal.within).unless(zero).value)
        };
        where_any(builder, rest, zeroed, |builder| self.everywhere(builder, function, &arguments[..1]))
    }

    /// The value for all arguments; where other code has one, this is the same number.
    fn everywhere(&mut self, builder: &mut Builder<'c>, function: Function, arguments: &[Value<'c>]) -> Value<'c> {
        let (name, ty, scalef) = (format!("{FAR}all.{}", function.name), arguments[0].ty(), self.target.scalef);
        self.body(builder, &name, arguments, COLD, |_, inner, arguments| {
            own::everywhere(&Lanes::new(inner, ty, scalef), function.name, arguments[0]).unwrap_or(arguments[0])
        })
    }

    /// Calls the function that holds a body, making it first when it is new to the module.
    fn body(
        &mut self,
        builder: &mut Builder<'c>,
        name: &str,
        operands: &[Value<'c>],
        attributes: &str,
        build: impl FnOnce(&mut Self, &mut Builder<'c>, &[Value<'c>]) -> Value<'c>,
    ) -> Value<'c> {
        let ty = operands[0].ty();
        let mut suffix: Vec<String> = ty.shape().iter().map(i64::to_string).collect();
        suffix.push(ty.element().to_string());
        let name = format!("{EXACT_PREFIX}{name}.{}", suffix.join("x"));
        if self.known.insert(name.clone()) && self.module.lookup_symbol(&name).is_none() {
            let inputs = vec![ty; operands.len()];
            let passthrough = ty.cx().parse_attr(&format!("[\"{attributes}\"]"));
            let func = self.declare(&name, &inputs, ty, passthrough.map(|attr| ("passthrough", attr)));
            let block = func.region(0).append_block(&inputs, builder.location());
            let mut inner = Builder::at_end(block, builder.location());
            let result = build(self, &mut inner, &block.args());
            func::ret(&mut inner, &[result]);
        }
        call(builder, &name, operands)
    }

    /// Calls a function of a C library, declaring it when it is new to the module.
    pub(super) fn call_external(&mut self, builder: &mut Builder<'c>, name: &str, operands: &[Value<'c>]) -> Value<'c> {
        if self.known.insert(name.to_owned()) && self.module.lookup_symbol(name).is_none() {
            let inputs: Vec<_> = operands.iter().map(|operand| operand.ty()).collect();
            self.declare(name, &inputs, inputs[0], None);
        }
        call(builder, name, operands)
    }

    /// A private `func.func` without a body at the end of the module.
    fn declare(&self, name: &str, inputs: &[Type<'c>], result: Type<'c>, extra: Option<(&str, Attr<'c>)>) -> Op<'c> {
        let cx = result.cx();
        let mut attrs = vec![
            ("sym_name", cx.str_attr(name)),
            ("function_type", cx.type_attr(cx.function(inputs, &[result]))),
            ("sym_visibility", cx.str_attr("private")),
        ];
        attrs.extend(extra);
        let mut builder = Builder::at_end(self.module.body(0), self.module.location());
        builder.op(OpSpec { name: func::Func::NAME, attrs: &attrs, regions: 1, ..OpSpec::default() })
    }
}

/// `value`, or what is built in a branch that is taken where a lane of the mask is set.
pub(super) fn where_any<'c>(
    builder: &mut Builder<'c>,
    mask: Value<'c>,
    value: Value<'c>,
    build: impl FnOnce(&mut Builder<'c>) -> Value<'c>,
) -> Value<'c> {
    let ty = value.ty();
    let any = if ty.is_vector() { vector::reduction(builder, vector::CombiningKind::Or, mask) } else { mask };
    scf::choose(builder, any, ty, build, |_| value)
}

/// Our own value of a function that has code in f64 only.
fn in_f64<'c>(builder: &mut Builder<'c>, function: Function, arguments: &[Value<'c>], scalef: bool) -> Option<Value<'c>> {
    let ty = arguments[0].ty();
    let wide = super::with_element(ty, ty.cx().f64());
    let value = |builder: &mut Builder<'c>, arguments: &[Value<'c>], scalef: bool| {
        let lanes = Lanes::new(builder, wide, scalef);
        match *arguments {
            [_] => own::expand(&lanes, function.name, arguments).map(|expansion| expansion.value),
            [first, second] => own::expand_pair(&lanes, function.name, [first, second]),
            _ => None,
        }
    };
    if ty == wide {
        return value(builder, arguments, scalef);
    }
    let arguments: Vec<_> = arguments.iter().map(|&argument| arith::extf(builder, argument, wide)).collect();
    let value = value(builder, &arguments, false)?;
    Some(arith::truncf(builder, value, ty))
}

fn call<'c>(builder: &mut Builder<'c>, name: &str, operands: &[Value<'c>]) -> Value<'c> {
    let callee = builder.cx().symbol_attr(name);
    builder.value(func::Call::NAME, operands, operands[0].ty(), &[("callee", callee)])
}

fn cast<'c>(builder: &mut Builder<'c>, value: Value<'c>, to: Type<'c>) -> Value<'c> {
    if value.ty() == to { value } else { vector::shape_cast(builder, value, to) }
}

/// `vector.shuffle`, or the first vector itself when it would change nothing.
fn shuffle<'c>(builder: &mut Builder<'c>, a: Value<'c>, b: Value<'c>, lanes: &[i64]) -> Value<'c> {
    if lanes.iter().copied().eq(0..a.ty().shape()[0]) {
        return a;
    }
    vector::shuffle(builder, a, b, lanes.iter().copied())
}
