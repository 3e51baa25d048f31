// Containers of plain pointers: what is put into them is theirs to hold, and the program's to delete.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <queue>
#include <set>
#include <stack>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

struct Item {
  int x;
};

// ----- passed on by value -----

static void look_vector(std::vector<char *> data) {
  puts(data[2]);
}

static void free_vector(std::vector<char *> data) {
  free(data[2]);
}

void vector_copy_bad() {
  char *p = static_cast<char *>(malloc(10)); // LEAK
  if (!p)
    exit(1);
  p[0] = 0;
  std::vector<char *> v;
  v.insert(v.end(), 1, p);
  v.insert(v.end(), 1, p);
  v.insert(v.end(), 1, p);
  look_vector(v);
}

void vector_copy_ok() {
  char *p = static_cast<char *>(malloc(10));
  if (!p)
    exit(1);
  p[0] = 0;
  std::vector<char *> v;
  v.insert(v.end(), 1, p);
  v.insert(v.end(), 1, p);
  v.insert(v.end(), 1, p);
  free_vector(v);
}

static void look_list(std::list<Item *> data) {
  printf("%d", data.back()->x);
}

static void free_list(std::list<Item *> data) {
  delete data.back();
}

void list_copy_bad() {
  Item *p = new Item{1}; // LEAK
  std::list<Item *> l;
  l.push_back(p);
  l.push_back(p);
  look_list(l);
}

void list_copy_ok() {
  Item *p = new Item{1};
  std::list<Item *> l;
  l.push_back(p);
  l.push_back(p);
  free_list(l);
}

static void look_map(std::map<int, int *> data) {
  printf("%d", data[2][0]);
}

static void free_map(std::map<int, int *> data) {
  delete[] data[2];
}

void map_copy_bad() {
  int *p = new int[10]; // LEAK
  p[0] = 1;
  std::map<int, int *> m;
  m[0] = p;
  m[2] = p;
  look_map(m);
}

void map_copy_ok() {
  int *p = new int[10];
  p[0] = 1;
  std::map<int, int *> m;
  m[0] = p;
  m[2] = p;
  free_map(m);
}

// ----- every kind of container, filled and emptied in one function -----

void stack_bad() {
  std::stack<Item *> s;
  s.push(new Item{1}); // LEAK
  printf("%d", s.top()->x);
  s.pop();
}

void stack_ok() {
  std::stack<Item *> s;
  s.push(new Item{1});
  while (!s.empty()) {
    delete s.top();
    s.pop();
  }
}

void queue_bad() {
  std::queue<Item *> q;
  q.push(new Item{1}); // LEAK
  while (!q.empty()) {
    Item *p = q.front();
    q.pop();
    printf("%d", p->x);
  }
}

void queue_ok() {
  std::queue<Item *> q;
  q.push(new Item{1});
  while (!q.empty()) {
    Item *p = q.front();
    q.pop();
    delete p;
  }
}

void names_bad() {
  std::map<std::string, Item *> m;
  m["a"] = new Item{1}; // LEAK
  for (auto &entry : m)
    printf("%d", entry.second->x);
}

void names_ok() {
  std::map<std::string, Item *> m;
  m["a"] = new Item{1};
  for (auto &entry : m)
    delete entry.second;
}

void pairs_bad() {
  std::map<int, Item *> m;
  m.insert(std::make_pair(1, new Item{1})); // LEAK
  auto it = m.find(1);
  if (it != m.end())
    printf("%d", it->second->x);
}

void pairs_ok() {
  std::map<int, Item *> m;
  m.insert(std::make_pair(1, new Item{1}));
  m.emplace(2, new Item{2});
  for (auto it = m.begin(); it != m.end(); ++it)
    delete it->second;
  m.clear();
}

void table_bad() {
  std::unordered_map<int, Item *> m;
  m[3] = new Item{1}; // LEAK
  printf("%zu", m.size());
}

void table_ok() {
  std::unordered_map<int, Item *> m;
  m[3] = new Item{1};
  for (auto &entry : m)
    delete entry.second;
}

void set_bad() {
  std::set<Item *> s;
  s.insert(new Item{1}); // LEAK
  printf("%zu", s.size());
}

void set_ok() {
  std::set<Item *> s;
  s.insert(new Item{1});
  for (Item *p : s)
    delete p;
}

void deque_bad() {
  std::deque<Item *> d;
  d.push_back(new Item{1}); // LEAK
  printf("%d", d.front()->x);
}

void deque_ok() {
  std::deque<Item *> d;
  d.push_back(new Item{1});
  for (Item *p : d)
    delete p;
}

void list_ok() {
  std::list<Item *> l;
  l.push_back(new Item{1});
  for (auto it = l.begin(); it != l.end(); it++)
    delete *it;
}

void keys_ok() {
  std::map<Item *, int> m;
  m[new Item{1}] = 3;
  for (auto &entry : m)
    delete entry.first;
}

void vector_of_pairs_ok() {
  std::vector<std::pair<int, Item *>> v;
  v.push_back({1, new Item{1}});
  for (auto &entry : v)
    delete entry.second;
}

void algorithms_ok() {
  std::vector<Item *> v;
  v.push_back(new Item{1});
  std::sort(v.begin(), v.end());
  v.erase(std::unique(v.begin(), v.end()), v.end());
  std::for_each(v.begin(), v.end(), [](Item *p) { delete p; });
}

void initialised_ok() {
  std::vector<Item *> v{new Item{1}, new Item{2}};
  for (Item *p : v)
    delete p;
}

void assigned_ok() {
  std::vector<Item *> v(3);
  for (auto &p : v)
    p = new Item{1};
  for (auto p : v)
    delete p;
}

void swapped_ok() {
  std::vector<Item *> v, w;
  v.push_back(new Item{1});
  w.swap(v);
  for (Item *p : w)
    delete p;
}

void moved_ok() {
  std::vector<Item *> v;
  v.push_back(new Item{1});
  auto w = std::move(v);
  for (Item *p : w)
    delete p;
}

void shared_ok() {
  std::vector<std::shared_ptr<Item>> v;
  v.push_back(std::make_shared<Item>());
}

// ----- before it gets there -----

void early_bad(bool stop) {
  std::vector<Item *> v;
  Item *p = new Item{1}; // LEAK
  if (stop)
    return;
  v.push_back(p);
  delete v[0];
}

void early_ok(bool stop) {
  std::vector<Item *> v;
  Item *p = new Item{1};
  v.push_back(p);
  if (!stop)
    puts("on");
  delete v[0];
}

// ----- across functions and in classes -----

static void fill(std::vector<Item *> &out) {
  out.push_back(new Item{1});
}

void filled_bad() {
  std::vector<Item *> v;
  fill(v); // LEAK
}

void filled_ok() {
  std::vector<Item *> v;
  fill(v);
  for (Item *p : v)
    delete p;
}

static std::vector<Item *> made() {
  std::vector<Item *> v;
  v.push_back(new Item{1});
  return v;
}

void returned_bad() {
  auto v = made(); // LEAK
  printf("%d", v[0]->x);
}

void returned_ok() {
  auto v = made();
  for (Item *p : v)
    delete p;
}

class Cache {
  std::map<int, Item *> items;

public:
  Item *get(int key) {
    auto it = items.find(key);
    if (it != items.end())
      return it->second;
    Item *p = new Item{key};
    items[key] = p;
    return p;
  }
  ~Cache() {
    for (auto &entry : items)
      delete entry.second;
  }
};

void cache_ok() {
  Cache cache;
  printf("%d", cache.get(3)->x);
}

struct Tree {
  std::vector<Tree *> children;
  ~Tree() {
    for (Tree *child : children)
      delete child;
  }
  void add(Tree *child) { children.push_back(child); }
};

void tree_ok() {
  Tree root;
  root.add(new Tree);
  root.add(new Tree);
}

struct Registry {
  static std::vector<Item *> all;
  static void add(Item *p) { all.push_back(p); }
};
std::vector<Item *> Registry::all;

void registered_ok() {
  Registry::add(new Item{1});
}
