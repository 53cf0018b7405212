/**
 * Turns as people count them: a user message and everything up to the next one. A message with
 * results of calls does not begin a turn, whatever text it has beside them.
 */
import type { Message } from '../../core/conversation.js';
import { GatewayError } from '../../core/errors.js';

/** For each message the turn that it belongs to, from 0. */
export function turnsOf(messages: readonly Message[]): number[] {
  let turn = -1;
  return messages.map((message) => {
    if (beginsTurn(message)) turn += 1;
    return Math.max(0, turn);
  });
}

function beginsTurn({ role, content }: Message): boolean {
  return role === 'user' && content.length > 0 && content.every(({ type }) => type !== 'tool_result');
}

/** How many messages the first `keep` turns have. Throws `invalid_request` where there are fewer turns. */
export function messagesIn(messages: readonly Message[], keep: number): number {
  const turns = turnsOf(messages);
  const count = turns.length === 0 ? 0 : (turns.at(-1) ?? 0) + 1;
  if (keep > count) throw tooFewTurns(count);
  const next = turns.findIndex((turn, index) => turn === keep && beginsAt(messages, index));
  return next < 0 ? messages.length : next;
}

function beginsAt(messages: readonly Message[], index: number): boolean {
  const message = messages[index];
  return message !== undefined && beginsTurn(message);
}

function tooFewTurns(count: number): GatewayError {
  return new GatewayError(
    'invalid_request',
    `keep: the conversation has ${count} ${count === 1 ? 'turn' : 'turns'}. Name one of those, counted from 0.`,
    { param: 'keep' },
  );
}
