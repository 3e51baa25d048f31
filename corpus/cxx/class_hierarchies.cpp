// Virtual calls reach the classes that the pointer's class allows, however many other classes have such a slot.
#include <cstdio>
#include <functional>

#define OTHER_CLASS(name)                                                                                                                  \
  struct name {                                                                                                                            \
    int *p = nullptr;                                                                                                                      \
    virtual void act(int *q) { delete q; }                                                                                                 \
    virtual ~name() { delete p; }                                                                                                          \
  };                                                                                                                                       \
  void use_##name(name &other, int *q) { other.act(q); }

OTHER_CLASS(Other01)
OTHER_CLASS(Other02)
OTHER_CLASS(Other03)
OTHER_CLASS(Other04)
OTHER_CLASS(Other05)
OTHER_CLASS(Other06)
OTHER_CLASS(Other07)
OTHER_CLASS(Other08)
OTHER_CLASS(Other09)
OTHER_CLASS(Other10)
OTHER_CLASS(Other11)
OTHER_CLASS(Other12)
OTHER_CLASS(Other13)
OTHER_CLASS(Other14)
OTHER_CLASS(Other15)
OTHER_CLASS(Other16)
OTHER_CLASS(Other17)

struct Viewer {
  virtual void act(int *q) { printf("%d\n", *q); }
  virtual ~Viewer() {}
};

struct Printer : Viewer {
  void act(int *q) override { printf("<%d>\n", *q); }
};

struct Deleter {
  virtual void act(int *q) = 0;
  virtual ~Deleter() {}
};

struct PlainDeleter : Deleter {
  void act(int *q) override { delete q; }
};

static void view(Viewer &viewer, int *q) {
  viewer.act(q);
}

static void drop(Deleter *deleter, int *q) {
  deleter->act(q);
}

void viewed_bad(bool plain) {
  Viewer viewer;
  Printer printer;
  int *q = new int(1); // LEAK
  view(plain ? viewer : printer, q);
}

void viewed_ok(bool plain) {
  Viewer viewer;
  Printer printer;
  int *q = new int(1);
  view(plain ? viewer : printer, q);
  delete q;
}

void dropped_ok() {
  PlainDeleter deleter;
  int *q = new int(1);
  drop(&deleter, q);
}

struct First {
  int a = 0;
  virtual ~First() {}
};

struct Second {
  int b = 0;
  virtual void act(int *q) { printf("%d\n", *q); }
  virtual ~Second() {}
};

struct Both : First, Second {
  int *p;
  Both() : p(new int(1)) {}
  void act(int *q) override { delete q; }
  ~Both() { delete p; }
};

void second_base_ok() {
  Second *s = new Both;
  int *q = new int(2);
  s->act(q);
  delete s;
}

void second_base_bad() {
  Second *s = new Both; // LEAK
  int *q = new int(2);
  s->act(q);
}

struct Worker {
  void look(int *q) { printf("%d\n", *q); }
  void release(int *q) { delete q; }
};

void member_pointer_bad() {
  int *q = new int(1); // LEAK[missed]: pointers to member functions are not resolved
  Worker worker;
  void (Worker::*action)(int *) = &Worker::look;
  (worker.*action)(q);
}

void member_pointer_ok() {
  int *q = new int(1);
  Worker worker;
  void (Worker::*action)(int *) = &Worker::release;
  (worker.*action)(q);
}

void function_object_bad() {
  int *q = new int(1); // LEAK[missed]: std::function calls one of two lambdas, and only one of them deletes
  std::function<void()> action = [q]() { printf("%d\n", *q); };
  action();
}

void function_object_ok() {
  int *q = new int(1);
  std::function<void()> action = [q]() { delete q; };
  action();
}
