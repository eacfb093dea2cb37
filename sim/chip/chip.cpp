#include "sim/chip/chip.h"
