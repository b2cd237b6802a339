/* The collective operations, in place and not. Roots are rank 0. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "driver.h"

static size_t block(const struct job* job) { return (size_t)job->count * job->element_bytes; }

/* Every other rank sends a quarter more, and the rest a quarter less; an odd one in the middle. */
static int uneven(const struct job* job, int index) {
  const int quarter = job->count / 4;
  if (job->ranks % 2 != 0 && index == job->ranks - 1) return job->count;
  return index % 2 != 0 ? job->count + quarter : job->count - quarter;
}

static void lay_out(struct job* job, int* counts, int* places) {
  int place = 0;
  for (int i = 0; i < job->ranks; ++i) {
    places[i] = place;
    place += counts[i];
  }
}

static unsigned char* at_element(const struct job* job, unsigned char* buffer, int element) {
  return buffer + (size_t)element * job->element_bytes;
}

static int is_root(const struct job* job) { return job->rank == 0; }

/* One buffer of a call on every rank: allreduce, bcast, reduce, scan, exscan. */
static void shape_same(struct job* job) { job->send_bytes = job->receive_bytes = block(job); }

/* A block for each rank in both buffers: alltoall; in one of them: the others. */
static void shape_blocks(struct job* job) {
  job->send_bytes = job->receive_bytes = block(job) * (size_t)job->ranks;
}

static void shape_uneven(struct job* job) {
  for (int i = 0; i < job->ranks; ++i) job->counts[i] = uneven(job, i);
  lay_out(job, job->counts, job->places);
  shape_blocks(job);
}

/* What i sends to j is what j sends to i, which an operation in place needs. */
static void shape_uneven_pairs(struct job* job) {
  for (int i = 0; i < job->ranks; ++i) {
    job->counts[i] = job->count + ((i + job->rank) % 2 != 0 ? job->count / 4 : -(job->count / 4));
  }
  lay_out(job, job->counts, job->places);
  job->send_bytes = job->receive_bytes = 2 * block(job) * (size_t)job->ranks;
}

static void shape_even_counts(struct job* job) {
  for (int i = 0; i < job->ranks; ++i) job->counts[i] = job->count;
  lay_out(job, job->counts, job->places);
  shape_blocks(job);
}

static void shape_none(struct job* job) { job->send_bytes = job->receive_bytes = 0; }

/* Reductions. */

static void fill_operands(struct job* job) {
  put_rubbish(job->receive, job->receive_bytes);
  put_operands(job, job->cell->in_place ? job->receive : job->send, job->rank, 0,
               (int)(job->send_bytes / job->element_bytes));
}

static const void* operands(const struct job* job) {
  return job->cell->in_place ? MPI_IN_PLACE : (const void*)job->send;
}

static int run_allreduce(struct job* job) {
  return MPI_Allreduce(operands(job), job->receive, job->count, job->type, job->op, job->comm);
}
static int check_allreduce(struct job* job, char* note) {
  return has_result(job, job->receive, job->ranks - 1, 0, job->count, note);
}

static void fill_reduce(struct job* job) {
  put_rubbish(job->receive, job->receive_bytes);
  put_operands(job, job->cell->in_place && is_root(job) ? job->receive : job->send, job->rank, 0,
               job->count);
}
static int run_reduce(struct job* job) {
  const void* mine = job->cell->in_place && is_root(job) ? MPI_IN_PLACE : (const void*)job->send;
  return MPI_Reduce(mine, job->receive, job->count, job->type, job->op, 0, job->comm);
}
static int check_reduce(struct job* job, char* note) {
  return !is_root(job) || has_result(job, job->receive, job->ranks - 1, 0, job->count, note);
}

static int run_scan(struct job* job) {
  return MPI_Scan(operands(job), job->receive, job->count, job->type, job->op, job->comm);
}
static int check_scan(struct job* job, char* note) {
  return has_result(job, job->receive, job->rank, 0, job->count, note);
}

static int run_exscan(struct job* job) {
  return MPI_Exscan(operands(job), job->receive, job->count, job->type, job->op, job->comm);
}
static int check_exscan(struct job* job, char* note) {
  return job->rank == 0 || has_result(job, job->receive, job->rank - 1, 0, job->count, note);
}

static int run_reduce_scatter(struct job* job) {
  return MPI_Reduce_scatter(operands(job), job->receive, job->counts, job->type, job->op,
                            job->comm);
}
static int run_reduce_scatter_block(struct job* job) {
  return MPI_Reduce_scatter_block(operands(job), job->receive, job->count, job->type, job->op,
                                  job->comm);
}
static int check_reduce_scatter(struct job* job, char* note) {
  return has_result(job, job->receive, job->ranks - 1, job->rank * job->count, job->count, note);
}

/* Operations that move. */

static void fill_bcast(struct job* job) {
  put_rubbish(job->receive, job->receive_bytes);
  if (is_root(job)) put_data(job, job->receive, 0, 0, 0, job->count);
}
static int run_bcast(struct job* job) {
  return MPI_Bcast(job->receive, job->count, job->type, 0, job->comm);
}
static int check_bcast(struct job* job, char* note) {
  return has_data(job, job->receive, 0, 0, 0, job->count, note);
}

static void fill_allgather(struct job* job) {
  put_rubbish(job->receive, job->receive_bytes);
  put_data(job,
           job->cell->in_place ? at_element(job, job->receive, job->rank * job->count) : job->send,
           job->rank, 0, 0, job->count);
}
static int run_allgather(struct job* job) {
  return MPI_Allgather(operands(job), job->count, job->type, job->receive, job->count, job->type,
                       job->comm);
}
static int check_allgather(struct job* job, char* note) {
  for (int i = 0; i < job->ranks; ++i) {
    if (!has_data(job, at_element(job, job->receive, i * job->count), i, 0, 0, job->count, note)) {
      return 0;
    }
  }
  return 1;
}

static void fill_allgatherv(struct job* job) {
  put_rubbish(job->receive, job->receive_bytes);
  put_data(job,
           job->cell->in_place ? at_element(job, job->receive, job->places[job->rank]) : job->send,
           job->rank, 0, 0, job->counts[job->rank]);
}
static int run_allgatherv(struct job* job) {
  return MPI_Allgatherv(operands(job), job->counts[job->rank], job->type, job->receive, job->counts,
                        job->places, job->type, job->comm);
}
static int check_allgatherv(struct job* job, char* note) {
  for (int i = 0; i < job->ranks; ++i) {
    if (!has_data(job, at_element(job, job->receive, job->places[i]), i, 0, 0, job->counts[i],
                  note)) {
      return 0;
    }
  }
  return 1;
}

static void fill_alltoall(struct job* job) {
  unsigned char* const from = job->cell->in_place ? job->receive : job->send;
  put_rubbish(job->receive, job->receive_bytes);
  for (int i = 0; i < job->ranks; ++i) {
    put_data(job, at_element(job, from, i * job->count), job->rank, i, 0, job->count);
  }
}
static int run_alltoall(struct job* job) {
  return MPI_Alltoall(operands(job), job->count, job->type, job->receive, job->count, job->type,
                      job->comm);
}
static int check_alltoall(struct job* job, char* note) {
  for (int i = 0; i < job->ranks; ++i) {
    if (!has_data(job, at_element(job, job->receive, i * job->count), i, job->rank, 0, job->count,
                  note)) {
      return 0;
    }
  }
  return 1;
}

static void fill_alltoallv(struct job* job) {
  unsigned char* const from = job->cell->in_place ? job->receive : job->send;
  put_rubbish(job->receive, job->receive_bytes);
  for (int i = 0; i < job->ranks; ++i) {
    put_data(job, at_element(job, from, job->places[i]), job->rank, i, 0, job->counts[i]);
  }
}
static int run_alltoallv(struct job* job) {
  return MPI_Alltoallv(operands(job), job->counts, job->places, job->type, job->receive,
                       job->counts, job->places, job->type, job->comm);
}
static int check_alltoallv(struct job* job, char* note) {
  for (int i = 0; i < job->ranks; ++i) {
    if (!has_data(job, at_element(job, job->receive, job->places[i]), i, job->rank, 0,
                  job->counts[i], note)) {
      return 0;
    }
  }
  return 1;
}

static void fill_gather(struct job* job) {
  put_rubbish(job->receive, job->receive_bytes);
  put_data(job, job->cell->in_place && is_root(job) ? job->receive : job->send, job->rank, 0, 0,
           job->count);
}
static int run_gather(struct job* job) {
  const void* mine = job->cell->in_place && is_root(job) ? MPI_IN_PLACE : (const void*)job->send;
  return MPI_Gather(mine, job->count, job->type, job->receive, job->count, job->type, 0, job->comm);
}
static int check_gather(struct job* job, char* note) {
  return !is_root(job) || check_allgather(job, note);
}

static void fill_scatter(struct job* job) {
  put_rubbish(job->receive, job->receive_bytes);
  for (int i = 0; i < job->ranks && is_root(job); ++i) {
    put_data(job, at_element(job, job->send, i * job->count), 0, i, 0, job->count);
  }
}
static int run_scatter(struct job* job) {
  void* mine = job->cell->in_place && is_root(job) ? MPI_IN_PLACE : (void*)job->receive;
  return MPI_Scatter(job->send, job->count, job->type, mine, job->count, job->type, 0, job->comm);
}
static int check_scatter(struct job* job, char* note) {
  if (job->cell->in_place && is_root(job)) return 1;
  return has_data(job, job->receive, 0, job->rank, 0, job->count, note);
}

/* A barrier has no data: on one node, no rank may leave before the last one has come. */
static double barrier_times[2]; /* when this rank came and left */

static double node_clock(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void fill_nothing(struct job* job) { (void)job; }
static int run_barrier(struct job* job) {
  int error;
  barrier_times[0] = node_clock();
  error = MPI_Barrier(job->comm);
  barrier_times[1] = node_clock();
  return error;
}
static int check_barrier(struct job* job, char* note) {
  double last_came = barrier_times[0];
  double first_left = barrier_times[1];
  if (job->rank != 0) {
    MPI_Send(barrier_times, 2, MPI_DOUBLE, 0, kDataTag, job->comm);
    return 1;
  }
  for (int i = 1; i < job->ranks; ++i) {
    double times[2];
    MPI_Recv(times, 2, MPI_DOUBLE, i, kDataTag, job->comm, MPI_STATUS_IGNORE);
    if (times[0] > last_came) last_came = times[0];
    if (times[1] < first_left) first_left = times[1];
  }
  if (!job->one_node || last_came <= first_left) return 1;
  snprintf(note, kMaxNote, "a rank left the barrier %.1f us before the last one had come",
           1e6 * (last_came - first_left));
  return 0;
}

/* Begun, and waited for at once: they have algorithms of their own. */

static int wait_for(int error, MPI_Request* request) {
  return error != MPI_SUCCESS ? error : MPI_Wait(request, MPI_STATUS_IGNORE);
}
static int run_ibcast(struct job* job) {
  MPI_Request request;
  const int error = MPI_Ibcast(job->receive, job->count, job->type, 0, job->comm, &request);
  return wait_for(error, &request);
}
static int run_ireduce(struct job* job) {
  MPI_Request request;
  const void* mine = job->cell->in_place && is_root(job) ? MPI_IN_PLACE : (const void*)job->send;
  const int error =
      MPI_Ireduce(mine, job->receive, job->count, job->type, job->op, 0, job->comm, &request);
  return wait_for(error, &request);
}

static const struct operation kOperations[] = {
    {"allgather", 0, shape_blocks, fill_allgather, run_allgather, check_allgather},
    {"allgatherv", 0, shape_uneven, fill_allgatherv, run_allgatherv, check_allgatherv},
    {"allreduce", 1, shape_same, fill_operands, run_allreduce, check_allreduce},
    {"alltoall", 0, shape_blocks, fill_alltoall, run_alltoall, check_alltoall},
    {"alltoallv", 0, shape_uneven_pairs, fill_alltoallv, run_alltoallv, check_alltoallv},
    {"barrier", 0, shape_none, fill_nothing, run_barrier, check_barrier},
    {"bcast", 0, shape_same, fill_bcast, run_bcast, check_bcast},
    {"exscan", 1, shape_same, fill_operands, run_exscan, check_exscan},
    {"gather", 0, shape_blocks, fill_gather, run_gather, check_gather},
    {"ibcast", 0, shape_same, fill_bcast, run_ibcast, check_bcast},
    {"ireduce", 1, shape_same, fill_reduce, run_ireduce, check_reduce},
    {"reduce", 1, shape_same, fill_reduce, run_reduce, check_reduce},
    {"reduce_scatter", 1, shape_even_counts, fill_operands, run_reduce_scatter,
     check_reduce_scatter},
    {"reduce_scatter_block", 1, shape_blocks, fill_operands, run_reduce_scatter_block,
     check_reduce_scatter},
    {"scan", 1, shape_same, fill_operands, run_scan, check_scan},
    {"scatter", 0, shape_blocks, fill_scatter, run_scatter, check_scatter},
};

const struct operation* find_collective(const char* name) {
  for (size_t i = 0; i < sizeof kOperations / sizeof kOperations[0]; ++i) {
    if (strcmp(kOperations[i].name, name) == 0) return &kOperations[i];
  }
  return NULL;
}
