/** One request as four panes: inbound, outbound, upstream events, emitted events. */
import { type ReactNode, useMemo, useState } from 'react';
import { useText } from '../../text/language.js';
import { classes } from '../../ui/classes.js';
import { CopyButton } from '../../ui/copy-button.js';
import { Disclosure } from '../../ui/disclosure.js';
import { formatNumber } from '../../ui/format.js';
import { scrollRegion } from '../../ui/scroll-region.js';
import { Tabs } from '../../ui/tabs.js';
import { usePhone } from '../../ui/use-media.js';
import { VisibleText } from '../../ui/visible-text.js';
import { JsonTree, type Mark } from '../shared/json-tree.js';
import { compareBodies, type Difference } from './compare.js';
import { EventList } from './event-list.js';
import { dialectOfPath, type Headers, numberAttempts, parseBody, type TracePayload } from './payload.js';
import { repairedRoles } from './repairs.js';
import { strings } from './strings.js';
import { emittedFlow, type Flow, upstreamFlow } from './timeline.js';

const HEIGHT = 'h-[min(72vh,46rem)] min-h-80';

interface TracePanesProps {
  payload: TracePayload;
  inbound: unknown;
  /** Of the inbound body, by JSON pointer. */
  losses: ReadonlyMap<string, Mark>;
  repairs: readonly string[];
  goTo: { path: string } | undefined;
}

export function TracePanes({ payload, inbound, losses, repairs, goTo }: TracePanesProps) {
  const text = useText(strings);
  const numbers = useMemo(() => numberAttempts(payload.attempts), [payload]);
  const calls = numbers.at(-1)?.call ?? 0;
  const [chosen, setChosen] = useState(String(Math.max(0, payload.attempts.length - 1)));
  if (payload.attempts.length <= 1) {
    return <Panes {...{ payload, inbound, losses, repairs, goTo }} attempt={0} />;
  }
  const tabs = payload.attempts.map((attempt, index) => {
    const { call, tryNumber } = numbers[index] ?? { call: 1, tryNumber: 1 };
    const tries = numbers.filter((number) => number.call === call).length;
    const name =
      calls === 1
        ? text.tryOnly(tryNumber)
        : tries === 1
          ? text.callOnly(call)
          : text.callTry(call, tryNumber);
    const status = attempt.status === null ? text.noAnswer : text.answered(attempt.status);
    const failed = attempt.status === null || attempt.status >= 400;
    return {
      id: String(index),
      label: (
        <span>
          {name} · <VisibleText text={attempt.upstream.slice(0, 40)} />{' '}
          <span className={failed ? 'text-danger' : 'text-ok'}>({status})</span>
        </span>
      ),
      content: <Panes {...{ payload, inbound, losses, repairs, goTo }} attempt={index} />,
    };
  });
  return <Tabs label={text.attempts} tabs={tabs} value={chosen} onChange={setChosen} />;
}

function Panes({ payload, inbound, losses, repairs, goTo, attempt }: TracePanesProps & { attempt: number }) {
  const text = useText(strings);
  const phone = usePhone();
  const made = payload.attempts[attempt];
  const outbound = useMemo(() => (made === undefined ? undefined : parseBody(made.body)), [made]);
  const difference = useMemo<Difference | undefined>(
    () =>
      made === undefined || payload.inbound === null
        ? undefined
        : compareBodies(inbound, outbound, dialectOfPath(payload.inbound.path) === made.wire),
    [made, payload, inbound, outbound],
  );
  const left = useMemo(
    () => new Map([...marksOf(difference?.left, text.onlyHere), ...losses]),
    [difference, losses, text],
  );
  const right = useMemo(() => marksOf(difference?.right, text.onlyHere), [difference, text]);
  const upstream = useMemo(() => upstreamFlow(payload, attempt), [payload, attempt]);
  const emitted = useMemo(() => emittedFlow(payload), [payload]);
  const panes = [
    {
      id: 'inbound',
      title: text.inbound,
      hint: payload.inbound?.path ?? text.inboundHint,
      size: '',
      copy: payload.inbound?.body ?? '',
      content:
        payload.inbound === null ? (
          <Nothing>{text.nothing}</Nothing>
        ) : (
          <>
            <HeaderList headers={payload.inbound.headers} />
            <JsonTree label={text.inbound} value={inbound} marks={left} goTo={goTo} fill />
          </>
        ),
    },
    {
      id: 'outbound',
      title: text.outbound,
      hint:
        made === undefined
          ? text.outboundHint
          : [made.upstream, made.url, made.reason].filter((part) => part !== undefined).join(' · '),
      size: '',
      copy: made?.body ?? '',
      content:
        made === undefined ? (
          <Nothing>{text.noUpstream}</Nothing>
        ) : (
          <JsonTree label={text.outbound} value={outbound} marks={right} fill />
        ),
    },
    {
      id: 'upstream',
      title: text.upstreamEvents,
      hint: text.upstreamHint,
      size: sizeOf(upstream, text),
      copy: '',
      content: (
        <>
          {made !== undefined && <HeaderList headers={made.headers} />}
          <EventList
            label={text.upstreamEvents}
            flow={upstream}
            repaired={repairedRoles(repairs, 'upstream')}
          />
        </>
      ),
    },
    {
      id: 'emitted',
      title: text.emitted,
      hint: text.emittedHint,
      size: sizeOf(emitted, text),
      copy: '',
      content: <EventList label={text.emitted} flow={emitted} repaired={repairedRoles(repairs, 'emitted')} />,
    },
  ];
  if (phone) {
    return (
      <Tabs
        label={text.panes}
        tabs={panes.map((pane) => ({
          id: pane.id,
          label: pane.title,
          content: <Pane {...pane} />,
        }))}
      />
    );
  }
  return (
    <div className="grid grid-cols-2 gap-3 2xl:grid-cols-4">
      {panes.map((pane) => (
        <Pane key={pane.id} {...pane} />
      ))}
    </div>
  );
}

interface PaneProps {
  id: string;
  title: string;
  hint: string;
  size: string;
  copy: string;
  content: ReactNode;
}

function Pane({ id, title, hint, size, copy, content }: PaneProps) {
  const text = useText(strings);
  return (
    <section
      aria-label={title}
      data-pane={id}
      className={classes(
        'flex min-w-0 flex-col overflow-hidden rounded-lg border border-line bg-surface',
        HEIGHT,
      )}
    >
      <div className="flex min-h-10 items-center gap-2 border-b border-line px-3 py-1">
        <div className="min-w-0 flex-1">
          <h3 className="text-sm font-semibold">
            {title}
            {size !== '' && <span className="ml-2 text-xs font-normal text-muted">{size}</span>}
          </h3>
          <p className="truncate text-xs text-muted" title={hint}>
            {hint}
          </p>
        </div>
        {copy !== '' && <CopyButton text={copy} label={text.copyOf(title)} />}
      </div>
      <div className="flex min-h-0 flex-1 flex-col p-1">{content}</div>
    </section>
  );
}

function HeaderList({ headers }: { headers: Headers }) {
  const text = useText(strings);
  const known = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
  if (known.length === 0) return null;
  return (
    <Disclosure
      className="px-1"
      summary={<span className="text-xs text-muted">{text.headers(known.length)}</span>}
    >
      <div {...scrollRegion(text.headers(known.length))} className="max-h-40 overflow-auto">
        <dl className="pb-1 pl-5 font-mono text-xs">
          {known.map(([name, value]) => (
            <div key={name} className="break-all">
              <dt className="inline text-muted">{name}: </dt>
              <dd className="inline">
                <VisibleText text={value} />
              </dd>
            </div>
          ))}
        </dl>
      </div>
    </Disclosure>
  );
}

function Nothing({ children }: { children: ReactNode }) {
  return <p className="p-3 text-sm text-muted">{children}</p>;
}

function marksOf(paths: ReadonlySet<string> | undefined, words: string): Map<string, Mark> {
  return new Map([...(paths ?? [])].map((path) => [path, { kind: 'only', text: words }]));
}

function sizeOf(flow: Flow, text: (typeof strings)['en']): string {
  if (flow.kind !== 'events') return '';
  return flow.events.length === 1 ? text.oneEvent : text.events(formatNumber(flow.events.length));
}
