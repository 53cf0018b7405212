/** Exit statuses that are an answer and not a failure. */
const ANSWERS: Readonly<Record<string, Readonly<Record<number, string>>>> = {
  grep: { 1: 'no line matched' },
  egrep: { 1: 'no line matched' },
  fgrep: { 1: 'no line matched' },
  rg: { 1: 'no line matched' },
  diff: { 1: 'the files differ' },
  cmp: { 1: 'the files differ' },
  test: { 1: 'the condition is false' },
  '[': { 1: 'the condition is false' },
  pgrep: { 1: 'no process matched' },
};

/** Of a single program without operators; in anything longer the status may be another's. */
export function exitMeaning(command: string, code: number): string | undefined {
  const [, program = ''] = /^\s*([\w[]+)(?:\s[^;&|<>`$()\n]*)?$/.exec(command) ?? [];
  return Object.hasOwn(ANSWERS, program) ? ANSWERS[program]?.[code] : undefined;
}
