/** A question whose turn was killed and left: nobody can allow what would never run. */
import { expect, it } from 'vitest';
import { until } from '../support/until.js';
import { call, callsAnswer, type Scripted, textAnswer } from '../support/wire.js';
import { AgentBed, KEYS, MODEL } from './agent-bed.js';
import { TIMEOUT_MS } from './counts.js';

const ASKING = { mode: 'ask', unattended: 'wait' };
const WENT_ON = 'The conversation went on without this call.';
/** Of a turn of the console, before a person has to go on with it. */
const ATTEMPTS = 3;
const writes = callsAnswer(call('Bash', { command: 'echo no >> lines', description: 'Write' }, 'c1'));
/** However often it is asked. */
const always = (answer: Scripted): Scripted[] => Array.from({ length: 4 }, () => answer);

async function open(): Promise<AgentBed> {
  const bed = await AgentBed.start('native', { permissions: ASKING });
  bed.model.play('write the line', [always(writes), always(textAnswer('It is written.'))]);
  bed.model.play('something else', [textAnswer('Fine.')]);
  return bed;
}

interface Question {
  id: string;
  digest: string;
  session: string;
}

/** A client of `/v1` has asked, its question waits, and the gateway was killed. */
async function killed(bed: AgentBed): Promise<Question> {
  const leave = new AbortController();
  const asking = fetch(`${bed.url}/v1/messages`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEYS.storm}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      ...{ model: MODEL, max_tokens: 100, stream: true },
      messages: [{ role: 'user', content: 'write the line' }],
    }),
    signal: leave.signal,
  }).then(
    (response) => response.text().catch(() => ''),
    () => '',
  );
  const question = await waits(bed);
  await bed.kill();
  await asking;
  await bed.restart();
  return question;
}

async function waits(bed: AgentBed): Promise<Question> {
  const { id, digest, session } = await bed.approvalWaits();
  return { id: String(id), digest: String(digest), session: String(session) };
}

/** Once it does not wait any more; each look is a request of its own. */
async function decided(bed: AgentBed, { id }: Question): Promise<unknown> {
  return until(async () => {
    const approval = await bed.api('GET', `/api/approvals/${id}`);
    return approval['state'] !== 'pending' && approval;
  });
}

async function nothingToAllow(bed: AgentBed, { id, digest }: Question, reason: string): Promise<void> {
  const allowing = bed.api('POST', `/api/approvals/${id}`, { decision: 'allow', digest });
  await expect(allowing).rejects.toThrow(/409 .*already cancelled/);
  await expect(allowing).rejects.toThrow(reason);
  expect(await bed.linesOf('lines')).toEqual([]);
}

it('a question is cancelled when its conversation continues without it', {
  timeout: TIMEOUT_MS,
}, async () => {
  const bed = await open();
  const question = await killed(bed);
  expect(await bed.waitingApprovals()).toHaveLength(1);
  await bed.api('POST', '/api/chat', { model: MODEL, session: question.session, content: 'something else' });
  expect(await decided(bed, question)).toMatchObject({ state: 'cancelled', decision: { reason: WENT_ON } });
  await nothingToAllow(bed, question, WENT_ON);
  await bed.close();
});

it('a question is cancelled when its conversation is stopped, once', { timeout: TIMEOUT_MS }, async () => {
  const bed = await open();
  const question = await killed(bed);
  const stop = `/api/sessions/${question.session}/stop`;
  expect(await bed.api('POST', stop)).toEqual({ stopped: true, withdrawn: [] });
  expect(await bed.waitingApprovals()).toEqual([]);
  await nothingToAllow(bed, question, 'Stopped by storm.');
  expect(await bed.api('POST', stop)).toEqual({ stopped: false, withdrawn: [] });
  await bed.close();
});

it('a question stays for a fork of its conversation, and when the same is asked again', {
  timeout: TIMEOUT_MS,
}, async () => {
  const bed = await open();
  const question = await killed(bed);
  const { session, digest } = question;
  const again = { model: MODEL, session, keep: 0, content: 'something else' };
  const fork = await bed.api('POST', '/api/chat', again);
  await until(async () => !(await bed.api('GET', `/api/sessions/${String(fork['session'])}`))['running']);
  expect(await waits(bed)).toEqual({ id: question.id, digest, session });
  const asked = fetch(`${bed.url}/v1/messages`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEYS.storm}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      ...{ model: MODEL, max_tokens: 100, stream: true },
      messages: [{ role: 'user', content: 'write the line' }],
    }),
  });
  await bed.allowNext();
  expect(await (await asked).text()).toContain('It is written.');
  expect(await bed.linesOf('lines')).toEqual(['no']);
  await bed.close();
});

it('a question of a turn that broke too often waits until something else is said', {
  timeout: TIMEOUT_MS,
}, async () => {
  const bed = await open();
  const { session } = await bed.api('POST', '/api/chat', { model: MODEL, content: 'write the line' });
  const path = `/api/sessions/${String(session)}`;
  const question = await waits(bed);
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    await bed.kill();
    await bed.restart();
    const isRunning = attempt < ATTEMPTS;
    await until(async () => (await bed.api('GET', path))['running'] === isRunning);
  }
  expect(await bed.api('GET', path)).toMatchObject({ interrupted: true, pending_approvals: 1 });
  await bed.api('POST', '/api/chat', { model: MODEL, session, content: 'something else' });
  expect(await decided(bed, question)).toMatchObject({ state: 'cancelled', decision: { reason: WENT_ON } });
  await nothingToAllow(bed, question, WENT_ON);
  await bed.close();
});
