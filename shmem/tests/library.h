/* What a program sees of the library of library.cc. */
#ifndef SHMEM_TESTS_LIBRARY_H
#define SHMEM_TESTS_LIBRARY_H

#ifdef __cplusplus
extern "C" {
#endif

enum { kLibraryWords = 1000 };
extern long library_words[kLibraryWords]; /* initialised, and seen by name */
long* zeroed_words(void);
long* words_of_function(void);

#ifdef __cplusplus
}
#endif

#endif
