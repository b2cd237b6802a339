// Tests of the calls of the public headers with arguments at the edges of their range. They are
// generated from a table of calls (*_calls.cc) whose arguments have types, and each type has kinds
// of values: zero, the largest, one beyond, null, misaligned. Each trial is a job in a process of
// its own. It passes if the result is right, or if one line says what is wrong, as an error that
// the call returns or as the message with which the job ends. The message names the call or the
// line where it is made.
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

/// Kinds of values of an argument; kinds_of() says which of them an argument has.
enum class Kind : uint8_t {
  usual,
  zero,        ///< 0, or the first valid value
  largest,     ///< the last valid value
  beyond,      ///< the first value after it
  nonsense,    ///< far beyond: an overflow, an uninitialised variable
  null,        ///< a pointer or a handle that refers to nothing
  misaligned,  ///< an address one byte after an aligned one
  foreign,     ///< memory of a rank that does not exist
  freed,       ///< memory of an array that has been destroyed
};
std::string_view to_string(Kind kind);

enum class Argument : uint8_t {
  place,    ///< a global pointer to elements
  memory,   ///< a pointer to private memory of this rank
  count,    ///< a number of elements in a segment
  length,   ///< a number of elements in private memory: any is valid
  rank,     ///< a rank of the job
  element,  ///< an index into a shared array
  option,   ///< an enumerator, or a variant of the call
  array,    ///< a handle of a shared array
};
std::span<const Kind> kinds_of(Argument argument);

/// Where the call is made.
enum class From : uint8_t {
  program,
  twice,         ///< two calls, one after the other
  handler,       ///< a handler of an active message, of rank 0 alone
  continuation,  ///< a continuation of a future
  thread,        ///< a thread other than the Context's
};
std::string_view to_string(From from);

class Trial;

/// A call of a public header.
struct Call {
  std::string_view header;  ///< without "stripline/"
  std::string_view name;    ///< as messages name it
  bool collective = false;  ///< made by all ranks; else by rank 0
  std::vector<Argument> arguments;
  std::function<void(Trial& trial)> make = nullptr;
  std::vector<Kind> may_pass = {};  ///< kinds that are wrong elsewhere, and valid here
  /// Ranks have joined with thread_mode::injecting, and are on the real clock.
  bool injects = false;
  /// Memory in reach has a path of its own, which no one observes: trials have mapped memory, and
  /// are not in debug mode.
  bool in_reach = false;
};

/// The whole table.
std::vector<Call> all_calls();
void add_memory_calls(std::vector<Call>& calls);
void add_pointer_calls(std::vector<Call>& calls);
void add_atomic_calls(std::vector<Call>& calls);
void add_vis_calls(std::vector<Call>& calls);
void add_injection_calls(std::vector<Call>& calls);
void add_message_calls(std::vector<Call>& calls);
void add_collective_calls(std::vector<Call>& calls);
void add_array_calls(std::vector<Call>& calls);
void add_mechanism_calls(std::vector<Call>& calls);
void add_update_calls(std::vector<Call>& calls);
void add_gather_calls(std::vector<Call>& calls);
void add_loop_calls(std::vector<Call>& calls);
void add_worker_calls(std::vector<Call>& calls);
void add_moved_calls(std::vector<Call>& calls);
void add_null_calls(std::vector<Call>& calls);

/// The arguments of one trial, and the job in which the call is made.
struct Case {
  size_t call = 0;          ///< index into all_calls()
  std::vector<Kind> kinds;  ///< of the call's arguments
  From from = From::program;
  /// The only rank that makes a collective call with these arguments, while those of the others are
  /// usual; none: all do.
  std::optional<rank_t> alone = std::nullopt;
  bool debug = false;    ///< Options::debug
  bool network = false;  ///< an emulated network, or tcp if the call injects; else mapped memory
};
std::string text(const Case& one, const Call& call);

/// Every call from each place, and with each kind of each argument while the others are usual; each
/// of these in one job, as few mistakes depend on the path. A quarter of the cases of each call
/// have mapped memory, at least one of them; a quarter of those of collective calls in debug mode
/// have ranks that disagree.
std::vector<Case> systematic_cases(const std::vector<Call>& calls);
/// A random combination of arguments, place and job, which the seed decides.
Case random_case(const std::vector<Call>& calls, uint64_t seed);

/// Runs each trial in a process of its own, those on an emulated network two at a time: their ranks
/// are fibers of one thread. Ranks with mapped memory are threads that spin, and have the
/// processors for themselves. `judge` gets the index of a case, in any order, and why it fails;
/// none if it passes.
void run_trials(
    const std::vector<Case>& cases, const std::vector<Call>& calls,
    const std::function<void(size_t index, const std::optional<std::string>& failure)>& judge);

/// One rank of a trial: what the call in the table makes its arguments from.
class Trial {
 public:
  static constexpr size_t kElements = 16;  // in each rank's part of `array`, and in `elements`
  static constexpr size_t kCount = 4;
  static constexpr size_t kLargestCount = 8;  // even: some calls divide it among the ranks
  static constexpr rank_t kRanks = 2;
  static constexpr size_t kSegmentBytes = size_t{1} << 20;

  Trial(Context& on, const Case& what, const Call& which);

  Context& context;
  rank_t me;
  rank_t other;                     ///< the rank whose memory a usual place is
  global_ptr<uint64_t> array;       ///< this rank's part of a symmetric array of kElements
  shared_array<uint64_t> elements;  ///< element i holds first(0) + i
  std::array<uint64_t, 64> own{};   ///< private memory; element i holds 5000 + i

  /// The initial value of element i of a rank's part of `array`.
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

  /// The initial value of the i-th element at a place argument that is within `array`.
  uint64_t value_at(size_t argument, size_t i) const;

  /// Ends the trial as failed unless `holds`, which says that a result is right.
  void right(bool holds);
  /// Ends the trial as refused; the call returned this error, on all ranks if it is collective.
  void refused(const Error& error);

  /// Makes the call from where the case says.
  void run();

 private:
  void make();
  /// A barrier of all ranks, always at the same place.
  void meet();

  const Case& case_;
  const Call& call_;
  global_ptr<uint64_t> freed_;
  shared_array<uint64_t> freed_elements_;
  uint32_t handler_ = 0;
  bool done_ = false;
};

/// The last element of the array of that rank, as a flag for signals.
global_ptr<uint64_t> flag_of(const Trial& t, global_ptr<uint64_t> place);
/// The elements at a place argument are those of `source`.
void expect_stored(Trial& t, size_t place_argument, const uint64_t* source, size_t count);
/// `destination` has the initial elements at a place argument.
void expect_fetched(Trial& t, size_t place_argument, const uint64_t* destination, size_t count);

}  // namespace stripline::edges
