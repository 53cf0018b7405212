/** Connects a provider in two steps: who it is, then its key and its models. */
import { useEffect, useRef, useState } from 'react';
import type { LocalServersWire, UpstreamListWire } from '../../../src/server/console-api/wire/upstreams.js';
import { get } from '../data/api.js';
import { useIdentity } from '../data/identity.js';
import { useText } from '../text/language.js';
import { Button } from '../ui/button.js';
import { Dialog } from '../ui/dialog.js';
import { ErrorNote } from '../ui/error-note.js';
import { navigate } from '../ui/router.js';
import { Skeleton } from '../ui/skeleton.js';
import { toast } from '../ui/toast.js';
import { ChooseProvider } from './choose-provider.js';
import type { ConnectForm, Starting } from './connect-form.js';
import { DetailsForm } from './details-form.js';
import { strings } from './form-strings.js';

interface ConnectDialogProps {
  open: boolean;
  onClose: () => void;
  onConnected: (() => void) | undefined;
}

export function ConnectDialog({ open, onClose, onConnected }: ConnectDialogProps) {
  const text = useText(strings);
  const mayTalk = useIdentity().can('call');
  const first = useRef<HTMLElement>(null);
  const [chosen, setChosen] = useState<{ starting: Starting; form: ConnectForm }>();
  // Which tile was chosen, so that going back leads to it.
  const [last, setLast] = useState<string>();
  const upstreams = useUpstreams(open);
  const local = useLocalServers(open);
  const close = () => {
    setChosen(undefined);
    setLast(undefined);
    onClose();
  };
  const { list } = upstreams;
  return (
    <Dialog
      open={open}
      onClose={close}
      title={chosen === undefined ? text.title : text.titleOf(chosen.starting.title)}
      initialFocus={first}
    >
      {list === undefined ? (
        <Waiting problem={upstreams.problem} onRetry={upstreams.again} />
      ) : chosen === undefined ? (
        <ChooseProvider
          list={list}
          local={local}
          first={first}
          last={last}
          onChoose={(id, start) => {
            setLast(id);
            setChosen(start);
          }}
        />
      ) : (
        <DetailsForm
          {...chosen}
          list={list}
          onBack={() => setChosen(undefined)}
          onConnected={(name, model) => {
            toast(text.connected(name), 'ok');
            onConnected?.();
            close();
            if (mayTalk && model !== undefined) navigate(`#/?model=${encodeURIComponent(model)}`);
          }}
        />
      )}
    </Dialog>
  );
}

function Waiting({ problem, onRetry }: { problem: string | undefined; onRetry: () => void }) {
  const text = useText(strings);
  if (problem === undefined) return <Skeleton lines={6} />;
  const again = (
    <Button size="small" onClick={onRetry}>
      {text.tryAgain}
    </Button>
  );
  return <ErrorNote title={text.loadFailed} message={problem} action={again} />;
}

/** Fetched when the form opens: a name may have been taken since. */
function useUpstreams(open: boolean) {
  const [tries, setTries] = useState(0);
  const [list, setList] = useState<UpstreamListWire>();
  const [problem, setProblem] = useState<string>();
  useEffect(() => {
    if (!open) return;
    const gone = new AbortController();
    get<UpstreamListWire>('/api/upstreams', gone.signal).then(setList, (error: unknown) => {
      if (!gone.signal.aborted) setProblem(error instanceof Error ? error.message : String(error));
    });
    return () => gone.abort(tries);
  }, [open, tries]);
  const again = () => {
    setProblem(undefined);
    setTries(tries + 1);
  };
  return { list, problem, again };
}

export interface LocalServers {
  /** Undefined while they are looked for. */
  found: LocalServersWire['data'] | undefined;
  again: () => void;
}

function useLocalServers(open: boolean): LocalServers {
  const [tries, setTries] = useState(0);
  const [found, setFound] = useState<LocalServersWire['data']>();
  useEffect(() => {
    if (!open) return;
    const gone = new AbortController();
    get<LocalServersWire>('/api/upstreams/local', gone.signal).then(
      ({ data }) => setFound(data),
      () => {
        // Nothing was found, and can be looked for again.
        if (!gone.signal.aborted) setFound([]);
      },
    );
    return () => gone.abort(tries);
  }, [open, tries]);
  const again = () => {
    setFound(undefined);
    setTries(tries + 1);
  };
  return { found, again };
}
