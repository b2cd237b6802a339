/* The place of shmemx.h in older programs. */
#include <shmemx.h>
