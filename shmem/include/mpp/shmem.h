/* The place of shmem.h in older programs. */
#include <shmem.h>
