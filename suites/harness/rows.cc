#include "suites/harness/rows.h"

#include <array>
#include <random>

namespace stripline::suites::harness {
namespace {

constexpr size_t kPlaces = 4096;
constexpr size_t kPayload = size_t{64} << 10;  // of a strided transfer

std::string size_text(size_t bytes) {
  if (bytes >= size_t{1} << 20) return std::to_string(bytes >> 20) + " MiB";
  if (bytes >= size_t{1} << 10) return std::to_string(bytes >> 10) + " KiB";
  return std::to_string(bytes) + " B";
}

// The same in both processes and in every run.
const std::array<size_t, kPlaces>& places() {
  static const std::array<size_t, kPlaces> drawn = [] {
    std::array<size_t, kPlaces> words{};
    std::mt19937_64 random(1);
    for (size_t& word : words) word = random() % (kMemoryBytes / sizeof(uint64_t));
    return words;
  }();
  return drawn;
}

}  // namespace

std::string Row::name() const {
  const std::string size = size_text(bytes);
  switch (operation) {
    case Operation::message:
      return "message " + size + ", one way";
    case Operation::put:
      return "put " + size;
    case Operation::get:
      return "get " + size;
    case Operation::fetch_add:
      return "fetch-add";
    case Operation::put_window:
      return "put " + size + ", a handle each, window " + std::to_string(window);
    case Operation::put_fenced:
      return "put " + size + ", fence every " + std::to_string(window);
    case Operation::put_many:
      return "put " + size + ", one fence";
    case Operation::get_fenced:
      return "get " + size + ", fence every " + std::to_string(window);
    case Operation::put_flood:
      return "put " + size + ", window " + std::to_string(window);
    case Operation::get_flood:
      return "get " + size + ", window " + std::to_string(window);
    case Operation::strided_put:
      return "strided put, pieces of " + size;
    case Operation::strided_get:
      return "strided get, pieces of " + size;
  }
  return {};
}

const char* Row::metric() const {
  switch (operation) {
    case Operation::message:
    case Operation::put:
    case Operation::get:
    case Operation::fetch_add:
      return "latency";
    case Operation::put_window:
    case Operation::put_fenced:
    case Operation::put_many:
    case Operation::get_fenced:
      return "rate";
    default:
      return "bandwidth";
  }
}

double Row::amount() const {
  return metric() == std::string("bandwidth") ? static_cast<double>(bytes * pieces) : 1.0;
}

size_t Row::offset(size_t i) const {
  if (is_strided()) return 0;
  if (bytes == sizeof(uint64_t)) return places()[i % kPlaces] * sizeof(uint64_t);
  return i % (kMemoryBytes / bytes) * bytes;
}

std::vector<Row> all_rows(bool same_node) {
  const size_t blocking = same_node ? 10000 : 200;
  const size_t group = same_node ? 100 : 1;
  const size_t rate = same_node ? 20480 : 2048;
  std::vector<Row> rows = {
      {Operation::message, 8, same_node ? size_t{2000} : blocking, same_node ? size_t{20} : group},
      {Operation::put, 8, blocking, group},
      {Operation::get, 8, blocking, group},
      {Operation::fetch_add, 8, blocking, group},
      {Operation::put_window, 8, rate, 1, 64},
      {Operation::put_fenced, 8, same_node ? rate : 6400, 1, 64},
      {Operation::put_many, 8, 20000, 1, 20000},
      {Operation::get_fenced, 8, rate, 1, 64},
  };
  struct Flood {
    size_t bytes;
    size_t count;
    size_t window;
  };
  for (const Flood& flood : {Flood{size_t{64} << 10, 256, 16}, Flood{size_t{1} << 20, 32, 4}}) {
    rows.push_back({Operation::put_flood, flood.bytes, flood.count, 1, flood.window});
    rows.push_back({Operation::get_flood, flood.bytes, flood.count, 1, flood.window});
  }
  for (const Operation operation : {Operation::strided_put, Operation::strided_get}) {
    for (const size_t bytes : {size_t{8}, size_t{64}, size_t{512}, size_t{4096}}) {
      rows.push_back({operation, bytes, 16, 1, 1, kPayload / bytes});
    }
  }
  return rows;
}

}  // namespace stripline::suites::harness
