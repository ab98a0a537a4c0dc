//! Texts: their methods, and values as texts, both as TorchScript's interpreter has them.

use super::error::{Eval, Stop};
use super::value::{FIELDS, Value};

/// What stands in a text for a value that only a call knows. Such a text is fit for messages only.
pub(super) const OPEN: char = '\u{fffd}';
/// What `strip` takes away and `split` splits at.
const BLANKS: [char; 6] = [' ', '\t', '\n', '\r', '\x0b', '\x0c'];
/// Longer texts are a program without end.
const MAX_LEN: usize = 1 << 16;

/// Whether a text, or one in a list or tuple, holds what only a call knows.
pub(super) fn is_open(value: &Value<'_>) -> bool {
    match value {
        Value::Str(text) => text.contains(OPEN),
        value => value.items().is_some_and(|items| items.iter().any(is_open)),
    }
}

/// A method of a text; nothing where it is none.
pub(super) fn method<'c>(name: &str, text: &str, args: &[Value<'c>]) -> Eval<Option<Value<'c>>> {
    let word = |place: usize| if let Some(Value::Str(word)) = args.get(place) { Some(&**word) } else { None };
    let number = |place: usize| if let Some(Value::Int(number)) = args.get(place) { Some(*number) } else { None };
    let all = |test: fn(char) -> bool| Some(Value::Bool(!text.is_empty() && text.chars().all(test)));
    let changed =
        |text: String| if text.len() > MAX_LEN { Err(Stop::Here("a text is too long".to_owned())) } else { Ok(Some(Value::text(&text))) };
    let cased = |test: fn(&char) -> bool, other: fn(&char) -> bool| {
        Some(Value::Bool(text.chars().any(|c| test(&c)) && !text.chars().any(|c| other(&c))))
    };
    let missing = || Stop::Raised("ValueError: substring not found".to_owned());
    Ok(match (name, args) {
        ("eq", [Value::Str(other)]) => Some(Value::Bool(*text == **other)),
        ("ne", [Value::Str(other)]) => Some(Value::Bool(*text != **other)),
        ("lt", [Value::Str(other)]) => Some(Value::Bool(*text < **other)),
        ("le", [Value::Str(other)]) => Some(Value::Bool(*text <= **other)),
        ("gt", [Value::Str(other)]) => Some(Value::Bool(*text > **other)),
        ("ge", [Value::Str(other)]) => Some(Value::Bool(*text >= **other)),
        ("add", [Value::Str(other)]) => return changed(format!("{text}{other}")),
        ("mul", [Value::Int(count)]) => {
            let count = usize::try_from(*count).unwrap_or(0);
            if text.len().saturating_mul(count) > MAX_LEN {
                return Err("a text is too long".into());
            }
            Some(Value::text(&text.repeat(count)))
        }
        ("len", []) => Some(Value::Int(text.chars().count() as i64)),
        ("str", []) => Some(Value::text(text)),
        ("ord", []) => text.chars().next().map(|c| Value::Int(u32::from(c).into())),
        ("__contains__", [Value::Str(word)]) => Some(Value::Bool(text.contains(&**word))),
        ("upper", []) => return changed(text.to_ascii_uppercase()),
        ("lower", []) => return changed(text.to_ascii_lowercase()),
        ("swapcase", []) => {
            return changed(
                text.chars().map(|c| if c.is_ascii_lowercase() { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() }).collect(),
            );
        }
        ("capitalize", []) => return changed(words(text, |place, _| place == 0)),
        ("title", []) => return changed(words(text, |_, before| !before.is_some_and(|c| c.is_ascii_alphabetic()))),
        ("isalpha", []) => all(|c| c.is_ascii_alphabetic()),
        ("isalnum", []) => all(|c| c.is_ascii_alphanumeric()),
        ("isdigit" | "isdecimal" | "isnumeric", []) => all(|c| c.is_ascii_digit()),
        ("isspace", []) => all(|c| BLANKS.contains(&c)),
        ("isupper", []) => cased(char::is_ascii_uppercase, char::is_ascii_lowercase),
        ("islower", []) => cased(char::is_ascii_lowercase, char::is_ascii_uppercase),
        ("startswith", [Value::Str(word), ..]) => {
            Some(Value::Bool(cut(text, number(1), number(2)).is_some_and(|text| text.starts_with(&**word))))
        }
        ("endswith", [Value::Str(word), ..]) => {
            Some(Value::Bool(cut(text, number(1), number(2)).is_some_and(|text| text.ends_with(&**word))))
        }
        ("find" | "index", [Value::Str(word), ..]) | ("rfind" | "rindex", [Value::Str(word), ..]) => {
            let part = cut(text, number(1), number(2));
            let found = part.and_then(|part| if name.starts_with('r') { part.rfind(&**word) } else { part.find(&**word) });
            let start = number(1).map_or(0, |start| bound(start, text.len()));
            match found {
                Some(at) => Some(Value::Int((start + at) as i64)),
                None if name.ends_with("find") => Some(Value::Int(-1)),
                None => return Err(missing()),
            }
        }
        ("count", [Value::Str(word), ..]) if !word.is_empty() => {
            Some(Value::Int(cut(text, number(1), number(2)).map_or(0, |text| text.matches(&**word).count()) as i64))
        }
        ("strip" | "lstrip" | "rstrip", _) => {
            let of = |c: char| word(0).map_or(BLANKS.contains(&c), |word| word.contains(c));
            Some(Value::text(match name {
                "strip" => text.trim_matches(of),
                "lstrip" => text.trim_start_matches(of),
                _ => text.trim_end_matches(of),
            }))
        }
        ("replace", [Value::Str(from), Value::Str(to), ..]) if !from.is_empty() => {
            let count = number(2).and_then(|count| usize::try_from(count).ok()).unwrap_or(usize::MAX);
            return changed(text.replacen(&**from, to, count));
        }
        ("ljust" | "rjust" | "center", [Value::Int(width), ..]) => {
            let fill = word(1).unwrap_or(" ");
            let missing = usize::try_from(*width).unwrap_or(0).min(MAX_LEN).saturating_sub(text.chars().count());
            let before = match name {
                "ljust" => 0,
                "rjust" => missing,
                _ => missing / 2,
            };
            return changed(fill.repeat(before) + text + &fill.repeat(missing - before));
        }
        ("zfill", [Value::Int(width)]) => {
            let missing = usize::try_from(*width).unwrap_or(0).min(MAX_LEN).saturating_sub(text.chars().count());
            let (sign, digits) = text.split_at(usize::from(text.starts_with(['+', '-'])));
            return changed(format!("{sign}{}{digits}", "0".repeat(missing)));
        }
        ("expandtabs", _) if !text.contains('\t') => Some(Value::text(text)),
        ("partition" | "rpartition", [Value::Str(word)]) => {
            let parts = if name == "partition" { text.split_once(&**word) } else { text.rsplit_once(&**word) };
            let parts = match (parts, name) {
                (Some((before, after)), _) => [before, word, after],
                (None, "partition") => [text, "", ""],
                (None, _) => ["", "", text],
            };
            Some(Value::Tuple(parts.map(Value::text).into()))
        }
        _ => None,
    })
}

/// What a method gives that makes several texts of one; nothing where it is none.
pub(super) fn parts(name: &str, text: &str, args: &[Value<'_>]) -> Option<Vec<String>> {
    let most = if let Some(Value::Int(most)) = args.get(1) { usize::try_from(*most).ok() } else { None };
    let owned = |parts: Vec<&str>| parts.into_iter().map(str::to_owned).collect();
    Some(match (name, args.first()) {
        ("split", Some(Value::Str(separator))) if !separator.is_empty() => match most {
            Some(most) => owned(text.splitn(most + 1, &**separator).collect()),
            None => owned(text.split(&**separator).collect()),
        },
        ("rsplit", Some(Value::Str(separator))) if !separator.is_empty() => {
            let mut parts: Vec<_> = match most {
                Some(most) => text.rsplitn(most + 1, &**separator).collect(),
                None => text.rsplit(&**separator).collect(),
            };
            parts.reverse();
            owned(parts)
        }
        ("split" | "rsplit", None | Some(Value::None)) if most.is_none() => {
            owned(text.split(BLANKS).filter(|part| !part.is_empty()).collect())
        }
        ("splitlines", Some(Value::Bool(true))) => owned(text.split_inclusive('\n').collect()),
        ("splitlines", _) => owned(text.lines().collect()),
        ("list", None) => text.chars().map(|c| c.to_string()).collect(),
        _ => return None,
    })
}

/// A text with its words written large: `first` says of each letter's place, and the one before it, whether it begins one.
fn words(text: &str, first: fn(usize, Option<char>) -> bool) -> String {
    let mut before = None;
    let each = |(place, c): (usize, char)| {
        let written = if first(place, before) { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() };
        before = Some(c);
        written
    };
    text.chars().enumerate().map(each).collect()
}

/// A place counted from the end where it is negative, no further than a text is long.
fn bound(place: i64, len: usize) -> usize {
    let place = if place < 0 { place.saturating_add(len as i64).max(0) } else { place };
    usize::try_from(place).unwrap_or(len).min(len)
}

/// The part of a text between two places.
fn cut(text: &str, start: Option<i64>, end: Option<i64>) -> Option<&str> {
    let (start, end) = (start.map_or(0, |start| bound(start, text.len())), end.map_or(text.len(), |end| bound(end, text.len())));
    text.get(start..end)
}

/// A number's digits behind its sign.
pub(super) fn signed(value: i64, digits: fn(u64) -> String) -> String {
    format!("{}{}", if value < 0 { "-" } else { "" }, digits(value.unsigned_abs()))
}

/// A text with values in the places of `{}`.
pub(super) fn format(args: &[Value<'_>]) -> String {
    let Some(Value::Str(text)) = args.first() else { return String::new() };
    let (mut out, mut values) = (String::new(), args[1..].iter());
    let mut rest: &str = text;
    while let Some((before, after)) = rest.split_once("{}") {
        out.push_str(before);
        out.push_str(&values.next().map(show).unwrap_or_default());
        rest = after;
    }
    out + rest
}

/// A text with values in the places of `%d`, `%s` and the like; nothing where one of these is not known.
pub(super) fn percent<'c>(args: &[Value<'c>]) -> Option<String> {
    let Some(Value::Str(text)) = args.first() else { return None };
    let values = args[1..].iter().flat_map(|arg| if let Value::Tuple(items) = arg { items.to_vec() } else { vec![arg.clone()] });
    let (mut out, mut values, mut chars) = (String::new(), values.collect::<Vec<_>>().into_iter(), text.chars());
    while let Some(c) = chars.next() {
        if c != '%' {
            out.push(c);
            continue;
        }
        match chars.next()? {
            '%' => out.push('%'),
            's' => out.push_str(&show(&values.next()?)),
            'd' | 'i' => match values.next()? {
                Value::Int(value) => out.push_str(&value.to_string()),
                Value::Float(value) => out.push_str(&(value as i64).to_string()),
                _ => return None,
            },
            'f' | 'F' => match values.next()? {
                Value::Int(value) => out.push_str(&format!("{:.6}", value as f64)),
                Value::Float(value) => out.push_str(&format!("{value:.6}")),
                _ => return None,
            },
            _ => return None,
        }
    }
    Some(out)
}

/// A value as `str` writes it.
pub(super) fn show(value: &Value<'_>) -> String {
    let list = |items: &[Value<'_>]| items.iter().map(show).collect::<Vec<_>>().join(", ");
    match value {
        Value::None => "None".to_owned(),
        Value::Bool(value) => if *value { "True" } else { "False" }.to_owned(),
        Value::Int(value) => value.to_string(),
        Value::Float(value) => float(*value),
        Value::Str(text) | Value::Device(text) => text.to_string(),
        Value::Tuple(items) if items.len() == 1 => format!("({},)", list(items)),
        Value::Tuple(items) => format!("({})", list(items)),
        Value::List(items) => format!("[{}]", list(&items.borrow())),
        Value::Dict(items) => {
            let items: Vec<_> = items.borrow().iter().map(|(key, value)| format!("{}: {}", show(key), show(value))).collect();
            format!("{{{}}}", items.join(", "))
        }
        Value::Object(object) if object.get(FIELDS).is_some() => format!("({})", list(&value.items().unwrap_or_default())),
        _ => OPEN.to_string(),
    }
}

/// A float: whole ones with a point behind them, others with 17 digits.
fn float(value: f64) -> String {
    if value.is_nan() {
        return if value.is_sign_negative() { "-nan" } else { "nan" }.to_owned();
    }
    if value.is_infinite() {
        return if value < 0.0 { "-inf" } else { "inf" }.to_owned();
    }
    if value.fract() == 0.0 && value.abs() < 1e10 {
        return format!("{value:.0}.");
    }
    let scientific = format!("{value:.16e}");
    let Some((digits, exponent)) = scientific.split_once('e').and_then(|(digits, exponent)| Some((digits, exponent.parse::<i32>().ok()?)))
    else {
        return scientific;
    };
    let trimmed =
        |text: &str| if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text.to_owned() };
    if (-4..17).contains(&exponent) {
        let behind = usize::try_from(16 - exponent).unwrap_or(0);
        return trimmed(&format!("{value:.behind$}"));
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", trimmed(digits), exponent.unsigned_abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_written_as_c_does() {
        for (value, text) in [
            (2.0, "2."),
            (-0.0, "-0."),
            (0.1, "0.10000000000000001"),
            (1.5, "1.5"),
            (1e10, "10000000000"),
            (1e20, "1e+20"),
            (1e-7, "9.9999999999999995e-08"),
        ] {
            assert_eq!(float(value), text);
        }
    }

    #[test]
    fn methods_are_pythons() {
        let call = |name: &str, text: &str, args: &[Value<'_>]| {
            method(name, text, args).ok().flatten().map(|value| show(&value)).unwrap_or_default()
        };
        assert_eq!(call("title", "ab c", &[]), "Ab C");
        assert_eq!(call("center", "ab", &[Value::Int(5)]), " ab  ");
        assert_eq!(call("zfill", "-7", &[Value::Int(4)]), "-007");
        assert_eq!(call("rfind", "abab", &[Value::text("b")]), "3");
        assert_eq!(parts("rsplit", "a,b,c", &[Value::text(","), Value::Int(1)]), Some(vec!["a,b".to_owned(), "c".to_owned()]));
    }
}
