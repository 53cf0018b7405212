/** What is said outside about a question or a turn: the body of a webhook, and what messages are made of. */
import { UNSEEN } from '../core/unseen.js';
import { readAsked, withoutAsked } from '../permissions/coordinator/shown.js';
import type { Approval } from '../store/approvals.js';

export interface Notice {
  type: string;
  /** When it happened. */
  timestamp: string;
  data: { approval?: NoticeApproval; session?: string; key: string; test?: true };
}

export interface NoticeApproval {
  id: string;
  session: string;
  key: string;
  agent: string | null;
  tool: string;
  title: string;
  /** The input, for reading, and what else the card says about it. */
  text: string;
  /** Whether all that the card shows is here, with nothing cut, hidden or redacted. */
  whole: boolean;
  /** The input itself; null where it is long or holds a secret. */
  input: unknown;
  why: string;
  /** What deserves a second look. Not there in what an earlier version left in the outbox. */
  risks?: string[];
  cwd: string;
  /** The user is asked something: allowing is no answer. */
  question: boolean;
  /** The engine wants more than one press for a yes. */
  default_to_no: boolean;
  digest: string;
  state: string;
  created_at: string;
  expires_at: string | null;
  /** Opens the card; decides nothing. */
  url: string | null;
  decision: { at: string; by: string; via: string; reason: string | null; rule: string | null } | null;
}

/** What the outbox keeps of a notice, as it was put there. */
export function readNotice(payload: unknown): Notice {
  if (isNotice(payload)) return payload;
  throw new TypeError('The payload of a message is no notice.');
}

function isNotice(value: unknown): value is Notice {
  if (typeof value !== 'object' || value === null || !('type' in value) || !('data' in value)) return false;
  return typeof value.data === 'object' && value.data !== null;
}

const TEXT_CHARS = 4000;
const LINE_CHARS = 300;

interface NoticeOptions {
  /** Where the console is; undefined where nobody outside can reach it. */
  publicUrl: string | undefined;
  /** A provider is another company: no secret of ours goes there. */
  redact: (text: string) => string;
}

export function noticeOf(type: string, approval: Approval, options: NoticeOptions): Notice {
  const { decision } = approval;
  const at = decision?.at ?? approval.createdAt;
  return {
    type,
    timestamp: new Date(at).toISOString(),
    data: { key: approval.principal, approval: approvalOf(approval, options) },
  };
}

function approvalOf(approval: Approval, { publicUrl, redact }: NoticeOptions): NoticeApproval {
  const { id, session, principal, tool, digest, state, decision, expiresAt } = approval;
  const { why, risks, place, question, hints } = readAsked(approval.describe);
  const described = withoutAsked(approval.describe);
  const agent = field(described, 'agent');
  const shortWhy = withoutCommand(why, approval.input);
  const said = [field(described, 'detail'), hints.blockedPath, hints.reason];
  const full = withMore(approval.input, said, why);
  const text = seen(redact(full));
  const line = (given: string) => seen(redact(given)).replace(/\s+/g, ' ').slice(0, LINE_CHARS);
  const isSaid = (given: string) => line(given) === given.replace(/\s+/g, ' ');
  const areLinesWhole = line(place.cwd) === place.cwd && [shortWhy, agent ?? ''].every(isSaid);
  const whole = text === full && text.length <= TEXT_CHARS && areLinesWhole;
  return {
    ...{ id, session, key: principal, tool, digest, state, question, whole },
    agent: agent === undefined ? null : line(agent),
    title: line(field(described, 'title') ?? tool),
    text: text.slice(0, TEXT_CHARS),
    input: whole ? approval.input : null,
    why: line(shortWhy),
    risks,
    cwd: line(place.cwd),
    default_to_no: hints.defaultToNo === true,
    created_at: new Date(approval.createdAt).toISOString(),
    expires_at: expiresAt === undefined ? null : new Date(expiresAt).toISOString(),
    url: publicUrl === undefined ? null : `${publicUrl}/#/inbox?approval=${encodeURIComponent(id)}`,
    decision: decision
      ? {
          at: new Date(decision.at).toISOString(),
          ...{ by: decision.by, via: decision.via, rule: decision.rule ?? null },
          reason: decision.reason === undefined ? null : line(decision.reason),
        }
      : null,
  };
}

/** The input, and below it what the card says besides: where a link leads, what was set before, what stopped it. */
function withMore(input: unknown, said: readonly (string | undefined)[], why: string): string {
  const own = typeof input === 'object' && input !== null ? Object.values(input) : [];
  // Only what is shown as a whole already: what a model wrote may hold the words of a warning.
  const isThere = (more: string) => more === why || own.includes(more) || isJsonOf(more, input);
  const more = said.filter((each) => each !== undefined && !isThere(each));
  return [textOf(input), ...more].join('\n');
}

function isJsonOf(text: string, input: unknown): boolean {
  return text === JSON.stringify(input) || text === JSON.stringify(input, undefined, 2);
}

/** The command stands above it. */
function withoutCommand(why: string, input: unknown): string {
  const command = field(input, 'command');
  return command === undefined ? why : why.replace(`the command \`${command}\``, () => 'this command');
}

/** A lone command is shown as it is. Otherwise every field with its name, so that none passes for another. */
function textOf(input: unknown): string {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return JSON.stringify(input) ?? '';
  const fields: [string, unknown][] = Object.entries(input);
  const [first] = fields;
  const isLone = fields.length === 1;
  if (isLone && first?.[0] === 'command' && typeof first[1] === 'string') return first[1];
  const isPlain = (value: unknown): value is string =>
    typeof value === 'string' && (isLone || !value.includes('\n'));
  return fields
    .map(([name, value]) => {
      const label = /[\s:]/.test(name) ? JSON.stringify(name) : name;
      return `${label}: ${isPlain(value) ? value : JSON.stringify(value)}`;
    })
    .join('\n');
}

const EVERY_UNSEEN = new RegExp(UNSEEN.source, 'gu');

/** Characters that a screen hides or obeys are written out. */
function seen(text: string): string {
  return text.replace(EVERY_UNSEEN, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

function field(value: unknown, key: string): string | undefined {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
  const found: unknown = Reflect.get(value, key);
  return typeof found === 'string' && found !== '' ? found : undefined;
}
