//! Parses `#[max_registers(…)]`, `#[min_occupancy(…)]` and `#[wave(…)]`.

use gcn_isa::Target;
use gcn_isa::target::WaveSize;
use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Expr, Ident, Token};

use super::{find, literal};
use crate::errors::Errors;
use crate::parse::KernelFn;

/// A kernel's register limits, minimum occupancy and wave size.
#[derive(Default)]
pub(crate) struct Registers {
    vgprs: Option<Expr>,
    sgprs: Option<Expr>,
    agprs: Option<Expr>,
    lds_spill: Option<Expr>,
    occupancy: Option<Expr>,
    waves: Vec<Expr>,
}

const FORM: &str = "write `#[max_registers(64)]` for VGPRs, or any of `#[max_registers(vgpr = 64, sgpr = 40, agpr = 0, lds_spill = 8192)]`";

/// An argument of `#[max_registers]`, such as `64` or `vgpr = 64`.
enum Limit {
    Vgprs(Expr),
    Named(Ident, Expr),
}

impl Parse for Limit {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if input.peek(syn::Ident) && input.peek2(Token![=]) {
            let name = input.parse()?;
            input.parse::<Token![=]>()?;
            return Ok(Limit::Named(name, input.parse()?));
        }
        Ok(Limit::Vgprs(input.parse()?))
    }
}

pub(super) fn registers(kernel: &KernelFn, targets: Option<&[Target]>, errors: &mut Errors) -> Registers {
    let mut found = Registers::default();
    if let Some(attr) = find(kernel, "max_registers") {
        match attr.parse_args_with(Punctuated::<Limit, Token![,]>::parse_terminated) {
            Ok(limits) if !limits.is_empty() => limits.into_iter().for_each(|l| found.limit(l, errors)),
            _ => errors.at(attr, format!("the registers that the kernel may use are missing; {FORM}")),
        }
    }
    if let Some(attr) = find(kernel, "min_occupancy") {
        const FORM: &str = "write `#[min_occupancy(4)]`";
        match attr.parse_args::<Expr>() {
            Ok(waves) => {
                occupancy(&waves, targets, errors);
                found.occupancy = Some(waves);
            }
            Err(_) => errors.at(attr, format!("it takes one number, waves per SIMD; {FORM}")),
        }
    }
    if let Some(attr) = find(kernel, "wave") {
        const FORM: &str = "write `#[wave(32)]`, `#[wave(64)]` or `#[wave(64, 32)]`";
        let numbers = attr.parse_args_with(Punctuated::<Expr, Token![,]>::parse_terminated);
        match numbers.map(|numbers| numbers.into_iter().collect::<Vec<_>>()) {
            Ok(lanes) if matches!(lanes.len(), 1 | 2) => match lanes.iter().find(|n| wave_of(n).is_none()) {
                Some(other) => errors.at(other, format!("waves have 32 lanes or 64; {FORM}")),
                None => found.waves = lanes,
            },
            _ => errors.at(
                attr,
                format!("it takes one number, lanes of a wave, or two in the order of preference; {FORM}"),
            ),
        }
    }
    found
}

/// Reports an error if the requested number of waves exceeds the maximum number per SIMD on one of the targets.
fn occupancy(waves: &Expr, targets: Option<&[Target]>, errors: &mut Errors) {
    let listed = Target::KNOWN.into_iter().filter(|t| targets.is_none_or(|list| list.contains(t)));
    let most = listed.map(Target::max_waves_per_simd).max().unwrap_or(8);
    if let Some(n) = literal(waves)
        && (n == 0 || n > u64::from(most))
    {
        errors.at(waves, format!("a SIMD holds 1 to {most} waves at once, not {n}"));
    }
}

impl Registers {
    /// The argument of `#[wave(…)]`.
    pub(crate) fn wave(&self) -> Option<WaveSize> {
        self.waves.first().and_then(wave_of)
    }

    fn limit(&mut self, limit: Limit, errors: &mut Errors) {
        let (name, value) = match limit {
            Limit::Vgprs(value) => (None, value),
            Limit::Named(name, value) => (Some(name), value),
        };
        let text = name.as_ref().map_or("vgpr".to_owned(), Ident::to_string);
        let (place, what, least, most) = match text.as_str() {
            "vgpr" => (&mut self.vgprs, "VGPRs", 1, 256),
            "sgpr" => (&mut self.sgprs, "SGPRs", 1, gcn_isa::reg::FIRST_NAMED_SGPR.into()),
            "agpr" => (&mut self.agprs, "AGPRs", 0, 256),
            // `build()` checks the value against the target's LDS size.
            "lds_spill" => {
                (&mut self.lds_spill, "bytes of LDS for what finds no register", 0, u32::MAX.into())
            }
            _ => {
                let what = format!("there are no registers called `{text}`; {FORM}");
                return errors.at(name, what);
            }
        };
        if place.is_some() {
            return errors.at(&value, format!("the number of {what} is given already; remove one"));
        }
        if let Some(n) = literal(&value)
            && !(least..=most).contains(&n)
        {
            let written =
                name.as_ref().map_or("max_registers".to_owned(), |name| format!("max_registers({name} = …)"));
            errors.at(&value, format!("`{written}` allows a kernel {least} to {most} {what}, not {n}"));
        }
        *place = Some(value);
    }

    /// The method calls on the kernel's `Signature` that set these limits.
    pub fn calls(&self) -> TokenStream {
        let max = |file: &str, value: &Option<Expr>| {
            let method = quote::format_ident!("max_{file}");
            value.as_ref().map(|n| quote!(.#method((#n) as u32)))
        };
        let (vgprs, sgprs, agprs) =
            (max("vgprs", &self.vgprs), max("sgprs", &self.sgprs), max("agprs", &self.agprs));
        let lds_spill = max("lds_spill", &self.lds_spill);
        let occupancy = self.occupancy.as_ref().map(|n| quote!(.min_occupancy((#n) as u32)));
        let wave = self.waves.first().map(|n| quote!(.wave((#n) as u32)));
        let other_wave = self.waves.get(1).map(|n| quote!(.or_wave((#n) as u32)));
        quote!(#vgprs #sgprs #agprs #lds_spill #occupancy #wave #other_wave)
    }
}

/// Parses a number of lanes as a wave size.
fn wave_of(lanes: &Expr) -> Option<WaveSize> {
    literal(lanes).and_then(|n| u32::try_from(n).ok()).and_then(WaveSize::of_lanes)
}
