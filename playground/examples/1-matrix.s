; A matrix result that is read too early
; The matrix instruction takes 8 passes of 4 cycles, and nothing in the hardware stops `v_add_f32` from reading before it is done.
; "Waits" inserts what is missing and says why; the manual's table has the number under case 106.
.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
kernel:
    v_mfma_f32_32x32x8_f16 v[0:15], v[16:17], v[18:19], v[0:15]
    v_add_f32 v20, v0, v1
    s_endpgm
