import { TraceList } from './trace-list.js';
import { TraceView } from './trace-view.js';

export function TracesPage({ id }: { id?: string | undefined }) {
  return id === undefined ? <TraceList /> : <TraceView key={id} id={id} />;
}
