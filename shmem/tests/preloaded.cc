// A shared object with static data, for programs that load it on some PEs, or on all. OTHER makes
// another one of it.
#ifdef OTHER
long other_preloaded_data[20000] = {2};
#else
long preloaded_data[10000] = {1};
#endif
