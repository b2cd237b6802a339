// The overloaded functions of C++.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <shmem.h>

#define EXPECT(condition)                                                        \
  if (!(condition)) {                                                            \
    std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
    std::exit(1);                                                                \
  }

template <typename T>
void rma_of(T value) {
  static T there[4];
  const int pe = (shmem_my_pe() + 1) % shmem_n_pes();
  T here[4] = {value, value, value, value};
  shmem_put(there, here, 2, pe);
  shmem_put_nbi(SHMEM_CTX_DEFAULT, there + 2, here, 1, pe);
  shmem_p(there + 3, value, pe);
  shmem_quiet();
  shmem_barrier_all();
  EXPECT(there[0] == value && there[3] == value && shmem_g(there, pe) == value);
  T back[4] = {};
  shmem_get(SHMEM_CTX_DEFAULT, back, there, 4, pe);
  EXPECT(back[1] == value && back[2] == value);
  shmem_iput(there, here, 2, 1, 2, pe);
  shmem_barrier_all();
}

template <typename T>
void atomic_of(T value) {
  static T variable;
  shmem_barrier_all();
  variable = value;
  shmem_atomic_add(&variable, T(1), shmem_my_pe());
  EXPECT(shmem_atomic_fetch_add(&variable, T(1), shmem_my_pe()) == value + 1);
  EXPECT(shmem_atomic_compare_swap(&variable, T(value + 2), T(9), shmem_my_pe()) == value + 2);
  EXPECT(shmem_atomic_fetch(SHMEM_CTX_DEFAULT, &variable, shmem_my_pe()) == 9);
  shmem_wait_until(&variable, SHMEM_CMP_EQ, T(9));
  EXPECT(shmem_test(&variable, SHMEM_CMP_NE, T(9)) == 0);
  shmem_barrier_all();
}

// As programs for OpenSHMEM 1.3 declare what they wait for.
template <typename T>
void volatile_of(T value) {
  static volatile T flags[2];
  T* const plain = const_cast<T*>(flags);
  const T values[2] = {value, value};
  shmem_barrier_all();
  for (int i = 0; i < 2; ++i) shmem_p(plain + i, value, (shmem_my_pe() + 1) % shmem_n_pes());
  shmem_quiet();
  shmem_wait_until(&flags[1], SHMEM_CMP_EQ, value);
  shmem_wait_until_all(flags, 2, nullptr, SHMEM_CMP_EQ, value);
  EXPECT(shmem_wait_until_any(flags, 2, nullptr, SHMEM_CMP_EQ, value) < 2);
  EXPECT(shmem_test(flags, SHMEM_CMP_EQ, value) == 1);
  EXPECT(shmem_test_all_vector(flags, 2, nullptr, SHMEM_CMP_EQ, values) == 1);
  shmem_barrier_all();
}

void volatile_by_name() {
  static volatile long flag, lock;
  shmem_set_lock(&lock);
  shmem_clear_lock(&lock);
  while (shmem_test_lock(&lock) != 0) {
  }
  shmem_clear_lock(&lock);
  shmem_long_p(const_cast<long*>(&flag), 3, shmem_my_pe());
  shmem_long_wait_until(&flag, SHMEM_CMP_EQ, 3);
  shmem_long_wait(&flag, 0);
  shmem_wait(&flag, 0);
  EXPECT(shmem_long_test(&flag, SHMEM_CMP_EQ, 3) == 1);
  shmem_barrier_all();
}

template <typename T>
void reduced(T value) {
  static T in, out;
  in = value;
  shmem_sync(SHMEM_TEAM_WORLD);
  EXPECT(shmem_sum_reduce(SHMEM_TEAM_WORLD, &out, &in, 1) == 0);
  EXPECT(out == static_cast<T>(value * static_cast<T>(shmem_n_pes())));
  EXPECT(shmem_broadcast(SHMEM_TEAM_WORLD, &out, &in, 1, 0) == 0);
  EXPECT(out == value);
  shmem_sync(SHMEM_TEAM_WORLD);
}

// Ends without what it has written to a stream that is not C's.
static void end_with_buffers(const char* how) {
  static long never;
  std::ios::sync_with_stdio(false);
  std::cout << "PE " << shmem_my_pe() << " has said so\n";
  shmem_barrier_all();
  if (shmem_my_pe() == 1 && std::strcmp(how, "exit") == 0) std::exit(3);
  if (shmem_my_pe() == 1) shmem_global_exit(4);
  shmem_long_wait_until(&never, SHMEM_CMP_EQ, 1);
}

int main(int argc, char** argv) {
  shmem_init();
  if (argc > 1) end_with_buffers(argv[1]);
  rma_of<float>(1), rma_of<double>(2), rma_of<long double>(3), rma_of<char>('a'),
      rma_of<signed char>(4);
  rma_of<short>(5), rma_of<int>(6), rma_of<long>(7), rma_of<long long>(8), rma_of<unsigned char>(9);
  rma_of<unsigned short>(10), rma_of<unsigned>(11), rma_of<unsigned long>(12),
      rma_of<unsigned long long>(13);
  atomic_of<int>(1), atomic_of<long>(2), atomic_of<long long>(3), atomic_of<unsigned>(4);
  atomic_of<unsigned long>(5), atomic_of<unsigned long long>(6);
  volatile_of<short>(1), volatile_of<int>(2), volatile_of<long>(3), volatile_of<long long>(4);
  volatile_of<unsigned short>(5), volatile_of<unsigned>(6), volatile_of<unsigned long>(7),
      volatile_of<unsigned long long>(8);
  volatile_by_name();
  reduced<float>(1), reduced<double>(2), reduced<long double>(3), reduced<short>(4),
      reduced<int>(5);
  reduced<long>(6), reduced<unsigned char>(7), reduced<unsigned long long>(8);
  static uint64_t word;
  shmem_signal_set(SHMEM_CTX_DEFAULT, &word, 3, shmem_my_pe());
  shmem_signal_add(&word, 4, shmem_my_pe());
  EXPECT(shmem_signal_fetch(&word) == 7);
  shmem_barrier_all();
  if (shmem_my_pe() == 0) std::printf("overloads: passed\n");
  shmem_finalize();
}
