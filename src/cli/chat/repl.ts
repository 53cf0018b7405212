/** The conversation as a person has it: read a line, answer it, until they leave. */
import { type CommandContext, commandIn } from './commands.js';
import { plainLine } from './render.js';
import type { ChatTerminal } from './terminal.js';
import type { TerminalConversation, TerminalTurnEnd } from './terminal-conversation.js';

interface ReplOptions extends CommandContext {
  /** Without a session it is a new one. */
  open(session?: string): TerminalConversation;
  /** Ends the line of the answer that stands there. */
  endLine(): void;
}

/** Resolves when the person has left. */
export async function runRepl(options: ReplOptions): Promise<void> {
  const { terminal, paint } = options;
  let conversation = options.open();
  let leaving = false;
  for (;;) {
    const idle = terminal.onInterrupt(() => {
      if (terminal.clearLine()) return;
      if (leaving) terminal.close();
      leaving = true;
      terminal.write(`\n${paint('dim', 'Ctrl-C again, Ctrl-D or /exit leaves.')}\n> `);
    });
    const text = await readMessage(terminal);
    idle();
    if (text === undefined) return;
    leaving = false;
    if (text.trim() === '') continue;
    const command = commandIn(text);
    if (command !== undefined) {
      const next = await command(options);
      if (next === 'leave') return;
      if (next === 'anew') conversation = options.open();
      else if (next !== 'go on') conversation = options.open(next.resume);
      continue;
    }
    await answerOnce(conversation, text, options);
  }
}

async function readMessage(terminal: ChatTerminal): Promise<string | undefined> {
  let text = '';
  for (let prompt = '\n> '; ; prompt = '  ') {
    const line = await terminal.ask(prompt);
    if (line === undefined) return text === '' ? undefined : text;
    if (!line.endsWith('\\')) return text + line;
    text += `${line.slice(0, -1)}\n`;
  }
}

/** One turn; Ctrl-C stops it. */
export async function answerOnce(
  conversation: TerminalConversation,
  text: string,
  { terminal, paint, endLine }: Pick<ReplOptions, 'terminal' | 'paint' | 'endLine'>,
): Promise<TerminalTurnEnd> {
  const controller = new AbortController();
  const stop = terminal.onInterrupt(() => controller.abort());
  try {
    const end = await conversation.say(text, controller.signal);
    endLine();
    if (end.stopped) terminal.write(`${paint('yellow', 'Stopped.')}\n`);
    else if (end.error !== undefined) terminal.write(`${paint('red', plainLine(end.error.message, 2000))}\n`);
    else if (end.stopReason === 'max_tokens') {
      terminal.write(`${paint('yellow', 'The answer was cut off at its longest length.')}\n`);
    }
    const { inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens } = end.usage;
    const prompt = inputTokens + cacheReadTokens + cacheWriteTokens;
    if (prompt + outputTokens > 0) {
      terminal.write(`${paint('dim', `${prompt} tokens in, ${outputTokens} out`)}\n`);
    }
    return end;
  } finally {
    stop();
  }
}
