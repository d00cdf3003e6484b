// Marks what a shared libtamis shows to others; everything else stays inside.
#pragma once

#if defined(__GNUC__)
#define TAMIS_EXPORT __attribute__((visibility("default")))
#else
#define TAMIS_EXPORT
#endif
