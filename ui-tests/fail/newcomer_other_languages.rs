//! Errors: names of CUDA, HIP and OpenCL. The messages give their equivalents.
use gcn_dsl::prelude::*;

gcn_kernel! {
    #[workgroup(64)]
    fn ported(x: &[f32], y: &mut [f32], n: &mut [u32]) {
        let i = blockIdx.x * blockDim.x + threadIdx.x;
        y[i] = __shfl_xor_sync(x[i], 1);
        __syncthreads();
        atomicAdd(n, 1);
    }
}

fn main() {}
