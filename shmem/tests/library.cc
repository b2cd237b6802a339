// A shared object whose static data programs share.
#include "shmem/tests/library.h"

long library_words[kLibraryWords] = {7};

namespace {
long zeroed[kLibraryWords];
}

long* zeroed_words(void) { return zeroed; }

long* words_of_function(void) {
  static long words[kLibraryWords] = {8, 9};
  return words;
}
