/** Events of a stream with their times; each can be opened. Only those in sight are drawn. */
import { useState } from 'react';
import { VList } from 'virtua';
import { useLanguage, useText } from '../../text/language.js';
import { classes } from '../../ui/classes.js';
import { formatNumber } from '../../ui/format.js';
import { ChevronRightIcon } from '../../ui/icons.js';
import { VisibleText } from '../../ui/visible-text.js';
import { JsonTree } from '../shared/json-tree.js';
import type { EventRole } from './event-words.js';
import { parseBody } from './payload.js';
import { strings } from './strings.js';
import type { Flow, TraceEvent } from './timeline.js';

interface EventListProps {
  label: string;
  flow: Flow;
  /** Events of these kinds may have been repaired. */
  repaired: ReadonlySet<EventRole>;
}

export function EventList({ label, flow, repaired }: EventListProps) {
  const text = useText(strings);
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set());
  if (flow.kind === 'none') return <p className="p-3 text-sm text-muted">{text.nothing}</p>;
  if (flow.kind === 'body') {
    return (
      <>
        <p className="px-2 py-1 text-xs text-muted">
          {text.wholeAnswer} · {text.atMs(formatNumber(flow.ms))}
        </p>
        <JsonTree label={label} value={parseBody(flow.text)} fill />
      </>
    );
  }
  const toggle = (index: number) =>
    setOpen((before) => {
      const next = new Set(before);
      if (!next.delete(index)) next.add(index);
      return next;
    });
  return (
    <VList
      role="group"
      aria-label={label}
      tabIndex={0}
      className="min-h-0 flex-1 overflow-auto rounded-md bg-code p-1 text-xs focus-visible:-outline-offset-2"
      style={{ height: 'auto' }}
    >
      {flow.events.map((event) => (
        <EventLine
          key={event.index}
          event={event}
          open={open.has(event.index)}
          repaired={repaired.has(event.role)}
          onToggle={() => toggle(event.index)}
        />
      ))}
    </VList>
  );
}

function EventLine({
  event,
  open,
  repaired,
  onToggle,
}: {
  event: TraceEvent;
  open: boolean;
  repaired: boolean;
  onToggle: () => void;
}) {
  const text = useText(strings);
  useLanguage();
  const failed = event.role === 'error';
  return (
    <div
      className="border-b border-line/50 last:border-b-0"
      data-event={event.type}
      data-repaired={repaired || undefined}
    >
      <button
        type="button"
        aria-expanded={open}
        onClick={onToggle}
        className={classes(
          'flex w-full cursor-pointer items-start gap-1 rounded px-1 py-0.5 text-left hover:bg-raised focus-visible:-outline-offset-2',
          repaired && 'bg-info-soft',
          failed && 'bg-danger-soft',
        )}
      >
        <ChevronRightIcon size={12} className={classes('mt-0.5 shrink-0 text-muted', open && 'rotate-90')} />
        <span className="w-16 shrink-0 text-right text-muted tabular-nums">
          {text.atMs(formatNumber(event.ms))}
        </span>
        <span className="min-w-0 flex-1 pl-1 font-mono">
          <span className={classes('font-semibold break-all', failed && 'text-danger')}>
            <VisibleText text={event.type.slice(0, 100)} />
          </span>{' '}
          <span className="break-all text-muted">
            <VisibleText text={event.detail} />
          </span>
          {repaired && <span className="ml-1 font-sans text-info">⚒ {text.repairHere}</span>}
        </span>
      </button>
      {open && (
        <div className="pb-1 pl-4">
          <JsonTree label={event.type} value={parseBody(event.data)} />
        </div>
      )}
    </div>
  );
}
