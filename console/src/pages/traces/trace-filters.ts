/** Which requests are shown, read from the address. */
import { factsOf, type TraceWire } from './trace-types.js';

export const STATUS_CLASSES = ['2xx', '4xx', '5xx'] as const;
type StatusClass = (typeof STATUS_CLASSES)[number];

export interface TraceFilter {
  model: string;
  status: StatusClass | undefined;
  errors: boolean;
  session: string;
}

export function readFilter(query: URLSearchParams): TraceFilter {
  return {
    model: query.get('model') ?? '',
    status: STATUS_CLASSES.find((each) => each === query.get('status')),
    errors: query.get('errors') === '1',
    session: query.get('session') ?? '',
  };
}

export const isFiltered = ({ model, status, errors, session }: TraceFilter): boolean =>
  model !== '' || status !== undefined || errors || session !== '';

/** A person stopped it, or its client left: nothing failed. */
export const STOPPED_STATUS = 499;

/** A request that failed after its head was out counts as failed. */
export const isError = (trace: TraceWire): boolean =>
  trace.status !== STOPPED_STATUS && (trace.status >= 400 || factsOf(trace).error !== undefined);

/** The gateway filters too; what it already left out is not missed here. */
export function matches(trace: TraceWire, { model, status, errors, session }: TraceFilter): boolean {
  if (model !== '' && trace.model !== model) return false;
  if (status !== undefined && Math.floor(trace.status / 100) !== Number(status[0])) return false;
  if (errors && !isError(trace)) return false;
  return session === '' || factsOf(trace).session === session;
}
