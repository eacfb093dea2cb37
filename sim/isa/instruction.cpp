#include "sim/isa/instruction.h"
