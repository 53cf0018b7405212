/** One line of `doctor`. */
export interface Check {
  status: 'ok' | 'warn' | 'FAIL';
  /** What was checked. */
  subject: string;
  finding: string;
  /** What to do about it. */
  advice?: string;
}

export function ok(subject: string, finding: string): Check {
  return { status: 'ok', subject, finding };
}

export function warn(subject: string, finding: string, advice: string): Check {
  return { status: 'warn', subject, finding, advice };
}

export function fail(subject: string, finding: string, advice: string): Check {
  return { status: 'FAIL', subject, finding, advice };
}
