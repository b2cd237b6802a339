// Times of a sparse matrix-vector product as MPI programs have it: mpirun -n N stripline-spmv-mpi
// BATCHES ROWS [FILE...]. Needed elements are packed; what a rank has itself is multiplied while
// they travel, by persistent messages or by a neighbourhood collective.
#include <algorithm>
#include <mpi.h>
#include <span>
#include <vector>

#include "suites/compare/spmv_times.h"
#include "suites/harness/mpi_ranks.h"

namespace {

namespace harness = stripline::suites::harness;
using stripline::suites::compare::spmv_block;
using stripline::suites::compare::SpmvPart;

/// Entries of some columns, row by row.
struct Half {
  std::vector<size_t> begin{0};
  std::vector<int> column;
  std::vector<double> value;
};

class Mpi : public harness::MpiRanks {
 public:
  explicit Mpi(bool neighbourhood) : neighbourhood_(neighbourhood) {}
  ~Mpi() { release(); }
  Mpi(const Mpi&) = delete;
  Mpi& operator=(const Mpi&) = delete;

  void prepare(const SpmvPart& part) {
    release();
    const uint64_t block = spmv_block(part.all_rows, ranks());
    x_.assign(part.rows.rows(), 0);
    std::vector<std::vector<int>> needed(ranks());
    for (const uint64_t column : part.rows.column) {
      const uint64_t owner = column / block;
      if (owner != rank()) needed[owner].push_back(static_cast<int>(column % block));
    }
    std::vector<int> counts(ranks());
    std::vector<int> first(ranks());  // of an owner's elements among those received
    int received = 0;
    for (size_t owner = 0; owner < ranks(); ++owner) {
      auto& one = needed[owner];
      std::sort(one.begin(), one.end());
      one.erase(std::unique(one.begin(), one.end()), one.end());
      counts[owner] = static_cast<int>(one.size());
      first[owner] = received;
      received += counts[owner];
    }
    theirs_.assign(static_cast<size_t>(received), 0);
    own_ = other_ = {};
    for (size_t row = 0; row < part.rows.rows(); ++row) {
      for (size_t e = part.rows.begin[row]; e < part.rows.begin[row + 1]; ++e) {
        const uint64_t owner = part.rows.column[e] / block;
        const int place = static_cast<int>(part.rows.column[e] % block);
        Half& half = owner == rank() ? own_ : other_;
        if (owner == rank()) {
          half.column.push_back(place);
        } else {
          const auto& one = needed[owner];
          half.column.push_back(
              first[owner] +
              static_cast<int>(std::lower_bound(one.begin(), one.end(), place) - one.begin()));
        }
        half.value.push_back(part.rows.value[e]);
      }
      own_.begin.push_back(own_.value.size());
      other_.begin.push_back(other_.value.size());
    }
    ask_owners(needed, counts, first);
  }

  std::span<double> vector() { return x_; }

  void multiply(std::span<double> y) {
    for (size_t i = 0; i < places_.size(); ++i) packed_[i] = x_[static_cast<size_t>(places_[i])];
    if (neighbourhood_) {
      MPI_Ineighbor_alltoallv(packed_.data(), send_counts_.data(), send_first_.data(), MPI_DOUBLE,
                              theirs_.data(), receive_counts_.data(), receive_first_.data(),
                              MPI_DOUBLE, neighbours_, requests_.data());
    } else {
      MPI_Startall(static_cast<int>(requests_.size()), requests_.data());
    }
    add(own_, x_, y, true);
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    add(other_, theirs_, y, false);
  }

 private:
  void ask_owners(const std::vector<std::vector<int>>& needed, const std::vector<int>& counts,
                  const std::vector<int>& first) {
    std::vector<int> asked(ranks());
    MPI_Alltoall(counts.data(), 1, MPI_INT, asked.data(), 1, MPI_INT, MPI_COMM_WORLD);
    std::vector<int> asked_first(ranks());
    int sends = 0;
    for (size_t reader = 0; reader < ranks(); ++reader) {
      asked_first[reader] = sends;
      sends += asked[reader];
    }
    std::vector<int> wanted;
    for (const auto& one : needed) wanted.insert(wanted.end(), one.begin(), one.end());
    places_.assign(static_cast<size_t>(sends), 0);
    packed_.assign(static_cast<size_t>(sends), 0);
    MPI_Alltoallv(wanted.data(), counts.data(), first.data(), MPI_INT, places_.data(), asked.data(),
                  asked_first.data(), MPI_INT, MPI_COMM_WORLD);
    std::vector<int> owners;
    std::vector<int> readers;
    for (size_t rank = 0; rank < ranks(); ++rank) {
      if (counts[rank] > 0) {
        owners.push_back(static_cast<int>(rank));
        receive_counts_.push_back(counts[rank]);
        receive_first_.push_back(first[rank]);
      }
      if (asked[rank] > 0) {
        readers.push_back(static_cast<int>(rank));
        send_counts_.push_back(asked[rank]);
        send_first_.push_back(asked_first[rank]);
      }
    }
    if (neighbourhood_) {
      MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, static_cast<int>(owners.size()), owners.data(),
                                     MPI_UNWEIGHTED, static_cast<int>(readers.size()),
                                     readers.data(), MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                     &neighbours_);
      requests_.assign(1, MPI_REQUEST_NULL);
      return;
    }
    for (size_t i = 0; i < owners.size(); ++i) {
      MPI_Recv_init(theirs_.data() + receive_first_[i], receive_counts_[i], MPI_DOUBLE, owners[i],
                    0, MPI_COMM_WORLD, &requests_.emplace_back());
    }
    for (size_t i = 0; i < readers.size(); ++i) {
      MPI_Send_init(packed_.data() + send_first_[i], send_counts_[i], MPI_DOUBLE, readers[i], 0,
                    MPI_COMM_WORLD, &requests_.emplace_back());
    }
  }

  static void add(const Half& half, std::span<const double> x, std::span<double> y, bool first) {
    for (size_t row = 0; row < y.size(); ++row) {
      double sum = first ? 0 : y[row];
      for (size_t e = half.begin[row]; e < half.begin[row + 1]; ++e) {
        sum += half.value[e] * x[static_cast<size_t>(half.column[e])];
      }
      y[row] = sum;
    }
  }

  void release() {
    if (neighbourhood_) {
      if (neighbours_ != MPI_COMM_NULL) MPI_Comm_free(&neighbours_);
    } else {
      for (MPI_Request& request : requests_) MPI_Request_free(&request);
    }
    requests_.clear();
    receive_counts_.clear();
    receive_first_.clear();
    send_counts_.clear();
    send_first_.clear();
  }

  bool neighbourhood_;
  std::vector<double> x_;
  std::vector<double> theirs_;
  std::vector<double> packed_;
  std::vector<int> places_;
  Half own_;
  Half other_;
  MPI_Comm neighbours_ = MPI_COMM_NULL;
  std::vector<MPI_Request> requests_;
  std::vector<int> receive_counts_;
  std::vector<int> receive_first_;
  std::vector<int> send_counts_;
  std::vector<int> send_first_;
};

}  // namespace

int main(int argc, char** argv) {
  return harness::mpi_main(argc, argv, [&] {
    const stripline::suites::compare::SpmvOrder order(argc, argv);
    const harness::MpiRanks ranks;
    const auto parts = stripline::suites::compare::spmv_parts(ranks.rank(), ranks.ranks(),
                                                              order.rows, order.files);
    bool right = true;
    for (const bool neighbourhood : {false, true}) {
      Mpi mpi(neighbourhood);
      right = stripline::suites::compare::print_spmv_times(
                  mpi, parts, order.batches, neighbourhood ? "mpi, neighbourhood" : "mpi") &&
              right;
    }
    return right;
  });
}
