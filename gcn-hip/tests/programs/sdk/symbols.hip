// Variables of the device: constants, arrays, managed ones; copies to and from symbols.
#include "check.h"

__constant__ float table[256];
__constant__ struct { int a; double b; } both = {3, 4.5};
__device__ int counts[64];
__device__ float grid[4][8];
__managed__ int shared = 5;
__managed__ float many[100];
template <typename T> __device__ T templated;
static __device__ int here;

__global__ void use(float *out) {
    int i = threadIdx.x;
    out[i] = table[i] + both.a + both.b;
    counts[i % 64] += i;
    if (i < 32)
        grid[i / 8][i % 8] = i;
    many[i % 100] = i % 100;
    if (i == 0)
        shared += 7, templated<int> = 9, here += 2;
}

int main() {
    std::vector<float> values(256);
    for (int i = 0; i < 256; i++)
        values[i] = i * 0.5f;
    hipStream_t stream;
    OK(hipStreamCreate(&stream));
    OK(hipMemcpyToSymbol(HIP_SYMBOL(table), values.data(), 128 * sizeof(float)));
    OK(hipMemcpyToSymbolAsync(HIP_SYMBOL(table), values.data() + 128, 512, 512, hipMemcpyHostToDevice, stream));
    auto out = device<float>(64);
    use<<<1, 64, 0, stream>>>(out);
    OK(hipStreamSynchronize(stream));
    auto v = download(out, 64);
    int counted[64];
    float placed[4][8];
    OK(hipMemcpyFromSymbol(counted, HIP_SYMBOL(counts), sizeof counted));
    OK(hipMemcpyFromSymbolAsync(placed[1], HIP_SYMBOL(grid), 32, 32, hipMemcpyDeviceToHost, stream));
    OK(hipStreamSynchronize(stream));
    for (int i = 0; i < 64; i++)
        EXPECT(v[i] == i * 0.5f + 7.5f && counted[i] == i && many[i] == i);
    for (int i = 0; i < 8; i++)
        EXPECT(placed[1][i] == 8 + i);
    EXPECT(shared == 12);
    shared = 100;
    use<<<1, 64>>>(out);
    OK(hipDeviceSynchronize());
    EXPECT(shared == 107);
    void *at;
    size_t size;
    OK(hipGetSymbolAddress(&at, HIP_SYMBOL(grid)));
    OK(hipGetSymbolSize(&size, HIP_SYMBOL(grid)));
    EXPECT(size == sizeof placed && download((float *)at, 32)[31] == 31);
    int nine, four;
    OK(hipMemcpyFromSymbol(&nine, HIP_SYMBOL(templated<int>), sizeof nine));
    OK(hipMemcpyFromSymbol(&four, HIP_SYMBOL(here), sizeof four));
    EXPECT(nine == 9 && four == 4);
    GIVES(hipErrorInvalidValue, hipMemcpyToSymbol(HIP_SYMBOL(table), values.data(), 1024, 4));
    GIVES(hipErrorInvalidSymbol, hipGetSymbolSize(&size, &nine));
    printf("PASS\n");
}
