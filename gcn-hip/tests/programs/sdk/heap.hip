// malloc, free, new and delete in kernels: lists that outlive the kernel that made them.
#include "check.h"

struct Node {
    int value;
    Node *next;
};

__global__ void build(Node **heads, int length) {
    Node *head = nullptr;
    for (int i = 0; i < length; i++) {
        Node *node = (Node *)malloc(sizeof(Node));
        if (!node)
            break;
        *node = {(int)(threadIdx.x + blockIdx.x * blockDim.x) + i, head};
        head = node;
    }
    heads[threadIdx.x + blockIdx.x * blockDim.x] = head;
}

__global__ void add(Node **heads, int *sums) {
    int at = threadIdx.x + blockIdx.x * blockDim.x;
    for (Node *node = heads[at], *next; node; node = next) {
        sums[at] += node->value;
        next = node->next;
        free(node);
    }
}

__global__ void own(int *out, int count) {
    int *values = new int[count];
    for (int i = 0; i < count; i++)
        values[i] = i * threadIdx.x;
    int sum = 0;
    for (int i = 0; i < count; i++)
        sum += values[i];
    delete[] values;
    // Larger than what the small sizes come from.
    char *large = (char *)malloc(100000 + threadIdx.x);
    large[0] = 1, large[100000 + threadIdx.x - 1] = 2;
    sum += large[0] + large[100000 + threadIdx.x - 1];
    free(large);
    free(nullptr);
    out[threadIdx.x] = sum;
}

int main() {
    const int n = 256, length = 20;
    auto heads = device<Node *>(n);
    auto sums = device<int>(n);
    for (int round = 0; round < 3; round++) {
        OK(hipMemset(sums, 0, n * sizeof(int)));
        build<<<n / 64, 64>>>(heads, length);
        OK(hipDeviceSynchronize());
        auto made = download(heads, n);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < i; j++)
                EXPECT(made[i] && made[i] != made[j]);
        add<<<n / 64, 64>>>(heads, sums);
        OK(hipDeviceSynchronize());
        auto s = download(sums, n);
        for (int i = 0; i < n; i++)
            EXPECT(s[i] == length * i + length * (length - 1) / 2);
    }
    own<<<1, 64>>>(sums, 100);
    OK(hipDeviceSynchronize());
    auto s = download(sums, 64);
    for (int i = 0; i < 64; i++)
        EXPECT(s[i] == i * 4950 + 3);
    printf("PASS\n");
}
