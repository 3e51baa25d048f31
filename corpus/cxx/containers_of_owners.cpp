// Containers destroy their elements first and free the memory they were in afterwards, by an allocator that knows nothing of them.
#include <cstdlib>
#include <cstring>
#include <deque>
#include <list>
#include <queue>
#include <string>
#include <vector>

// The destructor frees the member; the allocator, which is called by another function, frees the memory.
struct Item {
    int *value;
    explicit Item(int v) : value(new int(v)) {}
    Item(Item &&other) noexcept : value(other.value) { other.value = nullptr; }
    Item &operator=(Item &&other) noexcept {
        std::swap(value, other.value);
        return *this;
    }
    bool operator<(const Item &other) const { return *value < *other.value; }
    ~Item() { delete value; }
};

struct Label {
    char *text;
    Label() : text(new char[4]) {}
    Label(const Label &other) : text(new char[4]) { text[0] = other.text[0]; }
    ~Label() { delete[] text; }
};

void items_in_vector_ok() {
    std::vector<Item> items;
    items.push_back(Item(3));
    items.emplace_back(4);
}

void items_in_deque_ok() {
    std::deque<Item> items;
    items.push_back(Item(3));
    items.emplace_front(4);
}

void items_in_queue_ok() {
    std::priority_queue<Item> items;
    items.push(Item(3));
    items.push(Item(4));
    items.pop();
}

void labels_in_vector_ok() {
    std::vector<Label> labels;
    labels.push_back(Label());
    std::list<Label> copies(labels.begin(), labels.end());
}

void plain_elements_ok() {
    std::vector<int> numbers;
    numbers.push_back(3);
    std::vector<std::string> names;
    names.push_back("a");
    std::deque<int> others;
    others.push_back(3);
}

// Without a destructor nobody frees the member but who replaces it.
struct Pane {
    char *title;
    int width;
};

void pane_set_title(Pane *pane, const char *title) {
    free(pane->title);
    pane->title = strdup(title); // LEAK
}

void pane_delete(Pane *pane) {
    delete pane; // LOST
}

struct Tile {
    char *title;
    int width;
};

void tile_set_title(Tile *tile, const char *title) {
    free(tile->title);
    tile->title = strdup(title);
}

void tile_delete(Tile *tile) {
    free(tile->title);
    delete tile;
}
