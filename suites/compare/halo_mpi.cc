// Times of MPI's halo exchange by subarray types: mpirun -n N stripline-halo-mpi [BATCHES].
#include <mpi.h>
#include <span>
#include <vector>

#include "suites/compare/halo_times.h"
#include "suites/harness/mpi_ranks.h"

namespace {

namespace harness = stripline::suites::harness;
using stripline::suites::compare::halo_cells;
using stripline::suites::compare::HaloFace;
using stripline::suites::compare::kHaloCells;
using stripline::suites::compare::kHaloCubes;
using stripline::suites::compare::Triple;

/// A committed type for cells of a cube.
MPI_Datatype subarray(size_t n, const Triple& extents, const Triple& first) {
  std::array<int, 3> whole{};
  std::array<int, 3> part{};
  std::array<int, 3> at{};
  for (size_t axis = 0; axis < 3; ++axis) {  // in C the last index runs fastest
    whole[2 - axis] = static_cast<int>(n + 2);
    part[2 - axis] = static_cast<int>(extents[axis]);
    at[2 - axis] = static_cast<int>(first[axis]);
  }
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_subarray(3, whole.data(), part.data(), at.data(), MPI_ORDER_C, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  return type;
}

/// A receive and a send in each direction.
class Mpi : public harness::MpiRanks {
 public:
  Mpi() {
    for (auto& cube : cubes_) cube.resize(halo_cells(kHaloCells.back()));
  }

  std::span<double> cube(size_t i) { return std::span(cubes_[i]).first(halo_cells(n_)); }
  void prepare(size_t n, std::span<const HaloFace> faces) {
    n_ = n;
    faces_.assign(faces.begin(), faces.end());
    for (auto& types : {&out_, &in_}) {
      for (MPI_Datatype& type : *types) MPI_Type_free(&type);
      types->clear();
    }
    for (const HaloFace& face : faces_) {
      out_.push_back(subarray(n, face.extents, face.from));
      in_.push_back(subarray(n, face.extents, face.in));
    }
    requests_.resize(2 * faces_.size());
  }

  void exchange(size_t i) {
    double* const mine = cubes_[i].data();
    MPI_Request* request = requests_.data();
    for (size_t d = 0; d < faces_.size(); ++d) {
      MPI_Irecv(mine, 1, in_[d], static_cast<int>(faces_[d].source), static_cast<int>(d),
                MPI_COMM_WORLD, request++);
    }
    for (size_t d = 0; d < faces_.size(); ++d) {
      MPI_Isend(mine, 1, out_[d], static_cast<int>(faces_[d].rank), static_cast<int>(d),
                MPI_COMM_WORLD, request++);
    }
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  }

 private:
  size_t n_ = 0;
  std::array<std::vector<double>, kHaloCubes> cubes_;
  std::vector<HaloFace> faces_;
  std::vector<MPI_Datatype> out_;
  std::vector<MPI_Datatype> in_;
  std::vector<MPI_Request> requests_;
};

}  // namespace

int main(int argc, char** argv) {
  return harness::mpi_main(argc, argv, [&] {
    Mpi mpi;
    return stripline::suites::compare::print_halo_times(mpi, harness::argument(argc, argv, 1, 50),
                                                        "mpi");
  });
}
