/**
 * The end user of a key, as far as the request names one: `metadata.user_id`, `user` and
 * `safety_identifier`. Only a digest of it is kept.
 */
import { createHash } from 'node:crypto';
import type { ConversationRequest, DialectName } from './conversation.js';

/** Claude Code names its user and its session in one text: in this form, or as JSON with these fields. */
const WITH_SESSION = /^(user_[0-9a-f]{8,128}_account_[0-9a-f-]{0,64})_session_[0-9a-f-]{8,64}$/;
const DEVICE_FIELD = 'device_id';
const PERSON_FIELDS: readonly string[] = [DEVICE_FIELD, 'account_uuid'];
const SESSION_FIELD = 'session_id';

const SAFETY_DIALECTS: readonly DialectName[] = ['openai-chat', 'openai-responses'];

/** Undefined where the request names no user. */
export function endUserOf({
  userId,
  extensions,
}: Pick<Partial<ConversationRequest>, 'userId' | 'extensions'>): string | undefined {
  const safety = SAFETY_DIALECTS.map((dialect) => extensions?.[dialect]?.['safety_identifier']);
  return endUserNamed([userId, ...safety]);
}

/** All names of one person; the same name twice is one. */
export function endUserNamed(names: readonly unknown[]): string | undefined {
  const given = names.flatMap((name) => (typeof name === 'string' && name !== '' ? [personIn(name)] : []));
  const distinct = [...new Set(given)];
  if (distinct.length === 0) return undefined;
  return createHash('sha256').update(JSON.stringify(distinct)).digest('base64url');
}

/** Without the session of a client that was started again since: its user is the same. */
function personIn(name: string): string {
  return WITH_SESSION.exec(name)?.[1] ?? deviceIn(name) ?? name;
}

/** Any other JSON is a name like every other: an app decides how it names its users. */
function deviceIn(name: string): string | undefined {
  const fields = fieldsOf(name);
  if (fields === undefined) return undefined;
  const { [SESSION_FIELD]: session, ...person } = fields;
  const known = Object.entries(person).every(
    ([field, value]) => PERSON_FIELDS.includes(field) && typeof value === 'string',
  );
  if (typeof session !== 'string' || !known || !person[DEVICE_FIELD]) return undefined;
  return `claude-code ${JSON.stringify(PERSON_FIELDS.map((field) => person[field] ?? ''))}`;
}

function fieldsOf(name: string): { [field: string]: unknown } | undefined {
  if (!name.startsWith('{')) return undefined;
  try {
    const parsed: unknown = JSON.parse(name);
    return typeof parsed === 'object' && parsed !== null ? { ...parsed } : undefined;
  } catch {
    return undefined;
  }
}
