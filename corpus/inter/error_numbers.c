/* errno is not zero after a failure, so neither is what is made of it; unless the function has set it to zero itself. Locks do not
 * fail. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int open_file(const char *path, int *out) {
  int fd = open(path, O_RDONLY);
  if (fd < 0)
    return -errno;
  *out = fd;
  return 0;
}

int by_goto_ok(const char *path) {
  char *buffer = malloc(10);
  int rc = 0, fd;
  if (!buffer)
    return -1;
  fd = open(path, O_RDONLY);
  if (fd < 0) {
    rc = -errno;
    goto done;
  }
  close(fd);
  free(buffer);
  buffer = NULL;
done:
  if (rc)
    free(buffer);
  return rc;
}

int never_positive_ok(const char *path) {
  char *buffer = malloc(10);
  int fd, rc;
  if (!buffer)
    return -1;
  rc = open_file(path, &fd);
  if (rc < 0) {
    free(buffer);
    return rc;
  }
  if (rc == 0) {
    free(buffer);
    close(fd);
  }
  return 0;
}

int on_failure_bad(const char *path) {
  char *buffer = malloc(10); // LEAK
  int fd, rc;
  if (!buffer)
    return -1;
  rc = open_file(path, &fd);
  if (rc < 0)
    return rc; // LOST
  free(buffer);
  close(fd);
  return 0;
}

long cleared_bad(const char *text) {
  char *copy = strdup(text); // LEAK
  errno = 0;
  long number = strtol(text, NULL, 10);
  if (errno) {
    free(copy);
    return -1;
  }
  return number; // LOST
}

static int locked(pthread_mutex_t *lock) {
  if (pthread_mutex_lock(lock) != 0)
    return 0;
  return 1;
}

int lock_ok(pthread_mutex_t *lock) {
  char *copy = strdup("text");
  if (!locked(lock))
    return -1;
  free(copy);
  pthread_mutex_unlock(lock);
  return 0;
}

int trylock_bad(pthread_mutex_t *lock) {
  char *copy = strdup("text"); // LEAK
  if (pthread_mutex_trylock(lock) != 0)
    return -1; // LOST
  free(copy);
  pthread_mutex_unlock(lock);
  return 0;
}

/* Two numbers that take each other's place in a loop. */
static int swapped(int n) {
  int a = 1, b = 2;
  while (n-- > 0) {
    int old = a;
    a = b;
    b = old;
  }
  return a;
}

int swapped_ok(int n) {
  char *copy = strdup("text");
  if (swapped(n) > 0)
    free(copy);
  return n;
}
