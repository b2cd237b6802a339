// What calls of the runtime's public headers do at the edges of what they may be given: generated
// from a table of calls (the *_calls.cc), whose arguments are of kinds. Each trial is a job of its
// own, in a process of its own, and ends in one of two fashions: the result is right, or one line
// says what is wrong, as a Status or as the end of the job.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <stripline/context.h>
#include <stripline/shared_array.h>

namespace stripline::edges {

/// What an argument is like. Not every argument has every kind (kinds_of()).
enum class Kind : uint8_t {
  usual,
  zero,        ///< 0, or the first one
  largest,     ///< the last one that there is
  beyond,      ///< the one after that
  nonsense,    ///< far beyond: what a wrong computation gives
  null,        ///< a pointer or a handle that refers to nothing
  misaligned,  ///< one byte behind where it should be
  foreign,     ///< of a rank that does not exist
  freed,       ///< of an array that is gone
};
std::string_view to_string(Kind kind);

enum class Argument : uint8_t {
  place,    ///< a global pointer to elements
  memory,   ///< private memory of this rank for elements
  count,    ///< elements
  rank,     ///< of the job
  element,  ///< an index into a shared array
  option,   ///< an enumerator
  array,    ///< a handle of a shared array
};
std::span<const Kind> kinds_of(Argument argument);

/// Where the call is made.
enum class From : uint8_t {
  program,
  twice,         ///< the same, two times
  handler,       ///< of an active message
  continuation,  ///< of a future
  thread,        ///< another one than the Context's
};
std::string_view to_string(From from);

class Trial;

/// A call of a public header.
struct Call {
  std::string_view header;  ///< without "stripline/"
  std::string_view name;    ///< as messages name it
  bool collective = false;  ///< all ranks make it; else rank 0
  std::vector<Argument> arguments;
  void (*make)(Trial& trial) = nullptr;
  std::vector<Kind> either;  ///< kinds that mean something else here: may be right, or refused
};

/// All of them.
std::vector<Call> all_calls();
void add_memory_calls(std::vector<Call>& calls);
void add_message_calls(std::vector<Call>& calls);
void add_collective_calls(std::vector<Call>& calls);
void add_array_calls(std::vector<Call>& calls);
void add_mechanism_calls(std::vector<Call>& calls);

/// One trial: how a call is made, and in which job.
struct Case {
  size_t call = 0;  ///< of all_calls()
  std::vector<Kind> kinds;
  From from = From::program;
  bool disagree = false;  ///< only rank 1 of a collective call is given these arguments
  bool debug = false;
  bool network = false;  ///< ranks do not reach each other's memory by loads and stores
};
std::string text(const Case& one, const Call& call);

/// Every call with each kind of each of its arguments, one at a time, from everywhere.
std::vector<Case> systematic_cases(const std::vector<Call>& calls);
/// Any combination; the same one for the same seed.
Case random_case(const std::vector<Call>& calls, uint64_t seed);

/// Runs it. What is wrong with what came of it; none: nothing.
std::optional<std::string> verdict_on(const Case& one, const Call& call);

/// What a call finds.
class Trial {
 public:
  static constexpr size_t kElements = 16;  // of each rank's part of `array`, and of `elements`
  static constexpr size_t kCount = 4;
  static constexpr size_t kLargestCount = 8;
  static constexpr rank_t kRanks = 2;
  static constexpr size_t kSegmentBytes = size_t{1} << 20;

  Trial(Context& on, const Case& what, const Call& which);

  Context& context;
  rank_t me;
  rank_t other;                     ///< what pointers point to, if they are usual
  global_ptr<uint64_t> array;       ///< this rank's part, of kElements
  shared_array<uint64_t> elements;  ///< of kElements, element i holds first(0) + i
  std::array<uint64_t, 64> own{};   ///< private memory: 5000 + i

  /// Element i of a rank's part of `array`, at first.
  static uint64_t first(rank_t rank, size_t i = 0) { return 1000 * (rank + uint64_t{1}) + i; }

  Kind kind(size_t argument) const;
  global_ptr<uint64_t> place(size_t argument) const;
  uint64_t* memory(size_t argument);
  size_t count(size_t argument) const;
  rank_t rank(size_t argument) const;
  uint64_t element(size_t argument) const;
  shared_array<uint64_t> handle(size_t argument) const;
  template <typename Enum>
  Enum option(size_t argument) const {
    return static_cast<Enum>(kind(argument) == Kind::usual  ? 1
                             : kind(argument) == Kind::zero ? 0
                                                            : 200);
  }

  /// The value that `place` holds at its element i, if it is one of `array`.
  uint64_t value_at(size_t argument, size_t i) const;

  /// The result was this, or the trial fails.
  void right(bool holds);
  /// The call gave an error, on all ranks if it is collective.
  void refused(const Error& error);
  /// For what is given nothing to do, whatever else it is given.
  bool is_nothing(size_t count_argument) const { return count(count_argument) == 0; }

  /// Makes the call as the case says.
  void run();

 private:
  void make();

  const Case& case_;
  const Call& call_;
  global_ptr<uint64_t> freed_;
  shared_array<uint64_t> freed_elements_;
  uint32_t handler_ = 0;
  bool done_ = false;
};

}  // namespace stripline::edges
