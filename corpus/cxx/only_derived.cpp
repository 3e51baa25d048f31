// Virtual calls reach the functions of classes of which there are objects: a base is no object of its own where only what is derived
// from it is made.
struct Sink {
  virtual void act(char *d) { delete[] d; }
  virtual ~Sink() {}
};

struct Looks : Sink {
  void act(char *d) override { d[0] = 1; }
};

struct Other {
  virtual void act(char *d) { delete[] d; }
  virtual ~Other() {}
};

struct Passes : Other {
  Other *next;
  Passes() : next(new Other) {}
  ~Passes() { delete next; }
  void act(char *d) override { next->act(d); }
};

static void run_bad(Sink *s) {
  char *d = new char[10]; // LEAK
  s->act(d);
}

static void run_ok(Other *s) {
  char *d = new char[10];
  s->act(d);
}

int main() {
  Looks looks;
  run_bad(&looks);
  Passes passes;
  run_ok(&passes);
  return 0;
}
