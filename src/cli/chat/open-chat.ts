/** The gateway's parts without its server, and a person at the terminal instead of a client. */
import type { Readable, Writable } from 'node:stream';
import type { LoadedConfig } from '../../config/load.js';
import type { Config } from '../../config/schema.js';
import { createNativeDriver } from '../../engines/native/driver.js';
import { openAgentParts } from '../../gateway/agent-parts.js';
import { type CloseStack, openAll } from '../../gateway/close-stack.js';
import { createDispatcher } from '../../gateway/create-dispatcher.js';
import { LiveConfig } from '../../gateway/live-config.js';
import { openSessions } from '../../gateway/open-engines.js';
import { createLog } from '../../observability/log.js';
import { openStore } from '../../store/open/open-store.js';
import type { CliIo } from '../shared/command.js';
import { activityPrinter } from './activity.js';
import { ApprovalPrompt } from './approval-prompt.js';
import { createControls, PERSON } from './controls.js';
import { openLineHistory } from './line-history.js';
import { MarkdownStream } from './markdown.js';
import { painter, plain } from './render.js';
import { answerOnce, runRepl } from './repl.js';
import { openTerminal } from './terminal.js';
import { TerminalConversation } from './terminal-conversation.js';

interface OpenChatOptions {
  /** With the model as an agent in it. */
  loaded: LoadedConfig;
  model: string;
  /** The configuration with another model as an agent. Throws UsageError for a name that nothing answers. */
  withModel(name: string): Config;
  logLevel: string;
  io: CliIo;
  input: Readable & { isTTY?: boolean };
  output: Writable;
  home: string;
  /** Takes secrets out of a text. */
  redact: (text: string) => string;
}

interface OpenChat {
  /** Resolves when the person has left; false where the only answer failed. */
  run(banner: readonly string[]): Promise<boolean>;
  close(): Promise<void>;
}

/** For MCP servers to connect; one that takes longer joins a later turn. */
const SETTLE_MS = 5_000;

export function openChat(options: OpenChatOptions): Promise<OpenChat> {
  return openAll((stack) => openParts(stack, options));
}

async function openParts(stack: CloseStack, options: OpenChatOptions): Promise<OpenChat> {
  const { loaded, io, redact, home } = options;
  const { config, baseDir } = loaded;
  const log = createLog({ level: options.logLevel, redact });
  stack.defer(() => log.flush());
  const store = await openStore(config.store, { baseDir, redact });
  stack.defer(() => store.close());
  const live = new LiveConfig(loaded);
  const agents = await openAgentParts(stack, {
    live,
    store,
    log,
    version: io.version,
    env: io.env,
  });
  const runtime = await agents.tools();
  const sessions = stack.adopt(openSessions(config, store, log), (opened) => opened.close());
  const dispatcher = createDispatcher({
    config,
    folders: { baseDir, startDir: io.cwd },
    native: { create: createNativeDriver, runtime, sessions, log, startDir: io.cwd, home },
  });
  stack.defer(() => dispatcher.close());
  let talk: TerminalConversation | undefined;
  const controls = createControls(options, {
    ...{ live, agents, dispatcher, sessions },
    session: () => talk?.session,
  });
  // Before a turn is aborted: a question that waits is still there the next time.
  stack.defer(() => agents.approvals.close());

  const history = await openLineHistory(io.env, redact);
  const terminal = openTerminal({
    input: options.input,
    output: options.output,
    color: io.color,
    earlier: history.lines,
    onLine: (line) => void history.add(line),
  });
  stack.defer(() => terminal.close());
  const paint = painter(io.color);
  let midLine = false;
  const write = (text: string): void => {
    if (text === '') return;
    terminal.write(text);
    midLine = !text.endsWith('\n');
  };
  const markdown = io.color ? new MarkdownStream(paint) : undefined;
  const endLine = (): void => {
    write(markdown?.end() ?? '');
    if (midLine) write('\n');
  };
  const observe = activityPrinter({ write, paint, endLine });
  let thinks = false;
  const open = (session?: string): TerminalConversation => {
    talk = new TerminalConversation(
      {
        dispatcher,
        model: () => controls.model,
        newMode: () => controls.newMode,
        principal: PERSON,
        observe,
        onText: (text) => {
          if (thinks) endLine();
          thinks = false;
          const words = plain(redact(text));
          write(markdown?.push(words) ?? words);
        },
        onThinking: (text) => {
          if (!thinks) endLine();
          thinks = true;
          write(paint('dim', plain(redact(text))));
        },
      },
      session,
    );
    return talk;
  };
  const prompt = terminal.interactive
    ? new ApprovalPrompt({ coordinator: agents.approvals, terminal, paint, by: PERSON.name })
    : undefined;
  stack.defer(() => prompt?.close());

  return {
    async run(banner) {
      if (Object.keys(config.mcp_servers).length > 0) {
        await agents.mcp.settled(AbortSignal.timeout(SETTLE_MS)).catch(() => {});
      }
      if (terminal.interactive) {
        for (const line of banner) io.out(line);
        await runRepl({ terminal, paint, open, runtime, controls, endLine });
        return true;
      }
      const text = (await terminal.readAll()).trim();
      if (text === '') return true;
      const end = await answerOnce(open(), text, { terminal, paint, endLine });
      return end.error === undefined && !end.stopped;
    },
    close: () => stack.close(),
  };
}
