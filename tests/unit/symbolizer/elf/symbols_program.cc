// SPDX-License-Identifier: Apache-2.0
// A program with symbols, lines and inlined calls of every common shape, to be read by tests.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace shop {

static inline __attribute__((always_inline)) int Price(int item) { return item * 7 + rand() % 3; }

static inline __attribute__((always_inline)) int Order(int first, int second) {
  int sum = Price(first);
  sum += Price(second);
  return sum;
}

class Cart {
 public:
  __attribute__((noinline)) int Add(int item) {
    items_.push_back(Order(item, item + 1));
    return items_.back();
  }
  __attribute__((noinline)) int Total() const {
    int total = 0;
    for (int item : items_) total += item;
    return total;
  }
  // The code of the lambda lies in a type that lies in this function.
  int Discount(int item) const {
    auto reduce = [this](int percent) __attribute__((noinline)) {
      return Order(percent, percent + 1) + Total();
    };
    return reduce(item) - reduce(item + 2);
  }

 private:
  std::vector<int> items_;
};

template <typename Item>
__attribute__((noinline)) std::string Describe(const Item& item) {
  return "item " + std::to_string(item);
}

// Cold code goes to a section of its own, so that its function has two ranges.
__attribute__((noinline)) int Check(int total) {
  if (__builtin_expect(total < 0, 0)) {
    std::fprintf(stderr, "%s\n", Describe(total).c_str());
    std::abort();
  }
  return total;
}

}  // namespace shop

int main(int argc, char** argv) {
  shop::Cart cart;
  for (int i = 0; i < argc; ++i) cart.Add(std::atoi(argv[i]));
  std::printf("%d %s %s\n", cart.Discount(argc), shop::Describe(shop::Check(cart.Total())).c_str(),
              shop::Describe(1L).c_str());
  return 0;
}
