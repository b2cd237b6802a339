// Waiting for variables of this PE to be changed by others. While a call waits it makes progress; a
// test makes progress once if it finds nothing, so that a loop of tests gets on.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "shmem/world.h"

namespace stripline::shmem {

/// A variable that others may change now. What was written before it is seen after it.
template <typename T>
T value_now(const T* variable) {
  return __atomic_load_n(variable, __ATOMIC_ACQUIRE);
}

/// Ends the program for a number that is not a SHMEM_CMP_... .
void check_comparison(const char* call, int comparison);

template <typename T>
bool compares(T now, int comparison, T value) {
  switch (comparison) {
    case SHMEM_CMP_EQ:
      return now == value;
    case SHMEM_CMP_NE:
      return now != value;
    case SHMEM_CMP_GT:
      return now > value;
    case SHMEM_CMP_GE:
      return now >= value;
    case SHMEM_CMP_LT:
      return now < value;
    default:
      return now <= value;
  }
}

template <typename T>
bool holds(const T* variable, int comparison, T value) {
  return compares(value_now(variable), comparison, value);
}

/// What variables are compared with: all with one value, or each with its own.
template <typename T>
struct OneValue {
  T value;
  T operator[](size_t) const { return value; }
};
template <typename T>
struct ValueEach {
  const T* values;
  T operator[](size_t i) const { return values[i]; }
};

/// No variable: all are excluded by their status, or there are none.
inline constexpr size_t kNone = std::numeric_limits<size_t>::max();

/// Whether a variable is to be looked at: status[i] is 0, or there is no status.
inline bool is_included(const int* status, size_t i) { return status == nullptr || status[i] == 0; }

inline bool includes_any(const int* status, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (is_included(status, i)) return true;
  }
  return false;
}

/// Where this thread begins to look for one variable of several: behind the one that it found last,
/// if it was one of these, else anywhere. So all for which the comparison holds are found in the
/// end, by calls that ask again and again, about other variables in between, too.
size_t begin_of_search(const void* variables, size_t count);
void note_found(const void* variables, size_t index);

template <typename T, typename Values>
size_t find_one(const T* variables, size_t count, const int* status, int comparison,
                const Values& values) {
  if (count == 0) return kNone;
  size_t i = begin_of_search(variables, count);
  for (size_t looked_at = 0; looked_at < count; ++looked_at, i = i + 1 < count ? i + 1 : 0) {
    if (is_included(status, i) && holds(variables + i, comparison, T{values[i]})) {
      note_found(variables, i);
      return i;
    }
  }
  return kNone;
}

template <typename T, typename Values>
bool all_hold(const T* variables, size_t count, const int* status, int comparison,
              const Values& values) {
  for (size_t i = 0; i < count; ++i) {
    if (is_included(status, i) && !holds(variables + i, comparison, T{values[i]})) return false;
  }
  return true;
}

template <typename T, typename Values>
size_t find_some(const T* variables, size_t count, size_t* indices, const int* status,
                 int comparison, const Values& values) {
  size_t found = 0;
  for (size_t i = 0; i < count; ++i) {
    if (is_included(status, i) && holds(variables + i, comparison, T{values[i]})) {
      indices[found++] = i;
    }
  }
  return found;
}

// --- waiting -------------------------------------------------------------------------------------

/// Returns what the comparison held for: the variable may have changed again since.
template <typename T>
T await_value(const char* call, const T* variable, int comparison, T value) {
  World& here = world(call);
  check_comparison(call, comparison);
  here.look_for_news();
  T seen = value_now(variable);
  if (compares(seen, comparison, value)) return seen;
  here.wait(call, [&] {
    const T now = value_now(variable);
    if (!compares(now, comparison, value)) return false;
    seen = now;
    return true;
  });
  return seen;
}

template <typename T>
void wait_until(const char* call, T* variable, int comparison, T value) {
  await_value(call, variable, comparison, value);
}

template <typename T, typename Values>
void wait_until_all(const char* call, T* variables, size_t count, const int* status, int comparison,
                    const Values& values) {
  World& here = world(call);
  check_comparison(call, comparison);
  here.look_for_news();
  const auto all = [&] { return all_hold(variables, count, status, comparison, values); };
  if (!all()) here.wait(call, all);
}

template <typename T, typename Values>
size_t wait_until_any(const char* call, T* variables, size_t count, const int* status,
                      int comparison, const Values& values) {
  World& here = world(call);
  check_comparison(call, comparison);
  if (!includes_any(status, count)) return kNone;
  here.look_for_news();
  size_t found = kNone;
  const auto any = [&] {
    found = find_one(variables, count, status, comparison, values);
    return found != kNone;
  };
  if (!any()) here.wait(call, any);
  return found;
}

template <typename T, typename Values>
size_t wait_until_some(const char* call, T* variables, size_t count, size_t* indices,
                       const int* status, int comparison, const Values& values) {
  World& here = world(call);
  check_comparison(call, comparison);
  if (!includes_any(status, count)) return 0;
  here.look_for_news();
  size_t found = 0;
  const auto some = [&] {
    found = find_some(variables, count, indices, status, comparison, values);
    return found > 0;
  };
  if (!some()) here.wait(call, some);
  return found;
}

// --- testing -------------------------------------------------------------------------------------

template <typename T>
int test(const char* call, T* variable, int comparison, T value) {
  World& here = world(call);
  check_comparison(call, comparison);
  here.look_for_news();
  if (holds(variable, comparison, value)) return 1;
  here.progress();
  return holds(variable, comparison, value) ? 1 : 0;
}

template <typename T, typename Values>
int test_all(const char* call, T* variables, size_t count, const int* status, int comparison,
             const Values& values) {
  World& here = world(call);
  check_comparison(call, comparison);
  here.look_for_news();
  if (all_hold(variables, count, status, comparison, values)) return 1;
  here.progress();
  return all_hold(variables, count, status, comparison, values) ? 1 : 0;
}

template <typename T, typename Values>
size_t test_any(const char* call, T* variables, size_t count, const int* status, int comparison,
                const Values& values) {
  World& here = world(call);
  check_comparison(call, comparison);
  here.look_for_news();
  const size_t found = find_one(variables, count, status, comparison, values);
  if (found != kNone) return found;
  here.progress();
  return find_one(variables, count, status, comparison, values);
}

template <typename T, typename Values>
size_t test_some(const char* call, T* variables, size_t count, size_t* indices, const int* status,
                 int comparison, const Values& values) {
  World& here = world(call);
  check_comparison(call, comparison);
  here.look_for_news();
  const size_t found = find_some(variables, count, indices, status, comparison, values);
  if (found > 0) return found;
  here.progress();
  return find_some(variables, count, indices, status, comparison, values);
}

}  // namespace stripline::shmem
