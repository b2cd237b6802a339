#include "suites/kernels/nas/mg_share.h"

#include <algorithm>
#include <cmath>

namespace stripline::suites::nas {
namespace {

// The operators weigh a point and its 26 neighbours by how many coordinates differ.
constexpr double kCentre = -8.0 / 3;  // of A; its faces have the weight 0
constexpr double kEdge = 1.0 / 6;
constexpr double kCorner = 1.0 / 12;

// At each point of a row at `at`, of n points: the sum of its four neighbours in the planes and
// rows beside it with one coordinate that differs, and of the four with both.
void across(const double* __restrict at, size_t row, size_t plane, size_t n,
            double* __restrict faces, double* __restrict edges) {
  const double* const __restrict back = at - row;
  const double* const __restrict front = at + row;
  for (size_t i = 0; i < n; ++i) {
    faces[i] = (back[i] + front[i]) + ((at - plane)[i] + (at + plane)[i]);
    edges[i] = ((back - plane)[i] + (front - plane)[i]) + ((back + plane)[i] + (front + plane)[i]);
  }
}

}  // namespace

MgShare::MgShare(const MgProblem& problem, const MgPartition& partition, uint32_t me,
                 std::span<double> shared)
    : problem_(problem),
      partition_(partition),
      me_(me),
      shared_(shared),
      v_(partition.elements(problem.levels)),
      faces_((size_t{1} << problem.levels) + 2),
      edges_(faces_.size()) {
  const MgCharges charges = mg_charges(problem);
  const std::array<uint32_t, 3> at = partition.coordinates(me);
  const std::array<size_t, 3> points = partition.extents(problem.levels);
  const std::array<size_t, 3> strides = partition.strides(problem.levels);
  const auto put = [&](const MgPoint& point, double charge) {
    size_t place = 0;
    for (size_t axis = 0; axis < 3; ++axis) {
      if (point[axis] / points[axis] != at[axis]) return;
      place += (point[axis] % points[axis] + 1) * strides[axis];
    }
    v_[place] = charge;
  };
  for (const MgPoint& point : charges.positive) put(point, 1);
  for (const MgPoint& point : charges.negative) put(point, -1);
  start();
}

void MgShare::start() { clear_solution(problem_.levels); }

void MgShare::clear_solution(size_t level) {
  std::fill_n(array(MgArray::u, level), partition_.elements(level), 0.0);
  did(partition_.elements(level), 0, 8);
}

size_t MgShare::own_part(size_t level) const {
  if (level == problem_.levels || !partition_.replicated(level) ||
      partition_.replicated(level + 1)) {
    return 0;
  }
  const std::array<size_t, 3> strides = partition_.strides(level);
  return partition_.replicated_block(me_).offset - partition_.offset(MgArray::r, level) -
         (strides[0] + strides[1] + strides[2]);
}

size_t MgShare::planes(MgStep step) const {
  if (step.kind == MgStep::restrict) return partition_.extents(step.level + 1)[2] / 2;
  return partition_.extents(step.level)[2];
}

void MgShare::compute(MgStep step, size_t begin, size_t end) {
  switch (step.kind) {
    case MgStep::residual:
      return residual_planes(step.level, begin, end);
    case MgStep::smooth:
      return smooth_planes(step.level, begin, end);
    case MgStep::restrict:
      return restrict_planes(step.level, begin, end);
  }
}

void MgShare::residual_planes(size_t level, size_t begin, size_t end) {
  const std::array<size_t, 3> points = partition_.extents(level);
  const std::array<size_t, 3> strides = partition_.strides(level);
  const size_t row = strides[1];
  const double* const u = array(MgArray::u, level);
  double* const r = array(MgArray::r, level);
  const double* const __restrict faces = faces_.data();
  const double* const __restrict edges = edges_.data();
  const bool finest = level == problem_.levels;
  for (size_t k = begin; k < end; ++k) {
    for (size_t j = 0; j < points[1]; ++j) {
      const size_t at = (k + 1) * strides[2] + (j + 1) * row;
      const double* const __restrict centre = u + at;
      double* const __restrict result = r + at;
      across(centre, row, strides[2], points[0] + 2, faces_.data(), edges_.data());
      const auto product = [&](size_t i) {
        return kCentre * centre[i] + kEdge * (edges[i] + faces[i - 1] + faces[i + 1]) +
               kCorner * (edges[i - 1] + edges[i + 1]);
      };
      if (finest) {
        const double* const __restrict v = v_.data() + at;
        for (size_t i = 1; i <= points[0]; ++i) result[i] = v[i] - product(i);
      } else {
        for (size_t i = 1; i <= points[0]; ++i) result[i] -= product(i);
      }
    }
  }
  did((end - begin) * points[1] * points[0], 16, 24);
}

void MgShare::smooth_planes(size_t level, size_t begin, size_t end) {
  const std::array<size_t, 3> points = partition_.extents(level);
  const std::array<size_t, 3> strides = partition_.strides(level);
  const size_t row = strides[1];
  const double* const r = array(MgArray::r, level);
  double* const u = array(MgArray::u, level);
  const double* const __restrict faces = faces_.data();
  const double* const __restrict edges = edges_.data();
  const auto [centre_weight, face_weight, edge_weight] = problem_.smoother;
  for (size_t k = begin; k < end; ++k) {
    for (size_t j = 0; j < points[1]; ++j) {
      const size_t at = (k + 1) * strides[2] + (j + 1) * row;
      const double* const __restrict centre = r + at;
      double* const __restrict result = u + at;
      across(centre, row, strides[2], points[0] + 2, faces_.data(), edges_.data());
      for (size_t i = 1; i <= points[0]; ++i) {
        result[i] += centre_weight * centre[i] +
                     face_weight * (centre[i - 1] + centre[i + 1] + faces[i]) +
                     edge_weight * (edges[i] + faces[i - 1] + faces[i + 1]);
      }
    }
  }
  did((end - begin) * points[1] * points[0], 17, 24);
}

void MgShare::restrict_planes(size_t level, size_t begin, size_t end) {
  const std::array<size_t, 3> fine_points = partition_.extents(level + 1);
  const std::array<size_t, 3> fine_strides = partition_.strides(level + 1);
  const std::array<size_t, 3> strides = partition_.strides(level);
  const double* const fine = array(MgArray::r, level + 1);
  double* const coarse = array(MgArray::r, level) + own_part(level);
  const double* const __restrict faces = faces_.data();
  const double* const __restrict edges = edges_.data();
  for (size_t k = begin; k < end; ++k) {
    for (size_t j = 0; j < fine_points[1] / 2; ++j) {
      // With ghosts counted, point i lies on point 2 i of the finer grid.
      const double* const __restrict centre =
          fine + 2 * (k + 1) * fine_strides[2] + 2 * (j + 1) * fine_strides[1];
      double* const __restrict result = coarse + (k + 1) * strides[2] + (j + 1) * strides[1];
      across(centre, fine_strides[1], fine_strides[2], fine_points[0] + 2, faces_.data(),
             edges_.data());
      for (size_t i = 1; i <= fine_points[0] / 2; ++i) {
        const size_t f = 2 * i;
        result[i] = 0.5 * centre[f] + 0.25 * (centre[f - 1] + centre[f + 1] + faces[f]) +
                    0.125 * (faces[f - 1] + faces[f + 1] + edges[f]) +
                    0.0625 * (edges[f - 1] + edges[f + 1]);
      }
    }
  }
  // For each coarse point; it sums across rows at two fine ones, and has read eight in the end.
  did((end - begin) * (fine_points[1] / 2) * (fine_points[0] / 2), 25, 72);
}

void MgShare::interpolate(size_t level) {
  const std::array<size_t, 3> points = partition_.extents(level);
  const std::array<size_t, 3> strides = partition_.strides(level);
  const std::array<size_t, 3> coarse_strides = partition_.strides(level - 1);
  const double* const coarse = array(MgArray::u, level - 1) + own_part(level - 1);
  double* const fine = array(MgArray::u, level);
  double* const __restrict sums = faces_.data();
  const size_t n = points[0] / 2 + 2;  // coarse points in a row, with ghosts
  for (size_t k = 0; k < points[2] + 2; ++k) {
    const double* const below = coarse + k / 2 * coarse_strides[2];
    const size_t above = k % 2 * coarse_strides[2];
    for (size_t j = 0; j < points[1] + 2; ++j) {
      // The mean of the one, two or four coarse rows around a row.
      const double* const __restrict first = below + j / 2 * coarse_strides[1];
      const size_t beside = j % 2 * coarse_strides[1];
      const double weight = 0.25;
      for (size_t i = 0; i < n; ++i) {
        sums[i] = weight *
                  ((first[i] + first[i + beside]) + (first[i + above] + first[i + above + beside]));
      }
      double* const __restrict result = fine + k * strides[2] + j * strides[1];
      for (size_t i = 0; i + 1 < n; ++i) {
        result[2 * i] += sums[i];
        result[2 * i + 1] += 0.5 * (sums[i] + sums[i + 1]);
      }
    }
  }
  did(partition_.elements(level), 4, 17);
}

void MgShare::wrap(MgStep step) {
  for (size_t axis = 0; axis < 3; ++axis) {
    for (const bool up : {false, true}) {
      const MgFace ghosts = face(step, axis, up);
      copy_block(shared_.data() + ghosts.source_offset, shared_.data() + ghosts.block.offset,
                 ghosts.block.counts, ghosts.block.strides);
      did(ghosts.block.counts[0] * ghosts.block.counts[1] * ghosts.block.counts[2], 0, 16);
    }
  }
}

MgShare::Norms MgShare::norms() const {
  const std::array<size_t, 3> points = partition_.extents(problem_.levels);
  const std::array<size_t, 3> strides = partition_.strides(problem_.levels);
  const double* const r = shared_.data() + partition_.offset(MgArray::r, problem_.levels);
  Norms norms{};
  for (size_t k = 1; k <= points[2]; ++k) {
    for (size_t j = 1; j <= points[1]; ++j) {
      const double* const values = r + k * strides[2] + j * strides[1];
      double squares = 0;
      for (size_t i = 1; i <= points[0]; ++i) {
        squares += values[i] * values[i];
        norms.largest = std::max(norms.largest, std::abs(values[i]));
      }
      norms.sum_of_squares += squares;
    }
  }
  return norms;
}

}  // namespace stripline::suites::nas
