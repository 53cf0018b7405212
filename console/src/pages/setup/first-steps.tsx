import type { ReactNode } from 'react';
import { ConnectButton } from '../../connect/connect-button.js';
import { useIdentity } from '../../data/identity.js';
import { useConsole } from '../../data/store.js';
import { useNotifications } from '../../notifications/notifications.js';
import { useText } from '../../text/language.js';
import { Badge } from '../../ui/badge.js';
import { CheckIcon } from '../../ui/icons.js';
import { Link } from '../../ui/router.js';
import { useFetched } from '../shared/use-fetched.js';
import type { Setup } from './setup-data.js';
import { strings } from './strings.js';

/** A checklist for the first day; steps that the page can detect are ticked off automatically. */
export function FirstSteps({ gateway }: Setup) {
  const notified = useNotifications().permission === 'granted';
  const admin = useIdentity().can('admin');
  const text = useText(strings).steps;
  const { chatted, clientConnected } = useWhatCameIn();
  const connected = gateway.upstreams.some((upstream) => upstream.dialect !== 'demo');
  return (
    <ol className="divide-y divide-line rounded-lg border border-line bg-surface text-sm">
      <Step title={text.model} done={connected}>
        {connected ? undefined : (
          <div className="flex flex-col items-start gap-2">
            {admin ? text.modelHintAdmin : text.modelHint}
            {admin && <ConnectButton variant="plain" />}
          </div>
        )}
      </Step>
      <Step title={text.chat} done={chatted}>
        {chatted ? undefined : (
          <Link to="#/" className="text-accent underline underline-offset-2">
            {text.chatLink}
          </Link>
        )}
      </Step>
      <Step title={text.client} done={clientConnected}>
        {clientConnected ? undefined : text.clientHint}
      </Step>
      <Step title={text.notify} done={notified}>
        {notified ? undefined : text.notifyHint}
      </Step>
    </ol>
  );
}

const LATEST = '/api/traces?limit=100';
const SAID_HERE = '/api/chat';

interface TracePathWire {
  status: number;
  summary: { path?: unknown; inner?: unknown };
}

/** What was answered of the latest requests: those of the console itself, and those of clients. */
function useWhatCameIn(): { chatted: boolean; clientConnected: boolean } {
  const change = useConsole(({ changes }) => changes.requests);
  const traces = useFetched<{ data: TracePathWire[] }>(LATEST, change).data?.data ?? [];
  // The model calls of an agent come in as those of a client do.
  const answered = traces.filter(({ status, summary }) => status < 400 && summary.inner !== true);
  return {
    chatted: answered.some(({ summary }) => summary.path === SAID_HERE),
    clientConnected: answered.some(({ summary }) => String(summary.path).startsWith('/v1/')),
  };
}

function Step({ title, done, children }: { title: string; done?: boolean; children?: ReactNode }) {
  const text = useText(strings).steps;
  return (
    <li className="flex items-start gap-3 px-4 py-2.5">
      <div className="min-w-0 flex-1">
        <p className="font-medium">{title}</p>
        {children !== undefined && <div className="text-muted">{children}</div>}
      </div>
      {done !== undefined && (
        <Badge tone={done ? 'ok' : 'plain'} icon={done ? <CheckIcon size={12} /> : undefined}>
          {done ? text.done : text.open}
        </Badge>
      )}
    </li>
  );
}
