// Standard containers, exceptions, virtual calls, templates and lambdas.
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

namespace shapes {

struct Shape {
    virtual ~Shape() = default;
    virtual double area() const = 0;
};

struct Square : Shape {
    double side;
    explicit Square(double s) : side(s) {}
    double area() const override { return side * side; }
};

struct Circle : virtual Shape {
    double radius;
    explicit Circle(double r) : radius(r) {}
    double area() const override { return 3.14159 * radius * radius; }
};

std::unique_ptr<Shape> make(const std::string &kind, double size) {
    if (kind == "square")
        return std::make_unique<Square>(size);
    if (kind == "circle")
        return std::make_unique<Circle>(size);
    throw std::invalid_argument("unknown shape " + kind);
}

}  // namespace shapes

static thread_local int depth = 0;
static std::map<std::string, std::vector<int>> registry;

int visit(const std::function<int(int)> &f, int n) {
    struct Guard {
        Guard() { ++depth; }
        ~Guard() { --depth; }
    } guard;
    try {
        return f(n);
    } catch (const std::out_of_range &) {
        return -1;
    } catch (...) {
        throw;
    }
}

int main(int argc, char **argv) {
    std::unordered_map<int, std::string> names;
    for (int i = 0; i < argc; ++i) {
        names[i] = argv[i];
        registry[argv[i]].push_back(i);
    }
    std::vector<std::unique_ptr<shapes::Shape>> all;
    for (auto &entry : names)
        all.push_back(shapes::make(entry.second, 2.0));
    std::sort(all.begin(), all.end(),
              [](const auto &a, const auto &b) { return a->area() < b->area(); });
    int *leaked = new int[argc];
    leaked[0] = visit([&](int n) { return static_cast<int>(all.at(n)->area()); }, argc);
    return leaked[0];
}
