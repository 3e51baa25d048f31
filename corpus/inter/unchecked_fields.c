// Several allocations that nobody checks: each may fail or not, but callers are told of the blocks all the same.
#include <stdlib.h>
#include <string.h>

struct account {
    char *host, *user, *word;
};

static int load(struct account *account, int version) {
    account->host = strdup("host");
    if (version > 3) {
        free(account->host);
        return -1;
    }
    account->user = strdup("user");
    account->word = strdup("word");
    return 0;
}

int loaded_bad(int version) {
    struct account account;
    if (load(&account, version) < 0) // LEAK
        return -1;
    free(account.host);
    free(account.user);
    return 0;
}

int loaded_ok(int version) {
    struct account account;
    if (load(&account, version) < 0)
        return -1;
    free(account.host);
    free(account.user);
    free(account.word);
    return 0;
}
