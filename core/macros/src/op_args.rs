//! The arguments of `#[op(..)]`.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Error, LitStr, Path, Result, Token, parenthesized};

/// Trait names and the constants of `Traits` that they set.
const TRAITS: &[(&str, &str)] = &[
    ("Terminator", "TERMINATOR"),
    ("ReturnLike", "RETURN_LIKE"),
    ("ConstantLike", "CONSTANT_LIKE"),
    ("Commutative", "COMMUTATIVE"),
    ("Idempotent", "IDEMPOTENT"),
    ("Involution", "INVOLUTION"),
    ("SameOperandsAndResultType", "SAME_OPERANDS_AND_RESULT_TYPE"),
    ("SameTypeOperands", "SAME_TYPE_OPERANDS"),
    ("SameOperandsAndResultShape", "SAME_OPERANDS_AND_RESULT_SHAPE"),
    ("SameOperandsAndResultElementType", "SAME_OPERANDS_AND_RESULT_ELEMENT_TYPE"),
    ("IsolatedFromAbove", "ISOLATED_FROM_ABOVE"),
    ("SingleBlock", "SINGLE_BLOCK"),
    ("NoTerminator", "NO_TERMINATOR"),
    ("Symbol", "SYMBOL"),
    ("SymbolTable", "SYMBOL_TABLE"),
    ("RecursiveEffects", "RECURSIVE_EFFECTS"),
    ("AffineScope", "AFFINE_SCOPE"),
    ("AutomaticAllocationScope", "AUTOMATIC_ALLOCATION_SCOPE"),
    ("Elementwise", "ELEMENTWISE"),
    ("Call", "CALL"),
    ("Function", "FUNCTION"),
    ("OpenAttributes", "OPEN_ATTRIBUTES"),
];

/// Effect names and the constants of `Effects`.
const EFFECTS: &[(&str, &str)] = &[
    ("Read", "READ"),
    ("Write", "WRITE"),
    ("Allocate", "ALLOCATE"),
    ("Free", "FREE"),
    ("Speculatable", "SPECULATABLE"),
    ("Pure", "PURE"),
    ("Known", "KNOWN"),
];

/// The parsed arguments.
pub struct OpArgs {
    pub name: LitStr,
    traits: Vec<Ident>,
    effects: Vec<Ident>,
    pub interfaces: Vec<Path>,
    pub verify: bool,
    pub fold: bool,
    pub canonicalize: bool,
    pub infer: bool,
}

impl Parse for OpArgs {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let name: LitStr = input.parse()?;
        if !name.value().contains('.') {
            return Err(Error::new(name.span(), "an op's name is `dialect.op`"));
        }
        let (traits, effects, interfaces) = (Vec::new(), Vec::new(), Vec::new());
        let mut args = Self { name, traits, effects, interfaces, verify: false, fold: false, canonicalize: false, infer: false };
        while !input.is_empty() {
            input.parse::<Token![,]>()?;
            if input.is_empty() {
                break;
            }
            let keyword: Ident = input.parse()?;
            match keyword.to_string().as_str() {
                "traits" => args.traits = list::<Ident>(input)?,
                "effects" => args.effects = list::<Ident>(input)?,
                "interfaces" => args.interfaces = list::<Path>(input)?,
                "verify" => args.verify = true,
                "fold" => args.fold = true,
                "canonicalize" => args.canonicalize = true,
                "infer" => args.infer = true,
                _ => {
                    let known = "traits(..), effects(..), interfaces(..), verify, fold, canonicalize, infer";
                    return Err(Error::new(keyword.span(), format!("expected one of {known}")));
                }
            }
        }
        Ok(args)
    }
}

fn list<T: Parse>(input: ParseStream<'_>) -> Result<Vec<T>> {
    let content;
    parenthesized!(content in input);
    Ok(Punctuated::<T, Token![,]>::parse_terminated(&content)?.into_iter().collect())
}

fn constant(ident: &Ident, table: &[(&str, &str)], ty: &str) -> Result<TokenStream> {
    let Some((_, constant)) = table.iter().find(|(name, _)| ident == name) else {
        let known: Vec<_> = table.iter().map(|(name, _)| *name).collect();
        return Err(Error::new(ident.span(), format!("unknown; known are: {}", known.join(", "))));
    };
    let (ty, constant) = (Ident::new(ty, ident.span()), Ident::new(constant, ident.span()));
    Ok(quote!(.and(::strata_core::dialect::#ty::#constant)))
}

impl OpArgs {
    /// The expression of the op's traits.
    pub fn traits(&self) -> Result<TokenStream> {
        let traits = self.traits.iter().filter(|ident| *ident != "Pure");
        let items: Vec<_> = traits.map(|ident| constant(ident, TRAITS, "Traits")).collect::<Result<_>>()?;
        Ok(quote!(::strata_core::dialect::Traits::NONE #(#items)*))
    }

    /// The expression of the op's effects; `Pure` may stand among the traits.
    pub fn effects(&self) -> Result<TokenStream> {
        let pure = self.traits.iter().filter(|ident| *ident == "Pure");
        let items: Vec<_> = self.effects.iter().chain(pure).map(|ident| constant(ident, EFFECTS, "Effects")).collect::<Result<_>>()?;
        Ok(quote!(::strata_core::dialect::Effects::NONE #(#items)*))
    }
}
