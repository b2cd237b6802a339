/* Extensions of OpenSHMEM of this library, which are to be found in a header of this name: there
 * are none. */
#ifndef STRIPLINE_SHMEMX_H
#define STRIPLINE_SHMEMX_H

#include <shmem.h>

#endif
