// Atomics on all types and in both memories.
#include "check.h"

struct Totals {
    int add, sub, min, max, exch, cas;
    unsigned inc, dec, both, any, odd;
    unsigned long long wide, widest;
    float f, unsafe, fmin;
    double d, dunsafe, system;
};

__global__ void totals(Totals *t, int *shared) {
    __shared__ int local;
    __shared__ float sum;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0)
        local = 0, sum = 0;
    __syncthreads();
    atomicAdd(&t->add, i);
    atomicSub(&t->sub, 2);
    atomicMin(&t->min, 1000 - i);
    atomicMax(&t->max, i);
    atomicExch(&t->exch, 7);
    for (int seen = t->cas, old;; seen = old) {
        old = atomicCAS(&t->cas, seen, seen + 3);
        if (old == seen)
            break;
    }
    atomicInc(&t->inc, 99);
    atomicDec(&t->dec, 9);
    atomicAnd(&t->both, ~(1u << (i & 7)));
    atomicOr(&t->any, 1u << (i & 15));
    atomicXor(&t->odd, 1u << (i % 5));
    atomicAdd(&t->wide, 1ull << 33);
    atomicMax(&t->widest, (unsigned long long)i << 34);
    atomicAdd(&t->f, 0.5f);
    unsafeAtomicAdd(&t->unsafe, 0.25f);
    atomicMin(&t->fmin, 3.0f - i);
    atomicAdd(&t->d, 0.125);
    unsafeAtomicAdd(&t->dunsafe, 0.0625);
    atomicAdd_system(&t->system, 2.0);
    atomicAdd(&local, 1);
    atomicAdd(&sum, 0.5f);
    __syncthreads();
    if (threadIdx.x == 0)
        shared[blockIdx.x] = local + 1000 * (int)sum;
}

int main() {
    Totals start = {};
    start.min = 5000, start.both = ~0u;
    auto t = upload(std::vector<Totals>{start});
    auto shared = device<int>(8);
    totals<<<8, 128>>>(t, shared);
    OK(hipDeviceSynchronize());
    Totals r = download(t, 1)[0];
    const int n = 1024;
    EXPECT(r.add == n * (n - 1) / 2 && r.sub == -2 * n && r.min == 1000 - 1023 && r.max == 1023 && r.exch == 7);
    EXPECT(r.cas == 3 * n && r.inc == n % 100);
    // From 0 down it goes to 9, 8 ... 0, 9: 1024 steps.
    EXPECT(r.dec == (10 - n % 10) % 10);
    EXPECT(r.both == ~0xffu && r.any == 0xffff);
    unsigned odd = 0;
    for (int i = 0; i < n; i++)
        odd ^= 1u << (i % 5);
    EXPECT(r.odd == odd && r.wide == (unsigned long long)n << 33 && r.widest == 1023ull << 34);
    EXPECT(r.f == n * 0.5f && r.unsafe == n * 0.25f && r.fmin == 3.0f - 1023);
    EXPECT(r.d == n * 0.125 && r.dunsafe == n * 0.0625 && r.system == 2.0 * n);
    for (int block : download(shared, 8))
        EXPECT(block == 128 + 64000);
    printf("PASS\n");
}
