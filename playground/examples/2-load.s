; Loads that nobody waits for
; Each load adds one to `vmcnt` until its data are there. `s_waitcnt vmcnt(1)` would let the younger of the two go on: try
; `s_waitcnt vmcnt(1)` after the loads and look at what is still missing.
.amdgcn_target "amdgcn-amd-amdhsa--gfx90a"
kernel:
    global_load_dword v2, v[0:1], off
    global_load_dword v3, v[0:1], off offset:4
    v_add_f32 v4, v2, v2
    v_add_f32 v4, v4, v3
    global_store_dword v[0:1], v4, off
    s_endpgm
