// C++: exceptions that unwind through recorded frames, templates, virtual calls, the standard containers.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

struct Shape {
  virtual ~Shape() = default;
  virtual std::string describe(int depth) const = 0;
};

struct Box : Shape {
  std::string describe(int depth) const override {
    if (depth == 0) throw std::runtime_error("a message that is long enough to be allocated");
    std::string text = "box " + std::to_string(depth) + " with a long description";
    try {
      return text + describe(depth - 1);
    } catch (const std::runtime_error &error) {
      if (depth > 3) return text + error.what();
      throw;
    }
  }
};

static int work(int rounds) {
  std::map<std::string, std::vector<int>> table;
  for (int round = 0; round < rounds; round++) {
    std::unique_ptr<Shape> shape = std::make_unique<Box>();
    table[shape->describe(round % 10 + 4)].push_back(round);
    std::function<int(int)> nested = [&](int depth) { return depth ? nested(depth - 1) + *new int(0) : 0; };
    nested(round % 6);
  }
  std::vector<std::string> keys;
  for (auto &entry : table) keys.push_back(entry.first);
  std::sort(keys.begin(), keys.end(), [](const std::string &a, const std::string &b) {
    return std::string(a.rbegin(), a.rend()) < std::string(b.rbegin(), b.rend());
  });
  return static_cast<int>(keys.size());
}

int main() {
  std::thread other([] { work(100); });
  int found = work(100);
  other.join();
  std::printf("%d\n", found);
}
