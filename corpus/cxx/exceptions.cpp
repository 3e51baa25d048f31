// An exception leaves the scope before the release.
#include <cstdlib>
#include <cstring>
#include <stdexcept>

static int checked(int n) {
  if (n < 0)
    throw std::invalid_argument("negative");
  return n * 2;
}

static int unchecked(int n) noexcept {
  return n * 2;
}

int raw_pointer_bad(int n) {
  int *p = new int(1); // LEAK
  int r;
  try {
    r = checked(n) + *p;
    delete p;
  } catch (const std::invalid_argument &) {
    r = -1;
  }
  return r;
}

int raw_pointer_ok(int n) {
  int *p = new int(1);
  int r;
  try {
    r = checked(n) + *p;
  } catch (const std::invalid_argument &) {
    r = -1;
  }
  delete p;
  return r;
}

int propagated_bad(int n) {
  char *b = static_cast<char *>(malloc(16)); // LEAK
  if (!b)
    return -1;
  n = checked(n);
  free(b);
  return n;
}

int propagated_ok(int n) {
  char *b = static_cast<char *>(malloc(16));
  if (!b)
    return -1;
  n = unchecked(n);
  free(b);
  return n;
}

int rethrown_bad(int n) {
  char *b = new char[16]; // LEAK
  b[0] = 0;
  try {
    n = checked(n);
  } catch (...) {
    throw;
  }
  delete[] b;
  return n;
}

int rethrown_ok(int n) {
  char *b = new char[16];
  b[0] = 0;
  try {
    n = checked(n);
  } catch (...) {
    delete[] b;
    throw;
  }
  delete[] b;
  return n;
}

int thrown_here_bad(int n) {
  char *b = new char[16]; // LEAK
  b[0] = 1;
  if (n == 7)
    throw std::runtime_error("seven");
  delete[] b;
  return n;
}

int thrown_here_ok(int n) {
  char *b = new char[16];
  b[0] = 1;
  if (n == 7) {
    delete[] b;
    throw std::runtime_error("seven");
  }
  delete[] b;
  return n;
}

struct Guard {
  char *p;
  explicit Guard(size_t n) : p(new char[n]) { p[0] = 0; }
  ~Guard() { delete[] p; }
};

int guarded_bad(int n) {
  char *g = new char[8]; // LEAK
  g[0] = 0;
  int r = checked(n) + g[0];
  delete[] g;
  return r;
}

int guarded_ok(int n) {
  Guard g(8);
  return checked(n) + g.p[0];
}
