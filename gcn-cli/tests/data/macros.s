	.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
	.set vgprSum, 2

	.macro accumulate from, sum=vgprSum
	ds_read_b32 v1, v\from
	v_add_f32 v[\sum], v[\sum], v1
	.endm

	.globl sums
sums:
	accumulate 4
	.irp address, 5, 6
	accumulate \address, vgprSum+1
	.endr
	s_endpgm
