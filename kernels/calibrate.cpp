#include "kernels/calibrate.h"
