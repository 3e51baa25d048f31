// Exceptions and destructors in Microsoft's model. No headers: none are there for this target.
struct Resource {
    int *memory;
    Resource() : memory(new int(1)) {}
    ~Resource() { delete memory; }
};

struct Failure {
    int code;
};

int risky(int);

int handled(int n) {
    Resource outer;
    try {
        Resource inner;
        return risky(n) + *inner.memory;
    } catch (const Failure &failure) {
        return failure.code;
    } catch (...) {
        Resource other;
        risky(*other.memory);
    }
    return *outer.memory;
}

int nested(int n) {
    try {
        try {
            risky(n);
        } catch (int code) {
            throw Failure{code};
        }
    } catch (Failure &) {
        return handled(n);
    }
    return 0;
}
