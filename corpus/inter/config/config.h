#ifndef CONFIG_H
#define CONFIG_H
struct setting {
  char *key;
  char *value;
};
enum { CFG_OK = 0, CFG_ENOMEM = -1, CFG_ESYNTAX = -2 };
int split_pair(const char *line, struct setting *out);
int read_setting(const char *line, struct setting **out);
void setting_free(struct setting *s);
#endif
