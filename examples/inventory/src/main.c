/* inventory: prints what is in stock. Usage: inventory CONFIG STOCK */
#include <stdio.h>
#include <string.h>

#include "config.h"
#include "file.h"
#include "mem.h"
#include "store.h"
#include "strbuf.h"

static void fill(struct store *store, char *text)
{
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        if (!store_add_line(store, line))
            fprintf(stderr, "skipped: %s\n", line);
    }
}

static bool describe(struct strbuf *out, const struct item *item, const struct config *config)
{
    return strbuf_add(out, item->name) && strbuf_add(out, ": ")
        && strbuf_add_number(out, item->amount) && strbuf_add(out, " ")
        && strbuf_add(out, item->unit)
        && strbuf_add(out, item->amount < config->low_stock ? " (low)\n" : "\n");
}

static int print(const struct store *store, const struct config *config)
{
    struct strbuf out;
    strbuf_init(&out);
    for (struct list_node *node = store->items.first; node; node = node->next) {
        if (!describe(&out, node->value, config)) {
            strbuf_release(&out);
            return 1;
        }
    }
    char *longest = store_longest_name(store);
    printf("%s\n%s", config->title ? config->title : "Inventory", out.data ? out.data : "");
    if (longest)
        printf("longest name: %s\n", longest);
    mem_free(longest);
    strbuf_release(&out);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: inventory CONFIG STOCK\n");
        return 2;
    }
    struct config *config = config_load(argv[1]);
    if (!config)
        return 1;
    char *text = file_read(argv[2]);
    if (!text) {
        config_free(config);
        return 1;
    }
    struct store store;
    store_init(&store);
    fill(&store, text);
    mem_free(text);
    int result = print(&store, config);
    store_release(&store);
    config_free(config);
    if (mem_held() > 0)
        fprintf(stderr, "%ld blocks were never freed\n", mem_held());
    return result;
}
