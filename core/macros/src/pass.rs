//! `#[derive(Pass)]`: the definition of a pass from its struct.

use crate::op_fields::doc;
use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::{Data, DeriveInput, Error, Expr, ExprLit, ExprUnary, Field, Lit, LitStr, Result, Type, UnOp, parenthesized};

pub fn expand(input: TokenStream) -> Result<TokenStream> {
    let input: DeriveInput = syn::parse2(input)?;
    let Data::Struct(data) = &input.data else { return Err(Error::new_spanned(&input.ident, "a pass is a struct")) };
    let ident = &input.ident;
    let header = Header::parse(&input)?;
    let fields: Vec<_> = data.fields.iter().map(PassField::parse).collect::<Result<_>>()?;
    if data.fields.iter().any(|field| field.ident.is_none()) {
        return Err(Error::new_spanned(ident, "the options of a pass have names"));
    }
    let doc = doc(&input.attrs);
    let description = doc.split("\n\n").next().unwrap_or_default().replace('\n', " ");
    let (name, argument, anchor, dependents) = (ident.to_string(), &header.name, &header.anchor, &header.dependents);
    let mut option_index = 0usize;
    let (mut options, mut statistics, mut reads, mut defaults, mut counts) = (vec![], vec![], vec![], vec![], vec![]);
    for field in &fields {
        let (ident, text, doc) = (&field.ident, kebab(&field.ident.to_string()), &field.doc);
        let Some((kind, reader)) = field.kind else {
            let text = text.replace('-', " ");
            statistics.push(quote!(::strata_core::pass::StatisticDef { name: #text, doc: #doc }));
            reads.push(quote!(#ident: Default::default()));
            defaults.push(quote!(#ident: Default::default()));
            counts.push(quote!(self.#ident.get()));
            continue;
        };
        let (kind, reader) = (Ident::new(kind, ident.span()), Ident::new(reader, ident.span()));
        let default = &field.default_text;
        options.push(quote!(::strata_core::pass::OptionDef {
            name: #text,
            doc: #doc,
            kind: ::strata_core::pass::OptionKind::#kind,
            default: #default,
        }));
        reads.push(quote!(#ident: options.#reader(#option_index)));
        defaults.push(match &field.default {
            Some(value) => quote!(#ident: (#value).into()),
            None => quote!(#ident: Default::default()),
        });
        option_index += 1;
    }
    Ok(quote! {
        impl ::strata_core::pass::PassData for #ident {
            const DEF: ::strata_core::pass::PassDef = ::strata_core::pass::PassDef {
                name: #name,
                argument: #argument,
                description: #description,
                doc: #doc,
                anchor: #anchor,
                dependents: &[#(#dependents),*],
                options: &[#(#options),*],
                statistics: &[#(#statistics),*],
            };
            #[allow(unused_variables, reason = "a pass may have no options")]
            fn read(options: &dyn ::strata_core::pass::OptionReader) -> Self {
                Self { #(#reads),* }
            }
            fn counts(&self) -> ::std::vec::Vec<u64> {
                ::std::vec![#(#counts),*]
            }
        }

        impl Default for #ident {
            fn default() -> Self {
                Self { #(#defaults),* }
            }
        }
    })
}

/// `#[pass(name = "..", anchor = "..", dependents("..", ..))]`.
struct Header {
    name: String,
    anchor: String,
    dependents: Vec<LitStr>,
}

impl Header {
    fn parse(input: &DeriveInput) -> Result<Self> {
        let mut header = Self { name: kebab(&input.ident.to_string()), anchor: "builtin.module".to_owned(), dependents: Vec::new() };
        for attr in input.attrs.iter().filter(|attr| attr.path().is_ident("pass")) {
            attr.parse_nested_meta(|meta| {
                if meta.path.is_ident("name") {
                    header.name = meta.value()?.parse::<LitStr>()?.value();
                } else if meta.path.is_ident("anchor") {
                    header.anchor = meta.value()?.parse::<LitStr>()?.value();
                } else if meta.path.is_ident("dependents") {
                    let content;
                    parenthesized!(content in meta.input);
                    header.dependents =
                        content.parse_terminated(<LitStr as syn::parse::Parse>::parse, syn::Token![,])?.into_iter().collect();
                } else {
                    return Err(meta.error("expected name = \"..\", anchor = \"..\" or dependents(\"..\")"));
                }
                Ok(())
            })?;
        }
        Ok(header)
    }
}

/// A field: an option with its kind, or a counter.
struct PassField {
    ident: Ident,
    doc: String,
    /// The variant of `OptionKind` and the method of `OptionReader`; none for a counter.
    kind: Option<(&'static str, &'static str)>,
    default: Option<Expr>,
    default_text: String,
}

impl PassField {
    fn parse(field: &Field) -> Result<Self> {
        let ident = field.ident.clone().ok_or_else(|| Error::new_spanned(field, "the options of a pass have names"))?;
        let mut default = None;
        for attr in field.attrs.iter().filter(|attr| attr.path().is_ident("option")) {
            attr.parse_nested_meta(|meta| {
                if !meta.path.is_ident("default") {
                    return Err(meta.error("expected default = .."));
                }
                default = Some(meta.value()?.parse::<Expr>()?);
                Ok(())
            })?;
        }
        let kind = kind(&field.ty)?;
        let default_text = match (&default, kind) {
            (Some(value), Some(_)) => literal(value)?,
            (Some(value), None) => return Err(Error::new_spanned(value, "a counter has no default")),
            (None, _) => String::new(),
        };
        if default.is_some() && matches!(kind, Some(("Ints" | "Strs", _))) {
            return Err(Error::new_spanned(&field.ty, "a list option starts empty"));
        }
        Ok(Self { ident, doc: doc(&field.attrs).replace('\n', " "), kind, default, default_text })
    }
}

fn kind(ty: &Type) -> Result<Option<(&'static str, &'static str)>> {
    let text = quote!(#ty).to_string().replace(' ', "");
    Ok(Some(match text.as_str() {
        "bool" => ("Bool", "bool"),
        "i64" => ("Int", "int"),
        "f64" => ("Float", "float"),
        "String" => ("Str", "str"),
        "Vec<i64>" => ("Ints", "ints"),
        "Vec<String>" => ("Strs", "strs"),
        "Counter" => return Ok(None),
        _ => return Err(Error::new_spanned(ty, "an option is bool, i64, f64, String, Vec<i64> or Vec<String>; a statistic is Counter")),
    }))
}

/// The text of a literal as a user would write it in a pipeline.
fn literal(value: &Expr) -> Result<String> {
    match value {
        Expr::Lit(ExprLit { lit, .. }) => match lit {
            Lit::Bool(value) => Ok(value.value.to_string()),
            Lit::Int(value) => Ok(value.base10_digits().to_owned()),
            Lit::Float(value) => Ok(value.base10_digits().to_owned()),
            Lit::Str(value) => Ok(value.value()),
            _ => Err(Error::new_spanned(value, "expected a bool, a number or a string")),
        },
        Expr::Unary(ExprUnary { op: UnOp::Neg(_), expr, .. }) => Ok(format!("-{}", literal(expr)?)),
        _ => Err(Error::new_spanned(value, "expected a literal")),
    }
}

/// `FuseElementwise` and `fuse_elementwise` as `fuse-elementwise`.
fn kebab(name: &str) -> String {
    let mut text = String::new();
    for (index, character) in name.trim_start_matches("r#").chars().enumerate() {
        if character == '_' {
            text.push('-');
        } else {
            if character.is_uppercase() && index > 0 {
                text.push('-');
            }
            text.extend(character.to_lowercase());
        }
    }
    text
}
