.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
.file "source.cl"
.text
local_func:
 s_nop 0
.globl global_func
.type global_func,@function
global_func: s_nop 0
.size global_func,.-global_func
.weak weak_func
.type weak_func,@function
weak_func: s_nop 0
.hidden hidden_func
.globl hidden_func
hidden_func: s_nop 0
.internal internal_func
.globl internal_func
internal_func: s_nop 0
.protected protected_func
.globl protected_func
protected_func: s_nop 0
.weak hidden_weak
.hidden hidden_weak
.weak weak_undef
.globl undef
.protected undef_protected
number = 5
.globl global_number
global_number = 0x123456789abc
.hidden hidden_number
.globl hidden_number
hidden_number = 7
.set local_alias, local_func
.globl alias
.set alias, global_func
.globl end_of_text
.comm common1,24,4
.comm common2,3,0
.local lcommon
.comm lcommon,40,5
.data
.quad weak_undef
.quad undef
.quad hidden_weak
.quad alias
.quad local_alias
.quad global_number
.quad hidden_number
.quad number
.quad common1
.quad lcommon
.quad protected_func+4
.quad weak_func
.quad __start_table
.quad __stop_table
.weak __start_nothing
.quad __start_nothing
.hidden __stop_other
.quad __stop_other
.section table,"a",@progbits
.long 1,2,3
.section other,"a",@progbits
.long 1,2,3
.section .rodata.str1.1,"aMS",@progbits,1
named: .asciz "string"
.Lunnamed: .asciz "another"
.globl gstring
gstring: .asciz "string2"
.data
.quad named
.quad .Lunnamed+2
.quad gstring
end_of_text = .
.amdgpu_lds lds_a, 128, 16
.globl lds_a
.amdgpu_lds lds_b, 64, 4
.section .init,"ax"
.globl _init
_init: s_nop 0
.globl _fini
_fini: s_nop 0
