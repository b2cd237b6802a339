// The problem classes of the NAS Parallel Benchmarks that the kernels know.
#pragma once

#include <array>

namespace stripline::suites::nas {

/// S is for tests, W for a workstation of 1995, A to C are the three smallest of the measured ones:
/// those that one host has the memory for.
enum class NasClass { s, w, a, b, c };

inline constexpr std::array<NasClass, 5> kNasClasses = {NasClass::s, NasClass::w, NasClass::a,
                                                        NasClass::b, NasClass::c};

/// The letter by which the specification calls it.
constexpr char letter(NasClass problem_class) {
  switch (problem_class) {
    case NasClass::s:
      return 'S';
    case NasClass::w:
      return 'W';
    case NasClass::a:
      return 'A';
    case NasClass::b:
      return 'B';
    case NasClass::c:
      return 'C';
  }
  return '?';
}

}  // namespace stripline::suites::nas
