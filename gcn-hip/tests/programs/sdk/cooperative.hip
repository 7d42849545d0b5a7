// Cooperative groups: blocks, tiles, coalesced lanes, and the whole grid.
#include "check.h"
#include <hip/hip_cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void tiles(int *out) {
    auto block = cg::this_thread_block();
    auto tile = cg::tiled_partition<16>(block);
    int value = tile.thread_rank() + 1;
    for (int step = tile.size() / 2; step > 0; step /= 2)
        value += tile.shfl_xor(value, step);
    out[block.thread_rank()] = value + 10000 * tile.meta_group_rank();
    tile.sync();
    if (threadIdx.x % 4 == 1) {
        auto active = cg::coalesced_threads();
        out[block.thread_rank()] = -(int)(active.thread_rank() + 100 * active.size());
    }
    block.sync();
}

// Each pass reads what other blocks wrote in the pass before.
__global__ void rotate(int *from, int *to, int passes) {
    auto grid = cg::this_grid();
    int n = grid.size(), at = grid.thread_rank();
    for (int pass = 0; pass < passes; pass++) {
        to[at] = from[(at + 64) % n] + 1;
        grid.sync();
        int *swap = from;
        from = to, to = swap;
    }
}

__global__ void all(int *sum, int *seen) {
    auto grid = cg::this_grid();
    atomicAdd(sum, 1);
    grid.sync();
    if (grid.thread_rank() == grid.size() - 1)
        *seen = *sum + 100000 * grid.is_valid();
}

int main() {
    auto out = device<int>(128);
    tiles<<<1, 128>>>(out);
    auto v = download(out, 128);
    for (int i = 0; i < 128; i++)
        EXPECT(v[i] == (i % 4 == 1 ? -(i % 64 / 4 + 1600) : 136 + 10000 * (i / 16)));
    int cooperative;
    OK(hipDeviceGetAttribute(&cooperative, hipDeviceAttributeCooperativeLaunch, 0));
    EXPECT(cooperative);
    int blocks = 0;
    OK(hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, rotate, 128, 0));
    EXPECT(blocks > 0);
    const int n = 16 * 128;
    std::vector<int> start(n);
    for (int i = 0; i < n; i++)
        start[i] = i;
    int *from = upload(start), *to = device<int>(n), passes = 6;
    void *arguments[] = {&from, &to, &passes};
    OK(hipLaunchCooperativeKernel((void *)rotate, dim3(16), dim3(128), arguments, 0, 0));
    OK(hipDeviceSynchronize());
    auto rotated = download(from, n);
    for (int i = 0; i < n; i++)
        EXPECT(rotated[i] == (i + 64 * 6) % n + 6);
    int *sum = device<int>(2), *seen = sum + 1;
    void *places[] = {&sum, &seen};
    OK(hipLaunchCooperativeKernel(all, dim3(20), dim3(256), places, 0, 0));
    OK(hipDeviceSynchronize());
    EXPECT(download(seen, 1)[0] == 105120);
    GIVES(hipErrorCooperativeLaunchTooLarge, hipLaunchCooperativeKernel(all, dim3(1 << 20), dim3(256), places, 0, 0));
    printf("PASS\n");
}
