/* stripline's GASNet-EX driver: carries out a plan and prints what it measured.
 *
 *   driver PLAN
 *
 * The plan and what is printed are those of the MPI driver (../main.c), for one variant without
 * variables. It uses nothing but C99 and GASNet-EX: puts, gets, strided puts and gets (VIS), and
 * the collective operations of its own interface. All ranks take part in every cell: one that slept
 * would not make the progress that others wait for. Each operation is verified against what a
 * sequential program would have, before and after it is timed. */
#define _GNU_SOURCE
#include <gasnet_coll.h>
#include <gasnet_vis.h>
#include <gasnetex.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../measure.h"

enum {
  kMostRanks = 1024,
  kRow = kLeastBlock, /* bytes of a row of strided transfers, every other one of which is moved */
  kFlags = 4096       /* bytes in front of the buffers of a segment */
};

static gex_TM_t team;
static char* bases[kMostRanks];    /* of segments, in the memory of their ranks */
static volatile uint64_t* arrived; /* in the segment: the number of the last message of a peer */
static uint64_t sent;              /* ping-pongs so far */
static size_t source_at;
static size_t target_at;

static void fail(const char* what) {
  fprintf(stderr, "driver: rank %d: %s\n", me, what);
  fflush(stderr);
  gasnet_exit(3);
  exit(3);
}

static void must(int error, const char* what) {
  if (error != GASNET_OK) fail(what);
}

/* GASNet-EX. */

static void barrier(void) { gex_Event_Wait(gex_Coll_BarrierNB(team, 0)); }

static void* source_of(int rank) { return bases[rank] + source_at; }
static void* target_of(int rank) { return bases[rank] + target_at; }
static void* flag_of(int rank) { return bases[rank]; }

/* Segments begin with the flag of ping-pongs; then come the buffers. */
static void make_segment(void) {
  gex_Segment_t segment;
  const size_t page = GASNET_PAGESIZE;
  size_t bytes;
  char* mine;
  source_at = kFlags;
  target_at = source_at + (source_bytes + kRow - 1) / kRow * kRow;
  bytes = (target_at + target_bytes + page - 1) / page * page;
  must(gex_Segment_Attach(&segment, team, bytes), "gex_Segment_Attach");
  mine = gex_Segment_QueryAddr(segment);
  memset(mine, 0, bytes);
  for (int rank = 0; rank < all; ++rank) {
    gex_Event_Wait(
        gex_Coll_BroadcastNB(team, (gex_Rank_t)rank, &bases[rank], &mine, sizeof mine, 0));
  }
  arrived = (volatile uint64_t*)mine;
  source = (unsigned char*)mine + source_at;
  target = (unsigned char*)mine + target_at;
  barrier();
}

static void run_put(const struct cell* cell) {
  must(gex_RMA_PutBlocking(team, (gex_Rank_t)next_rank(), target_of(next_rank()), source,
                           (size_t)cell->bytes, 0),
       "gex_RMA_PutBlocking");
}

static void run_get(const struct cell* cell) {
  must(gex_RMA_GetBlocking(team, target, (gex_Rank_t)next_rank(), source_of(next_rank()),
                           (size_t)cell->bytes, 0),
       "gex_RMA_GetBlocking");
}

/* Sources are left alone until all puts are complete. */
static void put_soon(int rank, size_t at, const void* from, size_t bytes) {
  must(gex_RMA_PutNBI(team, (gex_Rank_t)rank, (char*)target_of(rank) + at, (void*)from, bytes,
                      GEX_EVENT_DEFER, 0),
       "gex_RMA_PutNBI");
}

static void finish(void) { gex_NBI_Wait(GEX_EC_ALL, 0); }

/* Many at a time. */
static void run_window(const struct cell* cell) {
  for (int i = 0; i < kWindow; ++i) {
    put_soon(next_rank(), (size_t)i * (size_t)cell->bytes, source, (size_t)cell->bytes);
  }
  finish();
}

/* Ranks 0 and 1 answer each other; the others have nothing to do. */
static void run_latency(const struct cell* cell) {
  if (me > 1 || all < 2) return;
  ++sent;
  for (int turn = 0; turn < 2; ++turn) {
    const gex_Rank_t other = (gex_Rank_t)(1 - me);
    int turns = 0;
    if (turn == me) {
      must(gex_RMA_PutBlocking(team, other, target_of(1 - me), source, (size_t)cell->bytes, 0),
           "gex_RMA_PutBlocking");
      must(gex_RMA_PutBlocking(team, other, flag_of(1 - me), &sent, sizeof sent, 0),
           "gex_RMA_PutBlocking");
      continue;
    }
    while (*arrived < sent) {
      gasnet_AMPoll();
      if (++turns % 64 == 0) sched_yield();
    }
    __sync_synchronize();
  }
}

/* Strided transfers: rows of `kRow` bytes with as many between them, on both sides. */

static size_t row_bytes(const struct cell* cell) {
  return (size_t)cell->bytes < kRow ? (size_t)cell->bytes : kRow;
}

static size_t rows_of(const struct cell* cell) {
  const size_t row = row_bytes(cell);
  return row == 0 ? 0 : (size_t)cell->bytes / row;
}

static const ptrdiff_t kStrides[1] = {2 * kRow};

static void fill_strided(const struct cell* cell) {
  put_data(source, 2 * kRow * (long)rows_of(cell), me, 0);
  memset(target, 0xee, target_bytes);
}

static void run_strided_put(const struct cell* cell) {
  const size_t rows[1] = {rows_of(cell)};
  gex_VIS_StridedPutBlocking(team, (gex_Rank_t)next_rank(), target_of(next_rank()), kStrides,
                             source, kStrides, row_bytes(cell), rows, 1, 0);
}

static void run_strided_get(const struct cell* cell) {
  const size_t rows[1] = {rows_of(cell)};
  gex_VIS_StridedGetBlocking(team, target, kStrides, (gex_Rank_t)next_rank(),
                             source_of(next_rank()), kStrides, row_bytes(cell), rows, 1, 0);
}

/* Rows have come, and what is between them is as it was. */
static int has_rows(const struct cell* cell, int from, char* note) {
  const size_t row = row_bytes(cell);
  for (size_t i = 0; i < 2 * kRow * rows_of(cell); ++i) {
    const int moved = i % (2 * kRow) < row;
    if (target[i] == (moved ? datum(from, (long)i, 0) : 0xee)) continue;
    snprintf(note, kMaxNote, "rank %d: byte %zu of a strided transfer from rank %d is wrong", me, i,
             from);
    return 0;
  }
  return 1;
}

static int check_strided_put(const struct cell* cell, char* note) {
  return has_rows(cell, rank_before(), note);
}

static int check_strided_get(const struct cell* cell, char* note) {
  return has_rows(cell, next_rank(), note);
}

/* Collective operations. */

static void fill_nothing(const struct cell* cell) { (void)cell; }

static void run_barrier(const struct cell* cell) {
  (void)cell;
  barrier();
}

static int check_nothing(const struct cell* cell, char* note) {
  (void)cell;
  (void)note;
  return 1;
}

static void run_bcast(const struct cell* cell) {
  gex_Event_Wait(gex_Coll_BroadcastNB(team, 0, target, source, (size_t)cell->bytes, 0));
}

static int check_bcast(const struct cell* cell, char* note) {
  return has_data(target, cell->bytes, 0, 0, note);
}

static long doubles_of(const struct cell* cell) { return cell->bytes / (long)sizeof(double); }

static void fill_doubles(const struct cell* cell) {
  double* const values = (double*)source;
  for (long i = 0; i < doubles_of(cell); ++i) values[i] = (double)(me + 1) + (double)(i % 1000);
  memset(target, 0xee, target_bytes);
}

static void run_allreduce(const struct cell* cell) {
  gex_Event_Wait(gex_Coll_ReduceToAllNB(team, target, source, GEX_DT_DBL, sizeof(double),
                                        (size_t)doubles_of(cell), GEX_OP_ADD, NULL, NULL, 0));
}

static void run_reduce(const struct cell* cell) {
  gex_Event_Wait(gex_Coll_ReduceToOneNB(team, 0, target, source, GEX_DT_DBL, sizeof(double),
                                        (size_t)doubles_of(cell), GEX_OP_ADD, NULL, NULL, 0));
}

/* Sums of small whole numbers are exact, in whatever order. */
static int check_allreduce(const struct cell* cell, char* note) {
  const double* const values = (const double*)target;
  for (long i = 0; i < doubles_of(cell); ++i) {
    const double wanted = all * (all + 1) / 2.0 + (double)all * (double)(i % 1000);
    if (values[i] == wanted) continue;
    snprintf(note, kMaxNote, "rank %d: element %ld of the sum is %g, not %g", me, i, values[i],
             wanted);
    return 0;
  }
  return 1;
}

static int check_reduce(const struct cell* cell, char* note) {
  return me != 0 || check_allreduce(cell, note);
}

/* Programs. All to all, many at a time: */

static void run_outstanding(const struct cell* cell) {
  const size_t bytes = (size_t)cell->bytes;
  for (size_t i = 0; i < kWindow; ++i) {
    for (int k = 1; k <= all; ++k) {
      put_soon((me + k) % all, ((size_t)me * kWindow + i) * bytes, source, bytes);
    }
  }
  finish();
  barrier();
}

/* The halos of a ring, and a sum: */

static double operand;
static double summed;

static void fill_halo(const struct cell* cell) {
  fill_two(cell);
  operand = me + 1;
  summed = 0;
}

static void run_halo(const struct cell* cell) {
  const size_t bytes = (size_t)cell->bytes;
  put_soon(next_rank(), 0, source, bytes);
  put_soon(rank_before(), bytes, source + bytes, bytes);
  finish();
  barrier();
  gex_Event_Wait(gex_Coll_ReduceToAllNB(team, &summed, &operand, GEX_DT_DBL, sizeof(double), 1,
                                        GEX_OP_ADD, NULL, NULL, 0));
}

static int check_halo(const struct cell* cell, char* note) {
  if (summed != all * (all + 1) / 2.0) {
    snprintf(note, kMaxNote, "rank %d: the sum is %g", me, summed);
    return 0;
  }
  return check_two(cell, note);
}

/* A sort of integers by their owners, each of which has a bucket for every rank: */

static void run_sort(const struct cell* cell) {
  const size_t room = (size_t)(keys_of(cell) + 1) * sizeof(uint64_t);
  for (int k = 0; k < all; ++k) {
    const int owner = (me + k) % all;
    const uint64_t* const bucket = bucket_of(source, cell, owner);
    put_soon(owner, (size_t)me * room, bucket, (size_t)(bucket[0] + 1) * sizeof(uint64_t));
  }
  finish();
  barrier();
}

static const struct operation kOperations[] = {
    {"allreduce", 1, 1, 0, fill_doubles, run_allreduce, check_allreduce},
    {"barrier", 0, 0, 0, fill_nothing, run_barrier, check_nothing},
    {"bcast", 1, 1, 0, fill_one, run_bcast, check_bcast},
    {"get", 1, 1, 0, fill_one, run_get, check_from_next},
    {"halo", 2, 2, 0, fill_halo, run_halo, check_halo},
    {"latency", 1, 1, 0, fill_one, run_latency, check_latency},
    {"outstanding", 1, kWindow, 1, fill_one, run_outstanding, check_outstanding},
    {"put", 1, 1, 0, fill_one, run_put, check_from_before},
    {"reduce", 1, 1, 0, fill_doubles, run_reduce, check_reduce},
    {"sort", 1, 1, 1, fill_buckets, run_sort, check_buckets},
    {"strided_get", 2, 2, 0, fill_strided, run_strided_get, check_strided_get},
    {"strided_put", 2, 2, 0, fill_strided, run_strided_put, check_strided_put},
    {"window", 1, kWindow, 0, fill_one, run_window, check_window},
    {NULL, 0, 0, 0, NULL, NULL, NULL},
};

/* The largest of all ranks, on all. */
static double largest(double mine) {
  double most = mine;
  gex_Event_Wait(gex_Coll_ReduceToAllNB(team, &most, &mine, GEX_DT_DBL, sizeof mine, 1, GEX_OP_MAX,
                                        NULL, NULL, 0));
  return most;
}

/* Other ranks say only that something was wrong, on standard error what. */
static int verified(const struct operation* operation, const struct cell* cell, char* note) {
  int well;
  note[0] = '\0';
  operation->fill(cell);
  barrier();
  operation->run(cell);
  barrier();
  well = operation->check(cell, note);
  if (!well && me != 0) fprintf(stderr, "driver: %s\n", note);
  if (largest(well ? 0 : 1) == 0) return 1;
  if (well) snprintf(note, kMaxNote, "the data of a rank are wrong");
  return 0;
}

static double timed(const struct operation* operation, const struct cell* cell) {
  double begin_s;
  barrier();
  begin_s = now_s();
  operation->run(cell);
  return largest(now_s() - begin_s);
}

int main(int argc, char** argv) {
  gex_Client_t client;
  gex_EP_t endpoint;
  if (gex_Client_Init(&client, &endpoint, &team, "stripline", &argc, &argv, 0) != GASNET_OK) {
    fprintf(stderr, "driver: gex_Client_Init\n");
    return 3;
  }
  me = (int)gex_TM_QueryRank(team);
  all = (int)gex_TM_QuerySize(team);
  start_s = now_s();
  if (all > kMostRanks) fail("there are too many ranks");
  if (argc != 2) fail("usage: driver PLAN");
  read_plan(argv[1]);
  size_buffers(kOperations);
  make_segment();
  carry_out(kOperations);
  barrier();
  if (me == 0) {
    printf("{\"done\":true}\n");
    fflush(stdout);
  }
  barrier();
  gasnet_exit(0);
  return 0;
}
