/* Clean-up by goto: the label is too far down, or misses one block. */
#include <stdio.h>
#include <stdlib.h>

int copy_file_bad(FILE *in, FILE *out, size_t bs) {
  int rc = -1;
  char *ibuf = NULL, *obuf = NULL;
  ibuf = malloc(bs);
  if (!ibuf)
    goto out;
  obuf = malloc(bs); // LEAK
  if (!obuf)
    goto free_ibuf;
  if (fread(ibuf, 1, bs, in) == 0)
    goto free_ibuf;
  obuf[0] = ibuf[0];
  if (fwrite(obuf, 1, 1, out) == 1)
    rc = 0;
  free(obuf);
free_ibuf:
  free(ibuf);
out:
  return rc;
}

int copy_file_ok(FILE *in, FILE *out, size_t bs) {
  int rc = -1;
  char *ibuf = NULL, *obuf = NULL;
  ibuf = malloc(bs);
  if (!ibuf)
    goto out;
  obuf = malloc(bs);
  if (!obuf)
    goto free_ibuf;
  if (fread(ibuf, 1, bs, in) == 0)
    goto free_obuf;
  obuf[0] = ibuf[0];
  if (fwrite(obuf, 1, 1, out) == 1)
    rc = 0;
free_obuf:
  free(obuf);
free_ibuf:
  free(ibuf);
out:
  return rc;
}

int single_label_bad(int n) {
  int rc = 1;
  double *x = NULL, *y = NULL, *z = NULL;
  if (!(x = malloc(n * sizeof *x)))
    goto end;
  if (!(y = malloc(n * sizeof *y)))
    goto end;
  if (!(z = malloc(n * sizeof *z))) // LEAK
    goto end;
  rc = 0;
end:
  free(x);
  free(y);
  return rc;
}

int single_label_ok(int n) {
  int rc = 1;
  double *x = NULL, *y = NULL, *z = NULL;
  if (!(x = malloc(n * sizeof *x)))
    goto end;
  if (!(y = malloc(n * sizeof *y)))
    goto end;
  if (!(z = malloc(n * sizeof *z)))
    goto end;
  rc = 0;
end:
  free(x);
  free(y);
  free(z);
  return rc;
}
