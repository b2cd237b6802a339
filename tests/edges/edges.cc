#include "tests/edges/edges.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <numeric>
#include <sys/wait.h>
#include <thread>
#include <tuple>
#include <unistd.h>
#include <utility>

#include <stripline/future.h>

#include "base/exit_codes.h"
#include "base/random.h"
#include "base/subprocess.h"
#include "runtime/bootstrap/testing/thread_group.h"
#include "runtime/fabric/ofi/ofi_fabric.h"
#include "runtime/rma/fiber_group.h"

namespace stripline::edges {
namespace {

// Exit codes of a trial, beside those of the runtime.
constexpr int kWrong = 40;       // a result is not right
constexpr int kRefused = 41;     // the call returned an error, and the job went on
constexpr int kNotStarted = 42;  // the job did not start, or did not end

constexpr unsigned kMaxSeconds = 60;       // a trial that takes longer counts as stuck
constexpr size_t kFibersAtOnce = 2;        // trials whose ranks are fibers
constexpr uint64_t kMappedInterval = 4;    // one trial of this number has mapped memory
constexpr uint64_t kSystematic = 7;        // seed of what is drawn for systematic cases
constexpr size_t kMaxMessageBytes = 1200;  // a longer line is not a clear one

constexpr std::array<std::string_view, 9> kKindNames = {
    "usual", "zero", "largest", "beyond", "nonsense", "null", "misaligned", "foreign", "freed"};
constexpr std::array<std::string_view, 5> kFromNames = {"program", "twice", "handler",
                                                        "continuation", "thread"};

constexpr std::array kOfPlace = {Kind::usual,      Kind::zero,     Kind::largest,
                                 Kind::beyond,     Kind::nonsense, Kind::null,
                                 Kind::misaligned, Kind::foreign,  Kind::freed};
#ifdef __SANITIZE_ADDRESS__
// UBSan goes with it, and ends a process that reads through a misaligned pointer, as trials do.
constexpr std::array kOfMemory = {Kind::usual, Kind::null};
#else
constexpr std::array kOfMemory = {Kind::usual, Kind::null, Kind::misaligned};
#endif
constexpr std::array kOfCount = {Kind::usual, Kind::zero, Kind::largest, Kind::beyond,
                                 Kind::nonsense};
constexpr std::array kOfLength = {Kind::usual, Kind::zero, Kind::largest};
constexpr std::array kOfRank = {Kind::usual, Kind::zero, Kind::beyond, Kind::nonsense};
constexpr std::array kOfElement = {Kind::usual, Kind::zero, Kind::largest, Kind::beyond,
                                   Kind::nonsense};
constexpr std::array kOfOption = {Kind::usual, Kind::zero, Kind::nonsense};
constexpr std::array kOfArray = {Kind::usual, Kind::null, Kind::freed};

bool is_wrong(Kind kind) {
  return kind == Kind::beyond || kind == Kind::nonsense || kind == Kind::null ||
         kind == Kind::foreign;
}
// The runtime may accept it, with any result, and may refuse it.
bool is_doubtful(Kind kind) { return kind == Kind::misaligned || kind == Kind::freed; }

struct Outcome {
  int status = 0;    // as waitpid() gives it
  std::string said;  // on standard error
};

// On the virtual clock, as which ranks run that have a network, unless threads of theirs inject.
bool runs_as_fibers(const Case& one, const Call& call) { return one.network && !call.injects; }

// Two ranks, to the end of their trial.
Status run_ranks(const Case& one, const Call& call, const std::function<void(Context&)>& body) {
  Options options;
  options.segment_bytes = Trial::kSegmentBytes;
  options.debug = one.debug;
  if (call.injects) options.threads = thread_mode::injecting;
  if (!runs_as_fibers(one, call)) {
    options.fabric = "tcp";
    options.same_node = one.network ? "network" : "mapped";
    return bootstrap::run_ranks({.ranks = Trial::kRanks, .context = options, .am_config = {}},
                                body);
  }
  options.fabric = "emulated:opteron-vapi,jitter=off,compute=none";
  options.clock = "virtual";
  return bootstrap::run_fibers({.ranks = Trial::kRanks, .context = options, .process = nullptr},
                               body);
}

// A trial whose process has been started.
struct Running {
  size_t index = 0;  // of its case
  pid_t process = -1;
  UniqueFd said;
};

Running start(const Case& one, const Call& call, size_t index) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) std::abort();
  UniqueFd reading(ends[0]);
  UniqueFd writing(ends[1]);
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    dup2(writing.get(), STDERR_FILENO);
    reading.reset();
    writing.reset();
    alarm(kMaxSeconds);
    const Status ran = run_ranks(one, call, [&](Context& context) {
      Trial trial(context, one, call);
      trial.run();
    });
    if (!ran.ok()) {
      std::fprintf(stderr, "%s\n", ran.error().message().c_str());
      _exit(kNotStarted);
    }
    _exit(kExitOk);
  }
  return {index, child, std::move(reading)};
}

Outcome outcome_of(const Running& running) {
  Outcome outcome;
  std::array<char, 4096> buffer{};
  ssize_t got = 0;
  while ((got = read(running.said.get(), buffer.data(), buffer.size())) > 0 ||
         (got < 0 && errno == EINTR)) {
    if (got > 0) outcome.said.append(buffer.data(), static_cast<size_t>(got));
  }
  while (waitpid(running.process, &outcome.status, 0) < 0 && errno == EINTR) {
  }
  return outcome;
}

// Lines of a message, without the notices of the runtime, which are not about a mistake.
std::vector<std::string_view> lines_of(std::string_view said) {
  std::vector<std::string_view> lines;
  while (!said.empty()) {
    const size_t end = std::min(said.find('\n'), said.size() - 1);
    if (!said.starts_with("stripline: ")) lines.push_back(said.substr(0, end));
    said.remove_prefix(end + 1);
  }
  return lines;
}

// Why a message is not one clear line: `names_call` if it has to name the call, or the line in the
// table's sources where it is made.
std::optional<std::string> mistake_of(std::string_view said, const Call& call, bool names_call) {
  const std::vector<std::string_view> lines = lines_of(said);
  if (lines.empty()) return "there is no message";
  // Ranks that are threads may fail at the same time, each with its line.
  if (lines.size() > (call.collective ? Trial::kRanks : 1)) return "the message is not one line";
  if (lines[0].size() > kMaxMessageBytes) {
    return "the message has " + std::to_string(lines[0].size()) + " characters";
  }
  if (names_call && lines[0].find(call.name) == std::string_view::npos &&
      lines[0].find("_calls.cc:") == std::string_view::npos) {
    return "the message does not name the call";
  }
  return std::nullopt;
}

// Why a trial with this outcome fails; none if it passes.
std::optional<std::string> failure_of(const Case& one, const Call& call, const Outcome& outcome) {
  const auto with_words = [&](const std::string& what) {
    return what + "; its message: " + (outcome.said.empty() ? "none" : outcome.said);
  };
  if (!WIFEXITED(outcome.status)) {
    const int signal = WTERMSIG(outcome.status);
    return with_words(signal == SIGALRM ? "it did not end" : "signal " + std::to_string(signal));
  }
  const int code = WEXITSTATUS(outcome.status);
  const bool wrong = std::ranges::any_of(one.kinds, is_wrong);
  const auto may_pass = [&call](Kind kind) {
    return is_doubtful(kind) || std::ranges::find(call.may_pass, kind) != call.may_pass.end();
  };
  const bool doubtful = std::ranges::any_of(one.kinds, may_pass) || one.alone.has_value() ||
                        (one.from != From::program && one.from != From::twice) ||
                        // A call for zero elements need not look at its other arguments.
                        std::ranges::find(one.kinds, Kind::zero) != one.kinds.end();
  if (code == kExitOk) {
    if (wrong && !doubtful) return with_words("a wrong argument was accepted");
    return std::nullopt;
  }
  if (code != kExitUsage && code != kRefused) return with_words("exit " + std::to_string(code));
  if (!wrong && !doubtful) return with_words("right arguments were refused");
  // The program knows which call has returned an error.
  const bool names_call = code != kRefused && !one.alone.has_value() && one.from == From::program;
  if (const auto mistake = mistake_of(outcome.said, call, names_call)) return with_words(*mistake);
  return std::nullopt;
}

// Chooses the job of a case, by random numbers: `draw(n)` returns one below n.
template <typename Draw>
void choose_job(Case& one, const Call& call, bool mapped, const Draw& draw) {
  one.network = !mapped && !call.in_reach;
  one.debug = draw(2) == 0 && !call.in_reach;
  const bool differs =
      std::ranges::any_of(one.kinds, [](Kind kind) { return kind != Kind::usual; });
  const bool on_all_ranks = call.collective && one.from != From::handler;
  if (on_all_ranks && differs && one.debug && draw(4) == 0) {
    one.alone = static_cast<rank_t>(draw(Trial::kRanks));
  }
}

}  // namespace

std::string_view to_string(Kind kind) { return kKindNames[static_cast<size_t>(kind)]; }
std::string_view to_string(From from) { return kFromNames[static_cast<size_t>(from)]; }

std::span<const Kind> kinds_of(Argument argument) {
  switch (argument) {
    case Argument::place:
      return kOfPlace;
    case Argument::memory:
      return kOfMemory;
    case Argument::count:
      return kOfCount;
    case Argument::length:
      return kOfLength;
    case Argument::rank:
      return kOfRank;
    case Argument::element:
      return kOfElement;
    case Argument::option:
      return kOfOption;
    case Argument::array:
      return kOfArray;
  }
  return {};
}

std::vector<Call> all_calls() {
  std::vector<Call> calls;
  add_memory_calls(calls);
  add_pointer_calls(calls);
  add_atomic_calls(calls);
  add_vis_calls(calls);
  add_injection_calls(calls);
  add_message_calls(calls);
  add_collective_calls(calls);
  add_array_calls(calls);
  add_mechanism_calls(calls);
  add_update_calls(calls);
  add_gather_calls(calls);
  add_loop_calls(calls);
  add_worker_calls(calls);
  add_moved_calls(calls);
  add_null_calls(calls);
  return calls;
}

std::string text(const Case& one, const Call& call) {
  std::string text = std::string(call.name) + "(";
  for (size_t i = 0; i < one.kinds.size(); ++i) {
    text += (i > 0 ? ", " : "") + std::string(to_string(one.kinds[i]));
  }
  text += ") of " + std::string(call.header) + ", from " + std::string(to_string(one.from));
  if (one.alone) text += ", by rank " + std::to_string(*one.alone) + " alone";
  text += one.network ? ", network" : ", mapped";
  if (one.debug) text += ", debug";
  return text;
}

std::vector<Case> systematic_cases(const std::vector<Call>& calls) {
  std::vector<Case> cases;
  for (size_t number = 0; number < calls.size(); ++number) {
    const Call& call = calls[number];
    const size_t first = cases.size();
    const Case usual{.call = number,
                     .kinds = std::vector<Kind>(call.arguments.size(), Kind::usual)};
    for (const From from :
         {From::program, From::twice, From::handler, From::continuation, From::thread}) {
      cases.push_back(usual);
      cases.back().from = from;
    }
    for (size_t argument = 0; argument < call.arguments.size(); ++argument) {
      for (const Kind kind : kinds_of(call.arguments[argument])) {
        if (kind == Kind::usual) continue;
        cases.push_back(usual);
        cases.back().kinds[argument] = kind;
      }
    }
    // By the number of the call, which of its cases are mapped.
    const uint64_t turn = hash_of(kSystematic, number, 0);
    for (size_t i = 0; first + i < cases.size(); ++i) {
      uint64_t drawn = 0;
      choose_job(cases[first + i], call, (turn + i) % kMappedInterval == 0, [&](uint64_t below) {
        return mix64(hash_of(kSystematic, number, (i + 1) << 8 | ++drawn)) % below;
      });
    }
  }
  return cases;
}

Case random_case(const std::vector<Call>& calls, uint64_t seed) {
  uint64_t drawn = 0;
  const auto draw = [&](uint64_t below) { return mix64(hash_of(seed, ++drawn, 0)) % below; };
  Case one{.call = draw(calls.size())};
  const Call& call = calls[one.call];
  for (const Argument argument : call.arguments) {
    const std::span<const Kind> kinds = kinds_of(argument);
    one.kinds.push_back(kinds[draw(2) == 0 ? 0 : draw(kinds.size())]);
  }
  const uint64_t from = draw(12);
  one.from = static_cast<From>(from < kFromNames.size() ? from : 0);
  choose_job(one, call, draw(kMappedInterval) == 0, draw);
  return one;
}

void run_trials(
    const std::vector<Case>& cases, const std::vector<Call>& calls,
    const std::function<void(size_t index, const std::optional<std::string>& failure)>& judge) {
  // To load libfabric, and to let it look for devices, takes many times what a trial takes. Trials
  // have it from this process; those that cannot load it say why.
  std::ignore = fabric::list_ofi_providers();
  const auto as_fibers = [&](size_t index) {
    return runs_as_fibers(cases[index], calls[cases[index].call]);
  };
  std::vector<size_t> order(cases.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_partition(order, as_fibers);
  std::deque<Running> running;
  const auto finish_oldest = [&] {
    const Running oldest = std::move(running.front());
    running.pop_front();
    const Case& one = cases[oldest.index];
    judge(oldest.index, failure_of(one, calls[one.call], outcome_of(oldest)));
  };
  for (const size_t index : order) {
    while (running.size() >= (as_fibers(index) ? kFibersAtOnce : size_t{1})) finish_oldest();
    running.push_back(start(cases[index], calls[cases[index].call], index));
  }
  while (!running.empty()) finish_oldest();
}

Trial::Trial(Context& on, const Case& what, const Call& which)
    : context(on), me(on.rank_me()), other((on.rank_me() + 1) % kRanks), case_(what), call_(which) {
  handler_ = context.register_am([this](rank_t, std::span<const std::byte>) {
    make();
    done_ = true;
  });
  const auto made = context.new_symmetric_array<uint64_t>(kElements);
  auto spread = shared_array<uint64_t>::create(context, kElements);
  const auto gone = context.new_symmetric_array<uint64_t>(kElements);
  auto gone_elements = shared_array<uint64_t>::create(context, kElements);
  if (!made.ok() || !spread.ok() || !gone.ok() || !gone_elements.ok()) _exit(kNotStarted);
  array = *made;
  elements = *spread;
  freed_ = *gone;
  freed_elements_ = *gone_elements;
  auto handle = freed_elements_;
  handle.destroy();
  context.delete_symmetric_array(freed_);
  for (size_t i = 0; i < kElements; ++i) context.local(array)[i] = first(me, i);
  for (size_t i = 0; i < elements.local_span().size(); ++i) {
    elements.local_span()[i] = first(0, elements.index_of(i));
  }
  for (size_t i = 0; i < own.size(); ++i) own[i] = 5000 + i;
  context.barrier();
}

Kind Trial::kind(size_t argument) const {
  if (case_.alone && me != *case_.alone) return Kind::usual;
  return case_.kinds[argument];
}

global_ptr<uint64_t> Trial::place(size_t argument) const {
  const global_ptr<uint64_t> there = context.on_rank(array, other);
  switch (kind(argument)) {
    case Kind::zero:
      return array;
    case Kind::largest:
      return there + (kElements - kLargestCount);
    case Kind::beyond:
      return {other, kSegmentBytes};
    case Kind::nonsense:
      return global_ptr<uint64_t>(other, 0) - 1;
    case Kind::null:
      return nullptr;
    case Kind::misaligned:
      return {other, there.offset() + 1};
    case Kind::foreign:
      return context.on_rank(array, kRanks);
    case Kind::freed:
      return context.on_rank(freed_, other);
    case Kind::usual:
      break;
  }
  return there;
}

uint64_t Trial::value_at(size_t argument, size_t i) const {
  if (kind(argument) == Kind::zero) return first(me, i);
  return first(other, i + (kind(argument) == Kind::largest ? kElements - kLargestCount : 0));
}

uint64_t* Trial::memory(size_t argument) {
  switch (kind(argument)) {
    case Kind::null:
      return nullptr;
    case Kind::misaligned:
      return reinterpret_cast<uint64_t*>(reinterpret_cast<std::byte*>(own.data()) + 1);
    default:
      return own.data();
  }
}

size_t Trial::count(size_t argument) const {
  switch (kind(argument)) {
    case Kind::zero:
      return 0;
    case Kind::largest:
      return kLargestCount;
    case Kind::beyond:
      return kSegmentBytes / sizeof(uint64_t) + 1;
    case Kind::nonsense:
      return (size_t{1} << 61) + 1;
    default:
      return kCount;
  }
}

rank_t Trial::rank(size_t argument) const {
  switch (kind(argument)) {
    case Kind::zero:
      return 0;
    case Kind::beyond:
      return kRanks;
    case Kind::nonsense:
      return ~rank_t{0};
    default:
      return 1;
  }
}

uint64_t Trial::element(size_t argument) const {
  switch (kind(argument)) {
    case Kind::zero:
      return 0;
    case Kind::largest:
      return kElements - 1;
    case Kind::beyond:
      return kElements;
    case Kind::nonsense:
      return ~uint64_t{0};
    default:
      return 3;
  }
}

shared_array<uint64_t> Trial::handle(size_t argument) const {
  switch (kind(argument)) {
    case Kind::null:
      return {};
    case Kind::freed:
      return freed_elements_;
    default:
      return elements;
  }
}

void Trial::right(bool holds) {
  // If ranks disagree, each computes what is right from arguments of its own.
  if (holds || case_.alone || std::ranges::any_of(case_.kinds, is_doubtful)) return;
  std::fprintf(stderr, "rank %u: the result is not right\n", me);
  _exit(kWrong);
}

void Trial::refused(const Error& error) {
  if (me == 0) std::fprintf(stderr, "%s\n", error.message().c_str());
  // After an error the job goes on, so that a barrier ends, for which neither continuations nor
  // handlers nor other threads may wait.
  if (case_.from == From::program || case_.from == From::twice) meet();
  if (me == 0) _exit(kRefused);
  meet();
}

void Trial::make() { call_.make(*this); }

void Trial::meet() { context.barrier(); }

void Trial::run() {
  const bool makes = call_.collective || me == 0;
  switch (case_.from) {
    case From::program:
      if (makes) make();
      break;
    case From::twice:
      for (int time = 0; makes && time < 2; ++time) make();
      break;
    case From::handler:
      if (me == 1) context.am_send(0, handler_, {});
      if (me == 0) context.wait_until([this] { return done_; });
      break;
    case From::continuation: {
      uint64_t value = 0;
      const auto made = context.rget(context.on_rank(array, other), &value, 1).then([this, makes] {
        if (makes) make();
      });
      made.wait();
      break;
    }
    case From::thread:
      if (makes) std::thread([this] { make(); }).join();
      break;
  }
  meet();
}

global_ptr<uint64_t> flag_of(const Trial& t, global_ptr<uint64_t> place) {
  return {place.where(), t.array.offset() + (Trial::kElements - 1) * sizeof(uint64_t)};
}

void expect_stored(Trial& t, size_t place_argument, const uint64_t* source, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    t.right(t.context.rget(t.place(place_argument) + static_cast<std::ptrdiff_t>(i)) == source[i]);
  }
}

void expect_fetched(Trial& t, size_t place_argument, const uint64_t* destination, size_t count) {
  for (size_t i = 0; i < count; ++i) t.right(destination[i] == t.value_at(place_argument, i));
}

}  // namespace stripline::edges
