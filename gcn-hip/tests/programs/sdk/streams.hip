// Streams, events, functions of the host, and threads that launch at once.
#include "check.h"

#include <thread>

__global__ void add(int *at, int n) { at[blockIdx.x * blockDim.x + threadIdx.x] += n; }

static void note(void *data) { ++*(int *)data; }
static void told(hipStream_t, hipError_t status, void *data) { *(int *)data += status == hipSuccess ? 10 : 0; }

static void work(int number, int *at) {
    hipStream_t stream;
    OK(hipSetDevice(0));
    OK(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    for (int i = 0; i < 20; i++)
        add<<<2, 64, 0, stream>>>(at, number);
    OK(hipStreamSynchronize(stream));
    OK(hipStreamDestroy(stream));
}

int main() {
    int least, greatest;
    OK(hipDeviceGetStreamPriorityRange(&least, &greatest));
    EXPECT(greatest <= least);
    hipStream_t a, b;
    OK(hipStreamCreateWithPriority(&a, hipStreamNonBlocking, greatest));
    OK(hipStreamCreateWithPriority(&b, hipStreamDefault, least));
    int priority;
    unsigned flags;
    OK(hipStreamGetPriority(a, &priority));
    OK(hipStreamGetFlags(a, &flags));
    EXPECT(priority == greatest && flags == hipStreamNonBlocking);
    auto at = device<int>(128);
    hipEvent_t start, middle, stop;
    OK(hipEventCreate(&start));
    OK(hipEventCreateWithFlags(&middle, hipEventDisableTiming));
    OK(hipEventCreate(&stop));
    int *pinned, calls = 0;
    OK(hipHostMalloc((void **)&pinned, 128 * sizeof(int)));
    OK(hipEventRecord(start, a));
    add<<<2, 64, 0, a>>>(at, 5);
    OK(hipEventRecord(middle, a));
    OK(hipStreamWaitEvent(b, middle, 0));
    add<<<2, 64, 0, b>>>(at, 6);
    OK(hipMemcpyAsync(pinned, at, 128 * sizeof(int), hipMemcpyDeviceToHost, b));
    OK(hipLaunchHostFunc(b, note, &calls));
    OK(hipStreamAddCallback(b, told, &calls, 0));
    OK(hipEventRecord(stop, b));
    OK(hipEventSynchronize(stop));
    OK(hipStreamSynchronize(b));
    EXPECT(calls == 11 && pinned[127] == 11);
    float milliseconds = -1;
    OK(hipEventElapsedTime(&milliseconds, start, stop));
    EXPECT(milliseconds >= 0);
    GIVES(hipErrorInvalidHandle, hipEventElapsedTime(&milliseconds, start, middle));
    OK(hipEventQuery(stop));
    OK(hipStreamQuery(a));

    std::vector<std::thread> threads;
    std::vector<int *> places;
    for (int n = 0; n < 8; n++) {
        places.push_back(device<int>(128));
        threads.emplace_back(work, n + 1, places[n]);
    }
    for (auto &thread : threads)
        thread.join();
    for (int n = 0; n < 8; n++)
        for (int value : download(places[n], 128))
            EXPECT(value == 20 * (n + 1));
    OK(hipStreamDestroy(a));
    OK(hipStreamDestroy(b));
    OK(hipEventDestroy(start));
    OK(hipHostFree(pinned));
    printf("PASS\n");
}
