//! The derive macro of `strata::TensorTree`: a struct is the tree of its fields.

use proc_macro::TokenStream;
use quote::quote;
use syn::{Data, DeriveInput, Error, Index, Member, parse_macro_input};

/// Makes a struct whose fields are all `TensorTree`s one itself. Its leaves are those of its fields, in their order.
#[proc_macro_derive(TensorTree)]
pub fn tensor_tree(item: TokenStream) -> TokenStream {
    let input = parse_macro_input!(item as DeriveInput);
    expand(&input).unwrap_or_else(Error::into_compile_error).into()
}

fn expand(input: &DeriveInput) -> syn::Result<proc_macro2::TokenStream> {
    let Data::Struct(data) = &input.data else {
        return Err(Error::new_spanned(&input.ident, "TensorTree is derived for structs; of an enum no guard would see the variant"));
    };
    let member = |(place, field): (usize, &syn::Field)| match &field.ident {
        Some(name) => Member::Named(name.clone()),
        None => Member::Unnamed(Index::from(place)),
    };
    let members: Vec<Member> = data.fields.iter().enumerate().map(member).collect();
    let types = data.fields.iter().map(|field| &field.ty);
    let name = &input.ident;
    let (generics, arguments, conditions) = input.generics.split_for_impl();
    Ok(quote! {
        impl #generics ::strata::TensorTree for #name #arguments #conditions {
            const STATES: bool = false #(|| <#types as ::strata::TensorTree>::STATES)*;
            #[inline]
            fn visit<'t>(&'t self, visitor: &mut impl ::strata::Visitor<'t>) {
                #(::strata::TensorTree::visit(&self.#members, visitor);)*
            }
            fn map(&self, change: &mut (impl ::strata::Mapper + ?Sized)) -> Self {
                Self { #(#members: ::strata::TensorTree::map(&self.#members, change)),* }
            }
        }
    })
}
