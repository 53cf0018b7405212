/**
 * The checker of the cluster on nodes from which a guard was taken: it must find what goes wrong then, or it proves
 * nothing. Guards are taken out in the database, so the nodes themselves are what users run.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  api,
  begin,
  type NodeBed,
  startNodes,
  type TestNode,
  textIn,
  user,
  whole,
} from '../e2e/postgres/nodes-harness.js';
import { muteNotifications, startPostgres, type TestPostgres } from '../support/postgres.js';
import type { AgentStep } from '../support/scripted-agent-model.js';
import { until } from '../support/until.js';
import { bash, says, words } from './agent-script.js';
import { type HistoryEvent, type HistoryPlan, violations } from './cluster-history.js';

let server: TestPostgres;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server?.close());

const FINAL = 'This is the end.';
const PLAN: HistoryPlan = {
  requests: new Map([['t1', { text: FINAL, calls: [] }]]),
  results: new Map(),
  effects: new Map([['t1_x', { turn: 't1', told: 'did t1_x' }]]),
};
/** As the SDKs say that they have sent it before. */
const AGAIN = { 'x-stainless-retry-count': '1' };
/** More often than the model is asked for a step, also where everybody does what one should. */
const OFTEN = 8;

const REMOVED = {
  nothing: 'SELECT 1',
  /**
   * Whoever holds a lease of a session has the same token and name, so one that was taken over is not told from
   * another. Both find their token when they renew.
   */
  fence: `CREATE FUNCTION same() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      INSERT INTO leases VALUES ('renewed:' || NEW.owner, NEW.owner, 1, NEW.until) ON CONFLICT DO NOTHING;
      NEW.token := 1;
      NEW.owner := 'everyone';
      RETURN NEW;
    END $$;
    CREATE TRIGGER same BEFORE INSERT OR UPDATE ON leases FOR EACH ROW WHEN (NEW.name LIKE 'session:%')
      EXECUTE FUNCTION same()`,
  /** Whoever asks for a lease gets it. */
  lease: `CREATE FUNCTION grant_all() RETURNS trigger LANGUAGE plpgsql
      AS 'BEGIN DELETE FROM leases WHERE name = NEW.name; RETURN NEW; END';
    CREATE TRIGGER grant_all BEFORE INSERT ON leases FOR EACH ROW EXECUTE FUNCTION grant_all()`,
  /** What was begun is forgotten. */
  'once-log': `CREATE FUNCTION forget() RETURNS trigger LANGUAGE plpgsql
      AS 'BEGIN DELETE FROM calls WHERE session = NEW.session AND id = NEW.id; RETURN NULL; END';
    CREATE TRIGGER forget AFTER INSERT ON calls FOR EACH ROW WHEN (NEW.run_by = 'server')
      EXECUTE FUNCTION forget()`,
} as const;

/** One turn with one effect, which is not over before `letGo`. */
class Scene {
  readonly bed: NodeBed;
  readonly history: HistoryEvent[] = [];
  readonly #database: string;

  private constructor(bed: NodeBed, database: string) {
    this.bed = bed;
    this.#database = database;
    const command = 'echo ran >> x.txt; until [ -e go ]; do sleep 0.02; done; echo did t1_x';
    const last: AgentStep = ({ told }) => {
      const results = told.flatMap(({ blocks }) => blocks.filter((block) => block.type === 'result'));
      this.history.push({ kind: 'told', turn: 't1', results });
      return words(FINAL);
    };
    const steps = [says('', bash('t1_x', command)), last];
    bed.model.play(
      'Turn t1.',
      steps.map((step) => Array.from({ length: OFTEN }, () => step)),
    );
  }

  static async start(
    removed: keyof typeof REMOVED,
    { permissions = { mode: 'allow' }, mute = false }: { permissions?: object; mute?: boolean } = {},
  ): Promise<Scene> {
    const database = await server.create();
    if (mute) await muteNotifications(server, database);
    const bed = await startNodes(server.url(database), { shares: true, permissions });
    await server.query(REMOVED[removed], database);
    return new Scene(bed, database);
  }

  /** A client, to the end of its request. */
  async ask(node: TestNode, headers: Record<string, string> = {}): Promise<void> {
    const answer = await whole(await begin(node, [user('Turn t1.')], { headers }));
    const isWhole = answer.text.includes('event: message_stop');
    if (answer.status !== 200 || !isWhole) return;
    this.history.push({ kind: 'answered', request: 't1', text: textIn(answer.text), calls: [] });
  }

  /** As when it has lapsed: whoever asks next has the session. */
  async takeLeaseAway(): Promise<void> {
    await server.query(`DELETE FROM leases WHERE name LIKE 'session:%'`, this.#database);
  }

  async isOwned(): Promise<boolean> {
    return (
      (await server.query(`SELECT 1 FROM leases WHERE name LIKE 'session:%'`, this.#database)).length > 0
    );
  }

  async waiting(): Promise<{ id: string; digest: string }[]> {
    return JSON.parse((await api(this.bed.b, 'GET', '/api/approvals?state=pending')).text).data;
  }

  /** A person at the second node: whatever waits, until `isOver`. */
  async allowAll(isOver: () => boolean): Promise<void> {
    await until(async () => {
      for (const { id, digest } of await this.waiting()) {
        const body = { decision: 'allow', digest };
        const { status } = await api(this.bed.b, 'POST', `/api/approvals/${id}`, { body });
        if (status === 200) this.history.push({ kind: 'decided', approval: id, node: 'b' });
      }
      return isOver();
    });
  }

  async effects(): Promise<number> {
    return (await this.bed.linesOf('x.txt')).length;
  }

  get isTold(): boolean {
    return this.history.some(({ kind }) => kind === 'told');
  }

  async letGo(): Promise<void> {
    await writeFile(join(this.bed.work, 'go'), '');
  }

  async violations(): Promise<string[]> {
    for (const _ of await this.bed.linesOf('x.txt')) this.history.push({ kind: 'effect', id: 't1_x' });
    return violations(this.history, PLAN);
  }
}

/** While the effect is under way the node loses its lease, and the client asks the other. */
async function isTakenOver(scene: Scene): Promise<void> {
  const { a, b } = scene.bed;
  const first = scene.ask(a);
  await until(async () => (await scene.effects()) > 0);
  scene.history.push({ kind: 'disturbed', what: 'the lease of a was taken away' });
  await scene.takeLeaseAway();
  const second = scene.ask(b, AGAIN);
  await until(async () => scene.isTold || (await scene.effects()) > 1);
  await scene.letGo();
  await Promise.all([first, second]);
}

/** While the effect is under way an impatient client asks the other node as well. */
async function isAskedOfBoth(scene: Scene): Promise<void> {
  const { a, b } = scene.bed;
  const first = scene.ask(a);
  await until(async () => (await scene.effects()) > 0);
  const second = scene.ask(b, AGAIN);
  await until(() => scene.isTold || a.wire.seen.includes('x-toolgate-forward:'));
  await scene.letGo();
  await Promise.all([first, second]);
}

/** While a question waits the session goes to the other node, and then the first hears the decision as well. */
async function isTakenOverWithQuestion(scene: Scene): Promise<void> {
  const { a, b } = scene.bed;
  let [isFirstOver, isOver] = [false, false];
  const first = scene.ask(a).finally(() => {
    isFirstOver = true;
  });
  await until(async () => (await scene.waiting()).length > 0);
  await scene.takeLeaseAway();
  const second = scene.ask(b, AGAIN);
  await until(() => scene.isOwned());
  const both = Promise.all([first, second]).finally(() => {
    isOver = true;
  });
  const allowing = scene.allowAll(() => isOver);
  await until(() => scene.isTold || isFirstOver);
  await scene.letGo();
  await Promise.all([both, allowing]);
}

const ASKING = { permissions: { mode: 'ask', unattended: 'wait' } };

describe.each([
  {
    removed: 'once-log' as const,
    ...{ play: isTakenOver, options: {} },
    finds: 'the effect t1_x happened 2 times',
  },
  {
    removed: 'lease' as const,
    ...{ play: isAskedOfBoth, options: {} },
    finds: expect.stringMatching(/^the result of t1_x was lost: .*was not run again/i),
  },
  {
    removed: 'fence' as const,
    ...{ play: isTakenOverWithQuestion, options: ASKING },
    // By the once-log, or by the approval that is for one run.
    finds: expect.stringMatching(/^the result of t1_x was lost: .*was not run again/i),
  },
])('the checker finds what goes wrong without the $removed', ({ removed, play, options, finds }) => {
  it('but nothing where it is there', async () => {
    const scene = await Scene.start('nothing', options);
    await play(scene);
    expect(await scene.violations()).toEqual([]);
  });

  it('when it is gone', async () => {
    const scene = await Scene.start(removed, options);
    await play(scene);
    expect(await scene.violations()).toContainEqual(finds);
  });
});

it('the checker finds nothing where notifications are lost', async () => {
  const scene = await Scene.start('nothing', { ...ASKING, mute: true });
  await isTakenOverWithQuestion(scene);
  expect(await scene.violations()).toEqual([]);
});
