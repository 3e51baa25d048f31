// The class of the object decides what a virtual call does with its argument.
#include <cstdio>
#include <cstdlib>
#include <cstring>

struct Sink {
  virtual ~Sink() {}
  virtual void put(char *text) const = 0;
};

struct Printer : Sink {
  void put(char *text) const override { puts(text); }
};

struct Consumer : Sink {
  void put(char *text) const override {
    puts(text);
    free(text);
  }
};

void printed_by_reference_bad() {
  char *text = strdup("x"); // LEAK
  if (!text)
    return;
  const Sink &sink = Printer();
  sink.put(text);
}

void consumed_by_reference_ok() {
  char *text = strdup("x");
  if (!text)
    return;
  const Sink &sink = Consumer();
  sink.put(text);
}

void printed_by_pointer_bad() {
  char *text = strdup("x"); // LEAK
  if (!text)
    return;
  Sink *sink = new Printer;
  sink->put(text);
  delete sink;
}

void consumed_by_pointer_ok() {
  char *text = strdup("x");
  if (!text)
    return;
  Sink *sink = new Consumer;
  sink->put(text);
  delete sink;
}

void either_ok(bool consume) {
  char *text = strdup("x"); // whoever the caller chose: nobody can say here
  if (!text)
    return;
  Sink *sink = consume ? static_cast<Sink *>(new Consumer) : static_cast<Sink *>(new Printer);
  sink->put(text);
  if (!consume)
    free(text);
  delete sink;
}
