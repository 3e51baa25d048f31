// Classes whose constructor allocates; the destructor releases, or forgets.
#include <cstdlib>
#include <cstring>

class Buffer {
  char *data_;
  size_t size_;

public:
  explicit Buffer(size_t n) : data_(new char[n + 1]), size_(n) { data_[0] = 0; }
  ~Buffer() { delete[] data_; }
  Buffer(const Buffer &) = delete;
  Buffer &operator=(const Buffer &) = delete;
  size_t size() const { return size_; }
};

class Sloppy {
  char *data_;

public:
  explicit Sloppy(size_t n) : data_(new char[n + 1]) { data_[0] = 0; }
  ~Sloppy() { data_[0] = 1; }
  char first() const { return data_[0]; }
};

class Name {
  char *text_ = nullptr;

public:
  ~Name() { free(text_); }
  void set(const char *s) {
    free(text_);
    text_ = strdup(s);
  }
  void assign(const char *s) { text_ = strdup(s); }
  bool empty() const { return !text_ || !*text_; }
};

int stack_object_bad(unsigned n) {
  Sloppy s(n % 50); // LEAK
  return s.first();
}

size_t stack_object_ok(unsigned n) {
  Buffer b(n % 50);
  return b.size();
}

size_t heap_object_bad(unsigned n) {
  Buffer *b = new Buffer(n % 50); // LEAK x2
  if (b->size() > 40)
    return 0;
  size_t r = b->size();
  delete b;
  return r;
}

size_t heap_object_ok(unsigned n) {
  Buffer *b = new Buffer(n % 50);
  size_t r = b->size() > 40 ? 0 : b->size();
  delete b;
  return r;
}

bool set_twice_bad(const char *a, const char *b) {
  Name n;
  n.assign(a); // LEAK
  n.assign(b); // LOST
  return n.empty();
}

bool set_twice_ok(const char *a, const char *b) {
  Name n;
  n.set(a);
  n.set(b);
  return n.empty();
}
