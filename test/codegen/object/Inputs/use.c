#include "m.h"
#include <stdio.h>
int main(void) {
  float x[M_INPUT0_ELEMENTS] = {10, 20, 30, 40}, y[M_OUTPUT0_ELEMENTS];
  m_context *context = NULL;
  m_error error;
  if (m_create(1, &context, &error) || m_infer(context, x, y, &error)) {
    puts(error.message);
    return 1;
  }
  printf("%g %g %g %g\n", y[0], y[1], y[2], y[3]);
  m_destroy(context);
  return 0;
}
