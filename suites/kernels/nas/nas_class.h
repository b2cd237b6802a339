// The problem classes of the NAS Parallel Benchmarks that the kernels know.
#pragma once

#include <array>

namespace stripline::suites::nas {

/// S is for tests, W for a workstation of 1995, A and B are the two smallest of the measured ones.
enum class NasClass { s, w, a, b };

inline constexpr std::array<NasClass, 4> kNasClasses = {NasClass::s, NasClass::w, NasClass::a,
                                                        NasClass::b};

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
  }
  return '?';
}

}  // namespace stripline::suites::nas
