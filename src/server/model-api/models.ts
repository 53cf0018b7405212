/** `GET /v1/models` in the client's dialect: Anthropic's with its version header, OpenAI's otherwise. */
import { GatewayError } from '../../core/errors.js';
import type { ModelInfo } from '../../engines/engine.js';
import { matchesAny } from '../../routing/model-glob.js';
import { CLAUDE_CODE_ALIAS, isListedByClaudeCode } from '../../routing/model-router.js';
import type { Exchange } from '../http/exchange.js';
import { sendJson } from '../http/respond.js';
import type { ModelApiContext, ModelApiHandler } from './requests/context.js';

/** Of Anthropic's list. */
const PAGE = { default: 20, max: 1000 } as const;

export const listModels: ModelApiHandler = async (exchange, context) => {
  const models = await visibleModels(exchange, context);
  if (!isAnthropic(exchange)) {
    sendJson(exchange, 200, { object: 'list', data: models.map(toOpenAI) });
    return;
  }
  const { page, hasMore } = pageOf(models, new URLSearchParams(exchange.query));
  sendJson(exchange, 200, {
    data: page.map(toAnthropic),
    has_more: hasMore,
    first_id: page[0]?.id ?? null,
    last_id: page.at(-1)?.id ?? null,
  });
};

export const getModel: ModelApiHandler = async (exchange, context, { id = '' }) => {
  const model = (await visibleModels(exchange, context)).find((each) => each.id === id);
  if (model === undefined) {
    throw new GatewayError(
      'not_found',
      `There is no model ${JSON.stringify(id.slice(0, 100))} in the list. GET /v1/models shows it.`,
      { param: 'model', detail: 'model_not_found' },
    );
  }
  sendJson(exchange, 200, isAnthropic(exchange) ? toAnthropic(model) : toOpenAI(model));
};

async function visibleModels(
  exchange: Exchange,
  { dispatcher }: ModelApiContext,
): Promise<readonly ModelInfo[]> {
  const { principal, request } = exchange;
  const models = await exchange.untilAborted(dispatcher.models());
  const visible = models.filter(({ id }) => matchesAny(principal.models, id));
  return CLAUDE_CODE.test(request.headers['user-agent'] ?? '') ? visible.map(forClaudeCode) : visible;
}

const CLAUDE_CODE = /^claude-(?:code|cli)\//;

function forClaudeCode(model: ModelInfo): ModelInfo {
  if (isListedByClaudeCode(model.id)) return model;
  return { ...model, id: `${CLAUDE_CODE_ALIAS}${model.id}` };
}

function isAnthropic({ request }: Exchange): boolean {
  return request.headers['anthropic-version'] !== undefined;
}

function toOpenAI(model: ModelInfo): object {
  return {
    id: model.id,
    object: 'model',
    created: model.created,
    owned_by: model.ownedBy,
    ...contextWindow(model),
  };
}

function toAnthropic(model: ModelInfo): object {
  return {
    type: 'model',
    id: model.id,
    display_name: model.displayName,
    created_at: new Date(model.created * 1000).toISOString().replace('.000Z', 'Z'),
    ...contextWindow(model),
  };
}

/** In neither API; some clients read it where it is. */
function contextWindow({ contextWindow }: ModelInfo): object {
  return contextWindow === undefined ? {} : { context_window: contextWindow };
}

function pageOf(models: readonly ModelInfo[], query: URLSearchParams) {
  const limit = readLimit(query.get('limit'));
  const before = indexOf(models, 'before_id', query.get('before_id'));
  const after = indexOf(models, 'after_id', query.get('after_id'));
  if (before !== undefined && after !== undefined) {
    throw new GatewayError('invalid_request', 'Give before_id or after_id, not both.', {
      param: 'before_id',
    });
  }
  if (before !== undefined) {
    const start = Math.max(0, before - limit);
    return { page: models.slice(start, before), hasMore: start > 0 };
  }
  const start = after === undefined ? 0 : after + 1;
  return { page: models.slice(start, start + limit), hasMore: start + limit < models.length };
}

function readLimit(value: string | null): number {
  if (value === null) return PAGE.default;
  const limit = Number(value);
  if (/^\d+$/.test(value) && limit >= 1 && limit <= PAGE.max) return limit;
  throw new GatewayError('invalid_request', `limit: expected a whole number from 1 to ${PAGE.max}.`, {
    param: 'limit',
  });
}

function indexOf(models: readonly ModelInfo[], name: string, id: string | null): number | undefined {
  if (id === null) return undefined;
  const index = models.findIndex((each) => each.id === id);
  if (index >= 0) return index;
  throw new GatewayError('invalid_request', `${name}: there is no such model in the list.`, { param: name });
}
