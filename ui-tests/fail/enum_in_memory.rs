//! Errors in declarations of enums that are stored in memory; and enums that cannot be stored in memory.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[device]
    #[repr(C)]
    enum WithoutNumber {
        A,
    }

    #[device]
    #[repr(u32)]
    enum WithFields {
        A,
        B(V<u32>),
    }

    #[device]
    #[repr(u8)]
    enum Generic<T> {
        A,
    }
}

gcn_kernel! {
    #[device]
    enum Plain {
        A,
        B,
    }

    #[workgroup(64)]
    fn elements(x: &[Plain], y: &mut [f32]) {
        y[0] = 1.0;
    }

    #[device]
    #[repr(u32)]
    enum Token {
        Space,
        Digit,
        Other,
    }

    #[workgroup(64)]
    fn patterns(x: &[Token], y: &mut [Token], z: &mut [u32]) {
        let i = global_id().x;
        z[i] = match x[i] {
            Token::Space => 1,
            Token::Digit => 2,
        };
        y[i] = z[i];
        let one: S<Token> = x[i];
        if x[i] == 3 {
            z[i] = x[i] + 1;
        }
    }
}

fn main() {}
