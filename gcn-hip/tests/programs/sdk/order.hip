// Fences, clocks, and blocks that wait for each other.
#include "check.h"

// The last block adds up what the others wrote (as in CUDA's threadFenceReduction).
__global__ void last(const float *in, float *partial, unsigned *arrived, float *out, int n) {
    __shared__ float tile[256];
    __shared__ bool is_last;
    float sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += in[i];
    tile[threadIdx.x] = sum;
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            tile[threadIdx.x] += tile[threadIdx.x + half];
    }
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = tile[0];
        __threadfence();
        is_last = atomicInc(arrived, gridDim.x) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (is_last && threadIdx.x == 0) {
        float total = 0;
        for (int block = 0; block < gridDim.x; block++)
            total += __hip_atomic_load(&partial[block], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
        *out = total;
    }
}

// Each block waits for the one before it.
__global__ void chain(volatile int *flags, int *order) {
    if (threadIdx.x == 0) {
        int block = blockIdx.x;
        while (block > 0 && flags[block - 1] == 0)
            __builtin_amdgcn_s_sleep(1);
        __threadfence();
        order[block] = block == 0 ? 1 : __hip_atomic_load(&order[block - 1], __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT) * 3 % 10007;
        __threadfence();
        flags[block] = 1;
    }
}

// One lane of a block takes the lock: lanes of one wave that wait for each other would wait forever, here as on hardware.
__global__ void locked(int *lock, int *count) {
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0, 1) != 0)
            __builtin_amdgcn_s_sleep(1);
        __threadfence();
        *count += blockDim.x;
        __threadfence();
        atomicExch(lock, 0);
    }
}

__global__ void clocks(long long *out) {
    long long start = clock64(), wall = wall_clock64();
    __builtin_amdgcn_s_sleep(10);
    out[0] = clock64() - start, out[1] = wall_clock64() - wall;
}

int main() {
    const int n = 10000, blocks = 20;
    std::vector<float> in(n);
    for (int i = 0; i < n; i++)
        in[i] = i % 7;
    float *out = device<float>(1), expected = 0;
    for (float x : in)
        expected += x;
    last<<<blocks, 256>>>(upload(in), device<float>(blocks), device<unsigned>(1), out, n);
    EXPECT(download(out, 1)[0] == expected);
    auto order = device<int>(50);
    chain<<<50, 64>>>(device<int>(50), order);
    OK(hipDeviceSynchronize());
    int power = 1;
    for (int value : download(order, 50)) {
        EXPECT(value == power);
        power = power * 3 % 10007;
    }
    int *lock = device<int>(2), *count = lock + 1;
    locked<<<10, 64>>>(lock, count);
    OK(hipDeviceSynchronize());
    EXPECT(download(count, 1)[0] == 640);
    auto times = device<long long>(2);
    clocks<<<1, 1>>>(times);
    auto t = download(times, 2);
    EXPECT(t[0] > 0 && t[1] >= 0);
    printf("PASS\n");
}
