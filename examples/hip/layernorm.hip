#include <hip/hip_runtime.h>

constexpr uint32_t ROWS = 4;
constexpr uint32_t WAVE = 64;

__device__ float wave_sum(float x) {
    for (int mask = WAVE / 2; mask > 0; mask /= 2) {
        x += __shfl_xor(x, mask);
    }
    return x;
}

// Row by row, y = (x - mean) / sqrt(variance + epsilon) * gain + bias.
extern "C" __global__ __launch_bounds__(ROWS * WAVE)
void layernorm(uint32_t rows, uint32_t columns, float epsilon, const float *gain, const float *bias, const __half *x,
               __half *y) {
    uint32_t lane = threadIdx.x % WAVE;
    uint32_t row = blockIdx.x * ROWS + threadIdx.x / WAVE;
    if (row >= rows) {
        return;
    }
    float sum = 0.0f;
    for (uint32_t column = lane; column < columns; column += WAVE) {
        sum += __half2float(x[row * columns + column]);
    }
    float mean = wave_sum(sum) / columns;

    float squares = 0.0f;
    for (uint32_t column = lane; column < columns; column += WAVE) {
        float distance = __half2float(x[row * columns + column]) - mean;
        squares = fmaf(distance, distance, squares);
    }
    float scale = rsqrtf(wave_sum(squares) / columns + epsilon);

    for (uint32_t column = lane; column < columns; column += WAVE) {
        float normal = (__half2float(x[row * columns + column]) - mean) * scale;
        y[row * columns + column] = __float2half(fmaf(normal, gain[column], bias[column]));
    }
}
