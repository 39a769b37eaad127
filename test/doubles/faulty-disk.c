// A disk that fails on demand, for LD_PRELOAD on Linux: the N-th write or sync under one folder fails, as a full disk, a
// quota or a broken medium would make it. What to fail is read from a shared page (children/faulty-disk.js has its
// layout), so that one process lives through many faults. A sync that succeeds does nothing, which only saves time: no
// test here cuts the power.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

enum { OFF, WRITES, SYNCS, READS };

// The first fields are the test's, the counts ours.
struct control {
  int64_t kind;    // which calls fail
  int64_t at;      // the first that fails, counted from 1
  int64_t error;   // errno
  int64_t lasting; // 1: every later one fails too
  int64_t lossy;   // 1: a sync that fails drops what was written since the last one, as a kernel drops dirty pages
  int64_t counts[4];
  int64_t failed;
  int64_t hang; // 1: a sync waits until this is 0
  int64_t hanging;
  char folder[512];
};

// What stood where an unsynced write went.
struct undo {
  struct undo *next;
  dev_t device;
  ino_t file;
  off_t offset;
  size_t size;
  char bytes[];
};

static struct control *control;
static struct undo *undos;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static ssize_t (*real_write)(int, const void *, size_t);
static ssize_t (*real_pwrite)(int, const void *, size_t, off_t);
static ssize_t (*real_pread)(int, void *, size_t, off_t);
static int (*real_fsync)(int);
static int (*real_fdatasync)(int);
static int (*real_ftruncate)(int, off_t);

__attribute__((constructor)) static void start(void) {
  real_write = dlsym(RTLD_NEXT, "write");
  real_pwrite = dlsym(RTLD_NEXT, "pwrite64");
  real_pread = dlsym(RTLD_NEXT, "pread64");
  real_fsync = dlsym(RTLD_NEXT, "fsync");
  real_fdatasync = dlsym(RTLD_NEXT, "fdatasync");
  real_ftruncate = dlsym(RTLD_NEXT, "ftruncate64");
  const char *path = getenv("HOLDFAST_FAULTS");
  int fd = path == NULL ? -1 : open(path, O_RDWR);
  if (fd < 0) return;
  void *page = mmap(NULL, sizeof(struct control), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  if (page != MAP_FAILED) control = page;
}

static int is_ours(int fd) {
  if (control == NULL || control->folder[0] == 0) return 0;
  char link[64], path[1024];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length <= 0) return 0;
  path[length] = 0;
  return strncmp(path, control->folder, strlen(control->folder)) == 0;
}

// Counts the call; answers whether it fails.
static int fails(int kind) {
  int64_t count = __atomic_add_fetch(&control->counts[kind], 1, __ATOMIC_SEQ_CST);
  if (control->kind != kind || count < control->at || (count > control->at && !control->lasting)) return 0;
  __atomic_add_fetch(&control->failed, 1, __ATOMIC_SEQ_CST);
  return 1;
}

static void remember_bytes(int fd, size_t size, off_t offset) {
  struct stat status;
  if (!control->lossy || fstat(fd, &status) != 0) return;
  struct undo *undo = calloc(1, sizeof *undo + size);
  if (undo == NULL) abort();
  undo->device = status.st_dev;
  undo->file = status.st_ino;
  undo->offset = offset;
  undo->size = size;
  // Behind the end of the file stand zeros.
  real_pread(fd, undo->bytes, size, offset);
  pthread_mutex_lock(&mutex);
  undo->next = undos;
  undos = undo;
  pthread_mutex_unlock(&mutex);
}

// Forgets the writes that a sync has made safe, or, newest first, puts back what stood there before.
static void settle(int fd, int lost) {
  struct stat status;
  if (fstat(fd, &status) != 0) return;
  pthread_mutex_lock(&mutex);
  for (struct undo **link = &undos; *link != NULL;) {
    struct undo *undo = *link;
    if (undo->file != status.st_ino || undo->device != status.st_dev) {
      link = &undo->next;
      continue;
    }
    if (lost && control->lossy) {
      ssize_t size = undo->size;
      if (undo->offset + size > status.st_size) size = status.st_size - undo->offset;
      if (size > 0 && real_pwrite(fd, undo->bytes, size, undo->offset) != size) abort();
    }
    *link = undo->next;
    free(undo);
  }
  pthread_mutex_unlock(&mutex);
}

// A disk that becomes full takes the beginning of a write and refuses the rest.
static ssize_t fail_write(int fd, const void *bytes, size_t size, off_t offset) {
  if (control->error == ENOSPC && size > 1 && control->counts[WRITES] == control->at)
    return real_pwrite(fd, bytes, size / 2, offset);
  errno = control->error;
  return -1;
}

ssize_t pwrite64(int fd, const void *bytes, size_t size, off_t offset) {
  if (!is_ours(fd)) return real_pwrite(fd, bytes, size, offset);
  remember_bytes(fd, size, offset);
  return fails(WRITES) ? fail_write(fd, bytes, size, offset) : real_pwrite(fd, bytes, size, offset);
}

ssize_t pwrite(int fd, const void *bytes, size_t size, off_t offset) { return pwrite64(fd, bytes, size, offset); }

ssize_t write(int fd, const void *bytes, size_t size) {
  if (!is_ours(fd) || !fails(WRITES)) return real_write(fd, bytes, size);
  errno = control->error;
  return -1;
}

ssize_t pread64(int fd, void *bytes, size_t size, off_t offset) {
  if (!is_ours(fd) || !fails(READS)) return real_pread(fd, bytes, size, offset);
  errno = control->error;
  return -1;
}

ssize_t pread(int fd, void *bytes, size_t size, off_t offset) { return pread64(fd, bytes, size, offset); }

static int sync_file(int fd, int (*real)(int)) {
  if (!is_ours(fd)) return real(fd);
  if (control->hang) {
    __atomic_store_n(&control->hanging, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&control->hang, __ATOMIC_SEQ_CST)) usleep(1000);
  }
  int failed = fails(SYNCS);
  settle(fd, failed);
  if (!failed) return 0;
  errno = control->error;
  return -1;
}

int fsync(int fd) { return sync_file(fd, real_fsync); }

int fdatasync(int fd) { return sync_file(fd, real_fdatasync); }

int ftruncate64(int fd, off_t size) {
  struct stat status;
  int grows = fstat(fd, &status) == 0 && size > status.st_size;
  if (!grows || !is_ours(fd) || !fails(WRITES)) return real_ftruncate(fd, size);
  errno = control->error;
  return -1;
}

int ftruncate(int fd, off_t size) { return ftruncate64(fd, size); }
