typedef unsigned u;
__attribute__((noinline)) static u leaf(u a, u b){ return a*b+7; }
__attribute__((noinline)) u glob(u a, u b){ return leaf(a,b)+leaf(b,a)*3; }
__attribute__((noinline)) static u fact(u n){ return n<2?1:n*fact(n-1); }
__attribute__((noinline)) static void never(volatile u*p){ for(;;) *p=1; }
__attribute__((noinline)) u ext(u a){ return a^5; }
__attribute__((noinline)) u tail(u a){ return ext(a+1); }
typedef u (*fn)(u,u);
__attribute__((noinline)) static u indirect(fn f,u a){ return f(a,a)+1; }
static u loopy(u n){u s=0; for(u i=0;i<n;i++) s+=leaf(i,s); return s;}
__attribute__((amdgpu_kernel)) void k(__attribute__((address_space(1))) u*x, u n){
  u v=x[0];
  x[1]=glob(v,n)+fact(n)+loopy(n);
  x[2]=indirect(n&1?leaf:glob,v);
  if(n==77) never((volatile u*)x);
  x[3]=tail(v);
}
