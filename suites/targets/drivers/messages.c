/* Messages between pairs of ranks: what the knobs of transports act on. */
#include <string.h>

#include "driver.h"

enum { kWindow = 16, kUnexpected = 64 };

static size_t block(const struct job* job) { return (size_t)job->count * job->element_bytes; }

/* Ranks 0 and 1 answer each other; the others wait. */
static void shape_pair(struct job* job) { job->send_bytes = job->receive_bytes = block(job); }

static void fill_pair(struct job* job) {
  put_rubbish(job->receive, job->receive_bytes);
  put_data(job, job->send, job->rank, 1 - job->rank, 0, job->count);
}

static int run_latency(struct job* job) {
  int error = MPI_SUCCESS;
  for (int turn = 0; turn < 2 && job->rank < 2; ++turn) {
    if (turn == job->rank) {
      error = MPI_Send(job->send, job->count, job->type, 1 - job->rank, kDataTag, job->comm);
    } else {
      error = MPI_Recv(job->receive, job->count, job->type, 1 - job->rank, kDataTag, job->comm,
                       MPI_STATUS_IGNORE);
    }
    if (error != MPI_SUCCESS) return error;
  }
  return error;
}

static int check_pair(struct job* job, char* note) {
  if (job->rank > 1) return 1;
  return has_data(job, job->receive, 1 - job->rank, job->rank, 0, job->count, note);
}

/* Neighbours of even and odd rank have a window of messages on their path in both directions. */
static int partner(const struct job* job) {
  const int other = job->rank ^ 1;
  return other < job->ranks ? other : MPI_PROC_NULL;
}

static void shape_window(struct job* job) {
  job->send_bytes = block(job);
  job->receive_bytes = block(job) * kWindow;
}

static void fill_window(struct job* job) {
  put_rubbish(job->receive, job->receive_bytes);
  put_data(job, job->send, job->rank, partner(job), 0, job->count);
}

static int run_window(struct job* job) {
  MPI_Request requests[2 * kWindow];
  const int other = partner(job);
  for (int i = 0; i < kWindow; ++i) {
    const int error = MPI_Irecv(job->receive + (size_t)i * block(job), job->count, job->type, other,
                                kDataTag, job->comm, &requests[i]);
    if (error != MPI_SUCCESS) return error;
  }
  for (int i = 0; i < kWindow; ++i) {
    const int error = MPI_Isend(job->send, job->count, job->type, other, kDataTag, job->comm,
                                &requests[kWindow + i]);
    if (error != MPI_SUCCESS) return error;
  }
  return MPI_Waitall(2 * kWindow, requests, MPI_STATUSES_IGNORE);
}

static int check_window(struct job* job, char* note) {
  const int other = partner(job);
  for (int i = 0; i < kWindow && other != MPI_PROC_NULL; ++i) {
    if (!has_data(job, job->receive + (size_t)i * block(job), other, job->rank, 0, job->count,
                  note)) {
      return 0;
    }
  }
  return 1;
}

/* Rank 1 asks for messages of rank 0 only after all of them have been sent. */
static int run_unexpected(struct job* job) {
  MPI_Request requests[kUnexpected + 1];
  int error = MPI_SUCCESS;
  if (job->rank == 0) {
    for (int i = 0; i <= kUnexpected; ++i) {
      error =
          i < kUnexpected
              ? MPI_Isend(job->send, job->count, job->type, 1, kDataTag, job->comm, &requests[i])
              : MPI_Isend(job->send, 0, job->type, 1, kControlTag, job->comm, &requests[i]);
      if (error != MPI_SUCCESS) return error;
    }
    return MPI_Waitall(kUnexpected + 1, requests, MPI_STATUSES_IGNORE);
  }
  if (job->rank != 1) return error;
  error = MPI_Recv(job->receive, 0, job->type, 0, kControlTag, job->comm, MPI_STATUS_IGNORE);
  for (int i = 0; i < kUnexpected && error == MPI_SUCCESS; ++i) {
    error =
        MPI_Recv(job->receive, job->count, job->type, 0, kDataTag, job->comm, MPI_STATUS_IGNORE);
  }
  return error;
}

static int check_unexpected(struct job* job, char* note) {
  return job->rank != 1 || check_pair(job, note);
}

static const struct operation kOperations[] = {
    {"latency", 0, shape_pair, fill_pair, run_latency, check_pair},
    {"unexpected", 0, shape_pair, fill_pair, run_unexpected, check_unexpected},
    {"window", 0, shape_window, fill_window, run_window, check_window},
};

const struct operation* find_message(const char* name) {
  for (size_t i = 0; i < sizeof kOperations / sizeof kOperations[0]; ++i) {
    if (strcmp(kOperations[i].name, name) == 0) return &kOperations[i];
  }
  return NULL;
}
