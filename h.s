v_mov_b16 v8, v16
v_add_f16 v1, v2, v3
 v_mov_b16 v8.l, v16.l
v_cvt_f16_f32 v1, v2
 v_swap_b16 v1, v2
v_not_b16 v1, v2
v_and_b16 v1, v2, v3
