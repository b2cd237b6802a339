// Open MPI by three methods: one-sided through a window, two-sided with a partner that knows what
// comes, and packed by hand into messages.
#include <algorithm>
#include <cstring>
#include <memory>
#include <mpi.h>
#include <vector>

#include "suites/harness/contender.h"
#include "suites/harness/pieces.h"

namespace stripline::suites::harness {
namespace {

constexpr int kTarget = 1;
constexpr int kInitiator = 0;
constexpr int kDataTag = 1;
constexpr int kAnswerTag = 2;

/// A committed datatype of the pieces of a strided row.
class PiecesType {
 public:
  explicit PiecesType(const Row& row) {
    // The largest basic type that fits: elements are what the library's packing loops over.
    MPI_Type_vector(static_cast<int>(row.pieces), static_cast<int>(row.bytes / sizeof(double)),
                    static_cast<int>(row.stride() / sizeof(double)), MPI_DOUBLE, &type_);
    MPI_Type_commit(&type_);
  }
  ~PiecesType() { MPI_Type_free(&type_); }
  PiecesType(const PiecesType&) = delete;
  PiecesType& operator=(const PiecesType&) = delete;
  MPI_Datatype get() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

/// Requests of the last operations: starting one more waits for the oldest.
class Requests {
 public:
  explicit Requests(size_t window) : requests_(window, MPI_REQUEST_NULL) {}
  MPI_Request* next() {
    MPI_Request* request = &requests_[next_];
    if (++next_ == requests_.size()) next_ = 0;
    MPI_Wait(request, MPI_STATUS_IGNORE);
    return request;
  }
  void drain() {
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  }

 private:
  std::vector<MPI_Request> requests_;
  size_t next_ = 0;
};

MPI_Datatype words() { return MPI_UINT64_T; }
int words_in(size_t bytes) { return static_cast<int>(bytes / sizeof(uint64_t)); }

// What the attending rank does.
void make_progress_until_over(const Turns& turns) {
  while (!turns.is_over()) {
    int any = 0;
    MPI_Iprobe(kInitiator, kDataTag, MPI_COMM_WORLD, &any, MPI_STATUS_IGNORE);
  }
}

class OneSided final : public Contender {
 public:
  explicit OneSided(bool mapped) {
    if (mapped) {
      // What the library allocates can be shared memory.
      void* base = nullptr;
      MPI_Win_allocate(static_cast<MPI_Aint>(kAllBytes), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base,
                       &window_);
      memory_ = static_cast<std::byte*>(base);
      std::memset(memory_, 0, kAllBytes);
    } else {
      private_.resize(kAllBytes);
      memory_ = private_.data();
      MPI_Win_create(memory_, static_cast<MPI_Aint>(kAllBytes), 1, MPI_INFO_NULL, MPI_COMM_WORLD,
                     &window_);
    }
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window_);
  }
  ~OneSided() override {
    MPI_Win_unlock_all(window_);
    MPI_Win_free(&window_);
  }
  OneSided(const OneSided&) = delete;
  OneSided& operator=(const OneSided&) = delete;

  const char* family() const override { return "Open MPI"; }
  const char* method() const override { return "one-sided"; }
  // Its requests only say when sources may be changed.
  bool offers(const Row& row) const override {
    return row.operation != Operation::message && row.operation != Operation::put_window;
  }
  std::byte* memory() override { return memory_; }

  void attend(const Row&, const Turns& turns) override {
    MPI_Win_sync(window_);
    make_progress_until_over(turns);
    MPI_Win_sync(window_);
  }

  double initiate(const Row& row, Data& data) override {
    std::byte* const source = data.source.data();
    std::byte* const sink = data.sink.data();
    const int n = words_in(row.bytes);
    const auto put = [&](size_t i) {
      const size_t at = row.offset(i);
      MPI_Put(source + at, n, words(), kTarget, static_cast<MPI_Aint>(at), n, words(), window_);
    };
    const auto get = [&](size_t i) {
      const size_t at = row.offset(i);
      MPI_Get(sink + at, n, words(), kTarget, static_cast<MPI_Aint>(at), n, words(), window_);
    };
    switch (row.operation) {
      case Operation::put:
        return blocking_s(row, [&](size_t i) {
          put(i);
          flush();
        });
      case Operation::get:
        return blocking_s(row, [&](size_t i) {
          get(i);
          flush();
        });
      case Operation::get_fenced:
        return fenced_s(row, get, [&] { flush(); });
      case Operation::fetch_add: {
        const uint64_t addend = kAddend;
        uint64_t previous = 0;
        const double seconds = blocking_s(row, [&](size_t) {
          MPI_Fetch_and_op(&addend, &previous, words(), kTarget,
                           static_cast<MPI_Aint>(kCounterOffset), MPI_SUM, window_);
          flush();
        });
        std::memcpy(sink, &previous, sizeof previous);
        return seconds;
      }
      case Operation::put_fenced:
      case Operation::put_many:
        return fenced_s(row, put, [&] { flush(); });
      case Operation::put_flood:
        return batch_s(row, [&] {
          Requests requests(row.window);
          for (size_t i = 0; i < row.count; ++i) {
            const size_t at = row.offset(i);
            MPI_Rput(source + at, n, words(), kTarget, static_cast<MPI_Aint>(at), n, words(),
                     window_, requests.next());
          }
          requests.drain();
          flush();
        });
      case Operation::get_flood:
        return batch_s(row, [&] {
          Requests requests(row.window);
          for (size_t i = 0; i < row.count; ++i) {
            const size_t at = row.offset(i);
            MPI_Rget(sink + at, n, words(), kTarget, static_cast<MPI_Aint>(at), n, words(), window_,
                     requests.next());
          }
          requests.drain();
        });
      case Operation::strided_put: {
        const PiecesType type(row);
        return blocking_s(row, [&](size_t) {
          MPI_Put(source, 1, type.get(), kTarget, 0, 1, type.get(), window_);
          flush();
        });
      }
      case Operation::strided_get: {
        const PiecesType type(row);
        return blocking_s(row, [&](size_t) {
          MPI_Get(sink, 1, type.get(), kTarget, 0, 1, type.get(), window_);
          flush();
        });
      }
      case Operation::put_window:
      case Operation::message:
        break;
    }
    return 0;
  }

 private:
  void flush() { MPI_Win_flush(kTarget, window_); }

  std::vector<std::byte> private_;
  std::byte* memory_ = nullptr;
  MPI_Win window_ = MPI_WIN_NULL;
};

/// What both methods with messages share: memory, and short answers.
class Messages : public Contender {
 public:
  const char* family() const override { return "Open MPI"; }
  std::byte* memory() override { return memory_.data(); }

 protected:
  static void send_to(int rank, const void* bytes, size_t size, int tag) {
    MPI_Send(bytes, words_in(size), words(), rank, tag, MPI_COMM_WORLD);
  }
  static void receive_from(int rank, void* bytes, size_t size, int tag) {
    MPI_Recv(bytes, words_in(size), words(), rank, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  static void answer() { send_to(kInitiator, nullptr, 0, kAnswerTag); }
  static void await_answer() { receive_from(kTarget, nullptr, 0, kAnswerTag); }

 private:
  std::vector<std::byte> memory_ = std::vector<std::byte>(kAllBytes);
};

/// Both sides know what comes when, so that nothing but the data is sent.
class TwoSided final : public Messages {
 public:
  const char* method() const override { return "two-sided"; }
  bool offers(const Row& row) const override {
    return row.operation != Operation::put_many && row.operation != Operation::get_fenced;
  }

  double initiate(const Row& row, Data& data) override {
    std::byte* const source = data.source.data();
    std::byte* const sink = data.sink.data();
    switch (row.operation) {
      case Operation::message:
        return message_s(row, data, [&](uint64_t word) {
          send_to(kTarget, &word, row.bytes, kDataTag);
          receive_from(kTarget, sink, row.bytes, kAnswerTag);
        });
      case Operation::put:
        return blocking_s(row, [&](size_t i) {
          send_to(kTarget, source + row.offset(i), row.bytes, kDataTag);
          await_answer();
        });
      case Operation::get:
        return blocking_s(row, [&](size_t i) {
          send_to(kTarget, nullptr, 0, kDataTag);
          receive_from(kTarget, sink + row.offset(i), row.bytes, kAnswerTag);
        });
      case Operation::fetch_add: {
        const uint64_t addend = kAddend;
        return blocking_s(row, [&](size_t) {
          send_to(kTarget, &addend, sizeof addend, kDataTag);
          receive_from(kTarget, sink, sizeof addend, kAnswerTag);
        });
      }
      case Operation::put_window:
      case Operation::put_fenced:
      case Operation::put_flood:
        return batch_s(row, [&] {
          const bool fenced = row.operation == Operation::put_fenced;
          // Requests of synchronous ones say that the data are being received.
          const auto send = row.operation == Operation::put_window ? MPI_Issend : MPI_Isend;
          Requests requests(row.window);
          for (size_t i = 0; i < row.count; ++i) {
            send(source + row.offset(i), words_in(row.bytes), words(), kTarget, kDataTag,
                 MPI_COMM_WORLD, requests.next());
            if (fenced && (i + 1) % row.window == 0) await_answer();
          }
          requests.drain();
          if (!fenced) await_answer();
        });
      case Operation::get_flood:
        return batch_s(row, [&] {
          // No request is needed: the partner knows. The first message only says when to begin.
          send_to(kTarget, nullptr, 0, kDataTag);
          Requests requests(row.window);
          for (size_t i = 0; i < row.count; ++i) {
            MPI_Irecv(sink + row.offset(i), words_in(row.bytes), words(), kTarget, kAnswerTag,
                      MPI_COMM_WORLD, requests.next());
          }
          requests.drain();
        });
      case Operation::strided_put: {
        const PiecesType type(row);
        return blocking_s(row, [&](size_t) {
          MPI_Send(source, 1, type.get(), kTarget, kDataTag, MPI_COMM_WORLD);
          await_answer();
        });
      }
      case Operation::strided_get: {
        const PiecesType type(row);
        return blocking_s(row, [&](size_t) {
          send_to(kTarget, nullptr, 0, kDataTag);
          MPI_Recv(sink, 1, type.get(), kTarget, kAnswerTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        });
      }
      case Operation::put_many:
      case Operation::get_fenced:
        break;
    }
    return 0;
  }

  void attend(const Row& row, const Turns& turns) override {
    switch (row.operation) {
      case Operation::message:
        for (size_t i = 0; i < row.count; ++i) {
          uint64_t word = 0;
          receive_from(kInitiator, &word, row.bytes, kDataTag);
          send_to(kInitiator, &word, row.bytes, kAnswerTag);
        }
        return;
      case Operation::put:
        for (size_t i = 0; i < row.count; ++i) {
          receive_from(kInitiator, memory() + row.offset(i), row.bytes, kDataTag);
          answer();
        }
        return;
      case Operation::get:
        for (size_t i = 0; i < row.count; ++i) {
          receive_from(kInitiator, nullptr, 0, kDataTag);
          send_to(kInitiator, memory() + row.offset(i), row.bytes, kAnswerTag);
        }
        return;
      case Operation::fetch_add:
        for (size_t i = 0; i < row.count; ++i) {
          uint64_t addend = 0;
          receive_from(kInitiator, &addend, sizeof addend, kDataTag);
          auto* counter = reinterpret_cast<uint64_t*>(memory() + kCounterOffset);
          const uint64_t previous = *counter;
          *counter += addend;
          send_to(kInitiator, &previous, sizeof previous, kAnswerTag);
        }
        return;
      case Operation::put_window:
      case Operation::put_fenced:
      case Operation::put_flood: {
        const bool fenced = row.operation == Operation::put_fenced;
        Requests requests(row.window);
        for (size_t i = 0; i < row.count; ++i) {
          MPI_Irecv(memory() + row.offset(i), words_in(row.bytes), words(), kInitiator, kDataTag,
                    MPI_COMM_WORLD, requests.next());
          if (fenced && (i + 1) % row.window == 0) {
            requests.drain();
            answer();
          }
        }
        requests.drain();
        if (!fenced) answer();
        // Synchronous sends are confirmed by calls of the receiver, some of them after it has all.
        make_progress_until_over(turns);
        return;
      }
      case Operation::get_flood: {
        receive_from(kInitiator, nullptr, 0, kDataTag);
        Requests requests(row.window);
        for (size_t i = 0; i < row.count; ++i) {
          MPI_Isend(memory() + row.offset(i), words_in(row.bytes), words(), kInitiator, kAnswerTag,
                    MPI_COMM_WORLD, requests.next());
        }
        requests.drain();
        return;
      }
      case Operation::strided_put: {
        const PiecesType type(row);
        for (size_t i = 0; i < row.count; ++i) {
          MPI_Recv(memory(), 1, type.get(), kInitiator, kDataTag, MPI_COMM_WORLD,
                   MPI_STATUS_IGNORE);
          answer();
        }
        return;
      }
      case Operation::strided_get: {
        const PiecesType type(row);
        for (size_t i = 0; i < row.count; ++i) {
          receive_from(kInitiator, nullptr, 0, kDataTag);
          MPI_Send(memory(), 1, type.get(), kInitiator, kAnswerTag, MPI_COMM_WORLD);
        }
        return;
      }
      case Operation::put_many:
      case Operation::get_fenced:
        return;
    }
  }
};

/// Pieces and small puts copied into messages by the program. Small puts travel with their places,
/// as libraries that aggregate them send them.
class Packed final : public Messages {
 public:
  const char* method() const override { return "two-sided, packed by hand"; }
  bool offers(const Row& row) const override {
    return row.is_strided() || row.operation == Operation::put_many;
  }

  double initiate(const Row& row, Data& data) override {
    const size_t payload = row.bytes * row.pieces;
    switch (row.operation) {
      case Operation::put_many:
        return batch_s(row, [&] {
          Requests requests(kBuffers);
          for (size_t i = 0; i < row.count;) {
            MPI_Request* request = requests.next();  // the buffer is free again
            Item* const items = buffer(i);
            size_t filled = 0;
            for (; filled < kItems && i < row.count; ++filled, ++i) {
              items[filled].place = row.offset(i);
              std::memcpy(&items[filled].value, data.source.data() + row.offset(i),
                          sizeof(uint64_t));
            }
            MPI_Isend(items, words_in(filled * sizeof(Item)), words(), kTarget, kDataTag,
                      MPI_COMM_WORLD, request);
          }
          requests.drain();
          await_answer();
        });
      case Operation::strided_put:
        return blocking_s(row, [&](size_t) {
          gather(row, data.source.data(), packed_.data());
          send_to(kTarget, packed_.data(), payload, kDataTag);
          await_answer();
        });
      case Operation::strided_get:
        return blocking_s(row, [&](size_t) {
          send_to(kTarget, nullptr, 0, kDataTag);
          receive_from(kTarget, packed_.data(), payload, kAnswerTag);
          scatter(row, packed_.data(), data.sink.data());
        });
      default:
        return 0;
    }
  }

  void attend(const Row& row, const Turns&) override {
    const size_t payload = row.bytes * row.pieces;
    if (row.operation == Operation::put_many) {
      const auto expect = [&](size_t i, MPI_Request* request) {
        const size_t items = std::min(kItems, row.count - i);
        MPI_Irecv(buffer(i), words_in(items * sizeof(Item)), words(), kInitiator, kDataTag,
                  MPI_COMM_WORLD, request);
        return items;
      };
      std::vector<MPI_Request> requests(kBuffers, MPI_REQUEST_NULL);
      for (size_t i = 0; i < std::min(kBuffers * kItems, row.count); i += kItems) {
        expect(i, &requests[i / kItems % kBuffers]);
      }
      for (size_t i = 0; i < row.count; i += kItems) {
        MPI_Request* const request = &requests[i / kItems % kBuffers];
        MPI_Wait(request, MPI_STATUS_IGNORE);
        const Item* const items = buffer(i);
        for (size_t k = 0; k < std::min(kItems, row.count - i); ++k) {
          std::memcpy(memory() + items[k].place, &items[k].value, sizeof(uint64_t));
        }
        if (i + kBuffers * kItems < row.count) expect(i + kBuffers * kItems, request);
      }
      answer();
      return;
    }
    for (size_t i = 0; i < row.count; ++i) {
      if (row.is_put()) {
        receive_from(kInitiator, packed_.data(), payload, kDataTag);
        scatter(row, packed_.data(), memory());
        answer();
      } else {
        receive_from(kInitiator, nullptr, 0, kDataTag);
        gather(row, memory(), packed_.data());
        send_to(kInitiator, packed_.data(), payload, kAnswerTag);
      }
    }
  }

 private:
  struct Item {
    uint64_t place;
    uint64_t value;
  };
  // 32 KiB, which aggregators over TCP and over shared memory do best with, two in flight.
  static constexpr size_t kItems = 2048;
  static constexpr size_t kBuffers = 2;
  Item* buffer(size_t i) { return items_.data() + i / kItems % kBuffers * kItems; }

  std::vector<Item> items_ = std::vector<Item>(kBuffers * kItems);
  std::vector<std::byte> packed_ = std::vector<std::byte>(kMemoryBytes);
};

}  // namespace

Opened open_mpi_one_sided(const Place& place) {
  return std::unique_ptr<Contender>(std::make_unique<OneSided>(place.mapped));
}
Opened open_mpi_two_sided(const Place& /*place*/) {
  return std::unique_ptr<Contender>(std::make_unique<TwoSided>());
}
Opened open_mpi_packed(const Place& /*place*/) {
  return std::unique_ptr<Contender>(std::make_unique<Packed>());
}

}  // namespace stripline::suites::harness
