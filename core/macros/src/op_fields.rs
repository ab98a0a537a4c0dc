//! The fields of an op's struct.

use proc_macro2::Ident;
use syn::{Error, Field, GenericArgument, ItemStruct, PathArguments, Result, Type};

/// What a field stands for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Operand,
    Optional,
    Variadic,
    Result,
    Results,
    Attr,
    OptAttr,
    Region,
    Regions,
    Successor,
    Successors,
}

/// One field.
pub struct OpField {
    pub name: Ident,
    pub kind: Kind,
    /// The marker type in `<..>`.
    pub spec: Option<Type>,
    pub doc: String,
}

impl OpField {
    /// The name as MLIR sees it, without Rust's `r#`.
    pub fn text(&self) -> String {
        self.name.to_string().trim_start_matches("r#").to_owned()
    }
}

/// The documentation of an item, one line per line.
pub fn doc(attrs: &[syn::Attribute]) -> String {
    let lines = attrs.iter().filter(|attr| attr.path().is_ident("doc")).filter_map(|attr| match &attr.meta {
        syn::Meta::NameValue(syn::MetaNameValue { value: syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }), .. }) => {
            let text = text.value();
            Some(text.strip_prefix(' ').unwrap_or(&text).trim_end().to_owned())
        }
        _ => None,
    });
    lines.collect::<Vec<_>>().join("\n").trim().to_owned()
}

/// Reads all fields.
pub fn parse(item: &ItemStruct) -> Result<Vec<OpField>> {
    let fields: Vec<_> = item.fields.iter().map(field).collect::<Result<_>>()?;
    let open_results = fields.iter().filter(|field| field.kind == Kind::Results).count();
    if open_results > 1 {
        return Err(Error::new_spanned(&item.ident, "an op has at most one field of kind Results"));
    }
    for kind in [Kind::Regions, Kind::Successors] {
        let group: Vec<_> = fields.iter().filter(|field| field.is_like(kind)).collect();
        if group.iter().rev().skip(1).any(|field| field.kind == kind) {
            return Err(Error::new_spanned(&item.ident, "a list of regions or successors must be the last one"));
        }
    }
    Ok(fields)
}

impl OpField {
    fn is_like(&self, kind: Kind) -> bool {
        self.kind == kind
            || (kind == Kind::Regions && self.kind == Kind::Region)
            || (kind == Kind::Successors && self.kind == Kind::Successor)
    }
}

fn field(field: &Field) -> Result<OpField> {
    let name = field.ident.clone().ok_or_else(|| Error::new_spanned(field, "an op's fields have names"))?;
    let Type::Path(path) = &field.ty else { return Err(Error::new_spanned(&field.ty, EXPECTED)) };
    let last = path.path.segments.last().ok_or_else(|| Error::new_spanned(&field.ty, EXPECTED))?;
    let kind = match last.ident.to_string().as_str() {
        "Operand" => Kind::Operand,
        "Optional" => Kind::Optional,
        "Variadic" => Kind::Variadic,
        "Result" => Kind::Result,
        "Results" => Kind::Results,
        "Attr" => Kind::Attr,
        "OptAttr" => Kind::OptAttr,
        "Region" => Kind::Region,
        "Regions" => Kind::Regions,
        "Successor" => Kind::Successor,
        "Successors" => Kind::Successors,
        _ => return Err(Error::new_spanned(&field.ty, EXPECTED)),
    };
    let spec = match &last.arguments {
        PathArguments::AngleBracketed(arguments) => match arguments.args.first() {
            Some(GenericArgument::Type(ty)) => Some(ty.clone()),
            _ => None,
        },
        _ => None,
    };
    let needs_spec = !matches!(kind, Kind::Region | Kind::Regions | Kind::Successor | Kind::Successors);
    if needs_spec != spec.is_some() {
        return Err(Error::new_spanned(&field.ty, EXPECTED));
    }
    Ok(OpField { name, kind, spec, doc: doc(&field.attrs) })
}

const EXPECTED: &str = "expected Operand<T>, Optional<T>, Variadic<T>, Result<T>, Results<T>, Attr<K>, OptAttr<K>, Region, Regions, \
                        Successor or Successors";
