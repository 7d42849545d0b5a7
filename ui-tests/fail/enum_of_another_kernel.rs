//! Enums, structs and methods that another `gcn_kernel!` declares.

use gcn_dsl::prelude::*;

mod shapes {
    use gcn_dsl::prelude::*;

    gcn_kernel! {
        #[device]
        pub enum Shape {
            Circle(V<f32>),
            Rect { w: V<f32>, h: V<f32> },
            Point,
        }

        #[device]
        pub struct Steps {
            pub state: V<u32>,
        }

        #[device]
        impl Steps {
            pub fn next(&mut self) -> V<u32> {
                self.state = self.state * 5 + 1;
                self.state
            }
        }
    }
}
use shapes::{Shape, Steps};

gcn_kernel! {
    #[device]
    fn unit(x: V<f32>) -> Shape {
        if x > 1.0 { Shape::Circle(x) } else { Shape::Point }
    }

    #[device]
    fn no_such_variant(s: Shape) -> V<f32> {
        match s {
            Shape::Square(r) => r,
            _ => 0.0,
        }
    }

    #[workgroup(64)]
    fn steps(y: &mut [u32]) {
        let mut from = Steps { state: lane_id() };
        y[lane_id()] = from.next();
    }
}

fn main() {}
