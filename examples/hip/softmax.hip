#include <hip/hip_runtime.h>

constexpr uint32_t LANES = 256;
constexpr uint32_t WAVE = 64;
constexpr uint32_t WAVES = LANES / WAVE;

// Row by row, `y` is exp(x) divided by its sum.
extern "C" __global__ __launch_bounds__(LANES)
void softmax(uint32_t columns, const float *x, float *y) {
    __shared__ float shared[WAVES];
    uint32_t lane = threadIdx.x;
    uint32_t first = blockIdx.x * columns;

    float largest = -__builtin_inff();
    for (uint32_t column = lane; column < columns; column += LANES) {
        largest = fmaxf(largest, x[first + column]);
    }
    for (int mask = WAVE / 2; mask > 0; mask /= 2) {
        largest = fmaxf(largest, __shfl_xor(largest, mask));
    }
    if (lane % WAVE == 0) {
        shared[lane / WAVE] = largest;
    }
    __syncthreads();
    for (uint32_t wave = 0; wave < WAVES; wave++) {
        largest = fmaxf(largest, shared[wave]);
    }
    __syncthreads();

    constexpr float scale = 1.44269504088896f;
    float sum = 0.0f;
    for (uint32_t column = lane; column < columns; column += LANES) {
        sum += exp2f((x[first + column] - largest) * scale);
    }
    for (int mask = WAVE / 2; mask > 0; mask /= 2) {
        sum += __shfl_xor(sum, mask);
    }
    if (lane % WAVE == 0) {
        shared[lane / WAVE] = sum;
    }
    __syncthreads();
    float total = 0.0f;
    for (uint32_t wave = 0; wave < WAVES; wave++) {
        total += shared[wave];
    }

    for (uint32_t column = lane; column < columns; column += LANES) {
        y[first + column] = exp2f((x[first + column] - largest) * scale) / total;
    }
}
