target triple = "amdgcn-amd-amdhsa"
@tab = addrspace(1) constant [2 x ptr] [ptr @f, ptr @g]
@htab = hidden addrspace(1) global [2 x ptr] [ptr @f, ptr @h]
@ext = external addrspace(1) global i32
@wext = extern_weak addrspace(1) global i32
@str = private unnamed_addr addrspace(4) constant [6 x i8] c"hello\00"
@str2 = private unnamed_addr addrspace(4) constant [6 x i8] c"world\00"
@used = addrspace(1) global ptr addrspace(4) @str2
@lds = external addrspace(3) global [0 x i32]
@ldsb = internal addrspace(3) global [64 x i32] undef
define void @f() { ret void }
define hidden void @g() { ret void }
define internal void @h() { ret void }
declare void @extf()
define amdgpu_kernel void @k(ptr addrspace(1) %p, i32 %i) {
  %a = getelementptr [2 x ptr], ptr addrspace(1) @tab, i32 0, i32 %i
  %fn = load ptr, ptr addrspace(1) %a
  call void %fn()
  %v = load i32, ptr addrspace(1) @ext
  store i32 %v, ptr addrspace(1) %p
  call void @extf()
  call void @f()
  call void @g()
  call void @h()
  %b = getelementptr [2 x ptr], ptr addrspace(1) @htab, i32 0, i32 %i
  %fn2 = load ptr, ptr addrspace(1) %b
  call void %fn2()
  %c = getelementptr i8, ptr addrspace(4) @str, i32 %i
  %d = load i8, ptr addrspace(4) %c
  store i8 %d, ptr addrspace(1) %p
  %l = getelementptr [64 x i32], ptr addrspace(3) @ldsb, i32 0, i32 %i
  store i32 %i, ptr addrspace(3) %l
  ret void
}
!llvm.module.flags = !{!0}
!0 = !{i32 1, !"amdhsa_code_object_version", i32 400}
