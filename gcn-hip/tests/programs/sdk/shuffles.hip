// Exchange between lanes: shuffles of all widths and types, votes, ballots.
#include "check.h"

__global__ void exchange(int *out, double *wide) {
    int lane = threadIdx.x, n = 0;
    auto put = [&](int value) { out[n++ * 64 + lane] = value; };
    put(__shfl(lane * 3, 5));
    put(__shfl(lane * 3, lane + 1, 16));
    put(__shfl_up(lane, 3));
    put(__shfl_down(lane, 7));
    put(__shfl_xor(lane, 9));
    put(__shfl_up(lane, 2, 8));
    put(__shfl_down(lane, 2, 8));
    put(__any(lane == 63));
    put(__all(lane < 63));
    put(__popcll(__ballot(lane % 3 == 0)));
    put(__ffsll(__ballot(lane > 40)));
    put(__lane_id());
    // Half of the lanes only.
    int votes = 0;
    if (lane & 1)
        votes = __popcll(__ballot(1)) + 100 * __popcll(__activemask());
    put(votes);
    put(__builtin_amdgcn_readfirstlane(lane + 5));
    put(__shfl((char)lane, 4));
    put((int)__shfl(0x100000000ll * lane, 9));
    put((int)(__shfl(0x100000000ll * lane, 9) >> 32));
    double sum = 1.0 / (lane + 1);
    for (int step = warpSize / 2; step > 0; step /= 2)
        sum += __shfl_down(sum, step);
    wide[lane] = __shfl(sum, 0);
    put(__syncthreads_count(lane < 10));
    put(__syncthreads_or(lane == 10));
    put(__syncthreads_and(lane < 64));
}

int main() {
    auto out = device<int>(20 * 64);
    auto wide = device<double>(64);
    exchange<<<1, 64>>>(out, wide);
    OK(hipDeviceSynchronize());
    auto v = download(out, 20 * 64);
    auto w = download(wide, 64);
    // The tree of the reduction, on the host.
    double sums[64];
    for (int i = 0; i < 64; i++)
        sums[i] = 1.0 / (i + 1);
    for (int step = 32; step > 0; step /= 2)
        for (int i = 0; i < step; i++)
            sums[i] += sums[i + step];
    for (int l = 0; l < 64; l++) {
        int expected[] = {15, 3 * (l / 16 * 16 + (l + 1) % 16), l < 3 ? l : l - 3, l + 7 > 63 ? l : l + 7, l ^ 9,
            l % 8 < 2 ? l : l - 2, l % 8 > 5 ? l : l + 2, 1, 0, 22, 42, l, l & 1 ? 3232 : 0, 5, 4, 0, 9, 10, 1, 1};
        for (int n = 0; n < 20; n++)
            if (v[n * 64 + l] != expected[n])
                return printf("value %d of lane %d: %d, not %d\n", n, l, v[n * 64 + l], expected[n]), 1;
        EXPECT(w[l] == sums[0]);
    }
    printf("PASS\n");
}
