// What is done where a variable is not set yet, and sets it, is done once.
#include <stdlib.h>

int count_groups(int who);
int next_group(void);

int groups_ok(int *who, int n) {
  int count = -1, sum = 0;
  int *groups = NULL;
  for (int i = 0; i < n; i++) {
    if (count < 0) {
      count = count_groups(who[i]);
      groups = calloc(16, sizeof *groups);
      if (!groups)
        abort();
    }
    sum += groups[i % 16];
  }
  free(groups);
  return sum;
}

int groups_bad(int *who, int n) {
  int count = -1, sum = 0;
  int *groups = NULL;
  for (int i = 0; i < n; i++) {
    if (count < who[i]) {
      count = who[i];
      groups = calloc(16, sizeof *groups); // LEAK
      if (!groups)
        abort();
    }
    sum += groups ? groups[i % 16] : 0;
  }
  free(groups);
  return sum;
}
