/* stripline's MPI driver: carries out a plan and prints what it measured.
 *
 *   driver PLAN
 *
 * The plan is a file that rank 0 reads, of lines:
 *
 *   run N                  the number of this launch among those of a campaign
 *   seed N                 of the order of variants
 *   repetitions N          of each cell and variant, at most
 *   budget SECONDS         of each cell and variant
 *   variant NAME=NUMBER... control variables of MPI (MPI_T) that have these values while its
 *                          communicators are made and while it is carried out; variants are
 *                          counted from 0
 *   cell OPERATION RANKS BYTES TYPE IN_PLACE VARIANT...
 *
 * Cells of the same operation and number of ranks are to follow each other. Ranks that a cell does
 * not need sleep. Each line of standard output is a JSON object: {"at": ...} before a variant is
 * verified in a cell, for the first and for the last time, so that it is known which one hung or
 * ended the job; {"turns": ...} before all variants of a cell take turns, any of which may then be
 * the one, and about every second while they do, as slow calls are not to pass for one that hangs;
 * and a series of samples (optimizer/experiment/json.h) when a variant has been measured.
 * The first ones are {"unsettable": NAME} for variables that this MPI does not let have a value
 * that a variant asks for: a cell of such a variant ends the job. The last one is {"done": true}.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "driver.h"

enum { kMostVariables = 8, kMostRepetitions = 1000, kLeastRepetitions = 3 };

struct variable {
  char name[kMaxName * 2];
  long value;
};

struct variant {
  int variables;
  struct variable variable[kMostVariables];
};

struct plan {
  int run;
  unsigned seed;
  int repetitions;
  double budget_s;
  int variants;
  struct variant* variant;
  int cells;
  struct cell* cell;
  int listed; /* variants of all cells, one after the other */
  int* list;
};

static int world_rank;
static int world_size;
static double start_s;

static double now_s(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void fail(const char* what) {
  fprintf(stderr, "driver: rank %d: %s\n", world_rank, what);
  MPI_Abort(MPI_COMM_WORLD, 3);
  exit(3);
}

static void* grown(void* array, int count, size_t bytes) {
  /* To the next power of two. */
  if (count != 0 && (count & (count - 1)) != 0) return array;
  array = realloc(array, (count == 0 ? 1 : 2 * (size_t)count) * bytes);
  if (array == NULL) fail("out of memory");
  return array;
}

/* The plan. */

static void read_variant(struct plan* plan, char* words) {
  struct variant* variant;
  plan->variant = grown(plan->variant, plan->variants, sizeof *plan->variant);
  variant = &plan->variant[plan->variants++];
  memset(variant, 0, sizeof *variant);
  for (char* word = strtok(words, " \n"); word != NULL; word = strtok(NULL, " \n")) {
    char* const equals = strchr(word, '=');
    struct variable* variable;
    if (equals == NULL || variant->variables == kMostVariables) fail("a variant is malformed");
    variable = &variant->variable[variant->variables++];
    *equals = '\0';
    snprintf(variable->name, sizeof variable->name, "%s", word);
    variable->value = strtol(equals + 1, NULL, 10);
  }
}

static int is_type(const char* word, enum element_type* type) {
  static const char* const kNames[] = {"double", "byte", "triple", "matrix"};
  for (int i = 0; i < 4; ++i) {
    if (strcmp(word, kNames[i]) == 0) {
      *type = (enum element_type)i;
      return 1;
    }
  }
  return 0;
}

static const char* name_of(enum element_type type) {
  static const char* const kNames[] = {"double", "byte", "triple", "matrix"};
  return kNames[type];
}

static void read_cell(struct plan* plan, char* words) {
  struct cell* cell;
  int word_number = 0;
  plan->cell = grown(plan->cell, plan->cells, sizeof *plan->cell);
  cell = &plan->cell[plan->cells++];
  memset(cell, 0, sizeof *cell);
  cell->first_variant = plan->listed;
  for (char* word = strtok(words, " \n"); word != NULL; word = strtok(NULL, " \n")) {
    const long number = strtol(word, NULL, 10);
    switch (word_number++) {
      case 0:
        snprintf(cell->operation, sizeof cell->operation, "%s", word);
        break;
      case 1:
        cell->ranks = (int)number;
        break;
      case 2:
        cell->bytes = number;
        break;
      case 3:
        if (!is_type(word, &cell->type)) fail("a cell has an unknown type");
        break;
      case 4:
        cell->in_place = (int)number;
        break;
      default:
        if (number < 0 || number >= plan->variants) fail("a cell has an unknown variant");
        plan->list = grown(plan->list, plan->listed, sizeof *plan->list);
        plan->list[plan->listed++] = (int)number;
        ++cell->variants;
    }
  }
  if (cell->variants == 0) fail("a cell is malformed");
  if (cell->ranks < 1 || cell->ranks > world_size) fail("a cell needs other numbers of ranks");
}

static void read_plan(struct plan* plan, char* text) {
  char* rest = text;
  plan->repetitions = 10;
  plan->budget_s = 0.01;
  while (*rest != '\0') {
    char* const end = strchr(rest, '\n');
    char* const line = rest;
    char* const space = strchr(line, ' ');
    rest = end != NULL ? end + 1 : line + strlen(line);
    if (end != NULL) *end = '\0';
    if (*line == '\0') continue;
    if (strcmp(line, "variant") == 0) {
      read_variant(plan, line + strlen(line));
      continue;
    }
    if (space == NULL) fail("a line of the plan is malformed");
    *space = '\0';
    if (strcmp(line, "run") == 0) {
      plan->run = (int)strtol(space + 1, NULL, 10);
    } else if (strcmp(line, "seed") == 0) {
      plan->seed = (unsigned)strtoul(space + 1, NULL, 10);
    } else if (strcmp(line, "repetitions") == 0) {
      plan->repetitions = (int)strtol(space + 1, NULL, 10);
    } else if (strcmp(line, "budget") == 0) {
      plan->budget_s = strtod(space + 1, NULL);
    } else if (strcmp(line, "variant") == 0) {
      read_variant(plan, space + 1);
    } else if (strcmp(line, "cell") == 0) {
      read_cell(plan, space + 1);
    } else {
      fail("the plan has an unknown line");
    }
  }
  if (plan->repetitions < kLeastRepetitions) plan->repetitions = kLeastRepetitions;
  if (plan->repetitions > kMostRepetitions) plan->repetitions = kMostRepetitions;
}

/* Reads the file on rank 0. */
static char* text_of(const char* path, int* bytes) {
  FILE* const file = fopen(path, "rb");
  char* text = NULL;
  size_t size = 0;
  if (file == NULL) fail("cannot read the plan");
  for (;;) {
    text = realloc(text, size + 65536);
    if (text == NULL) fail("out of memory");
    size_t got = fread(text + size, 1, 65535, file);
    size += got;
    if (got == 0) break;
  }
  fclose(file);
  text[size] = '\0';
  *bytes = (int)size + 1;
  return text;
}

/* Control variables. */

struct handle {
  char name[kMaxName * 2];
  MPI_T_cvar_handle handle;
  MPI_Datatype type;
  long initial; /* 0, which no variant has to set, where there is no such number */
  int exists;
  int writable;
};
static struct handle* handles;
static int handle_count;

static long read_variable(const struct handle* one) {
  union {
    int i;
    unsigned u;
    unsigned long ul;
    unsigned long long ull;
    char bytes[64];
  } value;
  memset(&value, 0, sizeof value);
  if (MPI_T_cvar_read(one->handle, &value) != MPI_SUCCESS) fail("cannot read a control variable");
  if (one->type == MPI_INT) return value.i;
  if (one->type == MPI_UNSIGNED) return (long)value.u;
  if (one->type == MPI_UNSIGNED_LONG) return (long)value.ul;
  return (long)value.ull;
}

static int write_number(const struct handle* one, long number) {
  int i = (int)number;
  unsigned u = (unsigned)number;
  unsigned long ul = (unsigned long)number;
  unsigned long long ull = (unsigned long long)number;
  void* value = &ull;
  if (one->type == MPI_INT) value = &i;
  if (one->type == MPI_UNSIGNED) value = &u;
  if (one->type == MPI_UNSIGNED_LONG) value = &ul;
  return MPI_T_cvar_write(one->handle, value);
}

static int may_have(const struct handle* one, long number) {
  return one->writable || number == one->initial;
}

static void write_variable(const struct handle* one, long number) {
  char text[kMaxNote];
  if (!one->writable && may_have(one, number)) return;
  if (one->writable && write_number(one, number) == MPI_SUCCESS) return;
  snprintf(text, sizeof text, "this MPI does not let the variable %.100s be set", one->name);
  fail(text);
}

/* Valid until the next variable is looked for. */
static const struct handle* find_variable(const char* name) {
  int count = 0;
  struct handle* one;
  for (int i = 0; i < handle_count; ++i) {
    if (strcmp(handles[i].name, name) == 0) return &handles[i];
  }
  handles = grown(handles, handle_count, sizeof *handles);
  one = &handles[handle_count++];
  memset(one, 0, sizeof *one);
  snprintf(one->name, sizeof one->name, "%s", name);
  MPI_T_cvar_get_num(&count);
  for (int i = 0; i < count; ++i) {
    char found[kMaxName * 4] = "";
    int length = sizeof found;
    int verbosity, bind, scope, elements;
    MPI_Datatype type;
    MPI_T_enum values;
    if (MPI_T_cvar_get_info(i, found, &length, &verbosity, &type, &values, NULL, NULL, &bind,
                            &scope) != MPI_SUCCESS) {
      continue;
    }
    if (strcmp(found, name) != 0) continue;
    if (type == MPI_CHAR || type == MPI_DOUBLE) break;
    one->type = type;
    one->exists = MPI_T_cvar_handle_alloc(i, NULL, &one->handle, &elements) == MPI_SUCCESS;
    if (!one->exists) break;
    one->initial = read_variable(one);
    /* What `scope` says need not be all that a version asks for. */
    one->writable = write_number(one, one->initial) == MPI_SUCCESS;
    break;
  }
  return one;
}

/* The variant whose values the control variables have now; NULL: they have those of the start. */
static const struct variant* selected;

static void select_variant(const struct variant* variant) {
  if (variant == selected) return;
  for (int i = 0; selected != NULL && i < selected->variables; ++i) {
    const struct handle* const one = find_variable(selected->variable[i].name);
    write_variable(one, one->initial);
  }
  for (int i = 0; variant != NULL && i < variant->variables; ++i) {
    write_variable(find_variable(variant->variable[i].name), variant->variable[i].value);
  }
  selected = variant;
}

/* What ranks of a cell tell each other, by messages that nothing tuned acts on. */

static void control_barrier(MPI_Comm comm, int rank, int ranks) {
  for (int distance = 1; distance < ranks; distance *= 2) {
    MPI_Sendrecv(NULL, 0, MPI_BYTE, (rank + distance) % ranks, kControlTag, NULL, 0, MPI_BYTE,
                 (rank + ranks - distance) % ranks, kControlTag, comm, MPI_STATUS_IGNORE);
  }
}

static void from_rank_0(MPI_Comm comm, int rank, int ranks, void* data, int bytes) {
  if (rank != 0) {
    MPI_Recv(data, bytes, MPI_BYTE, 0, kControlTag, comm, MPI_STATUS_IGNORE);
    return;
  }
  for (int i = 1; i < ranks; ++i) MPI_Send(data, bytes, MPI_BYTE, i, kControlTag, comm);
}

/* Replaces times by the largest of all ranks, on rank 0. */
static void largest(MPI_Comm comm, int rank, int ranks, double* times, int count) {
  double* other;
  if (rank != 0) {
    MPI_Send(times, count, MPI_DOUBLE, 0, kControlTag, comm);
    return;
  }
  other = malloc((size_t)count * sizeof *other);
  if (other == NULL) fail("out of memory");
  for (int i = 1; i < ranks; ++i) {
    MPI_Recv(other, count, MPI_DOUBLE, i, kControlTag, comm, MPI_STATUS_IGNORE);
    for (int k = 0; k < count; ++k) {
      if (other[k] > times[k]) times[k] = other[k];
    }
  }
  free(other);
}

/* Whether all ranks agree that it went well; else all have the note of the first that does not. */
static int all_well(MPI_Comm comm, int rank, int ranks, int well, char* note) {
  struct {
    int well;
    char note[kMaxNote];
  } mine, other;
  memset(&mine, 0, sizeof mine);
  mine.well = well;
  snprintf(mine.note, sizeof mine.note, "%s", note);
  if (rank != 0) {
    MPI_Send(&mine, sizeof mine, MPI_BYTE, 0, kControlTag, comm);
  } else {
    for (int i = 1; i < ranks; ++i) {
      MPI_Recv(&other, sizeof other, MPI_BYTE, i, kControlTag, comm, MPI_STATUS_IGNORE);
      if (mine.well && !other.well) mine = other;
    }
  }
  from_rank_0(comm, rank, ranks, &mine, sizeof mine);
  snprintf(note, kMaxNote, "%s", mine.note);
  return mine.well;
}

/* A cell. */

static const struct operation* operation_of(const char* name) {
  const struct operation* found = find_collective(name);
  if (found == NULL) found = find_message(name);
  if (found == NULL) found = find_one_sided(name);
  if (found == NULL) found = find_program(name);
  return found;
}

static void* room(size_t bytes) {
  /* Aligned as programs' large buffers are, by pages. */
  void* memory = NULL;
  if (posix_memalign(&memory, 4096, bytes + 64) != 0) fail("out of memory");
  memset(memory, 0, bytes + 64);
  return memory;
}

static void set_up(struct job* job, const struct operation* operation) {
  const size_t ranks = (size_t)job->ranks;
  job->element_bytes = bytes_of(job->cell->type);
  job->type = type_of(job->cell->type);
  job->op = op_of(job->cell->type);
  job->count = (int)((size_t)job->cell->bytes / job->element_bytes);
  if (job->count < 1) job->count = 1;
  job->counts = room(4 * ranks * sizeof(int));
  job->places = job->counts + ranks;
  job->other_counts = job->places + ranks;
  job->other_places = job->other_counts + ranks;
  job->requests = room(64 * ranks * sizeof(MPI_Request));
  operation->shape(job);
  job->send = room(job->send_bytes);
  job->receive = room(job->receive_bytes);
}

static void tear_down(struct job* job) {
  close_window(job);
  free(job->counts);
  free(job->requests);
  free(job->send);
  free(job->receive);
}

/* Once, with fresh data that are checked. */
static int verified(struct job* job, const struct operation* operation, MPI_Comm control,
                    char* note) {
  int error;
  int well;
  note[0] = '\0';
  operation->fill(job);
  control_barrier(control, job->rank, job->ranks);
  error = operation->run(job);
  well = error == MPI_SUCCESS;
  if (!well) {
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    MPI_Error_string(error, text, &length);
    snprintf(note, kMaxNote, "rank %d: MPI says: %.200s", job->rank, text);
  }
  /* Ranks that had an error are not to be waited for by a check. */
  if (!all_well(control, job->rank, job->ranks, well, note)) return 0;
  well = operation->check(job, note);
  return all_well(control, job->rank, job->ranks, well, note);
}

static void print_json_text(const char* text) {
  for (; *text != '\0'; ++text) {
    const unsigned char c = (unsigned char)*text;
    putchar(c < ' ' || c == '"' || c == '\\' || c > '~' ? ' ' : c);
  }
}

static void print_unsettable(const struct plan* plan) {
  for (int v = 0; v < plan->variants; ++v) {
    for (int i = 0; i < plan->variant[v].variables; ++i) {
      const struct variable* const asked = &plan->variant[v].variable[i];
      if (may_have(find_variable(asked->name), asked->value)) continue;
      printf("{\"unsettable\":\"");
      print_json_text(asked->name);
      printf("\"}\n");
    }
  }
  fflush(stdout);
}

static void print_point(const struct cell* cell, int variant) {
  printf(
      "{\"experiment\":\"target.%s\",\"variant\":\"%d\",\"params\":{\"ranks\":%d,\"bytes\":%ld,"
      "\"type\":\"%s\",\"in_place\":%d}}",
      cell->operation, variant, cell->ranks, cell->bytes, name_of(cell->type), cell->in_place);
}

static void print_series(const struct plan* plan, const struct cell* cell, int variant,
                         const double* times, int count, const double* ends, const char* note,
                         int well) {
  printf("{\"point\":");
  print_point(cell, variant);
  printf(",\"run\":%d,\"values\":[", plan->run);
  for (int i = 0; i < count; ++i) printf("%s%.9e", i > 0 ? "," : "", times[i]);
  printf("],\"timestamps_s\":[");
  for (int i = 0; i < count; ++i) printf("%s%.6f", i > 0 ? "," : "", ends[i] - start_s);
  printf("],\"warmup_dropped\":1,\"stop_reason\":\"%s\",\"verified\":%s,\"note\":\"",
         count >= plan->repetitions ? "max_reps" : "time_budget", well ? "true" : "false");
  print_json_text(note);
  printf("\"}\n");
}

static unsigned next_random(unsigned* state) {
  *state = *state * 1664525u + 1013904223u;
  return *state >> 8;
}

/* `what` is done next. */
static void print_next(const char* what, const struct cell* cell, int variant) {
  printf("{\"%s\":", what);
  print_point(cell, variant);
  printf("}\n");
  fflush(stdout);
}

/* What is carried out next is this variant: Open MPI looks at its control variables when a
 * communicator is made, MPICH at each call. */
static void use_variant(const struct plan* plan, const MPI_Comm* comms, int variant,
                        struct job* job) {
  select_variant(&plan->variant[variant]);
  job->comm = comms[variant];
}

static void measure(const struct plan* plan, const struct cell* cell, MPI_Comm control,
                    const MPI_Comm* comms, int one_node) {
  const struct operation* const operation = operation_of(cell->operation);
  const int* const list = plan->list + cell->first_variant;
  const int variants = cell->variants;
  struct job job;
  char(*notes)[kMaxNote] = room((size_t)variants * kMaxNote);
  int* well = room((size_t)variants * sizeof *well);
  int* repetitions = room((size_t)variants * sizeof *repetitions);
  int* done = room((size_t)variants * sizeof *done);
  double* times = room((size_t)variants * (size_t)plan->repetitions * sizeof *times);
  double* ends = room((size_t)variants * (size_t)plan->repetitions * sizeof *ends);
  unsigned random = plan->seed + (unsigned)cell->first_variant * 977u;
  double said_s;
  int left = 0;

  if (operation == NULL) fail("the plan has an unknown operation");
  memset(&job, 0, sizeof job);
  job.cell = cell;
  job.one_node = one_node;
  MPI_Comm_rank(control, &job.rank);
  job.ranks = cell->ranks;
  set_up(&job, operation);

  for (int v = 0; v < variants; ++v) {
    double once_s;
    if (job.rank == 0) print_next("at", cell, list[v]);
    use_variant(plan, comms, list[v], &job);
    well[v] = verified(&job, operation, control, notes[v]);
    if (!well[v]) continue;
    /* The first call makes connections: the shorter one of the next two says how long one takes. */
    once_s = 1e9;
    for (int i = 0; i < 2; ++i) {
      double elapsed_s;
      control_barrier(control, job.rank, job.ranks);
      elapsed_s = now_s();
      operation->run(&job);
      elapsed_s = now_s() - elapsed_s;
      largest(control, job.rank, job.ranks, &elapsed_s, 1);
      if (elapsed_s < once_s) once_s = elapsed_s;
    }
    repetitions[v] = plan->repetitions;
    if (once_s * plan->repetitions > plan->budget_s) {
      repetitions[v] = (int)(plan->budget_s / once_s);
    }
    if (repetitions[v] < kLeastRepetitions) repetitions[v] = kLeastRepetitions;
    from_rank_0(control, job.rank, job.ranks, &repetitions[v], sizeof repetitions[v]);
    left += repetitions[v];
  }
  if (job.rank == 0 && left > 0) print_next("turns", cell, list[0]);
  said_s = now_s();
  /* Turns of single calls, those with fewest of their repetitions done first, else by chance. */
  while (left > 0) {
    int begin = (int)(next_random(&random) % (unsigned)variants);
    for (int i = 0; i < variants; ++i) {
      const int v = (begin + i) % variants;
      double t0, t1;
      if (!well[v] || done[v] >= repetitions[v]) continue;
      use_variant(plan, comms, list[v], &job);
      control_barrier(control, job.rank, job.ranks);
      t0 = now_s();
      operation->run(&job);
      t1 = now_s();
      times[v * plan->repetitions + done[v]] = t1 - t0;
      ends[v * plan->repetitions + done[v]] = t1;
      ++done[v];
      --left;
      if (job.rank == 0 && t1 - said_s > 1) {
        print_next("turns", cell, list[v]);
        said_s = t1;
      }
    }
  }
  for (int v = 0; v < variants; ++v) {
    double* const of_variant = times + (size_t)v * (size_t)plan->repetitions;
    if (well[v]) {
      largest(control, job.rank, job.ranks, of_variant, done[v]);
      if (job.rank == 0) print_next("at", cell, list[v]);
      use_variant(plan, comms, list[v], &job);
      well[v] = verified(&job, operation, control, notes[v]);
    }
    if (job.rank == 0) {
      print_series(plan, cell, list[v], of_variant, well[v] ? done[v] : 0,
                   ends + (size_t)v * (size_t)plan->repetitions, notes[v], well[v]);
    }
  }
  select_variant(NULL);
  if (job.rank == 0) fflush(stdout);
  tear_down(&job);
  free(notes);
  free(well);
  free(repetitions);
  free(done);
  free(times);
  free(ends);
}

/* Ranks that are not needed leave the processors to the others. */
static void sleep_until_called(void) {
  MPI_Request request;
  int called = 0;
  MPI_Irecv(NULL, 0, MPI_BYTE, 0, kControlTag, MPI_COMM_WORLD, &request);
  while (!called) {
    const struct timespec nap = {0, 2000000};
    MPI_Test(&request, &called, MPI_STATUS_IGNORE);
    if (!called) nanosleep(&nap, NULL);
  }
}

static int ranks_of_node(MPI_Comm comm) {
  MPI_Comm node;
  int ranks = 0;
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &ranks);
  MPI_Comm_free(&node);
  return ranks;
}

/* All cells from `first` on that have the same number of ranks. Returns the first of the others. */
static int measure_ranks(const struct plan* plan, int first) {
  const int ranks = plan->cell[first].ranks;
  int end = first;
  MPI_Comm base;
  while (end < plan->cells && plan->cell[end].ranks == ranks) ++end;
  MPI_Comm_split(MPI_COMM_WORLD, world_rank < ranks ? 0 : MPI_UNDEFINED, world_rank, &base);
  if (base == MPI_COMM_NULL) {
    sleep_until_called();
    return end;
  }
  {
    const int one_node = ranks_of_node(base) == ranks;
    MPI_Comm* comms = room((size_t)plan->variants * sizeof *comms);
    for (int at = first; at < end;) {
      int last = at;
      for (int v = 0; v < plan->variants; ++v) comms[v] = MPI_COMM_NULL;
      while (last < end && strcmp(plan->cell[last].operation, plan->cell[at].operation) == 0) {
        for (int i = 0; i < plan->cell[last].variants; ++i) {
          const int v = plan->list[plan->cell[last].first_variant + i];
          if (comms[v] != MPI_COMM_NULL) continue;
          select_variant(&plan->variant[v]);
          MPI_Comm_dup(base, &comms[v]);
          MPI_Comm_set_errhandler(comms[v], MPI_ERRORS_RETURN);
          select_variant(NULL);
        }
        ++last;
      }
      for (; at < last; ++at) measure(plan, &plan->cell[at], base, comms, one_node);
      for (int v = 0; v < plan->variants; ++v) {
        if (comms[v] != MPI_COMM_NULL) MPI_Comm_free(&comms[v]);
      }
    }
    free(comms);
  }
  for (int i = ranks; i < world_size && world_rank == 0; ++i) {
    MPI_Send(NULL, 0, MPI_BYTE, i, kControlTag, MPI_COMM_WORLD);
  }
  MPI_Comm_free(&base);
  return end;
}

int main(int argc, char** argv) {
  struct plan plan;
  char* text = NULL;
  int bytes = 0;
  int provided = 0;
  memset(&plan, 0, sizeof plan);
  MPI_Init(&argc, &argv);
  /* Open MPI 4.1 crashes in MPI_Finalize where this comes before MPI_Init, or ends after it. */
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  start_s = now_s();
  if (argc != 2) fail("usage: driver PLAN");
  if (world_rank == 0) text = text_of(argv[1], &bytes);
  from_rank_0(MPI_COMM_WORLD, world_rank, world_size, &bytes, sizeof bytes);
  if (world_rank != 0) text = room((size_t)bytes);
  from_rank_0(MPI_COMM_WORLD, world_rank, world_size, text, bytes);
  read_plan(&plan, text);
  if (world_rank == 0) print_unsettable(&plan);
  if (make_types() != MPI_SUCCESS) fail("cannot make types");
  for (int at = 0; at < plan.cells;) at = measure_ranks(&plan, at);
  free_types();
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank == 0) {
    printf("{\"done\":true}\n");
    fflush(stdout);
  }
  for (int i = 0; i < handle_count; ++i) {
    if (handles[i].exists) MPI_T_cvar_handle_free(&handles[i].handle);
  }
  MPI_T_finalize();
  MPI_Finalize();
  free(handles);
  free(text);
  free(plan.variant);
  free(plan.cell);
  free(plan.list);
  return 0;
}
