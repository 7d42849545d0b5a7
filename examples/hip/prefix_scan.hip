#include <hip/hip_runtime.h>

constexpr uint32_t BLOCK = 256;
constexpr uint32_t WAVE = 64;
constexpr uint32_t WAVES = BLOCK / WAVE;

// `out[i]` is the sum of the elements of `x` before `i` in its block, plus the block's `carry`.
extern "C" __global__ __launch_bounds__(BLOCK)
void prefix_scan(uint32_t length, const uint32_t *x, const uint32_t *carry, uint32_t *out, uint32_t *sums) {
    __shared__ uint32_t wave_sums[WAVES];
    uint32_t i = blockIdx.x * BLOCK + threadIdx.x;
    uint32_t lane = threadIdx.x % WAVE;
    uint32_t wave = threadIdx.x / WAVE;

    uint32_t own = i < length ? x[i] : 0;
    uint32_t sum = own;
    for (uint32_t distance = 1; distance < WAVE; distance *= 2) {
        uint32_t below = __shfl_up(sum, distance);
        if (lane >= distance) {
            sum += below;
        }
    }
    if (lane == WAVE - 1) {
        wave_sums[wave] = sum;
    }
    __syncthreads();

    uint32_t before = carry[blockIdx.x];
    for (uint32_t other = 0; other < wave; other++) {
        before += wave_sums[other];
    }
    if (i < length) {
        out[i] = before + sum - own;
    }
    if (threadIdx.x == BLOCK - 1) {
        sums[blockIdx.x] = before + sum - carry[blockIdx.x];
    }
}
