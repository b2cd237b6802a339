/* stripline's libfabric driver: carries out a plan and prints what it measured.
 *
 *   driver PLAN RANKS
 *
 * The plan and what is printed are those of the MPI driver (../main.c), for one variant without
 * variables. Ranks are processes of this host, which this one makes before it uses libfabric; all
 * of them take part in every cell. STRIPLINE_TUNE_PROVIDER names the provider, as fi_info does;
 * without it the first one is taken. Ranks tell each other addresses, times and when to begin
 * through memory that they share, by nothing of the fabric. Each operation is verified against what
 * a sequential program would have, before and after it is timed. The first lines that it prints are
 * {"process": NUMBER} for each rank, as the provider shm names files by them, which a rank that is
 * killed leaves. */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

#include "../measure.h"

enum {
  kMostRanks = 256,
  kContexts = 65536, /* more than operations are in flight */
  kAddressBytes = 256,
  kReadEnd = 16
};

/* Of all ranks. */
struct shared {
  int failed;
  int waiting;
  int round;
  unsigned char address[kMostRanks][kAddressBytes];
  uint64_t source_key[kMostRanks];
  uint64_t source_base[kMostRanks];
  double time_s[kMostRanks];
  int well[kMostRanks];
  char note[kMostRanks][kMaxNote];
};
static struct shared* shared;

static struct fid_ep* endpoint;
static struct fid_cq* sends;
static struct fid_cq* receives;
static void* source_desc;
static void* target_desc;
static struct fi_context2 contexts[kContexts];
static unsigned next_context;
static long sent, received;             /* completions so far */
static long to_be_sent, to_be_received; /* what was posted */

/* An endpoint of the provider shm has a file in /dev/shm until it is closed. */
static void close_endpoint(void) {
  if (endpoint != NULL) fi_close(&endpoint->fid);
  endpoint = NULL;
}

/* The others end at the next look at `failed`. The launch ends with rank 0, and whoever is left
 * then is killed. */
static void leave(void) {
  close_endpoint();
  if (me == 0) {
    while (wait(NULL) > 0) {
    }
  }
  _exit(3);
}

static void fail_with(const char* what, int error) {
  fprintf(stderr, "driver: rank %d: %s: %s\n", me, what, error == 0 ? "" : fi_strerror(-error));
  __atomic_store_n(&shared->failed, 1, __ATOMIC_RELEASE);
  leave();
}

static void fail(const char* what) { fail_with(what, 0); }

/* Where this rank waits for others: one that has failed does nothing any more. */
static void leave_if_failed(void) {
  if (__atomic_load_n(&shared->failed, __ATOMIC_ACQUIRE)) leave();
}

static void must(int error, const char* what) {
  if (error != 0) fail_with(what, error);
}

/* The fabric. */

static void poll_queue(struct fid_cq* queue, long* count) {
  struct fi_cq_entry entries[kReadEnd];
  const ssize_t got = fi_cq_read(queue, entries, kReadEnd);
  if (got > 0) {
    *count += got;
  } else if (got != -FI_EAGAIN) {
    struct fi_cq_err_entry error;
    memset(&error, 0, sizeof error);
    fi_cq_readerr(queue, &error, 0);
    fail_with("an operation failed", -error.err);
  }
}

static void make_progress(void) {
  poll_queue(sends, &sent);
  poll_queue(receives, &received);
}

/* What a call found full may get empty. */
static void make_room(void) {
  make_progress();
  leave_if_failed();
}

/* Ranks that share processors take turns. */
static void barrier(void) {
  const int round = __atomic_load_n(&shared->round, __ATOMIC_ACQUIRE);
  if (__atomic_add_fetch(&shared->waiting, 1, __ATOMIC_ACQ_REL) == all) {
    __atomic_store_n(&shared->waiting, 0, __ATOMIC_RELEASE);
    __atomic_store_n(&shared->round, round + 1, __ATOMIC_RELEASE);
    return;
  }
  while (__atomic_load_n(&shared->round, __ATOMIC_ACQUIRE) == round) {
    leave_if_failed();
    if (endpoint != NULL) make_progress();
    sched_yield();
  }
}

static void* context(void) { return &contexts[next_context++ % kContexts]; }

static void send_to(int rank, const unsigned char* from, size_t bytes, uint64_t tag) {
  ssize_t error;
  void* const own = context();
  while ((error = fi_tsend(endpoint, from, bytes, source_desc, (fi_addr_t)rank, tag, own)) ==
         -FI_EAGAIN) {
    make_room();
  }
  must((int)error, "fi_tsend");
  ++to_be_sent;
}

/* From whom does not matter: tags are of one sender each. */
static void receive(unsigned char* to, size_t bytes, uint64_t tag) {
  ssize_t error;
  void* const own = context();
  while ((error = fi_trecv(endpoint, to, bytes, target_desc, FI_ADDR_UNSPEC, tag, 0, own)) ==
         -FI_EAGAIN) {
    make_room();
  }
  must((int)error, "fi_trecv");
  ++to_be_received;
}

static void finish(void) {
  int turns = 0;
  while (sent < to_be_sent || received < to_be_received) {
    make_progress();
    if (++turns % 64 != 0) continue;
    leave_if_failed();
    sched_yield();
  }
}

static void open_endpoint(void) {
  const char* const provider = getenv("STRIPLINE_TUNE_PROVIDER");
  struct fi_info* const hints = fi_allocinfo();
  struct fi_info* info = NULL;
  struct fid_fabric* fabric;
  struct fid_domain* domain;
  struct fid_av* addresses;
  struct fid_mr* regions[2];
  struct fi_cq_attr queue = {.format = FI_CQ_FORMAT_CONTEXT};
  struct fi_av_attr table = {.type = FI_AV_TABLE};
  size_t length = kAddressBytes;
  int mode;
  hints->ep_attr->type = FI_EP_RDM;
  hints->caps = FI_TAGGED | FI_RMA;
  hints->mode = FI_CONTEXT | FI_CONTEXT2;
  hints->domain_attr->mr_mode =
      FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
  if (provider != NULL) hints->fabric_attr->prov_name = strdup(provider);
  must(fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &info), "fi_getinfo");
  mode = info->domain_attr->mr_mode;
  must(fi_fabric(info->fabric_attr, &fabric, NULL), "fi_fabric");
  must(fi_domain(fabric, info, &domain, NULL), "fi_domain");
  must(fi_cq_open(domain, &queue, &sends, NULL), "fi_cq_open");
  must(fi_cq_open(domain, &queue, &receives, NULL), "fi_cq_open");
  must(fi_av_open(domain, &table, &addresses, NULL), "fi_av_open");
  must(fi_endpoint(domain, info, &endpoint, NULL), "fi_endpoint");
  must(fi_ep_bind(endpoint, &sends->fid, FI_TRANSMIT), "fi_ep_bind");
  must(fi_ep_bind(endpoint, &receives->fid, FI_RECV), "fi_ep_bind");
  must(fi_ep_bind(endpoint, &addresses->fid, 0), "fi_ep_bind");
  must(fi_enable(endpoint), "fi_enable");
  for (int i = 0; i < 2; ++i) {
    must(fi_mr_reg(domain, i == 0 ? source : target, i == 0 ? source_bytes : target_bytes,
                   FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE, 0,
                   (uint64_t)(2 * me + i + 1), 0, &regions[i], NULL),
         "fi_mr_reg");
    if (mode & FI_MR_ENDPOINT) {
      must(fi_mr_bind(regions[i], &endpoint->fid, 0), "fi_mr_bind");
      must(fi_mr_enable(regions[i]), "fi_mr_enable");
    }
  }
  source_desc = fi_mr_desc(regions[0]);
  target_desc = fi_mr_desc(regions[1]);
  shared->source_key[me] = fi_mr_key(regions[0]);
  shared->source_base[me] = mode & FI_MR_VIRT_ADDR ? (uint64_t)(uintptr_t)source : 0;
  must(fi_getname(&endpoint->fid, shared->address[me], &length), "fi_getname");
  barrier();
  for (int rank = 0; rank < all; ++rank) {
    fi_addr_t at = FI_ADDR_NOTAVAIL;
    if (fi_av_insert(addresses, shared->address[rank], 1, &at, 0, NULL) != 1 ||
        at != (fi_addr_t)rank) {
      fail("fi_av_insert");
    }
  }
  fi_freeinfo(hints);
  fi_freeinfo(info);
  barrier();
}

/* Ranks 0 and 1 answer each other; the others wait. */
static void run_latency(const struct cell* cell) {
  if (me > 1 || all < 2) return;
  for (int turn = 0; turn < 2; ++turn) {
    if (turn == me) {
      send_to(1 - me, source, (size_t)cell->bytes, (uint64_t)me);
    } else {
      receive(target, (size_t)cell->bytes, (uint64_t)(1 - me));
    }
    finish();
  }
}

/* A window of messages around a ring, all of them asked for before they come. */
static void run_window(const struct cell* cell) {
  for (int i = 0; i < kWindow; ++i) {
    receive(target + i * cell->bytes, (size_t)cell->bytes, (uint64_t)rank_before());
  }
  for (int i = 0; i < kWindow; ++i) {
    send_to(next_rank(), source, (size_t)cell->bytes, (uint64_t)me);
  }
  finish();
}

/* Reads of the next rank's memory. Whoever waits at the next barrier makes progress for them. */
static void run_get(const struct cell* cell) {
  ssize_t error;
  const int rank = next_rank();
  while ((error = fi_read(endpoint, target, (size_t)cell->bytes, target_desc, (fi_addr_t)rank,
                          shared->source_base[rank], shared->source_key[rank], context())) ==
         -FI_EAGAIN) {
    make_room();
  }
  must((int)error, "fi_read");
  ++to_be_sent;
  finish();
}

/* Programs. All to all, many at a time: */

static void run_outstanding(const struct cell* cell) {
  for (int from = 0; from < all; ++from) {
    for (int i = 0; i < kWindow; ++i) {
      unsigned char* const to = target + ((long)from * kWindow + i) * cell->bytes;
      if (from == me) {
        memcpy(to, source, (size_t)cell->bytes);
      } else {
        receive(to, (size_t)cell->bytes, (uint64_t)from);
      }
    }
  }
  for (int i = 0; i < kWindow; ++i) {
    for (int k = 1; k < all; ++k) {
      send_to((me + k) % all, source, (size_t)cell->bytes, (uint64_t)me);
    }
  }
  finish();
}

/* The halos of a ring, in both directions: */

static void run_halo(const struct cell* cell) {
  const size_t bytes = (size_t)cell->bytes;
  receive(target, bytes, (uint64_t)rank_before());
  receive(target + bytes, bytes, (uint64_t)(all + next_rank()));
  send_to(next_rank(), source, bytes, (uint64_t)me);
  send_to(rank_before(), source + bytes, bytes, (uint64_t)(all + me));
  finish();
}

/* A sort of integers by their owners. A bucket is sent as far as it has keys. */

static void run_sort(const struct cell* cell) {
  const size_t most = (size_t)(keys_of(cell) + 1) * sizeof(uint64_t);
  for (int from = 0; from < all; ++from) {
    if (from != me) receive((unsigned char*)bucket_of(target, cell, from), most, (uint64_t)from);
  }
  for (int k = 0; k < all; ++k) {
    const int owner = (me + k) % all;
    const uint64_t* const bucket = bucket_of(source, cell, owner);
    const size_t bytes = (size_t)(bucket[0] + 1) * sizeof(uint64_t);
    if (owner == me) {
      memcpy(bucket_of(target, cell, me), bucket, bytes);
    } else {
      send_to(owner, (const unsigned char*)bucket, bytes, (uint64_t)me);
    }
  }
  finish();
}

static const struct operation kOperations[] = {
    {"get", 1, 1, 0, fill_one, run_get, check_from_next},
    {"halo", 2, 2, 0, fill_two, run_halo, check_two},
    {"latency", 1, 1, 0, fill_one, run_latency, check_latency},
    {"outstanding", 1, kWindow, 1, fill_one, run_outstanding, check_outstanding},
    {"sort", 1, 1, 1, fill_buckets, run_sort, check_buckets},
    {"window", 1, kWindow, 0, fill_one, run_window, check_window},
    {NULL, 0, 0, 0, NULL, NULL, NULL},
};

/* The same on all ranks; `note` is that of the first one with something wrong. */
static int verified(const struct operation* operation, const struct cell* cell, char* note) {
  int well = 1;
  operation->fill(cell);
  barrier();
  operation->run(cell);
  barrier();
  shared->note[me][0] = '\0';
  shared->well[me] = operation->check(cell, shared->note[me]);
  barrier();
  note[0] = '\0';
  for (int rank = 0; rank < all && well; ++rank) {
    well = shared->well[rank];
    if (!well) snprintf(note, kMaxNote, "%s", shared->note[rank]);
  }
  barrier();
  return well;
}

static double timed(const struct operation* operation, const struct cell* cell) {
  double most_s = 0;
  double begin_s;
  barrier();
  begin_s = now_s();
  operation->run(cell);
  shared->time_s[me] = now_s() - begin_s;
  barrier();
  for (int rank = 0; rank < all; ++rank) {
    if (shared->time_s[rank] > most_s) most_s = shared->time_s[rank];
  }
  barrier();
  return most_s;
}

static unsigned char* room(size_t bytes) {
  void* memory = NULL;
  if (posix_memalign(&memory, 4096, bytes) != 0) fail("out of memory");
  memset(memory, 0, bytes);
  return memory;
}

int main(int argc, char** argv) {
  struct fid_ep* used;
  int status = 0;
  pid_t processes[kMostRanks];
  all = argc == 3 ? atoi(argv[2]) : 0;
  if (all < 1 || all > kMostRanks) {
    fprintf(stderr, "usage: driver PLAN RANKS\n");
    return 2;
  }
  shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return 4;
  start_s = now_s();
  for (int rank = 1; rank < all; ++rank) {
    const pid_t child = fork();
    if (child < 0) fail("cannot start a process");
    if (child == 0) {
      me = rank;
      /* At this one the provider shm removes its files. */
      prctl(PR_SET_PDEATHSIG, SIGTERM);
      break;
    }
    processes[rank] = child;
  }
  if (me == 0) {
    processes[0] = getpid();
    for (int rank = 0; rank < all; ++rank) printf("{\"process\":%ld}\n", (long)processes[rank]);
    fflush(stdout);
  }
  read_plan(argv[1]);
  size_buffers(kOperations);
  source = room(source_bytes);
  target = room(target_bytes);
  open_endpoint();
  carry_out(kOperations);
  barrier();
  /* None is closed while another rank polls its queues. */
  used = endpoint;
  endpoint = NULL;
  barrier();
  endpoint = used;
  close_endpoint();
  if (me != 0) _exit(0);
  while (wait(&status) > 0) {
    if (status != 0) return 3;
  }
  printf("{\"done\":true}\n");
  return 0;
}
