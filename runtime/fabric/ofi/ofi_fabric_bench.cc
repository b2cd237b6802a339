// What the fabric interface costs on top of libfabric: 8-byte get and put latency of a Fabric
// beside the same provider's bare calls, between one pair of processes, in alternating batches.
//
//   ofi_fabric_bench [FABRIC [ROUNDS]]      FABRIC: tcp (default), shm, ...
//
// Prints one line per operation: the medians over rounds of a batch's median, and the median of the
// paired ratio with its 95 % interval from order statistics.
#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <sched.h>
#include <string>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include "runtime/fabric/ofi/monotonic_clock.h"
#include "runtime/fabric/ofi/ofi_fabric.h"
#include "runtime/fabric/ofi/ofi_provider.h"

namespace stripline::fabric::ofi {
namespace {

constexpr int kBatch = 200;
constexpr size_t kOperationBytes = 8;
constexpr size_t kMaxAddress = 1024;

[[noreturn]] void die(const std::string& message) {
  (void)std::fprintf(stderr, "ofi_fabric_bench: %s\n", message.c_str());
  std::_Exit(1);
}

void require(int64_t code, const char* call) {
  if (code != 0) die(std::string(call) + ": " + fi_strerror(static_cast<int>(std::abs(code))));
}

enum Served : int { none, ours, bare, stop };

/// Memory of both processes: how they exchange addresses and agree on whose turn it is.
struct Board {
  struct Slot {
    std::atomic<size_t> bytes{0};
    char text[kMaxAddress];
  };
  std::array<std::array<Slot, 2>, 2> addresses;  // [ours, bare][rank]
  std::atomic<int> served{none};

  void publish(int kind, uint32_t rank, const std::string& address) {
    if (address.size() > kMaxAddress) die("address too long");
    std::memcpy(addresses[static_cast<size_t>(kind)][rank].text, address.data(), address.size());
    addresses[static_cast<size_t>(kind)][rank].bytes.store(address.size());
  }
  std::string read(int kind, uint32_t rank) {
    Slot& slot = addresses[static_cast<size_t>(kind)][rank];
    while (slot.bytes.load() == 0) sched_yield();
    return {slot.text, slot.bytes.load()};
  }
};

/// libfabric without anything of ours: blocking operations one at a time.
class BareRank {
 public:
  BareRank(const std::string& fabric, uint32_t rank) {
    fi_info* hints = fi_allocinfo();
    hints->caps = FI_MSG | FI_RMA | FI_ATOMIC;
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->ep_attr->type = FI_EP_RDM;
    hints->domain_attr->threading = FI_THREAD_DOMAIN;
    hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
    hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
    hints->fabric_attr->prov_name = strdup(provider_of(fabric).c_str());
    const bool sockets = uses_sockets(provider_of(fabric));
    require(fi_getinfo(FI_VERSION(1, 17), sockets ? "127.0.0.1" : nullptr, nullptr,
                       sockets ? FI_SOURCE : 0, hints, &info_),
            "fi_getinfo");
    fi_freeinfo(hints);
    require(fi_fabric(info_->fabric_attr, &fabric_, nullptr), "fi_fabric");
    require(fi_domain(fabric_, info_, &domain_, nullptr), "fi_domain");
    fi_av_attr av{};
    av.type = FI_AV_TABLE;
    require(fi_av_open(domain_, &av, &av_, nullptr), "fi_av_open");
    fi_cq_attr cq{};
    cq.format = FI_CQ_FORMAT_CONTEXT;
    cq.wait_obj = FI_WAIT_NONE;
    require(fi_cq_open(domain_, &cq, &cq_, nullptr), "fi_cq_open");
    require(fi_endpoint(domain_, info_, &ep_, nullptr), "fi_endpoint");
    require(fi_ep_bind(ep_, &av_->fid, 0), "fi_ep_bind");
    require(fi_ep_bind(ep_, &cq_->fid, FI_TRANSMIT | FI_RECV), "fi_ep_bind");
    require(fi_enable(ep_), "fi_enable");
    require(fi_mr_reg(domain_, memory_, sizeof(memory_), FI_REMOTE_READ | FI_REMOTE_WRITE, 0,
                      rank + 1, 0, &mr_, nullptr),
            "fi_mr_reg");
  }

  BareRank(const BareRank&) = delete;
  BareRank& operator=(const BareRank&) = delete;
  ~BareRank() {
    for (fid* object : {&ep_->fid, &mr_->fid, &cq_->fid, &av_->fid, &domain_->fid, &fabric_->fid}) {
      fi_close(object);
    }
    fi_freeinfo(info_);
  }

  std::string address() const {
    struct {
      uint64_t key;
      uint64_t base;
      char name[512];
    } record{};
    record.key = fi_mr_key(mr_);
    record.base = (info_->domain_attr->mr_mode & FI_MR_VIRT_ADDR) != 0
                      ? reinterpret_cast<uintptr_t>(memory_)
                      : 0;
    size_t length = sizeof(record.name);
    require(fi_getname(&ep_->fid, record.name, &length), "fi_getname");
    return {reinterpret_cast<const char*>(&record), 16 + length};
  }
  void set_peer(const std::string& address) {
    std::memcpy(&peer_key_, address.data(), 8);
    std::memcpy(&peer_base_, address.data() + 8, 8);
    if (fi_av_insert(av_, address.data() + 16, 1, &peer_, 0, nullptr) != 1) die("fi_av_insert");
  }
  void poll() {
    fi_cq_entry entry;
    if (fi_cq_read(cq_, &entry, 1) == 1) ++completed_;
  }
  void get(std::byte* destination) {
    ssize_t code = 0;
    while ((code = fi_read(ep_, destination, kOperationBytes, nullptr, peer_, peer_base_, peer_key_,
                           &context_)) == -FI_EAGAIN) {
      poll();
    }
    finish(code);
  }
  void put(std::byte* source) {
    const iovec vector{source, kOperationBytes};
    const fi_rma_iov remote{peer_base_, kOperationBytes, peer_key_};
    fi_msg_rma message{};
    message.msg_iov = &vector;
    message.iov_count = 1;
    message.addr = peer_;
    message.rma_iov = &remote;
    message.rma_iov_count = 1;
    message.context = &context_;
    ssize_t code = 0;
    while ((code = fi_writemsg(ep_, &message, FI_COMPLETION | FI_DELIVERY_COMPLETE)) ==
           -FI_EAGAIN) {
      poll();
    }
    finish(code);
  }

 private:
  void finish(ssize_t code) {
    require(code, "post");
    const uint64_t before = completed_;
    while (completed_ == before) poll();
  }
  fi_info* info_ = nullptr;
  fid_fabric* fabric_ = nullptr;
  fid_domain* domain_ = nullptr;
  fid_av* av_ = nullptr;
  fid_cq* cq_ = nullptr;
  fid_ep* ep_ = nullptr;
  fid_mr* mr_ = nullptr;
  fi_context2 context_{};
  fi_addr_t peer_ = 0;
  uint64_t peer_key_ = 0;
  uint64_t peer_base_ = 0;
  uint64_t completed_ = 0;
  alignas(64) std::byte memory_[4096]{};
};

void pin(unsigned cpu) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  CPU_SET(cpu, &mask);
  if (sched_setaffinity(0, sizeof(mask), &mask) != 0) {
    (void)std::fprintf(stderr, "not pinned to core %u; figures will scatter\n", cpu);
  }
}

struct Sides {
  std::unique_ptr<Fabric> fabric;
  std::unique_ptr<BareRank> bare;
};

Sides open_sides(const std::string& name, Rank rank, Board& board) {
  OpenOptions options;
  options.fabric = name;
  options.rank = rank;
  options.ranks = 2;
  options.segment_bytes = 4096;
  options.job_id = "bench";
  auto opened = open_ofi_fabric(options);
  if (!opened.ok()) die(opened.error().message());
  Sides sides;
  sides.fabric = std::move(opened).value();
  sides.bare = std::make_unique<BareRank>(name, rank);
  board.publish(0, rank, sides.fabric->local_address());
  board.publish(1, rank, sides.bare->address());
  const std::vector<std::string> addresses = {board.read(0, 0), board.read(0, 1)};
  if (const Status status = sides.fabric->connect(addresses, 20); !status.ok()) {
    die(status.error().message());
  }
  sides.bare->set_peer(board.read(1, 1 - rank));
  return sides;
}

void serve(const std::string& name, Board& board) {
  const Sides sides = open_sides(name, 1, board);
  for (int served = none; served != stop; served = board.served.load(std::memory_order_relaxed)) {
    if (served == ours) sides.fabric->poll();
    if (served == bare) sides.bare->poll();
  }
}

struct Series {
  const char* operation;
  std::vector<double> ours_s;
  std::vector<double> bare_s;
};

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

void report(const std::string& fabric, const Series& series) {
  std::vector<double> ratios;
  for (size_t i = 0; i < series.ours_s.size(); ++i) {
    ratios.push_back(series.ours_s[i] / series.bare_s[i]);
  }
  std::ranges::sort(ratios);
  // Normal approximation of the binomial ranks around the median.
  const auto n = static_cast<double>(ratios.size());
  const auto low = static_cast<size_t>(std::max(0.0, std::floor(n / 2 - 0.98 * std::sqrt(n))));
  const auto high = std::min(ratios.size() - 1, static_cast<size_t>(n / 2 + 0.98 * std::sqrt(n)));
  std::printf(
      "%s %s 8 B: fabric %.2f us, bare libfabric %.2f us, ratio %.3f [%.3f, %.3f], %zu pairs\n",
      fabric.c_str(), series.operation, 1e6 * median(series.ours_s), 1e6 * median(series.bare_s),
      ratios[ratios.size() / 2], ratios[low], ratios[high], ratios.size());
}

/// The median over a batch: one preemption of either process must not decide.
template <typename Operation>
double seconds_per_operation(Board& board, Served served, const Operation& operation) {
  board.served = served;
  for (int i = 0; i < kBatch / 10; ++i) operation();  // the target switches over meanwhile
  std::vector<double> seconds(kBatch);
  for (double& value : seconds) {
    const double start = monotonic_s();
    operation();
    value = monotonic_s() - start;
  }
  return median(std::move(seconds));
}

void initiate(const std::string& name, int rounds, Board& board) {
  const Sides sides = open_sides(name, 0, board);
  alignas(64) std::byte buffer[kOperationBytes] = {};
  Counter counter;
  Series get{"get", {}, {}};
  Series put{"put", {}, {}};
  for (int round = -2; round < rounds; ++round) {
    const auto measure = [&](Series& series, auto&& of_ours, auto&& of_bare) {
      double ours_s = 0;
      double bare_s = 0;
      const bool ours_first = round % 2 == 0;
      if (ours_first) ours_s = seconds_per_operation(board, ours, of_ours);
      bare_s = seconds_per_operation(board, bare, of_bare);
      if (!ours_first) ours_s = seconds_per_operation(board, ours, of_ours);
      if (round < 0) return;  // warming up
      series.ours_s.push_back(ours_s);
      series.bare_s.push_back(bare_s);
    };
    measure(
        get,
        [&] {
          sides.fabric->get(buffer, 1, 0, kOperationBytes, counter);
          sides.fabric->wait_for(counter);
        },
        [&] { sides.bare->get(buffer); });
    measure(
        put,
        [&] {
          sides.fabric->put(1, 0, buffer, kOperationBytes, counter);
          sides.fabric->wait_for(counter);
        },
        [&] { sides.bare->put(buffer); });
  }
  report(name, get);
  report(name, put);
  board.served = stop;
}

int run(const std::string& fabric, int rounds) {
  void* memory =
      mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) die("mmap");
  Board* board = std::construct_at(static_cast<Board*>(memory));
  const pid_t child = fork();
  if (child < 0) die("fork");
  pin(child == 0 ? 1 : 0);
  if (child == 0) {
    serve(fabric, *board);
    return 0;
  }
  initiate(fabric, rounds, *board);
  int status = 0;
  waitpid(child, &status, 0);
  return status == 0 ? 0 : 1;
}

}  // namespace
}  // namespace stripline::fabric::ofi

int main(int argc, char** argv) {
  const std::string fabric = argc > 1 ? argv[1] : "tcp";
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 60;
  if (rounds < 1) {
    (void)std::fprintf(stderr, "usage: ofi_fabric_bench [FABRIC [ROUNDS]]\n");
    return 2;
  }
  return stripline::fabric::ofi::run(fabric, rounds);
}
