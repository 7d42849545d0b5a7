#include <hip/hip_runtime.h>

constexpr uint32_t LANES = 256;
constexpr uint32_t BINS = 256;

// Adds to each of the 256 `bins` how many of the `length` bytes have its value.
extern "C" __global__ __launch_bounds__(LANES)
void histogram(uint32_t length, const uint8_t *bytes, uint32_t *bins) {
    __shared__ uint32_t counts[BINS];
    counts[threadIdx.x] = 0;
    __syncthreads();

    for (uint32_t i = blockIdx.x * LANES + threadIdx.x; i < length; i += gridDim.x * LANES) {
        atomicAdd(&counts[bytes[i]], 1);
    }
    __syncthreads();

    atomicAdd(&bins[threadIdx.x], counts[threadIdx.x]);
}
