#include "sim/compiler/compiler.h"
