/** The client's dialect and the upstream's. `body(mode)` is the standard request of that client. */
import { anthropicRequest, chatRequest } from '../lib/workload.mjs';

const isStream = (mode) => mode !== 'json';

export const DIRECTIONS = {
  forward: {
    client: 'anthropic',
    upstream: 'chat',
    path: '/v1/messages',
    body: (mode) => anthropicRequest(isStream(mode)),
  },
  reverse: {
    client: 'chat',
    upstream: 'anthropic',
    path: '/v1/chat/completions',
    body: (mode) => chatRequest(isStream(mode)),
  },
};
