import { runRipgrep } from './run-ripgrep.js';

const LIMITS = { timeoutMs: 10_000, maxBytes: 1024 * 1024 } as const;

/** The lines of `text` that match. In a process of its own: no pattern can hold up the gateway. */
export async function filterLines(
  text: string,
  pattern: string,
  signal: AbortSignal,
): Promise<{ ok: true; text: string } | { ok: false; message: string }> {
  const lines: string[] = [];
  const outcome = await runRipgrep({
    args: ['--text', '--no-line-number', '--no-filename', '--regexp', pattern, '--', '-'],
    cwd: '/',
    signal,
    ...LIMITS,
    separator: '\n',
    input: text,
    onRecord: (line) => {
      lines.push(line);
      return true;
    },
  });
  if (outcome.ended === 'complete' && (outcome.code === 0 || outcome.code === 1)) {
    return { ok: true, text: lines.join('\n') };
  }
  return { ok: false, message: outcome.messages.trim() || `The search was ${outcome.ended}.` };
}
