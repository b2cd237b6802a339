// No decision changes unless somebody wants it to: the decisions about thousands of random requests
// (cases.h) are those of recorded_plans.txt. README.md says what to do when this test fails.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/plans/cases.h"

namespace stripline::plan_corpus {
namespace {

constexpr size_t kPerNetwork = 256;  // requests
constexpr size_t kPerGroup = 32;     // and on one line of the file
// Instrumented builds are slow, and decide alike: some groups are enough.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr size_t kEvery = 8;
#else
constexpr size_t kEvery = 1;
#endif
// Explanations cost more than decisions.
constexpr size_t kExplainEvery = 16;

const char* environment(const char* name) {
  return std::getenv(name);  // NOLINT(concurrency-mt-unsafe): no other thread
}

std::string path_of_record() {
  const char* const source = environment("STRIPLINE_TEST_SOURCE");
  return std::string(source == nullptr ? "." : source) + "/tests/plans/recorded_plans.txt";
}

// FNV-1a.
class Hash {
 public:
  Hash& add(const std::string& text) {
    for (const char c : text) {
      value_ = (value_ ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    }
    return *this;
  }
  // Two characters, which tell most decisions apart.
  std::string code() const {
    static constexpr char kDigits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const uint64_t mixed = value_ ^ (value_ >> 32);
    return {kDigits[mixed & 63], kDigits[(mixed >> 6) & 63]};
  }
  std::string hex() const {
    char buffer[17];
    std::snprintf(buffer, sizeof buffer, "%016llx", static_cast<unsigned long long>(value_));
    return buffer;
  }

 private:
  uint64_t value_ = 0xcbf29ce484222325;
};

// A line of the file after its name: what is decided about one group.
struct Group {
  Hash all;
  std::string codes;  // of the requests, one after the other

  std::string text() const { return all.hex() + " " + codes; }
};

std::string name_of(const Mechanism& mechanism, const Network& network, size_t number) {
  return std::string(mechanism.name) + " " + network.name + " " + std::to_string(number);
}

Group decide(const Mechanism& mechanism, const Network& network, size_t first) {
  Group group;
  for (size_t number = first; number < first + kPerGroup; ++number) {
    const bool explain = number % kExplainEvery == 0;
    const std::string decision = mechanism.make(network, number, explain).decision;
    group.all.add(decision + "\n");
    group.codes += Hash().add(decision).code();
  }
  return group;
}

// By name of the group; what the file says after it. Empty without a file.
std::map<std::string, std::string> read_record() {
  std::map<std::string, std::string> record;
  std::ifstream file(path_of_record());
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::string mechanism;
    std::string network;
    std::string number;
    std::string hash;
    std::string codes;
    words >> mechanism >> network >> number >> hash >> codes;
    record[mechanism + " " + network + " " + number] = hash + " " + codes;
  }
  return record;
}

// The requests of a group whose decisions are others now; those that are not distinguished by their
// codes are all named.
std::vector<size_t> changed_in(const std::string& recorded, const Group& now, size_t first) {
  std::vector<size_t> changed;
  const size_t space = recorded.find(' ');
  const std::string codes = space == std::string::npos ? "" : recorded.substr(space + 1);
  for (size_t i = 0; i < kPerGroup; ++i) {
    if (codes.size() != now.codes.size() || codes.compare(2 * i, 2, now.codes, 2 * i, 2) != 0) {
      changed.push_back(first + i);
    }
  }
  if (changed.empty()) {
    for (size_t i = 0; i < kPerGroup; ++i) changed.push_back(first + i);
  }
  return changed;
}

template <typename Visit>
void for_each_group(size_t every, const Visit& visit) {
  const std::vector<Network> all = networks();
  size_t index = 0;
  for (const Mechanism& mechanism : kMechanisms) {
    for (size_t n = 0; n < all.size(); ++n) {
      for (size_t i = 0; i < kPerNetwork; i += kPerGroup, ++index) {
        if (index % every == 0) visit(mechanism, all[n], n * kPerNetwork + i);
      }
    }
  }
}

void show(const std::string& wanted) {
  bool found = false;
  for_each_group(1, [&](const Mechanism& mechanism, const Network& network, size_t first) {
    for (size_t number = first; number < first + kPerGroup; ++number) {
      if (name_of(mechanism, network, number) != wanted) continue;
      found = true;
      const Case shown = mechanism.make(network, number, true);
      std::printf("%s\n%s\n", shown.decision.c_str(), shown.explanation.c_str());
    }
  });
  EXPECT_TRUE(found) << "there is no request '" << wanted
                     << "'; the test names them, e.g. 'nest opteron-vapi,measured 2598'";
}

void write_record() {
  const auto record = read_record();
  std::ofstream file(path_of_record());
  file << "# What the planners decide about random requests: tests/plans/README.md.\n";
  size_t differences = 0;
  for_each_group(1, [&](const Mechanism& mechanism, const Network& network, size_t first) {
    const Group group = decide(mechanism, network, first);
    const std::string name = name_of(mechanism, network, first);
    file << name << " " << group.text() << "\n";
    const auto before = record.find(name);
    if (before != record.end() && before->second == group.text()) return;
    const std::string recorded = before == record.end() ? std::string() : before->second;
    for (const size_t number : changed_in(recorded, group, first)) {
      ++differences;
      std::printf("%s: %s\n", name_of(mechanism, network, number).c_str(),
                  mechanism.make(network, number, false).decision.c_str());
    }
  });
  ASSERT_TRUE(file.flush().good()) << path_of_record();
  std::printf("%zu decisions differ from what was recorded\n", differences);
}

TEST(PlanCorpus, DecisionsAreThoseThatWereRecorded) {
  if (const char* const wanted = environment("STRIPLINE_TEST_SHOW_PLAN")) return show(wanted);
  if (environment("STRIPLINE_TEST_WRITE_PLANS") != nullptr) return write_record();
  const auto record = read_record();
  std::map<std::string, size_t> differences;
  for_each_group(kEvery, [&](const Mechanism& mechanism, const Network& network, size_t first) {
    const Group group = decide(mechanism, network, first);
    const std::string name = name_of(mechanism, network, first);
    const auto recorded = record.find(name);
    ASSERT_NE(recorded, record.end()) << path_of_record() << " does not say what is decided about "
                                      << name << "; tests/plans/README.md says how it is written";
    if (recorded->second == group.text()) return;
    const std::vector<size_t> changed = changed_in(recorded->second, group, first);
    size_t& of_mechanism = differences[mechanism.name];
    if (of_mechanism == 0) {
      const Case shown = mechanism.make(network, changed.front(), true);
      ADD_FAILURE() << name_of(mechanism, network, changed.front())
                    << " is decided otherwise than recorded, the first of this planner. Now:\n"
                    << shown.decision << "\n"
                    << shown.explanation;
    }
    of_mechanism += changed.size();
  });
  for (const auto& [mechanism, count] : differences) {
    ADD_FAILURE() << count << " decisions of the planner '" << mechanism
                  << "' differ from those recorded; tests/plans/README.md says how to see them";
  }
}

}  // namespace
}  // namespace stripline::plan_corpus
