//! The expression readers on what they must know and on random text.

use proptest::prelude::*;
use strata_frontend::pt2::{
    expr::{Expr, Func},
    guard::{Guard, Place},
    pytree::Key,
};

fn symbol(name: &str) -> Expr {
    Expr::Symbol(name.to_owned())
}

#[test]
fn srepr_is_read() {
    let text = "Add(FloorDiv(Add(Symbol('s25', positive=True, integer=True), Integer(-1)), Integer(2)), Integer(1))";
    let inner = Expr::Call(Func::Add, vec![symbol("s25"), Expr::Int(-1)]);
    let want = Expr::Call(Func::Add, vec![Expr::Call(Func::FloorDiv, vec![inner, Expr::Int(2)]), Expr::Int(1)]);
    assert_eq!(Expr::parse(text), Ok(want));
    assert_eq!(Expr::parse("Symbol('zuf0')"), Ok(symbol("zuf0")));
    assert_eq!(Expr::parse("Float('0.5', precision=53)"), Ok(Expr::Float(0.5)));
    assert_eq!(Expr::parse("Rational(1, 2)"), Ok(Expr::Rational(1, 2)));
    assert_eq!(Expr::parse("Integer(9223372036854775807)"), Ok(Expr::Int(i64::MAX)));
}

#[test]
fn bad_expressions_are_refused() {
    let deep = format!("{}Integer(1){}", "Max(".repeat(100_000), ")".repeat(100_000));
    let long = "Max(".repeat(5_000);
    let powers = format!("{}Symbol('s0'){}", "Pow(".repeat(14), ", Integer(8))".repeat(14));
    let bad = [
        "",
        "Integer",
        "Integer(",
        "Integer()",
        "Integer(1",
        "Integer(1))",
        "Integer(99999999999999999999)",
        "Pow(Integer(1))",
        "Shell('rm')",
        "Symbol(s1)",
        "Symbol('')",
        "Symbol('a b')",
        "Symbol('a', positive)",
        "Rational(1, 0)",
        "Float('x')",
        "Mod()",
        "Add(,)",
        "\u{1F600}",
        "'open",
        &deep,
        &powers,
        &long,
    ];
    for text in bad {
        assert!(Expr::parse(text).is_err(), "{} is accepted", &text[..text.len().min(40)]);
    }
}

#[test]
fn guards_are_read() {
    let guard =
        Guard::parse("L['a'][0].size()[1] != torch.sym_max(1, (1 + L['a'][0].size()[1]) // 2)").expect("a guard").expect("of a size");
    let place = Place { path: vec![Key::Name("a".into()), Key::Index(0)], dim: Some(1) };
    assert_eq!(guard.places, vec![("v0".to_owned(), place)]);
    let half = Expr::Call(Func::FloorDiv, vec![Expr::Call(Func::Add, vec![Expr::Int(1), symbol("v0")]), Expr::Int(2)]);
    let most = Expr::Call(Func::Max, vec![Expr::Int(1), half]);
    assert_eq!(guard.expr, Expr::Call(Func::Ne, vec![symbol("v0"), most]));
    let chained = Guard::parse("2 <= L['n'] < 9 or not L['n'] % 4 == -1 ** 2").expect("a guard").expect("of a number");
    assert_eq!(Guard::parse("L['x']._base.size()[2] == 2"), Ok(None), "a call brings nothing that an argument is a view of");
    assert!(Guard::parse("L['x']._base.data[2] == 2").is_err());
    assert!(matches!(chained.expr, Expr::Call(Func::Or, _)));
    for bad in ["", "L['a'", "L['a'][0].stride()[0] == 1", "1 +", "(1", "f(1)", "import os", "L['a'].size()[x] == 1"] {
        assert!(Guard::parse(bad).is_err(), "{bad} is accepted");
    }
    assert!(Guard::parse(&"(".repeat(60_000)).is_err());
    assert!(Guard::parse(&"not ".repeat(16_000)).is_err());
    assert!(Guard::parse(&"-".repeat(60_000)).is_err());
}

fn any_expr() -> impl Strategy<Value = Expr> {
    let leaf = prop_oneof![
        any::<i64>().prop_filter("the least integer has no srepr", |value| *value != i64::MIN).prop_map(Expr::Int),
        "[su][0-9]{1,3}".prop_map(Expr::Symbol),
        (-9i64..9, 1i64..9).prop_map(|(above, below)| Expr::Rational(above, below)),
        (-1e6..1e6f64).prop_map(Expr::Float),
        any::<bool>().prop_map(Expr::Bool),
    ];
    leaf.prop_recursive(6, 48, 4, |inner| {
        let many = prop_oneof![Just(Func::Add), Just(Func::Mul), Just(Func::Max), Just(Func::Min), Just(Func::And)];
        let two = prop_oneof![Just(Func::Pow), Just(Func::FloorDiv), Just(Func::PythonMod), Just(Func::Ge), Just(Func::Eq)];
        prop_oneof![
            (many, prop::collection::vec(inner.clone(), 1..4)).prop_map(|(func, operands)| Expr::Call(func, operands)),
            (two, inner.clone(), inner).prop_map(|(func, a, b)| Expr::Call(func, vec![a, b])),
        ]
    })
}

proptest! {
    #[test]
    fn printed_expressions_read_back(expr in any_expr()) {
        prop_assert_eq!(Expr::parse(&expr.to_string()), Ok(expr));
    }

    #[test]
    fn random_text_never_panics(text in "\\PC{0,80}") {
        let _ = (Expr::parse(&text), Guard::parse(&text));
    }

    #[test]
    fn random_tokens_never_panic(parts in prop::collection::vec(
        prop::sample::select(vec!["Add(", "Symbol('s0'", ")", ",", "Integer(", "-", "3", "L['a']", "[0]", ".size()", "==", "(", "not ", "//", "1e", "."]), 0..40)) {
        let text = parts.concat();
        let _ = (Expr::parse(&text), Guard::parse(&text));
    }
}
