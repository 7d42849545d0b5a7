// Graphs: captured from streams that fork and join, built from nodes, and changed afterwards.
#include "check.h"

__global__ void add(int *at, int n) { at[threadIdx.x] += n; }
__global__ void multiply(int *at, int n) { at[threadIdx.x] *= n; }

static void count(void *data) { ++*(int *)data; }

int main() {
    auto at = device<int>(64), other = device<int>(64);
    hipStream_t a, b;
    OK(hipStreamCreate(&a));
    OK(hipStreamCreate(&b));
    hipEvent_t fork, join;
    OK(hipEventCreateWithFlags(&fork, hipEventDisableTiming));
    OK(hipEventCreateWithFlags(&join, hipEventDisableTiming));
    int calls = 0;
    OK(hipStreamBeginCapture(a, hipStreamCaptureModeGlobal));
    OK(hipMemsetAsync(at, 0, 256, a));
    OK(hipEventRecord(fork, a));
    OK(hipStreamWaitEvent(b, fork, 0));
    add<<<1, 64, 0, a>>>(at, 3);
    add<<<1, 64, 0, b>>>(other, 4);
    OK(hipEventRecord(join, b));
    OK(hipStreamWaitEvent(a, join, 0));
    multiply<<<1, 64, 0, a>>>(at, 5);
    OK(hipLaunchHostFunc(a, count, &calls));
    hipGraph_t graph;
    OK(hipStreamEndCapture(a, &graph));
    size_t nodes = 0, edges = 0, roots = 0;
    OK(hipGraphGetNodes(graph, nullptr, &nodes));
    OK(hipGraphGetEdges(graph, nullptr, nullptr, &edges));
    OK(hipGraphGetRootNodes(graph, nullptr, &roots));
    EXPECT(nodes == 5 && edges == 5 && roots == 1 && calls == 0);
    hipGraphExec_t exec;
    OK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
    for (int i = 0; i < 3; i++)
        OK(hipGraphLaunch(exec, a));
    OK(hipStreamSynchronize(a));
    EXPECT(download(at, 64)[63] == 15 && download(other, 64)[0] == 12 && calls == 3);

    // The graph that another capture of the same shape makes replaces it.
    OK(hipStreamBeginCapture(a, hipStreamCaptureModeGlobal));
    add<<<1, 64, 0, a>>>(at, 1);
    hipGraph_t first, second;
    OK(hipStreamEndCapture(a, &first));
    OK(hipStreamBeginCapture(a, hipStreamCaptureModeGlobal));
    add<<<1, 64, 0, a>>>(at, 100);
    OK(hipStreamEndCapture(a, &second));
    hipGraphExec_t changing;
    OK(hipGraphInstantiate(&changing, first, nullptr, nullptr, 0));
    hipGraphNode_t error;
    hipGraphExecUpdateResult result;
    OK(hipGraphExecUpdate(changing, second, &error, &result));
    EXPECT(result == hipGraphExecUpdateSuccess);
    OK(hipMemset(at, 0, 256));
    OK(hipGraphLaunch(changing, a));
    OK(hipStreamSynchronize(a));
    EXPECT(download(at, 64)[5] == 100);
    GIVES(hipErrorGraphExecUpdateFailure, hipGraphExecUpdate(changing, graph, &error, &result));
    EXPECT(result != hipGraphExecUpdateSuccess);

    // Two fills one after the other are not two beside each other.
    hipGraph_t line, beside;
    hipGraphNode_t fills[4];
    hipMemsetParams zeros = {};
    zeros.dst = at, zeros.elementSize = 4, zeros.width = 64, zeros.height = 1;
    OK(hipGraphCreate(&line, 0));
    OK(hipGraphAddMemsetNode(&fills[0], line, nullptr, 0, &zeros));
    OK(hipGraphAddMemsetNode(&fills[1], line, &fills[0], 1, &zeros));
    OK(hipGraphCreate(&beside, 0));
    OK(hipGraphAddMemsetNode(&fills[2], beside, nullptr, 0, &zeros));
    OK(hipGraphAddMemsetNode(&fills[3], beside, nullptr, 0, &zeros));
    OK(hipGraphInstantiate(&changing, line, nullptr, nullptr, 0));
    OK(hipGraphExecUpdate(changing, line, &error, &result));
    GIVES(hipErrorGraphExecUpdateFailure, hipGraphExecUpdate(changing, beside, &error, &result));
    EXPECT(result == hipGraphExecUpdateErrorTopologyChanged && error == fills[3]);

    // Nodes by hand.
    hipGraph_t built;
    OK(hipGraphCreate(&built, 0));
    hipGraphNode_t fill, kernel, copy, host;
    hipMemsetParams memset = {};
    memset.dst = at, memset.elementSize = 4, memset.width = 64, memset.height = 1, memset.value = 2;
    OK(hipGraphAddMemsetNode(&fill, built, nullptr, 0, &memset));
    int n = 21, doubled = 42;
    void *arguments[] = {&at, &n}, *others[] = {&at, &doubled};
    hipKernelNodeParams launch = {};
    launch.func = (void *)multiply, launch.gridDim = dim3(1), launch.blockDim = dim3(64), launch.kernelParams = arguments;
    OK(hipGraphAddKernelNode(&kernel, built, &fill, 1, &launch));
    std::vector<int> out(64);
    OK(hipGraphAddMemcpyNode1D(&copy, built, &kernel, 1, out.data(), at, 256, hipMemcpyDeviceToHost));
    hipHostNodeParams call = {count, &calls};
    OK(hipGraphAddHostNode(&host, built, &copy, 1, &call));
    OK(hipGraphInstantiateWithFlags(&exec, built, 0));
    OK(hipGraphLaunch(exec, 0));
    OK(hipDeviceSynchronize());
    EXPECT(out[7] == 42 && calls == 4);
    launch.kernelParams = others;
    OK(hipGraphExecKernelNodeSetParams(exec, kernel, &launch));
    OK(hipGraphLaunch(exec, 0));
    OK(hipDeviceSynchronize());
    EXPECT(out[7] == 84 && calls == 5);
    hipKernelNodeParams read = {};
    OK(hipGraphKernelNodeGetParams(kernel, &read));
    EXPECT(read.func == (void *)multiply && read.blockDim.x == 64 && *(int *)read.kernelParams[1] == 21);
    hipMemsetParams filled = {};
    OK(hipGraphMemsetNodeGetParams(fill, &filled));
    EXPECT(filled.dst == at && filled.width == 64 && filled.value == 2);
    hipGraphNodeType type;
    OK(hipGraphNodeGetType(copy, &type));
    EXPECT(type == hipGraphNodeTypeMemcpy);
    hipGraph_t clone;
    OK(hipGraphClone(&clone, built));
    hipGraphNode_t same;
    OK(hipGraphNodeFindInClone(&same, kernel, clone));
    OK(hipGraphNodeGetType(same, &type));
    EXPECT(type == hipGraphNodeTypeKernel && same != kernel);
    // A node that is switched off does nothing.
    OK(hipGraphNodeSetEnabled(exec, kernel, 0));
    unsigned enabled = 7;
    OK(hipGraphNodeGetEnabled(exec, kernel, &enabled));
    EXPECT(enabled == 0);
    OK(hipGraphLaunch(exec, 0));
    OK(hipDeviceSynchronize());
    EXPECT(out[7] == 2);
    OK(hipGraphExecDestroy(exec));
    OK(hipGraphDestroy(built));
    OK(hipGraphDestroy(graph));
    printf("PASS\n");
}
