//! `break`, `continue` and `return`: finds their targets and tells the constructs in between.
//!
//! While a body is expanded, `Cx` keeps a stack of frames, one for each construct around the current point. An exit
//! walks up the stack to its target. Some constructs have to know that lanes leave them: a loop executes its next trip,
//! and a block its later statements, without these lanes. For each of these constructs, the exit records its *kind*:
//! whether it is varying, which means that only some lanes enter a construct between the exit and the target. A kind is
//! a type. It is recorded on a variable that is declared before the construct, `let __gcn_exit… = Leave::new();`, and
//! rustc infers the variable's type from the records.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote_spanned};
use syn::{Expr, ExprBreak, ExprContinue, ExprReturn, Label, Lifetime, Stmt};

use crate::expand::frame::{Frame, Target, TargetKind, Trips};
use crate::expand::types::typed::{literals, typed_exit};
use crate::expand::{Cx, lang};

/// The joined kind of several exits or constructs: varying if any of them is.
pub(crate) fn any(kinds: &[TokenStream], span: Span) -> TokenStream {
    match kinds {
        [] => {
            let leave = lang("Leave", span);
            quote_spanned!(span=> #leave::together())
        }
        [one] => one.clone(),
        [first, rest @ ..] => {
            let (either, rest) = (lang("either", span), any(rest, span));
            quote_spanned!(span=> #either(&#first, &#rest))
        }
    }
}

/// As [`any`], for kinds given by the names of their variables.
pub(crate) fn any_of(names: &[Ident], span: Span) -> TokenStream {
    match names {
        [one] => one.to_token_stream(),
        _ => any(&names.iter().map(ToTokens::to_token_stream).collect::<Vec<_>>(), span),
    }
}

/// The kinds of exits.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Exit {
    Break,
    Continue,
    Return,
}

impl Exit {
    fn word(self) -> &'static str {
        match self {
            Exit::Break => "break",
            Exit::Continue => "continue",
            Exit::Return => "return",
        }
    }
}

impl Cx<'_> {
    pub fn break_expr(&mut self, e: &ExprBreak) -> TokenStream {
        let span = e.break_token.span;
        let Some(target) = self.find_target("break", span, e.label.as_ref()) else {
            return TokenStream::new();
        };
        let kind = match &self.frames[target] {
            Frame::Target(t) => t.kind,
            _ => return TokenStream::new(),
        };
        // As in Rust: a `while` or `for` may end without a `break` and so has no value that the `break` could set.
        if let (Some(value), TargetKind::Loop { valued: false, .. }) = (&e.expr, kind) {
            self.errors.at(
                value,
                "only `loop` and a block with a label have a value; assign it to a variable before `break`",
            );
            return TokenStream::new();
        }
        self.exit(Exit::Break, target, e.expr.as_deref(), span)
    }

    pub fn continue_expr(&mut self, e: &ExprContinue) -> TokenStream {
        let span = e.continue_token.span;
        let Some(target) = self.find_target("continue", span, e.label.as_ref()) else {
            return TokenStream::new();
        };
        self.exit(Exit::Continue, target, None, span)
    }

    pub fn return_expr(&mut self, e: &ExprReturn) -> TokenStream {
        let span = e.return_token.span;
        let is_function = |f: &Frame| matches!(f, Frame::Target(t) if t.kind == TargetKind::Function);
        let Some(target) = self.frames.iter().rposition(is_function) else { return TokenStream::new() };
        if self.crosses(target, "return", span) {
            return TokenStream::new();
        }
        if let (Some(value), true) = (&e.expr, self.returns_nothing) {
            self.errors.at(value, "a kernel returns nothing; write the result to a `&mut [T]` argument");
            return TokenStream::new();
        }
        let typed = match (&e.expr, &self.result) {
            (Some(value), Some(ty)) => Some(typed_exit(value, ty, &self.elements)),
            _ => None,
        };
        self.exit(Exit::Return, target, typed.as_ref().or(e.expr.as_deref()), span)
    }

    /// The frame that the `break` or `continue` refers to.
    fn find_target(&mut self, word: &str, span: Span, label: Option<&Lifetime>) -> Option<usize> {
        let target = self.frames.iter().rposition(|f| match (f, label) {
            (Frame::Target(t), Some(label)) => t.label.as_ref() == Some(&label.ident.to_string()),
            // An exit without a label refers to a loop; a labelled block has to be named.
            (Frame::Target(t), None) => matches!(t.kind, TargetKind::Loop { .. } | TargetKind::Unrolled),
            _ => false,
        });
        let Some(target) = target else {
            match label {
                Some(label) => {
                    self.errors.at(
                        label,
                        format!("there is no loop or block labelled `{label}` around this `{word}`"),
                    );
                }
                None => self.error_at(span, &format!("`{word}` outside of a loop")),
            }
            return None;
        };
        if self.crosses(target, word, span) {
            return None;
        }
        let Frame::Target(t) = &self.frames[target] else { return None };
        match t.kind {
            TargetKind::Unrolled => {
                self.error_at(
                    span,
                    &format!(
                        "`{word}` cannot leave an `#[unroll] for`, nor a `for` over the elements of an array: when the kernel is built all of \
                         its trips are; write a `for` over a range, name a loop around it by its label, or choose trips with `comptime if`"
                    ),
                );
                None
            }
            TargetKind::Block if word == "continue" => {
                self.error_at(
                    span,
                    "`continue` needs a loop, and this label is a block's; leave it with `break`",
                );
                None
            }
            _ => Some(target),
        }
    }

    /// Reports an error if a construct between the current point and the frame `target` forbids the exit. Returns true
    /// if the exit is allowed.
    fn crosses(&mut self, target: usize, word: &str, span: Span) -> bool {
        let between = &self.frames[target + 1..];
        if between.iter().any(|f| matches!(f, Frame::Closure)) {
            self.error_at(
                span,
                &format!("`{word}` is not available in a closure, for the closure may be called where other lanes run; leave outside of it"),
            );
            return true;
        }
        if between.iter().any(|f| matches!(f, Frame::Operand)) {
            self.error_at(
                span,
                &format!("`{word}` in the middle of an expression is not available in a kernel; give the value a name first: `let x = …;`"),
            );
            return true;
        }
        false
    }

    fn error_at(&mut self, span: Span, message: &str) {
        self.errors.push(syn::Error::new(span, message));
    }

    /// The expansion of an exit: its records in the constructs that it crosses, its value, and the deactivation of its
    /// lanes.
    fn exit(&mut self, how: Exit, target: usize, value: Option<&Expr>, span: Span) -> TokenStream {
        self.stays_in_trip(how, target, span);
        let value = value.map(|v| match how {
            Exit::Return => self.operand_expr(v),
            _ => self.operand_expr(&literals(v, &self.elements.clone())),
        });
        // The state is captured after the value is expanded, because the value may assign variables, and before the
        // code after the exit.
        let here = self.leaves_here();
        let mut notes = TokenStream::new();
        let mut path: Vec<TokenStream> = Vec::new();
        let is_loop =
            matches!(&self.frames[target], Frame::Target(t) if matches!(t.kind, TargetKind::Loop { .. }));
        // A loop itself accounts for the lanes that leave it by `break`, so the blocks in its body need no record of
        // them.
        let blocks_know = !(is_loop && how == Exit::Break);
        // From the innermost construct outwards. The kind recorded at each construct joins the kinds of all constructs
        // inside it.
        for i in (target + 1..self.frames.len()).rev() {
            let slot = self.fresh("exit", span);
            let (leaves, own) = match &mut self.frames[i] {
                Frame::Statements(leaves) if blocks_know => (leaves, None),
                Frame::Branch(guard) => {
                    path.push(quote_spanned!(span=> #guard.kind()));
                    continue;
                }
                Frame::Target(t) => {
                    path.extend(t.waiting());
                    if !matches!(t.kind, TargetKind::Loop { .. } | TargetKind::Unrolled) {
                        continue;
                    }
                    let guard = &t.guard;
                    let own = quote_spanned!(span=> #guard.left());
                    (&mut t.leaves, Some(own))
                }
                _ => continue,
            };
            // A `return` is recorded separately, because it also leaves the scope of every variable outside the loop.
            let list = if how == Exit::Return { &mut leaves.returned } else { &mut leaves.left };
            list.push(slot.clone());
            let kind = any(&path, span);
            notes.extend(quote_spanned!(span=> #slot.note(&#kind);));
            path.extend(own);
        }
        let (slot, value_slot) = (self.fresh("exit", span), self.fresh("value", span));
        let Frame::Target(t) = &mut self.frames[target] else { return TokenStream::new() };
        let method = match how {
            Exit::Continue => {
                t.continues.push(slot.clone());
                t.at_continues.push(here);
                quote_spanned!(span=> next)
            }
            Exit::Break | Exit::Return => {
                if is_loop {
                    path.extend(t.waiting());
                }
                t.leaves.left.push(slot.clone());
                t.at_breaks.push(here);
                t.breaks = true;
                quote_spanned!(span=> leave)
            }
        };
        let kind = any(&path, span);
        notes.extend(quote_spanned!(span=> #slot.note(&#kind);));
        let valued = match t.kind {
            TargetKind::Loop { valued, .. } => valued && how == Exit::Break,
            _ => true,
        };
        if valued {
            t.values.push(value_slot.clone());
            let value = value.unwrap_or_else(|| quote_spanned!(span=> ()));
            notes.extend(quote_spanned!(span=> #value_slot.put(#value);));
        }
        let guard = &t.guard;
        quote_spanned!(span=> { #notes #guard.#method() })
    }

    /// Refuses an exit from a loop that relies on complete trips: a pipelined loop has already started loads for later trips, and in a
    /// `#[ping_pong]` loop other waves count this wave's barriers.
    fn stays_in_trip(&mut self, how: Exit, target: usize, span: Span) {
        let why = self.frames[target..].iter().find_map(|f| match f {
            Frame::Target(t) => match t.kind {
                TargetKind::Loop { trips: Trips::Pipelined, .. } => {
                    Some("`#[pipeline]` loop, whose next trips have begun")
                }
                TargetKind::Loop { trips: Trips::PingPong, .. } => {
                    Some("`#[ping_pong]` loop, in which every wave takes part in every phase")
                }
                _ => None,
            },
            _ => None,
        });
        if let Some(why) = why {
            let word = how.word();
            let what = format!(
                "`{word}` leaves a trip of a {why}; put the rest of the body in an `if`, or take the attribute away"
            );
            self.errors.beside_at(span, what);
        }
    }

    /// True if the current statement is directly in the body of a `#[ping_pong]` loop. Unrolled loops in between are
    /// ignored.
    pub fn is_in_ping_pong(&self) -> bool {
        let around = self.frames.iter().rev().find(|f| match f {
            Frame::Statements(_) => false,
            Frame::Target(t) => t.kind != TargetKind::Unrolled,
            _ => true,
        });
        matches!(around, Some(Frame::Target(t)) if matches!(t.kind, TargetKind::Loop { trips: Trips::PingPong, .. }))
    }

    /// Expands an operand, which must not contain an exit: the rest of the statement would still execute for the lanes
    /// that left.
    pub fn operand_expr(&mut self, e: &Expr) -> TokenStream {
        self.frames.push(Frame::Operand);
        let tokens = self.expr(e);
        self.frames.pop();
        tokens
    }

    /// A name that is unique in this expansion.
    pub fn fresh(&mut self, name: &str, at: Span) -> Ident {
        self.fresh += 1;
        self.helper(&format!("{name}{}", self.fresh), at)
    }

    /// Pops the topmost frame, if it is a target.
    pub fn pop_target(&mut self) -> Option<Target> {
        match self.frames.pop() {
            Some(Frame::Target(t)) => Some(*t),
            _ => None,
        }
    }

    /// Expands a function's body. Its value is that of the last expression or of the `return` that a lane executes. A
    /// kernel's body has no value.
    pub fn function_body(&mut self, stmts: &[Stmt], span: Span) -> TokenStream {
        // The function's end is a target like the end of a labelled block, so `return` needs no mechanism of its own.
        let guard = self.helper("function", span);
        self.frames.push(Target::frame(TargetKind::Function, None, guard.clone()));
        let body = self.value_as_it_is(stmts, span);
        self.close_block(body, &guard, span)
    }

    /// Expands a block with a label.
    pub fn labelled_block(&mut self, label: &Label, stmts: &[Stmt], span: Span) -> TokenStream {
        let guard = self.fresh("block", span);
        self.frames.push(Target::frame(TargetKind::Block, Some(label), guard.clone()));
        let body = self.meeting_at_end(|cx| {
            let body = cx.value_of(stmts, span);
            let ways = match cx.frames.last_mut() {
                Some(Frame::Target(target)) => std::mem::take(&mut target.at_breaks),
                _ => Vec::new(),
            };
            (body, ways)
        });
        let block = self.close_block(body, &guard, span);
        quote_spanned!(span=> { #block })
    }

    fn close_block(&mut self, body: TokenStream, guard: &Ident, span: Span) -> TokenStream {
        let Some(mut target) = self.pop_target() else { return TokenStream::new() };
        // Without a `break` (in a function, a `return`), the last expression gives the value directly, and no variable
        // has to join values.
        if !target.breaks {
            return body;
        }
        let begin = lang("block_begin", span);
        let tail = self.fresh("value", span);
        target.values.push(tail.clone());
        let (declarations, slots) = (target.declarations(span), target.slots(span));
        let kind = any_of(&target.leaves.left, span);
        quote_spanned! {span=>
            #declarations
            let #guard = #begin();
            #tail.put({ #body });
            #guard.end_with(&#kind, #slots)
        }
    }
}

impl Target {
    /// The exits, so far, to the end of this function or block or of this trip. Their lanes are inactive until that
    /// end.
    fn waiting(&self) -> Vec<TokenStream> {
        let waiting = match self.kind {
            TargetKind::Block => &self.leaves.left,
            _ => &self.continues,
        };
        waiting.iter().map(ToTokens::to_token_stream).collect()
    }
}
