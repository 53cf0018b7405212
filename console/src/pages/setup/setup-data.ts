import { useEffect, useState } from 'react';
import type { ModelWire } from '../../../../src/server/console-api/wire/sessions.js';
import type { StatusWire } from '../../../../src/server/console-api/wire/status.js';
import { get } from '../../data/api.js';
import { useConsole } from '../../data/store.js';

export interface Setup {
  gateway: StatusWire;
  models: readonly ModelWire[];
}

type SetupState =
  | { status: 'loading' }
  | { status: 'failed'; message: string }
  | ({ status: 'ready' } & Setup);

/** Fetched again when a server changes, when the connection is back, and with every `attempt`. */
export function useSetup(attempt: number): SetupState {
  const [state, setState] = useState<SetupState>({ status: 'loading' });
  const mcp = useConsole(({ changes }) => changes.mcp);
  const live = useConsole(({ connection }) => connection === 'live');
  const trigger = `${attempt} ${mcp} ${live}`;
  useEffect(() => {
    const gone = new AbortController();
    read(gone.signal).then(
      (setup) => !gone.signal.aborted && setState({ status: 'ready', ...setup }),
      (error: unknown) => {
        if (gone.signal.aborted) return;
        const message = error instanceof Error ? error.message : String(error);
        // What was read before is better than nothing.
        setState((known) => (known.status === 'ready' ? known : { status: 'failed', message }));
      },
    );
    return () => gone.abort(trigger);
  }, [trigger]);
  return state;
}

async function read(signal: AbortSignal): Promise<Setup> {
  const [gateway, { data }] = await Promise.all([
    get<StatusWire>('/api/status', signal),
    get<{ data: ModelWire[] }>('/api/models', signal),
  ]);
  return { gateway, models: data };
}
