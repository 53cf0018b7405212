/** The form field `model` of a multipart body, where its value stands. */
import { GatewayError } from '../../core/errors.js';

interface FormModel {
  model: string;
  /** The value in the body. */
  from: number;
  to: number;
}

const HEAD_END = Buffer.from('\r\n\r\n');
/** Longer heads are those of nobody. */
const HEAD_LIMIT = 8 * 1024;
const NAME_LIMIT = 512;

/** Undefined where no field has the name. Throws `invalid_request` for a body that is no form, or names two models. */
export function findFormModel(body: Buffer, contentType: string): FormModel | undefined {
  const boundary = /;\s*boundary=(?:"([^"]{1,200})"|([^\s;"]{1,200}))/i.exec(contentType);
  const mark = boundary?.[1] ?? boundary?.[2];
  if (mark === undefined) throw notAForm();
  const delimiter = Buffer.from(`--${mark}`, 'latin1');
  let found: FormModel | undefined;
  let at = body.indexOf(delimiter);
  if (at < 0) throw notAForm();
  for (;;) {
    const head = at + delimiter.length;
    if (body.toString('latin1', head, head + 2) === '--') return found;
    const end = body.indexOf(`\r\n--${mark}`, head, 'latin1');
    const value = body.indexOf(HEAD_END, head);
    if (end < 0 || value < 0 || value > end || value - head > HEAD_LIMIT) throw notAForm();
    if (nameIn(body.toString('latin1', head, value)) === 'model') {
      const [from, to] = [value + HEAD_END.length, end];
      // Some servers take the first, some the last.
      if (found !== undefined)
        throw new GatewayError('invalid_request', 'model: named twice. Name one.', { param: 'model' });
      if (to - from > NAME_LIMIT) throw notAForm();
      found = { model: body.toString('utf8', from, to), from, to };
    }
    at = end + 2;
  }
}

/** Servers differ in how they read odd ones, so that only plain ones are taken. */
function nameIn(head: string): string | undefined {
  const line = /^content-disposition:.*$/im.exec(head)?.[0] ?? '';
  const names = [...line.matchAll(/[;\s]name(\*)?\s*=\s*("?)([^";\r\n]*)\2/gi)];
  const [first] = names;
  const isPlain = names.length === 1 && first?.[1] === undefined && !first?.[3]?.includes('\\');
  if (!isPlain) throw notAForm();
  const name = first?.[3] ?? '';
  if (name !== 'model' && name.trim().toLowerCase() === 'model') throw notAForm();
  return name;
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
