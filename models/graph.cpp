#include "models/graph.h"
