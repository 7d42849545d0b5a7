//! Faults that random programs have found, in minimal form.

use gcn_dsl::prelude::*;

const TARGETS: [Target; 6] = Target::REPRESENTATIVES;

gcn_kernel! {
    /// A varying `for` up to the largest value, whose counter must not wrap around.
    #[workgroup(64)]
    fn to_the_last_value(start: &[u32], trips: &mut [u32]) {
        let i = global_id().x;
        let mut count: V<u32> = 0;
        for _ in start[i]..=u32::MAX {
            count += 1;
        }
        for _ in (start[i]..u32::MAX).step_by(3) {
            count += 100;
        }
        trips[i] = count;
    }
}

#[test]
fn a_varying_for_ends_at_the_last_value() {
    let start: Vec<u32> = (0..64).map(|k| u32::MAX - k).collect();
    for target in TARGETS {
        let mut trips = vec![0; 64];
        to_the_last_value.launch(&Device::simulator(target), Grid::x(1), (&start, &mut trips)).unwrap();
        let want: Vec<u32> = (0..64u32).map(|k| k + 1 + 100 * k.div_ceil(3)).collect();
        assert_eq!(trips, want, "{target}");
    }
}

gcn_kernel! {
    /// Narrow integers are extended in registers, so a value with the same bits as another type has other bits in the
    /// register.
    #[workgroup(64)]
    fn narrow_bits(x: &[u16], y: &[i8], h: &[f16], wide: &mut [i32]) {
        let i = global_id().x;
        wide[i] = x[i].to_bits_as::<i16>() as i32;
        wide[i + 64] = y[i].to_bits_as::<u8>() as i32;
        wide[i + 128] = h[i].to_bits_as::<i16>() as i32;
        wide[i + 192] = (-h[i]).to_bits_as::<u16>() as i32;
        wide[i + 256] = select(x[i].to_bits_as::<i16>() == -4, 1, 0);
    }
}

#[test]
fn narrow_integers_keep_their_bits_and_change_their_sign() {
    let x: Vec<u16> = (0..64).map(|k| if k % 2 == 0 { k } else { u16::MAX - k }).collect();
    let y: Vec<i8> = (0..64).map(|k: i32| (3 * k - 100) as i8).collect();
    let h: Vec<f16> = (0..64).map(|k| f16::from_f32(10.5 - k as f32)).collect();
    for target in TARGETS {
        let mut wide = vec![0; 320];
        narrow_bits.launch(&Device::simulator(target), Grid::x(1), (&x, &y, &h, &mut wide)).unwrap();
        for i in 0..64 {
            let bits = h[i].to_bits();
            let want = [
                i32::from(x[i] as i16),
                i32::from(y[i] as u8),
                i32::from(bits as i16),
                i32::from(bits ^ 0x8000),
                i32::from(x[i] as i16 == -4),
            ];
            let got: Vec<i32> = (0..5).map(|k| wide[i + 64 * k]).collect();
            assert_eq!(got, want, "{target}, lane {i}");
        }
    }
}

gcn_kernel! {
    /// The value of the first branch is live during the second branch, in which a reduction uses registers in all
    /// lanes.
    #[workgroup(64)]
    fn value_that_comes_later(x: &[f32], y: &mut [i32]) {
        let i = global_id().x;
        let later: V<i32>;
        if x[i] >= 0.0 {
            later = 0;
        } else {
            later = wave_or(splat(1i32));
        }
        y[i] = later;
    }
}

#[test]
fn a_deferred_variable_keeps_what_the_other_branch_gave_it() {
    let x: Vec<f32> = (0..64).map(|i| i as f32 - 30.0).collect();
    for target in TARGETS {
        let mut y = vec![9; 64];
        value_that_comes_later.launch(&Device::simulator(target), Grid::x(1), (&x, &mut y)).unwrap();
        let want: Vec<i32> = (0..64).map(|i| i32::from(i < 30)).collect();
        assert_eq!(y, want, "{target}");
    }
}

gcn_kernel! {
    #[workgroup(64)]
    fn far_shift(x: &[u16], y: &mut [u32]) {
        let i = local_id().x;
        y[i] = (x[i].wrapping_shl(28) as u32) & 0x1001;
    }
}

/// A shift by 12, since the count is masked. Not all bits are known to be zero, so the mask is needed.
#[test]
fn counts_of_narrow_shifts_are_masked_before_bits_are_known() {
    let x: Vec<u16> = (0..64).collect();
    for target in Target::REPRESENTATIVES {
        let mut y = vec![7; 64];
        far_shift.launch(&Device::simulator(target), Grid::x(1), (&x, &mut y)).unwrap();
        let expected: Vec<u32> = x.iter().map(|x| u32::from(x.wrapping_shl(28)) & 0x1001).collect();
        assert_eq!(y, expected, "{target}");
    }
}

gcn_kernel! {
    #[workgroup(64)]
    fn farthest_shift(x: &[u32], y: &mut [u32]) {
        let i = local_id().x;
        y[i] = x[i].wrapping_shr(0xffff_fff8) as u8 as u32;
    }
}

/// A shift by 24, since the count is masked. The shift and the cast become one instruction, which needs the masked
/// count.
#[test]
fn counts_beyond_a_word_are_masked_before_a_cast_takes_its_bits() {
    let x: Vec<u32> = (0..64u32).map(|i| i.wrapping_mul(0x0812_3457)).collect();
    for target in Target::REPRESENTATIVES {
        let mut y = vec![7; 64];
        farthest_shift.launch(&Device::simulator(target), Grid::x(1), (&x, &mut y)).unwrap();
        let expected: Vec<u32> = x.iter().map(|x| x.wrapping_shr(0xffff_fff8) & 0xff).collect();
        assert_eq!(y, expected, "{target}");
    }
}
