#include <hip/hip_runtime.h>

constexpr uint32_t TILE = 16;
constexpr uint32_t PITCH = TILE + 2;
constexpr uint32_t CELLS = PITCH * PITCH;

// One step of heat flow: each cell moves by `rate` towards the mean of its four neighbours.
extern "C" __global__ __launch_bounds__(TILE * TILE)
void stencil(uint32_t width, uint32_t height, float rate, const float *input, float *output) {
    __shared__ float tile[CELLS];

    uint32_t number = threadIdx.y * TILE + threadIdx.x;
    for (uint32_t cell = number; cell < CELLS; cell += TILE * TILE) {
        uint32_t x = blockIdx.x * TILE + cell % PITCH - 1;
        uint32_t y = blockIdx.y * TILE + cell / PITCH - 1;
        tile[cell] = x < width && y < height ? input[y * width + x] : 0.0f;
    }
    __syncthreads();

    uint32_t x = blockIdx.x * TILE + threadIdx.x;
    uint32_t y = blockIdx.y * TILE + threadIdx.y;
    uint32_t here = (threadIdx.y + 1) * PITCH + threadIdx.x + 1;
    float around = tile[here - 1] + tile[here + 1] + tile[here - PITCH] + tile[here + PITCH];
    if (x < width && y < height) {
        output[y * width + x] = (0.25f * around - tile[here]) * rate + tile[here];
    }
}
