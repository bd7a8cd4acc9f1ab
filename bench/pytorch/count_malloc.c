/* Counts the bytes that a process holds from malloc and the most it ever held: preloaded into
   Python (LD_PRELOAD), for an exact figure of PyTorch's memory. Needs glibc. */
#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stddef.h>

void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
void __libc_free(void*);

static atomic_long live;
static atomic_long peak;

long count_malloc_live(void) { return atomic_load(&live); }
long count_malloc_peak(void) { return atomic_load(&peak); }
void count_malloc_reset_peak(void) { atomic_store(&peak, atomic_load(&live)); }

static void* taken(void* p) {
  if (p == NULL) return NULL;
  const long bytes = (long)malloc_usable_size(p);
  const long now = atomic_fetch_add(&live, bytes) + bytes;
  long most = atomic_load(&peak);
  while (now > most && !atomic_compare_exchange_weak(&peak, &most, now)) {
  }
  return p;
}

static void given_back(void* p) {
  if (p != NULL) atomic_fetch_sub(&live, (long)malloc_usable_size(p));
}

void* malloc(size_t bytes) { return taken(__libc_malloc(bytes)); }
void* calloc(size_t count, size_t bytes) { return taken(__libc_calloc(count, bytes)); }
void* memalign(size_t alignment, size_t bytes) { return taken(__libc_memalign(alignment, bytes)); }
void* aligned_alloc(size_t alignment, size_t bytes) { return memalign(alignment, bytes); }

int posix_memalign(void** out, size_t alignment, size_t bytes) {
  void* const p = memalign(alignment, bytes);
  if (p == NULL) return ENOMEM;
  *out = p;
  return 0;
}

void* realloc(void* old, size_t bytes) {
  /* While it moves, a block counts at its old place only. */
  const long before = old == NULL ? 0 : (long)malloc_usable_size(old);
  void* const p = __libc_realloc(old, bytes);
  if (p == NULL && bytes != 0) return NULL;
  atomic_fetch_sub(&live, before);
  return taken(p);
}

void free(void* p) {
  given_back(p);
  __libc_free(p);
}
