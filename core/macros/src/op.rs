//! `#[op]`: the definition, the typed view and the builder of an op.

use crate::op_args::OpArgs;
use crate::op_fields::{Kind, OpField, doc, parse};
use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use syn::{ItemStruct, Result};

pub fn expand(args: TokenStream, item: TokenStream) -> Result<TokenStream> {
    let args: OpArgs = syn::parse2(args)?;
    let item: ItemStruct = syn::parse2(item)?;
    let fields = parse(&item)?;
    let (ident, vis, attrs, name) = (&item.ident, &item.vis, &item.attrs, &args.name);
    let definition = definition(&args, &item, &fields)?;
    let accessors = accessors(&fields);
    let build = build(&args, &fields);
    let build_doc = format!("Makes a `{}`.", name.value());
    Ok(quote! {
        #(#attrs)*
        #[derive(Clone, Copy, PartialEq, Eq, Hash)]
        #vis struct #ident<'c>(::strata_core::ir::Op<'c>);

        impl<'c> #ident<'c> {
            /// The op's full name.
            pub const NAME: &'static str = #name;

            /// The op's definition.
            pub const DEF: ::strata_core::dialect::OpDef = #definition;

            /// The op seen as this kind, when it is one.
            pub fn cast(op: ::strata_core::ir::Op<'c>) -> Option<Self> {
                op.is(Self::NAME).then_some(Self(op))
            }

            /// The op itself.
            pub fn op(self) -> ::strata_core::ir::Op<'c> {
                self.0
            }

            #accessors

            #[doc = #build_doc]
            #[allow(clippy::too_many_arguments, reason = "one argument per field of the op")]
            #build
        }

        impl ::strata_core::dialect::OpType for #ident<'static> {
            const DEF: ::strata_core::dialect::OpDef = Self::DEF;
            type At<'x> = #ident<'x>;
            fn cast(op: ::strata_core::ir::Op<'_>) -> Option<#ident<'_>> {
                #ident::cast(op)
            }
        }

        impl ::strata_core::dialect::OpName for #ident<'_> {
            const NAME: &'static str = #name;
        }

        impl<'c> From<#ident<'c>> for ::strata_core::ir::Op<'c> {
            fn from(view: #ident<'c>) -> Self {
                view.0
            }
        }

        impl ::std::fmt::Debug for #ident<'_> {
            fn fmt(&self, formatter: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                ::std::fmt::Display::fmt(&self.0, formatter)
            }
        }
    })
}

fn of_kind<'a>(fields: &'a [OpField], kinds: &'a [Kind]) -> impl Iterator<Item = &'a OpField> {
    fields.iter().filter(|field| kinds.contains(&field.kind))
}

const OPERANDS: &[Kind] = &[Kind::Operand, Kind::Optional, Kind::Variadic];
const RESULTS: &[Kind] = &[Kind::Result, Kind::Results];
const ATTRS: &[Kind] = &[Kind::Attr, Kind::OptAttr];
const REGIONS: &[Kind] = &[Kind::Region, Kind::Regions];
const SUCCESSORS: &[Kind] = &[Kind::Successor, Kind::Successors];

fn arity(field: &OpField) -> Ident {
    format_ident!(
        "{}",
        match field.kind {
            Kind::Optional => "Optional",
            Kind::Variadic | Kind::Results => "Variadic",
            _ => "One",
        }
    )
}

fn value_defs(fields: &[OpField], kinds: &[Kind]) -> TokenStream {
    let defs = of_kind(fields, kinds).map(|field| {
        let (name, spec, arity) = (field.text(), &field.spec, arity(field));
        quote!(::strata_core::dialect::ValueDef {
            name: #name,
            arity: ::strata_core::dialect::Arity::#arity,
            constraint: <#spec as ::strata_core::dialect::TypeSpec>::CONSTRAINT,
        })
    });
    quote!(&[#(#defs),*])
}

fn definition(args: &OpArgs, item: &ItemStruct, fields: &[OpField]) -> Result<TokenStream> {
    let (ident, name) = (&item.ident, &args.name);
    let doc = doc(&item.attrs);
    let summary = doc.split("\n\n").next().unwrap_or_default().replace('\n', " ");
    let (operands, results) = (value_defs(fields, OPERANDS), value_defs(fields, RESULTS));
    let attrs = of_kind(fields, ATTRS).map(|field| {
        let (name, spec, required, doc) = (field.text(), &field.spec, field.kind == Kind::Attr, &field.doc);
        quote!(::strata_core::dialect::AttrDef {
            name: #name,
            kind: <#spec as ::strata_core::dialect::AttrSpec>::KIND,
            required: #required,
            doc: #doc,
        })
    });
    let regions = of_kind(fields, REGIONS).map(|field| {
        let name = field.text();
        quote!(::strata_core::dialect::RegionDef { name: #name })
    });
    let variadic_regions = of_kind(fields, &[Kind::Regions]).next().is_some();
    let successors = of_kind(fields, SUCCESSORS).map(OpField::text);
    let variadic_successors = of_kind(fields, &[Kind::Successors]).next().is_some();
    let (traits, effects) = (args.traits()?, args.effects()?);
    let hook = |on: bool, hook: TokenStream| if on { quote!(Some(#hook)) } else { quote!(None) };
    let verify = hook(args.verify, quote!(|op| ::strata_core::dialect::Verify::verify(#ident(op))));
    let fold = hook(args.fold, quote!(|op, input| ::strata_core::dialect::Fold::fold(#ident(op), input)));
    let canonicalize = hook(args.canonicalize, quote!(<#ident<'static> as ::strata_core::dialect::Canonicalize>::canonicalize));
    let infer = hook(args.infer, quote!(<#ident<'static> as ::strata_core::dialect::Infer>::infer));
    let interfaces = args
        .interfaces
        .iter()
        .map(|interface| quote!(&::strata_core::dialect::Caster::<dyn #interface>(|op| ::std::boxed::Box::new(#ident(op)))));
    Ok(quote!(::strata_core::dialect::OpDef {
        name: #name,
        summary: #summary,
        doc: #doc,
        operands: #operands,
        results: #results,
        attrs: &[#(#attrs),*],
        regions: &[#(#regions),*],
        variadic_regions: #variadic_regions,
        successors: &[#(#successors),*],
        variadic_successors: #variadic_successors,
        traits: #traits,
        effects: #effects,
        verify: #verify,
        fold: #fold,
        canonicalize: #canonicalize,
        infer: #infer,
        interfaces: &[#(#interfaces),*],
        data: None,
    }))
}

fn accessors(fields: &[OpField]) -> TokenStream {
    let groups: Vec<_> = of_kind(fields, OPERANDS).collect();
    let arities: Vec<_> = groups.iter().map(|field| arity(field)).collect();
    let is_simple = groups.iter().all(|field| field.kind == Kind::Operand);
    let operands = groups.iter().enumerate().map(|(index, field)| {
        let (name, doc) = (&field.name, accessor_doc(field, "Operand"));
        let group = quote!(::strata_core::dialect::macro_support::group(
            self.0,
            &[#(::strata_core::dialect::Arity::#arities),*],
            #index
        ));
        let (ty, value) = match field.kind {
            Kind::Operand if is_simple => (quote!(::strata_core::ir::Value<'c>), quote!(self.0.operand(#index))),
            Kind::Operand => (quote!(::strata_core::ir::Value<'c>), quote!(self.0.operand(#group.start))),
            Kind::Optional => (quote!(Option<::strata_core::ir::Value<'c>>), quote!(#group.next().map(|index| self.0.operand(index)))),
            _ => (quote!(::std::vec::Vec<::strata_core::ir::Value<'c>>), quote!(#group.map(|index| self.0.operand(index)).collect())),
        };
        quote!(#[doc = #doc] pub fn #name(self) -> #ty { #value })
    });
    let result_fields: Vec<_> = of_kind(fields, RESULTS).collect();
    let count = result_fields.len();
    let open = result_fields.iter().position(|field| field.kind == Kind::Results);
    let results = result_fields.iter().enumerate().map(|(index, field)| {
        let (name, doc) = (&field.name, accessor_doc(field, "Result"));
        let after = count - 1 - index;
        match (field.kind, open) {
            (Kind::Results, _) => quote! {
                #[doc = #doc]
                pub fn #name(self) -> ::std::vec::Vec<::strata_core::ir::Value<'c>> {
                    (#index..self.0.num_results() - #after).map(|index| self.0.result(index)).collect()
                }
            },
            (_, Some(open)) if index > open => quote! {
                #[doc = #doc]
                pub fn #name(self) -> ::strata_core::ir::Value<'c> { self.0.result(self.0.num_results() - 1 - #after) }
            },
            _ => quote!(#[doc = #doc] pub fn #name(self) -> ::strata_core::ir::Value<'c> { self.0.result(#index) }),
        }
    });
    let attrs = of_kind(fields, ATTRS).map(|field| {
        let (name, text, spec, doc) = (&field.name, field.text(), &field.spec, accessor_doc(field, "Attribute"));
        let value = quote!(<#spec as ::strata_core::dialect::AttrSpec>::Value<'c>);
        if field.kind == Kind::Attr {
            quote! {
                #[doc = #doc]
                pub fn #name(self) -> #value { ::strata_core::dialect::macro_support::attr_of::<#spec>(self.0, #text) }
            }
        } else {
            quote! {
                #[doc = #doc]
                pub fn #name(self) -> Option<#value> { ::strata_core::dialect::macro_support::opt_attr_of::<#spec>(self.0, #text) }
            }
        }
    });
    let regions = of_kind(fields, REGIONS).enumerate().map(|(index, field)| {
        let (name, doc) = (&field.name, accessor_doc(field, "Region"));
        if field.kind == Kind::Region {
            quote!(#[doc = #doc] pub fn #name(self) -> ::strata_core::ir::Region<'c> { self.0.region(#index) })
        } else {
            quote! {
                #[doc = #doc]
                pub fn #name(self) -> ::std::vec::Vec<::strata_core::ir::Region<'c>> { self.0.regions().split_off(#index) }
            }
        }
    });
    let successors = of_kind(fields, SUCCESSORS).enumerate().map(|(index, field)| {
        let (name, doc) = (&field.name, accessor_doc(field, "Successor"));
        if field.kind == Kind::Successor {
            quote!(#[doc = #doc] pub fn #name(self) -> ::strata_core::ir::Block<'c> { self.0.successor(#index) })
        } else {
            quote! {
                #[doc = #doc]
                pub fn #name(self) -> ::std::vec::Vec<::strata_core::ir::Block<'c>> {
                    (#index..self.0.num_successors()).map(|index| self.0.successor(index)).collect()
                }
            }
        }
    });
    quote!(#(#operands)* #(#results)* #(#attrs)* #(#regions)* #(#successors)*)
}

fn accessor_doc(field: &OpField, what: &str) -> String {
    if field.doc.is_empty() { format!("{what} `{}`.", field.text()) } else { field.doc.clone() }
}

fn build(args: &OpArgs, fields: &[OpField]) -> TokenStream {
    let mut parameters = Vec::new();
    let mut body = Vec::new();
    let mut sizes = Vec::new();
    let value = quote!(::strata_core::ir::Value<'c>);
    for field in fields {
        let (name, text, spec) = (&field.name, field.text(), &field.spec);
        match field.kind {
            Kind::Operand => {
                parameters.push(quote!(#name: #value));
                body.push(quote!(__operands.push(#name);));
                sizes.push(quote!(1));
            }
            Kind::Optional => {
                parameters.push(quote!(#name: Option<#value>));
                body.push(quote!(__operands.extend(#name);));
                sizes.push(quote!(usize::from(#name.is_some())));
            }
            Kind::Variadic => {
                parameters.push(quote!(#name: &[#value]));
                body.push(quote!(__operands.extend_from_slice(#name);));
                sizes.push(quote!(#name.len()));
            }
            Kind::Result if args.infer => {}
            Kind::Results if args.infer => {}
            Kind::Result => {
                parameters.push(quote!(#name: ::strata_core::ir::Type<'c>));
                body.push(quote!(__results.push(#name);));
            }
            Kind::Results => {
                parameters.push(quote!(#name: &[::strata_core::ir::Type<'c>]));
                body.push(quote!(__results.extend_from_slice(#name);));
            }
            Kind::Attr | Kind::OptAttr => {
                let input = quote!(<#spec as ::strata_core::dialect::AttrSpec>::Input<'a, 'c>);
                let make = quote!(<#spec as ::strata_core::dialect::AttrSpec>::make);
                if field.kind == Kind::Attr {
                    parameters.push(quote!(#name: #input));
                    body.push(quote!(__attrs.push((#text, #make(__cx, #name)));));
                } else {
                    parameters.push(quote!(#name: Option<#input>));
                    body.push(quote!(if let Some(value) = #name { __attrs.push((#text, #make(__cx, value))); }));
                }
            }
            Kind::Region => body.push(quote!(__regions += 1;)),
            Kind::Regions => {
                parameters.push(quote!(#name: usize));
                body.push(quote!(__regions += #name;));
            }
            Kind::Successor => {
                parameters.push(quote!(#name: ::strata_core::ir::Block<'c>));
                body.push(quote!(__successors.push(#name);));
            }
            Kind::Successors => {
                parameters.push(quote!(#name: &[::strata_core::ir::Block<'c>]));
                body.push(quote!(__successors.extend_from_slice(#name);));
            }
        }
    }
    if of_kind(fields, &[Kind::Optional, Kind::Variadic]).count() > 1 {
        body.push(quote! {
            __attrs.push(("segments", ::strata_core::dialect::macro_support::segments_attr(__builder, &[#(#sizes),*])));
        });
    }
    let (result, infer, make) = if args.infer {
        (
            quote!(::std::result::Result<Self, ::strata_core::dialect::Violation>),
            quote!(__results.extend(<Self as ::strata_core::dialect::Infer>::infer(__cx, &__operands, &__attrs)?);),
            quote!(Ok(Self(__op))),
        )
    } else {
        (quote!(Self), quote!(), quote!(Self(__op)))
    };
    // Underscores keep the locals apart from the fields' names.
    quote! {
        pub fn build<'a>(__builder: &mut ::strata_core::ir::Builder<'c>, #(#parameters),*) -> #result
        where
            'c: 'a,
        {
            #[allow(unused_variables, reason = "an op without attributes needs no context")]
            let __cx = __builder.cx();
            #[allow(unused_mut, reason = "an op without such parts leaves its list empty")]
            let (mut __operands, mut __results, mut __attrs, mut __successors, mut __regions): (
                ::std::vec::Vec<#value>,
                ::std::vec::Vec<::strata_core::ir::Type<'c>>,
                ::std::vec::Vec<(&str, ::strata_core::ir::Attr<'c>)>,
                ::std::vec::Vec<::strata_core::ir::Block<'c>>,
                usize,
            ) = Default::default();
            #(#body)*
            #infer
            let __op = __builder.op(::strata_core::ir::OpSpec {
                name: Self::NAME,
                operands: &__operands,
                results: &__results,
                attrs: &__attrs,
                regions: __regions,
                successors: &__successors,
            });
            #make
        }
    }
}
