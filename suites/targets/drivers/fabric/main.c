/* stripline's libfabric driver: carries out a plan and prints what it measured.
 *
 *   driver PLAN RANKS
 *
 * The plan and what is printed are those of the MPI driver (../main.c), for one variant without
 * variables. Ranks are processes of this host, which this one makes before it uses libfabric; all
 * of them take part in every cell. STRIPLINE_TUNE_PROVIDER names the provider, as fi_info does;
 * without it the first one is taken. Ranks tell each other addresses, times and when to begin
 * through memory that they share, by nothing of the fabric. Each operation is verified against what
 * a sequential program would have, before and after it is timed. */
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
#include <time.h>
#include <unistd.h>

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

enum {
  kMaxName = 64,
  kMaxNote = 256,
  kMostCells = 4096,
  kMostRanks = 256,
  kMostRepetitions = 1000,
  kWindow = 16,
  kContexts = 65536, /* more than operations are in flight */
  kAddressBytes = 256,
  kReadEnd = 16
};

struct cell {
  char operation[kMaxName];
  int ranks;
  long bytes;
  char type[kMaxName];
  int in_place;
};

static struct {
  int run;
  int repetitions;
  double budget_s;
  int cells;
  struct cell cell[kMostCells];
} plan;

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

static int me;
static int all;
static double start_s;
static unsigned char* source;
static unsigned char* target;
static size_t source_bytes = 64;
static size_t target_bytes = 64;

static struct fid_ep* endpoint;
static struct fid_cq* sends;
static struct fid_cq* receives;
static void* source_desc;
static void* target_desc;
static struct fi_context2 contexts[kContexts];
static unsigned next_context;
static long sent, received;             /* completions so far */
static long to_be_sent, to_be_received; /* what was posted */

static double now_s(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

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

static void fail(const char* what, int error) {
  fprintf(stderr, "driver: rank %d: %s: %s\n", me, what, error == 0 ? "" : fi_strerror(-error));
  __atomic_store_n(&shared->failed, 1, __ATOMIC_RELEASE);
  leave();
}

/* Where this rank waits for others: one that has failed does nothing any more. */
static void leave_if_failed(void) {
  if (__atomic_load_n(&shared->failed, __ATOMIC_ACQUIRE)) leave();
}

static void must(int error, const char* what) {
  if (error != 0) fail(what, error);
}

static void read_plan(const char* path) {
  FILE* const file = fopen(path, "r");
  static char line[65536];
  if (file == NULL) fail("cannot read the plan", 0);
  plan.repetitions = 10;
  plan.budget_s = 0.01;
  while (fgets(line, sizeof line, file) != NULL) {
    char word[kMaxName] = "";
    struct cell* const cell = &plan.cell[plan.cells];
    sscanf(line, "%63s", word);
    if (strcmp(word, "run") == 0) {
      sscanf(line, "run %d", &plan.run);
    } else if (strcmp(word, "repetitions") == 0) {
      sscanf(line, "repetitions %d", &plan.repetitions);
    } else if (strcmp(word, "budget") == 0) {
      sscanf(line, "budget %lf", &plan.budget_s);
    } else if (strcmp(word, "cell") == 0) {
      if (plan.cells == kMostCells) fail("the plan has too many cells", 0);
      if (sscanf(line, "cell %63s %d %ld %63s %d", cell->operation, &cell->ranks, &cell->bytes,
                 cell->type, &cell->in_place) != 5 ||
          cell->bytes < 0) {
        fail("a cell is malformed", 0);
      }
      if (cell->ranks != all) fail("a cell needs another number of ranks", 0);
      ++plan.cells;
    }
  }
  fclose(file);
  if (plan.repetitions < 3) plan.repetitions = 3;
  if (plan.repetitions > kMostRepetitions) plan.repetitions = kMostRepetitions;
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
    fail("an operation failed", -error.err);
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
      fail("fi_av_insert", 0);
    }
  }
  fi_freeinfo(hints);
  fi_freeinfo(info);
  barrier();
}

/* What elements hold. */
static unsigned char datum(int from, long index, long salt) {
  return (unsigned char)(from * 131 + index * 7 + salt * 29 + 1);
}

static void put_data(unsigned char* to, long bytes, int from, long salt) {
  for (long i = 0; i < bytes; ++i) to[i] = datum(from, i, salt);
}

static int has_data(const unsigned char* at, long bytes, int from, long salt, char* note) {
  for (long i = 0; i < bytes; ++i) {
    if (at[i] == datum(from, i, salt)) continue;
    snprintf(note, kMaxNote, "rank %d: byte %ld of what rank %d had is wrong", me, i, from);
    return 0;
  }
  return 1;
}

static int next_rank(void) { return (me + 1) % all; }
static int rank_before(void) { return (me + all - 1) % all; }

struct operation {
  const char* name;
  size_t source_blocks; /* of the size of a call */
  size_t target_blocks; /* for each rank where `by_rank` */
  int by_rank;
  void (*fill)(const struct cell* cell);
  void (*run)(const struct cell* cell);
  int (*check)(const struct cell* cell, char* note);
};

static void fill_one(const struct cell* cell) {
  put_data(source, cell->bytes, me, 0);
  memset(target, 0xee, target_bytes);
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

static int check_latency(const struct cell* cell, char* note) {
  return me > 1 || all < 2 || has_data(target, cell->bytes, 1 - me, 0, note);
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

static int check_window(const struct cell* cell, char* note) {
  for (int i = 0; i < kWindow; ++i) {
    if (!has_data(target + i * cell->bytes, cell->bytes, rank_before(), 0, note)) return 0;
  }
  return 1;
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

static int check_get(const struct cell* cell, char* note) {
  return has_data(target, cell->bytes, next_rank(), 0, note);
}

/* Programs. All to all, many at a time: */

static void run_outstanding(const struct cell* cell) {
  for (int from = 0; from < all; ++from) {
    for (int i = 0; i < kWindow && from != me; ++i) {
      receive(target + ((long)from * kWindow + i) * cell->bytes, (size_t)cell->bytes,
              (uint64_t)from);
    }
  }
  for (int i = 0; i < kWindow; ++i) {
    for (int k = 1; k < all; ++k) {
      send_to((me + k) % all, source, (size_t)cell->bytes, (uint64_t)me);
    }
  }
  finish();
}

static int check_outstanding(const struct cell* cell, char* note) {
  for (int from = 0; from < all; ++from) {
    for (int i = 0; i < kWindow && from != me; ++i) {
      if (!has_data(target + ((long)from * kWindow + i) * cell->bytes, cell->bytes, from, 0,
                    note)) {
        return 0;
      }
    }
  }
  return 1;
}

/* The halos of a ring, in both directions: */

static void fill_halo(const struct cell* cell) {
  put_data(source, cell->bytes, me, 1);
  put_data(source + cell->bytes, cell->bytes, me, 2);
  memset(target, 0xee, target_bytes);
}

static void run_halo(const struct cell* cell) {
  const size_t bytes = (size_t)cell->bytes;
  receive(target, bytes, (uint64_t)rank_before());
  receive(target + bytes, bytes, (uint64_t)(all + next_rank()));
  send_to(next_rank(), source, bytes, (uint64_t)me);
  send_to(rank_before(), source + bytes, bytes, (uint64_t)(all + me));
  finish();
}

static int check_halo(const struct cell* cell, char* note) {
  return has_data(target, cell->bytes, rank_before(), 1, note) &&
         has_data(target + cell->bytes, cell->bytes, next_rank(), 2, note);
}

/* A sort of integers by their owners: how many, then the keys. The last words of a block are theirs
 * and those of other ranks. */

static long keys_of(const struct cell* cell) { return cell->bytes / (long)sizeof(uint64_t); }

static uint64_t key_of(int from, long index) {
  uint64_t x = (uint64_t)from * 0x9e3779b97f4a7c15u + (uint64_t)index + 1;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/* Each bucket has a block of its own, which begins with how many keys it has. */
static void fill_sort(const struct cell* cell) {
  const long room = keys_of(cell) + 1;
  uint64_t* const buckets = (uint64_t*)source;
  memset(target, 0, target_bytes);
  for (int owner = 0; owner < all; ++owner) buckets[owner * room] = 0;
  for (long i = 0; i < keys_of(cell); ++i) {
    const uint64_t key = key_of(me, i);
    uint64_t* const bucket = buckets + (long)(key % (uint64_t)all) * room;
    bucket[++bucket[0]] = key;
  }
}

static void run_sort(const struct cell* cell) {
  const long room = keys_of(cell) + 1;
  const size_t bytes = (size_t)room * sizeof(uint64_t);
  for (int from = 0; from < all; ++from) {
    if (from != me) receive(target + (size_t)from * bytes, bytes, (uint64_t)from);
  }
  for (int k = 1; k < all; ++k) {
    const int owner = (me + k) % all;
    const unsigned char* const bucket = source + (size_t)owner * bytes;
    const uint64_t count = *(const uint64_t*)bucket;
    send_to(owner, bucket, (size_t)(count + 1) * sizeof(uint64_t), (uint64_t)me);
  }
  finish();
}

static int check_sort(const struct cell* cell, char* note) {
  const long room = keys_of(cell) + 1;
  for (int from = 0; from < all; ++from) {
    const uint64_t* const keys = (const uint64_t*)target + (long)from * room;
    uint64_t at = 0;
    for (long i = 0; i < keys_of(cell) && from != me; ++i) {
      const uint64_t key = key_of(from, i);
      if (key % (uint64_t)all == (uint64_t)me && keys[++at] != key) {
        snprintf(note, kMaxNote, "rank %d: key %lu of rank %d is wrong", me, (unsigned long)at,
                 from);
        return 0;
      }
    }
    if (keys[0] != at) {
      snprintf(note, kMaxNote, "rank %d: it has %lu keys of rank %d, not %lu", me,
               (unsigned long)keys[0], from, (unsigned long)at);
      return 0;
    }
  }
  return 1;
}

static const struct operation kOperations[] = {
    {"get", 1, 1, 0, fill_one, run_get, check_get},
    {"halo", 2, 2, 0, fill_halo, run_halo, check_halo},
    {"latency", 1, 1, 0, fill_one, run_latency, check_latency},
    {"outstanding", 1, kWindow, 1, fill_one, run_outstanding, check_outstanding},
    {"sort", 1, 1, 1, fill_sort, run_sort, check_sort},
    {"window", 1, kWindow, 0, fill_one, run_window, check_window},
};

static const struct operation* operation_of(const char* name) {
  for (size_t i = 0; i < sizeof kOperations / sizeof kOperations[0]; ++i) {
    if (strcmp(kOperations[i].name, name) == 0) return &kOperations[i];
  }
  fail("the plan has an unknown operation", 0);
  return NULL;
}

static void print_point(const struct cell* cell) {
  printf(
      "{\"experiment\":\"target.%s\",\"variant\":\"0\",\"params\":{\"ranks\":%d,\"bytes\":%ld,"
      "\"type\":\"%s\",\"in_place\":%d}}",
      cell->operation, cell->ranks, cell->bytes, cell->type, cell->in_place);
}

static void print_next(const struct cell* cell) {
  printf("{\"at\":");
  print_point(cell);
  printf("}\n");
  fflush(stdout);
}

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

/* The longest time of all ranks, on all. */
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

static void measure(const struct cell* cell) {
  const struct operation* const operation = operation_of(cell->operation);
  static double times[kMostRepetitions];
  static double ends[kMostRepetitions];
  char note[kMaxNote];
  int repetitions = plan.repetitions;
  int well;
  double once_s;
  double second_s;
  double said_s;
  if (me == 0) print_next(cell);
  well = verified(operation, cell, note);
  once_s = timed(operation, cell);
  second_s = timed(operation, cell);
  if (second_s < once_s) once_s = second_s;
  if (once_s * repetitions > plan.budget_s) repetitions = (int)(plan.budget_s / once_s);
  if (repetitions < 3) repetitions = 3;
  said_s = now_s();
  for (int i = 0; i < repetitions && well; ++i) {
    times[i] = timed(operation, cell);
    ends[i] = now_s();
    if (me == 0 && ends[i] - said_s > 1) {
      print_next(cell);
      said_s = ends[i];
    }
  }
  if (well) well = verified(operation, cell, note);
  if (me != 0) return;
  printf("{\"point\":");
  print_point(cell);
  printf(",\"run\":%d,\"values\":[", plan.run);
  for (int i = 0; i < repetitions && well; ++i) printf("%s%.9e", i > 0 ? "," : "", times[i]);
  printf("],\"timestamps_s\":[");
  for (int i = 0; i < repetitions && well; ++i) {
    printf("%s%.6f", i > 0 ? "," : "", ends[i] - start_s);
  }
  printf("],\"warmup_dropped\":1,\"stop_reason\":\"%s\",\"verified\":%s,\"note\":\"%s\"}\n",
         repetitions >= plan.repetitions ? "max_reps" : "time_budget", well ? "true" : "false",
         note);
  fflush(stdout);
}

static unsigned char* room(size_t bytes) {
  void* memory = NULL;
  if (posix_memalign(&memory, 4096, bytes) != 0) fail("out of memory", 0);
  memset(memory, 0, bytes);
  return memory;
}

/* Buffers for the largest cell; one more word for each block, which a sort takes. */
static void make_buffers(void) {
  for (int i = 0; i < plan.cells; ++i) {
    const struct operation* const operation = operation_of(plan.cell[i].operation);
    const size_t block = (size_t)plan.cell[i].bytes + sizeof(uint64_t);
    const size_t ranks = operation->by_rank ? (size_t)all : 1;
    if (block * operation->source_blocks * ranks > source_bytes) {
      source_bytes = block * operation->source_blocks * ranks;
    }
    if (block * operation->target_blocks * ranks > target_bytes) {
      target_bytes = block * operation->target_blocks * ranks;
    }
  }
  source = room(source_bytes);
  target = room(target_bytes);
}

int main(int argc, char** argv) {
  struct fid_ep* used;
  int status = 0;
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
    if (child < 0) fail("cannot start a process", 0);
    if (child == 0) {
      me = rank;
      /* At this one the provider shm removes its files. */
      prctl(PR_SET_PDEATHSIG, SIGTERM);
      break;
    }
  }
  read_plan(argv[1]);
  make_buffers();
  open_endpoint();
  for (int i = 0; i < plan.cells; ++i) measure(&plan.cell[i]);
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
