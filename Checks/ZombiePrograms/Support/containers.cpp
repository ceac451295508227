#include "parts.h"
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

long parts_containers(int count) {
  std::map<int, std::string> names;
  std::unordered_map<std::string, std::shared_ptr<std::vector<int>>> lists;
  long sum = 0;
  for (int i = 0; i < count; i++) {
    names[i * 7919 % 101] = std::string(i % 40, 'x');
    auto &list = lists["list " + std::to_string(i % 13)];
    if (!list) list = std::make_shared<std::vector<int>>();
    list->push_back(i);
    try {
      if (i % 5 == 0) throw std::runtime_error("a text of some length: " + std::to_string(i));
    } catch (const std::exception &error) {
      sum += error.what()[0];
    }
    if (i % 11 == 0) lists.erase("list 3");
  }
  for (auto &pair : lists) sum += (long)pair.second->size();
  for (auto &pair : names) sum += (long)pair.second.size();
  return sum;
}
