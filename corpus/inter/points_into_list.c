/* A field that points into a block which a list of the same structure holds. */
#include <stdlib.h>
#include <string.h>

struct property {
  struct property *next;
  unsigned key;
  char value[1];
};

struct device {
  struct property *properties;
  const char *label;
  const char *slot;
};

static char *property_set(struct device *device, unsigned key, const char *value) {
  struct property **end = &device->properties;
  while (*end)
    end = &(*end)->next;
  struct property *property = malloc(sizeof *property + strlen(value));
  if (!property)
    abort();
  *end = property;
  property->next = NULL;
  property->key = key;
  strcpy(property->value, value);
  return property->value;
}

struct device *device_new_ok(void) { return calloc(1, sizeof(struct device)); }

void device_fill_ok(struct device *device, const char *label, const char *slot) {
  device->label = property_set(device, 1, label);
  device->slot = property_set(device, 2, slot);
}

void device_free_ok(struct device *device) {
  struct property *property;
  while ((property = device->properties)) {
    device->properties = property->next;
    free(property);
  }
  free(device);
}

/* The block is the field's alone. */
struct bridge {
  char *label;
  int number;
};

static char *label_copy(struct bridge *bridge, const char *text) {
  char *copy = malloc(strlen(text) + 1);
  if (!copy)
    abort();
  bridge->number++;
  return strcpy(copy, text);
}

struct bridge *bridge_new(void) { return calloc(1, sizeof(struct bridge)); }

void bridge_fill_bad(struct bridge *bridge, const char *label) {
  bridge->label = label_copy(bridge, label); // LEAK D004
}

void bridge_free_bad(struct bridge *bridge) {
  free(bridge); // LOST
}
