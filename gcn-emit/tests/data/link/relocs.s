.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
.text
.globl g
g:
s_getpc_b64 s[0:1]
s_add_u32 s0, s0, data_g@gotpcrel32@lo+4
s_addc_u32 s1, s1, data_g@gotpcrel32@hi+12
s_add_u32 s0, s0, data_h@gotpcrel32@lo+4
s_addc_u32 s1, s1, data_h@gotpcrel32@hi+12
s_add_u32 s0, s0, undef@gotpcrel32@lo+4
s_addc_u32 s1, s1, undef@gotpcrel32@hi+12
s_add_u32 s0, s0, wundef@gotpcrel32@lo+4
s_add_u32 s0, s0, whundef@gotpcrel32@lo+4
s_add_u32 s0, s0, gnum@gotpcrel32@lo+4
s_add_u32 s0, s0, data_h@rel32@lo+4
s_addc_u32 s1, s1, data_h@rel32@hi+12
s_add_u32 s0, s0, data_l@rel32@lo+4
s_addc_u32 s1, s1, data_l@rel32@hi+12
s_add_u32 s0, s0, whundef@rel32@lo+4
s_addc_u32 s1, s1, whundef@rel32@hi+4
s_add_u32 s0, s0, s_text@rel32@lo-4
s_branch s_text
s_cbranch_scc0 h_text
.long data_h@gotpcrel
.long data_h-.
.quad data_h-.
.quad data_l-.+8
.section .text.s,"ax"
s_text: s_nop 0
s_branch g2
.globl h_text
.hidden h_text
h_text: s_nop 0
.section .text.t,"ax"
g2:
s_nop 0
.data
data_l: .quad data_l
.globl data_g
data_g: .quad data_g
.globl data_h
.hidden data_h
data_h: .quad data_h+0x10
.quad undef-0x10
.quad wundef
.quad whundef
.quad num
.quad gnum+1
.quad g
.weak wundef
.weak whundef
.hidden whundef
.globl gnum
gnum = 0x1000
num = 0x2000
.long num
.long hnum
.quad hnum
.globl hnum
.hidden hnum
hnum = 77
.section .rodata,"a"
.quad hnum
.long hnum
.quad whundef
.long data_l-.
