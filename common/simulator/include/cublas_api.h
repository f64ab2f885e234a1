// The header that cublas_v2.h is made of.
#include "cublas_v2.h"
