// Two arrays on the stack whose size is an argument (docs/findings.md, C5): their sum in each work-item, of 10 elements each.
#define PRIVATE __attribute__((address_space(5)))
__attribute__((amdgpu_kernel)) void sums(__attribute__((address_space(1))) unsigned *out, unsigned n) {
  volatile PRIVATE unsigned *a = (volatile PRIVATE unsigned *)__builtin_alloca(4 * n);
  volatile PRIVATE unsigned *b = (volatile PRIVATE unsigned *)__builtin_alloca(4 * n);
  unsigned sum = 0;
  for (unsigned i = 0; i < n; i++)
    a[i] = 3 * i, b[i] = 5;
  for (unsigned i = 0; i < n; i++)
    sum += a[i] + b[i];
  out[__builtin_amdgcn_workitem_id_x()] = sum;
}
