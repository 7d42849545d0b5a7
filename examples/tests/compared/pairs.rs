//! The kernels of both languages, and the arguments with which they are launched.

use gcn_dsl::prelude::*;
use gcn_dsl::{BuildError, BuildOptions, BuiltKernel};

use crate::{LIMIT, floats, halves, images, integers, lanes, layers, physics, rows, searches, streams};

/// A kernel in both languages.
pub struct Pair {
    pub name: &'static str,
    /// Builds our code object.
    pub object: fn() -> Vec<u8>,
    /// Builds our kernel for any target.
    pub build_with: fn(Target, &BuildOptions) -> Result<BuiltKernel, BuildError>,
    /// The number of workgroups in each dimension.
    pub grid: [u32; 2],
    pub workgroup: [u32; 2],
    /// Numbers with type and value, slices with element and length, in the order of the parameters.
    pub arguments: &'static str,
    /// The difference that is allowed between floats: clang contracts multiplications and additions.
    pub tolerance: f64,
    /// The maximum ratio of our cycles to clang's, with near-ideal memory.
    pub limit: f64,
}

macro_rules! pairs {
    ($($module:ident { $($name:ident $grid:tt $workgroup:tt $arguments:literal $($field:ident = $value:expr),*;)* })*) => {
        &[$($(Pair {
            $($field: $value,)*
            ..Pair {
                name: stringify!($name),
                build_with: |target, options| $module::$name.build_with(target, options).map(BuiltKernel::into_any),
                object: || $module::$name.build(Target::GFX942).unwrap().code_object().to_vec(),
                grid: $grid,
                workgroup: $workgroup,
                arguments: $arguments,
                tolerance: 1.0e-4,
                limit: LIMIT,
            }
        },)*)*]
    };
}

/// All pairs.
pub const PAIRS: &[Pair] = pairs! {
    halves {
        half_scale [32, 1] [256, 1]
            "n:u32=8192 a:f16=1.5 x:f16[8192] y:f16[8192]"
            tolerance = 2.0e-3;
        half_poly [8, 1] [256, 1]
            "n:u32=8192 x:f16[8192] y:f16[8192]"
            // Our kernel needs scalar instructions that build a buffer resource for each slice.
            tolerance = 2.0e-3, limit = 1.11;
        half_poly_any [8, 1] [256, 1]
            "n:u32=8192 x:f16[8192] y:f16[8192]"
            // The number of elements may be odd, so the last dword may be half used.
            tolerance = 2.0e-3, limit = 1.25;
        sad16 [8, 1] [256, 1]
            "n:u32=8192 x:i16[8192] y:i16[8192] out:i16[8192]";
        matvec_h [4, 1] [256, 1]
            "n:u32=2048 k:u32=64 a:f16[131072] x:f16[64] y:f16[2048]";
        quant_i8 [32, 1] [256, 1]
            "n:u32=8192 scale:f32=3.0 x:f32[8192] y:i8[8192]";
        dequant_q4 [32, 1] [256, 1]
            "n:u32=8192 scales:f32[2048] q:u32[8192] y:f32[65536]";
        dot_i8 [16, 1] [256, 1]
            "n:u32=4096 x:i8[65536] y:i8[65536] out:i32[4096]";
        gate [16, 1] [256, 1]
            "n:u32=4096 logits:f32[32768] experts:u32[8192] weights:f32[8192]";
    }
    floats {
        conv1d [32, 1] [256, 1]
            "n:u32=8192 taps:f32[9] x:f32[8192] y:f32[8192]";
        conv_lds [32, 1] [256, 1]
            "n:u32=8192 taps:f32[16] x:f32[8208] y:f32[8192]";
        newton [8, 1] [256, 1]
            "n:u32=2048 x:f32[8192] y:f32[8192]";
        horner [8, 1] [256, 1]
            "n:u32=8192 x:f32[8192] y:f32[8192]";
        complex_mul [16, 1] [256, 1]
            "n:u32=8192 a:f32[8192] b:f32[8192] c:f32[8192]";
        lerp_rgb [32, 1] [256, 1]
            "n:u32=8192 t:f32=0.3 a:f32[24576] b:f32[24576] out:f32[24576]";
        gelu [32, 1] [256, 1]
            "n:u32=8192 x:f32[8192] y:f32[8192]";
        rope [64, 1] [64, 1]
            "half:u32=128 angle:f32=-0.1 x:f32[16384]";
        black [32, 1] [256, 1]
            "n:u32=8192 rate:f32=0.02 s:f32[8192] k:f32[8192] out:f32[8192]";
        adam [32, 1] [256, 1]
            "n:u32=8192 rate:f32=0.01 g:f32[8192] p:f32[8192] m:f32[8192] v:f32[8192]";
        dct8 [4, 1] [256, 1]
            "n:u32=8192 x:f32[8192] y:f32[8192]";
        tridiagonal [32, 1] [64, 1]
            "n:u32=2048 a:f32[16384] b:f32[16384] c:f32[16384] d:f32[16384] x:f32[16384]";
        soa [32, 1] [256, 1]
            "n:u32=8192 points:f32[32768] x:f32[8192] y:f32[8192] z:f32[8192]";
        gray [32, 1] [256, 1]
            "n:u32=8192 x:u32[8192] y:f32[8192]";
    }
    physics {
        nbody [4, 1] [256, 1]
            "n:u32=1024 dt:f32=0.1 pos:f32[4096] vel:f32[4096]";
        balls [32, 1] [256, 1]
            "n:u32=8192 dt:f32=0.1 b:f32[40960]";
        heat3d [2, 8] [64, 4]
            "nx:u32=128 ny:u32=32 nz:u32=16 c:f32=0.1 x:f32[65536] y:f32[65536]";
        floyd [8, 8] [16, 16]
            "n:u32=128 k:u32=3 d:f32[16384]";
        nearest [8, 1] [256, 1]
            "n:u32=256 points:f32[512] queries:f32[16384] best:u32[8192]";
        kmeans [16, 1] [256, 1]
            "n:u32=4096 k:u32=16 points:f32[16384] centres:f32[64] label:u32[4096]";
        ray [8, 4] [16, 16]
            "width:u32=128 count:u32=16 spheres:f32[64] out:f32[8192]";
        mandel [32, 1] [256, 1]
            "width:u32=128 limit:u32=64 out:u32[8192]";
        pi [8, 1] [256, 1]
            "rounds:u32=32 out:u32[8192]";
    }
    rows {
        rmsnorm [32, 1] [256, 1]
            "columns:u32=1024 gain:f32[1024] x:f32[32768] y:f32[32768]";
        layernorm_backward [8, 1] [256, 1]
            "columns:u32=512 x:f32[32768] dy:f32[32768] gain:f32[512] mean:f32[64] rstd:f32[64] dx:f32[32768]";
        softmax_wave [16, 1] [256, 1]
            "x:f32[16384] y:f32[16384]";
        argmax [32, 1] [256, 1]
            "columns:u32=1024 x:f32[32768] out:u32[32]";
        dot [16, 1] [256, 1]
            "n:u32=32768 stride:u32=4096 x:f32[32768] y:f32[32768] out:f32[16]";
        gemv4 [2, 1] [256, 1]
            "n:u32=2048 k:u32=64 a:f32[131072] x:f32[64] y:f32[2048]";
        matmul [8, 4] [16, 16]
            "n:u32=128 k:u32=64 a:f32[4096] b:f32[8192] c:f32[8192]";
        matmul_lds [8, 4] [16, 16]
            "n:u32=128 k:u32=64 a:f32[4096] b:f32[8192] c:f32[8192]";
        spmv_row [32, 1] [256, 1]
            "rows:u32=8192 start:u32[8192] column:u32[98320] value:f32[98320] x:f32[1024] y:f32[8192]";
        scan_serial [8, 1] [256, 1]
            "n:u32=32768 x:u32[32768] y:u32[32768]";
        scan_wave [32, 1] [256, 1]
            "n:u32=8192 x:u32[8192] y:u32[8192]";
    }
    images {
        sobel [16, 4] [16, 16]
            "width:u32=256 height:u32=64 x:f32[16384] y:f32[16384]";
        blur [32, 1] [256, 1]
            "n:u32=8192 x:u8[8192] y:u8[8192]";
        bilinear [16, 4] [16, 16]
            "sw:u32=128 sh:u32=32 dw:u32=256 dh:u32=64 src:f32[16384] dst:f32[16384]";
        yuv [32, 1] [256, 1]
            "n:u32=8192 rgb:u8[24576] out:u8[24576]";
        life [16, 4] [16, 16]
            "width:u32=256 height:u32=64 x:u8[16384] y:u8[16384]";
        maxpool [8, 2] [16, 16]
            "width:u32=256 height:u32=64 x:f32[16384] y:f32[4096]";
        bilateral [16, 4] [16, 16]
            "width:u32=256 height:u32=64 range:f32=-4.0 x:f32[16384] y:f32[16384]";
        hsv [32, 1] [256, 1]
            "n:u32=8192 rgb:f32[24576] out:f32[24576]";
        sad_u8 [16, 1] [256, 1]
            "n:u32=4096 a:u8[65536] b:u8[65536] out:u32[4096]";
    }
    integers {
        bitonic [16, 1] [256, 1]
            "x:u32[8192]";
        isort [8, 1] [256, 1]
            "x:u32[16384]";
        collatz [8, 1] [256, 1]
            "n:u32=2048 x:u32[8192] steps:u32[8192]";
        gcd [8, 1] [256, 1]
            "n:u32=2048 x:u32[8192] y:u32[8192] out:u32[8192]";
        sha [8, 1] [256, 1]
            "n:u32=2048 w:u32[32768] out:u32[8192]";
        fnv [8, 1] [256, 1]
            "n:u32=2048 length:u32=16 bytes:u8[32768] out:u64[8192]";
        crc [8, 1] [256, 1]
            "n:u32=2048 length:u32=16 bytes:u8[32768] out:u32[8192]"
            // clang replaces the loop over the bits by a lookup table.
            limit = 2.15;
        crc_table [8, 1] [256, 1]
            "n:u32=2048 length:u32=16 bytes:u8[32768] out:u32[8192]"
            // Our code has fewer instructions than clang's, but its loads wait longer for each other; by how much
            // depends on the position of the code.
            limit = 1.06;
        aes [8, 1] [256, 1]
            "n:u32=8192 table:u32[256] key:u32[16] state:u32[8192]";
        montgomery [8, 1] [256, 1]
            "rounds:u32=32 x:u64[2048] out:u64[2048]";
        xs64 [8, 1] [256, 1]
            "rounds:u32=32 out:u64[2048]";
        popmask [32, 1] [256, 1]
            "n:u32=8192 x:u32[8192] out:u32[8192]";
        base64 [16, 1] [256, 1]
            "n:u32=4096 x:u8[12288] out:u8[16384]";
    }
    searches {
        bsearch [32, 1] [256, 1]
            "n:u32=8192 m:u32=4096 sorted:u32[4096] keys:u32[8192] out:u32[8192]";
        merge_path [4, 1] [256, 1]
            "n:u32=4096 a:u32[4096] b:u32[4096] out:u32[8192]";
        bfs_step [16, 1] [256, 1]
            "n:u32=4096 level:u32=1 start:u32[4096] edges:u32[32768] distance:u32[4096]";
        queens [2, 1] [64, 1]
            "n:u32=6 out:u32[128]";
        compact [32, 1] [256, 1]
            "n:u32=8192 x:u32[8192] counts:u32[256] out:u32[8192]";
        probe [16, 1] [256, 1]
            "n:u32=4096 mask:u32=4095 keys:u32[4096] values:u32[4096] wanted:u32[4096] out:u32[4096]";
        hist_lds [8, 1] [256, 1]
            "n:u32=16384 x:u32[16384] out:u32[256]";
    }
    streams {
        philox [8, 1] [256, 1]
            "seed:u32=12345 out:u32[8192]";
        chacha [4, 1] [256, 1]
            "rounds:u32=4 key:u32[11] out:u32[16384]";
        sha1 [8, 1] [256, 1]
            "w:u32[32768] out:u32[2048]";
        bits8x8 [16, 1] [256, 1]
            "x:u64[4096] y:u64[4096]"
            // If masked bits are shifted and combined with themselves, clang multiplies them by 2^k + 1 instead.
            limit = 1.12;
        hamming [8, 1] [256, 1]
            "words:u32=16 codes:u32[32768] wanted:u32[16] out:u32[2048]"
            // clang processes two trips at a time of a loop whose trip count is unknown.
            limit = 1.95;
        find [16, 1] [256, 1]
            "n:u32=4096 length:u32=8 text:u8[4096] pattern:u8[8] out:u32[4096]";
        edit_distance [8, 1] [256, 1]
            "a:u8[16384] b:u8[16384] out:u32[2048]"
            // clang unrolls the outer loop.
            limit = 1.27;
    }
    lanes {
        lu4 [8, 1] [256, 1]
            "n:u32=2048 x:f32[32768] y:f32[32768]";
        transpose4 [8, 1] [256, 1]
            "x:f32[32768] y:f32[32768]";
        radix4 [8, 1] [256, 1]
            "stride:u32=16 re:f32[8192] im:f32[8192]";
        polynomial64 [16, 1] [256, 1]
            "x:f64[4096] y:f64[4096]";
        correlate [8, 1] [256, 1]
            "n:u32=2048 lags:u32=32 x:f32[4160] out:f32[4096]";
        julia64 [16, 1] [256, 1]
            "width:u32=128 limit:u32=48 out:u32[4096]";
        perlin [16, 1] [256, 1]
            "width:u32=128 scale:f32=0.13 table:u32[256] out:f32[4096]";
        reflect [16, 1] [256, 1]
            "width:u32=128 count:u32=8 spheres:f32[32] out:f32[4096]";
    }
    layers {
        softmax_online [8, 1] [256, 1]
            "columns:u32=512 x:f32[32768] y:f32[32768]";
        quant_row [16, 1] [256, 1]
            "x:f32[16384] scales:f32[128] y:i8[16384]";
        lrn [8, 1] [256, 1]
            "pixels:u32=2048 channels:u32=16 x:f32[32768] y:f32[32768]";
        maxpool_index [8, 2] [16, 16]
            "width:u32=256 height:u32=64 x:f32[16384] y:f32[4096] at:u32[4096]";
        top4 [8, 1] [256, 1]
            "n:u32=16 stride:u32=2048 x:f32[32768] out:f32[8192]";
        welford [8, 1] [256, 1]
            "n:u32=16 stride:u32=2048 x:f32[32768] mean:f32[2048] variance:f32[2048]";
        scan_lds [16, 1] [256, 1]
            "x:u32[4096] y:u32[4096]";
        spmv_ell [16, 1] [256, 1]
            "rows:u32=4096 width:u32=12 column:u32[49152] value:f32[49152] x:f32[1024] y:f32[4096]";
        wave_equation [2, 8] [64, 4]
            "nx:u32=128 ny:u32=32 nz:u32=16 c:f32=0.1 now:f32[65536] next:f32[65536]";
        warp [16, 4] [16, 16]
            "width:u32=256 height:u32=64 matrix:f32[6] src:f32[16384] dst:f32[16384]";
        median9 [16, 4] [16, 16]
            "width:u32=256 height:u32=64 x:f32[16384] y:f32[16384]";
    }
};
