// Containers keep pointers; nobody but the program frees what they point to.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

class Name {
  char *text;

public:
  explicit Name(const char *s) : text(new char[strlen(s) + 1]) { strcpy(text, s); }
  ~Name() { delete[] text; }
  const char *get() const { return text; }
};

void pushed_bad() {
  std::vector<char *> all;
  char *block = static_cast<char *>(malloc(100)); // LEAK
  if (!block)
    exit(1);
  all.push_back(block);
}

void pushed_ok() {
  std::vector<char *> all;
  char *block = static_cast<char *>(malloc(100));
  if (!block)
    exit(1);
  all.push_back(block);
  free(all[0]);
}

void pushed_and_named_ok() {
  std::vector<char *> all;
  char *block = static_cast<char *>(malloc(100));
  if (!block)
    exit(1);
  all.push_back(block);
  puts(all[0]);
  free(block);
}

void filled_in_a_loop_ok() {
  std::vector<Name *> all;
  for (int i = 0; i < 10; i++)
    all.push_back(new Name("x"));
  for (Name *name : all)
    delete name;
}

void one_ok() {
  std::vector<Name *> all;
  all.push_back(new Name("x"));
  for (Name *name : all)
    delete name;
}

void thrown_away_bad(int n) {
  int *name = new int(1); // LEAK
  std::vector<int> numbers;
  numbers.push_back(n);
  if (numbers[0] > 3)
    throw n;
  delete name;
}

void thrown_away_ok(int n) {
  int *name = new int(1);
  std::vector<int> numbers;
  numbers.push_back(n);
  if (numbers[0] > 3) {
    delete name;
    throw n;
  }
  delete name;
}

class Names {
  std::vector<Name *> all;

public:
  void add(const char *s) { all.push_back(new Name(s)); }
  ~Names() {
    for (Name *name : all)
      delete name;
  }
};

void destructor_frees_ok() {
  Names names;
  names.add("x");
}
