#include "record/attach/attached.c"
#include "record/attach/images_arm64.c"
#include "record/attach/images_x86_64.c"
