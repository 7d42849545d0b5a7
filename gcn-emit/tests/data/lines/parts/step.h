// Included from another directory.
static inline int next(int x) {
  return 3 * x
         + 1;
}
