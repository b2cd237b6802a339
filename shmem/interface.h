// The types and constants of OpenSHMEM, for the library itself: without the generic names.
#pragma once

#define STRIPLINE_SHMEM_GENERIC 0
#include <shmem.h>   // IWYU pragma: export
#include <shmemx.h>  // IWYU pragma: export
