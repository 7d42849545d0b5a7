// Codes and properties as ROCm's (clr of HIP 6.3, of 7.1 where it differs).
#include "check.h"

#include <sys/wait.h>
#include <unistd.h>

__global__ void add1(int *p) { p[threadIdx.x] += 1; }

__global__ void waits(long long ticks, long long *out) {
    long long wall = wall_clock64(), clock = clock64();
    while (wall_clock64() - wall < ticks)
        __builtin_amdgcn_s_sleep(10);
    out[0] = clock64() - clock, out[1] = wall_clock64() - wall;
}

extern "C" const char *hipApiName(uint32_t);

int main() {
    hipDeviceProp_t p;
    OK(hipGetDeviceProperties(&p, 0));
    auto a = p.arch;
    EXPECT(a.hasWarpVote && a.hasWarpBallot && a.hasWarpShuffle && a.hasThreadFenceSystem && a.has3dGrid);
    EXPECT(!a.hasFunnelShift && !a.hasSyncThreadsExt && !a.hasSurfaceFuncs && !a.hasDynamicParallelism);

    hipChannelFormatDesc d = hipCreateChannelDesc(8, 16, 32, 0, hipChannelFormatKindUnsigned);
    EXPECT(d.x == 8 && d.y == 16 && d.z == 32 && d.w == 0 && d.f == hipChannelFormatKindUnsigned);
    EXPECT(strlen(hipApiName(1)) > 0 && strstr(hipKernelNameRefByPtr((void *)add1, nullptr), "add1"));
    EXPECT(!hipKernelNameRefByPtr((void *)main, nullptr));

    void *q;
    OK(hipHostMalloc(&q, 100, 0));
    OK(hipFree(q));
    GIVES(hipErrorInvalidValue, hipHostMalloc(&q, 64, hipHostMallocCoherent | hipHostMallocNonCoherent));
    hipEvent_t e;
    GIVES(hipErrorInvalidValue, hipEventCreateWithFlags(&e, hipEventInterprocess));
    OK(hipEventCreate(&e));
    OK(hipEventDestroy(e));
    GIVES(hipErrorContextIsDestroyed, hipEventDestroy(e));
    hipStream_t s;
    OK(hipStreamCreate(&s));
    OK(hipStreamDestroy(s));
    GIVES(hipErrorContextIsDestroyed, hipStreamSynchronize(s));
    unsigned flags;
    GIVES(hipErrorInvalidValue, hipStreamGetFlags(nullptr, &flags));

    hipMemPool_t pool;
    OK(hipDeviceGetDefaultMemPool(&pool, 0));
    int set = 0, get = -1;
    OK(hipMemPoolSetAttribute(pool, hipMemPoolReuseFollowEventDependencies, &set));
    OK(hipMemPoolGetAttribute(pool, hipMemPoolReuseFollowEventDependencies, &get));
    EXPECT(get == 0);

    // What cannot be captured is refused, and the capture is invalid.
    hipGraph_t graph;
    hipStreamCaptureStatus status;
    OK(hipStreamCreate(&s));
    OK(hipStreamBeginCapture(s, hipStreamCaptureModeGlobal));
    GIVES(hipErrorStreamCaptureUnsupported, hipMalloc(&q, 64));
    OK(hipStreamIsCapturing(s, &status));
    EXPECT(status == hipStreamCaptureStatusInvalidated);
    GIVES(hipErrorStreamCaptureInvalidated, hipStreamEndCapture(s, &graph));
    OK(hipStreamBeginCapture(s, hipStreamCaptureModeRelaxed));
    OK(hipMalloc(&q, 256));
    OK(hipStreamEndCapture(s, &graph));
    OK(hipStreamBeginCapture(hipStreamPerThread, hipStreamCaptureModeGlobal));
    OK(hipStreamEndCapture(hipStreamPerThread, &graph));

    // The constant clock has 100 MHz; clock64 has the shader's 2,100.
    long long *out;
    OK(hipHostMalloc((void **)&out, 64, 0));
    waits<<<1, 1>>>(10000, out);
    OK(hipDeviceSynchronize());
    EXPECT(out[1] >= 10000 && out[1] < 12000 && out[0] / out[1] >= 19 && out[0] / out[1] <= 22);

    // A stream is busy as long as a kernel of it waits.
    waits<<<1, 1, 0, s>>>(20000000, out);
    GIVES(hipErrorNotReady, hipStreamQuery(s));
    OK(hipStreamSynchronize(s));
    OK(hipStreamQuery(s));

    // Junk, and a code object of another architecture.
    char junk[4096];
    hipModule_t module;
    memset(junk, 0x5a, sizeof junk);
    GIVES(hipErrorInvalidImage, hipModuleLoadData(&module, junk));
    memcpy(junk, "\177ELF\2\1\1", 7);
    GIVES(hipErrorInvalidImage, hipModuleLoadData(&module, junk));

    // A forked child may go on with what it has.
    OK(hipMemset(q, 0, 256));
    add1<<<64, 64>>>((int *)q);
    OK(hipDeviceSynchronize());
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        alarm(20);
        add1<<<64, 64>>>((int *)q);
        _exit(hipDeviceSynchronize() == hipSuccess ? 0 : 1);
    }
    int ended = -1;
    waitpid(child, &ended, 0);
    EXPECT(ended == 0);
    printf("PASS\n");
}
