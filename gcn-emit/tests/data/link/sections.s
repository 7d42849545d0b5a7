.amdgcn_target "amdgcn-amd-amdhsa--gfx942"
.text
s_nop 0
.section .text.b,"ax",@progbits
.p2align 8
s_nop 1
.section .text.a,"ax",@progbits
.p2align 6
s_nop 2
.section .textual,"ax",@progbits
s_nop 3
.section .rodata.str1.1,"aMS",@progbits,1
.asciz "hello"
.asciz "world"
.Lx: .asciz "hello"
.section .rodata.str2.2,"aMS",@progbits,2
.short 65, 66, 0
.short 67, 0
.short 65, 66, 0
.section .rodata.str1.4,"aMS",@progbits,1
.p2align 2
.asciz "aligned"
.p2align 2
.asciz "world"
.section .rodata.cst8,"aM",@progbits,8
.quad 1, 2, 1, 3
.section .rodata.cst16,"aM",@progbits,16
.quad 1, 2, 1, 2
.section .rodata.cst8x,"aM",@progbits,8
.p2align 4
.quad 3, 2, 7, 1
.section .rodata,"a",@progbits
.p2align 6
.quad .Lx-.
.section .rodata.relocs,"aM",@progbits,8
.quad .Lx-.
.section .data.x,"aw",@progbits
.quad .Lx
.quad 8
.section .data,"aw",@progbits
.quad 8
.section .data.rel.ro.local,"aw",@progbits
.quad .Lx
.section .bss.x,"aw",@nobits
.p2align 5
.zero 40
.section .bss,"aw",@nobits
.zero 7
.section .init_array.200,"aw",@init_array
.quad .Lx
.section .init_array.100,"aw",@init_array
.quad .Lx+1
.section .init_array,"aw",@init_array
.quad .Lx+2
.section .fini_array,"aw",@fini_array
.quad .Lx+3
.section .note,"a",@note
.long 4, 4, 1
.asciz "abc"
.long 9
.section .note.other,"a",@note
.p2align 3
.long 4, 4, 1
.asciz "abc"
.long 9
.section table,"a",@progbits
.long 1,2,3
.section plain,"",@progbits
.quad 5
.quad .Lx
.section .note.GNU-stack,"",@progbits
.section .excluded,"e",@progbits
.quad 3
.section big,"aw",@progbits
.p2align 13
.quad 3
.section wx,"awx",@progbits
.quad 3
.section robss,"a",@nobits
.zero 12
.section .mixed.x,"aw",@nobits
.zero 12
.section .data.nob,"aw",@nobits
.zero 12
.section .debug_str,"MS",@progbits,1
.asciz "one"
.asciz "two"
.asciz "one"
.section .debug_info,"",@progbits
.long .debug_str
.long .debug_str+4
.quad .text
.ident "ident text"
.ident "second"
