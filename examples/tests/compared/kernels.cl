// All kernels of clang's side.

#include "common.h"

#include "floats.cl"
#include "halves.cl"
#include "images.cl"
#include "integers.cl"
#include "lanes.cl"
#include "layers.cl"
#include "physics.cl"
#include "rows.cl"
#include "searches.cl"
#include "streams.cl"
