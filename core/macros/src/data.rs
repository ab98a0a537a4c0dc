//! `#[dialect_type]` and `#[dialect_attr]`: the definition, the typed view and the constructor of a type or an attribute.

use crate::op_fields::doc;
use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::{Error, ItemStruct, LitStr, Path, Result, Token};

/// What is defined.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    Type,
    Attr,
}

struct Args {
    name: LitStr,
    verify: Option<Path>,
}

impl Parse for Args {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let name: LitStr = input.parse()?;
        if !name.value().contains('.') {
            return Err(Error::new(name.span(), "a full name is `dialect.name`"));
        }
        let mut verify = None;
        while input.parse::<Option<Token![,]>>()?.is_some() && !input.is_empty() {
            let keyword: Ident = input.parse()?;
            if keyword != "verify" {
                return Err(Error::new(keyword.span(), "expected `verify = FUNCTION`"));
            }
            input.parse::<Token![=]>()?;
            verify = Some(input.parse()?);
        }
        Ok(Self { name, verify })
    }
}

pub fn expand(args: TokenStream, item: TokenStream, sort: Sort) -> Result<TokenStream> {
    let Args { name, verify } = syn::parse2(args)?;
    let item: ItemStruct = syn::parse2(item)?;
    let (ident, vis, attrs, text) = (&item.ident, &item.vis, &item.attrs, doc(&item.attrs));
    let mut fields = Vec::new();
    for field in &item.fields {
        let name = field.ident.as_ref().ok_or_else(|| Error::new_spanned(field, "parameters have names"))?;
        fields.push((name, &field.ty, name.to_string().trim_start_matches("r#").to_owned(), doc(&field.attrs)));
    }
    let params = fields.iter().map(|(_, spec, text, doc)| {
        quote!(::strata_core::dialect::AttrDef {
            name: #text,
            kind: <#spec as ::strata_core::dialect::AttrSpec>::KIND,
            required: true,
            doc: #doc,
        })
    });
    let read = |spec: &syn::Type, from: TokenStream, name: &str| {
        let message = format!("`{name}` was checked when it was made");
        quote!(<#spec as ::strata_core::dialect::AttrSpec>::read(#from).expect(#message))
    };
    let verify = match verify {
        Some(path) => {
            let args = fields.iter().enumerate().map(|(index, (_, spec, name, _))| read(spec, quote!(__params[#index]), name));
            quote!(Some(|__params| #path(#(#args),*)))
        }
        None => quote!(None),
    };
    let accessors = fields.iter().enumerate().map(|(index, (field, spec, name, doc))| {
        let value = read(spec, quote!(self.0.param(#index).expect("one per field")), name);
        let doc = if doc.is_empty() { format!("Parameter `{name}`.") } else { doc.clone() };
        quote!(#[doc = #doc] pub fn #field(self) -> <#spec as ::strata_core::dialect::AttrSpec>::Value<'c> { #value })
    });
    let inputs = fields.iter().map(|(field, spec, ..)| quote!(#field: <#spec as ::strata_core::dialect::AttrSpec>::Input<'a, 'c>));
    let made = fields.iter().map(|(field, spec, ..)| quote!(<#spec as ::strata_core::dialect::AttrSpec>::make(__cx, #field)));
    let (handle, make, raw, marker) = match sort {
        Sort::Type => (quote!(::strata_core::ir::Type<'c>), quote!(make_type), quote!(ty), type_spec(ident, &name)),
        Sort::Attr => (quote!(::strata_core::ir::Attr<'c>), quote!(make_attr), quote!(attr), attr_spec(ident, &name)),
    };
    Ok(quote! {
        #(#attrs)*
        #[derive(Clone, Copy, PartialEq, Eq, Hash)]
        #vis struct #ident<'c>(#handle);

        impl<'c> #ident<'c> {
            /// The full name.
            pub const NAME: &'static str = #name;

            /// The definition.
            pub const DEF: ::strata_core::dialect::DataDef = ::strata_core::dialect::DataDef {
                name: #name,
                doc: #text,
                params: &[#(#params),*],
                verify: #verify,
            };

            /// The handle seen as this kind, when it is one.
            pub fn cast(handle: #handle) -> Option<Self> {
                handle.is_named(Self::NAME).then_some(Self(handle))
            }

            /// The one with these parameters. Its dialect must be loaded.
            #[allow(clippy::too_many_arguments, reason = "one argument per parameter")]
            pub fn get<'a>(
                __cx: ::strata_core::ir::Cx<'c>,
                #(#inputs),*
            ) -> ::std::result::Result<Self, ::strata_core::dialect::Violation>
            where
                'c: 'a,
            {
                Self::DEF.#make(__cx, &[#(#made),*]).map(Self)
            }

            /// The plain handle.
            pub fn #raw(self) -> #handle {
                self.0
            }

            #(#accessors)*
        }

        impl ::std::fmt::Debug for #ident<'_> {
            fn fmt(&self, formatter: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                ::std::fmt::Display::fmt(&self.0, formatter)
            }
        }

        #marker
    })
}

/// The view is also the marker for operands and results of the type.
fn type_spec(ident: &Ident, name: &LitStr) -> TokenStream {
    let text = format!("!{}", name.value());
    quote! {
        impl ::strata_core::dialect::TypeSpec for #ident<'_> {
            const CONSTRAINT: ::strata_core::dialect::TypeConstraint =
                ::strata_core::dialect::TypeConstraint { name: #text, check: |ty| ty.is_named(#name) };
        }
    }
}

/// The view is also the marker for an op's attributes of this kind.
fn attr_spec(ident: &Ident, name: &LitStr) -> TokenStream {
    let text = format!("#{}", name.value());
    quote! {
        impl ::strata_core::dialect::AttrSpec for #ident<'_> {
            const KIND: ::strata_core::dialect::AttrKind =
                ::strata_core::dialect::AttrKind { name: #text, check: |attr| attr.is_named(#name) };
            type Value<'x> = #ident<'x>;
            type Input<'a, 'x> = #ident<'x> where 'x: 'a;
            fn read<'x>(attr: ::strata_core::ir::Attr<'x>) -> Option<#ident<'x>> {
                #ident::cast(attr)
            }
            fn make<'a, 'x: 'a>(_: ::strata_core::ir::Cx<'x>, input: #ident<'x>) -> ::strata_core::ir::Attr<'x> {
                input.attr()
            }
        }
    }
}
