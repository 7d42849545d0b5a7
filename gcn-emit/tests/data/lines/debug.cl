// Compiled with debug information: tests/it/lines.rs wants the lines of its mistakes.
#include "parts/step.h"

kernel void past_the_end(global int *x, int n) {
  int i = __builtin_amdgcn_workitem_id_x();
  int y = next(x[i]);
  x[i + n] =
      y;
}

kernel void race(global int *x, local int *shared) {
  int i = __builtin_amdgcn_workitem_id_x();
  shared[i] = x[i];
  // A barrier is missing here.
  x[i] = shared[(i + 64) & 127];
}
