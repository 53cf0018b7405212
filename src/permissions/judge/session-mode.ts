/**
 * A judgement in the mode that a person chose for the session. The configuration's mode is its upper
 * bound: a mode narrows what that says, and the one that opens something (`allow-edits`) opens only
 * what would be asked. Rules that deny or ask hold in every mode.
 */
import type { SessionMode } from '../../store/sessions.js';
import { RuleIndex } from '../rules/rule-index.js';
import { judgeToolCall, type PreparedCommands } from './judge-tool-call.js';
import { type Finding, type Judging, strictest } from './judging.js';

const NO_RULES = new RuleIndex([], false);

export function judgeInMode(
  judging: Judging,
  commands: PreparedCommands,
  chosen: SessionMode | undefined,
): Finding {
  const narrower = chosen && inMode(judging, chosen);
  if (narrower === undefined) return judgeToolCall(judging, commands);
  // In place of it where both ask: else the mode could open nothing.
  if (judging.mode === narrower.mode) return judgeToolCall(narrower, commands);
  const configured = judgeToolCall(judging, commands);
  return strictest([configured, judgeToolCall(narrower, commands)]) ?? configured;
}

function inMode(judging: Judging, chosen: SessionMode): Judging {
  switch (chosen) {
    case 'ask':
    case 'allow-edits':
      return { ...judging, mode: 'ask', chosen };
    case 'read-only':
    case 'plan':
      return { ...judging, mode: 'read-only', chosen, sets: setsFor(judging) };
  }
}

/** Rules that allow were made for other modes: they stand only for tools that read and nothing else. */
function setsFor({ call, sets }: Judging): Judging['sets'] {
  return call.readOnly ? sets : sets.map((set) => ({ ...set, allow: NO_RULES }));
}
