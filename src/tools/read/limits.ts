/** How much of a file one call shows. */
export const READ_LIMITS = {
  lines: 2000,
  lineChars: 2000,
  chars: 100_000,
  /** With `allow_large`. */
  large: { lines: 20_000, chars: 400_000 },
  /** Of an image: base64 makes a third more of it, and models take 5 MB. */
  imageBytes: 3_900_000,
  pdf: {
    /** A document up to this size is given whole. */
    wholePages: 10,
    wholeBytes: 4 * 1024 * 1024,
    /** Of which text can be taken. */
    maxBytes: 32 * 1024 * 1024,
    pagesPerCall: 20,
  },
} as const;
