import type {
  MatchWire,
  SessionStatus,
  SessionUsageWire,
  SessionWire,
} from '../../../../src/server/console-api/wire/sessions.js';
import { useText } from '../../text/language.js';
import { Badge } from '../../ui/badge.js';
import { formatTokens, formatUsd } from '../../ui/format.js';
import { BotIcon, ChatIcon } from '../../ui/icons.js';
import { STATUS_ICON, STATUS_TONE, statusWords } from '../../ui/session-status.js';
import { makeVisible } from '../../ui/visible.js';
import { VisibleText } from '../../ui/visible-text.js';
import { ShortText } from '../shared/short-text.js';
import type { SessionRow } from './session-rows.js';
import { strings } from './strings.js';

export function SessionStatusBadge({
  status,
  approvals,
  resumable,
}: {
  status: SessionStatus;
  approvals: number;
  resumable: boolean;
}) {
  const text = useText(strings);
  const words = useText(statusWords);
  const Icon = STATUS_ICON[status];
  const isClients = status === 'interrupted' && !resumable;
  return (
    <span className="inline-flex flex-wrap items-center gap-1">
      <Badge
        tone={STATUS_TONE[status]}
        title={isClients ? text.clientsHint : text.statusHint[status]}
        icon={<Icon size={12} />}
      >
        {words[status]}
      </Badge>
      {approvals > 0 && <span className="text-xs text-warn">{text.approvals(approvals)}</span>}
      {isClients && (
        <span className="text-xs text-muted" title={text.clientsHint}>
          {text.clients}
        </span>
      )}
    </span>
  );
}

/** What was said, with the word that was looked for. */
function MatchLine({ match: { text: said, from, to } }: { match: MatchWire }) {
  const text = useText(strings);
  return (
    <span
      className="line-clamp-2 min-w-0 text-xs font-normal break-words text-muted"
      title={makeVisible(said)}
    >
      <span className="sr-only">{text.said} </span>
      <VisibleText text={said.slice(0, from)} />
      <mark className="rounded-sm bg-warn-soft text-ink">
        <VisibleText text={said.slice(from, to)} />
      </mark>
      <VisibleText text={said.slice(to)} />
    </span>
  );
}

const INDENT_REM = 1.25;
const MOST_INDENTS = 4;

/** `parent` is named where the fork is not listed under it. */
export function TitleCell({ row, parentTitle }: { row: SessionRow; parentTitle: string | undefined }) {
  const text = useText(strings);
  const { session, depth } = row;
  const indent = { paddingInlineStart: `${Math.min(depth, MOST_INDENTS) * INDENT_REM}rem` };
  return (
    <span className="flex min-w-0 flex-col gap-0.5" style={indent}>
      <span className="flex min-w-0 items-baseline gap-1">
        {depth > 0 && (
          <span className="shrink-0 text-muted">
            <span aria-hidden="true">↳</span>
            <span className="sr-only">{text.forkOf(parentTitle ?? session.parent ?? '')}</span>
          </span>
        )}
        <ShortText text={session.title ?? text.untitled} lines={2} />
      </span>
      {session.match !== undefined && <MatchLine match={session.match} />}
      {session.root !== null && session.root !== undefined && (
        <span className="font-normal text-muted">
          <ShortText text={session.root} mono />
        </span>
      )}
      {depth === 0 && session.parent !== null && (
        <span className="text-xs font-normal text-muted">{text.forkOf(parentTitle ?? session.parent)}</span>
      )}
    </span>
  );
}

export function ModelCell({ session }: { session: SessionWire }) {
  const text = useText(strings);
  const { engine, model } = session;
  return (
    <span className="flex min-w-0 flex-col">
      <ShortText text={model} />
      <span className="inline-flex items-center gap-1 text-xs whitespace-nowrap text-muted">
        {engine === 'relay' ? <ChatIcon size={12} /> : <BotIcon size={12} />}
        {text.engines[engine] ?? engine}
      </span>
    </span>
  );
}

export function TokensCell({ usage }: { usage: SessionUsageWire | null | undefined }) {
  const text = useText(strings);
  if (usage === null || usage === undefined)
    return (
      <span className="text-muted" title={text.nothingCounted}>
        –
      </span>
    );
  const total = usage.input_tokens + usage.output_tokens + usage.cache_read_tokens + usage.cache_write_tokens;
  const title = text.tokensTitle(
    formatTokens(usage.input_tokens),
    formatTokens(usage.output_tokens),
    formatTokens(usage.cache_read_tokens),
  );
  return <span title={title}>{formatTokens(total)}</span>;
}

export function CostCell({ usage }: { usage: SessionUsageWire | null | undefined }) {
  const text = useText(strings);
  if (usage === null || usage === undefined) return <span className="text-muted">–</span>;
  const { requests, unpriced_requests: unpriced } = usage;
  if (usage.cost_usd === null || (requests > 0 && unpriced >= requests)) {
    return (
      <span className="whitespace-nowrap text-muted" title={text.costUnknownHint}>
        {text.costUnknown}
      </span>
    );
  }
  if (unpriced === 0) return <span>{formatUsd(usage.cost_usd)}</span>;
  return (
    <span title={text.costPartly(unpriced)}>
      ≥ {formatUsd(usage.cost_usd)}
      <span className="sr-only"> {text.costPartly(unpriced)}</span>
    </span>
  );
}
