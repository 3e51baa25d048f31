/* The callee stores the block before it fails; the caller has to release it on failure too. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct image {
  unsigned char *pixels;
  int w, h;
};

static int read_chunk(FILE *f, char **out, size_t n) {
  *out = malloc(n);
  if (!*out)
    return -1;
  if (fread(*out, 1, n, f) != n)
    return -2;
  return 0;
}

static int load_image(FILE *f, struct image *img) {
  memset(img, 0, sizeof *img);
  img->w = fgetc(f);
  img->h = fgetc(f);
  if (img->w <= 0 || img->h <= 0)
    return 0;
  img->pixels = malloc((size_t)img->w * img->h);
  if (!img->pixels)
    return 0;
  if (fread(img->pixels, 1, (size_t)img->w, f) == 0)
    return 0;
  return 1;
}

int chunk_bad(FILE *f) {
  char *c = NULL;
  if (read_chunk(f, &c, 16) != 0) // LEAK
    return -1;
  int first = c[0];
  free(c);
  return first;
}

int chunk_ok(FILE *f) {
  char *c = NULL;
  if (read_chunk(f, &c, 16) != 0) {
    free(c);
    return -1;
  }
  int first = c[0];
  free(c);
  return first;
}

int size_of_image_bad(FILE *f) {
  struct image im;
  if (!load_image(f, &im)) // LEAK
    return -1;
  int n = im.w * im.h;
  free(im.pixels);
  return n;
}

int size_of_image_ok(FILE *f) {
  struct image im;
  int n = -1;
  if (load_image(f, &im))
    n = im.w * im.h;
  free(im.pixels);
  return n;
}
