.text
s_nop 0
.section .debug_loc,"",@progbits
.quad undef+4
.quad 5
.section .debug_ranges,"",@progbits
.quad undef+4
.section .debug_info,"",@progbits
.quad undef+4
.long undef+8
.section .debug_names,"",@progbits
.quad undef+4
.section .debug_line,"",@progbits
.quad undef+4
.section .other,"",@progbits
.quad undef+4
