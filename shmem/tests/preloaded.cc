// A shared object with static data, for programs that load it on some PEs, or on all.
long preloaded_data[10000] = {1};
