import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../core/errors.js';
import { encodeError } from './errors.js';
import { namingCapability } from './rejected-capability.js';

describe('what a client can leave out', () => {
  it.each([
    ['This model does not support image input.', 'image_block'],
    ['Invalid image format', 'image_block'],
    ['unsupported content type: image_url', 'image_block'],
    ['Documents are not supported by deepseek-chat', 'document_block'],
    ['pdf is not supported', 'document_block'],
    ['messages.3: role "system" is not supported here', 'mid_conv_system'],
    ['Unknown field: cache_control', 'cache_control_field'],
    ['The thinking block has an invalid signature: signature mismatch', 'thinking_signature'],
    ['thinking.type "adaptive" is not supported by this model', 'thinking_type:adaptive'],
    ['thinking: type enabled is not supported', 'thinking_type:enabled'],
    ['output_config.format is not supported', 'structured_outputs_unsupported'],
    ['Unrecognized request argument supplied: effort', 'effort_unsupported'],
    ['output_config: extra fields not permitted', 'effort_unsupported'],
    [
      'Unsupported beta: context-1m-2025-08-07 is not available on this server',
      'beta_header:context-1m-2025-08-07',
    ],
  ])('is named for "%s"', (message, name) => {
    expect(namingCapability(message)).toBe(`${message} (capability_rejected: ${name})`);
  });

  it.each([
    'max_tokens: must be at least 1',
    'thinking is not supported',
    'The model gpt-image is overloaded',
    'tools.0.name: unknown tool generate_image_url_v2x',
    'capability_rejected: image_block',
  ])('is not named for "%s"', (message) => {
    expect(namingCapability(message)).toBe(message);
  });

  it('is named for a request that was wrong, and for nothing else', () => {
    const words = 'This model does not support image input.';
    const token = ' (capability_rejected: image_block)';
    const said = (error: GatewayError) => encodeError(error, 'req_1')['error'];
    expect(said(new GatewayError('invalid_request', words))).toMatchObject({ message: words + token });
    expect(said(new GatewayError('not_found', words))).toMatchObject({ message: words });
    expect(said(new GatewayError('invalid_request', words, { status: 422 }))).toMatchObject({
      message: words,
    });
  });
});
