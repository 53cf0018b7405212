/** Every activity has a public form, changes the page, has its line in the terminal and its row in the docs. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { applyEvent } from '../console/src/data/reducer/apply-event.js';
import { INITIAL_STATE } from '../console/src/data/reducer/console-state.js';
import type { AgentActivity, AgentActivityBody } from '../src/activity/activity.js';
import { EVENT_ACTIVITY_LIMITS, encodeActivity } from '../src/activity/encode.js';
import type { ActivityWire } from '../src/activity/wire.js';
import { activityPrinter } from '../src/cli/chat/activity.js';
import { painter } from '../src/cli/chat/render.js';
import { feedFor } from '../src/server/model-api/requests/activity-feed.js';
import type { ToolRunEvent } from '../src/tools/runtime/runtime.js';
import { ROOT } from './support/source-tree.js';

type Kind = Exclude<AgentActivity['type'], 'tool'> | ToolRunEvent['type'];

interface Example {
  activity: AgentActivityBody;
  wire: ActivityWire['type'];
  /** Of its line in the terminal; undefined where another part of `toolgate chat` shows it, or nothing has to. */
  terminal: string | undefined;
}

const USAGE = { inputTokens: 7, outputTokens: 3, cacheReadTokens: 0, cacheWriteTokens: 0 };
const CALL = { id: 'c1', name: 'Bash' };
const DESCRIBE = { title: 'Run make', kind: 'command', paths: [], command: 'make', diff: '+a' } as const;
/** Short enough that the input of the example is cut. */
const LIMITS = { ...EVENT_ACTIVITY_LIMITS, inputChars: 5 };

const silent = (wire: ActivityWire['type'], activity: AgentActivityBody): Example => ({
  activity,
  wire,
  terminal: undefined,
});
const ofTool = (wire: ActivityWire['type'], terminal: string | undefined, event: ToolRunEvent): Example => ({
  activity: { type: 'tool', event },
  wire,
  terminal,
});

const EXAMPLES: Readonly<Record<Kind, Example>> = {
  'model-start': silent('model_start', { type: 'model-start', step: 1, model: 'm' }),
  'model-end': silent('usage', { type: 'model-end', step: 1, usage: USAGE, stopReason: 'end_turn' }),
  text: silent('text', { type: 'text', text: 'a' }),
  thinking: silent('thinking', { type: 'thinking', text: 'a' }),
  'call-began': silent('tool_use', { type: 'call-began', id: 'c2', name: 'Read' }),
  'call-input': silent('tool_input_delta', { type: 'call-input', id: 'c1', json: '{"a"' }),
  'call-whole': silent('tool_use', {
    ...{ type: 'call-whole', id: 'c3', was: 'c1', name: 'Bash', input: { command: 'make' } },
  }),
  'calls-dropped': silent('dropped', { type: 'calls-dropped', ids: ['c1'] }),
  'handed-back': silent('handed_back', { type: 'handed-back', ids: ['c1'] }),
  'tool-start': ofTool('tool_start', '● Run make', { type: 'tool-start', ...CALL, describe: DESCRIBE }),
  'tool-waiting': ofTool('tool_waiting', undefined, { type: 'tool-waiting', ...CALL, describe: DESCRIBE }),
  'tool-progress': ofTool('tool_progress', '│ cc a.c', { type: 'tool-progress', ...CALL, content: 'cc a.c' }),
  'tool-result': ofTool('tool_result', '✓ Bash done', {
    ...{ type: 'tool-result', ...CALL, content: [{ type: 'text', text: 'made' }], shown: 'made' },
    ...{ isError: false, durationMs: 1, outcome: 'done' },
  }),
  'agent-start': {
    activity: { type: 'agent-start', description: 'look around' },
    wire: 'agent_start',
    terminal: 'sub-agent: look around',
  },
  'agent-end': {
    activity: { type: 'agent-end', steps: 2, usage: USAGE },
    wire: 'agent_end',
    terminal: 'sub-agent ended after 2 model calls',
  },
  compacted: {
    activity: { type: 'compacted', before: 40, after: 6 },
    wire: 'compacted',
    terminal: '40 tokens are 6 now',
  },
  'max-steps': {
    activity: { type: 'max-steps', steps: 10 },
    wire: 'max_turns',
    terminal: 'paused after 10 model calls',
  },
};

const AGENT = { id: 'a1', label: 'look', parent: 't1' };
const activityOf = (body: AgentActivityBody): AgentActivity =>
  body.type.startsWith('agent-') ? { ...body, session: 's', agent: AGENT } : { ...body, session: 's' };
const wireOf = (body: AgentActivityBody): ActivityWire => ({
  ...encodeActivity(activityOf(body), LIMITS),
  turn: 't',
  at: '2026-01-01T00:00:00.000Z',
});

const page = readFileSync(join(ROOT, 'docs/events.md'), 'utf8');
const named = (text: string): string[] => [...text.matchAll(/`(\w+)`/g)].map(([, name = '']) => name);

/** The rows of `### What an agent does`: the fields of each type. */
const documented = new Map(
  [...(page.split('### What an agent does')[1] ?? '').matchAll(/^\| (`.*?) \|.*\| (`.*?) \|$/gm)].flatMap(
    ([, types = '', fields = '']) =>
      named(types)
        .filter((type) => type !== 'type')
        .map((type) => [type, named(fields)] as const),
  ),
);

describe.each(Object.entries(EXAMPLES))('the activity %s', (_kind, { activity, wire, terminal }) => {
  it(`is ${wire} in public`, () => {
    expect(wireOf(activity)).toMatchObject({ type: wire, session: 's' });
  });

  it('changes the page', () => {
    const event = { id: 'e.2', prev: 'e.1' };
    const began = { began_at: '2026-01-01T00:00:00.000Z', model: 'm', message: [] };
    const chunks = [wireOf({ type: 'call-began', ...CALL })];
    const before = applyEvent(INITIAL_STATE, {
      ...{ id: 'e.1', prev: null, type: 'snapshot', now: began.began_at, approvals: [] },
      turns: [{ session: 's', turn: 't', ...began, chunks }],
    });
    const after = applyEvent(before, { ...wireOf(activity), ...event });
    expect(after.turns.get('s')).not.toEqual(before.turns.get('s'));
  });

  it(terminal === undefined ? 'has no line in the terminal' : 'has its line in the terminal', () => {
    let written = '';
    const write = (text: string): void => {
      written += text;
    };
    activityPrinter({ write, paint: painter(false), endLine() {} })(activityOf(activity));
    if (terminal === undefined) expect(written).toBe('');
    else expect(written).toContain(terminal);
  });
});

describe('docs/events.md', () => {
  it('lists every activity with all of its fields, and no other', () => {
    const fields = new Map<string, Set<string>>();
    for (const { activity } of Object.values(EXAMPLES)) {
      const { type, session: _s, agent: _a, turn: _t, at: _at, ...rest } = wireOf(activity);
      const known = fields.get(type) ?? new Set<string>();
      for (const name of Object.keys(rest)) known.add(name);
      fields.set(type, known);
    }
    const sorted = (rows: Iterable<[string, Iterable<string>]>) =>
      Object.fromEntries([...rows].map(([type, names]) => [type, [...names].toSorted()]));
    expect(sorted([...documented].map(([type, names]) => [type, names]))).toEqual(sorted(fields));
  });

  it('names the activities that are no comments of an answer', () => {
    const [, without = ''] = /table above, without (.*?): the answer/s.exec(page) ?? [];
    const commented = Object.values(EXAMPLES).filter(({ activity }) => {
      const feed = feedFor({ 'x-toolgate-events': '1' });
      const written: string[] = [];
      feed?.open({ behind: false, write: (text) => written.push(text) > 0 });
      feed?.observe(activityOf(activity));
      return written.length > 0;
    });
    const types = new Set(Object.values(EXAMPLES).map(({ wire }) => wire));
    for (const { wire } of commented) types.delete(wire);
    expect([...types].toSorted()).toEqual(named(without).toSorted());
  });
});
