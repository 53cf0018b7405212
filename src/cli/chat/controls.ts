/** What commands of the chat change: its model, its mode, its session. */
import { realpath } from 'node:fs/promises';
import type { LoadedConfig } from '../../config/load.js';
import type { Config } from '../../config/schema.js';
import type { Message } from '../../core/conversation.js';
import type { Principal } from '../../engines/engine.js';
import type { AgentParts } from '../../gateway/agent-parts.js';
import type { ClosableDispatcher } from '../../gateway/create-dispatcher.js';
import type { LiveConfig } from '../../gateway/live-config.js';
import type { Sessions } from '../../sessions/sessions.js';
import { SESSION_MODES, type SessionMode } from '../../store/sessions.js';
import { type CliIo, UsageError } from '../shared/command.js';
import type { ChatControls, Mode } from './commands.js';

/** The person at the terminal may do what the operator may. */
export const PERSON: Principal = { name: 'local', scopes: ['call', 'approve', 'admin'], models: ['*'] };

interface ControlsOptions {
  loaded: LoadedConfig;
  model: string;
  withModel(name: string): Config;
  io: Pick<CliIo, 'cwd'>;
}

interface ControlledParts {
  live: LiveConfig;
  agents: Pick<AgentParts, 'reconfigure'>;
  dispatcher: Pick<ClosableDispatcher, 'reconfigure'>;
  sessions: Pick<Sessions, 'list' | 'read' | 'standing' | 'get' | 'label'>;
  /** That the chat is in; none before the first answer. */
  session(): string | undefined;
}

/** How far back a folder's conversations are looked for. */
const LOOKED_AT = 200;

export function createControls(
  { loaded, model, withModel, io }: ControlsOptions,
  { live, agents, dispatcher, sessions, session }: ControlledParts,
): ChatControls & { readonly newMode: SessionMode | undefined } {
  let current = model;
  let chosen: SessionMode | undefined;
  const ofSession = async (): Promise<SessionMode | undefined> => {
    const id = session();
    return id === undefined ? chosen : (await sessions.get(id))?.mode;
  };
  const use = (config: Config): void => live.use({ ...live.loaded, config });
  return {
    get model() {
      return current;
    },
    mode: async () => (await ofSession()) ?? live.config.permissions.mode,
    get newMode() {
      return chosen;
    },
    models: () => [
      ...new Set([current, ...Object.keys(loaded.config.models).filter((name) => !name.includes('*'))]),
    ],
    useModel(name) {
      try {
        const { models } = withModel(name);
        use({ ...live.config, models });
        dispatcher.reconfigure({ config: live.config });
        current = name;
        return undefined;
      } catch (error) {
        if (error instanceof UsageError) return error.message;
        throw error;
      }
    },
    async useMode(mode: Mode) {
      chosen = SESSION_MODES.find((known) => known === mode);
      const { permissions } = live.config;
      // A session's mode narrows the configuration's, which is the operator's, who sits here, to open.
      const configured = mode === 'allow' || mode === 'deny' ? mode : 'ask';
      use({ ...live.config, permissions: { ...permissions, mode: configured } });
      await agents.reconfigure();
      const id = session();
      if (id !== undefined) await sessions.label(id, { mode: chosen ?? null });
    },
    async sessions() {
      const root = await realpath(io.cwd);
      const { items } = await sessions.list({ principal: PERSON.name, limit: LOOKED_AT });
      return items
        .filter((session) => session.engine === 'native' && session.state !== 'expired')
        .filter((session) => sessions.standing(session)?.root === root)
        .map(({ id, title = id, updatedAt }) => ({ id, title, updatedAt }));
    },
    async lastExchange(id) {
      const { readable = [] } = (await sessions.read(id)) ?? {};
      const said = readable.map(wordsOf).filter(({ text }) => text !== '');
      const last = said.findLastIndex(({ who }) => who === 'you');
      return last === -1
        ? said.slice(-1)
        : [...said.slice(last, last + 1), ...said.slice(last + 1).slice(-1)];
    },
  };
}

function wordsOf({ role, content }: Message): { who: 'you' | 'agent'; text: string } {
  const text = content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
  return { who: role === 'assistant' ? 'agent' : 'you', text: text.trim() };
}
