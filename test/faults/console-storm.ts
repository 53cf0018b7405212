/** A gateway whose agents ask for every call they make, and which is stopped and started now and then. */
import { mkdir, readFile, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import type { ApprovalWire } from '../../src/server/console-api/wire/approvals.js';
import { tempFolder } from '../support/cleanup.js';
import { startTestGateway, type TestGateway } from '../support/gateway.js';
import { inDialect } from '../support/scripted-answers.js';
import { type RecordedRequest, startUpstream } from '../support/scripted-upstream.js';
import { call, type Scripted, textAnswer } from '../support/wire.js';

export const KEY = 'key-of-alice';
const JOURNAL = 'journal';
/** Nobody answers a question whose call ends so. */
const SILENT = 'silent';
/** Calls that a model makes at once. */
const AT_ONCE = 3;

export interface StormPlan {
  sessions: number;
  /** Of each session. */
  calls: number;
  /** Every so manieth question is answered by nobody. */
  silentEvery: number;
  expiresS: number;
}

export class ConsoleStorm {
  readonly #plan: StormPlan;
  readonly #folder: string;
  readonly #config: object;
  #gateway: TestGateway | undefined;

  private constructor(plan: StormPlan, folder: string, config: object) {
    this.#plan = plan;
    this.#folder = folder;
    this.#config = config;
  }

  static async start(plan: StormPlan): Promise<ConsoleStorm> {
    const upstream = await startUpstream((request, index) =>
      inDialect(answerOf(request, plan))(request, index),
    );
    const folder = await realpath((await tempFolder('toolgate-console')).path);
    const work = join(folder, 'work');
    await mkdir(work);
    const config = {
      server: { keys: [{ key: KEY, name: 'alice', scopes: ['call', 'approve', 'admin'] }], drain_s: 2 },
      upstreams: { scripted: upstream.config('anthropic-messages') },
      models: {
        coder: {
          engine: 'native',
          upstream: 'scripted',
          model: 'm',
          cwd: work,
          tools: ['Bash'],
          max_turns: 10_000,
        },
      },
      permissions: { mode: 'ask', approval_timeout_s: plan.expiresS, unattended: 'wait' },
      sandbox: 'off',
    };
    const storm = new ConsoleStorm(plan, folder, config);
    await storm.#open();
    return storm;
  }

  /** Undefined while it is stopped. */
  get origin(): string | undefined {
    return this.#gateway?.url;
  }

  async restart(): Promise<void> {
    const gateway = this.#gateway;
    this.#gateway = undefined;
    await gateway?.close();
    await this.#open();
  }

  /** All sessions, each until its turn has its last answer. */
  async run(): Promise<void> {
    await Promise.all(Array.from({ length: this.#plan.sessions }, (_, session) => this.#talk(session)));
  }

  ignores(approval: ApprovalWire): boolean {
    return approval.describe.command?.includes(SILENT) === true;
  }

  async approvals(): Promise<ApprovalWire[]> {
    const found: ApprovalWire[] = [];
    for (let cursor: string | null = null; ; ) {
      const more = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const page: Page = await this.#page(`/api/approvals?state=all&limit=500${more}`);
      found.push(...page.data);
      cursor = page.next;
      if (cursor === null) return found;
    }
  }

  async #page(path: string): Promise<Page> {
    const answer = await fetch(`${this.origin}${path}`, { headers: { authorization: `Bearer ${KEY}` } });
    if (!answer.ok) throw new Error(`GET ${path}: ${answer.status}`);
    const page: unknown = await answer.json();
    return page as Page;
  }

  /** How often each command ran. */
  async ran(): Promise<Map<string, number>> {
    const text = await readFile(join(this.#folder, 'work', JOURNAL), 'utf8').catch(() => '');
    const counts = new Map<string, number>();
    for (const line of text.split('\n').filter((each) => each !== ''))
      counts.set(line, (counts.get(line) ?? 0) + 1);
    return counts;
  }

  async #open(): Promise<void> {
    this.#gateway = await startTestGateway({
      folder: this.#folder,
      config: this.#config,
      eventLimits: { pingMs: 150 },
    });
  }

  /** A client that says the same until it has the answer: a turn that broke off is gone on with. */
  async #talk(session: number): Promise<void> {
    const body = {
      model: 'coder',
      max_tokens: 1000,
      messages: [{ role: 'user', content: promptOf(session) }],
    };
    for (;;) {
      try {
        const answer = await fetch(`${this.origin}/v1/messages`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', authorization: `Bearer ${KEY}` },
          body: JSON.stringify(body),
        });
        const text = await answer.text();
        if (answer.ok && text.includes('All done.')) return;
        if (answer.status < 500 && answer.status !== 409 && answer.status !== 429) throw new Fatal(text);
      } catch (error) {
        if (error instanceof Fatal) throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

interface Page {
  data: ApprovalWire[];
  next: string | null;
}

class Fatal extends Error {}

const promptOf = (session: number): string => `Talk ${session}.`;

/** The command of a call, which is also its line in the journal. */
export function lineOf(command: string): string {
  return /echo (\S+) >>/.exec(command)?.[1] ?? '';
}

/** What the model says is a function of what it was told: it may be asked again for the same. */
function answerOf(request: RecordedRequest, { calls, silentEvery }: StormPlan): Scripted {
  const messages = request.json['messages'];
  const told = Array.isArray(messages) ? messages : [];
  const session = /Talk (\d+)\./.exec(JSON.stringify(told[0] ?? ''))?.[1];
  if (session === undefined) return textAnswer('Fine.');
  const from = told.filter(({ role }) => role === 'assistant').length * AT_ONCE;
  if (from >= calls) return textAnswer('All done.');
  const parts = Array.from({ length: Math.min(AT_ONCE, calls - from) }, (_, at) => {
    const number = from + at;
    const silent = number % silentEvery === silentEvery - 1 ? `-${SILENT}` : '';
    const line = `s${session}-${number}${silent}`;
    return call('Bash', { command: `echo ${line} >> ${JOURNAL}` }, `call-${line}`);
  });
  return { parts };
}
