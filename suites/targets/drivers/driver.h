/* What the parts of the MPI driver share. The driver is a C program that is compiled on the node,
 * by the compiler wrapper of the MPI that is tuned; it uses nothing but C99 and MPI-3.
 *
 * It reads a plan (main.c says what is in it), carries out operations among some of its ranks with
 * alternatives in turns, verifies each against a sequential reference, and prints one JSON object
 * for each series of times. */
#ifndef STRIPLINE_TARGETS_DRIVER_H
#define STRIPLINE_TARGETS_DRIVER_H

#include <mpi.h>
#include <stddef.h>

enum {
  kMaxName = 64,
  kMaxNote = 256,
  kControlTag = 7001, /* of what ranks tell each other between operations */
  kDataTag = 7002
};

/* The type of the elements that an operation moves. */
enum element_type {
  kDouble, /* MPI_DOUBLE */
  kByte,   /* MPI_UNSIGNED_CHAR */
  kTriple, /* three bytes, contiguous: for operations that move only */
  kMatrix  /* 2x2 matrices of 32-bit numbers, whose product does not commute */
};

/* A cell of the plan, as the ranks that carry it out see it. */
struct cell {
  char operation[kMaxName]; /* "allreduce", "latency", ... */
  int ranks;
  long bytes; /* by count and type of a call, see optimizer/targets/collectives.h */
  enum element_type type;
  int in_place;
  int first_variant; /* into the plan's list of variants of cells */
  int variants;
};

/* An operation that is carried out: buffers and what they are made of. */
struct job {
  const struct cell* cell;
  MPI_Comm comm; /* of the variant that is carried out now */
  int rank;
  int ranks;
  size_t element_bytes;
  MPI_Datatype type;
  MPI_Op op; /* MPI_SUM, or the product of matrices */
  int count; /* elements of a call */
  unsigned char* send;
  unsigned char* receive;
  size_t send_bytes;
  size_t receive_bytes;
  int* counts; /* of the operations that take some for each rank, and where they begin */
  int* places;
  int* other_counts;
  int* other_places;
  MPI_Request* requests;
  int one_node;   /* whether all of these ranks are on one node, and share a clock */
  int has_window; /* of one-sided operations */
  MPI_Win window;
  MPI_Comm window_comm; /* on which it was made */
};

struct operation {
  const char* name;
  int reduces; /* whether it takes an MPI_Op */
  /* Buffers it needs, for cells of its own. Sets send_bytes, receive_bytes and counts. */
  void (*shape)(struct job* job);
  /* Puts what is to be sent into the buffers, and rubbish into what is to be received. */
  void (*fill)(struct job* job);
  /* Carries it out once. Returns MPI_SUCCESS or MPI's error. */
  int (*run)(struct job* job);
  /* Whether this rank has what it should have after a run that followed a fill; else says why. */
  int (*check)(struct job* job, char* note);
};

/* By name; NULL: there is none. */
const struct operation* find_collective(const char* name); /* collectives.c */
const struct operation* find_message(const char* name);    /* messages.c */
const struct operation* find_one_sided(const char* name);  /* one_sided.c */
const struct operation* find_program(const char* name);    /* programs.c */

/* Frees the window of a job, if it has one. All of its ranks call it (one_sided.c). */
void close_window(struct job* job);

/* data.c: what elements hold. */

/* Puts `count` elements, from element `first` of what `source` sends to `destination`, at `to`. */
void put_data(const struct job* job, unsigned char* to, int source, int destination, int first,
              int count);
/* Whether they are there; else says which is not. */
int has_data(const struct job* job, const unsigned char* at, int source, int destination, int first,
             int count, char* note);
/* Puts the operands of `source` of a reduction. */
void put_operands(const struct job* job, unsigned char* to, int source, int first, int count);
/* Whether the result of reducing the operands of ranks 0 to `last` is there. */
int has_result(const struct job* job, const unsigned char* at, int last, int first, int count,
               char* note);
void put_rubbish(unsigned char* to, size_t bytes);

/* Types and operations of this process, made once. */
int make_types(void);
void free_types(void);
MPI_Datatype type_of(enum element_type type);
size_t bytes_of(enum element_type type);
MPI_Op op_of(enum element_type type);

#endif
