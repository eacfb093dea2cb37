#include "quant/requantize.h"
