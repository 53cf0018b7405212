/**
 * The line that Claude Code puts in front of its system prompt for Anthropic's own accounting. Part
 * of it changes with every request, so an upstream that keeps it never finds its prompt cache.
 */
const HEADER = 'x-anthropic-billing-header:';

/** `text` without that line; it is empty when there was nothing else. */
export function withoutBillingHeader(text: string): string {
  if (!text.startsWith(HEADER)) return text;
  const end = text.indexOf('\n');
  return end < 0 ? '' : text.slice(end + 1).trimStart();
}
