//! Lists, tuples, dicts and texts: their methods, which the text writes as operators.

use strata_core::upstream::arith;

use super::error::{Eval, Stop};
use super::evaluate::Evaluator;
use super::journal::Place;
use super::paths::MAX_STEPS_OF_LOOP;
use super::texts;
use super::value::{Shared, Value};
use super::words::wrap;

/// Longer lists are a program without end.
const MAX_LEN: usize = 1 << 20;
/// Numbers that only a call knows are sorted in so long lists.
const MAX_SORTED: usize = 32;

impl<'c> Evaluator<'_, 'c> {
    /// A method of a list, tuple, dict or text; nothing where it is none.
    pub fn container(&mut self, name: &str, args: &[Value<'c>]) -> Eval<Option<Value<'c>>> {
        match args.first() {
            Some(Value::List(list)) => {
                let list = list.clone();
                if let Some(value) = self.of_rows(name, &list, &args[1..])? {
                    return Ok(Some(value));
                }
                match self.change(name, &list, &args[1..])? {
                    Some(value) => Ok(Some(value)),
                    None => self.sequence(name, &list.borrow().clone(), args),
                }
            }
            Some(Value::Tuple(items)) => self.sequence(name, items, args),
            Some(Value::Dict(items)) => {
                let items = items.clone();
                self.mapping(name, &items, &args[1..])
            }
            Some(Value::Str(text)) if texts::parts(name, text, &args[1..]).is_some() => {
                let parts = texts::parts(name, text, &args[1..]).unwrap_or_default();
                Ok(Some(self.list(parts.iter().map(|part| Value::text(part)).collect())))
            }
            Some(Value::Str(text)) if name == "join" => {
                let items = args.get(1).and_then(Value::items).unwrap_or_default();
                let joined: Vec<_> = items.iter().map(texts::show).collect();
                Ok(Some(Value::text(&joined.join(text))))
            }
            Some(Value::Str(text)) if name == "slice" => {
                let chars: Vec<_> = text.chars().map(|c| Value::text(&c.to_string())).collect();
                let cut = sliced(&chars, &args[1..])?;
                Ok(Some(Value::text(&cut.iter().map(texts::show).collect::<String>())))
            }
            Some(Value::Object(_)) if matches!(name, "len" | "eq" | "ne") => match args[0].items() {
                Some(items) => self.sequence(name, &items, args),
                None => Ok(None),
            },
            Some(Value::Int(count)) if name == "range" || name == "rangelist" => {
                let count = usize::try_from(*count).unwrap_or(0);
                if count > MAX_LEN {
                    return Err("a range is too long".into());
                }
                Ok(Some(self.list((0..count as i64).map(Value::Int).collect())))
            }
            Some(Value::Int(count)) if name == "__range_length" && args.len() == 3 => {
                let (Value::Int(end), Value::Int(step)) = (&args[1], &args[2]) else { return self.open_range(args).map(Some) };
                if *step == 0 {
                    return Err(Stop::Raised("range() arg 3 must not be zero".to_owned()));
                }
                let span = end.checked_sub(*count).ok_or("a range is too long")?;
                let (span, step) = if *step < 0 { (span.saturating_neg(), step.saturating_neg()) } else { (span, *step) };
                Ok(Some(Value::Int(if span <= 0 { 0 } else { (span - 1) / step + 1 })))
            }
            Some(Value::Number(_)) if name == "__range_length" && args.len() == 3 => self.open_range(args).map(Some),
            Some(Value::Int(_) | Value::Number(_)) if name == "__derive_index" && args.len() == 3 => {
                let offset = self.number("mul", &[args[0].clone(), args[2].clone()])?.ok_or("a range is made of no numbers")?;
                self.number("add", &[args[1].clone(), offset])
            }
            _ => Ok(None),
        }
    }

    /// The length of a range whose ends only a call knows.
    fn open_range(&mut self, args: &[Value<'c>]) -> Eval<Value<'c>> {
        let [start, end, Value::Int(step)] = args else { return Err("a range has a step that only a call knows".into()) };
        let (first, last, size) = match *step {
            0 => return Err(Stop::Raised("range() arg 3 must not be zero".to_owned())),
            1.. => (start, end, *step),
            _ => (end, start, step.checked_neg().ok_or("a number is too large")?),
        };
        // As many steps as begin before the end.
        let mut count = |name: &str, a: Value<'c>, b: Value<'c>| {
            self.number(name, &[a, b])?.ok_or_else(|| Stop::Here("a range is made of no numbers".to_owned()))
        };
        let span = count("sub", last.clone(), first.clone())?;
        let span = count("add", span, Value::Int(size - 1))?;
        let steps = count("floordiv", span, Value::Int(size))?;
        count("max", steps, Value::Int(0))
    }

    /// What changes a list.
    fn change(&mut self, name: &str, list: &Shared<Vec<Value<'c>>>, args: &[Value<'c>]) -> Eval<Option<Value<'c>>> {
        let place = |value: &Value<'c>, len: usize| match value {
            Value::Int(place) => wrap(*place, len).ok_or_else(|| Stop::Raised("IndexError: list index out of range".to_owned())),
            _ => Err(Stop::Here("a list is changed at a place that only a call knows".to_owned())),
        };
        let changes = matches!(
            name,
            "append" | "extend" | "insert" | "pop" | "clear" | "reverse" | "sort" | "_set_item" | "Delete" | "remove" | "add_"
        );
        if !changes {
            return Ok(None);
        }
        if let ("_set_item", [place @ Value::Number(_), item]) = (name, args)
            && let Some(value) = self.set_somewhere(list, place, item)?
        {
            return Ok(Some(value));
        }
        let (mut args, len) = (args.to_vec(), list.borrow().len());
        match name {
            "_set_item" | "pop" | "Delete" if !args.is_empty() => args[0] = self.known_place(len, &args[0])?,
            "insert" if !args.is_empty() => args[0] = self.nearest(&args[0], (-(len as i64), len as i64))?,
            _ => {}
        }
        let args = args.as_slice();
        self.touch(&Place::List(list.clone()));
        match (name, args) {
            ("sort", flags) => {
                let mut items = list.borrow().clone();
                self.sort(&mut items, matches!(flags.first(), Some(Value::Bool(true))))?;
                *list.borrow_mut() = items;
                return Ok(Some(Value::None));
            }
            ("remove", [item]) => {
                let items = list.borrow().clone();
                let at = self.place_of(&items, item)?;
                let at = at.ok_or_else(|| Stop::Raised("ValueError: list.remove(x): x not in list".to_owned()))?;
                list.borrow_mut().remove(at);
                return Ok(Some(Value::None));
            }
            _ => {}
        }
        let mut result = Value::None;
        {
            let mut items = list.borrow_mut();
            match (name, args) {
                ("append", [item]) => items.push(item.clone()),
                ("extend" | "add_", [more]) => {
                    // A list may be extended by itself.
                    let more = if let Value::List(other) = more
                        && other.is(list)
                    {
                        items.clone()
                    } else {
                        more.items().unwrap_or_default()
                    };
                    items.extend(more);
                    if name == "add_" {
                        result = Value::List(list.clone());
                    }
                }
                ("insert", [at, item]) => {
                    let Value::Int(at) = at else { return Err("a list is changed at a place that only a call knows".into()) };
                    let len = items.len();
                    let at = if *at < 0 { wrap(*at, len).unwrap_or(0) } else { usize::try_from(*at).unwrap_or(len).min(len) };
                    items.insert(at, item.clone());
                }
                ("pop", at) => {
                    if items.is_empty() {
                        return Err(Stop::Raised("IndexError: pop from empty list".to_owned()));
                    }
                    let at = place(at.first().unwrap_or(&Value::Int(-1)), items.len())?;
                    if at >= items.len() {
                        return Err(Stop::Raised("IndexError: pop index out of range".to_owned()));
                    }
                    result = items.remove(at);
                }
                ("clear", []) => items.clear(),
                ("reverse", []) => items.reverse(),
                ("_set_item", [at, item]) => {
                    let at = place(at, items.len())?;
                    match items.get_mut(at) {
                        Some(slot) => *slot = item.clone(),
                        None => return Err(Stop::Raised("IndexError: list index out of range".to_owned())),
                    }
                }
                ("Delete", [at]) => {
                    let at = place(at, items.len())?;
                    if at < items.len() {
                        items.remove(at);
                    }
                }
                _ => return Ok(None),
            }
            if items.len() > MAX_LEN {
                return Err("a list is too long".into());
            }
        }
        Ok(Some(result))
    }

    /// Sets an item at a place that only a call knows: each item becomes what it is or what is set.
    fn set_somewhere(&mut self, list: &Shared<Vec<Value<'c>>>, place: &Value<'c>, item: &Value<'c>) -> Eval<Option<Value<'c>>> {
        let mut items = list.borrow().clone();
        let len = items.len();
        let ty = self.as_number(item).map(|item| item.ty());
        if ty.is_none() || items.iter().any(|known| self.as_number(known).map(|known| known.ty()) != ty) {
            return Ok(None);
        }
        self.guard_place(&Value::Int(len as i64), place)?;
        for (at, known) in items.iter_mut().enumerate() {
            let Value::Number(here) = self.is_place(len, at, place)? else { return Err("a place is no number".into()) };
            *known = match (self.as_number(item), self.as_number(known)) {
                (Some(new), Some(old)) if new.ty() == old.ty() => Value::Number(arith::select(&mut self.builder, here, new, old)),
                _ => return Err("a list is changed at a place that only a call knows".into()),
            };
        }
        self.touch(&Place::List(list.clone()));
        *list.borrow_mut() = items;
        Ok(Some(Value::List(list.clone())))
    }

    /// What reads a list or tuple.
    fn sequence(&mut self, name: &str, items: &[Value<'c>], args: &[Value<'c>]) -> Eval<Option<Value<'c>>> {
        Ok(Some(match (name, &args[1..]) {
            ("len", []) => Value::Int(items.len() as i64),
            ("__getitem__", [index]) => self.subscript(&args[0], index)?,
            ("slice", cut) => {
                let len = items.len() as i64;
                let cut = cut.iter().map(|place| self.nearest(place, (-len - 1, len))).collect::<Eval<Vec<_>>>()?;
                let cut = sliced(items, &cut)?;
                if matches!(args[0], Value::Tuple(_)) { self.tuple(cut) } else { self.list(cut) }
            }
            ("list" | "copy", []) => self.list(items.to_vec()),
            ("tuple", []) => self.tuple(items.to_vec()),
            ("sorted", flags) if !items.iter().any(Value::has_tensor) => {
                let mut items = items.to_vec();
                self.sort(&mut items, matches!(flags.first(), Some(Value::Bool(true))))?;
                self.list(items)
            }
            ("add", [other]) if other.items().is_some() => {
                let joined = [items.to_vec(), other.items().unwrap_or_default()].concat();
                if matches!(args[0], Value::Tuple(_)) { self.tuple(joined) } else { self.list(joined) }
            }
            ("mul" | "mul_", [count @ Value::Number(_)]) if matches!(args[0], Value::List(_)) => {
                let count = self.one_of(count, (0, MAX_STEPS_OF_LOOP))?;
                return self.sequence(name, items, &[args[0].clone(), count]);
            }
            ("mul" | "mul_", [Value::Int(count)]) if matches!(args[0], Value::List(_)) => {
                let count = usize::try_from(*count).unwrap_or(0);
                if items.len().saturating_mul(count) > MAX_LEN {
                    return Err("a list is too long".into());
                }
                self.list(std::iter::repeat_n(items, count).flatten().cloned().collect())
            }
            ("__contains__", [item]) => self.contains(items, item)?,
            ("index", [item]) if !item.has_tensor() && !items.iter().any(Value::has_tensor) => {
                let mut places = Vec::new();
                for (at, known) in items.iter().enumerate() {
                    places.push((self.same_item(known, item)?, Value::Int(at as i64)));
                }
                return self.chosen(&places, None, "ValueError: not in list");
            }
            ("count", [item]) => {
                let mut count = Value::Int(0);
                for known in items {
                    let one = self.same_item(known, item)?;
                    let one = self.number_of(&one, "int")?;
                    count = self.number("add", &[count, one])?.ok_or("a list holds no numbers")?;
                }
                count
            }
            ("eq" | "ne", [other]) if other.items().is_some() && !args.iter().any(Value::has_tensor) => {
                let other = other.items().unwrap_or_default();
                return self.equal(items, &other, name == "eq").map(Some);
            }
            ("max" | "min" | "sum", []) if !items.iter().any(Value::has_tensor) && !items.is_empty() => {
                let mut result = items[0].clone();
                for item in &items[1..] {
                    let pair = [result, item.clone()];
                    result = self.number(if name == "sum" { "add" } else { name }, &pair)?.ok_or("a list holds no numbers")?;
                }
                result
            }
            ("sum", []) if items.is_empty() => Value::Int(0),
            ("any" | "all", []) if items.iter().all(Value::is_number) => {
                let mut result = Value::Bool(name == "all");
                for item in items {
                    let pair = [result, self.number_of(item, "bool")?];
                    result = self.number(if name == "any" { "__or__" } else { "__and__" }, &pair)?.ok_or("a list holds no numbers")?;
                }
                result
            }
            _ => return Ok(None),
        }))
    }

    /// Whether two lists hold equal values: known, or a number that a call knows.
    pub fn equal(&mut self, a: &[Value<'c>], b: &[Value<'c>], wanted: bool) -> Eval<Value<'c>> {
        if a.len() != b.len() {
            return Ok(Value::Bool(!wanted));
        }
        let mut all = Value::Bool(true);
        for (a, b) in a.iter().zip(b) {
            let same = match (a.items(), b.items()) {
                (Some(a), Some(b)) => self.equal(&a, &b, true)?,
                _ => self.number("eq", &[a.clone(), b.clone()])?.ok_or("lists of such values are not compared")?,
            };
            all = match (all, same) {
                (Value::Bool(false), _) | (_, Value::Bool(false)) => Value::Bool(false),
                (Value::Bool(true), other) | (other, Value::Bool(true)) => other,
                (a, b) => self.number("__and__", &[a, b])?.ok_or("lists of such values are not compared")?,
            };
        }
        if wanted { Ok(all) } else { self.number("__not__", &[all])?.ok_or_else(|| "lists of such values are not compared".into()) }
    }

    fn mapping(&mut self, name: &str, dict: &Shared<Vec<(Value<'c>, Value<'c>)>>, args: &[Value<'c>]) -> Eval<Option<Value<'c>>> {
        let changes = matches!(name, "_set_item" | "update" | "pop" | "clear" | "setdefault" | "Delete" | "popitem");
        if changes {
            self.touch(&Place::Dict(dict.clone()));
        }
        let missing = || Stop::Raised("KeyError".to_owned());
        if let ("__getitem__" | "get", [key, rest @ ..]) = (name, args)
            && let Some(value) =
                self.number_at_key(dict, key, if name == "get" { Some(rest.first().unwrap_or(&Value::None)) } else { None })?
        {
            return Ok(Some(value));
        }
        Ok(Some(match (name, args) {
            ("len", []) => Value::Int(dict.borrow().len() as i64),
            ("keys", []) => self.list(dict.borrow().iter().map(|(key, _)| key.clone()).collect()),
            ("values", []) => self.list(dict.borrow().iter().map(|(_, value)| value.clone()).collect()),
            ("items", []) => self.list(dict.borrow().iter().map(|(key, value)| self.tuple(vec![key.clone(), value.clone()])).collect()),
            ("copy" | "dict", []) => self.dict(dict.borrow().clone()),
            ("__contains__", [key]) => {
                let keys: Vec<_> = dict.borrow().iter().map(|(key, _)| key.clone()).collect();
                self.contains(&keys, key)?
            }
            ("__getitem__", [key]) => self.place_of_key(dict, key)?.map(|at| dict.borrow()[at].1.clone()).ok_or_else(missing)?,
            ("get", [key, rest @ ..]) => match self.place_of_key(dict, key)? {
                Some(at) => dict.borrow()[at].1.clone(),
                None => rest.first().cloned().unwrap_or(Value::None),
            },
            ("_set_item", [key, value]) => {
                match self.place_of_key(dict, key)? {
                    Some(at) => dict.borrow_mut()[at].1 = value.clone(),
                    None => dict.borrow_mut().push((key.clone(), value.clone())),
                }
                Value::None
            }
            ("setdefault", [key, value]) => match self.place_of_key(dict, key)? {
                Some(at) => dict.borrow()[at].1.clone(),
                None => {
                    dict.borrow_mut().push((key.clone(), value.clone()));
                    value.clone()
                }
            },
            ("pop", [key, rest @ ..]) => match (self.place_of_key(dict, key)?, rest.first()) {
                (Some(at), _) => dict.borrow_mut().remove(at).1,
                (None, Some(default)) => default.clone(),
                (None, None) => return Err(missing()),
            },
            ("popitem", []) => {
                let (key, value) = dict.borrow_mut().pop().ok_or_else(missing)?;
                self.tuple(vec![key, value])
            }
            ("Delete", [key]) => {
                let at = self.place_of_key(dict, key)?.ok_or_else(missing)?;
                dict.borrow_mut().remove(at);
                Value::None
            }
            ("clear", []) => {
                dict.borrow_mut().clear();
                Value::None
            }
            ("update", [Value::Dict(other)]) => {
                for (key, value) in other.borrow().clone() {
                    match self.place_of_key(dict, &key)? {
                        Some(at) => dict.borrow_mut()[at].1 = value,
                        None => dict.borrow_mut().push((key, value)),
                    }
                }
                Value::None
            }
            _ => return Ok(None),
        }))
    }

    /// Sorts numbers and texts; numbers that only a call knows by the smaller and the larger of two neighbours.
    fn sort(&mut self, items: &mut [Value<'c>], descending: bool) -> Eval<()> {
        if !items.iter().any(|item| matches!(item, Value::Number(_))) || items.len() > MAX_SORTED {
            return sort(items, descending);
        }
        let names = if descending { ["max", "min"] } else { ["min", "max"] };
        for end in (1..items.len()).rev() {
            for at in 0..end {
                let pair = [items[at].clone(), items[at + 1].clone()];
                for (place, name) in names.into_iter().enumerate() {
                    items[at + place] = self.number(name, &pair)?.ok_or("a list of such values is not sorted")?;
                }
            }
        }
        Ok(())
    }
}

/// `items[start:end:step]`.
fn sliced<'c>(items: &[Value<'c>], cut: &[Value<'c>]) -> Eval<Vec<Value<'c>>> {
    let part = |at: usize| match cut.get(at) {
        None | Some(Value::None) => Ok(None),
        Some(Value::Int(value)) => Ok(Some(*value)),
        Some(_) => Err(Stop::Here("a list is cut at a place that only a call knows".to_owned())),
    };
    let (start, end, step) = (part(0)?, part(1)?, part(2)?.unwrap_or(1));
    let len = items.len() as i64;
    if step == 0 {
        return Err(Stop::Raised("ValueError: slice step cannot be zero".to_owned()));
    }
    let (low, high) = if step > 0 { (0, len) } else { (-1, len - 1) };
    let bound = |value: Option<i64>, default: i64| {
        value.map_or(default, |value| if value < 0 { value.saturating_add(len).max(low) } else { value.min(high) })
    };
    let (mut at, end) = if step > 0 { (bound(start, 0), bound(end, len)) } else { (bound(start, len - 1), bound(end, -1)) };
    let mut cut = Vec::new();
    while if step > 0 { at < end } else { at > end } {
        cut.extend(usize::try_from(at).ok().and_then(|at| items.get(at)).cloned());
        at = at.saturating_add(step);
    }
    Ok(cut)
}

/// Sorts items that are known.
fn sort(items: &mut [Value<'_>], descending: bool) -> Eval<()> {
    use std::cmp::Ordering;
    let order = |a: &Value<'_>, b: &Value<'_>| match (a, b) {
        (Value::Int(a), Value::Int(b)) => a.cmp(b),
        (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        (Value::Float(a), Value::Float(b)) => a.partial_cmp(b).unwrap_or(Ordering::Equal),
        (Value::Str(a), Value::Str(b)) => a.cmp(b),
        _ => Ordering::Equal,
    };
    if !items.iter().all(|item| matches!(item, Value::Int(_) | Value::Bool(_) | Value::Float(_) | Value::Str(_))) {
        return Err("a list of such values is not sorted".into());
    }
    items.sort_by(|a, b| if descending { order(b, a) } else { order(a, b) });
    Ok(())
}
