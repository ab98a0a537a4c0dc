//! Calls: of operators, functions, methods and classes. Functions of the archive are evaluated in the place of the call.

use std::rc::Rc;

use super::error::Eval;
use super::evaluate::{Evaluator, Flow, Frame};
use super::program::Found;
use super::text::ast::{Call, Expr, Function};
use super::value::{FIELDS, Object, Shared, Value};

/// Functions in each other.
const MAX_CALLS: u32 = 100;

/// The arguments of a call: those by place, and those by name.
pub type Given<'c> = (Vec<Value<'c>>, Vec<(String, Value<'c>)>);

impl<'c> Evaluator<'_, 'c> {
    /// A call in the text.
    pub fn call(&mut self, call: &Call, frame: &mut Frame<'c>) -> Eval<Value<'c>> {
        self.step()?;
        let here = self.line;
        if call.line != here {
            self.go_to(call.line);
        }
        if let Expr::Attr(of, name) = &call.callee {
            match call.callee.dotted().filter(|text| is_global(text, frame)) {
                Some(text) => return self.global(&text, call, frame),
                None => {
                    let of = self.expr(of, frame)?;
                    let (args, named) = self.arguments(call, frame)?;
                    self.go_to(call.line);
                    return self.method(&of, name, args, named);
                }
            }
        }
        match &call.callee {
            Expr::Name(name) if !frame.variables.contains_key(name) => self.word(name, call, frame),
            callee => {
                let callee = self.expr(callee, frame)?;
                let (args, named) = self.arguments(call, frame)?;
                self.called(&callee, args, named)
            }
        }
    }

    pub fn arguments(&mut self, call: &Call, frame: &mut Frame<'c>) -> Eval<Given<'c>> {
        let args = self.exprs(&call.args, frame)?;
        let named = call.named.iter().map(|(name, value)| Ok((name.clone(), self.expr(value, frame)?)));
        let named = named.collect::<Eval<Vec<_>>>()?;
        if args.iter().chain(named.iter().map(|(_, value)| value)).any(Value::is_apart) {
            return Err(format!("an argument is {}", Value::Apart.kind()).into());
        }
        Ok((args, named))
    }

    /// A call of `torch.*`, `ops.*` or `__torch__.*`.
    fn global(&mut self, text: &str, call: &Call, frame: &mut Frame<'c>) -> Eval<Value<'c>> {
        let (args, named) = self.arguments(call, frame)?;
        self.go_to(call.line);
        if text.starts_with("__torch__.") {
            return self.named_function(text, args, named);
        }
        if let Some(name) = text.strip_prefix("torch.") {
            return self.operator("aten", name, args, named);
        }
        match text.strip_prefix("ops.").and_then(|name| name.split_once('.')) {
            Some((library, name)) => self.operator(library, name, args, named),
            None => Err(format!("`{text}` is not known").into()),
        }
    }

    /// Calls a function, a class, or a method of the archive by its qualified name.
    fn named_function(&mut self, text: &str, args: Vec<Value<'c>>, named: Vec<(String, Value<'c>)>) -> Eval<Value<'c>> {
        if let Some(class) = text.strip_suffix(".__new__") {
            return Ok(Value::Object(Rc::new(Object {
                class: class.into(),
                path: String::new(),
                attrs: Shared::new(self.depth, Vec::new()),
            })));
        }
        if let Some(found) = self.program.function(text)? {
            return self.invoke(&found, None, args, named);
        }
        if let Some(found) = self.program.class(text)? {
            if found.item.base.as_deref() == Some("NamedTuple") {
                return self.named_tuple(text, &found.item.fields.iter().map(|field| field.name.clone()).collect::<Vec<_>>(), args);
            }
            return Err(format!("`{text}` is made by a call of its class").into());
        }
        Err(format!("the archive has no function `{text}`").into())
    }

    pub fn named_tuple(&mut self, class: &str, fields: &[String], args: Vec<Value<'c>>) -> Eval<Value<'c>> {
        if fields.len() != args.len() {
            return Err(format!("`{class}` has {} fields, and {} are given", fields.len(), args.len()).into());
        }
        let mut attrs = vec![(FIELDS.to_owned(), Value::None)];
        attrs.extend(fields.iter().cloned().zip(args));
        Ok(Value::Object(Rc::new(Object { class: class.into(), path: String::new(), attrs: Shared::new(self.depth, attrs) })))
    }

    /// Calls a value.
    pub fn called(&mut self, callee: &Value<'c>, args: Vec<Value<'c>>, named: Vec<(String, Value<'c>)>) -> Eval<Value<'c>> {
        match callee {
            Value::Str(name) if name.starts_with("__torch__.") => self.named_function(name, args, named),
            Value::Closure(function, around) => {
                let mut frame = Frame { variables: around.iter().cloned().collect() };
                for (param, value) in function.params.iter().zip(args) {
                    frame.variables.insert(param.name.clone(), value);
                }
                let function = Rc::clone(function);
                self.body(&function, frame)
            }
            other => Err(format!("{} is called", other.kind()).into()),
        }
    }

    /// Calls a method of a value.
    pub fn method(&mut self, of: &Value<'c>, name: &str, args: Vec<Value<'c>>, named: Vec<(String, Value<'c>)>) -> Eval<Value<'c>> {
        if let (Value::Tensor(_), "tolist") = (of, name) {
            return self.list_of(of);
        }
        let Value::Object(object) = of else { return Err(format!("{} has no method `{name}`", of.kind()).into()) };
        let found = self.program.method(&object.class, name)?;
        let found = found.ok_or_else(|| format!("`{}` has no method `{name}`: it is torchbind, packed, or lost", object.class))?;
        self.invoke(&found, Some(of.clone()), args, named)
    }

    /// Evaluates a function of the archive.
    fn invoke(
        &mut self,
        found: &Found<Function>,
        of: Option<Value<'c>>,
        args: Vec<Value<'c>>,
        named: Vec<(String, Value<'c>)>,
    ) -> Eval<Value<'c>> {
        let function = &*found.item;
        let mut frame = Frame::default();
        let given = of.into_iter().chain(args);
        let mut count = 0;
        for (param, value) in function.params.iter().zip(given) {
            frame.variables.insert(param.name.clone(), value);
            count += 1;
        }
        for (name, value) in named {
            frame.variables.insert(name, value);
        }
        let place = (Rc::clone(&self.entry_name), self.line);
        self.entry_name = Rc::clone(&found.entry);
        for param in function.params.iter().skip(count) {
            if frame.variables.contains_key(&param.name) {
                continue;
            }
            let default =
                param.default.as_ref().ok_or_else(|| format!("`{}` is not given its argument `{}`", function.name, param.name))?;
            let value = self.expr(default, &mut Frame::default())?;
            frame.variables.insert(param.name.clone(), value);
        }
        let result = self.body(function, frame);
        self.entry_name = place.0;
        self.go_to(place.1);
        result
    }

    fn body(&mut self, function: &Function, mut frame: Frame<'c>) -> Eval<Value<'c>> {
        if self.calls >= MAX_CALLS {
            return Err(format!("more than {MAX_CALLS} functions call each other").into());
        }
        self.calls += 1;
        let flow = self.run(&function.body, &mut frame);
        self.calls -= 1;
        match flow? {
            Flow::Return(value) => Ok(value),
            Flow::Next | Flow::Through => Ok(Value::None),
        }
    }
}

/// Whether a dotted name is of PyTorch or of the archive, and no variable's.
fn is_global(text: &str, frame: &Frame<'_>) -> bool {
    let head = text.split('.').next().unwrap_or_default();
    matches!(head, "torch" | "ops" | "__torch__") && !frame.variables.contains_key(head)
}
