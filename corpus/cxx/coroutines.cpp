// The frame of a coroutine belongs to whoever holds its handle. (Nobody says which standard this needs: the newest one is tried, too.)
#include <coroutine>

struct Numbers {
  struct promise_type {
    int value;
    Numbers get_return_object() {
      return Numbers{std::coroutine_handle<promise_type>::from_promise(*this)};
    }
    std::suspend_always initial_suspend() { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(int v) {
      value = v;
      return {};
    }
    void return_void() {}
    void unhandled_exception() {}
  };
  std::coroutine_handle<promise_type> handle;
  ~Numbers() { handle.destroy(); }
};

Numbers numbers_ok() {
  for (int i = 0; i < 3; i++)
    co_yield i;
}

int plain_bad() {
  int *p = new int(3); // LEAK
  Numbers numbers = numbers_ok();
  numbers.handle.resume();
  return *p;
}
