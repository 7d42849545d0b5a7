//! The methods of `u8` for ASCII characters, on every value, varying and uniform.

use gcn_dsl::prelude::*;

use crate::TARGETS;

macro_rules! classes {
    ($($method:ident)*) => {
        gcn_kernel! {
            #[workgroup(64)]
            fn of_lanes(text: &[u8], classes: &mut [u32], changed: &mut [u8]) {
                let i = global_id().x;
                let c = text[i];
                let held = [$(c.$method()),*];
                let mut bits = 0;
                #[unroll] for k in 0..held.len() { bits |= (held[k] as u32) << k as u32; }
                classes[i] = bits;
                changed[i] = c.to_ascii_uppercase();
                changed[i + 256] = c.to_ascii_lowercase();
            }

            #[workgroup(64)]
            fn of_waves(text: &[u8], classes: &mut [u32], changed: &mut [u8]) {
                let i = workgroup_id().x;
                let c = text[i];
                let held = [$(c.$method()),*];
                let mut bits = 0;
                #[unroll] for k in 0..held.len() { bits |= (held[k] as u32) << k as u32; }
                classes[i] = bits;
                changed[i] = c.to_ascii_uppercase();
                changed[i + 256] = c.to_ascii_lowercase();
            }
        }

        fn expected(c: u8) -> u32 {
            [$(c.$method()),*].into_iter().enumerate().map(|(k, held)| u32::from(held) << k).sum()
        }
    };
}
classes! {
    is_ascii is_ascii_digit is_ascii_hexdigit is_ascii_alphabetic is_ascii_alphanumeric is_ascii_uppercase
    is_ascii_lowercase is_ascii_graphic is_ascii_punctuation is_ascii_whitespace is_ascii_control
}

#[test]
fn every_byte_has_rusts_classes_and_cases() {
    let text: Vec<u8> = (0..=255).collect();
    let classes: Vec<u32> = text.iter().map(|c| expected(*c)).collect();
    let upper = text.iter().map(u8::to_ascii_uppercase);
    let changed: Vec<u8> = upper.chain(text.iter().map(u8::to_ascii_lowercase)).collect();
    for target in TARGETS {
        let device = Device::simulator(target);
        let (mut found, mut cases) = (vec![0; 256], vec![0; 512]);
        of_lanes.launch(&device, Grid::x(4), (&text, &mut found, &mut cases)).unwrap();
        assert_eq!((&found, &cases), (&classes, &changed), "{target}");
        let (mut found, mut cases) = (vec![0; 256], vec![0; 512]);
        of_waves.launch(&device, Grid::x(256), (&text, &mut found, &mut cases)).unwrap();
        assert_eq!((&found, &cases), (&classes, &changed), "{target}, uniform");
    }
}
