// Strings and containers release what they hold; raw pointers inside a container are not theirs.
#include <cstring>
#include <string>
#include <vector>

size_t string_ok(const char *s, int n) {
  std::string t(s);
  if (n > 4)
    return t.size();
  t += "suffix that does not fit into the small buffer of the string";
  return t.length();
}

int vector_ok(int n) {
  std::vector<int> v;
  for (int i = 0; i < n && i < 10; i++)
    v.push_back(i);
  if (v.empty())
    return -1;
  return v.back();
}

size_t strings_ok(const char *a, const char *b) {
  std::vector<std::string> v;
  v.emplace_back(a);
  v.emplace_back(b);
  return v[0].size() + v[1].size();
}

size_t c_copy_bad(const std::string &s) {
  char *c = strdup(s.c_str()); // LEAK
  return c ? std::strlen(c) : 0;
}

size_t c_copy_ok(const std::string &s) {
  const char *c = s.c_str();
  return c ? std::strlen(c) : 0;
}

std::string *heap_string_bad(const char *s) {
  auto *p = new std::string(s); // LEAK
  if (p->empty())
    return nullptr;
  return p;
}

std::string *heap_string_ok(const char *s) {
  auto *p = new std::string(s);
  if (p->empty()) {
    delete p;
    return nullptr;
  }
  return p;
}
