// All ways to launch, dynamic LDS, attributes of functions, occupancy.
#include "check.h"
#include <hip/hip_ext.h>

__global__ __launch_bounds__(256) void add(int *at, int n) { at[blockIdx.x * blockDim.x + threadIdx.x] += n; }

extern __shared__ double room[];
__global__ void reverse(double *at, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        room[i] = at[i];
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        at[i] = room[n - 1 - i];
}

int main() {
    auto at = device<int>(256);
    int n = 3;
    void *arguments[] = {&at, &n};
    hipStream_t stream;
    hipEvent_t start, stop;
    OK(hipStreamCreate(&stream));
    OK(hipEventCreate(&start));
    OK(hipEventCreate(&stop));
    add<<<4, 64>>>(at, n);
    hipLaunchKernelGGL(add, dim3(4), dim3(64), 0, stream, at, n);
    OK(hipLaunchKernel((void *)add, dim3(4), dim3(64), arguments, 0, stream));
    OK(hipExtLaunchKernel((void *)add, dim3(4), dim3(64), arguments, 0, stream, start, stop, 0));
    hipExtLaunchKernelGGL(add, dim3(4), dim3(64), 0, stream, start, stop, 0, at, n);
    hipLaunchConfig_t config = {};
    config.gridDim = dim3(4), config.blockDim = dim3(64), config.stream = stream;
    OK(hipLaunchKernelExC(&config, (void *)add, arguments));
    hipFunction_t function;
    OK(hipGetFuncBySymbol(&function, (void *)add));
    OK(hipModuleLaunchKernel(function, 4, 1, 1, 64, 1, 1, 0, stream, arguments, nullptr));
    struct {
        int *at;
        int n;
    } packed = {at, n};
    size_t size = sizeof packed;
    void *extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, &packed, HIP_LAUNCH_PARAM_BUFFER_SIZE, &size, HIP_LAUNCH_PARAM_END};
    OK(hipModuleLaunchKernel(function, 4, 1, 1, 64, 1, 1, 0, stream, nullptr, extra));
    OK(hipExtModuleLaunchKernel(function, 256, 1, 1, 64, 1, 1, 0, stream, arguments, nullptr, start, stop, 0));
    OK(hipStreamSynchronize(stream));
    for (int value : download(at, 256))
        EXPECT(value == 9 * 3);
    float milliseconds = -1;
    OK(hipEventElapsedTime(&milliseconds, start, stop));
    EXPECT(milliseconds >= 0);

    const int count = 8000;
    std::vector<double> values(count);
    for (int i = 0; i < count; i++)
        values[i] = i;
    auto wide = upload(values);
    OK(hipFuncSetAttribute((void *)reverse, hipFuncAttributeMaxDynamicSharedMemorySize, count * 8));
    reverse<<<1, 512, count * 8>>>(wide, count);
    OK(hipGetLastError());
    auto reversed = download(wide, count);
    EXPECT(reversed[0] == count - 1 && reversed[count - 1] == 0);
    hipFuncAttributes attributes;
    OK(hipFuncGetAttributes(&attributes, (void *)add));
    EXPECT(attributes.maxThreadsPerBlock == 256 && attributes.numRegs > 0 && attributes.sharedSizeBytes == 0);
    OK(hipFuncSetCacheConfig((void *)add, hipFuncCachePreferL1));
    OK(hipFuncSetSharedMemConfig((void *)add, hipSharedMemBankSizeFourByte));
    int value;
    OK(hipFuncGetAttribute(&value, HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function));
    EXPECT(value == 256);

    int blocks, least, block;
    OK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, add, 256, 0));
    EXPECT(blocks == 8);
    OK(hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, reverse, 256, 32768, 0));
    EXPECT(blocks == 2);
    OK(hipOccupancyMaxPotentialBlockSize(&least, &block, add, 0, 0));
    EXPECT(block == 256 && least > 0);
    OK(hipModuleOccupancyMaxPotentialBlockSize(&least, &block, function, 0, 128));
    EXPECT(block == 128);

    // Launches that cannot be.
    add<<<1, 512>>>(at, 1);
    EXPECT(hipGetLastError() != hipSuccess);
    add<<<0, 64>>>(at, 1);
    EXPECT(hipPeekAtLastError() == hipErrorInvalidConfiguration && hipGetLastError() == hipErrorInvalidConfiguration);
    add<<<1, 2048>>>(at, 1);
    EXPECT(hipGetLastError() == hipErrorInvalidConfiguration);
    reverse<<<1, 64, 70000>>>(wide, 1);
    EXPECT(hipGetLastError() != hipSuccess);
    OK(hipDeviceSynchronize());
    printf("PASS\n");
}
