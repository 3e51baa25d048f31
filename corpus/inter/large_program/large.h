void fill(void);
