// Deleting through a base pointer.
#include <cstring>

struct Shape {
  virtual ~Shape() {}
  virtual int area() const = 0;
};

struct Square : Shape {
  int side;
  explicit Square(int s) : side(s) {}
  int area() const override { return side * side; }
};

struct Polygon : Shape {
  int *xs;
  explicit Polygon(int n) : xs(new int[8]) { xs[0] = n; }
  ~Polygon() override { delete[] xs; }
  int area() const override { return xs[0]; }
};

static Shape *make_square(int s) {
  return new Square(s);
}

int through_base_bad(int s) {
  Shape *p = new Square(s); // LEAK
  if (p->area() > 100)
    return -1;
  delete p;
  return 0;
}

int through_base_ok(int s) {
  Shape *p = new Square(s);
  int r = p->area() > 100 ? -1 : 0;
  delete p;
  return r;
}

int factory_bad(int s) {
  Shape *p = make_square(s); // LEAK
  return p->area();
}

int factory_ok(int s) {
  Shape *p = make_square(s);
  int a = p->area();
  delete p;
  return a;
}

int derived_owner_bad(int n) {
  Polygon *p = new Polygon(n);
  int *kept = p->xs;
  p->xs = new int[4]; // LEAK
  p->xs = kept;       // LOST
  Shape *s = p;
  delete s;
  return n;
}

int derived_owner_ok(int n) {
  Polygon *p = new Polygon(n);
  int *kept = p->xs;
  p->xs = new int[4];
  delete[] p->xs;
  p->xs = kept;
  Shape *s = p;
  delete s;
  return n;
}
