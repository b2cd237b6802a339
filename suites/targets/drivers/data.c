/* What elements hold, and whether they hold it. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "driver.h"

static MPI_Datatype triple_type = MPI_DATATYPE_NULL;
static MPI_Datatype matrix_type = MPI_DATATYPE_NULL;
static MPI_Op matrix_op = MPI_OP_NULL;

/* left := left * right, as MPI has it: the second operand is replaced by first * second. */
static void multiply(void* in, void* inout, int* count, MPI_Datatype* type) {
  const uint32_t* a = in;
  uint32_t* b = inout;
  (void)type;
  for (int i = 0; i < *count; ++i, a += 4, b += 4) {
    const uint32_t product[4] = {a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3],
                                 a[2] * b[0] + a[3] * b[2], a[2] * b[1] + a[3] * b[3]};
    memcpy(b, product, sizeof product);
  }
}

int make_types(void) {
  int error = MPI_Type_contiguous(3, MPI_UNSIGNED_CHAR, &triple_type);
  if (error == MPI_SUCCESS) error = MPI_Type_commit(&triple_type);
  if (error == MPI_SUCCESS) error = MPI_Type_contiguous(4, MPI_UINT32_T, &matrix_type);
  if (error == MPI_SUCCESS) error = MPI_Type_commit(&matrix_type);
  if (error == MPI_SUCCESS) error = MPI_Op_create(multiply, 0, &matrix_op);
  return error;
}

void free_types(void) {
  MPI_Op_free(&matrix_op);
  MPI_Type_free(&matrix_type);
  MPI_Type_free(&triple_type);
}

MPI_Datatype type_of(enum element_type type) {
  switch (type) {
    case kDouble:
      return MPI_DOUBLE;
    case kByte:
      return MPI_UNSIGNED_CHAR;
    case kTriple:
      return triple_type;
    default:
      return matrix_type;
  }
}

size_t bytes_of(enum element_type type) {
  switch (type) {
    case kDouble:
      return sizeof(double);
    case kByte:
      return 1;
    case kTriple:
      return 3;
    default:
      return 4 * sizeof(uint32_t);
  }
}

MPI_Op op_of(enum element_type type) { return type == kMatrix ? matrix_op : MPI_SUM; }

void put_rubbish(unsigned char* to, size_t bytes) { memset(to, 0xa5, bytes); }

/* A byte that depends on all of these, so that nothing in a wrong place looks right. */
static unsigned char byte_at(int source, int destination, size_t place) {
  const uint32_t mixed = ((uint32_t)source * 2654435761u) ^ ((uint32_t)destination * 2246822519u) ^
                         ((uint32_t)place * 3266489917u);
  return (unsigned char)(mixed >> 13);
}

void put_data(const struct job* job, unsigned char* to, int source, int destination, int first,
              int count) {
  const size_t begin = (size_t)first * job->element_bytes;
  const size_t bytes = (size_t)count * job->element_bytes;
  for (size_t i = 0; i < bytes; ++i) to[i] = byte_at(source, destination, begin + i);
}

int has_data(const struct job* job, const unsigned char* at, int source, int destination, int first,
             int count, char* note) {
  const size_t begin = (size_t)first * job->element_bytes;
  const size_t bytes = (size_t)count * job->element_bytes;
  for (size_t i = 0; i < bytes; ++i) {
    if (at[i] == byte_at(source, destination, begin + i)) continue;
    snprintf(note, kMaxNote, "rank %d: byte %zu from rank %d is wrong", job->rank, begin + i,
             source);
    return 0;
  }
  return 1;
}

/* Sums of small whole numbers are exact in every order. */
static double number_of(int source, int element) {
  return (source + 1) * (double)(element % 17 + 1);
}

static void matrix_of(int source, int element, uint32_t* matrix) {
  matrix[0] = 1 + (uint32_t)(source + element) % 3;
  matrix[1] = (uint32_t)source + 1;
  matrix[2] = (uint32_t)(element % 5) + 2;
  matrix[3] = (uint32_t)source * 7 + 3;
}

static void put_operand(const struct job* job, unsigned char* to, int source, int element) {
  if (job->cell->type == kDouble) {
    const double number = number_of(source, element);
    memcpy(to, &number, sizeof number);
  } else if (job->cell->type == kMatrix) {
    uint32_t matrix[4];
    matrix_of(source, element, matrix);
    memcpy(to, matrix, sizeof matrix);
  } else {
    *to = (unsigned char)(long)number_of(source, element);
  }
}

void put_operands(const struct job* job, unsigned char* to, int source, int first, int count) {
  for (int i = 0; i < count; ++i) {
    put_operand(job, to + (size_t)i * job->element_bytes, source, first + i);
  }
}

int has_result(const struct job* job, const unsigned char* at, int last, int first, int count,
               char* note) {
  for (int i = 0; i < count; ++i, at += job->element_bytes) {
    const int element = first + i;
    int right;
    if (job->cell->type == kMatrix) {
      /* Rank 0's matrix is the leftmost one. */
      uint32_t product[4];
      int one = 1;
      MPI_Datatype type = matrix_type;
      matrix_of(last, element, product);
      for (int source = last - 1; source >= 0; --source) {
        uint32_t left[4];
        matrix_of(source, element, left);
        multiply(left, product, &one, &type);
      }
      right = memcmp(at, product, sizeof product) == 0;
    } else {
      const double sum = (last + 1) * (last + 2) / 2 * (double)(element % 17 + 1);
      if (job->cell->type == kDouble) {
        double number;
        memcpy(&number, at, sizeof number);
        right = number == sum;
      } else {
        right = *at == (unsigned char)(long)sum;
      }
    }
    if (right) continue;
    snprintf(note, kMaxNote, "rank %d: element %d of the result is wrong", job->rank, element);
    return 0;
  }
  return 1;
}
