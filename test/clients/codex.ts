/** Codex as it is installed, unmodified, with the gateway as its provider. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { closeAfterTest } from '../support/cleanup.js';
import { isRecord, type JsonRecord } from '../support/violation.js';
import { ClientProcess } from './client-process.js';
import type { Lane } from './lanes.js';
import { clientProgram } from './programs.js';
import type { Workspace } from './workspace.js';

/** It makes no helper programs in a home under the temporary folder. */
const HOMES = fileURLToPath(new URL('../../.cache/codex-homes', import.meta.url));

/** The gateway as a provider of its own, and in the place of OpenAI: Codex talks differently to the two. */
type Provider = 'toolgate' | 'openai';

function providerConfig(provider: Provider, url: string): string[] {
  if (provider === 'openai') return [`openai_base_url = "${url}"`];
  return [
    'model_provider = "toolgate"',
    '[model_providers.toolgate]',
    'name = "toolgate"',
    `base_url = "${url}"`,
    'wire_api = "responses"',
    'env_key = "TOOLGATE_KEY"',
    'request_max_retries = 1',
    'stream_max_retries = 1',
  ];
}

/** A home with its configuration, for one or more runs of a test. */
export async function codexHome(lane: Lane, provider: Provider = 'toolgate'): Promise<string> {
  await mkdir(HOMES, { recursive: true });
  const home = await mkdtemp(join(HOMES, 'home-'));
  closeAfterTest(() => rm(home, { recursive: true, force: true, maxRetries: 3 }));
  const config = [
    'check_for_update_on_startup = false',
    ...providerConfig(provider, `${lane.gateway.url}/v1`),
    '[analytics]',
    'enabled = false',
  ];
  await writeFile(join(home, 'config.toml'), `${config.join('\n')}\n`);
  return home;
}

export interface CodexOptions {
  home: string;
  prompt: string;
  model: string;
  /** Words behind `exec`. */
  args?: readonly string[];
}

export class CodexRun extends ClientProcess {
  readonly #lane: Lane;

  constructor(lane: Lane, workspace: Workspace, { home, prompt, model, args = [] }: CodexOptions) {
    const free = ['--json', '--dangerously-bypass-approvals-and-sandbox', '--model', model];
    super(clientProgram('Codex'), ['exec', ...free, ...args, prompt], {
      cwd: workspace.path,
      env: { HOME: home, CODEX_HOME: home, TOOLGATE_KEY: 'client-key', CODEX_API_KEY: 'client-key' },
    });
    this.#lane = lane;
  }

  /** Things that it did or said, of one type. */
  items(type: string): JsonRecord[] {
    return this.events
      .filter((event) => event['type'] === 'item.completed')
      .map(({ item }) => item)
      .filter((item): item is JsonRecord => isRecord(item) && item['type'] === type);
  }

  /** Resolves when it is over and everything went by the script, without a word of trouble. */
  async ends(): Promise<string> {
    const code = await this.exited;
    const { model, upstream } = this.#lane;
    expect(model.problems, this.report()).toEqual([]);
    expect(this.troubles, this.report()).toEqual([]);
    expect(model.left, this.report()).toEqual([]);
    expect(code, this.report()).toBe(0);
    expect(upstream.requests.filter(({ method }) => method === 'POST')).toHaveLength(model.played.length);
    return String(this.items('agent_message').at(-1)?.['text']);
  }

  get troubles(): string[] {
    return this.events.filter(isTrouble).map((event) => JSON.stringify(event));
  }
}

/** It says so of every model that it has no entry for. */
const UNKNOWN_MODEL = /^Model metadata for .* not found/;

function isTrouble({ type, item }: JsonRecord): boolean {
  if (type === 'error' || type === 'turn.failed') return true;
  return isRecord(item) && item['type'] === 'error' && !UNKNOWN_MODEL.test(String(item['message']));
}
