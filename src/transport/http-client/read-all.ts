import { GatewayError } from '../../core/errors.js';
import type { ResponseBody } from './types.js';

/** A whole body. Over `limitBytes` the connection is dropped and GatewayError thrown. */
export async function readAll(body: ResponseBody, limitBytes: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  for (let read = await body.next(); read.done !== true; read = await body.next()) {
    size += read.value.length;
    if (size > limitBytes) {
      await body.return();
      throw new GatewayError('upstream_failed', `The upstream's answer is larger than ${limitBytes} bytes.`);
    }
    parts.push(read.value);
  }
  const [first] = parts;
  return parts.length === 1 && first !== undefined ? first : Buffer.concat(parts, size);
}
