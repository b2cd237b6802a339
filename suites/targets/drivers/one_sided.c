/* Puts, gets and sums (accumulate) between pairs of ranks, each complete at its target when the
 * call returns. */
#include <string.h>

#include "driver.h"

static size_t block(const struct job* job) { return (size_t)job->count * job->element_bytes; }

/* Neighbours of even and odd rank. Open MPI 4.1 refuses to lock a window of MPI_PROC_NULL. */
static int partner(const struct job* job) {
  const int other = job->rank ^ 1;
  return other < job->ranks ? other : MPI_PROC_NULL;
}

static void shape_pair(struct job* job) { job->send_bytes = job->receive_bytes = block(job); }

/* The memory that others reach, on the communicator of the variant that is carried out. */
static int open_window(struct job* job, unsigned char* memory) {
  int error;
  if (job->has_window && job->window_comm == job->comm) return MPI_SUCCESS;
  close_window(job);
  error = MPI_Win_create(memory, (MPI_Aint)block(job), 1, MPI_INFO_NULL, job->comm, &job->window);
  if (error != MPI_SUCCESS) return error;
  job->has_window = 1;
  job->window_comm = job->comm;
  return MPI_Win_set_errhandler(job->window, MPI_ERRORS_RETURN);
}

void close_window(struct job* job) {
  if (job->has_window) MPI_Win_free(&job->window);
  job->has_window = 0;
}

/* What this rank stores there, and loads from there, is a part of no operation of another one. */
static void begin_own(struct job* job) {
  if (job->has_window) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, job->rank, 0, job->window);
}

static void end_own(struct job* job) {
  if (job->has_window) MPI_Win_unlock(job->rank, job->window);
}

static void fill(struct job* job) {
  begin_own(job);
  put_rubbish(job->receive, job->receive_bytes);
  put_data(job, job->send, job->rank, partner(job), 0, job->count);
  end_own(job);
}

static int run_put(struct job* job) {
  const int other = partner(job);
  int error = open_window(job, job->receive);
  if (other == MPI_PROC_NULL) return error;
  if (error == MPI_SUCCESS) error = MPI_Win_lock(MPI_LOCK_SHARED, other, 0, job->window);
  if (error == MPI_SUCCESS) {
    error = MPI_Put(job->send, job->count, job->type, other, 0, job->count, job->type, job->window);
  }
  if (error == MPI_SUCCESS) error = MPI_Win_unlock(other, job->window);
  return error;
}

static int run_get(struct job* job) {
  const int other = partner(job);
  int error = open_window(job, job->send);
  if (other == MPI_PROC_NULL) return error;
  if (error == MPI_SUCCESS) error = MPI_Win_lock(MPI_LOCK_SHARED, other, 0, job->window);
  if (error == MPI_SUCCESS) {
    error =
        MPI_Get(job->receive, job->count, job->type, other, 0, job->count, job->type, job->window);
  }
  if (error == MPI_SUCCESS) error = MPI_Win_unlock(other, job->window);
  return error;
}

static int check(struct job* job, char* note) {
  const int other = partner(job);
  int well = 1;
  if (other == MPI_PROC_NULL) return well;
  begin_own(job);
  well = has_data(job, job->receive, other, job->rank, 0, job->count, note);
  end_own(job);
  return well;
}

/* The even rank of a pair has what rank 0 of a reduction would have, the odd one what rank 1 would:
 * both then have the sum of the two. */
static void fill_sum(struct job* job) {
  begin_own(job);
  put_operands(job, job->receive, job->rank % 2, 0, job->count);
  put_operands(job, job->send, job->rank % 2, 0, job->count);
  end_own(job);
}

static int run_accumulate(struct job* job) {
  const int other = partner(job);
  int error = open_window(job, job->receive);
  if (other == MPI_PROC_NULL) return error;
  if (error == MPI_SUCCESS) error = MPI_Win_lock(MPI_LOCK_SHARED, other, 0, job->window);
  if (error == MPI_SUCCESS) {
    /* Operations of users are not allowed here. */
    error = MPI_Accumulate(job->send, job->count, job->type, other, 0, job->count, job->type,
                           MPI_SUM, job->window);
  }
  if (error == MPI_SUCCESS) error = MPI_Win_unlock(other, job->window);
  return error;
}

static int check_sum(struct job* job, char* note) {
  int well = 1;
  if (partner(job) == MPI_PROC_NULL) return well;
  begin_own(job);
  well = has_result(job, job->receive, 1, 0, job->count, note);
  end_own(job);
  return well;
}

static const struct operation kOperations[] = {
    {"accumulate", 0, shape_pair, fill_sum, run_accumulate, check_sum},
    {"get", 0, shape_pair, fill, run_get, check},
    {"put", 0, shape_pair, fill, run_put, check},
};

const struct operation* find_one_sided(const char* name) {
  for (size_t i = 0; i < sizeof kOperations / sizeof kOperations[0]; ++i) {
    if (strcmp(kOperations[i].name, name) == 0) return &kOperations[i];
  }
  return NULL;
}
