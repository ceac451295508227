// Which of sixteen of the registry's words are of interest: most granules hold no start of a block.
#pragma once
#include "record/registry.h"
#include <emmintrin.h>

#define UNDEAD_WORDS_AT_ONCE 16u

// Bit k: word k is greater than zero, as a number with a sign.
static inline uint32_t undead_positive_words(const uint32_t *words) {
  const __m128i zero = _mm_setzero_si128(), *from = (const __m128i *)words;
  __m128i a = _mm_cmpgt_epi32(_mm_loadu_si128(from), zero), b = _mm_cmpgt_epi32(_mm_loadu_si128(from + 1), zero);
  __m128i c = _mm_cmpgt_epi32(_mm_loadu_si128(from + 2), zero), d = _mm_cmpgt_epi32(_mm_loadu_si128(from + 3), zero);
  return (uint32_t)_mm_movemask_epi8(_mm_packs_epi16(_mm_packs_epi32(a, b), _mm_packs_epi32(c, d)));
}

// Bit k: word k is not zero.
static inline uint32_t undead_used_words(const uint32_t *words) {
  const __m128i zero = _mm_setzero_si128(), *from = (const __m128i *)words;
  __m128i a = _mm_cmpeq_epi32(_mm_loadu_si128(from), zero), b = _mm_cmpeq_epi32(_mm_loadu_si128(from + 1), zero);
  __m128i c = _mm_cmpeq_epi32(_mm_loadu_si128(from + 2), zero), d = _mm_cmpeq_epi32(_mm_loadu_si128(from + 3), zero);
  return (uint32_t)_mm_movemask_epi8(_mm_packs_epi16(_mm_packs_epi32(a, b), _mm_packs_epi32(c, d))) ^ 0xFFFFu;
}
