/** Apps on the libraries that people build with, each in a process of its own on Node 24. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { DialectName } from '../../src/core/conversation.js';
import { ClientProcess } from './client-process.js';
import type { Lane } from './lanes.js';
import { clientProgram } from './programs.js';
import type { Workspace } from './workspace.js';

export interface Library {
  /** As in the table of test clients. */
  name: string;
  app: string;
  providers: readonly Provider[];
}

/** `openai` is the Responses API. */
export type Provider = 'openai' | 'chat' | 'anthropic';

export const DIALECT_OF: Readonly<Record<Provider, DialectName>> = {
  openai: 'openai-responses',
  chat: 'openai-chat',
  anthropic: 'anthropic-messages',
};

export const LIBRARIES: readonly Library[] = [
  { name: 'AI SDK 6', app: 'ai-sdk.mjs', providers: ['openai', 'chat', 'anthropic'] },
  { name: 'AI SDK 7', app: 'ai-sdk.mjs', providers: ['openai', 'chat', 'anthropic'] },
  { name: 'LangChain', app: 'langchain.mjs', providers: ['openai', 'chat', 'anthropic'] },
  { name: 'OpenAI Agents', app: 'openai-agents.mjs', providers: ['openai', 'chat'] },
];

export interface AppRun {
  lane: Lane;
  workspace: Workspace;
  provider: Provider;
  model: string;
  prompts: readonly string[];
  stream: boolean;
}

/** Its packages are found from the folder it runs in: a program that is given as text resolves from there. */
export async function startApp({ name, app }: Library, run: AppRun): Promise<ClientProcess> {
  const file = fileURLToPath(new URL(`./libraries/${app}`, import.meta.url));
  const packages = clientProgram(name);
  const cwd = packages.slice(0, packages.lastIndexOf(`${join('/', 'node_modules')}`));
  return new ClientProcess(
    clientProgram('Node 24'),
    ['--input-type=module', '--eval', await readFile(file, 'utf8')],
    {
      cwd,
      env: {
        HOME: run.workspace.home,
        GATEWAY: run.lane.gateway.url,
        MODEL: run.model,
        PROVIDER: run.provider,
        PROMPTS: JSON.stringify(run.prompts),
        STREAM: run.stream ? '1' : '0',
      },
    },
  );
}
