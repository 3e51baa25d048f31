// What a dynamic_cast returns is the object that it was given, or null.
struct A {
  int x = 0;
  virtual ~A() {}
};

struct B {
  int y = 0;
  virtual ~B() {}
};

struct C : A, B {
  int *p = new int[3];
  ~C() { delete[] p; }
};

int cast_ok() {
  A *a = new C;
  if (B *b = dynamic_cast<B *>(a)) {
    delete b;
    return 1;
  }
  delete a;
  return 0;
}

int cast_bad() {
  A *a = new C; // LEAK
  if (B *b = dynamic_cast<B *>(a))
    return b->y;
  delete a;
  return 0;
}
