/**
 * Turns that the console has begun outlive their gateway: stopped or killed, it goes on with them
 * when it is back. A question is the same question, and what was run is not run again.
 */
import { describe, expect, it } from 'vitest';
import type { SessionContentWire } from '../../src/server/console-api/wire/sessions.js';
import { until } from '../support/until.js';
import { call, callsAnswer, textAnswer } from '../support/wire.js';
import { AgentBed, ENGINES, KEYS, MODEL } from './agent-bed.js';
import { TIMEOUT_MS } from './counts.js';

const ASKING = { mode: 'ask', unattended: 'wait' };

async function begin(bed: AgentBed, content: string): Promise<string> {
  const { session } = await bed.api('POST', '/api/chat', { model: MODEL, content });
  return String(session);
}

async function look(bed: AgentBed, session: string): Promise<SessionContentWire> {
  const answer: unknown = await bed.api('GET', `/api/sessions/${session}`);
  return answer as SessionContentWire;
}

/** What was said in the end; each look is a request of its own. */
async function over(bed: AgentBed, session: string): Promise<string[]> {
  const { interrupted, messages } = await until(async () => {
    const seen = await look(bed, session);
    return !seen.running && seen;
  });
  expect(interrupted).toBe(false);
  return messages.flatMap(({ content }) =>
    content.flatMap((block) => (block.type === 'text' ? [block.text] : [])),
  );
}

describe.each(ENGINES)('a turn of the console with %s', (engine) => {
  it('waits for the same answer after the gateway was killed, and after it was stopped', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const bed = await AgentBed.start(engine, { permissions: ASKING });
    bed.model.play('write the line', [
      callsAnswer(call('Bash', { command: 'echo once >> lines', description: 'Write' }, 'c1')),
      textAnswer('It is written.'),
    ]);
    const session = await begin(bed, 'write the line');
    const { id } = await bed.approvalWaits();
    await bed.kill();
    await bed.restart();
    await until(async () => (await look(bed, session)).running);
    expect((await bed.approvalWaits())['id']).toBe(id);
    await bed.gateway.close();
    await bed.restart();
    await until(async () => (await look(bed, session)).running);
    expect((await bed.approvalWaits())['id']).toBe(id);
    await bed.allowNext();
    expect(await over(bed, session)).toEqual(['write the line', 'It is written.']);
    expect(await bed.linesOf('lines')).toEqual(['once']);
    expect(bed.model.problems).toEqual([]);
    await bed.nothingLeft();
    await bed.close();
  });

  it('goes on by itself after the gateway was killed in the middle of a command, which runs once', {
    timeout: TIMEOUT_MS,
  }, async () => {
    const bed = await AgentBed.start(engine);
    bed.model.play('run the long one', [
      callsAnswer(call('Bash', { command: 'echo once >> lines; sleep 300', description: 'Run' }, 'c1')),
      textAnswer('I looked, and it is there.'),
    ]);
    const session = await begin(bed, 'run the long one');
    await until(async () => (await bed.linesOf('lines')).length > 0);
    await bed.kill();
    await bed.restart();
    expect((await over(bed, session)).at(-1)).toBe('I looked, and it is there.');
    expect(await bed.linesOf('lines')).toEqual(['once']);
    await bed.nothingLeft();
    await bed.close();
  });
});

describe('another gateway on the same store', () => {
  it('leaves a turn alone whose gateway lives', { timeout: TIMEOUT_MS }, async () => {
    const bed = await AgentBed.start('native', { permissions: ASKING });
    bed.model.play('one owner', [
      callsAnswer(call('Bash', { command: 'echo once >> lines', description: 'Write' }, 'c1')),
      textAnswer('Done.'),
    ]);
    const session = await begin(bed, 'one owner');
    await bed.approvalWaits();
    const other = await bed.another();
    const answer = await fetch(`${other.url}/api/sessions/${session}`, {
      headers: { authorization: `Bearer ${KEYS.storm}` },
    });
    expect(await answer.json()).toMatchObject({ running: true, interrupted: false, pending_approvals: 1 });
    await other.close();
    expect((await look(bed, session)).running).toBe(true);
    await bed.allowNext();
    expect(await over(bed, session)).toEqual(['one owner', 'Done.']);
    expect(await bed.linesOf('lines')).toEqual(['once']);
    await bed.close();
  });
});
