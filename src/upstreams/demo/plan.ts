/** Decides the whole turn before the first word: which tools to call, or what to answer. */
import type { ConversationRequest, JsonObject } from '../../core/conversation.js';
import { answerFromResults, answerWithoutTools } from './answer.js';
import { type Ask, askOf, type Message } from './ask.js';
import { chooseTool, type Profile, profileOf, schemaOfTool } from './choose-tool.js';
import { findFacts } from './facts.js';
import { fillArguments } from './fill-arguments.js';
import { findNames } from './names.js';
import { PHRASES_OF } from './phrases.js';
import { type Exchange, readConversation, type Situation } from './read-conversation.js';
import { plainText } from './results.js';
import { answerSideRequest } from './side-requests.js';
import { type ChosenAsk, splitAsks } from './split-asks.js';
import { structuredAnswer } from './structured.js';
import { choicesOf } from './subject.js';

export interface PlannedCall {
  name: string;
  input: JsonObject;
}

export interface Plan {
  /** Only where the client asked for thinking. */
  thinking: string;
  text: string;
  calls: readonly PlannedCall[];
}

const MAX_CALLS = 8;
const MAX_TOOLS = 512;

export function planTurn(request: ConversationRequest, now: Date): Plan {
  const situation = readConversation(request);
  const message = messageOf(situation, now);
  const calls = nextCalls(request, situation, message);
  const thinking = isThinkingWanted(request) ? thought(calls, situation) : '';
  if (calls.length > 0) return { thinking, text: '', calls };
  const text = textAnswer(request, situation, message);
  const { prefill } = situation;
  return {
    thinking,
    text: prefill !== '' && text.startsWith(prefill) ? text.slice(prefill.length) : text,
    calls,
  };
}

function messageOf(situation: Situation, now: Date): Message {
  const { words } = situation;
  const facts = findFacts(words, now);
  const circumstances = { now, cwd: situation.cwd, material: undefined };
  return { text: words, facts, names: findNames(words, facts), circumstances };
}

function textAnswer(request: ConversationRequest, situation: Situation, message: Message): string {
  const whole = askOf(message, 0, message.text.length);
  if (request.format !== undefined)
    return JSON.stringify(structuredAnswer(request.format, whole, situation, request));
  const side = answerSideRequest(situation, request);
  if (side !== undefined) return side;
  if (situation.exchanges.length > 0) return answerFromResults(situation);
  return answerWithoutTools(situation, request);
}

/** The calls of the user's request that have no result yet. */
function nextCalls(request: ConversationRequest, situation: Situation, message: Message): PlannedCall[] {
  const { toolChoice, parallelToolCalls } = request;
  if (toolChoice?.type === 'none' || request.tools.length === 0) return [];
  if (
    toolChoice?.type !== 'any' &&
    toolChoice?.type !== 'tool' &&
    answerSideRequest(situation, request) !== undefined
  )
    return [];
  const open = callsOf(chosenAsks(request, situation, message), situation);
  const calls = withoutDone(open, situation.exchanges);
  return calls.slice(0, parallelToolCalls === false ? 1 : MAX_CALLS);
}

function chosenAsks(request: ConversationRequest, situation: Situation, message: Message): ChosenAsk[] {
  const { toolChoice } = request;
  const offered =
    toolChoice?.type === 'tool'
      ? request.tools.filter(({ name }) => name === toolChoice.name)
      : request.tools;
  const profiles = offered.slice(0, MAX_TOOLS).map(profileOf);
  const must = toolChoice?.type === 'any' || toolChoice?.type === 'tool';
  const chosen = splitAsks(message, profiles);
  if (chosen.length > 0) return chosen;
  const whole = askOf(message, 0, message.text.length);
  const choice = chooseTool(profiles, whole, must) ?? followUp(profiles, whole, situation);
  return choice === undefined ? [] : [{ ask: whole, choice }];
}

const FOLLOW_UP =
  /^\s*(?:and|what\s+about|how\s+about|also|now)\b|^\s*(?:那|那么|还有|换成)|呢\s*[？?]?\s*$/i;
const MAX_FOLLOW_UP = 80;

/** "And in Rome?": the tool of the request before, where this names what it needs. */
function followUp(
  profiles: readonly Profile[],
  ask: Ask,
  { lastTool }: Situation,
): ChosenAsk['choice'] | undefined {
  if (ask.text.length > MAX_FOLLOW_UP || !FOLLOW_UP.test(ask.text)) return undefined;
  const profile = profiles.find(({ tool }) => tool.name === lastTool);
  const choice = profile === undefined ? undefined : chooseTool([profile], ask, true);
  return choice !== undefined && choice.filled.sure > 0 && choice.filled.missing.length === 0
    ? choice
    : undefined;
}

const REFERS_BACK = /\b(?:it|them|the\s+(?:results?|answer|output|content)|that)\b|它|结果|内容/i;

function callsOf(chosen: readonly ChosenAsk[], { exchanges }: Situation): PlannedCall[] {
  const calls: PlannedCall[] = [];
  for (const [index, { ask, choice }] of chosen.entries()) {
    const { tool, about } = choice.profile;
    const schema = schemaOfTool(tool);
    // "Read a.txt and send it to Bob": what is sent is known when the file has been read.
    const refersBack = index > 0 && choice.filled.guessed.length > 0 && REFERS_BACK.test(ask.text);
    const material = refersBack ? exchanges.findLast(({ name }) => name !== tool.name) : undefined;
    if (refersBack && material === undefined) continue;
    const informed = material === undefined ? ask : withMaterial(ask, plainText(material.result));
    const choices = Math.min(MAX_CALLS, choicesOf(schema, informed, about));
    for (let pick = 0; pick < choices; pick++) {
      const { input } = fillArguments(schemaOfTool(tool), informed, { about, pick, computes: false });
      calls.push({ name: tool.name, input });
    }
  }
  return distinct(calls);
}

function withMaterial(ask: Ask, material: string): Ask {
  const { message } = ask;
  return { ...ask, message: { ...message, circumstances: { ...message.circumstances, material } } };
}

function distinct(calls: readonly PlannedCall[]): PlannedCall[] {
  const seen = new Set<string>();
  return calls.filter((call) => {
    const key = keyOf(call);
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}

/**
 * A call is done when its result is there. A client may change the arguments before it runs a
 * call, so as many results of a tool as calls were planned are enough as well.
 */
function withoutDone(calls: readonly PlannedCall[], exchanges: readonly Exchange[]): PlannedCall[] {
  const done = new Set(exchanges.map(keyOf));
  return calls.filter((call) => {
    if (done.has(keyOf(call))) return false;
    const planned = calls.filter(({ name }) => name === call.name).length;
    return exchanges.filter(({ name }) => name === call.name).length < planned;
  });
}

function keyOf({ name, input }: { name: string; input: JsonObject }): string {
  return `${name} ${canonical(input, 0)}`;
}

/** JSON with sorted keys: clients reorder them when they echo a call. */
function canonical(value: unknown, depth: number): string {
  if (typeof value !== 'object' || value === null || depth > 32)
    return JSON.stringify(typeof value === 'object' ? null : value) ?? '';
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item, depth + 1)).join(',')}]`;
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([key, item]) => `${JSON.stringify(key)}:${canonical(item, depth + 1)}`).join(',')}}`;
}

function isThinkingWanted({ thinking }: ConversationRequest): boolean {
  return thinking?.type === 'enabled' || thinking?.type === 'adaptive';
}

function thought(calls: readonly PlannedCall[], { exchanges, language }: Situation): string {
  const phrases = PHRASES_OF[language];
  if (calls.length > 0) return phrases.thinkingCall([...new Set(calls.map(({ name }) => name))].join(', '));
  return exchanges.length > 0 ? phrases.thinkingAnswer(exchanges.length) : phrases.thinkingNone;
}
