// The halo exchange by messages of bare libfabric, packed and unpacked by hand: what the provider
// makes of it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "suites/compare/halo_times.h"
#include "suites/harness/contenders/bare_rank.h"
#include "suites/harness/context_ranks.h"

namespace stripline::suites::compare {

class BareHalo final : public harness::ContextRanks {
 public:
  /// `together`: one message for each rank, not one for each direction. Collective. Ends the
  /// program where the fabric does not open.
  BareHalo(Context& context, bool together);

  std::span<double> cube(size_t i) { return std::span(cubes_[i]).first(halo_cells(n_)); }
  void prepare(size_t n, std::span<const HaloFace> faces);
  void exchange(size_t i);

 private:
  /// Faces that go to one rank, by their directions.
  struct Message {
    size_t rank = 0;
    std::vector<size_t> faces;
    std::vector<std::byte> bytes;
  };
  /// Leads it: whose cube it is for, and which of the receiver's layers. A message ends where its
  /// last face does.
  struct Head {
    uint64_t cube = 0;
    uint64_t faces = 0;
  };

  void send(Message& message, size_t cube);
  void take(const std::byte* bytes);
  void post(size_t buffer);

  harness::BareRank bare_;
  size_t n_ = 0;
  bool together_;
  bool yields_;
  std::vector<size_t> peers_;  // their numbers, by rank
  std::array<std::vector<double>, kHaloCubes> cubes_;
  std::vector<HaloFace> faces_;
  std::vector<Message> messages_;
  std::vector<size_t> own_;  // directions in which a rank is its own neighbour
  std::vector<std::byte> buffers_;
  size_t buffer_bytes_ = 0;
  size_t posted_ = 0;
  std::array<size_t, kHaloCubes> missing_{};  // faces of an exchange that have not come
};

}  // namespace stripline::suites::compare
