// new and delete of single objects and arrays.
#include <cstdio>
#include <new>

struct Point {
  int x, y;
  Point(int a, int b) : x(a), y(b) {}
};

int single_bad(int n) {
  int *p = new int(n); // LEAK
  if (*p > 10)
    return 1;
  delete p;
  return 0;
}

int single_ok(int n) {
  int *p = new int(n);
  int big = *p > 10;
  delete p;
  return big;
}

int array_bad(unsigned n) {
  int *v = new int[n % 100 + 1]; // LEAK
  v[0] = 7;
  return v[0];
}

int array_ok(unsigned n) {
  int *v = new int[n % 100 + 1];
  v[0] = 7;
  int r = v[0];
  delete[] v;
  return r;
}

int object_bad(int a) {
  Point *p = new Point(a, a); // LEAK
  p = new Point(p->x, 0);     // LOST
  int r = p->y;
  delete p;
  return r;
}

int object_ok(int a) {
  Point *p = new Point(a, a);
  Point *q = new Point(p->x, 0);
  delete p;
  int r = q->y;
  delete q;
  return r;
}

int nothrow_bad(int n) {
  char *b = new (std::nothrow) char[64]; // LEAK
  if (!b)
    return -1;
  b[0] = static_cast<char>(n);
  if (b[0] == 3)
    return 3;
  delete[] b;
  return 0;
}

int nothrow_ok(int n) {
  char *b = new (std::nothrow) char[64];
  if (!b)
    return -1;
  b[0] = static_cast<char>(n);
  int r = b[0] == 3 ? 3 : 0;
  delete[] b;
  return r;
}

int placement_bad(int n) {
  alignas(Point) unsigned char room[sizeof(Point)];
  Point *in_place = new (room) Point(n, n);
  Point *on_heap = new Point(*in_place); // LEAK
  return on_heap->x + in_place->y;
}

int placement_ok(int n) {
  alignas(Point) unsigned char room[sizeof(Point)];
  Point *in_place = new (room) Point(n, n);
  Point *on_heap = new Point(*in_place);
  int r = on_heap->x + in_place->y;
  delete on_heap;
  return r;
}
