#include "suites/compare/halo_bare.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sched.h>
#include <string>
#include <thread>

#include "runtime/rma/context_state.h"

namespace stripline::suites::compare {
namespace {

using harness::BareRank;
using harness::or_exit;

/// What ranks give to one another: the lengths of addresses differ where they have process numbers.
struct Address {
  size_t bytes = 0;
  std::array<char, 504> text{};
};

/// Copies a box of a cube to dense memory, or from there.
template <bool kPacks, typename Dense>
Dense copy_box(double* cube, size_t n, const Triple& first, const Triple& extents, Dense dense) {
  for (size_t z = 0; z < extents[2]; ++z) {
    for (size_t y = 0; y < extents[1]; ++y) {
      double* const row = cube + halo_index(n, {first[0], first[1] + y, first[2] + z});
      const size_t bytes = extents[0] * sizeof(double);
      if constexpr (kPacks) {
        std::memcpy(dense, row, bytes);
      } else {
        std::memcpy(row, dense, bytes);
      }
      dense += bytes;
    }
  }
  return dense;
}

size_t bytes_of(const HaloFace& face) {
  return face.extents[0] * face.extents[1] * face.extents[2] * sizeof(double);
}

}  // namespace

BareHalo::BareHalo(Context& context, bool together)
    : ContextRanks(context),
      bare_(
          or_exit(BareRank::open(context.state().job.fabric().info().name, context.rank_me(), 64))),
      together_(together),
      yields_(std::thread::hardware_concurrency() < ranks()) {
  for (auto& cube : cubes_) cube.resize(halo_cells(kHaloCells.back()));
  Address mine{};
  const std::string text = bare_.address();
  if (text.size() > mine.text.size()) {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): one thread
    std::exit(report(Error(ErrorCode::resource_exhausted,
                           "an address of this provider has " + std::to_string(text.size()) +
                               " bytes, and " + std::to_string(mine.text.size()) + " have room")));
  }
  mine.bytes = text.size();
  std::memcpy(mine.text.data(), text.data(), text.size());
  std::vector<Address> all(ranks());
  all_.allgather(std::span(&mine, 1), all);
  for (const Address& one : all) {
    peers_.push_back(or_exit(bare_.add_peer({one.text.data(), one.bytes})));
  }
}

// Messages of an exchange of another size have all come: each was waited for.
void BareHalo::prepare(size_t n, std::span<const HaloFace> faces) {
  n_ = n;
  faces_.assign(faces.begin(), faces.end());
  messages_.clear();
  own_.clear();
  buffer_bytes_ = 0;
  for (size_t d = 0; d < faces_.size(); ++d) {
    if (faces_[d].rank == rank()) {
      own_.push_back(d);
      continue;
    }
    auto message = std::find_if(messages_.begin(), messages_.end(), [&](const Message& one) {
      return together_ && one.rank == faces_[d].rank;
    });
    if (message == messages_.end()) message = messages_.insert(message, {faces_[d].rank, {}, {}});
    message->faces.push_back(d);
    const size_t before = message->bytes.empty() ? sizeof(Head) : message->bytes.size();
    message->bytes.resize(before + sizeof(uint64_t) + bytes_of(faces_[d]));
    buffer_bytes_ = std::max(buffer_bytes_, message->bytes.size());
  }
  missing_.fill(faces_.size() - own_.size());
  // Buffers stay posted: those of one size are those of the next, which is larger.
  const size_t largest =
      sizeof(Head) + kHaloCells.back() * kHaloCells.back() * sizeof(double) * (together_ ? 4 : 1) +
      sizeof(uint64_t);
  buffer_bytes_ = std::max(buffer_bytes_, largest);
  if (posted_ == 0) {
    posted_ = std::min(2 * faces_.size(), BareRank::kReceives);
    buffers_.resize(posted_ * buffer_bytes_);
    for (size_t i = 0; i < posted_; ++i) post(i);
  }
}

void BareHalo::post(size_t buffer) {
  bare_.post_receive(buffer, buffers_.data() + buffer * buffer_bytes_, buffer_bytes_);
}

void BareHalo::send(Message& message, size_t cube) {
  const Head head{cube, message.faces.size()};
  std::byte* out = message.bytes.data();
  std::memcpy(out, &head, sizeof head);
  out += sizeof head;
  for (const uint64_t d : message.faces) {
    std::memcpy(out, &d, sizeof d);
    out =
        copy_box<true>(cubes_[cube].data(), n_, faces_[d].from, faces_[d].extents, out + sizeof d);
  }
  bare_.start_send(peers_[message.rank], message.bytes.data(), message.bytes.size());
}

// Perhaps of a neighbour that is one exchange ahead, for the other cube.
void BareHalo::take(const std::byte* bytes) {
  Head head;
  std::memcpy(&head, bytes, sizeof head);
  bytes += sizeof head;
  for (uint64_t i = 0; i < head.faces; ++i) {
    uint64_t d = 0;
    std::memcpy(&d, bytes, sizeof d);
    bytes = copy_box<false>(cubes_[head.cube].data(), n_, faces_[d].in, faces_[d].extents,
                            bytes + sizeof d);
  }
  missing_[head.cube] -= head.faces;
}

void BareHalo::exchange(size_t i) {
  for (Message& message : messages_) send(message, i);
  double* const cube = cubes_[i].data();
  for (const size_t d : own_) {
    const HaloFace& face = faces_[d];
    for (size_t z = 0; z < face.extents[2]; ++z) {
      for (size_t y = 0; y < face.extents[1]; ++y) {
        std::memcpy(cube + halo_index(n_, {face.in[0], face.in[1] + y, face.in[2] + z}),
                    cube + halo_index(n_, {face.from[0], face.from[1] + y, face.from[2] + z}),
                    face.extents[0] * sizeof(double));
      }
    }
  }
  while (missing_[i] > 0) {
    bare_.poll();
    auto& filled = bare_.filled();
    for (size_t place = 0; place < filled.size(); ++place) {
      const size_t buffer = filled[place];
      take(buffers_.data() + buffer * buffer_bytes_);
      post(buffer);
    }
    // With more ranks than cores, the neighbour may want this one.
    if (filled.empty() && yields_) sched_yield();
    filled.clear();
  }
  missing_[i] = faces_.size() - own_.size();
  bare_.wait_until_in_flight(0);
}

}  // namespace stripline::suites::compare
