// Call frames of two kinds in `.eh_frame`, which the linker ends.
	.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
	.text
	.globl f
	.type f,@function
f:
	.cfi_sections .eh_frame, .debug_frame
	.cfi_startproc
	s_nop 0
	.cfi_def_cfa 64, 16
	s_setpc_b64 s[30:31]
	.cfi_endproc
	.size f, .-f
	.globl g
	.type g,@function
g:
	.cfi_startproc
	.cfi_signal_frame
	.cfi_undefined 16
	s_setpc_b64 s[30:31]
	.cfi_endproc
	.size g, .-g
