import { useMemo, useState } from 'react';
import type { StatusWire } from '../../../../src/server/console-api/wire/status.js';
import { ApiError } from '../../data/api.js';
import { useIdentity } from '../../data/identity.js';
import { useLanguage, useText } from '../../text/language.js';
import { Button, buttonClasses } from '../../ui/button.js';
import { CodeBlock } from '../../ui/code-block.js';
import { CopyButton } from '../../ui/copy-button.js';
import { EmptyState } from '../../ui/empty-state.js';
import { ErrorNote } from '../../ui/error-note.js';
import { formatDuration, formatTokens } from '../../ui/format.js';
import { ChatIcon, ChevronLeftIcon, DownloadIcon } from '../../ui/icons.js';
import { Page, Section } from '../../ui/page.js';
import { Link } from '../../ui/router.js';
import { saveText } from '../../ui/save.js';
import { Time } from '../../ui/time.js';
import { VisibleText } from '../../ui/visible-text.js';
import type { Mark } from '../shared/json-tree.js';
import { ListState } from '../shared/list-state.js';
import { ShortText } from '../shared/short-text.js';
import { useFetched } from '../shared/use-fetched.js';
import { locateLoss } from './compare.js';
import { parseBody } from './payload.js';
import { repairWords } from './repairs.js';
import { strings } from './strings.js';
import { isError } from './trace-filters.js';
import { TraceStatusBadge } from './trace-marks.js';
import { TracePanes } from './trace-panes.js';
import { factsOf, payloadOf, readRepair, replayFile, type TraceDetailWire } from './trace-types.js';

export function TraceView({ id }: { id: string }) {
  const text = useText(strings);
  const trace = useFetched<TraceDetailWire>(`/api/traces/${encodeURIComponent(id)}`);
  const { data, error } = trace;
  const missing = error instanceof ApiError && error.status === 404;
  return (
    <Page
      title={data === undefined ? text.request : `${text.request} · ${shortName(data.model)}`}
      width="full"
      intro={
        <Link to="#/traces" className="inline-flex items-center gap-1 text-accent hover:underline">
          <ChevronLeftIcon size={14} />
          {text.back}
        </Link>
      }
      actions={data === undefined ? undefined : <Actions trace={data} />}
    >
      {missing ? (
        <EmptyState title={text.notFound} text={text.notFoundText} />
      ) : (
        <ListState loading={trace.loading} error={error} present={data !== undefined} onReload={trace.reload}>
          {data !== undefined && <Detail trace={data} />}
        </ListState>
      )}
    </Page>
  );
}

const shortName = (name: string): string => (name.length > 60 ? `${name.slice(0, 60)}…` : name);

function Actions({ trace }: { trace: TraceDetailWire }) {
  const text = useText(strings);
  const { session } = factsOf(trace);
  return (
    <>
      {session !== undefined && (
        <>
          <Link to={`#/traces?session=${encodeURIComponent(session)}`} className={buttonClasses('ghost')}>
            {text.sameSession}
          </Link>
          <Link to={`#/chat/${encodeURIComponent(session)}`} className={buttonClasses('plain')}>
            <ChatIcon />
            {text.openSession}
          </Link>
        </>
      )}
      {payloadOf(trace) !== undefined && (
        <Button
          icon={<DownloadIcon />}
          title={text.downloadHint}
          onClick={() => saveText(`${trace.id}.json`, 'application/json', replayFile(trace))}
        >
          {text.download}
        </Button>
      )}
    </>
  );
}

function Detail({ trace }: { trace: TraceDetailWire }) {
  const text = useText(strings);
  const payload = payloadOf(trace);
  const facts = factsOf(trace);
  const inbound = useMemo(
    () => (payload?.inbound === null || payload === undefined ? undefined : parseBody(payload.inbound.body)),
    [payload],
  );
  const losses = useMemo(
    () => trace.losses.map((loss) => ({ ...loss, place: locateLoss(inbound, loss.path) })),
    [trace, inbound],
  );
  const marks = useMemo(
    () =>
      new Map<string, Mark>(
        losses.flatMap(({ place, reason }) =>
          place === undefined ? [] : [[place, { kind: 'loss', text: reason }]],
        ),
      ),
    [losses],
  );
  const repairs = trace.repairs.map(readRepair);
  const [goTo, setGoTo] = useState<{ path: string }>();
  return (
    <div className="flex flex-col gap-4">
      <Facts trace={trace} />
      {facts.error !== undefined &&
        (isError(trace) ? (
          <ErrorNote title={`${text.error}: ${facts.error.code}`} message={facts.error.message} />
        ) : (
          <p className="text-sm text-muted">
            <VisibleText text={facts.error.message} />
          </p>
        ))}
      {losses.length > 0 && (
        <Section title={text.lossesTitle} intro={text.lossesText}>
          <ul className="flex flex-col gap-1 text-sm" data-list="losses">
            {losses.map(({ path, reason, place }) => (
              <li key={`${path} ${reason}`} className="flex flex-wrap items-baseline gap-x-2">
                <code className="rounded bg-warn-soft px-1 font-mono text-xs break-all text-warn">
                  {path}
                </code>
                <span className="min-w-0 break-words">{reason}</span>
                {place === undefined ? (
                  <span className="text-xs text-muted">({text.noPlace})</span>
                ) : (
                  payload !== undefined && (
                    <Button size="small" variant="ghost" onClick={() => setGoTo({ path: place })}>
                      {text.show}
                    </Button>
                  )
                )}
              </li>
            ))}
          </ul>
        </Section>
      )}
      {repairs.length > 0 && <Repairs repairs={repairs} />}
      {payload === undefined ? (
        <NotRecorded dropped={trace.payload_size > 0} />
      ) : (
        <Section title={text.panes} actions={<Legend />}>
          {payload.cut && <p className="mb-2 text-sm text-warn">{text.cut}</p>}
          <TracePanes
            payload={payload}
            inbound={inbound}
            losses={marks}
            repairs={repairs.map(({ kind }) => kind)}
            goTo={goTo}
          />
        </Section>
      )}
    </div>
  );
}

function Facts({ trace }: { trace: TraceDetailWire }) {
  const text = useText(strings);
  const admin = useIdentity().can('admin');
  const { tokens, stopReason, firstTokenMs, waitedMs, path } = factsOf(trace);
  return (
    <dl className="flex flex-wrap gap-x-8 gap-y-2 rounded-lg border border-line bg-surface px-4 py-3 text-sm [&_dt]:text-xs [&_dt]:text-muted">
      <div>
        <dt>{text.status}</dt>
        <dd>
          <TraceStatusBadge trace={trace} />
        </dd>
      </div>
      <div>
        <dt>{text.time}</dt>
        <dd>
          <Time at={trace.at} />
        </dd>
      </div>
      <div className="max-w-80 min-w-0">
        <dt>{text.model}</dt>
        <dd>
          <ShortText
            text={`${trace.model}${trace.upstream === null ? '' : ` → ${trace.upstream}`}`}
            lines={2}
          />
        </dd>
      </div>
      <div>
        <dt>{text.duration}</dt>
        <dd>
          {formatDuration(trace.duration_ms - waitedMs)}
          {waitedMs > 0 && (
            <span className="ml-1 text-xs text-muted">{text.waited(formatDuration(waitedMs))}</span>
          )}
          {firstTokenMs !== undefined && (
            <span className="ml-1 text-xs text-muted">({text.firstToken(formatDuration(firstTokenMs))})</span>
          )}
        </dd>
      </div>
      <div>
        <dt>{text.tokens}</dt>
        <dd>
          {tokens === undefined
            ? text.none
            : text.tokensInOut(formatTokens(tokens.input + tokens.cached), formatTokens(tokens.output))}
        </dd>
      </div>
      <div>
        <dt>{text.stop}</dt>
        <dd className="font-mono text-xs">{stopReason ?? text.none}</dd>
      </div>
      {admin && (
        <div className="max-w-48 min-w-0">
          <dt>{text.key}</dt>
          <dd>
            <ShortText text={trace.key} />
          </dd>
        </div>
      )}
      <div className="min-w-0">
        <dt>{path}</dt>
        <dd className="flex items-center gap-1 font-mono text-xs break-all">
          {trace.id}
          <CopyButton text={trace.id} label={text.copyId} />
        </dd>
      </div>
    </dl>
  );
}

function Repairs({ repairs }: { repairs: readonly { kind: string; count: number }[] }) {
  const text = useText(strings);
  const language = useLanguage();
  return (
    <Section title={text.repairsTitle} intro={text.repairsText}>
      <ul className="flex flex-col gap-1 text-sm" data-list="repairs">
        {repairs.map(({ kind, count }) => (
          <li key={kind} className="flex flex-wrap items-baseline gap-x-2">
            <code className="rounded bg-info-soft px-1 font-mono text-xs text-info">
              <VisibleText text={kind} />
            </code>
            <span>
              {repairWords(kind)?.[language]}
              {text.times(count)}
            </span>
          </li>
        ))}
      </ul>
    </Section>
  );
}

function Legend() {
  const text = useText(strings);
  return (
    <p className="flex flex-wrap items-center gap-2 text-xs text-muted">
      {text.legend}
      <span className="rounded bg-info-soft px-1 text-ink">{text.legendOnly}</span>
      <span className="rounded bg-warn-soft px-1 text-warn">⚠ {text.legendLoss}</span>
      <span className="rounded bg-info-soft px-1 text-info">⚒ {text.legendRepair}</span>
    </p>
  );
}

const BODIES = 'traces:\n  bodies: true';

function NotRecorded({ dropped }: { dropped: boolean }) {
  const text = useText(strings);
  const status = useFetched<Pick<StatusWire, 'traces'>>(dropped ? undefined : '/api/status');
  const off = status.data?.traces.bodies === false;
  return (
    <EmptyState
      title={text.bodiesTitle}
      text={
        dropped ? (
          text.dropped
        ) : (
          <>
            <p className="mb-2">{off ? text.bodiesOff : text.bodiesText}</p>
            <div className="text-left">
              <CodeBlock label={text.bodiesLabel} text={BODIES} language="yaml" />
            </div>
          </>
        )
      }
    />
  );
}
