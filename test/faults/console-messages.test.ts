/**
 * What is said while a turn runs: into it before its model is asked again, or after it as a turn of
 * its own; once, in order, also where the gateway is killed in between.
 */
import { describe, expect, it } from 'vitest';
import type { SessionContentWire } from '../../src/server/console-api/wire/sessions.js';
import { until } from '../support/until.js';
import { call, callsAnswer, textAnswer } from '../support/wire.js';
import { AgentBed, ENGINES, KEYS, type KeyName, MODEL } from './agent-bed.js';
import { TIMEOUT_MS } from './counts.js';

const ASKING = { mode: 'ask', unattended: 'wait' };
const PATIENT = { timeout: TIMEOUT_MS };

/** A turn that waits for a person, in the middle of a call. */
async function waiting(bed: AgentBed): Promise<string> {
  bed.model.play('write the line', [
    callsAnswer(call('Bash', { command: 'echo once >> lines', description: 'Write' }, 'c1')),
    textAnswer('It is written.'),
  ]);
  const { session } = await bed.api('POST', '/api/chat', { model: MODEL, content: 'write the line' });
  await bed.approvalWaits();
  return String(session);
}

const say = (bed: AgentBed, session: string, content: string, mode?: string) =>
  bed.api('POST', `/api/sessions/${session}/messages`, { content, ...(mode && { mode }) });

async function look(bed: AgentBed, session: string): Promise<SessionContentWire> {
  const answer: unknown = await bed.api('GET', `/api/sessions/${session}`);
  return answer as SessionContentWire;
}

const textsOf = ({ messages }: SessionContentWire): string[] =>
  messages.flatMap(({ content }) => content.flatMap((block) => (block.type === 'text' ? [block.text] : [])));

/** Resolves with what was said once `last` was, and no turn runs. */
async function saidUpTo(bed: AgentBed, session: string, last: string): Promise<string[]> {
  return until(async () => {
    const seen = await look(bed, session);
    const texts = textsOf(seen);
    return !seen.running && texts.at(-1) === last && texts;
  });
}

async function status(bed: AgentBed, path: string, body: object, key: KeyName): Promise<number> {
  const headers = { authorization: `Bearer ${KEYS[key]}`, 'content-type': 'application/json' };
  const answer = await fetch(`${bed.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  await answer.text();
  return answer.status;
}

async function withdraw(bed: AgentBed, session: string, message: unknown): Promise<number> {
  const headers = { authorization: `Bearer ${KEYS.storm}` };
  const path = `/api/sessions/${session}/messages/${String(message)}`;
  return (await fetch(`${bed.url}${path}`, { method: 'DELETE', headers })).status;
}

describe('a message into a running turn of the native agent', PATIENT, () => {
  it('comes after the results, before the model is asked again', async () => {
    const bed = await AgentBed.start('native', { permissions: ASKING });
    const session = await waiting(bed);
    const queued = await say(bed, session, 'And say why.', 'steer');
    expect(queued).toMatchObject({ session, mode: 'steer', content: 'And say why.' });
    await bed.allowNext();
    expect(await saidUpTo(bed, session, 'It is written.')).toEqual([
      'write the line',
      'And say why.',
      'It is written.',
    ]);
    const { messages } = await look(bed, session);
    const [result] = messages.filter(({ content }) => content.some(({ type }) => type === 'tool_result'));
    expect(result?.content.map(({ type }) => type)).toEqual(['tool_result', 'text']);
    expect(await bed.api('GET', `/api/sessions/${session}/messages`)).toEqual({ data: [] });
    expect(bed.model.problems).toEqual([]);
    await bed.close();
  });

  it('is not said once it is withdrawn', async () => {
    const bed = await AgentBed.start('native', { permissions: ASKING });
    const session = await waiting(bed);
    const { id } = await say(bed, session, 'And drop the table.', 'steer');
    await say(bed, session, 'And say why.', 'steer');
    expect(await withdraw(bed, session, id)).toBe(204);
    await bed.allowNext();
    expect(await saidUpTo(bed, session, 'It is written.')).toEqual([
      'write the line',
      'And say why.',
      'It is written.',
    ]);
    await bed.close();
  });

  it('is said once where the gateway is killed before the model is asked', async () => {
    const bed = await AgentBed.start('native', { permissions: ASKING });
    const session = await waiting(bed);
    await say(bed, session, 'And say why.', 'steer');
    await bed.kill();
    await bed.restart();
    await bed.allowNext();
    const texts = await until(async () => {
      const seen = await look(bed, session);
      return (
        !seen.running && seen.messages.length > 3 && textsOf(seen).includes('And say why.') && textsOf(seen)
      );
    });
    expect(texts.filter((text) => text === 'And say why.')).toHaveLength(1);
    expect(await bed.linesOf('lines')).toEqual(['once']);
    await bed.nothingLeft();
    await bed.close();
  });
});

describe.each(ENGINES)('messages that wait for the end of a turn of %s', PATIENT, (engine) => {
  it('are said after it, one turn after the other, also after a kill', async () => {
    const bed = await AgentBed.start(engine, { permissions: ASKING });
    const session = await waiting(bed);
    bed.model.play('the first thing', [textAnswer('First done.')]);
    bed.model.play('the second thing', [textAnswer('Second done.')]);
    await say(bed, session, 'the first thing');
    await say(bed, session, 'the second thing', 'queue');
    const { data } = await bed.api('GET', `/api/sessions/${session}/messages`);
    expect(data).toMatchObject([{ content: 'the first thing' }, { content: 'the second thing' }]);
    await bed.kill();
    await bed.restart();
    await bed.allowNext();
    expect(await saidUpTo(bed, session, 'Second done.')).toEqual([
      ...['write the line', 'It is written.'],
      ...['the first thing', 'First done.', 'the second thing', 'Second done.'],
    ]);
    expect(await bed.linesOf('lines')).toEqual(['once']);
    await bed.nothingLeft();
    await bed.close();
  });
});

describe('messages to a session', PATIENT, () => {
  it('begin a turn where none runs, are withdrawn by a stop, and are bounded', async () => {
    const bed = await AgentBed.start('native', { permissions: ASKING });
    const session = await waiting(bed);
    const path = `/api/sessions/${session}/messages`;
    for (const wrong of [
      {},
      { content: '' },
      { content: 'x', mode: 'shout' },
      { content: [{ type: 'tool_result' }] },
    ])
      expect(await status(bed, path, wrong, 'storm')).toBe(400);
    // Another key does not learn that there is such a session, whatever it may do.
    expect(await status(bed, path, { content: 'mine?' }, 'calm')).toBe(404);
    expect(await status(bed, '/api/sessions/ses_none/messages', { content: 'x' }, 'storm')).toBe(404);

    const { id } = await say(bed, session, 'never mind');
    expect(await withdraw(bed, session, id)).toBe(204);
    for (let count = 0; count < 20; count += 1) await say(bed, session, `number ${count}`);
    expect(await status(bed, path, { content: 'one too many' }, 'storm')).toBe(409);
    const stopped = await bed.api('POST', `/api/sessions/${session}/stop`);
    expect(stopped).toMatchObject({ stopped: true });
    expect(stopped['withdrawn']).toHaveLength(20);
    expect(await bed.api('GET', path)).toEqual({ data: [] });

    bed.model.play('begin again', [textAnswer('Here.')]);
    expect(await say(bed, session, 'begin again')).toMatchObject({ session, how: 'continue' });
    const texts = await saidUpTo(bed, session, 'Here.');
    expect(texts.filter((text) => text.startsWith('number'))).toEqual([]);
    expect(await bed.linesOf('lines')).toEqual([]);
    await bed.close();
  });
});
