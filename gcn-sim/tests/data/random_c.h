typedef unsigned char u8;
typedef signed char i8;
typedef unsigned short u16;
typedef short i16;
typedef unsigned u32;
typedef int i32;
typedef unsigned long u64;
typedef long i64;
typedef _Float16 f16;
typedef float f32;
typedef double f64;
typedef f32 f32x2 __attribute__((ext_vector_type(2)));
typedef f32 f32x4 __attribute__((ext_vector_type(4)));
typedef f16 f16x2 __attribute__((ext_vector_type(2)));
typedef u16 u16x2 __attribute__((ext_vector_type(2)));
typedef i16 i16x2 __attribute__((ext_vector_type(2)));
typedef u32 u32x3 __attribute__((ext_vector_type(3)));
typedef f64 f64x2 __attribute__((ext_vector_type(2)));
typedef u8 u8x4 __attribute__((ext_vector_type(4)));

#define NOINLINE static __attribute__((noinline))
#ifdef __AMDGCN__
#define MEM __attribute__((address_space(1)))
#else
#define MEM
#endif

/* What a loop assigns is each lane's own from there on. LLVM 22 otherwise takes what the last lane to leave the loop assigned for
   what all assigned, if the value is the same for all lanes in each trip (docs/findings.md, C1). */
#ifdef __AMDGCN__
#define KEEP(x) __asm__("" : "+v"(x))
#else
#define KEEP(x) (void)(x)
#endif
#define KEEP_u8(x) do { u32 t = x; KEEP(t); x = (u8)t; } while (0)
#define KEEP_i8(x) do { u32 t = (u32)x; KEEP(t); x = (i8)t; } while (0)
#define KEEP_u16(x) do { u32 t = x; KEEP(t); x = (u16)t; } while (0)
#define KEEP_i16(x) do { u32 t = (u32)x; KEEP(t); x = (i16)t; } while (0)
#define KEEP_f16(x) do { f32 t = (f32)x; KEEP(t); x = (f16)t; } while (0)
#define KEEP_u32 KEEP
#define KEEP_i32 KEEP
#define KEEP_u64 KEEP
#define KEEP_i64 KEEP
#define KEEP_f32 KEEP
#define KEEP_f64 KEEP

/* Of what is no product to the compiler the sign is right (docs/findings.md, C3). */
static inline f16 half(f32 x) { KEEP(x); return (f16)x; }

/* KEEP: the carry of a sum is not that of a sum within it, as LLVM 22 has it (docs/findings.md, C2). */
#define WHOLE(T)                                                                                                         \
  static inline T div_##T(T a, T b) { return b == 0 ? a : b == (T)-1 ? (T)(0 - a) : (T)(a / b); }                        \
  static inline T rem_##T(T a, T b) { return b == 0 ? a : b == (T)-1 ? (T)(a - a) : (T)(a % b); }                        \
  static inline T checked_add_##T(T a, T b) { T r; KEEP_##T(a); return __builtin_add_overflow(a, b, &r) ? (T)~r : r; }   \
  static inline T checked_sub_##T(T a, T b) { T r; KEEP_##T(a); return __builtin_sub_overflow(a, b, &r) ? (T)~r : r; }   \
  static inline T checked_mul_##T(T a, T b) { T r; return __builtin_mul_overflow(a, b, &r) ? (T)~r : r; }
WHOLE(u8) WHOLE(i8) WHOLE(u16) WHOLE(i16) WHOLE(u32) WHOLE(i32) WHOLE(u64) WHOLE(i64)

/* Which zero the greater one of two is, is not said. */
#define FLOAT(T, S, U)                                                                                                   \
  static inline u64 bits_##T(T x) { union { T x; U u; } v = {x}; return x != x ? 0x7ff8 : v.u; }                         \
  static inline T floor_##T(T x) { return (T)__builtin_floor##S(x); }                                                    \
  static inline T ceil_##T(T x) { return (T)__builtin_ceil##S(x); }                                                      \
  static inline T trunc_##T(T x) { return (T)__builtin_trunc##S(x); }                                                    \
  static inline T rint_##T(T x) { return (T)__builtin_rint##S(x); }                                                      \
  static inline T fmin_##T(T a, T b) { return (T)__builtin_fmin##S(a, b) + (T)0; }                                       \
  static inline T fmax_##T(T a, T b) { return (T)__builtin_fmax##S(a, b) + (T)0; }                                       \
  static inline T sqrt_##T(T x) { return (T)__builtin_sqrt##S(x); }                                                      \
  static inline T fma_##T(T a, T b, T c) { return (T)__builtin_fma##S(a, b, c); }
FLOAT(f16, f, u16) FLOAT(f32, f, u32) FLOAT(f64, , u64)

/* Signaling NaNs are none of the arithmetic's results. */
static inline f32 to_f32(u32 u) { union { u32 u; f32 x; } v = {u}; return v.x != v.x ? 1.0f : v.x; }
static inline f64 to_f64(u64 u) { union { u64 u; f64 x; } v = {u}; return v.x != v.x ? 1.0 : v.x; }
/* In the range of every type, so that conversions are defined: of those that are narrower by way of i64. */
static inline i64 whole(f64 x) { return x >= -1e15 && x <= 1e15 ? (i64)x : -77; }

static inline u32 popcount(u32 x) { return (u32)__builtin_popcount(x); }
static inline u32 clz(u32 x) { return x ? (u32)__builtin_clz(x) : 32; }
static inline u32 ctz(u32 x) { return x ? (u32)__builtin_ctz(x) : 32; }
static inline u32 swap(u32 x) { return __builtin_bswap32(x); }
static inline u32 reverse(u32 x) { return __builtin_bitreverse32(x); }
static inline u32 popcount64(u64 x, u64 y) { return (u32)__builtin_popcountl(x ^ y); }
static inline u32 clz64(u64 x, u64 y) { return x ? (u32)__builtin_clzl(x) : (u32)y; }
static inline u32 ctz64(u64 x, u64 y) { return x ? (u32)__builtin_ctzl(x) : (u32)y; }
static inline u64 swap64(u64 x, u64 y) { return __builtin_bswap64(x) - y; }
static inline u64 reverse64(u64 x, u64 y) { return __builtin_bitreverse64(x) + y; }
static inline u64 high(u64 x, u64 y) { return (u64)((unsigned __int128)x * y >> 64); }

static inline u32 kept(u32 x) { KEEP(x); return x; }

struct mixed { u32 narrow : 5; i64 wide; i32 sign : 11; f32 real; u8 bytes[3]; };
NOINLINE struct mixed mix(u32 a, i64 b, f32 c) {
  struct mixed s;
  s.narrow = a;
  s.wide = b ^ a;
  s.sign = (i32)b;
  s.real = c + (f32)(a & 15);
  for (u32 i = 0; i < 3; i++) s.bytes[i] = (u8)(b >> i);
  s.wide += s.bytes[a % 3];
  return s;
}

static void item(u32 id, MEM const u32 *in, MEM u32 *mem, MEM u64 *out);

#ifdef __AMDGCN__
__attribute__((amdgpu_kernel)) void kernel(MEM const u32 *in, MEM u32 *mem, MEM u64 *out) {
  item(__builtin_amdgcn_workgroup_id_x() * 128 + __builtin_amdgcn_workitem_id_x(), in, mem, out);
}
#else
static u32 in[512], mem[2048];
static u64 out[2048];
extern long read(int, void *, unsigned long);
extern long write(int, const void *, unsigned long);
int main(void) {
  if (read(0, in, sizeof in) != sizeof in) return 1;
  for (u32 id = 0; id < 256; id++) item(id, in, mem, out);
  return write(1, out, sizeof out) != sizeof out;
}
#endif

