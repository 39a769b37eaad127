/*
 * Loaded by LD_PRELOAD: writes down, in their order, the writes, truncations, syncs, creations, renames and removals of
 * files below one folder. What a power cut could leave is built from that record.
 *
 *   LANE_RECORD_FOLDER   the watched folder, an absolute path without links
 *   LANE_RECORD_LOG      the record, outside of it; several processes append to it one after another
 *   LANE_DROP_SYNCS      when set, a sync is neither done nor written down: the lane must notice
 *
 * A line of the record: kind (1 byte), length of the path (u16), length of the data (u32), offset (u64), path, data;
 * little-endian. The data of a rename is the new path.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define DESCRIPTORS 65536
#define PATH_BYTES 4096

static const char *folder;
static size_t folder_bytes;
static int drop_syncs;
static int log_descriptor = -1;
static char *paths[DESCRIPTORS];
/* Held over the call and its line: the record has the order in which things happened. */
static pthread_mutex_t order = PTHREAD_MUTEX_INITIALIZER;

__attribute__((constructor)) static void begin(void) {
  folder = getenv("LANE_RECORD_FOLDER");
  const char *log = getenv("LANE_RECORD_LOG");
  if (folder == NULL || log == NULL) return;
  folder_bytes = strlen(folder);
  drop_syncs = getenv("LANE_DROP_SYNCS") != NULL;
  log_descriptor = (int)syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
}

static int is_watched(const char *path) {
  return log_descriptor >= 0 && path != NULL && strncmp(path, folder, folder_bytes) == 0 &&
         (path[folder_bytes] == '/' || path[folder_bytes] == '\0');
}

static const char *watched_path(int descriptor) {
  return descriptor >= 0 && descriptor < DESCRIPTORS ? paths[descriptor] : NULL;
}

static void put(const void *bytes, size_t count) {
  const char *at = bytes;
  while (count > 0) {
    ssize_t written = syscall(SYS_write, log_descriptor, at, count);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) abort();
    at += written;
    count -= (size_t)written;
  }
}

static void note(char kind, const char *path, uint64_t offset, const void *data, size_t count) {
  int error = errno;
  uint16_t path_bytes = (uint16_t)strlen(path);
  uint32_t data_bytes = (uint32_t)count;
  unsigned char head[15];
  head[0] = (unsigned char)kind;
  memcpy(head + 1, &path_bytes, 2);
  memcpy(head + 3, &data_bytes, 4);
  memcpy(head + 7, &offset, 8);
  put(head, sizeof head);
  put(path, path_bytes);
  if (data != NULL && count > 0) put(data, count);
  errno = error;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int keep(int descriptor, const char *path, int flags, int existed) {
  if (descriptor < 0 || descriptor >= DESCRIPTORS || !is_watched(path)) return descriptor;
  paths[descriptor] = strdup(path);
  if ((flags & O_CREAT) != 0 && !existed) note('c', path, 0, NULL, 0);
  else if ((flags & O_TRUNC) != 0) note('t', path, 0, NULL, 0);
  return descriptor;
}

static int open_noted(const char *path, int flags, mode_t mode) {
  pthread_mutex_lock(&order);
  struct stat found;
  int existed = is_watched(path) && stat(path, &found) == 0;
  int descriptor = (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
  keep(descriptor, path, flags, existed);
  pthread_mutex_unlock(&order);
  return descriptor;
}

#define OPEN(name)                                        \
  int name(const char *path, int flags, ...) {            \
    mode_t mode = 0;                                      \
    if ((flags & (O_CREAT | O_TMPFILE)) != 0) {           \
      va_list rest;                                       \
      va_start(rest, flags);                              \
      mode = va_arg(rest, mode_t);                        \
      va_end(rest);                                       \
    }                                                     \
    return open_noted(path, flags, mode);                 \
  }
OPEN(open)
OPEN(open64)

int close(int descriptor) {
  pthread_mutex_lock(&order);
  if (watched_path(descriptor) != NULL) {
    free(paths[descriptor]);
    paths[descriptor] = NULL;
  }
  int result = (int)syscall(SYS_close, descriptor);
  pthread_mutex_unlock(&order);
  return result;
}

static ssize_t write_noted(int descriptor, const void *bytes, size_t count, off_t offset) {
  ssize_t written = syscall(SYS_pwrite64, descriptor, bytes, count, offset);
  if (written > 0) note('w', paths[descriptor], (uint64_t)offset, bytes, (size_t)written);
  return written;
}

ssize_t pwrite(int descriptor, const void *bytes, size_t count, off_t offset) {
  if (watched_path(descriptor) == NULL) return syscall(SYS_pwrite64, descriptor, bytes, count, offset);
  pthread_mutex_lock(&order);
  ssize_t written = write_noted(descriptor, bytes, count, offset);
  pthread_mutex_unlock(&order);
  return written;
}

ssize_t pwrite64(int descriptor, const void *bytes, size_t count, off64_t offset) {
  return pwrite(descriptor, bytes, count, offset);
}

ssize_t write(int descriptor, const void *bytes, size_t count) {
  if (watched_path(descriptor) == NULL) return syscall(SYS_write, descriptor, bytes, count);
  pthread_mutex_lock(&order);
  int appends = (fcntl(descriptor, F_GETFL) & O_APPEND) != 0;
  off_t offset = lseek(descriptor, 0, appends ? SEEK_END : SEEK_CUR);
  ssize_t written = syscall(SYS_write, descriptor, bytes, count);
  if (written > 0) note('w', paths[descriptor], (uint64_t)offset, bytes, (size_t)written);
  pthread_mutex_unlock(&order);
  return written;
}

/* Several pieces as several writes: nothing promises that they are one. */
ssize_t writev(int descriptor, const struct iovec *pieces, int count) {
  if (watched_path(descriptor) == NULL) return syscall(SYS_writev, descriptor, pieces, count);
  ssize_t total = 0;
  for (int index = 0; index < count; index++) {
    ssize_t written = write(descriptor, pieces[index].iov_base, pieces[index].iov_len);
    if (written < 0) return total > 0 ? total : written;
    total += written;
  }
  return total;
}

ssize_t pwritev(int descriptor, const struct iovec *pieces, int count, off_t offset) {
  if (watched_path(descriptor) == NULL) return NEXT(pwritev)(descriptor, pieces, count, offset);
  ssize_t total = 0;
  for (int index = 0; index < count; index++) {
    ssize_t written = pwrite(descriptor, pieces[index].iov_base, pieces[index].iov_len, offset + total);
    if (written < 0) return total > 0 ? total : written;
    total += written;
  }
  return total;
}

ssize_t pwritev64(int descriptor, const struct iovec *pieces, int count, off64_t offset) {
  return pwritev(descriptor, pieces, count, offset);
}

int ftruncate(int descriptor, off_t length) {
  const char *path = watched_path(descriptor);
  if (path == NULL) return (int)syscall(SYS_ftruncate, descriptor, length);
  pthread_mutex_lock(&order);
  int result = (int)syscall(SYS_ftruncate, descriptor, length);
  if (result == 0) note('t', path, (uint64_t)length, NULL, 0);
  pthread_mutex_unlock(&order);
  return result;
}

int ftruncate64(int descriptor, off64_t length) {
  return ftruncate(descriptor, length);
}

static int sync_noted(long call, int descriptor) {
  const char *path = watched_path(descriptor);
  if (path == NULL) return (int)syscall(call, descriptor);
  if (drop_syncs) return 0;
  pthread_mutex_lock(&order);
  int result = (int)syscall(call, descriptor);
  if (result == 0) note('s', path, 0, NULL, 0);
  pthread_mutex_unlock(&order);
  return result;
}

int fsync(int descriptor) {
  return sync_noted(SYS_fsync, descriptor);
}

int fdatasync(int descriptor) {
  return sync_noted(SYS_fdatasync, descriptor);
}

int unlink(const char *path) {
  pthread_mutex_lock(&order);
  int result = (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
  if (result == 0 && is_watched(path)) note('u', path, 0, NULL, 0);
  pthread_mutex_unlock(&order);
  return result;
}

int rename(const char *from, const char *to) {
  pthread_mutex_lock(&order);
  int result = (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
  if (result == 0 && is_watched(from)) note('r', from, 0, to, strlen(to));
  pthread_mutex_unlock(&order);
  return result;
}

int mkdir(const char *path, mode_t mode) {
  pthread_mutex_lock(&order);
  int result = (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
  if (result == 0 && is_watched(path)) note('m', path, 0, NULL, 0);
  pthread_mutex_unlock(&order);
  return result;
}

/* Copies past these calls would not be in the record: they are refused, and their callers read and write instead. */
ssize_t copy_file_range(int from, off64_t *from_offset, int to, off64_t *to_offset, size_t count, unsigned int flags) {
  if (watched_path(to) == NULL) return syscall(SYS_copy_file_range, from, from_offset, to, to_offset, count, flags);
  errno = ENOSYS;
  return -1;
}

ssize_t sendfile64(int to, int from, off64_t *offset, size_t count) {
  if (watched_path(to) == NULL) return syscall(SYS_sendfile, to, from, offset, count);
  errno = ENOSYS;
  return -1;
}
