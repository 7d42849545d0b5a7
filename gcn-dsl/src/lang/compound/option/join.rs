//! Merges branches of which one gives an `Option`, and the other an `Option`, `None` or no value.

use super::{Absent, Maybe, moved, none};
use crate::lang::values::merge::{Merge, Never};
use crate::lang::{Blank, Placed};

#[diagnostic::do_not_recommend]
impl<How, A: Merge<How, B> + Placed, B: Placed> Merge<How, Maybe<B>> for Maybe<A>
where
    A::Output: Placed,
{
    type Output = Maybe<A::Output>;
    #[track_caller]
    fn left(self) -> Self::Output {
        Maybe { some: moved::<A, A::Output>(self.some), value: self.value.left() }
    }
    #[track_caller]
    fn right(b: Maybe<B>) -> Self::Output {
        Maybe { some: moved::<B, A::Output>(b.some), value: A::right(b.value) }
    }
}

/// Merges an option with a branch that gives `None`, or that gives no value because its lanes leave.
macro_rules! beside {
    ($other:ident $leaves:literal: |$it:pat_param| $value:expr) => {
        #[diagnostic::do_not_recommend]
        impl<How, A: Merge<How, A> + Placed> Merge<How, $other> for Maybe<A>
        where
            A::Output: Blank + Placed,
        {
            type Output = Maybe<A::Output>;
            const RIGHT_LEAVES: bool = $leaves;
            #[track_caller]
            fn left(self) -> Self::Output {
                Maybe { some: moved::<A, A::Output>(self.some), value: Merge::<How, A>::left(self.value) }
            }
            fn right($it: $other) -> Self::Output {
                $value
            }
        }
        #[diagnostic::do_not_recommend]
        impl<How, A: Merge<How, A> + Placed> Merge<How, Maybe<A>> for $other
        where
            A::Output: Blank + Placed,
        {
            type Output = Maybe<A::Output>;
            const LEFT_LEAVES: bool = $leaves;
            fn left(self) -> Self::Output {
                let $it = self;
                $value
            }
            #[track_caller]
            fn right(b: Maybe<A>) -> Self::Output {
                let value = <A as Merge<How, A>>::right(b.value);
                Maybe { some: moved::<A, A::Output>(b.some), value }
            }
        }
    };
}
beside!(Absent false: |_| Maybe::absent());
beside!(Never true: |_| unreachable!("the branch has no value"));

impl<How> Merge<How, Absent> for Absent {
    type Output = Absent;
    fn left(self) -> Absent {
        self
    }
    fn right(b: Absent) -> Absent {
        b
    }
}
impl<How> Merge<How, Never> for Absent {
    type Output = Absent;
    const RIGHT_LEAVES: bool = true;
    fn left(self) -> Absent {
        self
    }
    fn right(_: Never) -> Absent {
        none()
    }
}
impl<How> Merge<How, Absent> for Never {
    type Output = Absent;
    const LEFT_LEAVES: bool = true;
    fn left(self) -> Absent {
        none()
    }
    fn right(b: Absent) -> Absent {
        b
    }
}
