//! Errors: uses of device enums and `Option` that are not possible, and patterns that do not fit.

use gcn_dsl::prelude::*;

gcn_kernel! {
    #[device]
    enum Shape {
        Circle(V<f32>),
        Rect { w: V<f32>, h: V<f32> },
        Point,
    }

    #[device]
    enum Mode {
        Scale(f32),
        Off,
    }

    #[device]
    fn not_all_variants(s: Shape) -> V<f32> {
        match s {
            Shape::Circle(r) => r,
            Shape::Point => 0.0,
        }
    }

    #[device]
    fn nested_value(x: Option<V<u32>>) -> V<u32> {
        match x {
            Some(0) => 1,
            None => 2,
        }
    }

    #[device]
    fn no_such_variant(s: Shape) -> V<f32> {
        match s {
            Shape::Square(r) => r,
            _ => 0.0,
        }
    }

    #[device]
    fn no_such_field(s: Shape) -> V<f32> {
        if let Shape::Rect { width, .. } = s { width } else { 0.0 }
    }

    #[device]
    fn too_many_fields(s: Shape) -> V<f32> {
        let Shape::Circle(r, _) = s else { return 0.0 };
        r
    }

    #[device]
    fn not_an_enum(x: V<u32>) -> V<u32> {
        if let Some(x) = x { x } else { 0 }
    }

    #[device]
    fn wrong_data(x: V<f32>) -> Shape {
        Shape::Circle(x as u32)
    }

    #[device]
    fn uniform_under_varying(x: V<f32>, by: f32) -> V<f32> {
        let mode = if x > 1.0 { Mode::Scale(by) } else { Mode::Off };
        match mode {
            Mode::Scale(by) => x * by,
            Mode::Off => x,
        }
    }

    #[device]
    fn never_matches(s: Shape) -> V<u32> {
        match s {
            Shape::Circle(_) => 1,
            Shape::Rect { .. } | Shape::Point => 2,
            Shape::Point => 3,
        }
    }

    #[workgroup(64)]
    fn barrier_in_arm(x: &[u32], y: &mut [u32]) {
        let i = global_id().x;
        let even = if x[i] % 2 == 0 { Some(x[i]) } else { None };
        if let Some(e) = even {
            barrier();
            y[i] = e;
        }
    }
}

fn main() {}
