/**
 * `/upstream/NAME/*`: every route of an upstream, with the gateway's credential, for keys with `admin`. What is
 * there has no owner, so other keys have no access.
 */
import { GatewayError } from '../../../core/errors.js';
import type { AccountPass } from '../../../engines/engine.js';
import type { Access } from '../../access/auth.js';
import { clientHeaders, readBody } from '../../http/read-request.js';
import type { HttpRoute } from '../../http/route-table.js';
import type { ModelApiContext, ModelApiHandler } from '../requests/context.js';
import { passedHeaders, recordedBody, sendPassed, withoutUsage } from './pass-through.js';

const ADMIN: Access = { area: 'console', scope: 'admin', counted: true };
const METHODS = ['GET', 'POST', 'PUT', 'DELETE'] as const satisfies readonly AccountPass['method'][];

/** One way to write each path: what a server would read differently than it stands there is refused. */
const PLAIN_PATH = /^(?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9._~!$&'()*+,;=:@-]+)+\/?$/;

export const UPSTREAM_ROUTES: readonly HttpRoute<ModelApiContext>[] = METHODS.map((method) => ({
  method,
  path: '/upstream/:name/*rest',
  access: ADMIN,
  handle: passAny(method),
}));

function passAny(method: AccountPass['method']): ModelApiHandler {
  return async (exchange, context, { name = '' }) => {
    exchange.traced = true;
    exchange.recorder = context.sampler?.begin();
    const { headers, principal, signal, query, recorder, path: asked } = exchange;
    const path = asked.slice(asked.indexOf('/', '/upstream/'.length));
    if (!PLAIN_PATH.test(path)) {
      throw new GatewayError(
        'invalid_request',
        'The path holds escapes, empty parts or dots. Send it plainly.',
      );
    }
    const hasBody = method === 'POST' || method === 'PUT';
    const body = hasBody ? await readBody(exchange, context.limits, context.limits.bodyBytes) : undefined;
    const contentType = headers['content-type'];
    recorder?.inbound(asked, clientHeaders(headers), recordedBody(body, contentType));
    const passed = context.dispatcher.passTo?.(name, {
      ...{ method, path, query, headers: passedHeaders(exchange), principal, signal },
      ...(body === undefined ? {} : { body }),
      ...(body === undefined || contentType === undefined ? {} : { contentType }),
      ...(recorder === undefined ? {} : { trace: recorder }),
    });
    if (passed === undefined) throw new GatewayError('not_found', `There is no upstream ${name}.`);
    const answer = await exchange.untilAborted(passed);
    await sendPassed(exchange, context, hasBody ? answer : withoutUsage(answer));
  };
}
