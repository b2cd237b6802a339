// Transfers of many regions through the public calls, by every method, against a shadow of the
// memory in which every byte is compared.
#include "runtime/vis/transfers.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <numeric>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <stripline/team.h>
#include <stripline/vis.h>

#include "base/testing/assert_ok.h"
#include "base/testing/test_size.h"
#include "runtime/bootstrap/testing/rank_fixtures.h"
#include "runtime/rma/context_state.h"

namespace stripline {
namespace {

using bootstrap::fabrics_under_test;
using bootstrap::group_on;
using bootstrap::ThreadGroupOptions;

uint64_t seed() { return test_size("STRIPLINE_TEST_VIS_SEED", 1); }

struct Odd {
  std::array<std::byte, 3> bytes;
};
struct Long {
  std::array<std::byte, 40> bytes;
};

// Where the elements of one side of a strided transfer lie.
struct SideShape {
  std::ptrdiff_t base = 0;
  std::vector<std::ptrdiff_t> strides;
  size_t span = 0;
};

/// Random transfers in lanes: parts of the memory that one transfer uses at a time.
class RandomTransfers {
 public:
  static constexpr size_t kLane = 96 << 10;
  static constexpr size_t kLanes = 5;

  RandomTransfers(Context& context, uint64_t which)
      : context_(context), random_(which * 1000 + context.rank_me()) {}

  void run(int rounds, bool neighbours_only) {
    const rank_t ranks = context_.rank_n();
    const size_t area = kLanes * kLane;
    ASSERT_OK_AND_ASSIGN(const auto memory, context_.new_symmetric_array<std::byte>(ranks * area));
    std::memset(context_.local(memory), 0, ranks * area);
    shadow_.assign(ranks, std::vector<std::byte>(area));
    local_.assign(area, std::byte{0});
    context_.barrier();
    for (int round = 0; round < rounds && !::testing::Test::HasFatalFailure(); ++round) {
      const rank_t step = neighbours_only ? 1 : static_cast<rank_t>(random_() % ranks);
      target_ = (context_.rank_me() + step) % ranks;
      there_ = context_.on_rank(memory, target_) +
               static_cast<std::ptrdiff_t>(context_.rank_me() * area);
      for (std::byte& byte : local_) byte = static_cast<std::byte>(random_());
      expected_ = local_;
      std::vector<future> futures;
      for (lane_ = 0; lane_ < kLanes; ++lane_) futures.push_back(start_any());
      finish(futures);
      ASSERT_EQ(std::memcmp(local_.data(), expected_.data(), area), 0) << "round " << round;
      std::vector<std::byte> seen(area);
      context_.rget(there_, seen.data(), area).wait();
      ASSERT_EQ(std::memcmp(seen.data(), shadow_[target_].data(), area), 0) << "round " << round;
    }
    context_.barrier();
    context_.delete_symmetric_array(memory);
  }

 private:
  uint64_t up_to(uint64_t most) { return random_() % (most + 1); }

  void finish(std::vector<future>& futures) {
    switch (random_() % 3) {
      case 0:
        std::shuffle(futures.begin(), futures.end(), random_);
        wait_all(futures);
        break;
      case 1:
        while (!futures.empty()) {
          const size_t ready = wait_any(futures);
          futures.erase(futures.begin() + static_cast<std::ptrdiff_t>(ready));
        }
        break;
      default:
        while (!std::all_of(futures.begin(), futures.end(),
                            [](const future& one) { return one.is_ready(); })) {
        }
    }
  }

  VisOptions any_options() {
    VisOptions options;
    options.bounding_box = random_() % 2 == 0;
    options.compute = static_cast<VisCompute>(random_() % 3);
    options.method = static_cast<VisMethod>(random_() % 5);
    options.window = std::array<uint32_t, 5>{0, 1, 2, 7, 64}[random_() % 5];
    options.chunk_bytes = std::array<size_t, 5>{0, 64, 1000, 9000, 1 << 20}[random_() % 5];
    return options;
  }

  future start_any() {
    switch (random_() % 6) {
      case 0:
        return start<std::byte>();
      case 1:
        return start<uint16_t>();
      case 2:
        return start<Odd>();
      case 3:
        return start<double>();
      case 4:
        return start<Long>();
      default:
        return start<uint32_t>();
    }
  }

  template <typename T>
  future start() {
    const bool is_put = random_() % 2 == 0;
    switch (random_() % 4) {
      case 0:
        return irregular<T>(is_put);
      case 1:
        return regular<T>(is_put);
      default:
        return strided<T>(is_put);
    }
  }

  // The bytes of one element, moved in the shadow and the expectation.
  void account(bool is_put, size_t remote, size_t local, size_t bytes) {
    const size_t lane = lane_ * kLane;
    std::byte* const there = shadow_[target_].data() + lane + remote;
    if (is_put) {
      std::memcpy(there, local_.data() + lane + local, bytes);
    } else {
      std::memcpy(expected_.data() + lane + local, there, bytes);
    }
  }

  // Strides that let no two elements overlap, unless the side is only read.
  SideShape side_of(const std::vector<size_t>& extents, size_t element, bool read) {
    std::vector<size_t> order(extents.size());
    std::iota(order.begin(), order.end(), size_t{0});
    if (random_() % 2 == 0) std::shuffle(order.begin(), order.end(), random_);
    SideShape side;
    side.strides.resize(extents.size());
    side.span = element;
    for (const size_t d : order) {
      if (read && random_() % 10 == 0) continue;  // a stride of zero
      const auto stride = static_cast<std::ptrdiff_t>(
          side.span + (random_() % 2 == 0 ? 0 : up_to(std::min<size_t>(side.span, 64))));
      const auto length = stride * static_cast<std::ptrdiff_t>(extents[d] - 1);
      side.span += static_cast<size_t>(length);
      const bool backwards = random_() % 4 == 0;
      side.strides[d] = backwards ? -stride : stride;
      if (backwards) side.base += length;
    }
    return side;
  }

  template <typename T>
  future strided(bool is_put) {
    std::vector<size_t> extents(1 + random_() % 7);
    size_t elements = 1;
    const size_t most = random_() % 3 == 0 ? 3000 : 200;
    for (size_t& extent : extents) {
      extent = 1 + up_to(std::min<size_t>(most / elements, 300));
      elements *= extent;
    }
    std::shuffle(extents.begin(), extents.end(), random_);
    SideShape remote;
    SideShape local;
    do {
      remote = side_of(extents, sizeof(T), !is_put);
      local = side_of(extents, sizeof(T), is_put);
      if (remote.span > kLane || local.span > kLane) extents.pop_back();
    } while (remote.span > kLane || local.span > kLane);
    remote.base += static_cast<std::ptrdiff_t>(up_to(kLane - remote.span));
    local.base += static_cast<std::ptrdiff_t>(up_to(kLane - local.span));
    if (random_() % 20 == 0 && !extents.empty()) extents[random_() % extents.size()] = 0;
    std::vector<size_t> index(extents.size(), 0);
    const bool empty = std::count(extents.begin(), extents.end(), 0) > 0;
    for (bool more = !empty; more;) {
      std::ptrdiff_t remote_at = remote.base;
      std::ptrdiff_t local_at = local.base;
      for (size_t d = 0; d < extents.size(); ++d) {
        remote_at += remote.strides[d] * static_cast<std::ptrdiff_t>(index[d]);
        local_at += local.strides[d] * static_cast<std::ptrdiff_t>(index[d]);
      }
      account(is_put, static_cast<size_t>(remote_at), static_cast<size_t>(local_at), sizeof(T));
      size_t d = 0;
      while (d < index.size() && ++index[d] == extents[d]) index[d++] = 0;
      more = d < index.size();
    }
    return call_strided<T>(is_put, remote, local, extents);
  }

  template <typename T>
  future call_strided(bool is_put, SideShape remote, SideShape local, std::vector<size_t> extents) {
    const auto there = (there_ + static_cast<std::ptrdiff_t>(lane_ * kLane) + remote.base)
                           .template reinterpret<T>();
    auto* const here = reinterpret_cast<T*>(local_.data() + lane_ * kLane + local.base);
    const VisOptions options = any_options();
    const auto kept = std::tuple(remote.strides, local.strides, extents);
    future started;
    if (extents.size() == 2 && random_() % 2 == 0) {
      const std::array<std::ptrdiff_t, 2> remote_strides{remote.strides[0], remote.strides[1]};
      const std::array<std::ptrdiff_t, 2> local_strides{local.strides[0], local.strides[1]};
      const std::array<size_t, 2> both{extents[0], extents[1]};
      started =
          is_put
              ? rput_strided(context_, here, local_strides, there, remote_strides, both, options)
              : rget_strided(context_, there, remote_strides, here, local_strides, both, options);
    } else if (extents.size() == 3 && random_() % 2 == 0) {
      started = is_put ? rput_strided<3>(context_, here, local.strides.data(), there,
                                         remote.strides.data(), extents.data(), options)
                       : rget_strided<3>(context_, there, remote.strides.data(), here,
                                         local.strides.data(), extents.data(), options);
    } else {
      started = is_put ? rput_strided(context_, here, local.strides, there, remote.strides, extents,
                                      options)
                       : rget_strided(context_, there, remote.strides, here, local.strides, extents,
                                      options);
    }
    EXPECT_EQ(kept, std::tuple(remote.strides, local.strides, extents));
    // The arguments are no longer needed.
    std::fill(remote.strides.begin(), remote.strides.end(), 1 << 30);
    std::fill(local.strides.begin(), local.strides.end(), 1 << 30);
    std::fill(extents.begin(), extents.end(), 1 << 30);
    return started;
  }

  // Element counts and places of pieces that do not overlap, of `elements` together.
  template <typename T>
  std::vector<std::pair<size_t, size_t>> pieces_of(size_t elements, size_t largest) {
    std::vector<std::pair<size_t, size_t>> pieces;  // byte, elements
    const size_t spare = kLane - elements * sizeof(T);
    size_t gaps = 0;
    size_t at = 0;
    while (elements > 0) {
      const size_t count = std::min(elements, random_() % 10 == 0 ? 0 : 1 + up_to(largest));
      if (random_() % 3 != 0 && gaps < spare) {
        const size_t gap = up_to(std::min<size_t>(spare - gaps, 40));
        gaps += gap;
        at += gap;
      }
      pieces.emplace_back(at, count);
      at += count * sizeof(T);
      elements -= count;
    }
    if (random_() % 2 == 0) std::shuffle(pieces.begin(), pieces.end(), random_);
    return pieces;
  }

  template <typename T>
  void account_lists(bool is_put, const std::vector<std::pair<size_t, size_t>>& remote,
                     const std::vector<std::pair<size_t, size_t>>& local) {
    const auto bytes_of = [](const std::vector<std::pair<size_t, size_t>>& pieces) {
      std::vector<size_t> bytes;
      for (const auto& [at, count] : pieces) {
        for (size_t i = 0; i < count * sizeof(T); ++i) bytes.push_back(at + i);
      }
      return bytes;
    };
    const std::vector<size_t> there = bytes_of(remote);
    const std::vector<size_t> here = bytes_of(local);
    ASSERT_EQ(there.size(), here.size());
    for (size_t i = 0; i < there.size(); ++i) account(is_put, there[i], here[i], 1);
  }

  template <typename T>
  global_ptr<T> remote_at(size_t byte) {
    return (there_ + static_cast<std::ptrdiff_t>(lane_ * kLane + byte)).template reinterpret<T>();
  }
  template <typename T>
  T* local_at(size_t byte) {
    return reinterpret_cast<T*>(local_.data() + lane_ * kLane + byte);
  }

  template <typename T>
  future irregular(bool is_put) {
    const size_t elements = up_to((random_() % 3 == 0 ? kLane / 2 : 2000) / sizeof(T));
    const auto remote = pieces_of<T>(elements, up_to(100));
    const auto local = pieces_of<T>(elements, up_to(100));
    account_lists<T>(is_put, remote, local);
    std::vector<std::pair<global_ptr<T>, size_t>> there;
    std::vector<std::tuple<T*, size_t>> here;
    for (const auto& [at, count] : remote) there.emplace_back(remote_at<T>(at), count);
    for (const auto& [at, count] : local) here.emplace_back(local_at<T>(at), count);
    const auto kept = std::tuple(there, here);
    const VisOptions options = any_options();
    const future started = is_put ? rput_irregular(context_, here.begin(), here.end(),
                                                   there.begin(), there.end(), options)
                                  : rget_irregular(context_, there.begin(), there.end(),
                                                   here.begin(), here.end(), options);
    EXPECT_EQ(kept, std::tuple(there, here));
    return started;
  }

  template <typename T>
  future regular(bool is_put) {
    const size_t remote_length = 1 + up_to(6);
    const size_t local_length = 1 + up_to(6);
    const size_t times = up_to(20);
    const auto places = [&](size_t count, size_t length) {
      std::vector<std::pair<size_t, size_t>> pieces;
      for (size_t i = 0; i < count; ++i) {
        pieces.emplace_back(i * (length * sizeof(T) + up_to(1) * 8), length);
        if (i > 0) {
          pieces[i].first = pieces[i - 1].first + length * sizeof(T) + up_to(1) * up_to(9);
        }
      }
      std::shuffle(pieces.begin(), pieces.end(), random_);
      return pieces;
    };
    const auto remote = places(times * local_length, remote_length);
    const auto local = places(times * remote_length, local_length);
    account_lists<T>(is_put, remote, local);
    std::vector<global_ptr<T>> there;
    std::vector<T*> here;
    there.reserve(remote.size());
    here.reserve(local.size());
    for (const auto& piece : remote) there.push_back(remote_at<T>(piece.first));
    for (const auto& piece : local) here.push_back(local_at<T>(piece.first));
    const VisOptions options = any_options();
    return is_put ? rput_regular(context_, here.begin(), here.end(), local_length, there.begin(),
                                 there.end(), remote_length, options)
                  : rget_regular(context_, there.begin(), there.end(), remote_length, here.begin(),
                                 here.end(), local_length, options);
  }

  Context& context_;
  std::mt19937_64 random_;
  std::vector<std::vector<std::byte>> shadow_;  // of this rank's area, by target
  std::vector<std::byte> local_;
  std::vector<std::byte> expected_;
  rank_t target_ = 0;
  global_ptr<std::byte> there_;
  size_t lane_ = 0;
};

class Vis : public bootstrap::RanksTest {};

class VisOnNetworks : public Vis {};

TEST_P(Vis, RandomTransfersMoveExactlyTheirBytes) {
  on_ranks(3, [](Context& context) { RandomTransfers(context, seed()).run(24, false); });
}

TEST_P(Vis, OneCreditAndSmallMessagesSuffice) {
  ThreadGroupOptions options = group_on(GetParam(), 2);
  options.am_config.request_credits = 1;
  options.am_config.reply_credits = 1;
  options.am_config.max_message_bytes = 300;
  on_ranks(options, [](Context& context) { RandomTransfers(context, seed() + 1).run(6, true); });
}

// Thirteen dimensions of two bytes each, of which small messages cannot say how they lie: the plan
// is the one that is carried out.
TEST(VisTrace, ShowsWhatIsCarriedOutWhereNoMessageHoldsTheShape) {
  constexpr size_t kDimensions = 13;
  constexpr size_t kRegions = size_t{1} << kDimensions;
  ThreadGroupOptions options = bootstrap::group_on({"", "emulated:opteron-vapi", "virtual"}, 2);
  options.am_config.max_message_bytes = 256;
  options.context.trace = "sites";
  ::testing::internal::CaptureStderr();
  on_ranks(options, [](Context& context) {
    // A gap behind what each dimension spans, of a length of its own: none merge.
    std::array<std::ptrdiff_t, kDimensions> there_strides{};
    std::array<std::ptrdiff_t, kDimensions> here_strides{};
    std::array<size_t, kDimensions> extents{};
    std::ptrdiff_t there_bytes = 1;
    std::ptrdiff_t here_bytes = 1;
    for (size_t d = kDimensions; d-- > 0;) {
      extents[d] = 2;
      there_strides[d] = there_bytes + static_cast<std::ptrdiff_t>(kDimensions - d);
      here_strides[d] = here_bytes;
      there_bytes += there_strides[d];
      here_bytes += here_strides[d];
    }
    ASSERT_OK_AND_ASSIGN(const auto mine,
                         context.new_symmetric_array<std::byte>(static_cast<size_t>(there_bytes)));
    if (context.rank_me() == 0) {
      std::vector<std::byte> source(kRegions);
      for (size_t i = 0; i < source.size(); ++i) source[i] = static_cast<std::byte>(i % 251);
      const auto there = context.on_rank(mine, 1);
      rput_strided(context, source.data(), here_strides, there, there_strides, extents).wait();
      std::vector<std::byte> back(kRegions);
      rget_strided(context, there, there_strides, back.data(), here_strides, extents).wait();
      EXPECT_EQ(back, source);
      const auto& statistics = context.state().operations.vis().statistics();
      EXPECT_EQ(statistics.of(plan::VisMethod::pipelined).puts, 1U);
    }
    context.barrier();
  });
  const std::string said = ::testing::internal::GetCapturedStderr();
  for (const std::string what : {"put, 8192 x 1 B", "get, 8192 x 1 B"}) {
    const size_t row = said.find(what);
    ASSERT_NE(row, std::string::npos) << said;
    const std::string line = said.substr(row, said.find('\n', row) - row);
    EXPECT_NE(line.find(" pipelined"), std::string::npos) << line;
  }
}

// 100 rows of 24 bytes, 40 apart at the target and 32 here.
struct Rows {
  static constexpr size_t kRows = 100;
  static constexpr std::array<std::ptrdiff_t, 1> kRemote{40};
  static constexpr std::array<std::ptrdiff_t, 1> kLocal{32};
  static constexpr std::array<size_t, 1> kExtents{kRows};
  using Element = std::array<std::byte, 24>;
  static constexpr size_t kRemoteBytes = kRows * 40;
  static constexpr size_t kLocalBytes = kRows * 32;

  static std::byte value(size_t row, size_t byte) {
    return static_cast<std::byte>(row * 5 + byte * 3 + 1);
  }
  static std::vector<std::byte> filled() {
    std::vector<std::byte> memory(kLocalBytes);
    for (size_t row = 0; row < kRows; ++row) {
      for (size_t byte = 0; byte < 24; ++byte) memory[row * 32 + byte] = value(row, byte);
    }
    return memory;
  }
  static bool arrived(const std::byte* memory) {
    for (size_t i = 0; i < kRemoteBytes; ++i) {
      const std::byte expected = i % 40 < 24 ? value(i / 40, i % 40) : std::byte{0};
      if (memory[i] != expected) return false;
    }
    return true;
  }
  static future put(Context& context, const std::vector<std::byte>& from, global_ptr<std::byte> to,
                    const VisOptions& options) {
    return rput_strided(context, reinterpret_cast<const Element*>(from.data()), kLocal,
                        to.reinterpret<Element>(), kRemote, kExtents, options);
  }
  static future get(Context& context, global_ptr<std::byte> from, std::vector<std::byte>& to,
                    const VisOptions& options) {
    return rget_strided(context, from.reinterpret<Element>(), kRemote,
                        reinterpret_cast<Element*>(to.data()), kLocal, kExtents, options);
  }
};

// Each method, forced, is the one that runs, with the window and the chunk that were asked for.
TEST_P(VisOnNetworks, ForcedMethodsRun) {
  on_ranks(2, [](Context& context) {
    ASSERT_OK_AND_ASSIGN(const auto mine,
                         context.new_symmetric_array<std::byte>(Rows::kRemoteBytes));
    const auto there = context.on_rank(mine, 1 - context.rank_me());
    auto& state = context.state();
    const vis::Transfers::Statistics& statistics = state.operations.vis().statistics();
    const std::vector<std::byte> source = Rows::filled();
    for (size_t i = 0; i < plan::kVisMethods; ++i) {
      VisOptions options;
      options.method = static_cast<VisMethod>(i);
      options.window = 3;
      options.chunk_bytes = 300;
      options.bounding_box = true;
      const VisMethod ran = options.method;
      const bool has_iov = state.job.fabric().info().iov_limit > 1;
      const bool runs = ran != plan::VisMethod::native_iov || has_iov;
      std::memset(context.local(mine), 0, Rows::kRemoteBytes);
      context.barrier();
      if (context.rank_me() == 0) {
        auto before = statistics.of(ran);
        if (ran != plan::VisMethod::bounding_box) {
          const fabric::Traffic traffic = state.job.fabric().traffic();
          const future done = Rows::put(context, source, there, options);
          // Only the first window is out when the call returns.
          EXPECT_LE(state.job.fabric().traffic().puts - traffic.puts, 3U);
          if (runs) {
            EXPECT_LE(statistics.of(ran).operations - before.operations, 3U);
          }
          done.wait();
          EXPECT_EQ(statistics.of(ran).puts - before.puts, runs ? 1U : 0U);
        } else {
          Rows::put(context, source, there, {}).wait();
        }
        before = statistics.of(ran);
        std::vector<std::byte> back(Rows::kLocalBytes);
        Rows::get(context, there, back, options).wait();
        EXPECT_EQ(back, source);
        EXPECT_EQ(statistics.of(ran).gets - before.gets, runs ? 1U : 0U);
        const uint64_t operations = statistics.of(ran).operations - before.operations;
        if (runs) {
          EXPECT_EQ(statistics.of(ran).bytes - before.bytes, 2400U);
        }
        switch (ran) {
          case plan::VisMethod::pipelined:
            EXPECT_EQ(operations, 100U);
            break;
          case plan::VisMethod::native_iov: {
            const size_t limit = state.job.fabric().info().iov_limit;
            EXPECT_EQ(operations, has_iov ? (100 + limit - 1) / limit : 0);
            break;
          }
          case plan::VisMethod::bounding_box:
            EXPECT_EQ(operations, 1U);
            break;
          case plan::VisMethod::packed:
          case plan::VisMethod::best:
            EXPECT_EQ(operations, 9U);  // of at most 12 rows: 292 bytes of data
        }
      }
      context.barrier();
      if (context.rank_me() == 1) {
        EXPECT_TRUE(Rows::arrived(context.local(mine))) << i;
      }
      context.barrier();
    }
  });
}

// Chunks larger than a message go through the landing zone: fewer messages, the same bytes.
TEST_P(VisOnNetworks, LargeChunksLand) {
  on_ranks(2, [](Context& context) {
    constexpr size_t kRows = 4000;
    constexpr size_t kBytes = 48;
    ASSERT_OK_AND_ASSIGN(const auto mine,
                         context.new_symmetric_array<std::byte>(kRows * 2 * kBytes));
    auto& state = context.state();
    ASSERT_GT(state.operations.vis().max_chunk_bytes(),
              state.operations.messages().max_payload_bytes());
    std::vector<std::byte> source(kRows * kBytes);
    for (size_t i = 0; i < source.size(); ++i) source[i] = static_cast<std::byte>(i * 3 + i / 256);
    VisOptions options;
    options.method = VisMethod::packed;
    options.chunk_bytes = state.operations.vis().max_chunk_bytes();
    const auto there = context.on_rank(mine, 1 - context.rank_me());
    const auto& packed = state.operations.vis().statistics().of(plan::VisMethod::packed);
    const uint64_t chunks = (source.size() + options.chunk_bytes - 1) / options.chunk_bytes;
    context.barrier();
    for (const std::ptrdiff_t stride :
         {2 * kBytes, kBytes}) {  // the second one is contiguous there
      const std::array<std::ptrdiff_t, 2> remote{stride, 1};
      // Backwards here, or the other side would be contiguous, too.
      const std::array<std::ptrdiff_t, 2> local{-static_cast<std::ptrdiff_t>(kBytes), 1};
      const std::array<size_t, 2> extents{kRows, kBytes};
      const fabric::Traffic before = state.job.fabric().traffic();
      const uint64_t operations = packed.operations;
      const uint64_t messages = state.operations.messages().statistics().sent;
      const bool scattered = stride != static_cast<std::ptrdiff_t>(kBytes);
      rput_strided(context, source.data() + (kRows - 1) * kBytes, local, there, remote, extents,
                   options)
          .wait();
      EXPECT_EQ(packed.operations - operations, chunks);
      // Beside what this rank answers to its peer.
      if (scattered && !state.operations.bulk().notifies()) {
        EXPECT_GE(state.operations.messages().statistics().sent - messages, chunks);
      } else {
        EXPECT_LE(state.operations.messages().statistics().sent - messages, chunks);
      }
      EXPECT_EQ(state.job.fabric().traffic().puts - before.puts, chunks);
      context.barrier();
      for (size_t row = 0; row < kRows; ++row) {
        ASSERT_EQ(std::memcmp(context.local(mine) + row * static_cast<size_t>(stride),
                              source.data() + (kRows - 1 - row) * kBytes, kBytes),
                  0)
            << row;
      }
      const uint64_t gets = state.job.fabric().traffic().gets;
      std::vector<std::byte> back(source.size());
      rget_strided(context, there, remote, back.data() + (kRows - 1) * kBytes, local, extents,
                   options)
          .wait();
      EXPECT_EQ(back, source);
      // Where puts tell of themselves, the target puts what is asked for.
      EXPECT_EQ(state.job.fabric().traffic().gets - gets,
                scattered && state.operations.bulk().notifies() ? 0 : chunks);
      context.barrier();
    }
  });
}

// A list whose regions have no gaps there needs no one's help there, either.
TEST_P(VisOnNetworks, ChunksOfListsGoToTheirPlace) {
  on_ranks(2, [](Context& context) {
    constexpr size_t kRuns = 3000;
    constexpr size_t kRun = 6;
    ASSERT_OK_AND_ASSIGN(const auto mine, context.new_symmetric_array<double>(kRuns * kRun));
    auto& state = context.state();
    std::vector<double> source(2 * kRuns * kRun);
    for (size_t i = 0; i < source.size(); ++i) source[i] = static_cast<double>(i);
    std::vector<double> back(source.size(), -1);
    std::vector<std::pair<double*, size_t>> here;
    std::vector<std::pair<const double*, size_t>> from;
    for (size_t i = 0; i < kRuns; ++i) {
      // The last ones first, so that no stride describes them.
      const size_t at = (i % 2 == 0 ? i : 2 * kRuns - 1 - i) * kRun;
      from.emplace_back(source.data() + at, kRun);
      here.emplace_back(back.data() + at, kRun);
    }
    const auto there = context.on_rank(mine, 1 - context.rank_me());
    const std::vector<std::pair<global_ptr<double>, size_t>> place{{there, kRuns * kRun}};
    VisOptions options;
    options.method = VisMethod::packed;
    options.chunk_bytes = state.operations.vis().max_chunk_bytes();
    const size_t bytes = kRuns * kRun * sizeof(double);
    const uint64_t chunks = (bytes + options.chunk_bytes - 1) / options.chunk_bytes;
    ASSERT_GT(chunks, 1U);
    context.barrier();
    const fabric::Traffic before = state.job.fabric().traffic();
    rput_irregular(context, from.begin(), from.end(), place.begin(), place.end(), options).wait();
    EXPECT_EQ(state.job.fabric().traffic().puts - before.puts, chunks);
    context.barrier();
    for (size_t i = 0; i < kRuns * kRun; ++i) {
      ASSERT_EQ(context.local(mine)[i], from[i / kRun].first[i % kRun]) << i;
    }
    const uint64_t gets = state.job.fabric().traffic().gets;
    rget_irregular(context, place.begin(), place.end(), here.begin(), here.end(), options).wait();
    EXPECT_EQ(state.job.fabric().traffic().gets - gets, chunks);
    for (size_t i = 0; i < kRuns * kRun; ++i) {
      ASSERT_EQ(here[i / kRun].first[i % kRun], from[i / kRun].first[i % kRun]) << i;
    }
    context.barrier();
  });
}

// Rank 0 gets from rank 1, which waits for rank 2, which looks at nothing until rank 0 has its
// data.
TEST_P(VisOnNetworks, ARankServesWhileItWaits) {
  std::atomic<bool> served{false};
  on_ranks(3, [&served](Context& context) {
    constexpr size_t kRows = 2000;
    ASSERT_OK_AND_ASSIGN(const auto mine, context.new_symmetric_array<uint64_t>(2 * kRows));
    std::iota(context.local(mine), context.local(mine) + 2 * kRows, context.rank_me());
    auto& state = context.state();
    context.barrier();
    // On a virtual clock nothing waits for a rank that only computes.
    if (!state.operations.bulk().notifies()) GTEST_SKIP() << "no puts that tell their target";
    if (context.rank_me() == 0) {
      VisOptions options;
      options.method = VisMethod::packed;
      options.chunk_bytes = state.operations.vis().max_chunk_bytes();
      const std::array<std::ptrdiff_t, 1> remote{16};
      const std::array<std::ptrdiff_t, 1> local{-8};
      std::vector<uint64_t> back(kRows);
      rget_strided(context, context.on_rank(mine, 1), remote, back.data() + kRows - 1, local,
                   std::array<size_t, 1>{kRows}, options)
          .wait();
      served = true;
      for (size_t i = 0; i < kRows; ++i) ASSERT_EQ(back[kRows - 1 - i], 2 * i + 1);
    } else if (context.rank_me() == 1) {
      EXPECT_EQ(context.rget(context.on_rank(mine, 2) + 5), 7U);
    } else {
      const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
      while (!served && std::chrono::steady_clock::now() < end) std::this_thread::yield();
      EXPECT_TRUE(served);
    }
    context.barrier();
  });
}

// Rank 0 asks more ranks for data than it begins transfers with one, and those that answer do not
// wait for the others, which look at nothing until then.
TEST_P(VisOnNetworks, TransfersWithOtherRanksDoNotWait) {
  constexpr rank_t kSilent = vis::Transfers::kConcurrent;
  constexpr rank_t kRanks = kSilent + 3;
  constexpr size_t kRows = 100;
  std::atomic<bool> served{false};
  on_ranks(kRanks, [&served](Context& context) {
    ASSERT_OK_AND_ASSIGN(const auto mine, context.new_symmetric_array<uint64_t>(2 * kRows));
    std::iota(context.local(mine), context.local(mine) + 2 * kRows, context.rank_me());
    context.barrier();
    // On a virtual clock nothing waits for a rank that only computes.
    if (context.state().job.fabric().info().clock == "virtual") GTEST_SKIP() << "no real clock";
    if (context.rank_me() == 0) {
      VisOptions options;
      options.method = VisMethod::packed;
      std::vector<std::vector<uint64_t>> back(kRanks, std::vector<uint64_t>(kRows));
      std::vector<future> got(kRanks);
      for (rank_t peer = 1; peer < kRanks; ++peer) {
        got[peer] = rget_strided<1>(context, context.on_rank(mine, peer), {16}, back[peer].data(),
                                    {8}, {kRows}, options);
      }
      got[kRanks - 1].wait();
      got[kRanks - 2].wait();
      served = true;
      wait_all(got);
      for (rank_t peer = 1; peer < kRanks; ++peer) {
        for (size_t i = 0; i < kRows; ++i) ASSERT_EQ(back[peer][i], 2 * i + peer);
      }
    } else if (context.rank_me() <= kSilent) {
      const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
      while (!served && std::chrono::steady_clock::now() < end) std::this_thread::yield();
      EXPECT_TRUE(served);
    }
    context.barrier();
  });
}

// However many transfers there are, memory for bounding boxes is bounded.
TEST_P(VisOnNetworks, BoundingBoxesWaitForMemory) {
  constexpr rank_t kRanks = 3;
  constexpr size_t kRows = 100;
  on_ranks(kRanks, [](Context& context) {
    constexpr size_t kEach = size_t{3} * vis::Transfers::kBoxes;
    ASSERT_OK_AND_ASSIGN(const auto mine, context.new_symmetric_array<uint64_t>(2 * kRows));
    std::iota(context.local(mine), context.local(mine) + 2 * kRows, context.rank_me());
    context.barrier();
    VisOptions options;
    options.method = VisMethod::bounding_box;
    options.bounding_box = true;
    std::vector<std::vector<uint64_t>> back(kEach, std::vector<uint64_t>(kRows));
    std::vector<future> got;
    for (size_t i = 0; i < kEach; ++i) {
      const auto peer = static_cast<rank_t>((context.rank_me() + 1 + i % (kRanks - 1)) % kRanks);
      got.push_back(rget_strided<1>(context, context.on_rank(mine, peer), {16}, back[i].data(), {8},
                                    {kRows}, options));
    }
    wait_all(got);
    for (size_t i = 0; i < kEach; ++i) {
      const size_t peer = (context.rank_me() + 1 + i % (kRanks - 1)) % kRanks;
      for (size_t row = 0; row < kRows; ++row) ASSERT_EQ(back[i][row], 2 * row + peer);
    }
    const auto& statistics = context.state().operations.vis().statistics();
    EXPECT_GE(statistics.of(plan::VisMethod::bounding_box).gets, kEach);
    EXPECT_LE(statistics.boxes, vis::Transfers::kBoxes);
    context.barrier();
  });
}

TEST_P(Vis, ABarrierCompletesWhatWasDropped) {
  on_ranks(2, [](Context& context) {
    ASSERT_OK_AND_ASSIGN(const auto mine,
                         context.new_symmetric_array<std::byte>(Rows::kRemoteBytes * 20));
    const auto there = context.on_rank(mine, 1 - context.rank_me());
    const std::vector<std::byte> source = Rows::filled();
    for (int i = 0; i < 20; ++i) {
      VisOptions options;
      options.method = static_cast<VisMethod>(i % 5);
      options.window = 2;
      Rows::put(context, source, there + i * static_cast<std::ptrdiff_t>(Rows::kRemoteBytes),
                options);
    }
    context.barrier();
    for (size_t i = 0; i < 20; ++i) {
      EXPECT_TRUE(Rows::arrived(context.local(mine) + i * Rows::kRemoteBytes)) << i;
    }
    context.barrier();
  });
}

// The rest of a transfer is begun in whatever wait the program is in.
TEST_P(VisOnNetworks, AnyWaitAdvancesTransfers) {
  on_ranks(2, [](Context& context) {
    ASSERT_OK_AND_ASSIGN(const auto mine,
                         context.new_symmetric_array<std::byte>(Rows::kRemoteBytes));
    uint64_t told = 0;
    const uint32_t tell = context.register_am([&](rank_t, std::span<const std::byte>) { ++told; });
    const std::vector<std::byte> source = Rows::filled();
    for (const VisMethod method : {VisMethod::pipelined, VisMethod::packed}) {
      std::memset(context.local(mine), 0, Rows::kRemoteBytes);
      context.barrier();
      if (context.rank_me() == 0) {
        VisOptions options;
        options.method = method;
        options.window = 1;
        options.chunk_bytes = 128;
        Rows::put(context, source, context.on_rank(mine, 1), options);
        const uint64_t before = told;
        EXPECT_TRUE(context.wait_until([&] { return told > before; }, 60));
      } else {
        EXPECT_TRUE(context.wait_until([&] { return Rows::arrived(context.local(mine)); }, 60));
        context.am_send(0, tell, {});
      }
      context.barrier();
    }
  });
}

TEST_P(VisOnNetworks, DegenerateTransfers) {
  on_ranks(2, [](Context& context) {
    ASSERT_OK_AND_ASSIGN(const auto mine, context.new_symmetric_array<uint64_t>(1000));
    const vis::Transfers::Statistics& statistics = context.state().operations.vis().statistics();
    std::vector<uint64_t> memory(1000);
    std::iota(memory.begin(), memory.end(), uint64_t{1});
    for (const rank_t target : {1 - context.rank_me(), context.rank_me()}) {
      const auto there = context.on_rank(mine, target);
      // Nothing at all.
      using Strides = std::vector<std::ptrdiff_t>;
      EXPECT_TRUE(rput_strided(context, memory.data(), Strides{8, 8}, there, Strides{8, 8},
                               std::vector<size_t>{0, 5})
                      .is_ready());
      const std::vector<std::pair<global_ptr<uint64_t>, size_t>> no_places;
      const std::vector<std::pair<uint64_t*, size_t>> no_memory = {{memory.data(), 0}};
      EXPECT_TRUE(rget_irregular(context, no_places.begin(), no_places.end(), no_memory.begin(),
                                 no_memory.end())
                      .is_ready());
      // No dimension is one element; dimensions that are contiguous are one operation.
      rput_strided(context, memory.data() + 7, Strides{}, there + 999, Strides{},
                   std::vector<size_t>{})
          .wait();
      const uint64_t contiguous = statistics.contiguous;
      const uint64_t local = statistics.local;
      rput_strided<3>(context, memory.data(), {8, 80, 400}, there, {8, 80, 400}, {10, 5, 10})
          .wait();
      const bool own = target == context.rank_me();
      EXPECT_EQ(statistics.contiguous - contiguous, own ? 0U : 1U);
      EXPECT_EQ(statistics.local - local, own ? 1U : 0U);
      std::vector<uint64_t> back(1000);
      const std::vector<global_ptr<uint64_t>> halves = {there, there + 250};
      const std::vector<uint64_t*> whole = {back.data()};
      rget_regular(context, halves.begin(), halves.end(), 250, whole.begin(), whole.end(), 500)
          .wait();
      EXPECT_EQ(statistics.contiguous - contiguous, own ? 0U : 2U);
      EXPECT_TRUE(std::equal(back.begin(), back.begin() + 500, memory.begin()));
      EXPECT_EQ(context.rget(there + 999), 8U);
      // A value for every third element.
      rput_strided<1>(context, memory.data() + 99, {0}, there, {24}, {100}).wait();
      rget_strided<1>(context, there, {24}, back.data(), {-8}, {0}).wait();
      rget_strided<1>(context, there, {24}, back.data() + 99, {-8}, {100}).wait();
      EXPECT_EQ(std::count(back.begin(), back.begin() + 100, 100U), 100);
      EXPECT_EQ(context.rget(there + 1), 2U);
      context.barrier();
    }
    context.barrier();
  });
}

// More transfers than are begun at a time, large and small, in both directions between all ranks.
// Chunks land behind the segment, and so do pieces of collectives.
TEST_P(VisOnNetworks, LandingChunksAndCollectivesKeepApart) {
  for (const rank_t ranks : {5U, 9U}) {
    on_ranks(ranks, [ranks](Context& context) {
      constexpr size_t kCount = 24000;  // of 8 bytes, every other one
      ASSERT_OK_AND_ASSIGN(const auto mine, context.new_symmetric_array<uint64_t>(2 * kCount));
      std::vector<uint64_t> values(kCount);
      for (size_t i = 0; i < kCount; ++i) values[i] = i * 31 + context.rank_me();
      const team all = team::world(context);
      const rank_t next = (context.rank_me() + 1) % ranks;
      size_t wrong = 0;
      for (uint64_t round = 0; round < 3; ++round) {
        const future put = rput_strided<1>(
            context, values.data(), {8}, context.on_rank(mine, next), {16}, {kCount},
            {.method = VisMethod::packed, .window = 4, .chunk_bytes = size_t{64} << 10});
        std::vector<uint64_t> sums(4000, round + context.rank_me());
        all.allreduce(sums, sums, op_add{});
        const uint64_t expected = ranks * round + uint64_t{ranks} * (ranks - 1) / 2;
        for (const uint64_t sum : sums) wrong += sum == expected ? 0 : 1;
        put.wait();
        context.barrier();
        const rank_t previous = (context.rank_me() + ranks - 1) % ranks;
        for (size_t i = 0; i < kCount; ++i) {
          wrong += context.local(mine)[2 * i] == i * 31 + previous ? 0 : 1;
        }
        context.barrier();
      }
      EXPECT_EQ(wrong, 0U);
    });
  }
}

TEST_P(Vis, ManyTransfersAtOnce) {
  on_ranks(4, [](Context& context) {
    constexpr size_t kEach = 40;
    ASSERT_OK_AND_ASSIGN(const auto mine,
                         context.new_symmetric_array<std::byte>(4 * kEach * Rows::kRemoteBytes));
    const std::vector<std::byte> source = Rows::filled();
    const auto place = [&](rank_t target, rank_t writer, size_t i) {
      return context.on_rank(mine, target) +
             static_cast<std::ptrdiff_t>((writer * kEach + i) * Rows::kRemoteBytes);
    };
    std::vector<future> futures;
    for (size_t i = 0; i < kEach; ++i) {
      for (rank_t step = 0; step < 4; ++step) {
        const rank_t target = (context.rank_me() + step) % 4;
        VisOptions options;
        options.method = static_cast<VisMethod>(i % 5);
        options.window = static_cast<uint32_t>(i % 7);
        options.chunk_bytes = 100 * (i % 3);
        futures.push_back(Rows::put(context, source, place(target, context.rank_me(), i), options));
      }
    }
    wait_all(futures);
    futures.clear();
    std::vector<std::vector<std::byte>> back(4 * kEach, std::vector<std::byte>(Rows::kLocalBytes));
    for (size_t i = 0; i < kEach; ++i) {
      for (rank_t target = 0; target < 4; ++target) {
        VisOptions options;
        options.method = static_cast<VisMethod>(i % 5);
        options.bounding_box = true;
        futures.push_back(
            Rows::get(context, place(target, context.rank_me(), i), back[i * 4 + target], options));
      }
    }
    wait_all(futures);
    for (const std::vector<std::byte>& one : back) ASSERT_EQ(one, source);
    context.barrier();
    for (rank_t writer = 0; writer < 4; ++writer) {
      for (size_t i = 0; i < kEach; ++i) {
        ASSERT_TRUE(Rows::arrived(context.local(place(context.rank_me(), writer, i))));
      }
    }
    EXPECT_EQ(context.state().operations.slots().in_use(), 0U);
    context.barrier();
  });
}

INSTANTIATE_TEST_SUITE_P(Fabrics, Vis, ::testing::ValuesIn(fabrics_under_test()),
                         bootstrap::FabricLabel());
INSTANTIATE_TEST_SUITE_P(Fabrics, VisOnNetworks,
                         ::testing::ValuesIn(bootstrap::networks_under_test()),
                         bootstrap::FabricLabel());

class VisDeathTest : public bootstrap::RanksDeathTest {
 protected:
  static void put(Context& context, uint64_t offset, std::ptrdiff_t stride, size_t extent) {
    const std::vector<double> memory(10);
    rput_strided<1>(context, memory.data(), {8}, global_ptr<double>(1, offset), {stride}, {extent})
        .wait();
  }
  static void get_pieces(Context& context, uint64_t offset, rank_t second, size_t elements) {
    std::vector<double> memory(10);
    const std::vector<std::pair<global_ptr<double>, size_t>> there = {
        {global_ptr<double>(1, offset), 2}, {global_ptr<double>(second, 64), 3}};
    const std::vector<std::pair<double*, size_t>> here = {{memory.data(), elements}};
    rget_irregular(context, there.begin(), there.end(), here.begin(), here.end()).wait();
  }
};

TEST_F(VisDeathTest, RegionsOutOfBounds) {
  EXPECT_EXIT(on_ranks(2, [](Context& context) { put(context, 0, 1 << 20, 9); }),
              ::testing::ExitedWithCode(2),
              "rput_strided of offsets 0 to 8388616 of rank 1 is out of bounds");
  EXPECT_EXIT(on_ranks(2, [](Context& context) { put(context, 64, -16, 6); }),
              ::testing::ExitedWithCode(2), "rput_strided of offsets -16 to 72 of rank 1");
  EXPECT_EXIT(on_ranks(2, [](Context& context) { put(context, 0, PTRDIFF_MAX, 3); }),
              ::testing::ExitedWithCode(2), "rput_strided of a shape that no memory holds");
  EXPECT_EXIT(on_ranks(2, [](Context& context) { get_pieces(context, (8 << 20) - 8, 1, 5); }),
              ::testing::ExitedWithCode(2),
              "rget_irregular of 16 bytes at offset 8388600 of rank 1");
}

TEST_F(VisDeathTest, ListsThatDoNotAgree) {
  EXPECT_EXIT(on_ranks(2, [](Context& context) { get_pieces(context, 0, 0, 5); }),
              ::testing::ExitedWithCode(2), "rget_irregular of pieces on rank 1 and on rank 0");
  EXPECT_EXIT(on_ranks(2, [](Context& context) { get_pieces(context, 0, 1, 6); }),
              ::testing::ExitedWithCode(2),
              "rget_irregular of 48 bytes of local and 40 bytes of remote pieces");
  EXPECT_EXIT(on_ranks(2,
                       [](Context& context) {
                         const std::vector<std::ptrdiff_t> one = {8};
                         const std::vector<size_t> two = {1, 1};
                         const double value = 0;
                         rput_strided(context, &value, one, global_ptr<double>(1, 0), one, two);
                       }),
              ::testing::ExitedWithCode(2), "1 local strides, 1 remote strides and 2 extents");
}

TEST_F(VisDeathTest, NotInsideOfHandlers) {
  EXPECT_EXIT(on_ranks(2,
                       [](Context& context) {
                         const uint32_t handler = context.register_am(
                             [&](rank_t, std::span<const std::byte>) { put(context, 0, 16, 2); });
                         context.am_send(1 - context.rank_me(), handler, {});
                         context.barrier();
                       }),
              ::testing::ExitedWithCode(2), "rput_strided inside an active message handler");
}

constexpr const char* kPut = "noncontiguous put";
constexpr const char* kGet = "noncontiguous get";
constexpr const char* kData = "noncontiguous data";

// What no sender of ours makes.
TEST_F(VisDeathTest, MessagesAreCheckedOnArrival) {
  const auto send = [](const char* handler, std::vector<uint64_t> words) {
    on_ranks(2, [&](Context& context) {
      if (context.rank_me() == 0) {
        am::ActiveMessages& messages = context.state().operations.messages();
        messages.send(1, messages.id(handler), std::as_bytes(std::span(words)), {});
      }
      context.barrier();
    });
  };
  constexpr uint64_t kList = uint64_t{vis::wire::kList} << 32;
  constexpr uint64_t kOneDimension = uint64_t{1} << 40;
  constexpr uint64_t kEnd = 8 << 20;
  EXPECT_EXIT(send(kPut, {}), ::testing::ExitedWithCode(3), "rank 0 sent a put that is not");
  EXPECT_EXIT(send(kPut, {0, kEnd, 8, 0, 8, 1}), ::testing::ExitedWithCode(3), "a strided put");
  EXPECT_EXIT(send(kPut, {kOneDimension, 0, 8, 0, 8, 2, kEnd, 1}), ::testing::ExitedWithCode(3),
              "a strided put");
  EXPECT_EXIT(send(kPut, {0, 0, 8, 0, 8}), ::testing::ExitedWithCode(3), "a strided put");
  EXPECT_EXIT(send(kPut, {kList, vis::wire::word_of(kEnd - 4, 8), 1}), ::testing::ExitedWithCode(3),
              "a put of a list");
  EXPECT_EXIT(send(kPut, {kList, vis::wire::word_of(0, 16), 1}), ::testing::ExitedWithCode(3),
              "a put of a list");
  EXPECT_EXIT(send(kGet, {0, 0, 1 << 16, 0, 1 << 16}), ::testing::ExitedWithCode(3),
              "a strided get");
  EXPECT_EXIT(send(kGet, {kList, vis::wire::word_of(0, 1 << 16)}), ::testing::ExitedWithCode(3),
              "a get of a list");
  constexpr uint64_t kLanding = uint64_t{vis::wire::kLanding} << 32;
  constexpr uint64_t kSlotBytes = uint64_t{plan::kLandingSlotBytes} << 32;
  EXPECT_EXIT(send(kGet, {kLanding, kSlotBytes + (uint64_t{1} << 32), 0, 8, 0, 8}),
              ::testing::ExitedWithCode(3), "a get by a slot that there is not");
  EXPECT_EXIT(send(kGet, {kLanding, 4, 0, 8, 0, 8}), ::testing::ExitedWithCode(3),
              "a get by a slot that there is not");
  constexpr const char* kTold = "noncontiguous put in a slot";
  EXPECT_EXIT(send(kTold, {4, 0}), ::testing::ExitedWithCode(3), "rank 0 sent a parcel .bulk.");
  EXPECT_EXIT(send(kTold, {kSlotBytes + (uint64_t{1} << 32), 0}), ::testing::ExitedWithCode(3),
              "rank 0 sent a parcel .bulk.");
  EXPECT_EXIT(send(kTold, {uint64_t{8} << 32, 0, 0, 8, 0, 4}), ::testing::ExitedWithCode(3),
              "a strided put");
  EXPECT_EXIT(send("bulk given back", {1}), ::testing::ExitedWithCode(3),
              "rank 0 sent a slot that is given back");
  EXPECT_EXIT(send("bulk answer", {0}), ::testing::ExitedWithCode(3), "rank 0 sent an answer");
  EXPECT_EXIT(send("noncontiguous put done", {7}), ::testing::ExitedWithCode(3),
              "an answer to a transfer");
  EXPECT_EXIT(send(kData, {7, 1}), ::testing::ExitedWithCode(3), "an answer to a transfer");
}

TEST_F(VisDeathTest, WhatLandsIsCheckedOnArrival) {
  const auto land = [](std::string_view what, uint32_t slot, const std::vector<uint64_t>& words) {
    const auto body = [&](Context& context) {
      detail::ContextState& state = context.state();
      if (context.rank_me() == 0) {
        const std::span<const std::byte> bytes = std::as_bytes(std::span(words));
        const am::Bulk& bulk = state.operations.bulk();
        fabric::Counter sent;
        state.job.fabric().shortcuts()->put_notify(
            1, what == kPut ? bulk.offset_of(1, 0) : bulk.twin_offset_of(1, 0), bytes.first(8),
            bytes.subspan(8), state.operations.messages().handlers().landed(what)->tags.tag(slot),
            sent);
        context.wait_until([&sent] { return sent.pending == 0; });
      }
      context.barrier();
    };
    on_ranks(2, body, bootstrap::fabrics_under_test()[0]);  // tcp, which has such puts
  };
  constexpr uint64_t kSlotBytes = plan::kLandingSlotBytes;
  EXPECT_EXIT(land(kPut, 1000, {0, 0}), ::testing::ExitedWithCode(3),
              "rank 0 says that a put has landed with tag .*, which nothing here expects");
  EXPECT_EXIT(land(kPut, 0, {0, 0}), ::testing::ExitedWithCode(3),
              "rank 0 sent a put that is not well formed");
  EXPECT_EXIT(land(kPut, 0, {(kSlotBytes - 7) << 32, 0}), ::testing::ExitedWithCode(3),
              "rank 0 sent a parcel .bulk. that is not well formed");
  EXPECT_EXIT(land(kPut, 0, {kSlotBytes << 32 | (kSlotBytes - 8), 0}), ::testing::ExitedWithCode(3),
              "rank 0 sent a parcel .bulk. that is not well formed");
  EXPECT_EXIT(land("bulk answer", 0, {7, 0}), ::testing::ExitedWithCode(3),
              "rank 0 sent an answer .bulk. that is not well formed");
}

}  // namespace
}  // namespace stripline
