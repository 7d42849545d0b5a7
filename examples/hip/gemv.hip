#include <hip/hip_runtime.h>

constexpr uint32_t ROWS = 4;
constexpr uint32_t WAVE = 64;

// y = A x for a matrix of `rows` rows of `columns` elements, a multiple of 4.
extern "C" __global__ __launch_bounds__(ROWS * WAVE)
void gemv(uint32_t rows, uint32_t columns, const float *a, const float *x, float *y) {
    uint32_t lane = threadIdx.x % WAVE;
    uint32_t row = blockIdx.x * ROWS + threadIdx.x / WAVE;
    if (row >= rows) {
        return;
    }
    float sum = 0.0f;
    for (uint32_t column = 4 * lane; column < columns; column += 4 * WAVE) {
        float4 a4 = *reinterpret_cast<const float4 *>(&a[row * columns + column]);
        float4 x4 = *reinterpret_cast<const float4 *>(&x[column]);
        sum = fmaf(a4.x, x4.x, sum);
        sum = fmaf(a4.y, x4.y, sum);
        sum = fmaf(a4.z, x4.z, sum);
        sum = fmaf(a4.w, x4.w, sum);
    }
    for (int mask = WAVE / 2; mask > 0; mask /= 2) {
        sum += __shfl_xor(sum, mask);
    }
    if (lane == 0) {
        y[row] = sum;
    }
}
