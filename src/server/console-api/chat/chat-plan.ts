/**
 * What comes of something that was said: where it is said, and to whom. The plan is what is stored
 * before the turn begins; carried out twice it is the same request.
 */
import * as z from 'zod';
import type { Block, Message } from '../../../core/conversation.js';
import { GatewayError } from '../../../core/errors.js';
import { decodeMessages } from '../../../dialects/anthropic-messages/decode-content.js';
import type { Principal } from '../../../engines/engine.js';
import type { ModelCatalogue, OfferedModel } from '../../../engines/model-catalogue.js';
import { idempotencyMark } from '../../../sessions/history/history-fingerprint.js';
import { busy, unknownSession } from '../../../sessions/refusals.js';
import type { SessionProgress, Sessions, TurnStart, UnfinishedTurn } from '../../../sessions/sessions.js';
import type { Run } from '../../../store/runs.js';
import { inheritedMode, SESSION_MODES, type Session } from '../../../store/sessions.js';
import type { ChatStarted } from '../wire/sessions.js';
import { chosenFolder, mayStay, realFolder } from './chosen-folder.js';

/** Longest; a name is repeated in answers and remembered. */
const LIMITS = { model: 512, clientId: 200, session: 200, path: 4096, turns: 1_000_000 } as const;

export const chatBody = z.object({
  model: z.string('expected the name of a model').min(1, 'expected the name of a model').max(LIMITS.model),
  session: z.string().min(1).max(LIMITS.session).optional(),
  keep: z.int().min(0).max(LIMITS.turns).optional(),
  content: z.union([z.string(), z.array(z.unknown())], 'expected text or content blocks').default(''),
  cwd: z.string().min(1).max(LIMITS.path).optional(),
  mode: z.enum(SESSION_MODES, `expected one of ${SESSION_MODES.join(', ')}`).optional(),
  client_id: z.string().min(1).max(LIMITS.clientId).optional(),
});

export type ChatBody = z.infer<typeof chatBody>;

/** What a person can say; results of calls and thinking are not theirs. */
const SAYABLE: ReadonlySet<Block['type']> = new Set(['text', 'image', 'document']);

/** Undefined for nothing at all. Throws `invalid_request` as the dialect does. */
export function saidIn({ content, keep }: ChatBody): Message | undefined {
  const [message] = content.length === 0 ? [] : decodeMessages([{ role: 'user', content }]);
  if (message === undefined || message.content.every(isBlank)) {
    if (keep !== undefined) return undefined;
    throw new GatewayError('invalid_request', 'content: say something. Send text, or content blocks.', {
      param: 'content',
    });
  }
  for (const { type } of message.content) {
    if (SAYABLE.has(type)) continue;
    throw new GatewayError(
      'invalid_request',
      `content: a block of the type ${type} cannot be said. Send text, images and documents.`,
      { param: 'content' },
    );
  }
  return message;
}

function isBlank(block: Block): boolean {
  return block.type === 'text' && block.text.trim() === '';
}

export type ChatSessions = Pick<Sessions, 'get' | 'read' | 'turnStart' | 'standing' | 'fork' | 'delete'>;

// The messages were decoded by this program, and are read by it alone.
const isMessages = (value: unknown): value is Message[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'object' && each !== null && 'role' in each);

const chatPlan = z.object({
  version: z.literal(1),
  model: z.string(),
  messages: z.custom<Message[]>(isMessages),
  how: z.enum(['new', 'continue', 'fork', 'import']),
  /** Under whose name it is said; none for a session that is to be made. */
  session: z.string().optional(),
  /** Of an agent: where it works, a real path; without it the model's own folder. */
  root: z.string().optional(),
  /** The session that the messages were taken from. */
  parent: z.string().optional(),
  /** Of a session that is to be made. */
  mode: z.enum(SESSION_MODES).optional(),
  /** Of the request, for who sends it again. */
  digest: z.string().optional(),
});

export type ChatPlan = z.infer<typeof chatPlan> & { how: ChatStarted['how'] };

/** Undefined for one that another version wrote. */
export function readPlan(value: unknown): ChatPlan | undefined {
  const read = chatPlan.safeParse(value);
  return read.success ? read.data : undefined;
}

interface PlanOptions {
  body: ChatBody;
  principal: Principal;
  sessions: ChatSessions;
  models: ModelCatalogue;
}

/** Throws GatewayError. A fork is made here; the caller deletes it where nothing comes of the plan. */
export async function planChat(options: PlanOptions): Promise<ChatPlan> {
  const { body, principal, models } = options;
  const model = models.find(body.model, principal);
  const said = saidIn(body);
  if (body.session === undefined) {
    if (body.keep !== undefined || said === undefined) throw keepNeedsSession();
    const root = await chosen(body, model, principal);
    const { mode } = body;
    const plan = { version: 1, model: body.model, how: 'new' } as const;
    return { ...plan, messages: [said], ...(root && { root }), ...(mode && { mode }) };
  }
  if (body.mode !== undefined) throw modeNeedsNew(body.session);
  const known = await find(body.session, options);
  const root = await rootIn(known, body, model, principal);
  const isSamePlace = known.session.engine === model.engine && (root ?? '') === known.standing.root;
  if (known.standing.turn?.running === true && body.keep === undefined) throw busy(known.session.id);
  return isSamePlace ? goOn(known, root, said, options) : carryOver(known, root, said, options);
}

interface Known {
  session: Session;
  standing: SessionProgress;
}

async function find(id: string, { sessions, principal }: PlanOptions): Promise<Known> {
  const session = await sessions.get(id);
  // Also an administrator speaks only in their own: what is said is said by the session's key.
  if (session === undefined || session.state === 'expired' || session.principal !== principal.name) {
    throw unknownSession(id);
  }
  const standing = sessions.standing(session);
  if (standing === undefined) throw unknownSession(id);
  return { session, standing };
}

async function chosen(
  { cwd }: ChatBody,
  model: OfferedModel,
  principal: Principal,
): Promise<string | undefined> {
  if (cwd === undefined) return undefined;
  if (model.root === undefined) {
    throw new GatewayError(
      'invalid_request',
      `cwd: ${model.name} is a plain model and works in no folder. Leave it out, or choose an agent.`,
      { param: 'cwd' },
    );
  }
  return chosenFolder({ cwd, root: model.root, model: model.name, principal });
}

/** One that is not asked to move stays where it is, as far as the model may work there. */
async function rootIn(
  { standing }: Known,
  body: ChatBody,
  model: OfferedModel,
  principal: Principal,
): Promise<string | undefined> {
  if (body.cwd !== undefined) return chosen(body, model, principal);
  if (model.root === undefined) return undefined;
  const folder = { cwd: standing.root, root: model.root, model: model.name, principal };
  if (standing.root !== '' && (await mayStay(folder))) return standing.root;
  // One that is not there is the engine's to complain about.
  return realFolder(model.root);
}

async function goOn(
  { session }: Known,
  root: string | undefined,
  said: Message | undefined,
  { body, sessions }: PlanOptions,
): Promise<ChatPlan> {
  const { model, keep } = body;
  const plan = { version: 1, model, ...(root && { root }) } as const;
  if (keep === undefined) {
    if (said === undefined) throw keepNeedsSession();
    return { ...plan, messages: [said], how: 'continue', session: session.id };
  }
  const message = said ?? (await startOf(session.id, keep, sessions)).said;
  if (message === undefined) throw nothingFollowed(keep);
  const fork = await sessions.fork(session.id, { keep });
  if (fork === undefined) throw unknownSession(session.id);
  return { ...plan, messages: [message], how: 'fork', session: fork.id };
}

/** The whole of it becomes the beginning of another session. */
async function carryOver(
  { session }: Known,
  root: string | undefined,
  said: Message | undefined,
  { body, sessions }: PlanOptions,
): Promise<ChatPlan> {
  const { model, keep } = body;
  const start = keep === undefined ? undefined : await startOf(session.id, keep, sessions);
  const kept = start?.before ?? (await messagesOf(session.id, sessions));
  const message = said ?? start?.said;
  if (message === undefined) throw nothingFollowed(keep ?? 0);
  return {
    version: 1,
    model,
    messages: [...kept, message],
    how: 'import',
    parent: session.id,
    ...(session.mode && { mode: inheritedMode(session.mode) }),
    ...(root && { root }),
  };
}

async function messagesOf(id: string, sessions: ChatSessions): Promise<readonly Message[]> {
  const content = await sessions.read(id);
  if (content === undefined) throw unknownSession(id);
  const { messages, settled } = content;
  return settled === undefined ? messages : [...messages, settled];
}

async function startOf(id: string, turn: number, sessions: ChatSessions): Promise<TurnStart> {
  const start = await sessions.turnStart(id, turn);
  if (start === undefined) throw unknownSession(id);
  return start;
}

function nothingFollowed(keep: number): GatewayError {
  return new GatewayError(
    'invalid_request',
    `keep: no turn follows the first ${keep}, so there is none to make again. Say something, or keep fewer.`,
    { param: 'keep' },
  );
}

function keepNeedsSession(): GatewayError {
  return new GatewayError('invalid_request', 'keep: name the session whose turns are to be kept.', {
    param: 'keep',
  });
}

function modeNeedsNew(session: string): GatewayError {
  return new GatewayError(
    'invalid_request',
    `mode: is of a new session. Change that of ${JSON.stringify(session)} with PATCH /api/sessions/:id.`,
    { param: 'mode' },
  );
}

export function isOfRun({ idempotency }: UnfinishedTurn, { id }: Pick<Run, 'id'>): boolean {
  return idempotency === idempotencyMark(id);
}

/** Why the console may not resume a broken turn, and what to do; undefined where there is one of the run that it can. */
export function nothingToResume(
  session: string,
  standing: SessionProgress | undefined,
  run: Pick<Run, 'id'> | undefined,
): GatewayError | undefined {
  const turn = standing?.turn;
  if (turn?.running === true) return busy(session);
  if (turn === undefined) {
    return refusal(`The session ${session} has no turn that broke off. Say something to go on.`);
  }
  if (turn.stopped) {
    return refusal(`The last turn of the session ${session} was stopped. Say something to go on.`);
  }
  if (run !== undefined && isOfRun(turn, run)) return undefined;
  return refusal(
    `The last turn of the session ${session} was begun by a client of /v1, and only that client can go on with it, by sending the same request again. To go on here, say something.`,
  );
}

function refusal(message: string): GatewayError {
  return new GatewayError('conflict', message, { detail: 'nothing_to_resume' });
}
