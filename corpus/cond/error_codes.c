/* Error codes decide between release and hand-over. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

int err_variable_bad(char **out, const char *s) {
  int err = 0;
  char *p = strdup(s); // LEAK
  if (!p)
    return -ENOMEM;
  if (p[0] == '\0')
    err = -EINVAL;
  else if (p[0] == '-')
    err = -EPERM;
  if (err == -EINVAL) {
    free(p);
    return err;
  }
  if (!err)
    *out = p;
  return err;
}

int err_variable_ok(char **out, const char *s) {
  int err = 0;
  char *p = strdup(s);
  if (!p)
    return -ENOMEM;
  if (p[0] == '\0')
    err = -EINVAL;
  else if (p[0] == '-')
    err = -EPERM;
  if (err < 0) {
    free(p);
    return err;
  }
  if (!err)
    *out = p;
  return err;
}

int rc_goto_bad(int n) {
  int rc = -1;
  char *p = malloc(32); // LEAK
  if (!p)
    goto out;
  if (n == 3)
    goto out;
  rc = n > 50 ? 1 : 0;
out:
  if (rc <= 0)
    free(p);
  return rc;
}

int rc_goto_ok(int n) {
  int rc = -1;
  char *p = malloc(32);
  if (!p)
    goto out;
  if (n == 3)
    goto out;
  rc = n > 50 ? 1 : 0;
out:
  if (rc <= 1)
    free(p);
  return rc;
}

int sign_of_code_bad(int code) {
  char *p = malloc(8); // LEAK
  if (code > 0)
    free(p);
  if (code < 0)
    free(p);
  return code;
}

int sign_of_code_ok(int code) {
  char *p = malloc(8);
  if (code > 0)
    free(p);
  if (code < 0)
    free(p);
  if (code == 0)
    free(p);
  return code;
}

int ret_tested_twice_bad(int n) {
  char *a = NULL;
  int ret = n < 0 ? -EINVAL : 0;
  if (ret == 0)
    a = malloc(16); // LEAK
  if (n == 9)
    ret = -EAGAIN;
  if (ret == 0)
    free(a);
  return ret;
}

int ret_tested_twice_ok(int n) {
  char *a = NULL;
  int ret = n < 0 ? -EINVAL : 0;
  if (ret == 0)
    a = malloc(16);
  if (n == -9)
    ret = -EAGAIN;
  if (ret == 0)
    free(a);
  return ret;
}

enum state { ST_INIT, ST_OPEN, ST_DONE };

int state_variable_bad(int n) {
  enum state st = ST_INIT;
  char *buf = NULL;
  if (n > 0) {
    buf = malloc(n); // LEAK
    st = buf ? ST_OPEN : ST_INIT;
  }
  if (st == ST_OPEN && n > 8)
    st = ST_DONE;
  if (st == ST_OPEN)
    free(buf);
  return st;
}

int state_variable_ok(int n) {
  enum state st = ST_INIT;
  char *buf = NULL;
  if (n > 0) {
    buf = malloc(n);
    st = buf ? ST_OPEN : ST_INIT;
  }
  if (st == ST_OPEN && n > 8)
    st = ST_DONE;
  if (st != ST_INIT)
    free(buf);
  return st;
}
