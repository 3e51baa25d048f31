// Member functions, references and lambdas as ways for a block to travel.
class Stack {
  struct Node {
    Node *next;
    int v;
  };
  Node *top_ = nullptr;

public:
  void push(int v) { top_ = new Node{top_, v}; }
  bool pop(int &v) {
    Node *n = top_;
    if (!n)
      return false;
    v = n->v;
    top_ = n->next;
    delete n;
    return true;
  }
  void skip() {
    if (top_)
      top_ = top_->next;
  }
  ~Stack() {
    while (top_) {
      Node *n = top_;
      top_ = n->next;
      delete n;
    }
  }
};

int use_stack_bad(int n) {
  Stack s;
  s.push(n); // LEAK
  s.skip();
  return n;
}

int use_stack_ok(int n) {
  Stack s;
  s.push(n);
  s.pop(n);
  return n;
}

static void make_into(int *&slot, int v) {
  slot = new int(v);
}

int by_reference_bad(int v) {
  int *p = nullptr;
  make_into(p, v); // LEAK
  return *p;
}

int by_reference_ok(int v) {
  int *p = nullptr;
  make_into(p, v);
  int r = *p;
  delete p;
  return r;
}

int lambda_bad(int v) {
  int *p = new int(v); // LEAK
  auto twice = [p] { return *p * 2; };
  return twice();
}

int lambda_ok(int v) {
  int *p = new int(v);
  auto finish = [p] {
    int r = *p * 2;
    delete p;
    return r;
  };
  return finish();
}

int conditional_delete_bad(int v) {
  int *p = v > 0 ? new int(v) : nullptr; // LEAK
  if (v > 1)
    delete p;
  return v;
}

int conditional_delete_ok(int v) {
  int *p = v > 0 ? new int(v) : nullptr;
  if (v >= 1)
    delete p;
  return v;
}
