import { describe, expect, it } from 'vitest';
import { notify } from '../config/notify-schema.js';
import { afterQuiet, targetsOfTurns, whenBrowsersAreAsked, whoIsAsked } from './who-is-asked.js';

const MINUTE = 60_000;
const hook = { type: 'webhook', url: 'https://a.example', secret: `whsec_${'A'.repeat(40)}` } as const;
const config = (ask?: object[]) => notify.parse({ targets: { one: hook, two: hook }, ...(ask && { ask }) });
const at = (time: string) => Date.parse(`2026-03-10T${time}:00Z`);

describe('who is asked', () => {
  it('is every target at once where nothing is said', () => {
    expect([...whoIsAsked(config(), { principal: 'alice', tool: 'Bash' }, 5)]).toEqual([
      ['one', 5],
      ['two', 5],
    ]);
  });

  it('are browsers too, at once until a rule names them, and then as it says', () => {
    const call = { principal: 'alice', tool: 'Bash' };
    expect(whenBrowsersAreAsked(config(), call, 5)).toBe(5);
    expect(whenBrowsersAreAsked(config([{ keys: ['bob'], targets: ['one'] }]), call, 5)).toBe(5);
    const rules = config([
      { tools: ['Bash'], targets: ['one', 'browsers'], after_min: 2 },
      { keys: ['bob'], targets: ['browsers'] },
    ]);
    expect(whenBrowsersAreAsked(rules, call, 5)).toBe(5 + 2 * MINUTE);
    expect(whenBrowsersAreAsked(rules, { ...call, principal: 'bob' }, 5)).toBe(5);
    expect(whenBrowsersAreAsked(rules, { ...call, tool: 'Edit' }, 5)).toBeUndefined();
  });

  it('is by key and by tool, and nobody where no rule is about it', () => {
    const rules = config([
      { keys: ['alice', 'team-*'], targets: ['one'] },
      { tools: ['mcp__*'], targets: ['two'] },
    ]);
    const asked = (principal: string, tool: string) => [...whoIsAsked(rules, { principal, tool }, 0).keys()];
    expect(asked('team-a', 'Bash')).toEqual(['one']);
    expect(asked('alice', 'mcp__docs__read')).toEqual(['one', 'two']);
    expect(asked('bob', 'Bash')).toEqual([]);
    expect(targetsOfTurns(rules, 'bob')).toEqual(['two']);
  });

  it('comes to others after some minutes, and to each target at the earliest of its times', () => {
    const rules = config([
      { targets: ['one'] },
      { targets: ['two', 'one'], after_min: 10 },
      { targets: ['two'], after_min: 3 },
    ]);
    expect([...whoIsAsked(rules, { principal: 'a', tool: 'Bash' }, 1000)]).toEqual([
      ['one', 1000],
      ['two', 1000 + 3 * MINUTE],
    ]);
  });

  it('waits for the end of quiet hours, also over midnight and in another zone', () => {
    const night = { from: '22:00', to: '07:00', zone: 'UTC' };
    expect(afterQuiet(night, at('21:59'))).toBe(at('21:59'));
    expect(afterQuiet(night, at('22:00'))).toBe(at('22:00') + 9 * 60 * MINUTE);
    expect(afterQuiet(night, at('06:59') + 30_000)).toBe(at('07:00'));
    expect(afterQuiet(night, at('07:00'))).toBe(at('07:00'));
    // Berlin is an hour ahead of UTC in winter.
    expect(afterQuiet({ ...night, zone: 'Europe/Berlin' }, at('05:30'))).toBe(at('06:00'));
  });

  it('waits for the end of quiet hours in a night in which the clocks change', () => {
    const berlin = { from: '22:00', to: '07:00', zone: 'Europe/Berlin' };
    // 07:00 is 05:00 UTC from that night on.
    expect(afterQuiet(berlin, Date.parse('2026-03-28T23:00:00Z'))).toBe(Date.parse('2026-03-29T06:00:00Z'));
    // In autumn it would still be quiet after the usual time.
    expect(afterQuiet(berlin, Date.parse('2026-10-24T22:00:00Z'))).toBe(Date.parse('2026-10-25T06:00:00Z'));
  });
});
