/** Who is asked when: which targets a question goes to, and not before which time. */
import { BROWSERS, type NotifyConfig } from '../config/notify-schema.js';
import { matchesAny } from '../routing/model-glob.js';

export interface AskedToolCall {
  /** The key whose call it is. */
  principal: string;
  tool: string;
}

type AskRule = NonNullable<NotifyConfig['ask']>[number];
type QuietHours = NonNullable<AskRule['quiet']>;

const MINUTE_MS = 60_000;
const DAY_MINUTES = 1440;

/** When the browsers of a key are asked; at once where no rule names them, and undefined where those that do are not about it. */
export function whenBrowsersAreAsked(
  config: NotifyConfig,
  call: AskedToolCall,
  from: number,
): number | undefined {
  if (config.ask?.some(({ targets }) => targets.includes(BROWSERS)) !== true) return from;
  return whoIsAsked(config, call, from).get(BROWSERS);
}

/** By target, the earliest time of all rules that name it. `from`: when the question was asked. */
export function whoIsAsked(config: NotifyConfig, call: AskedToolCall, from: number): Map<string, number> {
  const due = new Map<string, number>();
  const rules: readonly AskRule[] = config.ask ?? [{ targets: Object.keys(config.targets) }];
  for (const rule of rules) {
    if (!isAbout(rule, call)) continue;
    const at = afterQuiet(rule.quiet, from + (rule.after_min ?? 0) * MINUTE_MS);
    for (const target of rule.targets) due.set(target, Math.min(at, due.get(target) ?? at));
  }
  return due;
}

/** Targets that hear of the turns of a key. */
export function targetsOfTurns(config: NotifyConfig, principal: string): string[] {
  if (config.ask === undefined) return Object.keys(config.targets);
  const rules = config.ask.filter(({ keys }) => keys === undefined || matchesAny(keys, principal));
  return [...new Set(rules.flatMap(({ targets }) => targets))];
}

function isAbout({ keys, tools }: AskRule, { principal, tool }: AskedToolCall): boolean {
  return (
    (keys === undefined || matchesAny(keys, principal)) && (tools === undefined || matchesAny(tools, tool))
  );
}

/** The time itself, or the end of the quiet hours that it is in. */
export function afterQuiet(quiet: QuietHours | undefined, time: number): number {
  if (quiet === undefined) return time;
  let at = time;
  // A second round where the clocks were changed in between.
  for (let round = 0; round < 2; round++) {
    const left = minutesLeft(quiet, minuteOfDay(at, quiet.zone));
    if (left === 0) return at;
    at = Math.floor(at / MINUTE_MS) * MINUTE_MS + left * MINUTE_MS;
  }
  return at;
}

/** Until the end of the quiet hours; 0 outside of them. */
function minutesLeft({ from, to }: QuietHours, now: number): number {
  const [begin, end] = [minutesOf(from), minutesOf(to)];
  const length = (end - begin + DAY_MINUTES) % DAY_MINUTES;
  const into = (now - begin + DAY_MINUTES) % DAY_MINUTES;
  return into < length ? length - into : 0;
}

function minutesOf(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  return hours * 60 + minutes;
}

function minuteOfDay(at: number, zone: string): number {
  const format = new Intl.DateTimeFormat('en-GB', {
    ...{ timeZone: zone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' },
  });
  return minutesOf(format.format(at));
}
