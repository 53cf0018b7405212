/** A terminal that a test types at, and approvals to ask there. */

import type { AskOptions, ChatTerminal } from '../../src/cli/chat/terminal.js';
import type { Approval } from '../../src/permissions/approvals.js';

export function approvalOf(parts: Partial<Approval> = {}): Approval {
  return {
    id: 'ap_1',
    session: 's_1',
    principal: 'local',
    toolUseId: 'toolu_1',
    tool: 'Bash',
    input: { command: 'npm test' },
    describe: { title: 'Run npm test', kind: 'command', paths: [], command: 'npm test' },
    suggestions: [],
    digest: 'd1',
    state: 'pending',
    createdAt: 0,
    ...parts,
  };
}

export interface TypedTerminal extends ChatTerminal {
  /** All that was written. */
  shown(): string;
  /** Answers the question that stands there now, or the next one. `undefined` ends the input. */
  type(line: string | undefined): Promise<void>;
  interrupt(): void;
}

export function typedTerminal(): TypedTerminal {
  let text = '';
  let question: { resolve(line: string | undefined): void } | undefined;
  let onQuestion: (() => void) | undefined;
  const handlers: (() => void)[] = [];
  return {
    interactive: true,
    color: false,
    write(piece) {
      text += piece;
    },
    ask(prompt, { signal, prefill = '' }: AskOptions = {}) {
      text += `${prompt}${prefill}`;
      return new Promise((resolve) => {
        if (signal?.aborted === true) return resolve(undefined);
        const finish = (line: string | undefined): void => {
          question = undefined;
          text += `${line ?? ''}\n`;
          resolve(line);
        };
        signal?.addEventListener('abort', () => finish(undefined), { once: true });
        question = { resolve: finish };
        onQuestion?.();
      });
    },
    readAll: async () => '',
    clearLine: () => false,
    onInterrupt(handler) {
      handlers.push(handler);
      return () => void handlers.splice(handlers.lastIndexOf(handler), 1);
    },
    close() {},
    shown: () => text,
    async type(line) {
      if (question === undefined) {
        await new Promise<void>((resolve) => {
          onQuestion = resolve;
        });
        onQuestion = undefined;
      }
      question?.resolve(line);
    },
    interrupt: () => handlers.at(-1)?.(),
  };
}
