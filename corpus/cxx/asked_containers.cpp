// Who asks a container for the block that lies in it finds it: "none" is no path on which it is left over.
#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <stack>
#include <string>
#include <unordered_map>
#include <vector>

void found_in_map_ok() {
  std::map<int, int *> m;
  m[3] = new int(4);
  auto it = m.find(3);
  if (it != m.end()) {
    delete it->second;
    m.erase(it);
  }
}

void found_in_map_bad() {
  std::map<int, int *> m;
  m[3] = new int(4); // LEAK
  auto it = m.find(3);
  if (it != m.end()) {
    printf("%d", *it->second);
    m.erase(it);
  }
}

void left_before_map_bad(int n) {
  std::map<int, int *> m;
  m[3] = new int(4); // LEAK
  if (n > 7)
    return;
  auto it = m.find(3);
  if (it != m.end())
    delete it->second;
}

void counted_ok() {
  std::map<int, int *> m;
  m[3] = new int(4);
  if (m.count(3))
    delete m[3];
}

void found_in_table_ok() {
  std::unordered_map<int, int *> m;
  m[3] = new int(4);
  auto it = m.find(3);
  if (it != m.end()) {
    delete it->second;
    m.erase(it);
  }
}

void found_in_set_ok() {
  std::set<int *> s;
  int *p = new int(4);
  s.insert(p);
  auto it = s.find(p);
  if (it != s.end())
    delete *it;
}

void found_in_vector_ok() {
  std::vector<int *> v;
  int *p = new int(4);
  v.push_back(p);
  auto it = std::find(v.begin(), v.end(), p);
  if (it != v.end()) {
    delete *it;
    v.erase(it);
  }
}

void not_empty_ok() {
  std::vector<int *> v;
  v.push_back(new int(4));
  if (!v.empty()) {
    delete v.back();
    v.pop_back();
  }
}

void not_empty_bad() {
  std::vector<int *> v;
  v.push_back(new int(4)); // LEAK
  if (!v.empty())
    v.pop_back();
}

void stack_ok() {
  std::stack<int *> s;
  s.push(new int(4));
  if (!s.empty()) {
    delete s.top();
    s.pop();
  }
}

void overwritten_bad() {
  std::map<std::string, int *> m;
  m["a"] = new int(1); // LEAK[missed]: a container is a bag; which key holds which block is not told
  m["a"] = new int(2);
  delete m["a"];
}
