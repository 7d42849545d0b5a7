#pragma OPENCL EXTENSION cl_khr_fp64 : enable
__constant float table[64] = {1,2,3,4,5};
__constant char text[] = "a constant text";
__global int counter = 7;
__global int zeroed[100];
static __constant double dbl[4] = {1.5, 2.5};
typedef struct { int a; long b; } S;
__attribute__((noinline)) float helper(float x, int i) { return x * table[i & 63] + (float)dbl[i & 3]; }
static __attribute__((noinline)) int local_helper(int x) { return x * counter + zeroed[x & 63]; }
__attribute__((weak, noinline)) int weak_helper(int x) { return x + 1; }
__attribute__((visibility("hidden"), noinline)) int hidden_helper(int x) { return x + 2; }

kernel void k1(global float *p, int n) { int i = (int)__builtin_amdgcn_workitem_id_x(); p[i] = helper(p[i], n) + local_helper(n); }
kernel void k2(global int *p, local int *l, int n) { local int lds[64]; int i = (int)__builtin_amdgcn_workitem_id_x(); lds[i] = p[i]; __builtin_amdgcn_s_barrier(); p[i] = lds[63 - i] + weak_helper(n) + hidden_helper(i) + text[n]; counter += n; }
kernel __attribute__((reqd_work_group_size(64,2,1))) void k3(global S *s, constant S *c, S v) { s[(int)__builtin_amdgcn_workitem_id_x()].b = c[1].b + v.b + zeroed[v.a]; }
