/** How much of an activity each public form carries, in characters unless it says otherwise. */
export interface ActivityLimits {
  /** Names of tools and models. */
  nameChars: number;
  titleChars: number;
  commandChars: number;
  diffChars: number;
  /** Why a call was let through or refused. */
  reasonChars: number;
  progressChars: number;
  /** Arguments of a call. */
  inputChars: number;
  resultChars: number;
  /** Blocks of a result. */
  resultBlocks: number;
}

const KIB = 1024;

/** A comment is a few kilobytes at most: up to 200 of them wait for a slow reader of an answer. */
export const COMMENT_LIMITS: ActivityLimits = Object.freeze({
  nameChars: 200,
  titleChars: 300,
  commandChars: 1_000,
  diffChars: 2_000,
  reasonChars: 300,
  progressChars: 2_000,
  inputChars: 2_000,
  resultChars: 2_000,
  resultBlocks: 20,
});

export const EVENT_ACTIVITY_LIMITS: ActivityLimits = Object.freeze({
  nameChars: Number.POSITIVE_INFINITY,
  titleChars: 1_000,
  commandChars: 512 * KIB,
  diffChars: 256 * KIB,
  reasonChars: Number.POSITIVE_INFINITY,
  progressChars: 16 * KIB,
  inputChars: 256 * KIB,
  resultChars: 32 * KIB,
  resultBlocks: Number.POSITIVE_INFINITY,
});
