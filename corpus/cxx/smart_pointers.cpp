// unique_ptr and shared_ptr own; get() lends, release() gives away.
#include <memory>
#include <utility>

struct Job {
  int id;
  explicit Job(int i) : id(i) {}
};

int unique_bad(int n) {
  Job *j = new Job(n); // LEAK
  if (j->id > 3)
    return 1;
  delete j;
  return 0;
}

int unique_ok(int n) {
  std::unique_ptr<Job> j(new Job(n));
  if (j->id > 3)
    return 1;
  return 0;
}

int released_bad(int n) {
  auto j = std::make_unique<Job>(n); // LEAK
  Job *raw = j.release();
  return raw->id;
}

int released_ok(int n) {
  auto j = std::make_unique<Job>(n);
  Job *raw = j.get();
  return raw->id;
}

int moved_bad(int n) {
  std::unique_ptr<Job> a(new Job(n)); // LEAK
  std::unique_ptr<Job> b = std::move(a);
  b.release();
  return n;
}

int moved_ok(int n) {
  std::unique_ptr<Job> a(new Job(n));
  std::unique_ptr<Job> b = std::move(a);
  b.reset();
  return n;
}

std::unique_ptr<int> handed_out_ok(int n) {
  auto p = std::make_unique<int>(n);
  if (*p > 5)
    return nullptr;
  return p;
}

int array_owner_ok(unsigned n) {
  std::unique_ptr<int[]> v(new int[n % 64 + 1]);
  v[0] = 4;
  return v[0];
}

int shared_ok(int n) {
  auto a = std::make_shared<Job>(n);
  auto b = a;
  if (n > 5)
    return b->id;
  return a->id;
}

// The destructor of a node calls itself through that of its pointer.
struct Node {
  std::shared_ptr<Node> next;
  int *value;
  Node() : value(new int(1)) {}
  ~Node() { delete value; }
};

int shared_nodes_ok(int n) {
  auto a = std::make_shared<Node>();
  std::shared_ptr<Node> b(new Node);
  if (n == 5)
    b = a;
  return *b->value;
}

int shared_nodes_bad(int n) {
  auto a = std::make_shared<Node>();
  Node *b = new Node; // LEAK
  if (n == 5)
    b->next = a;
  return *b->value;
}

struct Link {
  int id;
  std::unique_ptr<Link> next;
};

int released_member_bad() {
  auto first = std::make_unique<Link>();
  first->next = std::make_unique<Link>(); // LEAK
  Link *raw = first->next.release();
  return raw->id;
}

int released_member_ok() {
  auto first = std::make_unique<Link>();
  first->next = std::make_unique<Link>();
  Link *raw = first->next.release();
  int id = raw->id;
  delete raw;
  return id;
}
