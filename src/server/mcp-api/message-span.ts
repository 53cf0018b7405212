/** The span of one message of MCP whose client names a trace in `_meta`, as 2026-07-28 has it. */
import { isObject } from '../../core/is-object.js';
import { readRemoteContext, type Span } from '../../core/span.js';
import { methodOf } from '../../mcp/virtual/virtual-request.js';
import type { Tracer } from '../../observability/open-telemetry.js';
import type { Exchange } from '../http/exchange.js';

/** Undefined where it names none: then the request of HTTP is all that there is of it. */
export function beginMessageSpan(
  tracer: Tracer | undefined,
  { span: request, principal }: Exchange,
  body: unknown,
): Span | undefined {
  if (tracer === undefined || !isObject(body) || !isObject(body['params'])) return undefined;
  const { _meta, name } = body['params'];
  const { traceparent, tracestate } = isObject(_meta) ? _meta : {};
  if (typeof traceparent !== 'string') return undefined;
  const headers = { traceparent, ...(typeof tracestate === 'string' && { tracestate }) };
  if (readRemoteContext(headers) === undefined) return undefined;
  const method = methodOf(body);
  const target = typeof name === 'string' ? name : undefined;
  return tracer.begin({
    name: target === undefined ? method : `${method} ${target}`,
    kind: 'server',
    attributes: {
      'mcp.method.name': method,
      'gen_ai.tool.name': method === 'tools/call' ? target : undefined,
      'toolgate.key': principal.name,
    },
    headers,
    // The connection may be of another trace, or of none.
    link: request,
  });
}
