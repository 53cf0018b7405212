/** What the cases are about, in the order in which a score lists it. */
export const AREAS = [
  'Tool calls',
  'Tools',
  'Thinking',
  'History',
  'Parameters',
  'Media',
  'Streams',
  'Ends of answers',
  'Usage',
  'Errors',
  'Same wire',
] as const;

export type Area = (typeof AREAS)[number];
