/** The form field `model` of a multipart body, where its value stands. */
import { GatewayError } from '../../core/errors.js';
import { type FormPart, notAForm } from './multipart-form.js';

interface FormModel extends Pick<FormPart, 'from' | 'to'> {
  model: string;
}

const NAME_LIMIT = 512;

/** Undefined where no field has the name. Throws `invalid_request` for a form that names two models. */
export function findFormModel(body: Buffer, parts: readonly FormPart[]): FormModel | undefined {
  const named = parts.filter(({ name }) => name.trim().toLowerCase() === 'model');
  const [found] = named;
  if (found === undefined) return undefined;
  // Some servers take the first, some the last.
  if (named.length > 1)
    throw new GatewayError('invalid_request', 'model: named twice. Name one.', { param: 'model' });
  const { name, from, to } = found;
  if (name !== 'model' || to - from > NAME_LIMIT) throw notAForm();
  return { model: body.toString('utf8', from, to), from, to };
}

export function withFormModel(body: Buffer, { from, to }: FormModel, model: string): Buffer {
  return Buffer.concat([body.subarray(0, from), Buffer.from(model), body.subarray(to)]);
}
