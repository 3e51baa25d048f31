// Which handler catches an exception: by its type, by one of its bases, or by none.
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <string>

struct Failure {
    int code;
};
struct BadFile : Failure {};
struct Named {
    virtual ~Named() {}
};
struct Both : Named, Failure {};

static void open_file(int mode) {
    if (mode > 3)
        throw BadFile{{mode}};
}

static void read_line(int mode) {
    if (mode > 5)
        throw std::out_of_range("line");
}

static void both(int mode) {
    if (mode > 3)
        throw Both();
}

static void number(int mode) {
    if (mode > 3)
        throw mode;
}

int by_its_type_ok(int mode) {
    int *block = new int(1);
    try {
        open_file(mode);
    } catch (const BadFile &failure) {
        delete block;
        return failure.code;
    }
    delete block;
    return 0;
}

int by_its_base_ok(int mode) {
    int *block = new int(1);
    try {
        open_file(mode);
    } catch (const Failure &failure) {
        delete block;
        return failure.code;
    }
    delete block;
    return 0;
}

int by_its_second_base_ok(int mode) {
    int *block = new int(1);
    try {
        both(mode);
    } catch (const Failure &failure) {
        delete block;
        return failure.code;
    }
    delete block;
    return 0;
}

int by_another_type_bad(int mode) {
    int *block = new int(1); // LEAK
    try {
        number(mode);
    } catch (const Failure &failure) {
        delete block;
        return failure.code;
    }
    delete block;
    return 0;
}

int library_base_ok(int mode) {
    int *block = new int(1);
    try {
        read_line(mode);
    } catch (const std::exception &) {
        delete block;
        return 1;
    }
    delete block;
    return 0;
}

int library_sibling_bad(int mode) {
    int *block = new int(1); // LEAK
    try {
        read_line(mode);
    } catch (const std::runtime_error &) {
        delete block;
        return 1;
    }
    delete block;
    return 0;
}

int thrown_here_ok(int mode) {
    int *block = new int(1);
    try {
        if (mode > 3)
            throw std::runtime_error("mode");
    } catch (const std::exception &) {
        delete block;
        return 1;
    }
    delete block;
    return 0;
}

int each_its_own_ok(int mode) {
    int *block = new int(1);
    try {
        open_file(mode);
        read_line(mode);
    } catch (const Failure &failure) {
        delete block;
        return failure.code;
    } catch (const std::exception &) {
        delete block;
        return 1;
    }
    delete block;
    return 0;
}

int one_of_them_forgets_bad(int mode) {
    int *block = new int(1); // LEAK
    try {
        open_file(mode);
        read_line(mode);
    } catch (const Failure &failure) {
        delete block;
        return failure.code;
    } catch (const std::exception &) {
        return 1;
    }
    delete block;
    return 0;
}

static void passes_on(int mode) {
    std::string text("some longer text that does not fit");
    try {
        open_file(mode + static_cast<int>(text.size()));
    } catch (...) {
        throw;
    }
}

int thrown_again_ok(int mode) {
    int *block = new int(1);
    try {
        passes_on(mode);
    } catch (const Failure &failure) {
        delete block;
        return failure.code;
    }
    delete block;
    return 0;
}

int thrown_again_bad(int mode) {
    int *block = new int(1); // LEAK
    try {
        passes_on(mode);
    } catch (const std::exception &) {
        delete block;
        return 1;
    }
    delete block;
    return 0;
}

static void keeps_to_itself(int mode) {
    try {
        open_file(mode);
    } catch (const Failure &) {
    }
}

int caught_below_ok(int mode) {
    int *block = new int(1);
    keeps_to_itself(mode);
    delete block;
    return 0;
}

static void lets_others_through(int mode) {
    try {
        number(mode);
    } catch (const Failure &) {
    }
}

int not_caught_below_bad(int mode) {
    int *block = new int(1); // LEAK
    lets_others_through(mode);
    delete block;
    return 0;
}

static void third_only(int mode) {
    if (mode % 3 == 0)
        throw mode;
}

static void not_third(int mode) {
    if (mode % 3 == 0)
        exit(1);
}

// Where it returns, the number is not divisible by three.
int returns_only_if_ok(int mode) {
    int *block = new int(1);
    try {
        third_only(mode);
        if (mode % 3 != 0)
            delete block;
    } catch (...) {
        delete block;
    }
    return 0;
}

int returns_only_if_bad(int mode) {
    int *block = new int(1); // LEAK
    try {
        third_only(mode);
        if (mode % 4 != 0)
            delete block;
    } catch (...) {
        delete block;
    }
    return 0;
}

int ends_unless_ok(int mode) {
    int *block = new int(1);
    not_third(mode);
    if (mode % 3 != 0)
        delete block;
    return 0;
}

int ends_unless_bad(int mode) {
    int *block = new int(1); // LEAK
    not_third(mode);
    if (mode % 4 != 0)
        delete block;
    return 0;
}
