/* For test programs: what is not as expected is said with its place, and the program ends with 1.
 */
#ifndef SHMEM_TESTS_CHECK_H
#define SHMEM_TESTS_CHECK_H

#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                                               \
  do {                                                                                 \
    if (!(condition)) {                                                                \
      fprintf(stderr, "%s:%d: PE %d: not so: %s\n", __FILE__, __LINE__, shmem_my_pe(), \
              #condition);                                                             \
      exit(1);                                                                         \
    }                                                                                  \
  } while (0)

#define CHECK_EQUAL(got, expected)                                                     \
  do {                                                                                 \
    const long long got_ = (long long)(got), expected_ = (long long)(expected);        \
    if (got_ != expected_) {                                                           \
      fprintf(stderr, "%s:%d: PE %d: %s is %lld, expected %lld\n", __FILE__, __LINE__, \
              shmem_my_pe(), #got, got_, expected_);                                   \
      exit(1);                                                                         \
    }                                                                                  \
  } while (0)

/* At the end: all PEs have come so far. */
static inline int passed(const char* name) {
  shmem_barrier_all();
  if (shmem_my_pe() == 0) printf("%s: passed\n", name);
  shmem_finalize();
  return 0;
}

#endif
