//! What only rustc knows: whether each lane has its own value of what a function gives that is declared elsewhere.
//!
//! An expression that syntax does not decide is a question. If a variable is given its value, or is assigned where it is a condition,
//! the variable's `let` asks rustc for the expression's type (`gcn_dsl::__private::given`). Names that are declared after that `let` mean
//! nothing there: what they are declared with stands for them. A question for which that is not possible is dropped.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::visit::{self, Visit};
use syn::visit_mut::{self, VisitMut};
use syn::{Expr, Member, Pat, UnOp, parse_quote};

use super::{Analysis, Shape, Variable};
use crate::expand::{Cx, lang};
use crate::syntax::name_of;

/// How many questions a variable has at most, each of which is code for rustc, and how many names a question replaces.
const MOST: usize = 8;
const REPLACED: usize = 16;

/// An expression whose type says whether lanes differ.
#[derive(Clone)]
pub(super) struct Question {
    expr: Expr,
    /// How many names are in scope where it stands.
    height: usize,
    /// What the functions of this macro call say, which counts where rustc cannot be asked.
    varies: bool,
}

/// True for an expression that consists of values and calls: anything else may leave, assign or declare.
struct Asks(bool);

impl<'ast> Visit<'ast> for Asks {
    fn visit_expr(&mut self, e: &'ast Expr) {
        self.0 &= match e {
            Expr::Array(_) | Expr::Call(_) | Expr::Cast(_) | Expr::Field(_) | Expr::Group(_) => true,
            Expr::Index(_) | Expr::Lit(_) | Expr::MethodCall(_) | Expr::Paren(_) | Expr::Path(_) => true,
            Expr::Reference(_) | Expr::Repeat(_) | Expr::Struct(_) | Expr::Tuple(_) => true,
            Expr::Unary(e) => matches!(e.op, UnOp::Deref(_) | UnOp::Not(_) | UnOp::Neg(_)),
            Expr::Binary(e) => !crate::operator::is_compound(&e.op),
            _ => false,
        };
        visit::visit_expr(self, e);
    }
}

impl Analysis {
    /// How many names an expression can name here.
    fn height(&self) -> usize {
        self.pattern.unwrap_or(self.names.len())
    }

    pub(super) fn variable(&self, key: String) -> Variable {
        Variable { key, depth: self.depth, doubts: self.doubts.len(), height: self.height() }
    }

    /// How much is known so far.
    pub(super) fn progress(&self) -> [usize; 3] {
        [self.varying.len(), self.left.len(), self.asked.values().map(Vec::len).sum()]
    }

    pub(super) fn question(&self, e: &Expr) -> Option<Question> {
        let mut asks = Asks(true);
        asks.visit_expr(e);
        asks.0.then(|| Question { expr: e.clone(), height: self.height(), varies: false })
    }

    /// What rustc knows of `e`.
    pub(super) fn ask(&mut self, e: &Expr) -> Shape {
        self.ask_or(e, false)
    }

    /// The same, with what the functions of this macro call say where rustc cannot be asked.
    pub(super) fn ask_or(&mut self, e: &Expr, varies: bool) -> Shape {
        match self.question(e) {
            Some(question) => self.all_of(vec![Question { varies, ..question }]),
            None if varies => Shape::Varying,
            None => Shape::Other,
        }
    }

    /// What rustc knows of a part of a value of which it knows.
    pub(super) fn ask_part(&mut self, e: &Expr, of: Shape) -> Shape {
        let varies = self.questions(of).iter().any(|question| question.varies);
        self.ask_or(e, varies)
    }

    fn all_of(&mut self, questions: Vec<Question>) -> Shape {
        self.questions.push(questions);
        Shape::Asked(self.questions.len() - 1)
    }

    fn questions(&self, shape: Shape) -> Vec<Question> {
        match shape {
            Shape::Asked(number) => self.questions.get(number).cloned().unwrap_or_default(),
            _ => Vec::new(),
        }
    }

    /// What is made of two values.
    pub(super) fn either(&mut self, a: Shape, b: Shape) -> Shape {
        match (a, b) {
            (Shape::Varying, _) | (_, Shape::Varying) => Shape::Varying,
            (Shape::Asked(x), Shape::Asked(y)) if x != y => {
                let all = [self.questions(a), self.questions(b)].concat();
                self.all_of(all)
            }
            (Shape::Asked(_), _) => a,
            (_, Shape::Asked(_)) => b,
            _ => Shape::Other,
        }
    }

    /// The shape of a value that the questions about a variable or a loop decide as well. `height` names are in scope where that begins.
    pub(super) fn decided_by(&mut self, shape: Shape, key: &str, height: usize) -> Shape {
        match (shape, self.asked.get(key)) {
            (Shape::Other | Shape::Asked(_), Some(asked)) if !asked.is_empty() => {
                let asked = asked.iter().map(|q| Question { height, ..q.clone() }).collect();
                let asked = self.all_of(asked);
                self.either(shape, asked)
            }
            _ => shape,
        }
    }

    /// A variable is given a value of this shape here. True if it varies by what is known without rustc, which cannot be asked.
    pub(super) fn wonder(&mut self, variable: &Variable, shape: Shape) -> bool {
        let doubts = self.doubts.get(variable.doubts..).unwrap_or_default();
        let given: Vec<Question> = doubts
            .iter()
            .flat_map(|d| self.questions(Shape::Asked(*d)))
            .chain(self.questions(shape))
            .collect();
        let mut certain = false;
        for question in given {
            let mut closing =
                Closing { of: self, height: question.height, at: variable.height, left: REPLACED };
            let mut expr = question.expr;
            closing.visit_expr_mut(&mut expr);
            if closing.left == 0 {
                certain |= question.varies;
                continue;
            }
            let asked = self.asked.entry(variable.key.clone()).or_default();
            let text = expr.to_token_stream().to_string();
            if asked.iter().any(|q| q.expr.to_token_stream().to_string() == text) {
                continue;
            }
            match asked.len() < MOST {
                true => asked.push(Question { expr, height: variable.height, varies: question.varies }),
                false => certain |= question.varies,
            }
        }
        certain
    }

    /// Binds the names of a pattern to the parts of a value of which rustc knows.
    pub(super) fn bind_parts(&mut self, pat: &Pat, value: Option<&Expr>) {
        let Some(value) = value else { return };
        let parts: Vec<(Member, &Pat)> = match pat {
            Pat::Tuple(p) => p.elems.iter().enumerate().map(|(i, p)| (Member::from(i), p)).collect(),
            Pat::Struct(p) => p.fields.iter().map(|f| (f.member.clone(), &*f.pat)).collect(),
            _ => Vec::new(),
        };
        let parts: Vec<(&Pat, Expr)> =
            parts.into_iter().map(|(member, pat)| (pat, parse_quote!((#value).#member))).collect();
        let shapes: Vec<Shape> = parts.iter().map(|(_, part)| self.ask(part)).collect();
        for ((pat, part), shape) in parts.iter().zip(shapes) {
            self.bind(pat, shape, Some(part));
        }
    }
}

/// Replaces the names that are not in scope where a variable begins.
struct Closing<'a> {
    of: &'a Analysis,
    /// How many names are in scope where the expression stands, and where the variable begins.
    height: usize,
    at: usize,
    /// How many more names are replaced; 0 if that is not possible.
    left: usize,
}

impl Closing<'_> {
    /// The place of a name among those that are declared in the function.
    fn declared(&self, e: &Expr) -> Option<usize> {
        let name = name_of(e)?;
        self.of.names.get(..self.height)?.iter().rposition(|b| name == &b.name)
    }
}

impl VisitMut for Closing<'_> {
    fn visit_field_value_mut(&mut self, f: &mut syn::FieldValue) {
        // `P { x }` becomes `P { x: value }`.
        f.colon_token.get_or_insert_default();
        visit_mut::visit_field_value_mut(self, f);
    }

    fn visit_expr_mut(&mut self, e: &mut Expr) {
        // What a method with `&mut self` is called on has to stay a variable.
        if let Expr::MethodCall(call) = e
            && self.of.known.mutating.contains(&call.method.to_string())
            && self.declared(&call.receiver).is_some_and(|i| i >= self.at)
        {
            self.left = 0;
        }
        let Some(i) = self.declared(e) else { return visit_mut::visit_expr_mut(self, e) };
        let Some(binding) = self.of.names.get(i) else { return };
        let hidden = |b: &super::Binding| b.name == binding.name;
        if i < self.at {
            // It has no value there yet, or another variable has its name.
            let deferred = binding.variable.as_ref().is_some_and(|v| v.key == binding.name);
            if deferred || self.of.names.get(i + 1..self.at).is_some_and(|between| between.iter().any(hidden))
            {
                self.left = 0;
            }
            return;
        }
        let (Some(value), 1..) = (&binding.value, self.left) else {
            self.left = 0;
            return;
        };
        let mut expr = value.expr.clone();
        let (height, left) = (std::mem::replace(&mut self.height, value.height), self.left);
        self.left = left - 1;
        self.visit_expr_mut(&mut expr);
        self.height = height;
        *e = parse_quote!((#expr));
    }
}

impl super::Varying {
    fn asked_later(&self, name: &Ident) -> Vec<Question> {
        self.asked.get(&name.to_string()).cloned().unwrap_or_default()
    }

    fn asked(&self, name: &Ident) -> Vec<Question> {
        self.asked.get(&super::key(name)).cloned().unwrap_or_default()
    }
}

impl Cx<'_> {
    /// The first value of a variable, made varying if the kernel assigns to it what varies.
    pub fn varied(&mut self, name: &Ident, value: TokenStream) -> TokenStream {
        // Of what a call gives, only rustc knows whether it is a number.
        let open = self.varying.open.contains(&super::key(name));
        let first = lang("First", name.span());
        let traits = quote_spanned! {name.span()=>
            #[allow(unused_imports)]
            use ::gcn_dsl::__private::{FirstStays as _, FirstVaries as _, GivenInLanes as _, GivenToAll as _};
        };
        if self.varying.has(name) {
            let vary = lang("vary", name.span());
            return match open {
                true => quote_spanned!(name.span()=> { #traits (&#first::of(#value)).first() }),
                false => quote_spanned!(name.span()=> #vary(#value)),
            };
        }
        self.varying.asked(name).into_iter().fold(value, |value, question| {
            // An error belongs to where the expression stands.
            let around = std::mem::take(&mut *self.errors);
            let asked = self.expr(&question.expr);
            let errors = std::mem::replace(&mut *self.errors, around);
            if !errors.is_empty() {
                return value;
            }
            let given = lang("given", name.span());
            let start = match open {
                true => {
                    quote_spanned!(name.span()=> (&(&#given(|| #asked)).open(#first::of(#value))).first())
                }
                false => quote_spanned!(name.span()=> (&#given(|| #asked)).start(#value)),
            };
            quote_spanned!(name.span()=> { #traits #start })
        })
    }

    /// A value that a variable without a first one is given.
    pub fn varied_later(&mut self, name: &Ident, value: TokenStream) -> TokenStream {
        let first = lang("First", name.span());
        self.varying.asked_later(name).into_iter().fold(value, |value, question| {
            let around = std::mem::take(&mut *self.errors);
            let asked = self.expr(&question.expr);
            let errors = std::mem::replace(&mut *self.errors, around);
            if !errors.is_empty() {
                return value;
            }
            let given = lang("given", name.span());
            quote_spanned!(name.span()=> {
                #[allow(unused_imports)]
                use ::gcn_dsl::__private::{FirstStays as _, FirstVaries as _, GivenInLanes as _, GivenToAll as _};
                (&(&#given(|| #asked)).open(#first::of(#value))).first()
            })
        })
    }
}
