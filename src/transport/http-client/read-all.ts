import { GatewayError } from '../../core/errors.js';

/** A whole body. Over `limitBytes` the connection is dropped and GatewayError thrown. */
export async function readAll(body: AsyncIterable<Buffer>, limitBytes: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of body) {
    size += part.length;
    if (size > limitBytes) {
      throw new GatewayError('upstream_failed', `The upstream's answer is larger than ${limitBytes} bytes.`);
    }
    parts.push(part);
  }
  const [first] = parts;
  return parts.length === 1 && first !== undefined ? first : Buffer.concat(parts, size);
}
