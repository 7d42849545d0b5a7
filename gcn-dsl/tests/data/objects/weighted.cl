// clang-22 -x cl -cl-std=CL2.0 --target=amdgcn-amd-amdhsa -mcpu=gfx90a -O2 -nogpulib weighted.cl -o weighted.gfx90a.hsaco
kernel void weighted(float a, uchar s, uint n, global const float *x, global float *y) {
    uint i = __builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() + __builtin_amdgcn_workitem_id_x();
    if (i < n) {
        y[i] = a * x[i] + (float)s;
    }
}
