//! Questions to rustc: expressions whose types decide whether a variable varies, such as calls of functions declared elsewhere.
//!
//! An expression that syntax does not decide becomes a question. The question matters for a variable if its expression
//! is assigned to the variable or is the condition of an assignment to it: the expansion of the variable's `let` then
//! asks rustc for the expression's type (`gcn_dsl::__private::given`). Names that are declared after that `let` are not
//! in scope there, so the question contains their initial values instead. If that is not possible, the question is
//! dropped.

use std::rc::Rc;

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::visit_mut::{self, VisitMut};
use syn::{Expr, Member, Pat, UnOp, parse_quote};

use super::{Analysis, Shape, Variable};
use crate::expand::types::typed::inferred;
use crate::expand::{Cx, lang};
use crate::syntax::name_of;

/// The maximum number of questions for each variable, limited because each is code that rustc has to check, and the
/// maximum number of names that are replaced in a question.
const MOST: usize = 8;
const REPLACED: usize = 16;

/// An expression whose type tells whether its value varies.
#[derive(Clone)]
pub(super) struct Question {
    /// Shared, because the questions of a value are those of all its parts.
    expr: Rc<Expr>,
    /// The number of names in scope at the expression.
    height: usize,
    /// The answer to assume if rustc cannot be asked. It follows from the functions of this macro call.
    varies: bool,
}

/// Checks that an expression consists of values and calls only: other expressions may exit, assign or declare.
struct Asks(bool);

impl<'ast> Visit<'ast> for Asks {
    fn visit_expr(&mut self, e: &'ast Expr) {
        self.0 &= match e {
            Expr::Array(_) | Expr::Call(_) | Expr::Cast(_) | Expr::Field(_) | Expr::Group(_) => true,
            Expr::Index(_) | Expr::Lit(_) | Expr::MethodCall(_) | Expr::Paren(_) | Expr::Path(_) => true,
            Expr::Range(_) | Expr::Reference(_) | Expr::Repeat(_) | Expr::Struct(_) | Expr::Tuple(_) => true,
            Expr::Unary(e) => matches!(e.op, UnOp::Deref(_) | UnOp::Not(_) | UnOp::Neg(_)),
            Expr::Binary(e) => !crate::operator::is_compound(&e.op),
            _ => false,
        };
        visit::visit_expr(self, e);
    }
}

impl Analysis {
    /// The number of names in scope here.
    fn height(&self) -> usize {
        // While a pattern is being bound, the value does not see the names bound so far.
        self.pattern.unwrap_or(self.names.len())
    }

    pub(super) fn variable(&self, key: String) -> Variable {
        Variable { key, depth: self.depth, doubts: self.doubts.len(), height: self.height() }
    }

    /// Counts what is known so far. The fixpoint is reached when these numbers no longer change.
    pub(super) fn progress(&self) -> [usize; 3] {
        [self.varying.len(), self.left.len(), self.asked.values().map(Vec::len).sum()]
    }

    pub(super) fn question(&self, e: &Expr) -> Option<Question> {
        let mut asks = Asks(true);
        asks.visit_expr(e);
        // The question is copied to the variable's declaration, and an expression with effects would then have them
        // twice.
        asks.0.then(|| Question { expr: Rc::new(e.clone()), height: self.height(), varies: false })
    }

    /// The shape of `e`, which rustc decides.
    pub(super) fn ask(&mut self, e: &Expr) -> Shape {
        self.ask_or(e, false)
    }

    /// As [`Analysis::ask`], but the answer is `varies` if rustc cannot be asked.
    pub(super) fn ask_or(&mut self, e: &Expr, varies: bool) -> Shape {
        match self.question(e) {
            // rustc's answer is more exact than `varies`, which applies if the question cannot be moved to the
            // declaration.
            Some(question) => self.all_of(vec![Question { varies, ..question }]),
            None if varies => Shape::Varying,
            None => Shape::Other,
        }
    }

    /// The shape of `e`, a part of a value of the shape `of`; rustc decides it.
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

    /// The shape of a value that is computed from two values of these shapes.
    pub(super) fn either(&mut self, a: Shape, b: Shape) -> Shape {
        if let Some(tuple) = self.either_member(a, b) {
            return tuple;
        }
        match (a, b) {
            (Shape::Varying, _) | (_, Shape::Varying) => Shape::Varying,
            // Each operand may turn out to vary, so the result depends on the questions of both.
            (Shape::Asked(x), Shape::Asked(y)) if x != y => {
                let all = [self.questions(a), self.questions(b)].concat();
                self.all_of(all)
            }
            (Shape::Asked(_), _) => a,
            (_, Shape::Asked(_)) => b,
            _ => Shape::Other,
        }
    }

    /// The shape of a value that, in addition to having `shape`, depends on the questions of the variable or loop
    /// `key`. `height` is the number of names in scope where that variable or loop starts.
    pub(super) fn decided_by(&mut self, shape: Shape, key: &str, height: usize) -> Shape {
        match (shape, self.asked.get(key)) {
            (Shape::Other | Shape::Asked(_), Some(asked)) if !asked.is_empty() => {
                // The variable's questions only contain names that are in scope at its declaration, so they are valid wherever the variable
                // is in scope.
                let asked = asked.iter().map(|q| Question { height, ..q.clone() }).collect();
                let asked = self.all_of(asked);
                self.either(shape, asked)
            }
            _ => shape,
        }
    }

    /// Records that a value of this shape is assigned to a variable. Returns true if the variable varies whatever rustc
    /// answers, which includes the case that a question cannot be asked and the assumed answer is "varying".
    pub(super) fn wonder(&mut self, variable: &Variable, shape: Shape) -> bool {
        // Only conditions inside the variable's scope matter, because those around its declaration apply to both the
        // declaration and the assignment.
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
            let mut expr = Rc::unwrap_or_clone(question.expr);
            closing.visit_expr_mut(&mut expr);
            // The names in the question could not be replaced by what is in scope at the variable's declaration, so rustc cannot be asked
            // there. The assumed answer decides.
            if closing.left == 0 {
                certain |= question.varies;
                continue;
            }
            let asked = self.asked.entry(variable.key.clone()).or_default();
            // Equal questions are asked only once, since rustc has to check each.
            let text = expr.to_token_stream().to_string();
            if asked.iter().any(|q| q.expr.to_token_stream().to_string() == text) {
                continue;
            }
            // Beyond the limit, the assumed answer decides. The limit bounds the size of the expansion.
            match asked.len() < MOST {
                true => asked.push(Question {
                    expr: Rc::new(expr),
                    height: variable.height,
                    varies: question.varies,
                }),
                false => certain |= question.varies,
            }
        }
        certain
    }

    /// Binds the names of a pattern to the parts of a value about which rustc decides.
    pub(super) fn bind_parts(&mut self, pat: &Pat, value: Option<&Expr>) {
        let Some(value) = value else { return };
        let parts: Vec<(Member, &Pat)> = match pat {
            Pat::Tuple(p) => p.elems.iter().enumerate().map(|(i, p)| (Member::from(i), p)).collect(),
            Pat::Struct(p) => p.fields.iter().map(|f| (f.member.clone(), &*f.pat)).collect(),
            _ => Vec::new(),
        };
        let parts: Vec<(&Pat, Expr)> =
            // Asks about each member separately, as a field of the whole value, since the members of a tuple may
            // differ.
            parts.into_iter().map(|(member, pat)| (pat, parse_quote!((#value).#member))).collect();
        let shapes: Vec<Shape> = parts.iter().map(|(_, part)| self.ask(part)).collect();
        for ((pat, part), shape) in parts.iter().zip(shapes) {
            self.bind(pat, shape, Some(part));
        }
    }
}

/// Rewrites a question so that it can be asked at a variable's declaration: replaces the names that are not in scope
/// there.
struct Closing<'a> {
    of: &'a Analysis,
    /// The number of names in scope at the expression, and at the variable's declaration.
    height: usize,
    at: usize,
    /// The number of names that may still be replaced; 0 if replacement has failed.
    left: usize,
}

impl Closing<'_> {
    /// The index of the name `e`, if the function declares that name.
    fn declared(&self, e: &Expr) -> Option<usize> {
        let name = name_of(e)?.to_string();
        self.of.names.get(..self.height)?.iter().rposition(|b| name == b.name)
    }
}

impl VisitMut for Closing<'_> {
    fn visit_field_value_mut(&mut self, f: &mut syn::FieldValue) {
        // `P { x }` becomes `P { x: value }` so that the value can be replaced.
        f.colon_token.get_or_insert_default();
        visit_mut::visit_field_value_mut(self, f);
    }

    fn visit_expr_mut(&mut self, e: &mut Expr) {
        // The receiver of a method with `&mut self` has to remain a variable.
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
            // Where the question is asked, this name has no value yet, or refers to another variable.
            let deferred = binding.variable.as_ref().is_some_and(|v| v.key == binding.name);
            if deferred || self.of.names.get(i + 1..self.at).is_some_and(|between| between.iter().any(hidden))
            {
                self.left = 0;
            }
            return;
        }
        // The name is declared after the variable, so only its initial value can replace it, and only up to the limit.
        let (Some(value), 1..) = (&binding.value, self.left) else {
            self.left = 0;
            return;
        };
        let mut expr = Expr::clone(&value.expr);
        // The names in that initial value refer to the variables in scope where the replaced name is declared.
        let (height, left) = (std::mem::replace(&mut self.height, value.height), self.left);
        self.left = left - 1;
        self.visit_expr_mut(&mut expr);
        self.height = height;
        // In parentheses, because the value may contain operators of lower precedence than those around it.
        *e = parse_quote!((#expr));
    }
}

impl super::Varying {
    fn asked_later(&self, name: &Ident) -> Vec<Question> {
        self.asked.get(&name.to_string()).cloned().unwrap_or_default()
    }
}

impl Cx<'_> {
    /// The initial value of a variable, converted to a varying value if the kernel assigns varying values to the
    /// variable.
    pub fn varied(&mut self, name: &Ident, value: TokenStream) -> TokenStream {
        self.varied_as(&super::key(name), name.span(), value)
    }

    /// The initial value of the variable `name`, written as `e`, in which the members that vary are converted.
    pub fn members_in_lanes(&mut self, pat: &Pat, mut e: Expr) -> Expr {
        if let Pat::Ident(name) = pat {
            self.varied_members(&name.ident, &mut e, String::new());
        }
        e
    }

    fn varied_members(&mut self, name: &Ident, e: &mut Expr, path: String) {
        let known = Rc::clone(&self.known);
        if let Some(members) = super::members_mut(e, &known) {
            for (member, e) in members {
                self.varied_members(name, e, super::member_path(&path, &member));
            }
        } else if !path.is_empty() {
            let key = super::member_key(name, &path);
            if self.varying.variables.contains(&key) || self.varying.asked.contains_key(&key) {
                let value = self.expr(&inferred(e));
                *e = Expr::Verbatim(self.varied_as(&key, e.span(), value));
            }
        }
    }

    fn varied_as(&mut self, key: &str, span: Span, value: TokenStream) -> TokenStream {
        // True if only rustc knows whether the initial value is a number.
        let open = self.varying.open.contains(key);
        let first = lang("First", span);
        // Syntax has already decided that the variable varies, so no question is needed.
        if self.varying.variables.contains(key) {
            let vary = lang("vary", span);
            return match open {
                true => quote_spanned!(span=> (&#first::of(#value)).first()),
                false => quote_spanned!(span=> #vary(#value)),
            };
        }
        let asked = self.varying.asked.get(key).cloned().unwrap_or_default();
        self.answered(span, asked, value, |given, value| match open {
            true => quote_spanned!(span=> (&(&#given).open(#first::of(#value))).first()),
            false => quote_spanned!(span=> (&#given).start(#value)),
        })
    }

    /// A value that is assigned to a variable whose `let` has no value, converted like an initial value.
    pub fn varied_later(&mut self, name: &Ident, value: TokenStream) -> TokenStream {
        let first = lang("First", name.span());
        self.answered(
            name.span(),
            self.varying.asked_later(name),
            value,
            |given, value| quote_spanned!(name.span()=> (&(&#given).open(#first::of(#value))).first()),
        )
    }

    /// The initial value of the variable at `span`, converted to a varying one if an answer to the variable's questions
    /// says so. `start` combines the answers with the value.
    fn answered(
        &mut self,
        span: Span,
        questions: Vec<Question>,
        value: TokenStream,
        start: impl Fn(&TokenStream, &TokenStream) -> TokenStream,
    ) -> TokenStream {
        let given = lang("given", span);
        questions.into_iter().fold(value, |value, question| {
            // Errors in the expression are reported where it was written, and not again for this copy.
            let around = std::mem::take(&mut *self.errors);
            let asked = self.expr(&question.expr);
            let errors = std::mem::replace(&mut *self.errors, around);
            if !errors.is_empty() {
                return value;
            }
            start(&quote_spanned!(span=> #given(|| #asked)), &value)
        })
    }
}
