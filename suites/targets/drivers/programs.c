/* Small programs that settings are validated with: none of them was tuned for. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"

static size_t block(const struct job* job) { return (size_t)job->count * job->element_bytes; }

static unsigned char* block_at(const struct job* job, unsigned char* buffer, int index) {
  return buffer + (size_t)index * block(job);
}

/* All ranks send several messages to all others, with everything in flight at once. */
enum { kOutstanding = 8 };

static void shape_outstanding(struct job* job) {
  job->send_bytes = block(job) * (size_t)job->ranks;
  job->receive_bytes = job->send_bytes * kOutstanding;
}

static void fill_outstanding(struct job* job) {
  put_rubbish(job->receive, job->receive_bytes);
  for (int i = 0; i < job->ranks; ++i) {
    put_data(job, block_at(job, job->send, i), job->rank, i, 0, job->count);
  }
}

static int run_outstanding(struct job* job) {
  int n = 0;
  for (int i = 0; i < job->ranks; ++i) {
    for (int k = 0; k < kOutstanding; ++k) {
      const int error = MPI_Irecv(block_at(job, job->receive, i * kOutstanding + k), job->count,
                                  job->type, i, kDataTag, job->comm, &job->requests[n++]);
      if (error != MPI_SUCCESS) return error;
    }
  }
  for (int i = 0; i < job->ranks; ++i) {
    const int to = (job->rank + i) % job->ranks;
    for (int k = 0; k < kOutstanding; ++k) {
      const int error = MPI_Isend(block_at(job, job->send, to), job->count, job->type, to, kDataTag,
                                  job->comm, &job->requests[n++]);
      if (error != MPI_SUCCESS) return error;
    }
  }
  return MPI_Waitall(n, job->requests, MPI_STATUSES_IGNORE);
}

static int check_outstanding(struct job* job, char* note) {
  for (int i = 0; i < job->ranks * kOutstanding; ++i) {
    if (!has_data(job, block_at(job, job->receive, i), i / kOutstanding, job->rank, 0, job->count,
                  note)) {
      return 0;
    }
  }
  return 1;
}

/* Both neighbours in a ring, and then the sum of one number over all ranks, as iterative solvers
 * have it. */
enum { kSteps = 4 };
static double halo_sum;

static void shape_halo(struct job* job) { job->send_bytes = job->receive_bytes = 2 * block(job); }

static void fill_halo(struct job* job) {
  halo_sum = 0;
  put_rubbish(job->receive, job->receive_bytes);
  put_data(job, block_at(job, job->send, 0), job->rank, 0, 0, job->count);
  put_data(job, block_at(job, job->send, 1), job->rank, 1, 0, job->count);
}

static int run_halo(struct job* job) {
  const int left = (job->rank + job->ranks - 1) % job->ranks;
  const int right = (job->rank + 1) % job->ranks;
  for (int step = 0; step < kSteps; ++step) {
    const double mine = job->rank + 1;
    MPI_Request requests[4];
    int error = MPI_Irecv(block_at(job, job->receive, 0), job->count, job->type, left, kDataTag,
                          job->comm, &requests[0]);
    if (error == MPI_SUCCESS) {
      error = MPI_Irecv(block_at(job, job->receive, 1), job->count, job->type, right, kControlTag,
                        job->comm, &requests[1]);
    }
    if (error == MPI_SUCCESS) {
      error = MPI_Isend(block_at(job, job->send, 1), job->count, job->type, right, kDataTag,
                        job->comm, &requests[2]);
    }
    if (error == MPI_SUCCESS) {
      error = MPI_Isend(block_at(job, job->send, 0), job->count, job->type, left, kControlTag,
                        job->comm, &requests[3]);
    }
    if (error == MPI_SUCCESS) error = MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    if (error == MPI_SUCCESS) {
      error = MPI_Allreduce(&mine, &halo_sum, 1, MPI_DOUBLE, MPI_SUM, job->comm);
    }
    if (error != MPI_SUCCESS) return error;
  }
  return MPI_SUCCESS;
}

static int check_halo(struct job* job, char* note) {
  const int left = (job->rank + job->ranks - 1) % job->ranks;
  const int right = (job->rank + 1) % job->ranks;
  if (halo_sum != job->ranks * (job->ranks + 1) / 2.0) {
    snprintf(note, kMaxNote, "rank %d: the sum over all ranks is wrong", job->rank);
    return 0;
  }
  return has_data(job, block_at(job, job->receive, 0), left, 1, 0, job->count, note) &&
         has_data(job, block_at(job, job->receive, 1), right, 0, 0, job->count, note);
}

/* Workers send 10,000 messages to rank 0 in all, which asks for none before the last has left. */
enum { kReports = 10000 };
static long reports_sum;

static int reports_of(const struct job* job, int worker) {
  const int workers = job->ranks - 1;
  return kReports / workers + (worker - 1 < kReports % workers ? 1 : 0);
}

static void shape_reports(struct job* job) { job->send_bytes = job->receive_bytes = block(job); }

static void fill_reports(struct job* job) {
  reports_sum = 0;
  put_rubbish(job->receive, job->receive_bytes);
  put_data(job, job->send, job->rank, 0, 0, job->count);
}

static int run_reports(struct job* job) {
  int error = MPI_SUCCESS;
  int word = 0;
  if (job->rank != 0) {
    for (int i = 0; i < reports_of(job, job->rank) && error == MPI_SUCCESS; ++i) {
      error = MPI_Send(job->send, job->count, job->type, 0, kDataTag, job->comm);
    }
    /* A large message would wait for its receiver: eager ones only, as those of the plan are. */
    if (error == MPI_SUCCESS) error = MPI_Send(&word, 1, MPI_INT, 0, kControlTag, job->comm);
    return error;
  }
  for (int i = 1; i < job->ranks && error == MPI_SUCCESS; ++i) {
    error = MPI_Recv(&word, 1, MPI_INT, i, kControlTag, job->comm, MPI_STATUS_IGNORE);
  }
  for (int i = 0; i < kReports && error == MPI_SUCCESS; ++i) {
    MPI_Status status;
    error =
        MPI_Recv(job->receive, job->count, job->type, MPI_ANY_SOURCE, kDataTag, job->comm, &status);
    reports_sum += status.MPI_SOURCE;
  }
  return error;
}

static int check_reports(struct job* job, char* note) {
  long expected = 0;
  if (job->rank != 0) return 1;
  for (int i = 1; i < job->ranks; ++i) expected += (long)i * reports_of(job, i);
  if (reports_sum == expected) return 1;
  snprintf(note, kMaxNote, "rank 0 received other reports than were sent");
  return 0;
}

/* Sorts `count` keys of each rank by buckets, as the benchmark IS does: counts, and then keys. */
static int sorted_count;
static uint64_t key_sum;

static void shape_sort(struct job* job) {
  job->send_bytes = (size_t)job->count * sizeof(uint32_t);
  job->receive_bytes = job->send_bytes * (size_t)job->ranks;
}

static uint32_t key_of(int rank, int index) {
  uint32_t x = (uint32_t)rank * 2654435761u + (uint32_t)index * 2246822519u + 1;
  x ^= x >> 15;
  x *= 2246822519u;
  x ^= x >> 13;
  return x;
}

static int owner(const struct job* job, uint32_t key) {
  return (int)(((uint64_t)key * (uint64_t)job->ranks) >> 32);
}

static void fill_sort(struct job* job) {
  put_rubbish(job->receive, job->receive_bytes);
  sorted_count = 0;
}

static int run_sort(struct job* job) {
  uint32_t* const keys = (uint32_t*)job->send;
  int error;
  memset(job->counts, 0, (size_t)job->ranks * sizeof(int));
  for (int i = 0; i < job->count; ++i) ++job->counts[owner(job, key_of(job->rank, i))];
  job->places[0] = 0;
  for (int i = 1; i < job->ranks; ++i) job->places[i] = job->places[i - 1] + job->counts[i - 1];
  for (int i = 0; i < job->count; ++i) {
    const uint32_t key = key_of(job->rank, i);
    keys[job->places[owner(job, key)]++] = key;
  }
  for (int i = 0; i < job->ranks; ++i) job->places[i] -= job->counts[i];
  error = MPI_Alltoall(job->counts, 1, MPI_INT, job->other_counts, 1, MPI_INT, job->comm);
  if (error != MPI_SUCCESS) return error;
  sorted_count = 0;
  for (int i = 0; i < job->ranks; ++i) {
    job->other_places[i] = sorted_count;
    sorted_count += job->other_counts[i];
  }
  return MPI_Alltoallv(keys, job->counts, job->places, MPI_UINT32_T, job->receive,
                       job->other_counts, job->other_places, MPI_UINT32_T, job->comm);
}

static int check_sort(struct job* job, char* note) {
  const uint32_t* const keys = (const uint32_t*)job->receive;
  uint64_t sum = 0;
  int expected = 0;
  key_sum = 0;
  for (int rank = 0; rank < job->ranks; ++rank) {
    for (int i = 0; i < job->count; ++i) {
      const uint32_t key = key_of(rank, i);
      if (owner(job, key) != job->rank) continue;
      ++expected;
      key_sum += key;
    }
  }
  for (int i = 0; i < sorted_count && sorted_count == expected; ++i) sum += keys[i];
  if (sorted_count == expected && sum == key_sum) return 1;
  snprintf(note, kMaxNote, "rank %d: has other keys than are its own", job->rank);
  return 0;
}

static const struct operation kOperations[] = {
    {"halo", 0, shape_halo, fill_halo, run_halo, check_halo},
    {"outstanding", 0, shape_outstanding, fill_outstanding, run_outstanding, check_outstanding},
    {"reports", 0, shape_reports, fill_reports, run_reports, check_reports},
    {"sort", 0, shape_sort, fill_sort, run_sort, check_sort},
};

const struct operation* find_program(const char* name) {
  for (size_t i = 0; i < sizeof kOperations / sizeof kOperations[0]; ++i) {
    if (strcmp(kOperations[i].name, name) == 0) return &kOperations[i];
  }
  return NULL;
}
