import { useText } from '../../text/language.js';
import { Badge, type Tone } from '../../ui/badge.js';
import { CheckIcon, ErrorIcon, WarnIcon } from '../../ui/icons.js';
import { strings } from './strings.js';
import { isError, STOPPED_STATUS } from './trace-filters.js';
import { readRepair, type TraceWire } from './trace-types.js';

export function TraceStatusBadge({ trace }: { trace: TraceWire }) {
  const text = useText(strings);
  const [tone, word] = judge(trace, text);
  const Icon = tone === 'ok' ? CheckIcon : tone === 'warn' ? WarnIcon : ErrorIcon;
  return (
    <Badge tone={tone} icon={<Icon size={12} />}>
      {trace.status} {word}
    </Badge>
  );
}

function judge(trace: TraceWire, text: (typeof strings)['en']): [Tone, string] {
  if (trace.status === STOPPED_STATUS) return ['warn', text.closed];
  if (trace.status >= 500) return ['danger', text.failed];
  if (trace.status >= 400) return ['warn', text.refused];
  return isError(trace) ? ['danger', text.failed] : ['ok', text.ok];
}

function repairCount({ repairs }: TraceWire): number {
  return repairs.reduce((sum, repair) => sum + readRepair(repair).count, 0);
}

export function MarkBadges({ trace }: { trace: TraceWire }) {
  const text = useText(strings);
  const repairs = repairCount(trace);
  if (trace.losses.length === 0 && repairs === 0) return <span className="text-muted">–</span>;
  return (
    <span className="inline-flex flex-wrap gap-1">
      {trace.losses.length > 0 && <Badge tone="warn">{text.losses(trace.losses.length)}</Badge>}
      {repairs > 0 && <Badge tone="info">{text.repairs(repairs)}</Badge>}
    </span>
  );
}
