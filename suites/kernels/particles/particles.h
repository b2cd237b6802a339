// Particles in a periodic cube that repel and attract their neighbours (Lennard and Jones), without
// communication: where they begin, which rank has which of them, who is near whom, and how they
// move. Lengths, masses and times are in the units of the potential.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace stripline::particles {

struct Vector {
  double x = 0;
  double y = 0;
  double z = 0;
  Vector& operator+=(const Vector& other) {
    x += other.x;
    y += other.y;
    z += other.z;
    return *this;
  }
  friend Vector operator*(double factor, const Vector& v) {
    return {factor * v.x, factor * v.y, factor * v.z};
  }
};

/// Beyond it particles do not act on each other.
inline constexpr double kReach = 2.5;
/// Lists of neighbours hold those within kReach and this, so that they are good for some steps.
inline constexpr double kSkin = 0.3;
inline constexpr double kStep = 0.004;

/// The side of a cube of `cells` cells, each with four particles, along each edge.
double side_of(uint64_t cells);
/// The particles of such a cube, each a little off its place in a face-centred lattice.
std::vector<Vector> make_lattice(uint64_t cells);
/// How fast a particle is in the beginning.
Vector first_velocity(uint64_t particle, uint64_t salt);

/// Recursive coordinate bisection: the numbers of the points, those of the first part first, so
/// that parts have `sizes` points, which add up to all, and are compact. The longest side of what
/// is left is cut, between the parts in the middle.
std::vector<uint32_t> bisect(std::span<const Vector> points, std::span<const size_t> sizes);

/// Neighbours of consecutive particles, not counting themselves.
struct NeighbourLists {
  std::vector<size_t> begin;        ///< of a particle's, and the end of the last one's
  std::vector<uint64_t> neighbour;  ///< ascending for each
};
/// Pairs of particles [first, last), in a cube with sides of `side`: all within kReach + kSkin.
NeighbourLists find_neighbours(std::span<const Vector> points, double side, size_t first,
                               size_t last);

/// The shortest vector from `b` to `a` in the periodic cube.
inline Vector between(const Vector& a, const Vector& b, double side) {
  const auto shortest = [side](double length) {
    return length - side * std::nearbyint(length / side);
  };
  return {shortest(a.x - b.x), shortest(a.y - b.y), shortest(a.z - b.z)};
}

/// What a particle at `b` does to one at `a`.
inline Vector force(const Vector& a, const Vector& b, double side) {
  const Vector separation = between(a, b, side);
  const double square =
      separation.x * separation.x + separation.y * separation.y + separation.z * separation.z;
  if (square >= kReach * kReach) return {};
  const double inverse = 1 / square;
  const double sixth = inverse * inverse * inverse;
  return (48 * sixth * (sixth - 0.5) * inverse) * separation;
}
inline constexpr double kForceFlops = 30;

/// One step of a particle.
inline void move(Vector& at, Vector& velocity, const Vector& force) {
  velocity += kStep * force;
  at += kStep * velocity;
}

}  // namespace stripline::particles
