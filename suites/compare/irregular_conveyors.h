// Times of irregular updates and reads by bale's conveyors, for programs that are built by
// scripts/compare.py conveyors alone, against a checkout of bale. The loops are those that its
// histogram and indexgather show; the environment says how large buffers are.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

extern "C" {
#include <convey.h>
}

#include "suites/compare/irregular_times.h"

namespace stripline::suites::compare {

/// A read that travels to the owner and back.
struct ConveyedRead {
  uint64_t number;
  uint64_t value;  ///< first the cell, then what it holds
};

/// A system as print_irregular_times() asks for it, with processes that are counted by `Ranks`.
template <typename Ranks>
class Conveyors : public Ranks {
 public:
  Conveyors()
      : updates_(convey_new(SIZE_MAX, 0, nullptr, convey_opt_SCATTER)),
        requests_(convey_new(SIZE_MAX, 0, nullptr, convey_opt_SCATTER)),
        replies_(convey_new(SIZE_MAX, 0, nullptr, 0)) {}
  ~Conveyors() {
    convey_free(updates_);
    convey_free(requests_);
    convey_free(replies_);
  }
  Conveyors(const Conveyors&) = delete;
  Conveyors& operator=(const Conveyors&) = delete;

  void prepare(uint64_t cells, std::span<const uint64_t> index) {
    table_.assign(cells, 0);
    where_.clear();
    for (const uint64_t cell : index) {
      where_.push_back({static_cast<int64_t>(cell / cells), cell % cells});
    }
  }
  std::span<uint64_t> table() { return table_; }

  void begin(Irregular operation) {
    if (operation == Irregular::histogram) {
      begin(updates_, sizeof(uint64_t));
    } else {
      begin(requests_, sizeof(ConveyedRead));
      begin(replies_, sizeof(ConveyedRead));
    }
  }
  void histogram() {
    size_t next = 0;
    while (convey_advance(updates_, next == where_.size()) != convey_DONE) {
      for (; next < where_.size(); ++next) {
        if (convey_push(updates_, &where_[next].cell, where_[next].rank) != convey_OK) break;
      }
      uint64_t cell = 0;
      while (convey_pull(updates_, &cell, nullptr) == convey_OK) ++table_[cell];
    }
    this->barrier();  // all ranks have all updates
  }
  void gather(std::span<uint64_t> result) {
    size_t next = 0;
    ConveyedRead read{};
    for (;;) {
      const bool asks = convey_advance(requests_, next == where_.size()) != convey_DONE;
      const bool answers = convey_advance(replies_, !asks) != convey_DONE;
      if (!asks && !answers) break;
      for (; next < where_.size(); ++next) {
        read = {next, where_[next].cell};
        if (convey_push(requests_, &read, where_[next].rank) != convey_OK) break;
      }
      int64_t from = 0;
      while (convey_pull(requests_, &read, &from) == convey_OK) {
        read.value = table_[read.value];
        if (convey_push(replies_, &read, from) != convey_OK) {
          convey_unpull(requests_);
          break;
        }
      }
      while (convey_pull(replies_, &read, nullptr) == convey_OK) result[read.number] = read.value;
    }
  }
  void end() {
    for (convey_t* const one : begun_) convey_reset(one);
    begun_.clear();
  }

 private:
  struct Place {
    int64_t rank;
    uint64_t cell;
  };
  void begin(convey_t* one, size_t item_bytes) {
    convey_begin(one, item_bytes, 0);
    begun_.push_back(one);
  }

  convey_t* updates_;
  convey_t* requests_;
  convey_t* replies_;
  std::vector<convey_t*> begun_;
  std::vector<uint64_t> table_;
  std::vector<Place> where_;
};

/// The program of one system: BATCHES ITEMS. `runtime` says which one conveyors are built on. True
/// if all results were right.
template <typename Ranks>
bool print_conveyor_times(int argc, char** argv, const char* runtime) {
  Conveyors<Ranks> conveyors;
  // NOLINTNEXTLINE(concurrency-mt-unsafe): one thread
  const char* const buffer = std::getenv("CONVEY_BUFFER_SIZE");
  const std::string name =
      std::string("conveyors on ") + runtime + ", " + (buffer == nullptr ? "as set" : buffer);
  return print_irregular_times(conveyors, harness::argument(argc, argv, 2, size_t{1} << 20U),
                               harness::argument(argc, argv, 1, 9), name.c_str());
}

}  // namespace stripline::suites::compare
