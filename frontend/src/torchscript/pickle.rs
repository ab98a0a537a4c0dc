//! The pickles of an archive: a small machine with a stack, a memo, and no code that it could run.
//!
//! PyTorch writes protocol 2 and some thirty opcodes. What a pickle asks for by name is kept as data, and who reads the values decides
//! what it means. Values share parts; depth and number of steps are bounded.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// A value of a pickle.
#[derive(Debug, Clone)]
#[allow(missing_docs, reason = "the names are Python's")]
pub enum Pickled {
    None,
    Bool(bool),
    Int(i64),
    Float(f64),
    Str(Rc<str>),
    List(Rc<RefCell<Vec<Pickled>>>),
    Tuple(Rc<[Pickled]>),
    Dict(Rc<RefCell<Vec<(Pickled, Pickled)>>>),
    /// A class or function by module and name.
    Global(Rc<str>),
    /// A reference out of the pickle: a storage.
    Persistent(Rc<Pickled>),
    /// An object: its class, the arguments it was made of, and its state.
    Object(Rc<Object>),
}

/// An object of a pickle.
#[derive(Debug)]
pub struct Object {
    /// What was called to make it.
    pub class: Rc<str>,
    /// With what.
    pub args: Rc<[Pickled]>,
    /// What it was given afterwards.
    pub state: RefCell<Option<Pickled>>,
}

/// More steps than any model's pickle has.
const MAX_STEPS: usize = 1 << 24;
/// Values in each other: readers recur over them.
const MAX_DEPTH: u32 = 200;

/// Reads a pickle; an error says at which byte, and what is wrong.
pub fn read(bytes: &[u8]) -> Result<Pickled, String> {
    let mut machine = Machine { bytes, at: 0, stack: Vec::new(), marks: Vec::new(), memo: HashMap::new() };
    for _ in 0..MAX_STEPS {
        let at = machine.at;
        match machine.step() {
            Ok(None) => {}
            Ok(Some(value)) => {
                let mut seen = HashMap::new();
                depth(&value, &mut seen, 0)?;
                return Ok(value);
            }
            Err(why) => return Err(format!("byte {at}: {why}")),
        }
    }
    Err(format!("it takes more than {MAX_STEPS} steps"))
}

struct Machine<'b> {
    bytes: &'b [u8],
    at: usize,
    stack: Vec<Pickled>,
    marks: Vec<usize>,
    memo: HashMap<u32, Pickled>,
}

impl Machine<'_> {
    fn take(&mut self, count: usize) -> Result<&[u8], String> {
        let end = self.at.checked_add(count).filter(|end| *end <= self.bytes.len()).ok_or("it ends in the middle")?;
        let taken = &self.bytes[self.at..end];
        self.at = end;
        Ok(taken)
    }

    fn number<const N: usize>(&mut self) -> Result<[u8; N], String> {
        self.take(N)?.try_into().map_err(|_| "it ends in the middle".to_owned())
    }

    fn u32(&mut self) -> Result<u32, String> {
        Ok(u32::from_le_bytes(self.number()?))
    }

    fn line(&mut self) -> Result<String, String> {
        let rest = &self.bytes[self.at.min(self.bytes.len())..];
        let end = rest.iter().position(|byte| *byte == b'\n').ok_or("a line does not end")?;
        let text = std::str::from_utf8(&rest[..end]).map_err(|_| "a name is not UTF-8")?.to_owned();
        self.at += end + 1;
        Ok(text)
    }

    fn text(&mut self, count: usize) -> Result<Rc<str>, String> {
        Ok(std::str::from_utf8(self.take(count)?).map_err(|_| "a string is not UTF-8")?.into())
    }

    fn pop(&mut self) -> Result<Pickled, String> {
        let floor = self.marks.last().copied().unwrap_or(0);
        if self.stack.len() <= floor {
            return Err("the stack is empty".to_owned());
        }
        self.stack.pop().ok_or_else(|| "the stack is empty".to_owned())
    }

    fn pop_mark(&mut self) -> Result<Vec<Pickled>, String> {
        let mark = self.marks.pop().ok_or("there is no mark")?;
        Ok(self.stack.split_off(mark.min(self.stack.len())))
    }

    fn tuple(&mut self, count: usize) -> Result<(), String> {
        let mut parts = (0..count).map(|_| self.pop()).collect::<Result<Vec<_>, _>>()?;
        parts.reverse();
        self.stack.push(Pickled::Tuple(parts.into()));
        Ok(())
    }

    fn remember(&mut self, key: u32) -> Result<(), String> {
        let value = self.stack.last().ok_or("the stack is empty")?.clone();
        self.memo.insert(key, value);
        Ok(())
    }

    fn recall(&mut self, key: u32) -> Result<(), String> {
        let value = self.memo.get(&key).ok_or_else(|| format!("nothing was kept as {key}"))?.clone();
        self.stack.push(value);
        Ok(())
    }

    fn extend(&mut self, items: Vec<Pickled>) -> Result<(), String> {
        match self.stack.last() {
            Some(Pickled::List(list)) => list.borrow_mut().extend(items),
            _ => return Err("only a list is appended to".to_owned()),
        }
        Ok(())
    }

    fn set(&mut self, items: Vec<Pickled>) -> Result<(), String> {
        let mut items = items.into_iter();
        let Some(Pickled::Dict(dict)) = self.stack.last() else { return Err("only a dict has items".to_owned()) };
        while let (Some(key), value) = (items.next(), items.next()) {
            dict.borrow_mut().push((key, value.ok_or("a key has no value")?));
        }
        Ok(())
    }

    /// Calls something, or makes an object of a class.
    fn call(&mut self) -> Result<(), String> {
        let (args, callee) = (self.pop()?, self.pop()?);
        let Pickled::Global(class) = callee else { return Err("only what has a name is called".to_owned()) };
        // Members of enums are made of their value, everything else of a tuple.
        let args = if let Pickled::Tuple(args) = args { args } else { Rc::new([args]) };
        self.stack.push(match (&*class, &*args) {
            // What only notes the static type of a list or dict.
            ("torch.jit._pickle.restore_type_tag", [value, _]) => value.clone(),
            ("collections.OrderedDict", []) => Pickled::Dict(Rc::default()),
            _ => Pickled::Object(Rc::new(Object { class, args, state: RefCell::new(None) })),
        });
        Ok(())
    }

    fn step(&mut self) -> Result<Option<Pickled>, String> {
        let [code] = self.number()?;
        match code {
            0x80 => drop(self.take(1)?),
            0x95 => drop(self.take(8)?),
            b'.' => return self.pop().map(Some),
            b'(' => self.marks.push(self.stack.len()),
            b'0' => drop(self.pop()?),
            b'N' => self.stack.push(Pickled::None),
            0x88 => self.stack.push(Pickled::Bool(true)),
            0x89 => self.stack.push(Pickled::Bool(false)),
            b'J' => {
                let value = i32::from_le_bytes(self.number()?);
                self.stack.push(Pickled::Int(value.into()));
            }
            b'K' => {
                let [value] = self.number()?;
                self.stack.push(Pickled::Int(value.into()));
            }
            b'M' => {
                let value = u16::from_le_bytes(self.number()?);
                self.stack.push(Pickled::Int(value.into()));
            }
            0x8a => {
                let [count] = self.number()?;
                let bytes = self.take(count.into())?;
                if bytes.len() > 8 {
                    return Err("an integer has more than 64 bits".to_owned());
                }
                let fill = if bytes.last().is_some_and(|last| last & 0x80 != 0) { 0xff } else { 0 };
                let mut wide = [fill; 8];
                wide[..bytes.len()].copy_from_slice(bytes);
                self.stack.push(Pickled::Int(i64::from_le_bytes(wide)));
            }
            b'G' => {
                let value = f64::from_be_bytes(self.number()?);
                self.stack.push(Pickled::Float(value));
            }
            b'X' => {
                let count = self.u32()?;
                let text = self.text(count as usize)?;
                self.stack.push(Pickled::Str(text));
            }
            0x8c => {
                let [count] = self.number()?;
                let text = self.text(count.into())?;
                self.stack.push(Pickled::Str(text));
            }
            b'U' | b'T' => {
                let count = if code == b'U' { u32::from(self.number::<1>()?[0]) } else { self.u32()? };
                let text = self.text(count as usize)?;
                self.stack.push(Pickled::Str(text));
            }
            b']' => self.stack.push(Pickled::List(Rc::default())),
            b'}' => self.stack.push(Pickled::Dict(Rc::default())),
            b')' => self.stack.push(Pickled::Tuple(Rc::new([]))),
            b't' => {
                let parts = self.pop_mark()?;
                self.stack.push(Pickled::Tuple(parts.into()));
            }
            0x85 => self.tuple(1)?,
            0x86 => self.tuple(2)?,
            0x87 => self.tuple(3)?,
            b'l' => {
                let parts = self.pop_mark()?;
                self.stack.push(Pickled::List(Rc::new(RefCell::new(parts))));
            }
            b'a' => {
                let item = self.pop()?;
                self.extend(vec![item])?;
            }
            b'e' => {
                let items = self.pop_mark()?;
                self.extend(items)?;
            }
            b's' => {
                let (value, key) = (self.pop()?, self.pop()?);
                self.set(vec![key, value])?;
            }
            b'u' => {
                let items = self.pop_mark()?;
                self.set(items)?;
            }
            b'c' => {
                let (module, name) = (self.line()?, self.line()?);
                self.stack.push(Pickled::Global(format!("{module}.{name}").into()));
            }
            b'R' | 0x81 => self.call()?,
            b'b' => {
                let state = self.pop()?;
                match self.stack.last() {
                    Some(Pickled::Object(object)) => drop(object.state.replace(Some(state))),
                    _ => return Err("only an object has a state".to_owned()),
                }
            }
            b'Q' => {
                let id = self.pop()?;
                self.stack.push(Pickled::Persistent(Rc::new(id)));
            }
            b'q' => {
                let [key] = self.number()?;
                self.remember(key.into())?;
            }
            b'r' => {
                let key = self.u32()?;
                self.remember(key)?;
            }
            0x94 => self.remember(u32::try_from(self.memo.len()).map_err(|_| "too much is kept")?)?,
            b'h' => {
                let [key] = self.number()?;
                self.recall(key.into())?;
            }
            b'j' => {
                let key = self.u32()?;
                self.recall(key)?;
            }
            code => return Err(format!("opcode {code:#04x} is none that PyTorch writes")),
        }
        Ok(None)
    }
}

/// How deep a value is; one that holds itself is refused, as is one that is too deep.
fn depth(value: &Pickled, seen: &mut HashMap<*const (), u32>, above: u32) -> Result<u32, String> {
    if above > MAX_DEPTH {
        return Err(format!("values are nested more than {MAX_DEPTH} times"));
    }
    let place: *const () = match value {
        Pickled::List(list) => Rc::as_ptr(list).cast(),
        Pickled::Tuple(parts) => Rc::as_ptr(parts).cast(),
        Pickled::Dict(items) => Rc::as_ptr(items).cast(),
        Pickled::Object(object) => Rc::as_ptr(object).cast(),
        Pickled::Persistent(id) => return depth(id, seen, above + 1),
        _ => return Ok(0),
    };
    // What is shared is measured once.
    if let Some(known) = seen.get(&place) {
        let total = above.saturating_add(*known);
        return if total > MAX_DEPTH { Err(format!("values are nested more than {MAX_DEPTH} times")) } else { Ok(*known) };
    }
    let mut deepest = 0;
    let mut part = |part: &Pickled| -> Result<(), String> {
        deepest = deepest.max(1 + depth(part, seen, above + 1)?);
        Ok(())
    };
    match value {
        Pickled::List(list) => list.borrow().iter().try_for_each(&mut part)?,
        Pickled::Tuple(parts) => parts.iter().try_for_each(&mut part)?,
        Pickled::Dict(items) => items.borrow().iter().try_for_each(|(key, value)| part(key).and_then(|()| part(value)))?,
        Pickled::Object(object) => {
            object.args.iter().try_for_each(&mut part)?;
            object.state.borrow().iter().try_for_each(&mut part)?;
        }
        _ => {}
    }
    seen.insert(place, deepest);
    Ok(deepest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_holds_itself_is_refused() {
        assert!(read(b"\x80\x02]q\x00h\x00a.").is_err_and(|why| why.contains("nested")));
    }

    #[test]
    fn what_ends_in_the_middle_is_refused() {
        for text in [&b"X\xff\xff\xff\xff"[..], b"(", b"t.", b"", b"c__torch__", b"\x8a\x09123456789."] {
            assert!(read(text).is_err(), "{text:?}");
        }
    }

    #[test]
    fn numbers_and_lists_are_read() {
        let Ok(Pickled::List(list)) = read(b"\x80\x02](K\x07J\xff\xff\xff\xff\x8a\x02\x00\x01e.") else { panic!("a list") };
        let ints: Vec<_> = list.borrow().iter().map(|item| if let Pickled::Int(value) = item { *value } else { 0 }).collect();
        assert_eq!(ints, [7, -1, 256]);
    }
}
