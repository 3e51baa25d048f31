// A constructor that throws has made no object: its destructor is not called. What it has made itself is destroyed: bases and members.
#include <memory>
#include <stdexcept>

struct Plain {
  int *numbers;
  explicit Plain(int n) : numbers(new int[16]) { // LEAK
    if (n > 3)
      throw std::runtime_error("too many");
  }
  ~Plain() { delete[] numbers; }
};

struct Careful {
  int *numbers;
  explicit Careful(int n) : numbers(new int[16]) {
    if (n > 3) {
      delete[] numbers;
      throw std::runtime_error("too many");
    }
  }
  ~Careful() { delete[] numbers; }
};

struct Owned {
  std::unique_ptr<int[]> numbers;
  explicit Owned(int n) : numbers(new int[16]) {
    if (n > 3)
      throw std::runtime_error("too many");
  }
};

struct Base {
  int *numbers;
  Base() : numbers(new int[16]) {}
  ~Base() { delete[] numbers; }
};

struct Derived : Base {
  explicit Derived(int n) {
    if (n > 3)
      throw n;
  }
};

static void check(int n) {
  if (n > 3)
    throw n;
}

struct Calling {
  int *first;
  int *second;
  explicit Calling(int n) {
    first = new int(1); // LEAK
    check(n);
    second = new int(2);
  }
  ~Calling() {
    delete first;
    delete second;
  }
};

struct Delegating {
  int *numbers;
  Delegating() : numbers(new int[16]) {}
  explicit Delegating(int n) : Delegating() { check(n); }
  ~Delegating() { delete[] numbers; }
};

struct Handling {
  int *numbers;
  explicit Handling(int n) : numbers(new int[16]) {
    try {
      check(n);
    } catch (...) {
      numbers[0] = 1;
    }
  }
  ~Handling() { delete[] numbers; }
};

// Not a constructor: its caller still has the structure.
static void fill(Base *base, int n) {
  base->numbers = new int[16];
  check(n);
}

int all_of_them(int n) {
  try {
    Plain plain(n);
    Careful careful(n);
    Owned owned(n);
    Derived derived(n);
    Calling calling(n);
    Delegating delegating(n);
    Handling handling(n);
    return *plain.numbers + *careful.numbers + owned.numbers[0] + *derived.numbers + *calling.first + *delegating.numbers + *handling.numbers;
  } catch (...) {
    return 1;
  }
}

int on_the_heap(int n) {
  auto *derived = new Derived(n);
  int number = *derived->numbers;
  delete derived;
  auto *delegating = new Delegating(n);
  number += *delegating->numbers;
  delete delegating;
  return number;
}

void fills(Base *base, int n) { fill(base, n); }
