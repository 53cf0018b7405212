/** How upstreams say that they do not take something, in any of their wordings. */
const NOT_TAKEN =
  "(?:not (?:supported|support|allowed|permitted|recognized|available|compatible)|unsupported|unknown|unrecognized|unexpected|extra (?:fields|inputs)|invalid|does ?n[o'’]t support|cannot be (?:used|specified)|no longer|no endpoints found that support)";

/** `field`, the source of an expression, is named and refused, in either order. */
export const refused = (field: string): RegExp =>
  new RegExp(`(?:${field})[\\s\\S]{0,160}${NOT_TAKEN}|${NOT_TAKEN}[\\s\\S]{0,160}(?:${field})`, 'i');
