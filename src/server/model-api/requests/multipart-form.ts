/**
 * The parts of a multipart body. Servers differ in how they read odd forms, and the gateway decides by what
 * it reads: a body that another server could read in a second way is refused.
 */
import { GatewayError } from '../../../core/errors.js';

export interface FormPart {
  name: string;
  /** It has the name of a file. */
  isFile: boolean;
  /** Its value in the body. */
  from: number;
  to: number;
}

const FORM_TYPE = /^\s*multipart\/form-data\s*(?:;|$)/i;
const CRLF = '\r\n';
const HEAD_END = Buffer.from('\r\n\r\n');
/** Longer heads are those of nobody. */
const HEAD_LIMIT = 8 * 1024;
const MOST_PARTS = 10_000;
/** A line that begins with a blank continues the one before it for some servers only. */
const HEADER = /^([\w!#$%&'*+.^`|~-]+):[ \t]*([^\r\n\0]*)$/;
/** Go decodes other encodings of a part, most servers do not. */
const AS_IT_IS = /^(?:binary|7bit|8bit)\s*$/i;
const MODEL_NAME_LIMIT = 512;

/** The field `model`, where its value stands. */
interface FormModel extends Pick<FormPart, 'from' | 'to'> {
  model: string;
}

export function isForm(contentType: string | undefined): boolean {
  return FORM_TYPE.test(contentType ?? '');
}

/** Throws `invalid_request` for a body that is no form, or one that can be read in two ways. */
export function readForm(body: Buffer, contentType: string): FormPart[] {
  const delimiter = Buffer.from(`--${boundaryIn(contentType)}`, 'latin1');
  const parts: FormPart[] = [];
  let at = body.toString('latin1', 0, 2) === CRLF ? 2 : 0;
  if (body.indexOf(delimiter) !== at) throw notAForm();
  for (;;) {
    const head = at + delimiter.length;
    const behind = body.toString('latin1', head, head + 2);
    if (behind === '--') {
      if (!['', CRLF].includes(body.toString('latin1', head + 2, head + 5))) throw notAForm();
      return parts;
    }
    // Some servers take a line feed alone for the end of a line: the mark stands nowhere else.
    const next = body.indexOf(delimiter, head);
    const value = body.indexOf(HEAD_END, head);
    const [from, to] = [value + HEAD_END.length, next - CRLF.length];
    const isWhole = behind === CRLF && value >= 0 && to >= from && value - head <= HEAD_LIMIT;
    if (!isWhole || body.toString('latin1', to, next) !== CRLF || parts.length === MOST_PARTS)
      throw notAForm();
    parts.push({ ...readHead(body.toString('latin1', head + CRLF.length, value)), from, to });
    at = next;
  }
}

function boundaryIn(contentType: string): string {
  const named = [...contentType.matchAll(/;\s*boundary[^=;]*=/gi)];
  const found = /;\s*boundary=(?:"([\w'()+,./:=?-]{1,200})"|([\w'()+,./:=?-]{1,200}))\s*(?:;|$)/i.exec(
    contentType,
  );
  const mark = found?.[1] ?? found?.[2];
  if (mark === undefined || named.length !== 1) throw notAForm();
  return mark;
}

function readHead(head: string): Pick<FormPart, 'name' | 'isFile'> {
  const dispositions: string[] = [];
  for (const line of head.split(CRLF)) {
    const [, name = '', value = ''] = HEADER.exec(line) ?? [];
    if (name === '') throw notAForm();
    if (name.toLowerCase() === 'content-disposition') dispositions.push(value);
    if (name.toLowerCase() === 'content-transfer-encoding' && !AS_IT_IS.test(value)) throw notAForm();
  }
  const [disposition = ''] = dispositions;
  if (dispositions.length !== 1 || !/^form-data\s*;/i.test(disposition)) throw notAForm();
  const names = [...disposition.matchAll(/[;\s]name(\*[^=;]*)?\s*=\s*("?)([^";]*)\2/gi)];
  const [, isExtended, , name = ''] = names[0] ?? [];
  if (names.length !== 1 || isExtended !== undefined || name.includes('\\')) throw notAForm();
  return { name, isFile: /[;\s]filename(?:\*[^=;]*)?\s*=/i.test(disposition) };
}

/** Undefined where no field has the name. Throws `invalid_request` for a form that names two models. */
export function findFormModel(body: Buffer, parts: readonly FormPart[]): FormModel | undefined {
  const named = parts.filter(({ name }) => name.trim().toLowerCase() === 'model');
  const [found] = named;
  if (found === undefined) return undefined;
  // Some servers take the first, some the last.
  if (named.length > 1)
    throw new GatewayError('invalid_request', 'model: named twice. Name one.', { param: 'model' });
  const { name, from, to } = found;
  if (name !== 'model' || to - from > MODEL_NAME_LIMIT) throw notAForm();
  return { model: body.toString('utf8', from, to), from, to };
}

export function withFormModel(body: Buffer, { from, to }: FormModel, model: string): Buffer {
  return Buffer.concat([body.subarray(0, from), Buffer.from(model), body.subarray(to)]);
}

function notAForm(): GatewayError {
  return new GatewayError(
    'invalid_request',
    'The body is not a form that can be read. Send multipart/form-data with plain field names.',
  );
}
